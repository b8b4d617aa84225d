"""Training a system: samples a second from a store, compared with the same steps on batches that are ready in memory.

    python bench/bench_training.py games.store [--system human] [--iterations 60] [--rounds 3] [--json]

Both sides take turns in one run: `rounds` times the loop's own feed (replay, shuffling, a thread beside the step), and
as often a list of batches made before the clock starts. Printed are samples/s of each (the median round), their ratio,
and the same for float32, which tells what bf16 gains on this machine.
"""

import argparse
import json
import statistics
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import torch
from lightning_fabric import Fabric
from torch import Tensor

from kibitz.store.store import Store
from kibitz.systems import DEFAULT, find_recipe, load
from kibitz.systems.base import System
from kibitz.training.dataloader import make_batch, prefetch_batches
from kibitz.training.trainer import best_precision


class Bench:
    def __init__(self, store: Store, system: System, settings: Any, precision: str):
        self.fabric = Fabric(accelerator="cpu", devices=1, precision=precision)
        self.network = system.network(settings)
        games = system.games(store, settings)
        games = games[store.sides()[games] == 0]
        system.prepare(self.network, store, games, settings, 0)
        self.network = self.network.to(memory_format=torch.channels_last)
        self.stage = system.stages(self.network, settings)[0]
        self.examples = self.stage.examples(store, games)
        self.optimiser = self.fabric.setup_optimizers(self.stage.optimiser())

    def rate(self, batches: Iterable[dict[str, Tensor]]) -> float:
        """Samples a second of training steps on these batches."""
        began, count = time.perf_counter(), 0
        for batch in batches:
            with self.fabric.autocast():
                loss, measures = self.stage.loss(batch)
            self.fabric.backward(loss)
            self.optimiser.step()
            self.optimiser.zero_grad()
            float(measures[self.stage.monitor].sum())  # the loop looks at every iteration too
            count += len(batch["codes"])
        return count / (time.perf_counter() - began)

    def measure(self, iterations: int, rounds: int) -> tuple[float, float]:
        """Median samples/s from the store and on ready-made batches."""
        size = self.stage.batch
        ready = [make_batch(self.examples, size, 1, i) for i in range(8)]
        self.rate(ready)
        from_store, ready_made = [], []
        for turn in range(rounds):
            first = turn * iterations
            from_store.append(self.rate(prefetch_batches(self.examples, size, 0, first, first + iterations)))
            ready_made.append(self.rate(ready[i % len(ready)] for i in range(iterations)))
        return statistics.median(from_store), statistics.median(ready_made)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("--iterations", type=int, default=60, help="steps a round (default 60)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--system", default="winner", help="with its recipe default; winner (default), human, …")
    parser.add_argument("--attacks", default="none", help="of winner: none (default), squares or counts")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_flush_denormal(True)
    store, system, rows = Store(options.store), load(options.system), []
    settings: Any = system.settings_type(**find_recipe(options.system, DEFAULT).settings)
    if options.system == "winner":
        settings = replace(system.settings_type(), attacks=options.attacks)
    for precision in dict.fromkeys((best_precision("cpu"), "32-true")):
        bench = Bench(store, system, settings, precision)
        fed, ready = bench.measure(options.iterations, options.rounds)
        rows.append(
            {"precision": precision, "from_store": round(fed), "ready_made": round(ready), "ratio": fed / ready}
        )
    if options.json:
        print(json.dumps({"threads": torch.get_num_threads(), "attacks": options.attacks, "rates": rows}))
        return
    print(f"{options.system}, batches of {settings.batch}, {torch.get_num_threads()} threads, samples/s")
    print(f"{'precision':12}{'from store':>12}{'ready-made':>12}{'ratio':>8}")
    for row in rows:
        print(f"{row['precision']:12}{row['from_store']:12,}{row['ready_made']:12,}{row['ratio']:8.3f}")
    if len(rows) == 2:
        print(f"bf16 is {rows[0]['from_store'] / rows[1]['from_store']:.1f} times as fast as float32")


if __name__ == "__main__":
    main()
