"""The page of `kibitz board` in chromium: start to first page, a step to an analysed position, the curve and the marks
of a game, a file of many games, and what the page weighs.

    python bench/bench_page.py [--plies 120] [--steps 200]

A step is timed in the page, from the key press to the end of the frame that shows the new position: the page's own
work, with style, layout and painting. It is done with the network as it is, and with 100 ms added to every answer.
The curve and the marks are of games of 80 plies that come with kibitz, from the paste on; while marks are made, the
page's longest task and the longest time between two frames are taken. Other work on the machine makes all of it
longer; so the processor time is told, too, of the page's own thread and of the server.
Figures to reach: a step within 16 ms either way, a first page within 1 s of the start, 400 KB in all, the curve within
0.5 s, the marks within 30 s and no frame over 50 ms, a list of 10,000 games within 1 s and one of them within 0.2 s.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import chess
import chess.pgn
import zstandard
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

WHOLE = """async ([text, wanted]) => {
    const graph = document.querySelector("#graph [role=img]");
    let task = 0, gap = 0;
    const longest = (seen) => (task = Math.max(task, ...seen.getEntries().map(({ duration }) => duration)));
    const tasks = new PerformanceObserver(longest);
    tasks.observe({ type: "longtask" });
    const data = new DataTransfer();
    data.setData("text/plain", text);
    const begun = performance.now();
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    let last = begun;
    while (!graph.getAttribute("aria-label").includes(wanted)) {
        const now = await new Promise(requestAnimationFrame);
        gap = Math.max(gap, now - last);
        last = now;
    }
    tasks.disconnect();
    return [performance.now() - begun, task, gap];
}"""
"""Milliseconds from the paste of a game until the graph shows it; of the longest task over 50 ms; between two
frames."""

MANY = """async (text) => {
    const frame = () => new Promise(requestAnimationFrame);
    const times = [];
    const timed = async (act, done) => {
        const begun = performance.now();
        act();
        while (!done()) await frame();
        times.push(performance.now() - begun);
    };
    const said = (part, words) => (document.querySelector(part)?.textContent ?? "").includes(words);
    const data = new DataTransfer();
    data.items.add(new File([text], "many.pgn"));
    const dropped = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
    await timed(() => document.body.dispatchEvent(dropped), () => said("#title", "Game 1 of 10,000"));
    await timed(() => document.querySelector("#title .of-file").click(), () => said("dialog[open]", "10,000 games"));
    const search = document.querySelector("dialog[open] [type=search]");
    search.value = "player 9876";
    const found = () => document.querySelector("dialog[open] ol button");
    await timed(() => search.dispatchEvent(new Event("input")), () => found()?.textContent.includes("Player 9876"));
    await timed(() => found().click(), () => said("#title", "Player 9876 – Bo"));
    return times;
}"""
"""Milliseconds until the first of many games is there, their list, what a name finds, and another game is shown."""


def known_games() -> list[str]:
    """Games of 80 plies and more that come with kibitz, cut there."""
    packed = (Path(kibitz.__file__).parent / "data" / "games.pgn.zst").read_bytes()
    file = io.StringIO(zstandard.ZstdDecompressor().stream_reader(packed).read().decode())
    found: list[str] = []
    while len(found) < 5 and (read := chess.pgn.read_game(file)):
        moves = list(read.mainline_moves())[:80]
        if len(moves) == 80:
            board = read.board()
            for move in moves:
                board.push(move)
            found.append(str(chess.pgn.Game.from_board(board)))
    return found


def whole_game(browser: Browser, board: Board, network: str, what: str, games: list[str]) -> None:
    """All of a game: "known", its curve, or "checked", its marks."""
    found = []
    for text in games:
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.goto(board.address)
        chosen = page.get_by_role("combobox", name="Network", exact=True)
        expect(chosen).to_be_enabled(timeout=60_000)
        chosen.select_option(network)
        page.wait_for_timeout(1000)  # the start position is answered
        used, before = thread_time(page), board.processor()
        of_page = used()
        times = page.evaluate(WHOLE, [text, f"80 {what}" if what == "checked" else "81 known"])
        found.append([*times, used() - of_page, board.processor() - before])
        page.close()
    times, tasks, gaps, pages, servers = zip(*found, strict=True)
    print(
        f"{network}, 80 plies {what}: median {statistics.median(times) / 1000:.2f} s, slowest {max(times) / 1000:.2f} s"
        f" ({len(found)} games); longest task over 50 ms: {max(tasks):.0f} ms; between two frames at most"
        f" {max(gaps):.0f} ms; processor time {statistics.median(pages):.2f} s of the page,"
        f" {statistics.median(servers):.2f} s of the server; load {os.getloadavg()[0]:.1f}"
    )


def many_games(browser: Browser, address: str, rounds: int) -> None:
    moves = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6"
    text = "".join(
        f'[Event "no"]\n[White "Player {i}"]\n[Black "Bo"]\n[Result "*"]\n\n{moves} *\n\n' for i in range(10_000)
    )
    found = []
    for _ in range(rounds):
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.goto(address)
        expect(page.get_by_role("combobox", name="Network", exact=True)).to_be_enabled(timeout=60_000)
        used = thread_time(page)
        before = used()
        found.append([*page.evaluate(MANY, text), 1000 * (used() - before)])
        page.close()
    opened, listed, searched, shown, all_ = (statistics.median(column) / 1000 for column in zip(*found, strict=True))
    print(
        f"10,000 games: opened {opened:.2f} s, list {listed:.2f} s, found by a name {searched:.2f} s, another one"
        f" {shown:.2f} s (medians of {rounds}); processor time of the page for all four {all_:.2f} s;"
        f" load {os.getloadavg()[0]:.1f}"
    )


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

    def processor(self) -> float:
        """Seconds of processor time that it has used. Linux only."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


def thread_time(page: Page) -> Callable[[], float]:
    """Gives the seconds of processor time that the page's thread has used."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def used() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))

    return used


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
    used = thread_time(page)
    before = used()
    times = sorted(page.evaluate(STEPS, [steps, plies]))
    processor = 1000 * (used() - before) / steps
    print(
        f"a step, {what}: median {statistics.median(times):.1f} ms, 95% within {times[int(0.95 * len(times))]:.1f} ms,"
        f" worst {times[-1]:.1f} ms ({steps} steps); processor time of the page with all that follows a step"
        f" {processor:.1f} ms; load {os.getloadavg()[0]:.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plies", type=int, default=120, help="of the game that is stepped through")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5, help="starts of the program")
    parser.add_argument("--games", type=int, default=3, help="games whose marks are timed, at most 4")
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
                page.get_by_role("radio", name="From-squares").check()
            stepping(page, f"{network}, no delay", asked.plies, asked.steps)
            session = page.context.new_cdp_session(page)
            slow = {"offline": False, "latency": 100, "downloadThroughput": -1, "uploadThroughput": -1}
            session.send("Network.enable")
            session.send("Network.emulateNetworkConditions", slow)
            page.keyboard.press("Home")
            page.wait_for_timeout(500)
            stepping(page, f"{network}, 100 ms added", asked.plies, asked.steps)
            page.close()
        games = known_games()
        whole_game(browser, board, "winner", "known", games)
        whole_game(browser, board, "human", "known", games)
        many_games(browser, board.address, asked.rounds)
        for network in ("winner", "human"):
            whole_game(browser, board, network, "checked", games[:1])  # what is compiled first is not timed
            whole_game(browser, board, network, "checked", games[1 : 1 + asked.games])
        board.end()
        browser.close()


if __name__ == "__main__":
    main()
