"""Go: read SGF, apply the rules, replay games, make planes, and determine the final owner of each point.

A point's number is row · 19 + column from the upper left, on every board (points.py). Colors are 0 none, 1 Black, 2
White, 3 outside the board.
"""

KOMI = 7.5
"""Komi of a new game, in points."""
