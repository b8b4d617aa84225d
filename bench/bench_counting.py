"""How often the count of a finished game equals the recorded score: kibitz and GNU Go on the same games.

    python bench/bench_counting.py kgs6d_to_2016.sgfl.zst [--games 70] [--seed 43] [--skip 0]

The games are on 19×19, two passes end them, and their record names a score. All such games of the file are shuffled
with the seed. `--skip N` leaves out the first N of them: `--skip 70` gives a second sample without a game of the first.
GNU Go answers `final_score`. Prints Markdown: exact scores, right winners, seconds a game.
"""

import argparse
import random
import tempfile
import time
from pathlib import Path

from kibitz.errors import KibitzError
from kibitz.external.gtp import GtpProgram
from kibitz.external.programs import find_gnugo
from kibitz.games.go.endings.counting import TERRITORY, compensation
from kibitz.games.go.endings.final import count_board
from kibitz.games.go.io.sgf import Record, read_records, write_sgf
from kibitz.games.go.points import PASS

LIMIT_S = 120.0


def is_counted(record: Record) -> bool:
    """Whether two passes of the record end a game with a recorded score."""
    plies = len(record.moves)
    written = plies > 2 and not {plies - 1, plies - 2} & set(record.inserted)
    return (
        record.size == 19 and record.ending == "counted" and bool(record.margin) and written
        and record.moves[-2:] == [PASS, PASS]
    )  # fmt: skip


def by_kibitz(record: Record) -> float:
    board = record.board(superko=False, suicide=True)
    komi = record.komi + compensation(record.rules, record.handicap)
    return count_board(board, komi, record.rules in TERRITORY).lead


def by_gnugo(program: GtpProgram, folder: Path, record: Record) -> float | None:
    """GNU Go's score with Black's sign; None if it has no answer."""
    (folder / "game.sgf").write_text(write_sgf(record), encoding="utf-8")
    try:
        program.request("loadsgf game.sgf", LIMIT_S)
        answer = program.request("final_score", LIMIT_S)
    except (KibitzError, ValueError):
        return None
    return 0.0 if answer == "0" else float(answer[2:]) * (1 if answer[0] == "B" else -1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--games", type=int, default=70)
    parser.add_argument("--seed", type=int, default=43)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--alone", action="store_true", help="without GNU Go")
    parser.add_argument("--list", action="store_true", help="also print each game that kibitz does not count exactly")
    options = parser.parse_args()
    games = [(number, game) for number, game in enumerate(read_records([options.file]), 1) if isinstance(game, Record)]
    games = [(number, game) for number, game in games if is_counted(game)]
    found = len(games)
    random.Random(options.seed).shuffle(games)
    games = games[options.skip : options.skip + options.games]
    by_kibitz(games[0][1])  # compiles
    results: dict[str, list[float | None]] = {"kibitz": [], "GNU Go": []}
    seconds = dict.fromkeys(results, 0.0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = None if options.alone else find_gnugo(None)
        program = GtpProgram([path, "--mode", "gtp", "--quiet"], "GNU Go", folder) if path else None
        for number, game in games:
            begun = time.perf_counter()
            results["kibitz"].append(by_kibitz(game))
            seconds["kibitz"] += time.perf_counter() - begun
            if options.list and results["kibitz"][-1] != (game.margin or 0) * (game.result or 0):
                print(f"game {number}: recorded {game.headers['RE']}, counted {results['kibitz'][-1]:+g}")
            if program:
                begun = time.perf_counter()
                results["GNU Go"].append(by_gnugo(program, folder, game))
                seconds["GNU Go"] += time.perf_counter() - begun
        if program:
            program.kill()
    print(f"{len(games)} of {found} games, seed {options.seed}, skipped {options.skip}\n")
    print("| counted by | exact | right winner | seconds a game |\n|---|---|---|---|")
    for who, scores in results.items():
        if not scores:
            continue
        recorded = [(game.margin or 0) * (game.result or 0) for _, game in games]
        pairs = [(score, truth) for score, truth in zip(scores, recorded, strict=False) if score is not None]
        exact = sum(abs(score - truth) < 0.01 for score, truth in pairs)
        right = sum(score * truth > 0 for score, truth in pairs)
        print(f"| {who} | {exact} | {right} | {seconds[who] / max(1, len(scores)):.2f} |")


if __name__ == "__main__":
    main()
