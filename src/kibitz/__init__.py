"""Learn to evaluate and play chess and Go from game records with convolutional networks.

For notebooks and scripts (docs/reference/python.md has more):

>>> import kibitz
>>> network = kibitz.load_network("winner")
>>> bool(network.evaluate("k7/8/8/8/8/8/QR6/K7 b - - 0 1").white > 0.9)
True

Importing kibitz loads nothing else: each public name is loaded at its first use. Everything except `train`, `test` and
`compare` works without the extra `train` (PyTorch).
"""

from typing import TYPE_CHECKING, Any

from kibitz import environment

if TYPE_CHECKING:
    from kibitz.api.games import analyse, analyse_all, rate
    from kibitz.api.moves import ChosenMove, ChosenPoint
    from kibitz.api.networks import (
        MoveOptions,
        MoveProbability,
        PointProbability,
        PositionEvaluation,
        SideInputs,
        TrainedNetwork,
        list_networks,
        list_systems,
        load_network,
    )
    from kibitz.api.positions import PositionArrays, encode_positions, make_go_board
    from kibitz.api.stores import GameStore, MoveArrays, PositionLabels, open_store
    from kibitz.api.testing import NetworkComparison, TestResult, TestRows, compare, test
    from kibitz.api.training import TrainingOptions, TrainingProgress, TrainingRun, train
    from kibitz.errors import KibitzError, UsageError
    from kibitz.notebook import MovesByRating, moves_by_rating, show
    from kibitz.play.value import PositionValue
    from kibitz.stats import ClusterBootstrap, Estimate

__version__ = "1.0.0rc1"

__all__ = [
    "ChosenMove",
    "ChosenPoint",
    "ClusterBootstrap",
    "Estimate",
    "GameStore",
    "KibitzError",
    "MoveArrays",
    "MoveOptions",
    "MoveProbability",
    "MovesByRating",
    "NetworkComparison",
    "PointProbability",
    "PositionArrays",
    "PositionEvaluation",
    "PositionLabels",
    "PositionValue",
    "SideInputs",
    "TestResult",
    "TestRows",
    "TrainedNetwork",
    "TrainingOptions",
    "TrainingProgress",
    "TrainingRun",
    "UsageError",
    "analyse",
    "analyse_all",
    "compare",
    "encode_positions",
    "list_networks",
    "list_systems",
    "load_network",
    "make_go_board",
    "moves_by_rating",
    "open_store",
    "rate",
    "show",
    "test",
    "train",
]

_MODULES = {
    "play.value": ("PositionValue",),
    "api.games": ("analyse", "analyse_all", "rate"),
    "api.moves": ("ChosenMove", "ChosenPoint"),
    "api.networks": (
        "MoveOptions", "MoveProbability", "PointProbability", "PositionEvaluation", "SideInputs", "TrainedNetwork",
        "list_networks", "list_systems", "load_network",
    ),
    "api.positions": ("PositionArrays", "encode_positions", "make_go_board"),
    "api.stores": ("GameStore", "MoveArrays", "PositionLabels", "open_store"),
    "api.testing": ("NetworkComparison", "TestResult", "TestRows", "compare", "test"),
    "api.training": ("TrainingOptions", "TrainingProgress", "TrainingRun", "train"),
    "errors": ("KibitzError", "UsageError"),
    "notebook": ("MovesByRating", "moves_by_rating", "show"),
    "stats": ("ClusterBootstrap", "Estimate"),
}  # fmt: skip
"""Where the public names are: module of kibitz -> names."""
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

environment.set_up()


def __getattr__(name: str) -> Any:
    """Return a public name, after importing the module that defines it. Raises AttributeError for any other name."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"kibitz.{_HOMES[name]}"), name)
    globals()[name] = value  # Python then finds the name without another call of this function
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
