"""The interface of a game for personal networks, and its implementation for each game."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from kibitz.personal.shares import PlayerPositions
from kibitz.store.store import Store


class Kind(Protocol):
    """A game: the module `kind` of its package here.

    SYSTEM: the system of a personal network.
    BASE: the bundled network that it starts from, and its system.
    OPENING: plies of the first ten moves.
    EPOCHS: passes over the games, the smallest and largest number.
    Positions: the class of the positions in which a person moved.
    """

    SYSTEM: str
    BASE: str
    EPOCHS: tuple[int, int]
    Positions: type[PlayerPositions]

    def settings(
        self,
        base: Mapping[str, Any],
        store: Store,
        games: NDArray[np.int64],
        sides: NDArray[np.int8],
        spellings: Sequence[str],
    ) -> Any:
        """The settings of a person's network. base: those of the network that it begins from; games: in the order of
        time; sides: of all games."""  # fmt: skip

    def level(self, settings: Any) -> dict[str, Any]:
        """Return the person's strength as run.json stores it."""

    def side_inputs(self, settings: Any) -> dict[str, int]:
        """Return the side inputs of the person's network, with typical values of the person's games."""


def kind_of(game: str) -> Kind:
    """Return a game's module `kind`. Imports its package, which takes torch."""
    return cast(Kind, importlib.import_module(f"kibitz.personal.{game}.kind"))
