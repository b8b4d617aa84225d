"""Send messages from a process that analyzes the games of a player: the progress of the analysis, and the report of
`kibitz analyze --player`, which grows with each game.
"""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING, Any, Protocol

from kibitz.web.mygames.background import Send

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kibitz.analysis.checkers import CheckedBy
    from kibitz.analysis.chess.strength.player import PlayerStrength

QUICK, THOROUGH = "quick", "thorough"
"""The names of the two stages of an analysis: first a quick one, then one with a search of each move."""
EVERY, SHARE = 1.5, 0.05
"""How often the growing report is sent, because its confidence intervals take time to compute. EVERY: the shortest time
between two reports, in seconds. SHARE: the largest share of the time for making reports.
"""


class Reasoned(Protocol):
    """The interface of a mistake in a report. reason: why the move was bad; None if the reason is unknown."""

    @property
    def reason(self) -> Worded | None: ...


class Worded(Protocol):
    """The interface of the reason why a move was bad. The reason can be expressed in several languages."""

    def why_bad(self, language: str = "en") -> str:
        """Return the first sentence of the reason in a language. language: a language code, such as "en"."""


COMPARISONS = ("usual_loss", "difference")
"""Keys of those numbers in a report that compare the player with other players."""


class GrowingReport(Protocol):
    """The interface of a report on a player's games of chess or Go. Games can be added to it.

    games: the number of games in the report.
    checked_by: the engine that evaluated the moves; None if the network did.
    worst: the mistakes with the largest losses, in the order of the list "worst" in `as_json`.
    """

    games: int
    checked_by: CheckedBy | None

    @property
    def worst(self) -> Sequence[Reasoned]: ...

    def add(self, game: Any, side: Any, file: str = "", /) -> None:
        """Add an analyzed game. side: the player's side. file: the name of the game collection."""

    def as_json(self) -> dict[str, Any]:
        """Return the report as a dict for JSON."""


class Teller:
    """Sends the progress of an analysis to the browser page of `kibitz board` and, from time to time, the growing
    report.

    empty: a function that returns a new, empty report.
    source: the name of the game collection.
    send: a function that sends a message.
    languages: the codes of the languages in which reasons are sent, such as "en".
    """

    def __init__(self, empty: Callable[[], GrowingReport], source: str, send: Send, languages: Iterable[str] = ("en",)):
        self.report = empty()
        """The report of this stage's games."""
        self.left_out = 0
        self.strength: PlayerStrength | None = None
        """The rating that is estimated from the moves. It does not depend on the stage."""
        self._rest: dict[int, tuple[Any, Any]] = {}
        """Games of the quick stage that the thorough stage has not replaced, by their number, with the player's
        side.
        """
        self._empty, self._source, self._send, self._languages = empty, source, send, tuple(languages)
        self._keeps, self._stage, self._began, self._next = False, "", 0.0, 0.0

    def begin(self, stage: str, checked_by: CheckedBy | None, keep: bool) -> None:
        """Begin a stage of the analysis with a new, empty report.

        stage: "quick" or "thorough". checked_by: the engine that evaluates moves; None if the network does. keep:
        whether the games of this stage stay in the report during the next stage, until that stage has analyzed them
        too.
        """
        self._stage, self._keeps, self._began = stage, keep, time.monotonic()
        self.report, self.left_out = self._empty(), 0
        self.report.checked_by = checked_by
        self._send({"begun": True, "stage": stage, "done": 0, "left_out": 0, "seconds": 0.0})

    def send_progress(self) -> float:
        """Send the progress. Returns the current time of `time.monotonic`, in seconds."""
        now = time.monotonic()
        progress = {"done": self.report.games, "left_out": self.left_out, "seconds": round(now - self._began, 2)}
        self._send({"stage": self._stage, **progress})
        return now

    def game_left_out(self) -> None:
        """Count a skipped game, and send the progress."""
        self.left_out += 1
        self.send_progress()

    def game_done(self, number: int, game: Any, side: Any) -> None:
        """Add an analyzed game to the report, and send the progress and perhaps the report. number: the number of the
        game in its source. side: the player's side.
        """
        self._rest.pop(number, None)
        if self._keeps:
            self._rest[number] = game, side
        self.report.add(game, side, self._source)
        now = self.send_progress()
        if now >= self._next:
            self.send_report()
            end = time.monotonic()
            self._next = end + max(EVERY, (end - now) / SHARE)

    def send_report(self) -> None:
        """Send the current report to the browser page of `kibitz board`."""
        report = self.report
        mixed = bool(self._rest) and not self._keeps
        if mixed:
            report = copy.deepcopy(report)
            for game, side in self._rest.values():
                report.add(game, side, self._source)
        if report.games:
            told = report.as_json() | ({} if self.strength is None else {"strength": self.strength.as_json()})
            for mistake, row in zip(report.worst, told["worst"], strict=True):
                if mistake.reason is not None:
                    why = {language: mistake.reason.why_bad(language) for language in self._languages}
                    row["reason"] = row["reason"] | {"why": why}
            if mixed or self._stage == QUICK:
                told = provisional(told)
            self._send({"report": told, "stage": self._stage})


def provisional(report: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a report on the games of a player, for the quick stage of an analysis. It lacks the comparisons
    with other players, and has the key "provisional".

    A quick analysis misses many mistakes, so the player's losses would look too small in such a comparison.
    """

    def part(row: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in row.items() if key not in COMPARISONS}

    found = part(report)
    for key in [key for key in found if key.startswith("by_")]:
        rows = found[key]
        found[key] = [part(row) for row in rows] if isinstance(rows, list) else {k: part(v) for k, v in rows.items()}
    found["worst"] = [row | {"usual_loss": None} if "usual_loss" in row else row for row in found["worst"]]
    return found | ({"stands_out": []} if "stands_out" in found else {}) | {"provisional": True}
