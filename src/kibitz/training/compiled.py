"""`--compile`: the passes of a training as code that torch makes for this network on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

import torch

from kibitz.environment import user_cache
from kibitz.errors import KibitzError, one_line

A = TypeVar("A")
B = TypeVar("B")
CACHE = "TORCHINDUCTOR_CACHE_DIR"
"""Where torch keeps what it has compiled. By default in the folder for temporary files, which does not outlast a
restart."""


def compiled(loss: Callable[[A], B]) -> Callable[[A], B]:
    """The function as torch.compile makes it, at its first call, for tensors of one shape.

    What was compiled is kept in the user's cache, so that the next training begins sooner. Raises KibitzError at the
    first call where torch cannot compile: on CPUs it needs a C++ compiler, on GPUs Triton.
    """
    os.environ.setdefault(CACHE, str(user_cache() / "torch"))
    fast: Callable[[A], B] = torch.compile(loss, dynamic=False)

    def call(given: A) -> B:
        try:
            return fast(given)
        except _failures() as error:
            raise KibitzError(
                f"--compile: torch cannot compile this network here ({one_line(error)}); leave the option out"
            ) from None

    return call


def _failures() -> tuple[type[Exception], ...]:
    """What torch raises where it cannot compile."""
    import torch._dynamo.exc
    import torch._inductor.exc

    return torch._dynamo.exc.TorchDynamoException, torch._inductor.exc.InductorError
