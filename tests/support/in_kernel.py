"""The commands of a notebook run in the process of its kernel, which then loads PyTorch once.

`import support.in_kernel` in a kernel is enough. The same import of the same games is made once, and copied. A call
that is not exactly that of a program, and any other command, gets the program.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from support.causes import Ended, in_process

HERE = ("import", "train", "test")
"""The commands that need seconds to load their libraries, or to import the games."""
_call = subprocess.run
_stores: dict[tuple[str, ...], tuple[Path, Ended]] = {}


def run(command: Any, **options: Any) -> Any:
    """As subprocess.run does."""
    words = [str(word) for word in command]
    plain = options == {"capture_output": True, "text": True, "check": False}
    if not plain or words[:3] != [sys.executable, "-m", "kibitz"] or words[3] not in HERE:
        return _call(command, **options)
    into = words.index("--into") + 1 if words[3] == "import" else 0
    if tuple(words) in _stores:
        store, ended = _stores[tuple(words)]
        shutil.copytree(store, words[into])
    else:
        ended = in_process(words[3:])
        if into and ended.code == 0:
            _stores[tuple(words)] = Path(words[into]).resolve(), ended
    return subprocess.CompletedProcess(command, ended.code, ended.out, ended.err)


subprocess.run = run
