"""Functions and constants with which Go implements the interface `kibitz.personal.kinds.Kind`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.ranks import rank_of
from kibitz.games.go.sides import LOWEST_RANK, rank_byte, server_byte
from kibitz.personal import names
from kibitz.personal.adapter import NOTHING
from kibitz.personal.go.positions import GoPlayerPositions as Positions
from kibitz.personal.go.system import PersonalGoHuman, Settings
from kibitz.store.store import Store

__all__ = ["BASE", "EPOCHS", "SYSTEM", "Positions", "level", "settings", "side_inputs"]

SYSTEM, BASE = "gopersonal", "gohuman"
EPOCHS = (1, 4)
"""The smallest and the largest number of passes over the games. They are small, because a Go position takes five times
as long as a chess position, and has eight symmetries.
"""
NEWEST = 100


def settings(
    base: Mapping[str, Any], store: Store, games: NDArray[np.int64], sides: NDArray[np.int8], spellings: Sequence[str]
) -> Settings:
    """Return the settings of a person's network. The arguments are those of `kibitz.personal.kinds.Kind.settings`.

    Three settings are the most frequent values in the newest 100 games (NEWEST): the person's rank, the opponent's
    rank, and the server. Each is a number for the network's inputs, 0 if unknown.
    """
    newest = games[-NEWEST:]
    ranks = np.stack([
        np.array([rank_byte(rank) for rank in store.column(f"{colour}_rank")[newest]], np.int64)
        for colour in ("black", "white")
    ])  # fmt: skip
    at = np.arange(len(newest))
    servers = np.array([server_byte(place) for place in store.column("place")[newest]], np.int64)
    shape = {name: base[name] for name in ("blocks", "filters", "norm")}
    return Settings(
        **shape, rank=_usual(ranks[sides[newest], at]), opponent_rank=_usual(ranks[1 - sides[newest], at]),
        server=_usual(servers), players=names.SEPARATOR.join(spellings), learns=NOTHING,
    )  # fmt: skip


def _usual(values: NDArray[np.int64]) -> int:
    """Return the most frequent known value (not 0); 0 if none is known."""
    known = values[values > 0]
    return int(np.bincount(known).argmax()) if len(known) else 0


def level(settings: Settings) -> dict[str, Any]:
    """Return the person's rank, as an entry for the file run.json in the network's folder: {"rank": ...}. The value is
    None if the rank is unknown.
    """
    return {"rank": rank_of(settings.rank - LOWEST_RANK) if settings.rank else None}


def side_inputs(settings: Settings) -> dict[str, int]:
    """Return the network's side inputs (inputs in addition to the position, such as komi and ranks). The result is a
    dict from an input's name to a value that is typical for the person's games.
    """
    return dict(PersonalGoHuman(replace(settings, blocks=1, filters=16)).side_inputs)
