"""Marks for a network that predicts moves: how its answers to each position stand to the move that was played."""

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
    """The tested positions, in each of which a move was played.

    names: the networks that the run has, "piece", "pawn" … "king", "value"; games, plies: where each position is;
    marks: arrays by name, one entry a position, see `measure`; by_square: targets were asked by origin square.
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
        """Whether the run has the seven networks that a move needs."""
        return set(system.SELECTORS) <= set(self.names)

    @property
    def right(self) -> NDArray[np.bool_]:
        """Where the first choice among the legal moves is the move that was played."""
        right: NDArray[np.bool_] = self.marks["rank"] == 1
        return right

    @property
    def result(self) -> NDArray[np.int64]:
        """The result of each position's game for its mover: 1, 0, −1."""
        results: NDArray[np.int64] = self.store.column("result")[self.games].astype(np.int64)
        return results * (1 - 2 * self.marks["side"].astype(np.int64))

    def mover_rating(self) -> NDArray[np.int64]:
        """−1 where it is not known."""
        both = np.stack([self.store.column("white_rating"), self.store.column("black_rating")]).astype(np.int64)
        rating = both[self.marks["side"].astype(np.int64), self.games]
        return np.where(rating > 0, rating, -1)


def with_side_inputs(session: Session, settings: system.Settings, store: Store, batch: Batch) -> NDArray[np.uint8]:
    """The state of a batch with the network's side inputs: the mover's rating, and in place of the result, which is
    not known while a game goes on, what it is given when it plays."""
    if not session.side_inputs:
        return batch.state
    ratings = np.stack([store.column("white_rating"), store.column("black_rating")])
    side = batch.state[:, SIDE].astype(np.int64)
    more = system.side_input_columns(settings, ratings, store.column("result"), batch.games, side)
    if settings.outcome_plane:
        more[:, -1] = session.side_inputs["outcome"]
    return np.concatenate([batch.state, more], 1)


def played_in(store: Store, games: NDArray[np.int64], plies: NDArray[np.int64]) -> NDArray[np.int64]:
    """The packed move that was played in each position."""
    moves: NDArray[np.int64] = store.moves[store.offsets[games] + plies].astype(np.int64)
    return moves


def measure(answers: Answers, batch: Batch, played: NDArray[np.int64]) -> Arrays:
    """Marks of a batch, each [n]. played: packed moves.

    Always: side (0 White), phase (0 opening … 2 endgame), material (in pawns, mover's view), piece (type of the moving
    piece, 0 pawn … 5 king), and value where the network gives one. With origin and target also `move_marks`, and
    `square_marks` with a prefix: origin; target, given the type of the piece that moves; and from_square, given where
    it stands, of networks that answer so. Their target given a type is the mean over its pieces by P(origin).
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
    of = np.repeat(rows, np.diff(offsets))  # the position of each legal move
    origin, target = (moves & 63).astype(np.int64), (moves >> 6 & 63).astype(np.int64)
    starts = np.zeros((len(played), 64), np.bool_)
    starts[of, origin] = True
    marks |= _named("origin", square_marks(answers["origin"], starts, played & 63))

    def targets(chance: NDArray[np.float32], mask: NDArray[np.bool_]) -> Arrays:
        """Marks of an answer about the legal moves that the mask is true for."""
        ends = np.zeros((len(played), 64), np.bool_)
        ends[of[mask], target[mask]] = True
        return square_marks(chance, ends, played >> 6 & 63)

    same_kind = (codes - 1) % 6 == piece[:, None]  # of either side: nothing starts from the other's squares
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
    """Squares [n, 64] with a piece of the side to move (side [n])."""
    own: NDArray[np.bool_] = (codes > 0) & ((codes > 6) == (side[:, None] == 1))
    return own


def _named(prefix: str, marks: Arrays) -> Arrays:
    return {f"{prefix}_{name}": values for name, values in marks.items()}


def square_marks(chance: NDArray[np.float32], legal: NDArray[np.bool_], played: NDArray[np.int64]) -> Arrays:
    """Marks of one answer over squares, each [n]: chance and legal [n, 64], the square that was played [n].

    rank: its place by probability, from 1; legal_rank: among legal squares; illegal: the first choice is not legal;
    squared, largest: ‖p − q‖² and max|p − q|, q being p with the illegal squares at 0 and the rest scaled to sum 1;
    choices: legal squares.
    """
    choices = legal.sum(1)
    legal_chance = np.where(legal, chance, 0)
    total = legal_chance.sum(1, keepdims=True)
    even = legal / np.maximum(choices, 1)[:, None]  # for networks that are sure of illegal squares
    gap = chance - np.where(total > 0, legal_chance / np.where(total > 0, total, 1), even)
    return {
        "rank": place(chance, played),
        "legal_rank": place(np.where(legal, chance, -1), played),
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
    """Marks of whole moves, each [n], among the legal ones (moves, offsets as `legal_moves` gives them).

    rank: the played move's place by probability, from 1; chance: its probability, all legal ones' sum 1; choices: legal
    moves; top_move: whether the thesis' Top-move plays it, the best target of the best origin; pair: whether the first
    choice has its squares, whatever a pawn becomes; promotion, underpromotion, castling, en_passant: whether it is one.
    starts [n, 64]: squares that legal moves start from.
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
        "rank": place(table, at),
        "chance": normalised(chances, offsets)[offsets[:-1] + at],
        "choices": counts.astype(np.int16),
        "top_move": top == played,
        "pair": (first & 0xFFF) == (played & 0xFFF),
        "promotion": promotion > 0,
        "underpromotion": (promotion > 0) & (promotion != PROMOTES_TO_QUEEN),
        "castling": (piece == KING) & (np.abs(start - end) == 2),
        "en_passant": (piece == PAWN) & aside & (batch.codes[rows, end] == 0),
    }


def place(scores: NDArray[np.float32], at: NDArray[np.int64]) -> NDArray[np.int16]:
    """Places from 1 of the scores [n, k] at the columns `at` [n], the highest first; of equals the one further left."""
    own = scores[np.arange(len(scores)), at][:, None]
    before = (scores > own) | ((scores == own) & (np.arange(scores.shape[1]) < at[:, None]))
    places: NDArray[np.int16] = (1 + before.sum(1)).astype(np.int16)
    return places
