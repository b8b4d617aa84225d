"""Install an archive of a folder into a fresh environment, and use it as a newcomer does. Works on every system.

    python tools/ci_light.py FOLDER            the wheel
    python tools/ci_light.py FOLDER --sdist    the source archive, which pip builds first
    python tools/ci_light.py FOLDER --compiled the wheel of a release, whose kernels need no compilation

Each step prints its seconds. tests/install runs the same checks in its environment.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

GAME = '[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n'
STEPS = (("--version",), ("doctor",), ("systems",), ("analyze", "winner", "game.pgn"), ("prepare", "--game", "chess"))
"""What is called after the install."""
COMPILED = (("analyze", "human", "game.pgn"), ("analyze", "winner", "game.pgn"))
"""What must not compile anything with the wheel of a release."""


def program(environment: Path, name: str) -> Path:
    """The path of a program of a virtual environment."""
    return environment / ("Scripts" if os.name == "nt" else "bin") / name


def install(archive: Path, environment: Path) -> None:
    """Make a virtual environment with a wheel or a source archive in it."""
    venv.create(environment, with_pip=True)
    command = [program(environment, "python"), "-m", "pip", "install", "--quiet", archive.resolve()]
    subprocess.run(command, check=True)
    subprocess.run([program(environment, "python"), "-m", "pip", "check"], check=True)


def check(environment: Path, folder: Path) -> None:
    """Call each of STEPS in a folder. Raises subprocess.CalledProcessError if one fails."""
    (folder / "game.pgn").write_text(GAME, encoding="utf-8")
    surroundings = {**os.environ, "PYTHONUTF8": "1"}
    for step in STEPS:
        begun = time.monotonic()
        subprocess.run([program(environment, "kibitz"), *step], cwd=folder, env=surroundings, check=True)
        print(f"== kibitz {' '.join(step)}: {time.monotonic() - begun:.0f} s", flush=True)


def check_compiled(environment: Path, folder: Path) -> None:
    """Call each of COMPILED in a folder without a cache, and exit with a message if one compiles something."""
    (folder / "game.pgn").write_text(GAME, encoding="utf-8")
    cache = folder / "cache"
    surroundings = {**os.environ, "PYTHONUTF8": "1", "NUMBA_CACHE_DIR": str(cache), "XDG_CACHE_HOME": str(folder)}
    for step in COMPILED:
        begun = time.monotonic()
        subprocess.run([program(environment, "kibitz"), *step], cwd=folder, env=surroundings, check=True)
        if written := sorted(path.name for path in cache.glob("*.kernel")):
            sys.exit(f"kibitz {' '.join(step)} compiled {len(written)} kernels (first {written[0]})")
        print(f"== kibitz {' '.join(step)}: {time.monotonic() - begun:.0f} s, nothing compiled", flush=True)


def main() -> None:
    words = argparse.ArgumentParser(description="Install an archive and use it.")
    words.add_argument("folder", type=Path)
    words.add_argument("--sdist", action="store_true", help="the source archive instead of the wheel")
    words.add_argument("--compiled", action="store_true", help="check also that its kernels need no compilation")
    given = words.parse_args()
    (archive,) = given.folder.glob("kibitz-*.tar.gz" if given.sdist else "kibitz-*.whl")
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        install(archive, Path(folder) / "venv")
        print(
            f"== install {archive.name} with Python {sys.version.split()[0]}: {time.monotonic() - begun:.0f} s",
            flush=True,
        )
        if given.compiled:
            check_compiled(Path(folder) / "venv", Path(folder))
        check(Path(folder) / "venv", Path(folder))


if __name__ == "__main__":
    main()
