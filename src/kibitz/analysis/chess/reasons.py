"""Explain why a move was bad, and what the better move does. Each statement is proven by a line, which is a sequence of
moves.

Two positions are searched to the same depth: the position after the played move and the position after the better move.
After this depth, the searches continue until no capture wins material. If the lines of these searches prove nothing,
there is no reason.

A statement about material compares the pieces at the ends of both lines. The search must find no further change of the
material after the end of a line. To state that the better move wins material, the win probability must also be high
enough. A statement about mate needs a forced mate. A motif, such as a fork, is mentioned only if the line captures the
piece that the motif wins.

The sentences are in reason_texts.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import chess
import numpy as np

from kibitz.analysis.chess.mates import forced_mate
from kibitz.analysis.chess.motifs import FORK, VALUES, Motif, motif
from kibitz.analysis.chess.reason_texts import sentence
from kibitz.games.chess.moves import to_move
from kibitz.games.chess.replay import encode_board
from kibitz.play.chess.quiescence import MATE_SCORE, SURE, quiescence_search
from kibitz.play.chess.score import of_centipawns

DEPTH, POSITIONS = 7, 400_000
"""The depth in plies of the searches after the played move and after the better move, and the largest number of
positions in each search.
"""
LONGEST = 7
"""The largest number of moves that a sentence contains for one line (a sequence of moves)."""
LONGEST_FOR_PAWN = 5
"""The largest number of moves that a sentence contains for a line (a sequence of moves) that wins a single pawn. If the
line is longer, another move usually keeps the pawn.
"""
LARGE_DROP = 0.25
"""A loss of win probability, 0 to 1. For a smaller loss, a search that counts only material is often wrong. Such a loss
gets no reason about a single pawn. It gets no reason about material at all if the player still has an advantage of
AHEAD after the played move.
"""
AHEAD = 300
"""An advantage in material, in hundredths of a pawn. With this advantage, a player usually wins after the played move
and after the better move.
"""
ENGINE_LINE = 8
"""The number of moves that are considered in each of an engine's lines. There is one line after the played move and one
after the better move.
"""
SETTLED = 2
"""A capture in an engine's line proves a gain if this number of moves follow it. Otherwise, a search of this number of
plies must show that nobody can change the material.
"""
_PAWN = 100
_SHARE = 2 / 3
"""A loss is mentioned if the better move avoids at least this share of it."""
_LOST = 0.12
"""If the win probability is at most this, the position is searched for forced mates by checks."""
_HARD = 0.25
"""If the win probability is less than this before the move, the better move may only delay a mate."""

ALLOWS_MATE, BACK_RANK, MISSES_MATE = "allows_mate", "allows_back_rank_mate", "misses_mate"
STALEMATE, ALLOWS_STALEMATE = "gives_stalemate", "allows_stalemate"
PROMOTION, MISSES_PROMOTION = "allows_promotion", "misses_promotion"
LOSES, LOSES_MUCH, MISSES, MISSES_MUCH = "loses", "loses_material", "misses", "misses_material"
OVERLOOKS, MISSES_MOTIF = "overlooks_", "misses_"
"""Prefixes of the codes of reasons about a motif, such as "overlooks_fork" and "misses_fork"."""
BETTER_WINS, BETTER_SAVES = "better_wins", "better_saves"
BETTER_MATE, BETTER_DELAYS = "better_avoids_mate", "better_delays_mate"
INSTEAD = (MISSES, "better_", "found")
"""Beginnings of codes of reasons. If a reason's code begins with one of them, its parameter `line` (a sequence of
moves) begins with the better move. Otherwise, `line` follows the played move.
"""
EXCHANGE = "exchange"
_NAMES: dict[int, str] = {piece: chess.piece_name(piece) for piece in chess.PIECE_TYPES}


@dataclass(frozen=True)
class Case:
    """A move to explain, with the better move.

    board: the position before the move.
    played, best: the played move and the better move, both legal.
    before, after: the mover's win probability before and after the played move, 0 to 1.
    after_best, after_played: the moves that an engine expects after the better move and after the played move; ()
        without an engine.
    """

    board: chess.Board
    played: chess.Move
    best: chess.Move
    before: float = 0.5
    after: float = 0.5
    after_best: tuple[chess.Move, ...] = ()
    after_played: tuple[chess.Move, ...] = ()


@dataclass(frozen=True)
class Found:
    """How many players of a certain rating choose the better move.

    move: the better move, in SAN. rating: the rating of the players. probability: the share of these players who choose
    the better move, 0 to 1.
    """

    move: str
    rating: int
    probability: float

    def parameters(self) -> dict[str, Any]:
        """Return the fields as a dict of parameters for `reason_texts.sentence` and for JSON."""
        return {**vars(self), "probability": round(self.probability, 4)}


@dataclass(frozen=True)
class Reason:
    """The reason why a move was bad, as a code and its parameters. The codes do not change from version to version.

    parameters: a dict. The code determines which of these keys it has:

    - line: a list of moves in SAN. move: one move in SAN.
    - lost: the names of the pieces that the mover loses. won: the names of the pieces that the better move wins.
    - gained: the names of the pieces that the losing side gets in exchange.
    - mate_in: the number of moves to the mate. points: the material in pawns.
    - piece, square: the name and the square of a pinned or trapped piece. targets: the names of the pieces that a fork
      attacks.
    - arrival: the move of the line, in SAN, that brings `piece` to `square`. The key is missing if the piece is on the
      square before the line begins.

    better: what the better move does; None if nothing about the better move is proven.
    found: how many players choose the better move; None if that number is unknown.
    """

    code: str
    parameters: dict[str, Any] = field(default_factory=dict)
    better: Reason | None = None
    found: Found | None = None

    def text(self, language: str = "en") -> str:
        """Return the reason as sentences. language: a language code, such as "en", "de" or "fr"."""
        parts = [sentence(self.code, self.parameters, language)]
        if self.better:
            parts.append(sentence(self.better.code, self.better.parameters, language))
        if self.found:
            parts.append(sentence("found", self.found.parameters(), language))
        return " ".join(parts)

    def why_bad(self, language: str = "en") -> str:
        """Return only the sentence about why the played move was bad, without the sentences about the better move.
        language: a language code, such as "en", "de" or "fr".
        """
        return sentence(self.code, self.parameters, language)

    def as_json(self) -> dict[str, Any]:
        """Return the reason as a dict for JSON: its code, its parameters, its text in English, what the better move
        does, and how many players choose it.
        """
        better = {"better": {"code": self.better.code, "parameters": self.better.parameters}} if self.better else {}
        found = {"found": self.found.parameters()} if self.found else {}
        return {"code": self.code, "parameters": self.parameters, **better, **found, "text": self.text()}


@dataclass(frozen=True)
class _Continuation:
    """A line from a search: legal moves up to the last capture or promotion, or up to mate.

    start: the position before the line's first move, which is the played or the better move. score: the search's score
    for the side to move after the first move.
    """

    start: chess.Board
    moves: tuple[chess.Move, ...]
    score: int
    proven: bool

    def end(self, plies: int | None = None) -> chess.Board:
        board = self.start.copy(stack=False)
        for move in self.moves[:plies]:
            board.push(move)
        return board

    def sans(self, first: int, last: int) -> list[str]:
        """Return the line's moves with the indices `first` to `last` - 1, in SAN."""
        board = self.end(first)
        return [board.san_and_push(move) for move in self.moves[first:last]]


@dataclass(frozen=True)
class _Change:
    """What one side lost on a line. lost, gained: the names of pieces, without pairs of equal value. points: the
    balance in pawns.
    """

    lost: tuple[str, ...]
    gained: tuple[str, ...]
    points: int


def explain(cases: Sequence[Case], threads: int | None = None, depth: int = DEPTH) -> list[Reason | None]:
    """Return, for each case, the reason why the played move was bad. The reason is None if the searches prove no
    reason.

    cases: the moves to explain. threads: the number of threads for the searches; None for all. depth: the depth of the
    searches in plies.
    """
    boards = []
    for case in cases:
        for move in (case.played, case.best):
            after = case.board.copy(stack=False)
            after.push(move)
            boards.append(after)
    if not boards:
        return []
    found = quiescence_search(np.stack([encode_board(board) for board in boards]), depth, POSITIONS, threads)
    reasons = []
    for i, case in enumerate(cases):
        reached = int(min(found.reached[2 * i], found.reached[2 * i + 1]))
        lines = []
        for at, move in enumerate((case.played, case.best), 2 * i):
            packed = found.lines[at, max(reached, 0)] if reached >= 0 else ()
            following = tuple(to_move(int(one)) for one in packed if one)
            lines.append(_line(case.board, (move, *following), int(found.scores[at, max(reached, 0)]), reached >= 0))
        reasons.append(_of_engine(case) or _explain(case, *lines, strict=case.before - case.after < LARGE_DROP))
    return reasons


def _of_engine(case: Case) -> Reason | None:
    """Return the reason why a move was bad, if an engine's lines prove it. None if they prove nothing, or if there are
    no lines.
    """
    if not case.after_played:
        return None
    lines = ((case.played, *case.after_played), (case.best, *case.after_best))
    return _explain(case, *(_quiet_line(case.board, moves) for moves in lines))


def _quiet_line(board: chess.Board, moves: Sequence[chess.Move]) -> _Continuation:
    """Return an engine's line up to its last quiet position. In a quiet position, a search proves that no capture
    changes the material. Directly after a capture, the search has SETTLED plies.
    """
    after, ends, waits = board.copy(stack=False), [], [SETTLED]
    for move in moves[: ENGINE_LINE + 1]:
        waits.append(0 if after.is_capture(move) or move.promotion else waits[-1] + 1)
        after.push(move)
        ends.append(after.copy(stack=False))
    if ends[-1].is_checkmate():
        mate = MATE_SCORE - (len(ends) - 1)
        return _line(board, moves[: len(ends)], -mate if after.turn != board.turn else mate, True)
    found = quiescence_search(np.stack([encode_board(end) for end in ends]), SETTLED)
    for at in reversed(range(len(ends))):
        balance = _balance(ends[at], ends[at].turn) * _PAWN
        depth = 0 if waits[at + 1] >= SETTLED else SETTLED
        if found.reached[at] >= depth and found.scores[at, 0] == found.scores[at, depth] == balance:
            return _line(board, moves[: at + 1], _balance(ends[at], not board.turn) * _PAWN, True)
    return _Continuation(board, tuple(moves[:1]), 0, False)


def _line(board: chess.Board, moves: Sequence[chess.Move], score: int, known: bool) -> _Continuation:
    """Return a line up to its last capture or promotion. The line is `proven` only if the material at its end agrees
    with the score.
    """
    after, shown = board.copy(stack=False), 1
    for at, move in enumerate(moves):
        if not after.is_legal(move):
            return _Continuation(board, tuple(moves[:1]), score, False)
        loud = after.is_capture(move) or move.promotion is not None
        after.push(move)
        if loud or after.is_checkmate() or after.is_stalemate():
            shown = max(shown, at + 1)
    line = _Continuation(board, tuple(moves[:shown]), score, known)
    if abs(score) >= SURE:
        return line
    end = line.end()
    balance = _balance(end, not board.turn) * _PAWN
    return _Continuation(board, line.moves, score, known and (end.is_stalemate() or balance == score))


def _explain(case: Case, played: _Continuation, best: _Continuation, *, strict: bool = False) -> Reason | None:
    """Return the reason why the move of `case` was bad, if two lines prove it; else None. played, best: the lines after
    the played move and the better move. strict: whether the rules of LARGE_DROP apply.
    """
    if played.end(1).is_stalemate():
        return Reason(STALEMATE)
    if (reason := _mates(case, played, best)) is not None:
        return reason
    if (
        case.played == case.best
        or not played.proven
        or not best.proven
        or max(abs(played.score), abs(best.score)) >= SURE
    ):
        return None
    return _material(played, best, strict, _is_better(case))


def _is_better(case: Case) -> bool:
    """Return whether the win probability allows the statement that the better move wins material.

    If the better move wins material, it must at least be as good as the material before it. Otherwise, the opponent
    gets more than the material is worth, for example an attack.
    """
    material = (1 + of_centipawns(_balance(case.board, case.board.turn) * _PAWN)) / 2
    return case.before >= min(0.5, material)


def _mates(case: Case, played: _Continuation, best: _Continuation) -> Reason | None:
    """Return a reason with a forced mate."""
    missed = _mate_of(best, -best.score)
    if missed is not None and not (_mate_of(played, -played.score) or played.end(1).is_checkmate()):
        return Reason(MISSES_MATE, _mate_parameters(case.board, missed))
    after = played.end(1)
    allowed: Sequence[chess.Move] | None = _mate_of(played, played.score)
    if allowed is None and case.after <= _LOST and played.score < SURE:
        allowed = forced_mate(after)
    if allowed is None or best.score >= SURE:
        return None
    if (other := best.end(1)).is_game_over() is False and case.after <= _LOST and forced_mate(other) is not None:
        return None
    parameters = _mate_parameters(after, allowed)
    better = Reason(BETTER_DELAYS if case.before < _HARD else BETTER_MATE, {"move": case.board.san(case.best)})
    return Reason(BACK_RANK if _is_back_rank(after, allowed) else ALLOWS_MATE, parameters, better)


def _mate_of(line: _Continuation, score: int) -> tuple[chess.Move, ...] | None:
    """Return the line of a mate that a search has proven, for the side with this score; None if no mate is proven.

    If the side that made the line's first move mates, the result begins with this move. If it is mated, the result
    begins with the next move.
    """
    if score < SURE or not line.proven:
        return None
    own = score == -line.score
    if line.end().is_checkmate() and len(line.moves) - 1 == MATE_SCORE - score:
        return line.moves[0 if own else 1 :]
    moves = (MATE_SCORE - score + 1) // 2
    rest = forced_mate(line.end(1), moves) if not own else None
    return rest


def _mate_parameters(board: chess.Board, moves: Sequence[chess.Move]) -> dict[str, Any]:
    line = _Continuation(board, tuple(moves), 0, True)
    return {"mate_in": (len(moves) + 1) // 2, "line": line.sans(0, LONGEST)}


def _is_back_rank(board: chess.Board, moves: Sequence[chess.Move]) -> bool:
    """Return whether a rook or queen mates on the back rank, and the king's own pieces block the squares in front of
    it.
    """
    end = _Continuation(board, tuple(moves), 0, True).end()
    king, loser, target = end.king(end.turn), end.turn, moves[-1].to_square
    rank = 0 if loser == chess.WHITE else 7
    if king is None or chess.square_rank(king) != rank or chess.square_rank(target) != rank:
        return False
    if end.piece_type_at(target) not in (chess.ROOK, chess.QUEEN) or target not in end.checkers():
        return False
    step = 1 if loser == chess.WHITE else -1
    front = [
        square for square in chess.SquareSet(chess.BB_KING_ATTACKS[king]) if chess.square_rank(square) == rank + step
    ]
    return sum(end.color_at(square) == loser for square in front) >= len(front) - 1 and any(
        end.piece_type_at(square) == chess.PAWN and end.color_at(square) == loser for square in front
    )


def _material(played: _Continuation, best: _Continuation, strict: bool, is_better: bool) -> Reason | None:
    """Return a reason that counts pieces at the quiet ends of both lines. strict: see `_explain`. is_better: whether
    the win probability allows the statement that the better move wins something, see `_is_better`.
    """
    mover = played.start.turn
    difference = (played.score - best.score) // _PAWN  # both scores are those of the opponent
    if difference < 1:
        return None
    if played.end().is_stalemate():
        return Reason(ALLOWS_STALEMATE, {"line": played.sans(1, LONGEST + 1)})
    if strict and -played.score >= AHEAD:
        return None
    loss, gain = _change(played, mover), _change(best, not mover)
    better, least = _better(best, gain, loss, is_better), 2 if strict else 1
    losing = loss.points >= 1 and difference >= _SHARE * loss.points
    winning = gain.points >= 1 and difference >= _SHARE * gain.points
    if losing and (loss.points >= gain.points or not winning):
        if loss.points < least:
            return None
        return _named(played, loss, 1, better) or _promoting(played, 1, PROMOTION, better)
    if winning and is_better and gain.points >= least:
        return _named(best, gain, 0, None) or _promoting(best, 0, MISSES_PROMOTION, None)
    return None


def _named(line: _Continuation, change: _Change, first: int, better: Reason | None) -> Reason | None:
    """If the pieces that are lost in a line can be named, return this loss as the reason, with its motif; else None.
    line: the line. change: what was lost in it. first: the index of the winner's first move.
    """
    winner = line.end(first).turn
    if not change.lost or any(move.promotion for move in line.moves[first:]):
        return None
    captures = _captures(line, change, first, winner)
    if not captures:
        return None
    capture = captures[-1]
    lost, misses = list(change.lost), first == 0
    what = "won" if misses else "lost"
    names = {what: lost, **({"gained": list(change.gained)} if change.gained else {})}
    longest = LONGEST if change.points > 1 else LONGEST_FOR_PAWN
    if capture - first + 1 > longest:
        return None
    end = _end_of_captures(line, capture) + 1
    sans = line.sans(first, end if end - first <= longest else capture + 1)
    if len(lost) > 2 or len(change.gained) > 1:
        return Reason(MISSES_MUCH if misses else LOSES_MUCH, {"points": change.points, "line": sans}, better)
    for at in captures:
        if (one := motif(line.end(first), line.moves[first:], at - first)) is not None:
            code = (MISSES_MOTIF if misses else OVERLOOKS) + one.name
            return Reason(code, {**names, **_motif(line, one, first)}, better)
    parameters: dict[str, Any] = {**names, "line": sans}
    if len(sans) == 1 and not change.gained and len(lost) == 1 and lost[0] != EXCHANGE:
        parameters["square"] = chess.square_name(_taken(line.end(capture), line.moves[capture]))
    return Reason(MISSES if misses else LOSES, parameters, better)


def _motif(line: _Continuation, one: Motif, first: int) -> dict[str, Any]:
    """Return the parameters of a motif in text."""
    at = first + one.at
    parameters: dict[str, Any] = {"move": line.sans(at, at + 1)[0], "line": line.sans(first, at + 1)}
    if one.square is not None:
        piece = line.end(at).piece_type_at(one.square) or line.end(at + 1).piece_type_at(one.square)
        parameters |= {"piece": _NAMES[piece or chess.KING], "square": chess.square_name(one.square)}
        arrivals = [i for i in range(first, at) if line.moves[i].to_square == one.square]
        if arrivals:  # the reader's board does not have the piece on this square yet
            parameters["arrival"] = line.sans(arrivals[-1], arrivals[-1] + 1)[0]
    if one.name == FORK:
        parameters["targets"] = [_NAMES[piece] for piece in one.targets]
    return parameters


def _promoting(line: _Continuation, first: int, code: str, better: Reason | None) -> Reason | None:
    """If a pawn promotes in a line and the new piece is not captured, return this as the reason; else None."""
    for at in range(first, len(line.moves), 2):
        move = line.moves[at]
        if move.promotion and at < LONGEST + first:
            taken = any(later.to_square == move.to_square for later in line.moves[at + 1 :: 2])
            return None if taken else Reason(code, {"line": line.sans(first, at + 1)}, better)
    return None


def _better(best: _Continuation, gain: _Change, loss: _Change, is_better: bool) -> Reason | None:
    """Return what the better move wins or saves. is_better: see `_material`."""
    move = best.start.san(best.moves[0])
    quiet = not any(one.promotion for one in best.moves)
    if is_better and gain.points >= 1 and gain.lost and len(gain.lost) <= 2 and len(gain.gained) <= 1 and quiet:
        gained = {"gained": list(gain.gained)} if gain.gained else {}
        return Reason(BETTER_WINS, {"move": move, "won": list(gain.lost), **gained})
    if gain.points >= 0 and loss.points >= 1:
        return Reason(BETTER_SAVES, {"move": move})
    return None


def _change(line: _Continuation, loser: chess.Color) -> _Change:
    """Return what one side lost from the start of a line to its end."""
    start, end = line.start, line.end()
    net = {}
    for piece in (chess.QUEEN, chess.ROOK, chess.BISHOP, chess.KNIGHT, chess.PAWN):
        after = len(end.pieces(piece, loser)) - len(end.pieces(piece, not loser))
        net[piece] = len(start.pieces(piece, loser)) - len(start.pieces(piece, not loser)) - after
    points = sum(VALUES[piece] * count for piece, count in net.items())
    # A lost knight and a won bishop have the same value, so neither of them is named.
    while net[chess.BISHOP] * net[chess.KNIGHT] < 0:
        step = 1 if net[chess.BISHOP] > 0 else -1
        net[chess.BISHOP] -= step
        net[chess.KNIGHT] += step
    minor = chess.BISHOP if net[chess.BISHOP] < 0 else chess.KNIGHT
    lost: list[str] = []
    if net[chess.ROOK] > 0 > net[minor]:
        net[chess.ROOK] -= 1
        net[minor] += 1
        lost.append(EXCHANGE)
    gained: list[str] = []
    for piece, count in net.items():
        (lost if count > 0 else gained).extend([_NAMES[piece]] * abs(count))
    return _Change(tuple(lost), tuple(gained), points)


def _captures(line: _Continuation, change: _Change, first: int, winner: chess.Color) -> list[int]:
    """Return the indices of the winner's moves that take a piece of the most valuable lost kind.

    If this kind is the knight and no knight is taken, the result has the moves that take a bishop. The same applies
    with knight and bishop exchanged.
    """
    name = "rook" if change.lost[0] == EXCHANGE else change.lost[0]
    board, taken = line.end(first), dict[str, list[int]]()
    for at in range(first, len(line.moves)):
        move = line.moves[at]
        if board.turn == winner and board.is_capture(move):
            piece = _NAMES[board.piece_type_at(_taken(board, move)) or chess.KING]
            taken.setdefault(piece, []).append(at)
        board.push(move)
    other = {"knight": "bishop", "bishop": "knight"}.get(name, "")
    return taken.get(name) or taken.get(other, [])


def _end_of_captures(line: _Continuation, capture: int) -> int:
    """Return the index of the move with which a line is written to its end, so that a reader sees why a capture wins.

    If the loser can take back after the winner's `capture`, readers expect this. Then the result is the winner's last
    capture in the line. Otherwise, it is `capture`. capture: the index of the winner's capture.
    """
    after = line.end(capture + 1)
    square = line.moves[capture].to_square
    if not any(move.to_square == square for move in after.generate_legal_captures()):
        return capture
    last = capture
    for at in range(capture + 1, len(line.moves)):
        if after.turn == line.end(capture).turn and after.is_capture(line.moves[at]):
            last = at
        after.push(line.moves[at])
    return last


def _taken(board: chess.Board, move: chess.Move) -> chess.Square:
    """Return the square of the captured piece."""
    if board.is_en_passant(move):
        return chess.square(chess.square_file(move.to_square), chess.square_rank(move.from_square))
    return move.to_square


def _balance(board: chess.Board, side: chess.Color) -> int:
    """Return a side's material minus the other side's, in pawns."""
    return sum(
        value * (len(board.pieces(piece, side)) - len(board.pieces(piece, not side)))
        for piece, value in VALUES.items()
        if piece != chess.KING
    )
