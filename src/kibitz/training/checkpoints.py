"""The checkpoints of a training run: weights that training saves at intervals. This module sorts them and removes old
ones.

Files are named STAGE-ITERATION.safetensors; a stage is the training of one part of the network. kibitz removes some of
the older checkpoints. The total size then stays below a limit, and the remaining checkpoints are at about equal
intervals of iterations.
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

N_NEWEST = 3
"""The number of newest checkpoints that are not removed to make the series evenly spaced."""
_NAME = re.compile(r"(?P<stage>.+)-(?P<iteration>\d{1,15})")


def stage_and_iteration(path: Path) -> tuple[str, int] | None:
    """Return the stage (a part of the training) and the iteration in the file name of a checkpoint,
    STAGE-ITERATION.safetensors. Return None for other file names.
    """
    match = _NAME.fullmatch(path.stem)
    return (match["stage"], int(match["iteration"])) if match else None


def series(folder: Path, stages: Sequence[str]) -> list[tuple[int, Path]]:
    """Return the checkpoints in a folder in the order of training, each as (iterations since the start of the training,
    path).

    stages: the names of the stages (parts of the training) in the order of training. Checkpoints of other stages come
    last. The iteration of a stage's last checkpoint counts as the length of this stage.
    """
    checkpoints: list[tuple[int, int, Path]] = []
    for path in folder.glob("*.safetensors"):
        if parts := stage_and_iteration(path):
            stage, iteration = parts
            checkpoints.append((stages.index(stage) if stage in stages else len(stages), iteration, path))
    lengths = [max((i for k, i, _ in checkpoints if k == index), default=0) for index in range(len(stages) + 1)]
    before = [0, *accumulate(lengths)]
    return sorted((before[index] + iteration, path) for index, iteration, path in checkpoints)


def thin(folder: Path, stages: Sequence[str], megabytes: float) -> None:
    """Remove checkpoints until the total size is at most `megabytes` (1 MB is 1,000,000 bytes). The remaining
    checkpoints are at about equal intervals of iterations. stages: the names of the stages (parts of the training) in
    the order of training.
    """
    checkpoints = series(folder, stages)
    sizes = {path: path.stat().st_size for _, path in checkpoints}
    while checkpoints and sum(sizes[path] for _, path in checkpoints) > megabytes * 1e6:
        _, removed = checkpoints.pop(_least_missed([iteration for iteration, _ in checkpoints]))
        removed.unlink(missing_ok=True)


def _least_missed(iterations: Sequence[int]) -> int:
    """Return the index in an ascending series whose removal leaves the smallest gap.

    The first iteration and the newest iterations are never selected; the result is 0 if the series has no other
    iterations.
    """
    inner = range(1, len(iterations) - N_NEWEST)
    return min(inner, key=lambda i: iterations[i + 1] - iterations[i - 1]) if inner else 0


@dataclass(frozen=True)
class RunBytes:
    """Upper limits of the disk space of a run (the folder of a trained network), in bytes.

    weights: the size of one copy of the network's weights.
    total: the size of all files, during training and at its end.
    peak: the size of all files while one of them is replaced, when its old and its new version exist.
    """

    weights: int
    total: int
    peak: int


def run_bytes(network: nn.Module, checkpoint_megabytes: float, averages: bool = False) -> RunBytes:
    """Return upper limits of the disk space of a run, the directory of the trained network.

    checkpoint_megabytes: the limit of the checkpoints' total size. averages: whether the weights are averaged. The file
    last.pt contains the weights, their averages if there are any, and at most two values per weight for the optimizer.
    best.safetensors and the ONNX file contain the weights once each.
    """
    weights = sum(p.numel() * p.element_size() for p in network.state_dict().values())
    checkpoints = (
        (6 if averages else 5) * weights + int(checkpoint_megabytes * 1e6) + 10_000_000
    )  # metrics, hashes of training games, learning curve
    return RunBytes(weights, checkpoints, checkpoints + 3 * weights)
