"""Train for a fixed time: the learning rate falls by the clock, so that it has fallen when the time is over.

    python tools/train_by_clock.py SECONDS human small.store --run RUN ...

The other arguments are those of `kibitz train`. The rate of a machine that was never used before is unknown, so the
number of iterations is too. The time counts from the first iteration, without the preparation. The share --cooldown
is a share of the time.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import torch

from kibitz.cli import run
from kibitz.nets.optim import plateau
from kibitz.systems import gohuman, human
from kibitz.training.trainer import TIME_LIMIT, Trainer

STEPS = 100_000
"""Parts into which the time is divided for the schedule."""


class Clock:
    """The share of the time that is over. It begins when it is first read."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.began = seconds, 0.0

    def share(self) -> float:
        self.began = self.began or time.monotonic()
        return min(1.0, (time.monotonic() - self.began) / self.seconds)


def follow(clock: Clock) -> None:
    """Let the schedule of `human` and `gohuman`, and the end of the training, follow the clock."""

    def by_clock(base: float, iteration: int, iterations: int, *, warmup: int, cooldown: float) -> float:
        risen = min(1.0, (iteration + 1) / max(1, warmup))
        return risen * plateau(base, int(clock.share() * STEPS), STEPS, warmup=0, cooldown=cooldown)

    def interruption(trainer: Any, stop: Any) -> str:
        return TIME_LIMIT if clock.share() >= 1 else usual(trainer, stop)

    usual = Trainer._interruption
    Trainer._interruption = interruption  # type: ignore[method-assign]
    for system in (human, gohuman):
        system.plateau = by_clock  # type: ignore[attr-defined]


if __name__ == "__main__":
    if len(sys.argv) < 4:
        raise SystemExit(__doc__)
    torch.backends.cudnn.benchmark = True  # every batch has the same shape
    torch.set_float32_matmul_precision("high")
    follow(Clock(float(sys.argv[1])))
    sys.exit(run(["train", *sys.argv[2:]]))
