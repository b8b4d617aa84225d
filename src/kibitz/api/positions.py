"""Read positions in the forms that people use (boards, FEN, SGF), and convert them to arrays for networks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError, UsageError

if TYPE_CHECKING:
    from kibitz.games.go.rules import Board as GoBoard

KOMI = 7.5
"""The komi, in points, of a Go position for which neither its SGF nor the caller gives a komi."""
_KINDS = "a chess.Board, a FEN, a board of Go (kibitz.make_go_board, sgfmill) or an SGF text"
_WIDTHS = {"chess": 64, "go": 361}
_HIGHEST_CODE = {"chess": 12, "go": 14 + 16 * 13}
_HIGHEST_STATE = {"chess": (1, 15, 8, 255), "go": (1, 255, 2, 255)}
_STATE = 4


class SgfmillBoard(Protocol):
    """The interface of the Go boards of the library sgfmill (sgfmill.boards.Board), as far as kibitz uses it. These
    boards contain only stones, and row 0 is the lower edge. side: the board size.
    """

    side: int

    def get(self, row: int, col: int) -> str | None: ...


class PositionArrays(NamedTuple):
    """Positions as input arrays of networks. It is a tuple of two arrays: `codes, state =
    kibitz.encode_positions(boards)`.

    codes: uint8 [n, 64] in chess, [n, 361] in Go. state: uint8 [n, 4]. If a network has inputs in addition to the
    position (side inputs), they are further columns of `state`.

    Chess, codes: index 0 is a1, 1 is b1, and 63 is h8. A code is 0 for an empty square; 1 to 6 for White's pawn,
    knight, bishop, rook, queen and king; 7 to 12 for Black's pieces in this order. Chess, state, by column:

    - 0: the side to move, 0 for White and 1 for Black.
    - 1: the castling rights, a sum of 1 for K, 2 for Q, 4 for k and 8 for q.
    - 2: the file, 1 to 8, of a pawn that can be captured en passant; 0 for no such pawn.
    - 3: the number of plies since the last capture or pawn move, up to 255.

    Go, codes: the index is row · 19 + column for all board sizes; row 0 is the upper edge, column 0 the left edge. A
    code is kind + 16 · age. The kinds are 0 for an empty point; 1 to 5 for a black stone whose chain has 1 to 5
    liberties, and 6 for more; 7 to 12 for White in the same way; 13 for a point that ko forbids; 14 for a point outside
    the board. The age shows how many plies ago a stone was played. Ages 1 to 8 are exact numbers of plies; the last
    move has the age 1. The age 9 means 9 to 16 plies, 10 means 17 to 32, 11 means 33 to 64, 12 means 65 to 128, and 13
    means more. Setup stones and empty points have the age 0. Go, state, by column:

    - 0: the side to move, 0 for Black and 1 for White.
    - 1: the board size.
    - 2: the number of consecutive passes just before the position, up to 2.
    - 3: the number of plies, up to 255.

    >>> import chess, kibitz
    >>> arrays = kibitz.encode_positions([chess.Board()])
    >>> arrays.codes[0, :8].tolist(), arrays.state.tolist()
    ([4, 2, 3, 5, 6, 3, 2, 4], [[0, 15, 0, 0]])
    """

    codes: NDArray[np.uint8]
    state: NDArray[np.uint8]


@dataclass(frozen=True)
class ReadPosition:
    """A position that was read from a text or a board.

    board: the board.
    komi, rules: only for a Go position in SGF: the komi in points and the name of the rules; otherwise None.
    handicap: the number of handicap stones in the SGF; otherwise 0.
    """

    board: chess.Board | GoBoard
    komi: float | None = None
    handicap: int = 0
    rules: str | None = None

    @property
    def game(self) -> str:
        """The game of the board, "chess" or "go"."""
        return "chess" if isinstance(self.board, chess.Board) else "go"

    @property
    def chess_board(self) -> chess.Board:
        assert isinstance(self.board, chess.Board)
        return self.board

    @property
    def go_board(self) -> GoBoard:
        assert not isinstance(self.board, chess.Board)
        return self.board

    def row(self) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return the position as the arrays `codes`, uint8 [64] in chess and [361] in Go, and `state`, uint8 [4].
        `PositionArrays` explains the arrays.
        """
        if isinstance(self.board, chess.Board):
            from kibitz.games.chess.replay import encode_board

            row = encode_board(self.board)
            return row[:64], row[64:]
        from kibitz.games.go.replay import encode_board as encode_go_board

        return encode_go_board(self.board)


def read_position(position: Any, to_move: str | None = None) -> ReadPosition:
    """Return a position that is given in any form that `encode_positions` accepts.

    to_move: the side to move, "b" or "w", only for boards of the library sgfmill. Raises UsageError for an unsupported
    type, and KibitzError for an invalid position.
    """
    if isinstance(position, chess.Board):
        if type(position).uci_variant != "chess":
            raise UsageError(
                f"position must be a position of standard chess (got the variant {type(position).__name__})"
            )
        if position.chess960 and position.clean_castling_rights():
            raise UsageError(
                "position must be a position of standard chess (got a Chess960 board with castling rights)"
            )
        read_fen(position.fen())
        return ReadPosition(position)
    if isinstance(position, str):
        return _read_sgf(position) if position.lstrip().startswith("(") else ReadPosition(read_fen(position))
    from kibitz.games.go.rules import Board as GoBoard

    if isinstance(position, GoBoard):
        return ReadPosition(position)
    if _is_sgfmill(position):
        return ReadPosition(_from_sgfmill(position, to_move))
    raise UsageError(f"position must be {_KINDS} (got {type(position).__name__})")


def _is_sgfmill(position: Any) -> bool:
    return hasattr(position, "side") and hasattr(position, "list_occupied_points")


def check_to_move(positions: Sequence[Any], to_move: str | None) -> None:
    """Raise UsageError if `to_move` is not None and no position is an sgfmill board. All other positions contain the
    side to move, so the argument would have no effect.
    """
    if to_move is not None and len(positions) and not any(map(_is_sgfmill, positions)):
        raise UsageError(
            "to_move works only with sgfmill boards, because other positions contain the side to move (got"
            f" {to_move!r}). Leave to_move out."
        )


def read_fen(fen: str) -> chess.Board:
    """Return the board of a FEN, the usual text form of a chess position. Raises KibitzError if the text is not a FEN,
    or if the position is impossible.
    """
    from kibitz.web.chess.line import read_start

    try:
        return read_start(fen)
    except KibitzError as error:  # the original message is about the board of the web page
        raise KibitzError(f"{fen[:100]}: {error}") from None


def _read_sgf(text: str) -> ReadPosition:
    """Return the position after the last move of the main line."""
    from kibitz.games.go.io.sgf import parse_record
    from kibitz.games.go.rules import Illegal

    try:
        record = parse_record(text)
        return ReadPosition(record.board(), record.komi, record.handicap, record.rules)
    except Illegal as error:
        raise KibitzError(f"the SGF has an illegal move: {error}. Correct it or shorten the game.") from None
    except ValueError as error:
        raise KibitzError(f"the SGF cannot be read: {' '.join(str(error).split())}. Check the text.") from None


def _from_sgfmill(board: SgfmillBoard, to_move: str | None) -> GoBoard:
    from kibitz.games.go.points import BLACK, GRID, WHITE

    if to_move not in ("b", "w"):
        raise UsageError(
            f"to_move must be 'b' or 'w' for a board of sgfmill, which has no side to move (got {to_move!r})"
        )
    copy = make_go_board(size=board.side)
    stones = 0
    for row in range(board.side):
        for column in range(board.side):
            if colour := board.get(row, column):
                copy.put(BLACK if colour == "b" else WHITE, (board.side - 1 - row) * GRID + column)
                stones += 1
    if int(np.isin(copy.colours(), (BLACK, WHITE)).sum()) != stones:
        raise KibitzError("this board is impossible: a chain has no liberty. Remove captured stones.")
    copy.to_move = BLACK if to_move == "b" else WHITE
    return copy


def make_go_board(moves: Iterable[str] = (), *, size: int = 19) -> GoBoard:
    """Return a Go board after the given moves, Black first.

    moves: vertices in GTP notation ("D4", columns without I, row 1 at the bottom), or "pass". size: 9, 13 or 19.
    Continue with `board.play(board.to_move, point)`; `kibitz.games.go.points.from_gtp` returns the point of a vertex.
    Raises UsageError for an invalid vertex, an illegal move or an unsupported size.

    >>> import kibitz
    >>> board = kibitz.make_go_board(["E5", "C3", "pass"], size=9)
    >>> board.ply, board.passes
    (3, 1)
    """
    from kibitz.games.go.points import from_gtp
    from kibitz.games.go.rules import Board, Illegal

    try:
        board = Board(size)
    except ValueError as error:
        raise UsageError(str(error)) from None
    for ply, vertex in enumerate(moves, 1):
        try:
            board.play(board.to_move, from_gtp(vertex, size))
        except Illegal as error:
            raise UsageError(f"move {ply}, {vertex}, is illegal: {error}") from None
        except ValueError as error:
            raise UsageError(f"move {ply}, {error}") from None
    return board


def encode_positions(
    positions: Sequence[chess.Board | GoBoard | SgfmillBoard | str], *, to_move: str | None = None
) -> PositionArrays:
    """Encode n chess positions or n Go positions as the arrays `codes` and `state`.

    `codes` is uint8 [n, 64] in chess and uint8 [n, 361] in Go. `state` is uint8 [n, 4].

    positions: one or more positions. Each is a chess.Board, a FEN, a Go board (from `make_go_board` or sgfmill), or an
    SGF text, whose last position is encoded. to_move: the side to move, "b" or "w", only for sgfmill boards. Raises
    UsageError if there are no positions, for unsupported types, and for chess and Go in one call. Raises KibitzError
    for positions that can't be read.

    >>> import kibitz
    >>> codes, state = kibitz.encode_positions(["4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "4k3/8/8/8/8/8/8/4K3 b - - 9 40"])
    >>> codes.shape, codes.dtype, state.tolist()
    ((2, 64), dtype('uint8'), [[0, 0, 0, 0], [1, 0, 0, 9]])
    >>> kibitz.encode_positions([kibitz.make_go_board(size=9)]).codes.shape
    (1, 361)
    """
    if not len(positions):
        raise UsageError("positions is empty. Give at least one position.")
    check_to_move(positions, to_move)
    return stack([read_position(position, to_move) for position in positions])


def stack(read: Sequence[ReadPosition]) -> PositionArrays:
    """Stack one or more positions into the arrays `codes` and `state`, with one row for each position (see
    `PositionArrays`). Raises UsageError if the list has both chess and Go positions.
    """
    if len({position.game for position in read}) > 1:
        raise UsageError(
            "all positions must be of the same game (got chess and Go). Call the function once for each game."
        )
    rows = [position.row() for position in read]
    return PositionArrays(np.stack([codes for codes, _ in rows]), np.stack([state for _, state in rows]))


def check_arrays(arrays: tuple[Any, Any], game: str, side_inputs: int, sizes: Sequence[int] = ()) -> PositionArrays:
    """Check that the arrays `codes` and `state` of positions (see `PositionArrays`) are valid inputs for a network, and
    return them.

    arrays: the two arrays. game: "chess" or "go". side_inputs: the number of columns that `state` may have after its
    first four columns. sizes: in Go, the supported board sizes. Raises UsageError for a wrong dtype or shape, and for
    invalid values.
    """
    codes, state = (np.asarray(part) for part in arrays)
    width = _WIDTHS[game]
    if codes.dtype != np.uint8 or state.dtype != np.uint8:
        raise UsageError(f"codes and state must have the dtype uint8 (got {codes.dtype} and {state.dtype})")
    if codes.ndim != 2 or codes.shape[1] != width:
        raise UsageError(f"codes must be [n, {width}] (got {list(codes.shape)})")
    columns = sorted({_STATE, _STATE + side_inputs})
    if state.ndim != 2 or state.shape[1] not in columns or len(state) != len(codes):
        raise UsageError(f"state must be [{len(codes)}, {' or '.join(map(str, columns))}] (got {list(state.shape)})")
    if len(codes) and (codes.max() > _HIGHEST_CODE[game] or (state[:, :_STATE] > _HIGHEST_STATE[game]).any()):
        raise UsageError(f"codes or state have values outside their ranges for {game}. See kibitz.PositionArrays.")
    if game == "go" and len(codes) and not np.isin(state[:, 1], sizes).all():
        raise UsageError(f"the network supports boards of size {', '.join(map(str, sizes))} (got another size)")
    return PositionArrays(codes, state)
