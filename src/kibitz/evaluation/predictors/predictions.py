"""An engine's prediction of a player's move in a position, and the rank of the played move in the prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kibitz.external import EngineDied
from kibitz.external.pool import Counter, fan_out
from kibitz.store.store import Store

LINES = 3
"""The number of moves that an engine without probabilities ranks, if it can list several moves."""
UNRANKED = 9_999
"""The rank of a played move that the engine does not list."""
MAX_FAILURES = 3
"""The test stops with an error after this number of engine failures in a row."""


class MoveRefused(Exception):
    """Raised if an engine refuses a move of a game, for example a suicide. The engine still runs, and can continue with
    other games.
    """


@dataclass(frozen=True)
class MovePrediction:
    """An engine's prediction of the move in one position. A move is a packed move in chess (see
    `kibitz.games.chess.moves`), and row · 19 + column, or 361 for a pass, in Go.

    ranked: moves, the most likely first. The list need not contain all legal moves.
    probabilities: the probability of each move, 0 to 1; empty if the engine prints no probabilities.
    least: the lower limit of the probabilities. `chance` uses this limit in place of a lower probability, such as a
        printed 0. The limit is half a unit in the last decimal place that the engine prints.
    """

    ranked: Sequence[int]
    probabilities: Mapping[int, float]
    least: float = 0.0

    def rank(self, played: int) -> int:
        """Return the rank of the played move, from 1; UNRANKED (9999) if it is not in `ranked`."""
        return self.ranked.index(played) + 1 if played in self.ranked else UNRANKED

    def chance(self, played: int) -> float:
        """Return the probability of the played move, 0 to 1. All printed probabilities are normalized, so that their
        sum is 1. If the engine doesn't print the played move, its probability before the normalization is `least`.

        The result is NaN if the engine prints no probabilities.
        """
        total = sum(max(value, self.least) for value in self.probabilities.values())
        return max(self.probabilities.get(played, 0.0), self.least) / total if total > 0 else float("nan")


class Predictor(Protocol):
    """The interface of a running engine that predicts moves. It is a context manager that ends the engine's process on
    exit.

    name: the name that the engine reports.
    """

    name: str

    def begin(self, store: Store, game: int) -> None:
        """Set up the start position of a game. game: the game's index in the store."""

    def advance(self, ply: int) -> None:
        """Play the next moves of the game, until `ply` moves of the game have been played. Then `predict` predicts the
        move after them. `ply` must not decrease from call to call. Raises MoveRefused if the engine refuses a move.
        """

    def predict(self) -> MovePrediction:
        """Return the engine's prediction of the next move. Raises EngineDied if the engine doesn't reply in time."""

    def __enter__(self) -> Predictor: ...

    def __exit__(self, *error: object) -> None: ...


@dataclass(frozen=True)
class Predicted:
    """The predictions of an engine for n positions. Each array has one entry per position.

    name: the name that the engine reports.
    answered: bool [n], whether the engine made a prediction.
    listed: int16 [n], the number of moves that the engine ranks.
    rank: int16 [n], the played move's rank, from 1; UNRANKED (9999) if the engine does not rank it.
    chance: float64 [n], the played move's probability; NaN if the engine prints no probabilities.
    best: int64 [n], the move that the engine ranks first; −1 if there is none.
    """

    name: str
    answered: NDArray[np.bool_]
    listed: NDArray[np.int16]
    rank: NDArray[np.int16]
    chance: NDArray[np.float64]
    best: NDArray[np.int64]

    @classmethod
    def nothing(cls, n: int) -> Predicted:
        """Return a `Predicted` for n positions without predictions."""
        return cls(
            "", np.zeros(n, np.bool_), np.zeros(n, np.int16), np.full(n, UNRANKED, np.int16), np.full(n, np.nan),
            np.full(n, -1, np.int64),
        )  # fmt: skip

    def take(self, some: NDArray[np.int64]) -> Predicted:
        """Return the predictions for the positions with the given indices. some: int64 [k]."""
        return Predicted(self.name, **{name: values[some] for name, values in self.arrays().items()})

    def put(self, some: NDArray[np.int64], other: Predicted) -> None:
        """Replace the predictions for some positions by those of `other`. some: int64 [k], the indices of these
        positions.
        """
        for name, values in other.arrays().items():
            self.arrays()[name][some] = values

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return a dict from the name of each field, except `name`, to its array."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "name"}


def predict_positions(
    start: Callable[[], Predictor],
    store: Store,
    games: NDArray[np.int64],
    plies: NDArray[np.int64],
    workers: int,
    on_progress: Callable[[int, int], None],
) -> Predicted:
    """Let an engine predict the played moves in positions of a store, in several processes at a time.

    start: a function that starts one process of the engine.
    games, plies: int64 [n], the positions, sorted: the index of a game in the store, and the number of moves before the
        position.
    workers: the number of threads, each with one process.
    on_progress: a function that is called with the number of completed positions and the total.

    If the engine fails in a position, it is restarted, and the position has no prediction. If the engine refuses a move
    of a game, the later positions of this game have no prediction. Raises EngineDied after three failures in a row.
    """
    n = len(games)
    found = Predicted.nothing(n)
    played = store.moves[store.offsets[games] + plies].astype(np.int64)
    counter = Counter(n, on_progress)
    edges = np.flatnonzero(np.diff(games, prepend=-1)).tolist()
    parts = [range(first, last) for first, last in zip(edges, [*edges[1:], n], strict=True)]

    def work(mine: Iterator[range]) -> str:
        name, failures = "", 0
        engine: Predictor | None = None
        try:
            for part in mine:
                begun = refused = False
                for i in part:
                    if refused:
                        counter.step()
                        continue
                    try:
                        if engine is None:
                            engine, begun = start(), False
                            name = engine.name
                        if not begun:
                            engine.begin(store, int(games[i]))
                            begun = True
                        engine.advance(int(plies[i]))
                        prediction = engine.predict()
                    except MoveRefused:
                        refused = True
                    except EngineDied as error:
                        failures += 1
                        engine, _ = None, engine and engine.__exit__()
                        if error.how == "absent" or failures == MAX_FAILURES:
                            raise
                    else:
                        failures = 0
                        _record(found, i, prediction, int(played[i]))
                    counter.step()
        finally:
            if engine is not None:
                engine.__exit__()
        return name

    names, _ = fan_out(parts, work, workers)
    return replace(found, name=next(filter(None, names), ""))


def _record(found: Predicted, i: int, prediction: MovePrediction, played: int) -> None:
    found.answered[i], found.listed[i] = bool(prediction.ranked), len(prediction.ranked)
    if prediction.ranked:
        found.rank[i], found.chance[i] = prediction.rank(played), prediction.chance(played)
        found.best[i] = prediction.ranked[0]
