"""The names of the referees, which determine the owner of each point at the end of a game. The command line imports
this module, which therefore does not import numba (a slow import).
"""

METHODS = {
    "playouts": "random playouts that agree with the written result",
    "gnugo": "GNU Go",
    "played out": "GNU Go, which played resigned games to their end",
}
"""The methods that determine the owners of the points at the end of a game, with their descriptions for reports. Each
label records its method.
"""
REFEREES: dict[str, tuple[str, ...]] = {
    "auto": ("playouts", "gnugo"),
    "playouts": ("playouts",),
    "gnugo": ("gnugo",),
    "none": (),
}
"""The methods that each referee uses, in order. A method is used only for games whose score the methods before it did
not confirm. "auto" skips GNU Go if it isn't installed. "none" makes no labels.
"""
