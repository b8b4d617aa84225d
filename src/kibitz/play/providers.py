"""Execution providers of ONNX Runtime: the hardware that runs the networks, such as the CPU or an NVIDIA GPU."""

from __future__ import annotations

import os

from kibitz.errors import KibitzError, UsageError
from kibitz.messages import not_one_of
from kibitz.text import either

PROVIDER = "KIBITZ_PROVIDER"
"""The name of the environment variable that contains the provider's name. Worker processes and engines inherit it, so
they use the same provider.
"""
CPU, AUTO = "cpu", "auto"
NAMES = {"cuda": "CUDAExecutionProvider", "openvino": "OpenVINOExecutionProvider", CPU: "CPUExecutionProvider"}
"""ONNX Runtime's name of each provider. The order is that in which the choice "auto" tries them."""
PACKAGES = {"cuda": "onnxruntime-gpu", "openvino": "onnxruntime-openvino"}
BATCHES = {"cuda": 4096}
"""The number of positions per batch for providers that are faster with larger batches than the CPU."""


def choose(name: str) -> None:
    """Set the execution provider (the hardware that runs networks) for this process and its child processes. name: the
    name of the provider, or AUTO. Raises UsageError if it is not available.
    """
    if name != AUTO and name not in NAMES:
        raise UsageError(not_one_of("--provider", name, (AUTO, *reversed(NAMES))))
    if name not in (AUTO, *installed()):
        raise UsageError(
            f"--provider must be {either(installed())} with the installed ONNX Runtime (got {name}). Install"
            f" {PACKAGES[name]}, or use {CPU}."
        )
    os.environ[PROVIDER] = name


def installed() -> list[str]:
    """Return the names of the execution providers (hardware that runs networks) that the installed ONNX Runtime
    supports, in the order of NAMES.
    """
    import onnxruntime

    there = onnxruntime.get_available_providers()
    return [name for name, known in NAMES.items() if known in there]


def requested() -> str:
    """Return the name of the execution provider (the hardware that runs networks) that `choose` has set: a name in
    NAMES, or AUTO. The default is the CPU.
    """
    return os.environ.get(PROVIDER) or CPU


def candidates() -> list[str]:
    """Return the names of the execution providers (hardware that runs networks) to try for loading a network, the best
    first.
    """
    name = requested()
    if name == AUTO:
        return installed()
    return [name] if name in NAMES else [CPU]


def refused(name: str, why: str) -> KibitzError:
    """Return the error to raise if an installed execution provider (the hardware that runs networks) can't be used on
    this computer. name: the name of the provider. why: the reason.
    """
    return KibitzError(f"--provider {name} does not start on this computer ({why}). Use {CPU}.")
