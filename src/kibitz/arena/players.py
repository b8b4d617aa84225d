"""Find the players of a match. A player is a trained network, or any program that supports the protocol UCI for chess
or GTP for Go.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kibitz.errors import KibitzError, UsageError
from kibitz.external.programs import find_program, read_option, split_command
from kibitz.games import GAME_NAMES
from kibitz.messages import did_you_mean, not_one_of

SPEAKS = {"chess": "UCI", "go": "GTP"}
"""The protocol that programs must support, for each game. `kibitz uci` and `kibitz gtp` make a network such a
program.
"""

KNOWN = {"sunfish": "chess", "gnugo": "go"}
"""Programs that need more than their name to be started, with the game that they play. kibitz knows their commands."""

RANK = "rank"
"""The option of `kibitz gtp` with the rank that a network imitates. The rank is a part of the default name of the
player.
"""

GNUGO = ("--mode", "gtp", "--chinese-rules", "--positional-superko")
"""Arguments of GNU Go that kibitz inserts before the user's arguments. Without them, GNU Go uses Japanese rules."""


@dataclass(frozen=True)
class Participant:
    """A player in a match: a program, and how kibitz starts it.

    name: the name of the player.
    command: the program and its arguments.
    options: the UCI options as pairs (name, value). In Go, the pairs become arguments, because GTP has no options.
    weights: the SHA-256 of the weights of a network; "" for other programs. With it, a resumed match detects that the
        network has changed.
    """

    name: str
    command: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()
    weights: str = ""


def game_of(a: str, b: str, requested: str | None = None) -> str:
    """Return the game of a match, "chess" or "go".

    a, b: the players as text, see the argument `text` of `player`. requested: the game that the user requested; None to
    return the game that the players play. If both players can play either game, it is chess.

    Raises UsageError if the players or the requested game contradict each other, and KibitzError if a folder has no
    network.
    """
    games = {text: game for text in (a, b) if (game := _plays(text))}
    if requested is not None and requested not in SPEAKS:
        raise UsageError(not_one_of("--game", requested, SPEAKS))
    for text, game in games.items():
        if requested not in (None, game):
            raise UsageError(
                f"{text} plays {GAME_NAMES[game]}, but --game is {requested}. Choose another player or leave --game"
                " out."
            )
    if len(set(games.values())) > 1:
        one, other = (f"{text} plays {GAME_NAMES[game]}" for text, game in games.items())
        raise UsageError(f"both players must play the same game (got {one} and {other}). Choose another player.")
    return requested or next(iter(games.values()), "chess")


def _plays(text: str) -> str | None:
    """Return the game of a run, a bundled network or a known program; None for any other text."""
    if _is_network(text):
        from kibitz.runs import Run

        return str(Run(text).info["game"])
    words = _words(text)
    return KNOWN.get(Path(words[0]).name) if words else None


def player(text: str, options: Sequence[str] = (), name: str | None = None, game: str = "chess") -> Participant:
    """Return the player that a text describes.

    text: the folder of a trained network, the name of a bundled network, "sunfish", "gnugo", or a command line.
    options: texts of the form "Name=Value".
    name: the player's name in the match; None for a name made from `text`.
    game: "chess" or "go".

    Raises UsageError for invalid texts and options. Raises KibitzError if the network or program doesn't exist, or if
    it plays the other game.
    """
    from kibitz.runs import packaged

    parsed = tuple(read_option(option, "Hash=64" if game == "chess" else "level=5") for option in options)
    if _is_network(text):
        return _network(text, parsed, name, game)
    words = _words(text)
    if not words:
        raise UsageError(f"a player must be a network or a program that speaks {SPEAKS[game]} (got nothing)")
    if words == ["sunfish"]:
        from kibitz.arena.chess.find_sunfish import sunfish_command

        return Participant(name or "sunfish", sunfish_command(), parsed)
    path = find_program(words[0])
    if path is None:
        raise KibitzError(
            f"{words[0]} is not a run, bundled network or installed program.{did_you_mean(words[0], packaged())}"
            " To list networks: kibitz systems"
        )
    program = Path(words[0]).name
    arguments = words[1:]
    if game == "go" and program == "gnugo":
        arguments = [*GNUGO, *arguments]
    elif game == "go" and parsed:
        raise UsageError(
            f"options of a GTP program belong in its command line (got {text}). Leave --option-a and --option-b out."
        )
    return Participant(name or program, (path, *arguments), parsed)


def _is_network(text: str) -> bool:
    from kibitz.runs import packaged

    # os.path, because pathlib raises an error if a command line is too long for a file name
    return text in packaged() or os.path.isdir(text)


def _network(text: str, options: tuple[tuple[str, str], ...], name: str | None, game: str) -> Participant:
    from kibitz.play import playable, plays_nothing
    from kibitz.runs import Run

    run = Run(text)
    if run.info["game"] != game:
        raise KibitzError(
            f"{text} is a network for {GAME_NAMES[run.info['game']]}, and this match is {GAME_NAMES[game]}. Choose"
            " another"
            " player."
        )
    if not playable(run):
        raise UsageError(plays_nothing(text))
    command = (sys.executable, "-m", "kibitz", SPEAKS[game].lower(), text)
    usual = Path(text).resolve().name
    if game == "go" and (rank := dict(options).get(RANK)) is not None:
        from kibitz.play.go.imitation import imitation

        rank = imitation(rank, network=text, takes_ranks=run.takes_ranks, method=dict(options).get("method"))["rank"]
        options = tuple((each, rank if each == RANK else value) for each, value in options)
        usual = f"{usual} (like {rank})"
    return Participant(name or usual, command, options, run.weights_sha256())


def _words(text: str) -> list[str]:
    """Split a command line into words, see `split_command`. Raises UsageError if a quotation mark is not closed."""
    try:
        return split_command(text)
    except ValueError:
        raise UsageError(f"a quotation mark is not closed (got {text}). Add the closing mark.") from None
