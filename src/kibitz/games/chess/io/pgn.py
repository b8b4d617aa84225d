"""PGN to arrays: games from a stream of text, filtered by their headers, read by a parser in Rust, checked.

Memory stays flat: the text is taken in blocks, and a block's games are on their way to the store before the block after
the next is unpacked. Unpacking and finding games, and reading moves, run beside this thread.
"""

from __future__ import annotations

import contextlib
import re
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import rust_pgn_reader_python_binding as rust
from numpy.typing import NDArray

from kibitz.dates import read_date
from kibitz.errors import KibitzError
from kibitz.games.batch import GameBatch
from kibitz.games.chess.filters import RESULTS, STANDARD_VARIANTS, Filter, read_rating
from kibitz.games.chess.io.ingest import CandidateGame, ParsedBlock, finish
from kibitz.games.chess.io.scan import scan
from kibitz.prefetch import prefetched
from kibitz.records import Files, Stream, decode

BLOCK = 1 << 22
"""Bytes of text read at once."""
MAX_GAME_BYTES = 1 << 24
"""Bytes of text after which a game is given up: no real one is as long, but a file that is no PGN may be."""

_HEADER = re.compile(r'^[ \t]*\[(\w+)[ \t]+"((?:[^"\\\n]|\\.)*)"', re.MULTILINE)
_ESCAPED = re.compile(r"^%.*", re.MULTILINE)  # lines that the PGN standard leaves to other programs
_BLANK_LINES = re.compile(r"\n[ \t\r\n]*\n")


def read_headers(text: str) -> dict[str, str]:
    """The headers of one game; of two with the same name the first counts."""
    headers: dict[str, str] = {}
    for name, value in _HEADER.findall(text):
        if "\\" in value:
            value = value.replace('\\"', '"').replace("\\\\", "\\")
        headers.setdefault(name, value)
    return headers


@dataclass
class _Text:
    """A block of whole games: the text, where each begins and where its moves do, and whether the file ends with it."""

    file: str
    text: bytes
    begins: NDArray[np.int64]
    bodies: NDArray[np.int64]
    last: bool


def _texts(stream: Stream, broken: list[str]) -> Iterator[_Text]:
    """The blocks of one file. One whose packing is damaged ends where it is; the reason goes to `broken`."""
    rest = b""
    skipping = False  # inside a text too long to be a game
    blocks = stream.texts(BLOCK, "a PGN is text in UTF-8 or Latin-1")
    while True:
        try:
            block = next(blocks, b"")
        except KibitzError as error:
            broken.append(str(error))
            block = b""
        text = rest + block if rest else block
        begins, bodies = scan(text)
        first = 1 if skipping else 0
        if not block:
            yield _Text(stream.name, text, begins[first:], bodies[first:], True)
            return
        if len(begins) < 2:
            rest = text
            if len(rest) > MAX_GAME_BYTES:
                if not skipping:
                    broken.append(f"{stream.name}: {len(rest) >> 20} MB without an end of a game; is this a PGN file?")
                rest, skipping = b"\n", True
            continue
        skipping = False
        complete = int(begins[-1])
        if len(begins) - 1 > first:
            yield _Text(stream.name, text[:complete], begins[first:-1], bodies[first:-1], False)
        rest = text[complete:]


def _select(block_text: _Text, number: int, keep: Filter) -> ParsedBlock:
    """The games of a block that their headers let through; `number` games of the file were before."""
    text, begins, bodies, name = block_text.text, block_text.begins, block_text.bodies, block_text.file
    block = ParsedBlock(name, len(begins))
    ends = [*begins[1:].tolist(), len(text)][: len(begins)]
    for at, body, end in zip(begins.tolist(), bodies.tolist(), ends, strict=True):
        number += 1
        headers = read_headers(decode(text[at:body])) if body > at else {}
        ratings = (read_rating(headers.get("WhiteElo", "")), read_rating(headers.get("BlackElo", "")))
        result = RESULTS.get(headers.get("Result", "").strip())
        date = read_date(headers.get("Date") or headers.get("UTCDate") or "")
        if headers.get("Variant", "").strip().lower() not in STANDARD_VARIANTS:
            block.rejections.add("variant", name, number, headers, headers["Variant"])
            continue
        if why := keep.refuses_headers(headers, ratings, result, date):
            block.rejections.add(why, name, number, headers)
            continue
        moves = decode(text[body:end])
        if "%" in moves:
            moves = _ESCAPED.sub("", moves)
        moves = _BLANK_LINES.sub("\n", moves.strip())  # the parser would stop there
        if "FEN" in headers:
            moves = f'[FEN "{headers["FEN"]}"]\n\n{moves}'
        block.games.append(
            CandidateGame(number, headers, ratings, date, result, moves or "*", block_text.last and end == len(text))
        )
    return block


def _parse(texts: list[str]) -> rust.ParsedGames:
    """The moves of some games. The parser works without the interpreter's lock."""
    return rust.parse_games(pa.chunked_array([pa.array(texts, pa.string())]), num_threads=1)


def _readable(game: CandidateGame, block: ParsedBlock) -> bool:
    """Whether the parser survives a game; one that it does not is left out of the block."""
    try:
        _parse([game.text])
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        block.rejections.add("unreadable move", block.file, game.number, game.headers, f"the parser gave up: {error}")
        return False
    return True


class PgnReader(Files):
    """The games of some PGN files, batch after batch.

    Iterating gives a GameBatch for each block of text. Close the iterator where it is left early.
    """

    def __init__(self, paths: list[str], keep: Filter):
        super().__init__(paths)
        self.keep = keep

    def __iter__(self) -> Generator[GameBatch]:
        waiting: deque[tuple[Future[rust.ParsedGames], ParsedBlock]] = deque()
        with ThreadPoolExecutor(2) as parsers, contextlib.closing(prefetched(self._blocks())) as texts:
            try:
                file, number = "", 0
                for text in texts:
                    if text.file != file:
                        file, number = text.file, 0
                    block = _select(text, number, self.keep)
                    number += block.read
                    waiting.append((parsers.submit(_parse, [game.text for game in block.games]), block))
                    while len(waiting) > 2:
                        yield self._finished(*waiting.popleft())
                while waiting:
                    yield self._finished(*waiting.popleft())
            finally:
                for future, _ in waiting:
                    future.cancel()

    def _finished(self, parsed: Future[rust.ParsedGames], block: ParsedBlock) -> GameBatch:
        try:
            return finish(parsed.result(), block, self.keep)
        except BaseException as error:  # the parser's panics are no Exceptions
            if type(error).__name__ != "PanicException":
                raise
        block.games = [game for game in block.games if _readable(game, block)]
        return finish(_parse([game.text for game in block.games]), block, self.keep)

    def _blocks(self) -> Generator[_Text]:
        """The texts of all files. Runs in a thread of its own, which alone opens, reads and closes them."""
        with contextlib.closing(self.streams()) as streams:
            for stream in streams:
                games, faults = 0, len(self.broken)
                for text in _texts(stream, self.broken):
                    games += len(text.begins)
                    yield text
                if games == 0 and len(self.broken) == faults:
                    self.broken.append(f"{stream.name}: no game in this file; is it a PGN?")
