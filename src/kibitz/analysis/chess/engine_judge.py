"""Evaluate moves with a UCI engine: the win probability, the loss of each move, the better move and its continuation.

The engine searches each position of a game once, with an empty hash table. So a position has the same value whether it
is analyzed alone or as part of a game. The loss of a move is the drop of the mover's win probability from the position
before the move to the position after it.

A move that the engine chooses has the loss 0 if this drop is too small for an annotation. If the drop is larger, the
engine also searches for its second choice. The loss of the first choice is then the difference between the win
probabilities after the two choices. This loss is at least 0 and at most the drop. The engine also searches for its
second choice if the network finds only one good move, so that the engine's values decide whether there is only one.

The network gives a first estimate of the loss of each legal move. The risk of a position, which is the probability of a
mistake, is computed from these estimates.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import chess
import chess.engine
import numpy as np
from numpy.typing import NDArray

from kibitz import ongoing
from kibitz.analysis.checkers import CheckedBy, Checker, GameRejected
from kibitz.analysis.chess.judging import ONLY, FirstLook, Judge, Judgement, Stopped, earlier_move, end_value, push
from kibitz.analysis.chess.limits import DEPTH
from kibitz.analysis.glyphs import CHESS_SWING, mark
from kibitz.errors import UsageError
from kibitz.external import EngineDied
from kibitz.external.uci import SEARCH_OPTIONS, TOO_MANY, ExternalEngine, OptionRefused, SearchReport
from kibitz.play.chess.score import win_chance
from kibitz.play.value import RULES, SEARCH, PositionValue

if TYPE_CHECKING:
    from kibitz.analysis import Analysis
    from kibitz.play.session import Session

SLOWEST = 5_000
"""The nodes per second of a very slow engine. The time limit of a search is long enough for this speed."""
PATIENCE, DEEP_PATIENCE = 60.0, 600.0
"""Time limits, in seconds, for the reply of an engine. If the search has a limit of nodes, the time limit is PATIENCE
plus the time that a SLOWEST engine needs for these nodes. If only the depth is limited, it is DEEP_PATIENCE.
"""
LONGEST = 12
"""The largest number of moves in a line."""


@dataclass(frozen=True)
class _Searched:
    """An engine's result for a position: White's win probability, the number of moves to a mate (negative if Black
    mates; None without a mate), and the expected line.
    """

    white: float
    mate: int | None
    line: tuple[chess.Move, ...]


class EngineJudge(Judge):
    """Evaluates the moves of games with a UCI engine. Use it as a context manager, so that the engine's process ends.

    session: the loaded network. If the network evaluates positions, it gives a first estimate of the loss of each legal
        move.
    analysis: the module that interprets the network's outputs.
    checker: the engine and its limits.
    threads: the number of threads of kibitz's own searches; None for all.
    stop: an event that another thread can set to end the analysis; None for no such event.
    max_positions: the largest number of positions whose results stay in memory.

    The constructor raises EngineDied if the engine does not start, and UsageError if the engine rejects an option.
    """

    def __init__(
        self, session: Session, analysis: Analysis, checker: Checker, threads: int | None = None,
        stop: threading.Event | None = None, max_positions: int = 1,
    ):  # fmt: skip
        self._checker, self._max_positions = checker, max_positions
        self._engine = self._start()
        super().__init__(session, analysis, DEPTH, 0, threads, stop)
        self._evaluates = bool({"white_wins", "white_better", "value"} & set(session.outputs))
        self._name = self._engine.name
        self._searched: dict[tuple[str, tuple[chess.Move, ...]], _Searched] = {}

    @property
    def checker(self) -> Checker:
        """The description of the engine and its limits."""
        return self._checker

    @property
    def checked_by(self) -> CheckedBy:
        """The engine's name and its limits, as the results show them."""
        return CheckedBy(self._name, self.checker.limit_nodes, self.checker.depth)

    def _start(self) -> ExternalEngine:
        checker = self.checker
        try:
            engine = ExternalEngine(checker.program.command, checker.program.name)
        except EngineDied as error:
            raise EngineDied(
                f"{checker.option}: {error}. Run the engine in a terminal to see why.", error.how
            ) from None
        try:
            engine.set_options(SEARCH_OPTIONS, known_only=True)
            engine.set_options(dict(checker.options))
        except OptionRefused as error:
            engine.kill()
            raise UsageError(
                f"{engine.name} rejects an option ({error}). Check the name and the value of the option."
            ) from None
        except BaseException:
            engine.kill()
            raise
        return engine

    def judge(
        self, start: chess.Board, moves: Sequence[chess.Move], rows: NDArray[np.uint8]
    ) -> tuple[NDArray[np.float64], list[Judgement]]:
        """Evaluate the moves of a game with the engine. Return White's win probability in each position, float64 [moves
        + 1], and an evaluation of each move. `Judge.judge` explains the arguments.
        """
        board, seen = start.copy(), []
        for move in ongoing.counted([*moves, None], len(moves) + 1):
            seen.append(self._see(board))
            if move is not None:
                push(board, move)
        white = np.array([one.white for one in seen])
        _, only, options = self._alternatives(rows[:-1], moves, earlier_move(start))
        found, replay = [], start.copy()
        for i, played in enumerate(moves):
            before, after = seen[i], seen[i + 1]
            turn = start.turn if i % 2 == 0 else not start.turn
            change = before.white - after.white if turn == chess.WHITE else after.white - before.white
            line = before.line or (played,)
            loss = max(0.0, change)
            if chosen := line[0] == played:
                loss, line = self._overlooked(replay, played, after, loss) if mark(-loss, CHESS_SWING) else (0.0, line)
            # The network proposes the moves that may be the only good one. The engine decides whether they are.
            alone = only[i] and chosen and not loss and self._advantage(replay, played, after)[0] >= ONLY
            found.append(Judgement(
                before.white, after.white, loss, line[0] if loss else played, line if loss else (played,),
                alone, options[i], mate=after.mate, reply=after.line,
            ))  # fmt: skip
            push(replay, played)
        return white, found

    def _overlooked(
        self, board: chess.Board, chosen: chess.Move, after: _Searched, change: float
    ) -> tuple[float, tuple[chess.Move, ...]]:
        """Return the loss of the move that the engine chose, and the line of the second choice.

        The search before the move may have overlooked the reply. The loss is the difference of the positions after the
        two moves, 0 to `change`. board: the position before the move. after: the result after the move. change: the
        drop of the value, 0 to 1.
        """
        advantage, line = self._advantage(board, chosen, after)
        return min(max(0.0, -advantage), change), line or (chosen,)

    def _advantage(
        self, board: chess.Board, chosen: chess.Move, after: _Searched
    ) -> tuple[float, tuple[chess.Move, ...]]:
        """Return how much more win probability a move keeps than the second choice, -1 to 1, and the second choice's
        line; 0 and () if there is no second choice.

        The second choice is searched in the same way as `chosen`: first without `chosen`, and then the position after
        it. board: the position before the move. after: the result after `chosen`.
        """
        others = [move for move in board.legal_moves if move != chosen]
        second = self._see(board, others).line[:1] if others else ()
        if not second or second[0] == chosen:  # some engines always search all moves
            return 0.0, ()
        push(other := board.copy(), second[0])
        instead = self._see(other, keep=False)
        advantage = after.white - instead.white if board.turn == chess.WHITE else instead.white - after.white
        return advantage, (*second, *instead.line)[:LONGEST]

    def value(self, board: chess.Board) -> PositionValue:
        """Return the value of a position from the engine's search: White's win probability and the best line. If the
        engine finds a forced mate, the value also has the number of moves to the mate.

        Raises GameRejected if the engine cannot search the position, EngineDied if the engine fails, and Stopped if
        another thread sets the event `stop`.
        """
        seen = self._see(board)
        return PositionValue(
            seen.white, SEARCH if seen.line else RULES, seen.mate, tuple(move.uci() for move in seen.line)
        )

    def _alternatives(
        self, rows: NDArray[np.uint8], played: Sequence[chess.Move], earlier: chess.Move
    ) -> tuple[list[chess.Move], list[bool], list[FirstLook | None]]:
        """Return, for each position, the network's best move, whether the played move is the only good move, and the
        first estimate of all legal moves. If the network doesn't evaluate positions, the estimates are None.
        """
        if self._evaluates and played:
            return super()._alternatives(rows, played, earlier)
        return list(played), [False] * len(played), [None] * len(played)

    def _see(self, board: chess.Board, only: Sequence[chess.Move] | None = None, keep: bool = True) -> _Searched:
        """Return the result for a position, which may be in memory. The moves on the board's stack are its history.

        only: the moves that are searched, None for all. keep: whether the result is stored in memory. A search with
        `only` is never stored. Raises Stopped, GameRejected for a position that engines reject, and EngineDied if
        the engine fails.
        """
        if self.stop is not None and self.stop.is_set():
            raise Stopped
        if (over := end_value(board)) is not None:
            return _Searched(over, None, ())
        if board.status() & TOO_MANY:
            raise GameRejected(f"{self._name} rejects positions with too many pieces (got {board.fen()})")
        key = board.fen(), tuple(board.move_stack)
        # A game is analyzed in parts. The first position of a part is known: it is the last one of the previous part.
        if only is None and (known := self._searched.get(key)) is not None:
            return known
        report = self._search(board, only)
        if report.score is None:
            raise EngineDied(f"{self._name} gave no score for {board.fen()}", "died")
        score = report.score.white()
        line = report.line or ((report.best,) if report.best else ())
        seen = _Searched(win_chance(score), score.mate(), line[:LONGEST])
        if only is not None or not keep:
            return seen
        self._searched[key] = seen
        while len(self._searched) > self._max_positions:
            del self._searched[next(iter(self._searched))]
        return seen

    def _search(self, board: chess.Board, only: Sequence[chess.Move] | None) -> SearchReport:
        """Search a position, or only some of its moves. If the engine ends, it is started once more.

        Raises EngineDied if the engine ends again or hangs.
        """
        nodes, depth = self.checker.limit_nodes, self.checker.depth
        limit = PATIENCE + nodes / SLOWEST if nodes else DEEP_PATIENCE
        for attempt in range(2):
            if not self._engine.runs:
                self._engine.kill()
                self._engine = self._start()
            try:
                return self._engine.search(board, chess.engine.Limit(nodes=nodes, depth=depth), 1, limit, only)
            except EngineDied as error:
                self._engine.kill()
                if error.how == "hung" or attempt:
                    raise
        raise AssertionError

    def close(self) -> None:
        """End the engine's process."""
        self._engine.kill()

    def __enter__(self) -> EngineJudge:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
