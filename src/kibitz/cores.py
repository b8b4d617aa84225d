"""Count the CPU cores that this process may use."""

from __future__ import annotations

import os


def cores() -> int:
    """Return the number of CPU cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # macOS and Windows lack this function
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
