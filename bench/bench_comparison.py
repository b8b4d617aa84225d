"""Comparisons a second in the search of deepchess, compared with a search that embeds both positions at each
comparison.

    OMP_NUM_THREADS=1 python bench/bench_comparison.py --run deepchess

One search uses one core, however many there are. Each side thinks about a few positions of bundled games to the same
number of nodes, from an empty table; trees are the same, which is checked. Rounds alternate, and the best of each
counts, in seconds of the core's time, so that other work on the machine weighs on all alike, and little. The sides,
each for the distilled and the full network:

  search       as it plays: embeddings are computed once and cached, and the first layer is updated from move to move
  summed anew  the same, but first layers are summed from all bits of a position
  both anew    the same compiled kernels, which embed both positions at each comparison: a sum of the 25 rows of the
               bits that are set, and no products with what ReLU made 0
  dense        beside the search: one comparison as the paper's network is written, both positions through products
               with all 773 bits, by NumPy's BLAS; the cost of the search itself is left out
  torch        likewise by the torch network that was trained

The last three are what programs do that keep nothing, from the most careful to the plainest.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from typing import Any

import chess
import numpy as np

from bench_search import boards
from kibitz.errors import KibitzError
from kibitz.games.chess.moves import from_move
from kibitz.play.comparison.embedding import PARTS, PositionComparer, load
from kibitz.play.comparison.player import Memory, Thinking
from kibitz.play.comparison.state import COMPARED, EMBEDDED, NODES, ComparisonTuning
from kibitz.play.result import SearchLimits
from kibitz.runs import Run

SIDES = {
    "search": ComparisonTuning(),
    "summed anew": ComparisonTuning(incremental=False),
    "both anew": ComparisonTuning(incremental=False, naive=True),
}


def think(
    comparer: PositionComparer, tuning: ComparisonTuning, some: list[chess.Board], nodes: int
) -> tuple[float, Any]:
    """Seconds, and counts of all positions: nodes, comparisons, embeddings."""
    seconds, counts = 0.0, np.zeros(6, np.int64)
    memory = Memory(comparer, 64, tuning)
    for board in some:
        memory.clear()
        thinking = Thinking(memory, board, [from_move(move) for move in board.legal_moves], SearchLimits(nodes=nodes))
        begun = time.thread_time()
        thinking.deepen(1, None)
        seconds += time.thread_time() - begun
        counts += thinking.counts
    return seconds, counts


class Dense:
    """The network as it is written, one pair at a time."""

    def __init__(self, run: Run, part: str):
        network: Any = run.load_network()
        comparer = network.parts()[part]
        tower, compare = comparer.pos2vec, comparer.compare

        def pair(layer: Any) -> tuple[Any, Any]:
            bias = layer.bias if layer.bias is not None else layer.weight.new_zeros(len(layer.weight))
            return layer.weight.detach().numpy(), bias.detach().numpy()

        self.tower = [(np.ascontiguousarray(tower.first.weight.detach().numpy().T), tower.first.bias.detach().numpy())]
        self.tower += [pair(layer) for layer in tower.rest]
        self.first, self.second = pair(compare.as_first), pair(compare.as_second)
        self.above = [pair(layer) for layer in compare.rest]
        self.answer = pair(compare.answer)

    def embed(self, bits: Any) -> Any:
        values = bits
        for weight, bias in self.tower:
            values = np.maximum(weight @ values + bias, 0)
        return values

    def compare(self, one: Any, two: Any) -> float:
        left, right = self.embed(one), self.embed(two)
        values = np.maximum(self.first[0] @ left + self.first[1] + self.second[0] @ right, 0)
        for weight, bias in self.above:
            values = np.maximum(weight @ values + bias, 0)
        both = self.answer[0] @ values + self.answer[1]
        return float(both[0] - both[1])


class ByTorch:
    """The trained network, one pair at a time."""

    def __init__(self, run: Run, part: str):
        import torch

        torch.set_num_threads(1)  # for two positions others cost more than they bring
        network: Any = run.load_network()
        self.torch, self.part = torch, network.parts()[part]
        self.order = torch.tensor([0]), torch.tensor([1])

    def compare(self, codes: Any, state: Any) -> float:
        with self.torch.inference_mode():
            return float(self.part.logit(self.part.pos2vec(codes, state), *self.order))


def rate(compare: Any, one: Any, two: Any, seconds: float = 0.3) -> float:
    """Calls a second."""
    done, begun, left = 0, time.thread_time(), time.perf_counter() + seconds
    while time.perf_counter() < left:
        compare(one, two)
        done += 1
    return done / (time.thread_time() - begun)


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    run = Run(options.run)
    some = boards(options.positions)
    rows = []
    for part in PARTS:
        try:
            comparer = load(run, part)
        except KibitzError:
            continue  # the run holds only the other
        import torch

        dense, by_torch = Dense(run, part), ByTorch(run, part)
        bits = (np.random.default_rng(0).random((2, 773)) < 0.03).astype(np.float32)
        codes, state = (
            torch.from_numpy(part) for part in (comparer.rows[:2, :64].copy(), comparer.rows[:2, 64:].copy())
        )
        best: dict[str, tuple[float, Any]] = {}
        alone = {"dense": 0.0, "torch": 0.0}
        nodes = options.nodes if part == "distilled" else options.nodes // 4
        for side in SIDES.values():
            think(comparer, side, some[:1], 200)  # loaded, compiled, warm
        for _ in range(options.rounds):
            for name, side in SIDES.items():
                found = think(comparer, side, some, nodes)
                if name not in best or found[0] < best[name][0]:
                    best[name] = found
            alone["dense"] = max(alone["dense"], rate(dense.compare, *bits))
            alone["torch"] = max(alone["torch"], rate(by_torch.compare, codes, state))
        first = best["search"][1]
        alike = all((counts[[NODES, COMPARED]] == first[[NODES, COMPARED]]).all() for _, counts in best.values())
        ours = first[COMPARED] / best["search"][0]
        for name, (seconds, counts) in best.items():
            rows.append(
                {
                    "network": part,
                    "side": name,
                    "comparisons": counts[COMPARED] / seconds,
                    "nodes": counts[NODES] / seconds,
                    "made": counts[EMBEDDED] / seconds if name != "both anew" else 2 * counts[COMPARED] / seconds,
                    "ratio": ours / (counts[COMPARED] / seconds),
                    "same_tree": bool(alike),
                }
            )
        for name, found in alone.items():
            rows.append({"network": part, "side": name, "comparisons": found, "ratio": ours / found})
    return rows


def lateness(run: str, times: int = 20) -> float:
    """Milliseconds from telling a search to stop to its answer, the longest of some."""
    from kibitz.play.comparison.player import ComparisonPlayer

    player, worst = ComparisonPlayer(Run(run)), 0.0
    for _ in range(times):
        stop, told = threading.Event(), [0.0]

        def tell_it(stop: threading.Event = stop, told: list[float] = told) -> None:
            told[0] = time.perf_counter()
            stop.set()

        threading.Timer(0.1, tell_it).start()
        player.think(chess.Board(), SearchLimits(), stop)
        worst = max(worst, time.perf_counter() - told[0])
    return worst * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--run", default="deepchess", help="a run, or a packaged network's name (default: deepchess)")
    parser.add_argument("--nodes", type=int, default=20000, help="nodes a position (a quarter of it: full network)")
    parser.add_argument("--positions", type=int, default=4, help="positions to think about (default: 4)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each, of which the best counts (default: 3)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    load_before = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    rows = measure(options)
    late = lateness(options.run)
    if options.json:
        print(json.dumps({"run": options.run, "load_before": load_before, "rows": rows, "stop_ms": late}))
        return
    print(f"{options.run}; one core; load of the machine before: {load_before}")
    print(f"{'network':<10} {'side':<12} {'comparisons/s':>14} {'nodes/s':>9} {'embeddings/s':>13} {'ratio':>6}  same")
    for row in rows:
        beside = (
            f"{row['nodes']:>9,.0f} {row['made']:>13,.0f} {row['ratio']:>6.2f}  {'yes' if row['same_tree'] else 'no'}"
            if "nodes" in row
            else f"{'':>9} {'':>13} {row['ratio']:>6.2f}"
        )
        print(f"{row['network']:<10} {row['side']:<12} {row['comparisons']:>14,.0f} {beside}")
    print(f"told to stop, a search answers within {late:.1f} ms")


if __name__ == "__main__":
    try:
        main()
    except KibitzError as error:
        raise SystemExit(f"{error} (name a run with --run)") from None
