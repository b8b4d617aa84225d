"""A friend's evening on a shared page: whole games on a phone-sized Chromium, without an error or another host.

python bench/bench_shared_evening.py [CHESS_GAMES] [GO_GAMES]: by default 5 and 2. The visitor's moves are the network's
own at another rating; at PLIES plies the visitor resigns. Prints how each game ended, the milliseconds from a move to
the reply, and what was wrong. Needs playwright and chromium.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from kibitz.cli import run
from support.board_page import wait_for
from support.helpers import program
from support.static_site import served

PLIES = {"chess": 240, "go": 140}
THINK = """async ([line, rating]) => {
  const { move } = await kibitz.think({ line, temperature: 0.7, rating }, () => undefined);
  return move;
}"""
MOVE = "#moves button.move"
ANSWERED = """async (count) => {
  const { state } = document.querySelector(".play-state").dataset;
  return state === "over" || (state === "human" && document.querySelectorAll("#moves button.move").length >= count);
}"""
NAMED = "async (count) => (location.hash.match(/moves=([^&]*)/)?.[1] ?? '').split('.').length >= count"
READY = 300_000
"""Milliseconds that anything may take."""


def evening(network: str, game: str, games: int, browser: Any) -> None:
    """Play some games with a network on its page."""
    with tempfile.TemporaryDirectory(prefix="kibitz-") as folder:
        assert run(["export", network, "--web", f"{folder}/site"]) == 0
        with served(Path(folder) / "site") as site:
            wrong: list[str] = []
            context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
            context.set_default_timeout(READY)
            context.on("console", lambda said: said.type == "error" and wrong.append(said.text))
            context.on("weberror", lambda error: wrong.append(str(error.error)))
            context.on(
                "request",
                lambda asked: asked.url.startswith((site.address, "data:", "blob:")) or wrong.append(asked.url),
            )
            page = context.new_page()
            began = time.perf_counter()
            page.goto(site.address)
            page.locator("html[data-network=ready]").wait_for(state="attached")
            loaded = time.perf_counter() - began
            page.locator(".move-bars li").first.wait_for()
            print(
                f"{network}: loaded in {loaded:.1f} s, first answer {time.perf_counter() - began - loaded:.2f} s later"
            )
            for number in range(games):
                print(f"{network} game {number + 1}: {play(page, game)}", flush=True)
            context.close()
            print(f"{network}: {len(wrong)} errors or requests to other hosts", *wrong, sep="\n  ")


def play(page: Any, game: str) -> str:
    """Play a game to its end; how it ended, and how long the replies took."""
    page.get_by_role("button", name="New", exact=True).click()
    page.get_by_role("menuitem", name="Chess" if game == "chess" else "Go, 9 × 9", exact=True).click()
    page.get_by_role("tab", name="Play").click()
    panel = page.get_by_role("tabpanel", name="Play")
    panel.get_by_role("button", name="New game", exact=True).click()
    # The address names the line a moment later.
    wait_for(page, "async () => !location.hash.includes('moves=')")
    state = page.locator(".play-state")
    line: dict[str, Any] = {"game": game, "moves": []}
    if game == "go":
        line |= {"size": 9, "komi": 7.5, "rules": "chinese", "setup": {"B": [], "W": []}, "side": "b"}
    replies: list[float] = []
    while state.get_attribute("data-state") != "over":
        line["moves"] = page.evaluate("new URLSearchParams(location.hash.slice(1)).get('moves')?.split('.') ?? []")
        if len(line["moves"]) >= PLIES[game]:
            panel.get_by_role("button", name="Resign", exact=True).click()
            break
        move = page.evaluate(THINK, [line, 1200])
        before = page.locator(MOVE).count()
        began = time.perf_counter()
        page.locator(".typed input").fill(move)
        page.locator(".typed input").press("Enter")
        wait_for(page, ANSWERED, before + 2)
        replies.append(time.perf_counter() - began)
        count = page.locator(MOVE).count()
        wait_for(page, NAMED, count)
    outcome = panel.locator(".outcome").inner_text()
    reply = f"median {1000 * statistics.median(replies):.0f} ms, longest {1000 * max(replies):.0f} ms"
    return f"{outcome} {page.locator(MOVE).count()} plies, a reply in {reply}"


def main(chess_games: int, go_games: int) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program("chromium"), args=["--no-sandbox"])
        evening("human", "chess", chess_games, browser)
        evening("gohuman", "go", go_games, browser)
        browser.close()


if __name__ == "__main__":
    counts = [int(each) for each in sys.argv[1:]]
    main(*counts, *(5, 2)[len(counts) :])
