"""A screen in memory on which the windows of other programs open, driven like a person drives them."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from support.patience import PATIENCE


def optional(name: str) -> str:
    """The path of a program with a window. Its test is skipped where it is absent, under CI too."""
    found = shutil.which(name) or shutil.which(f"/usr/games/{name}")
    if not found:
        pytest.skip(f"{name} is not installed")
    return found


class Screen:
    """An X server with a window manager. home: the home folder of the programs on it."""

    def __init__(self, number: str, home: Path) -> None:
        self.home = home
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "PYTHON"))},
            "DISPLAY": f":{number}", "HOME": str(home), "GSETTINGS_BACKEND": "keyfile", "GSK_RENDERER": "cairo",
            "LC_ALL": "C.UTF-8", "PATH": f"{os.environ['PATH']}:/usr/games",
        }  # fmt: skip
        self._programs: list[subprocess.Popen[bytes]] = []

    def start(self, command: Sequence[str]) -> None:
        self._programs.append(
            subprocess.Popen(
                command, env=self.environment, cwd=self.home, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
        )  # fmt: skip

    def do(self, *words: object) -> str:
        """Type or click, in the words of xdotool. Returns what it prints."""
        command = ["xdotool", *map(str, words)]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False).stdout

    def window(self, title: str, by: str = "name") -> str:
        """Wait for a window whose name or class matches, and put it in front. Returns its number."""
        found = until(lambda: self.do("search", "--onlyvisible", f"--{by}", title).split(), f"window {title}")
        self.do("windowactivate", "--sync", found[-1])
        return found[-1]

    def click(self, window: str, x: int, y: int) -> None:
        """Click at a place of a window, in pixels from its top left corner."""
        self.do("mousemove", "--window", window, x, y, "click", 1)

    def picture(self, path: Path) -> None:
        """Write a picture of the whole screen, with the program `import` of ImageMagick."""
        subprocess.run(["import", "-window", "root", str(path)], env=self.environment, check=False)

    def close(self) -> None:
        for process in reversed(self._programs):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def until(answer: Callable[[], object], what: str, every: float = 0.2) -> list[str]:
    """Wait for a true answer and return it."""
    end = time.monotonic() + min(PATIENCE, 180.0)
    while not (found := answer()):
        assert time.monotonic() < end, f"no {what}"
        time.sleep(every)
    return found  # type: ignore[return-value]


@contextlib.contextmanager
def screen(home: Path) -> Iterator[Screen]:
    """A new screen with an empty home folder."""
    server, manager = optional("Xvfb"), optional("openbox")
    optional("xdotool")
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [server, "-displayfd", str(writing), "-screen", "0", "1280x900x24", "-nolisten", "tcp"],
        pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(writing)
    with os.fdopen(reading) as file:
        number = file.readline().strip()
    home.mkdir(exist_ok=True)
    made = Screen(number, home)
    try:
        made.start([manager])
        yield made
    finally:
        made.close()
        process.kill()
        process.wait()
