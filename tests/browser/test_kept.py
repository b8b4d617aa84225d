"""Nothing is lost: undo, edits of the tree, earlier games, files, reloads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import chess
import chess.pgn
from playwright.sync_api import Page, expect

from support.board_page import Desk, serious, wait_for

TREE = "1. e4 e5 (1... c5 2. Nf3 (2. c3 d5) 2... d6) 2. Nf3 Nc6 *"
ONLINE = """[White "Ann"]
[Black "Bo"]

1. e4 { [%eval 0.38] [%clk 0:05:03] } 1... e5 { [%eval 0.31] [%clk 0:05:01] } 2. Nf3 { [%clk 0:04:58] } 2... Nc6
{ [%csl Gd4,Rb1][%cal Ye2e4] well known [%clk 0:04:55] } 3. Bb5 { the Spanish } 3... a6 *
"""


def sans_of(nodes: Iterable[chess.pgn.ChildNode]) -> list[str]:
    return [node.san() for node in nodes]


def test_edits_comments_and_signs_are_undone_and_redone(desk: Desk) -> None:
    desk.open(TREE)
    desk.counts(9)
    before = desk.sans()
    desk.keys("End")
    desk.drag("f1", "b5")
    desk.after("Bb5")
    desk.keys("Control+z")
    desk.after("Nc6")
    assert desk.sans() == before
    desk.keys("Control+Shift+Z")
    desk.after("Bb5")
    desk.keys("Control+z")
    desk.move_menu("c5", "Delete")
    desk.counts(4)
    desk.menu("Undo")
    desk.counts(9)
    desk.keys("Control+y")
    desk.counts(4)
    desk.keys("Control+z")
    desk.counts(9)
    desk.move_menu("d5", "Promote")
    assert sans_of(desk.pgn().variation(0).variation(1).variations) == ["c3", "Nf3"]
    desk.move_menu("d5", "main line")
    assert sans_of(desk.pgn().mainline()) == ["e4", "c5", "c3", "d5"]
    with desk.copying() as line:
        desk.move_menu("d5", "Copy line")
    assert line == ["1. e4 c5 2. c3 d5"]
    desk.keys("Control+z", "Control+z")
    assert desk.sans() == before
    desk.open("1. e4 e5 (1... c5) 2. Nf3 Nc6 *")
    desk.move_menu("Nf3", "Add comment")
    dialog = desk.page.get_by_role("dialog", name="Comment")
    assert serious(desk.page) == []
    dialog.get_by_role("textbox").fill("develops\nand attacks")
    dialog.get_by_role("button", name="Save").click()
    expect(desk.moves.locator("p.comment")).to_contain_text("develops")
    desk.moves.get_by_role("button", name="Nc6", exact=True).click()
    # The keyboard's way: the menu of the move that has the focus.
    desk.moves.get_by_role("button", name="Nc6", exact=True).focus()
    desk.keys("Shift+F10")
    opened = desk.page.get_by_role("menu", name="2… Nc6")
    expect(opened.get_by_role("menuitemradio", name="!! brilliant")).to_be_focused()
    assert serious(desk.page) == []
    desk.keys("ArrowDown", "Enter")
    expect(desk.moves.get_by_role("button", name="Nc6!", exact=True)).to_be_focused()
    desk.keys("e")
    opened.get_by_role("menuitemradio", name="?? blunder").click()
    expect(desk.moves.get_by_role("button", name="Nc6??", exact=True)).to_be_visible()
    game = desk.pgn()
    assert game.end().nags == {4}
    assert [node.comment for node in game.mainline()][2] == "develops and attacks"
    desk.keys("Control+z", "Control+z", "Control+z")
    expect(desk.moves.locator("p.comment")).to_have_count(0)
    assert desk.pgn().end().nags == set()


def test_an_earlier_game_comes_back(desk: Desk) -> None:
    desk.drag("e2", "e4")
    desk.after("e4")
    desk.drag("c7", "c5")
    desk.after("c5")
    desk.open("1. d4 d5 *")
    expect(desk.status).to_contain_text("Earlier games")
    desk.new("Chess")
    desk.counts(0)
    desk.menu("Earlier games")
    games = desk.page.get_by_role("dialog", name="Earlier games")
    entries = games.get_by_role("listitem")
    expect(entries).to_have_count(1)  # the other game was not changed
    expect(entries).to_contain_text("1. e4 c5")
    assert serious(desk.page) == []
    entries.get_by_role("button").first.click()
    desk.after("c5")
    assert desk.sans() == ["e4", "c5"]
    desk.drag("g1", "f3")
    desk.after("Nf3")
    desk.open("1. d4 d5 *")
    desk.menu("Earlier games")
    expect(entries).to_contain_text(["2. Nf3"])  # one game, not two
    games.get_by_role("button", name="Delete").click()
    expect(entries).to_have_count(0)


KEPT = """async (san) => {
    if (!(await indexedDB.databases()).some((each) => each.name === "kibitz")) return false;  // not made yet
    const open = indexedDB.open("kibitz");
    const database = await new Promise((done) => (open.onsuccess = () => done(open.result)));
    const all = database.transaction("games").objectStore("games").getAll();
    const games = await new Promise((done) => (all.onsuccess = () => done(all.result)));
    database.close();
    return games.some((each) => each.nodes.some((node) => node.san === san));
}"""


def test_a_game_outlives_reload_and_crash_and_is_in_its_address(desk: Desk, visit: Callable[..., Page]) -> None:
    page = desk.page
    desk.open(ONLINE)
    desk.move_menu("Nf3", "Add comment")
    dialog = page.get_by_role("dialog", name="Comment")
    dialog.get_by_role("textbox").fill("two\nlines")
    dialog.get_by_role("button", name="Save").click()
    desk.keys("End")
    desk.drag("b5", "c6")
    desk.after("Bxc6")
    desk.counts(7)
    wait_for(page, KEPT, "Bxc6")
    expect(page).to_have_url(re.compile("b5c6"))
    page.reload()
    desk.ready().after("Bxc6")
    expect(desk.moves.locator("p.comment").first).to_have_text("Nf3 two\nlines")
    expect(desk.moves.locator(".move-time").first).to_have_text("5:03")
    # A browser that has forgotten the tab, and opens its address.
    other = page.context.new_page()
    other.goto(page.url)
    second = Desk(other).ready()
    second.after("Bxc6")
    expect(second.moves.locator("p.comment").first).to_have_text("Nf3 two\nlines")
    expect(other).to_have_title(re.compile("Ann – Bo"))
    other.close()
    page.bring_to_front()
    # Another browser, which has only what the address says.
    board = chess.Board()
    for san in ("e4", "e5", "Nf3"):
        board.push_san(san)
    desk.keys("Home", "ArrowRight", "ArrowRight", "ArrowRight")
    desk.after("Nf3")
    assert chess.Board(desk.copied("FEN")) == board
    address = desk.copied("Link")
    assert "fen" not in address
    third = Desk(visit(address[address.index("/#") :])).ready()
    third.after("Nf3")
    expect(third.page).to_have_title(re.compile("Ann – Bo"))
    third.keys("End")
    third.after("Bxc6")


def test_records_are_shown_and_written_whole(desk: Desk, tmp_path: Path) -> None:
    """Clocks, evaluations and drawings are no comments; files are written; an SGF keeps what the page does not show."""
    desk.open(ONLINE)
    expect(desk.moves.locator(".row")).to_have_count(3)
    expect(desk.moves.locator("p.comment")).to_have_text(["well known", "Bb5 the Spanish"])
    expect(desk.moves.locator(".move-time")).to_have_text(["5:03", "5:01", "4:58", "4:55"])
    expect(desk.moves.get_by_role("button", name="e4", exact=True)).to_have_attribute("title", re.compile("0.38"))
    desk.keys("h", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight")  # without the network's arrows
    desk.after("Nc6")
    expect(desk.page.locator("#board .cg-shapes circle")).to_have_count(2)
    expect(desk.page.locator("#board .cg-shapes line")).to_have_count(1)
    expect(desk.page.locator("#player-below .clock")).to_have_text("4:58")
    expect(desk.page.locator("#player-above .clock")).to_have_text("4:55")
    comments = [node.comment for node in desk.pgn().mainline()]
    assert comments[0] == "[%eval 0.38] [%clk 0:05:03]"
    for part in ("[%csl Gd4,Rb1]", "[%cal Ye2e4]", "well known", "[%clk 0:04:55]"):
        assert part in comments[3]
    # Drawings of one's own stay with their position.
    desk.new("Chess")
    desk.counts(0)
    desk.drag("e2", "e4")
    desk.after("e4")
    mouse = desk.page.mouse
    shapes = desk.page.locator("#board .cg-shapes :is(line, circle)")
    for count, (start, end) in enumerate((("g1", "f3"), ("d4", "d4")), 1):
        mouse.move(*desk.square(start))
        mouse.down(button="right")
        mouse.move(*desk.square(end))
        expect(shapes).to_have_count(count)  # it follows the pointer
        mouse.up(button="right")
    expect(shapes).to_have_count(2)
    desk.keys("ArrowLeft")
    expect(shapes).to_have_count(0)
    desk.keys("ArrowRight")
    expect(shapes).to_have_count(2)
    desk.click("e5")  # a click does not take them away
    expect(shapes).to_have_count(2)
    assert desk.pgn().end().comment == "[%csl Gd4] [%cal Gg1f3]"
    desk.keys("Control+z")
    expect(shapes).to_have_count(1)
    desk.move_menu("e4", "Remove drawings")
    expect(shapes).to_have_count(0)
    desk.keys("h")
    page = desk.page
    page.evaluate("delete window.showSaveFilePicker")
    desk.open(ONLINE)
    desk.keys("End")
    desk.drag("b5", "c6")
    desk.after("Bxc6")
    with page.expect_download() as downloading:
        desk.keys("Control+s")
    assert downloading.value.suggested_filename == "Ann - Bo.pgn"
    downloading.value.save_as(tmp_path / "game.pgn")
    text = (tmp_path / "game.pgn").read_text(encoding="utf-8")
    assert "Bxc6" in text
    assert "[%clk 0:04:58]" in text
    expect(desk.status).to_contain_text("Ann - Bo.pgn")
    # Where the browser can write files: asked once, and then written again.
    page.evaluate(
        """() => {
            window.written = [];
            const stream = { write: async (text) => void written.push(text), close: async () => undefined };
            window.showSaveFilePicker = async ({ suggestedName }) => {
                written.push(suggestedName);
                return { name: "mine.pgn", createWritable: async () => stream };
            };
        }"""
    )

    def written(count: int) -> list[str]:
        page.wait_for_function("(count) => written.length === count", arg=count)
        return list(page.evaluate("written"))

    desk.menu("Save to a file")
    expect(desk.status).to_contain_text("mine.pgn")
    desk.keys("Control+s")
    found = written(3)
    assert found[0] == "Ann - Bo.pgn"
    assert "Bxc6" in found[2]
    # Another game that was set up is not written over it; the game itself is, once it is back.
    desk.menu("Set up a position")
    page.get_by_role("dialog", name="Set up a position").get_by_role("button", name="Use this position").click()
    desk.counts(0)
    desk.keys("Control+s")
    assert written(5)[3] == "game.pgn"
    desk.keys("Control+z")
    desk.after("Bxc6")
    desk.keys("Control+s")
    assert "Bxc6" in written(6)[5]
    marks = "LB[aa:A][ee:1]TR[bb]SQ[cc:dd]MA[gg]CR[hh]"
    desk.open(f"(;GM[1]SZ[9]TC[3]N[start]PB[Ann]PW[Bo]C[begin];B[ee]{marks};W[ec]XX[y](;B[gg];W[cc])(;B[dd]))")
    expect(desk.network).to_have_value("gohuman")
    expect(desk.page.locator("#title")).to_contain_text("Ann – Bo")
    expect(desk.page.locator("#title .problems")).to_be_hidden()
    desk.analysed(4)
    desk.keys("ArrowRight")
    desk.after("E5", "go")
    drawn = desk.page.locator("#board .markup")
    expect(drawn.locator("text")).to_have_text(["A", "1"])
    expect(drawn.locator("path")).to_have_count(7)
    saved = desk.copied("SGF")
    for part in (marks, "TC[3]N[start]", "XX[y]", "PB[Ann]", "C[begin]", "(;B[dd]"):
        assert part in saved.replace("\n", "")
    assert "KM[" not in saved
    assert "RU[" not in saved
    desk.keys("ArrowRight")
    expect(drawn.locator("path")).to_have_count(0)
    desk.moves.get_by_role("button", name="D6").click()
    desk.after("D6", "go")


def many(count: int) -> str:
    return "\n".join(
        f'[Event "Open {i % 7}"]\n[White "Player {i}"]\n[Black "Bo"]\n[Date "{2000 + i % 10}.01.01"]\n'
        f'[Result "{("*", "1-0", "1/2-1/2", "0-1")[i % 4]}"]\n[WhiteElo "{1000 + i % 1700}"]\n\n'
        '1. e4 {[Event "no"]\n[White "x"]} e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 *\n'
        for i in range(count)
    )


def test_a_file_of_many_games(desk: Desk) -> None:
    """Larger than the server takes: only the game that is shown is sent."""
    sent = list[int]()
    desk.page.on("request", lambda asked: asked.url.endswith("/api/load") and sent.append(len(asked.post_data or "")))
    filler = " {" + "x" * 800 + "}"
    desk.drop(many(10_000).replace(" *\n", f"{filler} *\n"), "many.pgn")
    expect(desk.page.locator("#title")).to_contain_text("Player 0 – Bo")
    desk.page.get_by_role("button", name="10,000").click()
    dialog = desk.page.get_by_role("dialog", name="Games")
    found = dialog.get_by_role("status")
    expect(found).to_contain_text("10,000")
    dialog.get_by_role("combobox", name="Result").select_option("1")
    expect(found).to_contain_text("2,500")
    dialog.get_by_role("spinbutton", name="From").fill("2005")
    dialog.get_by_role("combobox", name="Ratings").select_option("2600-")
    strong = sum(i % 4 == 1 and i % 10 >= 5 and i % 1700 >= 1600 for i in range(10_000))
    expect(found).to_contain_text(re.compile(rf"\b{strong}\b"))
    dialog.get_by_role("spinbutton", name="From").fill("")
    for name in ("Result", "Ratings"):
        dialog.get_by_role("combobox", name=name).select_option("")
    dialog.get_by_role("searchbox").fill("player 9876 open")
    expect(dialog.get_by_role("listitem")).to_have_count(1)
    assert serious(desk.page) == []
    desk.keys("Enter")
    expect(desk.page.locator("#title")).to_contain_text("Player 9876 – Bo")
    desk.page.get_by_role("button", name="Next game").click()
    expect(desk.page.locator("#title")).to_contain_text("Player 9877 – Bo")
    assert len(sent) == 3
    assert max(sent) < 10_000
