"""A limit on the memory of this program (`ulimit -v`), and its end with a line where a library meets it.

Compilers and linear algebra of others raise nothing where no memory is left: they call abort(), or wait without end.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

from kibitz.errors import KibitzError

LEAST = 256 << 20
"""Bytes that must be left before kernels are compiled: with less, OpenBLAS tries without end to get its buffers."""

_kept: list[object] = []
"""The handler of abort(), which C does not keep alive."""


def allowed() -> int | None:
    """Bytes of addresses that this program may have; None without a limit, or where the system has none."""
    if sys.platform == "win32":
        return None
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def full() -> str:
    """What is said where memory is full."""
    if limit := allowed():
        return (
            f"not enough memory: this shell allows a program {limit >> 20:,} MB (ulimit -v), of which libraries reserve"
            " more than they use; allow 4 GB, or set no limit"
        )
    return "not enough memory; take a smaller --batch or smaller --layers where you can, or close other programs"


def check() -> None:
    """Raises KibitzError where so little is left that a library would wait for more without end."""
    if is_short():
        raise KibitzError(full())


def is_short() -> bool:
    """Whether there is a limit, and less than LEAST is left: libraries then cannot be loaded either, and say why not in
    errors of many kinds."""
    limit = allowed()
    return limit is not None and limit - _taken() < LEAST


def _taken() -> int:
    """Bytes of addresses that this program has; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def end_with_a_line(tell: Callable[[str], None]) -> None:
    """Under a limit, let abort() tell one line and end the program with exit code 1.

    tell: it is given the line, in the thread that called abort(). A handler of Python would not run: abort() does not
    come back to the interpreter.
    """
    if allowed() is None:
        return
    import ctypes

    def handle(number: int) -> None:
        tell(full())
        os._exit(1)

    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(handle)
    _kept.append(handler)
    libc = ctypes.CDLL(None)
    libc.signal.argtypes, libc.signal.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
    libc.signal(int(signal.SIGABRT), ctypes.cast(handler, ctypes.c_void_p))
