"""Baselines, simpler predictors of territory, with which a network is compared: random games, GNU Go, and the nearest
stone. They are tested on the same positions as the network.

GNU Go's score estimate is also compared with the network's predicted score.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.cores import cores
from kibitz.evaluation import EvalConfig, OnProgress
from kibitz.evaluation.baselines import baseline
from kibitz.evaluation.owners.gnugo import ProgramEstimates, estimate_with_gnugo
from kibitz.evaluation.owners.points import PointCounts, count_points
from kibitz.evaluation.owners.results import OwnerResults, measure, owners_of
from kibitz.evaluation.tables import Cell, Column, Table
from kibitz.external import EngineDied
from kibitz.games.go.endings.playouts import black_shares
from kibitz.games.go.replay import SIZE, colours_of
from kibitz.parallel import Workers, map_ordered
from kibitz.play.session import NetworkSession
from kibitz.store.positions import Batch
from kibitz.store.store import Store
from kibitz.text import number_of

EVERY = 20
"""Random games and GNU Go are tested only on the positions after 0, 20, 40, … moves of a game."""
PLAYOUTS = 200
BATCH_SIZE = 8
"""The number of positions from which a thread plays random games before it reports progress."""


@dataclass(frozen=True)
class OwnerBaseline:
    """The results of a baseline, a simpler predictor of the owners of points at the end of the game.

    key: the baseline's key in the JSON. name: its name on the result page.
    network: the network's results on the positions on which the baseline was tested.
    own: the counts of the points that the baseline predicts correctly or wrongly in these positions, see
        `kibitz.evaluation.owners.points.count_points`.
    chances: whether the baseline predicts probabilities, so that its squared errors are meaningful.
    """

    key: str
    name: str
    network: OwnerResults
    own: PointCounts
    chances: bool

    @property
    def names_owners(self) -> bool:
        """Whether the baseline predicts the owners of points, and not only the score."""
        return "right" in self.own


def every_so_many(store: Store, games: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions after 0, 20, 40, … moves of these games, as two arrays, int64 [n] each: the game, and the
    number of moves before the position.

    games: int64 [k], indices in the store.
    """
    counts = store.plies[games] // EVERY + 1
    first = np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(games, counts), EVERY * (np.arange(int(counts.sum())) - first)


Part = tuple[NDArray[np.uint8], NDArray[np.uint8], int]
"""Some positions, as the arrays `codes` and `state` of `playouts`, and the seed for random games from them."""


def playouts(
    codes: NDArray[np.uint8],
    state: NDArray[np.uint8],
    seed: int,
    workers: Workers | int,
    on_progress: Callable[[int, int], None],
) -> NDArray[np.float32]:
    """Play many random games to the end from each position. Return the share of these games in which each point belongs
    to Black at the end: float32 [n, 361], 0 to 1.

    codes, state: uint8 [n, 361] and uint8 [n, 4], the positions, see `kibitz.PositionArrays`. seed: the random seed.
    workers: the processes that play the games, or the number of threads of this process.
    """
    starts = range(0, len(codes), BATCH_SIZE)
    parts = ((codes[i : i + BATCH_SIZE], state[i : i + BATCH_SIZE], seed + i) for i in starts)
    chances = []
    with contextlib.ExitStack() as stack:
        if isinstance(workers, int):
            played = stack.enter_context(ThreadPoolExecutor(workers)).map(_play_out, parts)
        else:
            played = stack.enter_context(contextlib.closing(map_ordered(_play_out, parts, workers)))
        for chance in played:
            chances.append(chance)
            on_progress(min(BATCH_SIZE * len(chances), len(codes)), len(codes))
    return np.concatenate(chances)


def _play_out(part: Part) -> NDArray[np.float32]:
    """Compute `playouts` for some positions in a worker, float32 [positions, 361]."""
    codes, state, seed = part
    return black_shares(codes, state, PLAYOUTS, seed)


def run_baselines(
    results: OwnerResults,
    session: NetworkSession,
    games: NDArray[np.int64],
    config: EvalConfig,
    on_progress: OnProgress,
    log: Callable[[str], None],
) -> list[OwnerBaseline]:
    """Test all baselines (simpler predictors), and return their results. The nearest stone is tested on all tested
    positions. Random games and GNU Go are tested on a sample of the positions after 0, 20, 40, … moves of the games.

    results: the network's results. session: the network. games: int64 [k], the tested games, as indices in the store.
    config: the settings, with the sizes of the samples. log: a function that is called with one line of text if GNU Go
    fails.
    """
    store = results.store
    nearest = {name: results.marks[f"nearest_{name}"] for name in ("right", "squared", "score")}
    baselines = [OwnerBaseline("nearest_stone", "nearest stone (ties count half)", results, nearest, False)]
    all_games, all_plies = every_so_many(store, games)
    order = np.random.default_rng(config.seed).permutation(len(all_games))

    workers = config.workers or cores()

    def positions(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        subset = np.sort(order[:count])
        return all_games[subset], all_plies[subset]

    if config.playout_positions:
        where = positions(config.playout_positions)
        progress = functools.partial(on_progress, "random playouts")
        chance = playouts(*store.replay(*where), config.seed, workers, progress)
        baselines.append(_compared("playouts", f"{PLAYOUTS} random playouts", store, session, *where, chance))
    if config.gnugo and config.gnugo_positions:
        where = positions(config.gnugo_positions)
        progress = functools.partial(on_progress, "GNU Go")
        try:
            estimates = estimate_with_gnugo(config.gnugo, store, *where, workers=workers, on_progress=progress)
        except EngineDied as error:
            log(f"GNU Go's influence and its score estimate are skipped: {error}")
            return baselines
        if estimates.answered.any():
            baselines += _of_gnugo(estimates, *where, store, session)
        if left := int(np.count_nonzero(~estimates.answered)):
            log(
                f"GNU Go did not evaluate {left:,} of {number_of(len(where[0]), 'position')}, which are excluded"
                " from its results"
            )
    return baselines


def _of_gnugo(
    estimates: ProgramEstimates,
    games: NDArray[np.int64],
    plies: NDArray[np.int64],
    store: Store,
    session: NetworkSession,
) -> list[OwnerBaseline]:
    """Return two baselines of GNU Go: its influence, and its score estimate on the positions for which it gave an
    estimate.
    """
    some = estimates.answered
    influence = _compared(
        "gnugo", f"{estimates.name}'s influence", store, session, games[some], plies[some], estimates.chance[some]
    )
    given = np.isfinite(estimates.lead[some])
    if not given.any():
        return [influence]
    network = influence.network
    marks = {name: values[given] for name, values in network.marks.items()}
    beside = OwnerResults(store, network.games[given], network.plies[given], marks)
    name = f"{estimates.name}'s score estimate, {number_of(len(beside.games), 'position')}"
    return [influence, OwnerBaseline("gnugo_score", name, beside, {"score": estimates.lead[some][given]}, False)]


def _compared(
    key: str,
    name: str,
    store: Store,
    session: NetworkSession,
    games: NDArray[np.int64],
    plies: NDArray[np.int64],
    chance: NDArray[np.float32],
) -> OwnerBaseline:
    """Return a predictor of probabilities, with the network's results on the same positions. chance: [n, 361], its
    predictions.
    """
    owners = owners_of(store)
    batch = Batch(*store.replay(games, plies), games, plies)
    own = count_points(chance, owners[games], colours_of(batch.codes), batch.state[:, SIZE])
    network = OwnerResults(store, games, plies, measure(session, owners, batch))
    return OwnerBaseline(key, f"{name}, {number_of(len(games), 'position')}", network, own, True)


def as_baselines(baselines: list[OwnerBaseline]) -> dict[str, Any]:
    """Return the dict "baselines" of a result. A key is the key of a baseline (a simpler predictor). Its value is the
    accuracy of the baseline, made by `kibitz.evaluation.baselines.baseline`. Baselines that predict no owners are
    omitted.

    If a baseline was not tested on all positions of the test, a second entry is the network's accuracy on the same
    positions. The key of this entry is "network_beside_" with the baseline's key.
    """
    figures: dict[str, Any] = {}
    for one in filter(lambda each: each.names_owners, baselines):
        figures[one.key] = baseline(one.name, one.network.accuracy(of=one.own))
        if one.network is not baselines[0].network:
            same = f"the network, the same {number_of(len(one.network.games), 'position')}"
            figures[f"network_beside_{one.key}"] = baseline(same, one.network.accuracy())
    return figures


def table(baselines: list[OwnerBaseline]) -> Table:
    """Return a table with all results of each baseline. Below each baseline, a row contains the network's results on
    the same positions.
    """
    rows: list[list[Cell]] = []
    for one in baselines:
        for name, own, chances in ((one.name, one.own, one.chances), ("the network, the same", None, True)):
            rows.append(
                [
                    name,
                    one.network.accuracy(of=own) if own is None or one.names_owners else None,
                    one.network.squared_error(of=own) if chances else None,
                    one.network.score_error(of=own),
                    one.network.winner_accuracy(score=own["score"] if own else None),
                    len(one.network.games),
                ]
            )
    return Table(
        "Compared with baselines",
        f"Playouts and GNU Go evaluate every {EVERY}th position, from the first on; the network's row below each is "
        "on the same positions. GNU Go's influence is its predicted territory. Its score estimate is a number of "
        "points only; kibitz adds the stones played, to count area as the network does.",
        "predictor",
        [
            Column("points right"),
            Column("squared error", "error"),
            Column("score error", "score"),
            Column("winner accuracy"),
            Column("positions", "count"),
        ],
        rows,
    )
