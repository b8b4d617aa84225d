"""From parsed games to arrays of accepted ones: checked, and filtered by their moves."""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import rust_pgn_reader_python_binding as rust
from numpy.typing import NDArray

from kibitz.dates import read_date
from kibitz.games.batch import GameBatch, Rejections
from kibitz.games.chess.filters import RESULTS, UNKNOWN, Filter, read_rating, speed_of
from kibitz.games.chess.io.headers import Headers
from kibitz.games.chess.moves import pack
from kibitz.games.chess.replay import STANDARD_START, START_WIDTH, keep_legal_passing

COLUMNS = pa.schema([
    ("white", pa.string()), ("black", pa.string()),
    ("white_rating", pa.int16()), ("black_rating", pa.int16()),  # null where unknown
    ("result", pa.int8()),  # White's view: 1, 0, -1
    ("ending", pa.string()),  # how it ended, see ending_of
    ("date", pa.date32()),  # null where the year is unknown
    ("event", pa.string()), ("site", pa.string()), ("eco", pa.string()),
    ("time_control", pa.string()), ("speed", pa.string()),
    ("source", pa.string()), ("number", pa.int32()),  # the file, and the game's place in it from 1
])  # fmt: skip

PER_MOVE = {"clock": ("uint16", 65535), "evaluation": ("int16", -32768)}
"""Values in comments: seconds left after the move, centipawns (White's view); type and the value for none."""

_OUTCOMES = {"White": 1, "Black": -1, "Draw": 0}
_TERMINATIONS = (
    ("time", "time"), ("forfeit", "time"), ("abandon", "abandoned"), ("adjudicat", "adjudication"),
)  # fmt: skip
"""Words of the Termination header, the more telling first; a forfeit without a winner means nothing."""


_date = functools.lru_cache(1 << 15)(read_date)
"""`read_date`, which remembers 90 years of days."""


class ParsedBlock:
    """What one block of text gave: games for the parser, and the account so far.

    games: int64 [n], the places in the block of those that their headers let through; texts: what the parser reads of
    them, a FEN header where there is one, and the moves. It is what a filter sees of headers (`HeaderColumns`).
    """

    def __init__(self, file: str, before: int, headers: Headers, last: bool):
        """before: games of the file before this block; last: the file ends with it, and may be cut short there."""
        self.file, self.before, self.headers, self.last = file, before, headers, last
        self.read = len(headers)
        self.games: NDArray[np.int64] = np.arange(self.read)
        self.texts = pa.array([], pa.string())
        self.rejections = Rejections()
        rating: Callable[[str | None], int] = lambda text: read_rating(text or "")  # noqa: E731
        self.white_ratings = headers.column("WhiteElo").map(rating, np.int64)
        self.black_ratings = headers.column("BlackElo").map(rating, np.int64)
        self.results = headers.column("Result").map(lambda text: RESULTS.get((text or "").strip(), UNKNOWN), np.int64)

    def dates(self, function: Callable[[datetime.date | None], Any] = lambda date: date) -> NDArray[Any]:
        first, second = self.headers.column("Date"), self.headers.column("UTCDate")
        if len(second.values) == 1:
            return first.map(lambda text: function(_date(text or "")))
        return first.beside(second, lambda text, utc: function(_date(text or "") or _date(utc or "")))

    def speeds(
        self,
        function: Callable[[str | None], Any] = lambda speed: speed,
        games: NDArray[np.int64] | slice = slice(None),
    ) -> NDArray[Any]:
        control, event = self.headers.column("TimeControl", games), self.headers.column("Event", games)
        return control.beside(event, lambda control, event: function(speed_of(control or "", event or "")))

    def players(self, function: Callable[[str | None], bool]) -> NDArray[np.bool_]:
        white, black = (self.headers.column(side).map(function, np.bool_) for side in ("White", "Black"))
        return np.asarray(white | black)

    def reject(self, games: NDArray[np.int64], reasons: list[str], detail: Callable[[int], str]) -> None:
        """Count games of the block as left out, in their order. detail: of the game at a place in the block."""

        def about(at: int) -> tuple[int, dict[str, str], str]:
            game = int(games[at])
            return self.before + game + 1, self.headers.whole(game), detail(game)

        self.rejections.add_many(reasons, self.file, about)

    def leave_out(self, which: list[int], reason: str, details: list[str]) -> None:
        """Count some of the games for the parser as left out. which: their places among them."""
        said = dict(zip(self.games[which].tolist(), details, strict=True))
        self.reject(self.games[which], [reason] * len(which), said.__getitem__)
        kept = np.ones(len(self.games), np.bool_)
        kept[which] = False
        self.games, self.texts = self.games[kept], self.texts.filter(pa.array(kept))


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
    keep_legal_passing(row[None, :64], row[None, 64:])
    return row


@dataclass
class _Ends:
    """What the parser says of the games of a block, as arrays.

    errors: its complaint, None for a game that it read to its end. outcomes: its name of the result after the moves.
    mate_by: 1 White gave mate, -1 Black, 0 no mate. insufficient: for both.
    """

    errors: list[str | None]
    outcomes: list[str | None]
    plies: NDArray[np.int32]
    mate_by: NDArray[np.int64]
    stalemate: NDArray[np.bool_]
    insufficient: NDArray[np.bool_]

    @classmethod
    def of(cls, chunks: list[rust.PyChunkView]) -> _Ends:
        errors: list[str | None] = []
        outcomes: list[str | None] = []
        parts = []
        for chunk in chunks:
            begins = chunk.move_offsets.astype(np.int64)
            # The side to move in the last position tells who moved last, and so who gave mate.
            last = np.maximum(chunk.position_offsets[1:].astype(np.int64) - 1, 0)
            turn = chunk.turn[last] if len(chunk.turn) else np.zeros(chunk.num_games, np.bool_)
            mate_by = np.where(chunk.is_checkmate, np.where(turn, -1, 1), 0)
            insufficient = chunk.is_insufficient[:, 0] & chunk.is_insufficient[:, 1]
            parts.append((np.diff(begins).astype(np.int32), mate_by, chunk.is_stalemate, insufficient))
            said = zip(chunk.valid.tolist(), chunk.parse_errors, strict=True)
            errors += [None if valid else error or "" for valid, error in said]
            outcomes += chunk.outcome
        if not parts:
            none = np.zeros(0, np.bool_)
            return cls([], [], np.zeros(0, np.int32), np.zeros(0, np.int64), none, none)
        return cls(errors, outcomes, *(np.concatenate(column) for column in zip(*parts, strict=True)))


def _why_unusable(block: ParsedBlock, ends: _Ends, i: int) -> tuple[str, str] | None:
    """Why a game still has no result to learn from, though its headers let it through: reason and detail; None where it
    has. i: its place among the games for the parser."""
    game, outcome, error = int(block.games[i]), ends.outcomes[i], ends.errors[i]
    last = block.last and game == block.read - 1
    if error is not None:
        return ("cut short" if last and outcome is None else _broken(error)), error
    told = int(block.results[game])
    written = _OUTCOMES.get(outcome or "")
    result = written if told == UNKNOWN else told
    if ends.plies[i] == 0:
        return "no moves", ""
    if outcome is None and (last or _open_comment(block.texts[i].as_py())):
        return "cut short", "the moves end without a result"
    if result is None:
        return "no result", ""
    said = block.headers.value(game, "Result")
    if written is not None and written != result:
        return "contradicting results", f"{said} in the header, {outcome} after the moves"
    mate_by = int(ends.mate_by[i])
    if (mate_by and mate_by != result) or (ends.stalemate[i] and result):
        return "contradicting results", f"{said}, but the board shows another end"
    return None


def _open_comment(text: str) -> bool:
    return text.count("{") > text.count("}")


def finish(parsed: rust.ParsedGames, block: ParsedBlock, keep: Filter) -> GameBatch:
    """The batch of one block: parsed games checked, filtered by their moves, as flat arrays."""
    chunks = parsed.chunks
    ends = _Ends.of(chunks)
    told = block.results[block.games]
    written = np.array([_OUTCOMES.get(outcome or "", UNKNOWN) for outcome in ends.outcomes], np.int64)
    results = np.where(told == UNKNOWN, written, told)
    usual = (
        np.array([error is None for error in ends.errors], np.bool_)
        & (ends.plies > 0)
        & (results != UNKNOWN)
        & (written == results)
        & ((ends.mate_by == 0) | (ends.mate_by == results))
        & ~(ends.stalemate & (results != 0))
    )
    why, details = np.full(len(usual), None, object), dict[int, str]()
    for i in np.flatnonzero(~usual).tolist():
        if (said := _why_unusable(block, ends, i)) is not None:
            why[i], details[int(block.games[i])] = said
    endings = _endings(block, ends, results)
    _refuse_by_moves(why, keep, results, ends.plies, endings)
    starts: dict[int, NDArray[np.uint8]] = {}
    for i in np.flatnonzero(block.headers.has("FEN")[block.games]).tolist():
        if why[i] is None:
            start = _start_of(chunks, i)
            if start is None:
                why[i], details[int(block.games[i])] = "set-up position", "castling as in Chess960"
            else:
                starts[i] = start
    kept = why == None  # noqa: E711
    block.reject(block.games[~kept], why[~kept].tolist(), lambda game: details.get(game, ""))
    taken = np.flatnonzero(kept)
    moves, per_move = _moves_of(chunks, np.repeat(kept, ends.plies))
    return GameBatch(
        moves,
        ends.plies[kept],
        _start_rows(starts, taken),
        _table(block, block.games[kept], results[kept], endings[kept]),
        block.rejections,
        block.read,
        per_move,
    )


def _endings(block: ParsedBlock, ends: _Ends, results: NDArray[np.int64]) -> NDArray[np.object_]:
    """How each game ended: by the board if it shows that, else by the Termination header. object [n]."""
    found = np.where(results != 0, "resignation", "agreement").astype(object)
    found[ends.insufficient] = "insufficient material"
    said = block.headers.column("Termination", block.games)
    for word, ending in reversed(_TERMINATIONS):
        has = said.map(functools.partial(_says, word), np.bool_)
        found[has & (results != 0) if word == "forfeit" else has] = ending
    found[ends.stalemate] = "stalemate"
    found[ends.mate_by != 0] = "checkmate"
    return found


def _says(word: str, text: str | None) -> bool:
    """Whether the header Termination has a word, after the winner's name where it begins with that."""
    return word in re.split(r"\b(?:won|wins|drawn)\b", (text or "").lower())[-1]


def _refuse_by_moves(
    why: NDArray[np.object_], keep: Filter, results: NDArray[np.int64], plies: NDArray[np.int32],
    endings: NDArray[np.object_],
) -> None:  # fmt: skip
    """Write into `why` what a filter says of results and moves, of games that are not left out yet."""
    for result in (-1, 0, 1):
        if reason := keep.refuses_result(result):
            why[(why == None) & (results == result)] = reason  # noqa: E711
    few = plies < keep.min_plies
    for places, reason in ((few, keep.refuses_moves(keep.min_plies - 1, "checkmate")),
                           (~few & (endings != "checkmate"), keep.refuses_moves(keep.min_plies, ""))):  # fmt: skip
        if reason:
            why[(why == None) & places] = reason  # noqa: E711


def _start_of(chunks: list[rust.PyChunkView], game: int) -> NDArray[np.uint8] | None:
    for chunk in chunks:
        if game < chunk.num_games:
            return _start_row(chunk, game)
        game -= chunk.num_games
    raise IndexError(game)


def _start_rows(starts: dict[int, NDArray[np.uint8]], taken: NDArray[np.int64]) -> NDArray[np.uint8] | None:
    """The start positions of the games that are kept; None where all are the usual one."""
    if not starts:
        return None
    return np.stack([starts.get(i, STANDARD_START) for i in taken.tolist()])


def _moves_of(
    chunks: list[rust.PyChunkView], each_move: NDArray[np.bool_]
) -> tuple[NDArray[np.uint16], dict[str, NDArray[Any]]]:
    """The moves that are kept, and what comments say of them, where they say anything."""
    moves = [np.empty(0, np.uint16)]
    per_move: dict[str, list[NDArray[Any]]] = {column: [] for column in PER_MOVE}
    at = 0
    for chunk in chunks:
        kept = each_move[at : at + len(chunk.from_squares)]
        at += len(kept)
        moves.append(pack(chunk.from_squares[kept], chunk.to_squares[kept], chunk.promotions[kept]))
        per_move["clock"].append(_whole(chunk.clocks[kept], 1, *PER_MOVE["clock"]))
        per_move["evaluation"].append(_whole(chunk.evals[kept], 100, *PER_MOVE["evaluation"]))
    arrays = {column: np.concatenate(parts) for column, parts in per_move.items() if parts}
    said = {column: values for column, values in arrays.items() if (values != PER_MOVE[column][1]).any()}
    return np.concatenate(moves), said


def _table(
    block: ParsedBlock, games: NDArray[np.int64], results: NDArray[np.int64], endings: NDArray[np.object_]
) -> pa.Table:
    """The rows of games at these places in the block."""
    headers = block.headers
    control = headers.strings("TimeControl", games)
    ratings = {"white_rating": block.white_ratings[games], "black_rating": block.black_ratings[games]}
    columns = {
        "white": headers.strings("White", games).fill_null("?"),
        "black": headers.strings("Black", games).fill_null("?"),
        **{name: pa.array(values, pa.int16(), mask=values == 0) for name, values in ratings.items()},
        "result": pa.array(results, pa.int8()),
        "ending": pa.array(endings, pa.string()),
        "date": pa.array(block.dates()[games], pa.date32()),
        "event": headers.strings("Event", games).fill_null(""),
        "site": headers.strings("Site", games),
        "eco": headers.strings("ECO", games),
        "time_control": pc.if_else(pc.equal(control, ""), pa.scalar(None, pa.string()), control),
        "speed": pa.array(block.speeds(games=games), pa.string()),
        "source": pa.repeat(block.file, len(games)),
        "number": pa.array(block.before + games + 1, pa.int32()),
    }
    return pa.table([columns[name] for name in COLUMNS.names], schema=COLUMNS)


def _whole(values: NDArray[np.float32], scale: int, dtype: str, missing: int) -> NDArray[Any]:
    """Numbers of comments, rounded to the store's integer type; NaN becomes the value for "none"."""
    info = np.iinfo(dtype)
    known = ~np.isnan(values)
    integers = np.full(len(values), missing, dtype)
    low, high = info.min + (missing == info.min), info.max - (missing == info.max)
    integers[known] = np.clip(np.rint(values[known] * scale), low, high)
    return integers
