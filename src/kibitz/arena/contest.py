"""`Contest`, the interface between a match and its games. It contains everything that differs between chess and Go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kibitz.arena.players import Participant
from kibitz.arena.record import RecordFormat, ScoredGame
from kibitz.errors import KibitzError

ATTEMPTS = 3
"""The match ends after this number of failed starts of an engine in a row."""


class StartFailed(KibitzError):
    """Raised if the engine can't be started ATTEMPTS times in a row."""


class Fault(Exception):
    """Raised if the engine is at fault, so that it loses the game. kind: "crash", "hang", "time" or "illegal"."""

    def __init__(self, kind: str, reason: str):
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


def in_words(text: object) -> str:
    """Return a program's text or an error as one line that can be used as a reason in a record. Quotation marks become
    apostrophes, because they would end a tag.
    """
    return " ".join(str(text).split()).replace('"', "'")[:200]


class MatchEngine(Protocol):
    """The interface of a player's process."""

    identity: str
    """The name that the engine reports; before its start, the player's name."""

    def start(self) -> None:
        """Start the process if it isn't running. Raises StartFailed."""

    def close(self) -> None:
        """End the process, and don't start it again.

        Another thread may call this method. If a thread waits for a move, its wait then ends with a Fault.
        """


@dataclass(frozen=True)
class MoveCost:
    """The cost of a move: seconds, and nodes if the engine reported them."""

    seconds: float
    nodes: int | None = None


@dataclass(frozen=True)
class PlayedGame:
    """A game that was played. row: its score. text: its text for the record. spent: the time and nodes of each move of
    "A" and of "B".
    """

    row: ScoredGame
    text: str
    spent: Mapping[str, Sequence[MoveCost]]


class Contest(Protocol):
    """A game of a match between "A" and "B": its rules, and the limits of both."""

    name: str
    """The name of the game, as in a run's `game`."""
    colours: tuple[str, str]
    """The side that moves first (A's in even games), and the other side."""
    form: RecordFormat

    def limit(self, side: str) -> str:
        """Describe the limit of "A" or "B" in words."""

    def settings(self) -> dict[str, str]:
        """Return the settings that must be the same in all games of one match, in addition to players and limits."""

    def engine(self, participant: Participant) -> MatchEngine:
        """Return a process of a player, which is not started yet."""

    def play(
        self, number: int, engines: Mapping[str, Any], names: Mapping[str, str], settings: Mapping[str, str]
    ) -> PlayedGame:
        """Play a game from its opening with the started engines of "A" and "B". Names and settings are written to its
        text.

        An engine's fault isn't raised: the engine loses.
        """

    def facts(self) -> dict[str, Any]:
        """Return additional facts for the result of the match, as a dict for JSON. They concern only this game, chess
        or Go.
        """
