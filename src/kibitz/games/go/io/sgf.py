"""Read SGF records one by one, for the browser page of `kibitz board` and for commands, and write SGF records."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz import records
from kibitz.errors import KibitzError
from kibitz.games.go.io.blocks import ENDINGS, ILLEGAL, SET_UP_LATE, STRAY, Games, doubles_in, gather, pieces
from kibitz.games.go.io.gib import gib_as_sgf, is_gib
from kibitz.games.go.io.headers import SUPERKO, allows_suicide, has_komi, interpret_headers
from kibitz.games.go.io.main_lines import play
from kibitz.games.go.io.scan import COLOUR_SHIFT, SINGLE, Lines, find_games, main_lines, whole
from kibitz.games.go.io.text import charset_of, without_escapes
from kibitz.games.go.points import BLACK, POINTS, WHITE, to_sgf
from kibitz.games.go.replay import start_row
from kibitz.games.go.rules import Board, Illegal
from kibitz.records import Stream

_ABOUT_THE_GAME = (
    "PB", "BR", "BT", "PW", "WR", "WT", "GN", "EV", "RO", "DT", "PC", "RE", "RU", "HA", "TM", "OT", "ON", "AN", "CP",
    "SO", "US", "GC",
)  # fmt: skip
"""Headers that are written unchanged. Komi, size and setup stones are written from the fields of the record."""
_MOVES_A_LINE = 10


@dataclass
class Record:
    """The main line (the moves without variations) and the headers of one game record. Its moves may be illegal.

    size: the size of the board, for example 19.
    black, white: the points of the setup stones, including handicap stones.
    side: the color that moves first.
    moves: points or PASS, with alternating colors from `side` on.
    headers: the properties before the first move, as a dict from the SGF name to the decoded value.
    komi: the komi in points; 0 if the record has none, see `headers.has_komi`.
    rules, handicap, result, margin, ending: the values of the columns with these names in a store's table of games.
    problem: the reason why only the first moves were read; None if all moves were read.
    leading: the number of moves in the file that were converted to setup stones, because old records place handicap
        stones as moves.
    inserted: the plies, counted from 0, of passes that are not in the file. They are inserted where one player moves
        twice in a row.
    """

    size: int
    black: tuple[int, ...] = ()
    white: tuple[int, ...] = ()
    side: int = BLACK
    moves: list[int] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    komi: float = 0.0
    rules: str | None = None
    handicap: int = 0
    result: int | None = None
    margin: float | None = None
    ending: str = "unknown"
    problem: str | None = None
    leading: int = field(default=0, compare=False)
    inserted: tuple[int, ...] = field(default=(), compare=False)

    def start(self) -> NDArray[np.uint8]:
        """Return the start position in the form in which a store saves it, uint8 [363] (see `replay.start_row`)."""
        return start_row(self.size, self.black, self.white, self.side - 1)

    def board(self, ply: int | None = None, **rules: Any) -> Board:
        """Return the position after `ply` moves; after all moves if `ply` is None.

        rules: the keywords `suicide` and `superko` (see `rules.Board`), which override the rules of the game. Raises
        `rules.Illegal` if a move is illegal.
        """
        suicide = allows_suicide(self.rules, len(self.black))
        board = Board(self.size, **{"suicide": suicide, "superko": self.rules in SUPERKO, **rules})
        for colour, stones in ((BLACK, self.black), (WHITE, self.white)):
            for point in stones:
                board.put(colour, point)
        board.to_move = colour = self.side
        for point in self.moves[:ply]:
            board.play(colour, point)
            colour = 3 - colour
        return board


@dataclass
class Unreadable:
    """A message about something that can't be read: a game, a whole file, or text between the games of a file.

    number: the game's number in the file, from 1; 0 for a file or for text between games. reason: why it can't be read.
    is_stray: whether it is text between games, which does not prevent the reading of games.
    """

    file: str
    number: int
    reason: str
    is_stray: bool = False


def read_records(paths: list[str], cut: bool = False, most: int | None = None) -> Iterator[Record | Unreadable]:
    """Yield the games of files, folders and archives, one by one, and a message for each part that can't be read.
    Raises KibitzError if a path does not exist.

    cut: whether to also yield games whose text ends in the middle of the moves. Such a record has the complete moves
    before the end, and a `problem`. most: the largest number of bytes of a file after decompression; None for no limit.
    """
    for path in records.find(paths, ENDINGS):
        broken: list[str] = []
        try:
            stream = Stream(path, most)
        except KibitzError as error:
            yield _broken(path, str(error))
            continue
        with contextlib.closing(stream):
            for piece in pieces(stream, broken):  # one piece at a time, so that the first game is available at once
                for games in gather([piece]):
                    yield from _records(games, cut)
            yield from (_broken(stream.name, line) for line in broken)


def glance(path: str) -> Generator[str]:
    """Yield the text of each game of an SGF file, decoded but not parsed.

    A file of the server Tygem yields one game, converted to SGF. Text between the games is skipped. Raises KibitzError
    if the file is missing or damaged, or has no game.
    """
    broken: list[str] = []
    with contextlib.closing(Stream(path)) as stream:
        for piece in pieces(stream, broken):
            for begin, end in zip(piece.begins.tolist(), piece.ends.tolist(), strict=True):
                text = piece.text[begin:end]
                yield text.decode(charset_of(text), "replace")
    if damage := [line for line in broken if f": {STRAY}: " not in line]:
        raise KibitzError(damage[0])


def _broken(file: str, line: str) -> Unreadable:
    return Unreadable(file, 0, line.removeprefix(f"{file}: "), f": {STRAY}: " in line)


def parse_record(text: bytes | str, cut: bool = False) -> Record:
    """Return the first game of an SGF text. Raises ValueError if the game can't be read; the message is the reason.

    cut: whether to accept a text that ends in the middle of the moves. The record then has the complete moves before
    the end, and a `problem`.
    """
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    if is_gib(data):
        data, text = gib_as_sgf(data), ""
    data = without_escapes(data)
    doubles = whole(SINGLE) if isinstance(text, str) else doubles_in(data)
    begins, ends, closed = find_games(data, doubles)
    if not len(begins):
        raise ValueError("the text has no game")
    begins, ends, closed = begins[:1], ends[:1], closed[:1]
    lines = main_lines(data, begins, ends, doubles.of(begins))
    charset = "utf-8" if isinstance(text, str) else None
    record = next(iter(_records(Games(data, begins, ends, [""], [1], closed, lines, charset), cut)))
    if isinstance(record, Unreadable):
        raise ValueError(record.reason)
    return record


def _records(games: Games, cut: bool) -> Generator[Record | Unreadable]:
    for i in range(len(games)):
        found = _record(games, i)
        if cut and isinstance(found, Unreadable) and not games.closed[i]:
            part = _record(games.whole_part(i), 0)
            if isinstance(part, Record) and part.moves:
                found = replace(part, problem=found.reason)
        yield found


def _record(games: Games, i: int) -> Record | Unreadable:
    headers = games.headers(i)
    why, problem = games.why_not(i, headers), None
    if why and why[0] == SET_UP_LATE and games.lines.move_count[i]:
        problem = f"stones are set up {why[1]}"
    elif why and why[0] == ILLEGAL and games.lines.move_count[i]:
        problem = why[1].replace(":", " is")
    elif why:
        return Unreadable(games.files[i], games.numbers[i], ": ".join(part for part in why if part))
    anything = np.ones(1, np.bool_)
    played = play(games.lines, np.array([i]), anything, ~anything)  # legality is not checked here
    info = interpret_headers(headers, games.handicap(i), int(games.lines.size[i]))
    start = played.starts[0]
    stones = start[:POINTS]
    leading = int((stones % 3 > 0).sum() - (games.lines.setup[i] > 0).sum())
    inserted = _inserted(games.lines, i, leading, int(start[POINTS]) + 1)
    record = Record(
        info.size, tuple(np.flatnonzero(stones == BLACK).tolist()), tuple(np.flatnonzero(stones == WHITE).tolist()),
        int(start[POINTS]) + 1, played.moves.tolist(), headers, info.komi, info.rules, info.handicap, info.result,
        info.margin, info.ending, problem, leading=leading, inserted=inserted,
    )  # fmt: skip
    try:
        record.board(0)
    except Illegal as error:
        return Unreadable(games.files[i], games.numbers[i], f"the start position is impossible: {error}")
    return record


def _inserted(lines: Lines, i: int, leading: int, turn: int) -> tuple[int, ...]:
    """Return the plies of passes that are not in the file and were inserted between two moves of one player.

    turn: the color that moves first.
    """
    first = int(lines.first[i])
    written = lines.written[first + leading : first + int(lines.move_count[i])] >> COLOUR_SHIFT
    found, ply = [], 0
    for colour in written.tolist():
        if colour != turn:
            found.append(ply)
            ply += 1
        ply, turn = ply + 1, 3 - colour
    return tuple(found)


def write_sgf(
    record: Record, notes: Mapping[int, Mapping[str, Sequence[str]]] = {}, root: Mapping[str, str] = {}
) -> str:
    """Return a record as SGF text, format FF[4] in UTF-8.

    notes: SGF properties to add to moves: a dict from a ply (0 is the root) to its properties. An example is {3: {"C":
    ["a comment"], "TR": ["dd", "pd"]}}. Pass the values without escapes: this function escapes them. root: headers to
    add to the record's headers, or to replace them.
    """
    headers = {name: record.headers[name] for name in _ABOUT_THE_GAME if record.headers.get(name)}
    if record.komi or has_komi(record.headers):
        headers["KM"] = f"{record.komi:g}"
    if record.handicap:
        headers["HA"] = str(record.handicap)
    if "RE" not in headers and (result := _result(record)):
        headers["RE"] = result
    head = {"FF": "4", "GM": "1", "CA": "UTF-8", **headers, "SZ": str(record.size), **root}
    parts = ["(;" + "".join(_property(name, [" ".join(value.split())]) for name, value in head.items())]
    for name, stones in (("AB", record.black), ("AW", record.white)):
        if stones:
            parts.append(_property(name, map(to_sgf, stones)))
    if record.black or record.white or record.side == WHITE:
        parts.append(_property("PL", ["B" if record.side == BLACK else "W"]))
    parts.append(_properties(notes.get(0, {})))
    colour = record.side
    for ply, point in enumerate(record.moves, 1):
        if ply % _MOVES_A_LINE == 1:
            parts.append("\n")
        parts.append(f";{'B' if colour == BLACK else 'W'}[{to_sgf(point)}]" + _properties(notes.get(ply, {})))
        colour = 3 - colour
    return "".join(parts) + ")\n"


def _result(record: Record) -> str:
    """Return the value of RE for a record without this header; empty if the result is unknown."""
    if record.ending == "void":
        return "Void"
    if not record.result:
        return "" if record.result is None else "0"
    how = {"resignation": "R", "time": "T", "forfeit": "F"}.get(record.ending, "")
    points = how or (f"{record.margin:g}" if record.margin is not None else "")
    return f"{'B' if record.result == 1 else 'W'}+{points}"


def _properties(properties: Mapping[str, Iterable[str]]) -> str:
    return "".join(_property(name, values) for name, values in properties.items())


def _property(name: str, values: Iterable[str]) -> str:
    return name + "".join("[" + value.replace("\\", "\\\\").replace("]", "\\]") + "]" for value in values)
