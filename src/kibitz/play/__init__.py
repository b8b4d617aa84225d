"""Evaluate positions and choose moves with a trained network. All interfaces of kibitz use this package."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kibitz.errors import UsageError
from kibitz.messages import not_one_of
from kibitz.systems import find
from kibitz.systems.declaration import COMPARISON, FULL_COMPARISON, HUMAN_SEARCH, METHODS, MOVES, OWNERS, VALUE

if TYPE_CHECKING:
    from kibitz.play.session import Session
    from kibitz.runs import Run
    from kibitz.systems.declaration import Declaration, Method

_NEEDS = {
    MOVES: "predicts moves",
    VALUE: "values positions",
    COMPARISON: "compares positions",
    FULL_COMPARISON: "compares positions with its full network",
    OWNERS: "predicts territory",
}


def open_player(run: Run, session: Callable[[], Session], *, method: str | None = None, **settings: Any) -> Any:
    """Return an object that chooses moves with the network of a run (a player). A run is a trained model; the model
    family (system) of the run determines the class of the player.

    run: the run.
    session: a function that returns the run's loaded network, for methods that need it.
    method: the name of a method of choosing moves, such as "top-prob". None selects the first method that the run's
        networks support. If the settings contain `value`, a second network that evaluates positions, then the player's
        class selects the method instead.
    settings: the player's settings, such as temperature, lines, hash_mb.

    Raises UsageError for a method or settings that the run's networks don't support.
    """
    declaration = find(run.info["system"])
    offered = declaration.methods_of(run.info["settings"])
    if method is None and offered and settings.get("value") is None:
        method = offered[0].name
    known = _known(declaration)
    if method is not None and method not in known:
        raise UsageError(why_not(method, run.name, [each.name for each in offered]))
    named = [known[method]] if method is not None else [*offered, *declaration.methods]
    # if the run cannot play, the opener raises an error that explains what is missing
    opener = named[0].opener if named else "kibitz.play.chess.player:open_player"
    module, _, function = opener.partition(":")
    return getattr(importlib.import_module(module), function)(run, session, method=method, **settings)


def playable(run: Run) -> tuple[str, ...]:
    """Return the names of the methods by which a run (a trained model) can choose moves; () if it can't play. Some of
    these methods also need a second network that predicts values.
    """
    declaration = find(run.info["system"])
    answers = set(declaration.answers_of(run.info["settings"]))
    if MOVES in answers:
        answers.add(VALUE)
    return tuple(name for name, method in _known(declaration).items() if set(method.needs) <= answers)


def _known(declaration: Declaration) -> dict[str, Method]:
    """Return the methods of a system, including those that need the values of another network."""
    known = {each.name: each for each in declaration.methods}
    if MOVES not in declaration.answers or declaration.game != "chess":
        return known
    general = (each for each in METHODS.values() if set(each.needs) <= {MOVES, VALUE} and each is not HUMAN_SEARCH)
    return known | {each.name: each for each in general if each.name not in known}


def plays_nothing(name: str) -> str:
    """Return the error message that a network can't choose moves by any method. name: the name of the network."""
    return (
        f"{name} cannot play: it predicts neither moves nor the value for the side to move. Try the network 'chessnet'."
    )


def why_not(method: str, name: str, offered: list[str]) -> str:
    """Return the error message that a network can't choose moves by `method`. name: the name of the network. offered:
    the methods that it supports.
    """
    if method not in METHODS:
        return (
            not_one_of("method", method, offered)
            if offered
            else f"{name} cannot play, so it supports no method (got {method})"
        )
    if method == HUMAN_SEARCH.name:
        return f"the method {method} needs a network with rating inputs, and {name} has none. Use the network 'human'."
    needs = " and ".join(_NEEDS[need] for need in METHODS[method].needs)
    return f"the method {method} needs a network that {needs} (got {name}). Choose another network."
