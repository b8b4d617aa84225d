"""The test of the systems (kinds of networks) `convchess` and `chessnet`, which predict moves.

A run (the folder of a trained network) contains several networks. Each network predicts one square of a move, or the
result of the game. Some tables are about each single network, and other tables are about complete moves with both
squares. The tables are those of the papers about the two systems.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError
from kibitz.evaluation import EvalConfig, OnProgress
from kibitz.evaluation.baselines import StockfishBaseline, baseline
from kibitz.evaluation.batches import evaluate_in_batches, sample_indices
from kibitz.evaluation.games import Chosen, bundled_note, describe
from kibitz.evaluation.policy.heatmaps import heat_maps
from kibitz.evaluation.policy.metrics import PolicyResults, measure, played_in, with_side_inputs
from kibitz.evaluation.policy.openings import opening_moves
from kibitz.evaluation.policy.topk import questions, selectors, whole_moves
from kibitz.evaluation.policy.value_head import LEFT, LEFT_WORDS, left, valued
from kibitz.evaluation.positions.tsne import landscape
from kibitz.evaluation.rows import (
    MOVE,
    WINNER,
    EligiblePositions,
    Rows,
    make_rows,
    measure_in_batches,
    move_loss,
)
from kibitz.evaluation.slices import PHASES, per_rating, per_speed, slices_as_json
from kibitz.evaluation.tables import Metrics, Table
from kibitz.external.uci import EngineEvaluation
from kibitz.games.chess.moves import to_move
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.stats import ClusterBootstrap, log_loss, slices
from kibitz.store.positions import Batch
from kibitz.store.store import Store
from kibitz.systems.movers import system as movers
from kibitz.systems.movers.nets import PIECES, VALUE
from kibitz.text import number_of

MOVES = (1, 6, 11, 16, 21, 31, 41, 61, np.inf)
"""The limits of the groups of positions by move number."""

MAIN = (
    "accuracy", "accuracy_at_3", "accuracy_at_5", "accuracy_at_10", "log_loss", "top_move_accuracy", "move_rank",
    "sign_accuracy", "value_squared_error", "material_correlation",
)  # fmt: skip
"""The names of the metrics that the first table shows, because no other table contains them."""

TEXTS = {
    "accuracy": "Top-1 accuracy among the legal moves, with all promotions counted as promotions to a queen."
    " The rating is that of the player to move. The dashed line is the accuracy over all"
    " positions.",
    "sign_accuracy": "How often the value's sign predicts the winner, in decisive games. Material is in pawns,"
    " for the player to move. The dashed line is the accuracy over all positions.",
}


def evaluate(
    run: Run, store: Store, chosen: Chosen, config: EvalConfig, on_progress: OnProgress, log: Callable[[str], None]
) -> dict[str, Any]:
    """Test a network on games of a store, and return the results as a dict. `kibitz.evaluation.Evaluation.evaluate`
    explains the arguments and the keys of the dict.

    The main metric depends on the networks in the run (the folder of a trained network):

    - If the run has all networks that are needed for complete moves (`PolicyResults.whole`), the main metric is the
      accuracy of complete moves.
    - If some of these networks are missing, the main metric is the accuracy of the first network that predicts a
      square.
    - If the run has only the value network, the main metric is how often the sign of the value predicts the winner.
    """
    session = Session(run)
    results, data = _evaluate_positions(run, session, store, chosen, config, on_progress)
    if note := _note(run.info["system"], results, chosen):
        data["note"] = note
    figures, tables = _figures(results, on_progress)
    headline, right, among = _headline(results)
    stockfish = StockfishBaseline(config, session.threads, on_progress, log)
    result: dict[str, Any] = {
        "data": data,
        "headline": headline,
        "main": [headline, *(name for name in MAIN if name in figures and name != headline)],
        "figures": figures,
        "by": per_slice(results, right, among),
        "baselines": baselines(results, stockfish),
        "tables": tables,
        "texts": {
            "by": TEXTS.get(headline, "The same measure over parts of the positions."),
            "baselines": "Accuracy of simpler predictions. If a baseline has fewer positions, the row below"
            " it shows the network on the same positions.",
        },
    }
    result["rows"] = _rows(results, row_questions(run)[0])
    if results.whole:
        tables += opening_moves(session, store, chosen.games)
        result["heat_maps"] = heat_maps(session, results, config.seed)

    def pictures() -> dict[str, Any]:
        on_progress("landscape", 0, 1)
        picture = landscape(run, session, results, config.seed, log)
        on_progress("landscape", 1, 1)
        return {"landscape": picture} if picture else {}

    result["pictures"] = pictures
    return result


def _evaluate_positions(
    run: Run, session: Session, store: Store, chosen: Chosen, config: EvalConfig, on_progress: OnProgress
) -> tuple[PolicyResults, dict[str, Any]]:
    """Return the results, and the "data" of the result. Raises KibitzError if no move is left to test on."""
    settings: movers.Settings = run.settings
    names = movers.selected_networks(settings, run.system.networks)
    moves = _tested_moves(run, store, chosen.games)
    if not len(moves):
        raise KibitzError(
            f"{store.path}: all test moves are by players rated under {settings.min_rating}, and {run.info['system']}"
            " does not use such moves. Choose another store."
        )
    sample = sample_indices(moves, config.positions, config.seed)
    data = describe(store, chosen, len(sample), len(moves))
    if low := len(moves.positions) - len(moves):
        data["split"] += f"; {number_of(low, 'move')} of players rated under {settings.min_rating} excluded"

    def marks_of(batch: Batch) -> dict[str, NDArray[Any]]:
        answers = session.evaluate(batch.codes, with_side_inputs(session, settings, store, batch))
        return measure(answers, batch, played_in(store, batch.games, batch.plies))

    indices = sample if moves.chosen is None else moves.chosen[sample]
    progress = functools.partial(on_progress, "positions")
    marks = evaluate_in_batches(moves.positions, indices, marks_of, progress)
    games, plies = moves.positions.locate(indices)
    by_square = _by_square(session)
    return PolicyResults(store, settings, names, by_square, games, plies, ClusterBootstrap(games), marks), data


def row_questions(run: Run) -> tuple[str, ...]:
    """Return the names of the quantities by which the network can be compared with other networks, such as "move"."""
    names = movers.selected_networks(run.settings, run.system.networks)
    if set(movers.SELECTORS) <= set(names):
        return (MOVE, WINNER) if VALUE in names else (MOVE,)
    if names == (VALUE,):
        return (WINNER,)
    own = "origin" if "piece" in names else next(name for name in PIECES if name in names)
    by_square = "" if "piece" in names or not _by_square(Session(run)) else "_from_square"
    return (f"{own}{by_square}_accuracy",)


def eligible(run: Run, store: Store, games: NDArray[np.int64], question: str | None) -> EligiblePositions:
    """Return the positions on which the network can be tested: those in which a move was played, except moves of
    players whose rating is too low for the network's training.

    games: int64 [k], indices in the store. question: the predicted quantity, such as "move"; None for all positions
    that `kibitz test` samples from. For "winner", drawn games are excluded.
    """
    if question == WINNER:
        games = games[store.column("result")[games] != 0]
    moves = _tested_moves(run, store, games)
    return EligiblePositions(moves.positions, moves.chosen)


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
    session, settings = Session(run), run.settings
    names = movers.selected_networks(settings, run.system.networks)

    def marks_of(batch: Batch) -> dict[str, NDArray[Any]]:
        answers = session.evaluate(batch.codes, with_side_inputs(session, settings, store, batch))
        return measure(answers, batch, played_in(store, batch.games, batch.plies))

    marks = measure_in_batches(store, games, plies, marks_of, on_progress)
    groups = ClusterBootstrap(games)
    results = PolicyResults(store, settings, names, _by_square(session), games, plies, groups, marks)
    return _rows(results, question)


def _rows(results: PolicyResults, question: str) -> Rows:
    """Return the rows of a test for the positions to which the question applies."""
    if question == MOVE:
        return make_rows(MOVE, results.games, results.plies, results.right, move_loss(results.marks["chance"]))
    if question == WINNER:
        value, won = results.marks["value"], results.result > 0
        loss = log_loss((1 + value.astype(np.float64)) / 2, won)
        return make_rows(WINNER, results.games, results.plies, (value > 0) == won, loss, among=results.result != 0)
    _, right, among = _headline(results)
    return make_rows(question, results.games, results.plies, right, among=among)


def _tested_moves(run: Run, store: Store, games: NDArray[np.int64]) -> movers.MoveExamples:
    """Return all moves of these games that a test may use."""
    settings: movers.Settings = run.settings
    names = movers.selected_networks(settings, run.system.networks)
    tested = replace(settings, games=0, moves=0, min_rating=settings.min_rating if names != (VALUE,) else 0)
    return movers.MoveExamples(store, games, tested)


def _by_square(session: Session) -> bool:
    """Return whether the network predicts targets by origin square (otherwise by type of piece)."""
    answers = session.evaluate(np.empty((0, 64), np.uint8), np.empty((0, 4), np.uint8))
    return "target" in answers and answers["target"].shape[1] == 64


def _figures(results: PolicyResults, on_progress: OnProgress) -> tuple[Metrics, list[Table]]:
    """Return all metrics by name, and the tables."""
    parts = [selectors]
    if results.whole:
        parts.insert(0, whole_moves)
    if VALUE in results.names:
        parts.append(valued)
    figures: Metrics = {}
    tables: list[Table] = []
    for done, part in enumerate(parts):
        on_progress("figures", done, len(parts))
        more, its_tables = part(results)
        figures |= more
        tables += its_tables
    on_progress("figures", len(parts), len(parts))
    # the table of special moves is the last one
    return figures, sorted(tables, key=lambda table: table.title == "Special moves")


def _headline(results: PolicyResults) -> tuple[str, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the headline's name and two masks, bool [n] each: where the network is right, and to which positions the
    headline applies.
    """
    every = np.ones(len(results.games), np.bool_)
    if results.whole:
        return "accuracy", results.right, every
    if results.names == (VALUE,):
        decided = results.result != 0
        return "sign_accuracy", (results.marks["value"] > 0) == (results.result > 0), decided
    key, _, mask, piece = questions(results)[0]
    among = every if piece is None else results.marks["piece"] == piece
    return f"{key}_accuracy", results.marks[f"{mask}_rank"] == 1, among


def _note(system: str, results: PolicyResults, chosen: Chosen) -> str:
    """Return notes on the results. system: the name of the run's system."""
    lines = []
    if bundled := bundled_note(results.store, chosen.games):
        lines.append(bundled)
    if set(results.names) != {VALUE}:
        rating = results.mover_rating()
        if system == "convchess" and not bundled and (share := float(np.mean(rating >= 2000))) < 1:
            lines.append(
                "The paper's games are in the file FICS_2000.pgn. From this name, we read that the players are rated"
                f" 2000 or more. {share:.1%} of these moves are known to be of such players."
            )
        if not results.whole:
            lines.append(
                f"The run cannot predict complete moves, because it contains only these networks: "
                f"{', '.join(results.names)}."
            )
    if results.settings.outcome_plane:
        lines.append(
            "The network takes the result as an input plane. In this test, the input is a win for"
            " the player to move in every position."
        )
    return " ".join(lines)


# Slices


def per_slice(
    results: PolicyResults, right: NDArray[np.bool_], among: NDArray[np.bool_]
) -> dict[str, list[dict[str, Any]]]:
    """Return a dict from names to tables (lists of rows) of the main metric on groups of positions, such as those in
    one phase of the game. Empty groups are omitted.

    right: bool [n], whether the network's prediction for each position is right. among: bool [n], the positions to
    which the main metric applies.
    """
    subset = np.flatnonzero(among)
    right, games, marks = (
        right[subset],
        results.games[subset],
        {name: mark[subset] for name, mark in results.marks.items()},
    )
    groups = ClusterBootstrap(games)
    tables = {
        "move number": slices(right, groups, move_numbers(results.plies[subset], marks["side"]), edges=MOVES),
        "phase": slices(right, groups, marks["phase"], labels=PHASES),
        "piece": slices(right, groups, marks["piece"], labels=PIECES),
        "side to move": slices(right, groups, marks["side"], labels=("White", "Black")),
    }
    if VALUE in results.names and not results.whole:
        tables["plies to the end"] = slices(right, groups, left(results)[subset], edges=LEFT, labels=LEFT_WORDS)
    tables |= per_rating(right, groups, results.mover_rating()[subset])
    return slices_as_json(tables | per_speed(right, groups, results.store, games))


def move_numbers(plies: NDArray[np.int64], side: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the number of the next move in each position, int64 [n], counted from 1 as in PGN. White's move and
    Black's reply have the same number. In a game that Black began, Black's first move is move 1, and White's first move
    is move 2.

    plies: int64 [n], the number of plies played. side: uint8 [n], the side to move, 0 White, 1 Black.
    """
    black_began = side.astype(np.int64) ^ plies & 1
    return (plies + black_began) // 2 + 1


# Baselines


def baselines(results: PolicyResults, stockfish: StockfishBaseline) -> dict[str, Any]:
    """Test baselines (simpler predictors), such as Stockfish. Returns the "baselines" of the test's result: a dict with
    the main metric of each baseline, by the baseline's key.

    results: the network's results. stockfish: the object that tests Stockfish.
    """
    groups, marks = results.groups, results.marks
    if not results.whole:
        _, _, among = _headline(results)
        if results.names[0] == VALUE:
            better = np.where(marks["material"] == 0, 0.5, (marks["material"] > 0) == (results.result > 0))
            return {"material": baseline("more material (ties count half)", groups.mean(better, among))}
        _, _, mask, _ = questions(results)[0]
        square = groups.mean(1 / marks[f"{mask}_choices"], among)
        return {"random_square": baseline("a random legal square", square)}
    played = played_in(results.store, results.games, results.plies)

    def agrees(evaluations: Sequence[EngineEvaluation], subset: NDArray[np.int64]) -> NDArray[np.bool_]:
        moves = (to_move(int(move)).uci() for move in played[subset])
        return np.array([evaluation.move == move for evaluation, move in zip(evaluations, moves, strict=True)])

    random = {"random_move": baseline("a random legal move", groups.mean(1 / marks["choices"]))}
    return random | stockfish.compare(results.store, results.games, results.plies, results.right, agrees)
