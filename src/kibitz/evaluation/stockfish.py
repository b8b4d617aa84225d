"""Stockfish as a yardstick: its evaluation of positions and its best moves at a fixed depth, through plain UCI.

It may be absent, crash or hang; whatever it does, no wait is longer than PATIENCE, and its process ends with ours.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import NamedTuple

from kibitz.errors import UsageError

PATIENCE = 20.0
"""Seconds for an answer: to the start, or to one position."""

MATE = 100_000
"""Centipawns that a mate counts, less its distance in moves."""


class EngineFailed(Exception):
    """The engine did not start, crashed, or did not answer in time."""


def find(wanted: str | None = None) -> str | None:
    """The path of Stockfish; None where it is not installed. Raises UsageError where `wanted` is no program."""
    if wanted is not None:
        found = shutil.which(wanted)
        if not found:
            raise UsageError(f"--stockfish {wanted}: no such program; give its path")
        return found
    return shutil.which("stockfish") or shutil.which("/usr/games/stockfish")  # where Debian has it, off most PATHs


class Answer(NamedTuple):
    """centipawns: the evaluation from White's view, a mate in n moves is ±(MATE - n). move: the best one as UCI writes
    it; "(none)" where there is none."""

    centipawns: int
    move: str


class Stockfish:
    """One engine process. Raises EngineFailed where it does not answer in time. A context."""

    def __init__(self, path: str):
        self.name = os.path.basename(path)
        try:
            self._process = subprocess.Popen(
                [path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                text=True, encoding="utf-8", errors="replace", bufsize=1, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise EngineFailed(f"{path}: {(error.strerror or str(error)).lower()}") from None
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            self._send("uci")
            for line in self._until("uciok"):
                if line.startswith("id name "):
                    self.name = line.removeprefix("id name ").strip()
            self._send("setoption name Threads value 1", "setoption name Hash value 4")
        except BaseException:
            self.close()
            raise

    def evaluate(self, fen: str, depth: int) -> Answer:
        """Its evaluation and best move. Starts from an empty memory, so that they depend on the position alone."""
        self._send("ucinewgame", "isready")
        for _ in self._until("readyok"):
            pass
        self._send(f"position fen {fen}", f"go depth {depth}")
        score: int | None = None
        move = ""
        for line in self._until("bestmove"):
            words = line.split()
            if line.startswith("bestmove"):
                move = words[1] if len(words) > 1 else ""
            elif "score" in words and "upperbound" not in words and "lowerbound" not in words:
                score = _centipawns(words[words.index("score") + 1 :])
        if score is None:
            raise EngineFailed(f"{self.name} gave no score for {fen}")
        return Answer(score if " w " in fen else -score, move)

    def close(self) -> None:
        """End the process, and where the program was a script, whatever it started."""
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if pipe:
                    pipe.close()

    def __enter__(self) -> Stockfish:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _send(self, *lines: str) -> None:
        assert self._process.stdin
        try:
            self._process.stdin.write("".join(f"{line}\n" for line in lines))
            self._process.stdin.flush()
        except OSError:
            raise EngineFailed(f"{self.name} ended (exit code {self._process.wait()})") from None

    def _read(self) -> None:
        assert self._process.stdout
        with contextlib.suppress(ValueError, OSError):  # closed while reading
            for line in self._process.stdout:
                self._lines.put(line)
        self._lines.put(None)

    def _until(self, last: str) -> Iterator[str]:
        """Lines up to the one that begins with `last`, and that one."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise EngineFailed(f"{self.name} did not answer for {PATIENCE:g} s") from None
            if line is None:
                raise EngineFailed(f"{self.name} ended (exit code {self._process.wait()})")
            yield line
            if line.startswith(last):
                return


def _centipawns(words: Sequence[str]) -> int:
    """What follows "score" as centipawns: "cp 31", "mate -3"; "mate 0" is said by a side that is mated."""
    try:
        kind, value = words[0], int(words[1])
    except (IndexError, ValueError):
        raise EngineFailed(f"a score that is none: {' '.join(words[:2])}") from None
    return value if kind == "cp" else (MATE if value > 0 else -MATE) - value


def evaluations(
    path: str,
    fens: Sequence[str],
    depth: int,
    *,
    workers: int,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[str, list[Answer]]:
    """The engine's name, and its answer to each position.

    workers: processes, one thread each. Raises EngineFailed when any of them fails; no process is left.
    """
    done, failed, lock = 0, threading.Event(), threading.Lock()

    def work(mine: Sequence[str]) -> tuple[str, list[Answer]]:
        nonlocal done
        answers: list[Answer] = []
        try:
            with Stockfish(path) as engine:
                for fen in mine:
                    if failed.is_set():
                        break
                    answers.append(engine.evaluate(fen, depth))
                    with lock:
                        done += 1
                        tell(done, len(fens))
                return engine.name, answers
        except BaseException:
            failed.set()
            raise

    workers = max(1, min(workers, len(fens)))
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(work, fens[first::workers]) for first in range(workers)]
        try:
            parts = [future.result() for future in futures]
        except BaseException:
            failed.set()  # Ctrl-C too: the others stop after the position they are at
            raise
    every = [Answer(0, "")] * len(fens)
    for first, (_, answers) in enumerate(parts):
        every[first::workers] = answers
    return parts[0][0], every
