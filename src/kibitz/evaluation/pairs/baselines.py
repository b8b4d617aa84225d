"""Simpler predictors with which a network that compares positions is compared: material, Stockfish, and the bundled
network `winner`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError
from kibitz.evaluation import EvalConfig, OnProgress
from kibitz.evaluation.baselines import StockfishBaseline, baseline
from kibitz.evaluation.pairs.answers import BATCH_SIZE, PairResults, preferred
from kibitz.evaluation.tables import Cell, Column, Table
from kibitz.play.session import Session
from kibitz.runs import packaged
from kibitz.systems.winner import WinnerSystem
from kibitz.text import number_of

MATERIAL = "material (ties count half)"
PAIRS = 100_000
"""The largest number of pairs on which a baseline (a simpler predictor) is tested."""
WINNER_POSITIONS = 20_000


@dataclass(frozen=True)
class PairBaseline:
    """The results of a baseline (a simpler predictor) that compares the two positions of pairs.

    key: the baseline's key in the JSON. name: the baseline's name on the result page.
    results: the network's results on the pairs that the baseline compared.
    right: [pairs], the correctness of the baseline: 1 for a right prediction, 0 for a wrong one, 0.5 for no preference.
    same: the label of the network's accuracy on the pairs of `results`, for the result page. It is None if the baseline
        compared all tested pairs.
    """

    key: str
    name: str
    results: PairResults
    right: NDArray[np.float64]
    same: str | None


def run_baselines(
    results: PairResults, config: EvalConfig, workers: int, on_progress: OnProgress, log: Callable[[str], None]
) -> list[PairBaseline]:
    """Test all baselines (simpler predictors), and return their results. If a baseline fails, it is skipped and logged.

    results: the network's results. config: the settings of the test. workers: the number of Stockfish processes.
    """
    baselines = [PairBaseline("material", MATERIAL, results, preferred(results.material_difference), None)]
    stockfish = StockfishBaseline(config, workers, on_progress, log)
    for depth, count in stockfish.depths():
        subset = part(results, count, config.seed)
        if subset is None:
            stockfish.exclude(depth, "there are too few positions for pairs")
            continue
        pairs, many = subset.pairs, len(subset.pairs.games)
        answered = stockfish.evaluations(pairs.store, pairs.games, pairs.plies, depth)
        if answered is None:
            continue
        name, evaluations = answered
        won, lost = pairs.both(np.array([evaluation.centipawns for evaluation in evaluations]))
        same = f"the network, pairs of the same {number_of(many, 'position')}"
        words = f"{name}, depth {depth}, pairs of {number_of(many, 'position')}"
        baselines.append(PairBaseline(f"stockfish_depth_{depth}", words, subset, preferred(won - lost), same))
    winner = by_winner(results, config, on_progress, log)
    return [*baselines, winner] if winner else baselines


def part(results: PairResults, positions: int, seed: int, among: NDArray[np.bool_] | None = None) -> PairResults | None:
    """Sample some of the tested positions, and return the network's results for new pairs of them; None if no pair can
    be made.

    positions: the largest number of positions, half of them from games that White won, and half from games that Black
    won. among: bool [positions], the positions to sample from; None for all.
    """
    pairs = results.pairs
    white_won = pairs.store.column("result")[pairs.games] > 0
    rng = np.random.default_rng(seed)
    chosen = []
    for kind in (white_won, ~white_won):
        numbers = np.flatnonzero(kind if among is None else kind & among)
        chosen.append(rng.permutation(numbers)[: max(1, positions // 2)])
    return results.of_some(np.sort(np.concatenate(chosen)), PAIRS, seed)


def by_winner(
    results: PairResults, config: EvalConfig, on_progress: OnProgress, log: Callable[[str], None]
) -> PairBaseline | None:
    """Test the bundled network `winner` as a baseline: it prefers the position with the higher win probability for
    White. If the network is missing or no position can be tested, log the reason and return None.

    This test uses only games that neither the tested network nor `winner` has used in training.
    """
    name = WinnerSystem.name
    if name not in packaged():
        log(f"the comparator '{name}' is skipped: this bundled network is missing")
        return None
    try:
        session = Session(name)
        pairs = results.pairs
        unseen = session.run.unseen_games(pairs.store, pairs.games)
    except KibitzError as error:
        log(f"the comparator '{name}' is skipped: {error}")
        return None
    subset = part(results, WINNER_POSITIONS, config.seed, unseen)
    if subset is None:
        log(f"the comparator '{name}' is skipped: it has seen these games")
        return None
    of = subset.pairs
    many = len(of.games)
    chance = np.empty(many, np.float32)
    for start in range(0, many, BATCH_SIZE):
        batch = slice(start, start + BATCH_SIZE)
        chance[batch] = session.evaluate(*of.store.replay(of.games[batch], of.plies[batch]))["white_wins"]
        on_progress(f"the network {name}", min(start + BATCH_SIZE, many), many)
    won, lost = of.both(chance)
    words = f"{name} compares both positions, pairs from {number_of(many, 'position')}"
    same = f"the network, the same pairs as {name}"
    return PairBaseline(name, words, subset, preferred(won - lost), same)


def as_baselines(others: list[PairBaseline]) -> dict[str, Any]:
    """Return the "baselines" of a result: a dict from the key of each baseline (a simpler predictor) to its accuracy.
    If a baseline was tested on only some of the pairs, a second entry is the network's accuracy on the same pairs.
    """
    entries = {}
    for one in others:
        groups = one.results.groups
        entries[one.key] = baseline(one.name, groups.mean(one.right, score=True))
        if one.same:
            entries[f"network_beside_{one.key}"] = baseline(one.same, groups.mean(one.results.main.right, score=True))
    return entries


def table(others: list[PairBaseline]) -> Table:
    """Return the table of the baselines. Each row has the accuracy of the baseline and of the network on the same
    pairs, and two differences.

    The differences are the network's accuracy minus the baseline's, and the baseline's accuracy minus the accuracy of
    the material baseline.
    """
    rows: list[list[Cell]] = []
    for one in others:
        groups, network = one.results.groups, one.results.main.right
        of_material = (
            groups.difference(one.right, preferred(one.results.material_difference)) if one.name != MATERIAL else None
        )
        ahead = groups.difference(network, one.right)
        rows.append(
            [one.name, *groups.means([one.right, network], score=True), ahead, of_material, len(one.results.pairs)]
        )
    return Table(
        "Compared with baselines",
        "How often each prefers the position of the game that White won. Differences are in percentage points on the "
        "same pairs: the network minus the baseline, and the baseline minus material.",
        "baseline",
        [
            Column("accuracy"),
            Column("network"),
            Column("difference", "points"),
            Column("minus material", "points"),
            Column("pairs", "count"),
        ],
        rows,
    )
