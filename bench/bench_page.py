"""The page of `kibitz board` in chromium: start to first page, a step to an analysed position, and what it weighs.

    python bench/bench_page.py [--plies 120] [--steps 200]

A step is timed in the page, from the key press to the end of the frame that shows the new position: the page's own
work, with style, layout and painting. It is done with the network as it is, and with 100 ms added to every answer.
Figures to reach: a step within 16 ms either way, a first page within 1 s of the start, 400 KB in all.
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import chess
import chess.pgn
from playwright.sync_api import Browser, Page, expect, sync_playwright

import kibitz

FOLDER = Path(kibitz.__file__).parent / "web" / "page"

STEPS = """async ([steps, last]) => {
    const times = [];
    let key = "ArrowRight", at = 0;
    const said = () => document.querySelector("#board .chess").getAttribute("aria-label");
    for (let i = 0; i < steps; i += 1) {
        if (at === last) key = "ArrowLeft";
        if (at === 0) key = "ArrowRight";
        at += key === "ArrowRight" ? 1 : -1;
        const before = said();
        // Begun in a frame: what the key does, style, layout and painting are all in this one; the message comes after.
        times.push(await new Promise((done, failed) => requestAnimationFrame(() => {
            const begun = performance.now();
            document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
            if (said() === before) failed(new Error("the board did not move"));
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = () => done(performance.now() - begun);
            port2.postMessage(0);
        })));
        await new Promise((done) => setTimeout(done, 20));
    }
    return times;
}"""


def game(plies: int) -> str:
    """A PGN of random legal moves, the same each time."""
    rng, board = random.Random(7), chess.Board()
    while len(board.move_stack) < plies:
        board.push(rng.choice(list(board.legal_moves)))
        if board.is_game_over():
            board.pop()
    return str(chess.pgn.Game.from_board(board))


def weight() -> None:
    files = [path for path in FOLDER.rglob("*") if path.is_file()]
    plain = sum(path.stat().st_size for path in files)
    packed = sum(len(gzip.compress(path.read_bytes())) for path in files)
    print(f"page weight: {plain / 1000:.0f} KB in {len(files)} files ({packed / 1000:.0f} KB if compressed)")


class Board:
    """`kibitz board`, running; started is when."""

    def __init__(self, port: int):
        self.folder = tempfile.TemporaryDirectory()
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kibitz", "board", "--no-browser", "--port", str(port)],
            cwd=self.folder.name, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout
        found = re.search(r"http://\S+", self.process.stdout.readline())
        assert found, "kibitz board did not start"
        self.address = found[0]

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


def first_page(browser: Browser, port: int, rounds: int) -> None:
    """From the start of the program to a board on the screen, in a browser that runs already."""
    printed, drawn = [], []
    for _ in range(rounds):
        board = Board(port)
        printed.append(time.perf_counter() - board.started)
        page = browser.new_page()
        page.goto(board.address, wait_until="commit")
        page.wait_for_selector("#board piece")
        drawn.append(time.perf_counter() - board.started)
        page.close()
        board.end()
    print(
        f"start to its address: {statistics.median(printed):.2f} s; to a board on the screen:"
        f" {statistics.median(drawn):.2f} s (median of {rounds}; best {min(drawn):.2f} s)"
    )


def stepping(page: Page, what: str, plies: int, steps: int) -> None:
    times = sorted(page.evaluate(STEPS, [steps, plies]))
    print(
        f"a step, {what}: median {statistics.median(times):.1f} ms, 95% within {times[int(0.95 * len(times))]:.1f} ms,"
        f" worst {times[-1]:.1f} ms ({steps} steps)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plies", type=int, default=120, help="of the game that is stepped through")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5, help="starts of the program")
    parser.add_argument("--port", type=int, default=8731)
    asked = parser.parse_args()
    program = shutil.which("chromium")
    if not program:
        sys.exit("chromium is not installed")
    weight()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        first_page(browser, asked.port, asked.rounds)
        board = Board(asked.port)
        for network in ("winner", "chessnet"):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(board.address)
            chosen = page.get_by_role("combobox", name="Network", exact=True)
            expect(chosen).to_be_enabled(timeout=60_000)
            chosen.select_option(network)
            page.keyboard.press("o")
            page.get_by_role("dialog").get_by_role("textbox").fill(game(asked.plies))
            begun = time.perf_counter()
            page.keyboard.press("Control+Enter")
            known = re.compile(f"{asked.plies} moves, {asked.plies + 1} known")
            graph = page.locator("#graph").get_by_role("img", name="Graph")
            expect(graph).to_have_attribute("aria-label", known, timeout=120_000)
            print(f"{network}: {asked.plies} plies opened and analysed in {time.perf_counter() - begun:.1f} s")
            page.keyboard.press("Home")
            page.wait_for_timeout(500)
            if network == "chessnet":  # all that it can show at once
                page.get_by_role("radio", name="Where from").check()
            stepping(page, f"{network}, no delay", asked.plies, asked.steps)
            session = page.context.new_cdp_session(page)
            slow = {"offline": False, "latency": 100, "downloadThroughput": -1, "uploadThroughput": -1}
            session.send("Network.enable")
            session.send("Network.emulateNetworkConditions", slow)
            page.keyboard.press("Home")
            page.wait_for_timeout(500)
            stepping(page, f"{network}, 100 ms added", asked.plies, asked.steps)
            page.close()
        board.end()
        browser.close()


if __name__ == "__main__":
    main()
