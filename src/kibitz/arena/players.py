"""Who can play in a match: a run, a packaged network, or any program that speaks UCI (chess) or GTP (Go)."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kibitz.errors import KibitzError, UsageError
from kibitz.external.programs import find_program

SPEAKS = {"chess": "UCI", "go": "GTP"}
"""The protocol of each game's programs; `kibitz uci RUN` and `kibitz gtp RUN` speak it."""

KNOWN = {"sunfish": "chess", "gnugo": "go"}
"""Programs that need more than their name to be played against."""

GNUGO = ("--mode", "gtp", "--chinese-rules", "--positional-superko")
"""GNU Go's arguments, before those that a user gives: what it plays by default is Japanese."""


@dataclass(frozen=True)
class Participant:
    """A program, as it is started.

    `command` is the program and its arguments; `options` are (name, value): UCI options, or with GTP, which knows none,
    further arguments. `weights` is the SHA-256 of a run's weights and "" for other programs: with it, a match that goes
    on notices that the network has changed.
    """

    name: str
    command: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()
    weights: str = ""


def game_of(a: str, b: str, requested: str | None = None) -> str:
    """The game of a match, "chess" or "go": as `requested`, or else as its players say; chess where neither does.

    Raises UsageError where they contradict, KibitzError where a folder is no run.
    """
    said = {text: game for text in (a, b) if (game := _plays(text))}
    if requested is not None and requested not in SPEAKS:
        raise UsageError(f"--game {requested}: choose from {', '.join(SPEAKS)}")
    for text, game in said.items():
        if requested not in (None, game):
            raise UsageError(f"{text}: plays {game}, and --game says {requested}; choose another player")
    if len(set(said.values())) > 1:
        one, other = (f"{text} plays {game}" for text, game in said.items())
        raise UsageError(f"{one} and {other}; a match is of one game: choose another player")
    return requested or next(iter(said.values()), "chess")


def _plays(text: str) -> str | None:
    """The game of a run, a packaged network or a known program; None for any other, which does not say."""
    if _is_network(text):
        from kibitz.runs import Run

        return str(Run(text).info["game"])
    words = _words(text)
    return KNOWN.get(Path(words[0]).name) if words else None


def player(text: str, options: Sequence[str] = (), name: str | None = None, game: str = "chess") -> Participant:
    """The player that a user named: a run's directory, a packaged network, `sunfish`, `gnugo`, or a command line.

    `options` are "Name=Value". Raises UsageError for an option of another form and KibitzError, with what to do, where
    there is no such run, network or program.
    """
    from kibitz.runs import packaged

    parsed = tuple(_option(option, game) for option in options)
    if _is_network(text):
        return _network(text, parsed, name, game)
    words = _words(text)
    if not words:
        raise UsageError(
            f"a player has no name; give a run, a packaged network, or a program that speaks {SPEAKS[game]}"
        )
    if words == ["sunfish"]:
        from kibitz.arena.chess.find_sunfish import sunfish_command

        return Participant(name or "sunfish", sunfish_command(), parsed)
    path = find_program(words[0])
    if path is None:
        there_are = ", ".join(packaged()) or "none"
        raise KibitzError(
            f"{words[0]}: no such run, packaged network (there are: {there_are}) or program; install it, give its path,"
            " or train a run with: kibitz train SYSTEM STORE"
        )
    program = Path(words[0]).name
    arguments = words[1:]
    if game == "go" and program == "gnugo":
        arguments = [*GNUGO, *arguments]
    elif game == "go" and parsed:
        raise UsageError(f"{text}: write a GTP program's options on its command line; options are for runs and gnugo")
    return Participant(name or program, (path, *arguments), parsed)


def _is_network(text: str) -> bool:
    from kibitz.runs import packaged

    return text in packaged() or (bool(text) and Path(text).is_dir())


def _network(text: str, options: tuple[tuple[str, str], ...], name: str | None, game: str) -> Participant:
    from kibitz.play import playable, plays_nothing
    from kibitz.runs import Run

    run = Run(text)
    if run.info["game"] != game:
        raise KibitzError(f"{text}: a network for {run.info['game']}, and this match is of {game}; choose another")
    if not playable(run):
        raise UsageError(plays_nothing(text))
    command = (sys.executable, "-m", "kibitz", SPEAKS[game].lower(), text)
    return Participant(name or Path(text).resolve().name, command, options, run.weights_sha256())


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        raise UsageError(f"{text}: a quotation mark is open; close it") from None


def _option(text: str, game: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        example = "Hash=64" if game == "chess" else "level=5"
        raise UsageError(f"option {text!r}: write Name=Value, for example {example}")
    return name.strip(), value.strip()
