"""How probable networks and books find the moves that a person played."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError
from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.replay import SIDE
from kibitz.games.chess.sides import scale_codes, side_inputs, speed_codes
from kibitz.personal.book import Book, blend, position_keys
from kibitz.personal.games import OwnPositions
from kibitz.play.chess.policy import move_probabilities, normalised
from kibitz.play.session import NetworkSession
from kibitz.stats import log_loss
from kibitz.store.store import Store

BATCH = 4096
KS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
"""Values of k that are tried, see `book`."""


class Asked:
    """The positions in which a person moved, ready to be asked about: legal moves, the played one, and what a network
    is told of the game.

    codes uint8 [n, 64], state uint8 [n, 12]; moves, offsets: see `legal_moves`; played [n]: the index of the played
    move among `moves`; games, plies [n].
    """

    def __init__(self, store: Store, games: NDArray[np.int64], sides: NDArray[np.int8]):
        positions = OwnPositions(store, games, sides)
        batch = positions.batch(np.arange(len(positions)))
        self.store, self.games, self.plies, self.codes = store, batch.games, batch.plies, batch.codes
        at = store.offsets[batch.games] + batch.plies
        side = batch.state[:, SIDE].astype(np.int64)
        ratings = np.stack([store.column("white_rating"), store.column("black_rating")]).astype(np.int64)
        more = side_inputs(
            ratings[side, batch.games], ratings[1 - side, batch.games], speed_codes(store)[batch.games],
            scale_codes(store)[batch.games], store.moves, at, batch.plies,
        )  # fmt: skip
        self.state = np.concatenate([batch.state, more], 1)
        self.packed = store.moves[at]
        self.moves, self.offsets = legal_moves(batch.codes, batch.state)
        self.played = np.flatnonzero(self.moves == np.repeat(self.packed, np.diff(self.offsets)))
        if len(self.played) != len(self.packed):
            raise KibitzError(f"{store.path}: a played move is not among the legal ones; import the games again")

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """Hashes of the positions, see `position_keys`."""
        return position_keys(self.codes, self.state)

    def shares(
        self, session: NetworkSession, on_progress: Callable[[int, int], None] = lambda done, total: None
    ) -> NDArray[np.float64]:
        """A network's probability of every legal move, float64 [moves], summing to 1 over each position's."""
        found = np.empty(len(self.moves))
        on_progress(0, len(self))
        for first in range(0, len(self), BATCH):
            last = min(first + BATCH, len(self))
            rows, part = slice(first, last), slice(self.offsets[first], self.offsets[last])
            offsets = self.offsets[first : last + 1] - self.offsets[first]
            answers = session.evaluate(self.codes[rows], self.state[rows])
            chances = move_probabilities(answers, self.codes[rows], self.moves[part], offsets)
            found[part] = normalised(chances, offsets)
            on_progress(last, len(self))
        return found

    def counts(self, book: Book) -> NDArray[np.float64]:
        """How often the book has each legal move, float64 [moves]."""
        return book.counts(self.keys, self.moves, self.offsets)

    def judge(self, shares: NDArray[np.float64]) -> JudgedMoves:
        """How well some shares of the legal moves tell the moves that were played."""
        best = np.maximum.reduceat(shares, self.offsets[:-1]) if len(self) else np.zeros(0)
        rows = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        order = np.arange(len(self.moves))
        first = np.where(shares == best[rows], order, len(self.moves))
        first = np.minimum.reduceat(first, self.offsets[:-1]) if len(self) else order
        return JudgedMoves(first == self.played, log_loss(shares[self.played], 1), first)


@dataclass(frozen=True)
class JudgedMoves:
    """right, loss [n]: whether the first choice was played, and −log of the played move's share; first [n]: the index
    of the first choice among the legal moves."""

    right: NDArray[np.bool_]
    loss: NDArray[np.float64]
    first: NDArray[np.int64]


def fit_k(asked: Asked, shares: NDArray[np.float64], counts: NDArray[np.float64]) -> tuple[float, float]:
    """The k of KS with the least mean log loss, and that loss."""
    losses = [float(asked.judge(blend(shares, counts, asked.offsets, k)).loss.mean()) for k in KS]
    best = int(np.argmin(losses))
    return KS[best], losses[best]
