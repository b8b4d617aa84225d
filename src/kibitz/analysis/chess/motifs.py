"""Find the tactical motif by which a line of moves wins material: fork, pin, skewer, discovered attack or trapped
piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import chess

VALUES = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 0}
"""The value of each kind of piece, in units of a pawn."""
FORK, PIN, SKEWER, DISCOVERED, TRAPPED, PINNED_DEFENDER, PINNED = (
    "fork", "pin", "skewer", "discovered_attack", "trapped_piece", "pinned_defender", "pinned_piece",
)  # fmt: skip
_PRICELESS = 100


@dataclass(frozen=True)
class Motif:
    """A tactical motif in a line, which is a sequence of moves.

    name: the name of the motif, such as FORK or PIN.
    at: the number of moves in the line before the move that creates the motif.
    targets: the kinds of pieces that a fork attacks, the most valuable first; () for other motifs.
    square: the square of the pinned or trapped piece; None for other motifs.
    """

    name: str
    at: int
    targets: tuple[chess.PieceType, ...] = ()
    square: chess.Square | None = None


def worth(board: chess.Board, square: chess.Square) -> int:
    """Return the value of the piece on a square, in units of a pawn. An empty square has the value 0. The value of a
    king is larger than that of any other piece.
    """
    piece = board.piece_type_at(square)
    return _PRICELESS if piece == chess.KING else VALUES[piece] if piece else 0


def exchange(board: chess.Board, square: chess.Square) -> int:
    """Return the material that the side to move wins by captures and recaptures on one square, in units of a pawn. It
    is 0 if the side wins nothing. The method is called static exchange evaluation.
    """
    captures = list(board.generate_legal_moves(to_mask=chess.BB_SQUARES[square]))
    victim = board.piece_at(square)
    if not captures or victim is None or victim.color == board.turn:
        return 0
    move = min(captures, key=lambda one: worth(board, one.from_square))
    board.push(move)
    reply = exchange(board, square)
    board.pop()
    return max(0, VALUES[victim.piece_type] - reply)


def motif(board: chess.Board, line: Sequence[chess.Move], capture: int) -> Motif | None:
    """Return the motif, such as a fork, by which the side to move wins a piece in a line of moves. Return None if the
    function finds no motif.

    board: the position before the line.
    line: legal moves of both sides, beginning on this board.
    capture: the index in `line` of the move that captures the piece. The index is even, because the side to move on the
        board makes the capture.
    """
    boards = [board.copy(stack=False)]
    for move in line[: capture + 1]:
        after = boards[-1].copy(stack=False)
        after.push(move)
        boards.append(after)
    if capture >= 2:
        at = capture - 2
        for found in (_fork, _discovered, _skewer, _pin, _trapped):
            if (one := found(boards[at], boards[at + 1], line[at : capture + 1], at)) is not None:
                return one
    return _pinned_defender(boards[capture], boards[capture + 1], line[capture], capture)


def _fork(before: chess.Board, after: chess.Board, moves: Sequence[chess.Move], at: int) -> Motif | None:
    origin = moves[0].to_square
    if moves[2].from_square != origin or not _stays(after, moves):
        return None
    own = worth(after, origin)
    targets = [square for square in after.attacks(origin) if after.color_at(square) == after.turn]
    threatened = [
        square
        for square in targets
        if worth(after, square) > own or (worth(after, square) and not after.attackers(after.turn, square))
        if worth(after, square) > 1
    ]
    if len(threatened) < 2 or moves[2].to_square not in threatened:
        return None
    kinds = sorted((after.piece_type_at(square) or 0 for square in threatened), reverse=True)
    return Motif(FORK, at, tuple(kinds))


def _discovered(before: chess.Board, after: chess.Board, moves: Sequence[chess.Move], at: int) -> Motif | None:
    opened, taker, target = moves[0].from_square, moves[2].from_square, moves[2].to_square
    if not _stays(after, moves):
        return None
    if taker == moves[0].to_square:  # the piece that moved also captures, while another piece gives check
        others = [square for square in after.checkers() if square != taker]
        return Motif(DISCOVERED, at) if others and target in after.attacks(taker) else None
    clears = opened in chess.SquareSet.between(taker, target)
    is_new = target in after.attacks(taker) and target not in before.attacks(taker)
    return Motif(DISCOVERED, at) if clears and is_new else None


def _skewer(before: chess.Board, after: chess.Board, moves: Sequence[chess.Move], at: int) -> Motif | None:
    origin, target = moves[0].to_square, moves[2].to_square
    if moves[2].from_square != origin or not _stays(after, moves):
        return None
    between = [square for square in chess.SquareSet.between(origin, target) if after.piece_at(square)]
    if len(between) != 1 or after.color_at(between[0]) != after.turn or not _slides(after, origin, target):
        return None
    front = between[0]
    larger = worth(after, front) > worth(after, origin) and worth(after, front) >= worth(after, target)
    return Motif(SKEWER, at) if larger and moves[1].from_square == front else None


def _pin(before: chess.Board, after: chess.Board, moves: Sequence[chess.Move], at: int) -> Motif | None:
    origin, target = moves[0].to_square, moves[2].to_square
    if not _stays(after, moves) or not after.piece_at(target):
        return None
    pinned = after.is_pinned(after.turn, target)
    if pinned and before.is_pinned(after.turn, target):
        attacks = target in after.attacks(origin) and target not in before.attacks(moves[0].from_square)
        return Motif(PINNED, at, square=target) if attacks else None
    if target not in after.attacks(origin) or after.piece_type_at(origin) not in (
        chess.BISHOP, chess.ROOK, chess.QUEEN,
    ):  # fmt: skip
        return None
    if pinned:
        return Motif(PIN, at, square=target)
    behind = _behind(after, origin, target)
    if behind is None or after.color_at(behind) != after.turn or worth(after, behind) <= worth(after, target):
        return None
    return Motif(PIN, at, square=target) if worth(after, behind) > worth(after, origin) else None


def _trapped(before: chess.Board, after: chess.Board, moves: Sequence[chess.Move], at: int) -> Motif | None:
    moved = moves[1].to_square == moves[2].to_square  # the trapped piece has moved, and is captured on its new square
    target = moves[1].from_square if moved else moves[2].to_square
    piece = after.piece_at(target)
    if piece is None or piece.color != after.turn or VALUES[piece.piece_type] < 3 or after.is_check():
        return None
    loss = exchange(_passed(after), target)
    if loss < 2 or (not before.is_check() and exchange(before.copy(stack=False), target) >= loss):
        return None  # the move does not win this piece, or the piece was already lost before
    escapes = list(after.generate_legal_moves(from_mask=chess.BB_SQUARES[target]))
    if after.is_pinned(after.turn, target):
        return None
    for move in escapes:
        won = worth(after, move.to_square)
        there = after.copy(stack=False)
        there.push(move)
        if exchange(there, move.to_square) - won < 2:
            return None
    return Motif(TRAPPED, at, square=target)


def _pinned_defender(before: chess.Board, after: chess.Board, move: chess.Move, at: int) -> Motif | None:
    """Return the motif of a capture that is safe only because the piece that guards the square is pinned to the
    king.
    """
    square = move.to_square
    if after.is_check() or any(after.generate_legal_moves(to_mask=chess.BB_SQUARES[square])):
        return None
    guards = [
        guard
        for guard in after.attackers(after.turn, square)
        if after.piece_type_at(guard) != chess.KING and before.is_pinned(after.turn, guard)
    ]
    return Motif(PINNED_DEFENDER, at, square=guards[0]) if guards else None


def _stays(after: chess.Board, moves: Sequence[chess.Move]) -> bool:
    """Return whether the captured piece was on its square since the first move."""
    return bool(after.piece_at(moves[2].to_square)) and moves[1].to_square != moves[2].to_square


def _slides(board: chess.Board, origin: chess.Square, target: chess.Square) -> bool:
    """Return whether the piece on the square `origin` could move to `target` on an empty board."""
    piece = board.piece_at(origin)
    if piece is None or piece.piece_type not in (chess.BISHOP, chess.ROOK, chess.QUEEN):
        return False
    empty = chess.Board.empty()
    empty.set_piece_at(origin, piece)
    return target in empty.attacks(origin)


def _behind(board: chess.Board, origin: chess.Square, front: chess.Square) -> chess.Square | None:
    """Return the first occupied square behind the square `front`, seen from `origin`."""
    ray = chess.SquareSet.ray(origin, front)
    further = [square for square in ray if front in chess.SquareSet.between(origin, square) and board.piece_at(square)]
    return min(further, key=lambda square: chess.square_distance(front, square)) if further else None


def _passed(board: chess.Board) -> chess.Board:
    """Return the same position with the other side to move."""
    passed = board.copy(stack=False)
    passed.push(chess.Move.null())
    return passed
