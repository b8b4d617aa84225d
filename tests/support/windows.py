"""Chess and Go programs in windows, with the configuration of `kibitz setup`.

Each program gets the command of the configuration where it keeps it. The command starts kibitz by way of a script that
writes down both directions of the protocol.
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from kibitz.setups.programs import kibitz_command
from support.causes import in_process
from support.screen import Screen, optional, screen, until

SCRIPT = """#!/bin/sh
export {kept}
tee -a {folder}/asked | {command} "$@" | tee -a {folder}/answered
"""
_MOVE = re.compile(r"^(?:bestmove [a-h]|= [A-T]\d+$)", re.MULTILINE)


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

    def moves(self, count: int) -> None:
        """Wait until kibitz has played as many moves as this."""
        log = self.folder / "answered"
        until(lambda: log.exists() and len(_MOVE.findall(log.read_text())) >= count, f"{count} moves")

    def typed(self, label: str) -> str:
        """The text that a step names for a field."""
        steps: list[str] = self.told["steps"]
        return next(step.partition(": ")[2] for step in steps if label in step)


def xboard(desk: Desk) -> None:
    command = shlex.split(desk.typed("Type:"))
    optional("polyglot")
    desk.screen.start([*command, "-mode", "MachineWhite", "-st", "0:02"])
    desk.answered("^bestmove [a-h]")


def gnome_chess(desk: Desk, plays: str = "black") -> None:
    name = next(name for name in desk.told["written"] if name.endswith("engines.conf"))
    desk.file(".config/gnome-chess/engines.conf", Path(name).read_text())
    desk.file(".config/glib-2.0/settings/keyfile", f"[org/gnome/Chess]\nopponent='kibitz'\nplay-as='{plays}'\n")
    desk.screen.start([optional("dbus-run-session"), "--", optional("gnome-chess")])
    desk.answered("^bestmove [a-h]" if plays == "black" else "^uciok")


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


@contextlib.contextmanager
def desk(program: str, folder: Path, *options: str) -> Iterator[Desk]:
    """A screen and the configuration of a program. options: of `kibitz setup`, such as the network."""
    command, home = shlex.join(kibitz_command()), Path.home()
    script = folder / "bin" / ("kibitz.exe" if sys.platform == "win32" else "kibitz")
    script.parent.mkdir()
    script.write_text(SCRIPT.format(kept=f"HOME={shlex.quote(str(home))}", folder=folder, command=command))
    script.chmod(0o755)
    with mock.patch.object(sys, "executable", str(script.with_name("python"))):
        plain = json.loads(in_process(["setup", program, "--json"]).out)
        files = ["--write", str(folder / "written")] if plain["files"] else []
        told = json.loads(in_process(["setup", program, *options, *files, "--json"]).out)
    with screen(folder / "home") as shown:
        yield Desk(shown, told, folder)
