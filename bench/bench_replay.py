"""Random positions a second from a store, on one core, compared with python-chess playing the same games.

python bench/bench_replay.py games.store --positions 2000000
"""

from __future__ import annotations

import argparse
import json
import time

import chess
import numpy as np

from kibitz.games.chess.moves import to_move
from kibitz.store.positions import Positions, permutation
from kibitz.store.store import Store


def ours(positions: Positions, count: int, batch: int) -> tuple[float, float]:
    """Positions a second in shuffled batches: by the clock on the wall, and by the processor's (for a busy machine)."""
    positions.batch(permutation(len(positions), 1, 0, 0, batch))  # compiles, and maps the files
    count = min(count, len(positions))
    wall, processor = time.perf_counter(), time.process_time()
    for first in range(0, count, batch):
        positions.batch(permutation(len(positions), 0, 0, first, min(batch, count - first)))
    return count / (time.perf_counter() - wall), count / (time.process_time() - processor)


def peer(positions: Positions, seconds: float) -> float:
    """Python-chess playing random positions from the start, from moves that are made ready before."""
    store = positions.store
    games, plies = positions.locate(permutation(len(positions), 2, 0, 0, min(5000, len(positions))))
    ready = [
        [to_move(int(code)) for code in store.moves[store.offsets[game] : store.offsets[game] + ply]]
        for game, ply in zip(games.tolist(), plies.tolist(), strict=True)
    ]
    done, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        board = chess.Board()
        for move in ready[done % len(ready)]:
            board.push(move)
        done += 1
    return done / (time.perf_counter() - begun)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", help="a store of chess games")
    parser.add_argument("--positions", type=int, default=2_000_000, help="positions replayed (default 2,000,000)")
    parser.add_argument("--batch", type=int, default=1024, help="positions in a batch (default 1024)")
    parser.add_argument("--peer-seconds", type=float, default=3.0, help="seconds for python-chess (default 3)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()

    store = Store(options.store)
    positions = Positions(store, np.arange(len(store)))
    wall, processor = ours(positions, options.positions, options.batch)
    python = peer(positions, options.peer_seconds)
    if options.json:
        rates = {"positions_per_second": wall, "positions_per_processor_second": processor, "python_chess": python}
        print(json.dumps({**rates, "ratio": wall / python}))
        return
    print(f"{options.store}: {len(positions):,} positions, shuffled, batches of {options.batch:,}, one core")
    print(f"kibitz          {wall:12,.0f} positions/s   ({processor:,.0f} a second of processor time)")
    print(f"python-chess    {python:12,.0f} positions/s")
    print(f"ratio           {wall / python:12,.0f}")


if __name__ == "__main__":
    main()
