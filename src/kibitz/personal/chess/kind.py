"""Functions and constants with which chess implements the interface `kibitz.personal.kinds.Kind`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.sides import RATING_UNIT, rating_bytes, scale_codes, speed_codes
from kibitz.personal import names
from kibitz.personal.adapter import NOTHING
from kibitz.personal.chess.positions import ChessPlayerPositions as Positions
from kibitz.personal.chess.system import PersonalHuman, Settings
from kibitz.store.store import Store

__all__ = ["BASE", "EPOCHS", "SYSTEM", "Positions", "level", "settings", "side_inputs", "usual_game"]

SYSTEM, BASE = "personal", "human"
EPOCHS = (2, 5)


@dataclass(frozen=True)
class UsualGame:
    """The typical values, in a person's games, of the network's side inputs (inputs in addition to the position). 0
    means unknown.

    rating, opponent_rating: the ratings of the person and of the opponent, in units of 16 points.
    speed, scale: the codes of the speed class and of the rating scale, see `kibitz.games.chess.sides`.
    """

    rating: int
    opponent_rating: int
    speed: int
    scale: int


def usual_game(store: Store, games: NDArray[np.int64], sides: NDArray[np.int8]) -> UsualGame:
    """Return the median ratings, and the most frequent speed and rating scale, of the person's newest games. These
    games show the person's present strength.

    games: the numbers of the person's games in the store, from old to new. Only the last hundred of them are used.
    sides: the person's side in each game of the store, see `kibitz.personal.games.sides_of`.
    """
    newest = games[-100:]
    ratings = np.stack([store.column("white_rating"), store.column("black_rating")]).astype(np.int64)
    own, other = (ratings[side, newest] for side in (sides[newest], 1 - sides[newest]))

    def median(values: NDArray[np.int64]) -> int:
        known = values[values > 0]
        return int(rating_bytes(np.array([np.median(known)]))[0]) if len(known) else 0

    def mode(codes: NDArray[np.uint8]) -> int:
        return int(np.bincount(codes[newest]).argmax())

    return UsualGame(median(own), median(other), mode(speed_codes(store)), mode(scale_codes(store)))


def settings(
    base: Mapping[str, Any], store: Store, games: NDArray[np.int64], sides: NDArray[np.int8], spellings: Sequence[str]
) -> Settings:
    """Return the settings of a person's network. The arguments are those of `kibitz.personal.kinds.Kind.settings`."""
    shape = {name: base[name] for name in ("blocks", "filters", "norm")}
    usual = asdict(usual_game(store, games, sides))
    return Settings(**shape, **usual, players=names.SEPARATOR.join(spellings), learns=NOTHING)


def level(settings: Settings) -> dict[str, Any]:
    """Return the person's rating in points, as an entry for the file run.json in the network's folder, such as
    {"rating": 1504}. The value is None if the rating is unknown.
    """
    return {"rating": settings.rating * RATING_UNIT or None}


def side_inputs(settings: Settings) -> dict[str, int]:
    """Return the network's side inputs (inputs in addition to the position, such as ratings). The result is a dict from
    an input's name to a value that is typical for the person's games.
    """
    return dict(PersonalHuman(replace(settings, blocks=1, filters=1)).side_inputs)
