"""A chess player's process: started, asked for moves, and ended, whatever it does."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import chess
import chess.engine

from kibitz.arena.contest import ATTEMPTS, Fault, StartFailed
from kibitz.arena.players import Player

START_PATIENCE = 20.0
"""Seconds in which an engine must answer `uci`. (It may take as long as for a move to load what it needs.)"""

# What an engine does wrong is told as its fault; the libraries would tell it once more, line by line.
for _library in ("chess.engine", "asyncio"):
    logging.getLogger(_library).setLevel(logging.CRITICAL + 1)


T = TypeVar("T")


@dataclass(frozen=True)
class Answer:
    """A move, and what was said with it: centipawns from the mover's view (a mate counts 100,000), depth, nodes."""

    move: chess.Move
    seconds: float
    score: int | None = None
    depth: int | None = None
    nodes: int | None = None


class Engine:
    """One process of a player. `hang` is the patience, in seconds, where no time limit bounds the wait.

    Not started until `start`; after a Fault it is closed, and the next `start` brings a new process.
    """

    def __init__(self, player: Player, hang: float):
        self.player = player
        self.hang = hang
        self.identity = player.name
        self._engine: chess.engine.SimpleEngine | None = None
        self._closed = False

    def start(self) -> None:
        """Start the process unless it runs. Raises StartFailed."""
        if self._engine is not None:
            return
        reason = ""
        for _ in range(ATTEMPTS):
            if self._closed:
                break
            try:
                self._start()
                return
            except (chess.engine.EngineError, _Refused, TimeoutError, OSError) as error:
                self.stop()
                reason = _start_problem(error)
                if isinstance(error, OSError | _Refused) and not isinstance(error, TimeoutError):
                    break  # it will not change its mind
        raise StartFailed(
            f"{self.player.name}: cannot be started ({reason}); try it by hand: {' '.join(self.player.command)}"
        )

    def _start(self) -> None:
        engine = chess.engine.SimpleEngine.popen_uci(
            list(self.player.command),
            timeout=START_PATIENCE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the match; and whatever it starts can be ended with it
        )
        self._engine = engine
        if self._closed:  # while it started
            self.stop()
            raise chess.engine.EngineTerminatedError("the match has ended")
        self.identity = engine.id.get("name", self.player.name)
        try:
            if self.player.options:
                engine.configure(dict(self.player.options))
        except chess.engine.EngineTerminatedError:
            raise
        except chess.engine.EngineError as error:
            raise _Refused(str(error)) from None
        self._wait(engine.protocol.ping(), self.hang)  # by now it has loaded what it needs

    def answer(self, board: chess.Board, limit: chess.engine.Limit, game: object, patience: float | None) -> Answer:
        """Its move. `patience` is how many seconds it has before it is at fault; None: `hang`.

        Raises Fault, after which the process is gone.
        """
        engine = self._engine
        if engine is None:
            raise Fault("crash", "ended")
        begun = time.perf_counter()
        try:
            info = chess.engine.INFO_BASIC | chess.engine.INFO_SCORE
            played = self._wait(
                engine.protocol.play(board, limit, game=game, info=info), self.hang if patience is None else patience
            )
            seconds = time.perf_counter() - begun
            if not played.move:  # a null move, as 0000, is none either
                raise Fault("illegal", "answered no move where there are legal ones")
            return _answer(played, seconds, board.turn)
        except TimeoutError:
            self.stop()
            raise Fault("hang", f"no move after {time.perf_counter() - begun:.1f} s") from None
        except chess.engine.EngineTerminatedError as error:
            self.stop()
            raise Fault("crash", f"crashed ({_exit_code(error)})") from None
        except chess.engine.EngineError as error:
            self.stop()
            raise Fault("illegal", f"answered an illegal move ({_one_line(error)})") from None
        except Fault:
            self.stop()
            raise

    def _wait(self, asked: Awaitable[T], patience: float) -> T:
        """Wait for an answer of the process, at most `patience` seconds. The library's own wait knows no clocks."""
        assert self._engine is not None
        waiting = asyncio.wait_for(asked, patience)
        loop = self._engine.protocol.loop
        try:
            future = asyncio.run_coroutine_threadsafe(waiting, loop)
        except RuntimeError:  # its loop has ended, since the process has
            waiting.close()
            cast(Any, asked).close()
            raise chess.engine.EngineTerminatedError("engine process has ended") from None
        while True:
            try:
                return future.result(timeout=1.0)
            except TimeoutError:
                if future.done():
                    return future.result()
                if loop.is_closed() or not loop.is_running():
                    raise chess.engine.EngineTerminatedError("engine process has ended") from None

    def stop(self) -> None:
        """End the process, and where the program was a script, whatever it started."""
        engine, self._engine = self._engine, None
        if engine is None:
            return
        with contextlib.suppress(OSError, AttributeError):
            os.killpg(engine.transport.get_pid(), signal.SIGKILL)
        with contextlib.suppress(Exception):
            engine.returncode.result(timeout=2)  # the library has seen it end, and has nothing more to say
        with contextlib.suppress(Exception):
            engine.close()

    def close(self) -> None:
        """End the process for good: from another thread too, whose wait for a move then ends with a Fault."""
        self._closed = True
        self.stop()


class _Refused(Exception):
    """The engine does not know an option, or not this value."""


def _start_problem(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "it does not answer in UCI"
    if isinstance(error, chess.engine.EngineTerminatedError):
        return f"it ends at once, {_exit_code(error)}"
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    return _one_line(error)


def _exit_code(error: BaseException) -> str:
    _, found, code = str(error).rpartition("(exit code: ")
    return f"exit code {code.rstrip(')')}" if found else "its process has ended"


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()).replace('"', "'")


def _answer(played: chess.engine.PlayResult, seconds: float, turn: chess.Color) -> Answer:
    assert played.move is not None
    said = played.info
    score = said["score"].pov(turn).score(mate_score=100_000) if "score" in said else None
    return Answer(played.move, seconds, score, said.get("depth"), said.get("nodes"))
