"""`--compile`: the steps of a training as code that torch makes for this network on this machine."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import platform
import shutil
import warnings
from collections.abc import Iterator

import torch

from kibitz.errors import KibitzError, UsageError, one_line
from kibitz.systems.base import Loss

AUTO, ON, OFF = "auto", "on", "off"
WISHES = (AUTO, ON, OFF)
"""On a GPU that torch can compile for; anywhere, or not at all; never."""


class CannotCompile(KibitzError):
    """Raised where torch cannot compile; says why."""


def wanted(wish: str, device: torch.device) -> bool:
    """Whether to try to compile for this device. wish: one of WISHES."""
    return wish == ON or (wish == AUTO and device.type == "cuda")


def missing(device: torch.device) -> str:
    """What torch would need to compile for this device and is not there; "" if nothing is missing."""
    if device.type != "cuda":
        usual = {"Windows": "cl", "Darwin": "clang++"}.get(platform.system(), "g++")
        name = os.environ.get("CXX") or usual
        return "" if shutil.which(name) else f"no C++ compiler {name} is installed"
    if importlib.util.find_spec("triton") is None:
        return "Triton is not installed"
    names = [os.environ["CC"]] if os.environ.get("CC") else ["gcc", "clang", "cc"]
    return "" if any(map(shutil.which, names)) else f"no C compiler ({' or '.join(names)}) is installed"


def check(wish: str, device: torch.device) -> None:
    """Raises UsageError for a wish that is none of WISHES, or that cannot be fulfilled for this device."""
    if wish not in WISHES:
        raise UsageError(f"--compile {wish}: choose from {', '.join(WISHES)}")
    if wish == ON and (lack := missing(device)):
        raise impossible(lack)


def impossible(why: str) -> UsageError:
    """The error where torch cannot compile and was told to."""
    return UsageError(f"--compile {ON}: torch cannot compile here ({why}); leave the option out")


def compiled(loss: Loss) -> Loss:
    """The loss as torch.compile makes it at its first call, and its gradient then or later. Dropout leaves out the same
    units as without it.

    What was compiled is kept in the user's cache (see `environment`), so that the next training begins sooner.
    """
    torch.compiler.reset()  # of earlier stages: torch gives up after a few variants of a function
    fast: Loss = torch.compile(loss, options={"fallback_random": True})
    return fast


@contextlib.contextmanager
def failures_told() -> Iterator[None]:
    """Raise CannotCompile for what torch raises inside where it cannot compile. What it warns of is its own matter."""
    from torch._dynamo.exc import TorchDynamoException
    from torch._inductor.exc import InductorError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (TorchDynamoException, InductorError) as error:
        raise CannotCompile(one_line(error)) from None
