"""Write a notebook for each walk of the course: notebooks/course-NAME.ipynb from docs/course/NAME.md.

    python tools/course_notebooks.py

The commands of a page become cells, its text stays text. tests/release/test_notebooks.py compares the files with this
script and runs them.
"""

from __future__ import annotations

import json
import re
import runpy
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
COURSE, NOTEBOOKS = ROOT / "docs" / "course", ROOT / "notebooks"
owner = runpy.run_path(str(ROOT / "tools" / "addresses.py"))["owner"]
"""Returns the owner of the repository on GitHub."""
GAMES = {"course.store": "games.pgn.zst", "go.store": "games.sgfl.zst"}
"""Store -> the file in kibitz with its games. The page index.md has the import commands."""
_WIDTH = 100

BADGES = """\
[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)](https://colab.research.google.com/github/{owner}/kibitz/blob/main/notebooks/{name})
[![Open in Binder](https://mybinder.org/badge_logo.svg)](https://mybinder.org/v2/gh/{owner}/kibitz/main?labpath=notebooks%2F{name})

This notebook runs the commands of [the walk in the course]({site}course/{page}.html)."""

INSTALL_TEXT = """\
## Install

The next cell installs kibitz from its repository, with PyTorch, unless it is installed already. On your own computer
you can also run `pip install '.[train]'` in a copy of the repository, and start Jupyter in the same environment. The
notebook needs no other data: it uses the games that kibitz contains.

All files go into a new temporary folder. To keep them, set `FOLDER` to a folder of your choice."""

INSTALL = """\
# Install kibitz if it is missing
try:
    import kibitz
except ModuleNotFoundError:
    %pip install --quiet "kibitz[train] @ git+https://github.com/{owner}/kibitz"
    import kibitz

kibitz.__version__"""

SETUP = '''\
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

FOLDER = Path(tempfile.mkdtemp(prefix="kibitz-"))
os.chdir(FOLDER)

# If this variable is set, each training ends after this number of minutes. It is for automatic tests.
MINUTES = os.environ.get("KIBITZ_NOTEBOOK_MINUTES")


def command(line):
    """Run a command of kibitz as in a terminal, and print its output."""
    words = shlex.split(line)[1:]
    if MINUTES and words[0] == "train":
        words += ["--time-limit", MINUTES]
    done = subprocess.run([sys.executable, "-m", "kibitz", *words], capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr)
    done.check_returncode()'''

PREPARE_TEXT = """\
## Prepare

Import the games that come with kibitz. A *store* is kibitz's database of games."""

PREPARE = """\
shutil.copy(Path(kibitz.__file__).parent / "data" / "{games}", ".")
{command}"""

CURVE_TEXT = """\
The curve shows the loss on the validation games. The network does not learn from these games. If there are several
curves, the training has several stages, and each stage has its own loss."""

CURVE = """\
rows = [json.loads(line) for line in Path("{run}/metrics.jsonl").read_text().splitlines()]
checks = [row for row in rows if row["kind"] == "validation"]
plt.figure(figsize=(6, 3))
for stage in dict.fromkeys(row["stage"] for row in checks):
    points = [(row["iteration"], row["loss"]) for row in checks if row["stage"] == stage]
    plt.plot(*zip(*points, strict=True), marker="o", label=stage)
plt.xlabel("iteration")
plt.ylabel("validation loss")
plt.yscale("log")
plt.legend()
plt.show()"""


def call(line: str) -> str:
    """The Python call of one command line, broken into lines of at most _WIDTH characters."""
    if len(line) <= _WIDTH:
        return f"command({json.dumps(line, ensure_ascii=False)})"
    pieces = textwrap.wrap(line, _WIDTH - 10, break_long_words=False, break_on_hyphens=False)
    pieces = [piece + " " for piece in pieces[:-1]] + pieces[-1:]
    return "command(\n" + "".join(f"    {json.dumps(piece, ensure_ascii=False)}\n" for piece in pieces) + ")"


def commands(block: str) -> list[str]:
    """The commands of kibitz in a block of a page."""
    return [line for line in block.splitlines() if line.startswith("kibitz ")]


def linked(text: str, site: str) -> str:
    """The text with the relative links of a page of the course as addresses of the documentation."""

    def address(found: re.Match[str]) -> str:
        target = found[1] if found[1].startswith("../") else f"course/{found[1]}"
        return f"]({site}{target.removeprefix('../').replace('.md', '.html')})"

    return re.sub(r"\]\(((?!https?:)[^)]+)\)", address, text)


def store_of(page: str) -> str:
    """The store that the commands of a page use."""
    (found,) = {store for store in GAMES if re.search(rf"^kibitz \w+ \w+ {re.escape(store)}\b", page, re.MULTILINE)}
    return found


def notebook(path: Path) -> dict[str, Any]:
    """The notebook of one page of the course."""
    page, repository = path.read_text(encoding="utf-8"), owner()
    site, name = f"https://{repository}.github.io/kibitz/", f"course-{path.stem}.ipynb"
    title, text = page.split("\n", 1)
    # The text before each block of commands, the block, and so on. Blocks in a language stay in the text.
    parts = [""]
    for piece in re.split(r"(^```\w*\n.*?^```$)", linked(text, site), flags=re.MULTILINE | re.DOTALL):
        parts[-1:] = [parts[-1], piece, ""] if piece.startswith("```\n") else [parts[-1] + piece]
    introduction, first = parts[0].split("\n## ", 1)
    introduction = re.sub(r"\[Prepare\]\([^)]*\) the store first\.", "", introduction).strip()
    store = store_of(page)
    steps = (COURSE / "index.md").read_text(encoding="utf-8")
    (imported,) = (line for line in commands(steps) if f"--into {store}" in line)
    badges = BADGES.format(owner=repository, name=name, site=site, page=path.stem)
    cells: list[tuple[str, str]] = [
        ("markdown", "\n\n".join([title, badges, introduction, INSTALL_TEXT])),
        ("code", INSTALL.format(owner=repository)),
        ("code", SETUP),
        ("markdown", PREPARE_TEXT),
        ("code", PREPARE.format(games=GAMES[store], command=call(imported))),
        ("markdown", "## " + first),
    ]
    for number, part in enumerate(parts[1:]):
        if number % 2:
            cells.append(("markdown", part))
            continue
        lines = commands(part)
        cells.append(("code", "\n".join(map(call, lines))))
        for run in re.findall(r"^kibitz train .*--run ([\w-]+)", part, re.MULTILINE):
            cells += [("markdown", CURVE_TEXT), ("code", CURVE.format(run=run))]
    return {
        "cells": [
            {
                "cell_type": kind, **({"execution_count": None} if kind == "code" else {}), "id": f"cell-{number:02}",
                "metadata": {}, **({"outputs": []} if kind == "code" else {}),
                "source": text.strip().splitlines(keepends=True),
            }
            for number, (kind, text) in enumerate(cells)
        ],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }  # fmt: skip


def notebooks() -> dict[Path, str]:
    """The path and the text of each notebook of the course."""
    pages = sorted(page for page in COURSE.glob("*.md") if page.name != "index.md")
    return {
        NOTEBOOKS / f"course-{page.stem}.ipynb": json.dumps(notebook(page), indent=1, ensure_ascii=False) + "\n"
        for page in pages
    }


def main() -> None:
    for path, text in notebooks().items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
