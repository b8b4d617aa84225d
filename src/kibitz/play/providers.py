"""What computes the networks' answers: the processor, or what ONNX Runtime was installed with besides."""

from __future__ import annotations

import os

from kibitz.errors import KibitzError, UsageError

PROVIDER = "KIBITZ_PROVIDER"
"""Environment variable that names the provider, so that worker processes and engines that we start take the same."""
CPU, AUTO = "cpu", "auto"
NAMES = {"cuda": "CUDAExecutionProvider", "openvino": "OpenVINOExecutionProvider", CPU: "CPUExecutionProvider"}
"""ONNX Runtime's names, those first that `auto` prefers."""
PACKAGES = {"cuda": "onnxruntime-gpu", "openvino": "onnxruntime-openvino"}
BATCHES = {"cuda": 4096}
"""Positions at once, where more than on a processor are faster."""


def choose(name: str) -> None:
    """Let this process, and those that it starts, answer with a provider. Raises UsageError where there is none."""
    if name != AUTO and name not in NAMES:
        raise UsageError(f"--provider {name}: choose from {', '.join((AUTO, *reversed(NAMES)))}")
    if name not in (AUTO, *installed()):
        raise UsageError(
            f"--provider {name}: the ONNX Runtime that is installed has {', '.join(installed())} alone; "
            f"install {PACKAGES[name]} in its place, or choose {CPU}"
        )
    os.environ[PROVIDER] = name


def installed() -> list[str]:
    """The providers of the installed ONNX Runtime, in the order of NAMES."""
    import onnxruntime

    there = onnxruntime.get_available_providers()
    return [name for name, known in NAMES.items() if known in there]


def asked() -> str:
    """The provider that was asked for: one of NAMES, or AUTO."""
    return os.environ.get(PROVIDER) or CPU


def candidates() -> list[str]:
    """The providers to try, the best one first, by our names."""
    name = asked()
    if name == AUTO:
        return installed()
    return [name] if name in NAMES else [CPU]


def refused(name: str, why: str) -> KibitzError:
    """The error where a provider that is installed cannot be used on this machine."""
    return KibitzError(f"--provider {name}: does not start on this machine ({why}); choose {CPU}")
