"""Soaks: what runs for minutes and hours, beside the suite. `make soak`; see docs/dev/reliability.md."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def known(file: Path) -> dict[str, Any]:
    """What the calls before have counted; nothing before the first."""
    return json.loads(file.read_text()) if file.exists() else {}


def save(file: Path, counts: dict[str, Any]) -> None:
    """Write counts whole or not at all: a call may be ended at any moment, and the next one reads them."""
    begun = file.with_name(f"{file.name}.begun")
    begun.write_text(json.dumps(counts))
    os.replace(begun, file)
