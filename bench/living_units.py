"""How many units of each residual block live: are above 0 on any square of any of 512 positions.

    python bench/living_units.py human games.store
    python bench/living_units.py runs/chessnet-1 games.store

A unit is a channel between the two convolutions of a block. A block without living units tells nothing, and learns
nothing (kibitz/nets/dead_units.py).
"""

from __future__ import annotations

import argparse

import torch

from kibitz.nets.dead_units import Branch, branches
from kibitz.runs import Run
from kibitz.store.store import Store
from kibitz.training.dataloader import make_batch

POSITIONS = 512


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("store")
    parser.add_argument("--positions", type=int, default=POSITIONS)
    options = parser.parse_args()
    run, store = Run(options.run), Store(options.store)
    network = run.load_network().eval()
    stage = run.system.stages(network, run.settings)[0]
    examples = stage.examples(store, run.system.games(store, run.settings))
    batch = make_batch(examples, options.positions, 0, 0)
    seen: dict[Branch, torch.Tensor] = {}
    blocks = list(branches(network, network.parameters()))
    for block in blocks:
        block.second.register_forward_pre_hook(lambda _, inputs, block=block: seen.update({block: inputs[0]}))
    with torch.no_grad():
        stage.loss(batch)
    for number, block in enumerate(blocks, 1):
        positive = seen[block] > 0
        living = int(positive.transpose(0, 1).flatten(1).any(1).sum())
        print(f"block {number}: {living} of {positive.shape[1]} units live; above 0 in {positive.float().mean():.1%}")


if __name__ == "__main__":
    main()
