"""How often the likeliest move was played, over the course of a training of `human`: one row a kept checkpoint.

    python bench/accuracy_over_time.py runs/human-1 masters.store [--positions 5000] [--rate 885]

The same positions each time, of games that the run has not seen, with all that is known of them. --rate: positions a
second that one core trains on, to tell CPU time from positions. Prints Markdown.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from kibitz.evaluation.batches import evaluate_in_batches, sample_indices
from kibitz.evaluation.games import choose
from kibitz.evaluation.policy.human.results import RatedSession
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.stats import ClusterBootstrap
from kibitz.store.positions import Positions
from kibitz.store.store import Store


class Checkpoint(Session):
    """The run's network with the weights of a checkpoint."""

    def __init__(self, run: Run, weights: Path):
        self.network = run.system.network(run.settings)
        self.network.load_state_dict(load_file(weights))
        self.network.eval()
        self.run, self.name, self.threads = run, run.name, 1
        self.system, self.game, self.side_inputs = "human", "chess", self.network.side_inputs
        self.outputs = self.network.outputs
        self._answer = self._of

    def _of(self, codes: np.ndarray, state: np.ndarray) -> list[np.ndarray]:
        with torch.inference_mode():
            found = self.network(torch.from_numpy(codes), torch.from_numpy(state))
        return [values.float().numpy() for values in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("store")
    parser.add_argument("--positions", type=int, default=5000)
    parser.add_argument("--rate", type=float, default=885.0)
    options = parser.parse_args()
    run, store = Run(options.run), Store(options.store)
    chosen = choose(run, store)
    positions = Positions(store, chosen.games, last=-2)
    numbers = sample_indices(positions, options.positions, 0)
    games, _ = positions.locate(numbers)
    print("| positions learned from | CPU minutes | first choice (95%) | log loss |\n|---|---|---|---|")
    files = sorted((run.path / "snapshots").glob("*.safetensors")) + sorted(
        (run.path / "checkpoints").glob("*.safetensors")
    )
    for path in files:
        rated = RatedSession(Checkpoint(run, path), store)
        found = evaluate_in_batches(
            positions, numbers, lambda batch, rated=rated: rated.measure(batch, rated.full_state(batch))
        )
        right, loss = ClusterBootstrap(games).means([found["rank"] == 1, -np.log(np.maximum(found["chance"], 1e-7))])
        seen = int(path.stem.split("-")[-1]) * run.settings.batch
        print(
            f"| {seen:,} | {seen / options.rate / 60:.0f} | {right.value:.1%} ({right.low * 100:.1f} to "
            f"{right.high * 100:.1f}) | {loss.value:.3f} |"
        )


if __name__ == "__main__":
    main()
