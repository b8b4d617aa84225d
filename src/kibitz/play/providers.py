"""Execution providers of ONNX Runtime: the CPU, or another device that computes the networks' outputs."""

from __future__ import annotations

import os

from kibitz.errors import KibitzError, UsageError
from kibitz.messages import not_one_of
from kibitz.text import either

PROVIDER = "KIBITZ_PROVIDER"
"""Environment variable with the provider's name, so that worker processes and engines use the same provider."""
CPU, AUTO = "cpu", "auto"
NAMES = {"cuda": "CUDAExecutionProvider", "openvino": "OpenVINOExecutionProvider", CPU: "CPUExecutionProvider"}
"""ONNX Runtime's name of each provider, in the order in which `auto` prefers them."""
PACKAGES = {"cuda": "onnxruntime-gpu", "openvino": "onnxruntime-openvino"}
BATCHES = {"cuda": 4096}
"""Number of positions per batch, for providers with which larger batches than on a CPU are faster."""


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
    """Return the execution providers of the installed ONNX Runtime, in the order of NAMES."""
    import onnxruntime

    there = onnxruntime.get_available_providers()
    return [name for name, known in NAMES.items() if known in there]


def requested() -> str:
    """Return the execution provider (the hardware that runs networks) that was chosen: a name in NAMES, or AUTO."""
    return os.environ.get(PROVIDER) or CPU


def candidates() -> list[str]:
    """Return the names in NAMES of the execution providers to try, the best first."""
    name = requested()
    if name == AUTO:
        return installed()
    return [name] if name in NAMES else [CPU]


def refused(name: str, why: str) -> KibitzError:
    """Return the error to raise if an installed execution provider can't be used on this computer. why: the reason."""
    return KibitzError(f"--provider {name} does not start on this computer ({why}). Use {CPU}.")
