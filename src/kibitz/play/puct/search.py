"""PUCT of any game: a tree, a cache, and batches of leaves for a network, behind the small seam `SearchRules`."""

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
"""Batches in a row in which every way ended at a proven node, after which a search ends: little is left to see."""
_CACHE_SHARE = 8
_SMALL = 1 << 15, 1 << 10
"""Nodes and positions for which a tree has room at first."""
_LEAST = 1 << 21
"""Bytes of such a tree, about, which any tree may have."""
_MUCH, _HALF = 0.9, 0.6
"""Share of a full tree's nodes that may be left where it is worth while to go on; and of its positions, about half,
where leaves keep them."""
_MOST_VISITS = 2_000_000_000
"""Visits of the root at which a search ends: more are not counted in 32 bits."""


class Entered(NamedTuple):
    """Positions that were reached: rows uint8 [n, width]; keys uint64 [n], of positions of which the network says the
    same; ended int8 [n] (UNKNOWN; LOSS or DRAW for the side to move; WIN: its one move ends and wins the game; SCORED:
    the game is over with a value; FORBIDDEN: the move was not allowed); of all positions legal moves and where each
    one's begin [n + 1]; again uint64 [n]: keys of positions that count as the same where one repeats; values float32
    [n], for the side to move, or [0] where none is SCORED."""

    rows: NDArray[np.uint8]
    keys: NDArray[np.uint64]
    ended: NDArray[np.int8]
    moves: NDArray[np.uint16]
    offsets: NDArray[np.int64]
    again: NDArray[np.uint64]
    values: NDArray[np.float32]


class SearchRules(Protocol):
    """What the search needs of a game and of a network for it.

    width: uint8 numbers that a position takes; tail: how many of them, at its end, `evaluate` fills in with what else
    the network said. repetition: what a position that occurs again is, DRAW or FORBIDDEN. usual: moves of a position,
    about; most: of them so many, the likeliest, are followed from a position below the root.
    """

    width: int
    tail: int
    repetition: int
    usual: int
    most: int

    def enter(self, rows: NDArray[np.uint8], moves: NDArray[np.uint16]) -> Entered:
        """The positions after one legal move in each of the rows, which may be overwritten. The moves of a position
        with the same key always come in the same order."""

    def condense(self, tree: PuctTree, least: int) -> None:
        """Have the tails of nodes below the root with fewer visits, and nothing proven, tell the mean over their
        visits, before what is below them is cut. Called where there are tails."""

    def evaluate(
        self, rows: NDArray[np.uint8], moves: NDArray[np.uint16], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Values [n] for the side to move, −1..1, and the moves' priors, which sum to 1 over those of a position. The
        tails of the rows are written."""


@dataclass(frozen=True)
class BatchSizes:
    """Leaves that are evaluated at once: one for each `visits` visits of the root, between `least` and `most`."""

    least: int = 8
    most: int = 64
    visits: int = 8

    def of(self, visits: int) -> int:
        """The size where the root has so many visits."""
        return min(self.most, max(self.least, visits // self.visits))


class PuctSearch:
    """A tree that grows, and what the network said of earlier positions. Where it is full, its least visited parts
    go.

    constants: of the selection; size: bytes for tree and cache together (at least about 2 MB are taken).
    """

    def __init__(self, rules: SearchRules, constants: Constants, size: int):
        self.rules, self.constants = rules, constants
        self.cache: EvaluationCache = empty_cache(size // _CACHE_SHARE, rules.usual, rules.tail)
        self.limit = size - size // _CACHE_SHARE
        self.tree: PuctTree = empty_tree(1, 1, rules.width)
        self.evaluated = 0
        """Positions that the network evaluated, in all."""
        self.was_full = False
        """Whether the tree was cut back since it began."""
        self._idle = 0

    def drop_tree(self) -> None:
        """Forget the tree."""
        self.tree = empty_tree(1, 1, self.rules.width)

    def forget(self) -> None:
        """Forget the tree and the cache."""
        self.drop_tree()
        self.forget_evaluations()

    def forget_evaluations(self) -> None:
        """Forget the cache."""
        self.cache.begins[:] = -1
        self.cache.end[0] = 0

    def begin(self, root: Entered, whole: bool = True) -> None:
        """Begin a new tree. root: one position in which moves are possible; whole: these are all moves in it."""
        self.tree = tree = empty_tree(*_SMALL, self.rules.width)
        self.was_full = False
        tree.size[0] = 1
        tree.parent[0], tree.pending[0] = -1, 1
        if not whole:
            forget(self.cache, int(root.keys[0]))
        open_ = root._replace(
            ended=np.where(root.ended == WIN, WIN, UNKNOWN).astype(np.int8)
        )  # a draw by the rules may be played on
        self._enter(np.zeros(1, np.int64), open_, np.empty(0, np.uint64))
        if not whole:
            forget(self.cache, int(root.keys[0]))

    def plies_to(self, key: int) -> int:
        """How far below the root a position with this key (of `again`) stands, 0 to 2; -1 where none does."""
        tree, node, plies = self.tree, _find(self.tree, key), 0
        while node > 0:
            node, plies = int(tree.parent[node]), plies + 1
        return plies if node == 0 else -1

    def note_draws(self, often: NDArray[np.uint64]) -> None:
        """Visit the moves of the root that draw at once by the rules; a policy may never look at them. Where no other
        move was looked at the likeliest is, too, so that a draw is not the one move that is known of."""
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
        tree = self.tree  # it may have been copied to make room
        others = children(tree, 0)
        others = others[tree.proven[others] == UNKNOWN]
        if len(others) and not self.solved and not tree.visits[others].any():
            self.visit(others[[int(np.argmax(tree.prior[others]))]], often)

    def go_on(self, key: int) -> bool:
        """Go on with the part of the tree whose root has this key (of `again`), if it is the root or one or two moves
        below it."""
        tree = self.tree
        node = _find(tree, key)
        if node < 0:
            return False
        if node:
            kept = empty_tree(len(tree.visits), len(tree.rows), self.rules.width)
            cut_out(tree, node, kept)
            self.tree = kept
        return True

    def grow(self, size: int, often: NDArray[np.uint64]) -> bool:
        """Evaluate up to so many leaves; False where nothing is left to look at, or no room.

        often: keys of positions of the game that are drawn, or not allowed, when they occur again.
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
        """Evaluate up to so many moves of the root that were not visited, the likeliest first; False where there are
        none, or no room."""
        tree = self.tree
        moves = children(tree, 0)
        moves = moves[tree.visits[moves] == 0]
        if not len(moves):
            return False
        return self.visit(moves[np.argsort(-tree.prior[moves], kind="stable")][:most], often)

    def visit(self, nodes: NDArray[np.int64], often: NDArray[np.uint64]) -> bool:
        """Evaluate these moves of the root, however unlikely; False where there is no room for them."""
        reserve(self.tree, nodes)
        if self._visit(nodes, often):
            return True
        if not self._cut():
            return False
        reserve(self.tree, nodes)  # children of the root keep their slots
        return self._visit(nodes, often)

    def _cut(self) -> bool:
        """Make room: half of the tree's inner nodes, the least visited, become leaves again, which keep their rows
        where these have tails, so that their visits count. False where that is little."""
        tree, n, positions = self.tree, int(self.tree.size[0]), int(self.tree.size[1])
        inner = (tree.first[1:n] >= 0) & (tree.proven[1:n] == UNKNOWN)
        if not inner.any():
            return False
        least, keeps = int(np.median(tree.visits[1:n][inner])) + 1, bool(self.rules.tail)
        kept = self._cut_to(least)
        while keeps and kept.size[1] > positions * _HALF and least < tree.visits[0]:
            least *= 2
            kept = self._cut_to(least)
        if keeps:
            self.rules.condense(tree, least)
            kept = trimmed(self._cut_to(least))  # so that nodes and positions share the room as they need it
        self.tree, self.was_full = kept, True
        return int(kept.size[0]) < n * _MUCH

    def _cut_to(self, least: int) -> PuctTree:
        """The tree without what is below nodes of fewer visits."""
        kept = empty_tree(len(self.tree.visits), len(self.tree.rows), self.rules.width)
        cut_out(self.tree, 0, kept, least, bool(self.rules.tail))
        return kept

    def _visit(self, leaves: NDArray[np.int64], often: NDArray[np.uint64]) -> bool:
        """Evaluate selected leaves; False where there is no room for them."""
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
        """Give the leaves their positions, and the network what only it can tell."""
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
        """Whether the root's outcome is proven."""
        return bool(self.tree.proven[0] != UNKNOWN)


def children(tree: PuctTree, node: int) -> NDArray[np.int64]:
    """The slots of a node's children."""
    return np.arange(tree.first[node], tree.first[node] + tree.children[node])


def _find(tree: PuctTree, key: int) -> int:
    """The expanded root, or a node one or two moves below it, with a position of that key; -1 where there is none."""
    if tree.first[0] < 0:
        return -1
    level = [0]
    for _ in range(3):
        for node in level:
            if int(tree.key[node]) == key:
                return node
        level = [int(child) for node in level for child in children(tree, node) if tree.first[child] >= 0]
    return -1
