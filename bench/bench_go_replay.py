"""Go positions a second from a store, with the seed's eight planes, on one core, compared with sgfmill playing the same
games.

In game order and in random order; planes as bytes [361, 8], looked up from the codes as the network does it.

python bench/bench_go_replay.py go.store --positions 400000
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
from numpy.typing import NDArray
from sgfmill import boards

from kibitz.games.go.planes import plane_table
from kibitz.games.go.points import GRID, PASS
from kibitz.games.go.replay import SIDE
from kibitz.store.positions import Positions, permutation
from kibitz.store.store import Store

BATCH = 1024
PLANES = np.ascontiguousarray(plane_table(3, 0, False).astype(np.uint8)).view(np.uint64)[:, 0].reshape(2, 256)
"""The eight planes of each code as the eight bytes of one word: where Black moves, and where White does."""


def planes(positions: Positions, numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
    """uint8 [n, 361, 8]."""
    batch = positions.batch(numbers)
    words = np.empty(batch.codes.shape, np.uint64)
    for side in (0, 1):
        here = batch.state[:, SIDE] == side
        words[here] = PLANES[side][batch.codes[here]]
    return words.view(np.uint8).reshape(len(words), -1, 8)


def ours(positions: Positions, count: int, in_order: bool) -> tuple[float, float]:
    """Positions a second: by the clock on the wall, and by the processor's (for a busy machine)."""
    planes(positions, np.arange(min(BATCH, len(positions))))  # compiles, and maps the files
    count = min(count, len(positions))
    wall, processor = time.perf_counter(), time.process_time()
    for first in range(0, count, BATCH):
        size = min(BATCH, count - first)
        planes(
            positions, np.arange(first, first + size) if in_order else permutation(len(positions), 0, 0, first, size)
        )
    return count / (time.perf_counter() - wall), count / (time.process_time() - processor)


def peer(store: Store, seconds: float) -> float:
    """sgfmill's board playing games from their start, every position counted; no planes, and liberties not asked."""
    done, game, begun = 0, 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        board = boards.Board(GRID)
        for ply, move in enumerate(store.moves[store.offsets[game] : store.offsets[game + 1]].tolist()):
            if move != PASS:
                board.play(GRID - 1 - move // GRID, move % GRID, "bw"[ply % 2])
            done += 1
        game += 1
    return done / (time.perf_counter() - begun)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", help="a store of 19 × 19 games without handicap")
    parser.add_argument("--positions", type=int, default=400_000, help="positions replayed in order (default 400,000)")
    parser.add_argument("--peer-seconds", type=float, default=3.0, help="seconds for sgfmill (default 3)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()

    store = Store(options.store)
    positions = Positions(store, np.arange(len(store)))
    ordered, ordered_processor = ours(positions, options.positions, True)
    random, random_processor = ours(positions, options.positions // 8, False)
    slow = peer(store, options.peer_seconds)
    if options.json:
        print(json.dumps({"in_order": ordered, "random": random, "sgfmill_in_order": slow, "ratio": ordered / slow}))
        return
    print(f"{options.store}: {len(positions):,} positions, batches of {BATCH:,}, eight planes, one core")
    print(f"kibitz, in game order {ordered:12,.0f} positions/s   ({ordered_processor:,.0f} a second of processor time)")
    print(f"kibitz, at random     {random:12,.0f} positions/s   ({random_processor:,.0f} a second of processor time)")
    print(f"sgfmill, no planes    {slow:12,.0f} positions/s")
    print(f"ratio, in game order  {ordered / slow:12,.1f}")


if __name__ == "__main__":
    main()
