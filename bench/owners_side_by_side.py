"""The owners that two networks of Go name, on the same positions of games that neither has seen.

    python bench/owners_side_by_side.py gohuman gocnn gohuman.store [--positions 4000] [--all-symmetries]

Games on 19×19 without handicap whose end is known. Prints Markdown: points right with 95% intervals over games, of
each, and what the first is ahead by; all positions, and by tenths of the game.
"""

import argparse

import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation.batches import sample_indices
from kibitz.evaluation.owners.points import count_points
from kibitz.evaluation.owners.results import owners_of
from kibitz.evaluation.policy.gohuman.results import ConditionedSession
from kibitz.games.go.replay import SIZE, colours_of
from kibitz.play.go.ownership import OUTPUT, SymmetryAverage
from kibitz.play.session import Session
from kibitz.stats import ClusterBootstrap, Estimate
from kibitz.store.positions import Positions
from kibitz.store.store import Store


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs=2)
    parser.add_argument("store")
    parser.add_argument("--positions", type=int, default=4000)
    parser.add_argument("--all-symmetries", action="store_true")
    options = parser.parse_args()
    store = Store(options.store)
    sessions = [Session(name) for name in options.networks]
    owners = owners_of(store)
    games = np.flatnonzero(
        (store.column("size") == 19)
        & (store.column("handicap") == 0)
        & np.array([label is not None for label in store.column("labels")])
    )
    for session in sessions:
        games = games[session.run.unseen_games(store, games)]
    positions, told = Positions(store, games), ConditionedSession(sessions[0], store)
    indices = sample_indices(positions, options.positions, 0)
    right: list[list[NDArray[np.int64]]] = [[] for _ in sessions]
    known: list[NDArray[np.int64]] = []
    numbers, plies = positions.locate(indices)
    for begin in range(0, len(indices), 512):
        batch = positions.batch(indices[begin : begin + 512])
        for found, session in zip(right, sessions, strict=True):
            seen = told.with_conditions(batch) if session.side_inputs else batch
            network = SymmetryAverage(session) if options.all_symmetries else session
            answer = network.evaluate(seen.codes, seen.state)[OUTPUT]
            counts = count_points(answer, owners[batch.games], colours_of(batch.codes), batch.state[:, SIZE])
            found.append(counts["right"])
        known.append(counts["known"])
    points = np.concatenate(known)
    first, second = (np.concatenate(each) for each in right)
    stage = np.minimum(10 * plies // np.maximum(store.plies[numbers], 1), 9)
    groups = ClusterBootstrap(numbers)

    def words(figure: Estimate) -> str:
        return f"{100 * figure.value:.2f}% ({100 * figure.low:.2f} to {100 * figure.high:.2f})"

    print(f"{len(indices):,} positions of {len(np.unique(numbers)):,} games\n")
    print(f"| | {options.networks[0]} | {options.networks[1]} | ahead |\n|---|---|---|---|")
    for name, mask in [("all", stage >= 0), *((f"tenth {i + 1}", stage == i) for i in range(10))]:
        figures = [groups.mean(each, mask, points) for each in (first, second, first - second)]
        print(f"| {name} | {' | '.join(words(each) for each in figures)} |")


if __name__ == "__main__":
    main()
