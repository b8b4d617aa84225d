"""Kernels that only kernels call, as functions that a test can call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def callable_kernel(inner: Any) -> Callable[..., Any]:
    """The same kernel with an entry point from Python."""

    def call(*arguments):  # type: ignore[no-untyped-def]
        return inner(*arguments)

    return numba.njit(call)
