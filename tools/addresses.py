"""Change the public address of the project in every file that has it.

    python tools/addresses.py                 print the address and the files that have it
    python tools/addresses.py OWNER           replace the owner on GitHub by another one

pyproject.toml has the address under [project.urls]. The other files repeat it, because they are read without kibitz.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def owner() -> str:
    """The owner of the repository, from pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = re.fullmatch(r"https://github\.com/([\w-]+)/kibitz", project["urls"]["Repository"])
    assert found is not None, "the repository's address has another form"
    return found[1]


def files_with(name: str) -> list[Path]:
    """The files of the repository that contain a name."""
    found = subprocess.run(["git", "grep", "-lIF", name], cwd=ROOT, capture_output=True, text=True, check=False)
    return [ROOT / line for line in found.stdout.splitlines()]


def main() -> None:
    old, new = owner(), (sys.argv[1:] or [None])[0]
    if new is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}", new):
        sys.exit(f"OWNER must be a name on GitHub (got {new})")
    for path in files_with(old):
        if new is not None:
            path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
        print(path.relative_to(ROOT))
    print(f"https://github.com/{new or old}/kibitz")


if __name__ == "__main__":
    main()
