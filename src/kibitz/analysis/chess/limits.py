"""Default limits of a chess analysis. The program `kibitz board` shows these numbers before it needs a search.

This module imports nothing, so `kibitz board` can use the numbers immediately after its start.
"""

from __future__ import annotations

DEPTH, QUICK_DEPTH = 6, 2
"""Depths of the alpha-beta search in plies: the default depth, and the depth of a fast analysis."""
NODES = 160
"""The default number of network evaluations per position in the PUCT search."""
LOWEST, HIGHEST = 100, 4000
"""The range of plausible ratings of chess players, in points."""
