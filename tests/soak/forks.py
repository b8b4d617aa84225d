"""The tests of one file, run again and again in forks of one process, each time without another function.

`soak.functions` starts this program, and writes one request a line to its standard input:

    {"warm": TESTS}                                             run these, and answer which of them pass
    {"tests": TESTS, "seconds": LIMIT}                          run these in a fork
    {"tests": TESTS, "seconds": LIMIT, "removed": [FILE, NAME, LINE, WAY]}   run these in a fork without that function

What a session or a module shares is made once, by "warm", so that a fork runs nothing but the tests themselves.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import sys
import time
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

SITE = str(Path(__file__).parent / "site")
sys.path.insert(0, SITE)

import sitecustomize  # noqa: E402
from removal import codes, without  # noqa: E402


def remove(file: str, name: str, line: int, way: str) -> None:
    """Replace a function in this process, and in each program that it starts."""
    os.environ["AUDIT_REMOVED"] = json.dumps([file, name, line, way])
    sitecustomize.remove(file, name, line, way)  # for an import that is still to come
    tree = without(Path(file).read_text(encoding="utf-8"), name, line, way)
    changed = {(code.co_qualname, code.co_firstlineno): code
               for code in codes(compile(tree, file, "exec", dont_inherit=True))}  # fmt: skip
    gc.unfreeze()  # `support.costs` freezes what is loaded, and `get_objects` does not return frozen functions
    for found in gc.get_objects():
        if type(found) is not FunctionType or found.__code__.co_filename != file:
            continue
        key = found.__code__.co_qualname, found.__code__.co_firstlineno
        if key in changed and (key == (name, line) or name.startswith(f"{key[0]}.<locals>.")):
            found.__code__ = changed[key]


class Loop:
    """Takes the place of pytest's own loop over tests."""

    def __init__(self, requests: Any, replies: Any):
        self.requests, self.replies = requests, replies
        self.failed = False
        self.called = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed
        self.called |= report.passed and report.when == "call"

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        self.answer({"collected": list(self.items)})
        for line in self.requests:
            request = json.loads(line)
            if "warm" in request:
                self.answer({"passed": [test for test in request["warm"] if test in self.items and self.passes(test)]})
            else:
                self.answer(self.fork(request))
        os._exit(0)  # nothing of the session needs to be taken down, and forks have used it

    def answer(self, reply: dict[str, Any]) -> None:
        self.replies.write(json.dumps(reply) + "\n")
        self.replies.flush()

    def passes(self, test: str) -> bool:
        """Whether a test runs and passes. What the session and the module share stays, and what the test has set up is
        taken down: without this, pytest refuses to set up another test."""
        self.failed = self.called = False
        item = self.items[test]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=item.getparent(pytest.Module))
        return self.called and not self.failed

    def fork(self, request: dict[str, Any]) -> dict[str, Any]:
        start = time.monotonic()
        if not (child := os.fork()):
            try:
                os.setsid()
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.setitimer(signal.ITIMER_REAL, request["seconds"])
                if "removed" in request:
                    remove(*request["removed"])
                os._exit(0 if all(self.passes(test) for test in request["tests"]) else 1)
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # programs that its tests have left behind
        late = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM
        outcome = "too long" if late else "passed" if status == 0 else "failed"
        return {"outcome": outcome, "seconds": time.monotonic() - start}


def main() -> None:
    requests, replies = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nowhere, stream)
    file, *options = sys.argv[1:]
    pytest.main([file, *options], plugins=[Loop(requests, replies)])


if __name__ == "__main__":
    main()
