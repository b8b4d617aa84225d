"""Go: reading SGF, rules, replaying games, planes, and who owns what at the end.

A point is numbered row · 19 + column from the upper left, on every board (points.py). Colours are 0 none, 1 Black, 2
White, 3 outside the board.
"""

KOMI = 7.5
"""Komi of a new game, in points."""
