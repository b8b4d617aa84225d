"""The side inputs of a network, such as the players' ratings, for the positions of a game. Side inputs are further
columns of the array `state` (see `kibitz.PositionArrays`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import chess
import chess.pgn
import numpy as np
from numpy.typing import NDArray

from kibitz.analysis.chess.limits import HIGHEST, LOWEST
from kibitz.errors import UsageError
from kibitz.games.chess.filters import read_rating, speed_of
from kibitz.games.chess.replay import SIDE
from kibitz.games.chess.sides import RATING_UNIT, SCALES, SPEEDS, scale_of
from kibitz.play.session import Session
from kibitz.play.side_inputs import LAST_MOVES

RATING, OPPONENT = "rating", "opponent_rating"
"""The names of two side inputs (inputs in addition to the position): the rating of the side to move, and the rating of
the opponent.
"""
UNIT = RATING_UNIT
"""The number of rating points in one unit of a state column. The values 0 to 255 mean ratings up to 4080."""


def compares_ratings(session: Session) -> bool:
    """Return whether a network predicts the moves of players of any rating. The network of one person does not:
    it has inputs for ratings, but always imitates this person.
    """
    return OPPONENT in session.side_inputs and not getattr(session, "of_person", False)


def add_side_inputs(
    state: NDArray[np.uint8],
    headers: chess.pgn.Headers,
    side_inputs: Mapping[str, int],
    moves: Sequence[chess.Move] = (),
    ratings: tuple[int, int] | None = None,
) -> NDArray[np.uint8]:
    """Return the array `state` of a game's n positions with one more column for each side input of a network.

    state: uint8 [n, 4], see `kibitz.PositionArrays`. The result is uint8 [n, 4 + len(side_inputs)].
    headers: the game's headers. They contain the time control, the rating scale and, if `ratings` is None, the ratings.
    side_inputs: the names of the network's side inputs, each with its default value. The default applies if neither the
        headers nor the arguments contain the input.
    moves: the n - 1 moves of the game, for networks whose inputs include the last moves.
    ratings: the ratings of White and Black; None for the ratings in the headers.
    """
    columns = [state]
    white, black = ratings or ratings_of(headers)
    known = known_inputs(headers)
    squares = _last_moves(moves, len(state))
    for name, usual in side_inputs.items():
        if name in (RATING, OPPONENT):
            own, other = (min(rating // UNIT, 255) or usual for rating in (white, black))
            first, second = (own, other) if name == RATING else (other, own)
            columns.append(np.where(state[:, SIDE] == 0, first, second).astype(np.uint8)[:, None])
        elif name in squares:
            columns.append(squares[name][:, None])
        else:
            columns.append(np.full((len(state), 1), known.get(name, usual), np.uint8))
    return np.concatenate(columns, 1)


def known_inputs(headers: chess.pgn.Headers) -> dict[str, int]:
    """Return two side inputs of a game, as a dict with the keys "speed" and "scale". Side inputs are a network's inputs
    besides the board. The value of "speed" is the code of the speed class, and the value of "scale" is the code of the
    rating scale. Codes are from 0 to 255. The code 0 means that the headers don't determine the value.
    """
    return {
        "speed": SPEEDS.index(speed_of(headers.get("TimeControl", ""), headers.get("Event", "")) or ""),
        "scale": SCALES.index(scale_of(headers.get("Site", ""))),
    }


def _last_moves(moves: Sequence[chess.Move], positions: int) -> dict[str, NDArray[np.uint8]]:
    """Return the columns of LAST_MOVES for every position of a game."""
    found = {}
    for back, names in enumerate(LAST_MOVES, 1):
        for name, part in zip(names, ("from_square", "to_square"), strict=True):
            column = np.zeros(positions, np.uint8)
            for i in range(back, min(positions, len(moves) + back)):
                move = moves[i - back]
                column[i] = getattr(move, part) + 1 if move else 0
            found[name] = column
    return found


def lacking(headers: chess.pgn.Headers) -> bool:
    """Return whether the headers lack the rating of at least one of the two players. A rating outside of 100 to 4000
    counts as missing.
    """
    return not all(ratings_of(headers))


def ratings_of(headers: chess.pgn.Headers) -> tuple[int, int]:
    """Return the ratings of White and Black in the headers. A missing rating becomes 0, and so does a rating outside of
    100 to 4000.
    """
    white, black = (read_rating(headers.get(name, "")) for name in ("WhiteElo", "BlackElo"))
    return (white if LOWEST <= white <= HIGHEST else 0), (black if LOWEST <= black <= HIGHEST else 0)


def read_pair(text: str) -> tuple[int, int]:
    """Return the ratings of White and Black in the text of the option `--rating`. The text is one rating for both
    players, such as "1500", or two ratings, such as "1500,1720". Raises UsageError for any other text.
    """
    parts = text.replace("/", ",").split(",")
    if not 1 <= len(parts) <= 2 or not all(part.strip().isdecimal() for part in parts):
        raise UsageError(
            f"--rating must be one rating for both players, or two ratings: White's and Black's (got {text}). Example:"
            " 1500 or"
            " 1500,1720"
        )
    numbers = [int(part) for part in parts]
    for number in numbers:
        if not LOWEST <= number <= HIGHEST:
            raise UsageError(f"--rating must be from {LOWEST} to {HIGHEST} (got {number})")
    return numbers[0], numbers[-1]
