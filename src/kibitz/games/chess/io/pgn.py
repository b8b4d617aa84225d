"""PGN to arrays: games from a stream of text, filtered by their headers, read by a parser in Rust, checked.

Memory stays flat: the text is taken in blocks, and a block's games are on their way to the store before the block after
the next is unpacked. Unpacking and finding games, and reading moves, run beside this thread.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import rust_pgn_reader_python_binding as rust

from kibitz.games.batch import GameBatch
from kibitz.games.chess.filters import STANDARD_VARIANTS, Filter
from kibitz.games.chess.io.blocks import GameBlock, read_blocks
from kibitz.games.chess.io.headers import BOT_TAGS, Headers
from kibitz.games.chess.io.ingest import ParsedBlock, finish
from kibitz.games.chess.start import BadStart, read_fen
from kibitz.parallel import Workers, map_ordered
from kibitz.prefetch import prefetched
from kibitz.records import Files

BLOCK = 1 << 22
"""Bytes of text read at once."""
_BLANK_LINES = re.compile(r"\n[ \t\r\n]*\n")


def _select(found: GameBlock, keep: Filter) -> ParsedBlock:
    """The games of a block that their headers let through."""
    headers = Headers(found, BOT_TAGS if keep.no_bots else ())
    block = ParsedBlock(found.file, found.before, headers, found.last)
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
    """What the parser reads: a FEN header if there is one, and the moves; "*" for a FEN that cannot be."""
    moves = _BLANK_LINES.sub("\n", moves)  # the parser would stop there
    if fen is None:
        return moves
    start = _start(fen)
    return f'[FEN "{start}"]\n\n{moves}' if start else "*"


@functools.lru_cache(1 << 12)
def _start(fen: str) -> str | None:
    """A start position in its usual form; None if it is none."""
    try:
        return read_fen(fen).fen()
    except BadStart:
        return None


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


def _read(keep: Filter, text: GameBlock) -> GameBatch:
    """The batch of a block, all in this thread: the work of a worker."""
    block = _select(text, keep)
    return _with_strays(_finish(lambda: _parse(block.texts), block, keep), text)


def _with_strays(batch: GameBatch, found: GameBlock) -> GameBatch:
    """A batch with what its block has besides games."""
    batch.strays = [f"{found.file}, line {one.line}: {one.words}" for one in found.strays if one.words[0] != "%"]
    batch.more_strays = found.more_strays
    return batch


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
        waiting: deque[tuple[Future[rust.ParsedGames], ParsedBlock, GameBlock]] = deque()
        with ThreadPoolExecutor(2) as parsers, contextlib.closing(prefetched(self._blocks())) as texts:
            try:
                for text in texts:
                    block = _select(text, self.keep)
                    waiting.append((parsers.submit(_parse, block.texts), block, text))
                    while len(waiting) > 2:
                        yield self._finished(*waiting.popleft())
                while waiting:
                    yield self._finished(*waiting.popleft())
            finally:
                for future, *_ in waiting:
                    future.cancel()

    def _finished(self, parsed: Future[rust.ParsedGames], block: ParsedBlock, found: GameBlock) -> GameBatch:
        return _with_strays(_finish(parsed.result, block, self.keep), found)

    def _blocks(self) -> Generator[GameBlock]:
        """The texts of all files. Runs in a thread of its own, which alone opens, reads and closes them."""
        with contextlib.closing(self.streams()) as streams:
            for stream in streams:
                games, faults = 0, len(self.broken)
                for block in read_blocks(stream, BLOCK, self.broken):
                    games += len(block)
                    yield block
                if games == 0 and len(self.broken) == faults:
                    self.broken.append(f"{stream.name}: no game in this file; is it a PGN?")
