"""Baselines that stand beside every chess network: Stockfish on some of the tested positions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kibitz.evaluation import Plan, Tell
from kibitz.evaluation.samples import fens
from kibitz.evaluation.stockfish import Answer, EngineFailed, evaluations
from kibitz.stats import ByGame, Figure
from kibitz.store.store import Store

Judge = Callable[[Sequence[Answer], NDArray[np.int64]], ArrayLike]
"""How right each of Stockfish's answers is, 0 to 1; the second argument are the indices of the positions."""


def baseline(label: str, figure: Figure) -> dict[str, Any]:
    """One of the "baselines" of a result: its figure, and what people read."""
    return {"label": label, **figure.as_json()}


@dataclass(frozen=True)
class Yardstick:
    """Stockfish as a plan asks for it. workers: its processes."""

    plan: Plan
    workers: int
    tell: Tell
    say: Callable[[str], None]

    def beside(
        self, store: Store, games: NDArray[np.int64], plies: NDArray[np.int64], right: NDArray[Any], judge: Judge
    ) -> dict[str, Any]:
        """Stockfish's figures at depth 1 and 10 by key, each followed by the network's on those very positions.

        games, plies, right: where each position is, and whether the network is right there. A depth at which Stockfish
        fails is left out, and said.
        """
        found: dict[str, Any] = {}
        if not (self.plan.stockfish and self.plan.stockfish_positions):
            return found
        order = np.random.default_rng(self.plan.seed).permutation(len(games))
        for depth, count in ((1, self.plan.stockfish_positions), (10, max(1, self.plan.stockfish_positions // 5))):
            some = np.sort(order[:count])
            doing = f"Stockfish, depth {depth}"
            try:
                name, answers = evaluations(
                    self.plan.stockfish, fens(store, games[some], plies[some]), depth, workers=self.workers,
                    tell=functools.partial(self.tell, doing),
                )  # fmt: skip
            except EngineFailed as error:
                self.say(f"Stockfish at depth {depth} is left out: {error}")
                continue
            groups = ByGame(games[some])
            key, positions = f"stockfish_depth_{depth}", f"{len(some):,} positions"
            theirs, ours = groups.mean(judge(answers, some)), groups.mean(right[some])
            found[key] = baseline(f"{name}, depth {depth}, {positions}", theirs)
            found[f"network_beside_{key}"] = baseline(f"the network, the same {positions}", ours)
        return found
