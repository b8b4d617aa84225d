"""Nothing is lost: undo, edits of the tree, earlier games, files; and records as other programs write them."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import chess.pgn
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from support.board_client import until
from support.board_page import Desk

TREE = "1. e4 e5 (1... c5 2. Nf3 (2. c3 d5) 2... d6) 2. Nf3 Nc6 *"
ONLINE = """[White "Ann"]
[Black "Bo"]

1. e4 { [%eval 0.38] [%clk 0:05:03] } 1... e5 { [%eval 0.31] [%clk 0:05:01] } 2. Nf3 { [%clk 0:04:58] } 2... Nc6
{ [%csl Gd4,Rb1][%cal Ye2e4] well known [%clk 0:04:55] } 3. Bb5 { the Spanish } 3... a6 *
"""


@pytest.fixture
def desk(page: Page) -> Desk:
    return Desk(page).ready()


def sans(desk: Desk) -> list[str]:
    """The moves in the list, in its order."""
    return desk.moves.locator("button.move").all_inner_texts()


def pgn(desk: Desk) -> chess.pgn.Game:
    game = chess.pgn.read_game(io.StringIO(desk.copied("Game as PGN")))
    assert game
    assert not game.errors
    return game


def menu(desk: Desk, entry: str) -> None:
    desk.page.get_by_role("button", name="Game", exact=True).click()
    desk.page.get_by_role("menuitem", name=entry).click()


def move_menu(desk: Desk, move: str, entry: str) -> None:
    desk.moves.get_by_role("button", name=move, exact=True).click(button="right")
    desk.page.get_by_role("menuitem", name=entry).click()


def test_clocks_and_evaluations_are_no_comments(desk: Desk) -> None:
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
    comments = [node.comment for node in pgn(desk).mainline()]
    assert comments[0] == "[%eval 0.38] [%clk 0:05:03]"
    for part in ("[%csl Gd4,Rb1]", "[%cal Ye2e4]", "well known", "[%clk 0:04:55]"):
        assert part in comments[3]


def test_other_spellings_and_null_moves(desk: Desk) -> None:
    desk.open("1. e4 e5 2. Sf3 -- 3. Lb5 *")
    expect(desk.moves.locator("button.move")).to_have_text(["e4", "e5", "Nf3", "--", "Bb5"])
    desk.analysed(5)
    desk.keys("End")
    desk.after("Bb5")
    box = desk.page.get_by_role("textbox", name="Type a move")
    for typed, san in (("Sc6", "Nc6"), ("/♘c3", "Nc3")):
        desk.keys("/")
        for letter in typed:
            box.press_sequentially(letter)
        box.press("Enter")
        desk.after(san)


def test_every_change_is_taken_back_and_made_again(desk: Desk) -> None:
    desk.open(TREE)
    expect(desk.moves.locator("button.move")).to_have_count(9)
    before = sans(desk)
    desk.keys("End")
    desk.drag("f1", "b5")
    desk.after("Bb5")
    desk.keys("Control+z")
    desk.after("Nc6")
    assert sans(desk) == before
    desk.keys("Control+Shift+Z")
    desk.after("Bb5")
    desk.keys("Control+z", "Control+z")
    expect(desk.status).to_have_text("There is nothing to take back.")
    move_menu(desk, "c5", "Delete from here")
    expect(desk.moves.locator("button.move")).to_have_count(4)
    desk.keys("Control+z")
    expect(desk.moves.locator("button.move")).to_have_count(9)
    assert sans(desk) == before
    desk.keys("Control+y")
    expect(desk.moves.locator("button.move")).to_have_count(4)
    menu(desk, "Undo")
    assert sans(desk) == before


def sans_of(nodes: Iterable[chess.pgn.ChildNode]) -> list[str]:
    return [node.san() for node in nodes]


def test_a_variation_is_promoted_and_made_the_main_line(desk: Desk) -> None:
    desk.open(TREE)
    move_menu(desk, "d5", "Promote variation")
    until(lambda: sans_of(pgn(desk).variation(0).variation(1).variations) == ["c3", "Nf3"])
    move_menu(desk, "d5", "Make main line")
    until(lambda: sans_of(pgn(desk).mainline()) == ["e4", "c5", "c3", "d5"])
    desk.keys("Control+z", "Control+z")
    until(lambda: sans_of(pgn(desk).mainline()) == ["e4", "e5", "Nf3", "Nc6"])
    move_menu(desk, "d5", "Copy line")
    expect(desk.status).to_have_text("Line copied.")
    assert desk.page.evaluate("navigator.clipboard.readText()") == "1. e4 c5 2. c3 d5"


def test_comments_and_signs(desk: Desk) -> None:
    desk.open("1. e4 e5 (1... c5) 2. Nf3 Nc6 *")
    move_menu(desk, "Nf3", "Add comment")
    dialog = desk.page.get_by_role("dialog", name="Comment")
    dialog.get_by_role("textbox").fill("develops\nand attacks")
    dialog.get_by_role("button", name="Save").click()
    expect(desk.moves.locator("p.comment")).to_contain_text("develops")
    desk.moves.get_by_role("button", name="Nc6", exact=True).click()
    # The keyboard's way: the menu of the move that has the focus.
    desk.moves.get_by_role("button", name="Nc6", exact=True).focus()
    desk.keys("Shift+F10")
    opened = desk.page.get_by_role("menu", name="2… Nc6")
    expect(opened.get_by_role("menuitemradio", name="!! brilliant move")).to_be_focused()
    found = Axe().run(desk.page).response["violations"]
    assert not [each["id"] for each in found if each["impact"] in ("serious", "critical")]
    desk.keys("ArrowDown", "Enter")
    expect(desk.moves.get_by_role("button", name="Nc6!", exact=True)).to_be_focused()
    desk.keys("e")
    opened = desk.page.get_by_role("menu", name="2… Nc6")
    opened.get_by_role("menuitemradio", name="?? blunder").click()
    expect(desk.moves.get_by_role("button", name="Nc6??", exact=True)).to_be_visible()
    game = pgn(desk)
    assert game.end().nags == {4}
    assert [node.comment for node in game.mainline()][2] == "develops and attacks"
    desk.keys("Control+z", "Control+z", "Control+z")
    assert pgn(desk).end().nags == set()
    expect(desk.moves.locator("p.comment")).to_have_count(0)


def test_drawings_stay_with_their_position(desk: Desk) -> None:
    desk.keys("h")  # without the network's arrows
    desk.drag("e2", "e4")
    desk.after("e4")
    mouse = desk.page.mouse
    for start, end in (("g1", "f3"), ("d4", "d4")):
        mouse.move(*desk.square(start))
        mouse.down(button="right")
        mouse.move(*desk.square(end))
        # The drawing follows the pointer once a frame.
        desk.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        mouse.up(button="right")
    shapes = desk.page.locator("#board .cg-shapes :is(line, circle)")
    expect(shapes).to_have_count(2)
    desk.keys("ArrowLeft")
    expect(shapes).to_have_count(0)
    desk.keys("ArrowRight")
    expect(shapes).to_have_count(2)
    desk.click("e5")  # a click does not take them away
    expect(shapes).to_have_count(2)
    assert pgn(desk).end().comment == "[%csl Gd4] [%cal Gg1f3]"
    desk.keys("Control+z")
    expect(shapes).to_have_count(1)
    move_menu(desk, "e4", "Remove drawings")
    expect(shapes).to_have_count(0)


def test_an_earlier_game_comes_back(desk: Desk) -> None:
    desk.drag("e2", "e4")
    desk.after("e4")
    desk.drag("c7", "c5")
    desk.after("c5")
    desk.open("1. d4 d5 *")
    expect(desk.status).to_contain_text("Earlier games")
    desk.page.get_by_role("button", name="New", exact=True).click()
    desk.page.get_by_role("menuitem", name="Chess", exact=True).click()
    expect(desk.moves.locator("button.move")).to_have_count(0)
    menu(desk, "Earlier games")
    games = desk.page.get_by_role("dialog", name="Earlier games")
    entries = games.get_by_role("listitem")
    expect(entries).to_have_count(1)  # the other game was not changed
    expect(entries).to_contain_text("1. e4 c5 (2 moves)")
    found = Axe().run(desk.page).response["violations"]
    assert not [each["id"] for each in found if each["impact"] in ("serious", "critical")]
    entries.get_by_role("button").first.click()
    desk.after("c5")
    assert sans(desk) == ["e4", "c5"]
    desk.drag("g1", "f3")
    desk.after("Nf3")
    desk.open("1. d4 d5 *")
    menu(desk, "Earlier games")
    expect(entries).to_contain_text(["2. Nf3"])  # one game, not two
    games.get_by_role("button", name="Delete").click()
    expect(games).to_contain_text("None yet.")


def test_a_position_with_words_and_no_moves_is_kept(desk: Desk) -> None:
    """A problem of Go that was set up, with a letter: through the other game, a reload and another board."""
    page = desk.page
    page.get_by_role("button", name="New", exact=True).click()
    page.get_by_role("menuitem", name="Go, 9 × 9").click()
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_role("radio", name="Black stone", exact=True).click()
    stones = page.locator("#board svg.go .stones circle.black")
    for count, point in enumerate(("C3", "G7"), 1):
        page.mouse.click(*desk.point(point))
        expect(stones).to_have_count(count)
    page.get_by_role("radio", name="Letter", exact=True).click()
    page.mouse.click(*desk.point("E5"))
    marks = page.locator("#board svg.go .markup > *")
    expect(marks).to_have_count(1)
    desk.network.select_option("chessnet")
    expect(desk.board()).to_be_visible()
    desk.network.select_option("gohuman")
    expect(stones).to_have_count(2)
    expect(marks).to_have_count(1)
    expect(page).to_have_url(re.compile("black=C3.G7|black=G7.C3"))
    page.reload()
    desk.ready()
    expect(stones).to_have_count(2)
    expect(marks).to_have_count(1)
    desk.open("1. d4 d5 *")
    menu(desk, "Earlier games")
    entries = page.get_by_role("dialog", name="Earlier games").get_by_role("listitem")
    expect(entries).to_have_count(1)
    entries.get_by_role("button").first.click()
    expect(stones).to_have_count(2)
    expect(marks).to_have_count(1)


def test_a_game_outlives_reload_and_crash(desk: Desk) -> None:
    page = desk.page
    desk.open(ONLINE)
    move_menu(desk, "Nf3", "Add comment")
    dialog = page.get_by_role("dialog", name="Comment")
    dialog.get_by_role("textbox").fill("two\nlines")
    dialog.get_by_role("button", name="Save").click()
    desk.keys("End")
    desk.drag("b5", "c6")
    desk.after("Bxc6")
    kept = """async () => {
        if (!(await indexedDB.databases()).some((each) => each.name === "kibitz")) return false;  // not made yet
        const open = indexedDB.open("kibitz");
        const database = await new Promise((done) => (open.onsuccess = () => done(open.result)));
        const all = database.transaction("games").objectStore("games").getAll();
        const games = await new Promise((done) => (all.onsuccess = () => done(all.result)));
        database.close();
        return games.some((each) => each.nodes.some((node) => node.san === "Bxc6"));
    }"""
    page.wait_for_function(kept)
    expect(page).to_have_url(re.compile("b5c6"))
    page.reload()
    desk.ready().after("Bxc6")
    expect(desk.moves.locator("p.comment").first).to_have_text("Nf3 two\nlines")
    expect(desk.moves.locator(".move-time").first).to_have_text("5:03")
    # A browser that has forgotten the tab, and opens its address.
    address = page.url
    other = page.context.new_page()
    other.goto(address)
    second = Desk(other).ready()
    second.after("Bxc6")
    expect(second.moves.locator("p.comment").first).to_have_text("Nf3 two\nlines")
    expect(other).to_have_title("Ann – Bo – kibitz")


def test_saving_to_a_file(desk: Desk, tmp_path: Path) -> None:
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
    expect(desk.status).to_have_text("Saved: Ann - Bo.pgn.")
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
    menu(desk, "Save to a file")
    expect(desk.status).to_have_text("Saved: mine.pgn.")
    desk.keys("Control+s")
    page.wait_for_function("() => written.length === 3")
    written = page.evaluate("written")
    assert written[0] == "Ann - Bo.pgn"
    assert "Bxc6" in written[2]
    # Another game that was set up is not written over it; the game itself is, once it is back.
    menu(desk, "Set up a position")
    page.get_by_role("dialog", name="Set up a position").get_by_role("button", name="Use this position").click()
    expect(desk.status).to_have_text("Position set up.")
    desk.keys("Control+s")
    page.wait_for_function("() => written.length === 5")
    assert page.evaluate("written[3]") == "game.pgn"
    desk.keys("Control+z")
    desk.after("Bxc6")
    desk.keys("Control+s")
    page.wait_for_function("() => written.length === 6")
    assert "Bxc6" in page.evaluate("written[5]")


def test_marks_of_an_sgf_are_shown_and_kept(desk: Desk) -> None:
    marks = "LB[aa:A][ee:1]TR[bb]SQ[cc:dd]MA[gg]CR[hh]"
    desk.open(f"(;GM[1]SZ[9]TC[3]N[start];B[ee]{marks};W[ec]XX[y])")
    desk.keys("ArrowRight")
    desk.after("E5", "go")
    drawn = desk.page.locator("#board .markup")
    expect(drawn.locator("text")).to_have_text(["A", "1"])
    expect(drawn.locator("path")).to_have_count(7)
    expect(desk.page.locator("#title .problems")).to_be_hidden()
    saved = desk.copied("Game as SGF")
    for part in (marks, "TC[3]N[start]", "XX[y]"):
        assert part in saved
    assert "KM[" not in saved
    assert "RU[" not in saved
    desk.keys("ArrowRight")
    expect(drawn.locator("path")).to_have_count(0)


def begin(desk: Desk) -> None:
    panel = desk.tab("Play")
    panel.get_by_label("Against").select_option("chessnet")
    panel.get_by_label("Level").select_option("custom")
    panel.get_by_label("Method").select_option("top-prob")
    panel.get_by_role("button", name="New game").click()
    expect(panel.get_by_role("status")).to_have_text("Your move. You play White.")


def test_what_is_played_after_taking_back_is_the_game(desk: Desk) -> None:
    begin(desk)
    panel = desk.page.get_by_role("tabpanel", name="Play")
    desk.drag("e2", "e4")
    expect(desk.moves.locator("button.move")).to_have_count(2)
    expect(panel.get_by_role("status")).to_have_text("Your move. You play White.")
    desk.keys("Control+z")
    desk.after("")
    desk.drag("d2", "d4")
    expect(desk.moves.locator("button.move")).to_have_count(4)
    expect(panel.get_by_role("status")).to_have_text("Your move. You play White.")
    panel.get_by_role("button", name="Resign").click()
    game = pgn(desk)
    assert [move.san() for move in game.variations] == ["d4", "e4"]
    headers = game.headers
    assert (headers["White"], headers["Black"], headers["Result"]) == ("You", "chessnet", "0-1")
    assert re.fullmatch(r"\d{4}\.\d\d\.\d\d", headers["Date"])
    assert headers["TimeControl"] == "-"
    assert headers["Event"] == "Game against chessnet, 1 s a move"
    expect(desk.page).to_have_title("You – chessnet – kibitz")


def test_a_game_against_a_network_is_not_left_unasked(desk: Desk) -> None:
    begin(desk)
    state = desk.page.get_by_role("tabpanel", name="Play").get_by_role("status")
    desk.drag("e2", "e4")
    expect(desk.moves.locator("button.move")).to_have_count(2)
    desk.network.select_option("gocnn")
    question = desk.page.get_by_role("dialog", name="Question")
    expect(question).to_contain_text("You are playing against chessnet.")
    question.get_by_role("button", name="Stay").click()
    expect(desk.network).not_to_have_value("gocnn")
    expect(state).to_have_text("Your move. You play White.")
    expect(desk.page).to_have_url(re.compile("moves=e2e4.*tab=play"))
    desk.page.reload()
    desk.ready()
    expect(state).to_have_text("Your move. You play White.")  # the game goes on
    desk.drag("d2", "d4")
    expect(desk.moves.locator("button.move")).to_have_count(4)
    desk.network.select_option("gocnn")
    question.get_by_role("button", name="Leave the game").click()
    expect(desk.board("go")).to_be_visible()
    menu(desk, "Earlier games")
    expect(desk.page.get_by_role("dialog", name="Earlier games")).to_contain_text("You – chessnet")


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
    desk.page.evaluate(
        """(text) => {
            const data = new DataTransfer();
            data.items.add(new File([text], "many.pgn"));
            document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        }""",
        many(10_000).replace(" *\n", f"{filler} *\n"),
    )
    expect(desk.status).to_contain_text("10,000 games opened")
    expect(desk.page.locator("#title")).to_contain_text("Player 0 – Bo")
    desk.page.get_by_role("button", name="Game 1 of 10,000").click()
    dialog = desk.page.get_by_role("dialog", name="Games in this file")
    expect(dialog.get_by_role("status")).to_have_text("10,000 games; the first 200 are shown.")
    dialog.get_by_role("searchbox").fill("player 9876 open")
    expect(dialog.get_by_role("status")).to_have_text("1 of 10,000 games.")
    dialog.get_by_role("searchbox").fill("")
    dialog.get_by_role("combobox", name="Result").select_option("1")
    expect(dialog.get_by_role("status")).to_have_text("2,500 of 10,000 games; the first 200 are shown.")
    dialog.get_by_role("spinbutton", name="From year").fill("2005")
    dialog.get_by_role("spinbutton", name="to").fill("2006")
    count = sum(i % 4 == 1 and 5 <= i % 10 <= 6 for i in range(10_000))
    expect(dialog.get_by_role("status")).to_have_text(f"{count} of 10,000 games; the first 200 are shown.")
    dialog.get_by_role("combobox", name="Players rated").select_option("2600-")
    strong = sum(i % 4 == 1 and 5 <= i % 10 <= 6 and i % 1700 >= 1600 for i in range(10_000))
    expect(dialog.get_by_role("status")).to_have_text(f"{strong} of 10,000 games.")
    dialog.get_by_role("spinbutton", name="From year").fill("")
    dialog.get_by_role("spinbutton", name="to").fill("")
    for name in ("Result", "Players rated"):
        dialog.get_by_role("combobox", name=name).select_option("")
    dialog.get_by_role("searchbox").fill("player 9876 open")
    expect(dialog.get_by_role("status")).to_have_text("1 of 10,000 games.")
    found = Axe().run(desk.page).response["violations"]
    assert not [each["id"] for each in found if each["impact"] in ("serious", "critical")]
    desk.keys("Enter")
    expect(desk.page.locator("#title")).to_contain_text("Player 9876 – Bo")
    desk.page.get_by_role("button", name="Next game").click()
    expect(desk.page.locator("#title")).to_contain_text("Player 9877 – Bo")
    assert len(sent) == 3
    assert max(sent) < 10_000


def test_small_things(desk: Desk, visit: Callable[..., Page]) -> None:
    page = desk.page
    page.watch.allow("400")  # type: ignore[attr-defined]
    desk.open('[White "Ann"]\n[Black "Bo"]\n\n1. f3 e5 2. g4 Qh4# 0-1')
    expect(page).to_have_title("Ann – Bo – kibitz")
    desk.keys("End")
    expect(desk.status).to_have_text("Checkmate: Black wins.")
    address = desk.copied("Address of this position")
    assert "fen" not in address
    other = Desk(visit(address.removeprefix(page.url.split("#")[0].rstrip("/")))).ready()
    expect(other.page).to_have_title("Ann – Bo – kibitz")
    page.evaluate(
        """() => {
            const data = new DataTransfer();
            data.setData("text/plain", "no game at all");
            const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
            document.body.dispatchEvent(event);
        }"""
    )
    expect(desk.status).to_have_class(re.compile("problem"))
    expect(desk.status).to_have_attribute("title", re.compile("no game in this text"))
    assert desk.status.evaluate("each => getComputedStyle(each).whiteSpace") == "normal"
