"""The names of the referees. This module does not import numba, because the command line needs it."""

METHODS = {
    "playouts": "random playouts that agree with the written result",
    "gnugo": "GNU Go",
    "played out": "GNU Go, which played resigned games to their end",
}
"""Methods to determine the owners at the end of a game, with their descriptions for the notes of a test. Each label
records its method.
"""
REFEREES: dict[str, tuple[str, ...]] = {
    "auto": ("playouts", "gnugo"),
    "playouts": ("playouts",),
    "gnugo": ("gnugo",),
    "none": (),
}
"""The methods of each referee, in order. A method is used only for games that the methods before it did not confirm.
"auto" skips GNU Go if it isn't installed. A referee without a method makes no labels.
"""
