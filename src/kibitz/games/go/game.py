"""The implementation of the interface `kibitz.games.Game` for Go. The rest of kibitz uses Go through this interface."""

from typing import Any

from kibitz.games.go.io.ingest import COLUMNS, PER_GAME, PER_MOVE
from kibitz.games.go.io.ingest import SgfReader as Reader
from kibitz.games.go.replay import STANDARD_START, are_starts, replay

RESULTS = {1: "Black won", 0: "drawn", -1: "White won"}
SUMMARY_COLUMNS = {"endings": "ending", "boards": "size", "rules": "rules", "komi": "komi", "handicaps": "handicap",
                   "ownership from": "labels"}  # fmt: skip


def captures(*arguments: Any) -> Any:
    """Raise NotImplementedError. This function does not exist for Go, because no Go network uses it."""
    raise NotImplementedError("kibitz cannot list the captures in a store of Go games")


__all__ = [
    "COLUMNS",
    "PER_GAME",
    "PER_MOVE",
    "RESULTS",
    "STANDARD_START",
    "SUMMARY_COLUMNS",
    "Reader",
    "are_starts",
    "captures",
    "replay",
]
