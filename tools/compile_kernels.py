"""Compile the kernels that a wheel brings, so that a newcomer's first answer does not wait for them.

    python tools/compile_kernels.py FOLDER

writes an archive for this version of Python and this system into FOLDER: src/kibitz/compiled for a wheel. It has the
kernels that Python calls while the calls of WORK run; the kernels that these use are parts of them. They are compiled
for the level of processors in `kernel_cache.LEVELS`. Where there is no level, nothing is written.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from kibitz import kernel_cache

GAMES = """[Result "0-1"]

1. f3 e5 2. g4 Qh4# 0-1

[Result "1-0"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Bxc6 dxc6 5. Nxe5 Qd4 6. Nf3 Qxe4+ 7. Qe2 1-0
"""
WORK = (
    ("prepare", "--game", "chess"),
    ("prepare", "--game", "go"),
    ("analyze", "human", "games.pgn"),
    ("analyze", "winner", "games.pgn"),
)
"""The calls of kibitz whose kernels are packed."""
READ = """
import pathlib, sys
from kibitz import cli, kernel_cache
read = kernel_cache.read
def reading(path):
    payload = read(path)
    with open("used", "a") as file:
        file.write(path.name + "\\n")
    return payload
kernel_cache.read = reading
sys.exit(cli.run(sys.argv[1:]))
"""
"""Runs a command of kibitz, and notes in the file `used` the names of the kernels that it reads."""


def compile_ahead(archive: Path, level: str) -> int:
    """Compile the kernels in new processes and pack them. Returns their number.

    level: LLVM's name of the processors. Raises subprocess.CalledProcessError if a call fails.
    """
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="kibitz-compile-") as temporary:
        folder, cache = Path(temporary), Path(temporary) / "cache"
        (folder / "games.pgn").write_text(GAMES, encoding="utf-8")
        apart = {"HOME": temporary, "XDG_CACHE_HOME": "", "LOCALAPPDATA": temporary, "NUMBA_CACHE_DIR": str(cache)}
        surroundings = {**os.environ, **apart, "NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": ""}
        for program in (["-m", "kibitz"], ["-c", READ]):  # once to compile, once to see what is read
            for call in WORK:
                subprocess.run(
                    [sys.executable, *program, *call],
                    cwd=folder,
                    env=surroundings,
                    check=True,
                    stdout=subprocess.DEVNULL,
                )
        used = sorted(set((folder / "used").read_text(encoding="utf-8").split()))
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as files:
            for name in used:
                files.writestr(zipfile.ZipInfo(name), (cache / name).read_bytes(), zipfile.ZIP_DEFLATED, 9)
    return len(used)


def main() -> None:
    folder = Path(sys.argv[1])
    level = kernel_cache.LEVELS.get(platform.machine().lower())
    if level is None:
        print(f"no kernels are compiled ahead for this processor ({platform.machine()})")
        return
    archive = folder / kernel_cache.archive().name
    number = compile_ahead(archive, level[0])
    print(f"{archive}: {number} kernels, {archive.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
