"""Make batches of training examples. Threads make the next batches while the network trains on the current batch."""

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
"""The number of batches that a thread makes in advance."""


def make_batch(
    examples: Examples, batch: int, seed: int, iteration: int, rank: int = 0, world: int = 1
) -> dict[str, Tensor]:
    """Return the batch of one iteration, as a dict from names to tensors. It has `batch` examples, or all examples if
    there are fewer, and depends only on the arguments.

    rank: the index of this process, from 0. world: the number of processes that share the batch; each gets only its
    part. Raises KibitzError if there are fewer examples than processes.
    """
    size = min(batch, len(examples))
    epoch, index = divmod(iteration, batches_in_epoch(len(examples), batch))
    ids = permutation(len(examples), seed, epoch, index * size, size)
    return {name: torch.from_numpy(values) for name, values in part_of(examples, ids, epoch, rank, world).items()}


def part_of(examples: Examples, ids: NDArray[np.int64], epoch: int, rank: int, world: int) -> Arrays:
    """Return the part of a batch for one of several processes that train together. rank: the index of the process, from
    0. world: the number of processes. ids: the ids of the batch's examples, int64. epoch: the number of the pass over
    the examples.

    The part consists of the examples of a contiguous range of `ids`. Examples that implement `systems.base.Parted`
    choose the part themselves. Raises KibitzError if there are fewer examples than processes.
    """
    if world == 1:
        return examples.batch(ids, epoch)
    if len(ids) < world:
        raise KibitzError(
            f"--batch takes {len(ids)} examples, which are too few for {world} processes. Use fewer --devices."
        )
    if isinstance(examples, Parted):
        return examples.part(ids, epoch, rank, world)
    return examples.batch(np.array_split(ids, world)[rank], epoch)


def prefetch_batches(examples: Examples, batch: int, seed: int, first: int, last: int) -> Iterator[dict[str, Tensor]]:
    """Yield the batches of the iterations `first` to `last` - 1, in order. A thread makes up to N_READY (3) batches in
    advance. batch: the number of examples per batch.
    """
    return ahead(lambda iteration: make_batch(examples, batch, seed, iteration), range(first, last))


def ahead(
    make: Callable[[int], dict[str, Tensor]], iterations: Iterable[int], threads: int = 1
) -> Iterator[dict[str, Tensor]]:
    """Yield make(iteration) for each iteration, in order. threads: the number of threads, each of which makes up to
    N_READY (3) results in advance. make: the function that makes a result, such as a batch.
    """
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
