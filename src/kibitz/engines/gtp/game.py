"""The game that a GTP controller has set up: board, moves so far, komi, rules, handicap stones and clocks.

The controller is the program that sends GTP commands to the engine.
"""

from __future__ import annotations

import contextlib
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kibitz.engines.gtp.parse import GtpError
from kibitz.engines.uci.time_budget import seconds_to_think
from kibitz.errors import KibitzError
from kibitz.games.go.points import BLACK, GRID, PASS, SIZES, WHITE, on_board
from kibitz.games.go.rules import Board, Illegal
from kibitz.games.go.rulesets import Rules, UnknownRules, named, named_rules
from kibitz.play.go.thought import Terms
from kibitz.text import shown

if TYPE_CHECKING:
    from kibitz.games.go.io.sgf import Record

MAX_FIXED_HANDICAP = 9
OVERHEAD = 100
"""The assumed delay, in milliseconds, between the engine and the clock of the controller."""


@dataclass
class GtpClock:
    """The clock of one side in a GTP game. All times are in seconds. The controller is the program that sends the
    commands.

    main: the time before overtime.
    period, stones: in overtime, the player must play `stones` moves in each period of `period` seconds. In byo-yomi,
        `stones` is 1. Without overtime, both values are 0.
    left: the time left in the main time or in the present overtime period; None if the controller has not sent it.
    left_stones: 0 in the main time. In overtime, the number of moves left in the present period. In byo-yomi, the
        number of periods left.
    increment: the time added per move.
    periods: whether the overtime is byo-yomi, in which each period is for one move.
    spent: the main time used so far. It is ignored if the controller has sent the time left.
    limit: the largest main time. An increment never raises the main time above `limit`. Infinity if there is no limit.
    longest: the longest time for one move; infinity if there is no limit.
    lacks_settings: whether the controller has sent the time left, but no time settings.
    """

    main: float = 0.0
    period: float = 0.0
    stones: int = 0
    left: float | None = None
    left_stones: int = 0
    increment: float = 0.0
    periods: bool = False
    spent: float = 0.0
    limit: float = math.inf
    longest: float = math.inf
    lacks_settings: bool = False

    def set_time_left(self, left: float, stones: int) -> None:
        """Set the time left to the values that the controller (the program that sends the commands) reports.

        left: the time left in seconds. stones: the moves left in the overtime period or, if `periods` is true, the
        number of periods left; 0 in the main time.
        """
        self.left, self.left_stones, self.spent = left, stones, 0.0

    def spend(self, seconds: float) -> None:
        """Update the time left after a move: subtract the duration of the move, and add the increment. The result
        is valid until `set_time_left` sets the time left.

        seconds: the duration of the move.
        """
        if self.left is None:
            self.spent = max(self.spent + seconds - self.increment, self.main - self.limit)
        elif self.left_stones == 0:
            self.left = min(max(0.0, self.left - seconds + self.increment), self.limit)
        elif self.periods:
            self.left = self.period
        elif self.left_stones > 1 or not self.stones:
            self.left, self.left_stones = max(0.0, self.left - seconds), max(1, self.left_stones - 1)
        else:
            self.left, self.left_stones = self.period, self.stones

    def seconds(self) -> float | None:
        """Return how many seconds the engine should spend on its next move; None if there is no time limit."""
        seconds = self._seconds()
        return None if seconds is None else min(seconds, max(0.0, self.longest - OVERHEAD / 1000))

    def _seconds(self) -> float | None:
        moves = 1 if self.periods and self.left_stones else self.left_stones
        left = self.left if self.left is not None else max(0.0, self.main - self.spent)
        if self.left is None and left == 0 and self.stones:
            left, moves = self.period, self.stones
        elif moves == 0 and self.stones:  # main time: a move may take at least as long as in overtime
            overtime = 0.9 * self.period / self.stones
            return max(overtime, seconds_to_think(int(1000 * left), overhead=OVERHEAD) or 0.0)
        increment = int(1000 * self.increment)
        return seconds_to_think(int(1000 * left), increment, moves or None, overhead=OVERHEAD)


class GtpGame:
    """The game that GTP commands set up and change. A point of the board is an int, 19 * row + column from the top
    left, or PASS (361). A color is BLACK = 1 or WHITE = 2.

    largest: the size of the largest board that the network supports. komi: the komi in points. rules: the rules.

    If a method can't execute its command, it raises GtpError and changes nothing.
    """

    def __init__(self, largest: int, komi: float, rules: Rules):
        self.largest, self.komi, self.rules = largest, komi, rules
        self.clocks: dict[int, GtpClock] = {}
        self.clear(min(GRID, largest))

    def clear(self, size: int | None = None) -> None:
        """Start a new game on an empty board. The clocks get their full time.

        size: the board size; None for the present size. Raises GtpError if the network does not support the size.
        """
        size = self.start.size if size is None else size
        if size not in SIZES or size > self.largest:
            raise GtpError("unacceptable size")
        self._begin(Board(size), 0)
        self.clocks = {side: clock for side, clock in self.clocks.items() if not clock.lacks_settings}
        for clock in self.clocks.values():
            clock.left, clock.left_stones, clock.spent = None, 0, 0.0

    def _begin(self, start: Board, handicap: int) -> None:
        self.start, self.placed_handicap = start, handicap
        self.headers: dict[str, str] = {}
        """The headers of the loaded record."""
        self.moves: list[tuple[int, int]] = []
        """Color and point of each move."""
        self.board = start.copy()
        self._starts_empty = self.is_empty()
        self.set_rules(self.rules)

    @property
    def size(self) -> int:
        """The board size, such as 19."""
        return self.start.size

    @property
    def handicap(self) -> int:
        """The number of handicap stones.

        Usually, this is the number of stones that were placed before the game. If no stones were placed, it is the
        number of stones that Black played in a row before White's first move, or 0 if this number is 1.
        """
        if self.placed_handicap or not self._starts_empty:
            return self.placed_handicap
        others = (i for i, (colour, point) in enumerate(self.moves) if colour != BLACK or point == PASS)
        run = next(others, len(self.moves))
        return run if run >= 2 else 0

    @property
    def terms(self) -> Terms:
        """The komi, the kind of scoring and the number of handicap stones, as one object. The functions that choose
        moves and predict territory need this object.
        """
        return Terms.by(self.rules, self.komi, self.handicap)

    def set_rules(self, rules: Rules) -> None:
        """Set the rules for the following moves."""
        self.rules = rules
        self.board.suicide, self.board.superko = rules.suicide, rules.ko == "POSITIONAL"

    def play(self, colour: int, point: int) -> None:
        """Play a move of a color on a point, or a pass. Raises GtpError if the move is illegal."""
        try:
            self.board.play(colour, point)
        except Illegal:
            raise GtpError("illegal move") from None
        self.moves.append((colour, point))

    def play_all(self, moves: list[tuple[int, int]]) -> None:
        """Play all moves of a list, each a pair of a color and a point.

        If a move is illegal, the method undoes the moves before it and raises GtpError.
        """
        before = len(self.moves)
        for colour, point in moves:
            try:
                self.play(colour, point)
            except GtpError:
                self.undo(len(self.moves) - before)
                raise

    def undo(self, count: int = 1) -> None:
        """Undo the last `count` moves. Raises GtpError if there are fewer moves."""
        if count > len(self.moves):
            raise GtpError("cannot undo")
        del self.moves[len(self.moves) - count :]
        self.board = self.start.copy()
        # a move that was legal when it was played must stay legal, even if the rules have changed
        self.board.suicide = True
        for colour, point in self.moves:
            self.board.play(colour, point)
        self.set_rules(self.rules)

    def is_empty(self) -> bool:
        """Return whether no stone is on the board."""
        colours = self.board.colours()
        return not ((colours == BLACK) | (colours == WHITE)).any()

    def place_handicap(self, points: list[int]) -> None:
        """Place handicap stones of Black on these points of an empty board. White moves next.

        Raises GtpError if the board is not empty, if there are fewer than two points, or if points are equal or off the
        board.
        """
        if not self.is_empty():
            raise GtpError("board not empty")
        if len(set(points)) < len(points) or len(points) < 2 or not all(on_board(p, self.size) for p in points):
            raise GtpError("bad vertex list")
        board = Board(self.size)
        for point in points:
            board.put(BLACK, point)
        board.to_move = WHITE
        self._begin(board, len(points))

    def load(self, file: str, before: int | None) -> None:
        """Load the first game of an SGF file.

        If the file is cut off in the middle of the moves, the complete moves are loaded. If some of the requested moves
        are therefore missing, a line on standard error gives the reason. Raises GtpError if the file can't be read or
        its game can't be played.

        before: the number of the first move that is not loaded; None to load all moves.
        """
        from kibitz.games.go.io.headers import has_komi
        from kibitz.games.go.io.sgf import Record, read_records

        try:
            if not Path(file).is_file():
                raise GtpError(f"cannot load file: {shown(file)}: no such file")
            record = next(iter(read_records([file], cut=True)), None)
        except (OSError, KibitzError) as error:
            raise GtpError(f"cannot load file: {shown(' '.join(str(error).split()))}") from None
        if not isinstance(record, Record):
            raise GtpError(f"cannot load file: {shown(str(getattr(record, 'reason', 'the file contains no game')))}")
        if record.size > self.largest:
            raise GtpError("cannot load file: unacceptable size")
        start = Board(record.size)
        moves: list[tuple[int, int]] = []
        colour = record.side
        try:
            for side, stones in ((BLACK, record.black), (WHITE, record.white)):
                for point in stones:
                    start.put(side, point)
        except Illegal as error:
            raise GtpError(f"cannot load file: {error}") from None
        try:
            start.to_move = record.side
            board = start.copy()
            board.suicide = True
            most = len(record.moves) if before is None else max(0, before - 1 - record.leading)
            for ply, point in enumerate(record.moves):
                # An inserted pass is not a move of the controller's game, because in GTP a player may move twice.
                if ply not in record.inserted:
                    if len(moves) == most:
                        break
                    board.play(colour, point)
                    moves.append((colour, point))
                colour = 3 - colour
        except Illegal as error:
            raise GtpError(f"cannot load file: move {len(moves) + 1} is illegal ({error})") from None
        rules = self.rules
        # KataGo's names, such as chinese-ogs, also name the ko rule, which the record's rules do not contain.
        for name in (record.rules, record.headers.get("RU", "")):
            with contextlib.suppress(UnknownRules):
                rules = named(name or "")
        if record.problem and (before is None or len(moves) < most):
            print(f"loadsgf: {record.problem}. Moves loaded: {len(moves)}.", file=sys.stderr)
        self._begin(start, record.handicap)
        self.headers = dict(record.headers)
        self.moves = moves
        self.board = board
        if has_komi(record.headers):
            self.komi = record.komi
        self.set_rules(rules)

    def record(self) -> Record:
        """Return the game as a record that can be written as SGF. If one player moved twice in a row, the record has a
        pass of the opponent between these moves.
        """
        from kibitz.games.go.io.sgf import Record

        colours = self.start.colours()
        black, white = (tuple(np.flatnonzero(colours == colour).tolist()) for colour in (BLACK, WHITE))
        leading = 0 if self.placed_handicap else self.handicap
        black += tuple(point for _, point in self.moves[:leading])
        moves = self.moves[leading:]
        side = moves[0][0] if moves else WHITE if leading else self.start.to_move
        points, turn = [], side
        for colour, point in moves:
            if colour != turn:
                points.append(PASS)
            points.append(point)
            turn = 3 - colour
        headers = {name: value for name, value in self.headers.items() if name not in ("KM", "RU", "HA")}
        headers.update({"KM": f"{self.komi:g}", "RU": named_rules(self.rules)})
        return Record(self.size, black, white, side, points, headers, self.komi, handicap=self.handicap)

    def last_point(self) -> int:
        """Return the point of the last move; PASS (361) if the last move was a pass or if no move has been played."""
        return self.moves[-1][1] if self.moves else PASS


def fixed_handicap(count: int, size: int) -> list[int]:
    """Return the points of fixed handicap stones, in the order of the GTP specification. A point is 19 * row + column
    from the top left.

    count: the number of stones, 2 to 9. size: the board's size: 9, 13 or 19.
    """
    near = 2 if size < 13 else 3
    far, middle = size - 1 - near, size // 2
    points = [(far, near), (near, far), (near, near), (far, far)]  # (row from above, column): D4, Q16, D16, Q4
    points = points[:count]
    if count >= 6:
        points += [(middle, near), (middle, far)]
    if count >= 8:
        points += [(near, middle), (far, middle)]
    if count in (5, 7, 9):
        points.append((middle, middle))
    return [row * GRID + column for row, column in points]
