"""The names of the referees, in a module that does not import numba: the command line needs them."""

REFEREES = ("auto", "playouts", "gnugo", "none")
"""Ways to determine the owners at the end of a game. auto: playouts, and GNU Go (if installed) for games that playouts
do not confirm; none: no labels."""
