"""The probabilities that networks and books predict for the moves that a person played."""

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
"""The values of k that are tried, see `book`."""


class PlayerPositions(ABC):
    """The n positions in which a person moved, with everything that is needed to predict the moves: candidate moves,
    played moves and side inputs.

    codes: uint8 [n, squares]. state: uint8 [n, 4 + side inputs]. packed: uint16 [n], the played moves. games, plies:
    int64 [n], the game and the ply of each position.
    """

    BATCH = 4096
    """Number of positions per batch."""

    def __init__(self, store: Store, games: NDArray[np.int64], sides: NDArray[np.int8]):
        positions = OwnPositions(store, games, sides)
        batch = positions.batch(np.arange(len(positions)))
        self.store, self.games, self.plies, self.codes = store, batch.games, batch.plies, batch.codes
        self.state = self.conditioned_state(store, batch)
        self.packed: NDArray[np.uint16] = store.moves[store.offsets[batch.games] + batch.plies]

    @classmethod
    def conditioned_state(cls, store: Store, batch: Batch) -> NDArray[np.uint8]:
        """Return the state of positions, with the side inputs of their games added, as far as they are known: uint8 [n,
        4 + side inputs].
        """
        return np.concatenate([batch.state, cls._side_inputs(store, batch)], 1)

    @staticmethod
    @abstractmethod
    def _side_inputs(store: Store, batch: Batch) -> NDArray[np.uint8]:
        """Return the columns of the state with side inputs, which follow the position's four columns."""

    @abstractmethod
    def _candidates(self) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
        """Return the candidate moves of all positions, uint16 [total], and the index at which each position's moves
        begin, int64 [n + 1].
        """

    @abstractmethod
    def _chances(
        self, answers: Answers, rows: slice, moves: NDArray[np.uint16], offsets: NDArray[np.int64]
    ) -> NDArray[np.floating[Any]]:
        """Return a network's probabilities of the candidate moves of some positions, normalized in each position."""

    @property
    @abstractmethod
    def keys(self) -> NDArray[np.uint64]:
        """The hash of each position, uint64 [n], under which a book stores it."""

    @property
    @abstractmethod
    def booked(self) -> NDArray[np.uint16]:
        """The played moves, in the form in which a book stores them, uint16 [n]."""

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def _all_moves(self) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
        return self._candidates()

    @property
    def moves(self) -> NDArray[np.uint16]:
        """The candidate moves of all positions, position after position, uint16 [total]."""
        return self._all_moves[0]

    @property
    def offsets(self) -> NDArray[np.int64]:
        """The index in `moves` at which each position's candidate moves begin, int64 [n + 1]."""
        return self._all_moves[1]

    @cached_property
    def played(self) -> NDArray[np.int64]:
        """The index in `moves` of each played move, int64 [n]. Raises KibitzError if a played move is not among the
        candidate moves.
        """
        found = np.flatnonzero(self.moves == np.repeat(self.packed, np.diff(self.offsets)))
        if len(found) != len(self.packed):
            raise KibitzError(f"{self.store.path} is damaged: a played move is illegal. Import the games again.")
        return found

    def shares(
        self, session: NetworkSession, on_progress: Callable[[int, int], None] = lambda done, total: None
    ) -> NDArray[np.float64]:
        """Return a network's probability of every candidate move, float64 [total]. The probabilities sum to 1 in each
        position.
        """
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
        """Return how often the person played each candidate move in its position, according to the opening book,
        float64 [total].
        """

    def judge(self, shares: NDArray[np.float64]) -> JudgedMoves:
        """Return how well probabilities of the candidate moves predict the played moves. shares: float64 [total], the
        probabilities.
        """
        best = np.maximum.reduceat(shares, self.offsets[:-1]) if len(self) else np.zeros(0)
        rows = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        order = np.arange(len(self.moves))
        first = np.where(shares == best[rows], order, len(self.moves))
        first = np.minimum.reduceat(first, self.offsets[:-1]) if len(self) else order
        return JudgedMoves(first == self.played, log_loss(shares[self.played], 1), first)


@dataclass(frozen=True)
class JudgedMoves:
    """How well given probabilities predict the n played moves.

    right: bool [n], whether the most likely move was played.
    loss: float64 [n], −log of the probability of the played move.
    first: int64 [n], the index of the most likely move in `moves`.
    """

    right: NDArray[np.bool_]
    loss: NDArray[np.float64]
    first: NDArray[np.int64]


def fit_k(positions: PlayerPositions, shares: NDArray[np.float64], counts: NDArray[np.float64]) -> tuple[float, float]:
    """Return the value of k in KS for which the blend with the book (see `book.blend`) has the smallest mean log loss,
    and this loss in nats. shares, counts: float64 [total], the network's probability and the book's count for each
    candidate move.
    """
    losses = [float(positions.judge(blend(shares, counts, positions.offsets, k)).loss.mean()) for k in KS]
    best = int(np.argmin(losses))
    return KS[best], losses[best]
