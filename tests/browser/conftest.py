"""A real browser on a real server: `kibitz board` as a process of its own, chromium without a window.

A worker has one browser and one server, and each test a fresh context: cookies, storage and clipboard are its own.
Every page is watched: a console error, an exception, or a request to another host fails the test it happens in.
Without chromium or without the built page these tests are skipped; under CI they fail.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import kibitz
from kibitz.environment import user_folder
from support.helpers import import_games, program
from support.opinion_fakes import fake

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

PAGE = Path(kibitz.__file__).parent / "web" / "page" / "index.html"
PATIENCE = 300_000
"""Milliseconds that anything may take where nothing says how long it takes; machines are busy."""

ENGINES = (("fish", "uci", "sound"), ("faller", "uci", "crash once"), ("gtp-resigner", "gtp", "resigner"))
"""Fake programs: name, protocol, fault."""


class Server:
    """`kibitz board` in a folder. It takes a free port itself, and the same one when it is started again."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.address = ""
        self.process: subprocess.Popen[str] | None = None

    def start(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "kibitz", "board", "--no-browser", *arguments]
        if self.address:
            command += ["--port", str(urlsplit(self.address).port)]
        # Judgments of earlier runs are not known; compiled functions are.
        cache = {"NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR") or str(user_folder())}
        environment = {**os.environ, **cache, "XDG_CACHE_HOME": str(self.folder / "cache")}
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout
        assert select.select([self.process.stdout], [], [], 120)[0], "kibitz board prints nothing"
        found = re.search(r"http://127\.0\.0\.1:\d+", self.process.stdout.readline())
        assert found
        self.address = found[0]

    def end(self, how: int = signal.SIGINT) -> int:
        """The exit status."""
        assert self.process
        assert self.process.stdout
        self.process.send_signal(how)
        with self.process.stdout:
            return self.process.wait(PATIENCE / 1000)


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


@pytest.fixture(scope="package")
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


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the shared server runs."""
    made = tmp_path_factory.mktemp("board")
    (made / "runs").mkdir()
    return made


@pytest.fixture(scope="package")
def engines(folder: Path) -> dict[str, Path]:
    """Fake programs that the shared server offers: name -> the folder of its notes."""
    notes = {}
    for name, protocol, fault in ENGINES:
        notes[name] = folder / name
        notes[name].mkdir()
        script = folder / f"{name}.sh"
        script.write_text(f"#!/bin/sh\nexec {fake(protocol, fault, notes[name])}\n")
        script.chmod(0o755)
    return notes


@pytest.fixture(scope="package")
def server(
    folder: Path, engines: dict[str, Path], chromium: playwright.Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """The server that most tests share: with a store of 400 games and the fake programs."""
    store = import_games(tmp_path_factory.mktemp("explored") / "a.store", limit=400).path
    served = Server(folder)
    served.start(str(store), *(word for name in engines for word in ("--engine", str(folder / f"{name}.sh"))))
    yield served
    assert served.end() == 0


@pytest.fixture(scope="package")
def winner_run(folder: Path, small_run: Path) -> Path:
    """A run with two curves and checkpoints, on the shared server."""
    return offer(small_run, folder / "runs" / "winner-1")


@pytest.fixture(scope="package")
def rated_run(folder: Path, human_run: Path) -> Path:
    """A run whose checkpoints suggest moves, on the shared server."""
    return offer(human_run, folder / "runs" / "human-1")


def offer(run: Path, to: Path) -> Path:
    """Copies a run to where the server finds it, whole or not at all."""
    whole = Path(shutil.copytree(run, to.parents[1] / f"{to.name}.copy"))
    return whole.rename(to)


@pytest.fixture
def serve(tmp_path: Path, chromium: playwright.Browser) -> Iterator[Callable[..., Server]]:
    """Starts servers of the test's own, which it may kill: serve(arguments)."""
    begun: list[Server] = []

    def start(*arguments: str) -> Server:
        served = Server(tmp_path)
        served.start(*arguments)
        begun.append(served)
        return served

    yield start
    for served in begun:
        if served.process and served.process.poll() is None:
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
) -> Iterator[tuple[playwright.Page, Watch]]:
    context = browser.new_context(
        base_url=server.address,
        viewport={"width": width, "height": height},
        reduced_motion="reduce",
        has_touch=touch,
        locale=locale,
        color_scheme="light",
    )
    context.set_default_timeout(PATIENCE)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    watch = Watch(context, urlsplit(server.address).netloc)
    page = context.new_page()
    try:
        yield page, watch
        watch.check()
    finally:
        context.close()


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


@pytest.fixture
def desk(page: playwright.Page) -> Any:
    from support.board_page import Desk

    return Desk(page).ready()
