"""Compare how well several models predict a person's moves: the base network (before it was adapted), the base network
with the person's opening book, the adapted network, the adapted network with the book, and another person's network.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError
from kibitz.evaluation import OnProgress
from kibitz.personal.adapter import NOTHING
from kibitz.personal.book import BOOK, Book, blend
from kibitz.personal.games import sides_of
from kibitz.personal.kinds import kind_of
from kibitz.personal.shares import JudgedMoves, PlayerPositions
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.stats import ClusterBootstrap
from kibitz.store.store import Store

BASE, BOOK_ARM, ADAPTED, BOTH, STRANGER = "base", "book", "adapters", "both", "stranger"
OPENING = 20
"""The number of plies (moves of one side) in the first ten moves of both sides."""


@dataclass(frozen=True)
class Arms:
    """The positions in which a person moved, and how well each of the compared models predicts the person's moves.

    positions: the positions.
    judged: the correctness and the loss of the predictions, by model, see `kibitz.personal.shares.JudgedMoves`.
    shares: the predicted probabilities of all legal moves in these positions, by model.
    seen: bool [n], whether the position is in the person's opening book. The book contains the positions of training
        games in which the person moved.
    """

    positions: PlayerPositions
    judged: Mapping[str, JudgedMoves]
    shares: Mapping[str, NDArray[np.float64]]
    seen: NDArray[np.bool_]

    @cached_property
    def groups(self) -> ClusterBootstrap:
        """The positions grouped by game, for computing means with confidence intervals."""
        return ClusterBootstrap(self.positions.games)

    @property
    def late(self) -> NDArray[np.bool_]:
        """Whether each position is after the first ten moves of both sides, bool [n]."""
        return np.asarray(self.positions.plies >= OPENING)


def compare(
    run: Run,
    store: Store,
    games: NDArray[np.int64],
    stranger: Run | None = None,
    on_progress: OnProgress = lambda part, done, total: None,
) -> Arms:
    """Predict a person's moves in some games of a store with each of the compared models (see `Arms`).

    run: the person's network. games: int64 [k], indices in the store. stranger: another person's network, which is used
    without its opening book; None for none. Every model gets the ratings and the speed of each game as inputs. Raises
    KibitzError if the person played none of the games.
    """
    sides = sides_of(store, run.info["person"]["names"])
    positions = kind_of(store.game).Positions(store, games, sides)
    if not len(positions):
        raise KibitzError(f"{store.path} has no move of {run.info['person']['name']}. Choose another store.")
    counts = positions.counts(Book.open(run.path / BOOK))
    begun = Run(run.info["base"])
    base = positions.shares(Session(begun, corrected=False), functools.partial(on_progress, "base"))
    same = run.info["kept"] == NOTHING and run.info["started_from"] == begun.weights_sha256()
    own = base if same else positions.shares(Session(run, corrected=False), functools.partial(on_progress, "network"))
    k = run.info["book"]
    shares = {
        BASE: base,
        BOOK_ARM: blend(base, counts, positions.offsets, k["k_base"]),
        ADAPTED: own,
        BOTH: blend(own, counts, positions.offsets, k["k"]),
    }
    if stranger is not None:
        shares[STRANGER] = positions.shares(Session(stranger, corrected=False))
    seen = np.add.reduceat(counts, positions.offsets[:-1]) > 0
    return Arms(positions, {name: positions.judge(some) for name, some in shares.items()}, shares, seen)
