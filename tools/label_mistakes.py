"""Games of players of all ratings with Stockfish's evaluation of every position, for `bench/bench_marks.py`.

    python tools/label_mistakes.py labels.jsonl personal_players.pgn.zst masters_to_2022.pgn.zst --games 200

Takes the same number of games from each band of the players' mean rating, chosen by a hash of their text, so that files
and their order do not matter; games of 20 to 160 plies, rated, from a standard start. Writes a line a game as it
comes: {"id", "half" ("choose" or "measure"), "band", "ratings", "moves" (UCI), "white" (centipawns from White's view
in each position [moves + 1], cut at ±1000; a mate is 1000), "best" (UCI), "depth"}. A file that is there is gone on
with; --half labels only the games of one half, the same as without. One process, one thread: Stockfish judges about 10
positions a second at depth 14.
"""

import argparse
import contextlib
import hashlib
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import chess
import chess.engine
import chess.pgn

from kibitz.external.programs import find_stockfish
from kibitz.records import Stream

BANDS = (0, 1000, 1400, 1800, 2200, 4000)
SHORTEST, LONGEST = 20, 160
CUT = 1000
_TAG = re.compile(r'^\[(\w+) "([^"]*)"\]', re.MULTILINE)


def texts(path: str) -> Iterator[str]:
    """The games of a PGN file as text."""
    rest = ""
    with contextlib.closing(Stream(path)) as stream:
        for block in stream.blocks(1 << 22):
            *games, rest = re.split(r"\n(?=\[Event )", rest + bytes(block).decode("utf-8", "replace"))
            yield from games
    yield rest


def chosen(files: list[str], since: str, games: int) -> list[tuple[int, int, str]]:
    """(rank in its band, band, text) of the games to label, ranks first, so that any beginning holds all bands."""
    bands: list[dict[str, str]] = [{} for _ in BANDS[1:]]
    for path in files:
        for text in texts(path):
            tags = dict(_TAG.findall(text))
            ratings = [tags.get(name, "") for name in ("WhiteElo", "BlackElo")]
            date = tags.get("Date", "")
            if not date[:4].isdecimal() or date < since or "FEN" in tags or not all(each.isdigit() for each in ratings):
                continue
            mean = sum(map(int, ratings)) / 2
            band = max(i for i, least in enumerate(BANDS) if mean >= least)
            bands[band][hashlib.blake2b(text.strip().encode(), digest_size=8).hexdigest()] = text
    some = games // len(bands)
    ranked = [
        (rank, band, bands[band][key]) for band in range(len(bands)) for rank, key in enumerate(sorted(bands[band]))
    ]
    return sorted(one for one in ranked if one[0] < 2 * some)


def label(engine: chess.engine.SimpleEngine, game: chess.pgn.Game, depth: int) -> tuple[list[int], list[str]]:
    """White's centipawns and the best move in each position, from the last to the first, which is the fastest way."""
    boards = [node.board() for node in game.mainline()]
    white, best = [], []
    for board in reversed([game.board(), *boards]):
        if board.is_game_over():
            white.append(0 if not board.is_checkmate() else CUT if board.turn == chess.BLACK else -CUT)
            best.append("")
            continue
        info = engine.analyse(board, chess.engine.Limit(depth=depth))
        score = info["score"].white().score(mate_score=100_000)
        white.append(max(-CUT, min(CUT, score)))
        best.append(info["pv"][0].uci() if info.get("pv") else "")
    return white[::-1], best[::-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--depth", type=int, default=14)
    parser.add_argument("--half", choices=("choose", "measure"), help="label this half alone")
    parser.add_argument("--since", default="2021", help="the first year that counts")
    args = parser.parse_args()
    target = Path(args.labels)
    done = [json.loads(line) for line in target.read_text().splitlines()] if target.exists() else []
    seen, counts = {one["id"] for one in done}, [0] * len(BANDS[1:])
    with chess.engine.SimpleEngine.popen_uci(find_stockfish()) as engine, target.open("a") as file:
        engine.configure({"Threads": 1, "Hash": 64})
        for _, band, text in chosen(args.files, args.since, args.games):
            name = hashlib.blake2b(text.strip().encode(), digest_size=8).hexdigest()
            if counts[band] >= args.games // len(counts):
                continue
            game = chess.pgn.read_game(io.StringIO(text))
            moves = [move.uci() for move in game.mainline_moves()]
            if game.errors or not SHORTEST <= len(moves) <= LONGEST:
                continue
            half = ("choose", "measure")[counts[band] % 2]
            counts[band] += 1
            if name in seen or args.half not in (None, half):
                continue
            white, best = label(engine, game, args.depth)
            ratings = [int(game.headers[side]) for side in ("WhiteElo", "BlackElo")]
            line = {"id": name, "half": half, "band": BANDS[band], "ratings": ratings, "moves": moves}
            file.write(json.dumps({**line, "white": white, "best": best, "depth": args.depth}) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
