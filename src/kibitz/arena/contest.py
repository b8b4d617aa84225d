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
    """Raised if an engine can't be started."""


class Fault(Exception):
    """Raised if an engine is at fault and therefore loses the game. kind: "crash", "hang", "time" or "illegal". reason:
    a description of the fault.
    """

    def __init__(self, kind: str, reason: str):
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


def in_words(text: object) -> str:
    """Convert a program's text or an error to one line that can be the reason in a game record. Double quotation marks
    become apostrophes, because they would end a PGN tag.
    """
    return " ".join(str(text).split()).replace('"', "'")[:200]


class MatchEngine(Protocol):
    """The interface of a player's engine process."""

    identity: str
    """The name that the engine reports; before its start, the player's name."""

    def start(self) -> None:
        """Start the process if it isn't running. Raises StartFailed if it can't be started."""

    def close(self) -> None:
        """End the process for good: it can't be started again.

        Another thread may call this method. If a thread waits for a move, its wait then ends with a Fault.
        """


@dataclass(frozen=True)
class MoveCost:
    """What a move cost: the time in seconds, and the number of nodes, which is None if the engine did not report it."""

    seconds: float
    nodes: int | None = None


@dataclass(frozen=True)
class PlayedGame:
    """A game of a match that was played. row: the score of the game in the match. text: the game as PGN or SGF. spent:
    the cost of each move of the player "A" and of the player "B".
    """

    row: ScoredGame
    text: str
    spent: Mapping[str, Sequence[MoveCost]]


class Contest(Protocol):
    """The game (chess or Go) that the players "A" and "B" play in a match: its rules, and the limits of both
    players.
    """

    name: str
    """The name of the game, as in a run's `game`."""
    colours: tuple[str, str]
    """The side that moves first (A's in even games), and the other side."""
    form: RecordFormat

    def limit(self, side: str) -> str:
        """Describe the limits of a player as text. side: "A" or "B"."""

    def settings(self) -> dict[str, str]:
        """Return, by name, the settings that must stay the same when a match is resumed, in addition to its players and
        limits.
        """

    def engine(self, participant: Participant) -> MatchEngine:
        """Return an engine process for a player. The process is not started yet."""

    def play(
        self, number: int, engines: Mapping[str, Any], names: Mapping[str, str], settings: Mapping[str, str]
    ) -> PlayedGame:
        """Play a game of the match from its opening. If an engine is at fault, it loses; no error is raised.

        number: the game's number in the match, from 0. engines: the started engines of "A" and "B". names, settings:
        the players' names and the settings of the match, which are written to the game record.
        """

    def facts(self) -> dict[str, Any]:
        """Return additional entries for the match's result in JSON, such as the board size in Go."""
