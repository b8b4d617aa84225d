"""One Python process that runs one command of kibitz after another: an environment of its own, and a single start.

A command in a separate process takes seconds to import its modules. A test of an environment, for example one in which
PyTorch is missing, needs another process than its own, but not a new one for each command.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support.causes import Ended
from support.meter import METER
from support.patience import PATIENCE

TESTS = Path(__file__).parents[1]
SERVE = f"""
import json, os, sys
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what a library prints must not come between the answers
sys.path.insert(0, {str(TESTS)!r})
from support.causes import in_process
for line in sys.stdin:
    arguments, lines = json.loads(line)
    ended = in_process(arguments, lines)
    answers.write(json.dumps([ended.code, ended.out, ended.err]) + "\\n")
    answers.flush()
"""


class Warm:
    """A process that runs commands. environment: all of its variables; folder: where it works; python: what runs it.
    Use it in `with`."""

    def __init__(self, environment: Mapping[str, str], folder: Path, python: str | Path = sys.executable):
        self._process = subprocess.Popen(
            [str(python), "-c", SERVE], cwd=folder, env=dict(environment), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, *arguments: str, lines: str = "") -> Ended:
        """How a command ended. lines: its standard input. Raises AssertionError if the process has ended."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([arguments, lines]) + "\n")
        self._process.stdin.flush()
        limit = threading.Timer(3 * PATIENCE, self._process.kill)
        limit.start()
        METER.waited = True
        answer = self._process.stdout.readline()
        limit.cancel()
        assert answer, f"the process has ended with {self._process.wait()}"
        return Ended(*json.loads(answer))

    def __enter__(self) -> Warm:
        return self

    def __exit__(self, *error: Any) -> None:
        self._process.communicate()
