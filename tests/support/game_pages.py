"""Games for the page of `kibitz analyze --page`, and what such a page contains."""

from __future__ import annotations

import html.parser
import json
from pathlib import Path
from typing import Any

from kibitz.cli import run
from support.go_fakes import FakeGo

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&]]>"
"""A name that would change a page that does not escape it."""
PLAIN = HOSTILE.replace('"', "'")
CHESS = f"""[Event "Club {PLAIN}"]
[Site "?"]
[Date "2026.11.21"]
[White "Ann {PLAIN}"]
[Black "Bo"]
[Result "0-1"]
[WhiteElo "1520"]
[BlackElo "1670"]

1. e4 e5 2. Nf3 Nc6 3. Bc4 Nd4 4. Nxe5 Qg5 5. Nxf7 Qxg2 6. Rf1 Qxe4+ 7. Be2 Nf3# 0-1
"""
GO = (
    f"(;GM[1]FF[4]SZ[9]KM[6.5]PB[Ann {HOSTILE.replace(']', chr(92) + ']')}]BR[3k]PW[Bo]RE[W+3.5]DT[2026-11-21]"
    ";B[ee];W[ed];B[de];W[dd];B[aa];W[fe];B[ja])\n"
).replace(";B[ja]", ";B[ia]")


def write_chess(folder: Path, *options: str, games: str = CHESS) -> Path:
    """The page of games of chess, with the bundled network of human and a shallow search."""
    (folder / "game.pgn").write_text(games, encoding="utf-8")
    page = folder / "chess.html"
    call = ["analyze", "human", str(folder / "game.pgn"), "--page", str(page), "--depth", "1", "--nodes", "0"]
    assert run([*call, *options]) == 0
    return page


def write_go(folder: Path, monkeypatch: Any, *options: str) -> Path:
    """The page of a game of Go, with a fake network."""
    (folder / "game.sgf").write_text(GO, encoding="utf-8")
    page = folder / "go.html"
    with monkeypatch.context() as patch:
        patch.setattr("kibitz.play.session.Session", lambda run: FakeGo())
        assert run(["analyze", "gohuman", str(folder / "game.sgf"), "--page", str(page), "--swing", "1", *options]) == 0
    return page


class Parts(html.parser.HTMLParser):
    """The elements of a page as a browser finds them.

    elements: their names. data: the JSON of the page. scripts: the number of scripts that run. title: its title.
    """

    def __init__(self, page: str):
        super().__init__()
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.data: dict[str, Any] = {}
        self.scripts = 0
        self.now = ""
        self.title = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += attrs
        self.now = "data" if ("type", "application/json") in attrs else tag
        self.scripts += self.now == "script"

    def handle_endtag(self, tag: str) -> None:
        self.now = ""

    def handle_data(self, data: str) -> None:
        if self.now == "data":
            self.data = json.loads(data)
        elif self.now == "title":
            self.title += data


def played(game: dict[str, Any]) -> list[str]:
    """The position after each move, from the cells that the moves change."""
    cells, found = list(game["start"]), [game["start"]]
    for move in game["moves"]:
        for cell, letter in move["cells"]:
            cells[cell] = letter
        found.append("".join(cells))
    return found
