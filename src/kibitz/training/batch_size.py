"""`--batch auto`: find the largest batch for which a training step fits into the memory of this machine's GPU."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from kibitz.nets.optim import move_optimiser
from kibitz.store.store import Store
from kibitz.systems.base import Stage, System
from kibitz.training.dataloader import make_batch
from kibitz.training.trainer import TrainConfig, best_precision

MEMORY = 0.9
"""The share of a GPU's memory that a training step may use. The rest is for fragmentation in torch's allocator."""
LEAST_BATCHES = 100
"""The smallest number of batches in a pass over the examples. The batch size is limited accordingly."""


def largest(usual: int, most: int, fits: Callable[[int], bool]) -> int:
    """Return the largest batch size for which `fits` is true.

    usual: the batch size of the settings. If it fits, its double, four times its value and so on are tried. If it
        doesn't fit, its half, its quarter and so on are tried.
    most: the largest batch size to try.
    fits: a function that takes a batch size, and returns whether such a batch fits in memory.

    The result is at least 1, even if `fits` is false for 1.
    """
    batch = usual
    while batch > 1 and not fits(batch):
        batch //= 2
    if batch < usual:
        return batch
    while 2 * batch <= most and fits(2 * batch):
        batch *= 2
    return batch


def find_batch(system: System, settings: Any, store: Store, games: Any, plan: TrainConfig) -> int:
    """Return the largest batch size with which training steps fit into the GPU memory. If this process trains on a CPU,
    return the batch size of the settings.

    settings: the settings with the usual batch size. games: the indices of the training games in the store, int64.
    plan: the options of the training loop.
    """
    usual: int = settings.batch
    device = plan.ranks.fabric(plan.device, "32-true").device
    if device.type != "cuda":
        return usual
    # Count only the stages that use the batch size to find. The value network has a separate setting, `value_batch`.
    counts = [len(stage.examples(store, games)) for stage in _stages(system, settings, device) if stage.batch == usual]
    if not counts:
        return usual
    with _limited(device):
        return largest(usual, min(counts) // LEAST_BATCHES, lambda batch: step_fits(
            system, replace(settings, batch=batch), store, games, plan, device
        ))  # fmt: skip


def step_fits(system: System, settings: Any, store: Store, games: Any, plan: TrainConfig, device: torch.device) -> bool:
    """Return whether a training step with the batch size of the settings fits into the memory of a device. One step of
    each training stage (a part of the training) is tried.

    games: the indices of the training games in the store, int64. plan: the options of the training loop.
    """
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
    """Return the stages (parts of the training) of a new network that is used only to test the memory."""
    network: nn.Module = system.network(settings)
    return list(system.stages(network.to(device, memory_format=torch.channels_last), settings))  # type: ignore[call-overload]


def _step(stage: Stage, batch: dict[str, torch.Tensor], plan: TrainConfig, device: torch.device) -> None:
    precision = best_precision(plan.device) if plan.precision == "auto" else plan.precision
    optimiser = stage.optimiser()
    move_optimiser(optimiser, device.type == "cuda")
    stage.module.train()
    with torch.autocast(device.type, torch.bfloat16, enabled=precision.startswith("bf16")):
        loss, _ = stage.loss({name: values.to(device) for name, values in batch.items()})
    loss.backward()  # type: ignore[no-untyped-call]
    optimiser.step()


@contextlib.contextmanager
def _limited(device: torch.device) -> Iterator[None]:
    """Reserve a part of the device's memory inside the context, so that steps can't use it."""
    torch.cuda.set_per_process_memory_fraction(MEMORY, device)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0, device)
