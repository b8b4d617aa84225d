"""Measure where the time of a training run goes."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

PARTS = {
    "compile": "compiling",
    "wait": "waiting for a batch",
    "copy": "copy to the device",
    "forward": "forward",
    "backward": "backward",
    "exchange": "gradients of other processes",
    "step": "optimizer's step",
    "figures": "figures and reports",
    "validation": "validation",
    "checkpoint": "checkpoint",
}
"""The parts of a training iteration, in order: name -> name in tables."""
REPLAY = "replay"
"""The name for the time in which threads make batches. This time is not part of the total, because it runs in parallel
to the training.
"""


@dataclass
class Profile:
    """The time of each part of a training run, in seconds. Nothing is measured if `on` is false. iterations: the number
    of iterations so far.

    wait_for_device: a function that waits until the GPU has no work left. It is called at the end of each part, so that
    GPU work counts for the part that started it. A profiled run on a GPU is therefore slower.
    """

    on: bool = False
    wait_for_device: Callable[[], object] = lambda: None
    seconds: dict[str, float] = field(default_factory=dict)
    iterations: int = 0
    _lock: Any = field(default_factory=threading.Lock)

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Inside this context, measure the time, and add it to the part `name` at the end. name: a key of PARTS, such
        as "forward", or REPLAY for the making of batches. Several threads may measure REPLAY at the same time.
        """
        if not self.on:
            yield
            return
        began = time.perf_counter()
        try:
            yield
        finally:
            if name != REPLAY:
                self.wait_for_device()
            with self._lock:
                self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each part that took time: the part, its seconds, its share of the total, and its
        milliseconds per iteration. REPLAY, the making of batches in other threads, is not part of the total, so its
        share is None.
        """
        total = sum(seconds for name, seconds in self.seconds.items() if name != REPLAY)
        return [
            {
                "part": name,
                "seconds": round(self.seconds[name], 3),
                "share": None if name == REPLAY else round(self.seconds[name] / max(total, 1e-9), 4),
                "ms_an_iteration": round(1000 * self.seconds[name] / max(1, self.iterations), 3),
            }
            for name in (REPLAY, *PARTS)
            if name in self.seconds
        ]
