"""Batches, and their prefetching: threads make the next ones while the network trains on the current one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kibitz.errors import KibitzError
from kibitz.store.positions import permutation
from kibitz.systems.base import Arrays, Examples, Parted, batches_in_epoch

N_READY = 3
"""Number of batches that are made ahead."""


def make_batch(
    examples: Examples, batch: int, seed: int, iteration: int, rank: int = 0, world: int = 1
) -> dict[str, Tensor]:
    """The batch of one iteration, of `batch` examples or all there are: a pure function of its arguments.

    rank, world: of several processes each makes its part, and together the parts have the examples of the one batch.
    Raises KibitzError where there are fewer examples than processes.
    """
    size = min(batch, len(examples))
    epoch, index = divmod(iteration, batches_in_epoch(len(examples), batch))
    ids = permutation(len(examples), seed, epoch, index * size, size)
    return {name: torch.from_numpy(values) for name, values in part_of(examples, ids, epoch, rank, world).items()}


def part_of(examples: Examples, ids: NDArray[np.int64], epoch: int, rank: int, world: int) -> Arrays:
    """The examples with these ids that one of `world` processes takes: those of one stretch, or what `examples.part`
    says, which examples have that are made of several rows together."""
    if world == 1:
        return examples.batch(ids, epoch)
    if len(ids) < world:
        raise KibitzError(f"--batch: {len(ids)} examples cannot be shared by {world} processes; take fewer --devices")
    if isinstance(examples, Parted):
        return examples.part(ids, epoch, rank, world)
    return examples.batch(np.array_split(ids, world)[rank], epoch)


def prefetch_batches(examples: Examples, batch: int, seed: int, first: int, last: int) -> Iterator[dict[str, Tensor]]:
    """The batches of iterations first .. last - 1, in order, made by one thread up to N_READY ahead."""
    return ahead(lambda iteration: make_batch(examples, batch, seed, iteration), range(first, last))


def ahead(
    make: Callable[[int], dict[str, Tensor]], iterations: Iterable[int], threads: int = 1
) -> Iterator[dict[str, Tensor]]:
    """What `make` gives for these iterations, in order, made by threads, each up to N_READY ahead."""
    with ThreadPoolExecutor(threads) as maker:
        ready: deque[Future[dict[str, Tensor]]] = deque()
        try:
            for iteration in iterations:
                ready.append(maker.submit(make, iteration))
                if len(ready) > N_READY * threads:
                    yield ready.popleft().result()
            while ready:
                yield ready.popleft().result()
        finally:
            for future in ready:
                future.cancel()
