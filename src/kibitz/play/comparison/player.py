"""The class that chooses chess moves by comparing positions. It runs the search of `alphabeta.py` with increasing
depth.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.errors import UsageError
from kibitz.games.chess.moves import from_move, to_move
from kibitz.games.chess.position_stack import MAX_PLIES, enter, set_root
from kibitz.games.chess.replay import encode_board, encode_history
from kibitz.play.chess.bare_king import narrowed
from kibitz.play.chess.score import STEP
from kibitz.play.comparison import state as search_state
from kibitz.play.comparison.alphabeta import MAX_DEPTH, search_root
from kibitz.play.comparison.embedding import PositionComparer, load
from kibitz.play.comparison.state import ComparisonTuning, SearchState
from kibitz.play.result import OnResult, SearchLimits, SearchResult, make_line
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.systems.declaration import COMPARISON_SEARCH, FULL_COMPARISON_SEARCH

METHODS = (COMPARISON_SEARCH.name, FULL_COMPARISON_SEARCH.name)
"""The two methods of choosing a move. Both are alpha-beta searches with positions as bounds. The first uses the
distilled network if the run has one, and the second uses the full network.
"""
SPREAD = 0.1
"""At temperature 1, a move becomes e (2.718) times less probable if its value is lower by this number."""
_POLL_INTERVAL = 0.005
"""Seconds between checks of the clock and of the stop event."""
_UNLIMITED_NODES = 1 << 62


class ComparisonPlayer:
    """Chooses chess moves with a network that compares two positions. Its interface is that of
    `play.chess.player.ChessPlayer`.

    The score of a line is the probability that its last position is better than one of the reference positions of the
    trained network, averaged over all of them. A draw has the score of the most balanced reference position
    (PositionComparer.draw), which is shown as 0.

    temperature: 0 plays the best move; T > 0 samples moves in proportion to `exp(value / (SPREAD · T))`, with SPREAD =
        0.1. The values of moves other than the best one come from a search two plies deep, and are at most the best
        move's value. A mate that was found is always played.
    lines: the number of lines to report; each line requires another search.
    seed: the random seed; None for an unpredictable one.

    Raises UsageError for an unknown method, for a method whose network is missing, and for settings out of range.
    """

    def __init__(
        self,
        run: Run,
        *,
        method: str | None = None,
        temperature: float = 0.0,
        lines: int = 1,
        hash_mb: int = 64,
        seed: int | None = None,
        tuning: ComparisonTuning | None = None,
    ):
        method = METHODS[0] if method is None else method
        if method not in METHODS:
            raise UsageError(
                f"{run.name} compares positions and cannot play with the method {method}. Use {' or '.join(METHODS)}."
            )
        if lines < 1 or temperature < 0 or hash_mb < 1:
            raise UsageError("lines and hash must be at least 1, and temperature must be at least 0")
        self.method, self.temperature, self.lines = method, temperature, lines
        self._random = np.random.default_rng(seed)
        comparer = load(run, "full" if method == FULL_COMPARISON_SEARCH.name else None)
        self.memory = Memory(comparer, hash_mb, tuning or ComparisonTuning())

    def new_game(self) -> None:
        """Clear the tables of the search before a new game."""
        self.memory.clear()

    def think(
        self,
        board: chess.Board,
        limits: SearchLimits,
        stop: threading.Event | None = None,
        on_result: OnResult | None = None,
    ) -> SearchResult | None:
        """Choose a move in a position. Returns the result of the search; None if there is no legal move, or if none of
        limits.moves is legal.

        limits.nodes: the largest number of positions that the search visits. stop: an event; the search ends soon after
        it is set. on_result: a function that gets each intermediate result.
        """
        if self.lines == 1 and not self.temperature:
            limits = narrowed(board, limits)
        moves = [from_move(move) for move in board.legal_moves if not limits.moves or move in limits.moves]
        if not moves:
            return None
        thinking = Thinking(self.memory, board, moves, limits)
        with thinking.watched(stop):
            values = thinking.values() if self.temperature > 0 else {}
            thinking.deepen(self.lines, on_result)
        thought = thinking.thought()
        if self.temperature > 0 and not thinking.lines[0].value > 1:
            return self._sampled(thinking.lines[0], values, thought)
        return thought

    def _sampled(self, best: RootLine, values: dict[int, float], thought: SearchResult) -> SearchResult:
        """Return the result with a first move sampled by its value."""
        values = {move: min(value, best.value) for move, value in values.items()} | {best.pv[0]: best.value}
        moves = list(values)
        odds = np.exp((np.array(list(values.values())) - best.value) / (SPREAD * self.temperature))
        move = moves[int(self._random.choice(len(odds), p=odds / odds.sum()))]
        lines = [line for line in thought.lines if from_move(line.move) != move]
        same = [line for line in thought.lines if from_move(line.move) == move]
        first = same[0] if same else make_line(values[move], 0.0, [move])
        return SearchResult(thought.depth, thought.nodes, thought.seconds, (first, *lines)[: max(1, self.lines)])


class Memory:
    """The arrays that stay in memory from one search to the next: a cache of embeddings, a transposition table, and the
    history of quiet moves.

    hash_mb: the size in megabytes, of which three quarters are for the cache and a quarter is for the table.
    """

    def __init__(self, comparer: PositionComparer, hash_mb: int, tuning: ComparisonTuning):
        self.comparer, self.tuning = comparer, tuning
        width = 2 * comparer.weights.embedding_dim
        size = hash_mb << 20
        self.embeddings = np.zeros((_power_of_two(size * 3 // 4 // (4 * width + 8)), width), np.float32)
        self.embedding_keys = np.zeros(len(self.embeddings), np.int64)
        self.table = np.zeros(_power_of_two(size // 4 // search_state.TABLE_ENTRY.itemsize), search_state.TABLE_ENTRY)
        self.history = np.zeros((2, 4096), np.int64)
        self.age = 0

    def clear(self) -> None:
        """Empty the cache, the table and the history."""
        for array in (self.embedding_keys, self.table, self.history):
            array[:] = np.zeros((), array.dtype)

    def search(self, row: NDArray[np.uint8], repeated: NDArray[np.int64], max_nodes: int) -> SearchState:
        """Return the state of a new search of a position. row: uint8 [68], the position as 64 codes and 4 numbers of
        the state, see `kibitz.PositionArrays`. max_nodes: the largest number of positions that the search visits.

        repeated: int64 [k], the keys (64-bit hashes) of positions that are draws if they occur again. Only the first
        100 keys (FIFTY_MOVES) are used. There are more keys only if the fifty-move rule already applies. In that case,
        repetitions make no difference.
        """
        comparer, weights = self.comparer, self.comparer.weights
        self.age = self.age % 255 + 1
        state = np.zeros(1, search_state.STATE)
        search = SearchState(
            state[0], weights, np.zeros((MAX_PLIES, weights.feature_weights.shape[1]), np.float32),
            np.zeros((search_state.BOUNDS, 2 * weights.embedding_dim), np.float32), self.embeddings,
            self.embedding_keys, self.table,
        )  # fmt: skip
        search.bound_embeddings[search_state.DRAWN] = comparer.references[comparer.draw]
        data = search.data
        for name, value in self.tuning._asdict().items():
            data["tuning_" + name] = value
        data["rows"][0], data["history"][:] = row, self.history
        known = repeated[: len(data["repeated_keys"])]
        data["repeated_keys"][: len(known)], data["repeated_count"] = known, len(known)
        data["bound_row"][search_state.DRAWN], data["bound_key"][search_state.DRAWN] = comparer.rows[comparer.draw], 1
        data["bound_mate"][search_state.WON], data["bound_mate"][search_state.LOST] = (
            2 * search_state.MATE_BASE,
            -2 * search_state.MATE_BASE,
        )
        data["counts"][search_state.MAX_NODES], data["counts"][search_state.AGE] = max_nodes, self.age
        set_root(data)
        return search


@dataclass(frozen=True)
class RootLine:
    """The best line that begins with one move of the searched position. value: the move's value from the mover's point
    of view, on the scale of `chess.score`. pv: the packed moves (see `kibitz.games.chess.moves.from_move`) of the line.
    """

    value: float
    pv: list[int]


class Thinking:
    """A search of one position, first one ply deep and then with increasing depth.

    moves: the packed moves (see `kibitz.games.chess.moves.from_move`) of the searched position, the best first. lines:
    the lines (best continuations) of the last completed depth.
    """

    def __init__(self, memory: Memory, board: chess.Board, moves: list[int], limits: SearchLimits):
        self.begun = time.perf_counter()
        self.memory, self.limits, self.moves = memory, limits, moves
        nodes = _UNLIMITED_NODES if limits.nodes is None else max(1, limits.nodes)
        self.search: Any = memory.search(encode_board(board), seen_twice(board), nodes)
        self.counts = self.search.data["counts"]
        self.board = board.copy(stack=False)
        self.black = not board.turn
        self.depth = 0
        self.lines: list[RootLine] = []
        enter(self.search.data, 0)

    def watched(self, stop: threading.Event | None) -> _StopWatch:
        """Return a context manager that stops the compiled search when its time is over, or when the event `stop` is
        set.
        """
        return _StopWatch(self.counts, self.begun, self.limits.seconds, stop)

    def deepen(self, count: int, on_result: OnResult | None) -> None:
        """Search for the best `count` lines with increasing depth, until a limit is reached. on_result: a function that
        gets the result after each depth.
        """
        max_depth = min(MAX_DEPTH, self.limits.depth or MAX_DEPTH)
        if len(self.moves) == 1 and self.limits.seconds is not None:
            max_depth = 1  # there is only one legal move
        for depth in range(1, max_depth + 1):
            if not self._search_depth(depth, min(count, len(self.moves))):
                break
            self.depth = depth
            if on_result is not None:
                on_result(self.thought())
            best = self.lines[0].value
            if count == 1 and abs(best) > 1 and (2 - abs(best)) / STEP <= depth + 1:
                break  # a mate was found within this depth, and a deeper search can't find a shorter mate
        if not self.depth and not (self.lines and self.lines[0].value > 1):  # the first depth was not completed
            first = self._glance()
            self.lines = [first, *(line for line in self.lines if line.pv[0] != first.pv[0])][: max(1, count)]
        self.memory.history[:] = self.search.data["history"] // 2

    def _search_depth(self, depth: int, count: int) -> bool:
        """Search one depth for `count` lines. Returns False if the search was stopped; completed lines are still
        used.
        """
        lines: list[RootLine] = []
        for _ in range(count):
            chosen = [line.pv[0] for line in lines]
            moves = [move for move in self.moves if move not in chosen]
            best, _ = search_root(self.search, np.array(moves, np.uint16), depth)
            if best >= 0:
                lines.append(self._root_line())
            if self.counts[search_state.STOP]:
                break
        first = [line.pv[0] for line in lines]
        self.lines = (lines + [line for line in self.lines if line.pv[0] not in first])[:count]
        self.moves = first + [move for move in self.moves if move not in first]
        return not self.counts[search_state.STOP]

    def _root_line(self) -> RootLine:
        data = self.search.data
        pv = data["pv"][0, : data["pv_length"][0]].tolist()
        if mate := int(data["bound_mate"][0]):
            value = (2 - (search_state.MATE_BASE - abs(mate)) * STEP) * (1 if mate > 0 else -1)
            return RootLine(-value if self.black else value, pv)
        if data["bound_key"][0] == data["bound_key"][search_state.DRAWN]:
            return RootLine(0.0, pv)
        return RootLine(self._value(self.search.bound_embeddings[:1]), pv)

    def _value(self, embeddings: NDArray[np.float32]) -> float:
        value = 2 * float(self.memory.comparer.white_better(embeddings)[0]) - 1
        return -value if self.black else value

    def _glance(self) -> RootLine:
        """Evaluate the position after each move without a search, and return the best move. It is used if there is no
        time to search.
        """
        rows, mates, drawn = [], [], []
        for move in self.moves:
            self.board.push(to_move(move))
            mates.append(self.board.is_checkmate())
            drawn.append(self.board.is_stalemate() or self.board.is_insufficient_material())
            rows.append(encode_board(self.board))
            self.board.pop()
        if any(mates):
            return RootLine(2 - STEP, [self.moves[mates.index(True)]])
        after = np.stack(rows)
        white = self.memory.comparer.white_better(self.memory.comparer.embed(after[:, :64], after[:, 64:]))
        white = np.where(drawn, 0.5, white)
        best = int(np.argmin(white) if self.black else np.argmax(white))
        value = 2 * float(white[best]) - 1
        return RootLine(-value if self.black else value, [self.moves[best]])

    def values(self) -> dict[int, float]:
        """Return a dict from each packed move (see `kibitz.games.chess.moves.from_move`) of the searched position to
        its value from a search two plies deep. If a limit is reached, the remaining moves are missing.
        """
        values: dict[int, float] = {}
        for move in self.moves:
            best, _ = search_root(self.search, np.array([move], np.uint16), 2)
            if best < 0:
                break
            values[move] = self._root_line().value
        return values

    def thought(self) -> SearchResult:
        """Return the result of the search so far."""
        lines = tuple(make_line(line.value, 0.0, line.pv) for line in self.lines)
        nodes = int(self.counts[search_state.NODES])
        return SearchResult(max(1, self.depth), nodes, time.perf_counter() - self.begun, lines)


class _StopWatch:
    """A thread that sets the STOP of a compiled search when its time is over or when the stop event is set."""

    def __init__(
        self, counts: NDArray[np.int64], begun: float, seconds: float | None, stop: threading.Event | None
    ) -> None:
        self.counts, self.stop = counts, stop
        self.end = None if seconds is None else begun + seconds
        self.done = threading.Event()
        self.thread: threading.Thread | None = None

    def __enter__(self) -> None:
        if self._over():
            self.counts[search_state.STOP] = 1
        elif self.end is not None or self.stop is not None:
            self.thread = threading.Thread(target=self._poll, daemon=True)
            self.thread.start()

    def _over(self) -> bool:
        late = self.end is not None and time.perf_counter() >= self.end
        return late or (self.stop is not None and self.stop.is_set())

    def _poll(self) -> None:
        while True:
            left = _POLL_INTERVAL if self.end is None else max(0.0, self.end - time.perf_counter())
            if self.done.wait(min(_POLL_INTERVAL, left)):
                return
            if self._over():
                self.counts[search_state.STOP] = 1
                return

    def __exit__(self, *_: object) -> None:
        self.done.set()
        if self.thread is not None:
            self.thread.join()


def seen_twice(board: chess.Board) -> NDArray[np.int64]:
    """Return the keys (64-bit hashes) of the positions that occurred at least twice in the game before this board and
    can still recur, int64 [k].
    """
    seen: Counter[int] = Counter()
    if board.halfmove_clock >= 4:
        state = np.zeros(1, search_state.STATE)[0]
        for row in encode_history(board):
            state["rows"][0] = row
            set_root(state)
            seen[int(state["keys"][0])] += 1
    return np.array([key for key, times in seen.items() if times > 1], np.int64)


def _power_of_two(limit: int) -> int:
    """Return the largest power of two up to a limit, at least 256."""
    return 1 << max(8, limit.bit_length() - 1)


def open_player(run: Run, session: Callable[[], Session], *, value: object = None, **settings: Any) -> ComparisonPlayer:
    """Return the player for a run (the folder of a trained network) whose network compares positions. The arguments are
    those of `kibitz.play.open_player`; the setting `value` is ignored.
    """
    if value is not None:
        other = getattr(value, "name", "another network")
        raise UsageError(f"{run.name} compares positions and takes no value network (got {other}). Leave value out.")
    return ComparisonPlayer(run, **settings)
