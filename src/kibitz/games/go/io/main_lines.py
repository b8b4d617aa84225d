"""Replay the main lines (the moves without variations) of games: insert passes so that colors alternate, and check that
the moves are legal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.io.scan import COLOUR_SHIFT, Lines
from kibitz.games.go.points import GRID, PASS, POINTS
from kibitz.games.go.replay import START_WIDTH
from kibitz.games.go.rules import CELL, CELLS, COLOUR, ROWS, place, position_hash, set_up
from kibitz.kernels import inner, is_among, kernel

SOUND, ON_STONE, KO_BACK, SUICIDE, REPEATS, NO_LIBERTY = range(6)
"""The result of the replay of a game: all moves are legal (SOUND), or the kind of the first fault. NO_LIBERTY: a setup
stone has no liberties.
"""
WHY = ("", "on a stone", "takes back a ko at once", "suicide", "repeats a position", "a set-up chain without liberties")


@inner
def _arrange(written, setup, named, size, start, moves):  # type: ignore[no-untyped-def]
    """Fill the start row and the moves, with alternating colors, from the moves as written. Return the number of moves.

    written: uint16 [m]. setup: uint8 [361]. named: the side that PL gives, 0 for none. Outputs: start, uint8 [363], and
    moves, uint16 [2 m]. Two or more moves of Black at the beginning, without a setup, are handicap stones in the old
    style. Elsewhere, between two moves of one player, a pass of the opponent is inserted.
    """
    stones, white = 0, 0
    for point in range(POINTS):
        outside = point // GRID >= size or point % GRID >= size
        start[point] = 3 if outside else setup[point]
        stones += setup[point] != 0
        white += setup[point] == 2
    run = 0
    while (
        run < written.shape[0]
        and written[run] >> COLOUR_SHIFT == 1
        and written[run] & 511 != PASS
        and not is_among(written[run], written[:run])  # a stone on a stone is an illegal move
    ):
        run += 1
    if run < 2 or stones:
        run = 0
    for i in range(run):
        start[written[i] & 511] = 1
    if run:
        turn = 2
    elif written.shape[0]:
        turn = written[0] >> COLOUR_SHIFT
    elif named:
        turn = named
    else:
        turn = 2 if stones > 1 and white == 0 else 1
    start[POINTS] = turn - 1
    start[POINTS + 1] = size
    n = 0
    for i in range(run, written.shape[0]):
        if written[i] >> COLOUR_SHIFT != turn:
            moves[n] = PASS
            n += 1
            turn = 3 - turn
        moves[n] = written[i] & 511
        n += 1
        turn = 3 - turn
    return n


@kernel
def _replay(start, moves, suicide, superko, before):  # type: ignore[no-untyped-def]
    """Check the moves, uint16 [m]. Returns the fault (SOUND for none) and its ply, from 0.

    start: uint8 [363]. suicide, superko: whether the rules have them. before: uint64 [m + 1], working memory.
    """
    board = np.zeros((ROWS, CELLS), np.int16)
    set_up(board, start)
    for point in range(POINTS):
        if board[COLOUR, CELL[point]] != start[point]:
            return NO_LIBERTY, 0
    if superko:
        before[0] = position_hash(board)
    colour, ko = start[POINTS] + 1, 0
    for ply in range(moves.shape[0]):
        if moves[ply] == PASS:
            ko = 0
            if superko:
                before[ply + 1] = before[ply]
        else:
            cell = np.int64(CELL[moves[ply]])
            if board[COLOUR, cell] != 0:
                return ON_STONE, ply
            if cell == ko:
                return KO_BACK, ply
            captured, ko = place(board, cell, colour, ply + 1)
            if captured < 0 and not suicide:
                return SUICIDE, ply
            if superko:
                now = position_hash(board)
                before[ply + 1] = now
                for i in range(ply + 1):
                    if before[i] == now:
                        return REPEATS, ply
        colour = 3 - colour
    return SOUND, 0


class MainLine(NamedTuple):
    """The replayed main lines of n games. The first three arrays have the form in which a store saves games. The last
    two describe the first fault of each game, such as an illegal move.

    starts: uint8 [n, 363], the start positions, see `replay.start_row`.
    moves: uint16 [sum of plies], the moves of all games, one game after the other.
    plies: int32 [n], the number of moves of each game.
    fault: uint8 [n], SOUND or the kind of the fault, such as SUICIDE.
    ply: int32 [n], the ply of the fault, counted from 0; it has no meaning if the fault is SOUND.
    """

    starts: NDArray[np.uint8]
    moves: NDArray[np.uint16]
    plies: NDArray[np.int32]
    fault: NDArray[np.uint8]
    ply: NDArray[np.int32]


@kernel
# Run `_arrange` and `_replay` for each game in `which`, and return the number of moves. lines: Lines. played: MainLine,
# filled. The others are those of `play`.
def _play(lines, which, suicide, superko, played):  # type: ignore[no-untyped-def]
    """Run `_arrange` and `_replay` for each game in `which`, and return the number of moves.

    lines: Lines. played: a MainLine, which this function fills. The other parameters are those of `play`.
    """
    before = np.empty(played.moves.shape[0] + 1, np.uint64)
    used = 0
    for k in range(which.shape[0]):
        i = which[k]
        written = lines.written[lines.first[i] : lines.first[i] + lines.move_count[i]]
        n = _arrange(written, lines.setup[i], lines.side[i], lines.size[i], played.starts[k], played.moves[used:])
        moves = played.moves[used : used + n]
        played.fault[k], played.ply[k] = _replay(played.starts[k], moves, suicide[k], superko[k], before)
        played.plies[k] = n
        used += n
    return used


def play(lines: Lines, which: NDArray[np.int64], suicide: NDArray[np.bool_], superko: NDArray[np.bool_]) -> MainLine:
    """Replay the main lines of n selected games, and return them as arrays with the first fault in each game.

    lines: the main lines of all games of a block. which: int64 [n], the indices of the selected games. suicide: bool
    [n], whether the rules of each selected game allow suicide. superko: bool [n], whether the rules of each have
    superko.
    """
    n, room = len(which), 2 * int(lines.move_count[which].sum()) + 1
    played = MainLine(
        np.empty((n, START_WIDTH), np.uint8), np.empty(room, np.uint16), np.empty(n, np.int32), np.empty(n, np.uint8),
        np.empty(n, np.int32),
    )  # fmt: skip
    used = _play(lines, which, suicide, superko, played)
    return played._replace(moves=played.moves[:used])
