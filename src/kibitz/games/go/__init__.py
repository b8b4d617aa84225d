"""Go: reading SGF, the rules, computing positions from moves, network inputs (planes), and the owners of the points at
the end of a game.

Points are the intersections of the board. The number of a point is row · 19 + column from the upper left, on every
board size (see `points.py`). Colors are 0 none, 1 Black, 2 White, 3 outside the board.
"""

KOMI = 7.5
"""The komi of a new game, in points."""
