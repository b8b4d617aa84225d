"""Handle Ctrl-C and other requests to end the program (kill, a closed terminal). Each request raises an exception, and
none is lost.

Python can run a signal handler between any two lines of the main thread, and the handler's exception is raised there.
In three places an exception must not be raised. The first is C code that calls Python, such as LLVM and libraries
during their initialization. They can't handle the exception and may crash. The second is the code of llvmlite, which
frees LLVM's memory. An exception between two of its lines makes it free the same memory twice. The third is a finalizer
(`__del__`), because Python ignores its exceptions, so the program would continue. In these places, the handler sends
the signal again later.
"""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
from importlib.machinery import ExtensionFileLoader
from types import FrameType

_LLVM = "llvmlite.binding."
"""The beginning of the names of the modules that call LLVM."""
_LOADERS = {ExtensionFileLoader.create_module.__code__, ExtensionFileLoader.exec_module.__code__}
"""The functions in which a C library initializes itself."""
_PAUSE = 0.02
"""Seconds after which a signal is sent again."""


def unwind() -> None:
    """Install signal handlers: Ctrl-C raises KeyboardInterrupt, and the signals SIGTERM and SIGHUP raise SystemExit
    with the exit code 128 + the signal's number.

    Signals that are already ignored stay ignored. Call this function in the main thread.
    """
    signals: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        signals.append(number)
        if not _may_unwind(frame):
            _send_again(number)
        elif number == signal.SIGINT:
            signal.default_int_handler(number, frame)
        else:
            raise SystemExit(128 + number)

    def unraisable(raised: sys.UnraisableHookArgs) -> None:
        if not signals:
            sys.__unraisablehook__(raised)
        elif raised.exc_type in (KeyboardInterrupt, SystemExit):
            _send_again(signals[-1])

    sys.unraisablehook = unraisable
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, handle)
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores it
            signal.signal(number, handle)


def _may_unwind(frame: FrameType | None) -> bool:
    """Return whether an exception may be raised in this frame: none of its callers is code that can't be unwound."""
    while frame is not None:
        if frame.f_code in _LOADERS or str(frame.f_globals.get("__name__")).startswith(_LLVM):
            return False
        frame = frame.f_back
    return True


def _send_again(number: int) -> None:
    """Send this signal to the main thread again, after a pause."""
    timer = threading.Timer(_PAUSE, _send, (number,))
    timer.daemon = True
    # While the interpreter is shutting down, no thread can start. This error is ignored, because the signal requests
    # the shutdown anyway.
    with contextlib.suppress(RuntimeError):
        timer.start()


def _send(number: int) -> None:
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, number)  # wakes up the main thread if it is waiting
    else:
        _thread.interrupt_main(signal.Signals(number))
