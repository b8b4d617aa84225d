"""Read PGN completely: every game of a text as a tree, with comments, variations, annotations and clocks.

All parts of kibitz read PGN with this module. The only exception is the import, which reads plain games with a faster
parser (`pgn.py`), and all other games with this module. The speed is about a thousand games per second.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field

import chess
import chess.pgn

from kibitz.errors import KibitzError
from kibitz.games.chess.filters import STANDARD_VARIANTS
from kibitz.games.chess.io.blocks import GameBlock, Stray, find_games, read_blocks
from kibitz.games.chess.io.movetext import result_in_comment, tokens_of
from kibitz.games.chess.io.san import (
    NULLS,
    SIGNS,
    TAILS,
    Ambiguous,
    Word,
    english_of,
    find_move,
    looks_like_move,
    read_word,
)
from kibitz.games.chess.io.tags import read_headers, read_result, result_of_remark
from kibitz.games.chess.start import BadStart, Chess960Start, read_fen
from kibitz.records import STDIN, Stream, printable
from kibitz.text import number_of, shown

BLOCK = 1 << 18
"""The number of bytes of text that are read in one step."""


@dataclass
class Record:
    """One game of a PGN file, and what could not be read of it.

    number: the game's number in the file, from 1.
    game: the tree of moves.
    refused: the reason why the whole game can't be read; None if it was read.
    problem: the reason why the last moves of the main line were not read; None if all moves were read.
    notes: lines of text about other parts of the game that were not read.
    line: the number of the game's first line in the file, from 1.
    written: the result in the text after the moves ("1-0", "*"); None if there is none.
    is_cut: whether a comment or variation is still open at the end of the game.
    is_illegal: whether the last moves were not read because of a word that is spelled like a move but isn't legal.
    is_setup_refused: whether the game is refused because of its start position.
    """

    number: int
    game: chess.pgn.Game
    refused: str | None = None
    problem: str | None = None
    notes: list[str] = field(default_factory=list)
    line: int = 1
    written: str | None = None
    is_cut: bool = False
    is_illegal: bool = False
    is_setup_refused: bool = False
    escaped: str = ""
    """The first line of the game that begins with % and belongs to no part of the game; "" if there is none. In PGN,
    such lines are meant for other programs.
    """


def read(
    path: str,
    selected: int | None = None,
    on_progress: Callable[[int, int], None] = lambda games, consumed: None,
    on_stray: Callable[[Stray], None] = lambda stray: None,
) -> Generator[Record]:
    """Yield the games of a PGN file, or only the game with the number `selected`, from 1. Null moves are read too.

    path: the path of the file, which may be compressed; "-" for standard input. on_progress: a function that is called
    before each game with the numbers of games and bytes read so far. on_stray: a function that is called with each part
    of the text that belongs to no game. Raises KibitzError if the file is missing, is damaged, has no game, or has
    fewer games than `selected`.
    """
    number = 0
    strays: list[Stray] = []
    for block, stream in _blocks(path):
        on_progress(number, stream.consumed)
        strays += block.strays
        for game in range(len(block)):
            while strays and strays[0].games <= number:
                on_stray(strays.pop(0))
            number += 1
            if selected in (None, number):
                record = read_game(*block.texts(game), number, allow_null=True)
                record.line = block.line_of(game)
                if record.escaped and selected is None:
                    on_stray(Stray(number, record.line, record.escaped))
                on_progress(number - 1, stream.consumed)
                yield record
            if selected == number:
                return
        while strays and number:  # a file without a game gets one message, not one for each piece of text
            on_stray(strays.pop(0))
    name = "standard input" if path == STDIN else printable(path)
    if number == 0:
        raise KibitzError(_without_games(name))
    if selected is not None:
        count = number_of(number, "game")
        raise KibitzError(
            f"{name} has no game {selected}: it has {count}{f'. Choose --game 1 to {number}.' if number > 1 else ''}"
        )


def _without_games(name: str) -> str:
    return f"{name}: this does not look like a PGN file: no game headers, no moves. Check the file."


def glance(path: str, most: int | None = None) -> Generator[tuple[dict[str, str], str]]:
    """Yield two values for each game of a PGN file, without parsing the moves: a dict from the names of the headers to
    their values, and the complete text of the game with its headers. The function reads thousands of games per second.

    most: the largest allowed number of bytes after decompression; None for no limit. Raises KibitzError if the file is
    missing, damaged or too large, or has no game.
    """
    number = 0
    for block, _ in _blocks(path, most):
        for game in range(len(block)):
            number += 1
            head, body = block.texts(game)
            yield read_headers(head), head + body
    if number == 0:
        name = "standard input" if path == STDIN else printable(path)
        raise KibitzError(_without_games(name))


def _blocks(path: str, most: int | None = None) -> Generator[tuple[GameBlock, Stream]]:
    """Yield the blocks of a file, each with the file's stream. Raises KibitzError after the last block if the file is
    damaged.
    """
    stream, broken = Stream(path, most), list[str]()
    try:
        for block in read_blocks(stream, BLOCK, broken):
            yield block, stream
            if broken:
                break
    finally:
        stream.close()
    if broken:
        raise KibitzError(broken[0])


def parse(text: str, allow_null: bool = False) -> Record | None:
    """Parse the first game of a text. Returns None if the text contains no game.

    allow_null: whether to read null moves; otherwise the main line ends before the first null move.
    """
    block = find_games(text.encode("utf-8", "replace"))
    if not len(block):
        return None
    record = read_game(*block.texts(0), 1, allow_null)
    record.line = block.line_of(0)
    return record


def read_game(head: str, body: str, number: int = 1, allow_null: bool = False) -> Record:
    """Parse one game from the text of its headers, `head`, and the text of its moves, `body`.

    number: the game's number in the file, from 1. allow_null: whether to read null moves; otherwise the main line ends
    before the first null move.
    """
    return _Reading(head, body, number, allow_null).record


def move_number(board: chess.Board) -> str:
    """Return the number of the next move as in PGN: "5." if White is to move, "5…" if Black is."""
    return f"{board.fullmove_number}{'.' if board.turn else '…'}"


_OF_REMARKS = ("word", "number", "open", "close")
"""The kinds of tokens in a remark."""
_FIRST_WORD = re.compile(r"[^\W\d_]+(?!\w)")
_LONG_WORD = re.compile(r"(?![KQRBNOabcdefghx]+\b)[^\W\d_]{4}")
_UNKNOWN_RESULTS = {"*", "?", "", "-"}


class _Builder(chess.pgn.GameBuilder[chess.pgn.Game]):
    """Builds the tree in the same way as python-chess."""

    def handle_error(self, error: Exception) -> None:
        raise error


@dataclass
class _Line:
    """A line of moves that is being read: its position, and whether the rest of the line is skipped."""

    board: chess.Board
    is_skipped: bool = False


class _Reading:
    """The reading of one game."""

    def __init__(self, head: str, body: str, number: int, allow_null: bool):
        self._allow_null = allow_null
        self._builder = _Builder()
        self._builder.begin_game()
        game = self._builder.game
        self.record = Record(number, game)
        for name, value in read_headers(head).items():
            game.headers[name] = (read_result(value) or value) if name == "Result" else value
        board = self._start()
        self._tokens = tokens_of(body)
        if board is None:
            return
        self._lines = [_Line(board)]
        self._letters, self._limit = _language(board, self._tokens)
        self._skipped_depth = 0
        self._is_ambiguous = False
        self._at = 0  # the index of the next token
        self._are_apart = False  # whether a move had its squares apart, as in "Ng1 f3"
        self._remark_result: str | None = None
        before = "number"
        while self._at < len(self._tokens):
            kind, token = self._tokens[self._at]
            self._at += 1
            self._read(kind, token, before == "number")
            before = kind
        self._end()

    def _start(self) -> chess.Board | None:
        """Return the start position; None if the game is refused."""
        headers, record = self.record.game.headers, self.record
        variant = headers.get("Variant", "")
        if variant.strip().lower() not in STANDARD_VARIANTS:
            record.refused = (
                f"it is of the variant {shown(' '.join(variant.split()))[:30]}, and kibitz supports only standard chess"
            )
            return None
        if "Variant" in headers:
            headers["Variant"] = variant.strip() or "Standard"  # python-chess refuses a value with spaces around it
        if not headers.get("FEN", "").strip(" ?-"):  # some programs write an empty FEN for the usual start
            headers.pop("FEN", None)
            return chess.Board()
        try:
            board = read_fen(headers["FEN"])
        except Chess960Start:
            record.refused = "it has castling rights of Chess960, and kibitz supports only standard chess"
        except BadStart as error:
            record.refused = f"the start position cannot be read: {error}"
        else:
            headers["FEN"] = board.fen()
            return board
        record.is_setup_refused = True
        return None

    @property
    def _line(self) -> _Line:
        return self._lines[-1]

    def _read(self, kind: str, token: str, is_numbered: bool) -> None:
        if kind == "open":
            self._enter()
        elif kind == "close":
            self._leave()
        elif kind == "escape":
            self.record.escaped = self.record.escaped or shown(token)
        elif self._skipped_depth:
            return
        elif kind == "comment":
            self._comment(token[1:-1] if token.endswith("}") else token[1:])
            self.record.is_cut = not token.endswith("}")
        elif token == "[]":
            self._sign(SIGNS[token])
        elif kind in ("line", "bracket"):
            self._comment(token[1:] if kind == "line" else token)
        elif kind == "nag":
            self._sign(int(token[1:][:9]))
        elif kind == "result":
            if len(self._lines) == 1:
                self.record.written = self.record.written or read_result(token)
        elif kind == "word":
            self._word(token, is_numbered)

    def _enter(self) -> None:
        if self._skipped_depth or self._line.is_skipped or not self._line.board.move_stack:
            self._skipped_depth += 1
            return
        board = self._line.board.copy()
        board.pop()
        self._builder.begin_variation()
        self._lines.append(_Line(board))

    def _leave(self) -> None:
        if self._skipped_depth:
            self._skipped_depth -= 1
        elif len(self._lines) > 1:
            self._builder.end_variation()
            self._lines.pop()

    def _comment(self, text: str) -> None:
        if not self._line.is_skipped:
            text = text[1:] if text.startswith(" ") else text
            self._builder.visit_comment(text[:-1] if text.endswith(" ") else text)

    def _sign(self, nag: int) -> None:
        if not self._line.is_skipped:
            self._builder.visit_nag(nag)

    def _word(self, token: str, is_numbered: bool) -> None:
        line, word = self._line, read_word(token)
        if line.is_skipped:
            return
        if token in TAILS and not self.record.written:
            joined = read_word(token + self._next_word())
            if is_numbered:
                self._stop(token, "")  # "2. N!" is not a sign
                return
            if joined.core and self._find(line.board, joined.core):
                if self._find(line.board, read_word(self._next_word()).core):
                    self._is_ambiguous = len(self._lines) == 1
                    self._stop(token, joined.core)  # "N f3" can be the move Nf3, or f3 after the sign of a novelty
                    return
                word = joined
                self._at += 1
        if word.core:
            move = self._find(line.board, word.core)
            if move is None:
                move, word = self._find_apart(token) or (None, word)
            if move is None or not (move or self._allow_null or len(self._lines) > 1):
                if not self.record.written and not self._is_remark():
                    self._stop(token, word.core)
                return
            self._builder.visit_move(line.board, move)
            line.board.push(move)
        for nag in word.nags:
            self._builder.visit_nag(nag)

    def _next_word(self, more: int = 0) -> str:
        """Return the next token if it is a word, otherwise "". more: the number of tokens to skip before it."""
        kind, token = self._tokens[self._at + more] if self._at + more < len(self._tokens) else ("", "")
        return token if kind == "word" else ""

    def _find_apart(self, token: str) -> tuple[chess.Move, Word] | None:
        """Return the move whose squares are apart from each other, such as "e2 - e4" or "Ng1 f3", and its word. Its
        further words are then consumed. token: its first word.

        This function is called for a word that is not a legal move. So "e4 - e5" is never two moves and one move at
        once. Without a dash, the game's first move must be written like this too. Otherwise the two words of "3. Nc3
        d5" would be one move if the first word is illegal.
        """
        parts = [self._next_word(), self._next_word(1)]
        may_be_apart = self._are_apart or not self._line.board.move_stack
        for count in (1, 2):
            word = read_word(token + "".join(parts[:count]))
            if not parts[count - 1] or not word.core[-1:].isdigit() or not (may_be_apart or "-" in word.core):
                continue
            if move := self._find(self._line.board, word.core):
                self._at += count
                self._are_apart = True
                return move, word
        return None

    def _is_remark(self) -> bool:
        """Return whether the words from the last token on are a remark after the last move, such as "White resigns".
        If so, the remark becomes a comment.

        A remark begins with a word that consists of letters, and has a word of at least four letters. No move may
        follow until the result or the end of the game.
        """
        if len(self._lines) > 1 or not self._line.board.move_stack:
            return False
        words: list[str] = []
        for kind, token in self._tokens[self._at - 1 :]:
            if kind == "result":
                break
            core = read_word(token).core
            if kind not in _OF_REMARKS or (kind == "word" and len(core) > 1 and looks_like_move(core)):
                return False
            words.append(token)
        if not _FIRST_WORD.match(words[0]) or not any(map(_LONG_WORD.match, words)):
            return False
        text = re.sub(r"(?<=\() | (?=[).,!?])", "", " ".join(words))
        self._comment(text)
        self._remark_result = result_of_remark(text)
        self._at += len(words) - 1
        return True

    def _find(self, board: chess.Board, core: str) -> chess.Move | None:
        if self._limit is not None and len(self._lines) == 1 and len(board.move_stack) >= self._limit:
            return None
        try:
            return find_move(board, core, self._letters)
        except Ambiguous:
            self._is_ambiguous = len(self._lines) == 1
            return None

    def _stop(self, token: str, core: str) -> None:
        """Skip the rest of the line, because a word in the line isn't a move."""
        line, word = self._line, shown(token)[:20]
        line.is_skipped = True
        is_move = looks_like_move(core) and core not in NULLS
        if len(self._lines) > 1:
            self.record.notes.append(f"a variation of move {move_number(line.board)} is skipped from '{word}' on")
            return
        self.record.is_illegal = is_move and not self._is_ambiguous
        what = (
            "fits several moves"
            if self._is_ambiguous
            else "is illegal"
            if is_move
            else "is a null move"
            if core in NULLS and not self._allow_null
            else "cannot be read"
        )
        self.record.problem = f"move {move_number(line.board)} '{word}' {what}"

    def _end(self) -> None:
        """Set the result: from the text after the moves, from a comment that is a result, or from the board."""
        record, builder = self.record, self._builder
        record.is_cut = record.is_cut or len(self._lines) > 1
        if record.written is None:
            last = [token for kind, token in self._tokens[-1:] if kind in ("comment", "bracket")]
            if [kind for kind, _ in self._tokens[-3:]] == ["open", "result", "close"]:
                last = [self._tokens[-2][1]]
            comments = [token.strip("{}[]") for token in last]
            record.written = next(filter(None, map(result_in_comment, comments)), None)
            if record.written is None and comments:
                self._remark_result = self._remark_result or result_of_remark(comments[0])
        known = {record.written or "*", record.game.headers.get("Result", "*")} - _UNKNOWN_RESULTS
        if self._remark_result and not known and not self._lines[0].board.is_checkmate():
            record.written = self._remark_result
        if record.written is not None:
            builder.visit_result(record.written)
        board = self._lines[0].board
        if record.game.headers.get("Result", "*") == "*" and not record.problem and board.move_stack:
            if board.is_checkmate():
                record.game.headers["Result"] = "0-1" if board.turn else "1-0"
            elif board.is_stalemate():
                record.game.headers["Result"] = "1/2-1/2"


def _language(board: chess.Board, tokens: Sequence[tuple[str, str]]) -> tuple[dict[str, str], int | None]:
    """Return the English letter of each piece letter of the game's language ({} for English), and a number of plies.

    The moves may fit several languages in which they have different meanings. In this case, the number is that of the
    plies before the first difference. Otherwise it is None.
    """
    cores = [core for kind, token in tokens if kind == "word" and (core := read_word(token).core)]
    languages = english_of([core for core in cores if looks_like_move(core)])
    if not languages:
        return {}, None
    languages.insert(0, {})
    # P can be the Dutch letter of the knight or that of a pawn. If moves of pawns in this game have no letter, P is the
    # knight.
    if any(core[0] == "P" for core in cores):
        is_pawn = not any(core[0] in "abcdefgh" for core in cores)
        languages = [letters for letters in languages if ("P" in letters) != is_pawn]
    main = list(_main_line(tokens))
    readings = [(_play(board, main, letters), letters) for letters in languages]
    most = max(len(moves) for moves, _ in readings)
    best = [(moves, letters) for moves, letters in readings if len(moves) == most]
    first, letters = best[0]
    differ = [i for moves, _ in best for i in range(most) if moves[i] != first[i]]
    return letters, min(differ) if differ else None


def _main_line(tokens: Sequence[tuple[str, str]]) -> Iterator[str]:
    depth = 0
    for kind, token in tokens:
        depth = max(0, depth + (kind == "open") - (kind == "close"))
        if kind == "result" and not depth:
            return
        if kind == "word" and not depth and (core := read_word(token).core):
            yield core


def _play(start: chess.Board, cores: Sequence[str], letters: dict[str, str]) -> list[chess.Move]:
    """Return the moves of these words up to the first word that isn't a legal move."""
    board, moves = start.copy(), []
    for core in cores:
        try:
            move = find_move(board, core, letters)
        except Ambiguous:
            break
        if move is None:
            break
        moves.append(move)
        board.push(move)
    return moves
