"""Convert parsed PGN games to arrays: check the games, and filter them by their moves."""

from __future__ import annotations

import datetime
import functools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import chess
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kibitz.dates import read_date
from kibitz.games.batch import GameBatch, Rejections
from kibitz.games.chess.filters import RESULTS, UNKNOWN, Filter, read_rating, speed_of
from kibitz.games.chess.io.comments import clocks, clocks_from_elapsed, evaluation
from kibitz.games.chess.io.headers import Headers
from kibitz.games.chess.io.plain import ELAPSED, PLAIN
from kibitz.games.chess.io.reader import Record, read_game
from kibitz.games.chess.io.tags import read_result
from kibitz.games.chess.moves import from_move, pack
from kibitz.games.chess.replay import STANDARD_START, START_WIDTH, encode_board, keep_legal_passing

if TYPE_CHECKING:
    from rust_pgn_reader_python_binding import PyChunkView

COLUMNS = pa.schema([
    ("white", pa.string()), ("black", pa.string()),
    ("white_rating", pa.int16()), ("black_rating", pa.int16()),  # null where unknown
    ("result", pa.int8()),  # White's view: 1, 0, -1
    ("ending", pa.string()),  # how the game ended, see _endings
    ("date", pa.date32()),  # null where the year is unknown
    ("event", pa.string()), ("site", pa.string()), ("eco", pa.string()),
    ("time_control", pa.string()), ("speed", pa.string()),
    ("source", pa.string()), ("number", pa.int32()),  # the file, and the game's number in it, from 1
])  # fmt: skip

PER_MOVE = {"clock": ("uint16", 65535), "evaluation": ("int16", -32768)}
"""The arrays with one value for each move that an import reads from comments, by name: (dtype, value that means
"missing").

clock: the seconds left after the move. evaluation: centipawns from White's point of view.
"""

_OUTCOMES = {"White": 1, "Black": -1, "Draw": 0}
_NAMES = {1: "1-0", 0: "1/2-1/2", -1: "0-1"}
_TERMINATIONS = (
    ("time", "time"), ("forfeit", "time"), ("abandon", "abandoned"), ("adjudicat", "adjudication"),
)  # fmt: skip
"""Words of the Termination header, the most specific first. A forfeit without a winner has no meaning."""


def _result_number(text: str | None) -> int:
    """Parse a result in any of its forms, and return it as a number; UNKNOWN for other text."""
    return RESULTS.get(read_result(text or "") or "", UNKNOWN)


_date = functools.lru_cache(1 << 15)(read_date)
"""`read_date` with a cache for 90 years of days."""


class ParsedBlock:
    """A block of games during the import, before and after their moves are parsed: the games that are still accepted,
    and the games rejected so far.

    games: int64 [n], the games that the filter has accepted so far, as indices in the block.
    texts: the text that the parser gets for each game in `games`: the FEN header if there is one, and the moves.
    rejections: the rejected games, with the reasons.

    A filter can read the headers of all games of the block from this object, which implements `filters.HeaderColumns`.
    """

    def __init__(self, file: str, before: int, headers: Headers, last: bool):
        """Begin with all games of a block. before: the number of the file's games before this block. last: whether the
        file ends with the block, perhaps within a game.
        """
        self.file, self.before, self.headers, self.last = file, before, headers, last
        self.read = len(headers)
        self.games: NDArray[np.int64] = np.arange(self.read)
        self.texts = pa.array([], pa.string())
        self.rejections = Rejections()
        rating: Callable[[str | None], int] = lambda text: read_rating(text or "")  # noqa: E731
        self.white_ratings = headers.column("WhiteElo").map(rating, np.int64)
        self.black_ratings = headers.column("BlackElo").map(rating, np.int64)
        self.results = headers.column("Result").map(_result_number, np.int64)

    def dates(self, function: Callable[[datetime.date | None], Any] = lambda date: date) -> NDArray[Any]:
        """Return the result of `function` for each game's date, [n]. The date is None if it is unknown."""
        first, second = self.headers.column("Date"), self.headers.column("UTCDate")
        if len(second.values) == 1:
            return first.map(lambda text: function(_date(text or "")))
        return first.beside(second, lambda text, utc: function(_date(text or "") or _date(utc or "")))

    def speeds(
        self,
        function: Callable[[str | None], Any] = lambda speed: speed,
        games: NDArray[np.int64] | slice = slice(None),
    ) -> NDArray[Any]:
        """Return the result of `function` for the speed of each of the given games, [n]. The speed is None if it is
        unknown.
        """
        control, event = self.headers.column("TimeControl", games), self.headers.column("Event", games)
        return control.beside(event, lambda control, event: function(speed_of(control or "", event or "")))

    def players(self, function: Callable[[str | None], bool]) -> NDArray[np.bool_]:
        """Return whether `function` is true for the name of at least one player of each game, bool [n]."""
        white, black = (self.headers.column(side).map(function, np.bool_) for side in ("White", "Black"))
        return np.asarray(white | black)

    def bots(self, function: Callable[[str, str, str, str], bool]) -> NDArray[np.bool_]:
        """Return whether `function` is true for at least one player of each game, bool [n]. Its arguments are four
        headers of the player: name, title, type, and whether the player is a computer.
        """
        either = np.zeros(self.read, np.bool_)
        for side in ("White", "Black"):
            columns = [self.headers.column(side + end) for end in ("", "Title", "Type", "IsComp")]
            values = [column.map(lambda text: text or "") for column in columns]
            either |= np.array([function(*row) for row in zip(*values, strict=True)], np.bool_)
        return either

    def reject(self, games: NDArray[np.int64], reasons: list[str], detail: Callable[[int], str]) -> None:
        """Count games of the block as rejected. The games must be in the order of the file.

        games: int64 [k], indices in the block of games.
        reasons: the reason for each of these games.
        detail: a function that gets a game's index in the block, and returns further details of the reason as text.
        """

        def about(at: int) -> tuple[int, dict[str, str], str]:
            game = int(games[at])
            return self.before + game + 1, self.headers.whole(game), detail(game)

        self.rejections.add_many(reasons, self.file, about)

    def leave_out(self, which: list[int], reason: str, details: list[str]) -> None:
        """Reject some games for the same reason, and remove them from `games` and `texts`, so that they are not parsed.

        which: the rejected games, as indices into the arrays `games` and `texts`, not into the block. reason: the
        reason. details: further details of the reason for each rejected game.
        """
        details_of = dict(zip(self.games[which].tolist(), details, strict=True))
        self.reject(self.games[which], [reason] * len(which), details_of.__getitem__)
        selected = np.ones(len(self.games), np.bool_)
        selected[which] = False
        self.games, self.texts = self.games[selected], self.texts.filter(pa.array(selected))


def _start_row(chunk: PyChunkView, game: int) -> NDArray[np.uint8]:
    """Return the start position of a game that begins with a setup."""
    at = int(chunk.position_offsets[game])
    row = np.zeros(START_WIDTH, np.uint8)
    row[:64] = chunk.boards[at].reshape(64)
    side = 0 if chunk.turn[at] else 1
    castling = sum(1 << right for right in range(4) if chunk.castling[at][right])
    row[64:] = side, castling, chunk.en_passant[at] + 1, min(int(chunk.halfmove_clock[at]), 255)
    keep_legal_passing(row[None, :64], row[None, 64:])
    return row


@dataclass
class _ReadGame:
    """A game that the full PGN reader has read.

    moves: packed, uint16 [plies].
    per_move: the values from comments, by name, each [plies].
    start: the start position, uint8 [68]; None for the standard position.
    board: the position after the last move.
    written: the result in the text after the moves, White's view; UNKNOWN if there is none.
    error: the reason and the detail if the game can't be imported.
    """

    moves: NDArray[np.uint16]
    per_move: dict[str, NDArray[Any]]
    start: NDArray[np.uint8] | None
    board: chess.Board
    written: int
    error: tuple[str, str] | None


def _read(block: ParsedBlock, game: int) -> _ReadGame:
    """Read a game of a block with the full PGN reader."""
    record = read_game(*block.headers.texts(game), game + 1)
    main = list(record.game.mainline())
    board = main[-1].board() if main else record.game.board() if not record.refused else chess.Board()
    comments = [node.comment for node in main]
    headers = record.game.headers
    seconds = clocks(comments, headers.get("TimeControl", ""), headers.get("Event", ""))
    values: dict[str, Sequence[float | None]] = {
        "clock": seconds,
        "evaluation": [evaluation(comment) for comment in comments],
    }
    per_move = {
        name: _whole(np.array([np.nan if value is None else value for value in values[name]]), 1, *PER_MOVE[name])
        for name in PER_MOVE
    }
    start = None
    if "FEN" in record.game.headers and not record.refused:
        start = encode_board(record.game.board())
    return _ReadGame(
        np.array([from_move(node.move) for node in main], np.uint16),
        per_move,
        start,
        board,
        RESULTS.get(record.written or "", UNKNOWN),
        _why_unreadable(record, block.last and game == block.read - 1),
    )


def _why_unreadable(record: Record, last: bool) -> tuple[str, str] | None:
    """Return why a game can't be read completely, as reason and detail. last: whether the file ends with this game."""
    if record.refused:
        return "set-up position" if record.is_setup_refused else "variant", record.refused
    if record.problem:
        cut = last and record.written is None
        return "cut short" if cut else "illegal move" if record.is_illegal else "unreadable move", record.problem
    if record.is_cut and record.written is None:
        return "cut short", "a comment or a variation does not end"
    return None


@dataclass
class _Ends:
    """How the games of a block ended, as arrays over the games whose headers are accepted.

    errors: why a game can't be read, reason and detail; None for a game that was read to its end.
    written: int64 [n], the result in the text after the moves, White's view; UNKNOWN if there is none.
    plies: int32 [n], the number of moves.
    mate_by: int64 [n], 1 if White mated, -1 if Black did, 0 without mate.
    stalemate: bool [n].
    insufficient: bool [n], insufficient material for both sides.
    read: the games that the full PGN reader has read, by index.
    """

    errors: list[tuple[str, str] | None]
    written: NDArray[np.int64]
    plies: NDArray[np.int32]
    mate_by: NDArray[np.int64]
    stalemate: NDArray[np.bool_]
    insufficient: NDArray[np.bool_]
    read: dict[int, _ReadGame]

    @classmethod
    def of(cls, chunks: list[PyChunkView] | None, block: ParsedBlock) -> _Ends:
        """Determine how the games of a block end. chunks: the result of the fast parser; None if that parser was not
        used.
        """
        if chunks is None:
            return cls._all_read(block)
        outcomes: list[str | None] = []
        parts = []
        for chunk in chunks:
            # In a checkmate, the side that is not to move gave mate: 1 is White, -1 is Black
            last = np.maximum(chunk.position_offsets[1:].astype(np.int64) - 1, 0)
            turn = chunk.turn[last] if len(chunk.turn) else np.zeros(chunk.num_games, np.bool_)
            mate_by = np.where(chunk.is_checkmate, np.where(turn, -1, 1), 0)
            insufficient = chunk.is_insufficient[:, 0] & chunk.is_insufficient[:, 1]
            valid = np.array(chunk.valid, np.bool_)
            parts.append((_lengths(chunk).astype(np.int32), mate_by, chunk.is_stalemate, insufficient, valid))
            outcomes += chunk.outcome
        if not parts:
            none = np.zeros(0, np.bool_)
            return cls([], np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64), none, none, {})
        plies, mate_by, stalemate, insufficient, valid = (np.concatenate(column) for column in zip(*parts, strict=True))
        written = np.array([_OUTCOMES.get(outcome or "", UNKNOWN) for outcome in outcomes], np.int64)
        ends = cls([None] * len(plies), written, plies, mate_by, np.array(stalemate), np.array(insufficient), {})
        plain = block.headers.block.flags[block.games] & PLAIN != 0
        for i in np.flatnonzero(~valid | ~plain | (plies == 0)).tolist():
            ends._put(i, _read(block, int(block.games[i])))
        return ends

    @classmethod
    def _all_read(cls, block: ParsedBlock) -> _Ends:
        """Read all games of a block with the full PGN reader."""
        number = len(block.games)
        plies, wide = np.zeros(number, np.int32), np.zeros(number, np.int64)
        none = np.zeros(number, np.bool_)
        ends = cls([None] * number, wide, plies, wide.copy(), none, none.copy(), {})
        for i, game in enumerate(block.games.tolist()):
            ends._put(i, _read(block, game))
        return ends

    def _put(self, i: int, game: _ReadGame) -> None:
        """Store the full PGN reader's result for a game. i: the game's index among the games for the parser."""
        board = game.board
        self.read[i], self.errors[i] = game, game.error
        self.written[i], self.plies[i] = game.written, len(game.moves)
        self.mate_by[i] = 0 if not board.is_checkmate() else -1 if board.turn else 1
        self.stalemate[i], self.insufficient[i] = board.is_stalemate(), board.is_insufficient_material()

    def results(self, headers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the result of each game, int64 [n]: 1 if White won, 0 for a draw, -1 if Black won, UNKNOWN if there is
        none.

        headers: int64 [n], the results in the headers, UNKNOWN if missing. If the header has no result, the result is
        taken from the text after the moves. If this text has no result either, the result is taken from the final
        position.
        """
        shown = np.where(self.mate_by != 0, self.mate_by, np.where(self.stalemate, 0, UNKNOWN))
        written = np.where(self.written == UNKNOWN, shown, self.written)
        return np.where(headers == UNKNOWN, written, headers)


def _why_unusable(block: ParsedBlock, ends: _Ends, i: int, result: int) -> tuple[str, str] | None:
    """Return why a game has no usable result although its headers are accepted, as reason and detail; None if it has
    one.

    i: the game's index among the games for the parser.
    """
    if (error := ends.errors[i]) is not None:
        return error
    if ends.plies[i] == 0:
        return "no moves", ""
    if result == UNKNOWN:
        return "no result", ""
    header = block.headers.value(int(block.games[i]), "Result")
    written = int(ends.written[i])
    if written not in (UNKNOWN, result):
        return "contradicting results", f"{header} in the header, {_NAMES[written]} after the moves"
    mate_by = int(ends.mate_by[i])
    if (mate_by and mate_by != result) or (ends.stalemate[i] and result):
        return "contradicting results", f"{_NAMES[result]}, but the board shows another end"
    return None


def finish(chunks: list[PyChunkView] | None, block: ParsedBlock, keep: Filter) -> GameBatch:
    """Return the batch of accepted games from a parsed block. The function checks the games, and excludes those whose
    moves or endings the filter does not accept.

    chunks: the result of the fast parser; None if that parser is not installed. keep: the filter.
    """
    ends, chunks = _Ends.of(chunks, block), chunks or []
    results = ends.results(block.results[block.games])
    usual = (
        (ends.plies > 0)
        & (results != UNKNOWN)
        & (ends.written == results)
        & ((ends.mate_by == 0) | (ends.mate_by == results))
        & ~(ends.stalemate & (results != 0))
    )
    usual[list(ends.read)] = False
    why, details = np.full(len(usual), None, object), dict[int, str]()
    for i in np.flatnonzero(~usual).tolist():
        if (unusable := _why_unusable(block, ends, i, int(results[i]))) is not None:
            why[i], details[int(block.games[i])] = unusable
    endings = _endings(block, ends, results)
    _refuse_by_moves(why, keep, results, ends.plies, endings)
    accepted = why == None  # noqa: E711
    starts: dict[int, NDArray[np.uint8]] = {}
    for i in np.flatnonzero(block.headers.has("FEN")[block.games] & accepted).tolist():
        start = ends.read[i].start if i in ends.read else _start_of(chunks, i)
        if start is not None:
            starts[i] = start
    block.reject(block.games[~accepted], why[~accepted].tolist(), lambda game: details.get(game, ""))
    taken = np.flatnonzero(accepted)
    moves, per_move = _moves_of(chunks, block, ends, accepted)
    return GameBatch(
        moves,
        ends.plies[accepted],
        _start_rows(starts, taken),
        _table(block, block.games[accepted], results[accepted], endings[accepted]),
        block.rejections,
        block.read,
        per_move,
    )


def _endings(block: ParsedBlock, ends: _Ends, results: NDArray[np.int64]) -> NDArray[np.object_]:
    """Return how each game ended, from the board if possible, else from the Termination header. object [n]."""
    found = np.where(results != 0, "resignation", "agreement").astype(object)
    found[ends.insufficient] = "insufficient material"
    terminations = block.headers.column("Termination", block.games)
    for word, ending in reversed(_TERMINATIONS):
        has = terminations.map(functools.partial(_contains, word), np.bool_)
        found[has & (results != 0) if word == "forfeit" else has] = ending
    found[ends.stalemate] = "stalemate"
    found[ends.mate_by != 0] = "checkmate"
    return found


def _contains(word: str, text: str | None) -> bool:
    """Return whether the header Termination has a word. If the header begins with the winner's name, only the text
    after it is searched.
    """
    return word in re.split(r"\b(?:won|wins|drawn)\b", (text or "").lower())[-1]


def _refuse_by_moves(
    why: NDArray[np.object_], keep: Filter, results: NDArray[np.int64], plies: NDArray[np.int32],
    endings: NDArray[np.object_],
) -> None:  # fmt: skip
    """Write the filter's reasons by results and moves into `why`, object [n], for games that are not rejected yet."""
    for result in (-1, 0, 1):
        if reason := keep.refuses_result(result):
            why[(why == None) & (results == result)] = reason  # noqa: E711
    few = plies < keep.min_plies
    for mask, reason in ((few, keep.refuses_moves(keep.min_plies - 1, "checkmate")),
                           (~few & (endings != "checkmate"), keep.refuses_moves(keep.min_plies, ""))):  # fmt: skip
        if reason:
            why[(why == None) & mask] = reason  # noqa: E711


def _start_of(chunks: list[PyChunkView], game: int) -> NDArray[np.uint8]:
    for chunk in chunks:
        if game < chunk.num_games:
            return _start_row(chunk, game)
        game -= chunk.num_games
    raise IndexError(game)


def _start_rows(starts: dict[int, NDArray[np.uint8]], taken: NDArray[np.int64]) -> NDArray[np.uint8] | None:
    """Return the start positions of the accepted games; None if all of them begin from the standard position."""
    if not starts:
        return None
    return np.stack([starts.get(i, STANDARD_START) for i in taken.tolist()])


def _moves_of(
    chunks: list[PyChunkView], block: ParsedBlock, ends: _Ends, accepted: NDArray[np.bool_]
) -> tuple[NDArray[np.uint16], dict[str, NDArray[Any]]]:
    """Return the moves of the accepted games and, if comments have values, the arrays with a value per move."""
    moves = [np.empty(0, np.uint16)]
    per_move: dict[str, list[NDArray[Any]]] = {column: [np.empty(0, PER_MOVE[column][0])] for column in PER_MOVE}
    fast = accepted.copy()
    fast[list(ends.read)] = False
    first = 0
    for chunk in chunks:
        clocks = _clocks_of(chunk, block, fast, first)
        each_move = np.repeat(fast[first : first + chunk.num_games], _lengths(chunk))
        first += chunk.num_games
        moves.append(pack(chunk.from_squares[each_move], chunk.to_squares[each_move], chunk.promotions[each_move]))
        per_move["clock"].append(_whole(clocks[each_move], 1, *PER_MOVE["clock"]))
        per_move["evaluation"].append(_whole(chunk.evals[each_move], 100, *PER_MOVE["evaluation"]))
    arrays = {"": np.concatenate(moves)} | {column: np.concatenate(parts) for column, parts in per_move.items()}
    slow = [game for i, game in sorted(ends.read.items()) if accepted[i]]
    if slow:
        is_slow = np.zeros(len(accepted), np.bool_)
        is_slow[list(ends.read)] = True
        at_slow = np.repeat(is_slow[accepted], ends.plies[accepted])
        for column, values in arrays.items():
            whole = np.empty(len(at_slow), values.dtype)
            whole[~at_slow] = values
            whole[at_slow] = np.concatenate([game.per_move[column] if column else game.moves for game in slow])
            arrays[column] = whole
    packed = arrays.pop("")
    return packed, {column: values for column, values in arrays.items() if (values != PER_MOVE[column][1]).any()}


def _clocks_of(chunk: PyChunkView, block: ParsedBlock, wanted: NDArray[np.bool_], first: int) -> NDArray[np.float64]:
    """Return the seconds left after each move of a chunk's games, float [moves]; NaN if unknown.

    wanted: bool [n], the games that need clocks, over all games for the parser. first: the index of the chunk's first
    game.
    """
    clocks = np.asarray(chunk.clocks, np.float64)
    flags = block.headers.block.flags[block.games[first : first + chunk.num_games]]
    elapsed = np.flatnonzero((flags & ELAPSED != 0) & wanted[first : first + chunk.num_games]).tolist()
    if not elapsed:
        return clocks
    clocks = clocks.copy()
    for game in elapsed:
        where = slice(int(chunk.move_offsets[game]), int(chunk.move_offsets[game + 1]))
        spent = [None if math.isnan(value) else round(value, 2) for value in clocks[where].tolist()]
        control, event = (
            block.headers.value(int(block.games[first + game]), name) or "" for name in ("TimeControl", "Event")
        )
        left = clocks_from_elapsed(spent, control, [None] * len(spent), event)
        clocks[where] = [math.nan if value is None else value for value in left]
    return clocks


def _lengths(chunk: PyChunkView) -> NDArray[np.int64]:
    """Return the number of moves of each game, int64 [n]."""
    ends = chunk.move_offsets.astype(np.int64)
    return np.asarray(ends[1:] - ends[:-1], np.int64)


def _table(
    block: ParsedBlock, games: NDArray[np.int64], results: NDArray[np.int64], endings: NDArray[np.object_]
) -> pa.Table:
    """Return the table rows of games. games: their indices in the block of games."""
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


def _whole(values: NDArray[Any], scale: int, dtype: str, missing: int) -> NDArray[Any]:
    """Round numbers from comments to the store's integer type, multiplied by `scale`. NaN becomes `missing`."""
    info = np.iinfo(dtype)
    known = ~np.isnan(values)
    integers = np.full(len(values), missing, dtype)
    low, high = info.min + (missing == info.min), info.max - (missing == info.max)
    integers[known] = np.clip(np.rint(values[known] * scale), low, high)
    return integers
