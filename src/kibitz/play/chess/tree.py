"""The tree of a best-first negamax search: flat arrays, and two compiled passes over them.

Node 0 is the root, and children come after their parents. So one pass from the last node to the first computes values,
and one pass from the first to the last computes probabilities. A node's moves are consecutive edges, most probable
first.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.legal import MAX_MOVES
from kibitz.kernels import kernel
from kibitz.play.chess.evaluator import TableEntry
from kibitz.play.chess.position import SearchPosition
from kibitz.play.chess.score import to_parent
from kibitz.play.chess.tactics import MATE


class Nodes(NamedTuple):
    """The arrays of a search tree. Each array has one entry for each node, or one for each edge, which is a legal move
    of a node. If the tree has n nodes, only the entries of the first n nodes and of their edges have a meaning.
    """

    first: NDArray[np.int64]
    """The first edge of each node."""
    move_count: NDArray[np.int32]
    """The number of edges (legal moves) of each node."""
    width: NDArray[np.int32]
    """The number of edges, from the first, that are searched at each node."""
    ply: NDArray[np.int32]
    static_eval: NDArray[np.float64]
    """The value of each node by the network or by the rules, before a search, for the side to move at the node
    (score.py).
    """
    final: NDArray[np.bool_]
    """Whether the rules decide the value of each node."""
    value: NDArray[np.float64]
    """The negamax value of each node, for the side to move at the node."""
    size: NDArray[np.int32]
    """The number of evaluations at and below each node."""
    best: NDArray[np.int64]
    """The edge with the best move of each node, -1 for none."""
    path: NDArray[np.float64]
    """The probability that play from the root leads to each node."""
    child: NDArray[np.int32]
    """The node to which each edge leads, -1 until it is added to the tree."""
    weight: NDArray[np.float32]
    """The probability of each edge's move (tactics.order_moves)."""
    mark: NDArray[np.uint8]
    """The mark of each edge's move: QUIET, TACTICAL or MATE (tactics.py)."""


@kernel
def _backup(n, nodes, uncertainty):  # type: ignore[no-untyped-def]
    """Write value, size, best and, if all likely moves lose, width, for the first n of `nodes` (Nodes)."""
    first, move_count, width, weight, child = nodes.first, nodes.move_count, nodes.width, nodes.weight, nodes.child
    value, size, best, static_eval = nodes.value, nodes.size, nodes.best, nodes.static_eval
    for i in range(n - 1, -1, -1):
        size[i] = 1
        best[i] = -1
        value[i] = static_eval[i]
        if nodes.final[i]:
            continue
        expanded, mass, expanded_mass = 0, 0.0, 0.0
        top, top_score = -9.0, -9.0
        loses = True
        for e in range(first[i], first[i] + width[i]):
            mass += weight[e]
            c = child[e]
            if c < 0:
                continue
            expanded += 1
            expanded_mass += weight[e]
            size[i] += size[c]
            move_value = to_parent(value[c])
            if move_value >= -1:
                loses = False
            score = move_value
            if -1 <= move_value <= 1 and not nodes.final[c]:  # results by the rules are certain, so they get no penalty
                score -= uncertainty * np.log(weight[first[i]] / weight[e]) / np.sqrt(size[c])
            if score > top_score:
                top, top_score, best[i] = move_value, score, e
        if expanded == 0:
            continue
        if expanded == width[i] and loses and width[i] < move_count[i]:
            # All likely moves lose by force. Now all moves must be searched, because only this can prove that every
            # move loses.
            width[i] = move_count[i]
            for e in range(first[i] + expanded, first[i] + width[i]):
                mass += weight[e]
        if expanded == width[i] or top >= static_eval[i]:
            value[i] = top
        else:  # for moves that aren't expanded, the node's own value is an estimate
            known = expanded_mass / mass
            value[i] = known * max(top, -1.0) + (1 - known) * static_eval[i]


@kernel
def _select(n, nodes, focus, max_ply, min_path, lines, tactical_factor, edges, parents, shares):  # type: ignore[no-untyped-def]
    """Write the edges without a node, their parents and probabilities (see Tree.frontier), and return their number.

    It also writes `path` of the first n of `nodes` (Nodes). edges, parents: int64. shares: float64.
    """
    first, width, child, weight, mark = nodes.first, nodes.width, nodes.child, nodes.weight, nodes.mark
    static_eval, value, path = nodes.static_eval, nodes.value, nodes.path
    count = 0
    path[0] = 1.0
    odds = np.empty(MAX_MOVES)
    for i in range(n):
        here = path[i]
        start, end = first[i], first[i] + width[i]
        proven = abs(value[i]) > 1 and focus > 0 and not (i == 0 and lines > 1)
        if here < min_path or nodes.final[i] or proven:
            for e in range(start, end):
                if child[e] >= 0:
                    path[child[e]] = 0.0
            continue
        total = 0.0
        for e in range(start, end):
            c = child[e]
            gain = 0.0 if c < 0 else to_parent(value[c]) - static_eval[i]
            odd = 0.0
            if c < 0 or focus == 0 or gain > -1 - static_eval[i] - 1e-9:  # the move does not lose by force
                odd = weight[e] * np.exp(focus * gain)
            odds[e - start] = odd
            total += odd
        if i == 0 and lines > 1 and width[0] > 1:
            # If several lines are requested, the best moves, one for each line, get equal shares.
            ascending = np.sort(odds[: end - start])
            at = max(0, end - start - lines)
            while ascending[at] == 0 and at < end - start - 1:
                at += 1
            level = ascending[at]
            total = 0.0
            for k in range(end - start):
                odds[k] = min(odds[k], level)
                total += odds[k]
        for e in range(start, end):
            share = here * odds[e - start] / total if total > 0 else 0.0
            if child[e] >= 0:
                path[child[e]] = share
            elif nodes.ply[i] < max_ply and share > 0:
                if mark[e]:
                    share = 1.0 if mark[e] == MATE else min(1.0, share * tactical_factor)
                edges[count], parents[count], shares[count] = e, i, share
                count += 1
    return count


class Tree:
    """The nodes and edges of one search, with at most `max_nodes` nodes. The attributes are arrays with the same names
    as in Nodes.
    """

    def __init__(self, max_nodes: int, entry: TableEntry, position: SearchPosition):
        self.max_nodes = max_nodes
        self.n, self.edges = 0, 0
        self.positions: list[SearchPosition] = []
        self.parent, self.ply = np.zeros(256, np.int32), np.zeros(256, np.int32)
        self.first, self.move_count, self.width = (
            np.zeros(256, np.int64),
            np.zeros(256, np.int32),
            np.zeros(256, np.int32),
        )
        self.static_eval, self.final = np.zeros(256), np.zeros(256, np.bool_)
        self.value, self.size, self.best = np.zeros(256), np.zeros(256, np.int32), np.zeros(256, np.int64)
        self.path = np.zeros(256)
        self.move, self.weight = np.zeros(8192, np.uint16), np.zeros(8192, np.float32)
        self.mark, self.child = np.zeros(8192, np.uint8), np.zeros(8192, np.int32)
        self.add(-1, -1, position, entry)

    @property
    def full(self) -> bool:
        """Whether the tree has the largest allowed number of nodes."""
        return self.n >= self.max_nodes

    def add(self, parent: int, edge: int, position: SearchPosition, entry: TableEntry) -> None:
        """Add a node for a position to the tree. parent: the parent's index. edge: the edge from the parent that leads
        to the position; -1 for the root. entry: the evaluation of the position.
        """
        i, at, k = self.n, self.edges, len(entry.moves)
        while i >= len(self.parent):
            for name in (
                "parent",
                "ply",
                "first",
                "move_count",
                "width",
                "static_eval",
                "final",
                "value",
                "size",
                "best",
                "path",
            ):
                setattr(self, name, np.concatenate([getattr(self, name)] * 2))
        while at + k > len(self.move):
            for name in ("move", "weight", "mark", "child"):
                setattr(self, name, np.concatenate([getattr(self, name)] * 2))
        self.positions.append(position)
        self.parent[i], self.ply[i] = parent, 0 if parent < 0 else self.ply[parent] + 1
        self.first[i], self.move_count[i], self.width[i] = at, k, entry.width
        self.static_eval[i], self.final[i] = entry.value, entry.final
        self.move[at : at + k], self.weight[at : at + k] = entry.moves, entry.weights
        self.mark[at : at + k], self.child[at : at + k] = entry.marks, -1
        if edge >= 0:
            self.child[edge] = i
        self.n, self.edges = i + 1, at + k

    def arrays(self) -> Nodes:
        """Return the arrays of the tree, for compiled functions."""
        return Nodes(*(getattr(self, name) for name in Nodes._fields))

    def backup(self, uncertainty: float) -> None:
        """Update the value of every node from the values of its children (negamax).

        A node chooses the child with the largest value for the side to move at the node, minus this penalty:
        `uncertainty · ln(largest weight / weight of the move) / √(evaluations below the child)`

        There is no penalty if the rules decide the child's value. Normally, the node takes the value of its chosen
        child. There is one exception: some moves aren't expanded, and the chosen child is worse than the node's static
        evaluation. Then the node takes this mean: `p · value of the child + (1 − p) · static evaluation`. Here p is the
        total probability of the expanded moves, as a share of all moves to search.
        """
        _backup(self.n, self.arrays(), uncertainty)

    def frontier(
        self, focus: float, tactical_factor: float, max_ply: int, min_path: float, lines: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Return the moves that are not expanded yet (have no node), as three arrays: the edge of each move, int64 [n];
        the node from which the move leads, int64 [n]; and the probability of its path from the root, float64 [n].

        The probability of a path is the product of its moves' probabilities. If the last move is tactical, the product
        is multiplied by `tactical_factor`, up to at most 1. If the last move mates, the probability of the path is 1.

        A move's probability at its node is proportional to weight · exp(`focus` · gain). The weight is the entry in
        `Nodes.weight`. The gain is the value of the move minus the static evaluation of the node; it is 0 if the move
        is not expanded.

        Moves are excluded at and below these nodes: nodes at `max_ply`, nodes whose path has a probability less than
        `min_path`, and nodes with a proven (certain) result. With `focus` 0, nodes with a result that the search has
        proven are not excluded. lines: the number of lines to report. If there are several, the best moves of the root,
        one for each line, get equal probabilities.
        """
        capacity = int(self.width[: self.n].sum())
        edges, parents, shares = np.empty(capacity, np.int64), np.empty(capacity, np.int64), np.empty(capacity)
        count = _select(self.n, self.arrays(), focus, max_ply, min_path, lines, tactical_factor, edges, parents, shares)
        return edges[:count], parents[:count], shares[:count]

    def sorted_moves(self, uncertainty: float) -> list[tuple[int, float]]:
        """Return the moves of the root, the best first, each as a pair of its edge and its value.

        First come the expanded moves, by their value minus the penalty of `backup` with this `uncertainty`. Then come
        the other moves, the most likely first. All these other moves have the same value: the minimum of the root's
        static evaluation and the values of the expanded moves.
        """
        edges = range(int(self.first[0]), int(self.first[0] + self.width[0]))
        scored = []
        for edge in edges:
            node = int(self.child[edge])
            if node >= 0:
                value = to_parent(float(self.value[node]))
                penalty = uncertainty * math.log(self.weight[edges[0]] / self.weight[edge]) / math.sqrt(self.size[node])
                sure = abs(value) > 1 or self.final[node]
                scored.append((value if sure else value - penalty, -edge, edge, value))
        scored.sort(reverse=True)
        expanded = [(edge, value) for *_, edge, value in scored]
        rest = min([float(self.static_eval[0]), *(value for _, value in expanded)])
        return expanded + [(edge, rest) for edge in edges if self.child[edge] < 0]

    def consider(self, edge: int) -> int:
        """Include an unexpanded move of the root in the search, even if the move was too unlikely. edge: the edge of
        the move. Returns the move's new edge, because the edges that are searched must be the first ones of the root.
        """
        there = int(self.first[0] + self.width[0])
        if edge < there:
            return edge
        for values in (self.move, self.weight, self.mark):
            values[[edge, there]] = values[[there, edge]]
        self.width[0] += 1
        return there

    def repeats(self, parent: int, position: SearchPosition) -> bool:
        """Return whether a position after the node `parent` is the same as an earlier position on the path from the
        root.
        """
        if position.clock < 4:
            return False
        node, back_to = parent, self.ply[parent] + 1 - position.clock
        while node >= 0 and self.ply[node] >= back_to:
            if self.positions[node].key == position.key:
                return True
            node = int(self.parent[node])
        return False

    def line(self, node: int) -> list[int]:
        """Return the packed moves of the best line (principal variation) from a node on."""
        moves: list[int] = []
        while self.best[node] >= 0:
            moves.append(int(self.move[self.best[node]]))
            node = int(self.child[self.best[node]])
        if self.final[node] and self.move_count[node]:  # a node with a mate in one has no child; its move is the mate
            moves.append(int(self.move[self.first[node]]))
        return moves
