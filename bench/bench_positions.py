"""Reading positions of a chess store in Python: processor seconds and the largest memory, as docs/reference/python.md
shows them. Linux only.

python bench/bench_positions.py masters.store
"""

from __future__ import annotations

import argparse
import resource

import kibitz


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("--positions", type=int, default=100_000)
    arguments = parser.parse_args()

    store = kibitz.open_store(arguments.store)
    games, plies = store.sample(arguments.positions, part="training", played=True)
    codes, _ = store.positions(games, plies, view="mover")
    moves = store.moves_at(games, plies, view="mover")
    labels = store.labels_at(games, plies)
    assert len(codes) == len(moves.origin) == len(labels.result) == arguments.positions
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = used.ru_utime + used.ru_stime
    print(f"{arguments.positions:,} positions: {seconds:.1f} processor seconds, {used.ru_maxrss * 1024 / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
