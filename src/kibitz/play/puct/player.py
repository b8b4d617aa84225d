"""The class that chooses chess moves by a PUCT search."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.errors import UsageError
from kibitz.games.chess.moves import from_move
from kibitz.play.chess.bare_king import narrowed
from kibitz.play.chess.line_values import MoveCheck, check_moves, find_mate
from kibitz.play.chess.score import STEP, to_parent
from kibitz.play.puct import chess as rules
from kibitz.play.puct.pace import batch_size, decided
from kibitz.play.puct.search import BatchSizes, PuctSearch, SearchRules, children
from kibitz.play.puct.tree import DRAW, LOSS, UNKNOWN, WIN, Constants, PuctTree
from kibitz.play.result import OnResult, ProgressThrottle, PvLine, SearchLimits, SearchResult, TimeManager, make_line
from kibitz.play.session import NetworkSession, Session
from kibitz.runs import Run

PUCT = "puct"


TREE_SHARE = 0.5
"""The share of the search's limits that the tree gets, if several lines are reported. The remaining share is for the
lines after the first.
"""
LINES_SHARE = 0.5
"""The share of the time after the tree that the first check of the reported moves leaves for the other lines."""
CHECK_SHARE = 0.2
"""The share of the time left that the searches of the other lines leave for the last check."""
MATE_SHARE = 0.25
"""The largest share of the time that the search for a mate takes."""
ONE_CHECK_SHARE, ONE_CHECK_SECONDS = 0.05, 0.15
"""The share of the time for a search of one line that is reserved for the check of its move, and the largest number of
seconds.
"""
DRIVING_NODES = 200
"""The number of positions in the search for the first line against a bare king (a king without other pieces), if
several lines are reported without limits.
"""
LINE_BYTES = 4_000_000
"""The memory in bytes for the search of one line."""
LEAST_SECONDS = 0.2
"""A separate search for mates of more than two moves is made only if the time for a move is at least this number of
seconds.
"""
REPLY_VISITS = 4
"""The smallest number of visits of an opponent's reply whose value counts in `search_line`. The most visited reply
always counts.
"""
SETTLED = 5_000
"""The number of visits of the root after which a search with a depth limit ends, if its best line ends in a proven
result.
"""


@dataclass(frozen=True)
class LineValue:
    """The result of an additional search of one move of the root.

    value: the value from a search of the position after the move, from the mover's point of view, on the scale of
        `score.py`.
    visits: the number of visits of this search; 0 if there was none.
    line: the packed moves (see `kibitz.games.chess.moves.from_move`) that follow the move.
    check: what a check found about captures and mates after the move (see `MoveCheck`); None if the move was not
        checked.
    """

    value: float = 0.0
    visits: int = 0
    line: tuple[int, ...] = ()
    check: MoveCheck | None = None


NO_LINES: Mapping[int, LineValue] = MappingProxyType({})


@dataclass(frozen=True)
class RootMoves:
    """The moves of the root that the tree has visited. Their values come from the tree alone. If several lines are
    reported, additional searches of moves have no effect on these values.

    moves: uint16 [n], packed (see `kibitz.games.chess.moves.from_move`).
    values: float64 [n], -1 to 1, for the mover.
    visits: int64 [n], the number of visits.
    proven: bool [n], whether the tree has proven the result of each move, such as a forced mate.
    """

    moves: NDArray[np.uint16]
    values: NDArray[np.float64]
    visits: NDArray[np.int64]
    proven: NDArray[np.bool_]


NO_ROOT_MOVES = RootMoves(np.zeros(0, np.uint16), np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.bool_))


@dataclass(frozen=True)
class PuctTuning:
    """The parameters of the PUCT search in chess.

    constants: the constants of the formula that selects moves.
    temperature: the temperature of the predicted move probabilities; above 1, they become more equal.
    batches: the batch sizes.
    captures: the weights of captures (see ChessRules); None to leave the network's outputs unchanged.

    The defaults were chosen with bench/search_quality.py, see docs/results/history/search.md.
    """

    constants: Constants = field(default_factory=Constants)
    temperature: float = 1.5
    batches: BatchSizes = field(default_factory=BatchSizes)
    captures: rules.CaptureWeights | None = field(default_factory=rules.CaptureWeights)


class PuctPlayer:
    """Chooses chess moves by a PUCT search with a network that predicts moves and evaluates positions.

    session: the loaded network.
    value: a second network, whose values replace those of `session`; None for none.
    temperature: 0 plays the move with the most visits; T > 0 samples in proportion to visits^(1/T), from the moves that
        aren't known to lose.
    lines: the number of lines to report; a line is a move and its best continuation.
    hash_mb: the size of the tree and of the evaluations of a game, in megabytes. While a tree is copied, up to twice as
        much memory is used.
    seed: the random seed; None for an unpredictable one.

    If the game continues with moves in the tree, the next search keeps the part of the tree after these moves. Raises
    UsageError if the network lacks an output, and for settings out of range.
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
            raise UsageError(f"{PUCT} needs a network that predicts moves (got {name}). Choose another network.")
        valued = value or session
        if "value" not in valued.outputs:
            raise UsageError(f"{PUCT} needs a value network, and {name} has none. Choose a run that has one.")
        if lines < 1 or temperature < 0 or hash_mb < 1:
            raise UsageError("lines and hash must be at least 1, and the temperature at least 0")
        self.method, self.temperature, self.lines = PUCT, temperature, lines
        self._random = np.random.default_rng(seed)
        self._tuning = tuning or PuctTuning()
        chess_rules = rules.ChessRules(session, valued, self._tuning.temperature, self._tuning.captures)
        self.search = PuctSearch(chess_rules, self._tuning.constants, hash_mb * 1_000_000)
        self.opinion = 0.0
        """The value of the first move in the last search, -1 to 1, or a mate (score.py), without the check of
        material.
        """
        self.root_moves = NO_ROOT_MOVES
        """The moves that the tree of the last search has visited. A search for one line and a search for several lines
        have the same moves here if their trees have the same size. If there is a mate, only its first move is here. If
        only some moves were searched, there are none.
        """
        self._of_lines = 0  # number of positions evaluated outside of the tree, for lines after the first
        self._game: list[int] = []
        """Keys of the root and of the positions before it that may recur."""

    @property
    def nodes(self) -> int:
        """The number of positions that the network has evaluated so far."""
        return self.search.evaluated + self._of_lines

    def new_game(self) -> None:
        """Clear the tree and the evaluations of the last game, before a new game."""
        self.search.forget()

    def think(
        self,
        board: chess.Board,
        limits: SearchLimits,
        stop: threading.Event | None = None,
        on_result: OnResult | None = None,
    ) -> SearchResult | None:
        """Choose a move in a position. The arguments and the result are those of `ChessPlayer.think`.

        limits.nodes: the largest number of evaluated positions. limits.depth: the search ends when the best line has
        this length, in plies.
        """
        self.root_moves = NO_ROOT_MOVES
        driven = limits if self.temperature else narrowed(board, limits)
        if self.lines > 1 and driven is not limits:
            return self._with_driving_move(board, limits, driven, stop, on_result)
        limits = driven
        only = {from_move(move) for move in limits.moves}
        legal = [from_move(move) for move in board.legal_moves]
        if not legal or (only and not only & set(legal)):
            return None
        clock = TimeManager(limits, stop, self.nodes)
        past = rules.history(board)
        often = rules.repeated(past)
        self._begin(board, only, past)
        self.search.note_draws(often)
        with clock.reserving(1 - MATE_SHARE):
            mate = self._find_mate(board, limits, clock, often)
        if mate and self.lines == 1:
            self.opinion = 1.0
            result = SearchResult(len(mate.pv), self.nodes - clock.before, clock.seconds(), (mate,))
        elif mate:
            report = None if on_result is None else _reporting_first(on_result, mate, self.lines)
            result = self._search(limits, clock, often, report, len(only & set(legal) if only else legal))
            result = _with_first(result, mate, self.lines)
        else:
            result = self._search(limits, clock, often, on_result, len(only & set(legal) if only else legal))
        if only:  # a tree without the other moves can't be reused
            self.search.drop_tree()
            self.root_moves = NO_ROOT_MOVES
        elif mate:
            self.root_moves = RootMoves(
                np.array([from_move(mate.move)], np.uint16), np.ones(1), np.zeros(1, np.int64), np.ones(1, np.bool_)
            )
        return result

    def _with_driving_move(
        self, board: chess.Board, limits: SearchLimits, driven: SearchLimits, stop: threading.Event | None,
        on_result: OnResult | None,
    ) -> SearchResult | None:  # fmt: skip
        """Search several lines if a bare king can be mated. The first line has the move that a search for one line
        would play.
        """
        lines, self.lines = self.lines, 1
        endless = limits.nodes is None and limits.seconds is None and limits.depth is None
        own = replace(driven, nodes=DRIVING_NODES) if endless else _share(driven, 0.5)
        try:
            first = self.think(board, own, stop)
        finally:
            self.lines = lines
        others = tuple(move for move in board.legal_moves if move not in driven.moves)
        if first is None or not others:
            return first
        left = replace(
            limits, moves=others,
            nodes=None if limits.nodes is None else max(1, limits.nodes - first.nodes),
            seconds=None if limits.seconds is None else max(0.0, limits.seconds - first.seconds),
        )  # fmt: skip
        rest = self.think(
            board, left, stop, None if on_result is None else _reporting_first(on_result, first.lines[0], lines)
        )
        if rest is None:
            return first
        nodes, seconds = first.nodes + rest.nodes, first.seconds + rest.seconds
        return _with_first(replace(rest, nodes=nodes, seconds=seconds), first.lines[0], lines)

    def _search(
        self,
        limits: SearchLimits,
        clock: TimeManager,
        often: NDArray[np.uint64],
        on_result: OnResult | None,
        moves: int,
    ) -> SearchResult:
        """Grow the tree within the limits. moves: the number of moves at the root."""
        before = int(self.search.tree.visits[0])
        reports = ProgressThrottle(clock, (lambda result: None) if on_result is None else on_result)
        single = moves == 1 and limits.seconds is not None
        others = 0 if self.temperature else min(self.lines, moves) - 1
        clock.limits = _share(limits, TREE_SHARE) if others else _without_check_time(limits)
        found: dict[int, LineValue] = {}
        while not self._done(limits, clock, before):
            size = clock.batch(self.nodes, self._batch(clock))
            if size == 0 or not self.search.grow(size, often) or single:
                break
            if reports.due():
                # Without limits, the search ends only when it is stopped, and then no time remains for the other lines.
                # So these lines are searched from time to time during the search.
                if others and limits.nodes is None and limits.seconds is None:
                    self._search_lines(clock, int(self.search.tree.visits[0]) // (4 * others), often, found)
                reports(*self._report(clock, self.lines, found))
        clock.limits = limits
        self.root_moves = _root_moves(self.search.tree)
        with clock.reserving(LINES_SHARE if others else 0.0):
            self._check_lines(clock, often, found)
        if others and (visits := self._visits_for_each(limits, clock, others)):
            with clock.reserving(CHECK_SHARE):
                self._search_lines(clock, visits, often, found)
            self._check_lines(clock, often, found)
        result, _ = self._report(clock, moves if self.temperature else self.lines, found)
        return self._drawn(result) if self.temperature else result

    def _visits_for_each(self, limits: SearchLimits, clock: TimeManager, others: int) -> int:
        """Return the number of visits for each of the other lines, after the tree's share of the limits."""
        left = np.inf
        if limits.nodes is not None:
            left = limits.nodes - (self.nodes - clock.before)
        if limits.seconds is not None and clock.seconds() > 0:
            left = min(left, (limits.seconds / clock.seconds() - 1) * (self.nodes - clock.before))
        return 0 if left == np.inf else int(left) // others

    def _search_lines(
        self, clock: TimeManager, visits: int, drawn_keys: NDArray[np.uint64], found: dict[int, LineValue]
    ) -> None:
        """Search the positions after those reported moves, except the first, that have fewer than `visits` visits."""
        tree = self.search.tree
        for child in self._first_moves(found)[1:]:
            move = int(tree.move[child])
            done = max(int(tree.visits[child]), found[move].visits if move in found else 0)
            if tree.proven[child] != UNKNOWN or done >= visits or tree.row[child] < 0:
                continue
            if (some := self._search_line(clock, child, visits, drawn_keys)) is not None:
                found[move] = replace(found.get(move, some), value=some.value, visits=some.visits, line=some.line)

    def _search_line(
        self, clock: TimeManager, child: int, visits: int, drawn_keys: NDArray[np.uint64]
    ) -> LineValue | None:
        """Return the result of a search of the position after a move; None if there is no time for it."""
        row = self.search.tree.rows[self.search.tree.row[child]]
        found, evaluated = search_line(
            self.search.rules,
            self._tuning,
            row,
            visits,
            drawn_keys,
            lambda done, size: clock.batch(self.nodes + done, size),
        )
        self._of_lines += evaluated
        return found

    def _find_mate(
        self, board: chess.Board, limits: SearchLimits, clock: TimeManager, drawn_keys: NDArray[np.uint64]
    ) -> PvLine | None:
        """Return the line of a short mate; None if none is found. This separate search is needed, because a policy may
        give a quiet first move a very small probability.
        """
        tree = self.search.tree
        if self.search.solved:
            return None
        row, moves = tree.rows[tree.row[0]], tree.move[children(tree, 0)]
        line = rules.short_mate(row, moves, drawn_keys)
        value = 0.0 if line is None else 2 - len(line) * STEP
        if line is None and not limits.moves and not (limits.seconds is not None and limits.seconds < LEAST_SECONDS):
            value, line = find_mate(row, rules.repeated_rows(board), clock) or (0.0, None)
        if not line:
            return None
        prior = float(tree.prior[children(tree, 0)[moves == line[0]]].sum())
        return make_line(value, prior, list(line))

    def _begin(self, board: chess.Board, only: set[int], past: list[int]) -> None:
        """Set up the tree of a position: a part of the last tree if the game continues in it, else a new tree."""
        root = rules.start(board, mates=not only and self.lines == 1)
        key = int(root.keys[0])
        game = [*past, key]
        goes_on = (
            not only and self._leads_to(game, board.halfmove_clock) and self.search.go_on(key)
        ) and self._is_same(root.rows[0])
        self._game = game
        # A node with a mate in one lists only this move. So such a node can't become the root if several lines are
        # needed.
        if goes_on and (self.lines == 1 or int(self.search.tree.children[0]) == len(root.moves)):
            return
        if only:
            allowed = np.isin(root.moves, np.array(sorted(only), np.uint16))
            moves = root.moves[allowed]
            root = root._replace(moves=moves, offsets=np.array([0, len(moves)]))
        self.search.begin(root, whole=not only)

    def _leads_to(self, game: list[int], clock: int) -> bool:
        """Return whether the game of the previous root leads to this game through the tree.

        This test is needed, because repetitions are proven in the tree for the game of its root.
        """
        plies, before = self.search.plies_to(game[-1]), self._game
        if plies < 0 or len(game) != min(clock + 1, len(before) + plies):
            return False
        shared = game[: max(0, len(game) - plies)]
        return not shared or shared == before[-len(shared) :]

    def _is_same(self, row: NDArray[np.uint8]) -> bool:
        """Return whether the root is this position in all respects, including the fifty-move count, which is not part
        of its key.
        """
        return bool((self.search.tree.rows[self.search.tree.row[0]] == row).all())

    def _batch(self, clock: TimeManager) -> int:
        """Return the number of leaves in the next batch."""
        return batch_size(self._tuning.batches, clock, int(self.search.tree.visits[0]))

    def _done(self, limits: SearchLimits, clock: TimeManager, before: int) -> bool:
        """Return whether the search can end: more visits can't change the result, or the principal line is long
        enough.
        """
        search, tree = self.search, self.search.tree
        if search.solved:
            return True
        if limits.depth is not None and int(tree.visits[0]) > 1 and self._is_deep(limits):
            return True
        # in these cases, the values must be exact, and not only the best move
        if self.lines > 1 or self.temperature or limits.seconds is None:
            return False
        return decided(tree, clock, self.nodes, before)

    def _is_deep(self, limits: SearchLimits) -> bool:
        """Return whether the principal line is as long as requested, or can't become longer.

        The line can't become longer if it ends in a proven (certain) result after many visits, or if memory is full and
        the search has no other limit.
        """
        tree, line = self.search.tree, likely_nodes(self.search.tree, 0)
        if len(line) >= (limits.depth or 0):
            return True
        if line and tree.proven[line[-1]] != UNKNOWN and tree.visits[0] >= SETTLED:
            return True
        return self.search.was_full and limits.seconds is None and limits.nodes is None

    def _first_moves(self, found: Mapping[int, LineValue]) -> list[int]:
        """Return the children of the root that are reported, the best first."""
        tree = self.search.tree
        order = sorted(children(tree, 0).tolist(), key=lambda child: _rank(tree, child, found), reverse=True)
        return order[: self.lines]

    def _check_lines(self, clock: TimeManager, drawn_keys: NDArray[np.uint64], found: dict[int, LineValue]) -> None:
        """Check the reported moves with line_values.check_moves, and add the results to `found`, by the packed move
        (see `kibitz.games.chess.moves.from_move`). If the time is short, the last moves are not checked.

        If several lines are requested, reported moves without a visit are visited first.
        """
        tried: set[int] = set()
        while True:  # a move that allows a mate is moved to the end, and another move takes its place
            first, tree = self._first_moves(found), self.search.tree
            unvisited = [child for child in first if not tree.visits[child] and tree.proven[child] == UNKNOWN]
            unvisited = [child for child in unvisited if int(tree.move[child]) not in tried]
            timed = clock.limits.seconds is not None
            if unvisited and self.lines > 1 and not (timed and clock.is_over()):
                unvisited = unvisited[: self._tuning.batches.least] if timed else unvisited
                tried.update(int(tree.move[child]) for child in unvisited)
                self.search.visit(np.array(unvisited), drawn_keys)
                continue
            rows = {
                int(tree.move[child]): tree.rows[tree.row[child]]
                for child in first
                if tree.visits[child] and tree.proven[child] == UNKNOWN
            }
            rows = {move: row for move, row in rows.items() if move not in found or found[move].check is None}
            if not rows:
                return
            for move, check in zip(rows, check_moves(np.stack(list(rows.values())), clock), strict=True):
                if check is not None:
                    found[move] = replace(found.get(move, LineValue()), check=_without_mate_for_mover(check))
            if clock.is_over():
                return

    def _report(
        self, clock: TimeManager, count: int, found: Mapping[int, LineValue] = NO_LINES
    ) -> tuple[SearchResult, list[float]]:
        """Return the present result, the best moves first, and their values (see score.py).

        Moves without a visit are skipped, unless no move has a visit. found: results of single lines, by the packed
        move (see `kibitz.games.chess.moves.from_move`).
        """
        tree = self.search.tree
        order = sorted(children(tree, 0).tolist(), key=lambda child: _rank(tree, child, found), reverse=True)
        known = [child for child in order if tree.visits[child] or tree.proven[child] != UNKNOWN]
        lines: list[PvLine] = []
        values: list[float] = []
        for child in (known or order[:1])[:count]:
            move = int(tree.move[child])
            value, visits, pv = _line_value(tree, child, found)
            if not lines:
                self.opinion = value if abs(value) > 1 else value_for_parent(tree, child)
            line = make_line(value, float(tree.prior[child]), [move, *pv])
            lines.append(replace(line, visits=visits))
            values.append(value)
        if not self.temperature:
            lines, values = _in_order(lines, values)
        nodes = self.nodes - clock.before
        return SearchResult(max(1, len(lines[0].pv)), nodes, clock.seconds(), tuple(lines)), values

    def _drawn(self, result: SearchResult) -> SearchResult:
        """Sample a move by visits, and return the result with this move first. If there is a forced mate, it is always
        chosen.
        """
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


def search_line(
    chess_rules: SearchRules,
    tuning: PuctTuning,
    row: NDArray[np.uint8],
    visits: int,
    drawn_keys: NDArray[np.uint64],
    batch: Callable[[int, int], int],
    reply_share: float = 1.0,
) -> tuple[LineValue | None, int]:
    """Search the position after a move. Returns a pair: the result for this move, and the number of evaluated
    positions. The result is None if there was not enough time.

    chess_rules, tuning: the rules with the networks, and the parameters of the search.
    row: uint8 [68], the position after the move as 64 codes and 4 numbers of the state, see `kibitz.PositionArrays`.
    visits: the search ends when this position has this number of visits.
    drawn_keys: uint64, the keys (64-bit hashes) of positions that are drawn if they occur again.
    batch: a function that returns the size of the next batch, or 0 to stop. Its arguments are the number of positions
        evaluated in this search, and the preferred size.
    reply_share: 0 to 1. A reply counts if it has at least this share of the most visited reply's visits. The value of
        the result comes from the best reply that counts. With 1, it comes from the most visited reply.
    """
    if batch(0, 1) <= 0:
        return None, 0
    search = PuctSearch(chess_rules, tuning.constants, LINE_BYTES)
    search.begin(rules.described(row[None].copy(), mates=True))
    while not search.solved and int(search.tree.visits[0]) < visits:
        size = batch(search.evaluated, min(tuning.batches.least, visits - search.evaluated))
        if size <= 0 or not search.grow(size, drawn_keys):
            break
    tree = search.tree
    seen = [each for each in children(tree, 0).tolist() if tree.visits[each] or tree.proven[each] != UNKNOWN]
    if not seen:
        return None, search.evaluated
    best = max(seen, key=lambda each: _rank(tree, each))
    if reply_share < 1 and tree.proven[best] == UNKNOWN:
        least = max(REPLY_VISITS, reply_share * int(tree.visits[best]))
        known = [each for each in seen if each == best or tree.visits[each] >= least]
        best = max(known, key=lambda each: value_for_parent(tree, each))
    line = (int(tree.move[best]), *likely_line(tree, best))
    value = float(to_parent(value_for_parent(tree, best)))
    return LineValue(value, int(tree.visits[0]), line), search.evaluated


def _with_first(result: SearchResult, first: PvLine, lines: int) -> SearchResult:
    """Return the result with another line first."""
    others = [line for line in result.lines if line.move != first.move]
    return replace(result, lines=(first, *others)[:lines])


def _reporting_first(on_result: OnResult, first: PvLine, lines: int) -> OnResult:
    """Return a callback that calls `on_result` with each result after it has put another line first."""
    return lambda result: on_result(_with_first(result, first, lines))


def _in_order(lines: list[PvLine], values: list[float]) -> tuple[list[PvLine], list[float]]:
    """Return lines ordered by value. The first line stays first. A line with fewer visits than the first line never
    shows a higher value than the first line.
    """
    order = sorted(range(1, len(lines)), key=lambda i: values[i], reverse=True)
    first, most = lines[0], values[0]
    for i in order:
        if values[i] > most:
            values[i], lines[i] = most, replace(lines[i], score=first.score, mate=first.mate, wdl=first.wdl)
    return [first, *(lines[i] for i in order)], [most, *(values[i] for i in order)]


def _share(limits: SearchLimits, share: float) -> SearchLimits:
    """Return a share of the limits of a search."""
    nodes = None if limits.nodes is None else max(1, round(share * limits.nodes))
    seconds = None if limits.seconds is None else share * limits.seconds
    return replace(limits, nodes=nodes, seconds=seconds)


def _without_check_time(limits: SearchLimits) -> SearchLimits:
    """Return the limits of a search for one line, without the time for the check of its move."""
    if limits.seconds is None:
        return limits
    return replace(limits, seconds=limits.seconds - min(ONE_CHECK_SHARE * limits.seconds, ONE_CHECK_SECONDS))


def _without_mate_for_mover(check: MoveCheck) -> MoveCheck:
    """Return the check of a move without a mate by the mover.

    `_find_mate` has already searched for such mates at the root, for one line or several. Mates beyond its limit of
    positions are not reported.
    """
    return check if check.value is None or check.value < 0 else replace(check, value=None)


def _line_value(tree: PuctTree, child: int, found: Mapping[int, LineValue]) -> tuple[float, int, Sequence[int]]:
    """Return a child's value for the side that moves there from its parent, its visits, and the line that follows."""
    value, visits, line = value_for_parent(tree, child), int(tree.visits[child]), likely_line(tree, child)
    if (known := found.get(int(tree.move[child]))) is None or tree.proven[child] != UNKNOWN:
        return value, visits, line
    if known.visits > visits:
        value, visits, line = known.value, known.visits, list(known.line)
    if known.check is None:
        return value, visits, line
    if known.check.value is not None:
        line = list(known.check.line)
    return known.check.corrected(value, visits), visits, line


def _rank(tree: PuctTree, child: int, found: Mapping[int, LineValue] = NO_LINES) -> tuple[float, ...]:
    """Return a key that orders moves: proven wins first, the shorter the better; then by visits; proven losses last,
    the longer the better.
    """
    visits, value = int(tree.visits[child]), value_for_parent(tree, child)
    if found and int(tree.move[child]) in found:
        value = _line_value(tree, child, found)[0]
    if abs(value) > 1:
        return (1 if value > 0 else -1, value, visits, 0.0)
    return (0, visits, value, float(tree.prior[child]))


def value_for_parent(tree: PuctTree, child: int) -> float:
    """Return the value of a child node from the point of view of the side to move at its parent: -1 to 1, or a mate
    (see `score.py`).
    """
    proven = tree.proven[child]
    if proven == LOSS:
        return 2 - (int(tree.plies[child]) + 1) * STEP
    if proven == WIN:
        return -2 + (int(tree.plies[child]) + 1) * STEP
    if proven == DRAW:
        return 0.0
    visits = int(tree.visits[child])
    value = float(-tree.total[child] / visits if visits else tree.value[tree.parent[child]])
    return -1.0 if value < -1 else 1.0 if value > 1 else value  # NaN stays NaN


def _root_moves(tree: PuctTree) -> RootMoves:
    """Return the moves of the root that have a visit or a proven (certain) result; if one mates, only the moves that
    mate.
    """
    some = children(tree, 0)
    proven = tree.proven[some]
    mates = proven == LOSS
    some = some[mates if mates.any() else (tree.visits[some] > 0) | (proven != UNKNOWN)]
    values = np.array([value_for_parent(tree, child) for child in some.tolist()], np.float64)
    return RootMoves(
        tree.move[some].astype(np.uint16), values.clip(-1, 1), tree.visits[some].astype(np.int64),
        tree.proven[some] != UNKNOWN,
    )  # fmt: skip


def likely_line(tree: PuctTree, node: int) -> list[int]:
    """Return the line that begins at a node and follows the most visited move at each node, as packed moves (see
    `kibitz.games.chess.moves.from_move`).
    """
    return [int(tree.move[child]) for child in likely_nodes(tree, node)]


def likely_nodes(tree: PuctTree, node: int) -> list[int]:
    """Return the indices of the nodes on the line that begins at a node and follows the most visited move at each node.
    The first index is that of the node after the first move. The result is [] if no move of the node has a visit.
    """
    nodes: list[int] = []
    while tree.first[node] >= 0:
        some = children(tree, node)
        if not tree.proven[some].any():  # then visits come first
            visits = tree.visits[some]
            some = some[visits == visits.max()]
        node = max(some.tolist(), key=lambda child: _rank(tree, child))
        if not tree.visits[node]:
            break
        nodes.append(node)
    return nodes


def open_player(run: Run, session: Callable[[], Session], **settings: Any) -> PuctPlayer:
    """Return the player for the network of a run (the folder of a trained network). The arguments are those of
    `kibitz.play.open_player`.
    """
    return PuctPlayer(session(), **settings)
