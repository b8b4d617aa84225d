"""The tested positions of a Go network, and the results over them."""

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
    """Return the final owner of each point in every game of the store, uint8 [games, 361]. Raises KibitzError if the
    store has no final owners.
    """
    owners = store.per_game("owner")
    if owners is None:
        raise KibitzError(f"{store.path} has no territory labels. Import its games again with --referee auto.")
    return owners


def measure(session: NetworkSession, owners: NDArray[np.uint8], batch: Batch) -> PointCounts:
    """Return the counts that `OwnerResults` needs, for the positions of a batch: arrays by name, whose first axis is
    the position.

    owners: uint8 [games, 361], the final owner of each point, for every game of the store.

    The arrays are the counts of the network's predictions (see `points.count_points`), and the counts "right",
    "squared" and "score" of the nearest-stone baseline with the prefix "nearest_". The array "side" is the side to
    move, and "neutral" is the number of points without a known owner.
    """
    colours, sizes, final = colours_of(batch.codes), batch.state[:, SIZE], owners[batch.games]
    marks = count_points(session.evaluate(batch.codes, batch.state)[OUTPUT], final, colours, sizes)
    nearest = count_points(nearest_stone(colours), final, colours, sizes)
    of_nearest = {f"nearest_{name}": nearest[name] for name in ("right", "squared", "score")}
    neutral = sizes.astype(np.int64) ** 2 - marks["known"]
    return {**marks, **of_nearest, "side": batch.state[:, SIDE], "neutral": neutral}


@dataclass(frozen=True)
class OwnerResults:
    """The tested positions of a network.

    store: the store with the games.
    games, plies: int64 [n], the game and the ply of each position.
    marks: the counts of the network's predictions, as `measure` returns them.

    Several methods have the arguments `of` and `mask`. of: the counts of another predictor for the same positions; None
    for the network. mask: bool [n], the positions that the method uses; None for all.
    """

    store: Store
    games: NDArray[np.int64]
    plies: NDArray[np.int64]
    marks: PointCounts

    @cached_property
    def groups(self) -> ClusterBootstrap:
        return ClusterBootstrap(self.games)

    def of_game(self, column: str) -> NDArray[Any]:
        """Return the value of a column of the store's table for the game of each position, [n]. column: the column's
        name.
        """
        return self.store.column(column)[self.games]

    @cached_property
    def stage(self) -> NDArray[np.int64]:
        """For each position, the part of the game that contains it, if the game is divided into ten equal parts: int64
        [n], 0 to 9. The position after the last move belongs to the last part.
        """
        moves = np.maximum(self.store.plies[self.games], 1)
        return np.minimum(10 * self.plies // moves, 9)

    @cached_property
    def area(self) -> NDArray[np.int64]:
        """For each position, Black's points minus White's at the end of its game, by area and without komi: int64
        [n].
        """
        numbers, of = np.unique(self.games, return_inverse=True)
        owners = owners_of(self.store)[numbers]
        difference = (owners == BLACK).sum(1, dtype=np.int64) - (owners == WHITE).sum(1, dtype=np.int64)
        return np.asarray(difference[of])

    @cached_property
    def given(self) -> NDArray[np.float64]:
        """For each position, the margin, float64 [n]: Black wins under the rules of the game if Black's area exceeds
        White's area by more than this number of points.

        The margin is the komi plus White's compensation for handicap stones. Under territory scoring, the margin also
        contains the difference of the numbers of stones that both sides have placed. The reason is that a side's score
        by territory is its score by area minus the stones that it has placed.
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
        """Return the share of correctly predicted points among those with a known owner."""
        return self.groups.mean((of or self.marks)["right"], mask, self.marks["known"])

    def games_over(self, share: float, mask: NDArray[np.bool_]) -> Estimate:
        """Return the share of positions, among those in `mask`, in which more than `share` of the points with a known
        owner are predicted correctly.
        """
        known = self.marks["known"]
        return self.groups.mean(self.marks["right"] > share * known, mask & (known > 0))

    def accuracy_over_all_points(self) -> Estimate:
        """Return the accuracy over all points, as the paper counts it.

        A neutral point counts as half right, because the paper assigns its owner at random.
        """
        marks = self.marks
        return self.groups.mean(marks["right"] + marks["neutral"] / 2, over=marks["known"] + marks["neutral"])

    def squared_error(self, mask: NDArray[np.bool_] | None = None, of: PointCounts | None = None) -> Estimate:
        """Return the mean squared error (Brier score) over the points with a known owner. The prediction is the
        probability that a point is Black's. The true value is 1 if Black owned the point at the end, and 0 if White
        owned it.
        """
        return self.groups.mean((of or self.marks)["squared"], mask, self.marks["known"])

    def score_error(self, mask: NDArray[np.bool_] | None = None, of: PointCounts | None = None) -> Estimate:
        """Return the mean, over positions, of the absolute error of the predicted score in points. The predicted score
        is Black's area minus White's, computed from the predicted owners.
        """
        return self.groups.mean(np.abs((of or self.marks)["score"] - self.area), mask)

    def winner_accuracy(self, mask: NDArray[np.bool_] | None = None, score: NDArray[Any] | None = None) -> Estimate:
        """Return how often the side that is ahead by the predicted score, after komi and under the game's rules, is the
        recorded winner.

        score: [n], the predicted scores as Black's area minus White's; None for the network's scores. A predicted draw
        counts as half right. Games without a recorded winner or without komi are excluded.
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
