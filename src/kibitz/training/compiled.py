"""The option `--compile`: torch compiles the training steps for this network and this machine."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import platform
import shutil
import warnings
from collections.abc import Iterator

import torch

from kibitz.errors import KibitzError, UsageError
from kibitz.messages import not_one_of
from kibitz.systems.base import Loss

AUTO, ON, OFF = "auto", "on", "off"
WISHES = (AUTO, ON, OFF)
"""The values of --compile. AUTO: compile if the device is a GPU for which torch can compile. ON: compile, or raise an
error. OFF: never compile.
"""


class CannotCompile(KibitzError):
    """Raised if torch can't compile. The message gives the reason."""


def wanted(wish: str, device: torch.device) -> bool:
    """Return whether the value of --compile requests compilation on this device. wish: the value. "auto" requests it
    only on a GPU, "on" requests it on every device, and "off" on none.
    """
    return wish == ON or (wish == AUTO and device.type == "cuda")


def missing(device: torch.device) -> str:
    """Return what torch lacks on this machine to compile for this device, in words; "" if nothing is missing."""
    if device.type != "cuda":
        usual = {"Windows": "cl", "Darwin": "clang++"}.get(platform.system(), "g++")
        name = os.environ.get("CXX") or usual
        return "" if shutil.which(name) else f"no C++ compiler {name} is installed"
    if importlib.util.find_spec("triton") is None:
        return "Triton is not installed"
    names = [os.environ["CC"]] if os.environ.get("CC") else ["gcc", "clang", "cc"]
    return "" if any(map(shutil.which, names)) else f"no C compiler ({' or '.join(names)}) is installed"


def check(wish: str, device: torch.device) -> None:
    """Check the value of --compile. Raises UsageError if it is not "auto", "on" or "off", or if it is "on" and torch
    can't compile for this device. wish: the value.
    """
    if wish not in WISHES:
        raise UsageError(not_one_of("--compile", wish, WISHES))
    if wish == ON and (lack := missing(device)):
        raise impossible(lack)


def impossible(why: str) -> UsageError:
    """Return the error for `--compile on` if torch can't compile. why: the reason, in a few words."""
    return UsageError(f"--compile {ON} is not possible here ({why}). Leave it out.")


def compiled(loss: Loss) -> Loss:
    """Return a version of the loss function that torch.compile compiles at its first call. Its gradient is compiled at
    the first backward pass.

    Dropout omits the same units as without compilation. Compiled code is cached in the user's folder (see
    `environment`), so later runs start faster.
    """
    # Torch stops compiling after a few variants of a function. So the variants of earlier stages are removed.
    torch.compiler.reset()
    fast: Loss = torch.compile(loss, options={"fallback_random": True})
    return fast


@contextlib.contextmanager
def compilation_errors() -> Iterator[None]:
    """Inside this context, torch's errors about compilation become CannotCompile, and torch's warnings are
    suppressed.
    """
    from torch._dynamo.exc import TorchDynamoException
    from torch._inductor.exc import InductorError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (TorchDynamoException, InductorError) as error:
        raise CannotCompile("torch cannot compile this network on this machine") from error
