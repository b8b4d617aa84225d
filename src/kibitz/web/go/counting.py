"""Score a finished Go game for the browser page of `kibitz board`. Dead stones come from random playouts or from the
players.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kibitz.games.go.points import BLACK, POINTS, WHITE, to_gtp
from kibitz.web.go.line import GoLine, read_point
from kibitz.web.params import BadRequest, Fields, words
from kibitz.web.positions import read_line

if TYPE_CHECKING:
    from kibitz.games.go.endings.final import FinalCount
    from kibitz.games.go.rules import Board


def count(fields: Fields) -> dict[str, Any]:
    """Score the last position of the line (a start position and moves) in a request, even if nobody has passed. Return
    a dict with these keys:

    dead, seki: the vertices of the dead stones, and of the stones in seki.
    owners: the owner of each intersection, row by row from the upper left: 1 for Black, 0 for White, 0.5 for neutral.
    black, white: the score of each side in points. White's score includes komi and handicap compensation.

    fields: the JSON of the request. The field "dead" has the vertices of the dead stones. If "dead" is missing, random
    playouts decide which stones are dead. Raises BadRequest for a line of chess, or if a vertex in "dead" has no stone.
    """
    from kibitz.play.go.ownership import points_of

    line = read_line(fields)
    if not isinstance(line, GoLine):
        raise BadRequest("only Go games can be scored. Open a Go game")
    found = final_count(fields, line, line.board())
    there = points_of(line.size)
    return {
        "dead": [to_gtp(int(point), line.size) for point in there if found.dead[point]],
        "seki": [to_gtp(int(point), line.size) for point in there if found.seki[point]],
        "owners": found.black_owns[there].tolist(),
        "black": found.black,
        "white": found.white,
    }


def final_count(fields: Fields, line: GoLine, board: Board) -> FinalCount:
    """Return the score of a position.

    fields: the JSON of a request, with the field "dead" as in `count`. line: a line (a start position and moves) with
    the board size, the komi and the rules. board: the position. Raises BadRequest if a vertex in "dead" has no stone.
    """
    from kibitz.games.go.endings.final import count_board

    dead = None
    if fields.get("dead") is not None:
        dead = np.zeros(POINTS, np.bool_)
        for vertex in words(fields, "dead", line.size**2):
            point = read_point(vertex, line.size)
            if point >= POINTS or board[point] not in (BLACK, WHITE):
                raise BadRequest(f"dead: there is no stone on {vertex}")
            dead[point] = True
    return count_board(board, line.terms.komi, line.terms.territory, dead)
