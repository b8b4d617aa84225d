"""What each test file took when the table of docs/dev/testing.md was written."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "dev" / "testing.md"


def seconds_of_files() -> dict[str, float]:
    """What each test file takes, from the table that `make test-times` writes: {"tests/test_api.py": 59.8}."""
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(tests/[^`]+)` \| \d+ \| ([\d,.]*)", text, re.MULTILINE)
    return {file: float(seconds.replace(",", "") or 0) for file, seconds in rows}
