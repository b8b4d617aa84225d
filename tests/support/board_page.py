"""The page of `kibitz board` as a person uses it: by what is seen and said, seldom by how it is made."""

from __future__ import annotations

import json
import re
from typing import Any

from playwright.sync_api import Locator, Page, Route, expect

BOARDS = {"chess": "#board .chess", "go": "#board svg.go"}

SEARCHED = 180_000
"""Milliseconds that a search of a short game may take."""


class Desk:
    """A page with its board, its moves, its panels."""

    def __init__(self, page: Page):
        self.page = page
        self.moves = page.get_by_role("group", name="Moves", exact=True)
        self.chance = page.get_by_role("meter")
        self.status = page.locator("#status")
        self.network = page.get_by_role("combobox", name="Network", exact=True)
        self.graph = page.locator("#graph").get_by_role("img", name="Graph")

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

    def analysed(self, plies: int) -> None:
        expect(self.graph).to_have_attribute("aria-label", re.compile(rf"{plies} moves?, {plies + 1} known"))

    def judged(self, plies: int) -> None:
        """Waits until a search has judged all moves of the line; its kernels may have to be compiled before."""
        checked = re.compile(rf"{plies} moves?, {plies + 1} known, {plies} checked")
        expect(self.graph).to_have_attribute("aria-label", checked, timeout=SEARCHED)

    def keys(self, *names: str) -> None:
        for name in names:
            self.page.keyboard.press(name)

    def copied(self, what: str) -> str:
        self.page.evaluate("navigator.clipboard.writeText('')")
        self.page.get_by_role("button", name="Copy", exact=True).click()
        self.page.get_by_role("menuitem", name=what).click()
        expect(self.status).to_contain_text("copied")
        self.page.wait_for_function("async () => await navigator.clipboard.readText()")  # not what was copied before
        return str(self.page.evaluate("navigator.clipboard.readText()"))

    def board(self, game: str = "chess") -> Locator:
        return self.page.locator(BOARDS[game])

    def after(self, move: str, game: str = "chess") -> None:
        """Waits until the board stands after a move; "" for the start."""
        name = rf"to move, after {re.escape(move)}\." if move else r"to move\."
        expect(self.board(game)).to_have_attribute("aria-label", re.compile(name))

    # Chess

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
