"""Environment variables that libraries need before they are imported; the programs we start inherit them."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

CACHE = "NUMBA_CACHE_DIR"
"""Where numba keeps compiled functions. It would take the folder in which kibitz is installed, which may be read-only,
belong to another user, or be compared with what was installed."""
TORCH_CACHE = "TORCHINDUCTOR_CACHE_DIR"
"""Where torch keeps what it compiles for `train --compile`. It would take a folder for temporary files, which need not
outlast a restart. Lightning's import settles it."""
SILENT = "ORT_DISABLE_TELEMETRY"
"""Switches off the telemetry of ONNX Runtime, which is on by default since 1.31."""
WAITING = "OMP_WAIT_POLICY"
"""How PyTorch's threads wait for each other. By default they spin: beside other work that takes the cores from the very
thread that they wait for, and a training on two busy cores fell from 300 samples/s to 17."""
HUGE_PAGES = "THP_MEM_ALLOC_ENABLE"
"""Has PyTorch ask Linux for pages of 2 MB under its large arrays: with pages of 4 kB, of which each step asked for
thousands anew, a step of `gohuman` took a seventh longer."""

tell_compiling: list[Callable[[], None]] = []
"""What is called, once, when compiling takes long: numba's cache is empty after an install."""


def set_up() -> None:
    """Keep compiled functions in a folder of the user's, report nothing, let waiting threads sleep, and ask for large
    pages of memory.

    A variable that is set already keeps its value.

    Where no folder of the user's can be written, a temporary one is taken and removed at the end: each start then
    compiles anew.
    """
    os.environ.setdefault(SILENT, "1")
    os.environ.setdefault(WAITING, "passive")
    os.environ.setdefault(HUGE_PAGES, "1")
    if _writable(user_cache()):
        os.environ.setdefault(TORCH_CACHE, str(user_cache() / "torch"))
    if os.environ.get(CACHE):
        return
    folder = user_folder()
    if not _writable(folder):
        folder = Path(tempfile.mkdtemp(prefix="kibitz-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ[CACHE] = str(folder)
    if "numba" in sys.modules:  # it has read the environment already
        sys.modules["numba"].config.CACHE_DIR = str(folder)


def user_cache() -> Path:
    """The folder for what can be made again, by the system's custom; it need not exist."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.path.expanduser(base)) / "kibitz"


def user_folder() -> Path:
    """The folder for compiled kernels; it need not exist. Installations share it, see `kernel_cache`."""
    return user_cache() / "numba"


def _writable(folder: Path) -> bool:
    """Whether the folder can be written, or made where it does not exist."""
    there = next((place for place in (folder, *folder.parents) if place.exists()), None)
    return folder.is_absolute() and there is not None and there.is_dir() and os.access(there, os.W_OK | os.X_OK)
