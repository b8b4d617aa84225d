"""Syzygy endgame tablebases: find the moves that keep the best possible result under the fifty-move rule.

python-chess reads the tables. The WDL tables have the result. The DTZ tables have the number of plies to the next
capture or pawn move of the winning line. A winner who always plays a move with the smallest number makes progress.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import chess
import chess.syzygy

from kibitz.errors import UsageError, one_line
from kibitz.play.result import PvLine
from kibitz.text import shown

WON = 10_000
"""The score, in centipawns, of a win by the tablebases, before the number of plies to the next capture or pawn move is
subtracted.
"""
FIFTY = 100
"""The number of plies without a capture or pawn move after which a game is drawn."""
_KINDS = {chess.Board.tbw_suffix: chess.Board.tbw_magic, chess.Board.tbz_suffix: chess.Board.tbz_magic}
_BLOCK, _HEADER = 64, 16


class Outcome(IntEnum):
    """The result of a move; a better result has a larger number. LATE_WIN is called "cursed win" and LATE_LOSS "blessed
    loss": the fifty-move rule turns them into draws.
    """

    LOSS = 0
    LATE_LOSS = 1
    DRAW = 2
    LATE_WIN = 3
    WIN = 4
    MATE = 5

    @property
    def sign(self) -> int:
        """1 for a win, −1 for a loss, 0 for a draw by the rules."""
        return (self >= Outcome.WIN) - (self == Outcome.LOSS)


@dataclass(frozen=True)
class KnownMoves:
    """The best moves in a position according to the endgame tablebases. All of them have the same result.

    moves: the moves.
    outcome: the result of each of these moves.
    plies: the distance to zeroing (DTZ): the number of plies to the next capture or pawn move. It is the same for all
        these moves, and 0 for draws.
    """

    moves: tuple[chess.Move, ...]
    outcome: Outcome
    plies: int = 0

    def line(self, move: chess.Move) -> PvLine:
        """Return a line that consists of one of these moves, with the known result as its score."""
        sign = self.outcome.sign
        wdl = (1000 * (sign > 0), 1000 * (sign == 0), 1000 * (sign < 0))
        mate = 1 if self.outcome is Outcome.MATE else None
        return PvLine(move, sign * (WON - self.plies), mate, 1.0, (move,), wdl)


class Tablebases:
    """The open endgame tablebases in one or several folders.

    paths: the folders, separated as usual for the system (`:`, on Windows `;`). problems: a line of text for each
    folder or file that can't be used; all others are used. Raises UsageError if no folder has a usable table.
    """

    def __init__(self, paths: str):
        self._tables = chess.syzygy.Tablebase()
        self.problems: list[str] = []
        found = 0
        for folder in filter(None, paths.split(os.pathsep)):
            try:
                files = [file for file in sorted(Path(folder).iterdir()) if file.suffix in _KINDS]
            except OSError as error:
                self.problems.append(f"{shown(folder)}: {one_line(error)}")
                continue
            damaged = [file.name for file in files if not _whole(file)]
            if damaged:
                more = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
                self.problems.append(f"{shown(folder)}: {shown(damaged[0])}{more}: damaged, and skipped")
            found += sum(self._tables.add_file(str(file)) for file in files if file.name not in damaged)
            if not files:
                self.problems.append(f"{shown(folder)}: has no tables (*.rtbw, *.rtbz)")
        if not found:
            raise UsageError("; ".join(self.problems) or "the path of the tablebases is empty. Give a folder.")
        self._largest = max(len(name) - 1 for name in (*self._tables.wdl, *self._tables.dtz))

    def close(self) -> None:
        """Close the files of the tablebases."""
        self._tables.close()

    def best(self, board: chess.Board, allowed: Sequence[chess.Move] = ()) -> KnownMoves | None:
        """Return the best legal moves in a position; None if the tables don't contain it. allowed: the moves from which
        to choose; () for all legal moves.

        If a table is damaged, python-chess may raise any Exception.
        """
        legal = [move for move in board.legal_moves if not allowed or move in allowed]
        if not legal or board.castling_rights or chess.popcount(board.occupied) > self._largest:
            return None
        try:
            known = {move: self._after(board, move) for move in legal}
        except KeyError:  # a table is missing
            return None
        outcome, plies = max(known.values(), key=_rank)
        return KnownMoves(tuple(move for move in legal if known[move] == (outcome, plies)), outcome, plies)

    def _after(self, board: chess.Board, move: chess.Move) -> tuple[Outcome, int]:
        """Return the result of a move, and the plies from now to the winner's next capture or pawn move."""
        clock = board.halfmove_clock
        after = board.copy()
        after.push(move)
        if after.is_checkmate():
            return Outcome.MATE, 1
        if after.is_stalemate() or after.halfmove_clock >= FIFTY or after.is_repetition(3):
            return Outcome.DRAW, 0
        if after.halfmove_clock == 0:
            result = -self._tables.probe_wdl(after)
            return Outcome(result + 2), 1 if result else 0
        plies = -self._tables.probe_dtz(after)
        if plies > 0:  # a difference of one ply is allowed, because a table may be off by one
            return (Outcome.WIN if plies + 1 + clock < FIFTY else Outcome.LATE_WIN), plies + 1
        if plies < 0:
            return (Outcome.LOSS if 1 - plies + clock <= FIFTY else Outcome.LATE_LOSS), 1 - plies
        return Outcome.DRAW, 0


def _rank(known: tuple[Outcome, int]) -> tuple[int, int]:
    """Return a key that orders moves: by the outcome, then wins by fewer plies and losses by more plies."""
    outcome, plies = known
    return outcome, -plies if outcome > Outcome.DRAW else plies


def _whole(file: Path) -> bool:
    """Return whether a file has the size and the first bytes of a table."""
    try:
        with file.open("rb") as stream:
            return file.stat().st_size % _BLOCK == _HEADER and stream.read(4) == _KINDS[file.suffix]
    except OSError:
        return False
