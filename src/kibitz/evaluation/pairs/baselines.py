"""Simpler answers to pairs of positions: material, Stockfish, and the packaged `winner` network as comparator."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError
from kibitz.evaluation import Plan, Table, Tell
from kibitz.evaluation.baselines import baseline
from kibitz.evaluation.pairs.answers import TOGETHER, Sheet, preferred
from kibitz.evaluation.samples import fens
from kibitz.evaluation.stockfish import EngineFailed, evaluations
from kibitz.play.session import Session
from kibitz.runs import packaged
from kibitz.systems.winner import WinnerSystem

MATERIAL = "material (equal: half right)"
PAIRS = 100_000
"""Pairs made, at most, of the positions that somebody was asked about."""
WINNER_POSITIONS = 20_000


@dataclass(frozen=True)
class Beside:
    """Somebody's answers. key, name: for programs and for people; sheet: the pairs they are about; right: how right
    they are, [pairs]; same: what the network's figure on those very pairs is called, None where they are all pairs."""

    key: str
    name: str
    sheet: Sheet
    right: NDArray[np.float64]
    same: str | None


def beside(sheet: Sheet, plan: Plan, workers: int, tell: Tell, say: Callable[[str], None]) -> list[Beside]:
    """Everybody's answers. Who cannot answer is left out, and said."""
    found = [Beside("material", MATERIAL, sheet, preferred(sheet.ahead), None)]
    for depth, count in ((1, plan.stockfish_positions), (10, max(1, plan.stockfish_positions // 5))):
        if not (plan.stockfish and plan.stockfish_positions):
            break
        some = part(sheet, count, plan.seed)
        if some is None:
            say(f"Stockfish at depth {depth} is left out: so few positions make no pairs")
            continue
        of, many = some.pairs, len(some.pairs.games)
        try:
            name, answers = evaluations(
                plan.stockfish, fens(of.store, of.games, of.plies), depth, workers=workers,
                tell=functools.partial(tell, f"Stockfish, depth {depth}"),
            )  # fmt: skip
        except EngineFailed as error:
            say(f"Stockfish at depth {depth} is left out: {error}")
            continue
        won, lost = of.both(np.array([answer.centipawns for answer in answers]))
        same = f"the network, pairs of the same {many:,} positions"
        words = f"{name}, depth {depth}, pairs of {many:,} positions"
        found.append(Beside(f"stockfish_depth_{depth}", words, some, preferred(won - lost), same))
    winner = by_winner(sheet, plan, tell, say)
    return [*found, winner] if winner else found


def part(sheet: Sheet, positions: int, seed: int, among: NDArray[np.bool_] | None = None) -> Sheet | None:
    """Pairs of so many positions, half of them of either kind as far as there are, drawn evenly. among: of these alone,
    bool [positions]."""
    pairs = sheet.pairs
    white_won = pairs.store.column("result")[pairs.games] > 0
    rng = np.random.default_rng(seed)
    chosen = []
    for kind in (white_won, ~white_won):
        numbers = np.flatnonzero(kind if among is None else kind & among)
        chosen.append(rng.permutation(numbers)[: max(1, positions // 2)])
    return sheet.of_some(np.sort(np.concatenate(chosen)), PAIRS, seed)


def by_winner(sheet: Sheet, plan: Plan, tell: Tell, say: Callable[[str], None]) -> Beside | None:
    """The packaged `winner`: it prefers the position in which it thinks White more likely to win. Of games alone that
    it has not seen either."""
    name = WinnerSystem.name
    if name not in packaged():
        say(f"the packaged network {name} is not there, so it is left out as comparator")
        return None
    try:
        session = Session(name)
        pairs = sheet.pairs
        unseen = session.run.unseen(pairs.store.column("hash")[pairs.games])
    except KibitzError as error:
        say(f"the network {name} is left out as comparator: {error}")
        return None
    some = part(sheet, WINNER_POSITIONS, plan.seed, unseen)
    if some is None:
        say(f"the network {name} is left out as comparator: it has seen these games")
        return None
    of = some.pairs
    many = len(of.games)
    chance = np.empty(many, np.float32)
    for at in range(0, many, TOGETHER):
        place = slice(at, at + TOGETHER)
        chance[place] = session.evaluate(*of.store.replay(of.games[place], of.plies[place]))["white_wins"]
        tell(f"the network {name}", min(at + TOGETHER, many), many)
    won, lost = of.both(chance)
    words = f"{name} as comparator, pairs of {many:,} positions"
    same = f"the network, the same pairs as {name}"
    return Beside(name, words, some, preferred(won - lost), same)


def as_baselines(others: list[Beside]) -> dict[str, Any]:
    """The "baselines" of a result: each with the network's figure on the same pairs below it, where these are not
    all."""
    found = {}
    for one in others:
        groups = one.sheet.groups
        found[one.key] = baseline(one.name, groups.mean(one.right))
        if one.same:
            found[f"network_beside_{one.key}"] = baseline(one.same, groups.mean(one.sheet.main.right))
    return found


def table(others: list[Beside]) -> Table:
    """How far the network is ahead of each, and each of material, on the same pairs."""
    rows: list[list[Any]] = []
    for one in others:
        groups, network = one.sheet.groups, one.sheet.main.right
        material = preferred(one.sheet.ahead)
        rows.append(
            [
                one.name,
                *(figure.as_json() for figure in groups.means([one.right, network])),
                groups.difference(network, one.right).as_json(),
                groups.difference(one.right, material).as_json() if one.name != MATERIAL else None,
                len(one.sheet.pairs),
            ]
        )
    return {
        "title": "Beside simpler answers",
        "text": "How often each prefers the position of the game that White won, and how many points the network is "
        "ahead on the very same pairs, and each of them ahead of material; the intervals are of the differences.",
        "heading": "who answers",
        "columns": ["right", "the network", "network ahead", "ahead of material", "pairs"],
        "kinds": ["share", "share", "points", "points", "count"],
        "rows": rows,
    }
