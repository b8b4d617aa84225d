"""Split the text of moves into tokens (words, comments, brackets), and split a PGN text into games."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import chess

from kibitz.games.chess.io.san import TAILS, Ambiguous, english_of, find_move, looks_like_move, read_word
from kibitz.games.chess.io.tags import RESULT, read_headers, read_result, read_tag

_UNSEEN = r"\ufeff\u200b-\u200f\u2060"
"""Characters without a width, which web pages and editors put between words."""
_DASH = "[-–—−‐‑‒]"
_MOVE = r"(?:[A-Z\u2654-\u265fŞА-ЯΑ-Ω]?(?:[a-h]?[1-8]?[-xX:×]?[a-h][1-8]|[a-h]x[a-h])|[0OoОо]-?[0OoОо](?!\w))"
"""Matches the beginning of a move, or all of it."""
_NEXT_MOVE = rf"[ \t]*(?:[.…]+[ \t]*)?{_MOVE}"
_GLUED = r"(?=[01½])(?:(?<=[a-h][1-8])|(?<=[#+!?=QRBN])|(?<=-[0O]))(?:1-0|0-1|1/2-1/2|½-½)(?![\w/½-])"
"""Matches a result directly after a move, as in "Qh4#0-1"."""
TOKEN = re.compile(
    # Tags of HTML and marks of Markdown are like white space. A single star before a blank is a result.
    rf"(?P<space>(?:[\s{_UNSEEN}\0`]++|</?[A-Za-z][^<>\n]*>|\*\*+|\*(?=\w|[\u2654-\u265f])|__+|_(?=[^\W_]))+)"
    r"|(?P<comment>\{[^}]*\}?)"
    r"|(?P<line>;[^\n]*)"
    r"|(?P<escape>(?m:^)%[^\n]*)"
    r"|(?P<nag>\$\d+)"
    rf"|(?P<counted>\([1-9]\d{{0,2}}\)(?={_NEXT_MOVE}))"
    r"|(?P<open>\()"
    r"|(?P<close>\))"
    rf"|(?P<result>{RESULT.pattern}|{_GLUED})"
    r"|(?P<number>(?!0000|000?(?![\d.…])|0[ \t]*[-–—−‐‑‒])\d{1,4}(?:(?:[ \t]*\\?[.…．。])+|(?=[\s({]))"
    rf"|(?<![\w.,:/+-])[1-9]\d{{0,2}}(?:[ \t]?:(?![0-5]\d)|[-/](?=[ \t]*[^\s0-9])|(?<!\(\d)(?<!\(\d\d)[ \t]?\))"
    rf"(?={_NEXT_MOVE}))"
    r"|(?P<bracket>\[[^\]\n]*\]?)"
    rf"|(?P<word>[0OoОо][ \t]?{_DASH}[ \t]?[0OoОо](?:[ \t]?{_DASH}[ \t]?[0OoОо])?(?![\w-])[+#†‡!?]*"
    r"|[a-h](?:[27]?[-xX:×]?[a-h])?[18][ \t]?=?[ \t]?\(=?[A-Za-z\u2654-\u265f]\)[^\s(){};$\[\]]*"
    rf"|--|<>|[^\s{_UNSEEN}(){{}};$<\[\]]+?(?={_GLUED})|[^\s{_UNSEEN}(){{}};$<\[\]]+|\S)",
)
"""A regular expression for one token of movetext. If a comment is never closed, it extends to the end of the text."""
_PIECE = r"(?:[A-Z\u2654-\u265fŞА-ЯΑ-Ω]|Кр|КР)"
_TO = r"[a-h]?[1-8]?[-xX:×]?[a-h][1-8](?:=?[QRBNqrbn]|e\.?p\.?)?\W*"
_BEGUN = re.compile(rf"{_PIECE}|[a-h]|{_PIECE}?[a-h]?[1-8]?[xX:×]")
"""Matches a word that is the beginning of a move, and never a move itself: "B", "e", "Nx"."""
_ORIGIN = re.compile(rf"{_PIECE}|{_PIECE}?[a-h][1-8]?")
_ENDING = re.compile(rf"[xX:×]?{_TO}")
_CAPTURING = re.compile(rf"[xX:×](?:{_TO})?")
_TO_LAST_RANK = re.compile(r"[a-h](?:[27]?[-xX:×]?[a-h])?[18]=?")
_PROMOTED = re.compile(r"=|=?[QRBNDTLSFCAVqrn\u2654-\u265f][+#!?]*")
_SPACE = re.compile(rf"[\s{_UNSEEN}\0]*")
_FIRST = re.compile(r"1[ \t]*\\?(?:[.．。](?![ \t]*[.…])|[):])|1[-/](?=\D)")
"""Matches the number of White's first move, but not of Black's."""


def _tokens(text: str, at: int = 0) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the kind and the match of each token of a text from index `at` on. In a variation, a number and a bracket,
    as in "(see game 12)", are the variation's end and not a move number, unless the main line has such numbers.
    """
    depth, has_brackets = 0, False
    for match in TOKEN.finditer(text, at):
        kind = match.lastgroup or ""
        if kind == "number" and match[0].endswith(")"):
            has_brackets = has_brackets or not depth
            kind = "number" if has_brackets else "close"
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        yield kind, match


def tokens_of(moves: str) -> list[tuple[str, str]]:
    """Return the tokens of a game's moves, without white space. Each token is a pair of its kind and its text; the kind
    is the name of a group of TOKEN. Words that are parts of the same move become one token: "B xf7", "e x d5", "e8 Q".
    """
    tokens = [(kind, match[0]) for kind, match in _tokens(moves) if kind != "space"]
    tokens = [("number" if kind == "counted" else kind, token) for kind, token in tokens]
    are_apart = any(
        before == "number" and kind == other == "word" and len(token) == 1 and _belongs_to(token, True, following)
        for (before, _), (kind, token), (other, following) in zip(tokens, tokens[1:], tokens[2:], strict=False)
    )
    found: list[tuple[str, str]] = []
    for kind, token in tokens:
        if kind == "word" and found and found[-1][0] == "word":
            is_piece = are_apart or len(found) < 2 or found[-2][0] == "number"
            if _belongs_to(found[-1][1], is_piece, token):
                found[-1] = "word", found[-1][1] + token
                continue
        found.append((kind, token))
    return found


def _belongs_to(word: str, is_piece: bool, following: str) -> bool:
    """Return whether two words are parts of one move. is_piece: whether N and D are letters of pieces here. They are
    directly after a move number, and in a game that has letters of pieces apart from their squares. Elsewhere they are
    annotation signs.
    """
    if _TO_LAST_RANK.fullmatch(word) and _PROMOTED.fullmatch(following):
        return True
    if _CAPTURING.fullmatch(following) and _ORIGIN.fullmatch(word):
        return True
    is_begun = _BEGUN.fullmatch(word) and (is_piece or word not in TAILS)
    return bool(is_begun and _ENDING.fullmatch(following))


@dataclass(frozen=True)
class GameText:
    """The place of one game in a text: its headers are `text[begin:body]`, and its moves are `text[body:end]`."""

    begin: int
    body: int
    end: int


def split_games(text: str) -> Iterator[GameText]:
    """Split a PGN text at the places where games begin. Yields the parts in order. A part may be text that isn't a
    game: see `is_game`.

    A game ends after its result and before a header. A comment directly after the result belongs to the game.

    A game may also end before the number of White's first move ("1."). The number begins a new game after a blank line.
    It also begins a new game at the beginning of a line if the current game has at least two moves.

    If the moves have no numbers, a move after a blank line may begin a new game. This move must be legal as a first
    move, but illegal after the previous moves.
    """
    at = _SPACE.match(text, 0).end()  # type: ignore[union-attr]
    while at < len(text):
        begin = at
        body, is_over = _skip_headers(text, at)
        at = body if is_over else _end_of_moves(text, body, body == begin)
        if at == begin:  # can't happen; prevents an endless loop
            at = len(text)
        yield GameText(begin, body, at)


class _Played:
    """The moves so far of a game without move numbers."""

    def __init__(self) -> None:
        self.cores: list[str] = []
        self._board, self._done = chess.Board(), 0

    def begins_anew(self, core: str) -> bool:
        """Return whether a word begins a new game: it is a legal first move, but illegal after the moves so far. core:
        the word without annotations.
        """
        for each in self.cores[self._done :]:
            move = _english_move(self._board, each)
            if move is None:
                return False
            self._board.push(move)
            self._done += 1
        return _english_move(self._board, core) is None and _is_first_move(core)


def _english_move(board: chess.Board, core: str) -> chess.Move | None:
    try:
        return find_move(board, core, {})
    except Ambiguous:
        return None


def _skip_headers(text: str, at: int) -> tuple[int, bool]:
    """Return the end of the headers that begin at `at`, and whether another game's headers follow, so that this game
    has no moves.
    """
    first: str | None = None
    begins_line, has_blank = True, False
    while at < len(text):
        if begins_line and text[at] == "%":
            end = _line_end(text, at)
        elif text[at] != "[":
            break
        elif tag := read_tag(text, at, begins_line or first is not None):
            if first is not None and has_blank and tag.name in ("Event", first):
                return at, True
            first, end = first or tag.name, tag.end
        elif first is not None and begins_line and not has_blank and text[at : at + 2] != "[%":
            end = _line_end(text, at)  # a damaged header between headers
        else:
            break
        gap = _SPACE.match(text, end)
        assert gap is not None
        lines = gap[0].count("\n")
        begins_line, has_blank = lines > 0, lines > 1
        at = gap.end()
    return at, False


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _end_of_moves(text: str, at: int, is_bare: bool) -> int:
    """Return the end of the moves that begin at `at`. is_bare: whether the game has no headers."""
    depth = words = moves = numbers = 0
    played = _Played()
    has_result = has_inner_result = has_blank = False
    begins_line = True
    for kind, match in _tokens(text, at):
        start = match.start()
        if kind == "space":
            lines = match[0].count("\n")
            begins_line, has_blank = begins_line or lines > 0, has_blank or lines > 1
            continue
        if kind == "bracket":
            if read_tag(text, start, begins_line):
                return start
        elif kind in ("comment", "line"):
            if has_result and has_blank:
                return start
        elif kind == "number":
            if has_result and not depth:
                return start
            numbers += 1
            if words and _FIRST.match(text, start) and (
                (has_blank and (not depth or has_inner_result))
                or (begins_line and not depth and moves > 1)
                or (is_bare and not moves)
            ):  # fmt: skip
                return start
            words += 1
        elif kind == "open":
            if has_result and has_blank:
                return start
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind == "result":
            if depth:
                has_inner_result = True
            elif has_result and begins_line:
                return start
            else:
                has_result = True
        elif kind == "word":
            core = read_word(match[0]).core
            if core and has_result and not depth:
                return start
            if core:
                if not numbers and not depth:
                    if has_blank and moves and played.begins_anew(core):
                        return start
                    played.cores.append(core)
                words += 1
                moves += looks_like_move(core)
                has_inner_result = False
        begins_line = has_blank = False
    return len(text)


def is_game(text: str, piece: GameText) -> bool:
    """Return whether a part of a text is a game: it has headers, or begins with a move.

    Prose is not a game, and neither is a result without moves.
    """
    if piece.body > piece.begin and read_headers(text[piece.begin : piece.body]):
        return True
    has_number = False
    for match in TOKEN.finditer(text, piece.body, piece.end):
        if match.lastgroup == "number":
            has_number = True
        elif match.lastgroup == "word" and (core := read_word(match[0]).core):
            return _is_first_move(core) or (has_number and looks_like_move(core))
    return False


def _is_first_move(core: str) -> bool:
    """Return whether a word is a legal first move, in any language."""
    board = chess.Board()
    for letters in ({}, *english_of([core])):
        try:
            if find_move(board, core, letters):
                return True
        except Ambiguous:
            return True
    return False


def result_in_comment(comment: str) -> str | None:
    """Return the result in a comment that consists only of a result, such as "{0-1}"; None for any other comment."""
    return read_result(comment) if len(comment) < 12 and comment.strip() not in ("=", "") else None
