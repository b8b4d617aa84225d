"""`--batch auto`: the largest batch that a training step has memory for on this machine's GPU."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from kibitz.nets.optim import place
from kibitz.store.store import Store
from kibitz.systems.base import Stage, System
from kibitz.training.dataloader import make_batch
from kibitz.training.trainer import TrainConfig, best_precision

MEMORY = 0.9
"""Share of a GPU's memory that a step may take: the rest is for what falls between the blocks of torch's allocator."""
LEAST_BATCHES = 100
"""Batches that a pass over the examples has at least, however much memory there is."""


def largest(usual: int, most: int, fits: Callable[[int], bool]) -> int:
    """The largest batch that fits, among the usual one times 2, 4, 8 … up to `most`, or where the usual one does not
    fit among its half, its quarter … At least 1, whether that fits or not."""
    batch = usual
    while batch > 1 and not fits(batch):
        batch //= 2
    if batch < usual:
        return batch
    while 2 * batch <= most and fits(2 * batch):
        batch *= 2
    return batch


def find_batch(system: System, settings: Any, store: Store, games: Any, plan: TrainConfig) -> int:
    """The largest batch with which one step of each stage fits into the memory of this process' device.

    settings: with the usual batch. games: indices of those to train on. On a CPU, whose memory is not what limits a
    batch, the usual one.
    """
    usual: int = settings.batch
    device = plan.ranks.fabric(plan.device, "32-true").device
    if device.type != "cuda":
        return usual
    # Stages of several batches (`value_batch`) do not limit this one.
    counts = [len(stage.examples(store, games)) for stage in _stages(system, settings, device) if stage.batch == usual]
    if not counts:
        return usual
    with _limited(device):
        return largest(usual, min(counts) // LEAST_BATCHES, lambda batch: step_fits(
            system, replace(settings, batch=batch), store, games, plan, device
        ))  # fmt: skip


def step_fits(system: System, settings: Any, store: Store, games: Any, plan: TrainConfig, device: torch.device) -> bool:
    """Whether each stage can make a step with these settings before the device's memory is used up."""
    try:
        for stage in _stages(system, settings, device):
            examples = stage.examples(store, games)
            if len(examples):
                _step(stage, make_batch(examples, stage.batch, plan.seed, 0, 0, plan.ranks.world), plan, device)
    except torch.OutOfMemoryError:
        return False
    finally:
        if device.type == "cuda":
            torch.cuda.empty_cache()
    return True


def _stages(system: System, settings: Any, device: torch.device) -> Sequence[Stage]:
    """The stages of a network that nobody goes on to train."""
    network: nn.Module = system.network(settings)
    return list(system.stages(network.to(device, memory_format=torch.channels_last), settings))  # type: ignore[call-overload]


def _step(stage: Stage, batch: dict[str, torch.Tensor], plan: TrainConfig, device: torch.device) -> None:
    precision = best_precision(plan.device) if plan.precision == "auto" else plan.precision
    optimiser = stage.optimiser()
    place(optimiser, device.type == "cuda")
    stage.module.train()
    with torch.autocast(device.type, torch.bfloat16, enabled=precision.startswith("bf16")):
        loss, _ = stage.loss({name: values.to(device) for name, values in batch.items()})
    loss.backward()  # type: ignore[no-untyped-call]
    optimiser.step()


@contextlib.contextmanager
def _limited(device: torch.device) -> Iterator[None]:
    """Leave a part of the device's memory free."""
    torch.cuda.set_per_process_memory_fraction(MEMORY, device)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0, device)
