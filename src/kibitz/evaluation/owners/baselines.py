"""Simpler ways to say who will own what, beside a network on the same positions: random playouts, GNU Go's influence,
and the nearest stone."""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.cores import cores
from kibitz.evaluation import Plan, Table, Tell
from kibitz.evaluation.baselines import baseline
from kibitz.evaluation.owners.gnugo import influence
from kibitz.evaluation.owners.points import Tally, tally
from kibitz.evaluation.owners.results import Sheet, measure, owners_of
from kibitz.external.gtp import Lost
from kibitz.games.go.endings.playouts import black_shares
from kibitz.games.go.replay import SIZE, colours_of
from kibitz.play.session import NetworkSession
from kibitz.store.positions import Batch
from kibitz.store.store import Store

EVERY = 20
"""Simpler answers are asked for every so many moves."""
PLAYOUTS = 200
TOGETHER = 8
"""Positions that a thread plays out before it tells."""


@dataclass(frozen=True)
class Beside:
    """A predictor. key, name: for programs and for people; network: the network on the positions that it answered;
    own: its own counts there. chances: whether its answers are probabilities, so that squared errors say something."""

    key: str
    name: str
    network: Sheet
    own: Tally
    chances: bool


def every_so_many(store: Store, games: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Games and plies of the positions after 0, 20, 40, … moves of these games."""
    counts = store.plies[games] // EVERY + 1
    first = np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(games, counts), EVERY * (np.arange(int(counts.sum())) - first)


def playouts(
    codes: NDArray[np.uint8], state: NDArray[np.uint8], seed: int, threads: int, tell: Callable[[int, int], None]
) -> NDArray[np.float32]:
    """float32 [n, 361]: how often Black owns each point after random playouts."""
    parts = range(0, len(codes), TOGETHER)

    def work(first: int) -> NDArray[np.float32]:
        some = slice(first, first + TOGETHER)
        return black_shares(codes[some], state[some], PLAYOUTS, seed + first)

    found = []
    with ThreadPoolExecutor(threads) as pool:
        for part in pool.map(work, parts):
            found.append(part)
            tell(min(TOGETHER * len(found), len(codes)), len(codes))
    return np.concatenate(found)


def beside(
    sheet: Sheet, session: NetworkSession, games: NDArray[np.int64], plan: Plan, tell: Tell, say: Callable[[str], None]
) -> list[Beside]:
    """The nearest stone on all tested positions; playouts and GNU Go every 20 moves of the games, as many as the plan
    says. What fails is left out, and said."""
    store, owners = sheet.store, owners_of(sheet.store)
    nearest = {name: sheet.marks[f"nearest_{name}"] for name in ("right", "squared", "score")}
    found = [Beside("nearest_stone", "nearest stone (as near: half right)", sheet, nearest, False)]
    places = every_so_many(store, games)
    order = np.random.default_rng(plan.seed).permutation(len(places[0]))

    def add(key: str, name: str, some: NDArray[np.int64], chance: NDArray[np.float32], chances: bool) -> None:
        where = places[0][some], places[1][some]
        batch = Batch(*store.replay(*where), *where)
        own = tally(chance, owners[where[0]], colours_of(batch.codes), batch.state[:, SIZE])
        network = Sheet(store, *where, measure(session, owners, batch))
        found.append(Beside(key, f"{name}, {len(some):,} positions", network, own, chances))

    if plan.playout_positions:
        some = np.sort(order[: plan.playout_positions])
        codes, state = store.replay(places[0][some], places[1][some])
        telling = functools.partial(tell, "random playouts")
        chance = playouts(codes, state, plan.seed, cores(), telling)
        add("playouts", f"{PLAYOUTS} random playouts", some, chance, True)
    if plan.gnugo and plan.gnugo_positions:
        some = np.sort(order[: plan.gnugo_positions])
        try:
            name, chance, answered = influence(
                plan.gnugo, store, places[0][some], places[1][some],
                workers=cores(), tell=functools.partial(tell, "GNU Go"),
            )  # fmt: skip
        except Lost as error:
            say(f"GNU Go's influence is left out: {error}")
        else:
            if answered.any():
                add("gnugo", f"{name}'s influence", some[answered], chance[answered], True)
            if left := int(np.count_nonzero(~answered)):
                say(f"GNU Go did not answer {left:,} of {len(some):,} positions; they are left out of its figure")
    return found


def as_baselines(found: list[Beside]) -> dict[str, Any]:
    """Accuracy by name; one over other positions than the test's is followed by the network's there."""
    figures: dict[str, Any] = {}
    for one in found:
        figures[one.key] = baseline(one.name, one.network.accuracy(of=one.own))
        if one.network is not found[0].network:
            same = f"the network, the same {len(one.network.games):,} positions"
            figures[f"network_beside_{one.key}"] = baseline(same, one.network.accuracy())
    return figures


def table(found: list[Beside]) -> Table:
    """All figures of each predictor, and of the network on the same positions."""
    rows: list[list[Any]] = []
    for one in found:
        for name, own, chances in ((one.name, one.own, one.chances), ("the network, the same", None, True)):
            rows.append(
                [
                    name,
                    one.network.accuracy(of=own).as_json(),
                    one.network.squared_error(of=own).as_json() if chances else None,
                    one.network.score_error(of=own).as_json(),
                    one.network.winner_accuracy(score=own["score"] if own else None).as_json(),
                    len(one.network.games),
                ]
            )
    return {
        "title": "Beside simpler answers",
        "text": f"Playouts and GNU Go are asked every {EVERY} moves, from the first position on; the network stands "
        "below each on the same positions. GNU Go's influence is the territory that it foresees.",
        "heading": "predictor",
        "columns": ["points right", "squared error", "score error", "right winner", "positions"],
        "kinds": ["share", "error", "score", "share", "count"],
        "rows": rows,
    }
