"""All soaks, one after the other: `make soak`, or python -m soak [--minutes 60] [--folder .soak].

Fuzzing has four tenths of the time, kills three, the property tests, the board's siege and the sessions of both
protocols a tenth each.
The next call goes on with what was counted, also after Ctrl-C. What is begun is ended: a work of `kills` needs its
untroubled run before any kill, however short the time.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--folder", type=Path, default=Path(".soak"))
    asked = parser.parse_args()
    folder = ["--folder", str(asked.folder)]
    minutes = asked.minutes
    session = ["--minutes", str(minutes / 20), *folder]
    calls = [
        ["soak.fuzz", "--minutes", str(minutes * 0.4), "--inputs", str(10**9), *folder],
        ["soak.kills", "--minutes", str(minutes * 0.3), "--moments", "1000000", *folder],
        ["soak.properties", "--minutes", str(minutes / 10), *folder],
        ["soak.siege", "--minutes", str(minutes / 10)],
        ["soak.sessions", "uci", "--options=--method top-prob", *session],
        ["soak.sessions", "gtp", *session],
    ]
    try:
        failed = [call[0] for call in calls if run([sys.executable, "-m", *call])]
    except KeyboardInterrupt:
        sys.exit("interrupted; the same call goes on")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def run(call: list[str]) -> int:
    """The exit code of a program. Ctrl-C ends it, and all that it has started: they are a session of their own."""
    with subprocess.Popen(call, start_new_session=True) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            raise


if __name__ == "__main__":
    main()
