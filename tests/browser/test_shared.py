"""The page of `kibitz export --web` in a real browser: a plain web server, no kibitz behind it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.conftest import watched
from kibitz.cli import run
from support.board_page import Desk, wait_for
from support.static_site import Site, served

GAME = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Bxc6 (4. Ba4 Nf6 {main} 5. O-O) dxc6 5. O-O Bg4 *"
MOVES = "e2e4 d7d5 e4e5 f7f5 e5f6 g8f6 g1f3 b8c6 f1b5 a7a6 e1g1 a6b5 f3e5 b5b4 c2c4 b4c3 b2c3"
PHONE = {"width": 390, "height": 844, "touch": True}
ASK = """async ([game, moves]) => {
  const found = [];
  await kibitz.analyse({ network: "", line: { game, moves }, from: 0, to: moves.length }, (each) => found.push(each));
  return found;
}"""


@pytest.fixture(scope="package")
def human_site(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[Site]:
    """`human` as a site."""
    folder = tmp_path_factory.mktemp("site") / "human"
    assert run(["export", "human", "--web", str(folder)]) == 0
    with served(folder) as site:
        yield site


@pytest.fixture
def look(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a site: look(site, width=…). All that it asks for and says is watched."""
    with ExitStack() as stack:

        def open_page(site: Site, before: str = "", **how: Any) -> Page:
            page, watch = stack.enter_context(watched(chromium, site, **how))
            page.watch = watch
            if before:
                page.add_init_script(before)
            page.goto("/")
            return page

        yield open_page


def ready(page: Page) -> Desk:
    """The page, once its network is loaded."""
    expect(page.locator("html")).to_have_attribute("data-network", "ready")
    return Desk(page)


def test_a_visitor_reads_a_game_and_plays_one_on_a_phone(human_site: Site, look: Callable[..., Page]) -> None:
    page = look(human_site, **PHONE)
    desk = ready(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("human")
    desk.opened(GAME, 10)
    assert desk.sans() == ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Bxc6", "Ba4", "Nf6", "O-O", "dxc6", "O-O", "Bg4"]
    desk.keys("End", "ArrowLeft")
    expect(page.locator(".next-move")).to_contain_text("Bg4")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # The rating is told to the network: its likely moves are those of such players.
    heads = page.locator(".bar-heads").first
    expect(heads).not_to_contain_text("2000")
    page.get_by_role("combobox", name="Rating").select_option("2000")
    expect(heads).to_contain_text("2000")
    # A game: the network answers, and the record is written without a server.
    page.get_by_role("button", name="New", exact=True).click()
    page.get_by_role("menuitem", name="Chess", exact=True).click()
    panel = desk.tab("Play")
    panel.get_by_role("button", name="New game", exact=True).click()
    page.locator(".typed input").fill("e4")
    page.locator(".typed input").press("Enter")
    desk.counts(2)
    written = desk.pgn()
    assert next(node.san() for node in written.mainline()) == "e4"
    assert "human" in written.headers["Black"]


def test_it_works_without_a_connection_after_the_first_visit(human_site: Site, look: Callable[..., Page]) -> None:
    page = look(human_site)
    ready(page)
    wait_for(page, "async () => (await navigator.serviceWorker.ready).active?.state === 'activated'")
    page.context.set_offline(True)
    page.reload()
    desk = ready(page)
    desk.opened(GAME, 10)


def test_it_answers_as_kibitz_does(human_site: Site, look: Callable[..., Page]) -> None:
    from kibitz.web.chess.answers import results
    from kibitz.web.chess.line import ChessLine, read_line
    from kibitz.web.networks import NetworkRegistry

    # Castling, and captures in passing by both sides.
    moves = MOVES.split()
    networks = NetworkRegistry(["human"])
    network = networks.known()[0]
    line = read_line({"moves": moves})
    assert isinstance(line, ChessLine)
    wanted = [each for batch in results(networks.session("human"), network, line, 0, len(moves)) for each in batch]
    page = look(human_site)
    ready(page)
    told = page.evaluate(ASK, ["chess", moves])
    assert len(told) == len(wanted) == len(moves) + 1
    for here, there in zip(told, wanted, strict=True):
        assert abs(here["white"] - there["white"]) < 0.005
        assert [each["move"] for each in here["moves"][:1]] == [each["move"] for each in there["moves"][:1]]
        chances = {each["move"]: each["p"] for each in there["moves"]}
        for each in here["moves"]:
            assert each["p"] == pytest.approx(chances.get(each["move"], each["p"]), abs=0.005)


@pytest.mark.parametrize(("fault", "said"), [("damaged", "model.onnx"), ("simd", "SIMD"), ("gone", "model.onnx")])
def test_what_is_wrong_is_said_in_one_line(
    fault: str, said: str, human_site: Site, look: Callable[..., Page], tmp_path: Path
) -> None:
    folder = tmp_path / "site"
    shutil.copytree(human_site.folder, folder)
    before = ""
    if fault == "damaged":
        content = bytearray((folder / "model.onnx").read_bytes())
        content[len(content) // 2] ^= 255
        (folder / "model.onnx").write_bytes(content)
    elif fault == "gone":
        (folder / "model.onnx").unlink()
    else:
        before = "WebAssembly.validate = () => false"
    with served(folder) as site:
        page = look(site, before)
        page.watch.allow("404")
        expect(page.locator("#status.problem")).to_contain_text(said)
        expect(page.locator("html")).not_to_have_attribute("data-network", "ready")
        # The rules work all the same.
        desk = Desk(page)
        desk.open(GAME)
        desk.counts(13)


def test_it_says_what_it_is(human_site: Site, look: Callable[..., Page]) -> None:
    page = look(human_site)
    ready(page)
    page.get_by_role("button", name="About").click()
    dialog = page.get_by_role("dialog", name="human")
    for word in ("human", "GPL", "kibitz"):
        expect(dialog).to_contain_text(word)
    card = json.loads((human_site.folder / "network.json").read_text(encoding="utf-8"))["card"]
    expect(dialog.locator("pre")).to_have_text(card)
