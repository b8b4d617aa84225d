"""Score a finished game without a network and without other programs: dead stones, seki, owners of points, and the
lead.

All commands and the browser page of `kibitz board` use this module, so they give the same result for a position.
Careful random playouts decide which chains are dead. `seki` then finds chains that nobody can capture, which are alive.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.endings.counting import points, settle
from kibitz.games.go.endings.dead import survival
from kibitz.games.go.endings.playouts import black_share
from kibitz.games.go.endings.seki import in_seki, must_fill, without_uncapturable
from kibitz.games.go.points import BLACK, GRID, NONE, OUTSIDE, POINTS, WHITE
from kibitz.games.go.rules import CELL, CELLS, COLOUR, ROOT, ROWS, WIDE, Board, is_suicide, liberties, place, set_up

PLAYOUTS = 1000
"""Number of careful random playouts of a final position; they take about 50 milliseconds on 19×19."""
SEED = 1
CACHED_POSITIONS = 64


@dataclass(frozen=True)
class FinalCount:
    """The score of a final position.

    dead: bool [361], stones that are removed at the end.
    seki: bool [361], living stones next to liberties that neither side can fill.
    owner: uint8 [361], 1 Black, 2 White, 0 neutral.
    black, white: the points of each side, such as 45 and 42.5. White's points include komi and compensation for
        handicap stones.
    """

    dead: NDArray[np.bool_]
    seki: NDArray[np.bool_]
    owner: NDArray[np.uint8]
    black: float
    white: float

    @property
    def lead(self) -> float:
        """Return Black's lead in points, for example 1.5, or -0.5 if White wins by half a point."""
        return self.black - self.white

    @property
    def black_wins(self) -> float:
        """Return 1 if Black wins, 0 if White wins, 0.5 for a draw."""
        return (1 + float(np.sign(self.lead))) / 2

    @property
    def black_owns(self) -> NDArray[np.float32]:
        """Return the owners as probabilities, float32 [361]: 1 Black, 0 White, 0.5 neutral or outside the board."""
        return np.select([self.owner == BLACK, self.owner == WHITE], [1.0, 0.0], 0.5).astype(np.float32)


def count_position(
    colours: NDArray[np.uint8],
    captured: tuple[int, int],
    komi: float,
    by_territory: bool,
    dead: NDArray[np.bool_] | None = None,
) -> FinalCount:
    """Return the score of a position in which both players have passed.

    colours: uint8 [361], the stones: 0 none, 1 Black, 2 White, 3 outside the board.
    captured: how many black stones and how many white stones have been captured so far.
    komi: the points of score that White gets before the game, including compensation for handicap stones.
    by_territory: true for territory scoring, as in Japanese rules; false for area scoring. Under territory scoring, two
        kinds of empty intersections don't count: eyes of groups in seki, and intersections that their owner must fill
        at the end (see `seki.must_fill`).
    dead: bool [361], the dead stones on which the players agree; None to find them by playouts.
    """
    if dead is None:
        dead, seki = _dead_and_seki(np.ascontiguousarray(colours, np.uint8).tobytes())
    else:
        seki = in_seki(colours, dead)
    owner = settle(colours, dead, seki if by_territory else None)
    if by_territory:
        owner[must_fill(colours, dead, seki, owner)] = NONE
    black, white = points(owner, colours, captured, by_territory)
    return FinalCount(dead, seki, owner, black, white + komi)


def count_board(board: Board, komi: float, by_territory: bool, dead: NDArray[np.bool_] | None = None) -> FinalCount:
    """Return the score of the position on a board, in which both players have passed. komi, by_territory, dead: as in
    `count_position`.
    """
    lost = board.captured[BLACK], board.captured[WHITE]
    return count_position(board.colours(), lost, komi, by_territory, dead)


def open_border(colours: NDArray[np.uint8], found: FinalCount) -> tuple[int, int] | None:
    """Return how many empty points count for nobody because the border between the sides is open, and one point of the
    gap (row · 19 + column). Return None if the border is closed.

    A region of empty points that both sides touch is open if one of its points lacks a stone of one side next to it: a
    move can still make territory there. Other neutral points are usual at the end of a game. If several
    regions are open, the gap is that of the largest region.

    colours: uint8 [361], the stones: 0 none, 1 Black, 2 White, 3 outside the board. found: the score of this position.
    """
    left = np.where(found.dead, NONE, colours)
    todo = set(np.flatnonzero(left == NONE).tolist())
    gaps: list[tuple[int, int]] = []
    while todo:
        region = [min(todo)]
        todo.remove(region[0])
        for point in region:  # the list grows
            new = todo.intersection(_next_to(point))
            todo -= new
            region += new
        beside = {point: [int(left[near]) for near in _next_to(point)] for point in region}
        one_sided = [point for point in region if not {BLACK, WHITE} <= {*beside[point]}]
        if not one_sided or any(found.seki[near] for point in region for near in _next_to(point)):
            continue
        steps = [_steps([point for point in region if side in beside[point]], {*region}) for side in (BLACK, WHITE)]
        if all(steps):
            gaps.append(
                (len(region), min(one_sided, key=lambda point: (steps[0][point] ** 2 + steps[1][point] ** 2, point)))
            )
    return (sum(size for size, _ in gaps), max(gaps, key=lambda gap: gap[0])[1]) if gaps else None


def _next_to(point: int) -> list[int]:
    """Return the points next to a point on the 19×19 grid. Some may be outside a smaller board."""
    row, column = divmod(point, GRID)
    near = ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column))
    return [y * GRID + x for y, x in near if 0 <= y < GRID and 0 <= x < GRID]


def _steps(first: list[int], region: set[int]) -> dict[int, int]:
    """Return the number of steps from each point of a region to the nearest of some of its points."""
    found, line = dict.fromkeys(first, 0), list(first)
    for point in line:  # the list grows
        for near in region.intersection(_next_to(point)) - found.keys():
            found[near] = found[point] + 1
            line.append(near)
    return found


@lru_cache(CACHED_POSITIONS)
def _dead_and_seki(position: bytes) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    colours = np.frombuffer(position, np.uint8)
    share = black_share(colours, playouts=PLAYOUTS, seed=SEED, careful=True)
    dead = without_uncapturable(colours, survival(colours, share) < 0.5)
    return dead, in_seki(colours, dead)


SURE_ALIVE, SURE_DEAD = 0.7, 0.3
"""Limits of a chain's survival, the share of playouts in which it lives. From SURE_ALIVE on, the chain is certainly
alive. Up to SURE_DEAD, it is certainly dead. In both cases, it needs no further moves.
"""
LOOK_PLAYOUTS = 200
MAX_EMPTY_PART = 0.75
"""If more than this share of the board is empty, the game can't have ended, so kibitz doesn't test it."""


def compile_kernels() -> None:
    """Compile the compiled functions that this module needs. The first compilation takes seconds."""
    colours = np.full(POINTS, OUTSIDE, np.uint8)
    colours[:4] = (BLACK, NONE, WHITE, NONE)
    count_position(colours, (0, 0), 0.0, True)


def nothing_to_gain(colours: NDArray[np.uint8], mover: int, by_territory: bool) -> bool:
    """Return whether no move gains anything for the side to move, so that it may pass.

    The result is true only if all chains are certainly alive or certainly dead, even if the opponent moves first. Under
    area scoring, it is true only if there is no neutral point, because every neutral point is worth a move. Under
    territory scoring, there may be neutral points if a stone on them can't change anything. A stone changes nothing if
    no side can make territory of the point, capture there or put a chain into atari.

    colours: uint8 [361], the stones: 0 none, 1 Black, 2 White, 3 outside the board. mover: the side to move, BLACK or
    WHITE. by_territory: whether territory is scored; otherwise area.
    """
    colours = np.ascontiguousarray(colours, np.uint8)
    if np.count_nonzero(colours == NONE) > MAX_EMPTY_PART * np.count_nonzero(colours != OUTSIDE):
        return False
    share = black_share(colours, side=2 - mover, playouts=LOOK_PLAYOUTS, seed=SEED, careful=True)
    alive = survival(colours, share)
    stones = (colours == BLACK) | (colours == WHITE)
    if not stones.any() or ((alive > SURE_DEAD) & (alive < SURE_ALIVE))[stones].any():
        return False
    dead = without_uncapturable(colours, stones & (alive < SURE_ALIVE))
    neutral = settle(colours, dead) == 0
    neutral &= colours != OUTSIDE
    if not by_territory:
        return not neutral.any()
    left = np.where(dead, NONE, colours).astype(np.uint8)
    return not any(_matters(left, point) for point in np.flatnonzero(neutral).tolist())


def _matters(colours: NDArray[np.uint8], point: int) -> bool:
    """Return whether a neutral point still matters: the point can become territory, or a stone of either side on the
    point captures something or puts a chain into atari.
    """
    board = np.empty((ROWS, CELLS), np.int16)
    cell = int(CELL[point])
    for colour in (BLACK, WHITE):
        set_up(board, colours)
        if colour not in [board[COLOUR, cell + step] for step in (1, -1, WIDE, -WIDE)]:
            return True
        if is_suicide(board, cell, colour):
            continue
        captured, _ = place(board, cell, colour, 0)
        if captured:
            return True
        for step in (1, -1, WIDE, -WIDE):
            if board[COLOUR, cell + step] == 3 - colour and liberties(board, int(board[ROOT, cell + step])) == 1:
                return True
    return False
