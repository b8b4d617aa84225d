"""The limits of an analysis of chess: numbers that the board needs before it needs a search.

This module imports nothing, so a board that was just started can use the numbers immediately.
"""

from __future__ import annotations

DEPTH, QUICK_DEPTH = 6, 2
"""Search depth in plies: the default, and that of a fast analysis."""
NODES = 160
"""Evaluations per position in the PUCT search."""
LOWEST, HIGHEST = 100, 4000
"""The range of plausible ratings."""
