"""The test of the system (kind of network) `gohuman`: predicted moves by move number and rank, winner, territory,
score, and evaluation volatility.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation import EvalConfig, OnProgress
from kibitz.evaluation.baselines import baseline
from kibitz.evaluation.batches import evaluate_in_batches, sample_indices
from kibitz.evaluation.games import Chosen, bundled_note, describe
from kibitz.evaluation.owners import evaluator as owners
from kibitz.evaluation.owners.results import OwnerResults, measure
from kibitz.evaluation.owners.volatility import followed, volatility
from kibitz.evaluation.policy.gohuman.results import ConditionedSession, GoResults, black_results
from kibitz.evaluation.rows import (
    MOVE,
    WINNER,
    EligiblePositions,
    Rows,
    make_rows,
    measure_in_batches,
    move_loss,
    winner_right,
)
from kibitz.evaluation.slices import slices_as_json
from kibitz.evaluation.tables import Cell, Column, Metric, Metrics, Table, metrics
from kibitz.games.go.ranks import value_or_nan
from kibitz.games.go.replay import SIDE
from kibitz.games.go.sides import SERVERS, server_byte
from kibitz.play.go.ownership import SymmetryAverage
from kibitz.play.session import NetworkSession, Session
from kibitz.runs import Run
from kibitz.stats import ClusterBootstrap, Estimate, log_loss, reliability, slices
from kibitz.store.positions import Batch, Positions
from kibitz.store.store import Store

MOVES = (0, 20, 50, 100, 150, 200, 250, np.inf)
"""The limits of the groups of positions by the number of moves played."""
CHANCES = 10
"""The number of bins (ranges) of the win probability for the calibration error."""
MAIN = (
    "accuracy", "accuracy_at_3", "accuracy_at_5", "log_loss", "winner_accuracy", "owners_accuracy",
    "owners_score_error", "evaluation_volatility",
)  # fmt: skip
"""The names of the metrics in the first table."""

TEXTS = {
    "by": "Top-1 accuracy by the rank of the player to move. The dashed line is the accuracy over all positions.",
    "calibration": "The predicted probability of the top-1 move, and how often this move was played.",
}


def evaluate(
    run: Run, store: Store, chosen: Chosen, config: EvalConfig, on_progress: OnProgress, log: Callable[[str], None]
) -> dict[str, Any]:
    """Test a network on games of a store, and return the results as a dict. `kibitz.evaluation.Evaluation.evaluate`
    explains the arguments and the keys of the dict.

    Moves and winners are tested on positions of all games. Territory and score are tested on positions of the games
    whose final territory is known, in the same way as for `gocnn`.
    """
    session: NetworkSession = SymmetryAverage(Session(run)) if config.all_symmetries else Session(run)
    conditioned = ConditionedSession(session, store)
    positions = Positions(store, chosen.games, last=-2)
    indices = sample_indices(positions, config.positions, config.seed)
    progress = functools.partial(on_progress, "moves")
    marks = evaluate_in_batches(positions, indices, conditioned.measure, progress, owners.BATCH_SIZE)
    results = GoResults(store, *positions.locate(indices), marks)
    data = describe(store, chosen, len(indices), len(positions))
    if text := bundled_note(store, chosen.games):
        data["note"] = text
    figures, tables = move_figures(results) | winner_figures(results), [winners(results)]
    more, table = owner_figures(conditioned, chosen.games, config, on_progress)
    if table:
        figures |= more
        tables.append(table)
    else:
        log("no game has territory labels, so territory and score are not tested")
    progress = functools.partial(on_progress, "games")
    figures |= volatility(store, followed(chosen.games, config.positions), conditioned.judge, progress)
    return {
        "data": data,
        "headline": "accuracy",
        "main": [name for name in MAIN if name in figures],
        "figures": figures,
        "by": per_slice(results),
        "baselines": {
            "a_random_empty_point": baseline(
                "a random empty point or a pass", results.groups.mean(1 / (1.0 + marks["empty"]))
            )
        },
        "calibration": reliability(marks["surest"], results.right, results.groups),
        "tables": tables,
        "texts": TEXTS,
        "rows": _rows(results, MOVE),
    }


def row_questions(run: Run) -> tuple[str, ...]:
    """Return the names of the quantities by which the network can be compared with other networks, such as "move"."""
    return (MOVE, WINNER)


def eligible(run: Run, store: Store, games: NDArray[np.int64], question: str | None) -> EligiblePositions:
    """Return the positions on which the network can be tested: those in which a move was played.

    games: int64 [k], indices in the store. question: the predicted quantity, such as "move"; None for all positions
    that `kibitz test` samples from. For "winner", drawn games and games that were not decided on the board are
    excluded.
    """
    if question == WINNER:
        games = games[black_results(store)[games] != 0]
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
    position. question: the predicted quantity, such as "move".
    """
    conditioned = ConditionedSession(Session(run), store)
    marks = measure_in_batches(store, games, plies, conditioned.measure, on_progress, owners.BATCH_SIZE)
    return _rows(GoResults(store, games, plies, marks), question)


def _rows(results: GoResults, question: str) -> Rows:
    marks = results.marks
    if question == MOVE:
        return make_rows(MOVE, results.games, results.plies, results.right, move_loss(marks["chance"]))
    won = results.result > 0
    right, loss = winner_right(marks["win"], won), log_loss(marks["win"], won)
    return make_rows(WINNER, results.games, results.plies, right, loss, among=results.result != 0)


def move_figures(results: GoResults) -> Metrics:
    """Return a dict of metrics of the predicted moves: top-1, top-3 and top-5 accuracy, and the log loss in nats."""
    groups, rank = results.groups, results.marks["rank"]
    shares = {"accuracy": rank == 1, "accuracy_at_3": rank <= 3, "accuracy_at_5": rank <= 5}
    loss = move_loss(results.marks["chance"])
    return metrics("share", {name: groups.mean(right) for name, right in shares.items()}) | {
        "log_loss": Metric(groups.mean(loss), "number")
    }


def winner_figures(results: GoResults) -> Metrics:
    """Return a dict of metrics of the predicted winner: how often the predicted winner won, the log loss in nats, and
    the calibration error of the win probability.

    The metrics use only games that were decided on the board. Without such games, the dict is empty.
    """
    groups, win, won, decided = _winners(results)
    if not decided.any():
        return {}
    return {
        "winner_accuracy": Metric(groups.mean(winner_right(win, won), decided, score=True)),
        "winner_log_loss": Metric(groups.mean(log_loss(win, won), decided), "number"),
        "winner_calibration_error": Metric(_off(results, decided), "number"),
    }


def _winners(results: GoResults) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the bootstrap, the mover's win probability, whether the mover won, and a mask of positions in decided
    games.
    """
    return results.groups, results.marks["win"], results.result > 0, results.result != 0


def _off(results: GoResults, mask: NDArray[np.bool_]) -> Estimate:
    """Return the calibration error of the win probability, over bins of this probability, in the positions of a
    mask.
    """
    some = ClusterBootstrap(results.games[mask])
    return some.calibration_error(results.marks["win"][mask], results.result[mask] > 0, CHANCES)


def winners(results: GoResults) -> Table:
    """Return a table with the accuracy, log loss and calibration error of the predicted winner, by move number."""
    groups, win, won, decided = _winners(results)
    rows: list[list[Cell]] = []
    for low, high in itertools.pairwise(MOVES):
        here = decided & (results.plies >= low) & (results.plies < high)
        if here.any():
            name = f"{low:g} to {high - 1:g}" if np.isfinite(high) else f"{low:g} and over"
            rows.append([
                name, groups.mean(winner_right(win, won), here, score=True), groups.mean(log_loss(win, won), here),
                _off(results, here), int(here.sum()),
            ])  # fmt: skip
    return Table(
        "Winner prediction",
        "How often the side with the higher win probability won, by the number of moves played; log loss in nats, "
        "0.693 for even probabilities; and the expected calibration error, over tenths. Forfeits are excluded.",
        "moves",
        [
            Column("winner accuracy"), Column("log loss", "number"), Column("calibration error", "number"),
            Column("positions", "count"),
        ],
        rows,
    )  # fmt: skip


def owner_figures(
    conditioned: ConditionedSession, games: NDArray[np.int64], config: EvalConfig, on_progress: OnProgress
) -> tuple[Metrics, Table | None]:
    """Return a dict of metrics of the predicted territory and score, and a table of these metrics. The metrics are
    those of `gocnn`, with names that begin with "owners_".

    The metrics use all positions of the games whose final territory is known. If there are no such games, the dict is
    empty and the table is None. A further metric, "score_lead_error", is the error of the directly predicted score,
    compared with the recorded score.

    conditioned: the network. games: int64 [k], indices in the store. config: the settings of the test.
    """
    store = conditioned.store
    final = store.per_game("owner")
    known = games[np.array([label is not None for label in store.column("labels")], np.bool_)[games]]
    if final is None or not len(known):
        return {}, None
    positions = Positions(store, known)
    indices = sample_indices(positions, config.positions, config.seed)
    progress = functools.partial(on_progress, "owners")
    margin = store.column("margin") * np.sign(store.column("result"))

    def measured(batch: Batch) -> dict[str, NDArray[Any]]:
        batch = conditioned.with_conditions(batch)
        answers = conditioned.session.evaluate(batch.codes, batch.state)
        black = np.where(batch.state[:, SIDE] == 0, 1.0, -1.0)
        off = np.abs(black * answers["lead"] - np.nan_to_num(margin[batch.games]))
        return {**measure(_Answered(answers), final, batch), "lead_off": off}

    marks = evaluate_in_batches(positions, indices, measured, progress, owners.BATCH_SIZE)
    results = OwnerResults(store, *positions.locate(indices), marks)
    figures = {f"owners_{name}": metric for name, metric in owners.figures(results).items()}
    counted = np.isfinite(margin[results.games])
    if counted.any():
        figures["score_lead_error"] = Metric(results.groups.mean(marks["lead_off"], counted), "score")
    return figures, owners.through(results)


class _Answered:
    """Replaces a session: returns predictions that were computed before."""

    def __init__(self, answers: dict[str, NDArray[np.float32]]):
        self.outputs, self._answers = tuple(answers), answers

    def evaluate(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> dict[str, NDArray[np.float32]]:
        return self._answers


def per_slice(results: GoResults) -> dict[str, list[dict[str, Any]]]:
    """Return a dict from names to tables (lists of rows) of the accuracy on groups of positions, such as those on 9 ×
    9. Empty groups, and tables with a single group, are omitted.
    """
    store, groups, right = results.store, results.groups, results.right
    side = results.marks["side"].astype(np.int64)
    ranks = np.stack([
        np.array([value_or_nan(rank) for rank in store.column(f"{colour}_rank")], np.float64)
        for colour in ("black", "white")
    ])  # fmt: skip
    servers = np.array([server_byte(server_tag) for server_tag in store.column("place")])
    labels = ["not named", *SERVERS[1:]]
    tables = {
        "move number": slices(right, groups, results.plies, edges=MOVES),
        "rank": slices(right, groups, ranks[side, results.games], edges=owners.RANKS, labels=owners.RANK_WORDS),
        "board": slices(
            right, groups, results.marks["size"].astype(np.int64), edges=(9, 13, 19, 20), labels=("9", "13", "19")
        ),
        "server": slices(right, groups, servers[results.games], labels=labels),
        "handicap": slices(
            right, groups, store.column("handicap")[results.games].astype(np.int64), edges=(0, 1, 4, 7, np.inf)
        ),
        "side to move": slices(right, groups, side, labels=("Black", "White")),
    }
    return {name: rows for name, rows in slices_as_json(tables).items() if len(rows) > 1}
