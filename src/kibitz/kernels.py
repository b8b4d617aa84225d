"""Decorators and helpers that shorten the compilation of kernels, because the first move of a search must wait until
its kernels are compiled.

Functions that only kernels call need no entry points, and a loop compiles faster than a slice or an array expression.
"""

from __future__ import annotations

import gc
import os
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import event

from kibitz import environment, kernel_cache, memory, preparation

memory.check()

PATIENCE = 1.0
"""Messages are shown only after this number of seconds of compiling."""
SMALL_BYTES = 1 << 19
"""Number of bytes of game records that Python reads without compiled kernels. Reading them takes 0.2 s in all, and
compiling takes 6 s.
"""


def _folders() -> list[Path]:
    """Return the folders with compiled kernels: first the folder to which new kernels are written, then the user's
    folder, which may be read-only.
    """
    return [Path(os.environ.get(environment.CACHE) or environment.user_folder()), environment.user_folder()]


def _compile(function: Callable[..., Any], **options: Any) -> Any:
    compiled = numba.njit(nogil=True, **options)(function)
    if hasattr(compiled, "targetoptions"):  # with NUMBA_DISABLE_JIT, it is the Python function itself
        compiled._cache = kernel_cache.KernelCache(
            function, compiled.targetoptions, _folders, lambda: listener.on_loaded(), kernel_cache.archive()
        )
    return compiled


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function, and save the machine code on the disk. The compiled function releases Python's global
    interpreter lock.

    The compiled function has no entry point for C, because such an entry point takes time to compile and is never used.
    """
    return _compile(function, no_cfunc_wrapper=True)


def fast_kernel(fastmath: bool | set[str]) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator like `kernel`, but with less strict rules for floating-point arithmetic. fastmath: the rules,
    as in numba's option of this name.
    """
    return lambda function: _compile(function, no_cfunc_wrapper=True, fastmath=fastmath)


def inner(function: Callable[..., Any]) -> Any:
    """Compile a function that only kernels call. It can't be called from Python or C, which halves the time to compile
    it.

    If an argument of a call is a Python integer literal, numba compiles the called function a second time, for this
    type. The same happens for a variable that begins as a literal and changes in a loop. To avoid the second
    compilation, write np.int64(0) instead of 0.
    """
    return _compile(function, no_cfunc_wrapper=True, no_cpython_wrapper=True)


@inner
def fill(out, row):  # type: ignore[no-untyped-def]
    """Copy the first `len(out)` elements of `row` to `out`."""
    for j in range(out.shape[0]):
        out[j] = row[j]


@inner
def is_among(key, keys):  # type: ignore[no-untyped-def]
    """Return whether `key` is one of the elements of `keys`, [n]."""
    found = False
    for i in range(keys.shape[0]):
        found |= keys[i] == key
    return found


def interpreted(function: Any, copies: dict[int, Any] | None = None) -> Any:
    """Return a version of a kernel that runs as plain Python. The kernels that it calls run as plain Python too.

    copies: the plain Python versions that were already made, by the id of their kernel.
    """
    copies = {} if copies is None else copies
    if id(function) not in copies:
        source = getattr(function, "py_func", function)
        names = dict(source.__globals__)
        copies[id(function)] = types.FunctionType(
            source.__code__, names, source.__name__, source.__defaults__, source.__closure__
        )
        for name in source.__code__.co_names:
            if hasattr(names.get(name), "py_func"):
                names[name] = interpreted(names[name], copies)
    return copies[id(function)]


class SmallFirst:
    """A kernel that runs as plain Python until it has processed `budget` elements in total, and is compiled from then
    on.

    For one game, plain Python is faster than compiling the kernel first.

    The number of elements is the length of the first argument, a one-dimensional array. The kernel may use only
    integers, and all results must fit in 64 bits. Python's integers do not overflow, so larger results would differ
    from those of the compiled kernel.
    """

    def __init__(self, compiled: Any, budget: int):
        self.compiled, self.budget = compiled, budget
        self._used = 0
        self._interpreted: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        self._used = min(self._used + len(arguments[0]), self.budget + 1)
        if self._used > self.budget:
            return self.compiled(*arguments)
        self._interpreted = self._interpreted or interpreted(self.compiled)
        return self._interpreted(*map(_plain, arguments))


def _plain(value: Any) -> Any:
    """Convert an array of one dimension to a view whose elements are Python integers. Return any other value
    unchanged.
    """
    return value.data if isinstance(value, np.ndarray) and value.ndim == 1 else value


def small_first(budget: int) -> Callable[[Callable[..., Any]], SmallFirst]:
    """Return a decorator like `kernel`. The function runs as plain Python for its first `budget` elements in total, see
    SmallFirst.
    """
    return lambda function: SmallFirst(kernel(function), budget)


class CompileListener(event.Listener):
    """Calls each function in `listeners` with a Preparation, which has the number of kernels that are ready. The calls
    begin once compiling has taken more than PATIENCE seconds in total.

    Only kernels that Python calls are counted, whether they are compiled now or read from the disk. A kernel that
    another kernel calls is counted as a part of that kernel. Python's garbage collector is turned off while a kernel is
    compiled, because it finds no garbage and would take a tenth of the time.
    """

    def __init__(self, listeners: list[preparation.Listener]) -> None:
        self._listeners = listeners
        self._spent = self._begun = 0.0
        self._depth = 0
        self._ready = 0
        self._collects = False

    def on_loaded(self) -> None:
        """Record that a kernel was read from the disk."""
        self._ready += self._depth == 0

    def on_start(self, event: Any) -> None:
        """Record that numba has begun to compile a function. The function may be needed by another function that is
        still being compiled.
        """
        if self._depth == 0:
            self._begun = time.monotonic()
            self._collects = gc.isenabled()
            gc.disable()
        self._depth += 1
        self._call_listeners(True)

    def on_end(self, event: Any) -> None:
        """Record that numba has finished compiling a function."""
        self._depth -= 1
        if self._depth == 0:
            if self._collects:
                gc.enable()
            self._spent += time.monotonic() - self._begun
            self._begun = time.monotonic()
            self._ready += 1
            self._call_listeners(False)

    def _call_listeners(self, is_running: bool) -> None:
        if self._spent + time.monotonic() - self._begun > PATIENCE:
            for listener in self._listeners:
                listener(preparation.Preparation(self._ready, preparation.expected(), is_running))


listener = CompileListener(preparation.listeners)
event.register("numba:compile", listener)  # type: ignore[no-untyped-call]
