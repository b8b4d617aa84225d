"""A PUCT search for any game. It has a tree and a cache of evaluations, and a network evaluates leaves in batches. The
interface `SearchRules` has everything that depends on the game.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kibitz.play.puct.cache import EvaluationCache, empty_cache, forget
from kibitz.play.puct.tree import (
    DRAW,
    LOSS,
    UNKNOWN,
    WIN,
    Constants,
    PuctTree,
    abandon,
    cut_out,
    empty_tree,
    expand_all,
    reserve,
    select,
    settle,
    trimmed,
    with_room,
)

MAX_IDLE = 100
"""A search ends if this number of batches in a row needed no evaluation, because every path ended at a node whose
result is proven.
"""
_CACHE_SHARE = 8
_SMALL = 1 << 15, 1 << 10
"""Number of nodes and of positions that a tree has room for at first."""
_LEAST = 1 << 21
"""Every tree may grow to about this size in bytes, even if the limit of the search is smaller."""
_MUCH, _HALF = 0.9, 0.6
"""The largest share of the nodes and of the positions that may remain after a full tree is cut: _MUCH of the nodes, and
_HALF of the positions if leaves keep their positions.
"""
_MOST_VISITS = 2_000_000_000
"""Number of visits of the root at which a search ends, because visits are 32-bit numbers."""


class Entered(NamedTuple):
    """What the search must know about n positions, for example the positions after n moves.

    rows: uint8 [n, width], the positions.
    keys: uint64 [n], the keys of the cache: equal for positions for which the network gives the same outputs.
    ended: int8 [n]. UNKNOWN: the game continues. LOSS or DRAW: the result for the side to move. WIN: the only listed
        move ends and wins the game. SCORED: the game is over, and `values` has the value. FORBIDDEN: the move was not
        allowed.
    moves, offsets: the legal moves of all positions, uint16 [total], and the index at which each position's moves
        begin, int64 [n + 1].
    again: uint64 [n], keys for repetitions: equal if a position repeats an earlier one by the rules.
    values: float32 [n], the values for the side to move. The shape may be [0] if no position is SCORED.
    """

    rows: NDArray[np.uint8]
    keys: NDArray[np.uint64]
    ended: NDArray[np.int8]
    moves: NDArray[np.uint16]
    offsets: NDArray[np.int64]
    again: NDArray[np.uint64]
    values: NDArray[np.float32]


class SearchRules(Protocol):
    """The interface between the PUCT search and a game: its rules and a network.

    width: the number of uint8 values in a position's row.
    tail: the number of values at the end of the row that `evaluate` fills with network outputs.
    repetition: the result of a repeated position, DRAW or FORBIDDEN.
    usual: the typical number of moves of a position.
    most: the largest number of moves of a node below the root. Only the most likely moves are searched.
    """

    width: int
    tail: int
    repetition: int
    usual: int
    most: int

    def enter(self, rows: NDArray[np.uint8], moves: NDArray[np.uint16]) -> Entered:
        """Return the positions after one legal move in each given position, with their legal moves. rows: uint8 [n,
        width], which may be overwritten. moves: uint16 [n].

        Positions with the same key must always have their moves in the same order.
        """

    def condense(self, tree: PuctTree, least: int) -> None:
        """Prepare a tree for `tree.cut_out`, which removes the subtrees below some nodes: the nodes below the root with
        fewer than `least` visits and no proven (certain) result.

        The last part of a node's row is its tail, which has network outputs. For each of these nodes, the method
        computes the mean of the tails in the node's subtree, weighted by visits, and writes it to the node's tail. This
        method is called only if rows have tails.
        """

    def evaluate(
        self, rows: NDArray[np.uint8], moves: NDArray[np.uint16], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return two arrays. The first has the values of positions for the side to move, float32 [n], −1 to 1. The
        second has the priors (probabilities) of their moves, float32 [total], which sum to 1 in each position.

        The method also writes further network outputs to the last `tail` numbers of each row. rows: uint8 [n, width].
        moves: uint16 [total], the legal moves of all positions. offsets: int64 [n + 1], the index at which each
        position's moves begin.
        """


@dataclass(frozen=True)
class BatchSizes:
    """How many leaves of the search tree the network evaluates in one batch.

    A batch has one leaf for each `visits` visits of the root, but at least `least` and at most `most` leaves.
    """

    least: int = 8
    most: int = 64
    visits: int = 8

    def of(self, visits: int) -> int:
        """Return the batch size for a root with this number of visits."""
        return min(self.most, max(self.least, visits // self.visits))


class PuctSearch:
    """A PUCT search, with a growing tree and a cache of the network's evaluations.

    rules: the rules of the game, and the network. constants: the constants of the formula that selects moves. size: the
    bytes for tree and cache together, at least about 2 MB. When the tree is full, the subtrees with the fewest visits
    are removed.
    """

    def __init__(self, rules: SearchRules, constants: Constants, size: int):
        self.rules, self.constants = rules, constants
        self.cache: EvaluationCache = empty_cache(size // _CACHE_SHARE, rules.usual, rules.tail)
        self.limit = size - size // _CACHE_SHARE
        self.tree: PuctTree = empty_tree(1, 1, rules.width)
        self.evaluated = 0
        """The number of positions that the network evaluated, in total."""
        self.was_full = False
        """Whether the tree was cut since its beginning."""
        self._idle = 0

    def drop_tree(self) -> None:
        """Clear the tree, but not the cache of evaluations."""
        self.tree = empty_tree(1, 1, self.rules.width)

    def forget(self) -> None:
        """Clear the tree and the cache of evaluations."""
        self.drop_tree()
        self.forget_evaluations()

    def forget_evaluations(self) -> None:
        """Clear the cache of evaluations, but not the tree."""
        self.cache.begins[:] = -1
        self.cache.end[0] = 0

    def begin(self, root: Entered, whole: bool = True) -> None:
        """Begin a new tree, and evaluate its root. root: one position that has moves. whole: whether `root.moves` are
        all legal moves of the position, and not a selection.
        """
        self.tree = tree = empty_tree(*_SMALL, self.rules.width)
        self.was_full = False
        tree.size[0] = 1
        tree.parent[0], tree.pending[0] = -1, 1
        if not whole:
            forget(self.cache, int(root.keys[0]))
        open_ = root._replace(
            ended=np.where(root.ended == WIN, WIN, UNKNOWN).astype(np.int8)
        )  # the game may continue although the rules allow a draw
        self._enter(np.zeros(1, np.int64), open_, np.empty(0, np.uint64))
        if not whole:
            forget(self.cache, int(root.keys[0]))

    def plies_to(self, key: int) -> int:
        """Return the depth in the tree, 0 to 2, at which a position is; -1 if it is not among the first two plies of
        the tree. key: the position's key (a 64-bit hash) for repetitions.
        """
        tree, node, plies = self.tree, _find(self.tree, key), 0
        while node > 0:
            node, plies = int(tree.parent[node]), plies + 1
        return plies if node == 0 else -1

    def note_draws(self, often: NDArray[np.uint64]) -> None:
        """Visit the moves of the root that lead to an immediate draw by the rules. The search could overlook these
        moves, because their predicted probabilities may be very small.

        If no other move was visited, the most likely one is visited too, so that a draw isn't the only known move.
        often: uint64, the keys (64-bit hashes) of positions of the game that are drawn if they occur again.
        """
        tree = self.tree
        moves = children(tree, 0)
        moves = moves[(tree.visits[moves] == 0) & (tree.proven[moves] == UNKNOWN)]
        if not len(moves):
            return
        entered = self.rules.enter(tree.rows[tree.row[tree.parent[moves]]], tree.move[moves])
        drawn = moves[(entered.ended == DRAW) | ((entered.ended != LOSS) & np.isin(entered.again, often))]
        if not len(drawn):
            return
        self.visit(drawn, often)
        tree = self.tree  # reserve may have copied the tree to make room
        others = children(tree, 0)
        others = others[tree.proven[others] == UNKNOWN]
        if len(others) and not self.solved and not tree.visits[others].any():
            self.visit(others[[int(np.argmax(tree.prior[others]))]], often)

    def go_on(self, key: int) -> bool:
        """Continue with a later position of the game: its node becomes the root of the tree, and the rest of the tree
        is removed. Returns False, and changes nothing, if the position is not among the first two plies of the tree.

        key: the position's key (a 64-bit hash) for repetitions.
        """
        tree = self.tree
        node = _find(tree, key)
        if node < 0:
            return False
        if node:
            new_tree = empty_tree(len(tree.visits), len(tree.rows), self.rules.width)
            cut_out(tree, node, new_tree)
            self.tree = new_tree
        return True

    def grow(self, size: int, often: NDArray[np.uint64]) -> bool:
        """Select up to `size` leaves of the tree and evaluate them. Returns False if nothing is left to search, or if
        the tree has no room.

        often: uint64, the keys (64-bit hashes) of positions of the game that are drawn, or not allowed, if they occur
        again.
        """
        tree = self.tree
        leaves = np.empty(size, np.int64)
        before = int(tree.visits[0])
        if before > _MOST_VISITS:
            return False
        leaves = leaves[: select(tree, self.constants, size, leaves)]
        if not len(leaves):
            self._idle += 1
            return int(tree.visits[0]) > before and self._idle < MAX_IDLE
        self._idle = 0
        return self._visit(leaves, often) or self._cut()

    def visit_children(self, most: int, often: NDArray[np.uint64]) -> bool:
        """Evaluate up to `most` unvisited moves of the root, the most likely first. Returns False if there are no such
        moves, or if the tree has no room.

        often: uint64, the keys (64-bit hashes) of positions of the game that are drawn, or not allowed, if they occur
        again.
        """
        tree = self.tree
        moves = children(tree, 0)
        moves = moves[tree.visits[moves] == 0]
        if not len(moves):
            return False
        return self.visit(moves[np.argsort(-tree.prior[moves], kind="stable")][:most], often)

    def visit(self, nodes: NDArray[np.int64], often: NDArray[np.uint64]) -> bool:
        """Evaluate the given moves of the root, even if they are unlikely. Returns False if the tree has no room.
        nodes: int64, the indices of the moves' nodes in the tree.

        often: uint64, the keys (64-bit hashes) of positions of the game that are drawn, or not allowed, if they occur
        again.
        """
        reserve(self.tree, nodes)
        if self._visit(nodes, often):
            return True
        if not self._cut():
            return False
        reserve(self.tree, nodes)  # children of the root keep their slots
        return self._visit(nodes, often)

    def _cut(self) -> bool:
        """Make room: turn half of the inner nodes, those with the fewest visits, into leaves. Returns False if this
        frees too little.

        The leaves keep their rows if rows have tails, so that their visits still count.
        """
        tree, n, positions = self.tree, int(self.tree.size[0]), int(self.tree.size[1])
        inner = (tree.first[1:n] >= 0) & (tree.proven[1:n] == UNKNOWN)
        if not inner.any():
            return False
        least, keeps = int(np.median(tree.visits[1:n][inner])) + 1, bool(self.rules.tail)
        cut_tree = self._cut_to(least)
        while keeps and cut_tree.size[1] > positions * _HALF and least < tree.visits[0]:
            least *= 2
            cut_tree = self._cut_to(least)
        if keeps:
            self.rules.condense(tree, least)
            # The copy is only as large as its content. The rest of the memory can then be used for nodes or positions,
            # as needed.
            cut_tree = trimmed(self._cut_to(least))
        self.tree, self.was_full = cut_tree, True
        return int(cut_tree.size[0]) < n * _MUCH

    def _cut_to(self, least: int) -> PuctTree:
        """Return the tree without the subtrees of nodes with fewer than `least` visits."""
        new_tree = empty_tree(len(self.tree.visits), len(self.tree.rows), self.rules.width)
        cut_out(self.tree, 0, new_tree, least, bool(self.rules.tail))
        return new_tree

    def _visit(self, leaves: NDArray[np.int64], often: NDArray[np.uint64]) -> bool:
        """Evaluate selected leaves; return False if there is no room for them."""
        tree = self.tree
        entered = self.rules.enter(tree.rows[tree.row[tree.parent[leaves]]], tree.move[leaves])
        bigger = with_room(tree, len(entered.moves), len(leaves), max(self.limit, _LEAST))
        if bigger is None:
            abandon(tree, leaves)
            return False
        self.tree = bigger
        self._enter(leaves, entered, often)
        return True

    def _enter(self, leaves: NDArray[np.int64], entered: Entered, often: NDArray[np.uint64]) -> None:
        """Set the positions of the leaves, and run the network for those that need an evaluation."""
        rows, keys, ended, moves, offsets, again, values = entered
        tree, cache, rules = self.tree, self.cache, self.rules
        n = settle(
            tree, cache, rules.most, often, rules.repetition, leaves, keys, again, ended, values, rows, moves, offsets
        )
        if n:
            rows, keys, again, offsets = rows[:n], keys[:n], again[:n], offsets[: n + 1]
            moves = moves[: offsets[n]]
            values, priors = rules.evaluate(rows, moves, offsets)
            expand_all(tree, cache, rules.most, leaves[:n], keys, again, rows, values, moves, priors, offsets)
            self.evaluated += n

    @property
    def solved(self) -> bool:
        """Whether the search has proven the result of the root position, such as a forced mate."""
        return bool(self.tree.proven[0] != UNKNOWN)


def children(tree: PuctTree, node: int) -> NDArray[np.int64]:
    """Return the indices of the nodes after a node's moves (its children), int64."""
    return np.arange(tree.first[node], tree.first[node] + tree.children[node])


def _find(tree: PuctTree, key: int) -> int:
    """Return the expanded root, or a node up to two moves below it, whose key for repetitions is `key`; -1 for none."""
    if tree.first[0] < 0:
        return -1
    level = [0]
    for _ in range(3):
        for node in level:
            if int(tree.key[node]) == key:
                return node
        level = [int(child) for node in level for child in children(tree, node) if tree.first[child] >= 0]
    return -1
