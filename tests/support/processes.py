"""Processes that misbehave, and whether they have ended."""

from __future__ import annotations

import os
import time
from pathlib import Path

from support.patience import PATIENCE

FAKE = str(Path(__file__).with_name("gtp_faults.py"))
"""A GTP program that behaves as its first argument says."""


def is_gone(number: int) -> bool:
    """Whether a process ends while a test is patient; one that nobody has waited for yet counts as ended."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            os.kill(number, 0)
            if Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.01)
    return False
