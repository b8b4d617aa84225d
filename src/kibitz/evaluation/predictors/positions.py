"""The positions of a test of engines: their games, the groups into which they are divided, and a network's results for
them.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import UsageError
from kibitz.evaluation import OnProgress
from kibitz.evaluation.batches import evaluate_in_batches
from kibitz.evaluation.slices import PHASES
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.store.positions import Batch, Positions
from kibitz.store.store import Store
from kibitz.systems.declaration import MOVES

Marks = dict[str, NDArray[Any]]
"""Properties or results of positions: arrays by name, with one entry per position. Results are, for example, "rank"
(from 1) and "chance" of the played move.
"""


@dataclass(frozen=True)
class SliceKey:
    """A rule that divides positions into groups for one table.

    values: [n], the value of a property of each position, such as the rating.
    bands: how the values are divided into groups, as keyword arguments of `kibitz.stats.slices`. If "edges" is given,
        each group is a range of values. The edges are ascending numbers: the limits between the ranges, the lower limit
        of the first range and the upper limit of the last range. "labels" are the names of the groups. Without "edges",
        each group has one of the values 0, 1, 2, …, and "labels" is required.
    """

    values: NDArray[Any]
    bands: dict[str, Any]

    def parts(self) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        """Yield the name of each group that is not empty, and which of the positions are in the group, bool [n]."""
        edges, labels = self.bands.get("edges"), self.bands.get("labels")
        if edges is None:
            for index, label in enumerate(labels or ()):
                if (inside := self.values == index).any():
                    yield label, inside
            return
        for index, (low, high) in enumerate(itertools.pairwise(edges)):
            if (inside := (self.values >= low) & (self.values < high)).any():
                plain = f"{low:g} and over" if np.isinf(high) else f"{low:g}-{high - 1:g}"
                yield labels[index] if labels else plain, inside


@dataclass(frozen=True)
class PlayedPositions:
    """Positions of a store in which a move was played, sorted by game and ply.

    store: the database of games.
    positions: the larger set from which these positions were sampled.
    indices: int64 [n], the indices of these positions in `positions`.
    games, plies: int64 [n], the index of the game in the store, and the number of moves before the position.
    rating: int64 [n], the mover's rating; −1 if unknown. In Go it is always −1, because players have ranks.
    marks: a dict from names to arrays [n]. "side" is the side to move, 0 for White in chess and for Black in Go. In
        chess, "phase" is the phase of the game, 0 to 2. In Go, "size" is the board's size.
    """

    store: Store
    positions: Positions
    indices: NDArray[np.int64]
    games: NDArray[np.int64]
    plies: NDArray[np.int64]
    rating: NDArray[np.int64]
    marks: Marks

    def __len__(self) -> int:
        return len(self.games)

    def take(self, some: NDArray[np.int64]) -> PlayedPositions:
        """Return the positions with the given indices. some: int64 [k]."""
        marks = {name: values[some] for name, values in self.marks.items()}
        return PlayedPositions(
            self.store, self.positions, self.indices[some], self.games[some], self.plies[some], self.rating[some], marks
        )

    def slices(self) -> dict[str, SliceKey]:
        """Return a dict of the rules that divide the positions into groups, such as "rating" and "phase". Tests of
        kibitz's networks use the same groups. If a property is unknown for all positions, its rule is omitted.
        """
        return _go_slices(self) if self.store.game == "go" else _chess_slices(self)


def select(store: Store, positions: Positions, indices: NDArray[np.int64]) -> PlayedPositions:
    """Return the positions with the given indices, and the properties by which tables group them.

    positions: the larger set of positions. indices: int64 [n], indices into `positions`.
    """
    measure = _measure_go if store.game == "go" else _measure_chess
    marks = evaluate_in_batches(positions, indices, measure)
    games, plies = positions.locate(indices)
    rating = np.full(len(games), -1, np.int64)
    if store.game == "chess":
        both = np.stack([store.column("white_rating"), store.column("black_rating")]).astype(np.int64)
        rating = both[marks["side"].astype(np.int64), games]
        rating = np.where(rating > 0, rating, -1)
    return PlayedPositions(store, positions, indices, games, plies, rating, marks)


def _measure_chess(batch: Batch) -> Marks:
    from kibitz.games.chess.material import phase
    from kibitz.games.chess.replay import SIDE

    return {"side": batch.state[:, SIDE], "phase": phase(batch.codes)}


def _measure_go(batch: Batch) -> Marks:
    from kibitz.games.go.replay import SIDE, SIZE

    return {"side": batch.state[:, SIDE], "size": batch.state[:, SIZE]}


def _chess_slices(some: PlayedPositions) -> dict[str, SliceKey]:
    from kibitz.evaluation.policy.human.evaluator import OPENING, PLIES
    from kibitz.evaluation.policy.human.results import BANDS, band_name
    from kibitz.games.chess.filters import SPEEDS
    from kibitz.games.chess.sides import SCALES, scale_codes

    names = [band_name(low, high) for low, high in itertools.pairwise(BANDS)]
    numbers = {speed: number for number, speed in enumerate(SPEEDS)}
    speed = np.array([numbers.get(name, -1) for name in some.store.column("speed")])[some.games]
    keys = {
        "rating": SliceKey(some.rating, {"edges": BANDS, "labels": names}),
        "ply": SliceKey(some.plies, {"edges": PLIES}),
        "opening": SliceKey((some.plies >= OPENING).astype(int), {"labels": (f"first {OPENING} plies", "after")}),
        "phase": SliceKey(some.marks["phase"], {"labels": PHASES}),
        "side to move": SliceKey(some.marks["side"], {"labels": ("White", "Black")}),
        "speed": SliceKey(speed, {"labels": SPEEDS}),
        "rating scale": SliceKey(scale_codes(some.store)[some.games].astype(int) - 1, {"labels": SCALES[1:]}),
    }
    unknown = {name for name in ("rating", "speed", "rating scale") if (keys[name].values < 0).all()}
    return {name: key for name, key in keys.items() if name not in unknown}


def _go_slices(some: PlayedPositions) -> dict[str, SliceKey]:
    from kibitz.evaluation.owners.evaluator import RANK_WORDS, RANKS
    from kibitz.evaluation.policy.gohuman.evaluator import MOVES as MOVE_BANDS
    from kibitz.games.go.ranks import value_or_nan

    ranks = np.stack([
        np.array([value_or_nan(rank) for rank in some.store.column(f"{color}_rank")], np.float64)
        for color in ("black", "white")
    ])  # fmt: skip
    side = some.marks["side"].astype(np.int64)
    size = some.marks["size"].astype(np.int64)
    return {
        "move number": SliceKey(some.plies, {"edges": MOVE_BANDS}),
        "rank": SliceKey(ranks[side, some.games], {"edges": RANKS, "labels": RANK_WORDS}),
        "board": SliceKey(size, {"edges": (9, 13, 19, 20), "labels": ("9", "13", "19")}),
        "side to move": SliceKey(some.marks["side"], {"labels": ("Black", "White")}),
    }


def network_marks(run: Run, some: PlayedPositions, on_progress: OnProgress) -> Marks:
    """Evaluate the positions with a network that predicts moves. Returns its results for the played moves, such as
    "rank" and "chance", as a dict from names to arrays [n]. The network gets all its additional inputs, such as
    ratings.

    Raises UsageError if the network predicts no moves.
    """
    session = Session(run)
    answers = run.system.declaration.answers_of(run.info["settings"])
    if MOVES not in answers:
        raise UsageError(
            f"{run.name} does not predict moves, so it cannot be compared with an engine."
            " Choose the network 'human' or 'chessnet'."
        )
    progress = functools.partial(on_progress, "network")
    if run.info["game"] == "go":
        from kibitz.evaluation.policy.gohuman.results import ConditionedSession

        return evaluate_in_batches(
            some.positions, some.indices, ConditionedSession(session, some.store).measure, progress, 512
        )

    from kibitz.evaluation.policy.human.results import RatedSession, ranked
    from kibitz.evaluation.policy.metrics import played_in, with_side_inputs

    if "opponent_rating" in session.side_inputs:
        rated = RatedSession(session, some.store)
        return evaluate_in_batches(
            some.positions, some.indices, lambda batch: rated.measure(batch, rated.full_state(batch)), progress
        )

    def measure(batch: Batch) -> Marks:
        state = with_side_inputs(session, run.settings, some.store, batch)
        played = played_in(some.store, batch.games, batch.plies).astype(np.uint16)
        return ranked(session.evaluate(batch.codes, state), batch, played)

    return evaluate_in_batches(some.positions, some.indices, measure, progress)
