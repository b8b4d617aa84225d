"""The pictures of the README and the docs: packaged networks on games that are known or come with kibitz.

    python tools/docs_pictures.py           # docs/show.svg, docs/go-boards.svg
    python tools/docs_pictures.py --page    # docs/board-chess.webp, docs/board-go.webp
    python tools/docs_pictures.py --report test-winner-masters-test.html    # docs/result-page.png

The second takes pictures of the page of `kibitz board`, in chromium. The third takes one of the beginning of a report,
which `kibitz test winner masters-test.store` writes; docs/results/data.md shows how the store is made.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from markupsafe import Markup, escape
from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

import kibitz
from kibitz.cli import run
from kibitz.evaluation.owners.results import measure, owners_of
from kibitz.evaluation.owners.samples import board
from kibitz.games.go.points import to_gtp, to_sgf
from kibitz.games.go.replay import SIZE, colours_of
from kibitz.play.go.ownership import OUTPUT
from kibitz.play.session import Session
from kibitz.report.boards.go import EDGE, STEP, board_defs, board_svg
from kibitz.store.positions import Batch
from kibitz.store.store import Store

DOCS = Path(__file__).parents[1] / "docs"
GAMES = Path(kibitz.__file__).parent / "data" / "games.sgfl.zst"
OPERA = """1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3 Qe7 8. Nc3 c6 *"""
GAME = 5
"""Of those that come with kibitz; on 19 lines."""
MOMENTS = (0.25, 0.5, 0.75)
"""Shares of its moves."""

SIDE, GAP, PAD = 18 * STEP + 2 * EDGE, 18, 12
INK, QUIET = "#1c1c1c", "#5a5a5a"


def framed(wide: float, tall: float, inside: str) -> str:
    """A picture on white paper, so that it can be read on a dark page, too."""
    size = f'width="{wide:g}" height="{tall:g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {wide:g} {tall:g}"'
        f' font-family="system-ui, sans-serif"><rect {size} rx="6" fill="#fff"/>{inside}</svg>\n'
    )


def placed(drawn: Markup | str, x: float, y: float, wide: float, tall: float) -> str:
    return str(drawn).replace("<svg ", f'<svg x="{x:g}" y="{y:g}" width="{wide:g}" height="{tall:g}" ', 1)


def written(x: float, y: float, text: str, size: int, fill: str = INK, weight: int = 400) -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" font-weight="{weight}" fill="{fill}">{escape(text)}</text>'


def store_of(folder: Path) -> Store:
    """The games with the owners of their points at the end."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert run(["import", str(GAMES), "--into", str(folder / "go.store"), "--ending", "counted"]) == 0
    return Store(folder / "go.store")


def go_boards(store: Store, game: int) -> str:
    session, owners = Session("gocnn"), owners_of(store)
    moves = int(store.plies[game])
    plies = np.array([round(share * moves) for share in MOMENTS])
    games = np.full(len(plies), game)
    codes, state = store.replay(games, plies)
    chances, colours = session.evaluate(codes, state)[OUTPUT], colours_of(codes)
    marks = measure(session, owners, Batch(codes, state, games, plies))
    parts = [str(board_defs([19]))]
    for i, ply in enumerate(plies.tolist()):
        size = int(state[i, SIZE])
        position = board(size, colours[i], chances[i], owners[game])
        last = to_gtp(int(store.moves[store.offsets[game] + ply - 1]), size)
        x = PAD + i * (SIDE + GAP)
        right = marks["right"][i] / marks["known"][i]
        parts.append(placed(board_svg(position, last), x, PAD, SIDE, SIDE))
        parts.append(written(x, PAD + SIDE + 30, f"After {ply} of {moves} moves", 20, weight=600))
        parts.append(written(x, PAD + SIDE + 56, f"{right:.0%} of the points right", 20))
    top = PAD + SIDE + 92
    for x, drawn, words in (
        (PAD, key("square"), "Squares: who will own the point, as gocnn expects (larger: more certain)"),
        (PAD + 740, key("cross"), "Red crosses: wrong, the other side owned it at the end"),
    ):
        parts += [f'<g transform="translate({x} {top - 14})">{drawn}</g>', written(x + 46, top, words, 18, QUIET)]
    return framed(2 * PAD + 3 * SIDE + 2 * GAP, top + 16, "".join(parts))


def key(what: str) -> str:
    """What the legend shows."""
    if what == "cross":
        return '<path d="M16 1l14 14m0-14l-14 14" fill="none" stroke="#d0321e" stroke-width="2.6"/>'
    return (
        '<rect width="15" height="15" fill="#17191c" stroke="#8b8f94"/>'
        '<rect x="20" width="15" height="15" fill="#fbfbf8" stroke="#767b80"/>'
    )


def two_games(store: Store, game: int) -> str:
    """What kibitz.show draws: of chess and of Go."""
    line = store.moves[store.offsets[game] : store.offsets[game + 1]]
    sgf = "".join(f";{'BW'[i % 2]}[{to_sgf(int(move))}]" for i, move in enumerate(line[:90]))
    shown = [kibitz.show(OPERA, "chessnet"), kibitz.show(f"(;GM[1]SZ[19]KM[6.5]{sgf})", "gocnn")]
    parts, x, tall = [], 0, 0
    for each in shown:
        wide, high = (int(each.svg.split(f'{name}="', 1)[1].split('"', 1)[0]) for name in ("width", "height"))
        parts.append(each.svg.replace('<svg xmlns="http://www.w3.org/2000/svg" ', f'<svg x="{x}" y="0" ', 1))
        x, tall = x + wide + PAD, max(tall, high)
    return framed(x - PAD, tall, "".join(parts))


SCENES = {"chess": ("/#network=human", 16), "go": ("/#game=go&network=gohuman", 120)}
"""Pictures of the page: its address, and the moves of its example that are made."""


PATIENCE = 600_000
"""Milliseconds that a search of a whole game may take."""


def opened(page: Page, address: str, ply: int) -> None:
    """The page's example after `ply` moves, once the page has shown everything about that position."""
    page.goto(address)
    expect(page.get_by_role("combobox", name="Network", exact=True)).to_be_enabled()
    page.get_by_role("button", name="Try an example").click()
    expect(page.get_by_role("button", name="Try an example")).to_be_hidden()
    for _ in range(ply):
        page.keyboard.press("ArrowRight")
    graph = page.locator("#graph").get_by_role("img", name="Graph")
    expect(graph).to_have_attribute("aria-label", re.compile(" evaluated"))
    expect(page.locator(".move-bars.valued .continued").first).to_be_visible()
    page.wait_for_timeout(15_000)  # the note about the opening disappears, and the search begins
    # In Go, a search checks only some moves, so the caption ends with a note about the others
    expect(page.locator(".graph-caption")).to_have_text(re.compile("^(gray: network only)?$"))


def of_the_page() -> None:
    expect.set_options(timeout=PATIENCE)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        command = [sys.executable, "-m", "kibitz", "board", "--no-browser", "--port", "8739"]
        board = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        assert board.stdout
        board.stdout.readline()
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        try:
            for name, (address, ply) in SCENES.items():
                page = browser.new_page(viewport={"width": 1366, "height": 768}, device_scale_factor=1.5)
                opened(page, f"http://127.0.0.1:8739{address}", ply)
                picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
                picture.save(DOCS / f"board-{name}.webp", quality=84, method=6)
                page.close()
        finally:
            browser.close()
            board.terminate()
            board.wait()


REPORT_SIZE = (1100, 1500)
"""Pixels of the report that are shown: its beginning, to the baselines."""


def of_a_report(report: Path) -> None:
    width, height = REPORT_SIZE
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        try:
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto(report.resolve().as_uri())
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            picture.save(DOCS / "result-page.png", optimize=True)
        finally:
            browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="pictures of the page")
    parser.add_argument("--report", type=Path, metavar="FILE", help="picture of the beginning of this report")
    asked = parser.parse_args()
    if asked.page:
        of_the_page()
        return
    if asked.report:
        of_a_report(asked.report)
        return
    with tempfile.TemporaryDirectory() as folder:
        store = store_of(Path(folder))
        (DOCS / "show.svg").write_text(two_games(store, GAME), encoding="utf-8")
        (DOCS / "go-boards.svg").write_text(go_boards(store, GAME), encoding="utf-8")


if __name__ == "__main__":
    main()
