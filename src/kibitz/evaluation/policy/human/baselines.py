"""Baselines, which are simpler predictors, for the system (kind of network) `human`: a random move, the bundled network
`chessnet`, the most frequent legal move, and Stockfish.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError
from kibitz.evaluation import OnProgress, own_store
from kibitz.evaluation.baselines import StockfishBaseline, baseline
from kibitz.evaluation.policy.human.results import HumanResults, Marks, ranked, rating_bands
from kibitz.evaluation.tables import Cell, Column, Table
from kibitz.external.uci import EngineEvaluation
from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.moves import to_move
from kibitz.games.chess.replay import SIDE, to_mover_view
from kibitz.play.session import Session
from kibitz.runs import Run, packaged
from kibitz.stats import ClusterBootstrap
from kibitz.store.positions import Batch
from kibitz.store.split import TRAIN
from kibitz.store.store import Store
from kibitz.text import number_of

COUNTED_GAMES = 10_000
"""The largest number of training games in which moves are counted to find the most frequent moves."""
CHESSNET = "chessnet"


def baselines(
    run: Run,
    results: HumanResults,
    subset: NDArray[np.int64],
    stockfish: StockfishBaseline,
    log: Callable[[str], None],
    on_progress: OnProgress,
) -> tuple[dict[str, Any], list[Table]]:
    """Test all baselines (simpler predictors). Returns a dict from each baseline's key to its result, and a list of
    tables.

    run, results: the network and its results. subset: int64 [k], indices of the positions for the baselines that take
    long. stockfish: the object that tests Stockfish.
    """
    random = baseline("a random legal move", results.groups.mean(1 / results.marks["choices"]))
    of_chessnet, tables = chessnet_baseline(results, subset, log, on_progress)
    return {
        "random_move": random,
        **of_chessnet,
        **most_frequent_move(run, results, subset, log, on_progress),
        **stockfish.compare(
            results.store, results.games, results.plies, results.right, functools.partial(_agrees, results)
        ),
    }, tables


def _agrees(
    results: HumanResults, evaluations: Sequence[EngineEvaluation], subset: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return whether an engine's best move is the played move, bool [n]."""
    played = (to_move(int(move)).uci() for move in results.played(subset))
    return np.array([evaluation.move == move for evaluation, move in zip(evaluations, played, strict=True)])


def usual_moves(store: Store, games: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how often each pair of from-square and to-square occurs in the moves of some games, int64 [4096].

    The index of a pair in the result is from-square + 64 · to-square. If Black moves, the squares are mirrored, so that
    both sides move up the board. games: int64 [k], indices in the store.
    """
    counts = np.zeros(4096, np.int64)
    for part in np.array_split(games, max(1, len(games) >> 12)):
        plies = store.plies[part]
        at = np.repeat(store.offsets[part] - np.concatenate(([0], np.cumsum(plies)[:-1])), plies) + np.arange(
            plies.sum()
        )
        first = store.starts[store.start_of[part], 64 + SIDE].astype(np.int64)
        ply = at - np.repeat(store.offsets[part], plies)
        counts += np.bincount(_mover_squares(store.moves[at], np.repeat(first, plies) ^ ply & 1), minlength=4096)
    return counts


def _mover_squares(moves: NDArray[np.uint16], side: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the squares of moves in the mover's view, from + 64 · to, int64 [n]. side: 0 White, 1 Black."""
    squares = moves.astype(np.int64)
    return to_mover_view(squares & 63, side) | to_mover_view(squares >> 6 & 63, side) << 6


def most_frequent_move(
    run: Run, results: HumanResults, subset: NDArray[np.int64], log: Callable[[str], None], on_progress: OnProgress
) -> dict[str, Any]:
    """Test a simple predictor: it always predicts the legal move whose pair of from-square and to-square is most
    frequent in the network's training games. Returns the results as entries for the "baselines" of the test's result,
    or {} if the training games are missing.

    results: the network's results. subset: int64 [k], the indices of the positions to test.
    """
    try:
        own = Store(own_store(run))
    except KibitzError as error:
        log(f"the baseline 'most frequent move' is skipped: {error}")
        return {}
    games = np.flatnonzero(own.sides(run.split) == TRAIN)
    games = np.sort(np.random.default_rng(0).permutation(games)[:COUNTED_GAMES])
    counts = usual_moves(own, games).astype(np.float32)

    def measure(batch: Batch) -> Marks:
        played = results.store.moves[results.store.offsets[batch.games] + batch.plies]
        moves, offsets = legal_moves(batch.codes, batch.state)
        sizes = np.diff(offsets)
        rows = np.repeat(np.arange(len(played)), sizes)
        score = counts[_mover_squares(moves, batch.state[rows, SIDE].astype(np.int64))]
        best = np.maximum.reduceat(score, offsets[:-1])
        first = np.minimum.reduceat(np.where(score == best[rows], np.arange(len(moves)), len(moves)), offsets[:-1])
        return {"right": moves[first] & 0xFFF == played & 0xFFF}

    marks = results.measure_again(subset, measure, functools.partial(on_progress, "most frequent move"))
    groups, positions = ClusterBootstrap(results.games[subset]), f"{number_of(len(subset), 'position')}"
    found = {"most_frequent_move": baseline(f"the most frequent legal move, {positions}", groups.mean(marks["right"]))}
    if len(subset) < len(results.games):
        ours = groups.mean(results.right[subset])
        found["network_beside_most_frequent_move"] = baseline(f"the network, the same {positions}", ours)
    return found


def chessnet_baseline(
    results: HumanResults, subset: NDArray[np.int64], log: Callable[[str], None], on_progress: OnProgress
) -> tuple[dict[str, Any], list[Table]]:
    """Test the bundled network `chessnet` for comparison. Returns its results as entries for the "baselines" of the
    test's result, and a list with a table by rating. Both are empty if the network can't be tested.

    results: the results of the tested network. subset: int64 [k], indices of positions. Positions of `chessnet`'s
    training games are excluded.
    """
    if CHESSNET not in packaged():
        log(f"the baseline '{CHESSNET}' is skipped: this bundled network is missing")
        return {}, []
    other = Run(CHESSNET)
    subset = subset[other.unseen_games(results.store, results.games[subset])]
    if not len(subset):
        log(f"the baseline '{CHESSNET}' is skipped: it has seen all these games")
        return {}, []
    session = Session(other)

    def measure(batch: Batch) -> Marks:
        played = results.store.moves[results.store.offsets[batch.games] + batch.plies]
        return ranked(session.evaluate(batch.codes, batch.state), batch, played)

    marks = results.measure_again(subset, measure, functools.partial(on_progress, CHESSNET))
    theirs, ours = marks["rank"] == 1, results.right[subset]
    groups = ClusterBootstrap(results.games[subset])
    rows: list[list[Cell]] = []
    for band, inside in rating_bands(results.rating[subset]):
        ahead = groups.difference(ours, theirs, inside)
        rows.append([band, groups.mean(ours, inside), groups.mean(theirs, inside), ahead, int(inside.sum())])
    baselines = {
        CHESSNET: baseline(f"{CHESSNET}, {number_of(len(subset), 'position')}", groups.mean(theirs)),
        f"network_beside_{CHESSNET}": baseline(
            f"the network, the same {number_of(len(subset), 'position')}", groups.mean(ours)
        ),
    }
    return baselines, [
        Table(
            f"Compared with {CHESSNET}, by rating",
            f"Top-1 accuracy of the network and of the bundled {CHESSNET}, which has no rating inputs, on the same "
            "positions.",
            "rating",
            [Column("human"), Column(CHESSNET), Column("difference", "points"), Column("moves", "count")],
            rows,
        )
    ]
