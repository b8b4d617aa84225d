"""Describe a Go player's style: the first moves, and how often the player makes mistakes and finds good moves, compared
with other players of the same rank.

The other players are represented by the base network, which was not adapted to the player, with the player's rank as
input. The same network, with the highest amateur rank as input, evaluates a move by the win probability after the move.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation.policy.personal.beside import beside_others, favourites, mistakes_and_finds
from kibitz.evaluation.tables import Table
from kibitz.games.go.points import GRID, POINTS
from kibitz.games.go.replay import replay
from kibitz.games.go.sides import OPPONENT, RANK, rank_byte
from kibitz.personal.games import NEITHER, OwnPositions, in_time, sides_of
from kibitz.personal.go.positions import GoPlayerPositions
from kibitz.personal.shares import PlayerPositions
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.store.store import Store

LOOKED_AT = 40
"""The number of the player's newest games that are analyzed. It is small, because evaluating a Go position takes
long.
"""
STRONG = rank_byte("9d")
PHASES = (("first 50 moves", 0, 50), ("moves 51 to 150", 50, 150), ("after", 150, 1 << 30))
FIRST_MOVES = 2


def character(run: Run, store: Store, seed: int, on_progress: Callable[[int, int], None]) -> dict[str, Any]:
    """Return the tables of the result page that describe a Go player's style, as {"tables": list}.

    The analysis uses the player's newest games in the store. These may be training games, because the analysis uses
    only the base network, which was not trained on them. run: the player's network. seed: the
    random seed.
    """
    sides = sides_of(store, run.info["person"]["names"])
    order = in_time(store)
    mine = order[(sides[order] != NEITHER) & (store.plies[order] > 1)]
    positions = GoPlayerPositions(store, mine[-LOOKED_AT:], sides)
    compared = beside_others(positions, Session(run.info["base"], corrected=False), worth, seed, on_progress)
    parts = [("all moves", np.ones(len(positions), np.bool_))]
    parts += [(name, (positions.plies >= low) & (positions.plies < high)) for name, low, high in PHASES]
    tables = [_openings(store, mine, sides), *mistakes_and_finds(compared, parts, "the number of the move")]
    return {"tables": [table for table in tables if table.rows]}


def worth(session: Session, positions: PlayerPositions, moves: NDArray[np.uint16]) -> NDArray[np.float64]:
    """Return the mover's win probability after the given move in each position, float64 [n], 0 to 1.

    moves: uint16 [n], points (row · 19 + column), or 361 for a pass.
    """
    store, n = positions.store, len(positions)
    sizes = positions.plies + 1
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    inside = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
    # the moves of each game so far and, as the last one, the move to evaluate
    played = store.moves[np.repeat(store.offsets[positions.games], sizes) + inside]
    played[offsets[1:] - 1] = moves
    codes, state = replay(played, offsets, store.starts, store.start_of[positions.games], np.arange(n), sizes)
    inputs = positions.state[:, state.shape[1] :].copy()
    inputs[:, RANK - state.shape[1] : OPPONENT + 1 - state.shape[1]] = STRONG
    answers = session.evaluate(codes, np.concatenate([state, inputs], 1))
    return np.asarray((1 - answers["value"].astype(np.float64)) / 2)


def _openings(store: Store, mine: NDArray[np.int64], sides: NDArray[np.int8]) -> Table:
    """Return the table of the player's most frequent first moves with each color, by their distance from the edges, and
    the score.
    """
    own = OwnPositions(store, mine, sides)
    game, ply = own.locate(np.arange(len(own)))
    first = ply < 2 * FIRST_MOVES
    names: defaultdict[int, list[str]] = defaultdict(list)
    size = store.column("size").astype(np.int64)
    for at, where in zip(game[first].tolist(), store.moves[store.offsets[game] + ply][first].tolist(), strict=True):
        names[at].append(_describe_point(where, int(size[at])))
    lines: dict[int, defaultdict[str, list[int]]] = {0: defaultdict(list), 1: defaultdict(list)}
    for at, words in names.items():
        if len(words) == FIRST_MOVES:
            lines[int(sides[at])][", ".join(words)].append(at)
    return favourites(
        [
            (colour, [(name, np.array(games)) for name, games in lines[side].items()])
            for side, colour in enumerate(("Black", "White"))
        ],
        (1 + store.column("result").astype(np.float64) * (1 - 2 * sides)) / 2,
        "The player's first two moves, by their lines from the nearest edges: 4-4 is a star point. The table shows"
        " how often the player played them, and the score, with a draw as half a win.",
    )  # fmt: skip


def _describe_point(point: int, size: int) -> str:
    """Describe a point by its distances from the two nearest edges, as lines from 1; the lower number is first."""
    if point >= POINTS:
        return "pass"
    low, high = sorted(1 + min(at, size - 1 - at) for at in divmod(point, GRID))
    return f"{low}-{high}"
