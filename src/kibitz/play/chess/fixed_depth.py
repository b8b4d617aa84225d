"""The method thesis-negamax: a negamax search of the most probable moves to a fixed depth, as in a thesis.

The method is from Ashudeep Singh's thesis, section "TopProb-Negamax Interleaved". The search considers only the most
likely legal moves of every position, and the value network evaluates the leaves. A table stores the evaluations. There
is no other chess knowledge: captures and checks get no priority or extension, and a mate is found only if it is among
the likely moves. `best_first.py` is the search with such knowledge.

The tree grows level by level, so the network evaluates a whole level in large batches. A search of depth d is the
beginning of a search of depth d + 1. If a limit interrupts a level, its results are not used. The rules decide mate,
stalemate, repetition, fifty moves and dead positions.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

from kibitz.games.chess.replay import FIFTY_MOVES
from kibitz.play.chess.best_first import SearchTuning
from kibitz.play.chess.evaluator import DRAWN, ENTRY_BYTES, Evaluator, TableEntry
from kibitz.play.chess.position import SearchPosition, children, packed
from kibitz.play.chess.score import to_parent
from kibitz.play.result import OnResult, ProgressThrottle, SearchLimits, SearchResult, TimeManager, make_line

_NODE_BYTES = 900
"""Approximate size in bytes of a node with its boards."""
_MAX_DEPTH = 60


@dataclass
class Level:
    """All nodes of a search tree at one depth.

    parents: the index of each node's parent in the level above.
    moves: the packed move (see `kibitz.games.chess.moves.from_move`) that leads to each node.
    positions, entries: the position of each node, and its evaluation.
    """

    parents: list[int] = field(default_factory=list)
    moves: list[int] = field(default_factory=list)
    positions: list[SearchPosition] = field(default_factory=list)
    entries: list[TableEntry] = field(default_factory=list)


class FixedDepthSearch:
    """A search of one position to a fixed depth. Its arguments are those of `best_first.BestFirstSearch`.

    The evaluator must not use tactics, see `Evaluator(tactics=False)`. The search ends before a depth whose positions
    don't all fit into the node limit.
    """

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
        self.evaluator, self.tuning, self.position, self.seen, self.limits = evaluator, tuning, position, seen, limits
        self.lines, self.final_lines = lines, final_lines
        self.max_nodes = evaluator.max_entries * ENTRY_BYTES // _NODE_BYTES

    def think(self, stop: threading.Event | None, on_result: OnResult) -> tuple[SearchResult, list[float]]:
        """Search the position until a limit is reached. Returns the result, and a list with the value of each of its
        lines, on the scale of `score.py`: -1 to 1, or a mate. The position must have a legal move.

        stop: an event that ends the search. on_result: a function that gets intermediate results.
        """
        limits = self.limits
        self.clock = TimeManager(limits, stop, self.evaluator.nodes)
        entry, self.policy = self.evaluator.root(self.position, packed(limits.moves), self.lines)
        self.levels = [Level([-1], [0], [self.position], [entry])]
        max_depth = limits.depth or _MAX_DEPTH
        if len(entry.moves) == 1 and limits.seconds is not None:
            max_depth = 0  # there is only one legal move
        progress = ProgressThrottle(self.clock, on_result)
        while len(self.levels) <= max_depth and (level := self._next_level()) is not None:
            self.levels.append(level)
            progress(*self._thought(self.lines))
        return self._thought(self.final_lines)

    def _next_level(self) -> Level | None:
        """Return the nodes of the next depth; None if every line has ended, there is no room, or a limit is reached."""
        last, level = self.levels[-1], Level()
        wanted = [
            (parent, move)
            for parent, entry in enumerate(last.entries)
            if not entry.final
            for move in entry.moves[: entry.width].tolist()
        ]
        if not wanted or sum(len(each.moves) for each in self.levels) + len(wanted) > self.max_nodes:
            return None
        while len(level.moves) < len(wanted):
            size = self.clock.batch(self.evaluator.nodes, self.tuning.batch)
            if size == 0:
                return None
            parents, moves = zip(*wanted[len(level.moves) :][:size], strict=True)
            positions = children([last.positions[parent] for parent in parents], np.array(moves, np.uint16))
            drawn = [self._drawn(parent, position) for parent, position in zip(parents, positions, strict=True)]
            self.evaluator.evaluate([position for position, draw in zip(positions, drawn, strict=True) if not draw])
            table = self.evaluator.table
            level.entries += [DRAWN if draw else table[p.key] for p, draw in zip(positions, drawn, strict=True)]
            level.parents += parents
            level.moves += moves
            level.positions += positions
        return level

    def _drawn(self, parent: int, position: SearchPosition) -> bool:
        """Return whether a position is drawn because of the moves before it: by repetition or the fifty-move rule.
        parent: a node of the last level.
        """
        if position.clock >= FIFTY_MOVES:
            return not position.board.is_checkmate()
        if self.seen[position.key] > 1:
            return True
        for level in reversed(self.levels):
            if level.positions[parent].key == position.key:
                return True
            parent = level.parents[parent]
        return False

    def _negamax(self) -> tuple[list[list[float]], list[list[int]]]:
        """Return values of all nodes, level by level, and the index of each node's best child in the next level, or
        −1."""
        values = [[entry.value for entry in level.entries] for level in self.levels]
        best = [[-1] * len(level.moves) for level in self.levels]
        for depth in range(len(self.levels) - 1, 0, -1):
            above, chosen = values[depth - 1], best[depth - 1]
            for child, parent in enumerate(self.levels[depth].parents):
                value = to_parent(values[depth][child])
                if chosen[parent] < 0 or value > above[parent]:
                    above[parent], chosen[parent] = value, child
        return values, best

    def _line(self, child: int, best: list[list[int]]) -> list[int]:
        """Return the expected moves, beginning with a move at the root."""
        line = []
        for level, chosen in zip(self.levels[1:], best[1:], strict=True):
            if child < 0:
                break
            line.append(level.moves[child])
            child = chosen[child]
        return line

    def _thought(self, count: int) -> tuple[SearchResult, list[float]]:
        """Return the result so far, the best moves first. If no level is complete, the most likely moves are first."""
        seconds, nodes = self.clock.seconds(), self.evaluator.nodes - self.clock.before
        if len(self.levels) == 1:
            entry = self.levels[0].entries[0]
            likeliest = entry.moves[: min(count, entry.width)].tolist()
            lines = tuple(
                replace(make_line(entry.value, self.policy[move], [move]), own_value=False) for move in likeliest
            )
            return SearchResult(1, nodes, seconds, lines), [entry.value] * len(lines)
        values, best = self._negamax()
        at_root = [to_parent(value) for value in values[1]]
        order = sorted(range(len(at_root)), key=lambda child: -at_root[child])[:count]
        lines = tuple(
            make_line(at_root[child], self.policy[self.levels[1].moves[child]], self._line(child, best))
            for child in order
        )
        return SearchResult(len(self.levels) - 1, nodes, seconds, lines), [at_root[child] for child in order]
