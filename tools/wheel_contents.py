"""Write or check which files a wheel of kibitz contains: packaging/wheel-contents.txt.

    python tools/wheel_contents.py WHEEL               fail if a file is missing or too much
    python tools/wheel_contents.py WHEEL --compiled    fail also if it has no compiled kernels for a Python
    python tools/wheel_contents.py WHEEL --write       write the list anew

The list has each file that is not Python. Python files must be those of src/ and of the template, and the built page,
whose names contain hashes, is listed by kind. Compiled kernels are not listed: a wheel for a release has them.
"""

from __future__ import annotations

import re
import sys
import tomllib
import zipfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = ROOT / "packaging" / "wheel-contents.txt"
PAGE = "kibitz/web/page/"
COMPILED = "kibitz/compiled/"
TEMPLATE = "kibitz/data/template-system/"
MOST_BYTES = 50_000_000
"""The largest size of a wheel: 40 MB, and 2.2 MB for each of four archives of compiled kernels."""


def contents(wheel: Path) -> list[str]:
    """The lines of the list: paths, and kinds of files of the page."""
    names = [name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith(".py")]
    names = [name for name in names if not re.fullmatch(rf"{COMPILED}[\w-]+\.zip", name)]
    names = [re.sub(r"^kibitz-[^/]+\.dist-info/", "kibitz-VERSION.dist-info/", name) for name in names]
    return sorted({re.sub(rf"^({PAGE}(?:.*/)?assets/).*(\.\w+)$", r"\1*\2", name) for name in names})


def faults(wheel: Path) -> list[str]:
    """What is wrong with a wheel, one line each."""
    expected = LIST.read_text(encoding="utf-8").split()
    there = contents(wheel)
    found = [f"missing: {name}" for name in expected if name not in there]
    found += [f"not listed: {name}" for name in there if name not in expected]
    files = zipfile.ZipFile(wheel).namelist()
    python = {name for name in files if name.endswith(".py") and not name.startswith(TEMPLATE)}
    sources = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")}
    found += [f"not of src/ or missing: {name}" for name in sorted(python ^ sources)]
    found += [f"twice: {name}" for name, times in Counter(files).items() if times > 1]
    if (size := wheel.stat().st_size) > MOST_BYTES:
        found.append(f"too large: {size:,} bytes, at most {MOST_BYTES:,}")
    return found


def not_compiled(wheel: Path) -> list[str]:
    """The versions of Python of the package for which a wheel has no compiled kernels for Linux, one line each."""
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["classifiers"]
    pythons = [line.split(" :: 3.")[-1] for line in classifiers if re.search(r":: 3\.\d+$", line)]
    files = zipfile.ZipFile(wheel).namelist()
    wanted = [f"{COMPILED}cpython-3{minor}-linux-x86_64.zip" for minor in pythons]
    return [f"missing: {name}" for name in wanted if name not in files]


def main() -> None:
    wheel = Path(sys.argv[1])
    if "--write" in sys.argv:
        LIST.write_text("\n".join(contents(wheel)) + "\n", encoding="utf-8")
    elif "--compiled" in sys.argv and (found := not_compiled(wheel)):
        sys.exit("\n".join([*found, "See docs/dev/release.md: tools/compile_kernels.py writes them."]))
    elif found := faults(wheel):
        sys.exit("\n".join([*found, "If this is right, run: python tools/wheel_contents.py WHEEL --write"]))


if __name__ == "__main__":
    main()
