"""The page of `kibitz board` as a person uses it: by what is seen and said, seldom by how it is made."""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import chess.pgn
from playwright.sync_api import Locator, Page, Route, expect

BOARDS = {"chess": "#board .chess", "go": "#board svg.go"}

SEARCHED = 600_000
"""Milliseconds that a search of a short game may take."""


class Desk:
    """A page with its board, its moves, its panels."""

    def __init__(self, page: Page):
        self.page = page
        self.moves = page.get_by_role("group", name="Moves", exact=True)
        self.chance = page.get_by_role("meter")
        self.status = page.locator("#status")
        self.network = page.get_by_role("combobox", name="Network", exact=True)
        self.graph = page.locator(".graph-place")

    def ready(self) -> Desk:
        expect(self.network).to_be_enabled()
        return self

    def choose(self, network: str) -> None:
        self.ready()
        self.network.select_option(network)

    def tab(self, name: str) -> Locator:
        """Its panel."""
        self.page.get_by_role("tab", name=name).click()
        return self.page.get_by_role("tabpanel", name=name)

    def open(self, text: str) -> None:
        """Pastes a game into the dialog."""
        self.page.get_by_role("button", name="Open", exact=True).click()
        dialog = self.page.get_by_role("dialog", name="Open a game")
        dialog.get_by_role("textbox").fill(text)
        dialog.get_by_role("button", name="Open", exact=True).click()
        expect(dialog).to_be_hidden()

    def opened(self, text: str, plies: int) -> None:
        """Opens a game and waits until all of it is analysed."""
        self.open(text)
        self.analysed(plies)

    def analysed(self, plies: int, timeout: int | None = None) -> None:
        """Waits until the network has evaluated all positions of the line."""
        expect(self.page.locator(f".graph-place[data-moves='{plies}'][data-known='{plies + 1}']")).to_have_count(
            1, timeout=timeout
        )

    def judged(self, plies: int) -> None:
        """Waits until a search has judged all moves of the line; its kernels may have to be compiled before."""
        self.analysed(plies, SEARCHED)
        expect(self.page.locator(f".graph-place[data-checked='{plies}']")).to_have_count(1, timeout=SEARCHED)

    def keys(self, *names: str) -> None:
        for name in names:
            self.page.keyboard.press(name)

    @contextmanager
    def copying(self) -> Iterator[list[str]]:
        """Waits until what is done inside has written to the clipboard; the list has the text then."""
        mark = f"nothing was copied {uuid.uuid4()}"
        self.page.evaluate("(mark) => navigator.clipboard.writeText(mark)", mark)
        wait_for(self.page, "async (mark) => (await navigator.clipboard.readText()) === mark", mark)
        found: list[str] = []
        yield found
        wait_for(self.page, "async (mark) => !['', mark].includes(await navigator.clipboard.readText())", mark)
        found.append(str(self.page.evaluate("navigator.clipboard.readText()")))

    def copied(self, what: str) -> str:
        """The text that this entry of the Copy menu writes."""
        with self.copying() as found:
            self.page.get_by_role("button", name="Copy", exact=True).click()
            self.page.get_by_role("menuitem", name=what).click()
        return found[0]

    def pgn(self) -> chess.pgn.Game:
        """The game as the page writes it."""
        game = chess.pgn.read_game(io.StringIO(self.copied("PGN")))
        assert game
        assert not game.errors
        return game

    def sans(self) -> list[str]:
        """The moves in the list, in its order."""
        return self.moves.locator("button.move").all_inner_texts()

    def counts(self, moves: int, timeout: int | None = None) -> None:
        """Waits until the list has `moves` moves, those of variations included."""
        expect(self.moves.locator("button.move")).to_have_count(moves, timeout=timeout)

    def menu(self, entry: str) -> None:
        """Chooses an entry of the Game menu."""
        self.page.get_by_role("button", name="Game", exact=True).click()
        self.page.get_by_role("menuitem", name=entry).click()

    def move_menu(self, move: str, entry: str) -> None:
        """Chooses an entry of a move's menu."""
        self.moves.get_by_role("button", name=move, exact=True).click(button="right")
        self.page.get_by_role("menuitem", name=entry).click()

    def new(self, board: str) -> None:
        """Opens an empty board: "Chess", "Go, 9 × 9"."""
        self.page.get_by_role("button", name="New", exact=True).click()
        self.page.get_by_role("menuitem", name=board, exact=True).click()

    def paste(self, text: str) -> None:
        """Pastes a text into the page, outside of any field."""
        self.page.evaluate(
            """(text) => {
                const data = new DataTransfer();
                data.setData("text/plain", text);
                const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
                document.body.dispatchEvent(event);
            }""",
            text,
        )

    def drop(self, text: str, name: str = "game.pgn") -> None:
        """Drops a file onto the page."""
        self.page.evaluate(
            """([text, name]) => {
                const data = new DataTransfer();
                data.items.add(new File([text], name));
                const event = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
                document.body.dispatchEvent(event);
            }""",
            [text, name],
        )

    def board(self, game: str = "chess") -> Locator:
        return self.page.locator(BOARDS[game])

    def after(self, move: str, game: str = "chess", timeout: int | None = None) -> None:
        """Waits until the board shows the position after a move; "" for the start."""
        expect(self.board(game)).to_have_attribute("data-after", move, timeout=timeout)

    def play_state(self, state: str, side: str = "w", timeout: int | None = None) -> None:
        """Waits until a game against an opponent is in this state: "human", "thinking", "away", "over" and others."""
        wanted = f".play-state[data-state='{state}'][data-side='{side}']"
        expect(self.page.locator(wanted)).to_have_count(1, timeout=timeout)

    def my_turn(self, side: str = "w", timeout: int | None = None) -> None:
        """Waits until the person, who plays this side, is to move."""
        self.play_state("human", side, timeout)

    # Chess

    def resign(self) -> None:
        """Resigns the game on the tab Play, and says yes to the question."""
        self.tab("Play").get_by_role("button", name="Resign", exact=True).click()
        self.page.get_by_role("dialog", name="Question").get_by_role("button", name="Resign", exact=True).click()

    def square(self, name: str) -> tuple[float, float]:
        """Where the middle of a square is on the screen."""
        box = self.page.locator("#board cg-board").bounding_box()
        assert box
        x, y = "abcdefgh".index(name[0]) + 0.5, 8.5 - int(name[1])
        if self.page.locator("#board .orientation-black").count():
            x, y = 8 - x, 8 - y
        return box["x"] + x * box["width"] / 8, box["y"] + y * box["height"] / 8

    def drag(self, start: str, end: str) -> None:
        mouse = self.page.mouse
        mouse.move(*self.square(start))
        mouse.down()
        x, y = self.square(end)
        mouse.move(x - 9, y - 9)
        mouse.move(x, y)
        mouse.up()

    def click(self, *squares: str) -> None:
        for square in squares:
            self.page.mouse.click(*self.square(square))

    def pieces(self) -> dict[str, str]:
        """square → "white pawn", as they are drawn: the board draws with the next frame of the screen."""
        found: dict[str, str] = self.page.evaluate(
            """async () => {
                for (const _ of [1, 2]) await new Promise((drawn) => requestAnimationFrame(drawn));
                return Object.fromEntries([...document.querySelectorAll("#board cg-board piece")]
                    .filter((each) => each.cgKey && !/fading|ghost/.test(each.className))
                    .map((each) => [each.cgKey, each.className.split(" ").slice(0, 2).join(" ")]));
            }"""
        )
        return found

    def heat(self) -> list[float]:
        """How strong each of 64 squares is tinted, a1 first."""
        found: list[float] = self.page.evaluate(
            """() => [...document.querySelectorAll("#board svg.heat rect")]
                .map((each) => +each.getAttribute("fill-opacity"))"""
        )
        return found

    # Go

    def point(self, name: str) -> tuple[float, float]:
        """Where a point is on the screen."""
        found: dict[str, Any] = self.page.evaluate(
            """([column, row]) => {
                const root = document.querySelector("#board svg.go");
                const size = document.querySelectorAll("#board svg.go .names text").length / 4;
                const at = new DOMPoint(100 * column, 100 * (size - row)).matrixTransform(root.getScreenCTM());
                return { x: at.x, y: at.y };
            }""",
            ["ABCDEFGHJKLMNOPQRST".index(name[0]), int(name[1:])],
        )
        return found["x"], found["y"]

    def place(self, *names: str) -> None:
        """Clicks points, one after the other has been played."""
        for name in names:
            self.page.mouse.click(*self.point(name))
            self.after(name, "go")

    def stones(self) -> dict[str, int]:
        """How many of each colour are drawn."""
        return {
            colour: self.page.locator(f"#board svg.go .stones circle.{colour}").count() for colour in ("black", "white")
        }


def wait_for(page: Page, so: str, argument: Any = None) -> None:
    """Waits until an async function gives true: Playwright's wait_for_function takes any promise for true."""
    for _ in range(SEARCHED // 20):
        if page.evaluate(so, argument):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"never true: {so}")


def arrived(page: Page, routes: list[Route]) -> Route:
    """Waits for a request that a route holds; the last one."""
    for _ in range(SEARCHED // 20):
        if routes:
            return routes.pop()
        page.wait_for_timeout(20)  # lets the browser's messages in
    raise AssertionError("no request has come")


def answer_with(asked: Route, move: str) -> None:
    """Answers in the network's place."""
    seq = (asked.request.post_data_json or {})["seq"]
    body = json.dumps({"seq": seq, "move": move, "done": True}) + "\n"
    asked.fulfill(body=body, content_type="application/x-ndjson")


def serious(page: Page) -> list[str]:
    """What axe finds that is serious or critical."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']} ({each['impact']}): {each['help']}: {node['html'][:150]} {node.get('failureSummary', '')}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"][:3]
    ]
