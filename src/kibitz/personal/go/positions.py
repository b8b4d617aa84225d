"""The Go positions in which a person moved, in the form that is needed to predict the moves."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.replay import SIDE
from kibitz.games.go.sides import GameSides
from kibitz.personal.book import Book
from kibitz.personal.go.answers import candidates, position_keys, turned_moves
from kibitz.personal.shares import PlayerPositions
from kibitz.play.session import Answers
from kibitz.store.positions import Batch
from kibitz.store.store import Store


class GoPlayerPositions(PlayerPositions):
    """The Go positions in which a person moved (see `kibitz.personal.shares.PlayerPositions`). The candidate moves are
    all empty points and a pass.

    The candidate moves include moves that the rules of suicide and ko forbid. The networks have no inputs for these
    rules, so they also predict a probability for such moves.
    """

    BATCH = 512

    @staticmethod
    def _side_inputs(store: Store, batch: Batch) -> NDArray[np.uint8]:
        return GameSides(store).of(batch.games, batch.state[:, SIDE])

    def _candidates(self) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
        moves, _, offsets = candidates(self.codes)
        return moves, offsets

    def _chances(
        self, answers: Answers, rows: slice, moves: NDArray[np.uint16], offsets: NDArray[np.int64]
    ) -> NDArray[np.floating[Any]]:
        at = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        shares = answers["policy"][at, moves].astype(np.float64)
        return np.asarray(shares / np.maximum(np.add.reduceat(shares, offsets[:-1]), 1e-30)[at])

    @cached_property
    def _keys(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        return position_keys(self.codes, self.state)

    @property
    def keys(self) -> NDArray[np.uint64]:
        """The hash of each position, uint64 [n] (see `kibitz.personal.go.answers.position_keys`)."""
        return self._keys[0]

    @property
    def booked(self) -> NDArray[np.uint16]:
        """The moves that the person played, uint16 [n], as the opening book stores them. The book transforms a move by
        the same symmetry as its position.
        """
        return turned_moves(self.packed, np.arange(len(self)), self.state, self._keys[1])

    def counts(self, book: Book) -> NDArray[np.float64]:
        """Return how often the person played each candidate move, according to the opening book: float64, in the order
        of `moves`.
        """
        rows = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        return book.counts(self.keys, turned_moves(self.moves, rows, self.state, self._keys[1]), self.offsets)
