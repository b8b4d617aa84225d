"""Compile the kernels that a wheel brings, so that a newcomer's first answer does not wait for them.

    python tools/compile_kernels.py FOLDER
    python tools/compile_kernels.py FOLDER --pythons python3.11 python3.12

writes an archive for this version of Python and this system into FOLDER: src/kibitz/compiled for a wheel. It has the
kernels that Python calls while the calls of WORK run; the kernels that these use are parts of them. They are compiled
for the level of processors in `kernel_cache.LEVELS`. Where there is no level, nothing is written.

With --pythons, it does this for each of these programs. Each gets a new environment, into which pip installs kibitz
with the newest libraries, as newcomers get them.

The same sources and libraries give the same bytes, in any folder. numba orders some names in the machine code by their
hashes, so Python must not choose these at random. It also stores the names of source files there, see RENAMED.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
GAMES = """[Result "0-1"]

1. f3 e5 2. g4 Qh4# 0-1

[Result "1-0"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Bxc6 dxc6 5. Nxe5 Qd4 6. Nf3 Qxe4+ 7. Qe2 1-0

[Result "1/2-1/2"]
[SetUp "1"]
[FEN "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1"]

1. e4 Kxe4 1/2-1/2
"""
WORK = (
    ("prepare", "--game", "chess"),
    ("prepare", "--game", "go"),
    ("analyze", "human", "games.pgn", "--all"),
    ("analyze", "winner", "games.pgn", "--all"),
)
"""The calls of kibitz whose kernels are packed."""
RENAMED = """
import sys
from importlib.machinery import SourceFileLoader
from types import CodeType
get_code = SourceFileLoader.get_code
def renamed(code, file):
    parts = (renamed(one, file) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(co_filename=file, co_consts=tuple(parts))
def get_renamed(loader, name):
    return renamed(get_code(loader, name), name.replace(".", "/") + ".py")
SourceFileLoader.get_code = get_renamed
"""
"""Names the file of each module by the module, because numba stores file names in the machine code."""
COMPILE = f"""{RENAMED}
from kibitz import cli
sys.exit(cli.run(sys.argv[1:]))
"""
"""Runs a command of kibitz. Its kernels do not depend on where kibitz is installed."""
READ = """
import sys
from numba.core import event
from kibitz import cli, kernel_cache
read = kernel_cache.read
def reading(path):
    payload = read(path)
    with open("used", "a") as file:
        file.write(path.name + "\\n")
    return payload
kernel_cache.read = reading
with event.install_recorder("numba:compile") as compiled:
    code = cli.run(sys.argv[1:])
again = sorted({one.data["dispatcher"].py_func.__qualname__ for _, one in compiled.buffer})
sys.exit(f"compiled again: {', '.join(again)}" if again else code)
"""
"""Runs a command of kibitz, and notes the names of the kernels that it reads in the file `used`. It must compile none.
"""


def compile_ahead(archive: Path, level: str) -> int:
    """Compile the kernels in new processes and pack them. Returns their number.

    level: LLVM's name of the processors. Raises subprocess.CalledProcessError if a call fails.
    """
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="kibitz-compile-") as temporary:
        folder, cache = Path(temporary), Path(temporary) / "cache"
        (folder / "games.pgn").write_text(GAMES, encoding="utf-8")
        apart = {"HOME": temporary, "XDG_CACHE_HOME": "", "LOCALAPPDATA": temporary, "NUMBA_CACHE_DIR": str(cache)}
        fixed = {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": "", "PYTHONHASHSEED": "0"}
        surroundings = {**os.environ, **apart, **fixed}
        for program in (COMPILE, READ):  # once to compile, once to see what is read
            for call in WORK:
                subprocess.run(
                    [sys.executable, "-c", program, *call],
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


def compile_with(pythons: Sequence[str], folder: Path) -> None:
    """Compile the kernels for several programs of Python, each in a new environment with kibitz and the newest
    libraries.
    """
    with tempfile.TemporaryDirectory(prefix="kibitz-kernels-") as temporary:
        wheels = Path(temporary) / "wheels"
        pip = (sys.executable, "-m", "pip")
        subprocess.run([*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", wheels, ROOT], check=True)
        (wheel,) = wheels.glob("kibitz-*.whl")
        for number, python in enumerate(pythons):
            begun = time.monotonic()
            environment = Path(temporary) / str(number)
            subprocess.run([python, "-m", "venv", environment], check=True)
            own = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
            subprocess.run([own, "-m", "pip", "install", "--quiet", wheel], check=True)
            bare = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
            subprocess.run([own, __file__, folder.resolve()], check=True, env=bare)
            print(f"{python}: {time.monotonic() - begun:.0f} s", flush=True)


def main() -> None:
    words = argparse.ArgumentParser(description="Compile the kernels that a wheel brings.")
    words.add_argument("folder", type=Path)
    words.add_argument("--pythons", nargs="+", metavar="PROGRAM", help="for each of these programs of Python")
    given = words.parse_args()
    if given.pythons:
        compile_with(given.pythons, given.folder)
        return
    from kibitz import kernel_cache  # not needed to start other programs

    level = kernel_cache.LEVELS.get(platform.machine().lower())
    if level is None:
        print(f"no kernels are compiled ahead for this processor ({platform.machine()})")
        return
    archive = given.folder / kernel_cache.archive().name
    number = compile_ahead(archive, level[0])
    print(f"{archive}: {number} kernels, {archive.stat().st_size:,} bytes", flush=True)


if __name__ == "__main__":
    main()
