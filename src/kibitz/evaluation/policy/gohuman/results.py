"""The tested positions of a network of the system (kind of network) `gohuman`, and its predictions for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.points import PASS
from kibitz.games.go.replay import SIDE, SIZE, colours_of
from kibitz.games.go.sides import GameSides
from kibitz.play.go.ownership import steady
from kibitz.play.session import NetworkSession
from kibitz.stats import ClusterBootstrap
from kibitz.store.positions import Batch
from kibitz.store.store import Store

Marks = dict[str, NDArray[Any]]
"""The results of tested positions: arrays by name, with one entry per position."""


class ConditionedSession:
    """Evaluates positions of a store with a Go network that has additional inputs: komi, handicap, rules, ranks and
    server.

    session: the open network. store: the database of games, which contains the values of these inputs.
    """

    def __init__(self, session: NetworkSession, store: Store):
        self.session, self.store = session, store
        self.sides = GameSides(store)

    def with_conditions(self, batch: Batch) -> Batch:
        """Return the batch of positions with the network's additional inputs, such as komi and ranks, as further
        columns of its array `state`.
        """
        more = self.sides.of(batch.games, batch.state[:, SIDE])
        return replace(batch, state=np.concatenate([batch.state, more], 1))

    def measure(self, batch: Batch) -> Marks:
        """Evaluate positions in which a move was played, and return the results as a dict from names to arrays [n].

        The arrays are those of `move_marks` and these:

        win, lead: the mover's win probability, 0 to 1, and the mover's lead in points of score.
        empty: the number of empty intersections.
        side: the side to move, 0 Black, 1 White.
        size: the board size.
        """
        batch = self.with_conditions(batch)
        answers = self.session.evaluate(batch.codes, batch.state)
        played = self.store.moves[self.store.offsets[batch.games] + batch.plies].astype(np.int64)
        return {
            **move_marks(answers["policy"], played),
            "empty": (colours_of(batch.codes) == 0).sum(1).astype(np.int16),
            "win": (1 + answers["value"].astype(np.float64)) / 2,
            "lead": answers["lead"].astype(np.float64),
            "side": batch.state[:, SIDE],
            "size": batch.state[:, SIZE],
        }

    def judge(self, batch: Batch) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return Black's win probability and Black's lead in points after komi, float64 [n] each, for a batch of
        positions.
        """
        batch = self.with_conditions(batch)
        answers = steady(self.session).evaluate(batch.codes, batch.state)
        black = np.where(batch.state[:, SIDE] == 0, 1.0, -1.0)
        return (1 + black * answers["value"]) / 2, black * answers["lead"]


def move_marks(policy: NDArray[np.float32], played: NDArray[np.int64]) -> Marks:
    """Return how a network ranks the played moves, as a dict from names to arrays [n].

    policy: float32 [n, 362], the probabilities of the 361 points and of a pass. played: int64 [n], the played moves, as
    points (row · 19 + column), or 361 for a pass.

    The dict has these arrays:

    chance: the played move's probability.
    rank: the played move's rank by probability, from 1. If probabilities are equal, the point with the lower index is
        first.
    best: the most likely move, as a point, or 361 for a pass.
    surest: the probability of the most likely move.
    passed: whether the played move was a pass.
    """
    rows = np.arange(len(played))
    chance = policy[rows, played]
    before = (policy > chance[:, None]) | ((policy == chance[:, None]) & (np.arange(policy.shape[1]) < played[:, None]))
    best = policy.argmax(1)
    return {
        "chance": chance.astype(np.float64),
        "rank": (1 + before.sum(1)).astype(np.int16),
        "best": best.astype(np.int16),
        "surest": policy[rows, best].astype(np.float64),
        "passed": played == PASS,
    }


@dataclass(frozen=True)
class GoResults:
    """The tested positions, in each of which a move was played. All arrays have one entry per tested position.

    store: the database of games.
    games, plies: int64, the positions: the index of a game in the store, and the number of moves before the position.
    marks: the results of each position, as `ConditionedSession.measure` returns them.
    """

    store: Store
    games: NDArray[np.int64]
    plies: NDArray[np.int64]
    marks: Marks

    @cached_property
    def groups(self) -> ClusterBootstrap:
        """The positions grouped by game, for computing means with confidence intervals."""
        return ClusterBootstrap(self.games)

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether the most likely move was played, bool [n]."""
        return cast("NDArray[np.bool_]", self.marks["rank"] == 1)

    @cached_property
    def result(self) -> NDArray[np.int64]:
        """The result for the mover, int64 [n]: 1 won, −1 lost, 0 drawn or not decided on the board."""
        black = black_results(self.store)[self.games]
        return cast("NDArray[np.int64]", black * (1 - 2 * self.marks["side"].astype(np.int64)))


def black_results(store: Store) -> NDArray[np.int64]:
    """Return the result of each game of a store for Black, int64 [games]: 1 won, −1 lost, 0 drawn or not decided on the
    board.
    """
    black: NDArray[np.int64] = store.column("result").astype(np.int64)
    black[np.isin(store.column("ending"), ("forfeit", "void"))] = 0
    return black
