"""A board under attack for minutes: honest answers, their longest wait, and the board's memory.

python -m soak.siege [--minutes 10] [--clients 64] [--silent 200]
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

from support.attacks import besiege


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--silent", type=int, default=200)
    asked = parser.parse_args()
    call = [sys.executable, "-u", "-m", "kibitz", "board", "--no-browser"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as board:
        assert board.stdout
        try:
            port = 0
            while not port:
                line = board.stdout.readline()
                assert line, "the board has ended"
                if found := re.search(r"http://127\.0\.0\.1:(\d+)", line):
                    port = int(found[1])
            for number in range(max(1, round(asked.minutes))):
                siege = besiege(port, 60 * min(1.0, asked.minutes), asked.clients, asked.silent)
                waits = sorted(siege.waits)
                print(
                    f"minute {number + 1}: {siege.answers:,} attacks answered, {siege.unanswered:,} not within 30 s,"
                    f" {len(waits):,} honest requests, median {waits[len(waits) // 2]:.3f} s,"
                    f" longest {waits[-1]:.3f} s, {megabytes(board.pid):,.0f} MB,"
                    f" wrong: {len(siege.wrong)} {siege.wrong[:3] or ''}",
                    flush=True,
                )
        finally:
            board.terminate()


def megabytes(process: int) -> float:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * 4096 / 1e6


if __name__ == "__main__":
    main()
