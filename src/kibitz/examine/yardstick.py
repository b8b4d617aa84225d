"""Baselines that stand beside every chess network: Stockfish on some of the tested positions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kibitz.examine import Plan, Tell
from kibitz.examine.shown import fens
from kibitz.examine.stockfish import Answer, EngineFailed, evaluations
from kibitz.store.store import Store
from kibitz.training.metrics import ByGame

Judge = Callable[[Sequence[Answer], NDArray[np.int64]], ArrayLike]
"""How right each of Stockfish's answers is, 0 to 1; the second argument are the indices of the positions."""


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
        """Stockfish's figures at depth 1 and 10 by name, each followed by the network's on those very positions.

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
            found[f"{name}, depth {depth}, {len(some):,} positions"] = groups.mean(judge(answers, some)).as_json()
            found[f"the network, the same {len(some):,} positions"] = groups.mean(right[some]).as_json()
        return found
