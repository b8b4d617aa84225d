"""For each chess or Go program, what the user must enter so that the program starts the kibitz engine of this
installation.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCRIPT = "kibitz-engine.bat" if sys.platform == "win32" else "kibitz-engine"
"""The name of the script that starts the engine, for programs without a field for parameters."""


FILL_IN = "FILL ME IN"
"""A placeholder for a value that the user must enter in a file. If the user has already entered a value, kibitz does
not replace that value.
"""


@dataclass(frozen=True)
class SetupFile:
    """A file to write when the user adds kibitz to a chess or Go program.

    name: the file name, without a folder.
    text: the contents of the file.
    is_script: whether the file must be executable.
    """

    name: str
    text: str
    is_script: bool = False


@dataclass(frozen=True)
class Setup:
    """How a user adds the kibitz engine to a chess or Go program.

    command: the command that starts the engine, as a list of words. files: the files to write. steps: instructions for
    the user, one sentence each.
    """

    command: tuple[str, ...]
    files: tuple[SetupFile, ...]
    steps: tuple[str, ...]


@dataclass(frozen=True)
class EngineProgram:
    """A chess or Go program that uses engines.

    title: the program's name.
    game: "chess" or "go".
    make: a function that takes the engine's command and the folder for the files, and returns the `Setup`.
    options: extra options for the engine's command.
    """

    title: str
    game: str
    make: Callable[[Sequence[str], Path], Setup]
    options: tuple[str, ...] = ()


def kibitz_command() -> list[str]:
    """Return the command that starts kibitz in this installation, as a list of words. The first word is an absolute
    path.
    """
    name = "kibitz.exe" if sys.platform == "win32" else "kibitz"
    # the path is not resolved, because symbolic links lead out of a virtual environment
    beside = Path(sys.executable).absolute().with_name(name)
    return [str(beside)] if beside.is_file() else [str(Path(sys.executable).absolute()), "-m", "kibitz"]


def line_of(command: Sequence[str]) -> str:
    """Return a command, given as a list of words, as one line with the quotes that the shell of this operating system
    needs.
    """
    return subprocess.list2cmdline(command) if sys.platform == "win32" else shlex.join(command)


def script_of(command: Sequence[str]) -> SetupFile:
    """Return a file to write: a script that runs the given command. The script is a batch file on Windows, and a shell
    script elsewhere.
    """
    if sys.platform == "win32":
        return SetupFile(SCRIPT, f"@echo off\r\n{line_of(command)}\r\n", True)
    return SetupFile(SCRIPT, f"#!/bin/sh\nexec {line_of(command)}\n", True)


def _fields(where: str, path: str = "path", parameters: str = "parameters") -> Callable[[Sequence[str], Path], Setup]:
    """Return the function that makes the setup for a program with a field for the path and one for the parameters."""

    def make(command: Sequence[str], folder: Path) -> Setup:
        steps = (f"Choose {where}.", f"Enter as {path}: {command[0]}", f"Enter as {parameters}: {line_of(command[1:])}")
        return Setup(tuple(command), (), steps)

    return make


def _line(where: str) -> Callable[[Sequence[str], Path], Setup]:
    """Return the function that makes the setup for a program with one field for the whole command."""

    def make(command: Sequence[str], folder: Path) -> Setup:
        return Setup(tuple(command), (), (f"{where}: {line_of(command)}",))

    return make


def _script(where: str) -> Callable[[Sequence[str], Path], Setup]:
    """Return the function that makes the setup for a program that accepts only a path."""

    def make(command: Sequence[str], folder: Path) -> Setup:
        script = script_of(command)
        return Setup(tuple(command), (script,), (f"Choose {where}, and the script {folder / script.name}",))

    return make


def _json(name: str, value: Callable[[Sequence[str]], Any], step: str) -> Callable[[Sequence[str], Path], Setup]:
    """Return the function that makes the setup for a program with a JSON file."""

    def make(command: Sequence[str], folder: Path) -> Setup:
        text = json.dumps(value(command), indent=2, ensure_ascii=False) + "\n"
        return Setup(tuple(command), (SetupFile(name, text),), (step,))

    return make


def _cute_chess(command: Sequence[str]) -> Any:
    return [{"name": "kibitz", "command": line_of(command), "protocol": "uci"}]


def _sabaki(command: Sequence[str]) -> Any:
    return {"engines.list": [{"name": "kibitz", "path": command[0], "args": line_of(command[1:])}]}


def _lizzie(command: Sequence[str]) -> Any:
    return {"leelaz": {"engine-command": line_of(command)}}


def _gtp2ogs(command: Sequence[str]) -> Any:
    # The manager "pool" starts the engine before the first game, when no clock runs. An empty greeting
    # prevents chat messages.
    bot = {"command": list(command), "manager": "pool", "instances": 1, "send_chats": False}
    return {"apikey": FILL_IN, "bot": bot, "greeting": {"en": ""}}


def _lichess_bot(command: Sequence[str], folder: Path) -> Setup:
    """Return the setup for lichess-bot: the section `engine` of config.yml. lichess-bot accepts only a folder and a
    file name, so the section names a script.
    """
    script = script_of(command)
    section = (
        f'engine:\n  dir: {json.dumps(str(folder))}\n  name: {json.dumps(script.name)}\n  protocol: "uci"\n'
        "  ponder: false\n"
    )
    steps = (
        "Put the section of engine-section.yml into config.yml of lichess-bot, in place of its section engine.",
        "Leave greeting empty to keep the chat off.",
    )
    return Setup(tuple(command), (script, SetupFile("engine-section.yml", section)), steps)


def _gnome_chess(command: Sequence[str], folder: Path) -> Setup:
    """Return the setup for GNOME Chess: an entry of engines.conf. GNOME Chess accepts only a path, so the entry has the
    path of a script.
    """
    script = script_of(command)
    entry = f"[kibitz]\nprotocol=uci\nbinary={folder / script.name}\n"
    steps = (
        "Copy /etc/gnome-chess/engines.conf to ~/.config/gnome-chess, unless that folder has such a file.",
        "Add the lines of engines.conf below to it.",
        "Start GNOME Chess, and choose kibitz as the opposing player of a new game.",
    )
    return Setup(tuple(command), (script, SetupFile("engines.conf", entry)), steps)


def _polyglot(command: Sequence[str], folder: Path) -> Setup:
    """Return the setup for XBoard, which starts polyglot. Polyglot reads an ini file."""
    text = f"[PolyGlot]\nEngineDir = {folder}\nEngineCommand = {line_of(command)}\n\n[Engine]\n"
    start = line_of(["xboard", "-fcp", f"polyglot {folder / 'kibitz.ini'}"])
    return Setup(tuple(command), (SetupFile("kibitz.ini", text),), (f"Write the file, then type: {start}",))


def _xboard(command: Sequence[str], folder: Path) -> Setup:
    start = line_of(["xboard", "-fUCI", "-fcp", line_of(command)])
    return Setup(tuple(command), (), ("Install XBoard and polyglot.", f"Type: {start}"))


PROGRAMS = {
    "arena": EngineProgram(
        "Arena", "chess", _fields("Engines > Install New Engine, and UCI", "path", "command line parameters")
    ),
    "banksia": EngineProgram("Banksia GUI", "chess", _fields("Engines > Add", "Command", "Arguments")),
    "cutechess": EngineProgram(
        "Cute Chess", "chess",
        _json("engines.json", _cute_chess, "Close Cute Chess, and write engines.json into its settings folder."),
    ),
    "en-croissant": EngineProgram("En Croissant", "chess", _script("Engines > Add new > Local")),
    "gnome-chess": EngineProgram("GNOME Chess", "chess", _gnome_chess),
    "knights": EngineProgram("Knights", "chess", _script("Settings > Configure Knights > Computer Engines > Add")),
    "lichess-bot": EngineProgram("lichess-bot", "chess", _lichess_bot),
    "nibbler": EngineProgram("Nibbler", "chess", _script("Engine > Choose engine")),
    "polyglot": EngineProgram("polyglot", "chess", _polyglot),
    "pychess": EngineProgram("PyChess", "chess", _script("Edit > Engines > New")),
    "scid": EngineProgram("Scid", "chess", _fields("Tools > Analysis Engine > New", "Command", "Parameters")),
    "xboard": EngineProgram("XBoard", "chess", _xboard),
    "gogui": EngineProgram("GoGui", "go", _line("Choose Program > New Program and enter as command")),
    "gtp2ogs": EngineProgram(
        "gtp2ogs", "go",
        _json("gtp2ogs.json5", _gtp2ogs, "Put the key of your bot into apikey, then type: gtp2ogs -c gtp2ogs.json5"),
    ),
    "kigo": EngineProgram("Kigo", "go", _fields("Settings > Configure Kigo", "Executable", "Parameters")),
    "lizzie": EngineProgram(
        "Lizzie", "go", _json("config.txt", _lizzie, "Close Lizzie, and write config.txt into its folder."),
        ("--name", "KataGo"),
    ),
    "q5go": EngineProgram(
        "q5Go", "go", _fields("Settings > Preferences > Computer Go", "executable", "arguments")
    ),
    "quarry": EngineProgram("Quarry", "go", _line("Choose Preferences > GTP Engines > Add and enter as command line")),
    "sabaki": EngineProgram(
        "Sabaki", "go", _json("settings.json", _sabaki, "Close Sabaki. Write settings.json into its settings folder.")
    ),
}  # fmt: skip
"""Every chess or Go program to which kibitz can be added, by the name that users type."""
