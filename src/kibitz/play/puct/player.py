"""A chess player that searches by PUCT."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.errors import UsageError
from kibitz.games.chess.moves import from_move
from kibitz.games.chess.replay import SQUARES, START_WIDTH
from kibitz.play.chess.policy import move_probabilities, normalised
from kibitz.play.chess.score import STEP
from kibitz.play.puct import chess as rules
from kibitz.play.puct.tree import (
    BYTES,
    DRAW,
    LOSS,
    UNKNOWN,
    WIN,
    PuctTree,
    cut_out,
    empty_tree,
    end,
    expand,
    grown,
    repeats,
    select,
)
from kibitz.play.result import ProgressThrottle, SearchLimits, SearchResult, Tell, TimeManager, make_line
from kibitz.play.session import NetworkSession, Session
from kibitz.runs import Run

PUCT = "puct"
BATCH, FIRST_BATCH, SMALL = 16, 4, 100
"""Leaves evaluated at once, and while the tree has fewer than SMALL visits."""
SPREAD = 0.1
"""Value by which a move may be worse and be e times less probable, at temperature 1."""
MAX_IDLE = 100
"""Batches in a row in which every way ended at a proven node, after which a search ends: little is left to see."""
_MOST_CHILDREN = 218
_START = 1 << 15


@dataclass
class PuctSearch:
    """A tree with the positions of its nodes. rows uint8 [positions, 68]; used: how many of them."""

    tree: PuctTree
    rows: NDArray[np.uint8]
    used: int = 0


class PuctPlayer:
    """Chooses moves by PUCT with a network that predicts moves and values positions.

    session: the network; value: another one whose values are used instead. temperature: 0 plays the move with the most
    visits; T > 0 draws in proportion to visits^(1/T). lines: how many first choices to report. hash_mb: room for the
    tree. seed: of the draws; None: any. The tree is kept from move to move where the game goes on in it.
    Raises UsageError where the network lacks what is needed, and for settings out of range.
    """

    def __init__(
        self,
        session: NetworkSession,
        *,
        method: str | None = None,
        value: NetworkSession | None = None,
        temperature: float = 0.0,
        lines: int = 1,
        hash_mb: int = 64,
        seed: int | None = None,
        side_inputs: Mapping[str, int] | None = None,
    ):
        name = getattr(session, "name", "the network")
        if "origin" not in session.outputs:
            raise UsageError(f"{PUCT} needs a network that predicts moves, and {name} does not")
        self._policy, self._value = session, value or session
        if "value" not in self._value.outputs:
            raise UsageError(f"{PUCT} needs a value network, and {name} has none; name a run that has one")
        if lines < 1 or temperature < 0 or hash_mb < 1:
            raise UsageError("lines and hash must be at least 1, the temperature at least 0")
        self.method, self.temperature, self.lines = PUCT, temperature, lines
        self.capacity = max(_START, hash_mb * 1_000_000 // (BYTES + 4))
        self._random = np.random.default_rng(seed)
        self._search: PuctSearch | None = None
        self._idle = 0
        self.nodes = 0
        """Positions evaluated so far."""

    def new_game(self) -> None:
        """Forget the tree."""
        self._search = None

    def think(
        self, board: chess.Board, limits: SearchLimits, stop: threading.Event | None = None, tell: Tell | None = None
    ) -> SearchResult | None:
        """As ChessPlayer.think. limits.nodes: positions evaluated; limits.depth: plies of the principal line."""
        only = {from_move(move) for move in limits.moves}
        legal = [from_move(move) for move in board.legal_moves]
        if not legal or (only and not only & set(legal)):
            return None
        clock = TimeManager(limits, stop, self.nodes)
        search, seen = self._begin(board, only), rules.history(board)
        reports = ProgressThrottle(clock, (lambda result: None) if tell is None else tell)
        single = len(only & set(legal) if only else legal) == 1 and limits.seconds is not None
        while not single and not self._done(search, limits, clock):
            size = clock.batch(self.nodes, FIRST_BATCH if search.tree.visits[0] < SMALL else BATCH)
            if size == 0 or not self._grow(search, seen, size):
                break
            if reports.due():
                reports(*self._report(search, clock, self.lines))
        result, _ = self._report(search, clock, len(legal) if self.temperature else self.lines)
        return self._drawn(search, result) if self.temperature else result

    def _begin(self, board: chess.Board, only: set[int]) -> PuctSearch:
        """The tree of a position: a part of the last one where the game went on in it, else a new one."""
        entered = rules.start(board)
        key = int(entered.keys[0])
        old = self._search
        if old is not None and not only:
            node = _find(old.tree, key)
            if node >= 0 and old.tree.first[node] >= 0:
                self._search = old if node == 0 else _kept(old, node)
                return self._search
        search = PuctSearch(empty_tree(min(_START, self.capacity)), np.empty((1024, START_WIDTH), np.uint8))
        search.tree.size[0] = 1
        search.tree.parent[0], search.tree.pending[0] = -1, 1
        search.rows[0], search.used = entered.rows[0], 1
        if only:
            kept = np.isin(entered.moves, np.array(sorted(only), np.uint16))
            moves = entered.moves[kept]
            entered = entered._replace(moves=moves, offsets=np.array([0, len(moves)]))
        self._expand(search, np.zeros(1, np.int64), np.zeros(1, np.int32), entered, np.zeros(1, np.intp))
        self._search = None if only else search
        return search

    def _grow(self, search: PuctSearch, seen: Counter[int], size: int) -> bool:
        """Evaluate up to so many leaves; False where nothing is left to look at, or no room."""
        if not self._room(search, size):
            return False
        tree = search.tree
        leaves = np.empty(size, np.int64)
        before = int(tree.visits[0])
        leaves = leaves[: select(tree, size, leaves)]
        if not len(leaves):
            self._idle += 1
            return int(tree.visits[0]) > before and self._idle < MAX_IDLE
        self._idle = 0
        entered = rules.enter(search.rows[tree.row[tree.parent[leaves]]], tree.move[leaves])
        drawn = [
            seen[key] > 1 or repeats(tree, leaf, key) for leaf, key in zip(leaves.tolist(), entered.keys, strict=True)
        ]
        ended = np.where(drawn & (entered.ended != LOSS), DRAW, entered.ended)
        open_ = np.flatnonzero(ended == UNKNOWN)
        for i in np.flatnonzero(ended != UNKNOWN):
            tree.key[leaves[i]] = entered.keys[i]
            end(tree, leaves[i], ended[i])
        if len(open_):
            rows = np.arange(search.used, search.used + len(open_), dtype=np.int32)
            search.rows[rows] = entered.rows[open_]
            search.used += len(open_)
            self._expand(search, leaves[open_], rows, entered, open_)
        return True

    def _expand(
        self, search: PuctSearch, leaves: NDArray[np.int64], rows: NDArray[np.int32], entered: rules.Entered,
        which: NDArray[np.intp],
    ) -> None:  # fmt: skip
        """Evaluate the entered positions `which`, in those leaves, and give them their children."""
        codes = np.ascontiguousarray(entered.rows[which, :SQUARES])
        state = np.ascontiguousarray(entered.rows[which, SQUARES:])
        counts = np.diff(entered.offsets)
        kept = np.repeat(np.isin(np.arange(len(counts)), which), counts)
        moves = entered.moves[kept]
        offsets = np.concatenate([[0], np.cumsum(counts[which])])
        answers = self._policy.evaluate(codes, state)
        valued = answers if self._value is self._policy else self._value.evaluate(codes, state)
        values = np.clip(np.nan_to_num(valued["value"]), -1, 1).astype(np.float32)
        priors = normalised(move_probabilities(answers, codes, moves, offsets), offsets)
        expand(search.tree, leaves, entered.keys[which], rows, values, moves, priors, offsets)
        self.nodes += len(which)

    def _room(self, search: PuctSearch, size: int) -> bool:
        """Make room for so many more positions; False where the tree may not grow further."""
        needed = int(search.tree.size[0]) + size * _MOST_CHILDREN
        if needed > len(search.tree.visits):
            if needed > self.capacity:
                return False
            search.tree = grown(search.tree, min(self.capacity, max(needed, 2 * len(search.tree.visits))))
        while search.used + size > len(search.rows):
            search.rows = np.concatenate([search.rows, np.empty_like(search.rows)])
        return True

    def _done(self, search: PuctSearch, limits: SearchLimits, clock: TimeManager) -> bool:
        """Whether more visits cannot change the answer, or the principal line is long enough."""
        tree = search.tree
        if tree.proven[0] != UNKNOWN:
            return True
        if limits.depth is not None and int(tree.visits[0]) > 1 and len(_line(tree, 0)) >= limits.depth:
            return True
        left = np.inf
        if limits.nodes is not None:
            left = limits.nodes - (self.nodes - clock.before)
        if limits.seconds is not None and clock.rate:
            left = min(left, (limits.seconds - clock.seconds()) * clock.rate * 1.3)
        if not np.isfinite(left) or self.lines > 1 or self.temperature:
            return False
        visits = np.sort(tree.visits[_children(tree, 0)])
        return len(visits) > 1 and visits[-1] - visits[-2] > left

    def _report(self, search: PuctSearch, clock: TimeManager, count: int) -> tuple[SearchResult, list[float]]:
        """What is known by now, the best moves first, and their values (see score.py)."""
        tree = search.tree
        children = _children(tree, 0)
        order = sorted(children.tolist(), key=lambda child: _rank(tree, child), reverse=True)[:count]
        lines, values = [], []
        for child in order:
            value = _value_for_parent(tree, child)
            lines.append(make_line(value, float(tree.prior[child]), [int(tree.move[child]), *_line(tree, child)]))
            values.append(value)
        nodes = self.nodes - clock.before
        return SearchResult(max(1, len(lines[0].pv)), nodes, clock.seconds(), tuple(lines)), values

    def _drawn(self, search: PuctSearch, result: SearchResult) -> SearchResult:
        """The result with a move drawn by visits in the first place; a forced mate is not given away."""
        lines = list(result.lines)
        if lines[0].mate is None or lines[0].mate <= 0:
            tree = search.tree
            visits = {int(tree.move[child]): int(tree.visits[child]) for child in _children(tree, 0)}
            counts = np.array([visits[from_move(line.move)] for line in lines], np.float64)
            odds = (counts / max(1.0, counts.max())) ** (1 / self.temperature)
            if odds.sum() > 0:
                first = int(self._random.choice(len(odds), p=odds / odds.sum()))
                lines.insert(0, lines.pop(first))
        return SearchResult(result.depth, result.nodes, result.seconds, tuple(lines[: self.lines]))


def _children(tree: PuctTree, node: int) -> NDArray[np.int64]:
    return np.arange(tree.first[node], tree.first[node] + tree.children[node])


def _rank(tree: PuctTree, child: int) -> tuple[float, ...]:
    """What orders moves: proven wins, the shorter the better; visits; proven losses, the longer the better."""
    proven, visits = tree.proven[child], int(tree.visits[child])
    value = _value_for_parent(tree, child)
    if proven in (LOSS, WIN):
        return (1 if proven == LOSS else -1, value, visits, 0.0)
    return (0, visits, value, float(tree.prior[child]))


def _value_for_parent(tree: PuctTree, child: int) -> float:
    """A child's value for the side that moves there from its parent, see score.py."""
    proven = tree.proven[child]
    if proven == LOSS:
        return 2 - (int(tree.plies[child]) + 1) * STEP
    if proven == WIN:
        return -2 + (int(tree.plies[child]) + 1) * STEP
    if proven == DRAW:
        return 0.0
    visits = int(tree.visits[child])
    return float(np.clip(-tree.total[child] / visits if visits else tree.value[tree.parent[child]], -1, 1))


def _line(tree: PuctTree, node: int) -> list[int]:
    """The moves that are most likely played from a node on, as far as they were visited."""
    moves: list[int] = []
    while tree.first[node] >= 0:
        children = _children(tree, node).tolist()
        node = max(children, key=lambda child: _rank(tree, child))
        if not tree.visits[node]:
            break
        moves.append(int(tree.move[node]))
    return moves


def _find(tree: PuctTree, key: int) -> int:
    """The root, or the node one or two moves below it, with a position of that key; -1 where there is none."""
    if int(tree.key[0]) == key:
        return 0
    for child in _children(tree, 0):
        if tree.first[child] >= 0:
            if int(tree.key[child]) == key:
                return int(child)
            for grandchild in _children(tree, int(child)):
                if tree.first[grandchild] >= 0 and int(tree.key[grandchild]) == key:
                    return int(grandchild)
    return -1


def _kept(old: PuctSearch, node: int) -> PuctSearch:
    """The part of a search below a node."""
    tree = empty_tree(len(old.tree.visits))
    cut_out(old.tree, node, tree)
    n = int(tree.size[0])
    here = np.flatnonzero(tree.row[:n] >= 0)
    rows = np.empty((max(1024, 2 * len(here)), old.rows.shape[1]), np.uint8)
    rows[: len(here)] = old.rows[tree.row[here]]
    tree.row[here] = np.arange(len(here), dtype=np.int32)
    return PuctSearch(tree, rows, len(here))


def open_player(run: Run, session: Callable[[], Session], **settings: Any) -> PuctPlayer:
    """The player of a run's network, see kibitz.play.open_player."""
    return PuctPlayer(session(), **settings)
