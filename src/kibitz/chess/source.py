"""What the commands need of chess: how its records are read, what a store keeps of them, and what is told of that."""

from kibitz.chess.kept import BESIDE, COLUMNS
from kibitz.chess.pgn import PgnReader as Reader
from kibitz.chess.replay import STANDARD_START

CARRIED: dict[str, tuple[str, int, int]] = {}
RESULTS = {1: "1-0", 0: "1/2-1/2", -1: "0-1"}
TOLD = {"endings": "ending", "speeds": "speed"}
"""Columns of which is told how many games have each value."""

__all__ = ["BESIDE", "CARRIED", "COLUMNS", "RESULTS", "STANDARD_START", "TOLD", "Reader"]
