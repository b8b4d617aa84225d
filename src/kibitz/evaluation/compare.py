"""Compare two networks on the same positions: the difference of their accuracies, with an interval computed by game.

An evaluator (see `kibitz.evaluation.Evaluation`) supports comparisons if its module has three more functions:

row_questions(run)
    The names of the quantities that the network predicts, the most important one first; usually those of
    `rows.QUESTIONS`.
eligible(run, store, games, question)
    The positions of these games on which the quantity can be tested, as `rows.Eligible`. If `question` is None, all
    positions that `kibitz test` samples from.
measure_rows(run, store, games, plies, question, on_progress)
    `rows.Rows` of exactly these positions, in their order.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError, UsageError
from kibitz.evaluation import OnProgress
from kibitz.evaluation.batches import sample_indices
from kibitz.evaluation.games import choose
from kibitz.evaluation.rows import PAIR, QUESTIONS, Eligible, Rows
from kibitz.runs import Run
from kibitz.stats import Estimate
from kibitz.store.store import Store
from kibitz.systems import find


class RowSource(Protocol):
    """The functions of an evaluator's module that are needed to compare its networks with others."""

    def row_questions(self, run: Run) -> tuple[str, ...]:
        """Return the names of the quantities that the network predicts, such as "winner", the most important one
        first.
        """

    def eligible(self, run: Run, store: Store, games: NDArray[np.int64], question: str | None) -> Eligible:
        """Return the positions of these games on which the network's prediction of a quantity can be tested.

        games: int64 [k], indices in the store. question: the quantity, such as "winner"; None for all positions that
        `kibitz test` samples from.
        """

    def measure_rows(
        self,
        run: Run,
        store: Store,
        games: NDArray[np.int64],
        plies: NDArray[np.int64],
        question: str,
        on_progress: Callable[[int, int], None],
    ) -> Rows:
        """Evaluate positions, and return the result of each position, in their order.

        games, plies: int64 [n], the positions: the index of a game in the store, and the number of moves before the
        position. question: the predicted quantity, such as "winner".
        """


@dataclass(frozen=True)
class Comparison:
    """The results of two networks, a and b, on the same positions.

    question: the name of the predicted quantity, such as "winner" or "move", see `rows.QUESTIONS`.
    a, b: the accuracy of each network, as an estimate.
    difference: the accuracy of a minus the accuracy of b. Its interval is computed from the differences at each
        position.
    loss: the loss of a minus the loss of b; None if one of the networks predicts no probabilities.
    rows_a, rows_b: the results of each network for each position, in the same order.
    games: the number of games that neither network was trained on.
    seen: the number of games that were skipped because one of the networks was trained on them.
    """

    question: str
    a: Estimate
    b: Estimate
    difference: Estimate
    loss: Estimate | None
    rows_a: Rows
    rows_b: Rows
    games: int
    seen: int


def row_source(run: Run) -> RowSource:
    """Return the module that tests a network, see `RowSource`. Raises UsageError if the network can't be compared with
    others, for example because it is a personal network.

    run: the network.
    """
    module = importlib.import_module(find(run.info["system"]).evaluation)
    if run.person is not None or not all(
        hasattr(module, name) for name in ("row_questions", "eligible", "measure_rows")
    ):
        raise UsageError(
            f"kibitz cannot compare networks of the system '{run.info['system']}' (got {run.name}). Choose another"
            " network."
        )
    return cast(RowSource, module)


def unseen_by_all(runs: Sequence[Run], store: Store) -> NDArray[np.int64]:
    """Return the games of a store on which all networks can be tested, int64 [n], ascending indices in the store. A
    game is omitted if a network has used it in training or validation, or can't use it at all.

    runs: the networks. Raises KibitzError if there are no games on which all networks can be tested.
    """
    games = functools.reduce(np.intersect1d, [choose(run, store).games for run in runs])
    if not len(games):
        names = " and ".join(run.name for run in runs)
        raise KibitzError(
            f"each game of {store.path} is a training or validation game of {names}. Choose another store."
        )
    return np.asarray(games)


def seen_by_any(runs: Sequence[Run], store: Store, unseen: NDArray[np.int64]) -> int:
    """Return the number of games that all networks can use, but that at least one has used in training or
    validation.

    runs: the networks. unseen: the result of `unseen_by_all`.
    """
    used = functools.reduce(np.intersect1d, [run.system.games(store, run.settings) for run in runs])
    return len(used) - len(unseen)


def positions_of(
    run: Run, store: Store, games: NDArray[np.int64], count: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions in these games on which `kibitz test` tests a network. The result is two arrays, int64 [n]
    each. The first array contains the index of the game in the store. The second array contains the ply, the number of
    moves before the position.

    games: int64 [k], indices in the store. count: the largest number of positions, sampled uniformly; 0 for all. seed:
    the random seed. Raises UsageError for a network that is tested on pairs of positions.
    """
    source = row_source(run)
    if source.row_questions(run)[0] == PAIR:
        raise UsageError(
            f"{run.name} is tested on pairs of positions, not on single positions. Use kibitz.test(...).rows."
        )
    eligible = source.eligible(run, store, games, None)
    return eligible.locate(sample_indices(eligible, count, seed))


def compare_runs(
    a: Run,
    b: Run,
    store: Store,
    *,
    count: int = 400_000,
    seed: int = 0,
    question: str | None = None,
    on_progress: OnProgress = lambda part, done, total: None,
) -> Comparison:
    """Compare two networks on positions of the games that neither network has used in training.

    a, b: the networks.
    count: the largest number of positions, sampled uniformly; 0 for all.
    question: the quantity to predict, such as "winner". None for a quantity that both networks predict. If there are
        several, it is the most important one of network `a`.

    Raises UsageError if the networks predict different quantities, and KibitzError if no position can be tested.
    """
    sources = row_source(a), row_source(b)
    questions = _common(
        a, b, [source.row_questions(run) for source, run in zip(sources, (a, b), strict=True)], question
    )
    games = unseen_by_all([a, b], store)
    seen = seen_by_any([a, b], store, games)
    if questions == PAIR:
        rows = _pairs(a, b, store, games, count, seed, on_progress)
    else:
        one, other = (
            source.eligible(run, store, games, questions) for source, run in zip(sources, (a, b), strict=True)
        )
        where = one.locate(sample_indices(one, count, seed)) if len(one) else (games[:0], games[:0])
        both = other.contains(*where)
        at, plies = (part[both] for part in where)
        if not len(at):
            raise KibitzError(f"{store.path}: no position can be tested with both networks. Choose another store.")
        rows = [
            source.measure_rows(run, store, at, plies, questions, functools.partial(on_progress, run.name))
            for source, run in zip(sources, (a, b), strict=True)
        ]
    return _paired(questions, rows[0], rows[1], len(games), seen)


def _common(a: Run, b: Run, questions: Sequence[tuple[str, ...]], question: str | None) -> str:
    """Return the quantity that both runs predict, see `compare_runs`."""
    both = [name for name in questions[0] if name in questions[1]]
    if question is not None:
        if question not in both:
            raise UsageError(
                f"question must be one that applies to both networks: {', '.join(both) or 'there is none'} (got"
                f" {question})"
            )
        return question
    if not both:
        kinds = [", ".join(QUESTIONS.get(name, name) for name in names) for names in questions]
        raise UsageError(
            f"the networks predict different things (got {kinds[0]} from {a.name}, {kinds[1]} from {b.name}). Choose"
            " two networks that predict the same thing."
        )
    return both[0]


def _pairs(
    a: Run, b: Run, store: Store, games: NDArray[np.int64], count: int, seed: int, on_progress: OnProgress
) -> list[Rows]:
    from kibitz.evaluation.pairs.evaluator import rows_of_pairs

    return rows_of_pairs([a, b], store, games, count, seed, on_progress)


def _paired(question: str, a: Rows, b: Rows, games: int, seen: int) -> Comparison:
    groups, over = a.groups, None if (a.weight == 1).all() else a.weight
    times = 1 if over is None else over

    def mean(values: NDArray[Any]) -> Estimate:
        return groups.mean(values * times, over=over)

    shares = [groups.mean(_as_share(rows.right) if over is None else rows.right * times, over=over) for rows in (a, b)]
    with_loss = bool(np.isfinite(a.loss).all() and np.isfinite(b.loss).all())
    loss = mean(a.loss - b.loss) if with_loss else None
    ahead = groups.difference(a.right, b.right) if over is None else mean(a.right - b.right)
    return Comparison(question, shares[0], shares[1], ahead, loss, a, b, games, seen)


def _as_share(right: NDArray[np.float64]) -> NDArray[Any]:
    """Convert correctness to bool if all values are 0 or 1: a share of 0 or 1 then has an interval too."""
    return right == 1 if bool(np.isin(right, (0, 1)).all()) else right
