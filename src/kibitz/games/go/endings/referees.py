"""The names of the referees, apart from what they do, so that a command line can be read without numba."""

REFEREES = ("auto", "playouts", "gnugo", "none")
"""Who says who owns each point at the end of a game. auto: playouts, and GNU Go (where installed) for what they do not
confirm; none: nobody."""
