"""Checks the types of frontend/ and runs its unit tests. `make test-page` calls it; so does tests/test_page_logic.py.

The packages that the tests need are installed into frontend/node_modules, and again when package-lock.json has changed.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import hatch_build  # noqa: E402

FRONTEND = ROOT / "frontend"
STAMP = FRONTEND / "node_modules" / ".kibitz-lock"
"""The digest of the package-lock.json that node_modules was installed from."""


def install(npm: list[str]) -> None:
    """Installs the packages unless they are there. Raises NotReached if npm cannot get them."""
    wanted = hashlib.sha256((FRONTEND / "package-lock.json").read_bytes()).hexdigest()
    if STAMP.is_file() and STAMP.read_text(encoding="ascii") == wanted:
        return
    done = hatch_build.run(npm, "ci", *hatch_build.CAREFUL, cwd=FRONTEND)
    if done.returncode:
        raise hatch_build.NotReached(f"npm could not get its packages ({hatch_build.complaint(done)})")
    STAMP.write_text(wanted, encoding="ascii")


def check(npm: list[str]) -> subprocess.CompletedProcess[str]:
    """The types, and then the tests; the first that fails, or the last."""
    types = hatch_build.run(npm, "run", "check", cwd=FRONTEND)
    return types if types.returncode else hatch_build.run(npm, "test", cwd=FRONTEND)


def main() -> None:
    """Exit status 0: all passed. 1: a type or a test is wrong. 2: npm cannot get the packages."""
    try:
        npm = hatch_build.npm_command()
        install(npm)
    except hatch_build.NotReached as reason:
        print(f"error: the page's tests cannot run: {reason}", file=sys.stderr)
        sys.exit(2)
    done = check(npm)
    print(done.stdout)
    sys.exit(1 if done.returncode else 0)


if __name__ == "__main__":
    main()
