"""Communicate with programs that use the Go protocol GTP, with time limits. The program's process ends in every case,
even after an error.
"""

from __future__ import annotations

import contextlib
import os
import queue
import re
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from kibitz.errors import one_line
from kibitz.external import EngineDied, kill_group, running

_LINES = 1_000
"""Number of buffered lines of output; a program that writes more has to wait."""
_LONGEST = 1 << 16
"""The largest number of characters of a line that are read in one step."""
_LONGEST_WAIT = 86_400.0
"""The longest time, in seconds, for one wait on a queue; longer waits are repeated."""
_LONGEST_ANSWER = 1 << 24
"""If a reply has more characters than this, the program is ended, because the reply would fill the memory."""
_POLITE = 1.0
"""Seconds in which a program must end after `quit`."""


_SCORE = re.compile(r"(?P<side>[BW])\+(?P<points>\d+(?:\.\d+)?)|0(?:\.0*)?(?![\d.])")
"""A score at the beginning of a reply; GNU Go writes "0" for an even one."""


def read_score(text: str) -> float:
    """Return Black's lead in points from a program's estimate of the score, such as "B+3.5 (upper bound: …)".

    text: the reply to `estimate_score` or a similar command; "0" means that no side leads. Raises ValueError for any
    other text.
    """
    if not (found := _SCORE.match(text.strip())):
        raise ValueError(f"the reply is not a score: {text!r}")
    return float(found["points"] or 0) * (-1 if found["side"] == "W" else 1)


class CommandRefused(ValueError):
    """Raised if a program replies to a command with an error. The text of the error is the exception's message."""


class GtpProgram:
    """One process of a GTP program.

    command: the program and its arguments.
    name: the program's name in error messages.
    folder: the program's working directory, in which its command `loadsgf` finds files.

    Raises EngineDied if the program can't be started. Output that is not a reply is ignored. The process runs in a
    separate operating-system session. So Ctrl-C does not reach it, and its child processes end together with it. Only
    one thread at a time may call `request`. Any thread may call `kill`.
    """

    def __init__(self, command: Sequence[str], name: str = "", folder: str | Path | None = None):
        self.name = name or Path(command[0]).name
        self._number = 0
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                start_new_session=True,
            )
        except OSError as error:
            raise EngineDied(f"{self.name} cannot be started ({one_line(error)}). Check its path.", "died") from None
        running.add(self._process.pid)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in = self._process.stdin
        self._lines: queue.Queue[str | None] = queue.Queue(_LINES)
        self._gone = threading.Event()
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)
        self._reader.start()

    def _read(self, out: IO[bytes]) -> None:
        """Forward the program's lines, and None at its end. Runs in a separate thread."""
        with out:
            while not self._gone.is_set():
                try:
                    line = out.readline(_LONGEST)
                except (OSError, ValueError):
                    line = b""
                text = line.decode(errors="replace").rstrip("\r\n") if line else None
                while not self._gone.is_set():
                    with contextlib.suppress(queue.Full):
                        self._lines.put(text, timeout=0.1)
                        break
                if not line:
                    return

    @property
    def running(self) -> bool:
        """Whether the process is running."""
        return not self._gone.is_set() and self._process.poll() is None

    def request(self, command: str, limit: float) -> str:
        """Send a command, and return the text of the reply, without the leading "=" and the command number.

        Raises CommandRefused if the program replies with an error. Raises EngineDied if the program has ended, if the
        reply is not complete within `limit` seconds, or if the reply is longer than 16 MB. The program does not run
        after this error.
        """
        self._send(command)
        until = time.monotonic() + limit
        answer: list[str] | None = None
        length = 0
        good = True
        while True:
            try:
                line = self._lines.get(timeout=min(max(until - time.monotonic(), 0), _LONGEST_WAIT))
            except queue.Empty:
                if time.monotonic() < until:
                    continue
                raise self._died("hung", f"the program did not reply to {command!r} within {limit:g} s") from None
            if line is None:
                raise self._died("died", f"the program ended during the command {command!r}")
            if answer is not None:
                if not line.strip():
                    break
                answer.append(line)
                if (length := length + len(line)) > _LONGEST_ANSWER:
                    raise self._died("hung", f"the reply to {command!r} is longer than {length >> 20} MB")
            elif (first := self._begins(line)) is not None:
                answer, good = [first], line[0] == "="
            if time.monotonic() > until:
                raise self._died("hung", f"the reply to {command!r} was not complete within {limit:g} s")
        text = "\n".join(answer).strip()
        if not good:
            raise CommandRefused(text or "refused")
        return text

    def begin(self, command: str) -> None:
        """Send a command whose reply does not end by itself, such as kata-analyze. This method does not wait for the
        reply. The next call of `request` ends the command.

        Raises EngineDied if the program has ended.
        """
        self._send(command)

    def received_lines(self, wait: float) -> list[str]:
        """Return the lines that the program has printed since the last call. They are a part of the reply to the
        command that `begin` has sent. The method waits at most `wait` seconds for the first line.

        Raises CommandRefused if the program rejects the command, and EngineDied if the program has ended.
        """
        lines: list[str] = []
        with contextlib.suppress(queue.Empty):
            while len(lines) < _LINES:
                line = self._lines.get(timeout=0 if lines else wait)
                if line is None:
                    raise self._died("died", "the program ended during its search")
                if line[:1] == "?" and (why := self._begins(line)) is not None:
                    raise CommandRefused(why or "refused")
                lines.append(line)
        # Checked explicitly, because a child process may hold the pipes open after the program has ended.
        if not lines and self._process.poll() is not None:
            raise self._died("died", "the program ended during its search")
        return lines

    def answered(self, wait: float) -> str | None:
        """Return the first line of the reply to the command that `begin` has sent. Return None if the line does not
        arrive within `wait` seconds.

        Raises the same errors as `received_lines`.
        """
        begun = (self._begins(line) for line in self.received_lines(wait))
        return next((words.strip() for words in begun if words is not None), None)

    def _send(self, command: str) -> None:
        self._number += 1
        try:
            self._in.write(f"{self._number} {command}\n".encode())
            self._in.flush()
        except (OSError, ValueError):
            raise self._died("died", f"the program ended before the command {command!r}") from None

    def _begins(self, line: str) -> str | None:
        """Return the rest of a line that begins the reply to the last command; None for other lines."""
        if line[:1] not in ("=", "?"):
            return None
        number, _, rest = line[1:].partition(" ")
        if number.strip() not in ("", str(self._number)):  # a reply to another command
            return None
        return rest

    def _died(self, how: str, what: str) -> EngineDied:
        code = self._process.poll()
        self.kill()
        ended = f" (exit code {code})" if how == "died" and code is not None else ""
        return EngineDied(f"{self.name}: {what}{ended}", how)

    def kill(self) -> None:
        """End the process and its children immediately."""
        self._gone.set()
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(None)  # wakes up a thread that waits for a reply
        kill_group(self._process.pid)
        if not hasattr(os, "killpg"):
            self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_POLITE)
        with contextlib.suppress(OSError):
            self._in.close()

    def close(self) -> None:
        """Send the command `quit`, and then end the process."""
        if self.running:
            with contextlib.suppress(CommandRefused, EngineDied):
                self.request("quit", _POLITE)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_POLITE)
        self.kill()
        self._reader.join(_POLITE)

    def __enter__(self) -> GtpProgram:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
