"""Games of a PGN file, one by one, with their comments and variations, by python-chess.

Slow (hundreds of games a second) and complete, for games that are shown or written again; the road into a store is
games/chess/io/pgn.py.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import chess
import chess.pgn
import rust_pgn_reader_python_binding as rust
from chess.pgn import SKIP

from kibitz.analysis.chess.spelling import respell
from kibitz.analysis.printing import clean
from kibitz.errors import KibitzError
from kibitz.games.chess.filters import STANDARD_VARIANTS
from kibitz.games.chess.io.headers import unescaped
from kibitz.records import Stream, decode

BLOCK = 1 << 16
LONGEST_LINE = 1 << 20
MAX_GAME_BYTES = 1 << 24
"""Bytes of text of one game, after which the file is given up: no real one is as long, but a file that is no PGN may
be, and memory is to stay flat."""


@dataclass
class Record:
    """A game of a file.

    number: its place in the file, from 1. refused: why it cannot be analysed at all. problem: why the moves of its main
    line stop before their end. notes: what else was left out.
    """

    number: int
    game: chess.pgn.Game
    refused: str | None = None
    problem: str | None = None
    notes: list[str] = field(default_factory=list)


def read(
    path: str,
    selected: int | None = None,
    on_progress: Callable[[int, int], None] = lambda games, consumed: None,
    on_passed_over: Callable[[int], None] = lambda games: None,
) -> Generator[Record]:
    """The games of a PGN file ("-": standard input; packed files are unpacked), or only the one of that number, from 1.

    A stretch of text with neither headers nor a legal move is no game. `on_progress` is called before each game with
    the number of games and of bytes read so far; `on_passed_over` with the number of games until then, where a record
    does not have all text of the file: such a stretch, a comment after a semicolon, an escaped line, a damaged header.
    Raises KibitzError for a file that is missing or damaged, or that has no game, or fewer than `selected`.
    """
    lines = _FileLines(path)
    number = 0
    try:
        while True:
            on_progress(number, lines.consumed)
            lines.begin(number + 1)
            visitor: Any = partial(_Builder, number + 1, selected in (None, number + 1))
            builder: Any = chess.pgn.read_game(cast(Any, lines), Visitor=visitor)
            if builder is None:
                if lines.passed_over:
                    on_passed_over(number)
                break
            is_selected = selected in (None, number + 1)
            if builder.is_game and not builder.record.refused and (is_selected or not builder.has_headers):
                _stop_at_unreadable(builder.record, lines.text())
            if lines.passed_over or not builder.is_game:
                on_passed_over(number)
            if not builder.is_game:
                continue
            number += 1
            if is_selected:
                yield builder.record
            if selected == number:
                return
    finally:
        lines.close()
    if number == 0:
        raise KibitzError(f"{lines.name}: no game in it; is it a PGN file?")
    if selected is not None:
        count = "1 game" if number == 1 else f"{number:,} games"
        raise KibitzError(
            f"{lines.name}: there is no game {selected}, the file has {count}; choose --game 1 to {number}"
        )


def glance(path: str) -> Generator[tuple[chess.pgn.Headers, str]]:
    """The headers and the text of each game of a PGN file, without a look at its moves: thousands of games a second.

    A stretch of text without headers is passed over. Raises KibitzError for a file that is missing or damaged, or that
    has no game with headers.
    """
    lines = _FileLines(path)
    number = 0
    try:
        while True:
            lines.begin(number + 1)
            headers = chess.pgn.read_headers(cast(Any, lines))
            if headers is None:
                break
            if len(headers):
                number += 1
                for name, value in headers.items():
                    headers[name] = unescaped(value)
                yield headers, lines.text()
    finally:
        lines.close()
    if number == 0:
        raise KibitzError(f"{lines.name}: no game in it; is it a PGN file?")


def parse(text: str, any_spelling: bool = False) -> Record | None:
    """The first game of a text; None if there is none.

    any_spelling: also read figurines, letters of other languages, UCI's notation and null moves.
    """
    respelled = respell(text) if any_spelling else None
    lines = _Lines(io.StringIO(respelled.text if respelled else text))
    builder: Any = chess.pgn.read_game(cast(Any, lines), Visitor=cast(Any, partial(_Builder, 1, True)))
    if builder is None or not builder.is_game:
        return None
    record: Record = builder.record
    if respelled:
        _stop_after(record, respelled.plies, respelled.problem)
    elif not record.refused:
        _stop_at_unreadable(record, lines.text())
    return record


class Repeats:
    """Tells which games were not there before: files that people gather often hold the same ones. again: how many
    were."""

    _HEADERS = ("White", "Black", "Date", "UTCDate", "UTCTime", "Round", "Result", "FEN")

    def __init__(self) -> None:
        self.again = 0
        self._known: set[bytes] = set()

    def is_new(self, record: Record) -> bool:
        """Whether the game was not there before."""
        headers, moves = record.game.headers, [move.uci() for move in record.game.mainline_moves()]
        told = "\n".join([*(headers.get(name, "") for name in self._HEADERS), *moves])
        key = hashlib.blake2b(told.encode(errors="surrogatepass"), digest_size=16).digest()
        is_new = key not in self._known
        self._known.add(key)
        self.again += not is_new
        return is_new


_BROKEN_AT = re.compile(r"at ply (\d+): (.*) \(\w+ san\)")
"""Where the import's parser met a token that is no move, or an illegal one."""
_OTHER_HEADER = re.compile(r'^[ \t]*\[(?!FEN\b|SetUp\b|Variant\b)[A-Za-z]\w*[ \t]+".*"[ \t]*\][ \t]*$', re.MULTILINE)
"""A header on a line of its own, without any information about the moves."""
_BLANK_LINES = re.compile(r"\n\s*\n")


def _stop_at_unreadable(record: Record, text: str) -> None:
    """End the main line before a token that is no move. python-chess passes over it, and may blame the next one."""
    text = _OTHER_HEADER.sub("", text).strip()  # quotation marks in names would confuse it
    text = _BLANK_LINES.sub("\n", text)  # it would stop there
    if not text:
        return
    error = rust.parse_game(text)[0].parse_error or ""
    if place := _BROKEN_AT.search(error):
        node = _stop_after(record, int(place[1]) - 1, "unreadable")
        what = "is illegal" if error.startswith("illegal") else "cannot be read"
        record.problem = f"move {_place(node.board())} '{clean(place[2], 20)}' {what}"


def _stop_after(record: Record, plies: int, problem: str) -> chess.pgn.GameNode:
    """End the main line after so many moves if there is a problem; the last node of those."""
    record.problem = problem or None
    node: chess.pgn.GameNode = record.game
    for _ in range(plies):
        node = node.next() or node
    if problem:
        node.variations.clear()
    return node


_HEADER = re.compile(r'\ufeff?[ \t]*\[[A-Za-z]\w*[ \t]+"', re.ASCII)
"""The begin of a line with a header, as games/chess/io/scan.py finds it, or with what a file begins with that was
joined to another."""
_HEADER_ENDS = re.compile(r'"[ \t]*\][ \t]*(?=\[[A-Za-z]\w*[ \t]+")', re.ASCII)
"""The end of a header after which the next one stands in the same line, as the standard allows."""
_EVENT = re.compile(r"\ufeff?[ \t]*\[Event[ \t]")
"""The begin of the header with which a game begins, whatever stands before it."""
_FIRST_MOVE = re.compile(r"[ \t]*1[ \t]*\.(?!\s*[.…])")
"""The begin of a line with White's first move."""
_BRACED = re.compile(r"\{[^}]*\}")
_COMMENT_BEGINS = re.compile(r"[{;]")
_RESULTS = ("*", "1-0", "0-1", "1/2")
"""How move text ends that has its result: the last is the end of 1/2-1/2, or stands for it."""


class _Lines:
    """Lines of PGN text as python-chess's reader asks for them.

    To it every blank line outside comments ends a game, and nothing else does. So it is given one where a header
    follows move text, none inside a game that has not ended, and one at most between headers and moves. A game ends
    before a header, at a blank line after a result, and at one before another first move.

    passed_over: whether text of the present game is in no part of what python-chess makes of it.
    """

    def __init__(self, lines: Iterator[str]):
        """lines: each with its end."""
        self._lines = lines
        self._held: list[str] = []
        """Lines that were read ahead, which come next."""
        self._game: list[str] = []
        self.begin(1)

    def begin(self, number: int) -> None:
        """The game of that number begins here."""
        self._number = number
        self._game.clear()
        self.passed_over = self._has_headers = False
        self._in_moves = self._in_comment = False
        self._has_words = self._has_result = False
        """Whether there is move text outside comments, and whether it ends in a result so far."""
        self._depth = 0
        """Of the variation that the line ends in."""

    def text(self) -> str:
        """The text read since the beginning of the game."""
        return "".join(self._game)

    def readline(self) -> str:
        line = self._next()
        if self._in_comment:
            self._follow(line)
        elif line.isspace():
            return self._blank(line)
        elif self._in_moves and _HEADER.match(line):
            self._held.insert(0, line)
            return "\n"
        elif line.startswith(("%", ";")):
            self.passed_over = True
        elif self._in_moves:
            self._follow(line)
        elif line.startswith("[") or _HEADER.match(line):
            self._has_headers = True
            line = line.lstrip("\ufeff \t")  # python-chess knows no headers but at the begin of a line
            if several := _HEADER_ENDS.search(line):
                self._held.insert(0, line[several.end() :])
                line = f"{line[: several.end()].rstrip()}\n"
            self.passed_over |= not line.rstrip().endswith('"]')
        elif line:
            self._in_moves = True
            self._follow(line)
        self._game.append(line)
        return line

    def _next(self) -> str:
        return self._held.pop(0) if self._held else next(self._lines, "")

    def _blank(self, line: str) -> str:
        """What is given of a blank line outside comments: itself, or the line after it."""
        is_over = self._has_result and not self._depth
        if is_over or not (self._in_moves or self._has_headers):
            self._game.append(line)
            return line
        blanks, ahead = 1, self._next()
        while ahead.isspace():
            blanks, ahead = blanks + 1, self._next()
        self._held.insert(0, ahead)
        is_header = bool(_HEADER.match(ahead))
        self._game.append(line)
        if not self._in_moves:
            # Headers without moves: to python-chess two blank lines end them.
            if is_header and (blanks > 1 or _EVENT.match(ahead)):
                self._held.insert(0, "\n")
            return line
        is_first = self._has_words and bool(_FIRST_MOVE.match(ahead)) and (self._has_result or not self._depth)
        return line if is_header or is_first or not ahead else self.readline()

    def _follow(self, text: str) -> None:
        """Keep in mind what a line of move text ends in: comment, variation, result."""
        if self._in_comment:
            _, end, text = text.partition("}")
            self._in_comment = not end
        if "{" in text or ";" in text:
            text = _BRACED.sub(" ", text)
            if begin := _COMMENT_BEGINS.search(text):
                self._in_comment = begin[0] == "{"
                self.passed_over |= begin[0] == ";"  # python-chess keeps comments in braces alone
                text = text[: begin.start()]
        if "(" in text or ")" in text:
            self._depth = max(0, self._depth + text.count("(") - text.count(")"))
        if text := text.rstrip():
            self._has_words, self._has_result = True, text.endswith(_RESULTS)


class _FileLines(_Lines):
    """The lines of a packed or plain file: UTF-8, or Latin-1 where not. consumed: bytes read so far."""

    def __init__(self, path: str):
        self._stream = Stream(path)
        self.name = self._stream.name
        super().__init__(self._split())

    @property
    def consumed(self) -> int:
        return self._stream.consumed

    def begin(self, number: int) -> None:
        super().begin(number)
        self._room = MAX_GAME_BYTES

    def _next(self) -> str:
        line = super()._next()
        self._room -= len(line)
        if self._room < 0:
            raise KibitzError(
                f"{self.name} game {self._number}: longer than {MAX_GAME_BYTES >> 20} MB; is it a PGN file? (a comment"
                " without its end reads so too)"
            )
        return line

    def close(self) -> None:
        self._stream.close()

    def _split(self) -> Iterator[str]:
        rest = b""
        for i, block in enumerate(self._stream.blocks(BLOCK)):
            if i == 0 and b"\0" in block:
                raise KibitzError(f"{self.name}: binary, not text; a PGN is text in UTF-8 or Latin-1")
            data = rest + (block.removeprefix(b"\xef\xbb\xbf") if i == 0 else block)
            held = b"\r" if data.endswith(b"\r") else b""  # its "\n" may be in the next block
            data = data.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            *lines, rest = data.split(b"\n")
            for line in lines:
                yield decode(line) + "\n"
            rest += held
            if len(rest) > LONGEST_LINE:
                yield decode(rest)
                rest = b""
        if rest:
            yield decode(rest) + "\n"


_FEN_IS_NONE = "the FEN is no position to play from"
_IMPOSSIBLE: dict[int, str] = {
    chess.STATUS_NO_WHITE_KING: "its start position lacks a king",
    chess.STATUS_NO_BLACK_KING: "its start position lacks a king",
    chess.STATUS_TOO_MANY_KINGS: f"{_FEN_IS_NONE}: a side has more than one king",
    chess.STATUS_PAWNS_ON_BACKRANK: f"{_FEN_IS_NONE}: a pawn stands on the first or last rank",
    chess.STATUS_OPPOSITE_CHECK: f"{_FEN_IS_NONE}: the side that is not to move is in check",
}
"""Positions after which moves make no sense: python-chess's flags, and the words, which the board has too."""


class _Builder(chess.pgn.GameBuilder[chess.pgn.Game]):
    """Builds a Record; with `selected` false, finds out no more than whether this is a game.

    After an illegal move in a variation python-chess goes on with the main line on the variation's board, and finds it
    illegal too. So moves of variations are tried first, and a variation is left at its first illegal move.
    """

    _LEFT, _WHOLE, _PASSED = range(
        3
    )  # a variation left at an illegal move; sound; passed over, inside one that was left

    def __init__(self, number: int, selected: bool):
        super().__init__()
        self.number, self.selected = number, selected
        self.has_headers = False

    def begin_game(self) -> None:
        super().begin_game()
        self.record = Record(self.number, self.game)
        self._variations: list[int] = []

    @property
    def is_game(self) -> bool:
        return self.has_headers or bool(self.game.variations)

    def visit_header(self, tagname: str, tagvalue: str) -> None:
        self.has_headers = True
        super().visit_header(tagname, unescaped(tagvalue))

    def end_headers(self) -> chess.pgn.SkipType | None:
        headers = self.game.headers
        variant = headers.get("Variant", "")
        if variant.strip().lower() not in STANDARD_VARIANTS:
            self.record.refused = f"the variant {clean(variant, 30)}, and only standard chess is known"
        elif "FEN" in headers:
            try:
                board = chess.Board(headers["FEN"], chess960=True)
            except ValueError as error:
                self.record.refused = f"its start position cannot be read ({clean(str(error), 80)})"
            else:
                if board.has_chess960_castling_rights():
                    self.record.refused = "castling as in Chess960, and only standard chess is known"
                elif faults := board.status() & sum(_IMPOSSIBLE):
                    self.record.refused = next(why for fault, why in _IMPOSSIBLE.items() if faults & fault)
        return SKIP if self.record.refused or (self.has_headers and not self.selected) else None

    def begin_parse_san(self, board: chess.Board, san: str) -> chess.pgn.SkipType | None:
        if not self._variations:
            return SKIP if self.record.problem else None
        if self._variations[-1] == self._WHOLE:
            try:
                board.parse_san(san)
            except ValueError as error:
                self._variations[-1] = self._LEFT
                self.record.notes.append(f"a variation of move {_place(board)} is left out from '{_move(error)}' on")
        return SKIP if self._variations[-1] != self._WHOLE else None

    def begin_variation(self) -> Any:  # python-chess looks for SKIP, though its GameBuilder gives None
        if self._variations and self._variations[-1] != self._WHOLE:
            self._variations.append(self._PASSED)
            return SKIP
        self._variations.append(self._WHOLE)
        return super().begin_variation()

    def end_variation(self) -> None:
        if self._variations and self._variations.pop() != self._PASSED:
            super().end_variation()

    def visit_comment(self, comment: str) -> None:
        if not self._variations or self._variations[-1] == self._WHOLE:
            super().visit_comment(comment)

    def visit_nag(self, nag: int) -> None:
        if not self._variations or self._variations[-1] == self._WHOLE:
            super().visit_nag(nag)

    def handle_error(self, error: Exception) -> None:
        """An illegal move of the main line: the rest of the moves is passed over."""
        if not self._variations and not self.record.problem:
            self.record.problem = f"move {_place(self.variation_stack[-1].board())} '{_move(error)}' is illegal"

    def result(self) -> Any:  # the builder itself, since a stretch of text may be no game
        return self


def _place(board: chess.Board) -> str:
    return f"{board.fullmove_number}{'.' if board.turn else '…'}"


def _move(error: Exception) -> str:
    """The move that python-chess's error is about: "illegal san: 'Qh5' in <FEN>"."""
    parts = str(error).split("'")
    return clean(parts[1] if len(parts) > 2 else str(error), 20)
