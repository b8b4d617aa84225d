"""The person of a personal network, as a player of an analyzed game: which side the person played, and whether the
network was trained on the game.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError
from kibitz.personal.games import GAMES
from kibitz.personal.names import key
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.store.store import Store


@dataclass(frozen=True)
class PersonInGame:
    """The person of a personal network, in one game.

    sides: whether the person played the first and the second side, such as White and Black in chess.
    note: two sentences, or one, for the user: whose moves the network predicts, and whether it was trained on the game.
    """

    sides: tuple[bool, bool]
    note: str


def person_of(session: Session, players: Sequence[str], moves: NDArray[np.uint16]) -> PersonInGame:
    """Return the person of a network, as a player of a game. Networks of no person predict both sides, without a note.

    session: the network. players, moves: as in `person_in`.
    """
    return person_in(session.run, players, moves) if session.of_person else PersonInGame((True, True), "")


def person_in(run: Run, players: Sequence[str], moves: NDArray[np.uint16]) -> PersonInGame:
    """Return the person of a personal network, as a player of a game.

    run: the personal network. players: the names of the first and the second side in the game. moves: the moves of the
    game, uint16 [n], as a store has them.
    """
    assert run.person is not None
    name, keys = run.person["name"], {key(one) for one in run.person["names"]}
    first, second = (key(player) in keys for player in players)
    if not (first or second):
        return PersonInGame((False, False), f"{run.name} predicts the moves of {name}, who did not play this game.")
    note = f"{run.name} predicts only the moves of {name}."
    return PersonInGame((first, second), f"{note} {_training(run, moves)}")


def _training(run: Run, moves: NDArray[np.uint16]) -> str:
    """Return a sentence about whether the network was trained on the game with these moves."""
    try:
        store, plies = _own_games(run.path / GAMES)
        same = [game for game in np.flatnonzero(plies == len(moves)) if (_moves_of(store, int(game)) == moves).all()]
        trained = not run.unseen_games(store, np.array(same, np.int64)).all()
    except KibitzError:
        return "Its folder does not contain the training games, so it may have been trained on this game."
    if trained:
        return "It was trained on this game, so it predicts the moves better than those of a new game."
    return "It was not trained on this game."


@functools.lru_cache(maxsize=1)
def _own_games(path: Path) -> tuple[Store, NDArray[np.int64]]:
    """Return the store of the person's games, and the number of moves of each game."""
    store = Store(path)
    return store, store.plies


def _moves_of(store: Store, game: int) -> NDArray[np.uint16]:
    return store.moves[store.offsets[game] : store.offsets[game + 1]]
