"""The interface of a game (chess or Go) for personal networks, and its implementation for each game."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from kibitz.personal.shares import PlayerPositions
from kibitz.store.store import Store


class Kind(Protocol):
    """What the code for personal networks needs from each game. The module `kind` of the game's package has these
    functions and constants.

    SYSTEM: the name of the system of personal networks.
    BASE: the name of the bundled network from which a personal network starts; its system has the same name.
    EPOCHS: the smallest and the largest number of epochs.
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
        """Return the settings of a person's network.

        base: the settings of the network from which it starts. games: the indices of the person's games, in
        chronological order. sides: the person's side in each game of the store. spellings: the person's names.
        """

    def level(self, settings: Any) -> dict[str, Any]:
        """Return the person's rating or rank, as entries for run.json."""

    def side_inputs(self, settings: Any) -> dict[str, int]:
        """Return by name the network's inputs in addition to the position, such as ratings, with values that are
        typical for the person's games. settings: the settings of the person's network.
        """


def kind_of(game: str) -> Kind:
    """Return the module `kind` of a game, "chess" or "go". This imports the game's package, which needs torch."""
    return cast(Kind, importlib.import_module(f"kibitz.personal.{game}.kind"))
