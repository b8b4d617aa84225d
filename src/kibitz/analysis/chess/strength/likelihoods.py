"""Compute how likely each move of a player is for players of several ratings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import chess
import chess.pgn
import numpy as np
from numpy.typing import NDArray

from kibitz.analysis.chess.clocks import times_left
from kibitz.analysis.chess.ratings import OPPONENT, RATING, UNIT, add_side_inputs
from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.material import phase
from kibitz.games.chess.moves import from_move
from kibitz.games.chess.replay import SQUARES, encode_board
from kibitz.play.chess.policy import move_probabilities, normalised
from kibitz.play.session import STATE, Answers

RATINGS = (600, 1000, 1400, 1800, 2200, 2600)
"""The ratings, in points, for which the likelihood of each move is computed. Between these ratings, the likelihood
changes smoothly.
"""
LEAST_LIKELY = 1e-4
"""The lower limit of a move's likelihood. With this limit, a single absurd move can't decide the estimate."""


@dataclass(frozen=True)
class MoveLikelihoods:
    """The likelihoods of one side's moves in a game, for players of several ratings.

    log: the natural logarithm of the likelihood of each move for the six ratings 600, 1000, … 2600, float32 [moves, 6].
    phase: the phase of the game before each move, int8 [moves], 0 for the opening, 1 for the middlegame, 2 for the
        endgame.
    seconds: the time on the player's clock before each move, in seconds, float32 [moves]; NaN if the record has no
        clocks.
    """

    log: NDArray[np.float32]
    phase: NDArray[np.int8]
    seconds: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.log)

    def where(self, mask: NDArray[np.bool_]) -> MoveLikelihoods:
        """Return the likelihoods of only those moves for which `mask`, bool [moves], is true."""
        return MoveLikelihoods(self.log[mask], self.phase[mask], self.seconds[mask])


class NetworkWithRatings(Protocol):
    """The interface of a network with rating inputs, as far as this module uses it. A `kibitz.play.session.Session` is
    an example.

    side_inputs: the names of the inputs in addition to the position, each with its default value.
    """

    side_inputs: dict[str, int]

    def evaluate(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> Answers:
        """Return the network's outputs for n positions, as a dict from names to arrays. codes: uint8 [n, 64]. state:
        uint8 [n, 4 + side inputs], see `kibitz.PositionArrays`.
        """


def side_likelihoods(game: chess.pgn.Game, side: chess.Color, session: NetworkWithRatings) -> MoveLikelihoods:
    """Return the likelihoods of one side's moves in a game. Null moves, which pass the turn, are skipped.

    For each of the six ratings, the network takes this rating as the input for both players. The opponent's real rating
    would be a hint at the player's rating, so it is not used. The headers give the speed and the rating scale. session:
    a network with rating inputs.
    """
    played, rows, own = [], [], []
    board = game.board()
    for i, node in enumerate(game.mainline()):
        rows.append(encode_board(board))
        if board.turn == side and node.move:
            own.append(i)
        played.append(node.move)
        board.push(node.move)
    if not own:
        return MoveLikelihoods(
            np.zeros((0, len(RATINGS)), np.float32), np.zeros(0, np.int8), np.zeros(0, np.float32)
        )  # fmt: skip
    positions = np.stack(rows)
    state = add_side_inputs(positions[:, SQUARES:], game.headers, session.side_inputs, played[:-1])[own]
    codes = np.ascontiguousarray(positions[own, :SQUARES])
    packed = np.array([from_move(played[i]) for i in own], np.uint16)
    log = _log_likelihoods(session, codes, state, packed)
    left = times_left(game)
    seconds = np.array([np.nan if left[i] is None else left[i] for i in own], np.float32)
    return MoveLikelihoods(log, phase(codes).astype(np.int8), seconds)


def _with_rating(session: NetworkWithRatings, state: NDArray[np.uint8], rating: int) -> NDArray[np.uint8]:
    """Return a copy of the state rows with this rating of both players."""
    rated = state.copy()
    for i, name in enumerate(session.side_inputs):
        if name in (RATING, OPPONENT):
            rated[:, STATE + i] = rating // UNIT
    return rated


def _log_likelihoods(
    session: NetworkWithRatings, codes: NDArray[np.uint8], state: NDArray[np.uint8], packed: NDArray[np.uint16]
) -> NDArray[np.float32]:
    """Return the log-likelihood of one move in each position, for each rating of RATINGS, float32 [n, 6]. packed: the
    moves, uint16 [n].
    """
    moves, offsets = legal_moves(codes, state)
    owner = np.repeat(np.arange(len(codes)), np.diff(offsets))
    played = moves == packed[owner]
    every = np.concatenate([_with_rating(session, state, rating) for rating in RATINGS])
    answers = session.evaluate(np.tile(codes, (len(RATINGS), 1)), every)
    likelihood = np.zeros((len(codes), len(RATINGS)))
    for i in range(len(RATINGS)):
        part = {name: values[i * len(codes) : (i + 1) * len(codes)] for name, values in answers.items()}
        shares = normalised(move_probabilities(part, codes, moves, offsets), offsets)
        np.add.at(likelihood[:, i], owner[played], shares[played])
    return np.log(np.maximum(likelihood, LEAST_LIKELY)).astype(np.float32)
