"""The test of external engines as predictors of players' moves. A network can be tested on the same positions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.cores import cores
from kibitz.errors import KibitzError, UsageError
from kibitz.evaluation import OnProgress, labelled
from kibitz.evaluation.batches import sample_indices
from kibitz.evaluation.games import Chosen, describe
from kibitz.evaluation.predictors import positions as tested
from kibitz.evaluation.predictors.chess import UciPredictor
from kibitz.evaluation.predictors.go import GtpPredictor
from kibitz.evaluation.predictors.positions import PlayedPositions
from kibitz.evaluation.predictors.predictions import LINES, Predicted, Predictor, predict_positions
from kibitz.evaluation.slices import slices_as_json
from kibitz.evaluation.tables import Cell, Column, Metric, Metrics, Table, metrics
from kibitz.runs import Run
from kibitz.stats import ClusterBootstrap, Kind, log_loss, slices
from kibitz.store.positions import Positions
from kibitz.store.store import Store
from kibitz.text import number_of

SECONDS_PER_POSITION = 60.0
"""The number of seconds after which an engine that has not replied counts as failed in a position."""

TEXTS = {
    "by": "Top-1 accuracy of the engine. The dashed line is the accuracy over all positions.",
    "figures": "The engine's first choice is its most probable move, or else its best line. Intervals are taken over "
    "games. A difference is the network minus the engine on the same positions.",
}


@dataclass(frozen=True)
class RatedEngine:
    """An engine whose predictions of players' moves are tested.

    command: the program and its arguments.
    label: the command as the user gave it.
    rating: the rating of the players whose moves the engine predicts; None for all players.
    options: a dict from the names of UCI options to their values.
    """

    command: tuple[str, ...]
    label: str
    rating: int | None = None
    options: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True)
class EngineTest:
    """The settings of a test of engines.

    engines: the engines. If there are several, the engine whose rating is nearest to the mover's rating evaluates a
        position.
    nodes: the number of nodes that a UCI engine searches for each position.
    positions: the largest number of positions; 0 for all.
    seed: the random seed of the sample of positions.
    workers: the number of engine processes at a time; None for one per core.
    """

    engines: tuple[RatedEngine, ...]
    nodes: int = 1
    positions: int = 2_000
    seed: int = 0
    workers: int | None = None

    def check(self) -> None:
        """Raise UsageError if one of several engines has no rating, or if two engines have the same rating."""
        ratings = [engine.rating for engine in self.engines]
        if len(ratings) > 1 and None in ratings:
            raise UsageError(
                f"with several engines, each engine needs a rating (got {ratings.count(None)} without a rating)."
                ' Example: --engine "1500=COMMAND"'
            )
        if double := next((rating for rating in ratings if ratings.count(rating) > 1), None):
            raise UsageError(f"each engine needs a different rating (got {double} twice). Change one of these ratings.")


def evaluate_engines(
    test: EngineTest,
    store: Store,
    chosen: Chosen,
    run: Run | None,
    on_progress: OnProgress,
    log: Callable[[str], None],
) -> dict[str, Any]:
    """Test engines on positions of a store. Returns the result as a dict, as `kibitz test --engine --json` prints it.

    test: the settings. store: the database of games. chosen: the games to test on.
    run: a network that is tested on the same positions for comparison; None for no network.
    log: a function that is called with one line of text for each thing that was skipped.

    Raises KibitzError if the engines give no move for any position, and EngineDied if an engine fails repeatedly.
    """
    test.check()
    every = Positions(store, chosen.games, last=-2)
    some = tested.select(store, every, sample_indices(every, test.positions, test.seed))
    if len(test.engines) > 1:
        some = _with_rating(some, log)
    found, engine_of, names = _predict(test, some, on_progress)
    if failed := int((~found.answered).sum()):
        log(
            f"the engine gave no move for {failed:,} of {number_of(len(some), 'position')},"
            " and kibitz skips these positions"
        )
    answered = np.flatnonzero(found.answered)
    if not len(answered):
        raise KibitzError(
            f"{store.path}: the engine gave no move for any of the {number_of(len(some), 'position')} of this store."
            " Check the engine."
        )
    some, engine_of = some.take(answered), engine_of[answered]
    found = found.take(answered)
    marks = tested.network_marks(run, some, on_progress) if run is not None else None
    data = describe(store, chosen, len(some), len(every)) | {"positions_without_answer": failed}
    result = _result(test, store, some, found, marks, engine_of, names)
    return labelled(result) | {"data": data, "nodes": test.nodes}


def _with_rating(some: PlayedPositions, log: Callable[[str], None]) -> PlayedPositions:
    """Return the positions whose mover has a rating: the rating determines the engine of a position."""
    known = np.flatnonzero(some.rating > 0)
    if missing := len(some) - len(known):
        log(f"{missing:,} of {number_of(len(some), 'position')} are skipped, because the player to move has no rating")
    if not len(known):
        raise KibitzError(
            f"{some.store.path}: no player has a rating, so engines cannot be chosen by rating. Give one --engine."
        )
    return some.take(known)


def nearest(ratings: Sequence[int], rating: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for each value of `rating`, the index of the nearest value in `ratings`, int64 [n]. If two values are
    equally near, the lower value is selected.
    """
    order = np.argsort(np.array(ratings), kind="stable")
    ascending = np.array(ratings)[order]
    found: NDArray[np.int64] = order[np.abs(ascending[None] - rating[:, None]).argmin(1)]
    return found


def _predict(
    test: EngineTest, some: PlayedPositions, on_progress: OnProgress
) -> tuple[Predicted, NDArray[np.int64], list[str]]:
    """Let the engines predict. Returns the predictions, the index of the engine of each position, and the names of the
    engines.
    """
    n, names = len(some), []
    engine_of = np.zeros(n, np.int64)
    if len(test.engines) > 1:
        engine_of = nearest([engine.rating or 0 for engine in test.engines], some.rating)
    joined = Predicted.nothing(n)
    for index, engine in enumerate(test.engines):
        mine = np.flatnonzero(engine_of == index)
        part = f"engine {engine.rating}" if engine.rating is not None else "engine"
        start = functools.partial(_start, some.store.game, engine, test.nodes)
        if not len(mine):
            names.append("")
            continue
        found = predict_positions(
            start, some.store, some.games[mine], some.plies[mine], test.workers or cores(),
            functools.partial(on_progress, part),
        )  # fmt: skip
        names.append(found.name)
        joined.put(mine, found)
    return joined, engine_of, names


def _start(game: str, engine: RatedEngine, nodes: int) -> Predictor:
    if game == "go":
        return GtpPredictor(engine.command, SECONDS_PER_POSITION)
    return UciPredictor(engine.command, engine.options, nodes, SECONDS_PER_POSITION)


def _result(
    test: EngineTest,
    store: Store,
    some: PlayedPositions,
    found: Predicted,
    marks: tested.Marks | None,
    engine_of: NDArray[np.int64],
    names: list[str],
) -> dict[str, Any]:
    groups = ClusterBootstrap(some.games)
    figures = _figures(groups, found.rank, found.chance, "", _lists_several(found))
    tables = [_engines_table(test, groups, found, engine_of, names)] if len(test.engines) > 1 else []
    keys = some.slices()
    if marks is not None:
        figures |= _figures(groups, marks["rank"], marks["chance"], "network_")
        figures |= _differences(groups, found, marks)
        tables += [_paired_table(name, groups, found, marks, key) for name, key in keys.items()]
    right = found.rank == 1
    return {
        "headline": "accuracy",
        "figures": figures,
        "by": slices_as_json({name: slices(right, groups, key.values, **key.bands) for name, key in keys.items()}),
        "tables": [table for table in tables if table.rows],
        "engines": [
            {
                "rating": engine.rating,
                "command": engine.label,
                "name": name,
                "positions": int((engine_of == index).sum()),
            }
            for index, (engine, name) in enumerate(zip(test.engines, names, strict=True))
        ],
        "texts": TEXTS,
    }


def _lists_several(found: Predicted) -> bool:
    """Return whether the engines rank more than one move. Otherwise, a top-3 accuracy would be the top-1 accuracy."""
    return bool((found.listed > 1).any())


def _figures(
    groups: ClusterBootstrap, rank: NDArray[np.int16], chance: NDArray[np.float64], prefix: str, several: bool = True
) -> Metrics:
    """Return top-1 accuracy, top-3 accuracy if `several`, and the log loss if every position has a probability."""
    shares = {f"{prefix}accuracy": rank == 1}
    if several:
        shares[f"{prefix}accuracy_at_{LINES}"] = rank <= LINES
    figures = metrics("share", {name: groups.mean(values) for name, values in shares.items()})
    if np.isfinite(chance).all():
        figures[f"{prefix}log_loss"] = Metric(groups.mean(log_loss(chance, 1)), "number")
    return figures


def _differences(groups: ClusterBootstrap, found: Predicted, marks: tested.Marks) -> Metrics:
    """Return the differences network minus engine on the same positions."""
    pairs: dict[str, tuple[NDArray[Any], NDArray[Any], Kind]] = {
        "difference_accuracy": (marks["rank"] == 1, found.rank == 1, "points"),
    }
    if _lists_several(found):
        pairs[f"difference_accuracy_at_{LINES}"] = (marks["rank"] <= LINES, found.rank <= LINES, "points")
    if np.isfinite(found.chance).all():
        pairs["difference_log_loss"] = (log_loss(marks["chance"], 1), log_loss(found.chance, 1), "number")
    return {name: Metric(groups.difference(a, b), kind) for name, (a, b, kind) in pairs.items()}


def _engines_table(
    test: EngineTest, groups: ClusterBootstrap, found: Predicted, engine_of: NDArray[np.int64], names: list[str]
) -> Table:
    rows: list[list[Cell]] = []
    for index, engine in enumerate(test.engines):
        mine = engine_of == index
        if mine.any():
            loss = groups.mean(log_loss(found.chance, 1), mine) if np.isfinite(found.chance[mine]).all() else None
            three = groups.mean(found.rank <= LINES, mine) if (found.listed[mine] > 1).any() else None
            rows.append([
                f"{engine.rating} {names[index]}", groups.mean(found.rank == 1, mine), three, loss, int(mine.sum()),
            ])  # fmt: skip
    return Table(
        "Engines",
        "Each engine predicts the moves of the players whose rating is nearest to its own.",
        "engine",
        [Column("top-1 accuracy"), Column(f"top-{LINES}"), Column("log loss", "number"), Column("moves", "count")],
        rows,
    )


def _paired_table(
    name: str, groups: ClusterBootstrap, found: Predicted, marks: tested.Marks, key: tested.SliceKey
) -> Table:
    """Return the table of the network and the engine over parts of the positions."""
    ours, theirs = marks["rank"] == 1, found.rank == 1
    both = bool(np.isfinite(found.chance).all())
    rows: list[list[Cell]] = []
    for label, inside in key.parts():
        row: list[Cell] = [label, groups.mean(ours, inside), groups.mean(theirs, inside)]
        row.append(groups.difference(ours, theirs, inside))
        if both:
            row.append(groups.difference(log_loss(marks["chance"], 1), log_loss(found.chance, 1), inside))
        rows.append([*row, int(inside.sum())])
    columns = [Column("network"), Column("engine"), Column("difference", "points")]
    columns += [Column("log loss difference", "number")] if both else []
    return Table(
        f"Network and engine by {name}",
        "Top-1 accuracy on the same positions. A difference is the network minus the engine.",
        name,
        [*columns, Column("moves", "count")],
        rows,
    )
