"""How often the most likely move was played, over the course of trainings of `human` or `chessnet`, row by row.

    python bench/accuracy_over_time.py runs/human-1 runs/chessnet-1 masters.store \\
        [--positions 5000] [--rate 885 1200] [--picture FILE.svg]

The same positions each time, of games that the first run has not seen, with all that is known of them where a network
asks for it; --picture draws them, too. Minutes: what the run's own log says its positions took, validations left out,
which is CPU time where a training had one core to itself; --rate takes so many positions a second of each run instead.
Prints Markdown.
"""

import argparse
import json
from pathlib import Path

import matplotlib
import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator, PercentFormatter
from safetensors.torch import load_file

from kibitz.evaluation.batches import evaluate_in_batches, sample_indices
from kibitz.evaluation.games import choose
from kibitz.evaluation.policy.human.results import RatedSession
from kibitz.play.session import Session
from kibitz.report.curves import ONE, STYLE, THREE, TWO
from kibitz.runs import Run
from kibitz.stats import ClusterBootstrap, Estimate
from kibitz.store.positions import Positions
from kibitz.store.store import Store


class Checkpoint(Session):
    """The run's network with the weights of a checkpoint."""

    def __init__(self, run: Run, weights: Path):
        self.network = run.system.network(run.settings)
        self.network.load_state_dict(load_file(weights))
        self.network.eval()
        self.run, self.name, self.threads = run, run.name, 1
        self.system, self.game, self.side_inputs = run.info["system"], "chess", run.side_inputs
        self.outputs = self.network.outputs
        self._batch, self._correct = 512, None
        self._answer = self._of

    def _of(self, codes: np.ndarray, state: np.ndarray) -> list[np.ndarray]:
        with torch.inference_mode():
            found = self.network(torch.from_numpy(codes), torch.from_numpy(state))
        return [values.float().numpy() for values in found]


def minutes(run: Run, rate: float | None) -> dict[int, float]:
    """Minutes of learning up to each logged iteration."""
    so_far, before, found = 0.0, 0, {0: 0.0}
    for line in (run.path / "metrics.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if entry["kind"] == "summary":
            so_far += (entry["samples"] - before) / (rate or entry["samples_per_second"]) / 60
            before = entry["samples"]
            found[entry["iteration"]] = so_far
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+")
    parser.add_argument("store")
    parser.add_argument("--positions", type=int, default=5000)
    parser.add_argument("--rate", type=float, nargs="+")
    parser.add_argument("--picture", help="an SVG file to write")
    options = parser.parse_args()
    curves: dict[str, list[tuple[float, Estimate]]] = {}
    runs, store = [Run(path) for path in options.runs], Store(options.store)
    positions = Positions(store, choose(runs[0], store).games, last=-2)
    numbers = sample_indices(positions, options.positions, 0)
    clusters = ClusterBootstrap(positions.locate(numbers)[0])
    print("| run | positions learned from | minutes | first choice (95%) | log loss |\n|---|---|---|---|---|")
    for run, rate in zip(runs, options.rate or [None] * len(runs), strict=True):
        passed = minutes(run, rate)
        for path in sorted((run.path / "snapshots").glob("*.safetensors"), key=iteration):
            session = Checkpoint(run, path)
            rated = RatedSession(session, store)

            def measure(batch, session=session, rated=rated):
                return rated.measure(batch, rated.full_state(batch) if session.side_inputs else batch.state)

            found = evaluate_in_batches(positions, numbers, measure)
            right, loss = clusters.means([found["rank"] == 1, -np.log(np.maximum(found["chance"], 1e-7))])
            took = np.interp(iteration(path), list(passed), list(passed.values()))
            curves.setdefault(run.name, []).append((float(took), right))
            print(
                f"| {run.name} | {iteration(path) * run.settings.batch:,} | {took:.1f} | {right.value:.1%} "
                f"({right.low * 100:.1f} to {right.high * 100:.1f}) | {loss.value:.3f} |",
                flush=True,
            )
    if options.picture:
        draw(curves, options.picture)


def draw(curves: dict[str, list[tuple[float, Estimate]]], path: str) -> None:
    """First choices over minutes with their intervals, a line for each run."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        axes = figure.subplots()
        for (name, points), colour in zip(curves.items(), (ONE, TWO, THREE), strict=False):
            x = [minutes for minutes, _ in points]
            axes.plot(x, [right.value for _, right in points], color=colour, label=name)
            axes.fill_between(x, *zip(*((right.low, right.high) for _, right in points), strict=True),
                              color=colour, alpha=0.15, linewidth=0)  # fmt: skip
        axes.set(xlabel="minutes of one core", ylabel="first choice was played", xlim=(0, None))
        axes.yaxis.set_major_locator(MultipleLocator(0.05))
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes.legend(loc="lower right")
        figure.savefig(path, facecolor="white", metadata={"Date": None})


def iteration(path: Path) -> int:
    return int(path.stem.split("-")[-1])


if __name__ == "__main__":
    main()
