"""Analysis of games with a trained network, move by move.

`chess/` and `go/` have the same structure: `games.py` reads games, `moves.py` evaluates them, `answers.py` reads a
network's outputs. If a system's outputs have another meaning, the system declares a separate module with the functions
of `Analysis`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import UsageError
from kibitz.games import game_of
from kibitz.systems import find

if TYPE_CHECKING:
    from kibitz.play.session import Answers, NetworkSession


class Analysis(Protocol):
    """The interface of a module that reads the outputs of a chess network. Such a module is
    kibitz.analysis.chess.answers, or one that a system declares.

    answers: the network's outputs for n positions, as arrays by name. codes, state: the positions, as in
    `PositionArrays`: uint8 [n, 64] and uint8 [n, 4 or more]. `check_outputs` rejects a network for which `white_wins`
    and `expected_moves` both return None.
    """

    def white_wins(self, answers: Answers, state: NDArray[np.uint8]) -> NDArray[np.float64] | None:
        """Return the probability of the event that the system declares as `meaning`, float64 [n], 0 to 1; None if the
        network predicts no such event. Usually the event is that White wins.
        """

    def expected_moves(
        self, answers: Answers, codes: NDArray[np.uint8], state: NDArray[np.uint8]
    ) -> tuple[NDArray[np.uint16], NDArray[np.int64], NDArray[np.float32]] | None:
        """Return all legal moves, and a weight for each that is proportional to its probability; None if the network
        doesn't predict moves.

        The result is three arrays: the moves of all positions, uint16 [m], packed (see `from_move`); the index at which
        the moves of each position begin, int64 [n + 1], with m at the end; and the weights, float32 [m], 0 or more. The
        weights of a position need not sum to 1.
        """


class OwnerAnalysis(Protocol):
    """The interface of a module that reads the outputs of a Go network. Such a module is kibitz.analysis.go.answers, or
    one that a system declares. answers: the network's outputs for n positions, as arrays by name.
    """

    def black_owns(self, answers: Answers) -> NDArray[np.float64]:
        """Return the probability that each point belongs to Black at the end of the game, float64 [n, 361], 0 to 1."""


def load(name: str) -> Analysis:
    """Return the module that reads the outputs of a chess system. name: the system's name. Raises UsageError if no
    system has this name.
    """
    declaration = find(name)
    return cast(Analysis, importlib.import_module(declaration.analysis or "kibitz.analysis.chess.answers"))


def load_owners(name: str) -> OwnerAnalysis:
    """Return the module that reads the outputs of a Go system. name: the system's name. Raises UsageError if no system
    has this name.
    """
    declaration = find(name)
    return cast(OwnerAnalysis, importlib.import_module(declaration.analysis or "kibitz.analysis.go.answers"))


def check_outputs(session: NetworkSession, system: str, name: str) -> None:
    """Check that `kibitz analyze` can show a network's outputs. Raises UsageError if it can't.

    The function evaluates one position, and compares the types and shapes of the results with those that `Analysis` or
    `OwnerAnalysis` requires. system: the system's name. name: the network's name, for messages.
    """
    game = game_of(find(system).game)
    start = game.STANDARD_START
    codes, state = game.replay(
        np.zeros(0, np.uint16), np.zeros(2, np.int64), start[None], np.zeros(1, np.int32), np.zeros(1, np.int64),
        np.zeros(1, np.int64),
    )  # fmt: skip
    answers = session.evaluate(codes, state)
    has = ", ".join(answers) or "none"
    module = find(system).analysis
    try:
        if find(system).game == "go":
            _check_array("black_owns", load_owners(system).black_owns(answers), codes.shape, module)
            return
        white = load(system).white_wins(answers, state)
        moves = load(system).expected_moves(answers, codes, state)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError):
        raise UsageError(f"{name} has outputs that analyze cannot show (got {has}). {_REMEDY}") from None
    if white is None and moves is None:
        raise UsageError(f"{name} has no output that analyze can show (got {has}). {_REMEDY}")
    if white is not None:
        _check_array("white_wins", white, (1,), module)
    if moves is not None:
        if not isinstance(moves, tuple) or len(moves) != 3:
            raise UsageError(f"expected_moves must give three arrays (got {type(moves).__name__}). {_REMEDY}")
        for values, length in zip(moves, (20, 2, 20), strict=True):
            _check_array("expected_moves", values, (length,), module)


_REMEDY = "Name its outputs as in kibitz.systems.declaration.OUTPUTS, or declare another analysis module."


def _check_array(what: str, values: Any, shape: tuple[int, ...], module: str) -> None:
    where = f"{module}.{what}" if module else what
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiu":
        raise UsageError(f"{where} must give an array of numbers (got {type(values).__name__}). {_REMEDY}")
    if values.shape != shape:
        raise UsageError(
            f"{where} must give an array of shape {list(shape)} for one position (got {list(values.shape)}). {_REMEDY}"
        )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise UsageError(f"{where} gives values that are not finite (got {values.ravel()[:1].tolist()[0]}). {_REMEDY}")
