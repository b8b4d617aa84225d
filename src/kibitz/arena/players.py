"""Who can play in a match: a run, a packaged network, or any program that speaks UCI."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kibitz.errors import KibitzError, UsageError

SUNFISH_FOLDER = ".sunfish"
"""Where tools/install_sunfish.sh puts Sunfish unless told otherwise."""


@dataclass(frozen=True)
class Player:
    """A program that speaks UCI, as it is started.

    `command` is the program and its arguments, `options` are UCI options as (name, value). `weights` is the SHA-256 of
    a run's weights and "" for other programs: with it, a match that goes on notices that the network has changed.
    """

    name: str
    command: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()
    weights: str = ""


def player(text: str, options: Sequence[str] = (), name: str | None = None) -> Player:
    """The player that a user named: a run's directory, a packaged network, `sunfish`, or a command line.

    `options` are "Name=Value". Raises UsageError for an option of another form and KibitzError, with what to do, where
    there is no such run, network or program.
    """
    from kibitz.training.run import packaged

    parsed = tuple(_option(option) for option in options)
    if text in packaged() or (text and Path(text).is_dir()):
        return _network(text, parsed, name)
    try:
        words = shlex.split(text)
    except ValueError:
        raise UsageError(f"{text}: a quotation mark is open; close it") from None
    if not words:
        raise UsageError("a player has no name; give a run, a packaged network, or a program that speaks UCI")
    if words == ["sunfish"]:
        return Player(name or "sunfish", sunfish_command(), parsed)
    path = _program(words[0])
    if path is None:
        there_are = ", ".join(packaged()) or "none"
        raise KibitzError(
            f"{words[0]}: no such run, packaged network (there are: {there_are}) or program; install it, give its path,"
            " or train a run with: kibitz train SYSTEM STORE"
        )
    return Player(name or Path(words[0]).name, (path, *words[1:]), parsed)


def _network(text: str, options: tuple[tuple[str, str], ...], name: str | None) -> Player:
    from kibitz.training.run import Run

    run = Run(text)
    if run.info["game"] != "chess":
        raise KibitzError(f"{text}: a network for {run.info['game']}, and matches are played in chess; choose another")
    command = (sys.executable, "-m", "kibitz", "uci", text)
    return Player(name or Path(text).resolve().name, command, options, run.weights_sha256())


def sunfish_command(folder: Path | None = None) -> tuple[str, ...]:
    """How Sunfish is started: by its own Python, through `sunfish_nodes.py`, which makes it heed `go nodes`.

    Looked for in `folder` (default: .sunfish here), then on the PATH. The program that the package installs under the
    name `sunfish` is a board in the terminal; its engine is `sunfish-uci`. Raises KibitzError where there is neither.
    """
    place = folder or Path(SUNFISH_FOLDER)
    inside = place / ("Scripts" if os.name == "nt" else "bin") / "sunfish-uci"
    script = shutil.which(str(inside)) or shutil.which("sunfish-uci")
    if script is None:
        raise KibitzError(
            "sunfish: not installed; in kibitz's folder run: sh tools/install_sunfish.sh"
            " (or put its sunfish-uci on your PATH)"
        )
    return (_python_of(Path(script)), str(Path(__file__).with_name("sunfish_nodes.py")))


def _python_of(script: Path) -> str:
    """The Python that an installed script runs with: named in its first line, or else its neighbour."""
    with script.open("rb") as file:
        first = file.readline().decode(errors="replace").strip()
    named = first.removeprefix("#!").strip()
    if first.startswith("#!") and Path(named).exists():
        return named
    for neighbour in (script.with_name("python"), script.with_name("python.exe")):
        if neighbour.exists():
            return str(neighbour)
    raise KibitzError(f"{script}: its Python is not found; install Sunfish again: sh tools/install_sunfish.sh")


def _program(word: str) -> str | None:
    """The path of a program; also where Debian puts games, which is off many PATHs."""
    return shutil.which(word) or (shutil.which(f"/usr/games/{word}") if os.sep not in word else None)


def _option(text: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found or not name.strip():
        raise UsageError(f"option {text!r}: write Name=Value, for example Hash=64")
    return name.strip(), value.strip()
