"""The implementation of the interface `kibitz.games.Game` for chess. The rest of kibitz uses chess through this
interface.
"""

from kibitz.games.chess.io.ingest import COLUMNS, PER_MOVE
from kibitz.games.chess.io.pgn import PgnReader as Reader
from kibitz.games.chess.replay import STANDARD_START, are_starts, captures, replay

PER_GAME: dict[str, tuple[str, int, int]] = {}
RESULTS = {1: "1-0", 0: "1/2-1/2", -1: "0-1"}
SUMMARY_COLUMNS = {"endings": "ending", "speeds": "speed"}

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
