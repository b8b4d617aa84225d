"""Split a PGN file into blocks of complete games. For each game, find where it begins and ends, and whether the fast
parser can read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError
from kibitz.games.chess.io.movetext import is_game, split_games
from kibitz.games.chess.io.plain import PLAIN, classify
from kibitz.games.chess.io.scan import scan
from kibitz.records import Stream, decode, unquoted
from kibitz.text import shown

MAX_GAME_BYTES = 1 << 24
"""The largest number of bytes of a game. No real game is as long, but text in a file that isn't PGN may be longer."""
MAX_STRAYS = 20
"""The largest number of strays (parts of a file that belong to no game) that are reported with their line, for each
file.
"""
_MAX_WORDS = 60
_MAX_HEAD_BYTES = 1 << 18
"""If too much text follows, the end of a game is searched in this number of bytes."""


@dataclass(frozen=True)
class Stray:
    """A part of a file that belongs to no game.

    games: the number of games before this part in the file. line: the number of its first line in the file, from 1.
    words: its first words.
    """

    games: int
    line: int
    words: str


@dataclass
class GameBlock:
    """A part of a PGN file that consists of complete games.

    file: the name of the file.
    text: the bytes of the games.
    begins, bodies, ends: int64 [n], the byte offsets in the text at which each game begins, its moves begin, and it
        ends.
    flags: uint8 [n], how each game can be parsed, a combination of `plain.PLAIN`, `plain.REWRITTEN` and `plain.ELAPSED`
        (see `plain.classify`).
    spans: int64 [n, 2], the byte offsets of each game's movetext. The movetext is the part from `bodies` to `ends`
        without the white space before and after it.
    is_utf8: whether the text is valid UTF-8; otherwise it is Latin-1.
    last: whether the file ends with this block.
    line: the number of the text's first line in the file, from 1.
    before: the number of games before this block in the file.
    strays: the first parts of the text that belong to no game.
    more_strays: the number of further parts of the text that belong to no game.
    """

    file: str
    text: bytes
    begins: NDArray[np.int64]
    bodies: NDArray[np.int64]
    ends: NDArray[np.int64]
    flags: NDArray[np.uint8]
    spans: NDArray[np.int64]
    is_utf8: bool
    last: bool
    line: int
    before: int = 0
    strays: list[Stray] = field(default_factory=list)
    more_strays: int = 0

    def __len__(self) -> int:
        return len(self.begins)

    def texts(self, game: int) -> tuple[str, str]:
        """Return the text of a game's headers and the text of its moves, with Unix line endings. game: the game's index
        in the block of games.
        """
        begin, body, end = (int(at[game]) for at in (self.begins, self.bodies, self.ends))
        return _unix(decode(self.text[begin:body])), _unix(decode(self.text[body:end]))

    def line_of(self, game: int) -> int:
        """Return the number of a game's first line in the file, from 1. game: the game's index in the block
        of games.
        """
        return self.line + self.text.count(b"\n", 0, int(self.begins[game]))


def read_blocks(stream: Stream, size: int, broken: list[str]) -> Iterator[GameBlock]:
    """Yield the games of one PGN file as blocks of about `size` bytes.

    stream: the open file. If it is compressed and damaged, the blocks end at the damage. broken: a list to which the
    function appends a line of text for such damage, and for text that is too long to be a game.
    """
    before = strays = 0
    for text, begins, bodies, line, last in _texts(stream, size, broken):
        block = _divided(text, begins, bodies, stream.name, last)
        block.line, block.before = line, before
        room = max(0, MAX_STRAYS - strays)
        block.strays = [Stray(before + one.games, one.line + line, one.words) for one in block.strays]
        block.strays, block.more_strays = block.strays[:room], block.more_strays + len(block.strays[room:])
        strays += len(block.strays)
        before += len(block)
        yield block


def _texts(
    stream: Stream, size: int, broken: list[str]
) -> Iterator[tuple[bytes, NDArray[np.int64], NDArray[np.int64], int, bool]]:
    """Yield pieces of a file's text that consist of whole games.

    Each piece has the text, the offsets of games and their moves (from `scan`), the number of the text's first line,
    and whether the file ends with this text.
    """
    rest, line = b"", 1
    skipping = False  # whether the position is inside a text that is too long for a game
    returns = b""  # carriage returns at the end of a block; the next byte decides whether they end a line alone
    blocks = stream.texts(size, "PGN files are text in UTF-8 or Latin-1")
    while True:
        try:
            block = next(filter(None, blocks), b"")  # the first block may contain only a byte order mark
        except KibitzError as error:
            broken.append(str(error))
            block = b""
        is_end = not block
        block = returns + block
        returns = b"" if is_end else block[len(block.rstrip(b"\r")) :]
        block = unquoted(_with_newlines(block[: len(block) - len(returns)]))
        text = rest + block if rest else block
        begins, bodies = scan(text, is_end)
        first = 1 if skipping else 0
        if is_end:
            yield text, begins[first:], bodies[first:], line, True
            return
        if len(begins) < 2:
            rest = text
            if len(rest) > MAX_GAME_BYTES:
                if not skipping:
                    broken.append(
                        f"{stream.name}: this does not look like a PGN file: {len(rest) >> 20} MB without the end of"
                        " a game"
                    )
                    if end := _end_of_first(rest):
                        yield rest[:end], begins, np.minimum(bodies, end), line, False
                line += rest.count(b"\n")
                rest, skipping = b"\n", True
                line -= 1
            continue
        skipping = False
        complete = int(begins[-1])
        if len(begins) - 1 > first:
            yield text[:complete], begins[first:-1], bodies[first:-1], line, False
        line += text.count(b"\n", 0, complete)
        rest = text[complete:]


_RETURNS = re.compile(rb"(\r+)(\n?)")


def _with_newlines(text: bytes) -> bytes:
    """Replace each carriage return that ends a line alone, as on the first Macintosh computers, by a newline."""
    if text.count(b"\r") == text.count(b"\r\n"):
        return text
    return _RETURNS.sub(lambda found: found[0] if found[2] else b"\n" * len(found[1]), text)


def _end_of_first(text: bytes) -> int:
    """Return the offset, in bytes, of the first game's end, if other text follows its result and a blank line.

    The result is 0 if the game doesn't end within _MAX_HEAD_BYTES.
    """
    head = text[:_MAX_HEAD_BYTES]
    head = head[: head.rfind(b"\n") + 1]
    decoded = decode(head)
    # The added brace replaces the next text, which may begin in the middle of a character. The brace is needed to
    # recognize that a game ends here.
    pieces = split_games(decoded + "{")
    first = next(pieces, None)
    if first is None or next(pieces, None) is None:
        return 0
    return first.end if len(decoded) == len(head) else len(decoded[: first.end].encode())


def find_games(text: bytes) -> GameBlock:
    """Return all games of a PGN text as one block. text: the complete text, not a part of it."""
    text = unquoted(_with_newlines(text))
    block = _divided(text, *scan(text), "", True)
    block.line = 1
    block.strays = [Stray(stray.games, stray.line + 1, stray.words) for stray in block.strays]
    return block


def _divided(text: bytes, begins: NDArray[np.int64], bodies: NDArray[np.int64], file: str, last: bool) -> GameBlock:
    """Return the games of a text that `scan` has split.

    Games that aren't plain are divided further, and text that isn't a game is removed. The lines of strays are counted
    from 0.
    """
    data = np.frombuffer(text, np.uint8)
    is_utf8 = _is_utf8(text)
    ends = np.append(begins[1:], len(text))[: len(begins)]
    flags, spans = classify(data, begins, bodies, ends, is_utf8)
    block = GameBlock(file, text, begins, bodies, ends, flags, spans, is_utf8, last, 0)
    odd = np.flatnonzero(flags & PLAIN == 0)
    if len(odd) == 0:
        return block
    found: list[NDArray[np.int64]] = []
    done = count = 0
    starts_of_parts = np.stack([begins, bodies, ends], axis=1)
    for game in odd.tolist():
        found.append(starts_of_parts[done:game])
        count += game - done
        pieces = _divide(block, int(begins[game]), int(ends[game]), count)
        found.append(pieces)
        count += len(pieces)
        done = game + 1
    found.append(starts_of_parts[done:])
    starts_of_parts = np.ascontiguousarray(np.concatenate(found))
    block.begins, block.bodies, block.ends = (np.ascontiguousarray(starts_of_parts[:, i]) for i in range(3))
    block.flags, block.spans = classify(data, block.begins, block.bodies, block.ends, is_utf8)
    return block


def _divide(block: GameBlock, begin: int, end: int, before: int) -> NDArray[np.int64]:
    """Return the games of a part of a block's text, int64 [n, 3]: the offsets of each game's begin, of its moves, and
    of its end.

    before: the number of the block's games before this part.
    """
    raw = block.text[begin:end]
    text = decode(raw)
    same = len(text) == len(raw)
    found: list[tuple[int, int, int]] = []
    at = place = 0

    def bytes_at(index: int) -> int:
        nonlocal at, place
        if same:
            return begin + index
        place += len(text[at:index].encode())
        at = index
        return begin + place

    for piece in split_games(text):
        where = bytes_at(piece.begin), bytes_at(piece.body), bytes_at(piece.end)
        if is_game(text, piece):
            found.append(where)
        elif words := " ".join(text[piece.begin : min(piece.end, piece.begin + 10 * _MAX_WORDS)].split()):
            if len(block.strays) < MAX_STRAYS:
                line = block.text.count(b"\n", 0, where[0])
                block.strays.append(Stray(before + len(found), line, shown(words)[:_MAX_WORDS]))
            else:
                block.more_strays += 1
    return np.array(found, np.int64).reshape(-1, 3)


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
