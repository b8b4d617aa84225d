"""Chess positions in the form that searches use: a board of the library rust_chess for the rules, and codes and state
for the network.
"""

from __future__ import annotations

from collections import Counter

import chess
import numpy as np
import rust_chess
from numpy.typing import NDArray

from kibitz.errors import KibitzError
from kibitz.games.chess.material import MAX_PIECES_INSUFFICIENT, insufficient_material
from kibitz.games.chess.moves import from_move
from kibitz.games.chess.replay import CLOCK, EN_PASSANT, SQUARES, decode_board, encode_board, replay

MOST_MEN = 16
"""The largest number of pieces and pawns of one side: the number at the start of a game."""
# Without a history, because copying it with every move would take longer than the move.
_NO_HISTORY = rust_chess.RepetitionDetectionMode.NONE


def _tables() -> tuple[dict[str, int], dict[int, rust_chess.Move]]:
    """Return two tables: from UCI moves to packed moves (see `kibitz.games.chess.moves.from_move`), and from packed
    moves to rust_chess's moves.
    """
    names = {a + b: i | j << 6 for i, a in enumerate(chess.SQUARE_NAMES) for j, b in enumerate(chess.SQUARE_NAMES)}
    for name, code in list(names.items()):
        if name[1] + name[3] in ("78", "21") and abs((code & 7) - (code >> 6 & 7)) <= 1:
            names |= {name + letter: code | piece << 12 for piece, letter in enumerate("nbrq", 2)}
    return names, {code: rust_chess.Move(name) for name, code in names.items() if name[:2] != name[2:4]}


_CODE_OF_UCI, _MOVE_OF_CODE = _tables()


class SearchPosition:
    """A chess position in a search.

    board: the board of the library rust_chess.
    row: uint8 [68], the codes and then the state, as in games/chess/replay.py.
    key: a hash that is equal for positions that are the same by the rules: the same pieces, side to move, castling
        rights and legal en passant capture.
    """

    __slots__ = ("board", "key", "row")

    def __init__(self, board: rust_chess.Board, row: NDArray[np.uint8]):
        if not row[SQUARES + EN_PASSANT] and board.en_passant is not None:  # rust_chess ignores pins
            board = _board(decode_board(row[:SQUARES], row[SQUARES:]))
        self.board = board
        self.row = row
        self.key: int = board.zobrist_hash

    @property
    def clock(self) -> int:
        """The halfmove clock: the number of plies since the last capture or pawn move; 255 means 255 or more."""
        return int(self.row[SQUARES + CLOCK])

    def legal(self) -> list[int]:
        """Return all legal moves, packed (see `kibitz.games.chess.moves.from_move`)."""
        self.board.reset_move_generator()  # otherwise the generator would continue after the last move that it returned
        return [_CODE_OF_UCI[move.get_uci()] for move in self.board.generate_legal_moves()]  # type: ignore[union-attr]

    def mates(self, move: int) -> bool:
        """Return whether a legal move is checkmate. move: packed (see `kibitz.games.chess.moves.from_move`)."""
        return self.board.make_move_new(_MOVE_OF_CODE[move], False).is_checkmate()

    def in_check(self) -> bool:
        """Return whether the side to move is in check."""
        return self.board.is_check()

    def has_insufficient_material(self) -> bool:
        """Return whether no sequence of moves can lead to mate. rust_chess's own test does not recognize that several
        bishops on squares of one color can't mate.
        """
        if self.board.get_all_bitboard().popcnt() > MAX_PIECES_INSUFFICIENT:
            return False
        return bool(insufficient_material(self.row[:SQUARES]))

    def is_drawn(self) -> bool:
        """Return whether the game is drawn by stalemate or insufficient material. Repetitions and the fifty-move rule
        are not considered.
        """
        return self.has_insufficient_material() or (not self.legal() and not self.in_check())


def children(parents: list[SearchPosition], moves: NDArray[np.uint16]) -> list[SearchPosition]:
    """Return the positions after one legal move in each parent position, one for each parent. moves: uint16 [n], the
    packed move (see `kibitz.games.chess.moves.from_move`) for each parent.
    """
    if not parents:
        return []
    n = np.arange(len(parents) + 1)  # each move is replayed as a game of one move, which begins at its parent position
    starts = np.array([parent.row for parent in parents], np.uint8)
    codes, state = replay(moves, n, starts, n[:-1].astype(np.int32), n[:-1], np.ones(len(parents), np.int64))
    rows = np.concatenate([codes, state], axis=1)
    return [
        SearchPosition(parent.board.make_move_new(_MOVE_OF_CODE[move], False), rows[i])
        for i, (parent, move) in enumerate(zip(parents, moves.tolist(), strict=True))
    ]


def root(board: chess.Board) -> tuple[SearchPosition, Counter[int]]:
    """Convert a python-chess board to the position of a search. Also returns how often each earlier position of the
    game occurred, by the position's `key`.

    Only the positions since the last capture or pawn move are counted, because earlier ones can't recur. Raises
    KibitzError if a side has more than 16 pieces and pawns, because rust_chess doesn't support more.
    """
    if any(chess.popcount(men) > MOST_MEN for men in board.occupied_co):
        raise KibitzError(f"a position can have at most {MOST_MEN} pieces of one color. Remove some.")
    position = SearchPosition(_board(board), encode_board(board))
    seen: Counter[int] = Counter()
    past = board.copy()
    for _ in range(min(board.halfmove_clock, len(board.move_stack))):
        past.pop()
        seen[_board(past).zobrist_hash] += 1
    return position, seen


def _board(board: chess.Board) -> rust_chess.Board:
    """Return rust_chess's board, with the move counters of a new game. rust_chess doesn't accept counters above 255,
    and the search counts moves separately.
    """
    ep_square = (
        chess.SQUARE_NAMES[board.ep_square] if board.ep_square is not None and board.has_legal_en_passant() else "-"
    )
    rights = board.clean_castling_rights()
    castling = "".join(
        letter
        for letter, corner in zip("KQkq", (chess.H1, chess.A1, chess.H8, chess.A8), strict=True)
        if rights >> corner & 1
    )
    turn = "w" if board.turn else "b"
    return rust_chess.Board(f"{board.board_fen(promoted=False)} {turn} {castling or '-'} {ep_square} 0 1", _NO_HISTORY)


def packed(moves: tuple[chess.Move, ...]) -> set[int]:
    """Return python-chess moves as a set of packed moves (16-bit integers, see `games.chess.moves`)."""
    return {from_move(move) for move in moves}
