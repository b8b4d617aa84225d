"""Processes that are forked from one which has loaded the libraries: loading takes longer than what a test is about.

Only for programs whose imports are not the subject: a fork has what the first process has loaded, and its memory. The
first process must not start threads.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
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
    code, arguments, folder, out, err = json.loads(line)
    if child := os.fork():
        os.write(answers, b"%d\\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        continue
    os.close(answers)
    os.chdir(folder)
    for number, path, flags in ((0, os.devnull, os.O_RDONLY), (1, out, os.O_WRONLY), (2, err, os.O_WRONLY)):
        opened = os.open(path, flags)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv[1:] = arguments
    exec(code)
    break
"""


class Forks:
    """Runs programs in forks of one process. prelude: what it runs first. Use it in `with`."""

    def __init__(self, prelude: str):
        self._folder = tempfile.TemporaryDirectory()
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVE, prelude], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip

    def run(self, code: str, *arguments: str, folder: Path) -> Ended:
        """Run Python in a fork, which works in that folder and has these arguments as sys.argv[1:].

        A fork ends as a program does. Its exit code is negative where a signal ended it.
        """
        assert self._process.stdin
        assert self._process.stdout
        files = [Path(self._folder.name) / name for name in ("out", "err")]
        for file in files:
            file.write_bytes(b"")
        asked = [code, arguments, str(folder), *map(str, files)]
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        limit = threading.Timer(3 * PATIENCE, os.killpg, (self._process.pid, signal.SIGKILL))
        limit.start()
        METER.waited = True
        answer = self._process.stdout.readline()
        limit.cancel()
        assert answer, f"the first process has ended with {self._process.wait()}"
        return Ended(int(answer), *(file.read_text(encoding="utf-8") for file in files))

    def __enter__(self) -> Forks:
        return self

    def __exit__(self, *error: Any) -> None:
        self._process.communicate()
        self._folder.cleanup()
