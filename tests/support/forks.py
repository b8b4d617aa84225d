"""Processes that are forked from one which has loaded the libraries: loading takes longer than what a test is about.

Only for programs whose imports are not the subject: a fork has what the first process has loaded, and its memory. The
first process must not start threads.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from support.causes import Ended
from support.meter import METER
from support.patience import PATIENCE

SERVE = """
import gc, json, os, sys
answers = os.dup(1)
os.dup2(2, 1)
exec(sys.argv[1])
gc.collect()
gc.freeze()  # else each fork goes through all that is loaded when it ends, and so copies the memory: a second and more
for line in sys.stdin:
    asked = json.loads(line)
    if isinstance(asked, int):
        os.write(answers, b"%d\\n" % os.waitstatus_to_exitcode(os.waitpid(asked, 0)[1]))
        continue
    code, arguments, folder, out, err, leads = asked
    if child := os.fork():
        os.write(answers, b"%d\\n" % child)
        continue
    os.close(answers)
    if leads:
        os.setsid()
    for number, path, flags in ((0, os.devnull, os.O_RDONLY), (1, out, os.O_WRONLY), (2, err, os.O_WRONLY)):
        opened = os.open(path, flags)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(folder)
    sys.argv[1:] = arguments
    exec(code)
    break
"""


class Forked:
    """A program that runs in a fork: its process id, its standard error as a stream, and how it ends."""

    def __init__(self, forks: Forks, pid: int, out: Path, err: Path):
        self._forks, self._out = forks, out
        self.pid = pid
        self.stderr = err.open(encoding="utf-8")

    def communicate(self) -> Ended:
        """Wait until nobody has its standard error open any more, and for its end."""
        errors = self.stderr.read()
        return Ended(self._forks.ask(self.pid), self._out.read_text(encoding="utf-8"), errors)


class Forks:
    """Runs programs in forks of one process. prelude: what it runs first; environment: all of its variables, by default
    those of this process. Use it in `with`."""

    def __init__(self, prelude: str, environment: Mapping[str, str] | None = None):
        self._folder = tempfile.TemporaryDirectory()
        self._started = 0
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVE, prelude], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            start_new_session=True, env=environment,
        )  # fmt: skip

    def run(self, code: str, *arguments: str, folder: Path) -> Ended:
        """Run Python in a fork, which works in that folder and has these arguments as sys.argv[1:].

        A fork ends as a program does. Its exit code is negative where a signal ended it.
        """
        files = [Path(self._folder.name) / name for name in ("out", "err")]
        for file in files:
            file.write_bytes(b"")
        ended = self.ask(self.ask([code, arguments, str(folder), *map(str, files), False]))
        return Ended(ended, *(file.read_text(encoding="utf-8") for file in files))

    @contextlib.contextmanager
    def started(self, code: str, *arguments: str, folder: Path) -> Iterator[Forked]:
        """A program as in `run`, while it runs. At the end it is killed, with all that it has started."""
        self._started += 1
        out, err = (Path(self._folder.name) / f"{name}{self._started}" for name in ("out", "err"))
        out.write_bytes(b"")
        os.mkfifo(err)
        pid = self.ask([code, arguments, str(folder), str(out), str(err), True])
        limit = threading.Timer(3 * PATIENCE, os.killpg, (pid, signal.SIGKILL))
        limit.start()
        forked = Forked(self, pid, out, err)
        try:
            yield forked
        finally:
            limit.cancel()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            forked.stderr.close()

    def ask(self, question: Any) -> int:
        """What the first process answers: to a program, the id of its fork; to this id, its exit code."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        limit = threading.Timer(3 * PATIENCE, os.killpg, (self._process.pid, signal.SIGKILL))
        limit.start()
        METER.waited = True
        answer = self._process.stdout.readline()
        limit.cancel()
        assert answer, f"the first process has ended with {self._process.wait()}"
        return int(answer)

    def __enter__(self) -> Forks:
        return self

    def __exit__(self, *error: Any) -> None:
        self._process.communicate()
        self._folder.cleanup()
