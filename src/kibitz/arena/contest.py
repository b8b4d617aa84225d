"""The interface between a match and its game: everything that differs between chess and Go is behind `Contest`."""

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


def in_words(text: object) -> str:
    """The text of a program or an error as a reason: one line, without the quotation marks that would end a tag."""
    return " ".join(str(text).split()).replace('"', "'")[:200]


class MatchEngine(Protocol):
    """A player's process."""

    identity: str
    """The engine's own name; before its start the player's name."""

    def start(self) -> None:
        """Start the process unless it runs. Raises StartFailed."""

    def close(self) -> None:
        """End the process for good: from another thread too, whose wait for a move then ends with a Fault."""


@dataclass(frozen=True)
class MoveCost:
    """The cost of a move: seconds, and nodes if the engine reported them."""

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
        """Settings that must be equal for games of one match, in addition to players and limits."""

    def engine(self, participant: Participant) -> MatchEngine:
        """A process of a player, not started yet."""

    def play(
        self, number: int, engines: Mapping[str, Any], names: Mapping[str, str], settings: Mapping[str, str]
    ) -> PlayedGame:
        """Play a game from its opening, by the engines of "A" and "B", both started. Names and settings are written.

        An engine's fault raises nothing: it has lost.
        """

    def facts(self) -> dict[str, Any]:
        """Further facts of the match's result that belong to this game, as JSON."""
