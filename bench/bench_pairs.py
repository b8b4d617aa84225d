"""Training `deepchess`: pairs a second of the full recipe from a store, compared with the plain way on batches in
memory.

    python bench/bench_pairs.py games.store [--iterations 30] [--rounds 3] [--batch 4096] [--reuse 4] [--json]

The sides take turns in one run. `from store` is the loop's own feed and the stage's own step, with pairs that share
nothing and with `--reuse`; `plain` is the same network written as dense layers over 773 bits, both embeddings for each
pair, on batches of bits made before the clock starts, with the same optimiser and precision. Printed are pairs/s (the
median round) and the ratio. The optimiser is plain SGD, as the system's default.
"""

import argparse
import json
import logging
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise

import torch
import torch.nn.functional as F
from lightning_fabric import Fabric
from torch import Tensor, nn

from kibitz.games.chess.encodings import BITS, PieceBits
from kibitz.store.store import Store
from kibitz.systems.deepchess import SYSTEM, Settings
from kibitz.training.dataloader import make_batch, prefetch_batches
from kibitz.training.trainer import best_precision

Batch = dict[str, Tensor]


def rate(
    fabric: Fabric, optimiser: torch.optim.Optimizer, loss: Callable[[Batch], Tensor], batches: Iterable[Batch]
) -> float:
    """Pairs a second of training steps on these batches."""
    began, count = time.perf_counter(), 0
    for batch in batches:
        with fabric.autocast():
            value = loss(batch)
        fabric.backward(value)
        optimiser.step()
        optimiser.zero_grad()
        count += len(batch["target"])
    return count / (time.perf_counter() - began)


def stack(*sizes: int) -> list[nn.Module]:
    return [part for wide, narrow in pairwise(sizes) for part in (nn.Linear(wide, narrow), nn.ReLU())]


class Plain(nn.Module):
    """The paper's two networks, layer by layer."""

    def __init__(self) -> None:
        super().__init__()
        self.pos2vec = nn.Sequential(*stack(BITS, 600, 400, 200, 100))
        self.compare = nn.Sequential(*stack(200, 400, 200, 100), nn.Linear(100, 2))

    def loss(self, batch: Batch) -> Tensor:
        both = torch.cat([self.pos2vec(batch["left"]), self.pos2vec(batch["right"])], 1)
        return F.cross_entropy(self.compare(both).float(), batch["target"].long())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("--iterations", type=int, default=30, help="steps a round (default 30)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=4096, help="pairs in a batch (default 4096)")
    parser.add_argument("--reuse", type=int, default=4, help="pairs of each position (default 4)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_flush_denormal(True)
    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)
    logging.getLogger("lightning_utilities.core.rank_zero").setLevel(logging.WARNING)
    store, base = Store(options.store), Settings(batch=options.batch)
    games = SYSTEM.games(store, base)
    games = games[store.sides()[games] == 0]
    fabric = Fabric(accelerator="cpu", devices=1, precision=best_precision("cpu"))

    def system(settings: Settings) -> Callable[[int], float]:
        network = SYSTEM.network(settings)
        SYSTEM.prepare(network, store, games, settings, 0)
        stage = next(stage for stage in SYSTEM.stages(network, settings) if stage.name == "deepchess")
        examples, optimiser = stage.examples(store, games), fabric.setup_optimizers(stage.optimiser())
        for group in optimiser.param_groups:
            group["lr"] = 0.001
        return lambda first: rate(
            fabric, optimiser, lambda batch: stage.loss(batch)[0],
            prefetch_batches(examples, stage.batch, 0, first, first + options.iterations),
        )  # fmt: skip

    plain, bits = Plain(), PieceBits()
    ready = []
    examples = SYSTEM.stages(SYSTEM.network(base), base)[4].examples(store, games)
    for i in range(4):
        batch = make_batch(examples, base.batch, 1, i)
        planes = bits(batch["codes"], batch["state"])
        left, right = planes[batch["first"]], planes[batch["second"]]
        ready.append({"left": left, "right": right, "target": batch["target"]})
    solver = fabric.setup_optimizers(torch.optim.SGD(plain.parameters(), lr=0.001, momentum=0.9))
    sides: dict[str, Callable[[int], float]] = {
        "from store": system(base),
        f"from store, --reuse {options.reuse}": system(replace(base, reuse=options.reuse)),
        "plain, ready-made": lambda first: rate(
            fabric, solver, plain.loss, (ready[i % 4] for i in range(options.iterations))
        ),
    }
    found: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(options.rounds + 1):
        for name, side in sides.items():
            pace = side(turn * options.iterations)
            if turn:  # the first round warms up
                found[name].append(pace)
    rates = {name: round(statistics.median(paces)) for name, paces in found.items()}
    if options.json:
        print(json.dumps({"threads": torch.get_num_threads(), "batch": base.batch, "pairs_per_second": rates}))
        return
    print(f"deepchess, batches of {base.batch:,} pairs, {torch.get_num_threads()} threads")
    for name, pace in rates.items():
        print(f"{name:28}{pace:10,} pairs/s {pace / rates['plain, ready-made']:6.2f} of plain")


if __name__ == "__main__":
    main()
