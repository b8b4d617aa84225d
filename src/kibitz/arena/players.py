"""The players of a match: a run, a bundled network, or any program that supports UCI (chess) or GTP (Go)."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kibitz.errors import KibitzError, UsageError
from kibitz.external.programs import find_program

SPEAKS = {"chess": "UCI", "go": "GTP"}
"""The protocol of each game's programs; `kibitz uci RUN` and `kibitz gtp RUN` support it."""

KNOWN = {"sunfish": "chess", "gnugo": "go"}
"""Programs that need more than their name to be started."""

GNUGO = ("--mode", "gtp", "--chinese-rules", "--positional-superko")
"""GNU Go's arguments, before those of the user: its default rules are Japanese."""


@dataclass(frozen=True)
class Participant:
    """A program and how it is started.

    command: the program and its arguments.
    options: (name, value): UCI options, or with GTP, which has none, further arguments.
    weights: the SHA-256 of a run's weights, "" for other programs; a resumed match uses it to detect a changed
    network.
    """

    name: str
    command: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()
    weights: str = ""


def game_of(a: str, b: str, requested: str | None = None) -> str:
    """Return the game of a match, "chess" or "go": as `requested`, or by its players; chess if neither decides.

    Raises UsageError if they contradict, KibitzError if a folder isn't a run.
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
    """Return the game of a run, a bundled network or a known program; None for any other."""
    if _is_network(text):
        from kibitz.runs import Run

        return str(Run(text).info["game"])
    words = _words(text)
    return KNOWN.get(Path(words[0]).name) if words else None


def player(text: str, options: Sequence[str] = (), name: str | None = None, game: str = "chess") -> Participant:
    """Return the player that a user named: a run's directory, a bundled network, `sunfish`, `gnugo`, or a command line.

    options: "Name=Value". Raises UsageError for an option of another form and KibitzError, with what to do, if there is
    no such run, network or program.
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
