"""Compute the losses in groups of one player's moves, such as one phase, with confidence intervals, for chess and Go.
This module calls a group of moves a part.
"""

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
from kibitz.text import rounded

ENOUGH = 10
"""The smallest number of games with which a confidence interval is shown."""
MAX_WORST = 50
"""The largest number of worst mistakes in a report."""
A_GAME = 2
"""The largest number of worst mistakes from one game. A player often overlooks the same threat several times in a
game.
"""
ENDS = ("won", "drawn", "lost")
"""The results of a game for the player, in the order of `count_results`."""


@dataclass(frozen=True)
class Part:
    """A group of one player's moves, such as the moves in one phase, and what these moves lost.

    label: the name of the group.
    loss: the mean loss per move: win probability (0 to 1) in chess, points in Go.
    usual: the mean loss that is usual for such moves. In chess, it is the loss of players of the same rating in the
        same positions. In Go, it is the loss of players of the same rank with moves of the same kinds.
    difference: the mean of the loss minus the usual loss, over the moves whose usual loss is known. Its field `n` is
        the number of these moves.
    marks: the number of moves with each annotation.
    score: the player's mean result in the games of the group, 0 to 1; None if the group does not consist of whole
        games.
    opening: the opening of the games; None if the group is not an opening.
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
    """A player's losses and results, for all moves and for groups of moves.

    whole: all moves together.
    by: each group of moves, as {division: {group: ...}}. For example, the division "phase" has the group "endgame".
    openings: one group of moves for each opening.
    """

    whole: Part
    by: Mapping[str, Mapping[str, Part]]
    openings: Sequence[Part]

    def standing_out(self) -> list[Part]:
        """Return the groups of moves whose loss differs significantly from the usual loss. The group with the largest
        additional loss is first.

        A difference is significant if its interval does not contain 0. The groups of the won, drawn and lost games are
        not in the result.
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
    """Computes the mean losses and results in groups of a player's moves.

    game: the index of each move's game, int64 [moves].
    loss: the loss of each move, float64 [moves].
    usual: the usual loss for each move, float64 [moves]; NaN if it is unknown.
    mark: the annotation of each move, float64 [moves]: 0 for ?!, 1 for ?, 2 for ??, -1 without annotation.
    scores: the player's result in each game, 0, 0.5 or 1, float64 [games]; NaN without a result.
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
        """Return the losses of the moves for which `mask`, bool [moves], is true.

        label, opening, side: fields of the result, see `Part`. games: bool [games], the games over which the score is
        computed; None for no score.
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
        """Return the mean loss of the moves for which `mask`, bool [moves], is true. If there is no such move, the
        result's `n` is 0.
        """
        return known_interval(self._groups.mean(self.loss, mask))


def mean_over_games(values: Sequence[float]) -> Estimate:
    """Return the mean of values from different games, with its 95% confidence interval.

    values: one value for each game; NaN for a game without a value. If fewer than ten games have a value, `low` and
        `high` of the result are NaN. If no game has a value, `value` is also NaN, and `n` is 0.
    """
    each = np.array(values, np.float64)
    return known_interval(ClusterBootstrap(np.arange(len(each))).mean(each, np.isfinite(each)))


def count_results(scores: Sequence[float]) -> dict[str, int]:
    """Return the number of games with each result, as a dict with the keys "won", "drawn" and "lost".

    scores: the player's score in each game: 1 for a win, 0.5 for a draw, 0 for a loss. NaN values are ignored.
    """
    counts = Counter(scores)
    return dict(zip(ENDS, (counts[1.0], counts[0.5], counts[0.0]), strict=True))


def known_interval(estimate: Estimate) -> Estimate:
    """Remove the confidence interval from an estimate that is based on few games.

    If the estimate is based on fewer than ten games, return a copy with NaN as `low` and `high`. Otherwise, return the
    estimate unchanged.
    """
    if estimate.games >= ENOUGH:
        return estimate
    return Estimate(estimate.value, math.nan, math.nan, estimate.n, estimate.games)


def figure_of(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as a dict for JSON, with the keys value, low, high, n and games. Fractions are rounded to four
    decimals, and NaN becomes None.
    """
    return {key: rounded(value, 4) if isinstance(value, float) else value for key, value in estimate.as_json().items()}
