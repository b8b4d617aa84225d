"""What comments after the moves cost an import: the same games without comments, and with a command after each move.

    python bench/bench_comments.py --games 1500

It prints the processor seconds of `kibitz import`, each in a new process, as the median of some runs in turn.
"""

from __future__ import annotations

import argparse
import re
import statistics
import tempfile
from pathlib import Path

from bench_import import SHARED, run_import
from kibitz.records import Stream

COMMANDS = ["", "[%clk 0:03:00]", "[%eval 0.31]", "[%eval #3]", "[%eval 0.31,18]", "[%emt 5.2]"]
_MOVE = re.compile(r"(?<![\w.])((?:[KQRBN][a-h1-8x]*|[a-h]x?)[a-h]?[1-8](?:=[QRBN])?[+#]?|O-O(?:-O)?[+#]?)(?=\s)")


def games(file: Path, number: int) -> list[str]:
    """Return the first games of a PGN file, as text."""
    text = ""
    for block in Stream(str(file)).texts(1 << 22, "PGN files are text"):
        text += block.decode("utf-8", "replace")
        if text.count("\n[Event ") > number:
            break
    return ["[Event " + game for game in text.split("[Event ")[1 : number + 1]]


def commented(game: str, command: str) -> str:
    """Return a game with a command after each move, and a time control."""
    headers, _, moves = game.partition("\n\n")
    moves = _MOVE.sub(rf"\1 {{{command}}}", moves) if command else moves
    return f'{headers}\n[TimeControl "5400+30"]\n\n{moves}'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path, default=SHARED, help="a PGN file, packed or not")
    parser.add_argument("--games", type=int, default=1500)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    taken = games(given.file, given.games)
    seconds: dict[str, list[float]] = {command: [] for command in COMMANDS}
    with tempfile.TemporaryDirectory() as folder:
        for run in range(given.runs + 1):  # the first one compiles, and is left out
            for i, command in enumerate(COMMANDS):
                file = Path(folder) / f"{i}.pgn"
                file.write_text("".join(commented(game, command) for game in taken), encoding="utf-8")
                done = run_import(file, Path(folder) / f"{run}-{i}.store", [])
                if run:
                    seconds[command].append(done["processor_seconds"])
    print(f"{len(taken):,} games, processor seconds, median of {given.runs}")
    for command, each in seconds.items():
        print(f"{statistics.median(each):6.2f}  {command or 'no comments'}")


if __name__ == "__main__":
    main()
