"""Ctrl-C, and requests to end from outside (kill, a closed terminal): they unwind the program, and none is lost.

Python runs a signal's handler between any two lines of the main thread, and the exception leaves from there. In two
places it must not. Code of C that has called Python and cannot be unwound: LLVM, which asks for a compiled kernel and
crashes without an answer, and libraries that set themselves up. And a finaliser, whose exceptions Python drops: the
program would go on as if nobody had asked. The signal comes again a moment later there.
"""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
from importlib.machinery import ExtensionFileLoader
from types import FrameType

_LLVM = "llvmlite.binding.executionengine"
"""The module by whose functions LLVM loads a kernel, and which it calls back."""
_LOADERS = {ExtensionFileLoader.create_module.__code__, ExtensionFileLoader.exec_module.__code__}
"""The functions in which a library of C sets itself up."""
_PAUSE = 0.02
"""Seconds after which a signal comes again."""


def unwind() -> None:
    """From now on Ctrl-C is a KeyboardInterrupt as ever, and SIGTERM and SIGHUP are a SystemExit of 128 and their
    number, but for those that are ignored already. To be called in the main thread."""
    asked: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        if not _may_unwind(frame):
            _send_again(number)
        elif number == signal.SIGINT:
            signal.default_int_handler(number, frame)
        else:
            raise SystemExit(128 + number)

    def unraisable(raised: sys.UnraisableHookArgs) -> None:
        if not asked:
            sys.__unraisablehook__(raised)
        elif raised.exc_type in (KeyboardInterrupt, SystemExit):
            _send_again(asked[-1])

    sys.unraisablehook = unraisable
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, handle)
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup has it ignored
            signal.signal(number, handle)


def _may_unwind(frame: FrameType | None) -> bool:
    """Whether an exception may leave from here: no caller is code that cannot be unwound."""
    while frame is not None:
        if frame.f_code in _LOADERS or frame.f_globals.get("__name__") == _LLVM:
            return False
        frame = frame.f_back
    return True


def _send_again(number: int) -> None:
    """Send this signal to the main thread once more, after a pause."""
    timer = threading.Timer(_PAUSE, _send, (number,))
    timer.daemon = True
    with contextlib.suppress(RuntimeError):  # no thread can begin while the interpreter ends, which is what was asked
        timer.start()


def _send(number: int) -> None:
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, number)  # wakes a main thread that waits
    else:
        _thread.interrupt_main(signal.Signals(number))
