"""Processes that misbehave, and whether they have ended."""

from __future__ import annotations

import os
import time
from pathlib import Path

FAKE = str(Path(__file__).with_name("gtp_faults.py"))
"""A GTP program that behaves as its first argument says."""


def is_gone(number: int) -> bool:
    """Whether a process ends within 30 seconds; one that nobody has waited for yet counts as ended."""
    for _ in range(3000):
        try:
            os.kill(number, 0)
            if Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.01)
    return False
