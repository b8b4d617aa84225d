"""Does clipping illegal squares change what a network of `convchess` or `chessnet` chooses? One row a kept checkpoint.

    python bench/clipping_by_epoch.py RUN STORE --network knight [--positions 20000] [--every 173]

RUN trained one network (--networks knight, say). For each kept checkpoint whose iteration is a multiple of --every: how
often the played square is the first choice of all 64 (unclipped), how often of the legal ones (clipped), and how often
the first choice of all is illegal. The same unseen positions each time, those in which such a piece moved. Prints
Markdown.
"""

import argparse
from functools import partial
from pathlib import Path

import numpy as np
import torch

from kibitz.evaluation.batches import evaluate_in_batches, sample_indices
from kibitz.evaluation.games import choose
from kibitz.evaluation.policy.metrics import measure, played_in
from kibitz.runs import Run
from kibitz.stats import ClusterBootstrap
from kibitz.store.positions import Batch, Positions
from kibitz.store.store import Store
from kibitz.systems.movers.nets import PIECES


def iteration(path: Path) -> int:
    return int(path.stem.rpartition("-")[2])


def marks_of(network: torch.nn.Module, store: Store, batch: Batch) -> dict[str, np.ndarray]:
    with torch.inference_mode():
        found = network(torch.from_numpy(batch.codes), torch.from_numpy(batch.state))
    answers = dict(zip(network.outputs, (values.float().numpy() for values in found), strict=True))
    return measure(answers, batch, played_in(store, batch.games, batch.plies))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("store")
    parser.add_argument("--network", choices=("piece", *PIECES), required=True)
    parser.add_argument("--positions", type=int, default=20_000)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    run, store = Run(options.run), Store(options.store)
    positions = Positions(store, choose(run, store).games, last=-2)
    numbers = sample_indices(positions, options.positions, 0)
    games, _ = positions.locate(numbers)
    about = "origin" if options.network == "piece" else "target"
    print("| iterations | unclipped (95%) | clipped (95%) | illegal first choices | moves |\n|---|---|---|---|---|")
    for path in sorted(run.checkpoints(), key=iteration):
        if iteration(path) % options.every:
            continue
        marks = evaluate_in_batches(positions, numbers, partial(marks_of, run.load_network(path), store))
        mask = marks["piece"] == PIECES.index(options.network) if about == "target" else np.ones(len(games), bool)
        groups = ClusterBootstrap(games)
        of_all, of_legal, illegal = groups.means(
            [marks[f"{about}_rank"] == 1, marks[f"{about}_legal_rank"] == 1, marks[f"{about}_illegal"]], mask
        )
        first = " | ".join(f"{each.value:.1%} ({each.low:.1%} to {each.high:.1%})" for each in (of_all, of_legal))
        print(f"| {iteration(path):,} | {first} | {illegal.value:.2%} | {of_all.n:,} |", flush=True)


if __name__ == "__main__":
    main()
