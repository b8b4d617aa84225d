"""PGN to arrays: games from a stream of text, filtered by their headers, read by a parser in Rust, checked.

Memory stays flat: the text is taken in blocks, and a block's games are on their way to the store before the block after
the next is unpacked. Unpacking and finding games, and reading moves, run beside this thread.
"""

from __future__ import annotations

import contextlib
import datetime
import queue
import re
import threading
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import rust_pgn_reader_python_binding as rust
from numpy.typing import NDArray

from kibitz.chess.filters import RESULTS, Filter, read_date, read_rating, speed_of
from kibitz.chess.moves import pack
from kibitz.chess.replay import STANDARD_START, START_WIDTH
from kibitz.chess.scan import scan
from kibitz.errors import KibitzError
from kibitz.records import Stream
from kibitz.store.batch import GameBatch, LeftOut

T = TypeVar("T")

BLOCK = 1 << 22
"""Bytes of text read at once."""
LONGEST_GAME = 1 << 24
"""Bytes of text after which a game is given up: no real one is as long, but a file that is no PGN may be."""

COLUMNS = pa.schema([
    ("white", pa.string()), ("black", pa.string()),
    ("white_rating", pa.int16()), ("black_rating", pa.int16()),  # null where unknown
    ("result", pa.int8()),  # White's view: 1, 0, -1
    ("ending", pa.string()),  # how it ended, see _ending
    ("date", pa.date32()),  # null where the year is unknown
    ("event", pa.string()), ("site", pa.string()), ("eco", pa.string()),
    ("time_control", pa.string()), ("speed", pa.string()),
    ("source", pa.string()), ("number", pa.int32()),  # the file, and the game's place in it from 1
])  # fmt: skip

BESIDE = {"clock": ("uint16", 65535), "evaluation": ("int16", -32768)}
"""What comments carry: seconds left after the move, centipawns (White's view); type and the value for none."""

_HEADER = re.compile(r'^[ \t]*\[(\w+)[ \t]+"((?:[^"\\\n]|\\.)*)"', re.MULTILINE)
_ESCAPED = re.compile(r"^%.*", re.MULTILINE)  # lines that the PGN standard leaves to other programs
_BLANK_LINES = re.compile(r"\n[ \t\r\n]*\n")
_STANDARD = {"", "standard", "normal", "chess", "from position"}
_OUTCOMES = {"White": 1, "Black": -1, "Draw": 0}


@dataclass
class _Game:
    """A game that its headers let through, on its way to the parser."""

    number: int
    headers: dict[str, str]
    ratings: tuple[int, int]
    date: datetime.date | None
    result: int | None
    text: str  # what the parser reads: a FEN header where there is one, and the moves
    last: bool = False  # the last of its file: a text cut short ends here


@dataclass
class _Block:
    """What one block of text gave: games for the parser, and the account so far."""

    file: str
    read: int
    games: list[_Game] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=LeftOut)


def decode(text: bytes) -> str:
    """UTF-8, or Latin-1 where it is not."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")


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
    start = True
    blocks = stream.blocks(BLOCK)
    while True:
        try:
            block = next(blocks, b"")
        except KibitzError as error:
            broken.append(str(error))
            block = b""
        if start:
            start = False
            block = block.removeprefix(b"\xef\xbb\xbf")  # the mark that some editors put before UTF-8
            if b"\0" in block:
                broken.append(f"{stream.name}: binary, not text; a PGN is text in UTF-8 or Latin-1")
                return
        text = rest + block if rest else block
        begins, bodies = scan(text)
        first = 1 if skipping else 0
        if not block:
            yield _Text(stream.name, text, begins[first:], bodies[first:], True)
            return
        if len(begins) < 2:
            rest = text
            if len(rest) > LONGEST_GAME:
                if not skipping:
                    broken.append(f"{stream.name}: {len(rest) >> 20} MB without an end of a game; is this a PGN file?")
                rest, skipping = b"\n", True
            continue
        skipping = False
        whole = int(begins[-1])
        if len(begins) - 1 > first:
            yield _Text(stream.name, text[:whole], begins[first:-1], bodies[first:-1], False)
        rest = text[whole:]


def _select(block_text: _Text, number: int, keep: Filter) -> _Block:
    """The games of a block that their headers let through; `number` games of the file were before."""
    text, begins, bodies, name = block_text.text, block_text.begins, block_text.bodies, block_text.file
    block = _Block(name, len(begins))
    ends = [*begins[1:].tolist(), len(text)][: len(begins)]
    for at, body, end in zip(begins.tolist(), bodies.tolist(), ends, strict=True):
        number += 1
        headers = read_headers(decode(text[at:body])) if body > at else {}
        ratings = (read_rating(headers.get("WhiteElo", "")), read_rating(headers.get("BlackElo", "")))
        result = RESULTS.get(headers.get("Result", "").strip())
        date = read_date(headers.get("Date") or headers.get("UTCDate") or "")
        if headers.get("Variant", "").strip().lower() not in _STANDARD:
            block.left_out.add("variant", name, number, headers, headers["Variant"])
            continue
        if why := keep.refuses_headers(headers, ratings, result, date):
            block.left_out.add(why, name, number, headers)
            continue
        moves = decode(text[body:end])
        if "%" in moves:
            moves = _ESCAPED.sub("", moves)
        moves = _BLANK_LINES.sub("\n", moves.strip())  # the parser would stop there
        if "FEN" in headers:
            moves = f'[FEN "{headers["FEN"]}"]\n\n{moves}'
        block.games.append(
            _Game(number, headers, ratings, date, result, moves or "*", block_text.last and end == len(text))
        )
    return block


def _ending(headers: dict[str, str], result: int, mate: bool, stalemate: bool, insufficient: bool) -> str:
    """How a game ended: what the board shows first, then what the Termination header says."""
    if mate:
        return "checkmate"
    if stalemate:
        return "stalemate"
    said = headers.get("Termination", "").lower()
    if "time" in said or ("forfeit" in said and result):
        return "time"
    if "abandon" in said:
        return "abandoned"
    if "adjudicat" in said:
        return "adjudication"
    if insufficient:
        return "insufficient material"
    return "resignation" if result else "agreement"


def _parse(texts: list[str]) -> rust.ParsedGames:
    """The moves of some games. The parser works without the interpreter's lock."""
    return rust.parse_games(pa.chunked_array([pa.array(texts, pa.string())]), num_threads=1)


def _readable(game: _Game, block: _Block) -> bool:
    """Whether the parser survives a game; one that it does not is left out of the block."""
    try:
        _parse([game.text])
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        block.left_out.add("unreadable move", block.file, game.number, game.headers, f"the parser gave up: {error}")
        return False
    return True


def _broken(error: str) -> str:
    """The reason for the parser's complaint."""
    if "FEN" in error:
        return "set-up position"
    return "illegal move" if error.startswith("illegal move") else "unreadable move"


_CORNERS = ((0, 4, 6, 7, 4), (1, 4, 6, 0, 4), (2, 60, 12, 63, 10), (3, 60, 12, 56, 10))
"""Castling right, king's square and code, rook's square and code: standard chess only."""


def _start_row(chunk: rust.PyChunkView, game: int) -> NDArray[np.uint8] | None:
    """The start position of a game that begins from a set-up; None where its castling is not standard chess."""
    at = int(chunk.position_offsets[game])
    board = chunk.boards[at].reshape(64)
    row = np.zeros(START_WIDTH, np.uint8)
    row[:64] = board
    rights = chunk.castling[at]
    for right, king_square, king, rook_square, rook in _CORNERS:
        if rights[right] and (board[king_square] != king or board[rook_square] != rook):
            return None
    side = 0 if chunk.turn[at] else 1
    castling = sum(1 << right for right in range(4) if rights[right])
    row[64:] = side, castling, chunk.en_passant[at] + 1, min(int(chunk.halfmove_clock[at]), 255)
    return row


@dataclass
class _Taken:
    """The games of a block that are kept, column by column."""

    rows: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in COLUMNS.names})
    plies: list[int] = field(default_factory=list)
    starts: list[NDArray[np.uint8] | None] = field(default_factory=list)

    def add(
        self, game: _Game, result: int, ending: str, plies: int, start: NDArray[np.uint8] | None, name: str
    ) -> None:
        headers = game.headers
        event, control = headers.get("Event", ""), headers.get("TimeControl", "")
        values = (
            headers.get("White", "?"), headers.get("Black", "?"), game.ratings[0] or None, game.ratings[1] or None,
            result, ending, game.date, event, headers.get("Site"), headers.get("ECO"),
            control or None, speed_of(control, event), name, game.number,
        )  # fmt: skip
        for column, value in zip(self.rows.values(), values, strict=True):
            column.append(value)
        self.plies.append(plies)
        self.starts.append(start)

    def start_rows(self) -> NDArray[np.uint8] | None:
        if all(start is None for start in self.starts):
            return None
        return np.stack([STANDARD_START if start is None else start for start in self.starts])


def _why_unusable(
    game: _Game, outcome: str | None, length: int, mate_by: int, stalemate: bool
) -> tuple[str, str] | None:
    """Why a game whose moves are legal still has no result to learn from: reason and detail; None where it has.

    outcome: the parser's name of the result after the moves; mate_by: 1 White gave mate, -1 Black, 0 no mate.
    """
    written = _OUTCOMES.get(outcome or "")
    result = game.result if game.result is not None else written
    if length == 0:
        return "no moves", ""
    if outcome is None and (game.last or game.text.count("{") > game.text.count("}")):
        return "cut short", "the moves end without a result"
    if result is None:
        return "no result", ""
    if written is not None and written != result:
        return "contradicting results", f"{game.headers.get('Result')} in the header, {outcome} after the moves"
    if (mate_by and mate_by != result) or (stalemate and result):
        return "contradicting results", f"{game.headers.get('Result')}, but the board shows another end"
    return None


def _finish(parsed: rust.ParsedGames, block: _Block, keep: Filter) -> GameBatch:
    """The batch of one block: parsed games checked, filtered by their moves, as flat arrays."""
    taken, name = _Taken(), block.file
    moves: list[NDArray[np.uint16]] = []
    beside: dict[str, list[NDArray[Any]]] = {column: [] for column in BESIDE}
    games = iter(block.games)
    for chunk in parsed.chunks:
        begins = chunk.move_offsets.astype(np.int64)
        lengths = begins[1:] - begins[:-1]
        kept = np.zeros(chunk.num_games, np.bool_)
        # The side to move in the last position tells who moved last, and so who gave mate.
        ends = np.maximum(chunk.position_offsets[1:].astype(np.int64) - 1, 0)
        last_turn = chunk.turn[ends] if len(chunk.turn) else np.zeros(chunk.num_games, np.bool_)
        mate_by = np.where(chunk.is_checkmate, np.where(last_turn, -1, 1), 0)
        insufficient_for_both = chunk.is_insufficient[:, 0] & chunk.is_insufficient[:, 1]
        columns = zip(
            chunk.valid.tolist(), chunk.outcome, chunk.parse_errors, lengths.tolist(), mate_by.tolist(),
            chunk.is_stalemate.tolist(), insufficient_for_both.tolist(), strict=True,
        )  # fmt: skip
        for i, (valid, outcome, error, length, mate, stalemate, insufficient) in enumerate(columns):
            game = next(games)
            why: tuple[str, str] | str | None
            if not valid:
                why = ("cut short" if game.last and outcome is None else _broken(error or ""), error or "")
            else:
                why = _why_unusable(game, outcome, length, mate, stalemate)
            if why is None:
                result = game.result if game.result is not None else _OUTCOMES[outcome or ""]
                ending = _ending(game.headers, result, bool(mate), stalemate, insufficient)
                why = keep.refuses_result(result) or keep.refuses_moves(length, ending)
            if why is None:
                start = _start_row(chunk, i) if "FEN" in game.headers else None
                if "FEN" in game.headers and start is None:
                    why = ("set-up position", "castling as in Chess960")
            if why is not None:
                reason, detail = (why, "") if isinstance(why, str) else why
                block.left_out.add(reason, name, game.number, game.headers, detail)
                continue
            kept[i] = True
            taken.add(game, result, ending, length, start, name)
        each_move = np.repeat(kept, lengths)
        moves.append(pack(chunk.from_squares, chunk.to_squares, chunk.promotions)[each_move])
        beside["clock"].append(_whole(chunk.clocks[each_move], 1, *BESIDE["clock"]))
        beside["evaluation"].append(_whole(chunk.evals[each_move], 100, *BESIDE["evaluation"]))
    arrays = {column: np.concatenate(parts) for column, parts in beside.items() if parts}
    return GameBatch(
        np.concatenate(moves) if moves else np.empty(0, np.uint16),
        np.array(taken.plies, np.int32),
        taken.start_rows(),
        pa.table([pa.array(taken.rows[field.name], field.type) for field in COLUMNS], schema=COLUMNS),
        block.left_out,
        block.read,
        {column: values for column, values in arrays.items() if (values != BESIDE[column][1]).any()},
    )


def _whole(values: NDArray[np.float32], scale: int, dtype: str, missing: int) -> NDArray[Any]:
    """Numbers of a comment as whole ones in the store's type; NaN becomes the value that stands for none."""
    info = np.iinfo(dtype)
    known = ~np.isnan(values)
    whole = np.full(len(values), missing, dtype)
    whole[known] = np.clip(np.rint(values[known] * scale), info.min + 1, info.max - 1)
    return whole


class PgnReader:
    """The games of some PGN files, batch after batch.

    Iterating gives a GameBatch for each block of text. `consumed` is how many bytes were read from disk so far,
    `broken` what was wrong with whole files. Close the iterator where it is left early.
    """

    def __init__(self, paths: list[str], keep: Filter):
        self.paths, self.keep = paths, keep
        self.broken: list[str] = []
        self._done = 0
        self._stream: Stream | None = None

    @property
    def consumed(self) -> int:
        stream = self._stream
        return self._done + (stream.consumed if stream else 0)

    def __iter__(self) -> Generator[GameBatch]:
        waiting: deque[tuple[Future[rust.ParsedGames], _Block]] = deque()
        with ThreadPoolExecutor(2) as parsers, contextlib.closing(_ahead(self._blocks())) as texts:
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

    def _finished(self, parsed: Future[rust.ParsedGames], block: _Block) -> GameBatch:
        try:
            return _finish(parsed.result(), block, self.keep)
        except BaseException as error:  # the parser's panics are no Exceptions
            if type(error).__name__ != "PanicException":
                raise
        block.games = [game for game in block.games if _readable(game, block)]
        return _finish(_parse([game.text for game in block.games]), block, self.keep)

    def _blocks(self) -> Generator[_Text]:
        """The texts of all files. Runs in a thread of its own, which alone opens, reads and closes them."""
        for path in self.paths:
            try:
                stream = self._stream = Stream(path)
            except KibitzError as error:
                self.broken.append(str(error))
                continue
            try:
                games, faults = 0, len(self.broken)
                for text in _texts(stream, self.broken):
                    games += len(text.begins)
                    yield text
                if games == 0 and len(self.broken) == faults:
                    self.broken.append(f"{stream.name}: no game in this file; is it a PGN?")
            finally:
                self._done += stream.consumed
                self._stream = None
                stream.close()


_END = object()


def _ahead(items: Generator[T]) -> Generator[T]:
    """The same items, made one ahead in another thread. Closing this closes them there.

    The thread is a daemon's: one that waits for standard input must not keep the program from ending.
    """
    ready: queue.Queue[Any] = queue.Queue(1)
    left = threading.Event()

    def put(item: object) -> bool:
        while not left.is_set():
            with contextlib.suppress(queue.Full):
                ready.put(item, timeout=0.1)
                return True
        return False

    def work() -> None:
        try:
            with contextlib.closing(items):
                for item in items:
                    if not put(item):
                        return
            put(_END)
        except BaseException as error:
            put(error)

    worker = threading.Thread(target=work, name="kibitz reading", daemon=True)
    worker.start()
    try:
        while (item := ready.get()) is not _END:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        left.set()
        worker.join(timeout=1)
