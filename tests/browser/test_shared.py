"""The page of `kibitz export --web` in a real browser: a plain web server, no kibitz behind it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

import kibitz
from browser.conftest import watched
from kibitz.cli import run
from kibitz.web.networks import NetworkRegistry
from kibitz.web.positions import read_line
from support.board_page import Desk, wait_for
from support.static_site import Site, served

GAME = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Bxc6 (4. Ba4 Nf6 {main} 5. O-O) dxc6 5. O-O Bg4 *"
MOVES = "e2e4 d7d5 e4e5 f7f5 e5f6 g8f6 g1f3 b8c6 f1b5 a7a6 e1g1 a6b5 f3e5 b5b4 c2c4 b4c3 b2c3"
PHONE = {"width": 390, "height": 844, "touch": True}
STONES = "E5 E6 D6 D5 C5 E4 D4 F5 J9 D5 J1 J8 E5"
"""The game has captures and a ko fight."""
COUNTED = "(;SZ[9]KM[7]{})".format("".join(f";B[e{row}];W[f{row}]" for row in "abcdefghi") + ";B[he];W[];B[];W[]")
ASK = """async (line) => {
  const found = [];
  await kibitz.analyse({ network: "", line, from: 0, to: line.moves.length }, (each) => found.push(each));
  return found;
}"""


@pytest.fixture(scope="module")
def site_of(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[Callable[[str], Site]]:
    """A network as a site, which is made once: site_of("human")."""
    folder = tmp_path_factory.mktemp("sites")
    with ExitStack() as stack:

        @cache
        def made(network: str) -> Site:
            assert run(["export", network, "--web", str(folder / network)]) == 0
            return stack.enter_context(served(folder / network))

        yield made


@pytest.fixture
def human_site(site_of: Callable[[str], Site]) -> Site:
    return site_of("human")


@pytest.fixture
def look(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a site: look(site, width=…). A request to another host or an error in the console fails the test."""
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
    """Waits until the page has loaded its network."""
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
    # The network predicts the moves of players of the chosen rating.
    heads = page.locator(".bar-heads").first
    expect(heads).not_to_contain_text("2000")
    page.get_by_role("combobox", name="Rating").select_option("2000")
    expect(heads).to_contain_text("2000")
    # The visitor plays a game. The network replies, and the page writes the PGN without a server.
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


def answers_as_kibitz_does(page: Page, network: str, line: dict[str, Any]) -> None:
    """The page's values of all positions of a line are those of `kibitz board`."""
    networks = NetworkRegistry([network])
    known = networks.known()[0]
    last = len(line["moves"])
    wanted = [
        each for batch in read_line({"line": line}).results(networks.session(network), known, 0, last) for each in batch
    ]
    told = page.evaluate(ASK, line)
    assert len(told) == len(wanted) == last + 1
    for here, there in zip(told, wanted, strict=True):
        for name, close in (("white", 0.005), ("black", 0.005), ("score", 0.05), ("owners", 0.005), ("origin", 0.005)):
            if there.get(name) is not None:
                assert here[name] == pytest.approx(there[name], abs=close), (here["ply"], name)
        assert [each["move"] for each in (here["moves"] or [])[:1]] == [
            each["move"] for each in (there["moves"] or [])[:1]
        ]
        chances = {each["move"]: each["p"] for each in there["moves"] or []}
        for each in here["moves"] or []:
            assert each["p"] == pytest.approx(chances.get(each["move"], each["p"]), abs=0.005)
        assert [each["rating"] for each in here.get("by_rating", [])] == [
            each["rating"] for each in there.get("by_rating", [])
        ]
        assert here.get("rating") == there.get("rating")


def test_a_network_of_chess_answers_looks_ahead_and_needs_no_connection(
    human_site: Site, look: Callable[..., Page]
) -> None:
    page = look(human_site)
    desk = ready(page)
    # The first screen loads little besides the runtime.
    names = page.evaluate("performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)")
    runtime = [name for name in names if name.endswith(".wasm") or "/ort." in name or name.endswith("model.onnx")]
    assert any(name.endswith(".wasm") for name in runtime)
    loaded = {"/index.html", *(name for name in names if name.startswith("/assets/"))} - set(runtime)
    assert any("worker" in name for name in loaded)
    size = sum((human_site.folder / name.lstrip("/")).stat().st_size for name in loaded)
    assert 200_000 < size <= 300_000, size
    # It says what it is.
    page.get_by_role("button", name="About").click()
    dialog = page.get_by_role("dialog", name="human")
    for word in ("human", "GPL", "kibitz"):
        expect(dialog).to_contain_text(word)
    card = json.loads((human_site.folder / "network.json").read_text(encoding="utf-8"))["card"]
    expect(dialog.locator("pre")).to_have_text(card)
    desk.keys("Escape")
    answers_as_kibitz_does(page, "human", {"game": "chess", "moves": MOVES.split(), "ratings": [1500, 1900]})
    panel = desk.tab("Play")
    panel.get_by_label("You play").select_option("b")
    panel.get_by_label("Level").select_option(label="Looks ahead, up to 1 s")
    panel.get_by_role("button", name="New game", exact=True).click()
    # The network has White and moves first.
    desk.counts(1)
    page.locator(".typed input").fill("e5")
    page.locator(".typed input").press("Enter")
    desk.counts(3)
    # White mates with the rook.
    move = page.evaluate(
        "async () => (await kibitz.think({ line: { game: 'chess', fen: '6k1/5ppp/8/8/8/7P/5PP1/R5K1 w - - 0 1',"
        " moves: [] }, method: 'short-puct' }, () => undefined)).move"
    )
    assert move == "a1a8"
    # After the first visit it works without a connection.
    wait_for(page, "async () => (await navigator.serviceWorker.ready).active?.state === 'activated'")
    page.context.set_offline(True)
    page.goto("about:blank")
    page.goto("/")
    ready(page).opened("1. e4 e5 2. Nf3 *", 3)


def test_other_networks_answer_as_kibitz_does(site_of: Callable[[str], Site], look: Callable[..., Page]) -> None:
    for network, line in (
        ("winner", {"game": "chess", "moves": MOVES.split()}),
        ("convchess", {"game": "chess", "moves": MOVES.split()}),
        ("gocnn", {"game": "go", "moves": STONES.split()}),
    ):
        page = look(site_of(network))
        desk = ready(page)
        answers_as_kibitz_does(page, network, line)
        if network == "gocnn":
            panel = desk.tab("Play")
            expect(panel).to_contain_text("gocnn predicts territory, not moves, so it cannot play.")
            expect(panel.get_by_role("button", name="New game", exact=True)).to_be_hidden()


def test_a_network_of_go_answers_imitates_ranks_and_counts_on_a_phone(
    site_of: Callable[[str], Site], look: Callable[..., Page]
) -> None:
    network = kibitz.load_network("gohuman")
    stones = ["E5", "E3", "C4", "G3", "F7"]
    wanted = {
        (rank, count): network.choose_move(
            kibitz.make_go_board(stones[:count], size=9), rank=rank, temperature=0, komi=6.5
        ).vertex
        for rank in ("15k", "5k", "9d")
        for count in range(1, len(stones) + 1)
    }
    assert any(wanted["15k", count] != wanted["9d", count] for count in range(1, len(stones) + 1))
    page = look(site_of("gohuman"), **PHONE)
    desk = ready(page)
    small = {"game": "go", "size": 9, "komi": 6.5, "rules": "japanese", "moves": STONES.split()}
    set_up = {"game": "go", "size": 19, "setup": {"B": ["Q16", "D4"], "W": []}, "side": "w", "moves": ["D16", "Q3"]}
    for line in (small, set_up):
        answers_as_kibitz_does(page, "gohuman", line)
    for (rank, count), move in wanted.items():
        line = {"game": "go", "size": 9, "komi": 6.5, "rules": "chinese", "moves": stones[:count]}
        told = page.evaluate(
            "async ([line, rank]) => (await kibitz.think({ line, rank, temperature: 0 }, () => undefined)).move",
            [line, rank],
        )
        assert told == move, (rank, count)
    desk.new("Go, 9 × 9")
    panel = desk.tab("Play")
    panel.get_by_label("Level").select_option(label="Plays like a 5 kyu player")
    expect(panel).to_contain_text("Its strength is not measured.")
    panel.get_by_role("button", name="New game", exact=True).click()
    page.locator(".typed input").fill("E5")
    page.locator(".typed input").press("Enter")
    desk.counts(2)
    desk.resign()
    # The last game is finished. Each side has a living wall, and one stone of Black is dead.
    desk.open(COUNTED)
    desk.keys("End")
    expect(page.locator(".go-count")).to_contain_text("45")
    assert "(;" in desk.copied("SGF")


def test_what_is_wrong_is_said_in_one_line(human_site: Site, look: Callable[..., Page], tmp_path: Path) -> None:
    for fault, said in (("damaged", "model.onnx"), ("simd", "SIMD"), ("gone", "model.onnx")):
        folder = tmp_path / fault
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
            page.watch.allow("404")  # type: ignore[attr-defined]
            expect(page.locator("#status.problem")).to_contain_text(said)
            expect(page.locator("html")).not_to_have_attribute("data-network", "ready")
            # The page still opens a game, because it needs no network for that.
            desk = Desk(page)
            desk.open(GAME)
            desk.counts(13)
