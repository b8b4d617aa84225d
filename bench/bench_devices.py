"""Training by two processes, compared with one process with two threads and one with one: samples a second of the same
batches.

    python bench/bench_devices.py games.store [--iterations 40] [--rounds 3] [--system winner] [--json]

Each is `kibitz train` with the system's recipe "default" in float32; they take turns, `rounds` times. The rate is that
of the training's own summaries, the first one left out: validations, checkpoints and the start do not count. Printed
are the median round of each, the share of two processes in the rate of one process with two threads, and the load.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

WAYS = {
    "two processes, a thread each": ("2", "1"),
    "one process, two threads": ("1", "2"),
    "one process, one thread": ("1", "1"),
}
"""Name -> processes, threads of each."""
SUMMARY = 5
"""Iterations between summaries."""


def rate(store: str, system: str, iterations: int, processes: str, threads: str) -> float:
    """Samples a second of one training."""
    with tempfile.TemporaryDirectory() as folder:
        never = str(10 * iterations)
        subprocess.run(
            [
                sys.executable, "-m", "kibitz.cli", "train", system, store, "--run", f"{folder}/run", "--device", "cpu",
                "--devices", processes, "--precision", "float32", "--iterations", str(iterations), "--summary-every",
                str(SUMMARY), "--validate-every", never, "--checkpoint-every", never, "--validate-positions", "64",
            ],
            env={**os.environ, "OMP_NUM_THREADS": threads}, check=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        rows = [json.loads(line) for line in Path(folder, "run", "metrics.jsonl").read_text().splitlines()]
    rates = [row["samples_per_second"] for row in rows if row["kind"] == "summary"]
    return statistics.harmonic_mean(rates[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("--iterations", type=int, default=40, help="steps of a training (default 40)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--system", default="winner")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found: dict[str, list[float]] = {name: [] for name in WAYS}
    for _ in range(options.rounds):
        for name, way in WAYS.items():
            found[name].append(rate(options.store, options.system, options.iterations, *way))
    medians = {name: statistics.median(rates) for name, rates in found.items()}
    both, two_threads, _ = medians.values()
    load = os.getloadavg()[0]
    if options.json:
        print(json.dumps({"rates": found, "medians": medians, "share": both / two_threads, "load": load}))
        return
    for name, value in medians.items():
        print(f"{name:30}{value:10,.0f} samples/s   ({', '.join(f'{one:,.0f}' for one in found[name])})")
    print(f"two processes have {both / two_threads:.1%} of the rate of one with two threads; load {load:.1f}")


if __name__ == "__main__":
    main()
