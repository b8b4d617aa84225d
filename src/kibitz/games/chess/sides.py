"""The side inputs of chess networks: inputs in addition to the board, each a number from 0 to 255. They are the
ratings, the rating scale, the speed and the last moves.

A rating needs its scale: 1800 over the board and 1800 on a server mean different strengths.
"""

from __future__ import annotations

import re
from typing import Any, Protocol, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kibitz.games import STATE_WIDTH
from kibitz.games.chess.filters import SPEEDS as KNOWN_SPEEDS
from kibitz.games.texts import text_codes

SPEEDS = ("", *KNOWN_SPEEDS)
"""The names of speeds. The index of a name is the network input; 0 is unknown."""
SCALES = ("", "fide", "lichess", "chess.com", "fics")
"""The names of rating scales. The index of a name is the network input; 0 is unknown."""
RATING_UNIT = 16
"""The number of rating points that one step of a rating input means."""

BEYOND = {
    "rating": 0, "opponent_rating": 0, "speed": 0, "scale": 0,
    "last_from": 0, "last_to": 0, "before_from": 0, "before_to": 0,
}  # fmt: skip
"""The side inputs by name, with their defaults. 0 is always unknown.

rating and opponent_rating: the ratings of the mover and the opponent in units of 16 points. speed and scale: indices
into SPEEDS and SCALES. last_from and last_to: from-square + 1 and to-square + 1 of the last move, which the opponent
made. before_from and before_to: the squares + 1 of the move before it, which the mover made.
"""
RATING, OPPONENT, SPEED, SCALE, LAST = range(STATE_WIDTH, STATE_WIDTH + 5)
"""The columns of the side inputs in a position's state, after the four columns of the board's state. LAST is the first
of four columns with the squares of the last two moves.
"""


_SERVER = re.compile(r"(?<![\w-])(?:lichess\.org|chess\.com)(?!\w)")
"""Matches a server's name as a whole, so not the end of 365chess.com."""
_HOST = re.compile(r"(?:[a-z0-9-]+\.)+(?:com|org|net)(?:/\S*)?")
_BROADCAST = re.compile(r"lichess\.org/broadcast/")


def scale_of(site: str) -> str:
    """Return the rating scale, such as "lichess" or "fide" (see SCALES), of games whose header Site has this value; ""
    if the scale is unknown.

    Games of a server have the server's address or name as their site ("https://lichess.org/abc", "Chess.com").
    Over-the-board events that were held on a server ("chess.com INT") or broadcast by it have FIDE ratings.
    """
    text = site.strip().lower()
    if "freechess.org" in text or text == "fics":
        return "fics"
    if "/" in text or _HOST.fullmatch(text):
        if _BROADCAST.search(text):
            return "fide"
        if server := _SERVER.search(text):
            return "lichess" if server[0] == "lichess.org" else "chess.com"
    return "" if text.strip("?. ") == "" or text.startswith("http") or _HOST.fullmatch(text) else "fide"


class _Columns(Protocol):
    """The interface of a store that this module uses."""

    def table(self, columns: list[str]) -> pa.Table: ...


def speed_codes(store: _Columns) -> NDArray[np.uint8]:
    """Return the speed of every game of a store, uint8 [games], as an index into SPEEDS; 0 if unknown. store: any
    object with a method `table` like that of `kibitz.store.store.Store`.
    """
    texts = store.table(["speed"])["speed"]
    return text_codes(texts, lambda speed: SPEEDS.index(speed) if speed in SPEEDS else 0)


def scale_codes(store: _Columns) -> NDArray[np.uint8]:
    """Return the rating scale of every game of a store, uint8 [games], as an index into SCALES; 0 if unknown. store:
    any object with a method `table` like that of `kibitz.store.store.Store`.
    """
    return text_codes(store.table(["site"])["site"], lambda site: SCALES.index(scale_of(site or "")))


def rating_bytes(ratings: NDArray[Any]) -> NDArray[np.uint8]:
    """Convert ratings in points to bytes in units of 16 points, uint8 [n]. 0, which means unknown, stays 0."""
    return cast("NDArray[np.uint8]", np.minimum(np.asarray(ratings, np.int64) // RATING_UNIT, 255).astype(np.uint8))


def side_inputs(
    rating: NDArray[Any],
    opponent: NDArray[Any],
    speeds: NDArray[np.uint8],
    scales: NDArray[np.uint8],
    moves: NDArray[np.uint16],
    at: NDArray[np.int64],
    plies: NDArray[np.int64],
) -> NDArray[np.uint8]:
    """Return the additional network inputs (side inputs) of n positions, uint8 [n, 8]. The columns are those of BEYOND:
    ratings, speed, rating scale, and the squares of the last two moves.

    rating, opponent: [n], the ratings of the mover and the opponent, 0 if unknown. speeds, scales: uint8 [n], indices
    into SPEEDS and SCALES. moves: uint16, the packed moves (see `kibitz.games.chess.moves.from_move`) of complete
    games. at: int64 [n], the index in `moves` of the move that was played in each position. plies: int64 [n], the
    number of moves before the position in its game.
    """
    more = np.zeros((len(at), len(BEYOND)), np.uint8)
    more[:, 0], more[:, 1] = rating_bytes(rating), rating_bytes(opponent)
    more[:, 2], more[:, 3] = speeds, scales
    for back, column in ((1, 4), (2, 6)):
        known = plies >= back
        move = moves[np.where(known, at - back, 0)] if len(moves) else np.zeros(len(at), np.uint16)
        more[:, column] = np.where(known, (move & 63) + 1, 0)
        more[:, column + 1] = np.where(known, (move >> 6 & 63) + 1, 0)
    return more
