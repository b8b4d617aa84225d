"""How probable networks and books find the moves that a person played."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError
from kibitz.personal.book import Book, blend
from kibitz.personal.games import OwnPositions
from kibitz.play.session import Answers, NetworkSession
from kibitz.stats import log_loss
from kibitz.store.positions import Batch
from kibitz.store.store import Store

KS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
"""Values of k that are tried, see `book`."""


class Asked(ABC):
    """The positions in which a person moved, ready to be asked about: the moves there are, the played one, and what a
    network is told of the game.

    codes uint8 [n, squares], state uint8 [n, 4 + side inputs]; packed uint16 [n]: the played moves; games, plies [n].
    """

    BATCH = 4096
    """Positions that are asked about at a time."""

    def __init__(self, store: Store, games: NDArray[np.int64], sides: NDArray[np.int8]):
        positions = OwnPositions(store, games, sides)
        batch = positions.batch(np.arange(len(positions)))
        self.store, self.games, self.plies, self.codes = store, batch.games, batch.plies, batch.codes
        self.state = self.told(store, batch)
        self.packed: NDArray[np.uint16] = store.moves[store.offsets[batch.games] + batch.plies]

    @classmethod
    def told(cls, store: Store, batch: Batch) -> NDArray[np.uint8]:
        """The state of positions of a store with all that is known of their games: uint8 [n, 4 + side inputs]."""
        return np.concatenate([batch.state, cls._side_inputs(store, batch)], 1)

    @staticmethod
    @abstractmethod
    def _side_inputs(store: Store, batch: Batch) -> NDArray[np.uint8]:
        """The columns of the state after its own four."""

    @abstractmethod
    def _candidates(self) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
        """The moves there are in each position [total], and where those of each position begin [n + 1]."""

    @abstractmethod
    def _chances(
        self, answers: Answers, rows: slice, moves: NDArray[np.uint16], offsets: NDArray[np.int64]
    ) -> NDArray[np.floating[Any]]:
        """A network's probabilities of the moves of some positions, summing to 1 over each position's."""

    @property
    @abstractmethod
    def keys(self) -> NDArray[np.uint64]:
        """Hashes of the positions [n], by which a book finds them."""

    @property
    @abstractmethod
    def booked(self) -> NDArray[np.uint16]:
        """The played moves as a book has them [n]."""

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def _all_moves(self) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
        return self._candidates()

    @property
    def moves(self) -> NDArray[np.uint16]:
        """The moves there are in each position [total]."""
        return self._all_moves[0]

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where the moves of each position begin [n + 1]."""
        return self._all_moves[1]

    @cached_property
    def played(self) -> NDArray[np.int64]:
        """The index of the played move among `moves` [n]. Raises KibitzError where it is not there."""
        found = np.flatnonzero(self.moves == np.repeat(self.packed, np.diff(self.offsets)))
        if len(found) != len(self.packed):
            raise KibitzError(f"{self.store.path}: a played move is not among the legal ones; import the games again")
        return found

    def shares(
        self, session: NetworkSession, on_progress: Callable[[int, int], None] = lambda done, total: None
    ) -> NDArray[np.float64]:
        """A network's probability of every move, float64 [moves], summing to 1 over each position's."""
        found = np.empty(len(self.moves))
        on_progress(0, len(self))
        for first in range(0, len(self), self.BATCH):
            last = min(first + self.BATCH, len(self))
            rows, part = slice(first, last), slice(self.offsets[first], self.offsets[last])
            offsets = self.offsets[first : last + 1] - self.offsets[first]
            answers = session.evaluate(self.codes[rows], self.state[rows])
            found[part] = self._chances(answers, rows, self.moves[part], offsets)
            on_progress(last, len(self))
        return found

    @abstractmethod
    def counts(self, book: Book) -> NDArray[np.float64]:
        """How often the book has each move, float64 [moves]."""

    def judge(self, shares: NDArray[np.float64]) -> JudgedMoves:
        """How well some shares of the moves tell those that were played."""
        best = np.maximum.reduceat(shares, self.offsets[:-1]) if len(self) else np.zeros(0)
        rows = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        order = np.arange(len(self.moves))
        first = np.where(shares == best[rows], order, len(self.moves))
        first = np.minimum.reduceat(first, self.offsets[:-1]) if len(self) else order
        return JudgedMoves(first == self.played, log_loss(shares[self.played], 1), first)


@dataclass(frozen=True)
class JudgedMoves:
    """right, loss [n]: whether the first choice was played, and −log of the played move's share; first [n]: the index
    of the first choice among the moves."""

    right: NDArray[np.bool_]
    loss: NDArray[np.float64]
    first: NDArray[np.int64]


def fit_k(asked: Asked, shares: NDArray[np.float64], counts: NDArray[np.float64]) -> tuple[float, float]:
    """The k of KS with the least mean log loss, and that loss."""
    losses = [float(asked.judge(blend(shares, counts, asked.offsets, k)).loss.mean()) for k in KS]
    best = int(np.argmin(losses))
    return KS[best], losses[best]
