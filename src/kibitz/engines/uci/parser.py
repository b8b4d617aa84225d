"""Parse the UCI commands `position` and `go`. The parsers accept any text, and report faults without raising errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import chess

from kibitz.games.chess.start import BadStart, read_fen
from kibitz.text import shown, whole_number

NUMBERS = ("wtime", "btime", "winc", "binc", "movestogo", "movetime", "depth", "nodes", "mate")
FLAGS = ("infinite", "ponder")
SEARCHMOVES = "searchmoves"
_FEN_FIELDS = 6


@dataclass
class GoCommand:
    """The content of a `go` command.

    numbers: the numbers that the GUI sent, by the word before each number, such as "wtime".
    infinite, ponder: whether these words occur in the command.
    moves: the moves after "searchmoves"; empty if all moves are allowed.
    problems: a line of text for each part of the command that is wrong and therefore ignored.
    """

    numbers: dict[str, int] = field(default_factory=dict)
    infinite: bool = False
    ponder: bool = False
    moves: tuple[chess.Move, ...] = ()
    problems: list[str] = field(default_factory=list)


def read_go(words: Sequence[str], board: chess.Board) -> GoCommand:
    """Parse the arguments of the UCI command `go`. If a word can't be used, `problems` of the result describes it.

    words: the words after `go`. board: the present position, in which the moves after "searchmoves" must be legal.
    """
    go = GoCommand()
    moves: list[chess.Move] = []
    rest = iter(words)
    of_moves = False  # all words after searchmoves are moves, until the next known word
    for word in rest:
        name = word.lower()
        if name in NUMBERS:
            text = next(rest, "")
            if (number := whole_number(text)) is None:
                go.problems.append(f"go: {name} must be a whole number (got {shown(text)}), and is ignored")
            else:
                go.numbers[name] = number
        elif name in FLAGS:
            setattr(go, name, True)
        elif name == SEARCHMOVES:
            of_moves = True
            continue
        elif not of_moves:
            go.problems.append(f"go: the unknown word {shown(word)} is ignored")
        elif (move := legal(board, word)) is None:
            go.problems.append(f"go: the illegal move {shown(word)} of searchmoves is ignored")
        elif move not in moves:
            moves.append(move)
        of_moves = of_moves and name not in NUMBERS and name not in FLAGS
    go.moves = tuple(moves)
    return go


class PositionCommand:
    """The position that the GUI's `position` commands have set. After a wrong command, the last valid position stays.

    refused: whether the last command had an impossible start position, so that the GUI may show a different position.
    """

    def __init__(self) -> None:
        self.board = chess.Board()
        """The board, with its moves for detecting repetitions."""
        self.refused = False
        self._start: str | None = None
        self._moves: list[str] = []

    def set(self, words: Sequence[str]) -> str | None:
        """Set the board from the words after `position`. Returns None, or a one-line description of the problem.

        If the start position is impossible, the board does not change. If a move is illegal, the board shows the
        position before this move.
        """
        lower = [word.lower() for word in words]
        end = lower.index("moves") if "moves" in lower else len(words)
        start, moves = " ".join(words[:end]), lower[end + 1 :]
        known = len(self._moves)
        if start != self._start or moves[:known] != self._moves:  # If the game continues, only its new moves are parsed
            try:
                self.board = _board(words[:end])
            except ValueError as error:
                self.refused = True
                return f"position: {error}. kibitz plays no move until it gets a valid position."
            self._start, self._moves, known = start, [], 0
        self.refused = False
        for number, text in enumerate(moves[known:], known + 1):
            if (move := legal(self.board, text)) is None:
                return f"position: move {number} ({shown(text)}) is illegal. The position is now {self.board.fen()}."
            self.board.push(move)
            self._moves.append(text)
        return None


def legal(board: chess.Board, text: str) -> chess.Move | None:
    """Parse a move in UCI notation. Returns None if the text is not a legal move on this board. A null move is not
    legal.
    """
    try:
        return board.parse_uci(text.lower()) or None
    except ValueError:
        return None


def _board(words: Sequence[str]) -> chess.Board:
    """Parse `startpos` or `fen FEN`, and return the board. Raises ValueError, in one line, for an impossible
    position.
    """
    kind = words[0].lower() if words else ""
    if kind == "startpos" and len(words) == 1:
        return chess.Board()
    if kind != "fen":
        raise ValueError("the position must be given as startpos or as fen FEN")
    fen = " ".join(words[1:])
    if len(words) > 1 + _FEN_FIELDS:
        raise ValueError(f"{shown(fen)} has more than the six fields of a FEN. Write the word 'moves' before the moves")
    if any(whole_number(count) is None for count in words[5:7]):
        raise ValueError(f"the move counts of {shown(fen)} are not numbers")
    try:
        return read_fen(fen)
    except BadStart as error:
        raise ValueError(f"{shown(fen) or 'fen'}: {error}") from None
