"""From parsed games to arrays of accepted ones: checked, and filtered by their moves."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import rust_pgn_reader_python_binding as rust
from numpy.typing import NDArray

from kibitz.games.batch import GameBatch, Rejections
from kibitz.games.chess.filters import Filter, speed_of
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


@dataclass
class CandidateGame:
    """A game that its headers let through, on its way to the parser."""

    number: int
    headers: dict[str, str]
    ratings: tuple[int, int]
    date: datetime.date | None
    result: int | None
    text: str  # what the parser reads: a FEN header where there is one, and the moves
    last: bool = False  # the last of its file: a text cut short ends here


@dataclass
class ParsedBlock:
    """What one block of text gave: games for the parser, and the account so far."""

    file: str
    read: int
    games: list[CandidateGame] = field(default_factory=list)
    rejections: Rejections = field(default_factory=Rejections)


def ending_of(headers: dict[str, str], result: int, mate: bool, stalemate: bool, insufficient: bool) -> str:
    """How a game ended: by the board if it shows that, else by the Termination header."""
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
class _Taken:
    """The games of a block that are kept, column by column."""

    rows: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in COLUMNS.names})
    plies: list[int] = field(default_factory=list)
    starts: list[NDArray[np.uint8] | None] = field(default_factory=list)

    def add(
        self, game: CandidateGame, result: int, ending: str, plies: int, start: NDArray[np.uint8] | None, name: str
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
    game: CandidateGame, outcome: str | None, length: int, mate_by: int, stalemate: bool
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


def finish(parsed: rust.ParsedGames, block: ParsedBlock, keep: Filter) -> GameBatch:
    """The batch of one block: parsed games checked, filtered by their moves, as flat arrays."""
    taken, name = _Taken(), block.file
    moves: list[NDArray[np.uint16]] = []
    per_move: dict[str, list[NDArray[Any]]] = {column: [] for column in PER_MOVE}
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
                ending = ending_of(game.headers, result, bool(mate), stalemate, insufficient)
                why = keep.refuses_result(result) or keep.refuses_moves(length, ending)
            if why is None:
                start = _start_row(chunk, i) if "FEN" in game.headers else None
                if "FEN" in game.headers and start is None:
                    why = ("set-up position", "castling as in Chess960")
            if why is not None:
                reason, detail = (why, "") if isinstance(why, str) else why
                block.rejections.add(reason, name, game.number, game.headers, detail)
                continue
            kept[i] = True
            taken.add(game, result, ending, length, start, name)
        each_move = np.repeat(kept, lengths)
        moves.append(pack(chunk.from_squares, chunk.to_squares, chunk.promotions)[each_move])
        per_move["clock"].append(_whole(chunk.clocks[each_move], 1, *PER_MOVE["clock"]))
        per_move["evaluation"].append(_whole(chunk.evals[each_move], 100, *PER_MOVE["evaluation"]))
    arrays = {column: np.concatenate(parts) for column, parts in per_move.items() if parts}
    return GameBatch(
        np.concatenate(moves) if moves else np.empty(0, np.uint16),
        np.array(taken.plies, np.int32),
        taken.start_rows(),
        pa.table([pa.array(taken.rows[field.name], field.type) for field in COLUMNS], schema=COLUMNS),
        block.rejections,
        block.read,
        {column: values for column, values in arrays.items() if (values != PER_MOVE[column][1]).any()},
    )


def _whole(values: NDArray[np.float32], scale: int, dtype: str, missing: int) -> NDArray[Any]:
    """Numbers of comments, rounded to the store's integer type; NaN becomes the value for "none"."""
    info = np.iinfo(dtype)
    known = ~np.isnan(values)
    integers = np.full(len(values), missing, dtype)
    integers[known] = np.clip(np.rint(values[known] * scale), info.min + 1, info.max - 1)
    return integers
