"""Prefetching of batches: a thread makes the next ones while the network trains on the current one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import torch
from torch import Tensor

from kibitz.store.positions import permutation
from kibitz.systems.base import Examples, batches_in_epoch

N_READY = 3
"""Number of batches that are made ahead."""


def make_batch(examples: Examples, batch: int, seed: int, iteration: int) -> dict[str, Tensor]:
    """The batch of one iteration, of `batch` examples or all there are: a pure function of its arguments."""
    size = min(batch, len(examples))
    epoch, index = divmod(iteration, batches_in_epoch(len(examples), batch))
    ids = permutation(len(examples), seed, epoch, index * size, size)
    return {name: torch.from_numpy(values) for name, values in examples.batch(ids, epoch).items()}


def prefetch_batches(examples: Examples, batch: int, seed: int, first: int, last: int) -> Iterator[dict[str, Tensor]]:
    """The batches of iterations first .. last - 1, in order, made by one thread up to N_READY ahead."""
    with ThreadPoolExecutor(1) as maker:
        ready: deque[Future[dict[str, Tensor]]] = deque()
        try:
            for iteration in range(first, last):
                ready.append(maker.submit(make_batch, examples, batch, seed, iteration))
                if len(ready) > N_READY:
                    yield ready.popleft().result()
            while ready:
                yield ready.popleft().result()
        finally:
            for future in ready:
                future.cancel()
