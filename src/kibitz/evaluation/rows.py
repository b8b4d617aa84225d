"""The results of a test for each evaluated position, called rows: whether the prediction is right, and its loss.

The results of `kibitz test` are means of these rows, with confidence intervals computed by game.
`kibitz.evaluation.compare` compares the rows of two networks for the same positions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation.pairs.two_way import TwoWayBootstrap
from kibitz.stats import ClusterBootstrap, log_loss
from kibitz.store.positions import Batch, Positions
from kibitz.store.store import Store

WINNER, MOVE, OWNERS, PAIR = "winner", "move", "owners", "pair"
"""Names of the quantities that networks can predict: the winner, the played move, the final owner of each point, and
which of two positions is better.
"""
QUESTIONS = {
    WINNER: "which side won the game",
    MOVE: "which move was played",
    OWNERS: "the owner of each intersection at the end of the game",
    PAIR: "which of two positions is from the game that White won",
}
BATCH_SIZE = 4096
"""The number of positions that are computed from the moves of the games in one batch."""


@dataclass(frozen=True)
class Rows:
    """The results of a test, with one row for each tested position (in tests of `deepchess`, for each pair of
    positions). All arrays have the shape [n].

    question: the name of the predicted quantity, such as "move" or "winner" (see QUESTIONS), or the name of a metric.
        For a run that has only the pawn network, for example, it is "pawn_accuracy".
    games, plies: int64, the positions: the index of a game in its database (store), and the number of moves before the
        position.
    right: float64, 0 to 1: 1 if the prediction is right, 0.5 for no preference, 0 if it is wrong. If the final owners
        of points are predicted (Go), the share of the points whose owner is predicted correctly.
    loss: float64, the log loss in nats or, for Go territory, the mean squared error over points. It is NaN if the
        network predicts no probability.
    weight: float64, the weight of the row: the number of points with a known owner if owners are predicted, otherwise
        1.
    other_games, other_plies: int64, for pairs, the position of the game that Black won, while `games` and `plies` are
        the position of the game that White won. None for single positions.
    """

    question: str
    games: NDArray[np.int64]
    plies: NDArray[np.int64]
    right: NDArray[np.float64]
    loss: NDArray[np.float64]
    weight: NDArray[np.float64]
    other_games: NDArray[np.int64] | None = None
    other_plies: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.games)

    @cached_property
    def groups(self) -> ClusterBootstrap:
        """The rows grouped by game, for computing confidence intervals."""
        if self.other_games is None:
            return ClusterBootstrap(self.games)
        return TwoWayBootstrap(self.games, self.other_games)


def make_rows(
    question: str,
    games: NDArray[np.int64],
    plies: NDArray[np.int64],
    right: NDArray[Any],
    loss: NDArray[Any] | None = None,
    weight: NDArray[Any] | None = None,
    among: NDArray[np.bool_] | None = None,
) -> Rows:
    """Return a `Rows` object from arrays, [n] each, which are converted to float64. The arguments are as in `Rows`.

    loss: None if there are no losses. weight: None for a weight of 1 everywhere. among: bool [n], the positions to
    include; None for all.
    """
    mask = slice(None) if among is None else among
    size = len(games)
    return Rows(
        question, games[mask], plies[mask], np.asarray(right, np.float64)[mask],
        (np.full(size, np.nan) if loss is None else np.asarray(loss, np.float64))[mask],
        (np.ones(size) if weight is None else np.asarray(weight, np.float64))[mask],
    )  # fmt: skip


def winner_right(chance: NDArray[Any], won: NDArray[np.bool_]) -> NDArray[Any]:
    """Return whether win probabilities predict the winner, [n]: true if the more likely side won, false if it lost. If
    both sides are equally likely at some position, the result is float64, and 0.5 at such positions.

    chance: [n], the win probability of a side, 0 to 1. won: bool [n], whether this side won.
    """
    right, even = (chance > 0.5) == won, chance == 0.5
    return (
        np.where(even, 0.5, right) if even.any() else right
    )  # confidence intervals of booleans know that 0 is a share


def move_loss(chance: NDArray[Any]) -> NDArray[np.float64]:
    """Return the log loss of predicted moves in nats, float64 [n]. Very small probabilities are raised to a limit, as
    in `kibitz.stats.log_loss`.

    chance: [n], the predicted probabilities of the played moves.
    """
    return log_loss(chance, 1)


class Eligible(Protocol):
    """The interface of a list of the positions on which a network can be tested. The positions are ordered by game and
    ply, and numbered from 0.
    """

    def __len__(self) -> int: ...

    def locate(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return two arrays for positions of the list, int64 [n] each: the index of the game in its database (store),
        and the number of moves before the position.

        ids: int64 [n], the numbers of the positions.
        """

    def contains(self, games: NDArray[np.int64], plies: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each of the given positions is in the list, bool [n].

        games, plies: int64 [n], the positions: the index of a game in its database (store), and the number of moves
        before the position.
        """


@dataclass(frozen=True)
class EligiblePositions:
    """The positions of a `kibitz.store.positions.Positions` object on which a network can be tested.

    positions: the object. chosen: int64, the indices of the testable positions in `positions`, ascending; None for all
    positions.
    """

    positions: Positions
    chosen: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.positions) if self.chosen is None else len(self.chosen)

    def locate(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return two arrays for positions of the list, int64 [n] each: the index of the game in its database (store),
        and the number of moves before the position.

        ids: int64 [n], the numbers of the positions.
        """
        return self.positions.locate(ids if self.chosen is None else self.chosen[ids])

    def contains(self, games: NDArray[np.int64], plies: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each of the given positions is in the list, bool [n].

        games, plies: int64 [n], the positions: the index of a game in its database (store), and the number of moves
        before the position.
        """
        ids = self.positions.find(games, plies)
        if self.chosen is None:
            return np.asarray(ids >= 0)
        if not len(self.chosen):
            return np.zeros(len(ids), np.bool_)
        at = np.minimum(np.searchsorted(self.chosen, ids), len(self.chosen) - 1)
        return np.asarray((ids >= 0) & (self.chosen[at] == ids))


def measure_in_batches(
    store: Store,
    games: NDArray[np.int64],
    plies: NDArray[np.int64],
    measure: Callable[[Batch], Mapping[str, NDArray[Any]]],
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    batch_size: int = BATCH_SIZE,
) -> dict[str, NDArray[Any]]:
    """Call `measure` with batches of positions of a store, and join the results of all batches. Returns a dict from
    names to joined arrays, [n, …]. The dict is empty if n is 0.

    games, plies: int64 [n], the positions: the index of a game in the store, and the number of moves before the
    position. measure: a function that returns a dict from names to arrays, with one entry per position of the batch.
    The names must be the same for all batches. batch_size: the number of positions in a batch, which limits the memory.
    on_progress: a function that is called with the number of completed positions and the total.
    """
    results: dict[str, NDArray[Any]] = {}
    for first in range(0, len(games), batch_size):
        part = slice(first, first + batch_size)
        codes, state = store.replay(games[part], plies[part])
        for name, values in measure(Batch(codes, state, games[part], plies[part])).items():
            if name not in results:
                results[name] = np.empty((len(games), *values.shape[1:]), values.dtype)
            results[name][part] = values
        on_progress(min(first + batch_size, len(games)), len(games))
    return results
