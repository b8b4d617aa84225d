"""Real chess and Go programs start kibitz in a window, with the configuration of `kibitz setup`, and show its moves.

Each program gets the command of the configuration where it keeps it. The command starts kibitz by way of a script that
writes down both directions of the protocol.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kibitz.setups.programs import kibitz_command
from support.causes import in_process
from support.screen import Screen, optional, screen, until

pytestmark = pytest.mark.process
SCRIPT = """#!/bin/sh
export {kept}
tee -a {folder}/asked | {command} "$@" | tee -a {folder}/answered
"""


@dataclass
class Desk:
    """A screen, what `kibitz setup` printed for a program, and the protocol so far."""

    screen: Screen
    told: dict[str, Any]
    folder: Path

    def answered(self, pattern: str) -> None:
        """Wait until kibitz has answered with such a line."""
        log = self.folder / "answered"
        until(lambda: log.exists() and re.search(pattern, log.read_text(), re.MULTILINE), pattern)

    def asked(self, words: str) -> bool:
        """Whether the program has sent such words to kibitz."""
        log = self.folder / "asked"
        return log.exists() and words in log.read_text()

    def file(self, path: str, text: str) -> None:
        target = self.screen.home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def typed(self, label: str) -> str:
        """The text that a step names for a field."""
        steps: list[str] = self.told["steps"]
        return next(step.partition(": ")[2] for step in steps if label in step)

    def picture(self, name: str) -> None:
        """Keep a picture of the screen for a person, where KIBITZ_PICTURES names a folder."""
        if folder := os.environ.get("KIBITZ_PICTURES"):
            self.screen.picture(Path(folder) / f"{name}.png")


def xboard(desk: Desk) -> None:
    command = shlex.split(desk.typed("Type:"))
    optional("polyglot")
    desk.screen.start([*command, "-mode", "MachineWhite", "-st", "0:02"])
    desk.answered("^bestmove [a-h]")


def gnome_chess(desk: Desk) -> None:
    name = next(name for name in desk.told["written"] if name.endswith("engines.conf"))
    desk.file(".config/gnome-chess/engines.conf", Path(name).read_text())
    desk.file(".config/glib-2.0/settings/keyfile", "[org/gnome/Chess]\nopponent='kibitz'\nplay-as='black'\n")
    desk.screen.start([optional("dbus-run-session"), "--", optional("gnome-chess")])
    desk.answered("^bestmove [a-h]")


def kigo(desk: Desk) -> None:
    command = f"{desk.typed('Executable')} {desk.typed('Parameters')}"
    desk.file(".config/kigorc", f"[Backend]\nEngineCommand={command}\n\n[Game]\nBlackPlayerHuman=false\n")
    desk.screen.start([optional("dbus-run-session"), "--", optional("kigo")])
    window = desk.screen.window("kigo", "class")
    desk.answered("^= C3")  # its stones of handicap
    until(lambda: desk.screen.click(window, 749, 678) or desk.asked("genmove"), "game", 1)
    desk.answered("^= [A-J][1-9]$")


def pychess(desk: Desk) -> None:
    script = desk.told["written"][0]
    engine = {"name": "kibitz", "protocol": "uci", "command": script, "recheck": True}
    desk.file(".config/pychess/engines.json", json.dumps([engine]))
    settings = {
        "book_depth_max": 0,
        "show_tip_at_startup": False,
        "dont_show_externals_at_startup": True,
        "newgametasker_playercombo": 1,
    }
    lines = "\n".join(f"{name} = {value}" for name, value in settings.items())
    desk.file(".config/pychess/config", f"[General]\n{lines}\nanalyzer_check = False\n")
    desk.screen.start([optional("dbus-run-session"), "--", optional("pychess"), "--no-version-check"])
    window = desk.screen.window("^Welcome - PyChess")
    desk.answered("^uciok")
    until(lambda: desk.screen.click(window, 160, 309) or desk.asked("ucinewgame"), "game", 1)  # Start game
    for y in (365, 301):
        desk.screen.click(window, 237, y)  # e2, then e4
    desk.answered("^bestmove [a-h]")


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
def test_a_program_plays_with_kibitz_in_its_window(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, play = PROGRAMS[program]
    if program in BY_PIXEL and not os.environ.get("KIBITZ_WINDOWS"):
        pytest.skip(f"{program} is tried by hand: KIBITZ_WINDOWS=1")
    optional(program)
    command, home = shlex.join(kibitz_command()), Path.home()
    script = tmp_path / "bin" / ("kibitz.exe" if sys.platform == "win32" else "kibitz")
    script.parent.mkdir()
    script.write_text(SCRIPT.format(kept=f"HOME={shlex.quote(str(home))}", folder=tmp_path, command=command))
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script.with_name("python")))
    plain = json.loads(in_process(["setup", program, "--json"]).out)
    options = ["--write", str(tmp_path / "written")] if plain["files"] else []
    told = json.loads(in_process(["setup", program, "--network", network, *options, "--json"]).out)
    with screen(tmp_path / "home") as desk:
        played = Desk(desk, told, tmp_path)
        try:
            play(played)
        finally:
            played.picture(program)
