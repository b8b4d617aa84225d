"""Compare two ways to test a network that predicts the winner: on other games, and on other positions of its training
games.

kibitz tests the network on other games. The blog post that first described this network probably used other positions
of the training games, as the author of the post suspects.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError
from kibitz.evaluation import EvalConfig
from kibitz.evaluation.games import choose
from kibitz.evaluation.tables import Cell, Column, Metric, Metrics, Table
from kibitz.runs import Run
from kibitz.stats import SEED, ClusterBootstrap, Estimate, difference_between
from kibitz.store.positions import permutation
from kibitz.store.sampling import Sample, sample_positions
from kibitz.store.store import Store
from kibitz.text import number_of

GAMES, POSITIONS = 20_000, 100_000
"""The largest number of training games that are used, and the largest number of positions of each kind, sampled
uniformly. More positions would hardly narrow the intervals.
"""
PREDICTORS = ("the network", "more material")

Answers = Callable[[NDArray[np.int64], NDArray[np.int64]], list[NDArray[Any]]]
"""A function that returns the correctness of two predictors in given positions, as two arrays [n], from 0 to 1.
PREDICTORS contains their names: the network, and the rule that the side with more material wins.

The arguments are two arrays, int64 [n]: the index of the game in the store, and the number of moves before the
position.
"""
Judged = tuple[ClusterBootstrap, list[NDArray[Any]]]


def by_position(
    run: Run,
    store: Store,
    config: EvalConfig,
    answers: Answers,
    tested: Judged,
) -> tuple[Metrics, list[Table]]:
    """Compare the accuracy on three kinds of positions: training positions, held-out positions of training games, and
    positions of unseen games. Two predictors are tested: the network, and the rule that the side with more material
    wins.

    Returns a dict of metrics, and a list with a table. The dict and the list are empty if the network was not trained
    with `--held-out`, or if the store contains none of the network's training games.

    answers: a function that returns the correctness of both predictors in given positions, see `Answers`.
    tested: two values about the tested positions of unseen games: the positions grouped by game, and the correctness of
        both predictors as two arrays [n].
    """
    share = getattr(run.settings, "held_out", 0.0)  # a setting of `winner` that systems of other packages may lack
    if not share:
        return {}, []
    try:
        games = choose(run, store, "training").games
    except KibitzError:
        return {}, []  # the run was trained on another store
    if len(games) > GAMES:
        games = np.sort(np.random.default_rng(config.seed).permutation(games)[:GAMES])
    # The bootstrap of the tested positions uses SEED. These positions need a different seed, because with the same
    # resamples the two results would not be independent.
    parts: list[Judged] = []
    for held_out in (False, True):
        sample = _drawn(sample_positions(store, games, 0, share=share, held_out=held_out), config)
        if not len(sample):
            return {}, []
        parts.append((ClusterBootstrap(sample.games, seed=SEED + 1), answers(sample.games, sample.plies)))
    (learned_groups, learned), (groups, others) = parts
    figures = {
        "accuracy_by_position": Metric(groups.mean(others[0], score=True)),
        "accuracy_on_learned_positions": Metric(learned_groups.mean(learned[0], score=True)),
    }
    rows: list[list[Cell]] = []
    gaps: list[Estimate] = []
    for i, name in enumerate(PREDICTORS):
        gaps.append(difference_between(groups, others[i], tested[0], tested[1][i]))
        rows.append(
            [
                name,
                learned_groups.mean(learned[i], score=True),
                groups.mean(others[i], score=True),
                tested[0].mean(tested[1][i], score=True),
                gaps[i],
            ]
        )
    table = Table(
        "Split by position and by game",
        "By game: the tested positions, from unseen games. By position, probably as in the original blog post: "
        f"held-out positions of {number_of(len(games), 'training game')}. The network was trained on the results of "
        "these games, and on positions a few plies away. The rule 'more material' memorizes nothing, so its accuracy "
        "shows how hard the positions are.",
        "predictor",
        [Column("training positions"), Column("by position"), Column("by game"), Column("difference", "points")],
        rows,
    )
    return figures, [table]


def _drawn(sample: Sample, config: EvalConfig) -> Sample:
    """Sample at most POSITIONS positions uniformly, and no more than the test has."""
    most = min(config.positions or POSITIONS, POSITIONS)
    if len(sample) <= most:
        return sample
    drawn = np.sort(permutation(len(sample), config.seed, 0, 0, most))
    return Sample(sample.games[drawn], sample.plies[drawn])
