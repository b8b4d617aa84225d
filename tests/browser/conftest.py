"""A real browser on a real server: `kibitz board` as a process of its own, chromium without a window.

Every page is watched: a console error, an exception, or a request to another host fails the test it happens in.
Without chromium or without the built page these tests are skipped; under CI they fail.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import kibitz
from support.helpers import import_games, program

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

PAGE = Path(kibitz.__file__).parent / "web" / "page" / "index.html"
PATIENCE = 60_000
"""Milliseconds that anything may take where nothing says how long it takes; machines are busy."""


class Server:
    """`kibitz board` on a port of its own, in a folder that has runs/."""

    def __init__(self, folder: Path):
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[str] | None = None

    def start(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "kibitz", "board", "--no-browser", "--port", str(self.port), *arguments]
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        assert select.select([self.process.stdout], [], [], 60)[0], "kibitz board says nothing"
        assert self.address in self.process.stdout.readline()

    def end(self, how: int = signal.SIGINT) -> int:
        """The exit status."""
        assert self.process
        assert self.process.stdout
        self.process.send_signal(how)
        with self.process.stdout:
            return self.process.wait(20)


class Watch:
    """What went wrong in a context's pages."""

    def __init__(self, context: playwright.BrowserContext, host: str):
        self.wrong: list[str] = []
        self.allowed: list[str] = []
        context.on("console", lambda said: said.type == "error" and self.wrong.append(f"{said.text} {said.location}"))
        context.on("weberror", lambda error: self.wrong.append(str(error.error)))
        context.on("request", lambda asked: self._asked(asked.url, host))

    def _asked(self, url: str, host: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.netloc != host:
            self.wrong.append(f"a request to {url}")

    def allow(self, pattern: str) -> None:
        """An error that the test brings about itself; browsers log every answer that is a refusal."""
        self.allowed.append(pattern)

    def check(self) -> None:
        left = [line for line in self.wrong if not any(re.search(pattern, line) for pattern in self.allowed)]
        assert not left, "\n".join(left)


@pytest.fixture(scope="module")
def chromium() -> Iterator[playwright.Browser]:
    path = program("chromium")
    if not PAGE.is_file():
        if os.environ.get("CI"):
            pytest.fail("the page is not built: make page")
        pytest.skip("the page is not built: make page")
    playwright.expect.set_options(timeout=PATIENCE)
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"] if root else [])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, small_run: Path) -> Path:
    """Where the server runs: a run that was trained for a moment lies in runs/."""
    made = tmp_path_factory.mktemp("board")
    shutil.copytree(small_run, made / "runs" / "winner-1")
    return made


@pytest.fixture(scope="module")
def server(folder: Path, chromium: playwright.Browser) -> Iterator[Server]:
    served = Server(folder)
    served.start()
    yield served
    assert served.end() == 0


@pytest.fixture(scope="module")
def stored(folder: Path, chromium: playwright.Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that was given a store of 400 games."""
    path = import_games(tmp_path_factory.mktemp("explored") / "a.store", limit=400).path
    served = Server(folder)
    served.start(str(path))
    yield served
    assert served.end() == 0


@pytest.fixture
def own_server(folder: Path, chromium: playwright.Browser) -> Iterator[Server]:
    """One that the test may kill."""
    served = Server(folder)
    served.start()
    yield served
    if served.process and served.process.poll() is None:
        served.end(signal.SIGKILL)


@pytest.fixture
def serve(folder: Path, chromium: playwright.Browser) -> Iterator[Callable[..., Server]]:
    """Starts servers with arguments of the test's own: serve("--engine", …)."""
    begun: list[Server] = []

    def start(*arguments: str) -> Server:
        served = Server(folder)
        served.start(*arguments)
        begun.append(served)
        return served

    yield start
    for served in begun:
        assert served.end() == 0


@contextmanager
def watched(
    browser: playwright.Browser,
    server: Server,
    *,
    width: int = 1280,
    height: int = 900,
    touch: bool = False,
    locale: str = "en-US",
    theme: str = "light",
) -> Iterator[tuple[playwright.Page, Watch]]:
    context = browser.new_context(
        base_url=server.address,
        viewport={"width": width, "height": height},
        reduced_motion="reduce",
        has_touch=touch,
        locale=locale,
        color_scheme=theme,
    )
    context.set_default_timeout(PATIENCE)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    watch = Watch(context, f"127.0.0.1:{server.port}")
    page = context.new_page()
    try:
        yield page, watch
        watch.check()
    finally:
        context.close()


@pytest.fixture
def open_at(chromium: playwright.Browser) -> Iterator[Callable[[Server], tuple[playwright.Page, Watch]]]:
    """Opens the board of a server of the test's own; what is watched comes with it."""
    with ExitStack() as stack:

        def open_page(server: Server) -> tuple[playwright.Page, Watch]:
            page, watch = stack.enter_context(watched(chromium, server))
            page.goto("/")
            return page, watch

        yield open_page


@pytest.fixture
def visit(chromium: playwright.Browser, server: Server) -> Iterator[Callable[..., playwright.Page]]:
    """Opens the board: visit(path, width=…, locale=…), or another server's (of). All that it opens is watched."""
    with ExitStack() as stack:

        def open_page(path: str = "/", of: Server = server, **how: Any) -> playwright.Page:
            page, watch = stack.enter_context(watched(chromium, of, **how))
            page.watch = watch
            page.goto(path)
            return page

        yield open_page


@pytest.fixture
def page(visit: Callable[..., playwright.Page]) -> playwright.Page:
    return visit()


def until(true: Callable[[], bool], what: str, seconds: float = PATIENCE / 1000) -> None:
    """Waits for what the page cannot be asked to wait for."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"not in {seconds:g} s: {what}"
        time.sleep(0.05)
