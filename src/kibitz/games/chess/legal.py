"""Compiled rules of chess for many positions in one call: legal moves, checks, and the type of the piece that moves.

Positions are codes, uint8 [n, 64], and state, uint8 [n, 4] (see `replay.py`). Moves are packed into 16 bits (see
`moves.py`). Every function accepts positions with any material. A side without a king is never in check.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.attacks import KNIGHT, REACH, STEPS, attacked, look, strikes, takes_in_passing
from kibitz.games.chess.replay import CASTLING, EN_PASSANT, SIDE
from kibitz.kernels import fill, inner, kernel

# no position has more moves: a queen has at most 27, every other piece has fewer, and there are two castling moves
MAX_MOVES = 64 * 27 + 2
# A set of squares is 64 bits of an int64. With uint64, numba would convert to float in operations with other integers.
_ANYWHERE = -1


@inner
def _pins_and_checks(board, king, forward, pinned):  # type: ignore[no-untyped-def]
    """Return the number of checking pieces, and the set of target squares of moves that end a single check.

    The set has the square of the checking piece and the squares between this piece and the king, as the bits of an
    int64. board: int8 [64]. pinned: int64 [64], set for each pinned piece to the squares that it may go to; the others
    are unchanged.
    """
    checks = 0
    answer = np.int64(0)
    for direction in range(8):
        step = STEPS[direction]
        line = np.int64(0)
        guard = -1
        for distance in range(1, REACH[king, direction] + 1):
            square = king + step * distance
            line |= np.int64(1) << square
            piece = board[square]
            if piece > 0:
                if guard >= 0:
                    break
                guard = square
            elif piece < 0:
                if strikes(-piece, direction, distance, forward):
                    if guard >= 0:
                        pinned[guard] = line
                    else:
                        checks += 1
                        answer |= line
                break
    for i in range(8):
        square = KNIGHT[king, i]
        if square < 0:
            break
        if board[square] == -2:
            checks += 1
            answer |= np.int64(1) << square
    return checks, answer


@inner
def _pawn(board, origin, forward, allowed, moves, count):  # type: ignore[no-untyped-def]
    """Write the moves of a pawn, except en passant, from `count` on, and return the new count.

    board: int8 [64]. allowed: the set of squares (bits of an int64) that the pawn may move to. moves: uint16.
    """
    ahead = origin + forward
    if ahead < 0 or ahead > 63:  # happens only in positions that no game can reach
        return count
    rank = origin >> 3
    last = rank == (6 if forward > 0 else 1)
    file = origin & 7
    for side in range(-1, 2):
        if file + side < 0 or file + side > 7:
            continue
        target = ahead + side
        if (board[target] != 0) if side == 0 else (board[target] >= 0):
            continue
        if allowed >> target & 1:
            if last:
                for promotion in range(2, 6):
                    moves[count] = origin | target << 6 | promotion << 12
                    count += 1
            else:
                moves[count] = origin | target << 6
                count += 1
        if side == 0 and rank == (1 if forward > 0 else 6):
            target += forward
            if board[target] == 0 and allowed >> target & 1:
                moves[count] = origin | target << 6
                count += 1
    return count


@inner
def _king(board, origin, forward, real, moves, count):  # type: ignore[no-untyped-def]
    """Write the single steps of a king from index `count` on, and return the new count.

    real: whether the king must not move into check. This is false for additional kings of an unusual position. board:
    int8 [64]. moves: uint16.
    """
    board[origin] = 0  # the king is removed, because it must not protect the squares behind it
    for direction in range(8):
        if REACH[origin, direction] == 0:
            continue
        target = origin + STEPS[direction]
        if board[target] <= 0 and not (real and attacked(board, target, forward)):
            moves[count] = origin | target << 6
            count += 1
    board[origin] = 6
    return count


@inner
def _castling(board, home, forward, short, long, moves, count):  # type: ignore[no-untyped-def]
    """Write the castling moves of a king on its home square that isn't in check, and return the new count.

    board: int8 [64]. short, long: the castling rights. moves: uint16, written from `count` on.
    """
    if short and board[home + 3] == 4:
        free = board[home + 1] == 0 and board[home + 2] == 0
        if free and not attacked(board, home + 1, forward) and not attacked(board, home + 2, forward):
            moves[count] = home | (home + 2) << 6
            count += 1
    if long and board[home - 4] == 4:
        free = board[home - 1] == 0 and board[home - 2] == 0 and board[home - 3] == 0
        if free and not attacked(board, home - 1, forward) and not attacked(board, home - 2, forward):
            moves[count] = home | (home - 2) << 6
            count += 1
    return count


@inner
def generate(codes, state, board, pinned, moves, count):  # type: ignore[no-untyped-def]
    """Write the legal moves of a position, at most MAX_MOVES (1730), to the array `moves` from index `count` on.
    Returns two integers: the index after the last move, and the number of pieces that give check.

    codes, state: the position, uint8 [64] and uint8 [4], see `kibitz.PositionArrays`. board: int8 [64], an output: the
    pieces from the mover's view (see `attacks.look`). pinned: int64 [64], working memory. moves: uint16, the output,
    packed moves (see `kibitz.games.chess.moves.from_move`).
    """
    black = state[SIDE] != 0
    forward = -8 if black else 8
    king = look(codes, np.int64(state[SIDE]), board)
    checks, answer = 0, np.int64(_ANYWHERE)
    pinned[:] = _ANYWHERE
    if king >= 0:
        checks, answer = _pins_and_checks(board, king, forward, pinned)
        if checks == 0:
            answer = np.int64(_ANYWHERE)
    for origin in range(64):
        piece = board[origin]
        if piece <= 0:
            continue
        if piece == 6:
            count = _king(board, origin, forward, origin == king, moves, count)
            home = 60 if black else 4
            if origin == king and origin == home and checks == 0:
                rights = state[CASTLING] >> (2 if black else 0)
                count = _castling(board, home, forward, rights & 1, rights & 2, moves, count)
            continue
        if checks > 1:
            continue
        allowed = answer & pinned[origin]
        if piece == 1:
            count = _pawn(board, origin, forward, allowed, moves, count)
            if state[EN_PASSANT]:
                file = np.int64(state[EN_PASSANT]) - 1
                if takes_in_passing(board, king, origin, forward, file):
                    moves[count] = origin | (((origin & 56) | file) + forward) << 6
                    count += 1
        elif piece == 2:
            for i in range(8):
                target = KNIGHT[origin, i]
                if target < 0:
                    break
                if board[target] <= 0 and allowed >> target & 1:
                    moves[count] = origin | target << 6
                    count += 1
        else:
            for direction in range(4 if piece == 3 else 0, 4 if piece == 4 else 8):
                target = origin
                for _ in range(REACH[origin, direction]):
                    target += STEPS[direction]
                    if board[target] > 0:
                        break
                    if allowed >> target & 1:
                        moves[count] = origin | target << 6
                        count += 1
                    if board[target] < 0:
                        break
    return count, checks


@kernel
def _legal_moves(codes, state):  # type: ignore[no-untyped-def]
    """Return the legal moves, uint16 [total], and offsets, int64 [n + 1], of positions codes [n, 64] and state [n, 4],
    uint8."""
    board = np.empty(64, np.int8)
    pinned = np.empty(64, np.int64)
    offsets = np.zeros(codes.shape[0] + 1, np.int64)
    moves = np.empty(codes.shape[0] * 40 + MAX_MOVES, np.uint16)
    count = np.int64(0)
    for i in range(codes.shape[0]):
        if moves.shape[0] - count < MAX_MOVES:
            more = np.empty(moves.shape[0] * 2 + MAX_MOVES, np.uint16)
            fill(more[:count], moves)
            moves = more
        count, _ = generate(codes[i], state[i], board, pinned, moves, count)
        offsets[i + 1] = count
    return moves[:count], offsets


@kernel
def _in_check(codes, state, checked):  # type: ignore[no-untyped-def]
    """Write whether the side to move is in check to `checked`, bool [n]. codes, state: the positions, uint8 [n, 64] and
    uint8 [n, 4], see `kibitz.PositionArrays`.
    """
    board = np.empty(64, np.int8)
    for i in range(codes.shape[0]):
        king = look(codes[i], np.int64(state[i, SIDE]), board)
        checked[i] = king >= 0 and attacked(board, king, -8 if state[i, SIDE] else 8)


def legal_moves(codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
    """Return all legal moves of n positions as two arrays: the packed moves (see `kibitz.games.chess.moves.from_move`),
    uint16 [total], and offsets, int64 [n + 1].

    codes, state: the positions, uint8 [n, 64] and uint8 [n, 4], see `kibitz.PositionArrays`. The moves of position i
    are `moves[offsets[i]:offsets[i + 1]]`, in the order of their from-squares. Castling is encoded as a king's move of
    two files. A promotion is a separate move for each promotion piece. Moves are also returned for a position that is
    drawn by the rules.
    """
    return _legal_moves(np.ascontiguousarray(codes, np.uint8), np.ascontiguousarray(state, np.uint8))  # type: ignore[no-any-return]


def in_check(codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return whether the side to move is in check, bool [n]. codes, state: the positions, uint8 [n, 64] and uint8 [n,
    4], see `kibitz.PositionArrays`.
    """
    checked = np.empty(len(codes), np.bool_)
    _in_check(np.ascontiguousarray(codes, np.uint8), np.ascontiguousarray(state, np.uint8), checked)
    return checked


@kernel
def _moved_pieces(moves, offsets, starts, start_of, kinds):  # type: ignore[no-untyped-def]
    """Write the type of each moving piece to `kinds`, uint8 [moves], 0 to 5. The other arguments are those of
    `replay`.
    """
    # The loop only needs the type of the piece on the origin square of each move. So squares that become empty need not
    # be cleared, because no legal move starts from them.
    board = np.empty(64, np.uint8)
    for game in range(offsets.shape[0] - 1):
        row = starts[start_of[game]]
        for square in range(64):
            code = row[square]
            board[square] = code - 7 if code > 6 else code - 1
        for at in range(offsets[game], offsets[game + 1]):
            move = moves[at]
            origin = move & 63
            target = move >> 6 & 63
            promotion = move >> 12
            kind = board[origin]
            kinds[at] = kind
            board[target] = promotion - 1 if promotion else kind
            if kind == 5 and origin & 7 == 4:  # a king's move of two files is castling, which also moves the rook
                if target == origin + 2:
                    board[origin + 1] = 3
                elif origin == target + 2:
                    board[origin - 1] = 3


def moved_pieces(
    moves: NDArray[np.uint16], offsets: NDArray[np.int64], starts: NDArray[np.uint8], start_of: NDArray[np.int32]
) -> NDArray[np.uint8]:
    """Return the type of the piece that makes each move, uint8 [moves]: 0 P, 1 N, 2 B, 3 R, 4 Q, 5 K. A promotion
    counts as a pawn's move, and castling as the king's.

    moves: the packed moves (see `kibitz.games.chess.moves.from_move`) of all games, one game after the other. offsets:
    [games + 1], the index at which each game's moves begin. starts: uint8 [k, 68], start positions, each as 64 codes
    and 4 numbers of the state, see `kibitz.PositionArrays`. start_of: [games], each game's row in `starts`.
    """
    kinds = np.empty(len(moves), np.uint8)
    _moved_pieces(moves, offsets, starts, start_of, kinds)
    return kinds
