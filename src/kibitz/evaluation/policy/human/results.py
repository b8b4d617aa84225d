"""The tested positions of a network of the system (kind of network) `human`, and its predictions for them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError
from kibitz.evaluation.batches import evaluate_in_batches
from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.material import phase
from kibitz.games.chess.replay import SIDE
from kibitz.games.chess.sides import scale_codes, side_inputs, speed_codes
from kibitz.play.chess.policy import move_probabilities, normalised
from kibitz.play.session import Session
from kibitz.stats import ClusterBootstrap
from kibitz.store.positions import Batch, Positions
from kibitz.store.store import Store

Marks = dict[str, NDArray[Any]]
"""The results of tested positions: arrays by name, with one entry per position."""

BANDS = (0, *range(800, 2801, 200), np.inf)
"""The limits of the rating bands, which are ranges of ratings."""


def rating_bands(rating: NDArray[np.int64]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield each rating band (range of ratings) that contains at least one of the ratings: the band's name, and whether
    each rating is in the band, bool [n].

    rating: int64 [n]. Unknown ratings (−1) are in no band.
    """
    for low, high in itertools.pairwise(BANDS):
        inside = (rating >= max(low, 1)) & (rating < high)
        if inside.any():
            yield band_name(low, high), inside


def band_name(low: float, high: float) -> str:
    """Return the name of the rating band that contains the ratings from `low` to below `high`, such as "800 to 999".

    If `low` is 0, the name is, for example, "under 800". If `high` is infinite, the name is, for example, "2800 and
    over".
    """
    return f"under {high}" if low <= 0 else f"{low} and over" if high >= BANDS[-1] else f"{low} to {int(high) - 1}"


class RatedSession:
    """Evaluates positions of a store with a network that has additional inputs, such as the players' ratings.

    session: the open network. store: the database of games, which contains the values of these inputs.
    """

    def __init__(self, session: Session, store: Store):
        self.session, self.store = session, store
        self.ratings = np.stack([store.column("white_rating"), store.column("black_rating")]).astype(np.int64)
        self.speeds, self.scales = speed_codes(store), scale_codes(store)

    def full_state(self, batch: Batch) -> NDArray[np.uint8]:
        """Return the array `state` of a batch of positions, with the network's additional inputs as further columns,
        uint8 [n, 12]. The inputs, such as the ratings, are those of each position's game.
        """
        side = batch.state[:, SIDE].astype(np.int64)
        at = self.store.offsets[batch.games] + batch.plies
        more = side_inputs(
            self.ratings[side, batch.games], self.ratings[1 - side, batch.games], self.speeds[batch.games],
            self.scales[batch.games], self.store.moves, at, batch.plies,
        )  # fmt: skip
        return np.concatenate([batch.state, more], 1)

    def measure(self, batch: Batch, state: NDArray[np.uint8]) -> Marks:
        """Evaluate positions in which a move was played, and return the results as a dict from names to arrays [n].

        The arrays are those of `ranked`. If the network predicts results, "win", "draw" and "loss" are the mover's
        probabilities, 0 to 1. state: uint8 [n, 12], the state of `kibitz.PositionArrays` with the additional inputs
        (ratings, speed and last moves), as `full_state` returns it.
        """
        answers = self.session.evaluate(batch.codes, state)
        played = self.store.moves[self.store.offsets[batch.games] + batch.plies]
        marks = ranked(answers, batch, played)
        if "outcome" in answers:
            marks |= {name: answers["outcome"][:, i] for i, name in enumerate(("win", "draw", "loss"))}
        return marks


def ranked(answers: dict[str, NDArray[np.float32]], batch: Batch, played: NDArray[np.uint16]) -> Marks:
    """Return how a network ranks the played move among the legal moves of each position, as a dict from names to arrays
    [n].

    answers: the network's outputs. batch: the positions. played: uint16 [n], the played moves, packed as in
    `kibitz.games.chess.moves`.

    The dict has these arrays:

    chance: the played move's probability; the probabilities of all legal moves add up to 1.
    rank: the played move's rank, from 1.
    best: the most likely move, packed.
    surest: the probability of the most likely move.
    choices: the number of legal moves.

    Raises KibitzError if a played move is illegal, because the store is damaged.
    """
    moves, offsets = legal_moves(batch.codes, batch.state)
    shares = normalised(move_probabilities(answers, batch.codes, moves, offsets), offsets)
    sizes = np.diff(offsets)
    rows = np.repeat(np.arange(len(played)), sizes)
    at = np.flatnonzero(moves == played[rows])
    if len(at) != len(played):
        raise KibitzError("the store is damaged: a played move is illegal. Import the games again.")
    chance = shares[at]
    order = np.arange(len(moves))
    before = (shares > chance[rows]) | ((shares == chance[rows]) & (order < at[rows]))
    best = np.maximum.reduceat(shares, offsets[:-1])
    first = np.minimum.reduceat(np.where(shares == best[rows], order, len(moves)), offsets[:-1])
    return {
        "chance": chance,
        "rank": (1 + np.add.reduceat(before, offsets[:-1])).astype(np.int16),
        "best": moves[first],
        "surest": best,
        "choices": sizes.astype(np.int16),
    }


@dataclass(frozen=True)
class HumanResults:
    """The tested positions, in each of which a move was played. All arrays have one entry per tested position.

    rated: the network and the store.
    positions: the list from which the tested positions were sampled.
    indices: int64, the tested positions, as indices into `positions`.
    games, plies: int64, the index of the game in the store, and the number of moves before the position.
    marks: the arrays that `RatedSession.measure` returns, and two more arrays. "side" is the side to move, 0 White, 1
        Black. "phase" is the phase of the game, 0 opening, 1 middlegame, 2 endgame.
    rating, opponent: int64, the ratings of the mover and the opponent, −1 if unknown.
    result: int64, the game's result for the mover: 1 for a win, 0 for a draw, −1 for a loss.
    """

    rated: RatedSession
    positions: Positions
    indices: NDArray[np.int64]
    games: NDArray[np.int64]
    plies: NDArray[np.int64]
    marks: Marks
    rating: NDArray[np.int64]
    opponent: NDArray[np.int64]
    result: NDArray[np.int64]

    @property
    def store(self) -> Store:
        """The database of games that contains the positions."""
        return self.rated.store

    @cached_property
    def groups(self) -> ClusterBootstrap:
        """The positions grouped by game, for computing means with confidence intervals."""
        return ClusterBootstrap(self.games)

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether the most likely move was played, bool [n]."""
        return cast("NDArray[np.bool_]", self.marks["rank"] == 1)

    def played(self, some: NDArray[np.int64]) -> NDArray[np.uint16]:
        """Return the move that was played in some of the tested positions, uint16 [k], packed as in
        `kibitz.games.chess.moves`.

        some: int64 [k], indices of tested positions.
        """
        moves: NDArray[np.uint16] = self.store.moves[self.store.offsets[self.games[some]] + self.plies[some]]
        return moves

    def measure_again(
        self, some: NDArray[np.int64], measure: Callable[[Batch], Marks], on_progress: Callable[[int, int], None]
    ) -> Marks:
        """Evaluate some of the tested positions again, for example with changed ratings. Returns a dict from names to
        the arrays of `measure`, in the order of `some`.

        some: int64 [k], indices of tested positions. measure: a function that evaluates a batch of positions.
        on_progress: a function that is called with the number of completed positions and the total.
        """
        return evaluate_in_batches(self.positions, self.indices[some], measure, on_progress)


def evaluate_positions(
    rated: RatedSession, positions: Positions, indices: NDArray[np.int64], on_progress: Callable[[int, int], None]
) -> HumanResults:
    """Evaluate positions with the network, and return its results. Inputs such as the ratings are those of each
    position's game.

    rated: the network and the store. positions: the list that contains the positions. indices: int64 [n], the positions
    to evaluate, as indices into `positions`.
    """

    def measure(batch: Batch) -> Marks:
        marks = rated.measure(batch, rated.full_state(batch))
        return marks | {"side": batch.state[:, SIDE], "phase": phase(batch.codes)}

    marks = evaluate_in_batches(positions, indices, measure, on_progress)
    games, plies = positions.locate(indices)
    side = marks["side"].astype(np.int64)
    known = np.where(rated.ratings > 0, rated.ratings, -1)
    return HumanResults(
        rated, positions, indices, games, plies, marks, known[side, games], known[1 - side, games],
        rated.store.column("result")[games].astype(np.int64) * (1 - 2 * side),
    )  # fmt: skip


def winner_right(marks: Marks, result: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the correctness of the predicted winner, float64 [n]: 1 if the predicted winner won, 0 if not, 0.5 if the
    probabilities of win and loss are equal.

    marks: the arrays "win" and "loss", [n] each, the mover's probabilities. result: int64 [n], the game's result for
    the mover. The entries of drawn games have no meaning.
    """
    ahead = marks["win"] - marks["loss"]
    return np.where(ahead == 0, 0.5, (ahead > 0) == (result > 0))
