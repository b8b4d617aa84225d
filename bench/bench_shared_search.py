"""How strong is the short search of a shared page? Games against the same network without a search, in Chromium.

python bench/bench_shared_search.py [GAMES] [POSITIONS] [NETWORK ...]: by default 20 games each of `human` and `gohuman`
(9×9) and the page's own time limit. POSITIONS above 0: the visits of each search, for a machine with other work. Each
opening of 6 plies is played twice, with the sides swapped. The search plays level "Looks ahead", the other side "Best
moves", and for `human` in every other pair the level 2400. Prints wins, draws and losses of the search, and the
milliseconds of its moves. Needs playwright and chromium.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from kibitz.cli import run
from support.helpers import program
from support.static_site import served

GAMES = {"human": "chess", "chessnet": "chess", "gohuman": "go"}
OPENING, PLIES = 6, {"chess": 240, "go": 160}
GO = {"size": 9, "komi": 7, "rules": "chinese", "setup": {"B": [], "W": []}, "side": "b"}
MOVE = """async ([line, how]) => {
  const began = performance.now();
  let nodes = 0;
  const { move } = await kibitz.think({ line, ...how }, (each) => (nodes = each.nodes ?? nodes));
  const [last] = (await kibitz.line({ ...line, moves: move ? [...line.moves, move] : line.moves })).slice(-1);
  return { move, nodes, end: last.end, turn: last.turn, milliseconds: performance.now() - began };
}"""
TURNS = "async (line) => (await kibitz.line(line)).map(({ turn }) => turn)"
COUNT = "async (line) => { const { black, white } = await kibitz.count(line); return black - white; }"
SEARCH = "short-puct"


def play(page: Any, line: dict[str, Any], sides: list[dict[str, Any]], spent: list[tuple[float, int]]) -> float:
    """Play a game to its end; return the points of the first player: 1, 0.5 or 0. The first player has the turn in the
    position from which the game begins.
    """
    end, turns = None, page.evaluate(TURNS, line)
    first, turn = turns[0], turns[-1]
    while end is None and len(line["moves"]) < PLIES[line["game"]]:
        how = sides[turn != first]
        found = page.evaluate(MOVE, [line, how])
        if how["method"] == SEARCH:
            spent.append((found["milliseconds"], found["nodes"]))
        line["moves"].append(found["move"])
        end, turn = found["end"], found["turn"]
    if line["game"] == "go":
        lead = page.evaluate(COUNT, line) * (1 if first == "b" else -1)
        return 0.5 if lead == 0 else float(lead > 0)
    return 0.5 if end != "checkmate" else float(turn != first)


def match(network: str, games: int, positions: int, browser: Any) -> None:
    """Play the games of a network against itself with the search."""
    game = GAMES[network]
    points: dict[str, list[float]] = {}
    spent: list[tuple[float, int]] = []
    searches = {"method": SEARCH, "nodes": positions or None}
    with tempfile.TemporaryDirectory(prefix="kibitz-") as folder:
        assert run(["export", network, "--web", f"{folder}/site"]) == 0
        with served(Path(folder) / "site") as site:
            page = browser.new_page()
            page.goto(site.address)
            page.locator("html[data-network=ready]").wait_for(state="attached", timeout=300_000)
            for pair in range((games + 1) // 2):
                rating = 2400 if network == "human" and pair % 2 else 0
                name = f"level {rating}" if rating else "best moves"
                other = {"method": "top-prob", "temperature": 0.0, "rating": rating}
                opening: list[str] = []
                for _ in range(OPENING):
                    asked = [{"game": game, **(GO if game == "go" else {}), "moves": opening}, {"temperature": 1}]
                    opening.append(page.evaluate(MOVE, asked)["move"])
                for first in (True, False):
                    line = {"game": game, **(GO if game == "go" else {}), "moves": [*opening]}
                    won = play(page, line, [searches, other] if first else [other, searches], spent)
                    points.setdefault(name, []).append(won if first else 1 - won)
                    print(f"{network} against {name}: {points[name][-1]} in {len(line['moves'])} plies", flush=True)
            page.close()
    for name, each in points.items():
        print(
            f"{network}: the search scored {sum(each)}/{len(each)} against {name}"
            f" (won {each.count(1)}, drawn {each.count(0.5)}, lost {each.count(0)})"
        )
    times, nodes = [each for each, _ in spent], [each for _, each in spent if each]
    print(
        f"{network}: a move of the search in {statistics.median(times):.0f} ms (median), longest {max(times):.0f} ms,"
        f" {statistics.median(nodes):.0f} positions (median)",
        flush=True,
    )


def main(games: int, positions: int, names: list[str]) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program("chromium"), args=["--no-sandbox"])
        for name in names:
            match(name, games, positions, browser)
        browser.close()


if __name__ == "__main__":
    counts = [*map(int, sys.argv[1:3]), *(20, 0)[len(sys.argv[1:3]) :]]
    main(counts[0], counts[1], sys.argv[3:] or ["human", "gohuman"])
