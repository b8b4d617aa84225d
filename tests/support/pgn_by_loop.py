"""The import of chess as a plain loop over games: slow, and the measure of what columns of headers give."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import rust_pgn_reader_python_binding as rust
from numpy.typing import NDArray

from kibitz.dates import outside, read_date
from kibitz.games.batch import GameBatch, Rejections
from kibitz.games.chess.filters import RESULTS, STANDARD_VARIANTS, Filter, read_rating, speed_of
from kibitz.games.chess.io.ingest import COLUMNS, PER_MOVE, _start_row, _whole
from kibitz.games.chess.moves import pack
from kibitz.games.chess.replay import STANDARD_START
from kibitz.records import decode

_OUTCOMES = {"White": 1, "Black": -1, "Draw": 0}
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
    said = re.split(r"\b(?:won|wins|drawn)\b", headers.get("Termination", "").lower())[-1]
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


def refuses_headers(
    keep: Filter, headers: Mapping[str, str], ratings: tuple[int, int], result: int | None, date: datetime.date | None
) -> str | None:
    """Why a game is not wanted, as far as headers tell; None where it may be."""
    if keep.min_rating is not None or keep.max_rating is not None:
        if 0 in ratings and not keep.unrated:
            return "no rating"
        known = [rating for rating in ratings if rating]
        if keep.min_rating is not None and known and min(known) < keep.min_rating:
            return f"rating under {keep.min_rating}"
        if keep.max_rating is not None and known and max(known) > keep.max_rating:
            return f"rating over {keep.max_rating}"
    # A result that is written only after the moves is looked at again then.
    if result is not None and (why := keep.refuses_result(result)):
        return why
    if why := outside(date, keep.since, keep.until):
        return why
    if keep.player:
        names = (headers.get("White", "") + "\n" + headers.get("Black", "")).lower()
        if not any(name.lower() in names for name in keep.player):
            return "other players"
    if keep.speed:
        speed = speed_of(headers.get("TimeControl", ""), headers.get("Event", ""))
        if speed not in keep.speed:
            return f"speed {speed}" if speed else "no time control"
    return None


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


def _select(block_text: Any, keep: Filter) -> ParsedBlock:
    """The games of a block that their headers let through."""
    text, begins, bodies, name = block_text.text, block_text.begins, block_text.bodies, block_text.file
    number = block_text.before
    block = ParsedBlock(name, len(begins))
    ends = [*begins[1:].tolist(), len(text)][: len(begins)]
    for at, body, end in zip(begins.tolist(), bodies.tolist(), ends, strict=True):
        number += 1
        headers = read_headers(decode(text[at:body])) if body > at else {}
        ratings = (read_rating(headers.get("WhiteElo", "")), read_rating(headers.get("BlackElo", "")))
        result = RESULTS.get(headers.get("Result", "").strip())
        date = read_date(headers.get("Date", "")) or read_date(headers.get("UTCDate", ""))
        if headers.get("Variant", "").strip().lower() not in STANDARD_VARIANTS:
            block.rejections.add("variant", name, number, headers, headers["Variant"])
            continue
        if why := refuses_headers(keep, headers, ratings, result, date):
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


def batch_of(block_text: Any, keep: Filter) -> GameBatch:
    """The batch of a block of text."""
    block = _select(block_text, keep)
    texts = pa.chunked_array([pa.array([game.text for game in block.games], pa.string())])
    return finish(rust.parse_games(texts, num_threads=1), block, keep)
