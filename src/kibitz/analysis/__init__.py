"""Analyze games with a trained network, move by move.

The packages `chess` and `go` contain the analysis of each game. In both packages, the module `answers` interprets the
network's outputs. `chess.moves` and `go.games` evaluate the moves.

A system is a kind of network, such as `winner`. A system whose outputs `answers` cannot interpret declares another
module. This module has the functions of `Analysis` (Go: `OwnerAnalysis`).
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
    """The functions of a module that interprets the outputs of a chess network. An example is the module
    kibitz.analysis.chess.answers. A system (a kind of network, such as `winner`) can declare another module.

    answers: the network's outputs for n positions, as a dict from names to arrays (see
        kibitz.systems.declaration.OUTPUTS).
    codes, state: the positions, uint8 [n, 64] and uint8 [n, 4 or more] (see `kibitz.PositionArrays`).

    `check_outputs` rejects a network for which `white_wins` and `expected_moves` both return None.
    """

    def white_wins(self, answers: Answers, state: NDArray[np.uint8]) -> NDArray[np.float64] | None:
        """Return White's win probability in each of n positions, float64 [n], 0 to 1. Return None if the network does
        not predict it.

        For some systems (kinds of networks), the value is the probability of another event, which the system's
        `meaning` names. answers: the network's outputs, as a dict from names to arrays. state: uint8 [n, 4 or more],
        see `kibitz.PositionArrays`.
        """

    def expected_moves(
        self, answers: Answers, codes: NDArray[np.uint8], state: NDArray[np.uint8]
    ) -> tuple[NDArray[np.uint16], NDArray[np.int64], NDArray[np.float32]] | None:
        """Return all legal moves of n positions, and a weight for each move. Within a position, the weights are
        proportional to the predicted probabilities. Return None if the network does not predict moves.

        The result is three arrays (moves, offsets, weights). `moves`, uint16 [m], has the legal moves of all positions,
        packed (see `kibitz.games.chess.moves.from_move`). `offsets` is int64 [n + 1]. The moves of position i are
        `moves[offsets[i] : offsets[i + 1]]`. `weights`, float32 [m], has the weight of each move, 0 or more. The
        weights of a position need not sum to 1.

        answers: the network's outputs, as a dict from names to arrays. codes, state: the positions, see
        `kibitz.PositionArrays`.
        """


class OwnerAnalysis(Protocol):
    """The function of a module that interprets the outputs of a Go network. An example is the module
    kibitz.analysis.go.answers. A system (a kind of network, such as `gocnn`) can declare another module.

    answers: the network's outputs for n positions, as a dict from names to arrays (see
    kibitz.systems.declaration.OUTPUTS).
    """

    def black_owns(self, answers: Answers) -> NDArray[np.float64]:
        """Return the probability that each point belongs to Black at the end of the game, float64 [n, 361], 0 to 1, for
        n positions. The index of a point is row · 19 + column.
        """


def load(name: str) -> Analysis:
    """Return the module that interprets the outputs of a chess system's networks (see `Analysis`).

    name: the name of the system (a kind of network), such as "winner". Raises UsageError if no system has this name.
    """
    declaration = find(name)
    return cast(Analysis, importlib.import_module(declaration.analysis or "kibitz.analysis.chess.answers"))


def load_owners(name: str) -> OwnerAnalysis:
    """Return the module that interprets the outputs of a Go system's networks (see `OwnerAnalysis`).

    name: the name of the system (a kind of network), such as "gocnn". Raises UsageError if no system has this name.
    """
    declaration = find(name)
    return cast(OwnerAnalysis, importlib.import_module(declaration.analysis or "kibitz.analysis.go.answers"))


def check_outputs(session: NetworkSession, system: str, name: str) -> None:
    """Raise UsageError if `kibitz analyze` can't show the outputs of a network.

    The function evaluates one position with the network. It then checks the types and shapes of the values that the
    functions of `Analysis` (Go: `OwnerAnalysis`) return. session: the loaded network. system: the name of its system
    (its kind of network). name: the name of the network, for error messages.
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
