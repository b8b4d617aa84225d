"""Baselines: simpler predictors, on all tested positions or on some of them.

This module has what all systems share: the form of a baseline in a result, and Stockfish at two depths. `policy`
compares Stockfish's moves, `positions` and `pairs` compare its scores. Each family of systems has further baselines in
a separate function:

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

Scorer = Callable[[Sequence[EngineEvaluation], NDArray[np.int64]], ArrayLike]
"""A function that rates each of Stockfish's evaluations, from 0 for wrong to 1 for right. Its second argument is the
positions' indices.
"""

PART = 50
"""Number of positions in one piece of a worker's work."""
OPTIONS = {"Threads": 1, "Hash": 4}
"""Options of Stockfish: one thread, and 4 MB, because its memory is cleared after each position."""


def baseline(label: str, estimate: Estimate) -> dict[str, Any]:
    """Return an entry of the "baselines" of a result: a label and an estimate."""
    return {"label": label, **estimate.as_json()}


def engine_evaluations(
    path: str,
    fens: Sequence[str],
    depth: int,
    *,
    workers: Workers | int,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[str, list[EngineEvaluation]]:
    """Return a UCI engine's name, and its evaluation of each position at a search depth.

    workers: the processes that start engines, or the number of engines that this process starts, each in a separate
    thread. Raises EngineDied if any engine fails; all engines are then ended.
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
    """Tests Stockfish at depths 1 and 10 as a baseline, if the configuration requests it.

    workers: the number of Stockfish processes, if the configuration does not set it.
    """

    config: EvalConfig
    workers: int
    on_progress: OnProgress
    log: Callable[[str], None]

    def depths(self) -> Iterator[tuple[int, int]]:
        """Yield each search depth with the number of positions to evaluate. Nothing is yielded if Stockfish is not
        requested.
        """
        if self.config.stockfish and self.config.stockfish_positions:
            yield 1, self.config.stockfish_positions
            yield 10, max(1, self.config.stockfish_positions // 5)

    def evaluations(
        self, store: Store, games: NDArray[np.int64], plies: NDArray[np.int64], depth: int
    ) -> tuple[str, list[EngineEvaluation]] | None:
        """Return Stockfish's name and its evaluations of positions at a search depth. If Stockfish fails, log why and
        return None.

        games, plies: int64 [n], the game and the ply of each position.
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
        """Log that Stockfish has no result at a search depth. reason: why, as text."""
        self.log(f"Stockfish at depth {depth} is skipped: {reason}")

    def compare(
        self, store: Store, games: NDArray[np.int64], plies: NDArray[np.int64], right: NDArray[Any], scorer: Scorer
    ) -> dict[str, Any]:
        """Return entries for the "baselines" of the result, by key. For each depth, there is one entry with Stockfish's
        result, and one with the network's result on the same positions.

        games, plies: int64 [n], the tested positions, of which a sample is used. right: [n], the correctness of the
        network's prediction for each position, 0 to 1. scorer: a function that gets Stockfish's evaluations and the
        indices of their positions in `games`. It returns the correctness of each evaluation, 0 to 1.
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
            key, positions = f"stockfish_depth_{depth}", f"{len(subset):,} positions"
            theirs, ours = groups.mean(scorer(evaluations, subset), score=True), groups.mean(right[subset])
            baselines[key] = baseline(f"{name}, depth {depth}, {positions}", theirs)
            baselines[f"network_beside_{key}"] = baseline(f"the network, the same {positions}", ours)
        return baselines
