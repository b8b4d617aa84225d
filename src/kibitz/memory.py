"""Handle the memory limit of this process (`ulimit -v`). If a library exceeds the limit, the program ends with a
message.

Compilers and linear algebra libraries raise nothing if no memory is left: they call abort(), or wait forever.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

from kibitz.errors import KibitzError

LEAST = 256 << 20
"""The number of bytes that must be free before functions are compiled. With less memory, OpenBLAS tries to allocate its
buffers forever.
"""

_references: list[object] = []
"""The handler of abort(). It is stored here, because C does not keep it alive."""


def allowed() -> int | None:
    """Return the limit of this process's address space, in bytes; None if there is no limit."""
    if sys.platform == "win32":
        return None
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def full() -> str:
    """Return the text of the error message for a lack of memory."""
    if limit := allowed():
        return (
            f"not enough memory: this shell allows a program {limit >> 20:,} MB (ulimit -v)."
            " Allow 4 GB, or set no limit."
        )
    return "not enough memory. Use a smaller --batch or smaller --layers, or close other programs."


def check() -> None:
    """Raise KibitzError if so little memory is left that a library would wait forever for more memory."""
    if is_short():
        raise KibitzError(full())


def is_short() -> bool:
    """Return whether the process has a memory limit, and fewer than LEAST (256 MiB) bytes are left until this limit.

    With so little memory, libraries can't be loaded, and they raise many kinds of errors.
    """
    limit = allowed()
    return limit is not None and limit - _taken() < LEAST


def _taken() -> int:
    """Return the bytes of address space that this program uses; 0 if the system doesn't report them."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def end_with_a_line(write_line: Callable[[str], None]) -> None:
    """If the address space has a limit, make abort() print one line and end the program with exit code 1.

    write_line: a function that prints the line; it is called in the thread that called abort(). A signal handler in
    Python would not run, because abort() doesn't return to the interpreter.
    """
    if allowed() is None:
        return
    import ctypes

    def handle(number: int) -> None:
        write_line(full())
        os._exit(1)

    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(handle)
    _references.append(handler)
    libc = ctypes.CDLL(None)
    libc.signal.argtypes, libc.signal.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
    libc.signal(int(signal.SIGABRT), ctypes.cast(handler, ctypes.c_void_p))
