"""What Python loads first in each program that a test of `soak.functions` starts.

It notes which functions of kibitz are executed, and removes one of them.

AUDIT_SOURCES   the folder src/kibitz whose functions count
AUDIT_EXECUTED  a file: each function that is executed adds a line with the test and the function
AUDIT_REMOVED   "file, name, line, way" of the function to remove, as JSON
"""

from __future__ import annotations

import importlib.machinery
import json
import os
import sys
import threading
from typing import Any

SOURCES, EXECUTED, REMOVED = "AUDIT_SOURCES", "AUDIT_EXECUTED", "AUDIT_REMOVED"


class Tracer:
    """Notes each function of kibitz once for each test and process."""

    def __init__(self) -> None:
        self.sources = os.environ[SOURCES].rstrip("/") + "/"
        self.seen: set[Any] = set()
        self.begin()

    def begin(self) -> None:
        """A new test, or its call after its set-up: every function counts again."""
        self.seen = set()

    def __call__(self, frame: Any, event: str, argument: Any) -> None:
        code = frame.f_code
        if code in self.seen:
            return
        self.seen.add(code)
        if code.co_filename.startswith(self.sources) and code.co_name[0] != "<":
            test, _, phase = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")
            line = f"{test}\t{phase[:-1]}\t{code.co_filename[len(self.sources) :]}\t{code.co_qualname}\n"
            try:
                file = os.open(os.environ[EXECUTED], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            except (OSError, KeyError):
                return  # a test that takes file handles, rights or the environment away
            try:
                os.write(file, line.encode())
            except OSError:
                pass
            finally:
                os.close(file)


def note_executed() -> Tracer:
    tracer = Tracer()
    threading.settrace(tracer)  # type: ignore[arg-type]
    sys.settrace(tracer)  # type: ignore[arg-type]
    return tracer


def remove(file: str, name: str, line: int, way: str) -> None:
    """Each import of the file gets it without the function. The file itself does not change, and so the cache of
    compiled kernels stays valid."""
    sys.path.insert(0, os.path.dirname(__file__))
    from removal import without

    sys.path.pop(0)
    original = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        path = self.get_filename(fullname)
        if path != file:
            return original(self, fullname)
        return compile(without(self.get_source(fullname), name, line, way), path, "exec", dont_inherit=True)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


tracer = note_executed() if os.environ.get(EXECUTED) and os.environ.get(SOURCES) else None
if os.environ.get(REMOVED):
    remove(*json.loads(os.environ[REMOVED]))
