"""`human` asked the thesis' questions: which square a move starts from, and where a piece of a type goes, by type.

    python bench/origins_of_human.py human masters-test.store [--positions 40000] [--alone]

Prints Markdown: first choices right among all squares, with 95% intervals over games. --alone: told nothing but the
position, neither last moves nor ratings, speed and server.
"""

import argparse

import numpy as np

from kibitz.evaluation.batches import evaluate_in_batches, sample_indices
from kibitz.evaluation.games import choose
from kibitz.evaluation.policy.human.results import RatedSession
from kibitz.evaluation.policy.metrics import Arrays, measure, played_in
from kibitz.games.chess.sides import BEYOND, RATING
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.stats import ClusterBootstrap
from kibitz.store.positions import Batch, Positions
from kibitz.store.store import Store

PIECES = ("pawn", "knight", "bishop", "rook", "queen", "king")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network")
    parser.add_argument("store")
    parser.add_argument("--positions", type=int, default=40000)
    parser.add_argument("--alone", action="store_true")
    options = parser.parse_args()
    store, session = Store(options.store), Session(options.network)
    rated = RatedSession(session, store)
    positions = Positions(store, choose(Run(options.network), store).games, last=-2)
    indices = sample_indices(positions, options.positions, 0)

    def marks(batch: Batch) -> Arrays:
        state = rated.full_state(batch)
        if options.alone:
            state[:, RATING : RATING + len(BEYOND)] = 0
        return measure(session.evaluate(batch.codes, state), batch, played_in(store, batch.games, batch.plies))

    found = evaluate_in_batches(positions, indices, marks, lambda done, total: None)
    groups = ClusterBootstrap(positions.locate(indices)[0])
    print("| | first choice | n |\n|---|---|---|")
    rows = [("origin", "origin_rank", None), *((name, "target_rank", kind) for kind, name in enumerate(PIECES))]
    for name, key, kind in rows:
        mask = None if kind is None else found["piece"] == kind
        figure = groups.mean(np.asarray(found[key]) <= 1, mask)
        print(
            f"| {name} | {100 * figure.value:.1f}% ({100 * figure.low:.1f} to {100 * figure.high:.1f}) | {figure.n:,} |"
        )


if __name__ == "__main__":
    main()
