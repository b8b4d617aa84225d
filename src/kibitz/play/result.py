"""The limits and the results of a search for the best move in chess."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol

import chess

from kibitz.games.chess.moves import to_move
from kibitz.play.chess import score


@dataclass(frozen=True)
class SearchLimits:
    """The limits of a search. The search ends when it reaches the first of them. Without limits, it ends when it is
    stopped.

    depth: the depth in plies; None for no limit.
    nodes: the number of positions that a network evaluates; None for no limit.
    seconds: the time for this move; None for no limit.
    moves: the moves that are allowed in the searched position; () for all.
    clock: the seconds that the mover has left for the game; None if there is no clock. This value is not a limit.
    increment: the seconds that the clock adds after each move. This value is not a limit.
    """

    depth: int | None = None
    nodes: int | None = None
    seconds: float | None = None
    moves: tuple[chess.Move, ...] = ()
    clock: float | None = field(default=None, compare=False)
    increment: float = field(default=0.0, compare=False)


@dataclass(frozen=True)
class PvLine:
    """A line of moves that a search found, with its value from the mover's point of view.

    move: the first move.
    score: the value in centipawns.
    mate: the number of moves to mate, above 0 if the mover mates, below 0 if the mover is mated; None if no mate was
        found.
    probability: the probability that the network gives to the move among the legal moves, 0 to 1.
    pv: all moves of the line, beginning with `move`.
    wdl: the probabilities of win, draw and loss in thousandths.
    visits: the visits of the move in a search that counts visits, else 0.
    own_value: whether score, mate and wdl come from a search or an evaluation after this move. If not, they are the
        values of the position before it.
    """

    move: chess.Move
    score: int
    mate: int | None
    probability: float
    pv: tuple[chess.Move, ...]
    wdl: tuple[int, int, int]
    visits: int = 0
    own_value: bool = True


@dataclass(frozen=True)
class SearchResult:
    """The result of a search: the best lines (sequences of moves), and how large the search was.

    depth: the depth in plies that the search completed.
    nodes: the number of evaluated positions.
    seconds: the duration of the search.
    lines: one or more lines, the best first. The first move of the best line is played, unless the player resigns.
    resigns: whether the player resigns instead of making a move.
    """

    depth: int
    nodes: int
    seconds: float
    lines: tuple[PvLine, ...]
    resigns: bool = False


OnResult = Callable[[SearchResult], None]


class ThinkingPlayer(Protocol):
    """The interface of the objects that choose chess moves for the UCI engine."""

    def new_game(self) -> None:
        """Clear the data of the previous game."""

    def think(
        self, board: chess.Board, limits: SearchLimits, stop: threading.Event | None = ..., on_result: OnResult = ...
    ) -> SearchResult | None:
        """Choose a move. Returns the result of the search; None if there is no legal move in the position.

        stop: an event that ends the search. on_result: a function that gets intermediate results.
        """


def make_line(value: float, probability: float, pv: list[int]) -> PvLine:
    """Return a line of moves with a value. value: the value for the side to move, on the scale of
    `kibitz.play.chess.score`. probability: the probability of the first move. pv: the moves of the line, at least one,
    packed (see `kibitz.games.chess.moves.from_move`).
    """
    moves = tuple(to_move(move) for move in pv)
    return PvLine(moves[0], score.centipawns(value), score.mate(value), probability, moves, score.chances(value))


def by_score(line: PvLine) -> float:
    """Return a number for sorting lines: a line that is better for the mover has a larger number."""
    if line.mate is None:
        return line.score
    return (1_000_000 - line.mate) if line.mate > 0 else -1_000_000 - line.mate


class TimeManager:
    """Checks the limits of one search. The search calls `batch` before each batch of positions."""

    def __init__(self, limits: SearchLimits, stop: threading.Event | None, nodes: int):
        self.limits, self.stop = limits, stop
        self.begun = time.perf_counter()
        self.before = nodes
        self.rate = 0.0
        """Positions per second in the last batch, including its overhead."""
        self.last = (self.begun, nodes)
        self._stopped = math.inf  # the time at which the stop was noticed

    def seconds(self) -> float:
        """Return the seconds since the search began."""
        return time.perf_counter() - self.begun

    def left(self) -> float:
        """Return the seconds until the search must end; infinity without a time limit. The result is 0 or less if the
        time is over, or if the search was stopped.
        """
        now = time.perf_counter()
        if self.stop is not None and self.stop.is_set():
            self._stopped = min(self._stopped, now)
        end = math.inf if self.limits.seconds is None else self.begun + self.limits.seconds
        return min(end, self._stopped) - now

    def is_over(self) -> bool:
        """Return whether the search was stopped, or has used up its time."""
        return self.left() <= 0

    @contextlib.contextmanager
    def reserving(self, share: float) -> Iterator[None]:
        """A context manager in which the time limit is earlier: a share of the time left, 0 to 1, remains for the work
        after the context.
        """
        limits = self.limits
        if limits.seconds is not None:
            spent = self.seconds()
            self.limits = replace(limits, seconds=spent + (1 - share) * max(0.0, limits.seconds - spent))
        try:
            yield
        finally:
            self.limits = limits

    def batch(self, nodes: int, batch_size: int) -> int:
        """Return the number of positions in the next batch; 0 if the search must end. nodes: the number of positions
        evaluated so far. batch_size: the preferred size.
        """
        if self.stop is not None and self.stop.is_set():
            return 0
        now = time.perf_counter()
        if nodes > self.last[1]:
            self.rate = (nodes - self.last[1]) / max(now - self.last[0], 1e-6)
        self.last = (now, nodes)
        if self.limits.nodes is not None:
            batch_size = min(batch_size, self.limits.nodes - (nodes - self.before))
        if self.limits.seconds is not None:
            left = self.limits.seconds - (now - self.begun)
            if left <= 0:
                return 0
            if self.rate and batch_size > 1:
                # A smaller last batch is better than a late reply. If there is no time even for a single position, the
                # search stops.
                batch_size = min(batch_size, int(left * self.rate))
        return max(0, batch_size)


class ProgressThrottle:
    """Passes intermediate results of a search to a function, at most once per second.

    clock: the limits and the time of the search. on_result: the function.
    """

    def __init__(self, clock: TimeManager, on_result: OnResult):
        self.clock, self.on_result, self.last = clock, on_result, 0.0

    def due(self) -> bool:
        """Return whether more than a second has passed since the function was last called."""
        return self.clock.seconds() - self.last > 1

    def __call__(self, thought: SearchResult, values: list[float]) -> None:
        """Call the function with an intermediate result."""
        self.last = thought.seconds
        self.on_result(thought)
