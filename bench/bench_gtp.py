"""Lines a second of `kata-analyze` with owners, and seconds for a move, of `kibitz gtp RUN`; GNU Go's moves for
comparison.

A position is made by a few moves of ours. Analysis: lines in all and how many of them were new, the wait for the first,
the wait for the answer to the next command, for each interval.

python bench/bench_gtp.py gocnn --seconds 5
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from kibitz.external.gtp import GtpProgram
from kibitz.external.programs import find_gnugo

PATIENCE = 120.0


def moves(command: list[str], size: int, count: int) -> list[float]:
    """Seconds of each of `count` moves that a program plays against itself; the first is left out: it loads."""
    with GtpProgram(command) as program:
        program.request(f"boardsize {size}", PATIENCE)
        program.request("clear_board", PATIENCE)
        seconds = []
        for number in range(count + 1):
            begun = time.perf_counter()
            program.request(f"genmove {'bw'[number % 2]}", PATIENCE)
            seconds.append(time.perf_counter() - begun)
    return seconds[1:]


def analysis(command: list[str], size: int, played: int, interval: int, seconds: float) -> dict[str, float]:
    """What `kata-analyze interval N ownership true` tells within so many seconds of its first line."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with process:
        assert process.stdin
        assert process.stdout
        setting = [f"boardsize {size}", *(f"genmove {'bw'[number % 2]}" for number in range(played)), "name"]
        process.stdin.write("\n".join([*setting, ""]).encode())
        process.stdin.flush()
        for _ in setting:
            while process.stdout.readline() != b"\n":
                pass
        process.stdin.write(f"kata-analyze interval {interval} ownership true\n".encode())
        process.stdin.flush()
        begun = time.perf_counter()
        process.stdout.readline()
        lines = [process.stdout.readline()]
        first = time.perf_counter()
        improved = first
        while (now := time.perf_counter()) < first + seconds:
            lines.append(process.stdout.readline())
            if lines[-1] != lines[-2]:
                improved = now
        process.stdin.write(b"name\n")
        process.stdin.flush()
        asked = time.perf_counter()
        while process.stdout.readline() != b"= kibitz\n":
            pass
        answered = time.perf_counter()
        process.stdin.close()
        process.stdout.read()
    return {
        "updates_per_second": (len(lines) - 1) / seconds,
        "new_per_second": (len(set(lines)) - 1) / max(improved - first, 1e-9),
        "first_update_s": first - begun,
        "complete_after_s": improved - begun,
        "next_answer_s": answered - asked,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--size", type=int, default=19)
    parser.add_argument("--moves", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--intervals", type=int, nargs="+", default=[1, 4], help="centiseconds")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    command = [sys.executable, "-m", "kibitz", "gtp", arguments.run]
    ours = moves(command, arguments.size, arguments.moves)
    figures: dict[str, object] = {"genmove_s": sum(ours) / len(ours)}
    print(f"genmove: {figures['genmove_s']:.2f} s")
    if gnugo := find_gnugo():
        theirs = moves([gnugo, "--mode", "gtp", "--chinese-rules"], arguments.size, arguments.moves)
        figures["gnugo_genmove_s"] = sum(theirs) / len(theirs)
        print(f"genmove of GNU Go, level 10: {figures['gnugo_genmove_s']:.2f} s")
    for interval in arguments.intervals:
        found = analysis(command, arguments.size, arguments.moves, interval, arguments.seconds)
        figures[f"analyze_{interval}cs"] = found
        print(f"kata-analyze interval {interval}: " + ", ".join(f"{name} {value:.2f}" for name, value in found.items()))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
