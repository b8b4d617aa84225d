"""What making a person's network asks of a game, and which game has what."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from kibitz.personal.shares import Asked
from kibitz.store.store import Store


class Kind(Protocol):
    """A game: the module `kind` of its package here.

    SYSTEM: the system of a person's network; BASE: the packaged network that it begins from, and its system. OPENING:
    plies of the first ten moves; EPOCHS: passes over the games, at least and at most. Positions: the class of the
    positions in which a person moved.
    """

    SYSTEM: str
    BASE: str
    EPOCHS: tuple[int, int]
    Positions: type[Asked]

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
        """How strong the person is, as run.json tells it."""

    def side_inputs(self, settings: Any) -> dict[str, int]:
        """The side inputs of the person's network, with what is usual in the person's games."""


def kind_of(game: str) -> Kind:
    """What a game has for it. Imports its package, which takes torch."""
    return cast(Kind, importlib.import_module(f"kibitz.personal.{game}.kind"))
