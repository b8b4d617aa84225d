"""Test a network, and compare two networks on the same positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kibitz.api.checks import check_whole, name_arguments
from kibitz.errors import UsageError, need_training
from kibitz.text import number_of, signed

if TYPE_CHECKING:
    from kibitz.api.networks import TrainedNetwork
    from kibitz.api.stores import GameStore
    from kibitz.api.training import TrainingRun
    from kibitz.evaluation.rows import Rows
    from kibitz.runs import Run
    from kibitz.stats import Estimate
    from kibitz.store.store import Store

    Named: TypeAlias = str | Path | TrainedNetwork | TrainingRun
    """A network: its name, the folder of its run, a loaded network, or the result of `train`."""


@dataclass(frozen=True, repr=False)
class TestRows:
    """The positions of a test, and the result for each of them. All arrays have the shape [n].

    question: the predicted quantity: "winner", "move", "owners" or "pair" (see `compare`).
    game, ply: int64, the game's number in the store, and the number of moves before the position.
    right: float64, 0 to 1: 1 if the prediction is right, 0 if it is wrong, 0.5 if the network has no preference. For Go
        territory, it is the share of the points that are right.
    loss: float64, the log loss in nats; NaN if the network predicts no probability. For Go territory, it is the mean
        squared error over the points.
    weight: float64, the weight of the position in means. It is 1 or, for Go territory, the number of points with a
        known owner.
    other_game, other_ply: int64, for `deepchess`, which compares pairs of positions. They are the second position of
        each pair, from a game that Black won. None for other systems.

    >>> import kibitz
    >>> rows = kibitz.test("winner", "my.store", positions=100).rows
    >>> rows.game.shape, float(rows.right.mean()) > 0.5
    ((100,), True)
    """

    __test__ = False  # pytest must not collect this class

    question: str
    game: NDArray[np.int64]
    ply: NDArray[np.int64]
    right: NDArray[np.float64]
    loss: NDArray[np.float64]
    weight: NDArray[np.float64]
    other_game: NDArray[np.int64] | None = None
    other_ply: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.game)

    def __repr__(self) -> str:
        return f"TestRows({number_of(len(self), 'row')}, question={self.question!r})"


@dataclass(frozen=True, repr=False)
class TestResult:
    """The result of `kibitz.test`.

    figures: a dict from names to the metrics that `kibitz test` prints. Each metric is an Estimate with value, n and
        games, and with low and high, the bounds of the 95% interval. The interval is computed by resampling whole
        games.
    headline: the name of the main metric.
    rows: the results for each position.
    json: everything that `kibitz test --json` prints, as a dict. For convchess and chessnet, the key "landscape" has
        the points of a map of the tested positions (t-SNE). The map is computed when you first read `json`, which takes
        a few seconds.

    >>> import kibitz
    >>> result = kibitz.test("winner", "my.store", positions=200)
    >>> figure = result.figures[result.headline]
    >>> figure.low <= figure.value <= figure.high, figure.n
    (True, 200)
    """

    __test__ = False

    headline: str
    figures: dict[str, Estimate]
    rows: TestRows
    _result: dict[str, Any] = field(compare=False)
    _pictures: Callable[[], dict[str, Any]] = field(compare=False, default=dict)

    @cached_property
    def json(self) -> dict[str, Any]:
        """Everything that `kibitz test --json` prints, as a dict. For some networks it has a map of the tested
        positions, see `TestResult`.
        """
        return self._result | self._pictures()

    def __reduce__(self) -> tuple[Any, ...]:
        return TestResult, (self.headline, self.figures, self.rows, self.json)  # what makes pictures cannot travel

    def __repr__(self) -> str:
        one = self.figures[self.headline]
        return f"TestResult({self.headline} {one.value:.4f} ({one.low:.4f} to {one.high:.4f}), n={one.n:,})"


@dataclass(frozen=True, repr=False)
class NetworkComparison:
    """The result of `kibitz.compare`: the accuracy of two networks on the same positions. The positions are from games
    that neither network has seen in training.

    question: the predicted quantity: "winner", "move", "owners" or "pair" (see `compare`).
    a, b: the accuracy of each network, an Estimate.
    difference: the accuracy of a minus the accuracy of b, an Estimate. Its interval is computed from the difference at
        each position. A value above 0 means that a is better.
    loss: the mean log loss of a minus the mean log loss of b, an Estimate. For "owners", it is the mean squared error
        instead of the log loss. None if a network predicts no probability.
    rows_a, rows_b: the results of each network for each position, in the same order.
    games: the number of games in the store that neither network has seen in training.

    >>> import kibitz
    >>> result = kibitz.compare("winner", "chessnet", "my.store", positions=200)
    >>> result.question, result.difference.low <= result.difference.value <= result.difference.high
    ('winner', True)
    """

    question: str
    a: Estimate
    b: Estimate
    difference: Estimate
    loss: Estimate | None
    rows_a: TestRows
    rows_b: TestRows
    games: int

    def __repr__(self) -> str:
        one = self.difference
        return (
            f"NetworkComparison({self.question}: {self.a.value:.4f} and {self.b.value:.4f}, difference"
            f" {signed(one.value, 4)} ({signed(one.low, 4)} to {signed(one.high, 4)}), n={one.n:,})"
        )


@name_arguments(part="split")
def test(
    network: Named,
    store: str | Path | GameStore | None = None,
    *,
    part: str = "unseen",
    positions: int = 400_000,
    seed: int = 0,
) -> TestResult:
    """Test a network as the command `kibitz test` does, by default on games that the network has not seen in training.
    The result has metrics with intervals, and the results for each position.

    network: a name, the folder of a run (a trained network), a loaded network, or the result of `train`.
    store: the games for the test; None for the store on which the network was trained.
    part: the games of the store that are used: "unseen", "test", "validation", "training" or "all".
    positions: the largest number of positions, sampled uniformly; 0 for all.
    seed: the random seed of the sample.

    No other program, such as Stockfish, is started. The function needs the extra `train`. Raises UsageError for an
    unknown part and for a store of the other game, and KibitzError if no game is left.

    >>> import kibitz
    >>> result = kibitz.test("winner", "my.store", positions=300)
    >>> list(result.figures)
    ['accuracy', 'log_loss', 'calibration_error']
    >>> store = kibitz.open_store("my.store")
    >>> games, plies = store.sample(300, network="winner")  # the same positions
    >>> bool((games == result.rows.game).all() and (plies == result.rows.ply).all())
    True
    """
    need_training("kibitz.test")
    from kibitz.evaluation import EvalConfig, evaluate, own_store
    from kibitz.evaluation.games import choose

    check_whole("positions", positions, 0)
    check_whole("seed", seed, 0)
    run = run_of(network)
    if run.person is not None:
        raise _no_rows(run)
    opened = _store_of(own_store(run) if store is None else store)
    config = EvalConfig(positions, stockfish_positions=0, gnugo_positions=0, playout_positions=0, seed=seed)
    rows: list[Rows] = []
    pictures: list[Callable[[], dict[str, Any]]] = []
    result = evaluate(
        run, opened, choose(run, opened, part), config, on_progress=_quiet, log=lambda line: None, on_rows=rows.append,
        on_pictures=pictures.append,
    )  # fmt: skip
    if not rows:  # of a system that an extension declares
        raise _no_rows(run)
    figures = {name: _estimate(figure) for name, figure in result["figures"].items()}
    return TestResult(result["headline"], figures, _public(rows[0]), result, *pictures)


@name_arguments()
def compare(
    a: Named,
    b: Named,
    store: str | Path | GameStore,
    *,
    positions: int = 400_000,
    seed: int = 0,
    question: str | None = None,
) -> NetworkComparison:
    """Compare the accuracy of two networks on the same positions, from games that neither network has seen in training.
    The interval of the difference is computed from the difference at each position, by resampling whole games.

    question: the predicted quantity that is compared; None for the first quantity that both networks predict. "winner"
    is who wins, "move" the played move, "owners" the owner of each point in Go, and "pair" the better of two positions.
    positions, seed: as in `test`.

    The function needs the extra `train`. Raises UsageError if the networks have no predicted quantity in common, and
    KibitzError if no unseen game is left.

    >>> import kibitz
    >>> kibitz.compare("chessnet", "convchess", "my.store", positions=200).question
    'move'
    """
    need_training("kibitz.compare")
    from kibitz.evaluation.compare import compare_runs

    check_whole("positions", positions, 0)
    check_whole("seed", seed, 0)
    found = compare_runs(run_of(a), run_of(b), _store_of(store), count=positions, seed=seed, question=question)
    return NetworkComparison(
        found.question, found.a, found.b, found.difference, found.loss, _public(found.rows_a), _public(found.rows_b),
        found.games,
    )  # fmt: skip


def _no_rows(run: Run) -> UsageError:
    return UsageError(
        f"kibitz cannot list the tested positions for networks of the system '{run.info['system']}' (got {run.name})."
        " To test the network, use the command kibitz test."
    )


def run_of(network: Named) -> Run:
    """Return the run of a network: the folder with the trained network and its logs.

    network: a name, a folder, a loaded network, or the result of `train`. Raises KibitzError if there is no such run,
    or if it is not trained.
    """
    from kibitz.runs import Run

    run = Run(network if isinstance(network, (str, Path)) else network.path)
    if not isinstance(network, (str, Path)):
        run.name = getattr(network, "name", run.name)
    run.trained()
    return run


def _store_of(store: str | Path | GameStore) -> Store:
    from kibitz.store.store import Store

    return Store(store if isinstance(store, (str, Path)) else store.path)


def _estimate(figure: dict[str, Any]) -> Estimate:
    from kibitz.stats import Estimate

    value, low, high = (float("nan") if figure[key] is None else figure[key] for key in ("value", "low", "high"))
    return Estimate(value, low, high, figure["n"], figure["games"])


def _public(rows: Rows) -> TestRows:
    return TestRows(
        rows.question, rows.games, rows.plies, rows.right, rows.loss, rows.weight, rows.other_games, rows.other_plies
    )


def _quiet(part: str, done: int, total: int) -> None:
    pass
