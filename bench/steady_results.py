"""How steadily a network of Go that names winner and lead judges games, and what makes it steadier: the weights of
`kibitz.play.go.ownership.ResultsOfBothSides`.

    python bench/steady_results.py gohuman gohuman.store [--games 200]

On validation games, asked in two ways of the board for both sides to move. Weights for the signs of what a move is
worth are found on half of the games, so that chance and lead change least from move to move, and tried on the other
half. Prints them, and Markdown: mean change of the chance over moves that are no mistakes and over all, correlation of
successive changes, log loss of the winner.
"""

import argparse
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from kibitz.evaluation.policy.gohuman.results import ConditionedSession
from kibitz.games.go.replay import SIDE, SIZE
from kibitz.play.go.ownership import (
    DEFAULT_SYMMETRIES,
    SURE,
    SWINGS,
    ResultsOfBothSides,
    SymmetryAverage,
    as_the_other_side,
    signs,
)
from kibitz.play.session import Session
from kibitz.store.positions import Positions
from kibitz.store.split import VALIDATE
from kibitz.store.store import Store

SMOOTH = {"odds": 1e-5, "lead": 1e-2}
"""Squares of changes, of the chance and in points, so small that less of one is no better."""


def fitted(
    black: NDArray[np.float64], base: NDArray[np.float64], of: NDArray[np.float64], same: NDArray[np.bool_], what: str
) -> NDArray[np.float64]:
    """The weights with which the chance (what: "odds") or the lead changes least."""
    mover, before, seen, next_to = (torch.from_numpy(np.ascontiguousarray(each)) for each in (black, base, of, same))
    weights = torch.zeros(of.shape[1], dtype=torch.double, requires_grad=True)
    optimiser = torch.optim.LBFGS([weights], max_iter=300, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        worth = mover * (before + seen @ weights)
        change = (torch.sigmoid(worth) if what == "odds" else worth).diff()[next_to]
        total = torch.sqrt(change**2 + SMOOTH[what]).mean()
        total.backward()
        return total

    optimiser.step(loss)
    return weights.detach().numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network")
    parser.add_argument("store")
    parser.add_argument("--games", type=int, default=200)
    options = parser.parse_args()
    torch.set_num_threads(1)
    store = Store(options.store)
    session = Session(options.network)
    games = np.flatnonzero(store.sides(session.run.split) == VALIDATE)
    games = games[store.column("result")[games] != 0]
    games = games[:: max(1, len(games) // options.games)][: options.games]
    told, positions, turned = (
        ConditionedSession(session, store),
        Positions(store, games),
        SymmetryAverage(session, DEFAULT_SYMMETRIES),
    )
    columns = []
    for begin in range(0, len(positions), 512):
        batch = told.with_conditions(positions.batch(np.arange(begin, min(begin + 512, len(positions)))))
        said, other = (turned.evaluate(batch.codes, state) for state in (batch.state, as_the_other_side(batch.state)))
        once = session.evaluate(batch.codes, batch.state)
        alone = 2 * np.arctanh(np.clip(once["value"].astype(np.float64), -SURE, SURE)), once["lead"].astype(np.float64)
        black = np.where(batch.state[:, SIDE] == 0, 1.0, -1.0)
        won = store.column("result")[batch.games] > 0
        columns.append((black, won, batch.games, batch.state[:, SIZE], *alone,
                        *signs(said, other, batch.codes, batch.state)))  # fmt: skip
    black, won, game, size, alone_odds, alone_lead, odds, lead, of_odds, of_lead = (
        np.concatenate(parts) for parts in zip(*columns, strict=True)
    )
    same, twice = game[1:] == game[:-1], game[2:] == game[:-2]
    learned = np.isin(game, np.unique(game)[::2])
    half = same & learned[:-1]
    weights = fitted(black, odds, of_odds, half, "odds"), fitted(black, lead, of_lead, half, "lead")
    for name, found in zip(("ODDS", "POINTS"), weights, strict=True):
        print(f"{name} = {[round(float(weight), 3) for weight in found]}")
    least = -np.array([SWINGS[int(lines)] for lines in size[:-1]])
    test = ~learned

    def report(name: str, chance: NDArray[np.float64], leads: NDArray[np.float64]) -> None:
        change = np.diff(chance)
        fine = same & test[:-1] & (np.diff(leads) * black[:-1] > least)
        both = twice & test[:-2]
        correlation = np.corrcoef(change[:-1][both], change[1:][both])[0, 1]
        loss = -np.log(np.clip(np.where(won, chance, 1 - chance), 1e-6, 1))[test].mean()
        every = np.abs(change[same & test[:-1]]).mean()
        print(f"| {name} | {np.abs(change[fine]).mean():.2%} | {every:.2%} | {correlation:+.2f} | {loss:.4f} |")

    chance: Callable[[NDArray[np.float64]], NDArray[np.float64]] = lambda each: 1 / (1 + np.exp(-black * each))  # noqa: E731
    print(f"\n{len(np.unique(game[test]))} games, {int(test.sum()):,} positions\n")
    print("| judged by | a move | all moves | correlation | log loss |\n|---|---|---|---|---|")
    report("the network alone", chance(alone_odds), black * alone_lead)
    plain = of_odds[:, :2] @ [0.7 * of_odds[:, 1].mean(), 0.3], of_lead[:, :2] @ [0.7 * of_lead[:, 1].mean(), 0.3]
    report("both sides, the mean worth of a move", chance(odds + plain[0]), black * (lead + plain[1]))
    there = of_odds @ ResultsOfBothSides.ODDS, of_lead @ ResultsOfBothSides.POINTS
    report("both sides, as it is", chance(odds + there[0]), black * (lead + there[1]))
    found = of_odds @ weights[0], of_lead @ weights[1]
    report("both sides, these weights", chance(odds + found[0]), black * (lead + found[1]))


if __name__ == "__main__":
    main()
