"""Decorators that compile Python functions with numba, and helpers for them. A compiled function is called a kernel.

The first move of a search must wait until its kernels are compiled, so everything here shortens the compilation.
Functions that only kernels call need no entry points, and a loop compiles faster than a slice or an array expression.
"""

from __future__ import annotations

import gc
import math
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
"""Messages about compiling are shown only after this number of seconds."""
SMALL_BYTES = 1 << 19
"""Game records up to this number of bytes are read with plain Python, without compiled functions. Reading them takes
0.2 s in all, and compiling takes 6 s.
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
    """Decorator: compile a function with numba, and save the machine code on the disk. The result is called a kernel. A
    kernel releases Python's global interpreter lock.

    A kernel has no entry point for C, because this entry point would take time to compile and is never used.
    """
    return _compile(function, no_cfunc_wrapper=True)


def fast_kernel(fastmath: bool | set[str]) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function like `kernel`, but with less strict floating-point arithmetic.
    fastmath: the value of numba's option `fastmath`.
    """
    return lambda function: _compile(function, no_cfunc_wrapper=True, fastmath=fastmath)


def inner(function: Callable[..., Any]) -> Any:
    """Decorator: compile a function that only kernels (functions compiled by numba) call. Python can't call the result,
    which halves the time to compile it.

    If an argument of a call is a Python integer literal, numba compiles the called function a second time, for this
    type. The same happens for a variable that begins as a literal and changes in a loop. To avoid the second
    compilation, write np.int64(0) instead of 0.
    """
    return _compile(function, no_cfunc_wrapper=True, no_cpython_wrapper=True)


@inner
def fill(out, row):  # type: ignore[no-untyped-def]
    """Copy the first `len(out)` elements of `row` to `out`. Both are one-dimensional arrays. Only kernels can call this
    function.
    """
    for j in range(out.shape[0]):
        out[j] = row[j]


@inner
def is_among(key, keys):  # type: ignore[no-untyped-def]
    """Return whether the number `key` is one of the elements of the array `keys`, [n]. Only kernels can call this
    function.
    """
    found = False
    for i in range(keys.shape[0]):
        found |= keys[i] == key
    return found


def interpreted(function: Any, copies: dict[int, Any] | None = None) -> Any:
    """Return the Python function from which numba compiled a kernel. The kernels that this function calls are replaced
    by Python functions too.

    copies: a dict from the id of a kernel to the result of an earlier call. New results are added.
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
    """A function that runs as plain Python for small amounts of data, and is compiled by numba once the total amount
    exceeds `budget`. For one game, plain Python is faster than compiling first.

    The first argument of each call must be a one-dimensional array. The amount of data is the total length of these
    arrays, summed over all calls. The function may use only integers, and all results must fit in 64 bits. Python's
    integers do not overflow, so larger results would differ from those of the compiled function.
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
    """Return a decorator that makes a `SmallFirst` from a function: plain Python for the first `budget` array elements,
    and compiled by numba from then on.
    """
    return lambda function: SmallFirst(kernel(function), budget)


class CompileListener(event.Listener):
    """Reports the progress of numba's compilation to each function in `listeners`. The reports begin once compiling has
    taken more than a second in total. A report is a `Preparation`, which has the number of kernels that are ready.

    Only functions that Python calls are counted, whether they are compiled now or read from the disk. Python's garbage
    collector is turned off while a function is compiled, because it finds no garbage and would take a tenth of the
    time.
    """

    def __init__(self, listeners: list[preparation.Listener]) -> None:
        self._listeners = listeners
        self._spent = self._begun = 0.0
        self._depth = 0
        self._ready = self._compiled = 0
        self._collects = False

    def on_loaded(self) -> None:
        """Count a kernel that was read from the disk. The cache calls this method."""
        self._ready += self._depth == 0

    def on_start(self, event: Any) -> None:
        """Record that numba has begun to compile a function, and report the progress. numba calls this method. Calls
        can be nested, because compiling one function may require another.
        """
        if self._depth == 0:
            self._begun = time.monotonic()
            self._collects = gc.isenabled()
            gc.disable()
        self._depth += 1
        self._call_listeners(True)

    def on_end(self, event: Any) -> None:
        """Record that numba has finished compiling a function. If no other compilation is in progress, count a kernel
        and report the progress. numba calls this method.
        """
        # numba's is_failed returns the opposite of its documentation
        if getattr(event, "_exc_details", None) is not None:
            cache = getattr(event.data["dispatcher"], "_cache", None)
            if isinstance(cache, kernel_cache.KernelCache):
                cache.abandon()  # no save_overload will follow
        self._depth -= 1
        if self._depth == 0:
            if self._collects:
                gc.enable()
            self._spent += time.monotonic() - self._begun
            self._begun = time.monotonic()
            self._ready += 1
            self._compiled += 1
            self._call_listeners(False)

    def _call_listeners(self, is_running: bool) -> None:
        if self._spent + time.monotonic() - self._begun > PATIENCE:
            total = preparation.expected()
            # Those on the disk are loaded in no time, so the rest takes at most as long as those compiled so far.
            rest = total - self._ready
            left = math.ceil(self._spent / self._compiled * rest) if self._compiled and rest > 0 else None
            for listener in self._listeners:
                listener(preparation.Preparation(self._ready, total, is_running, left))


listener = CompileListener(preparation.listeners)
event.register("numba:compile", listener)  # type: ignore[no-untyped-call]
