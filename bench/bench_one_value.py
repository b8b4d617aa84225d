"""One value for one position: the same chance in every interface.

    python bench/bench_one_value.py chessnet --games 4 --plies 50
    python bench/bench_one_value.py chessnet --games 4 --plies 50 --page 10

Takes the first positions of games that are packaged with kibitz. Each position is asked for through: the curve of the
page (`/api/judge` of the whole game), the page's list of moves (`/api/candidates`, its best line), *Compare*
(`/api/value`), `kibitz analyze --json`, `kibitz uci` (`go nodes` with one line and with five), and Python
(`TrainedNetwork.value_position`). Prints how many positions have one value, rounded to a tenth of a percent. --page
also reads the headline, the bar and the best line of so many positions from the real page in Chromium.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import chess
import chess.engine

import kibitz
from bench_board import ask, free_port, running
from bench_multipv import games
from kibitz.analysis.chess.limits import NODES
from kibitz.play.puct.player import TREE_SHARE
from kibitz.web.chess.line import ChessLine

Values = dict[str, float]


def streamed(port: int, path: str, network: str, line: ChessLine, **more: Any) -> list[dict[str, Any]]:
    request = {"network": network, "line": line.as_json(), **more}
    return [json.loads(one) for one in ask(port, "POST", path, request)]


def of_page(port: int, network: str, moves: list[str], found: list[Values]) -> None:
    """The values that a board's server gives of all positions of a line."""
    for one in streamed(port, "/api/judge", network, ChessLine(chess.STARTING_FEN, tuple(moves)), **{"from": 0}):
        if one.get("exact"):
            found[one["ply"]]["curve"] = one["white"]["after"]
    for ply, values in enumerate(found):
        line = ChessLine(chess.STARTING_FEN, tuple(moves[:ply]))
        best = streamed(port, "/api/candidates", network, line)[-1]["lines"][:1]
        if best:
            values["list"] = best[0]["white"]
        values["compare"] = streamed(port, "/api/value", network, line)[-1]["chance"]


def of_analyze(network: str, moves: list[str], found: list[Values]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "game.pgn"
        path.write_text(str(chess.pgn.Game.from_board(board_after(moves))) + "\n")
        command = [sys.executable, "-m", "kibitz", "analyze", network, str(path), "--json"]
        said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    game = said["games"][0] if "games" in said else said
    for ply, move in enumerate(game["moves"], 1):
        found[ply - 1]["analyze before"] = move["before"]
        found[ply]["analyze after"] = move["after"]


def of_engine(engine: chess.engine.SimpleEngine, moves: list[str], found: list[Values]) -> None:
    for ply, values in enumerate(found):
        board = board_after(moves[:ply])
        if board.is_game_over():
            continue
        for lines in (1, 5):
            nodes = NODES if lines == 1 else round(NODES / TREE_SHARE)
            info = engine.analyse(board, chess.engine.Limit(nodes=nodes), multipv=lines, game=object())[0]
            values[f"uci {lines}"] = info["wdl"].white().expectation()


def board_after(moves: list[str]) -> chess.Board:
    board = chess.Board()
    for move in moves:
        board.push_uci(move)
    return board


def in_chromium(port: int, network: str, moves: list[str], plies: list[int], found: list[Values]) -> None:
    """What the real page shows, in whole percent: the headline, the bar, and the best line of the list."""
    from playwright.sync_api import expect, sync_playwright

    from kibitz.external.programs import find_program

    expect.set_options(timeout=300_000)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_program("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"http://127.0.0.1:{port}/#network={network}")
        expect(page.get_by_role("combobox", name="Network", exact=True)).to_be_enabled()
        page.get_by_role("button", name="Open", exact=True).click()
        dialog = page.get_by_role("dialog", name="Open a game")
        dialog.get_by_role("textbox").fill(str(chess.pgn.Game.from_board(board_after(moves))))
        dialog.get_by_role("button", name="Open", exact=True).click()
        page.keyboard.press("Home")
        for ply in range(max(plies) + 1):
            if ply in plies:
                expect(page.locator(".move-bars.valued .value").first).to_have_text(re.compile("%|#"))
                expect(page.locator("#panels .chance.network-only:visible")).to_have_count(0)
                percents = {
                    "headline": page.locator("#panels .chance-line:visible strong").first.inner_text(),
                    "bar": page.get_by_role("meter").get_attribute("aria-valuetext") or "",
                }
                for name, text in percents.items():
                    found[ply][f"page {name}"] = float(re.findall(r"\d+", text)[-1]) / 100
            page.keyboard.press("ArrowRight")
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", nargs="?", default="chessnet")
    parser.add_argument("--games", type=int, default=4)
    parser.add_argument("--plies", type=int, default=50, help="positions of each game")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--page", type=int, default=0, metavar="POSITIONS", help="in Chromium")
    args = parser.parse_args()
    network = kibitz.load_network(args.network)
    command = [sys.executable, "-m", "kibitz", "uci", args.network]
    server = [sys.executable, "-m", "kibitz", "board", "--no-browser", "--port", str(port := free_port())]
    positions = agree = 0
    with chess.engine.SimpleEngine.popen_uci(command, timeout=600) as engine, running(server, port):
        engine.configure({"UCI_ShowWDL": True, "Method": "puct"})
        for _, game in zip(range(args.games), games(args.seed), strict=False):
            moves = [move.uci() for move in game.mainline_moves()][: args.plies - 1]
            found: list[Values] = [{} for _ in range(len(moves) + 1)]
            of_page(port, args.network, moves, found)
            of_analyze(args.network, moves, found)
            of_engine(engine, moves, found)
            for ply, values in enumerate(found):
                values["python"] = network.value_position(board_after(moves[:ply])).chance
            if args.page:
                step = max(1, len(found) * args.games // args.page)
                in_chromium(port, args.network, moves, list(range(0, len(found), step)), found)
            for ply, values in enumerate(found):
                # The page shows whole percents.
                finest = {name: value for name, value in values.items() if not name.startswith("page ")}
                shown = [value for name, value in values.items() if name.startswith("page ")]
                one = max(finest.values()) - min(finest.values()) <= 0.001
                one &= all(abs(value - values["curve"]) <= 0.0051 for value in shown)
                positions, agree = positions + 1, agree + one
                if not one:
                    print(f"  {board_after(moves[:ply]).fen()}: {values}", flush=True)
            print(f"{args.network}: one value in {agree} of {positions} positions", flush=True)


if __name__ == "__main__":
    main()
