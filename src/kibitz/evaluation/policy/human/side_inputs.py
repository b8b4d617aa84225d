"""Measure the effect of the rating inputs of the system (kind of network) `human`. The same positions are evaluated
with the real ratings, with other ratings, and without ratings.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation import OnProgress
from kibitz.evaluation.policy.human.results import HumanResults, Marks, RatedSession, winner_right
from kibitz.evaluation.tables import Cell, Column, Metric, Metrics, Table
from kibitz.games.chess.replay import SIDE
from kibitz.games.chess.sides import BEYOND, RATING, RATING_UNIT, rating_bytes
from kibitz.stats import ClusterBootstrap, Kind, log_loss
from kibitz.store.positions import Batch

INPUT_RATINGS = (1000, 1400, 1800, 2200, 2600)
"""Ratings that the network gets as inputs in place of the players' real ratings."""
RATING_TEST_POSITIONS = 2_000
"""The largest number of positions from each range of ratings in the tables of `by_input_rating`."""

ChangeState = Callable[[Batch, NDArray[np.uint8]], NDArray[np.uint8]]
"""A function that changes the network's additional inputs. Its arguments are a batch of positions and their state,
uint8 [n, 12]. It returns the changed state.
"""


def other_inputs(results: HumanResults, seed: int) -> dict[str, ChangeState]:
    """Return a dict of three functions, which change the network's additional inputs, such as ratings. Each function
    takes a batch of positions and its state, uint8 [n, 12]. The function changes this array and returns it.

    ratings_shuffled: replace both ratings by the ratings of another tested game, chosen at random. Only games with two
        known ratings get ratings of another game.
    ratings_withheld: set the ratings to unknown.
    position_alone: set all additional inputs to unknown.

    seed: the random seed.
    """
    rated, store = results.rated, results.store
    rng = np.random.default_rng(seed)
    with_ratings = np.flatnonzero((rated.ratings > 0).all(0) & np.isin(np.arange(len(store)), results.games))
    other = np.arange(len(store))
    other[with_ratings] = rng.permutation(with_ratings)
    # The mover gets the rating of White or of Black in the other game, chosen at random.
    side_of_game = rng.integers(0, 2, len(store))

    def shuffled(batch: Batch, state: NDArray[np.uint8]) -> NDArray[np.uint8]:
        side = batch.state[:, SIDE].astype(np.int64) ^ side_of_game[batch.games]
        state[:, RATING] = rating_bytes(rated.ratings[side, other[batch.games]])
        state[:, RATING + 1] = rating_bytes(rated.ratings[1 - side, other[batch.games]])
        return state

    def withheld(batch: Batch, state: NDArray[np.uint8]) -> NDArray[np.uint8]:
        state[:, RATING : RATING + 2] = 0
        return state

    def bare(batch: Batch, state: NDArray[np.uint8]) -> NDArray[np.uint8]:
        state[:, RATING : RATING + len(BEYOND)] = 0
        return state

    return {"ratings_shuffled": shuffled, "ratings_withheld": withheld, "position_alone": bare}


@dataclass(frozen=True)
class _Compared:
    """Positions that are evaluated again.

    own: their marks with the true inputs.
    mask: the positions that count. If some positions have both ratings, only these count.
    decided: the counted positions in decisive games.
    """

    groups: ClusterBootstrap
    own: Marks
    result: NDArray[np.int64]
    mask: NDArray[np.bool_]
    decided: NDArray[np.bool_]

    def figures(self, name: str, marks: Marks) -> Metrics:
        loss, own_loss = log_loss(marks["chance"], 1), log_loss(self.own["chance"], 1)
        figures = {
            f"log_loss_{name}": Metric(self.groups.mean(loss, self.mask), "number"),
            f"accuracy_{name}": Metric(self.groups.mean(marks["rank"] == 1, self.mask)),
            f"log_loss_cost_{name}": Metric(self.groups.difference(loss, own_loss, self.mask), "number"),
        }
        if "win" in marks and self.decided.any():
            right = winner_right(marks, self.result)
            figures[f"winner_accuracy_{name}"] = Metric(self.groups.mean(right, self.decided, score=True))
        return figures

    def row(self, name: str, marks: Marks) -> list[Cell]:
        loss, own_loss = log_loss(marks["chance"], 1), log_loss(self.own["chance"], 1)
        winner = None
        if "win" in marks and self.decided.any():
            winner = self.groups.mean(winner_right(marks, self.result), self.decided, score=True)
        return [
            name, self.groups.mean(marks["rank"] == 1, self.mask), self.groups.mean(loss, self.mask),
            self.groups.difference(loss, own_loss, self.mask), winner, int(self.mask.sum()),
        ]  # fmt: skip


def with_other_inputs(
    results: HumanResults, subset: NDArray[np.int64], seed: int, on_progress: OnProgress
) -> tuple[Metrics, Table]:
    """Test the network again on some positions, with its additional inputs changed by each function of `other_inputs`.
    Returns a dict of metrics, and a table of these metrics.

    results: the results with the true inputs. subset: int64 [k], indices of the positions. seed: the random seed.
    """
    both = (results.rating[subset] > 0) & (results.opponent[subset] > 0)
    mask = both if both.any() else np.ones_like(both)
    own = {name: values[subset] for name, values in results.marks.items()}
    result = results.result[subset]
    compared = _Compared(ClusterBootstrap(results.games[subset]), own, result, mask, mask & (result != 0))
    figures: Metrics = {}
    changes = other_inputs(results, seed)
    rated = len(np.unique(results.games[subset][both]))
    if rated < 2:  # ratings can be exchanged only between two games
        del changes["ratings_shuffled"]
    if rated:
        figures["log_loss_where_rated"] = Metric(compared.groups.mean(log_loss(own["chance"], 1), mask), "number")
        figures["accuracy_where_rated"] = Metric(compared.groups.mean(own["rank"] == 1, mask))
    else:
        del changes["ratings_withheld"]
    rows = [compared.row("true inputs", own)]
    for name, change in changes.items():
        words = name.replace("_", " ")
        measure = functools.partial(_measure_changed, results.rated, change)
        marks = results.measure_again(subset, measure, functools.partial(on_progress, words))
        figures |= compared.figures(name, marks)
        rows.append(compared.row(words, marks))
    return figures, Table(
        "Effect of ratings and other inputs",
        "The same positions, "
        + (
            "of games with both ratings, with the ratings of other games' players, without ratings, and with "
            if rated
            else "of games without ratings, with "
        )
        + "the position as the only input, as in a FEN. The increase in log loss is relative to the true inputs.",
        "inputs",
        [
            Column("top-1 accuracy"),
            Column("log loss", "number"),
            Column("log loss increase", "number"),
            Column("winner accuracy"),
            Column("moves", "count"),
        ],
        rows,
    )


def _measure_changed(rated: RatedSession, change: ChangeState, batch: Batch) -> Marks:
    return rated.measure(batch, change(batch, rated.full_state(batch)))


def by_input_rating(results: HumanResults, seed: int, on_progress: OnProgress) -> list[Table]:
    """Evaluate positions with rating inputs that differ from the real ratings. Returns two tables: the log loss in
    nats, and the top-1 accuracy.

    A row is a range of the mover's real rating. A column is the rating, from 1000 to 2600, that the network gets as
    input for both players. The list is empty if no mover's rating is in the ranges, which cover 800 to 2799.
    """
    bands = [(rating - 200, rating + 200) for rating in INPUT_RATINGS]
    subset, band = _positions_of_bands(results, bands, seed)
    if not len(subset):
        return []
    losses, rights = [], []
    for rating in INPUT_RATINGS:
        measure = functools.partial(_measure_changed, results.rated, functools.partial(_as_rating, rating))
        marks = results.measure_again(subset, measure, functools.partial(on_progress, f"rating input {rating}"))
        losses.append(log_loss(marks["chance"], 1))
        rights.append(marks["rank"] == 1)
    groups = ClusterBootstrap(results.games[subset])
    kinds: list[tuple[str, list[NDArray[np.float64]] | list[NDArray[np.bool_]], Kind]] = [
        ("Log loss by rating input", losses, "number"), ("Top-1 accuracy by rating input", rights, "share"),
    ]  # fmt: skip
    tables = []
    for title, values, kind in kinds:
        rows: list[list[Cell]] = []
        for i, (low, high) in enumerate(bands):
            if (band == i).any():
                rows.append([f"{low} to {high - 1}", *groups.means(values, band == i), int((band == i).sum())])
        tables.append(Table(
            title,
            "Rows: the rating of the players. Columns: the rating that the network takes as input for both. The best "
            "value of a row is expected where the two are equal.",
            "players",
            [*(Column(f"input {rating}", kind) for rating in INPUT_RATINGS), Column("moves", "count")],
            rows,
        ))  # fmt: skip
    return tables


def _as_rating(rating: int, batch: Batch, state: NDArray[np.uint8]) -> NDArray[np.uint8]:
    state[:, RATING : RATING + 2] = rating // RATING_UNIT
    return state


def _positions_of_bands(
    results: HumanResults, bands: list[tuple[int, int]], seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return ascending indices of positions whose movers' ratings are in the bands, and the band's index of each
    position.
    """
    rng = np.random.default_rng(seed)
    picked = []
    for low, high in bands:
        inside = np.flatnonzero((results.rating >= low) & (results.rating < high))
        picked.append(np.sort(rng.permutation(inside)[:RATING_TEST_POSITIONS]))
    subset = np.concatenate(picked)
    band = np.repeat(np.arange(len(bands)), [len(part) for part in picked])
    order = np.argsort(subset, kind="stable")
    return subset[order], band[order]
