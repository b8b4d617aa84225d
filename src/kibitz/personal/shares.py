"""Compute the probabilities that networks and opening books predict for the moves that a person played."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz import ongoing
from kibitz.errors import KibitzError
from kibitz.personal.book import Book, blend
from kibitz.personal.games import OwnPositions
from kibitz.play.session import Answers, NetworkSession
from kibitz.stats import log_loss
from kibitz.store.positions import Batch
from kibitz.store.store import Store

KS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
"""The values of k that are tried. With k, the network has the same weight as k games in the opening book (see
`kibitz.personal.book.blend`).
"""


class PlayerPositions(ABC):
    """The n positions in which a person moved, with everything that is needed to predict the moves. The candidate moves
    of a position are all moves that get a probability.

    codes, state: the positions, uint8 [n, squares] and uint8 [n, 4 + side inputs], see `kibitz.PositionArrays`. Side
        inputs are inputs of the network in addition to the position, such as ratings.
    packed: uint16 [n], the moves that the person played, in the form of `moves`.
    games, plies: int64 [n], each position's game in the store, and the number of moves before the position.
    """

    BATCH = 4096
    """The number of positions in a batch for the network."""

    def __init__(self, store: Store, games: NDArray[np.int64], sides: NDArray[np.int8]):
        positions = OwnPositions(store, games, sides)
        batch = positions.batch(np.arange(len(positions)))
        self.store, self.games, self.plies, self.codes = store, batch.games, batch.plies, batch.codes
        self.state = self.conditioned_state(store, batch)
        self.packed: NDArray[np.uint16] = store.moves[store.offsets[batch.games] + batch.plies]

    @classmethod
    def conditioned_state(cls, store: Store, batch: Batch) -> NDArray[np.uint8]:
        """Return the array `state` of n positions with further columns for the side inputs, uint8 [n, 4 + side inputs].
        Side inputs are inputs of the network in addition to the position, such as ratings.

        The side inputs come from the game records. If a record lacks a value, the input means that the value is
        unknown. But a missing handicap in Go means a game without handicap stones.

        store: the store with the games. batch: the positions.
        """
        return np.concatenate([batch.state, cls._side_inputs(store, batch)], 1)

    @staticmethod
    @abstractmethod
    def _side_inputs(store: Store, batch: Batch) -> NDArray[np.uint8]:
        """Return the columns of the state with side inputs (ratings, komi and other facts besides the board), which
        follow the position's four columns.
        """

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
        """The hash of each position, uint64 [n]. An opening book stores the position with this hash."""

    @property
    @abstractmethod
    def booked(self) -> NDArray[np.uint16]:
        """The moves that the person played, uint16 [n], in the form in which an opening book stores them."""

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def _all_moves(self) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
        return self._candidates()

    @property
    def moves(self) -> NDArray[np.uint16]:
        """The candidate moves of all positions, position after position: uint16, with one entry for each candidate
        move. Chess moves are packed (see `kibitz.games.chess.moves.from_move`). Go moves are points, row · 19 + column,
        or 361 for a pass.
        """
        return self._all_moves[0]

    @property
    def offsets(self) -> NDArray[np.int64]:
        """The index in `moves` of each position's first candidate move, int64 [n + 1]. The last number is the number of
        all candidate moves.
        """
        return self._all_moves[1]

    @cached_property
    def played(self) -> NDArray[np.int64]:
        """The index in `moves` of each move that the person played, int64 [n]. Raises KibitzError if one of these moves
        is not a candidate move.
        """
        found = np.flatnonzero(self.moves == np.repeat(self.packed, np.diff(self.offsets)))
        if len(found) != len(self.packed):
            raise KibitzError(f"{self.store.path} is damaged: a played move is illegal. Import the games again.")
        return found

    def shares(
        self, session: NetworkSession, on_progress: Callable[[int, int], None] = lambda done, total: None
    ) -> NDArray[np.float64]:
        """Return the probability that a network predicts for each candidate move, float64 [total], 0 to 1. The
        probabilities sum to 1 in each position.

        session: the loaded network. on_progress: a function that is called with the number of completed positions and
        the number of all positions.
        """
        found = np.empty(len(self.moves))
        on_progress(0, len(self))
        for first in ongoing.batches(len(self), self.BATCH):
            last = min(first + self.BATCH, len(self))
            rows, part = slice(first, last), slice(self.offsets[first], self.offsets[last])
            offsets = self.offsets[first : last + 1] - self.offsets[first]
            answers = session.evaluate(self.codes[rows], self.state[rows])
            found[part] = self._chances(answers, rows, self.moves[part], offsets)
            on_progress(last, len(self))
        return found

    @abstractmethod
    def counts(self, book: Book) -> NDArray[np.float64]:
        """Return how often the person played each candidate move in its position, according to an opening book:
        float64, in the order of `moves`.
        """

    def judge(self, shares: NDArray[np.float64]) -> JudgedMoves:
        """Return how well given probabilities predict the moves that the person played. shares: float64, the
        probability of each candidate move, in the order of `moves`.
        """
        best = np.maximum.reduceat(shares, self.offsets[:-1]) if len(self) else np.zeros(0)
        rows = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        order = np.arange(len(self.moves))
        first = np.where(shares == best[rows], order, len(self.moves))
        first = np.minimum.reduceat(first, self.offsets[:-1]) if len(self) else order
        return JudgedMoves(first == self.played, log_loss(shares[self.played], 1), first)


@dataclass(frozen=True)
class JudgedMoves:
    """How well some probabilities predict the n moves that a person played.

    right: bool [n], whether the person played the most likely move.
    loss: float64 [n], −ln of the probability of the played move, in nats.
    first: int64 [n], the index of the most likely move in `PlayerPositions.moves`.
    """

    right: NDArray[np.bool_]
    loss: NDArray[np.float64]
    first: NDArray[np.int64]


def fit_k(positions: PlayerPositions, shares: NDArray[np.float64], counts: NDArray[np.float64]) -> tuple[float, float]:
    """Return two values. The first is the number k with which an opening book corrects the network best, see
    `kibitz.personal.book.blend`. It is one of KS, the numbers to try, from 0.25 to 64. The second value is the mean log
    loss with this k, in nats.

    positions: the positions in which the person moved.
    shares: float64, the network's probability for each candidate move, in the order of `positions.moves`.
    counts: float64, how often the person played each candidate move according to the book, in the same order.
    """
    losses = [float(positions.judge(blend(shares, counts, positions.offsets, k)).loss.mean()) for k in KS]
    best = int(np.argmin(losses))
    return KS[best], losses[best]
