"""ONNX Runtime opens each packaged network once for all tests of a process.

It takes up to 0.15 seconds of a processor, and tests open these networks hundreds of times. What runs in ONNX Runtime
has no state, so that tests may share it; everything else of a `Session` is new.
"""

from __future__ import annotations

import functools
import importlib.resources
import os
from pathlib import Path
from typing import Any

import onnxruntime

from kibitz.play import providers, session

PACKAGED = Path(str(importlib.resources.files("kibitz") / "networks"))


def open_once() -> None:
    """Replace `kibitz.play.session._open`. Runs that tests make are opened as always."""
    open_file = session._open

    @functools.cache
    def kept(path: Path, threads: int, provider: str, runtime: type, process: int) -> Any:
        return open_file(path, threads, provider)

    def opened(path: Path, threads: int, provider: str = providers.NAMES[providers.CPU]) -> Any:
        if path.is_relative_to(PACKAGED):
            # A test may replace the class, and a fork has none of the threads.
            return kept(path, threads, provider, onnxruntime.InferenceSession, os.getpid())
        return open_file(path, threads, provider)

    session._open = opened
