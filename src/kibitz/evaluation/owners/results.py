"""The tested positions of a network that predicts territory, and the metrics computed from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError
from kibitz.evaluation.owners.points import PointCounts, count_points, nearest_stone
from kibitz.games.go.endings.counting import TERRITORY, compensation
from kibitz.games.go.points import BLACK, PASS, POINTS, WHITE
from kibitz.games.go.replay import SIDE, SIZE, colours_of
from kibitz.play.go.ownership import OUTPUT
from kibitz.play.session import NetworkSession
from kibitz.stats import ClusterBootstrap, Estimate
from kibitz.store.positions import Batch
from kibitz.store.store import Store


def owners_of(store: Store) -> NDArray[np.uint8]:
    """Return the final owner of each point in every game of the store, uint8 [games, 361]: 1 Black, 2 White, 0 neutral
    or unknown. Raises KibitzError if the store has no final owners.
    """
    owners = store.per_game("owner")
    if owners is None:
        raise KibitzError(f"{store.path} has no territory labels. Import its games again with --referee auto.")
    return owners


def measure(session: NetworkSession, owners: NDArray[np.uint8], batch: Batch) -> PointCounts:
    """Evaluate a batch of positions with the network and with the nearest-stone baseline. Return the counts that
    `OwnerResults` needs, as a dict from names to arrays, whose first axis is the position.

    owners: uint8 [games, 361], the final owner of each point, for every game of the store.

    The result has the arrays of `kibitz.evaluation.owners.points.count_points` for the network's predictions. The
    counts "right", "squared" and "score" of the baseline have the prefix "nearest_". The array "side" is the side to
    move (0 Black), and "neutral" is the number of points without a known owner.
    """
    colours, sizes, final = colours_of(batch.codes), batch.state[:, SIZE], owners[batch.games]
    marks = count_points(session.evaluate(batch.codes, batch.state)[OUTPUT], final, colours, sizes)
    nearest = count_points(nearest_stone(colours), final, colours, sizes)
    of_nearest = {f"nearest_{name}": nearest[name] for name in ("right", "squared", "score")}
    neutral = sizes.astype(np.int64) ** 2 - marks["known"]
    return {**marks, **of_nearest, "side": batch.state[:, SIDE], "neutral": neutral}


@dataclass(frozen=True)
class OwnerResults:
    """The tested positions of a network that predicts territory. The methods compute metrics from them.

    store: the database of games.
    games, plies: int64 [n], the positions: the index of a game in the store, and the number of moves before the
        position.
    marks: a dict of arrays [n]: how many intersections of each position the network predicts correctly, and other
        counts, see `measure` in this module.
    """

    store: Store
    games: NDArray[np.int64]
    plies: NDArray[np.int64]
    marks: PointCounts

    @cached_property
    def groups(self) -> ClusterBootstrap:
        """The positions grouped by game, for computing means with confidence intervals."""
        return ClusterBootstrap(self.games)

    def of_game(self, column: str) -> NDArray[Any]:
        """Return a property of the game of each position, such as its komi, as an array [n].

        column: the name of the property, which is a column of the store's table of games.
        """
        return self.store.column(column)[self.games]

    @cached_property
    def stage(self) -> NDArray[np.int64]:
        """The part of the game that contains each position, int64 [n], 0 to 9: the game is divided into ten equal
        parts. The position after the last move belongs to the last part.
        """
        moves = np.maximum(self.store.plies[self.games], 1)
        return np.minimum(10 * self.plies // moves, 9)

    @cached_property
    def area(self) -> NDArray[np.int64]:
        """The final score of the game of each position: Black's points minus White's, by area and without komi, int64
        [n].
        """
        numbers, of = np.unique(self.games, return_inverse=True)
        owners = owners_of(self.store)[numbers]
        difference = (owners == BLACK).sum(1, dtype=np.int64) - (owners == WHITE).sum(1, dtype=np.int64)
        return np.asarray(difference[of])

    @cached_property
    def given(self) -> NDArray[np.float64]:
        """The margin of each position's game in points of score, float64 [n]. Under the rules of the game, Black wins
        if Black's area exceeds White's area by more than the margin.

        The margin is the komi plus White's compensation for handicap stones. Under territory scoring, a side's score is
        the side's area minus the number of stones that the side has placed. Therefore, the margin then also contains
        the number of Black's placed stones minus the number of White's. Handicap stones are placed stones.
        """
        komi, rules, stones = (self.store.column(name) for name in ("komi", "rules", "handicap"))
        numbers, of = np.unique(self.games, return_inverse=True)
        given = [
            float(komi[game]) + compensation(rules[game], int(stones[game]))
            + (_stones_more(self.store, game) if rules[game] in TERRITORY else 0)
            for game in numbers.tolist()
        ]  # fmt: skip
        return np.array(given)[of]

    def accuracy(self, mask: NDArray[np.bool_] | None = None, of: PointCounts | None = None) -> Estimate:
        """Return the share of points that are predicted correctly, among the points with a known owner.

        mask: bool [n], the positions to use; None for all. of: the counts of another predictor; None for the network.
        """
        return self.groups.mean((of or self.marks)["right"], mask, self.marks["known"])

    def games_over(self, share: float, mask: NDArray[np.bool_]) -> Estimate:
        """Return the fraction of positions whose accuracy exceeds `share`. The accuracy of a position is the fraction
        of the points with a known owner that are predicted correctly.

        share: the limit of the accuracy, 0 to 1. mask: bool [n], the positions to use. Positions in which no point has
        a known owner are excluded.
        """
        known = self.marks["known"]
        return self.groups.mean(self.marks["right"] > share * known, mask & (known > 0))

    def accuracy_over_all_points(self) -> Estimate:
        """Return the accuracy over all points, including neutral points, as in the original work on the system (kind of
        network) `gocnn`.

        A neutral point counts as half right, because its owner is assigned at random in that work.
        """
        marks = self.marks
        return self.groups.mean(marks["right"] + marks["neutral"] / 2, over=marks["known"] + marks["neutral"])

    def squared_error(self, mask: NDArray[np.bool_] | None = None, of: PointCounts | None = None) -> Estimate:
        """Return the mean squared error (Brier score) over the points with a known owner. The prediction is the
        probability that a point belongs to Black. The true value is 1 if the point belonged to Black at the end, and 0
        if it belonged to White.

        mask: bool [n], the positions to use; None for all. of: the counts of another predictor; None for the network.
        """
        return self.groups.mean((of or self.marks)["squared"], mask, self.marks["known"])

    def score_error(self, mask: NDArray[np.bool_] | None = None, of: PointCounts | None = None) -> Estimate:
        """Return the mean absolute error of the predicted score, in points, over positions. The predicted score is
        Black's area minus White's, computed from the predicted owners.

        mask: bool [n], the positions to use; None for all. of: the counts of another predictor; None for the network.
        """
        return self.groups.mean(np.abs((of or self.marks)["score"] - self.area), mask)

    def winner_accuracy(self, mask: NDArray[np.bool_] | None = None, score: NDArray[Any] | None = None) -> Estimate:
        """Return how often the predicted winner is the recorded winner. The predicted winner is the side that is ahead
        by the predicted score, after komi and under the game's rules.

        mask: bool [n], the positions to use; None for all. score: [n], the predicted scores as Black's area minus
        White's; None for the network's scores. A predicted draw counts as half right. Games without a recorded winner
        or without komi are excluded.
        """
        result = self.of_game("result")
        among = (result != 0) & np.isfinite(self.given)
        lead = np.where(among, (self.marks["score"] if score is None else score) - self.given, 0)
        right = np.where(lead == 0, 0.5, (lead > 0) == (result > 0))
        return self.groups.mean(right, among if mask is None else among & mask, score=True)


def _stones_more(store: Store, game: int) -> int:
    """Return how many more stones Black has put on the board in a game than White, handicap stones included."""
    start = store.starts[store.start_of[game]]
    plays = store.moves[store.offsets[game] : store.offsets[game + 1]] != PASS
    first, second = np.count_nonzero(plays[::2]), np.count_nonzero(plays[1::2])
    black_first = 1 - 2 * int(start[POINTS])  # -1 if White began
    set_up = np.count_nonzero(start[:POINTS] == BLACK) - np.count_nonzero(start[:POINTS] == WHITE)
    return int(set_up) + black_first * int(first - second)
