"""Export a packaged network without the units that are dead, for speed; its weights stay as they are.

    python tools/prune_network.py human games.store --positions 50000

Dead are the units of residual blocks that are 0 on every square of all these positions (kibitz/nets/dead_units.py). The
new model.onnx answers other positions, too; the largest differences from the one before are printed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnxruntime
import torch

from kibitz.nets.dead_units import prune
from kibitz.runs import ONNX, Run
from kibitz.store.positions import Positions
from kibitz.store.store import Store
from kibitz.training.dataloader import make_batch
from kibitz.training.export import export_onnx

BATCH = 256
NETWORKS = Path(__file__).parents[1] / "src" / "kibitz" / "networks"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("store")
    parser.add_argument("--positions", type=int, default=50_000)
    options = parser.parse_args()
    run, store = Run(NETWORKS / options.name), Store(options.store)
    network = run.load_network().eval()
    stage = run.system.stages(network, run.settings)[0]
    examples = stage.examples(store, run.system.games(store, run.settings))

    def batches(seed: int) -> Iterator[dict[str, torch.Tensor]]:
        for i in range(options.positions // BATCH):
            yield make_batch(examples, BATCH, seed, i)

    def answer() -> None:
        for batch in batches(0):
            stage.loss(batch)

    dead, units = prune(network, answer)
    print(f"{options.name}: {dead} of {units} units taken out")
    path = run.path / ONNX
    old = onnxruntime.InferenceSession(str(path))
    few = Positions(store, np.arange(1)).batch(np.arange(4))
    export_onnx(network, few.codes, few.state, path)
    new = onnxruntime.InferenceSession(str(path))
    largest, seconds = dict.fromkeys(network.outputs, 0.0), [0.0, 0.0]
    for batch in batches(1):
        asked = {name: batch[name].numpy() for name in ("codes", "state")}
        answers = []
        for which, session in enumerate((old, new)):
            begun = time.perf_counter()
            answers.append(session.run(None, asked))
            seconds[which] += time.perf_counter() - begun
        for name, one, other in zip(largest, *answers, strict=True):
            largest[name] = max(largest[name], float(np.abs(one - other).max()))
    print(f"largest differences on as many other positions: {largest}")
    print(f"seconds: {seconds[0]:.1f} before, {seconds[1]:.1f} now ({seconds[0] / seconds[1]:.1f} times as fast)")


if __name__ == "__main__":
    main()
