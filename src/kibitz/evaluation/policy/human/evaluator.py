"""The evaluation of `human`: moves and results by rating, the value of its side inputs, and of a lost piece."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from kibitz.evaluation import EvalConfig, OnProgress
from kibitz.evaluation.baselines import StockfishBaseline
from kibitz.evaluation.batches import sample_indices
from kibitz.evaluation.games import Chosen, bundled_note, describe
from kibitz.evaluation.policy.handicaps import handicaps
from kibitz.evaluation.policy.human.baselines import baselines
from kibitz.evaluation.policy.human.by_rating import moves_by_rating, results_by_rating
from kibitz.evaluation.policy.human.results import BANDS, HumanResults, RatedSession, band_name, evaluate_positions
from kibitz.evaluation.policy.human.samples import samples
from kibitz.evaluation.policy.human.side_inputs import by_asked_rating, with_other_inputs
from kibitz.evaluation.slices import PHASES, per_speed, slices_as_json
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.stats import reliability, slices
from kibitz.store.positions import Positions
from kibitz.store.store import Store

OPENING = 20
"""Plies of the opening."""
COMPARED = 100_000
"""Most positions that are evaluated again: with other ratings, without any, and with another network."""
PLIES = (0, OPENING, 40, 60, 80, np.inf)

MAIN = ("accuracy", "accuracy_at_3", "accuracy_at_5", "log_loss", "perplexity", "winner_accuracy")
"""Figures that the first table shows."""

TEXTS = {
    "baselines": "How often simpler ways to answer name the move that was played. Where one was asked about some of "
    "the positions only, the network's figure on those very positions stands below it.",
    "by": "How often the likeliest legal move is the move that was played; the rating is the mover's. The "
    "dashed line is the accuracy over all positions.",
    "calibration": "When the network gives its first choice a probability, how often is that move played?",
    "gallery": "Positions in which a player of 1200 and one of 2200 are expected to play differently. The "
    "probability is that of the move that the stronger one is expected to play, when the weaker one is asked.",
    "mistakes": "Where the network was surest of a move, and another was played.",
}


def evaluate(
    run: Run, store: Store, chosen: Chosen, config: EvalConfig, on_progress: OnProgress, log: Callable[[str], None]
) -> dict[str, Any]:
    """The system's part of a result, see `kibitz.evaluation.Evaluation`."""
    session = Session(run)
    positions = Positions(store, chosen.games, last=-2)
    indices = sample_indices(positions, config.positions, config.seed)
    progress = functools.partial(on_progress, "positions")
    results = evaluate_positions(RatedSession(session, store), positions, indices, progress)
    data = describe(store, chosen, len(indices), len(positions))
    if text := note(results, chosen):
        data["note"] = text
    figures, table = moves_by_rating(results)
    tables = [table]
    if "win" in results.marks:
        more, table = results_by_rating(results)
        figures |= more
        tables.append(table)
    subset = np.sort(np.random.default_rng(config.seed).permutation(len(indices))[:COMPARED])
    more, table = with_other_inputs(results, subset, config.seed, on_progress)
    figures |= more
    tables.append(table)
    stockfish = StockfishBaseline(config, session.threads, on_progress, log)
    simpler, its_tables = baselines(run, results, subset, stockfish, log, on_progress)
    tables += [*its_tables, *by_asked_rating(results, config.seed, on_progress)]
    more, table = handicaps(session, store, chosen.games, config.seed)
    figures |= more
    tables.append(table)
    return {
        "data": data,
        "headline": "accuracy",
        "main": [name for name in MAIN if name in figures],
        "figures": figures,
        "by": per_slice(results),
        "baselines": simpler,
        "calibration": reliability(results.marks["surest"], results.right, results.groups),
        "tables": tables,
        "texts": TEXTS,
        **samples(results, config.seed),
    }


def note(results: HumanResults, chosen: Chosen) -> str | None:
    """Notes on the figures."""
    if bundled := bundled_note(results.store, chosen.games):
        return bundled
    share = float(np.mean((results.rating > 0) & (results.opponent > 0)))
    if share == 1:
        return None
    return f"Both ratings are known in {share:.1%} of these positions; elsewhere the network was told none."


def per_slice(results: HumanResults) -> dict[str, list[dict[str, Any]]]:
    """Accuracy over parts of the positions; parts without any are left out."""
    right, groups = results.right, results.groups
    labels = [band_name(low, high) for low, high in itertools.pairwise(BANDS)]
    tables = {
        "rating": slices(right, groups, np.where(results.rating > 0, results.rating, -1), edges=BANDS, labels=labels),
        "ply": slices(right, groups, results.plies, edges=PLIES),
        "opening": slices(
            right, groups, (results.plies >= OPENING).astype(int), labels=(f"first {OPENING} plies", "after")
        ),
        "phase": slices(right, groups, results.marks["phase"], labels=PHASES),
        "side to move": slices(right, groups, results.marks["side"], labels=("White", "Black")),
    }
    return slices_as_json(tables | per_speed(right, groups, results.store, results.games))
