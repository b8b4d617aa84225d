"""Real chess and Go programs start kibitz in a window, with the configuration of `kibitz setup`, and show its moves."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from support.screen import optional
from support.windows import Desk, desk, gnome_chess, kigo, pychess, xboard

pytestmark = pytest.mark.process
PROGRAMS: dict[str, tuple[str, Callable[[Desk], None]]] = {
    "xboard": ("chessnet", xboard),
    "gnome-chess": ("chessnet", gnome_chess),
    "kigo": ("gocnn", kigo),
    "pychess": ("chessnet", pychess),
}
BY_PIXEL = ("kigo", "pychess")
"""Programs that need clicks at places of their windows, which depend on fonts and speed: tried only where
KIBITZ_WINDOWS is set."""


@pytest.mark.parametrize("program", list(PROGRAMS))
def test_a_program_plays_with_kibitz_in_its_window(program: str, tmp_path: Path) -> None:
    network, play = PROGRAMS[program]
    if program in BY_PIXEL and not os.environ.get("KIBITZ_WINDOWS"):
        pytest.skip(f"{program} is tried by hand: KIBITZ_WINDOWS=1")
    optional(program)
    with desk(program, tmp_path, "--network", network) as played:
        play(played)
