"""The names of the referees, in a module that does not import numba: the command line needs them."""

METHODS = {
    "playouts": "random playouts that agree with the written result",
    "gnugo": "GNU Go",
    "played out": "GNU Go, which played resigned games to their end",
}
"""Methods to determine the owners at the end of a game, with their names in a test's notes. A game's label names
one."""
REFEREES: dict[str, tuple[str, ...]] = {
    "auto": ("playouts", "gnugo"),
    "playouts": ("playouts",),
    "gnugo": ("gnugo",),
    "none": (),
}
"""The methods of each referee, in order. A method is only used for games that the methods before it did not confirm.

"auto" skips GNU Go if it isn't installed. Without a method there are no labels.
"""
