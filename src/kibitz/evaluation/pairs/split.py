"""Compare two ways to test a network that compares positions: on other games, and on other positions of its training
games.

kibitz tests the network on other games, which is the split by game. The authors of the paper about the system (kind of
network) `deepchess` probably test on other positions of the training games, which is the split by position. The summary
of the paper does not state this, and we have not read the paper.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation import EvalConfig, OnProgress
from kibitz.evaluation.pairs.answers import BATCH_SIZE, PairResults, as_tested, fill, pairs
from kibitz.evaluation.tables import Cell, Column, Metric, Metrics, Table
from kibitz.runs import Run
from kibitz.stats import SEED, Estimate, difference_between
from kibitz.store.sampling import Sample
from kibitz.store.split import TRAIN
from kibitz.store.store import Store
from kibitz.systems.deepchess import ComparisonNet, positions
from kibitz.text import number_of, signed

GAMES, PAIRS = 20_000, 200_000
"""The largest number of training games that are used, and the largest number of pairs of their positions. Both are
sampled uniformly. More pairs would hardly narrow the intervals.
"""
PARTS = (1, 2, 3, 6, 11, np.inf)
PARTS_WORDS = ("1", "2", "3 to 5", "6 to 10", "11 and over")


@dataclass(frozen=True)
class LearnedPairs:
    """The network's predictions for pairs of positions from its training games.

    own: pairs of positions that the network was trained on; None if there are no such pairs.
    other: pairs of held-out positions of the same games; None if there are no such pairs.
    why: the reason, as text, if there are no pairs.
    games: the number of games used.
    away: int64 [positions of `other`], the number of moves between each held-out position and the nearest training
        position of the same game.
    same: int64 [positions of `other`], the number of squares (of 64) with the same content in these two positions.
    """

    own: PairResults | None
    other: PairResults | None
    why: str
    games: int
    away: NDArray[np.int64]
    same: NDArray[np.int64]


def learned(
    run: Run, store: Store, parts: Mapping[str, ComparisonNet], config: EvalConfig, on_progress: OnProgress
) -> LearnedPairs:
    """Find the network's training games in the store, and compare pairs of their positions with the networks of the run
    (the folder of a trained network).

    run: the run. parts: the run's networks, as a dict from names to networks. config: the settings of the test.
    """
    taken = run.system.games(store, run.settings)
    mine = ~run.unseen_games(store, taken) & (store.sides(run.split)[taken] == TRAIN)
    games = taken[mine]
    if len(games) > GAMES:
        games = np.sort(np.random.default_rng(config.seed).permutation(games)[:GAMES])
    if not len(games):
        return nothing_learned(
            "this store contains none of the network's training games. Test it on its training store"
        )
    samples = [positions(store, games, as_tested(run.settings), held_out=held_out) for held_out in (False, True)]
    # The bootstrap needs a different seed from that of the unseen games, because equal resamples would not be
    # independent.
    most = min(config.positions or PAIRS, PAIRS)
    own, other = (pairs(store, sample, most, config.seed, SEED + 1) for sample in samples)
    why = ""
    if other is None:
        why = "no position of the training games was held out"
        if run.settings.held_out:
            why = "too few positions of the training games were held out to make pairs"
    away = same = np.zeros(0, np.int64)
    if other:
        away, same = nearest(store, positions(store, games, run.settings), Sample(other.games, other.plies))
    return LearnedPairs(
        fill(own, parts, on_progress, "training positions") if own else None,
        fill(other, parts, on_progress, "training games") if other else None, why, len(games), away, same,
    )  # fmt: skip


def nothing_learned(why: str) -> LearnedPairs:
    """Return a LearnedPairs without pairs. why: the reason, as text."""
    nothing = np.zeros(0, np.int64)
    return LearnedPairs(None, None, why, 0, nothing, nothing)


def nearest(store: Store, learned: Sample, others: Sample) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the nearest training position of the same game for each position of `others`. Returns two arrays, int64 [n]
    each: the number of moves between the two positions, and the number of squares that are equal in them.

    learned: the training positions. If a game has no training position, the distance is a very large number and the
    number of equal squares is 0.
    """
    far = np.int64(1) << 20  # more than any game has plies
    keys, other_keys = learned.games * far + learned.plies, others.games * far + others.plies
    after = np.searchsorted(keys, other_keys)
    best, at = np.full(len(others), far), np.zeros(len(others), np.int64)
    for neighbour in (after - 1, after):
        inside = np.clip(neighbour, 0, len(keys) - 1)
        plies = np.where(learned.games[inside] == others.games, np.abs(keys[inside] - other_keys), far)
        best, at = np.where(plies < best, plies, best), np.where(plies < best, inside, at)
    same = np.empty(len(others), np.int64)
    for first in range(0, len(others), BATCH_SIZE):
        rows = slice(first, first + BATCH_SIZE)
        here, _ = store.replay(others.games[rows], others.plies[rows])
        there, _ = store.replay(learned.games[at[rows]], learned.plies[at[rows]])
        same[rows] = (here == there).sum(1)
    return best, np.where(best < far, same, 0)


def split_figures(known: LearnedPairs) -> Metrics:
    """Return the accuracy of the main network on two kinds of pairs from its training games, as a dict of metrics:
    "accuracy_by_position" for held-out positions, and "accuracy_on_learned_positions" for training positions.

    A metric is missing if there are no pairs of its kind.
    """
    by_name = {"accuracy_by_position": known.other, "accuracy_on_learned_positions": known.own}
    return {name: Metric(of.groups.mean(of.main.right, score=True)) for name, of in by_name.items() if of}


def split_tables(results: PairResults, known: LearnedPairs) -> list[Table]:
    """Return two tables of accuracies of each network and of counting material. The first table compares training
    positions, held-out positions and unseen games. The second table is by the distance from training positions.

    The second table is missing if there are no held-out positions.
    """
    rows: list[list[Cell]] = []
    gaps: dict[str, Estimate] = {}
    for name, right in results.right().items():
        row: list[Cell] = [name]
        for of in (known.own, known.other):
            row.append(of.groups.mean(of.right()[name], score=True) if of else None)
        if known.other:
            gaps[name] = difference_between(known.other.groups, known.other.right()[name], results.groups, right)
        rows.append([*row, results.groups.mean(right, score=True), gaps.get(name)])
    tables = [
        Table(
            "Split by position and by game",
            split_text(known, gaps),
            "predictor",
            [
                Column("training positions"),
                Column("by position"),
                Column("by game"),
                Column("difference", "points"),
            ],
            rows,
        )
    ]
    return [*tables, near(known.other, known.away)] if known.other else tables


def split_text(known: LearnedPairs, gaps: Mapping[str, Estimate]) -> str:
    """Return a text for readers that explains the first table of `split_tables`.

    known: the pairs from training games. gaps: for each predictor, its accuracy on held-out positions of training games
    minus its accuracy on unseen games.
    """
    text = (
        "By game: pairs of positions from the tested games, which are unseen by default. By position, as we read the "
        "paper: pairs of held-out positions from the training games."
    )
    if not gaps:
        return f"{text} Results by position are missing: {known.why}."
    network, material = next(iter(gaps.values())), gaps["material"]
    text += f" They come from {number_of(known.games, 'training game')}."
    points, ends = f"{abs(network.value) * 100:.1f} points", (network.low * 100, network.high * 100)
    interval = f"(95% interval of the difference: {signed(ends[0])} to {signed(ends[1])})"
    if math.isnan(network.low):
        interval = "(too few games for an interval)"
    if not network.low > 0:
        direction = "higher" if network.value > 0 else "lower"
        sure = "" if network.high < 0 else "; that may be chance"
        return f"{text} The accuracy by position is {points} {direction} than by game {interval}{sure}."
    plies, squares = int(np.median(known.away)), int(np.median(known.same))
    return (
        f"{text} The accuracy by game is {points} lower {interval}, because positions of one game resemble each other. "
        f"The median distance of a held-out position from a training position of its game is {plies} "
        f"{'ply' if plies == 1 else 'plies'}, and the median number of equal squares is {squares} of 64. Material, "
        f"which memorizes nothing, has {_material(material)} between the two."
    )


def _material(gap: Estimate) -> str:
    clear = gap.low > 0 or gap.high < 0
    words = f"a difference of {signed(gap.value * 100)} points"
    if math.isnan(gap.low):
        return words
    return words if clear else f"{words} ({signed(gap.low * 100)} to {signed(gap.high * 100)}: not significant)"


def near(other: PairResults, away: NDArray[np.int64]) -> Table:
    """Return a table of the accuracy on held-out positions of training games, by their distance from the nearest
    training position.

    other: the pairs of held-out positions. away: int64 [positions], these distances in moves.
    """
    farther = np.maximum(*other.pairs.both(away))
    rows: list[list[Cell]] = []
    for words, low, high in zip(PARTS_WORDS, PARTS[:-1], PARTS[1:], strict=True):
        mask = (farther >= low) & (farther < high)
        if mask.any():
            figures = other.groups.means(list(other.right().values()), mask, score=True)
            rows.append([words, *figures, int(mask.sum())])
    return Table(
        "Split by position: distance to training positions",
        "Pairs of held-out positions by the plies to the nearest training position of the same game, for the position "
        "of the pair that is farther away. Material shows how hard the pairs are.",
        "plies",
        [*(Column(name) for name in other.right()), Column("pairs", "count")],
        rows,
    )
