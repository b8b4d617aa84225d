"""The interface `Contest`, with which a match plays its games. Chess and Go each have a class with this interface, for
everything that differs between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kibitz.arena.players import Participant
from kibitz.arena.record import RecordFormat, ScoredGame
from kibitz.errors import KibitzError

ATTEMPTS = 3
"""The number of failed starts of an engine in a row after which the match ends."""


class StartFailed(KibitzError):
    """Raised if the process of an engine can't be started."""


class Fault(Exception):
    """Raised if an engine loses the game by a fault, such as a crash.

    kind: "crash", "hang", "time" or "illegal". reason: a description of the fault.
    """

    def __init__(self, kind: str, reason: str):
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


def in_words(text: object) -> str:
    """Return the text of a program or an error as one line, which can be the reason in a game record. Double quotation
    marks become apostrophes, because they would end a PGN tag.
    """
    return " ".join(str(text).split()).replace('"', "'")[:200]


class MatchEngine(Protocol):
    """The interface of an object that runs the engine process of one player in a match."""

    identity: str
    """The name that the engine reports. Before the process is started, it is the player's name."""

    def start(self) -> None:
        """Start the process if it isn't running. Raises StartFailed if it can't be started."""

    def close(self) -> None:
        """End the process, so that it can't be started again.

        You can call this method while another thread waits for a move of the engine. The call in the other thread then
        raises Fault.
        """


@dataclass(frozen=True)
class MoveCost:
    """The cost of a move: the time in seconds, and the number of nodes. The number is None if the engine did not report
    it.
    """

    seconds: float
    nodes: int | None = None


@dataclass(frozen=True)
class PlayedGame:
    """A finished game of a match.

    row: the score of the game in the match. text: the game as PGN or SGF. spent: the cost of each move of the player
    "A" and of the player "B".
    """

    row: ScoredGame
    text: str
    spent: Mapping[str, Sequence[MoveCost]]


class Contest(Protocol):
    """The game of a match, chess or Go: its rules, and the limits of the players "A" and "B".

    form: the file format of the game records.
    """

    name: str
    """The name of the game, "chess" or "go"."""
    colours: tuple[str, str]
    """The name of the side that moves first, and the name of the other side. The player "A" moves first in the games
    with an even number.
    """
    form: RecordFormat

    def limit(self, side: str) -> str:
        """Return a text that describes the search limits of a player. side: "A" or "B"."""

    def settings(self) -> dict[str, str]:
        """Return the settings of the game as a dict from names to values. A match can be resumed only with the same
        settings, the same players and the same limits.
        """

    def engine(self, participant: Participant) -> MatchEngine:
        """Return the engine process of a player, which is not started yet. participant: the player."""

    def play(
        self, number: int, engines: Mapping[str, Any], names: Mapping[str, str], settings: Mapping[str, str]
    ) -> PlayedGame:
        """Play a game of the match from its opening. If an engine makes a fault, such as a crash, it loses; no error is
        raised.

        number: the game's number in the match, from 0.
        engines: a dict from the players "A" and "B" to their started engines.
        names, settings: the players' names and the settings of the match, which are written to the game record.
        """

    def facts(self) -> dict[str, Any]:
        """Return further entries for the match's result in JSON, such as the board size in Go."""
