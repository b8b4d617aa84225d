"""Find forced mates. A mate is proven move by move, within a limit on the number of positions."""

from __future__ import annotations

from collections.abc import Callable

import chess

MOST, POSITIONS = 5, 6_000
"""The largest number of moves in a mate that `forced_mate` looks for, and the largest number of positions that it
visits.
"""
_ALL_MOVES = 2
"""Up to this number of moves, the search also tries the attacker's moves that give no check. In a longer mate, each
move of the attacker must be a check.
"""


class _Spent(Exception):
    """Raised if the limit of positions is reached."""


class _Solver:
    """Searches a position for mates. left: the number of positions that may still be visited."""

    def __init__(self, board: chess.Board, positions: int) -> None:
        self.board, self.left = board.copy(stack=False), positions

    def attack(self, moves: int, quiet: bool) -> tuple[chess.Move, ...] | None:
        """Return the moves of a forced mate by the side to move, in at most `moves` of its moves; None if there is
        none. quiet: whether the attacker may also play moves that give no check.
        """
        board = self.board
        may_check = _may_check(board)
        for move in list(board.legal_moves):
            check = may_check(move) and board.gives_check(move)
            if not check and (moves == 1 or not quiet):
                continue
            self._visit(move)
            if check and board.is_checkmate():
                board.pop()
                return (move,)
            line = self.defend(moves - 1, quiet) if moves > 1 else None
            board.pop()
            if line is not None:
                return (move, *line)
        return None

    def defend(self, moves: int, quiet: bool) -> tuple[chess.Move, ...] | None:
        """If every move of the side to move (the defender) allows a mate in at most `moves` moves of the attacker,
        return the line with the latest mate. None if at least one move prevents the mate. quiet: as in `attack`.
        """
        longest: tuple[chess.Move, ...] | None = None
        for move in list(self.board.legal_moves):
            self._visit(move)
            line = self.attack(moves, quiet)
            self.board.pop()
            if line is None:
                return None
            if longest is None or len(line) >= len(longest):
                longest = (move, *line)
        return longest

    def _visit(self, move: chess.Move) -> None:
        self.left -= 1
        if self.left < 0:
            raise _Spent
        self.board.push(move)


def _may_check(board: chess.Board) -> Callable[[chess.Move], bool]:
    """Return a fast function that returns False only for legal moves that give no check. Most moves give none, and
    `Board.gives_check` plays the move.
    """
    king = board.king(not board.turn)
    if king is None:
        return lambda _: True
    occupied = board.occupied
    lines = (
        chess.BB_DIAG_ATTACKS[king][chess.BB_DIAG_MASKS[king] & occupied]
        | chess.BB_RANK_ATTACKS[king][chess.BB_RANK_MASKS[king] & occupied]
        | chess.BB_FILE_ATTACKS[king][chess.BB_FILE_MASKS[king] & occupied]
    )
    near = {
        chess.KNIGHT: chess.BB_KNIGHT_ATTACKS[king],
        chess.PAWN: chess.BB_PAWN_ATTACKS[not board.turn][king],
    }

    def may_check(move: chess.Move) -> bool:
        # The target has an open line to the king, or a line may open as the piece leaves it.
        if lines & (chess.BB_SQUARES[move.from_square] | chess.BB_SQUARES[move.to_square]) or move.promotion:
            return True
        kind = board.piece_type_at(move.from_square)
        if kind == chess.KING:
            return board.is_castling(move)
        if kind == chess.PAWN and move.to_square == board.ep_square:
            return True
        return bool(near.get(kind or 0, 0) & chess.BB_SQUARES[move.to_square])

    return may_check


def forced_mate(board: chess.Board, most: int = MOST, positions: int = POSITIONS) -> tuple[chess.Move, ...] | None:
    """Return the moves of both sides in a forced mate by the side to move, against the longest defense. Return None if
    the search finds no mate.

    most: the largest number of the attacker's moves. positions: the largest number of positions that the search visits.
    """
    solver = _Solver(board, positions)
    try:
        for moves in range(1, most + 1):
            solver.board = board.copy(stack=False)
            if (line := solver.attack(moves, moves <= _ALL_MOVES)) is not None:
                return line
    except _Spent:
        pass
    return None
