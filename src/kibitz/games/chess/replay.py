"""Compute any position of the games in a store from their packed moves (see `kibitz.games.chess.moves.from_move`).

A position is 64 codes and 4 state numbers, all uint8. A code is the piece on a square: 0 empty, 1-6 White's P N B R Q
K, 7-12 Black's. The state has four numbers:

side: the side to move, 0 for White and 1 for Black.
castling: the castling rights as bits, 1 K, 2 Q, 4 k and 8 q.
en passant: the file + 1 of a pawn that can be captured en passant, or 0 if no such capture is legal.
clock: the number of plies since the last capture or pawn move, at most 255.

The state records a pawn's double step only if an en-passant capture is legal. By the rules, positions are the same if
the same moves are possible in them (FIDE 9.2.3). X-FEN and the FENs of python-chess and lichess also record only legal
captures. So a position doesn't depend on whether it was replayed or read from a FEN.

Ply 0 is the start position and ply i the position after i moves, so a game of n moves has n + 1 positions.
"""

from __future__ import annotations

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.games import STATE_WIDTH
from kibitz.games.chess.attacks import can_pass
from kibitz.games.chess.board_kernels import play_moves
from kibitz.games.indices import check_indices
from kibitz.kernels import kernel

SQUARES = 64
SIDE, CASTLING, EN_PASSANT, CLOCK = range(STATE_WIDTH)
FIFTY_MOVES = 100
"""The number of plies without a capture or pawn move after which the game is drawn (the fifty-move rule)."""
START_WIDTH = SQUARES + STATE_WIDTH
"""The length of a row with a start position: 64 codes, then 4 state numbers."""


_BLOCK = 256
"""Number of positions whose moves are loaded into the CPU cache together."""
_MOVES_PER_CACHE_LINE = 32
_SWAPPED_AT_ONCE = 4096
"""Number of positions whose colors are swapped together, so that the copies stay small."""


@kernel
def _replay(moves, offsets, starts, start_of, games, plies, codes, state):  # type: ignore[no-untyped-def]
    """Write positions to codes, uint8 [n, 64], and state, uint8 [n, 4]. The other arguments are those of `replay`,
    after checks.
    """
    prefetched = 0
    view = np.empty(64, np.int8)
    for begin in range(0, games.shape[0], _BLOCK):
        end = min(begin + _BLOCK, games.shape[0])
        # The games of a random sample are far apart in memory. If one move of each cache line is read first, the
        # waiting times for memory overlap.
        for i in range(begin, end):
            first = offsets[games[i]]
            for at in range(first, first + plies[i], _MOVES_PER_CACHE_LINE):
                prefetched += moves[at]
        for i in range(begin, end):
            game = games[i]
            first = offsets[game]
            row = starts[start_of[game]]
            board = codes[i]
            for square in range(64):
                board[square] = row[square]
            rights, clock = np.int64(row[64 + CASTLING]), np.int64(row[64 + CLOCK])
            en_passant = np.int64(row[64 + EN_PASSANT])
            if plies[i]:
                rights, clock, en_passant = play_moves(board, moves, first, first + plies[i], rights, clock, None)
            side = (row[64 + SIDE] + plies[i]) & 1
            state[i, SIDE] = side
            state[i, CASTLING] = rights
            state[i, EN_PASSANT] = en_passant if can_pass(board, side, en_passant, view) else 0
            state[i, CLOCK] = min(clock, 255)
    return prefetched  # returned so that the compiler doesn't remove the reads


def replay(
    moves: NDArray[np.uint16],
    offsets: NDArray[np.int64],
    starts: NDArray[np.uint8],
    start_of: NDArray[np.int32],
    games: NDArray[np.int64],
    plies: NDArray[np.int64],
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the positions of games after some numbers of moves, as the arrays `codes`, uint8 [n, 64], and `state`,
    uint8 [n, 4]. Position i is that of the game `games[i]` after `plies[i]` moves.

    moves: uint16, the packed moves (see `kibitz.games.chess.moves.from_move`) of all games, one game after the other.
    offsets: int64 [games + 1], the index at which each game's moves begin. starts: uint8 [k, 68], start positions, each
    as 64 codes and 4 numbers of the state, see `kibitz.PositionArrays`. start_of: int32 [games], each game's row in
    `starts`. games, plies: int64 [n]. Raises IndexError for a game or ply that is not in the store.
    """
    games, plies = check_indices(offsets, games, plies)
    codes = np.empty((len(games), SQUARES), np.uint8)
    state = np.empty((len(games), STATE_WIDTH), np.uint8)
    _replay(moves, offsets, starts, start_of, games, plies, codes, state)
    return codes, state


@kernel
def _legal_passing(codes, state):  # type: ignore[no-untyped-def]
    """Set the en-passant file of positions to 0 if no en-passant capture is legal. codes, state: the positions, uint8
    [n, 64] and uint8 [n, 4], see `kibitz.PositionArrays`.
    """
    view = np.empty(64, np.int8)
    for i in range(codes.shape[0]):
        if not can_pass(codes[i], np.int64(state[i, SIDE]), np.int64(state[i, EN_PASSANT]), view):
            state[i, EN_PASSANT] = 0


def keep_legal_passing(codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> None:
    """Set the en-passant file to 0 in each position in which no en-passant capture is legal.

    codes, state: the positions, uint8 [n, 64] and uint8 [n, 4], see `kibitz.PositionArrays`. `state` is changed in
    place.
    """
    _legal_passing(codes, state)


def encode_board(board: chess.Board) -> NDArray[np.uint8]:
    """Convert a python-chess board to one row, uint8 [68]: 64 codes and 4 numbers of the state, see
    `kibitz.PositionArrays`. Castling rights must be those of standard chess.
    """
    row = np.zeros(START_WIDTH, np.uint8)
    for square, piece in board.piece_map().items():
        row[square] = piece.piece_type + (0 if piece.color else 6)
    rights = board.clean_castling_rights()
    row[64 + SIDE] = 0 if board.turn else 1
    row[64 + CASTLING] = sum(
        bit for bit, square in ((1, chess.H1), (2, chess.A1), (4, chess.H8), (8, chess.A8)) if rights >> square & 1
    )
    row[64 + CLOCK] = min(board.halfmove_clock, 255)
    if board.ep_square is not None:  # python-chess sets this square after every double step of a pawn
        row[64 + EN_PASSANT] = chess.square_file(board.ep_square) + 1
        keep_legal_passing(row[None, :64], row[None, 64:])
    return row


def encode_history(board: chess.Board) -> NDArray[np.uint8]:
    """Return the earlier positions of a board's game that can still be repeated, uint8 [n, 68], the earliest first.
    These are the positions since the last capture or pawn move. A row is as `encode_board` returns it.
    """
    past, rows = board.copy(), []
    for _ in range(min(board.halfmove_clock, len(board.move_stack))):
        past.pop()
        rows.append(encode_board(past))
    return np.array(rows[::-1], np.uint8).reshape(-1, START_WIDTH)


def decode_board(codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> chess.Board:
    """Convert a position to a python-chess board. The board's full-move number is 1, because a position has no such
    number.

    codes, state: the position, uint8 [64] and uint8 [4], see `kibitz.PositionArrays`.
    """
    board = chess.Board.empty()
    for square in np.flatnonzero(codes):
        code = int(codes[square]) - 1
        board.set_piece_at(int(square), chess.Piece(code % 6 + 1, code < 6))
    board.turn = bool(state[SIDE] == 0)
    for bit, rook in ((1, chess.BB_H1), (2, chess.BB_A1), (4, chess.BB_H8), (8, chess.BB_A8)):
        if state[CASTLING] & bit:
            board.castling_rights |= rook
    if state[EN_PASSANT]:
        board.ep_square = chess.square(int(state[EN_PASSANT]) - 1, 5 if board.turn else 2)
    board.halfmove_clock = int(state[CLOCK])
    return board


STANDARD_START = encode_board(chess.Board())


def are_starts(starts: NDArray[np.uint8]) -> bool:
    """Return whether all rows of `starts` are valid start positions. starts: uint8 [k, 68], in each row 64 codes and 4
    numbers of the state, see `kibitz.PositionArrays`.

    The function does not check whether a game can reach these positions.
    """
    state = starts[:, SQUARES:]
    return bool((starts[:, :SQUARES] <= 12).all() and (state[:, [SIDE, CASTLING, EN_PASSANT]] <= (1, 15, 8)).all())


@kernel
def _captures(moves, offsets, starts, start_of, taken):  # type: ignore[no-untyped-def]
    """Write whether each move captures to `taken`, bool [moves]. The other arguments are those of `captures`."""
    board = np.empty(64, np.uint8)
    for game in range(offsets.shape[0] - 1):
        row = starts[start_of[game]]
        for square in range(64):
            board[square] = row[square]
        play_moves(board, moves, offsets[game], offsets[game + 1], 0, 0, taken)


def captures(
    moves: NDArray[np.uint16], offsets: NDArray[np.int64], starts: NDArray[np.uint8], start_of: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Return whether each move is a capture, en passant included, bool [moves].

    moves: uint16, the packed moves (see `kibitz.games.chess.moves.from_move`) of all games, one game after the other.
    offsets: int64 [games + 1], the index at which each game's moves begin. starts: uint8 [k, 68], start positions, each
    as 64 codes and 4 numbers of the state, see `kibitz.PositionArrays`. start_of: int32 [games], each game's row in
    `starts`.
    """
    taken = np.empty(len(moves), np.bool_)
    _captures(moves, offsets, starts, start_of, taken)
    return taken


OTHER_COLOUR = np.array([0, 7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6], np.uint8)
"""For each code of a square, the code of the same piece in the other color, uint8 [13]."""
_OTHER_RIGHTS = np.array([(rights & 3) << 2 | rights >> 2 for rights in range(16)], np.uint8)


def swap_colours(
    codes: NDArray[np.uint8], state: NDArray[np.uint8], selected: NDArray[np.bool_]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Swap the colors, flip the ranks and change the side to move in the selected positions. A swapped position is
    equivalent to the original position for the other side (python-chess's Board.mirror).

    codes, state: the positions, uint8 [n, 64] and uint8 [n, 4], see `kibitz.PositionArrays`. Both arrays are changed in
    place and returned. selected: bool [n], whether to swap each position.
    """
    rows = np.flatnonzero(selected)
    for begin in range(0, len(rows), _SWAPPED_AT_ONCE):
        block = rows[begin : begin + _SWAPPED_AT_ONCE]
        codes[block] = OTHER_COLOUR[codes[block].reshape(-1, 8, 8)[:, ::-1].reshape(-1, SQUARES)]
    state[rows, SIDE] ^= 1
    state[rows, CASTLING] = _OTHER_RIGHTS[state[rows, CASTLING]]
    return codes, state


def to_mover_view(squares: NDArray[np.int64], side: NDArray[np.int64]) -> NDArray[np.int64]:
    """Convert squares, 0 to 63, to the view of the side to move: ranks are flipped if `side` is 1 (Black). The
    arguments and the result are int64 [n].
    """
    return squares ^ side * 56


def flip_files(
    codes: NDArray[np.uint8], state: NDArray[np.uint8], selected: NDArray[np.bool_]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Mirror positions from left to right (the files a and h, b and g, and so on are swapped). A position is changed
    only if `selected`, bool [n], is true for it and neither side may castle.

    Without castling rights, the mirrored position is equivalent. codes, state: the positions, uint8 [n, 64] and uint8
    [n, 4], see `kibitz.PositionArrays`. Both arrays are changed in place and returned.
    """
    rows = np.flatnonzero(selected & (state[:, CASTLING] == 0))
    codes[rows] = codes[rows].reshape(-1, 8, 8)[:, :, ::-1].reshape(-1, SQUARES)
    files = state[rows, EN_PASSANT]
    state[rows, EN_PASSANT] = np.where(files > 0, 9 - files, 0)
    return codes, state
