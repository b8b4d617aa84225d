"""The interface with which chess and Go provide their parts of personal networks."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from kibitz.personal.shares import PlayerPositions
from kibitz.store.store import Store


class Kind(Protocol):
    """The functions and constants that each game, chess or Go, provides for personal networks. They are in the module
    `kind` of the game's package.

    SYSTEM: the name of the system (the kind of network) of personal networks.
    BASE: the name of the bundled network from which a personal network starts; its system has the same name.
    EPOCHS: the smallest and the largest number of passes over the games in training.
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

        base: a dict of the settings of the network from which training starts.
        store: the store with the games.
        games: the numbers of the person's games in the store, from old to new.
        sides: the person's side in each game of the store, see `kibitz.personal.games.sides_of`.
        spellings: the person's names.
        """

    def level(self, settings: Any) -> dict[str, Any]:
        """Return the person's rating or rank, as an entry for the file run.json in the network's folder. settings: the
        settings of the person's network.
        """

    def side_inputs(self, settings: Any) -> dict[str, int]:
        """Return the network's side inputs (inputs in addition to the position, such as ratings). The result is a dict
        from an input's name to a value that is typical for the person's games. settings: the settings of the person's
        network.
        """


def kind_of(game: str) -> Kind:
    """Return the module `kind` of a game, which has the functions of `Kind`. game: "chess" or "go". The call imports
    the game's package, which needs torch.
    """
    return cast(Kind, importlib.import_module(f"kibitz.personal.{game}.kind"))
