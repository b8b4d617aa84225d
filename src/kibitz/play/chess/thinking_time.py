"""Predict how long people think about a chess move, from their rating, the clock and the position.

The logarithm of the time is the sum of an expected value and a random number. The expected value is a linear function
of a few features. The random number represents the person's mood. It is sampled from quantiles that were measured for
moves with a similar expected time. bench/thinking_times.py measures the function and the quantiles.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.moves import from_move
from kibitz.games.chess.replay import SQUARES, encode_board
from kibitz.play.chess.policy import move_probabilities, normalised
from kibitz.play.result import SearchLimits
from kibitz.play.session import NetworkSession
from kibitz.play.side_inputs import with_side_inputs

PARAMETERS = Path(__file__).with_name("thinking_time.json")
OFFSET = 0.5
"""The seconds that are added to a time before its logarithm is taken, because clocks have whole seconds, and many moves
take 0 seconds.
"""
MOVES_LEFT = (40.0, 12.0)
"""The number of further moves for which a player saves time: at the start of the game, and from move 40 on."""
BLITZ_PACE = 5.0
"""A pace of 5 seconds per move. Features measure the pace relative to this number, and one feature counts only a slower
pace.
"""
LONGEST = 0.5
"""The largest share of the clock's remaining time that one move may take."""
FEATURES = (
    "one", "pace", "pace_squared", "slow_pace", "used", "rating", "rating_pace", "entropy", "entropy_pace",
    "entropy_rating", "surprise", "recapture", "only_move", "in_check", "opening", "early", "late", "short_of_time",
)  # fmt: skip


@dataclass(frozen=True)
class MoveContext:
    """The values on which the thinking times for n moves depend. All arrays are [n].

    clock: the seconds on the mover's clock, above 0.
    increment: the seconds added after each move.
    start: the seconds on the clock at the start of the game.
    number: how many moves the mover has already made.
    rating: the mover's rating in points.
    entropy: the entropy of the predicted move probabilities, in nats.
    surprise: minus the natural logarithm of the predicted probability of the move.
    recapture: whether the move captures on the square of the last capture.
    only_move: whether the move is the only legal move.
    in_check: whether the mover is in check.
    """

    clock: NDArray[np.float64]
    increment: NDArray[np.float64]
    start: NDArray[np.float64]
    number: NDArray[np.float64]
    rating: NDArray[np.float64]
    entropy: NDArray[np.float64]
    surprise: NDArray[np.float64]
    recapture: NDArray[np.float64]
    only_move: NDArray[np.float64]
    in_check: NDArray[np.float64]

    def pace(self) -> NDArray[np.float64]:
        """Return the average time per move that the clock allows until the end of the game, in seconds, float64 [n]."""
        first, last = MOVES_LEFT
        left = np.maximum(last, first - self.number * (first - last) / 40)
        return self.clock / left + self.increment

    def features(self) -> NDArray[np.float64]:
        """Return the numbers from which a thinking time is computed (features), float64 [n, 18], one row per move.
        FEATURES has the names of the columns.
        """
        pace = np.log(self.pace() + 0.2) - math.log(BLITZ_PACE)
        rating = (self.rating - 1500) / 500
        columns = (
            np.ones(len(pace)), pace, pace**2, np.maximum(0, pace), np.log(self.clock / self.start + 0.05), rating,
            rating * pace, self.entropy, self.entropy * pace, self.entropy * rating, np.minimum(self.surprise, 6),
            self.recapture, self.only_move, self.in_check, np.maximum(0, 8 - self.number) / 8,
            np.maximum(0, 3 - self.number), np.maximum(0, self.number - 40) / 20, np.maximum(0, 1 - self.clock / 20),
        )  # fmt: skip
        return np.stack(columns, 1)


@dataclass(frozen=True)
class ThinkingTimes:
    """A model of thinking times, fitted to games of people.

    weights: float64 [18], the weights of the features (see `MoveContext.features`). The weighted sum of the features is
        the expected logarithm of the time.
    limits: float64 [k - 1], the ascending limits between k bands of the expected logarithm.
    quantiles: float64 [k, q], for each band, quantiles of the difference between the real and the expected logarithm,
        at q equally spaced levels from 0 to 1.
    """

    weights: NDArray[np.float64]
    limits: NDArray[np.float64]
    quantiles: NDArray[np.float64]

    def times(self, context: MoveContext, levels: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the thinking time for each move in seconds, 0 or more, float64 [n].

        context: the values on which the times depend. levels: float64 [n], from 0 for the shortest time to 1 for the
        longest; 0.5 gives the median. Random levels give random times. No move takes more than half of the clock's time
        (LONGEST).
        """
        expected = context.features() @ self.weights
        bands = self.quantiles[np.searchsorted(self.limits, expected, "right")]
        level = levels * (bands.shape[1] - 1)
        below = np.minimum(level.astype(np.intp), bands.shape[1] - 2)
        rows, share = np.arange(len(expected)), level - below
        rest = bands[rows, below] * (1 - share) + bands[rows, below + 1] * share
        seconds: NDArray[np.float64] = np.clip(np.exp(expected + rest) - OFFSET, 0, LONGEST * context.clock)
        return seconds

    def as_json(self) -> dict[str, Any]:
        """Return the parameters of the model as a dict for JSON, in the form of the bundled file PARAMETERS."""
        return {
            "features": list(FEATURES),
            "weights": np.round(self.weights, 5).tolist(),
            "limits": np.round(self.limits, 4).tolist(),
            "quantiles": np.round(self.quantiles, 4).tolist(),
        }

    @staticmethod
    def from_json(found: Mapping[str, Any]) -> ThinkingTimes:
        """Return the model with these parameters. found: a result of `as_json`."""
        return ThinkingTimes(*(np.array(found[name], np.float64) for name in ("weights", "limits", "quantiles")))


@cache
def thinking_times() -> ThinkingTimes:
    """Return the model of thinking times that is bundled with kibitz."""
    return ThinkingTimes.from_json(json.loads(PARAMETERS.read_text(encoding="utf-8")))


LEAST_LIKELY = 1e-4
"""Smaller predicted probabilities of a move are replaced by this number."""


def context_of(
    board: chess.Board, move: chess.Move, probabilities: tuple[NDArray[np.uint16], NDArray[np.float32]]
) -> dict[str, float]:
    """Return those fields of MoveContext that depend on the position and the move, as a dict from names to numbers. The
    clock and the rating are not included.

    board: the position before the move, with its move stack. probabilities: the packed legal moves (see
    `kibitz.games.chess.moves.from_move`), and the probability of each.
    """
    moves, shares = probabilities
    chosen = float(shares[moves == from_move(move)].sum())
    return {
        "number": len(board.move_stack) // 2,
        "entropy": float(-(shares * np.log(np.maximum(shares, 1e-9))).sum()),
        "surprise": -math.log(max(chosen, LEAST_LIKELY)),
        "recapture": is_recapture(board, move),
        "only_move": len(moves) == 1,
        "in_check": board.is_check(),
    }


def is_recapture(board: chess.Board, move: chess.Move) -> bool:
    """Return whether a move goes to the square of the last move, and the last move was a capture."""
    if not board.move_stack or board.peek().to_square != move.to_square:
        return False
    before = board.copy(stack=1)
    last = before.pop()
    return before.is_capture(last)


class PaceOfPeople:
    """Samples thinking times of human players of one rating.

    session: a network that predicts moves.
    side_inputs: values for the network's side inputs (inputs in addition to the position), a dict from an input's name
        to a number, 0 to 255. The rating inputs must correspond to `rating`.
    rating: the rating in points.
    random: the random number generator.
    start: the seconds on the clock at the start of the game; 0 if unknown.
    """

    def __init__(
        self,
        session: NetworkSession,
        side_inputs: Mapping[str, int],
        rating: int,
        random: np.random.Generator,
        start: float = 0.0,
    ):
        self._session, self._side_inputs, self._rating, self._random = session, side_inputs, rating, random
        self._start = start

    def new_game(self) -> None:
        """Clear the saved time that the clock had at the start of the previous game."""
        self._start = 0.0

    def seconds(self, board: chess.Board, move: chess.Move, limits: SearchLimits) -> float:
        """Return a random thinking time for a move in seconds, 0 or more; 0 without a clock.

        If the clock at the start of the game is unknown, the largest clock time so far is used instead.
        """
        if not limits.clock:
            return 0.0
        self._start = max(self._start, limits.clock)
        row = encode_board(board)
        codes = np.ascontiguousarray(row[None, :SQUARES])
        state = with_side_inputs(row[None, SQUARES:], self._side_inputs, board, {})
        moves, offsets = legal_moves(codes, state)
        shares = normalised(move_probabilities(self._session.evaluate(codes, state), codes, moves, offsets), offsets)
        found = context_of(board, move, (moves, shares)) | {
            "clock": limits.clock, "increment": limits.increment, "start": self._start, "rating": self._rating,
        }  # fmt: skip
        columns = {name: np.array([value], np.float64) for name, value in found.items()}
        return float(thinking_times().times(MoveContext(**columns), self._random.random(1))[0])
