"""Set environment variables that some libraries need before they are imported. Child processes inherit them."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

CACHE = "NUMBA_CACHE_DIR"
"""The environment variable for the folder in which numba saves compiled functions. The default is the folder in which
kibitz is installed, which may be read-only, belong to another user, or be checked for changes.
"""
TORCH_CACHE = "TORCHINDUCTOR_CACHE_DIR"
"""The environment variable for the folder in which torch saves compiled code for `train --compile`. The default is a
folder for temporary files, which may be removed at a restart. The value can't be changed after Lightning is imported.
"""
SILENT = "ORT_DISABLE_TELEMETRY"
"""The environment variable that switches off the telemetry of ONNX Runtime, which is on by default since version 1.31.
"""
WAITING = "OMP_WAIT_POLICY"
"""The environment variable that sets how PyTorch's threads wait for each other. By default they use the CPU while they
wait. If other programs use the CPU too, training then becomes much slower: on two busy cores, it fell from 300
samples/s to 17.
"""
HUGE_PAGES = "THP_MEM_ALLOC_ENABLE"
"""The environment variable that makes PyTorch request 2 MB memory pages for large arrays.

With pages of 4 kB, each training step requested thousands of new pages, and a step of `gohuman` took a seventh longer.
"""


def set_up() -> None:
    """Set the environment variables that select the user's folder for compiled functions, switch telemetry off, let
    threads wait without using the CPU, and request large memory pages.

    A variable that is already set keeps its value. If no user folder can be written, a temporary folder is used and
    removed at exit. In this case, the functions are compiled at each start.
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
    if "numba" in sys.modules:  # numba has already read the environment
        sys.modules["numba"].config.CACHE_DIR = str(folder)


def user_cache() -> Path:
    """Return the folder for cached data, which kibitz can compute again. The operating system determines the folder,
    which may not exist.
    """
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.path.expanduser(base)) / "kibitz"


def user_folder() -> Path:
    """Return the folder for kernels, the functions that numba has compiled. The folder may not exist. Several
    installations of kibitz can share it.
    """
    return user_cache() / "numba"


def _writable(folder: Path) -> bool:
    """Return whether the folder can be written, or created if it does not exist."""
    # os.path.exists, because Path.exists raises PermissionError inside a folder that this user may not enter.
    there = next((ancestor for ancestor in (folder, *folder.parents) if os.path.exists(ancestor)), None)
    return folder.is_absolute() and there is not None and there.is_dir() and os.access(there, os.W_OK | os.X_OK)
