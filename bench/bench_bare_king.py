"""Endings against a bare king, played out against Stockfish: how many are mated, and in how many moves.

    python bench/bench_bare_king.py human --method puct --nodes 400 --games 6
    python bench/bench_bare_king.py deepchess

Positions are drawn by chance and the same for every network; Stockfish (20,000 nodes a move) defends. A game is drawn
by the third occurrence of a position and after fifty moves, as it would be claimed.
"""

from __future__ import annotations

import argparse
import random

import chess
import chess.engine

from kibitz.external.programs import find_stockfish
from kibitz.play import open_player
from kibitz.play.result import SearchLimits
from kibitz.play.session import Session

ENDINGS = ("KQK", "KRK", "KBBK", "KBNK")
DEFENCE = chess.engine.Limit(nodes=20_000)
WON = 100
"""Centipawns, at least, by Stockfish, of a position that is taken."""


def drawn(pieces: str, rng: random.Random, engine: chess.engine.SimpleEngine) -> chess.Board:
    """A position that is won, White to move; the last of the pieces is Black's king."""
    while True:
        board = chess.Board(None)
        for square, letter in zip(rng.sample(range(64), len(pieces)), pieces[:-1] + "k", strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(letter))
        bishops = board.bishops
        if not board.is_valid() or (pieces == "KBBK" and not 0 < bishops & chess.BB_LIGHT_SQUARES < bishops):
            continue
        score = engine.analyse(board, chess.engine.Limit(depth=12))["score"].white().score(mate_score=10_000)
        if score is not None and score >= WON:
            return board


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network")
    parser.add_argument("--method")
    parser.add_argument("--nodes", type=int, default=400)
    parser.add_argument("--games", type=int, default=6)
    options = parser.parse_args()
    session = Session(options.network)
    player = open_player(session.run, lambda: session, method=options.method)
    limits = SearchLimits(nodes=options.nodes)
    print("| ending | mated | moves |\n|---|---|---|")
    with chess.engine.SimpleEngine.popen_uci(find_stockfish()) as engine:
        for pieces in ENDINGS:
            rng, moves = random.Random(pieces), []
            for _ in range(options.games):
                board = drawn(pieces, rng, engine)
                player.new_game()
                while not board.is_game_over(claim_draw=True):
                    thought = player.think(board, limits) if board.turn else None
                    move = thought.lines[0].move if thought else engine.play(board, DEFENCE).move
                    assert move
                    board.push(move)
                if board.is_checkmate():
                    moves.append(board.fullmove_number)
            print(f"| {pieces} | {len(moves)} of {options.games} | {', '.join(map(str, moves))} |", flush=True)


if __name__ == "__main__":
    main()
