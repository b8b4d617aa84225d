"""How steadily a network of Go that names winner and lead judges games, asked for both sides to move, by the part of
its own opinion of what the move is worth: the constants of `kibitz.play.go.ownership.ResultsOfBothSides`.

    python bench/steady_results.py gohuman gohuman.store [--games 60]

On validation games. Prints half of what the move is worth on the average, in log odds and points, and Markdown: mean
change of the chance a move over moves that are no mistakes and over all, correlation of successive changes, log loss of
the winner.
"""

import argparse

import numpy as np

from kibitz.evaluation.policy.gohuman.results import ToldSession
from kibitz.games.go.replay import SIDE, SIZE
from kibitz.play.go.ownership import SWINGS, as_the_other_side
from kibitz.play.session import Session
from kibitz.store.positions import Positions
from kibitz.store.split import VALIDATE
from kibitz.store.store import Store


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network")
    parser.add_argument("store")
    parser.add_argument("--games", type=int, default=60)
    options = parser.parse_args()
    store = Store(options.store)
    session = Session(options.network)
    games = np.flatnonzero(store.sides(session.run.split) == VALIDATE)
    games = games[store.column("result")[games] != 0]
    games = games[:: max(1, len(games) // options.games)][: options.games]
    told, positions = ToldSession(session, store), Positions(store, games)
    columns = []
    for begin in range(0, len(positions), 512):
        batch = told.told(positions.batch(np.arange(begin, min(begin + 512, len(positions)))))
        black = np.where(batch.state[:, SIDE] == 0, 1.0, -1.0)
        both = [session.evaluate(batch.codes, state) for state in (batch.state, as_the_other_side(batch.state))]
        odds = [2 * np.arctanh(np.clip(one["value"], -1 + 1e-6, 1 - 1e-6)) for one in both]
        won = store.column("result")[batch.games] > 0
        columns.append((black * odds[0], -black * odds[1], black * both[0]["lead"], -black * both[1]["lead"], black,
                        won, batch.games, batch.state[:, SIZE]))  # fmt: skip
    own, other, own_lead, other_lead, black, won, game, size = (
        np.concatenate(parts) for parts in zip(*columns, strict=True)
    )
    half, half_lead = black * (own - other) / 2, black * (own_lead - other_lead) / 2
    print(f"half of what the move is worth: {half.mean():.3f} log odds, {half_lead.mean():.2f} points\n")
    least = -np.array([SWINGS[int(lines)] for lines in size[:-1]])
    same, twice = game[1:] == game[:-1], game[2:] == game[:-2]
    print("| own part | a move | all moves | correlation | log loss |\n|---|---|---|---|---|")
    for part in (None, 0.0, 0.1, 0.2, 0.3, 0.4, 0.6):
        usual, points = half.mean(), half_lead.mean()
        odds, lead = own, own_lead
        if part is not None:
            odds = (own + other) / 2 + black * (part * half + (1 - part) * usual)
            lead = (own_lead + other_lead) / 2 + black * (part * half_lead + (1 - part) * points)
        chance = 1 / (1 + np.exp(-odds))
        change = np.diff(chance)
        fine = same & (np.diff(lead) * black[:-1] > least)
        correlation = np.corrcoef(change[:-1][twice], change[1:][twice])[0, 1]
        loss = -np.log(np.clip(np.where(won, chance, 1 - chance), 1e-6, 1)).mean()
        print(
            f"| {'the network alone' if part is None else part} | {np.abs(change[fine]).mean():.2%} | "
            f"{np.abs(change[same]).mean():.2%} | {correlation:+.2f} | {loss:.4f} |"
        )


if __name__ == "__main__":
    main()
