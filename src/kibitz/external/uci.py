"""Communicate with chess engines that use the protocol UCI, with time limits. The engine's process ends in every case,
even after an error.

python-chess implements the protocol. This module adds a time limit for every wait, and a process group that ends with
the engine. Its errors also show whether an engine rejected a command, hung or ended.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import logging
import re
import subprocess
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import chess
import chess.engine

from kibitz.errors import one_line
from kibitz.external import EngineDied, kill_group, running

PATIENCE = 20.0
"""The seconds in which an engine must reply to `uci`, the first command."""
SEARCH_OPTIONS: dict[str, str | int] = {"Threads": 1, "Hash": 16}
"""UCI options for searches whose result must depend only on the position and the limit."""
MATE = 100_000
"""The evaluation of a mate in centipawns. The number of moves to the mate is subtracted from it."""

# kibitz raises errors of the engine, so the libraries must not log them too.
for _library in ("chess.engine", "asyncio"):
    logging.getLogger(_library).setLevel(logging.CRITICAL + 1)

LONGEST_LINE = 1 << 20
"""The number of bytes without a line end after which an engine is ended. Longer lines would fill the memory."""

_ABSURD = re.compile(r"\bmultipv\s+[+0_]*[\d_]{4}")
"""Matches a very large number of lines. The library would allocate as many lines as an engine claims to have."""

TOO_MANY = (
    chess.STATUS_TOO_MANY_WHITE_PIECES | chess.STATUS_TOO_MANY_BLACK_PIECES
    | chess.STATUS_TOO_MANY_WHITE_PAWNS | chess.STATUS_TOO_MANY_BLACK_PAWNS
)  # fmt: skip
"""The faults of a position, as bits of `chess.Board.status`, for which many engines end or give a wrong result."""

T = TypeVar("T")


class OptionRefused(ValueError):
    """Raised if an engine does not have an option, or rejects its value."""


class EngineEvaluation(NamedTuple):
    """The evaluation of a position by an engine.

    centipawns: the evaluation from White's point of view. If White mates in n moves, the evaluation is 100,000 − n. If
        Black mates in n moves, the evaluation is −(100,000 − n).
    move: the best move in UCI notation; "(none)" if there is no move.
    """

    centipawns: int
    move: str


class SearchReport(NamedTuple):
    """The output of an engine during a search and at its end.

    moves: the first move of each line, the best line first.
    best: the move that the engine plays at the end of the search; None if there is no move.
    strings: the texts after "info string", at most the last 1,000.
    score: the last exact score of the best line, as a PovScore of python-chess; None if the engine printed no exact
        score.
    line: the moves of the best line from the same output as `score`; () if this output has no moves.
    """

    moves: list[chess.Move]
    best: chess.Move | None
    strings: list[str]
    score: chess.engine.PovScore | None = None
    line: tuple[chess.Move, ...] = ()


MOST_STRINGS = 1_000
"""The largest number of "info string" texts that are stored for a search. No position has this number of legal
moves.
"""


class ExternalEngine:
    """One process of a UCI engine. The object is a context manager that ends the process on exit.

    command: the program and its arguments.
    name: the name of the engine in error messages, until the engine has sent its own name.
    patience: the seconds in which the engine must reply to `uci`; 20 by default.
    on_process: a function that is called with the process id while the engine starts.

    Raises EngineDied. The error's `how` is "absent" if the program cannot be started, "died" if the process ends, and
    "hung" if the engine does not reply in time.

    The process runs in a separate operating-system session. Therefore, Ctrl-C does not reach the process, and its child
    processes end together with it. Any thread may call `kill`. Only one thread at a time may call the other methods.
    """

    def __init__(
        self, command: Sequence[str], name: str = "", patience: float | None = None,
        on_process: Callable[[int], None] = lambda process: None,
    ):  # fmt: skip
        self.name = name or Path(command[0]).name
        limit = PATIENCE if patience is None else patience
        groups: list[int] = []

        class Protocol(chess.engine.UciProtocol):
            """The UCI protocol of python-chess, which also registers the engine's process as soon as the process runs.
            The process and its children can then be ended even if the engine does not become ready.
            """

            def connection_made(self, transport: Any) -> None:
                groups.append(transport.get_pid())
                running.add(groups[-1])
                on_process(groups[-1])
                super().connection_made(transport)

            def _line_received(self, line: str) -> None:
                if not _ABSURD.search(line):
                    super()._line_received(line)

            def pipe_data_received(self, fd: int, data: bytes | str) -> None:
                super().pipe_data_received(fd, data)
                if len(self.buffer[fd]) > LONGEST_LINE:
                    self.buffer[fd].clear()
                    kill_group(groups[-1])

        try:
            self._engine = chess.engine.SimpleEngine.popen(
                Protocol, list(command), timeout=limit, stderr=subprocess.DEVNULL, start_new_session=True
            )
        except (TimeoutError, chess.engine.EngineError, OSError) as error:
            for group in groups:
                kill_group(group)
            raise self._failed_to_start(command[0], limit, error) from None
        self.name = self._engine.id.get("name", self.name)

    def _failed_to_start(self, program: str, limit: float, error: Exception) -> EngineDied:
        if isinstance(error, TimeoutError):
            return EngineDied(f"{self.name} did not respond within {limit:g} s", "hung")
        if isinstance(error, chess.engine.EngineTerminatedError):
            return EngineDied(f"{self.name} ended ({_exit_code(error)})", "died", _exit_code(error))
        return EngineDied(f"{program}: {one_line(error)}", "absent", one_line(error))

    def set_options(self, options: Mapping[str, str | int], *, known_only: bool = False) -> None:
        """Send new values of UCI options to the engine.

        options: a dict from the names of options to their values.
        known_only: if True, options that the engine does not have are skipped, and numbers are limited to the range of
        the option.

        Raises OptionRefused for an option that the engine does not have, and for a value that the engine does not
        accept.
        """
        if known_only:
            options = {
                name: self._within(name, value) for name, value in options.items() if name in self._engine.options
            }
        if not options:
            return
        try:
            self._engine.configure(dict(options))
        except chess.engine.EngineTerminatedError as error:
            raise self._died(error) from None
        except chess.engine.EngineError as error:
            raise OptionRefused(str(error)) from None

    def _within(self, name: str, value: str | int) -> str | int:
        ends = self.range_of(name)
        return value if ends is None or isinstance(value, str) else min(max(value, ends[0]), ends[1])

    def begin_game(self, game: object, limit: float) -> None:
        """Announce a new game to the engine, and wait until the engine is ready.

        game: the object that identifies the game; pass the same object to `play`. Raises EngineDied if the engine ends,
        or is not ready within `limit` seconds.
        """

        async def begin() -> None:
            protocol: Any = self._engine.protocol
            protocol.game = game
            protocol._ucinewgame()  # python-chess would send it with the first move, when the clock runs
            await protocol.ping()

        self._wait_for(begin(), limit)

    @property
    def runs(self) -> bool:
        """Whether the engine's process is running."""
        return self._engine.transport.get_returncode() is None

    def ping(self, limit: float) -> None:
        """Wait until the engine is ready. Raises EngineDied if it is not ready within `limit` seconds or has ended."""
        self._wait_for(self._engine.protocol.ping(), limit)

    def play(
        self, board: chess.Board, search_limit: chess.engine.Limit, game: object, limit: float
    ) -> chess.engine.PlayResult:
        """Return the move that the engine plays in a position.

        board: the position, with the earlier moves in its `move_stack`.
        search_limit: the search limit that is sent to the engine.
        game: any object that identifies the game.
        limit: the seconds in which the engine must reply.

        Raises EngineDied if the engine does not reply in time or ends. Raises chess.engine.EngineError for an illegal
        move. After an illegal move, the engine is still running.
        """
        info = chess.engine.INFO_BASIC | chess.engine.INFO_SCORE
        return self._wait_for(self._engine.protocol.play(board, search_limit, game=game, info=info), limit)

    def evaluate(self, fen: str, depth: int) -> EngineEvaluation:
        """Return the engine's evaluation of a position. The engine clears its hash table first, so that the evaluation
        depends only on the position.

        fen: the position. depth: the depth of the search in plies. Raises EngineDied if the engine does not reply
        within 20 seconds, or if it reports no score.
        """
        board = chess.Board(fen)
        try:
            score, move = self._wait_for(self._search(board, chess.engine.Limit(depth=depth)), PATIENCE)
        except chess.engine.EngineError as error:
            raise EngineDied(f"{self.name}: {one_line(error)}", "died") from None
        if score is None:
            raise EngineDied(f"{self.name} gave no score for {fen}", "died")
        return EngineEvaluation(score.white().score(mate_score=MATE), move.uci() if move else "(none)")

    def search(
        self, board: chess.Board, search_limit: chess.engine.Limit, lines: int, limit: float,
        only: Sequence[chess.Move] | None = None,
    ) -> SearchReport:  # fmt: skip
        """Search a position with an empty hash table, and return the engine's output.

        board: the position, with the earlier moves in its `move_stack`, which are also sent to the engine.
        search_limit: the search limit that is sent to the engine.
        lines: the number of best lines that the engine reports (MultiPV).
        limit: the seconds in which the search must end.
        only: the moves to search; None for all. Some engines ignore this argument.

        Raises EngineDied if the search does not end within `limit` seconds. Also raises EngineDied if the engine's
        process ends, or if the engine plays an illegal move.
        """
        try:
            return self._wait_for(self._report_of(board, search_limit, lines, only), limit)
        except chess.engine.EngineError as error:
            raise EngineDied(f"{self.name}: {one_line(error)}", "died") from None

    async def _report_of(
        self, board: chess.Board, search_limit: chess.engine.Limit, lines: int, only: Sequence[chess.Move] | None
    ) -> SearchReport:
        info = chess.engine.INFO_BASIC | chess.engine.INFO_SCORE | chess.engine.INFO_PV
        ranked: dict[int, chess.Move] = {}
        score: chess.engine.PovScore | None = None
        first: tuple[chess.Move, ...] = ()
        strings: collections.deque[str] = collections.deque(maxlen=MOST_STRINGS)
        several = lines if lines > 1 else None
        protocol = self._engine.protocol
        with await _begun(
            protocol.analysis(board, search_limit, multipv=several, game=object(), info=info, root_moves=only)
        ) as analysis:
            async for line in analysis:
                if "string" in line:
                    strings.append(line["string"])
                if line.get("lowerbound") or line.get("upperbound"):
                    continue
                if line.get("pv"):
                    ranked[line.get("multipv", 1)] = line["pv"][0]
                if "score" in line and line.get("multipv", 1) == 1:
                    score, first = line["score"], tuple(line.get("pv", ()))
            best = (await analysis.wait()).move
        return SearchReport([ranked[number] for number in sorted(ranked)], best, list(strings), score, first)

    def has_option(self, option: str) -> bool:
        """Return whether the engine has this option."""
        return option in self._engine.options

    def range_of(self, option: str) -> tuple[int, int] | None:
        """Return the range of a numeric UCI option as (minimum, maximum). Return None if the engine has no numeric
        option with this name.
        """
        found = self._engine.options.get(option)
        return None if found is None or found.min is None or found.max is None else (found.min, found.max)

    def watch(
        self,
        board: chess.Board,
        lines: int,
        search_limit: chess.engine.Limit | None = None,
        game: object = None,
    ) -> Watched:
        """Begin to analyze a position, and return the running analysis. The analysis runs until the caller stops it, or
        until it reaches the search limit. If an earlier analysis is still running, the engine ends the earlier analysis
        first.

        lines: the number of best lines that the engine reports (MultiPV); 1 if the engine does not support more.
        search_limit: the limit at which the engine ends the analysis and chooses a move (`Watched.best`); None for an
            analysis without end.
        game: any object that identifies the game; all calls with None count as one game.

        Raises EngineDied if the engine does not begin within 20 seconds.
        """
        most = self._engine.options.get("MultiPV")
        lines = 1 if most is None else min(lines, most.max or lines)
        info = chess.engine.INFO_BASIC | chess.engine.INFO_SCORE | chess.engine.INFO_PV
        plays = search_limit is not None and "UCI_AnalyseMode" in self._engine.options
        analysis = self._engine.protocol.analysis(
            board, search_limit, multipv=lines, game=game or self, info=info,
            options={"UCI_AnalyseMode": False} if plays else {},
        )  # fmt: skip
        return Watched(self, self._wait_for(_begun(analysis), PATIENCE))

    async def _search(
        self, board: chess.Board, limit: chess.engine.Limit
    ) -> tuple[chess.engine.PovScore | None, chess.Move | None]:
        """Return the last exact score and the best move of a search."""
        score = None
        info = chess.engine.INFO_BASIC | chess.engine.INFO_SCORE
        with await _begun(self._engine.protocol.analysis(board, limit, game=object(), info=info)) as analysis:
            async for line in analysis:
                if "score" in line and not (line.get("lowerbound") or line.get("upperbound")):
                    score = line["score"]
            return score, (await analysis.wait()).move

    def _wait_for(self, answer: Coroutine[Any, Any, T], limit: float) -> T:
        """Wait for an answer, at most `limit` seconds. Raises EngineDied, and then the process has been ended."""
        waiting = asyncio.wait_for(answer, limit)
        loop = self._engine.protocol.loop
        try:
            future = asyncio.run_coroutine_threadsafe(waiting, loop)
        except RuntimeError:  # the loop has ended, because the process has ended
            waiting.close()
            answer.close()
            raise self._died() from None
        while True:
            try:
                return future.result(timeout=1.0)
            except TimeoutError:
                if not future.done():
                    code = self._engine.transport.get_returncode()  # a child process may hold the pipes open
                    if code is not None:
                        raise self._died(chess.engine.EngineTerminatedError(f"(exit code: {code})")) from None
                    if loop.is_closed() or not loop.is_running():
                        raise self._died() from None
                    continue
                if (error := future.exception()) is None:
                    return future.result()
                self.kill()
                raise EngineDied(f"{self.name} did not respond within {limit:g} s", "hung") from error
            except chess.engine.EngineTerminatedError as error:
                raise self._died(error) from None

    def _died(self, error: BaseException | None = None) -> EngineDied:
        self.kill()
        return EngineDied(f"{self.name} ended ({_exit_code(error)})", "died", _exit_code(error))

    def kill(self) -> None:
        """End the engine's process and its child processes. An engine has child processes if its program is a script
        that starts the real engine.
        """
        kill_group(self._engine.transport.get_pid())
        with contextlib.suppress(Exception):
            self._engine.returncode.result(timeout=2)  # waits until python-chess has noticed that the process has ended
        with contextlib.suppress(Exception):
            self._engine.close()

    def __enter__(self) -> ExternalEngine:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()


class Watched:
    """A running analysis by an engine. Its attributes change while the engine works, until the caller calls `stop`, or
    until `over` is true.

    lines: the latest information about each line that the engine reports (MultiPV). A key is the number of a line, from
        1. A value is an InfoDict of python-chess. Information without an exact score is omitted.
    depth, nodes, nodes_a_second: the depth in plies, the number of nodes, and the nodes per second of the search; 0 if
        the engine does not report them.
    best: the move of the engine's `bestmove` at the end of the analysis; None if there is no move.
    """

    def __init__(self, engine: ExternalEngine, analysis: chess.engine.AnalysisResult):
        self._engine, self._analysis = engine, analysis
        self._loop = engine._engine.protocol.loop
        self.lines: dict[int, chess.engine.InfoDict] = {}
        self.depth = self.nodes = self.nodes_a_second = 0
        self.best: chess.Move | None = None
        try:
            self._over = asyncio.run_coroutine_threadsafe(self._follow(), self._loop)
        except RuntimeError:  # the loop has ended, because the process has ended
            raise engine._died() from None

    async def _follow(self) -> None:
        async for info in self._analysis:
            self.depth = max(self.depth, info.get("depth", 0))
            self.nodes = info.get("nodes", self.nodes)
            self.nodes_a_second = info.get("nps", self.nodes_a_second)
            if "score" in info and info.get("pv") and not (info.get("lowerbound") or info.get("upperbound")):
                self.lines = {**self.lines, info.get("multipv", 1): info}
        self.best = (await self._analysis.wait()).move

    @property
    def over(self) -> bool:
        """Whether the engine has ended the analysis without a call of `stop`. Raises EngineDied if the process has
        ended, or if its output is invalid.
        """
        if not self._over.done():
            # Whether the engine has ended is known only from its exit code. The pipes may stay open, because a child
            # process of the engine can hold them.
            code = self._engine._engine.transport.get_returncode()
            if code is not None or self._loop.is_closed() or not self._loop.is_running():
                error = chess.engine.EngineTerminatedError(f"(exit code: {code})") if code is not None else None
                raise self._engine._died(error)
            return False
        try:
            self._over.result()
        except chess.engine.EngineTerminatedError as error:
            raise self._engine._died(error) from None
        except CancelledError:
            raise self._engine._died() from None
        except Exception as error:
            self._engine.kill()
            raise EngineDied(f"{self._engine.name}: {one_line(error)}", "died") from None
        return True

    def stop(self, limit: float) -> None:
        """End the analysis. If the engine does not end it within `limit` seconds, the method kills the engine and
        raises EngineDied.
        """
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._analysis.stop)
        try:
            self._over.result(limit)
        except TimeoutError:
            self._engine.kill()
            raise EngineDied(f"{self._engine.name} did not stop within {limit:g} s", "hung") from None
        except (Exception, CancelledError):
            self.over  # noqa: B018 - raises what is wrong


async def _begun(analysis: Coroutine[Any, Any, chess.engine.AnalysisResult]) -> chess.engine.AnalysisResult:
    """Begin an analysis, and report an illegal move of the engine in it. The library raises this error in the event
    loop, where no code waits for it, and perhaps before the analysis object exists.
    """
    begun: list[chess.engine.AnalysisResult] = []
    faults: list[Exception] = []

    def report_error(_: object, context: dict[str, Any]) -> None:
        faults.append(context.get("exception") or chess.engine.EngineError())
        call_back()

    def call_back() -> None:
        if begun and faults:
            # the analysis has already ended, or already has this error
            with contextlib.suppress(asyncio.InvalidStateError):
                begun[0].set_exception(faults[0])

    asyncio.get_running_loop().set_exception_handler(report_error)
    begun.append(await analysis)
    call_back()
    return begun[0]


def _exit_code(error: BaseException | None) -> str:
    _, has_code, code = str(error).rpartition("(exit code: ")
    return f"exit code {code.rstrip(')')}" if has_code else "its process has ended"
