"""Moves of chess in other spellings, written again as PGN has them: figurines, the letters of other languages, UCI's
notation and null moves.

A text in the usual spelling is left as it is. Letters of another language are read only where all piece letters of a
game fit one language, so that no move is guessed.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

import chess

NULL = "--"
"""A null move as PGN programs write it."""
_NULLS = ("--", "Z0", "0000", "@@@@", "null")
_FIGURINES = str.maketrans(dict(zip("♔♕♖♗♘♙♚♛♜♝♞♟", "KQRBN\0KQRBN\0", strict=True)) | {"\ufe0e": "", "\ufe0f": ""})
_LANGUAGES = (
    {"K": "K", "D": "Q", "T": "R", "L": "B", "S": "N"},  # German
    {"R": "K", "D": "Q", "T": "R", "F": "B", "C": "N"},  # French
    {"R": "K", "D": "Q", "T": "R", "A": "B", "C": "N"},  # Spanish, Italian
    {"K": "K", "D": "Q", "T": "R", "L": "B", "P": "N"},  # Dutch
)
_ENGLISH = frozenset("KQRBN")
_TOKEN = re.compile(
    r'\{[^}]*\}?|;[^\n]*|^%[^\n]*|^[ \t]*\[[A-Za-z]\w*[ \t]+"[^\n]*|\$\d+|[()]|1-0|0-1|1/2-1/2|\d+[ \t]*\.+'
    r"|[^\s(){};$]+",
    re.MULTILINE,
)
"""A comment, a header, a sign, a bracket, a result, a move number, or a word."""
_UCI = re.compile(r"[a-h][1-8]-?[a-h][1-8]=?[nbrqNBRQ]?")
_MOVE = re.compile(r"[A-Z]?[a-h]?[1-8]?[-x:]?[a-h][1-8](?:=?[A-Za-z]|\(=?[A-Z]\))?|[O0]-[O0](?:-[O0])?")
_LETTER = re.compile(r"^([A-NP-Z])(?=[a-h1-8x:-])|(?<=[18])=?\(?([A-Z])\)?$")
"""The piece of a word, and what a pawn becomes."""
_UNUSUAL = re.compile(
    r"[♔-♟]|(?<![^\s.])(?:--|Z0|0000|@@@@)|(?<![^\s.])[a-h][1-8]-?[a-h][1-8]"
    r"|(?<![^\s.])[DTLSFCAP][a-h1-8x:-]*[a-h][1-8]|[18]=?[DTLSFC]\b"
)


@dataclass
class Respelled:
    """A game in the usual spelling. problem: the first move of the main line that is none, "" if all are moves; plies:
    the moves before it."""

    text: str
    problem: str = ""
    plies: int = 0


def respell(text: str) -> Respelled | None:
    """A game of a PGN whose moves are not all spelled as usual; None for one whose moves are."""
    words = [match for match in _TOKEN.finditer(text) if _is_word(match[0])]
    if not any(_UNUSUAL.search(match[0]) for match in words):
        return None
    letters = _letters(match[0] for match in words)
    try:
        walk = _Walk(_start(text))
    except ValueError:
        return None
    parts, end = [], 0
    for match in _TOKEN.finditer(text):
        parts.append(text[end : match.start()])
        parts.append(walk.token(match[0], letters))
        end = match.end()
    parts.append(text[end:])
    return Respelled("".join(parts), walk.problem, walk.plies)


def read_word(board: chess.Board, word: str) -> chess.Move | None:
    """The only legal move that a word can mean in any of these spellings; None if there is none, or are several."""
    moves = {_parse(board, word, letters) for letters in ({}, *_LANGUAGES)} - {None}
    english = _parse(board, word, {})
    return english or (moves.pop() if len(moves) == 1 else None)


def _is_word(token: str) -> bool:
    """Whether a token may be a move: no comment, header, sign, bracket, number or result."""
    return token[0] not in "{;%[$()" and (not token[0].isdigit() or token == "0000" or bool(_MOVE.match(token)))


def _start(text: str) -> chess.Board:
    match = re.search(r'^[ \t]*\[FEN[ \t]+"([^"\n]*)"', text, re.MULTILINE)
    return chess.Board(match[1]) if match else chess.Board()


def _letters(words: Iterator[str]) -> dict[str, str]:
    """The pieces by the letters of the only language that all words fit; {} for English, or if it is not clear."""
    used = {letter for word in words if _MOVE.fullmatch(word.rstrip("!?+#†‡")) for letter in _pieces(word)}
    if used <= _ENGLISH:
        return {}
    fitting = [language for language in _LANGUAGES if used <= language.keys()]
    merged = {letter: {language[letter] for language in fitting} for letter in used}
    return {letter: pieces.pop() for letter, pieces in merged.items() if len(pieces) == 1}


def _pieces(word: str) -> set[str]:
    return {piece or promoted for piece, promoted in _LETTER.findall(word.rstrip("!?+#†‡"))}


def _parse(board: chess.Board, word: str, letters: dict[str, str]) -> chess.Move | None:
    """The legal move that a word means with these letters; None if there is none."""
    if word in _NULLS:
        return None if board.is_check() else chess.Move.null()
    plain = word.translate(_FIGURINES).replace("\0", "").rstrip("!?+#†‡")
    if letters:
        plain = _LETTER.sub(lambda match: _translated(match, letters), plain)
    if _UCI.fullmatch(plain):
        with contextlib.suppress(chess.InvalidMoveError):  # from a square to itself
            move = chess.Move.from_uci(plain.replace("-", "").replace("=", "").lower())
            if board.is_legal(move):
                return move
    plain = re.sub(r"\(=?([A-Z])\)$", r"=\1", plain.replace(":", "x"))
    try:
        return board.parse_san(plain.replace("0", "O"))
    except ValueError:
        return None


def _translated(match: re.Match[str], letters: dict[str, str]) -> str:
    letter = match[1] or match[2]
    return match[0].replace(letter, letters.get(letter, letter))


class _Walk:
    """Moves through a game and its variations, token by token."""

    def __init__(self, board: chess.Board):
        self.board = board
        self.problem, self.plies = "", 0
        # A word that is no move ends the line that it stands in.
        self.lost = False
        self._outer: list[tuple[chess.Board, bool]] = []

    def token(self, token: str, letters: dict[str, str]) -> str:
        """The token in the usual spelling; itself if it is no move."""
        if token == "(":
            self._enter()
        elif token == ")" and self._outer:
            self.board, self.lost = self._outer.pop()
        elif not self.lost and _is_word(token):
            return self._word(token, letters)
        return token

    def _enter(self) -> None:
        self._outer.append((self.board, self.lost))
        self.lost = self.lost or not self.board.move_stack
        if not self.lost:
            self.board = self.board.copy()
            self.board.pop()

    def _word(self, word: str, letters: dict[str, str]) -> str:
        move = _parse(self.board, word, letters)
        if move is None:
            if word in _NULLS or (re.search(r"[a-z]|^[O0]-[O0]", word) and word not in ("e.p.", "ep")):
                self._lose(word)
            return word
        san = self.board.san(move) if move else NULL
        self.board.push(move)
        self.plies += not self._outer
        return san + word[len(word.rstrip("!?")) :]

    def _lose(self, word: str) -> None:
        self.lost = True
        if not self._outer:
            number = f"{self.board.fullmove_number}{'.' if self.board.turn else '…'}"
            self.problem = f"move {number} '{word[:20]}' cannot be read"
