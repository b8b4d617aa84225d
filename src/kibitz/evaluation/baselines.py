"""Baselines: simpler ways to answer, on the tested positions or on some of them.

This module has what all systems share: the form of a baseline in a result, and Stockfish at two depths. `policy`
compares its moves, `positions` and `pairs` its scores. Each family has its own baselines in a function of its own:

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
"""How right each of Stockfish's answers is, 0 to 1; the second argument are the indices of the positions."""

PART = 50
"""Positions that a worker evaluates at a time."""
OPTIONS = {"Threads": 1, "Hash": 4}
"""Of Stockfish: one thread, and 4 MB, since it forgets everything after each position."""


def baseline(label: str, estimate: Estimate) -> dict[str, Any]:
    """One of the "baselines" of a result: its figure and its label."""
    return {"label": label, **estimate.as_json()}


def engine_evaluations(
    path: str,
    fens: Sequence[str],
    depth: int,
    *,
    workers: Workers | int,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[str, list[EngineEvaluation]]:
    """A UCI engine's name, and its evaluation of each position at a depth.

    workers: those that start engines, or how many processes of the engine this one starts, one thread each. Raises
    EngineDied when any of them fails; no process is left.
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
    """The engine's name and evaluations, or what was wrong with it; the work of a worker."""
    try:
        with ExternalEngine([path]) as engine:
            engine.set_options(OPTIONS, known_only=True)
            return engine.name, [engine.evaluate(fen, depth) for fen in fens]
    except (EngineDied, OptionRefused) as error:
        return str(error)


@dataclass(frozen=True)
class StockfishBaseline:
    """Stockfish at depths 1 and 10, as the configuration asks for it. workers: its processes, where no workers are
    named there."""

    config: EvalConfig
    workers: int
    on_progress: OnProgress
    log: Callable[[str], None]

    def depths(self) -> Iterator[tuple[int, int]]:
        """Each depth with its number of positions; empty if Stockfish is not requested."""
        if self.config.stockfish and self.config.stockfish_positions:
            yield 1, self.config.stockfish_positions
            yield 10, max(1, self.config.stockfish_positions // 5)

    def evaluations(
        self, store: Store, games: NDArray[np.int64], plies: NDArray[np.int64], depth: int
    ) -> tuple[str, list[EngineEvaluation]] | None:
        """Its name and its evaluations of positions; None, and logged, where it fails."""
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
        """Log why there is no figure of a depth."""
        self.log(f"Stockfish at depth {depth} is left out: {reason}")

    def compare(
        self, store: Store, games: NDArray[np.int64], plies: NDArray[np.int64], right: NDArray[Any], scorer: Scorer
    ) -> dict[str, Any]:
        """Stockfish's figures at each depth by key, each followed by the network's on those very positions.

        games, plies, right: where each position is, and whether the network is right there.
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
            theirs, ours = groups.mean(scorer(evaluations, subset)), groups.mean(right[subset])
            baselines[key] = baseline(f"{name}, depth {depth}, {positions}", theirs)
            baselines[f"network_beside_{key}"] = baseline(f"the network, the same {positions}", ours)
        return baselines
