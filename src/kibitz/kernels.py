"""Decorators and helpers that shorten the compilation of kernels, because a search's first move waits for it.

Functions that only kernels call need no entry points, and a loop compiles faster than a slice or an array expression.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import event

from kibitz import environment, memory
from kibitz.kernel_cache import KernelCache

memory.check()

PATIENCE = 2.0
"""Seconds of compilation without a message."""


def _folders() -> list[Path]:
    """Return the folders of compiled kernels: the one that is written, and the user's, which may be read-only."""
    return [Path(os.environ.get(environment.CACHE) or environment.user_folder()), environment.user_folder()]


def _compile(function: Callable[..., Any], **options: Any) -> Any:
    compiled = numba.njit(nogil=True, **options)(function)
    if hasattr(compiled, "targetoptions"):  # with NUMBA_DISABLE_JIT it is the function itself
        compiled._cache = KernelCache(function, compiled.targetoptions, _folders)
    return compiled


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that releases Python's global lock, and keep the machine code on disk."""
    return _compile(function)


def fast_kernel(fastmath: bool | set[str]) -> Callable[[Callable[..., Any]], Any]:
    """Like `kernel`, with the given liberties for floating-point sums, see `fastmath` of numba."""
    return lambda function: _compile(function, fastmath=fastmath)


def inner(function: Callable[..., Any]) -> Any:
    """Compile a function that only kernels call, without entry points from Python and C, which halves the compile time.

    numba compiles a separate version for a Python integer literal, and for the first value of a variable that a loop
    changes. If a kernel calls another with one, write np.int64(0); otherwise that kernel is compiled twice.
    """
    return _compile(function, no_cfunc_wrapper=True, no_cpython_wrapper=True)


@inner
def fill(out, row):  # type: ignore[no-untyped-def]
    """Copy row[: len(out)] to out."""
    for j in range(out.shape[0]):
        out[j] = row[j]


@inner
def is_among(key, keys):  # type: ignore[no-untyped-def]
    """Return whether a key is among keys, [n]."""
    found = False
    for i in range(keys.shape[0]):
        found |= keys[i] == key
    return found


class CompileListener(event.Listener):
    """Calls each function of `tell`, once, when compiling has taken PATIENCE seconds in total."""

    def __init__(self, tell: list[Callable[[], None]]) -> None:
        self._tell = tell
        self._spent = self._begun = 0.0
        self._depth = 0
        self._told = False

    def on_start(self, event: Any) -> None:
        """Record that a function is compiled, perhaps because another one that is being compiled calls it."""
        if self._depth == 0:
            self._begun = time.monotonic()
        self._depth += 1
        self._look()

    def on_end(self, event: Any) -> None:
        """Record that it is compiled."""
        self._look()
        self._depth -= 1
        if self._depth == 0:
            self._spent += time.monotonic() - self._begun

    def _look(self) -> None:
        if not self._told and self._spent + time.monotonic() - self._begun > PATIENCE:
            self._told = True
            for tell in self._tell:
                tell()


event.register("numba:compile", CompileListener(environment.tell_compiling))  # type: ignore[no-untyped-call]
