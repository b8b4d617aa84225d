"""How often people resign a lost game, and what the network expected there, by rating: the numbers of `usual_habits`.

    python bench/resignations.py human all.store [--games 6000]

Prints Markdown.
"""

import argparse

import numpy as np

from kibitz.personal.games import FIRST, NEITHER, SECOND
from kibitz.personal.habits import resignations
from kibitz.play.session import Session
from kibitz.store.store import Store

BANDS = ((800, 1400), (1400, 1800), (1800, 2200), (2200, 2900))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network")
    parser.add_argument("store")
    parser.add_argument("--games", type=int, default=6000)
    options = parser.parse_args()
    store, session, random = Store(options.store), Session(options.network), np.random.default_rng(0)
    white, black, result = (store.column(name) for name in ("white_rating", "black_rating", "result"))
    mean = (white.astype(np.int64) + black) / 2
    decisive = (white > 0) & (black > 0) & (result != 0) & (store.plies > 10)
    print("| mean rating | decisive games | sampled | resigned | median expected score there |\n|---|---|---|---|---|")
    for low, high in BANDS:
        games = np.flatnonzero(decisive & (mean >= low) & (mean < high))
        drawn = np.sort(random.choice(games, min(options.games, len(games)), replace=False))
        losers = np.full(len(store), NEITHER, np.int8)
        losers[drawn] = np.where(result[drawn] > 0, SECOND, FIRST)
        if found := resignations(store, drawn, losers, session):
            print(
                f"| {low} to {high - 1} | {len(games):,} | {len(drawn):,} | {found['share']:.1%} |"
                f" {found['below']:.3f} |"
            )


if __name__ == "__main__":
    main()
