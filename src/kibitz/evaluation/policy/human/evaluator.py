"""The test of the system (kind of network) `human`: predicted moves and game results by rating, the effect of the
rating inputs, and the expected score after the loss of a piece.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation import EvalConfig, OnProgress
from kibitz.evaluation.baselines import StockfishBaseline
from kibitz.evaluation.batches import sample_indices
from kibitz.evaluation.games import Chosen, bundled_note, describe
from kibitz.evaluation.policy.handicaps import handicaps
from kibitz.evaluation.policy.human.baselines import baselines
from kibitz.evaluation.policy.human.by_rating import moves_by_rating, results_by_rating
from kibitz.evaluation.policy.human.results import (
    BANDS,
    HumanResults,
    Marks,
    RatedSession,
    band_name,
    evaluate_positions,
    winner_right,
)
from kibitz.evaluation.policy.human.samples import samples
from kibitz.evaluation.policy.human.side_inputs import by_input_rating, with_other_inputs
from kibitz.evaluation.rows import (
    MOVE,
    WINNER,
    EligiblePositions,
    Rows,
    make_rows,
    measure_in_batches,
    move_loss,
)
from kibitz.evaluation.slices import PHASES, per_speed, slices_as_json
from kibitz.games.chess.replay import SIDE
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.stats import log_loss, reliability, slices
from kibitz.store.positions import Batch, Positions
from kibitz.store.store import Store

OPENING = 20
"""The number of plies (moves of one side) that count as the opening of a game."""
COMPARED = 100_000
"""The largest number of positions in tests that evaluate the positions again: with other ratings, without ratings, and
with another network.
"""
PLIES = (0, OPENING, 40, 60, 80, np.inf)

MAIN = ("accuracy", "accuracy_at_3", "accuracy_at_5", "log_loss", "perplexity", "winner_accuracy")
"""The names of the metrics in the first table."""

TEXTS = {
    "baselines": "Top-1 accuracy of simpler predictions. If a baseline has fewer positions, the row below it shows the"
    " network on the same positions.",
    "by": "Top-1 accuracy by the rating of the player to move. The dashed line is the accuracy over all positions.",
    "calibration": "The predicted probability of the top-1 move, and how often this move was played.",
    "gallery": "Positions in which the most likely move differs between ratings of 1200 and 2200. The percentage is the"
    " probability that the weaker player plays the stronger player's most likely move.",
    "mistakes": "Positions in which the network was most confident of a move, and another move was played.",
}


def evaluate(
    run: Run, store: Store, chosen: Chosen, config: EvalConfig, on_progress: OnProgress, log: Callable[[str], None]
) -> dict[str, Any]:
    """Test a network on games of a store, and return the results as a dict. `kibitz.evaluation.Evaluation.evaluate`
    explains the arguments and the keys of the dict.
    """
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
    tables += [*its_tables, *by_input_rating(results, config.seed, on_progress)]
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
        "rows": make_rows(MOVE, results.games, results.plies, results.right, move_loss(results.marks["chance"])),
    }


def row_questions(run: Run) -> tuple[str, ...]:
    """Return the names of the quantities by which the network can be compared with other networks: "move" and, if the
    network predicts results, "winner".
    """
    return (MOVE, WINNER) if "outcome" in Session(run).outputs else (MOVE,)


def eligible(run: Run, store: Store, games: NDArray[np.int64], question: str | None) -> EligiblePositions:
    """Return the positions on which the network can be tested: those in which a move was played.

    games: int64 [k], indices in the store. question: the predicted quantity, "move" or "winner"; None for all positions
    that `kibitz test` samples from. For "winner", drawn games are excluded.
    """
    if question == WINNER:
        games = games[store.column("result")[games] != 0]
    return EligiblePositions(Positions(store, games, last=-2))


def measure_rows(
    run: Run,
    store: Store,
    games: NDArray[np.int64],
    plies: NDArray[np.int64],
    question: str,
    on_progress: Callable[[int, int], None],
) -> Rows:
    """Evaluate positions of a store, and return the result of each position, see `kibitz.evaluation.rows.Rows`.

    games, plies: int64 [n], the positions: the index of a game in the store, and the number of moves before the
    position. question: the predicted quantity, "move" or "winner". For "winner", the loss uses only the predicted
    probabilities of win and loss.
    """
    rated = RatedSession(Session(run), store)

    def measure(batch: Batch) -> Marks:
        return rated.measure(batch, rated.full_state(batch)) | {"side": batch.state[:, SIDE]}

    marks = measure_in_batches(store, games, plies, measure, on_progress)
    if question == MOVE:
        return make_rows(MOVE, games, plies, marks["rank"] == 1, move_loss(marks["chance"]))
    result = store.column("result")[games].astype(np.int64) * (1 - 2 * marks["side"].astype(np.int64))
    decided = np.maximum(marks["win"] + marks["loss"], 1e-9)
    return make_rows(WINNER, games, plies, winner_right(marks, result), log_loss(marks["win"] / decided, result > 0))


def note(results: HumanResults, chosen: Chosen) -> str | None:
    """Return remarks for readers of the result page, as text; None if there are none."""
    if bundled := bundled_note(results.store, chosen.games):
        return bundled
    share = float(np.mean((results.rating > 0) & (results.opponent > 0)))
    if share == 1:
        return None
    return f"Both ratings are known in {share:.1%} of these positions. In the others, the network gets no rating."


def per_slice(results: HumanResults) -> dict[str, list[dict[str, Any]]]:
    """Return a dict from names to tables (lists of rows) of the accuracy on groups of positions, such as those in one
    phase of the game. Empty groups are omitted.
    """
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
