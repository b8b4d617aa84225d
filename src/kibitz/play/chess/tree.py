"""The tree of a best-first negamax: flat arrays, and two walks over them.

Node 0 is the root and children come after their parents, so one walk from the end takes values up, and one from the
start takes probabilities down. A node's moves are a stretch of the edges, most probable first.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import NDArray

from kibitz.play.chess.evaluator import TableEntry
from kibitz.play.chess.position import SearchPosition
from kibitz.play.chess.score import back
from kibitz.play.chess.tactics import MATE


@numba.njit(nogil=True, cache=True)
def _take_up(n, first, count, width, own, final, child, weight, doubt, value, size, best):  # type: ignore[no-untyped-def]
    for i in range(n - 1, -1, -1):
        size[i] = 1
        best[i] = -1
        value[i] = own[i]
        if final[i]:
            continue
        tried, mass, tried_mass = 0, 0.0, 0.0
        top, top_score = -9.0, -9.0
        loses = True
        for e in range(first[i], first[i] + width[i]):
            mass += weight[e]
            c = child[e]
            if c < 0:
                continue
            tried += 1
            tried_mass += weight[e]
            size[i] += size[c]
            found = back(value[c])
            if found >= -1:
                loses = False
            score = found
            if -1 <= found <= 1:
                score -= doubt * np.log(weight[first[i]] / weight[e]) / np.sqrt(size[c])
            if score > top_score:
                top, top_score, best[i] = found, score, e
        if tried == 0:
            continue
        if tried == width[i] and loses and width[i] < count[i]:
            # Everything likely loses by force. To say that all moves do, all must be looked at.
            width[i] = count[i]
            for e in range(first[i] + tried, first[i] + width[i]):
                mass += weight[e]
        if tried == width[i] or top >= own[i]:
            value[i] = top
        else:  # what is untried may be worth what the network said
            known = tried_mass / mass
            value[i] = known * max(top, -1.0) + (1 - known) * own[i]


@numba.njit(nogil=True, cache=True)
def _take_down(  # type: ignore[no-untyped-def]
    n,
    first,
    width,
    own,
    final,
    child,
    weight,
    mark,
    ply,
    value,
    size,
    focus,
    most,
    least,
    lines,
    loud,
    path,
    edges,
    nodes,
    shares,
):
    found = 0
    path[0] = 1.0
    odds = np.empty(256)
    for i in range(n):
        here = path[i]
        start, end = first[i], first[i] + width[i]
        proven = abs(value[i]) > 1 and focus > 0 and not (i == 0 and lines > 1)
        if here < least or final[i] or proven:
            for e in range(start, end):
                if child[e] >= 0:
                    path[child[e]] = 0.0
            continue
        total = 0.0
        for e in range(start, end):
            c = child[e]
            gain = 0.0 if c < 0 else back(value[c]) - own[i]
            odd = 0.0
            if c < 0 or focus == 0 or gain > -1 - own[i] - 1e-9:  # a move that loses by force is looked at no more
                odd = weight[e] * np.exp(focus * gain)
            odds[e - start] = odd
            total += odd
        if i == 0 and lines > 1 and width[0] > 1:
            # Several lines are wanted: the best of them share evenly.
            ranked = np.sort(odds[: end - start])
            at = max(0, end - start - lines)
            while ranked[at] == 0 and at < end - start - 1:
                at += 1
            level = ranked[at]
            total = 0.0
            for k in range(end - start):
                odds[k] = min(odds[k], level)
                total += odds[k]
        for e in range(start, end):
            share = here * odds[e - start] / total if total > 0 else 0.0
            if child[e] >= 0:
                path[child[e]] = share
            elif ply[i] < most and share > 0:
                if mark[e]:
                    share = 1.0 if mark[e] == MATE else min(1.0, share * loud)
                edges[found], nodes[found], shares[found] = e, i, share
                found += 1
    return found


class Tree:
    """Nodes and edges of one search. `value` is a node's in its mover's view (score.py), `size` its evaluations."""

    def __init__(self, room: int, entry: TableEntry, position: SearchPosition):
        self.room = room
        """Nodes at most."""
        self.n, self.edges = 0, 0
        self.positions: list[SearchPosition] = []
        self.parent, self.ply = np.zeros(256, np.int32), np.zeros(256, np.int32)
        self.first, self.count, self.width = np.zeros(256, np.int64), np.zeros(256, np.int32), np.zeros(256, np.int32)
        self.own, self.final = np.zeros(256), np.zeros(256, np.bool_)
        self.value, self.size, self.best = np.zeros(256), np.zeros(256, np.int32), np.zeros(256, np.int64)
        self.path = np.zeros(256)
        self.move, self.weight = np.zeros(8192, np.uint16), np.zeros(8192, np.float32)
        self.mark, self.child = np.zeros(8192, np.uint8), np.zeros(8192, np.int32)
        self.add(-1, -1, position, entry)

    @property
    def full(self) -> bool:
        return self.n >= self.room

    def add(self, parent: int, edge: int, position: SearchPosition, entry: TableEntry) -> None:
        """A node; edge: of its parent, -1 for the root."""
        i, at, k = self.n, self.edges, len(entry.moves)
        while i >= len(self.parent):
            for name in ("parent", "ply", "first", "count", "width", "own", "final", "value", "size", "best", "path"):
                setattr(self, name, np.concatenate([getattr(self, name)] * 2))
        while at + k > len(self.move):
            for name in ("move", "weight", "mark", "child"):
                setattr(self, name, np.concatenate([getattr(self, name)] * 2))
        self.positions.append(position)
        self.parent[i], self.ply[i] = parent, 0 if parent < 0 else self.ply[parent] + 1
        self.first[i], self.count[i], self.width[i] = at, k, entry.width
        self.own[i], self.final[i] = entry.value, entry.final
        self.move[at : at + k], self.weight[at : at + k] = entry.moves, entry.weights
        self.mark[at : at + k], self.child[at : at + k] = entry.marks, -1
        if edge >= 0:
            self.child[edge] = i
        self.n, self.edges = i + 1, at + k

    def take_up(self, doubt: float) -> None:
        """Every node's value from its children's: negamax.

        Where a move is untried, a node whose tried moves disappoint is worth something between the best of them and
        what the network said, by the probability that was tried. Among its children a node chooses by value, less
        `doubt` · ln(weight of the likeliest / the move's) / √(evaluations below it).
        """
        _take_up(
            self.n, self.first, self.count, self.width, self.own, self.final, self.child, self.weight, doubt,
            self.value, self.size, self.best,
        )  # fmt: skip

    def untried(
        self, focus: float, loud: float, most: int, least: float, lines: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Moves without a node: edges, their nodes, and the probability that the game goes there.

        A move's probability is its weight · exp(`focus` · what is known to be gained by it), as a share among those of
        its node; a path's is their product. Loud moves count `loud` times. Left out: at `most` plies and more, below
        nodes with less than `least`, and where the outcome is proven; that is looked into only with a focus of 0.
        """
        room = int(self.width[: self.n].sum())
        edges, nodes, shares = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)
        found = _take_down(
            self.n, self.first, self.width, self.own, self.final, self.child, self.weight, self.mark, self.ply,
            self.value, self.size, focus, most, least, lines, loud, self.path, edges, nodes, shares,
        )  # fmt: skip
        return edges[:found], nodes[:found], shares[:found]

    def ranked(self, doubt: float) -> list[tuple[int, float]]:
        """The root's moves, edge and value: the tried ones, best first by the rule of `take_up`, then the others, the
        likeliest first, at what the network says of the root, but no better than the tried ones."""
        edges = range(int(self.first[0]), int(self.first[0] + self.width[0]))
        found = []
        for edge in edges:
            node = int(self.child[edge])
            if node >= 0:
                value = back(float(self.value[node]))
                doubted = doubt * math.log(self.weight[edges[0]] / self.weight[edge]) / math.sqrt(self.size[node])
                found.append((value if abs(value) > 1 else value - doubted, -edge, edge, value))
        found.sort(reverse=True)
        tried = [(edge, value) for *_, edge, value in found]
        rest = min([float(self.own[0]), *(value for _, value in tried)])
        return tried + [(edge, rest) for edge in edges if self.child[edge] < 0]

    def repeats(self, parent: int, position: SearchPosition) -> bool:
        """Whether a child of that node stands on the board a second time in its own line."""
        if position.clock < 4:
            return False
        node, back_to = parent, self.ply[parent] + 1 - position.clock
        while node >= 0 and self.ply[node] >= back_to:
            if self.positions[node].key == position.key:
                return True
            node = int(self.parent[node])
        return False

    def line(self, node: int) -> list[int]:
        """The packed moves that both sides choose from a node on."""
        moves: list[int] = []
        while self.best[node] >= 0:
            moves.append(int(self.move[self.best[node]]))
            node = int(self.child[self.best[node]])
        if self.final[node] and self.count[node]:  # mate in one
            moves.append(int(self.move[self.first[node]]))
        return moves
