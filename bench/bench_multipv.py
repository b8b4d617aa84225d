"""Lines of MultiPV compared with Stockfish: how often a line shows more than its move is worth.

    python bench/bench_multipv.py chessnet human --positions 200 --nodes 400 --lines 5

The positions come from the games that are packaged with kibitz. In half of them a piece of the side to move hangs, in
the other half the other side threatens mate in one. Each game gives one position at most. Every line that
`kibitz uci` sends is compared with Stockfish's score of the same move (--depth), both cut at ±1000 centipawns, a mate
counting 1000. Prints for each network how many lines show 300 centipawns or more too much, and the worst of them.
"""

from __future__ import annotations

import argparse
import io
import random
import shlex
import sys
from collections.abc import Iterator
from importlib import resources

import chess
import chess.engine
import chess.pgn
import zstandard

from kibitz.external.programs import find_stockfish

CUT, TOO_MUCH = 1000, 300
VALUES = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 100}


def hangs(board: chess.Board) -> bool:
    """Whether a piece of the side to move can be taken by a pawn or lesser piece, or is attacked and not defended."""
    for square, piece in board.piece_map().items():
        if piece.color != board.turn or VALUES[piece.piece_type] < 3 or piece.piece_type == chess.KING:
            continue
        attackers = [VALUES[board.piece_type_at(each) or 0] for each in board.attackers(not board.turn, square)]
        defended = bool(board.attackers(board.turn, square))
        if attackers and (min(attackers) < VALUES[piece.piece_type] or not defended):
            return True
    return False


def mate_threatened(board: chess.Board) -> bool:
    """Whether the other side would mate in one if it were its turn."""
    if board.is_check():
        return False
    other = board.copy(stack=False)
    other.push(chess.Move.null())
    for move in other.legal_moves:
        other.push(move)
        mates = other.is_checkmate()
        other.pop()
        if mates:
            return True
    return False


def games(seed: int) -> Iterator[chess.pgn.Game]:
    """The packaged games, in an order that the seed chooses."""
    data = (resources.files("kibitz") / "data" / "games.pgn.zst").read_bytes()
    text = io.StringIO(zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)).read().decode())
    offsets = []
    while (at := text.tell(), chess.pgn.skip_game(text))[1]:
        offsets.append(at)
    random.Random(seed).shuffle(offsets)
    for offset in offsets:
        text.seek(offset)
        if game := chess.pgn.read_game(text):
            yield game


def positions(count: int, seed: int) -> list[chess.Board]:
    """Positions in which several moves are legal: in half of them a piece hangs, in the others a mate is threatened."""
    chance = random.Random(seed)
    found: dict[str, list[chess.Board]] = {"hanging": [], "mate": []}
    for game in games(seed):
        kinds: dict[str, list[chess.Board]] = {"hanging": [], "mate": []}
        board = game.board()
        for move in game.mainline_moves():
            board.push(move)
            if board.legal_moves.count() >= 5:
                if hangs(board):
                    kinds["hanging"].append(board.copy())
                if mate_threatened(board):
                    kinds["mate"].append(board.copy())
        for kind in ("mate", "hanging"):  # threats of mate are rarer
            if kinds[kind] and len(found[kind]) < (count + 1) // 2:
                found[kind].append(chance.choice(kinds[kind]))
                break
        if all(len(each) >= (count + 1) // 2 for each in found.values()):
            break
    return [board for pair in zip(*found.values(), strict=False) for board in pair][:count]


def cut(score: chess.engine.PovScore) -> int:
    """Centipawns in the mover's view."""
    return max(-CUT, min(CUT, score.relative.score(mate_score=100_000)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+")
    parser.add_argument("--positions", type=int, default=200)
    parser.add_argument("--nodes", type=int, default=400)
    parser.add_argument("--lines", type=int, default=5)
    parser.add_argument("--depth", type=int, default=14, help="of Stockfish")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--option", action="append", default=[], help="NAME=VALUE of `kibitz uci`")
    parser.add_argument("--show", action="store_true", help="print every line that shows too much")
    args = parser.parse_args()
    boards = positions(args.positions, args.seed)
    options = dict(each.split("=", 1) for each in args.option)
    worth: dict[tuple[str, str], int] = {}
    print(f"{len(boards)} positions, {args.nodes} nodes, {args.lines} lines; Stockfish, depth {args.depth}", flush=True)
    with chess.engine.SimpleEngine.popen_uci(find_stockfish(), timeout=60) as stockfish:
        for name in args.networks:
            command = shlex.join([sys.executable, "-m", "kibitz", "uci", name])
            shown = wrong = worst = unsent = 0
            with chess.engine.SimpleEngine.popen_uci(shlex.split(command), timeout=600) as engine:
                engine.configure(options)
                for board in boards:
                    limit = chess.engine.Limit(nodes=args.nodes)
                    infos = engine.analyse(board, limit, multipv=args.lines, game=object())
                    unsent += min(args.lines, board.legal_moves.count()) - len(infos)
                    for info in infos:
                        move = info["pv"][0]
                        key = board.fen(), move.uci()
                        if key not in worth:
                            true = stockfish.analyse(board, chess.engine.Limit(depth=args.depth), root_moves=[move])
                            worth[key] = cut(true["score"])
                        more = cut(info["score"]) - worth[key]
                        shown, wrong, worst = shown + 1, wrong + (more > TOO_MUCH), max(worst, more)
                        if more > TOO_MUCH and args.show:
                            print(f"  {board.fen()} {board.san(move)}: {info['score']}, Stockfish {worth[key]}")
            print(
                f"{name}: {wrong} of {shown} lines show more than {TOO_MUCH} centipawns too much; the worst {worst};"
                f" {unsent} lines were not sent",
                flush=True,
            )


if __name__ == "__main__":
    main()
