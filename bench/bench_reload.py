"""How long an open game's marks take after a reload, and in a new tab that has only the game's address.

    python bench/bench_reload.py [--plies 32] [--rounds 5]

The game was checked before, so the board has its judgments on disk. A time begins where the browser asks for the page,
and ends in the frame that shows all marks. The new tab is one of another browser: nothing of the page is cached. In the
last rows the board was started again. Other work on the machine makes all of it longer: the load is printed, and the
processor time of the board.
Figure to reach: 1 s. Random moves make a game with many marks.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import psutil
from playwright.sync_api import Browser, Page, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from browser.conftest import Server

WATCH = """(() => {
    const look = () => {
        const count = document.querySelectorAll("#moves button.mark").length;
        if (count && count >= Number(localStorage.getItem("bench-marks") ?? "0")) window.marked ??= performance.now();
        if (document.querySelector("#board .chess")) window.drawn ??= performance.now();
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
})()"""


def moves(plies: int) -> str:
    """Legal moves at random: many of them are mistakes, and have a mark."""
    import chess

    rng, board = random.Random(3), chess.Board()
    for _ in range(plies):
        board.push(rng.choice(list(board.legal_moves)))
    return ".".join(move.uci() for move in board.move_stack)


def shown(page: Page) -> tuple[float, float]:
    """Seconds from the request of the page to the board, and to all marks."""
    expect(page.locator("#moves button.mark").last).to_be_visible(timeout=120_000)
    while True:
        found = page.evaluate("[window.drawn ?? null, window.marked ?? null]")
        if all(each is not None for each in found):
            return found[0] / 1000, found[1] / 1000
        page.wait_for_timeout(50)


def progress(server: Server, hash_: str, given: argparse.Namespace) -> int:
    """The number of moves of the game that the board has kept."""
    import json
    from urllib.request import Request, urlopen

    line = {"game": "chess", "moves": hash_.split("moves=")[1].split("&")[0].split("."), "ratings": [0, 0]}
    body = json.dumps({"network": given.network, "line": line}).encode()
    asked = Request(f"{server.address}/api/judged", body, {"content-type": "application/json"})
    with urlopen(asked) as answer:
        return sum(each["ply"] > 0 for each in json.load(answer)["judged"])


def tell(what: str, server: Server, rounds: int, once: Callable[[], tuple[float, float]]) -> None:
    assert server.process
    process = psutil.Process(server.process.pid)
    begun = sum(process.cpu_times()[:2])
    found = [once() for _ in range(rounds)]
    used = (sum(process.cpu_times()[:2]) - begun) / rounds
    drawn, marked = (statistics.median(each) for each in zip(*found, strict=True))
    most = max(marks for _, marks in found)
    print(
        f"{what}: board {drawn:.2f} s, marks {marked:.2f} s (median of {rounds}, most {most:.2f}), "
        f"processor of the board {used:.2f} s, load {os.getloadavg()[0]:.1f}",
        flush=True,
    )


def new_tab(browser: Browser, server: Server, hash_: str, marks: int) -> tuple[float, float]:
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    context.add_init_script(f"localStorage.setItem('bench-marks', '{marks}');{WATCH}")
    page = context.new_page()
    page.goto(f"{server.address}/{hash_}")
    found = shown(page)
    context.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plies", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--network", default="human")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        server = Server(Path(folder))
        server.start(given.network)
        browser = driver.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"]
        )
        context = browser.new_context(viewport={"width": 1366, "height": 768})
        context.add_init_script(WATCH)
        page = context.new_page()
        hash_ = f"#game=chess&moves={moves(given.plies)}&network={given.network}"
        page.goto(f"{server.address}/{hash_}")
        shown(page)
        while page.locator("#moves .mark.doubt").count() or progress(server, hash_, given) < given.plies:
            page.wait_for_timeout(500)
        page.wait_for_timeout(1000)
        marks = page.locator("#moves button.mark").count()
        print(f"{given.plies} plies, {marks} marks, {given.network}")
        page.evaluate(f"localStorage.setItem('bench-marks', '{marks}')")

        def reload() -> tuple[float, float]:
            page.reload()
            return shown(page)

        tell("reload", server, given.rounds, reload)
        page.close()
        tell("new tab", server, given.rounds, lambda: new_tab(browser, server, hash_, marks))
        times = []
        for _ in range(given.rounds):
            server.end()
            server.start(given.network)
            times.append(new_tab(browser, server, hash_, marks))
        drawn, marked = (statistics.median(each) for each in zip(*times, strict=True))
        print(f"new tab, board started again: board {drawn:.2f} s, marks {marked:.2f} s, load {os.getloadavg()[0]:.1f}")
        browser.close()
        server.end()


if __name__ == "__main__":
    main()
