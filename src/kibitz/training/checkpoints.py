"""The series of weights that a training leaves behind, for the board's slider: how many are kept, and which.

Files are named STAGE-ITERATION.safetensors. The newest are kept, and of the older ones a series as even as it goes, so
that all together stay under a number of megabytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import nn

NEWEST = 3
"""So many of the newest are kept however uneven they make the series."""
_NAME = re.compile(r"(?P<stage>.+)-(?P<iteration>\d{1,15})")


def stage_and_iteration(path: Path) -> tuple[str, int] | None:
    """What a file's name tells; None for another file."""
    match = _NAME.fullmatch(path.stem)
    return (match["stage"], int(match["iteration"])) if match else None


def series(folder: Path, stages: Sequence[str]) -> list[tuple[int, Path]]:
    """The files in the order in which they were made, each with its iterations since the training's begin.

    stages: names in the order of training; files of others come last. Of a stage that is over, its length is taken to
    be its last file's.
    """
    found: list[tuple[int, int, Path]] = []
    for path in folder.glob("*.safetensors"):
        if told := stage_and_iteration(path):
            stage, iteration = told
            found.append((stages.index(stage) if stage in stages else len(stages), iteration, path))
    lengths = [max((i for n, i, _ in found if n == number), default=0) for number in range(len(stages) + 1)]
    before = [0, *accumulate(lengths)]
    return sorted((before[number] + iteration, path) for number, iteration, path in found)


def thin(folder: Path, stages: Sequence[str], megabytes: float) -> None:
    """Remove files until all together take no more than so many megabytes (of 1,000,000 bytes)."""
    kept = series(folder, stages)
    sizes = {path: path.stat().st_size for _, path in kept}
    while kept and sum(sizes[path] for _, path in kept) > megabytes * 1e6:
        _, gone = kept.pop(_least_missed([place for place, _ in kept]))
        gone.unlink(missing_ok=True)


def _least_missed(places: Sequence[int]) -> int:
    """Which of an ascending series to leave out: the one that leaves the smallest gap, neither first nor among the
    newest; of fewer than those, the oldest."""
    inner = range(1, len(places) - NEWEST)
    return min(inner, key=lambda i: places[i + 1] - places[i - 1]) if inner else 0


@dataclass(frozen=True)
class RunBytes:
    """What a run takes on its disk, at most. weights: one copy of the network's. kept: while it trains and at its end.
    peak: with the file that replaces the largest one."""

    weights: int
    kept: int
    peak: int


def run_bytes(network: nn.Module, snapshot_megabytes: float) -> RunBytes:
    """An upper bound before the training begins: last.pt has the weights and at most two numbers a weight of the
    optimiser's; the best weights and the export have them once each."""
    weights = sum(p.numel() * p.element_size() for p in network.state_dict().values())
    kept = 5 * weights + int(snapshot_megabytes * 1e6) + 10_000_000  # metrics, seen games, learning curve
    return RunBytes(weights, kept, kept + 3 * weights)
