"""Signals that come where no exception may leave: none is lost, and no library crashes."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from support.patience import PATIENCE

FINALISER = """
class Thing:
    def __del__(self):
        signal.raise_signal(number)
        print("dropped")

Thing()
time.sleep(10)
"""
"""Python drops what a finaliser raises."""

SECOND = f"""
for _ in range(2):
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        print("caught")
{FINALISER}"""
"""Others came before it, and were caught: the last one comes again."""

LLVM = """
import numba
import numba.core.codegen as codegen

library = next(kind for kind in vars(codegen).values() if "_object_getbuffer_hook" in getattr(kind, "__dict__", {}))
answer = vars(library)["_object_getbuffer_hook"].__func__
asked = []

def hook(cls, module):
    if not asked:
        asked.append(module)
        signal.raise_signal(number)
        print("goes on")
    return answer(cls, module)

library._object_getbuffer_hook = classmethod(hook)

@numba.njit
def double(x):
    return 2 * x

assert double(2) == 4
assert asked
time.sleep(10)
"""
"""LLVM asks for a compiled kernel, and crashes without an answer."""

FREED = """
from llvmlite.binding import ffi

class Own:
    def LLVMPY_DisposeString(self, text):
        signal.raise_signal(number)
        print("freed")

ffi.lib = Own()
with ffi.OutputString():
    pass
time.sleep(10)
"""
"""llvmlite frees memory of LLVM: a second time if it does not come to the next line."""

SET_UP = """
import importlib._bootstrap_external as loading
from importlib.machinery import ExtensionFileLoader, ModuleSpec

class Own:
    def exec_dynamic(self, module):
        signal.raise_signal(number)
        print("goes on")

loading._imp = Own()
ExtensionFileLoader("own", "own.so").exec_module(type(sys)("own"))
print("set up")
time.sleep(10)
"""
"""A library of C sets itself up."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("program", "printed"),
    [
        (FINALISER, ""),
        (SECOND, "caught\ncaught\n"),
        (LLVM, "goes on\n"),
        (FREED, "freed\n"),
        (SET_UP, "goes on\nset up\n"),
    ],
)
def test_a_signal_comes_again(program: str, printed: str, number: signal.Signals) -> None:
    begin = (
        f"import signal, sys, time\nfrom kibitz import interrupts\nnumber = signal.{number.name}\ninterrupts.unwind()\n"
    )
    body = "".join(f"    {line}\n" for line in program.splitlines())
    end = "except KeyboardInterrupt:\n    sys.exit(130)\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{begin}try:\n{body}{end}"], capture_output=True, text=True, timeout=PATIENCE
    )
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, printed, "")
