"""The property tests with 2,000 new examples each, one file after the other.

    python -m soak.properties --minutes 10 [--only games/chess,store] [--folder .soak]

Files whose turn was longest ago come first. A turn has a limit, and one that is ended by it, or by the end of the
minutes, is not counted. What fails is written to FOLDER/found: make the example of its last lines an `@example` of the
test.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from soak import known, save

TESTS = Path(__file__).parents[1]
TURN = 1800.0
"""Seconds of a file's turn, at most."""
PASSED, NOTHING = 0, 5
"""Exit codes of pytest: all tests passed, and there were none."""


def files() -> list[str]:
    """Test files with properties, relative to `tests`."""
    found = (path for path in TESTS.rglob("test_*.py") if "from hypothesis import" in path.read_text(encoding="utf-8"))
    return sorted(path.relative_to(TESTS).as_posix() for path in found)


def try_one(file: str, seconds: float) -> tuple[int | None, str]:
    """The exit code of the properties of one file, and what pytest printed; no code if they took too long."""
    call = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "hypothesis"]
    try:
        done = subprocess.run(
            [*call, str(TESTS / file)], cwd=TESTS.parent, env={**os.environ, "HYPOTHESIS_PROFILE": "soak"},
            capture_output=True, text=True, timeout=seconds,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout + done.stderr


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--only", default="", help="files, or beginnings of their names")
    parser.add_argument("--folder", type=Path, default=Path(".soak"))
    asked = parser.parse_args()
    (asked.folder / "found").mkdir(parents=True, exist_ok=True)
    journal = asked.folder / "properties.json"
    turns = known(journal)
    end = time.monotonic() + 60 * asked.minutes
    failed = []
    mine = [file for file in files() if file.startswith(tuple(asked.only.split(",")))]
    for file in sorted(mine, key=lambda file: turns.get(file, 0)):
        if (left := end - time.monotonic()) <= 0:
            break
        begun = time.monotonic()
        code, text = try_one(file, min(TURN, left))
        if code is None:
            print(f"{file}: too long", flush=True)
            continue
        if code not in (PASSED, NOTHING):
            failed.append(file)
            (asked.folder / "found" / f"property-{file.replace('/', '-')}.txt").write_text(text, encoding="utf-8")
        turns[file] = time.time()
        save(journal, turns)
        print(f"{file}: {'failed' if file in failed else 'passed'}, {time.monotonic() - begun:.0f} s", flush=True)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}; see {asked.folder}/found")


if __name__ == "__main__":
    main()
