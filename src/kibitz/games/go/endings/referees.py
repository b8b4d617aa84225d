"""The names of the referees, in a module that does not import numba: the command line needs them."""

METHODS = {
    "playouts": "random playouts that agree with the written result",
    "gnugo": "GNU Go",
    "played out": "GNU Go, which played resigned games to their end",
}
"""Ways to determine the owners at the end of a game, each with its name in a test's notes. A label of a game is one of
these."""
REFEREES: dict[str, tuple[str, ...]] = {
    "auto": ("playouts", "gnugo"),
    "playouts": ("playouts",),
    "gnugo": ("gnugo",),
    "none": (),
}
"""The methods of each referee, in their order: a method is asked for the games that those before it did not confirm.
"auto" leaves out GNU Go where it is not installed. Without a method there are no labels."""
