"""Compute how a network ranks the played move in each position. The results are arrays by name with one entry per
position, called marks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation.slices import VALUES
from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.material import phase
from kibitz.games.chess.replay import SIDE
from kibitz.play.chess.policy import move_probabilities, normalised
from kibitz.play.session import Answers, Session
from kibitz.stats import ClusterBootstrap
from kibitz.store.positions import Batch
from kibitz.store.store import Store
from kibitz.systems.movers import system

Arrays = dict[str, NDArray[Any]]

PAWN, KING = 0, 5
PROMOTES_TO_QUEEN = 5  # in bits 12-14 of a packed move


@dataclass(frozen=True)
class PolicyResults:
    """The tested positions, in each of which a move was played, and the results of a run (the folder of a trained
    network) of `convchess` or `chessnet`.

    store: the database of games. settings: the settings of the run.
    names: which networks the run has: "piece" predicts the from-square, "pawn" … "king" predict the to-square for this
        type of piece, and "value" predicts the result.
    by_square: whether the network predicts the to-square for each from-square, and not for each type of piece.
    games, plies: int64 [n], the positions: the index of a game in the store, and the number of moves before the
        position.
    groups: the positions grouped by game, for computing means with confidence intervals.
    marks: a dict from names to arrays, each with one entry per position, see `measure`.
    """

    store: Store
    settings: system.Settings
    names: tuple[str, ...]
    by_square: bool
    games: NDArray[np.int64]
    plies: NDArray[np.int64]
    groups: ClusterBootstrap
    marks: Arrays

    @property
    def whole(self) -> bool:
        """Whether the run (the folder of a trained network) has all seven networks that are needed to predict a
        complete move: one for the from-square, and one for the to-square of each type of piece.
        """
        return set(system.SELECTORS) <= set(self.names)

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether the most likely legal move is the played move, bool [n]."""
        right: NDArray[np.bool_] = self.marks["rank"] == 1
        return right

    @property
    def result(self) -> NDArray[np.int64]:
        """The result of each position's game for the side to move, int64 [n]: 1 for a win, 0 for a draw, −1 for a
        loss.
        """
        results: NDArray[np.int64] = self.store.column("result")[self.games].astype(np.int64)
        return results * (1 - 2 * self.marks["side"].astype(np.int64))

    def mover_rating(self) -> NDArray[np.int64]:
        """Return the rating of the player to move, int64 [n]; −1 if unknown."""
        both = np.stack([self.store.column("white_rating"), self.store.column("black_rating")]).astype(np.int64)
        rating = both[self.marks["side"].astype(np.int64), self.games]
        return np.where(rating > 0, rating, -1)


def with_side_inputs(session: Session, settings: system.Settings, store: Store, batch: Batch) -> NDArray[np.uint8]:
    """Return the array `state` (see `kibitz.PositionArrays`) of a batch, with the network's additional inputs as
    further columns, uint8 [n, 4 + inputs].

    A network may have two additional inputs: the mover's rating, and the result of the game. In place of the result,
    the network gets a constant, because the result is not known during a game.
    """
    if not session.side_inputs:
        return batch.state
    ratings = np.stack([store.column("white_rating"), store.column("black_rating")])
    side = batch.state[:, SIDE].astype(np.int64)
    more = system.side_input_columns(settings, ratings, store.column("result"), batch.games, side)
    if settings.outcome_plane:
        more[:, -1] = session.side_inputs["outcome"]
    return np.concatenate([batch.state, more], 1)


def played_in(store: Store, games: NDArray[np.int64], plies: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the move that was played in each position, int64 [n], packed as in `kibitz.games.chess.moves`.

    games, plies: int64 [n], the positions: the index of a game in the store, and the number of moves before the
    position.
    """
    moves: NDArray[np.int64] = store.moves[store.offsets[games] + plies].astype(np.int64)
    return moves


def measure(answers: Answers, batch: Batch, played: NDArray[np.int64]) -> Arrays:
    """Return the results for a batch of positions ("marks") as a dict from names to arrays [n].

    answers: the network's outputs. batch: the positions. played: int64 [n], the moves that were played, packed as in
    `kibitz.games.chess.moves`.

    Four arrays always exist. "side" is the side to move, 0 White, 1 Black. "phase" is from 0 for the opening to 2 for
    the endgame. "material" is the mover's material minus the opponent's, in pawns. "piece" is the type of the moving
    piece, from 0 for a pawn to 5 for a king. The array "value" exists if the network outputs a value.

    If the network predicts moves, the result also has the arrays of `move_marks`, and those of `square_marks` with a
    prefix. The prefix is "origin" for the from-square, and "target" for the to-square given the type of the moving
    piece. If the network predicts the to-square for each from-square, there are also arrays with the prefix
    "from_square", for the to-square given the from-square. For such a network, the probability of a to-square given a
    type of piece is a mean over the pieces of this type, weighted by the probability of the from-square.
    """
    codes, side, rows = batch.codes, batch.state[:, SIDE], np.arange(len(played))
    piece = (codes[rows, played & 63].astype(np.int64) - 1) % 6
    marks: Arrays = {
        "side": side,
        "phase": phase(codes),
        "material": VALUES[codes].sum(1, dtype=np.int16) * (1 - 2 * side.astype(np.int16)),
        "piece": piece.astype(np.int8),
    }
    if "value" in answers:
        marks["value"] = answers["value"]
    if "origin" not in answers:
        return marks
    moves, offsets = legal_moves(codes, batch.state)
    of = np.repeat(rows, np.diff(offsets))  # the index of the position of each legal move
    origin, target = (moves & 63).astype(np.int64), (moves >> 6 & 63).astype(np.int64)
    starts = np.zeros((len(played), 64), np.bool_)
    starts[of, origin] = True
    marks |= _named("origin", square_marks(answers["origin"], starts, played & 63))

    def targets(chance: NDArray[np.float32], mask: NDArray[np.bool_]) -> Arrays:
        """Return the results for a prediction of the to-square, as `square_marks` does.

        chance: float32 [n, 64], the probability of each square. mask: bool [moves], which of the legal moves of all
        positions to use, for example only moves of one type of piece. The to-squares of these moves are the legal
        squares.
        """
        ends = np.zeros((len(played), 64), np.bool_)
        ends[of[mask], target[mask]] = True
        return square_marks(chance, ends, played >> 6 & 63)

    # this also finds pieces of the opponent, which is harmless, because no move starts from their squares
    same_kind = (codes - 1) % 6 == piece[:, None]
    if answers["target"].shape[1] == 64:
        start = played & 63
        marks |= _named("from_square", targets(answers["target"][rows, start], origin == start[of]))
        weights = np.where(starts_own(codes, side) & same_kind, answers["origin"], 0)
        chance = (weights[:, None] @ answers["target"])[:, 0] / np.maximum(weights.sum(1, keepdims=True), 1e-30)
    else:
        chance = answers["target"][rows, piece]
    marks |= _named("target", targets(chance, same_kind[of, origin]))
    return marks | move_marks(answers, batch, played, moves, offsets, starts)


def starts_own(codes: NDArray[np.uint8], side: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which squares have a piece of the side to move, bool [n, 64].

    codes: uint8 [n, 64], the contents of the squares: 0 empty, 1 to 6 White's pieces, 7 to 12 Black's. side: uint8 [n],
    the side to move, 0 White, 1 Black.
    """
    own: NDArray[np.bool_] = (codes > 0) & ((codes > 6) == (side[:, None] == 1))
    return own


def _named(prefix: str, marks: Arrays) -> Arrays:
    return {f"{prefix}_{name}": values for name, values in marks.items()}


def square_marks(chance: NDArray[np.float32], legal: NDArray[np.bool_], played: NDArray[np.int64]) -> Arrays:
    """Return the results for a predicted square of the played move (from or to), as a dict from names to arrays [n].

    chance: float32 [n, 64], the predicted probability of each square. legal: bool [n, 64], the legal squares. played:
    int64 [n], the square of the played move.

    The dict has these arrays:

    rank: the rank of `played` by probability, from 1. legal_rank: its rank among the legal squares.
    illegal: whether the most likely square is illegal.
    squared, largest: ‖p − q‖² and max|p − q|, where p is the prediction, and q is p set to 0 on illegal squares and
        normalized.
    choices: the number of legal squares.
    """
    choices = legal.sum(1)
    legal_chance = np.where(legal, chance, 0)
    total = legal_chance.sum(1, keepdims=True)
    # Equal probabilities, which replace the prediction if it gives all probability to illegal squares.
    even = legal / np.maximum(choices, 1)[:, None]
    gap = chance - np.where(total > 0, legal_chance / np.where(total > 0, total, 1), even)
    return {
        "rank": rank_of(chance, played),
        "legal_rank": rank_of(np.where(legal, chance, -1), played),
        "illegal": ~legal[np.arange(len(chance)), chance.argmax(1)],
        "squared": (gap * gap).sum(1),
        "largest": np.abs(gap).max(1),
        "choices": choices.astype(np.int16),
    }


def move_marks(
    answers: Answers,
    batch: Batch,
    played: NDArray[np.int64],
    moves: NDArray[np.uint16],
    offsets: NDArray[np.int64],
    starts: NDArray[np.bool_],
) -> Arrays:
    """Return the results for the predicted move among the legal moves, as a dict from names to arrays [n].

    answers: the network's outputs for the batch. played: int64 [n], the moves that were played, packed as in
    `kibitz.games.chess.moves`. moves, offsets: the legal moves, as `legal_moves` returns them. starts: bool [n, 64],
    the from-squares of the legal moves.

    The dict has these arrays:

    rank: the played move's rank by probability, from 1.
    chance: the played move's probability; the probabilities of all legal moves add up to 1.
    choices: the number of legal moves.
    top_move: whether the method Top-move of Singh's thesis (2015) chooses the played move. This method chooses the most
        likely from-square, and then the most likely move from it.
    pair: whether the most likely move has the same squares as the played move; the promotion piece may differ.
    promotion, underpromotion, castling, en_passant: whether the played move is a move of this kind.
    """
    chances = move_probabilities(answers, batch.codes, moves, offsets)
    counts = np.diff(offsets)
    inside = np.arange(counts.max()) < counts[:, None]
    table = np.full(inside.shape, -1, np.float32)
    table[inside] = chances
    kind = np.full(inside.shape, -1, np.int64)
    kind[inside] = moves
    rows, at = np.arange(len(played)), (kind == played[:, None]).argmax(1)
    first = kind[rows, table.argmax(1)]
    origin = np.where(starts, answers["origin"], -1).argmax(1)
    top = kind[rows, np.where((kind & 63 == origin[:, None]) & inside, table, -1).argmax(1)]
    start, end, promotion = played & 63, played >> 6 & 63, played >> 12
    piece = (batch.codes[rows, start].astype(np.int64) - 1) % 6
    aside = (start & 7) != (end & 7)
    return {
        "rank": rank_of(table, at),
        "chance": normalised(chances, offsets)[offsets[:-1] + at],
        "choices": counts.astype(np.int16),
        "top_move": top == played,
        "pair": (first & 0xFFF) == (played & 0xFFF),
        "promotion": promotion > 0,
        "underpromotion": (promotion > 0) & (promotion != PROMOTES_TO_QUEEN),
        "castling": (piece == KING) & (np.abs(start - end) == 2),
        "en_passant": (piece == PAWN) & aside & (batch.codes[rows, end] == 0),
    }


def rank_of(scores: NDArray[np.float32], at: NDArray[np.int64]) -> NDArray[np.int16]:
    """Return the rank of one score in each row, int16 [n]; 1 is the highest score. Equal scores are ordered by column.

    scores: [n, k]. at: [n], the column of the score in each row.
    """
    own = scores[np.arange(len(scores)), at][:, None]
    before = (scores > own) | ((scores == own) & (np.arange(scores.shape[1]) < at[:, None]))
    ranks: NDArray[np.int16] = (1 + before.sum(1)).astype(np.int16)
    return ranks
