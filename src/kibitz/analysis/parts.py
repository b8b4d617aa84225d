"""Parts of one player's moves in chess or Go, such as one phase: what the moves lost, with confidence intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.analysis.glyphs import SIGNS
from kibitz.explorer.openings import Opening
from kibitz.stats import ClusterBootstrap, Estimate

ENOUGH = 10
"""The smallest number of games for which an interval is shown."""
MAX_WORST = 50
"""Number of worst mistakes that a report contains."""
A_GAME = 2
"""The largest number of worst mistakes from one game. A player often overlooks the same thing twice in a game."""
ENDS = ("won", "drawn", "lost")
"""The results of a game from the point of view of the player."""


@dataclass(frozen=True)
class Part:
    """A part of one player's moves, such as the moves in one phase, and what they lost.

    label: the name of the part.
    loss: the mean loss per move: win probability (0 to 1) in chess, points in Go.
    usual: the mean loss that is usual for such moves. In chess, it is that of players of the same rating in the same
        positions. In Go, it is that of players of the same rank with moves of the same kinds.
    difference: an Estimate of the mean of loss minus usual, over the moves whose usual loss is known; its field n is
        the number of these moves.
    marks: the number of moves with each annotation.
    score: the player's mean result in the games of the part, 0 to 1; None if the part does not consist of whole games.
    opening: the opening of the games; None if the part is not an opening.
    side: for an opening, the player's side in its games; "" for both sides.
    """

    label: str
    loss: Estimate
    usual: Estimate
    difference: Estimate
    marks: dict[str, int]
    score: Estimate | None = None
    opening: Opening | None = None
    side: str = ""

    def as_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"label": self.label, "moves": self.loss.n, "games": self.loss.games}
        if self.opening is not None:
            shown = {"name": self.opening.name, "eco": self.opening.eco, "side": self.side, **shown}
        if self.score is not None:
            shown["score"] = figure_of(self.score)
        shown["loss"] = figure_of(self.loss)
        if self.usual.n:
            shown |= {"usual_loss": figure_of(self.usual), "difference": figure_of(self.difference)}
        return {**shown, "marks": {SIGNS[sign]: count for sign, count in self.marks.items()}}


@dataclass(frozen=True)
class Parts:
    """A player's losses and results. whole: those of all moves. by: those of each part of the moves, as {division:
    {part: ...}}; for example, the division "phase" has the part "endgame". openings: those of the games of each
    opening.
    """

    whole: Part
    by: Mapping[str, Mapping[str, Part]]
    openings: Sequence[Part]

    def standing_out(self) -> list[Part]:
        """Return the parts whose loss differs significantly from the usual loss: the interval of the difference does
        not contain 0. The part with the largest additional loss is first. The parts that consist of the won, drawn or
        lost games are excluded.
        """
        # Parts of the table by result are excluded, because a lost game always contains larger losses.
        some = [rows for name, rows in self.by.items() if name != "result"]
        every = [part for rows in some for part in rows.values()] + list(self.openings)
        sure = [
            part
            for part in every
            if part.difference.games >= ENOUGH and not part.difference.low <= 0 <= part.difference.high
        ]
        return sorted(sure, key=lambda part: -part.difference.value)


@dataclass
class Measure:
    """Computes the mean losses and results in the parts of a player's moves.

    game: int64 [moves], the index of each move's game.
    loss: float64 [moves], the loss of each move.
    usual: float64 [moves], the usual loss for each move; NaN if it is unknown.
    mark: float64 [moves], each move's annotation as an index into SIGNS; -1 without annotation.
    scores: float64 [games], the player's result in each game, 0, 0.5 or 1; NaN without a result.
    """

    game: NDArray[np.int64]
    loss: NDArray[np.float64]
    usual: NDArray[np.float64]
    mark: NDArray[np.float64]
    scores: NDArray[np.float64]

    def __post_init__(self) -> None:
        self._groups = ClusterBootstrap(self.game)
        self._games = ClusterBootstrap(np.arange(len(self.scores)))
        self._known = np.isfinite(self.usual)

    def part(
        self,
        label: str,
        mask: NDArray[np.bool_],
        games: NDArray[np.bool_] | None = None,
        opening: Opening | None = None,
        side: str = "",
    ) -> Part:
        """Return the part of the moves for which `mask`, bool [moves], is true.

        label, opening, side: see `Part`. games: bool [games], the games over which the score is computed; None for no
        score.
        """
        loss = self.mean_loss(mask)
        known = mask & self._known
        pair = self._groups.means([self.usual, self.loss - self.usual], known)
        marks = {sign: int((mask & (self.mark == i)).sum()) for i, sign in enumerate(SIGNS)}
        score = None
        if games is not None:
            score = known_interval(self._games.mean(self.scores, games & np.isfinite(self.scores), score=True))
        return Part(label, loss, known_interval(pair[0]), known_interval(pair[1]), marks, score, opening, side)

    def mean_loss(self, mask: NDArray[np.bool_]) -> Estimate:
        """Return the mean loss of the moves for which `mask`, bool [moves], is true. If there is no such move,
        n is 0.
        """
        return known_interval(self._groups.mean(self.loss, mask))


def mean_over_games(values: Sequence[float]) -> Estimate:
    """Return the mean over games with its confidence interval. values: one value for each game; NaN is ignored."""
    each = np.array(values, np.float64)
    return known_interval(ClusterBootstrap(np.arange(len(each))).mean(each, np.isfinite(each)))


def count_results(scores: Sequence[float]) -> dict[str, int]:
    """Return the number of games won, drawn and lost. scores: 1, 0.5 or 0 for each game; NaN does not count."""
    counts = Counter(scores)
    return dict(zip(ENDS, (counts[1.0], counts[0.5], counts[0.0]), strict=True))


def known_interval(estimate: Estimate) -> Estimate:
    """Remove the interval of an estimate (low and high become NaN) if the estimate is from fewer than ENOUGH games."""
    if estimate.games >= ENOUGH:
        return estimate
    return Estimate(estimate.value, math.nan, math.nan, estimate.n, estimate.games)


def figure_of(estimate: Estimate) -> dict[str, Any]:
    return {key: round(value, 4) if isinstance(value, float) else value for key, value in estimate.as_json().items()}
