"""How many units of each residual block live: are above 0 on any square of any of 512 positions.

    python bench/living_units.py human games.store
    python bench/living_units.py runs/chessnet-1 games.store

A unit is a channel between the two convolutions of a block. A block without living units tells nothing, and learns
nothing (kibitz/nets/dead_units.py). Where a block has a squeeze, by which it is told who plays, its units are counted,
too.
"""

from __future__ import annotations

import argparse

import torch
from torch import nn

from kibitz.nets.dead_units import branches
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
    seen: dict[nn.Module, torch.Tensor] = {}

    def watch(module: nn.Module) -> None:
        module.register_forward_pre_hook(lambda of, inputs: seen.update({of: inputs[0]}))

    blocks = list(branches(network, network.parameters()))
    for block in blocks:
        watch(block.second)
        if hasattr(block, "excite"):
            watch(block.excite)
    with torch.no_grad():
        stage.loss(batch)
    for number, block in enumerate(blocks, 1):
        line = f"block {number}: {living(seen[block.second])} units live; above 0 in {share(seen[block.second]):.1%}"
        if hasattr(block, "excite"):
            line += f"; of its squeeze {living(seen[block.excite])}"
        print(line)


def living(values: torch.Tensor) -> str:
    """How many channels are above 0 anywhere, and of how many."""
    positive = (values > 0).transpose(0, 1).flatten(1).any(1)
    return f"{int(positive.sum())} of {len(positive)}"


def share(values: torch.Tensor) -> float:
    """The share of the values above 0."""
    return float((values > 0).float().mean())


if __name__ == "__main__":
    main()
