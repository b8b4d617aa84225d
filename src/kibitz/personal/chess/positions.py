"""The chess positions in which a person moved, in the form that is needed to predict the moves."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.replay import SIDE
from kibitz.games.chess.sides import scale_codes, side_inputs, speed_codes
from kibitz.personal.book import Book
from kibitz.personal.chess.answers import position_keys
from kibitz.personal.shares import PlayerPositions
from kibitz.play.chess.policy import move_probabilities, normalised
from kibitz.play.session import STATE, Answers
from kibitz.store.positions import Batch
from kibitz.store.store import Store


class ChessPlayerPositions(PlayerPositions):
    """The chess positions in which a person moved (see `kibitz.personal.shares.PlayerPositions`). The candidate moves
    are all legal moves, in the order of `kibitz.games.chess.legal.legal_moves`.
    """

    @staticmethod
    def _side_inputs(store: Store, batch: Batch) -> NDArray[np.uint8]:
        side = batch.state[:, SIDE].astype(np.int64)
        ratings = np.stack([store.column("white_rating"), store.column("black_rating")]).astype(np.int64)
        return side_inputs(
            ratings[side, batch.games], ratings[1 - side, batch.games], speed_codes(store)[batch.games],
            scale_codes(store)[batch.games], store.moves, store.offsets[batch.games] + batch.plies, batch.plies,
        )  # fmt: skip

    def _candidates(self) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
        return legal_moves(self.codes, self.state[:, :STATE])

    def _chances(
        self, answers: Answers, rows: slice, moves: NDArray[np.uint16], offsets: NDArray[np.int64]
    ) -> NDArray[np.floating[Any]]:
        return normalised(move_probabilities(answers, self.codes[rows], moves, offsets), offsets)

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """The hash of each position, uint64 [n] (see `kibitz.personal.chess.answers.position_keys`)."""
        return position_keys(self.codes, self.state)

    @property
    def booked(self) -> NDArray[np.uint16]:
        """The moves that the person played, uint16 [n], as the opening book stores them. In chess, the book stores them
        unchanged.
        """
        return self.packed

    def counts(self, book: Book) -> NDArray[np.float64]:
        """Return how often the person played each candidate move, according to the opening book: float64, one number
        for each move in the attribute `moves`, in the same order.

        The book does not distinguish promotions. Their total count is given to the promotion to a queen, and the other
        promotions get 0.
        """
        counts = book.counts(self.keys, self.moves, self.offsets)
        promotion = self.moves >> 12
        # A book counts pairs of squares, not promotion pieces. The whole count is given to the promotion to a queen.
        return np.where((promotion == 0) | (promotion == chess.QUEEN), counts, 0.0)
