"""The pictures of chess and Go programs that play against kibitz, for docs/how-to/gui-chess.md and gui-go.md.

    python tools/gui_pictures.py                 # every program that is installed
    python tools/gui_pictures.py xboard kigo     # these programs

Each program opens on a screen in memory with the configuration of `kibitz setup`, and the script plays moves with
clicks. It needs Xvfb, openbox, xdotool and ImageMagick. The places of clicks are those of Debian 12 and its fonts. Look
at a picture before you commit it. The pictures of Scid, Knights, Quarry and qGo were taken by hand.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support import windows  # noqa: E402
from support.screen import optional, until  # noqa: E402
from support.windows import Desk, desk  # noqa: E402

WIDTH = 760
"""Pixels of the widest picture."""
CHESS = ("--network", "human", "--rating", "1500")
GO = ("--network", "gohuman")


def click_moves(on: Desk, corner: tuple[int, int], side: int, moves: tuple[str, ...], answers: int) -> None:
    """Play moves for White with clicks, and wait for each answer.

    corner: the middle of a1 on the screen. side: of a square, in pixels. answers: moves of kibitz after the first move.
    """
    for number, move in enumerate(moves, answers):
        for square in (move[:2], move[2:]):
            x = corner[0] + (ord(square[0]) - ord("a")) * side
            on.screen.do("mousemove", x, corner[1] - (int(square[1]) - 1) * side, "click", 1)
            time.sleep(0.5)
        on.moves(number)
        time.sleep(1)


def xboard(on: Desk) -> None:
    optional("polyglot")
    on.screen.start([*shlex.split(on.typed("Type:")), "-mode", "MachineBlack", "-tc", "15"])
    on.screen.window("xboard", "class")
    until(lambda: on.asked("isready"), "start of the engine")
    time.sleep(2)
    click_moves(on, (444, 706), 55, ("e2e4", "d2d4"), 1)


def gnome_chess(on: Desk) -> None:
    windows.gnome_chess(on, plays="white")
    on.screen.window("gnome-chess", "class")
    time.sleep(2)
    click_moves(on, (472, 617), 48, ("e2e4", "d2d4"), 1)


def pychess(on: Desk) -> None:
    windows.pychess(on)
    time.sleep(1)
    click_moves(on, (429, 426), 32, ("d2d4",), 2)


def kigo(on: Desk) -> None:
    windows.kigo(on)
    time.sleep(1)


PROGRAMS: dict[str, tuple[tuple[str, ...], Callable[[Desk], None]]] = {
    "xboard": (CHESS, xboard),
    "gnome-chess": (CHESS, gnome_chess),
    "pychess": (CHESS, pychess),
    "kigo": (GO, kigo),
}
"""Program -> options of `kibitz setup`, and what is played."""


def picture(on: Desk, target: Path) -> None:
    """Write what the screen shows, without its empty edges."""
    whole = on.folder / "screen.png"
    on.screen.picture(whole)
    with Image.open(whole) as shown:
        image = shown.convert("RGB")
        image = image.crop(image.getbbox())
        if image.width > WIDTH:
            image = image.resize((WIDTH, round(image.height * WIDTH / image.width)), Image.Resampling.LANCZOS)
        image.save(target, quality=80, method=6)


def main() -> None:
    folder = ROOT / "docs" / "how-to"
    for program in sys.argv[1:] or PROGRAMS:
        options, play = PROGRAMS[program]
        with tempfile.TemporaryDirectory() as temporary:
            try:
                optional(program)
                with desk(program, Path(temporary), *options) as on:
                    play(on)
                    picture(on, folder / f"{program}.webp")
            except pytest.skip.Exception as skipped:
                print(f"{program}: {skipped.msg}")
                continue
        print(folder / f"{program}.webp")


if __name__ == "__main__":
    main()
