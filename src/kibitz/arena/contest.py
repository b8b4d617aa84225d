"""What a match must be told of the game that is played: all that differs between chess and Go is behind `Contest`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kibitz.arena.players import Participant
from kibitz.arena.record import RecordFormat, ScoredGame
from kibitz.errors import KibitzError

ATTEMPTS = 3
"""How often in a row an engine may fail to start before the match ends."""


class StartFailed(KibitzError):
    """The engine cannot be started: not once, but ATTEMPTS times in a row."""


class Fault(Exception):
    """The engine is at fault and loses the game. `kind` is "crash", "hang", "time" or "illegal"."""

    def __init__(self, kind: str, reason: str):
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


def in_words(said: object) -> str:
    """What a program or an error said, as a reason: in one line, without the quotation marks that would end a tag."""
    return " ".join(str(said).split()).replace('"', "'")[:200]


class MatchEngine(Protocol):
    """A player's process."""

    identity: str
    """What it calls itself; the player's name before it was started."""

    def start(self) -> None:
        """Start the process unless it runs. Raises StartFailed."""

    def close(self) -> None:
        """End the process for good: from another thread too, whose wait for a move then ends with a Fault."""


@dataclass(frozen=True)
class MoveCost:
    """What a move took: seconds, and nodes where the engine told them."""

    seconds: float
    nodes: int | None = None


@dataclass(frozen=True)
class PlayedGame:
    """A game that was played: how it counts, its text for the record, and by "A" and "B" what their moves took."""

    row: ScoredGame
    text: str
    spent: Mapping[str, Sequence[MoveCost]]


class Contest(Protocol):
    """A game as one match plays it, between "A" and "B": its rules, and the limits of both."""

    name: str
    """As in a run's `game`."""
    colours: tuple[str, str]
    """The side that moves first, A's in even games, and the other."""
    form: RecordFormat

    def limit(self, side: str) -> str:
        """The limit of "A" or "B", in words."""

    def settings(self) -> dict[str, str]:
        """What must be the same for games to be of one match, beside players and limits."""

    def engine(self, participant: Participant) -> MatchEngine:
        """A process of a player, not started yet."""

    def play(
        self, number: int, engines: Mapping[str, Any], names: Mapping[str, str], settings: Mapping[str, str]
    ) -> PlayedGame:
        """Play a game from its opening, by the engines of "A" and "B", both started. Names and settings are written.

        An engine's fault raises nothing: it has lost.
        """

    def facts(self) -> dict[str, Any]:
        """What the match's result tells of the game beside what every match's does, ready for JSON."""
