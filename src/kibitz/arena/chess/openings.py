"""Read the openings of chess matches."""

from __future__ import annotations

import importlib.resources
from functools import cache

import chess

BUNDLED = "openings.txt"


@cache
def openings() -> tuple[tuple[chess.Move, ...], ...]:
    """Return the openings that kibitz includes, each as its moves from the start position. The file data/openings.txt
    explains their choice in its first lines.
    """
    text = (importlib.resources.files("kibitz") / "data" / BUNDLED).read_text(encoding="utf-8")
    return tuple(
        tuple(chess.Move.from_uci(word) for word in line.split())
        for line in text.splitlines()
        if line and not line.startswith("#")
    )
