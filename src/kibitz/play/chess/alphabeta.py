"""Alpha-beta search of all chess moves. A value network evaluates the leaves in batches.

Ordinary alpha-beta evaluates one leaf after the other. Here the search of a node is a Python generator: it yields the
positions that it needs, and continues when their evaluations are in the table. If no refuting move is expected in a
node, all its moves must be searched anyway. They are searched in parallel, and the positions that they need form one
batch. If a refuting move is expected, the moves are searched one after the other, and the leaves a few at a time. The
result is that of negamax at the same depth; only the number of evaluated positions depends on the order.

The transposition table has an entry for each searched position. An entry has bounds of the position's value, and the
depth of the search that found them (see `Bound`). A value that depends on a repetition or on the fifty-move rule is
valid only for the present line of moves. Such a value isn't stored.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Generator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.replay import FIFTY_MOVES
from kibitz.play.chess.best_first import SearchTuning
from kibitz.play.chess.evaluator import Evaluator, TableEntry
from kibitz.play.chess.position import SearchPosition, children, packed
from kibitz.play.chess.score import STEP, to_child, to_parent
from kibitz.play.result import OnResult, ProgressThrottle, SearchLimits, SearchResult, TimeManager, make_line

_INFINITE = 3.0
_NULL = 1e-6
"""The width of a null window. A search with such a window only decides on which side of the window the value is."""
_BATCH_MOVES = 6
"""Number of moves that are searched in parallel in a node in which no move is likely to refute the opponent's move."""
_LEAVES = 4
"""Number of leaves that are evaluated first if one of them is expected to refute the opponent's move."""
_MAX_DEPTH = 60

PathValue = tuple[float, bool]
"""A value of a position, and whether it is valid only for the present line of moves, because it depends on a repetition
or on the fifty-move rule.
"""
_Search = Generator[Sequence[SearchPosition], None, PathValue]


class Bound(NamedTuple):
    """An entry of the transposition table: the bounds of a position's value that earlier searches have found.

    depth: the depth of the search in plies. low, high: the lower and the upper bound of the position's value, for
    searches up to this depth. move: the best move, packed (see `kibitz.games.chess.moves.from_move`).
    """

    depth: int
    low: float
    high: float
    move: int


class _Stopped(Exception):
    """Raised when a limit is reached."""


class AlphaBeta:
    """An alpha-beta search of one position. Its arguments are those of `best_first.BestFirstSearch`."""

    def __init__(
        self,
        evaluator: Evaluator,
        tuning: SearchTuning,
        position: SearchPosition,
        seen: Counter[int],
        limits: SearchLimits,
        lines: int,
        final_lines: int,
    ):
        self.evaluator, self.tuning, self.seen, self.limits = evaluator, tuning, seen, limits
        self.lines, self.final_lines = lines, final_lines
        self.position = position
        self.bounds: dict[int, Bound] = {}
        self.refuting: Counter[int] = Counter()
        """For each packed move, the sum of depth² over its cutoffs."""
        self.depth = 0

    def think(self, stop: threading.Event | None, on_result: OnResult) -> tuple[SearchResult, list[float]]:
        """Search the position until a limit is reached. Returns the result, and a list with the value of each of its
        lines, on the scale of `score.py`: -1 to 1, or a mate. The position must have a legal move.

        stop: an event that ends the search. on_result: a function that gets intermediate results.
        """
        limits = self.limits
        self.clock = TimeManager(limits, stop, self.evaluator.nodes)
        entry, self.policy = self.evaluator.root(self.position, packed(limits.moves), self.lines)
        self.moves: list[int] = entry.moves.tolist()
        self.values: dict[int, float] = {}
        self.done: dict[int, float] = {}
        progress = ProgressThrottle(self.clock, on_result)
        max_depth = min(_MAX_DEPTH, limits.depth or _MAX_DEPTH)
        if len(self.moves) == 1 and limits.seconds is not None:
            max_depth = 0
        self.children_of = dict(zip(self.moves, children([self.position] * len(self.moves), entry.moves), strict=True))
        try:
            for depth in range(1, max_depth + 1):
                self.done = {}
                self._run(self._root(depth))
                self.depth, self.values = depth, self.done
                self.moves.sort(key=lambda move: -self.values[move])
                progress(*self._thought(self.lines))
                best = self.values[self.moves[0]]
                if self.lines == 1 and abs(best) > 1 and (2 - abs(best)) / STEP <= depth + 1:
                    break  # a mate was found within this depth, and a deeper search can't find a shorter mate
                if not self.deeper:
                    break
        except _Stopped:
            self._merge()
        if not self.values:
            self.values = {self.moves[0]: entry.value}
        return self._thought(self.final_lines)

    def _merge(self) -> None:
        """Use the results of an interrupted depth if its first move was completely searched. The best move of this
        depth is then the first move, or a move that was proven better.
        """
        if not self.values:  # the first depth was not finished, so the values of some moves must be enough
            self.values = self.done
            self.moves.sort(key=lambda move: -self.values.get(move, -_INFINITE))
            return
        if self.moves[0] not in self.done:
            return
        best = max(self.done, key=lambda move: self.done[move])
        best_value = self.done[best]
        rest = {move: min(value, best_value - _NULL) for move, value in self.values.items() if move != best}
        self.values = {best: best_value, **rest}
        self.moves.sort(key=lambda move: -self.values.get(move, -_INFINITE))

    def _run(self, search: Generator[Sequence[SearchPosition], None, None]) -> None:
        """Run a search: evaluate the positions that it requests, in batches, within the limits."""
        evaluator, tuning = self.evaluator, self.tuning
        for requested in search:
            missing = [position for position in requested if position.key not in evaluator.table]
            while True:
                size = self.clock.batch(evaluator.nodes, tuning.batch)
                if size == 0:
                    search.close()
                    raise _Stopped
                evaluator.evaluate(missing[:size])
                missing = missing[size:]
                if not missing:
                    break

    def _root(self, depth: int) -> Generator[Sequence[SearchPosition], None, None]:
        """Search the root's moves, and write their values into self.done. These values are exact for the best `lines`
        moves, and bounds for the other moves.
        """
        self.deeper = False
        path = (self.position.key,)
        low = -_INFINITE
        at = 0
        while at < len(self.moves):
            scout = low > -_INFINITE
            group = self.moves[at : at + (_BATCH_MOVES if scout else 1)]
            at += len(group)
            high = low + _NULL if scout else _INFINITE
            children_of = [self.children_of[move] for move in group]
            results = yield from _batch_searches([self._child(p, depth, low, high, scout, path) for p in children_of])
            for move, position, (value, _) in zip(group, children_of, results, strict=True):
                # The scout search used the value of `low` at the beginning of the group, so its result may only be a
                # bound. Then the move is searched again.
                if scout and value > high - _NULL:
                    value, _ = yield from self._child(position, depth, low, _INFINITE, False, path)
                self.done[move] = value
                if len(self.done) >= self.lines:
                    low = max(low, sorted(self.done.values())[-self.lines])

    def _drawn_by_path(self, position: SearchPosition, path: tuple[int, ...]) -> bool:
        """Return whether the path to a position makes it a draw."""
        if position.clock >= FIFTY_MOVES:
            return not position.board.is_checkmate()
        return position.key in path or self.seen[position.key] > 1

    def _child(
        self, position: SearchPosition, depth: int, low: float, high: float, refuted: bool, path: tuple[int, ...]
    ) -> _Search:
        """Return a move's value for the side that makes it.

        position: the position after the move. depth: plies, including this move. refuted: whether the opponent is
        expected to have a reply that lowers the value to `low` or below.
        """
        if self._drawn_by_path(position, path):
            return 0.0, True
        value, by_path = yield from self._node(position, depth - 1, to_child(high), to_child(low), refuted, path)
        return to_parent(value), by_path

    def _node(
        self, position: SearchPosition, depth: int, low: float, high: float, cuts: bool, path: tuple[int, ...]
    ) -> _Search:
        """Return the value for the mover if it is between `low` and `high`. Otherwise, return an upper bound that is at
        most `low`, or a lower bound that is at least `high` (fail-soft).
        """
        table = self.evaluator.table
        while position.key not in table:
            yield [position]
        entry = table[position.key]
        if entry.final:
            return entry.value, False
        if depth == 0:
            self.deeper = True
            return entry.value, False
        bound = self.bounds.get(position.key)
        if bound is not None and bound.depth == depth:
            if bound.low >= high or bound.low == bound.high:
                return bound.low, False
            if bound.high <= low:
                return bound.high, False
        path = (*path, position.key)
        moves = self._order(entry, bound)
        wide = high - low > 2 * _NULL
        best, best_move, any_by_path, at = -_INFINITE, 0, False, 0
        size = self._first_batch_size(depth, wide, cuts)
        while at < len(moves):
            floor, scout = max(low, best), wide and at > 0
            group = moves[at : at + size]
            children_of = children([position] * len(group), group)
            if depth == 1:
                yield [p for p in children_of if p.key not in table and not self._drawn_by_path(p, path)]
            top = floor + _NULL if scout else high
            refuted = scout if wide else not cuts
            results = yield from _batch_searches(
                [self._child(p, depth, floor, top, refuted, path) for p in children_of]
            )
            for move, p, (value, by_path) in zip(group.tolist(), children_of, results, strict=True):
                if scout and depth > 1 and floor < value < high:
                    value, by_path = yield from self._child(p, depth, max(floor, best), high, False, path)
                any_by_path |= by_path
                if value > best:
                    best, best_move = value, move
            if best >= high:
                self.refuting[best_move] += depth * depth
                break
            at += len(group)
            if depth == 1:
                size *= 2
            elif wide:
                size = _BATCH_MOVES
        if not any_by_path:
            if len(self.bounds) > self.evaluator.max_entries:
                self.bounds.clear()
            lower, upper = best if best > low else -_INFINITE, best if best < high else _INFINITE
            self.bounds[position.key] = Bound(depth, lower, upper, best_move)
        return best, any_by_path

    @staticmethod
    def _first_batch_size(depth: int, wide: bool, cuts: bool) -> int:
        """Return the number of moves to search in parallel at first, see _BATCH_MOVES and _LEAVES."""
        if depth == 1:
            return _LEAVES if cuts else 256
        return 1 if wide or cuts else _BATCH_MOVES

    def _order(self, entry: TableEntry, bound: Bound | None) -> NDArray[np.uint16]:
        """Return the moves in search order: the best move of the previous search, then by policy and history."""
        moves = entry.moves.tolist()
        refuting = np.array([self.refuting[move] for move in moves])
        weights = np.log(entry.weights) + 0.5 * np.log1p(refuting)
        if bound is not None:
            weights[moves.index(bound.move)] = 9
        return entry.moves[np.argsort(-weights, kind="stable")]

    def _line(self, move: int) -> list[int]:
        """Return the principal variation from this move on, as far as the table contains it."""
        line, position, keys = [move], self.children_of[move], {self.position.key}
        while position.key not in keys:
            keys.add(position.key)
            entry, bound = self.evaluator.table.get(position.key), self.bounds.get(position.key)
            if entry is not None and entry.final:
                line += entry.moves.tolist()  # the next move is a mate in one
                break
            if bound is None or len(line) > self.depth:
                break
            line.append(bound.move)
            position = children([position], np.array([bound.move], np.uint16))[0]
        return line

    def _thought(self, count: int) -> tuple[SearchResult, list[float]]:
        moves = [move for move in self.moves if move in self.values][:count]
        values = [self.values[move] for move in moves]
        lines = tuple(
            make_line(value, self.policy[move], self._line(move)) for move, value in zip(moves, values, strict=True)
        )
        return SearchResult(
            max(1, self.depth), self.evaluator.nodes - self.clock.before, self.clock.seconds(), lines
        ), values


def _batch_searches(searches: list[_Search]) -> Generator[Sequence[SearchPosition], None, list[PathValue]]:
    """Run searches in parallel: each round requests the positions of all of them. Return their values in order."""
    results: list[PathValue] = [(0.0, False)] * len(searches)
    running = list(enumerate(searches))
    while running:
        requested: list[SearchPosition] = []
        still = []
        for i, search in running:
            try:
                requested += next(search)
                still.append((i, search))
            except StopIteration as end:
                results[i] = end.value
        running = still
        if running:
            yield requested
    return results
