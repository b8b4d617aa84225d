"""Read PGN files into arrays. The steps are: split the text into games, filter them by their headers, parse their moves
in Rust, and check them.

Memory use is constant: only two blocks are in memory before their games are passed to the store. One thread
decompresses and splits the files, and another thread parses the moves.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from kibitz.games.batch import GameBatch
from kibitz.games.chess.filters import STANDARD_VARIANTS, Filter
from kibitz.games.chess.io.blocks import GameBlock, read_blocks
from kibitz.games.chess.io.comments import for_the_fast_parser
from kibitz.games.chess.io.fast import parse
from kibitz.games.chess.io.headers import BOT_TAGS, Headers
from kibitz.games.chess.io.ingest import ParsedBlock, finish
from kibitz.games.chess.start import BadStart, read_fen
from kibitz.parallel import Workers, map_ordered
from kibitz.prefetch import prefetched
from kibitz.records import Files

if TYPE_CHECKING:
    from rust_pgn_reader_python_binding import PyChunkView

BLOCK = 1 << 22
"""The number of bytes of text that are read in one step."""
_BLANK_LINES = re.compile(r"\n[ \t\r\n]*\n")


def _select(found: GameBlock, keep: Filter) -> ParsedBlock:
    """Return the games of a block whose headers the filter accepts."""
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
    """Return the variant of a game that is not standard chess; "" for standard chess."""
    name = headers.value(game, "Variant") or ""
    return "" if name.strip().lower() in STANDARD_VARIANTS else name


def _for_the_parser(moves: str, fen: str | None) -> str:
    """Return the parser's input: a FEN header if there is one, and the moves; "*" if the FEN is impossible."""
    moves = _BLANK_LINES.sub("\n", moves)  # the parser would stop at a blank line
    moves = for_the_fast_parser(moves)
    if fen is None:
        return moves
    start = _start(fen)
    return f'[FEN "{start}"]\n\n{moves}' if start else "*"


@functools.lru_cache(1 << 12)
def _start(fen: str) -> str | None:
    """Normalize a FEN; None if it isn't a valid start position."""
    try:
        return read_fen(fen).fen()
    except BadStart:
        return None


def _panics(text: str) -> str | None:
    """Let the parser parse a game. Returns its message if it panics, else None."""
    try:
        parse(pa.array([text], pa.string()))
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return "the text of the game is damaged"
    return None


def _finish(parsed: Callable[[], list[PyChunkView] | None], block: ParsedBlock, keep: Filter) -> GameBatch:
    """Return the batch of a block, without games on which the parser panics. parsed: a function that returns the
    parser's result.
    """
    try:
        return finish(parsed(), block, keep)
    except BaseException as error:  # the parser's panics are not subclasses of Exception
        if type(error).__name__ != "PanicException":
            raise
    panics = {i: why for i, text in enumerate(block.texts.to_pylist()) if (why := _panics(text)) is not None}
    block.leave_out(list(panics), "unreadable move", list(panics.values()))
    return finish(parse(block.texts), block, keep)


def _read(keep: Filter, text: GameBlock) -> GameBatch:
    """Read a block in a worker, with all of the work in this thread. Returns its batch."""
    block = _select(text, keep)
    return _with_strays(_finish(lambda: parse(block.texts), block, keep), text)


def _with_strays(batch: GameBatch, found: GameBlock) -> GameBatch:
    """Return the batch with the block's text that belongs to no game."""
    batch.strays = [f"{found.file}, line {one.line}: {one.words}" for one in found.strays if one.words[0] != "%"]
    batch.more_strays = found.more_strays
    return batch


class PgnReader(Files):
    """Reads the games of PGN files in batches.

    An iteration yields a GameBatch for each block of text. If you stop the iteration early, close the iterator.
    """

    def __init__(self, paths: list[str], keep: Filter):
        super().__init__(paths)
        self.keep = keep

    def batches(self, workers: Workers) -> Generator[GameBatch]:
        """Yield the same batches as an iteration over the reader. The calling process divides the text into games, and
        the worker processes parse the games. workers: the worker processes.
        """
        with contextlib.closing(prefetched(self._blocks())) as texts:
            yield from map_ordered(functools.partial(_read, self.keep), texts, workers)

    def __iter__(self) -> Generator[GameBatch]:
        """Yield the games in batches, with threads of this process. Close the iterator if you stop before its end."""
        waiting: deque[tuple[Future[list[PyChunkView] | None], ParsedBlock, GameBlock]] = deque()
        with ThreadPoolExecutor(2) as parsers, contextlib.closing(prefetched(self._blocks())) as texts:
            try:
                for text in texts:
                    block = _select(text, self.keep)
                    waiting.append((parsers.submit(parse, block.texts), block, text))
                    while len(waiting) > 2:
                        yield self._finished(*waiting.popleft())
                while waiting:
                    yield self._finished(*waiting.popleft())
            finally:
                for future, *_ in waiting:
                    future.cancel()

    def _finished(self, parsed: Future[list[PyChunkView] | None], block: ParsedBlock, found: GameBlock) -> GameBatch:
        return _with_strays(_finish(parsed.result, block, self.keep), found)

    def _blocks(self) -> Generator[GameBlock]:
        """Yield the text of all files in blocks. The generator runs in one separate thread, which opens, reads and
        closes the files.
        """
        with contextlib.closing(self.streams()) as streams:
            for stream in streams:
                games, faults = 0, len(self.broken)
                for block in read_blocks(stream, BLOCK, self.broken):
                    games += len(block)
                    yield block
                if games == 0 and len(self.broken) == faults:
                    self.broken.append(f"{stream.name}: this does not look like a PGN file: no game headers, no moves")
