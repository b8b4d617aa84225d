"""What the test that runs now spends, and what its tier allows."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from numba.core import event


class TierError(BaseException):
    """A test of the fast tier does what only slower tiers may. No test can catch it by `except Exception`."""


class Meter(event.Listener):
    """What the test that runs now spends."""

    def __init__(self) -> None:
        self.fast = False
        self.seconds: Counter[str] = Counter()
        self.processes = 0
        self.waited = False  # for a process that an earlier test has started
        self.violation = ""
        self._compiling = 0
        self._begun = 0.0

    @contextlib.contextmanager
    def allowed(self) -> Iterator[None]:
        """Lift the bounds of the fast tier, for a record that is missing."""
        before, self.fast = self.fast, False
        try:
            yield
        finally:
            self.fast = before

    def refuse(self, what: str) -> None:
        """Raises TierError in the fast tier; in a thread, for which the test might wait forever, notes it only."""
        if self.fast:
            self.violation = f"a test of `make test` {what}: avoid it, or mark the test (docs/dev/testing.md)"
            if threading.current_thread() is threading.main_thread():
                raise TierError(self.violation)

    def on_start(self, _event: Any) -> None:
        """numba compiles a function, perhaps within another."""
        if self._compiling == 0:
            self._begun = time.perf_counter()
        self._compiling += 1

    def on_end(self, _event: Any) -> None:
        """It is compiled."""
        self._compiling -= 1
        if self._compiling == 0:
            self.seconds["compiling"] += time.perf_counter() - self._begun


METER = Meter()
