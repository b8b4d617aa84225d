"""Baselines: simpler predictors with which a network is compared, on all tested positions or on some of them.

This module contains what all kinds of networks share: the form of a baseline in a result, and Stockfish at two depths.
`policy` compares Stockfish's moves with the played moves. `positions` and `pairs` compare Stockfish's scores with the
results of the games. Further baselines are in these functions:

positions.evaluator.baselines      always White, material, rating
policy.evaluator.baselines         a random move or square; material for a value network
policy.human.baselines.baselines   a random move, `chessnet`, the most frequent move
pairs.baselines.run_baselines      material, `winner`
owners.baselines.run_baselines     nearest stone, playouts, GNU Go
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kibitz.evaluation import EvalConfig, OnProgress
from kibitz.evaluation.samples import fens
from kibitz.external import EngineDied
from kibitz.external.pool import Counter, fan_out
from kibitz.external.uci import EngineEvaluation, ExternalEngine, OptionRefused
from kibitz.parallel import Workers, map_ordered
from kibitz.stats import ClusterBootstrap, Estimate
from kibitz.store.store import Store
from kibitz.text import number_of

Scorer = Callable[[Sequence[EngineEvaluation], NDArray[np.int64]], ArrayLike]
"""A function that returns the correctness of each of Stockfish's evaluations, from 0 for wrong to 1 for right. Its
second argument contains the indices of the evaluated positions.
"""

PART = 50
"""The number of positions that a worker process evaluates in one task."""
OPTIONS = {"Threads": 1, "Hash": 4}
"""Options of Stockfish: one thread, and 4 MB, because its memory is cleared after each position."""


def baseline(label: str, estimate: Estimate) -> dict[str, Any]:
    """Return the entry of a baseline (a simpler predictor) in the result of a test: its label and its estimate.

    label: a text for readers. estimate: the value of the main metric with its interval.
    """
    return {"label": label, **estimate.as_json()}


def engine_evaluations(
    path: str,
    fens: Sequence[str],
    depth: int,
    *,
    workers: Workers | int,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[str, list[EngineEvaluation]]:
    """Evaluate positions with a UCI engine. Return the engine's name, and its evaluation of each position.

    path: the program. fens: the positions. depth: the search depth in plies. workers: the processes that start engines,
    or the number of engines that this process starts, each in a separate thread. Raises EngineDied if any engine fails.
    In this case, all engines are ended.
    """
    if not isinstance(workers, int):
        return _evaluated_apart(path, fens, depth, workers, on_progress)
    counter = Counter(len(fens), on_progress)

    def work(mine: Iterator[str]) -> tuple[str, list[EngineEvaluation]]:
        evaluations = []
        with ExternalEngine([path]) as engine:
            engine.set_options(OPTIONS, known_only=True)
            for fen in mine:
                evaluations.append(engine.evaluate(fen, depth))
                counter.step()
            return engine.name, evaluations

    parts, part_of = fan_out(fens, work, workers)
    ordered = [EngineEvaluation(0, "")] * len(fens)
    for worker, (_, evaluations) in enumerate(parts):
        ordered[part_of(worker)] = evaluations
    return parts[0][0], ordered


def _evaluated_apart(
    path: str, fens: Sequence[str], depth: int, workers: Workers, on_progress: Callable[[int, int], None]
) -> tuple[str, list[EngineEvaluation]]:
    name, evaluations = "", list[EngineEvaluation]()
    parts = [fens[i : i + PART] for i in range(0, len(fens), PART)]
    with contextlib.closing(map_ordered(functools.partial(_evaluate_part, path, depth), parts, workers)) as answers:
        for answer in answers:
            if isinstance(answer, str):
                raise EngineDied(answer, "died")
            name, some = answer
            evaluations += some
            on_progress(len(evaluations), len(fens))
    return name, evaluations


def _evaluate_part(path: str, depth: int, fens: Sequence[str]) -> tuple[str, list[EngineEvaluation]] | str:
    """Evaluate positions in a worker. Returns the engine's name and its evaluations, or an error message."""
    try:
        with ExternalEngine([path]) as engine:
            engine.set_options(OPTIONS, known_only=True)
            return engine.name, [engine.evaluate(fen, depth) for fen in fens]
    except (EngineDied, OptionRefused) as error:
        return str(error)


@dataclass(frozen=True)
class StockfishBaseline:
    """Compares a network with Stockfish at the depths 1 and 10, if the configuration requests it.

    config: the settings of the test.
    workers: the number of Stockfish processes, if the configuration contains no workers.
    on_progress, log: see `kibitz.evaluation.Evaluation.evaluate`.
    """

    config: EvalConfig
    workers: int
    on_progress: OnProgress
    log: Callable[[str], None]

    def depths(self) -> Iterator[tuple[int, int]]:
        """Yield pairs: a search depth in plies, and the number of positions to evaluate at this depth. If the
        configuration does not request Stockfish, the method yields nothing.
        """
        if self.config.stockfish and self.config.stockfish_positions:
            yield 1, self.config.stockfish_positions
            yield 10, max(1, self.config.stockfish_positions // 5)

    def evaluations(
        self, store: Store, games: NDArray[np.int64], plies: NDArray[np.int64], depth: int
    ) -> tuple[str, list[EngineEvaluation]] | None:
        """Evaluate positions with Stockfish. Return Stockfish's name and its evaluations. If Stockfish fails, log the
        reason and return None.

        games, plies: int64 [n], the positions: the index of a game in the store, and the number of moves before the
        position. depth: the search depth in plies.
        """
        assert self.config.stockfish
        try:
            return engine_evaluations(
                self.config.stockfish, fens(store, games, plies), depth, workers=self.config.workers or self.workers,
                on_progress=functools.partial(self.on_progress, f"Stockfish, depth {depth}"),
            )  # fmt: skip
        except (EngineDied, OptionRefused) as error:
            self.exclude(depth, str(error))
            return None

    def exclude(self, depth: int, reason: str) -> None:
        """Log that Stockfish has no result at a search depth. reason: the cause, as text."""
        self.log(f"Stockfish at depth {depth} is skipped: {reason}")

    def compare(
        self, store: Store, games: NDArray[np.int64], plies: NDArray[np.int64], right: NDArray[Any], scorer: Scorer
    ) -> dict[str, Any]:
        """Test Stockfish on a sample of the tested positions. Return the entries for the dict "baselines" of the
        result. For each search depth, one entry is Stockfish's result, and another entry is the network's result on the
        same positions. The function `baseline` describes an entry.

        games, plies: int64 [n], the tested positions: the index of a game in the store, and the number of moves before
            the position.
        right: [n], the correctness of the network's prediction for each position, 0 to 1.
        scorer: a function whose arguments are Stockfish's evaluations and the indices of their positions in `games`. It
            returns the correctness of each evaluation, 0 to 1.
        """
        baselines: dict[str, Any] = {}
        order = np.random.default_rng(self.config.seed).permutation(len(games))
        for depth, count in self.depths():
            subset = np.sort(order[:count])
            answered = self.evaluations(store, games[subset], plies[subset], depth)
            if answered is None:
                continue
            name, evaluations = answered
            groups = ClusterBootstrap(games[subset])
            key, positions = f"stockfish_depth_{depth}", f"{number_of(len(subset), 'position')}"
            theirs, ours = groups.mean(scorer(evaluations, subset), score=True), groups.mean(right[subset], score=True)
            baselines[key] = baseline(f"{name}, depth {depth}, {positions}", theirs)
            baselines[f"network_beside_{key}"] = baseline(f"the network, the same {positions}", ours)
        return baselines
