"""Evaluation volatility of a Go network: how much its win probability changes from one position to the next.

A good player's ordinary move hardly changes the win probability. If moves that the network evaluates as mistakes are
excluded, the remaining change is an error of the network.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation.batches import evaluate_in_batches
from kibitz.evaluation.tables import Metrics, metrics
from kibitz.games.go.replay import SIDE, SIZE
from kibitz.play.go.ownership import OUTPUT, SWINGS, lead, spread, winrate
from kibitz.play.go.thought import Terms
from kibitz.play.session import NetworkSession
from kibitz.stats import ClusterBootstrap
from kibitz.store.positions import Batch, Positions
from kibitz.store.store import Store

GAMES = 200
"""The largest number of games whose positions are all evaluated."""
POSITIONS_A_GAME = 200

Judgement = tuple[NDArray[np.float64], NDArray[np.float64]]
"""The evaluation of n positions as two arrays, float64 [n] each: Black's win probability, and Black's lead in points
after komi.
"""


def followed(games: NDArray[np.int64], positions: int) -> NDArray[np.int64]:
    """Return the games on which the volatility is measured, int64 [k]. These games are evenly spaced in the array
    `games`. The test evaluates every position of these games.

    games: int64 [n], indices in the store (the database of games).
    positions: the number of positions of the test. One game is selected for each 200 positions: at least one game, and
        at most 200 games. With 0, at most 200 games are selected.
    """
    most = GAMES if positions <= 0 else max(1, min(GAMES, positions // POSITIONS_A_GAME))
    return games if len(games) <= most else games[np.arange(most) * len(games) // most]


def volatility(
    store: Store,
    games: NDArray[np.int64],
    judge: Callable[[Batch], Judgement],
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Metrics:
    """Return the mean absolute change of Black's win probability from a position to the next one, as two metrics.

    games: int64 [k], the games, as indices in the store. judge: a function that returns Black's win probability and
    lead for each position of a batch (see `Judgement`).

    evaluation_volatility: the mean over moves that are not mistakes. A move is a mistake if it lowers the network's
        predicted lead for the mover by at least a number of points, which depends on the board size.
    evaluation_volatility_of_all_moves: the mean over all moves. It is large if the network evaluates most moves as
        mistakes.
    """
    positions = Positions(store, games)

    def measure(batch: Batch) -> dict[str, NDArray[np.float64]]:
        chance, ahead = judge(batch)
        black_moves = np.where(batch.state[:, SIDE] == 0, 1.0, -1.0)
        return {"chance": chance, "lead": ahead, "mover": black_moves, "size": batch.state[:, SIZE].astype(np.float64)}

    marks = evaluate_in_batches(positions, np.arange(len(positions)), measure, on_progress, 512)
    of, plies = positions.locate(np.arange(len(positions)))
    next_one = (of[1:] == of[:-1]) & (plies[1:] == plies[:-1] + 1)
    gain = np.diff(marks["lead"]) * marks["mover"][:-1]
    fine = gain > -np.array([SWINGS[int(size)] for size in marks["size"][:-1]])
    change, groups = np.abs(np.diff(marks["chance"])), ClusterBootstrap(of[:-1])
    return metrics("small share", {
        "evaluation_volatility": groups.mean(change, next_one & fine),
        "evaluation_volatility_of_all_moves": groups.mean(change, next_one),
    })  # fmt: skip


def by_owners(session: NetworkSession, store: Store) -> Callable[[Batch], Judgement]:
    """Return a function that evaluates positions with a network that only predicts territory. Its result is a
    `Judgement`.

    The function computes Black's win probability and lead from the predicted territory, the komi and the handicap
    stones.
    """
    komi, rules, stones = (store.column(name) for name in ("komi", "rules", "handicap"))

    def judge(batch: Batch) -> Judgement:
        owners = session.evaluate(batch.codes, batch.state)[OUTPUT]
        leads, chances = np.empty(len(batch)), np.empty(len(batch))
        for i, game in enumerate(batch.games.tolist()):
            size = int(batch.state[i, SIZE])
            terms = Terms.of_record(rules[game], float(np.nan_to_num(komi[game])), int(stones[game]))
            leads[i] = lead(owners[i], size) - terms.margin
            chances[i] = winrate(float(leads[i]), spread(owners[i], size))
        return chances, leads

    return judge
