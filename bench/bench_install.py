"""The two sizes of kibitz: seconds from nothing to the first `kibitz analyze`, and bytes of the environment.

Builds the wheel first, which is not counted: users get it built. Then, for each size, in a folder and with a home that
are empty and without pip's cache: a virtual environment, the install, and the first analysis of a game of chess, which
compiles what it needs. Downloads count, so that seconds depend on the line to the package index.

python bench/bench_install.py                # both; the larger needs 2.5 GB
python bench/bench_install.py --sizes light
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
SIZES = {"light": "", "train": "[train]"}
LIGHT_BYTES, LIGHT_SECONDS = 600e6, 60.0
"""What the small size should reach on an idle machine."""
GAME = '[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n'


def bytes_under(folder: Path, ending: str = "") -> int:
    """What the files of a folder (those with this ending) take on the disk; links and second names count once."""
    seen = {}
    for path in folder.rglob(f"*{ending}"):
        if path.is_file() and not path.is_symlink():
            told = path.stat()
            seen[told.st_dev, told.st_ino] = told.st_blocks * 512
    return sum(seen.values())


def environment(home: Path) -> dict[str, str]:
    left_out = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    kept = {key: value for key, value in os.environ.items() if key not in left_out}
    pins = str(ROOT / "constraints.txt")
    return {**kept, "HOME": str(home), "PIP_NO_CACHE_DIR": "1", "PIP_CONSTRAINT": pins, "PIP_BUILD_CONSTRAINT": pins}


def call(*words: str | Path, home: Path, cwd: Path) -> float:
    """Seconds of a command that must succeed."""
    begun = time.perf_counter()
    subprocess.run([str(word) for word in words], cwd=cwd, env=environment(home), check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def measure(size: str, wheel: Path, python: str, uv: str | None) -> tuple[float, float, float, Path]:
    """Seconds of the install and of the first analysis, those of the second, and the environment."""
    folder = Path(tempfile.mkdtemp(prefix=f"kibitz-{size}-", dir=wheel.parent))
    home, work, venv = folder / "home", folder / "work", folder / "venv"
    home.mkdir()
    work.mkdir()
    (work / "game.pgn").write_text(GAME)
    what = f"{wheel}{SIZES[size]}"
    if uv:
        steps = [[uv, "venv", "--quiet", "--python", python, venv]]
        steps += [
            [uv, "pip", "install", "--quiet", "--no-cache", "--python", venv, "-c", ROOT / "constraints.txt", what]
        ]
    else:
        steps = [[python, "-m", "venv", venv], [venv / "bin" / "python", "-m", "pip", "--quiet", "install", what]]
    installed = sum(call(*step, home=home, cwd=work) for step in steps)
    first, second = (call(venv / "bin" / "kibitz", "analyze", "winner", "game.pgn", home=home, cwd=work) for _ in "12")
    return installed, first, second, venv


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--python", default=sys.executable, help="The Python to install it for.")
    parser.add_argument("--uv", metavar="PROGRAM", help="Install with this uv, not with pip.")
    parser.add_argument("--largest", type=int, default=8, help="How many of the largest packages to list.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kibitz-install-") as temporary:
        folder = Path(temporary)
        call(sys.executable, "-m", "pip", "--quiet", "wheel", "--no-deps", "-w", folder, ROOT, home=folder, cwd=folder)
        (wheel,) = folder.glob("kibitz-*.whl")
        megabytes = wheel.stat().st_size / 1e6
        print(f"wheel {megabytes:.1f} MB; load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        for size in given.sizes:
            installed, first, second, venv = measure(size, wheel, given.python, given.uv)
            whole, compiled = bytes_under(venv), bytes_under(venv, ".pyc")
            took = f"{installed:.1f} + {first:.1f} = {installed + first:.1f} s"
            print(f"{size}: install + first analyze {took}; next analyze {second:.1f} s; load {os.getloadavg()[0]:.1f}")
            print(f"  {whole / 1e6:.0f} MB, of it {compiled / 1e6:.0f} MB of bytecode; the largest (MB):", end=" ")
            (site,) = venv.glob("lib/python*/site-packages")
            parts = sorted(((bytes_under(part), part.name) for part in site.iterdir() if part.is_dir()), reverse=True)
            print(", ".join(f"{name} {part / 1e6:.0f}" for part, name in parts[: given.largest]))
            if size == "light":
                reached = whole <= LIGHT_BYTES, installed + first <= LIGHT_SECONDS
                words = ["reached" if each else "NOT reached" for each in reached]
                print(f"  {LIGHT_BYTES / 1e6:.0f} MB: {words[0]}; {LIGHT_SECONDS:.0f} s: {words[1]}")


if __name__ == "__main__":
    main()
