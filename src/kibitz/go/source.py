"""What the commands need of Go: how its records are read, what a store keeps of them, and what is told of that."""

from kibitz.go.kept import BESIDE, CARRIED, COLUMNS
from kibitz.go.kept import SgfReader as Reader
from kibitz.go.replay import STANDARD_START

RESULTS = {1: "Black won", 0: "drawn", -1: "White won"}
TOLD = {"endings": "ending", "boards": "size", "rules": "rules", "komi": "komi", "handicaps": "handicap",
        "owners told by": "labels"}  # fmt: skip
"""Columns of which is told how many games have each value."""

__all__ = ["BESIDE", "CARRIED", "COLUMNS", "RESULTS", "STANDARD_START", "TOLD", "Reader"]
