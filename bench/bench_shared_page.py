"""Do the pages of `kibitz export --web` give the same answers as kibitz? Positions of games, in Chromium and in Python.

python bench/bench_shared_page.py [POSITIONS] [NETWORK ...]: by default 1,000 positions of each network. Prints for each
network the share of equal first choices, the largest difference of the value and of the listed moves, and the
milliseconds that Chromium needs for a position. Needs playwright and chromium.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from kibitz.cli import run
from kibitz.training.quantised import _own_games
from kibitz.web.networks import NetworkRegistry
from kibitz.web.positions import read_line
from support.helpers import program
from support.static_site import served

NETWORKS = ("human", "chessnet", "convchess", "winner", "gohuman", "gocnn")
PLIES = 80
"""Positions of one game at most."""
ASK = """async (line) => {
  const found = [];
  await kibitz.analyse({ network: "", line, from: 0, to: line.moves.length }, (each) => found.push(each));
  return found;
}"""


def lines(game: str, positions: int) -> list[dict[str, Any]]:
    """Lines of the games that kibitz includes, with at least that many positions together."""
    from kibitz.games.chess.moves import to_move
    from kibitz.games.go.points import to_gtp

    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="kibitz-") as folder:
        store = _own_games(game, Path(folder) / "games")
        sizes = store.column("size") if game == "go" else None
        for index in range(len(store)):
            packed = store.moves[store.offsets[index] : store.offsets[index + 1]][:PLIES].tolist()
            if game == "chess":
                line: dict[str, Any] = {"game": game, "moves": [to_move(int(each)).uci() for each in packed]}
            else:
                size = int(sizes[index])
                if store.starts[store.start_of[index]][:361].any() and size == 19:
                    continue  # handicap stones
                line = {"game": game, "size": size, "komi": 7.5, "rules": "chinese", "setup": {"B": [], "W": []},
                        "side": "b", "moves": [to_gtp(int(each), size) for each in packed]}  # fmt: skip
            found.append(line)
            if sum(len(each["moves"]) + 1 for each in found) >= positions:
                break
    return found


def compare(name: str, positions: int, browser: Any) -> dict[str, Any]:
    """Compare a network's answers."""
    networks = NetworkRegistry([name])
    network = networks.known()[0]
    session = networks.session(name)
    same = choices = count = 0
    value = chance = seconds = 0.0
    with tempfile.TemporaryDirectory(prefix="kibitz-") as folder:
        assert run(["export", name, "--web", f"{folder}/site"]) == 0
        with served(Path(folder) / "site") as site:
            page = browser.new_page()
            page.goto(site.address)
            page.locator("html[data-network=ready]").wait_for(state="attached", timeout=300_000)
            for asked in lines(network.game, positions):
                line = read_line({"line": asked})
                last = len(line.moves)
                there = [each for batch in line.results(session, network, 0, last) for each in batch]
                began = time.perf_counter()
                here = page.evaluate(ASK, asked)
                seconds += time.perf_counter() - began
                count += len(here)
                for mine, its in zip(here, there, strict=True):
                    for side in ("white", "black"):
                        if its.get(side) is not None:
                            value = max(value, abs(mine[side] - its[side]))
                    if its["moves"]:
                        choices += 1
                        same += mine["moves"][0]["move"] == its["moves"][0]["move"]
                        chances = {each["move"]: each["p"] for each in its["moves"]}
                        differences = [
                            abs(each["p"] - chances[each["move"]]) for each in mine["moves"] if each["move"] in chances
                        ]
                        chance = max(chance, *differences)
            page.close()
    return {"positions": count, "choices": choices, "same": same, "value": value, "chance": chance,
            "milliseconds": 1000 * seconds / max(1, count)}  # fmt: skip


def main(positions: int, names: list[str]) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program("chromium"), args=["--no-sandbox"])
        for name in names:
            found = compare(name, positions, browser)
            print(
                f"{name}: {found['positions']:,} positions,"
                f" first choice the same {found['same']:,}/{found['choices']:,},"
                f" value within {found['value']:.4f}, moves within {found['chance']:.4f},"
                f" {found['milliseconds']:.0f} ms a position",
                flush=True,
            )
        browser.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, sys.argv[2:] or list(NETWORKS))
