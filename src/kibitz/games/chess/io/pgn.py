"""PGN to arrays: games from a stream of text, filtered by their headers, read by a parser in Rust, checked.

Memory stays flat: the text is taken in blocks, and a block's games are on their way to the store before the block after
the next is unpacked. Unpacking and finding games, and reading moves, run beside this thread.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import rust_pgn_reader_python_binding as rust
from numpy.typing import NDArray

from kibitz.errors import KibitzError
from kibitz.games.batch import GameBatch
from kibitz.games.chess.filters import STANDARD_VARIANTS, Filter
from kibitz.games.chess.io.headers import Headers
from kibitz.games.chess.io.ingest import ParsedBlock, finish
from kibitz.games.chess.io.scan import scan
from kibitz.parallel import Workers, map_ordered
from kibitz.prefetch import prefetched
from kibitz.records import Files, Stream

BLOCK = 1 << 22
"""Bytes of text read at once."""
MAX_GAME_BYTES = 1 << 24
"""Bytes of text after which a game is given up: no real one is as long, but a file that is no PGN may be."""

_ESCAPED = re.compile(r"^%.*", re.MULTILINE)  # lines that the PGN standard leaves to other programs
_BLANK_LINES = re.compile(r"\n[ \t\r\n]*\n")


@dataclass
class _Text:
    """A block of whole games: the text, where each begins and where its moves do, whether the file ends with it, and
    how many games of the file are before it."""

    file: str
    text: bytes
    begins: NDArray[np.int64]
    bodies: NDArray[np.int64]
    last: bool
    before: int = 0


def _texts(stream: Stream, broken: list[str]) -> Iterator[_Text]:
    """The blocks of one file. One whose packing is damaged ends where it is; the reason goes to `broken`."""
    rest = b""
    skipping = False  # inside a text too long to be a game
    bare: bool | None = None  # lines end with carriage returns alone, as on the first Macintoshes
    blocks = stream.texts(BLOCK, "a PGN is text in UTF-8 or Latin-1")
    while True:
        try:
            block = next(blocks, b"")
        except KibitzError as error:
            broken.append(str(error))
            block = b""
        if bare is None:
            bare = b"\r" in block and b"\n" not in block
        if bare:
            block = block.replace(b"\r", b"\n")
        text = rest + block if rest else block
        begins, bodies = scan(text, not block)
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


def _select(block_text: _Text, keep: Filter) -> ParsedBlock:
    """The games of a block that their headers let through."""
    headers = Headers(block_text.text, block_text.begins, block_text.bodies)
    block = ParsedBlock(block_text.file, block_text.before, headers, block_text.last)
    variants = headers.column("Variant").map(lambda name: (name or "").strip().lower() in STANDARD_VARIANTS)
    why = np.where(variants.astype(np.bool_), keep.refuses_headers(block), "variant")
    refused = why != None  # noqa: E711
    block.games = np.flatnonzero(~refused)
    block.reject(np.flatnonzero(refused), why[refused].tolist(), lambda game: _variant(headers, game))
    block.texts = headers.moves(block.games, _for_the_parser)
    return block


def _variant(headers: Headers, game: int) -> str:
    """The variant of a game that is not standard chess; nothing for others."""
    name = headers.value(game, "Variant") or ""
    return "" if name.strip().lower() in STANDARD_VARIANTS else name


def _for_the_parser(moves: str, fen: str | None) -> str:
    """What the parser reads: a FEN header where there is one, and the moves."""
    if "%" in moves:
        moves = _ESCAPED.sub("", moves)
    moves = _BLANK_LINES.sub("\n", moves.strip())  # the parser would stop there
    if fen is not None:
        moves = f'[FEN "{fen}"]\n\n{moves}'
    return moves or "*"


def _parse(texts: pa.StringArray) -> rust.ParsedGames:
    """The moves of some games. The parser works without the interpreter's lock."""
    return rust.parse_games(pa.chunked_array([texts]), num_threads=1)


def _panics(text: str) -> str | None:
    """What the parser says when it does not survive a game; None where it does."""
    try:
        _parse(pa.array([text], pa.string()))
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return f"the parser gave up: {error}"
    return None


def _finish(parse: Callable[[], rust.ParsedGames], block: ParsedBlock, keep: Filter) -> GameBatch:
    """The batch of a block; parse: returns its parsed games. Without those that the parser does not survive."""
    try:
        return finish(parse(), block, keep)
    except BaseException as error:  # the parser's panics are no Exceptions
        if type(error).__name__ != "PanicException":
            raise
    said = {i: why for i, text in enumerate(block.texts.to_pylist()) if (why := _panics(text)) is not None}
    block.leave_out(list(said), "unreadable move", list(said.values()))
    return finish(_parse(block.texts), block, keep)


def _read(keep: Filter, text: _Text) -> GameBatch:
    """The batch of a block, all in this thread: the work of a worker."""
    block = _select(text, keep)
    return _finish(lambda: _parse(block.texts), block, keep)


class PgnReader(Files):
    """The games of some PGN files, batch after batch.

    Iterating gives a GameBatch for each block of text. Close the iterator where it is left early.
    """

    def __init__(self, paths: list[str], keep: Filter):
        super().__init__(paths)
        self.keep = keep

    def batches(self, workers: Workers) -> Generator[GameBatch]:
        """The same batches as by iterating, read by workers: this process finds the games, they read them."""
        with contextlib.closing(prefetched(self._blocks())) as texts:
            yield from map_ordered(functools.partial(_read, self.keep), texts, workers)

    def __iter__(self) -> Generator[GameBatch]:
        waiting: deque[tuple[Future[rust.ParsedGames], ParsedBlock]] = deque()
        with ThreadPoolExecutor(2) as parsers, contextlib.closing(prefetched(self._blocks())) as texts:
            try:
                for text in texts:
                    block = _select(text, self.keep)
                    waiting.append((parsers.submit(_parse, block.texts), block))
                    while len(waiting) > 2:
                        yield self._finished(*waiting.popleft())
                while waiting:
                    yield self._finished(*waiting.popleft())
            finally:
                for future, _ in waiting:
                    future.cancel()

    def _finished(self, parsed: Future[rust.ParsedGames], block: ParsedBlock) -> GameBatch:
        return _finish(parsed.result, block, self.keep)

    def _blocks(self) -> Generator[_Text]:
        """The texts of all files. Runs in a thread of its own, which alone opens, reads and closes them."""
        with contextlib.closing(self.streams()) as streams:
            for stream in streams:
                games, faults = 0, len(self.broken)
                for text in _texts(stream, self.broken):
                    text.before = games
                    games += len(text.begins)
                    yield text
                if games == 0 and len(self.broken) == faults:
                    self.broken.append(f"{stream.name}: no game in this file; is it a PGN?")
