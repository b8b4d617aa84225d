"""A chess player that searches by PUCT."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.errors import UsageError
from kibitz.games.chess.moves import from_move
from kibitz.play.chess.bare_king import narrowed
from kibitz.play.chess.score import STEP
from kibitz.play.puct import chess as rules
from kibitz.play.puct.pace import batch_size, decided
from kibitz.play.puct.search import BatchSizes, PuctSearch, children
from kibitz.play.puct.tree import DRAW, LOSS, UNKNOWN, WIN, Constants, PuctTree
from kibitz.play.result import ProgressThrottle, PvLine, SearchLimits, SearchResult, Tell, TimeManager, make_line
from kibitz.play.session import NetworkSession, Session
from kibitz.runs import Run

PUCT = "puct"


SETTLED = 5_000
"""Visits after which a line that ends in what is proven counts as the one that is played."""


@dataclass(frozen=True)
class PuctTuning:
    """Constants of the selection, the policy's temperature and what captures count (see ChessRules), and the sizes of
    batches. As they stand here they were chosen by bench/search_quality.py, see docs/RESULTS-search.md."""

    constants: Constants = field(default_factory=Constants)
    temperature: float = 1.5
    batches: BatchSizes = field(default_factory=BatchSizes)
    captures: rules.CaptureWeights | None = field(default_factory=rules.CaptureWeights)


class PuctPlayer:
    """Chooses moves by PUCT with a network that predicts moves and values positions.

    session: the network; value: another one whose values are used instead. temperature: 0 plays the move with the most
    visits; T > 0 draws in proportion to visits^(1/T), from moves that are not known to lose. lines: how many first
    choices to report. hash_mb: room for the tree and for evaluations of a game (for a moment up to twice as much, while
    a tree is copied). seed: of the draws; None: any. The tree is kept from move to move where the game goes on in it.
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
        tuning: PuctTuning | None = None,
    ):
        name = getattr(session, "name", "the network")
        if "origin" not in session.outputs:
            raise UsageError(f"{PUCT} needs a network that predicts moves, and {name} does not")
        valued = value or session
        if "value" not in valued.outputs:
            raise UsageError(f"{PUCT} needs a value network, and {name} has none; name a run that has one")
        if lines < 1 or temperature < 0 or hash_mb < 1:
            raise UsageError("lines and hash must be at least 1, the temperature at least 0")
        self.method, self.temperature, self.lines = PUCT, temperature, lines
        self._random = np.random.default_rng(seed)
        self._tuning = tuning or PuctTuning()
        chess_rules = rules.ChessRules(session, valued, self._tuning.temperature, self._tuning.captures)
        self.search = PuctSearch(chess_rules, self._tuning.constants, hash_mb * 1_000_000)
        self._game: list[int] = []
        """Keys of the root and of the positions before it that may come again."""

    @property
    def nodes(self) -> int:
        """Positions evaluated so far."""
        return self.search.evaluated

    def new_game(self) -> None:
        """Forget the tree, and the evaluations of the last game."""
        self.search.forget()

    def think(
        self, board: chess.Board, limits: SearchLimits, stop: threading.Event | None = None, tell: Tell | None = None
    ) -> SearchResult | None:
        """As ChessPlayer.think. limits.nodes: positions evaluated; limits.depth: plies of the principal line."""
        if self.lines == 1 and not self.temperature:
            limits = narrowed(board, limits)
        only = {from_move(move) for move in limits.moves}
        legal = [from_move(move) for move in board.legal_moves]
        if not legal or (only and not only & set(legal)):
            return None
        clock = TimeManager(limits, stop, self.nodes)
        past = rules.history(board)
        often = rules.repeated(past)
        self._begin(board, only, past)
        self.search.note_draws(often)
        if mate := self._short_mate(often):
            result = SearchResult(len(mate.pv), self.nodes - clock.before, clock.seconds(), (mate,))
        else:
            result = self._search(limits, clock, often, tell, len(only & set(legal) if only else legal))
        if only:  # a tree without the other moves is of no use later
            self.search.drop_tree()
        return result

    def _search(
        self, limits: SearchLimits, clock: TimeManager, often: NDArray[np.uint64], tell: Tell | None, moves: int
    ) -> SearchResult:
        """Grow the tree within the limits. moves: how many there are at the root."""
        before = int(self.search.tree.visits[0])
        reports = ProgressThrottle(clock, (lambda result: None) if tell is None else tell)
        single = moves == 1 and limits.seconds is not None
        while not self._done(limits, clock, before):
            size = clock.batch(self.nodes, self._batch(clock))
            if size == 0 or not self.search.grow(size, often) or single:
                break
            if reports.due():
                reports(*self._report(clock, self.lines))
        result, _ = self._report(clock, moves if self.temperature else self.lines)
        return self._drawn(result) if self.temperature else result

    def _short_mate(self, drawn_keys: NDArray[np.uint64]) -> PvLine | None:
        """The line of a mate in one or two, if there is one and one line is asked for: the rules find it at once, where
        the policy of a network may not think of its quiet first move."""
        tree = self.search.tree
        if self.lines > 1 or self.search.solved:
            return None
        moves = tree.move[children(tree, 0)]
        found = rules.short_mate(tree.rows[tree.row[0]], moves, drawn_keys)
        if found is None:
            return None
        prior = float(tree.prior[children(tree, 0)[moves == found[0]][0]])
        return make_line(2 - len(found) * STEP, prior, list(found))

    def _begin(self, board: chess.Board, only: set[int], past: list[int]) -> None:
        """The tree of a position: a part of the last one where the game went on in it, else a new one."""
        root = rules.start(board, mates=not only and self.lines == 1)
        key = int(root.keys[0])
        game = [*past, key]
        goes_on = (
            not only and self._leads_to(game, board.halfmove_clock) and self.search.go_on(key)
        ) and self._is_same(root.rows[0])
        self._game = game
        # A node inside the tree that has a mate in one was given this move alone.
        if goes_on and (self.lines == 1 or int(self.search.tree.children[0]) == len(root.moves)):
            return
        if only:
            kept = np.isin(root.moves, np.array(sorted(only), np.uint16))
            moves = root.moves[kept]
            root = root._replace(moves=moves, offsets=np.array([0, len(moves)]))
        self.search.begin(root, whole=not only)

    def _leads_to(self, game: list[int], clock: int) -> bool:
        """Whether the game of the last root leads to this one through the tree: what repeats a position is proven there
        by the game that was."""
        plies, before = self.search.plies_to(game[-1]), self._game
        if plies < 0 or len(game) != min(clock + 1, len(before) + plies):
            return False
        shared = game[: max(0, len(game) - plies)]
        return not shared or shared == before[-len(shared) :]

    def _is_same(self, row: NDArray[np.uint8]) -> bool:
        """Whether the root is this position in all that counts, the fifty moves too, which its key leaves out."""
        return bool((self.search.tree.rows[self.search.tree.row[0]] == row).all())

    def _batch(self, clock: TimeManager) -> int:
        """How many leaves to evaluate at once."""
        return batch_size(self._tuning.batches, clock, int(self.search.tree.visits[0]))

    def _done(self, limits: SearchLimits, clock: TimeManager, before: int) -> bool:
        """Whether more visits cannot change the answer, or the principal line is long enough."""
        search, tree = self.search, self.search.tree
        if search.solved:
            return True
        if limits.depth is not None and int(tree.visits[0]) > 1 and self._is_deep(limits):
            return True
        if self.lines > 1 or self.temperature:
            return False
        return decided(tree, clock, self.nodes, before)

    def _is_deep(self, limits: SearchLimits) -> bool:
        """Whether the principal line is as long as asked, or gets no longer: it ends in what is proven after many
        visits, or memory was full and nothing else ends the search."""
        tree, line = self.search.tree, likely_nodes(self.search.tree, 0)
        if len(line) >= (limits.depth or 0):
            return True
        if line and tree.proven[line[-1]] != UNKNOWN and tree.visits[0] >= SETTLED:
            return True
        return self.search.was_full and limits.seconds is None and limits.nodes is None

    def _report(self, clock: TimeManager, count: int) -> tuple[SearchResult, list[float]]:
        """What is known by now, the best moves first, and their values (see score.py)."""
        tree = self.search.tree
        order = sorted(children(tree, 0).tolist(), key=lambda child: _rank(tree, child), reverse=True)[:count]
        lines, values = [], []
        for child in order:
            value = value_for_parent(tree, child)
            line = make_line(value, float(tree.prior[child]), [int(tree.move[child]), *likely_line(tree, child)])
            lines.append(replace(line, visits=int(tree.visits[child])))
            values.append(value)
        nodes = self.nodes - clock.before
        return SearchResult(max(1, len(lines[0].pv)), nodes, clock.seconds(), tuple(lines)), values

    def _drawn(self, result: SearchResult) -> SearchResult:
        """The result with a move drawn by visits in the first place; a forced mate is not given away."""
        lines = list(result.lines)
        if lines[0].mate is None or lines[0].mate <= 0:
            tree = self.search.tree
            visits = {int(tree.move[child]): int(tree.visits[child]) for child in children(tree, 0)}
            counts = np.array([visits[from_move(line.move)] for line in lines], np.float64)
            lost = np.array([line.mate is not None and line.mate < 0 for line in lines])
            if counts[~lost].any():
                counts[lost] = 0
            odds = (counts / max(1.0, counts.max())) ** (1 / self.temperature)
            if odds.sum() > 0:
                first = int(self._random.choice(len(odds), p=odds / odds.sum()))
                lines.insert(0, lines.pop(first))
        return SearchResult(result.depth, result.nodes, result.seconds, tuple(lines[: self.lines]))


def _rank(tree: PuctTree, child: int) -> tuple[float, ...]:
    """What orders moves: proven wins, the shorter the better; visits; proven losses, the longer the better."""
    proven, visits = tree.proven[child], int(tree.visits[child])
    value = value_for_parent(tree, child)
    if proven in (LOSS, WIN):
        return (1 if proven == LOSS else -1, value, visits, 0.0)
    return (0, visits, value, float(tree.prior[child]))


def value_for_parent(tree: PuctTree, child: int) -> float:
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


def likely_line(tree: PuctTree, node: int) -> list[int]:
    """The moves that are most likely played from a node on, as far as they were visited."""
    return [int(tree.move[child]) for child in likely_nodes(tree, node)]


def likely_nodes(tree: PuctTree, node: int) -> list[int]:
    """The nodes that those moves lead to."""
    nodes: list[int] = []
    while tree.first[node] >= 0:
        node = max(children(tree, node).tolist(), key=lambda child: _rank(tree, child))
        if not tree.visits[node]:
            break
        nodes.append(node)
    return nodes


def open_player(run: Run, session: Callable[[], Session], **settings: Any) -> PuctPlayer:
    """The player of a run's network, see kibitz.play.open_player."""
    return PuctPlayer(session(), **settings)
