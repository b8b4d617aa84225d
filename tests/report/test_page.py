"""The result page: whole, self-contained, safe with hostile names, and general over systems."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import chess
import pytest

from kibitz.report.page import render_test_page
from support.causes import mentions

HOSTILE = "<script>alert('x')</script>\" onload=\"x {{ 7*7 }} & 赵"
VOID = {"meta", "link", "br", "img", "hr", "input"}


class Reader(HTMLParser):
    """Checks that tags balance, and gathers what the page refers to and says."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def values(self, name: str) -> list[str]:
        return [value or "" for _, attribute, value in self.attributes if attribute == name]

    @property
    def said(self) -> str:
        return " ".join(" ".join(self.text).split())


def figure(value: float | None, kind: str = "share") -> dict[str, Any]:
    if value is None:
        return {"value": None, "low": None, "high": None, "n": 0, "games": 0, "kind": kind}
    return {"value": value, "low": value - 0.01, "high": value + 0.01, "n": 330_000, "games": 4200, "kind": kind}


def position(game: str = "123", ply: int = 3, **other: Any) -> dict[str, Any]:
    fen = "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
    return {
        "fen": fen,
        "probability": 0.934,
        "probability_of": "White wins",
        "result": "0-1",
        "game": game,
        "ply": ply,
        "last_move": "f1b5",
        "white": "Anderssen",
        "black": HOSTILE,
        "white_rating": None,
        "black_rating": 2400,
        "date": None,
    } | other


def record(**other: Any) -> dict[str, Any]:
    return {
        "white": "Anderssen",
        "black": HOSTILE,
        "white_rating": None,
        "black_rating": 2400,
        "date": "1851-06-21",
        "event": HOSTILE,
        "result": "1-0",
        "link": "https://example.org/game?a=1&b=2",
        "moves": ["e4", "e5", "Nf3", "Nc6", "Bb5"],
        "curve": [0.5, 0.52, None, 0.61, 0.93, 0.7],
    } | other


def full() -> dict[str, Any]:
    return {
        "system": "winner",
        "title": "predicts who wins",
        "run": "runs/winner-1",
        "weights": "best.safetensors",
        "weights_sha256": "ab12" * 16,
        "command": "kibitz test runs/winner-1 masters.store",
        "paper": {"title": "A paper", "figure": "71.8% test accuracy"},
        "data": {
            "store": "masters.store",
            "fingerprint": "9f" * 32,
            "games": 4200,
            "positions": 330_000,
            "split": "unseen games, from 2021-01-01",
            "note": "Engine games: not the paper's.",
        },
        "headline": "accuracy",
        "figures": {
            "accuracy": figure(0.6613) | {"label": "accuracy"},
            "log_loss": figure(0.598, "number") | {"label": "log loss"},
            "calibration_error": figure(0.021, "number") | {"label": "calibration error"},
        },
        "baselines": {
            "always_white": figure(0.523) | {"label": "always White"},
            "hostile": figure(0.6) | {"label": HOSTILE},
            "nothing": figure(None) | {"label": "nothing"},
        },
        "by": {
            "ply": {
                "label": "ply",
                "rows": [{"slice": "0-9", "figure": figure(0.55)}, {"slice": HOSTILE, "figure": figure(None)}],
            },
            "none": {"label": "none", "rows": []},
        },
        "calibration": [{"low": 0.9, "high": 1.0, "predicted": 0.95, "observed": figure(0.94), "n": 100}],
        "gallery": [{"band": [0.9, 1.0], "title": "White predicted to win", "correct": [position()], "wrong": []}],
        "hardest": [position("unknown")],
        "mistakes": [position(), position("4 5")],
        "games": {
            "123": record(),
            "4 5": record(link="javascript:alert(1)"),
            "6": record(link=None, curve=[], moves=[]),
        },
        "metrics": [{"kind": "summary", "iteration": i, "loss": 0.6, "accuracy": 0.6} for i in (300, 600)],
    }


def test_page_is_whole_and_asks_for_nothing_outside() -> None:
    page = render_test_page(full())
    reader = Reader(page)
    assert page.lstrip().startswith("<!doctype html>")
    outside = [v for v in reader.values("href") + reader.values("src") if not v.startswith("#") and v != "data:,"]
    assert outside == ["https://example.org/game?a=1&b=2"]
    assert "default-src 'none'" in page
    assert not re.search(r"@import|url\((?!#)", page)
    assert ("a", "rel", "noreferrer") in reader.attributes


def test_every_inner_link_leads_somewhere_and_ids_are_single() -> None:
    reader = Reader(render_test_page(full()))
    ids = reader.values("id")
    assert len(ids) == len(set(ids))
    assert not [value for value in ids if " " in value]
    assert {value[1:] for value in reader.values("href") if value.startswith("#")} <= set(ids)
    assert "#game-123" in reader.values("href")
    assert "game-unknown" not in ids


def test_hostile_names_are_only_text() -> None:
    page = render_test_page(full())
    reader = Reader(page)
    assert "<script" not in page
    assert not [name for _, name, _ in reader.attributes if name.startswith("on")]
    assert HOSTILE in reader.said
    assert "javascript:" not in page


@pytest.mark.parametrize(
    "link",
    ["javascript:alert(1)", "data:text/html,x", "//example.org", "ftp://example.org/", "http://[", "?", 7, "http:"],
)
def test_other_links_than_web_ones_are_left_out(link: Any) -> None:
    page = render_test_page({"figures": {"accuracy": figure(0.5)}, "games": {"1": record(link=link)}})
    assert ">the record<" not in page


def test_headline_and_facts_are_said() -> None:
    said = Reader(render_test_page(full())).said
    for fact in (
        "66.1%",
        "65.1 to 67.1%",
        "330,000 positions of 4,200 games",
        "unseen games, from 2021-01-01",
        "best.safetensors",
        "kibitz test runs/winner-1 masters.store",
        "Engine games: not the paper's.",
        "Log loss 0.598 0.588 to 0.608",
        "71.8% test accuracy",
        "93.4% White wins",
    ):
        assert fact in said


def test_sections_stand_in_order() -> None:
    headings = re.findall(r'<h2 id="([^"]+)"', render_test_page(full()))
    order = ["figures", "baselines", "calibration", "slices", "gallery", "hardest", "mistakes", "games", "learning"]
    assert headings == order


@pytest.mark.parametrize(
    "missing", ["baselines", "by", "calibration", "gallery", "hardest", "mistakes", "games", "metrics", "data", "paper"]
)
def test_a_missing_section_is_just_not_there(missing: str) -> None:
    result = full()
    del result[missing]
    Reader(render_test_page(result))


def test_figures_alone_are_a_page() -> None:
    result = {"figures": {"log_loss": figure(1.234, "number")}}
    reader = Reader(render_test_page(result))
    assert "1.234" in reader.said
    assert re.findall(r'<h2 id="([^"]+)"', render_test_page(result)) == ["figures"]
    with pytest.raises(ValueError, match="needs numbers"):
        render_test_page({"figures": {}})


def test_another_system_brings_its_own_words() -> None:
    result = {
        "title": "whose points are these?",
        "headline": "perplexity",
        "figures": {
            "perplexity": figure(3.5, "number") | {"label": "perplexity"},
            "points_right": figure(0.9) | {"label": "points right"},
        },
        "baselines": {"nearest_stone": figure(5.0) | {"label": "nearest stone"}},
        "by": {"move": {"label": "move", "rows": [{"slice": "0-99", "figure": figure(4.0)}]}},
        "mistakes": [position() | {"fen": None, "probability_of": "Black owns D4"}],
        "texts": {"mistakes": "Points it was sure of."},
    }
    reader = Reader(render_test_page(result))
    assert mentions(reader.said, "Points")
    assert "Black owns D4" in reader.said
    assert "White" not in reader.said.replace("White wins", "")
    widths = [float(width) for width in re.findall(r'class="fill" style="width:([\d.]+)%', render_test_page(result))]
    assert max(widths) <= 100
    assert widths[0] / widths[1] == pytest.approx(3.5 / 5.0, rel=0.01)


def test_the_moment_is_marked_in_moves_and_curve() -> None:
    page = render_test_page({**full(), "gallery": [], "hardest": [], "mistakes": [position(ply=3), position(ply=5)]})
    game = page[page.index('id="game-123"') : page.index("</article>")]
    assert re.findall(r"<mark>([^<]+)</mark>", game) == ["Nf3", "Bb5"]
    assert game.count("<circle cx=") - game.count('class="board"') == 2
    assert len(re.findall(r"<polyline", game)) == 2, "the curve breaks where a probability is missing"
    assert 'cx="360.0" cy="42.9"' in game


def test_moments_outside_the_record_do_no_harm() -> None:
    for ply in (0, 2, 99):
        Reader(render_test_page({**full(), "mistakes": [position(ply=ply)]}))


def test_integer_game_ids_find_their_game() -> None:
    page = render_test_page({"figures": {"a": figure(0.5)}, "mistakes": [position(game=7)], "games": {7: record()}})  # type: ignore[arg-type]
    assert 'href="#game-7"' in page
    assert 'id="game-7"' in page


def test_a_hundred_boards_stay_small() -> None:
    result = full() | {"hardest": [position(fen=chess.STARTING_FEN) for _ in range(100)]}
    page = render_test_page(result)
    assert page.count('class="board"') > 100
    assert len(page.encode()) < 1_500_000
    assert page.count('id="white-knight"') == 1


def heat_map(**other: Any) -> dict[str, Any]:
    return {
        "fen": chess.STARTING_FEN,
        "game": "5",
        "ply": 0,
        "origin": [0.0] * 12 + [0.7] + [0.0] * 51,
        "target": [0.0] * 28 + [0.95] + [0.0] * 35,
        "target_of": "pawn",
        "played": "e4",
        "rank": 1,
        "choices": [{"move": "e4", "probability": 0.61}, {"move": "d4", "probability": 0.2}],
        "white": HOSTILE,
        "black": "B",
        "white_rating": None,
        "black_rating": 2300,
        "date": None,
        **other,
    }


def test_tables_heat_maps_and_landscape() -> None:
    tables = [
        {
            "title": "Accuracy at k",
            "text": f"How often {HOSTILE}",
            "heading": "network",
            "columns": ["@1", "place", "n"],
            "kinds": ["share", "number", "count"],
            "rows": [["origin", figure(0.5), figure(0.5), 1234], [HOSTILE, figure(None), "none", 0]],
        },
        {
            "title": "First moves",
            "text": "",
            "heading": "move",
            "columns": ["net"],
            "kinds": ["share"],
            "rows": [["e4", 0.4]],
        },
    ]
    result = {
        "headline": "accuracy",
        "main": ["log_loss"],
        "tables": tables,
        "heat_maps": [heat_map(), heat_map(ply=3)],
        "figures": {"accuracy": figure(0.5), "log_loss": figure(1.2, "number"), "rook_accuracy": figure(0.3)},
        "landscape": {
            "points": [[0, 0, 0], [1, 1, 2]],
            "groups": ["a", "b", "c"],
            "course": [[0, 1], [1, 0]],
            "game": HOSTILE,
        },
    }
    page = render_test_page(result)
    reader = Reader(page)
    assert re.findall(r'<h2 id="([^"]+)"', page) == ["figures", "table-0", "table-1", "heat-maps", "landscape"]
    assert "Rook accuracy" not in reader.said, "main names what the first table shows"
    assert "origin 50.0% ±1.0 0.500 ±0.010 1,234" in reader.said
    assert "e4 40.0%" in reader.said
    assert "e4 61.0%, d4 20.0%" in reader.said
    assert "where the pawn goes" in reader.said
    assert page.count('class="heat"') == page.count('class="percent"') == 4
    assert "<script" not in page
    assert {name[1:] for name in reader.values("href") if name.startswith("#table")} == {"table-0", "table-1"}


def test_the_moves_of_a_game_in_which_black_moves_first() -> None:
    game = {**record(), "moves": ["Qd2", "Kb1", "Qd1+"]}
    found = {}
    for black_first in (False, True):
        page = render_test_page({**full(), "mistakes": [], "games": {"123": {**game, "black_first": black_first}}})
        found[black_first] = Reader(page).said
    assert "1. Qd2 Kb1 2. Qd1+" in found[False]
    assert "1… Qd2 2. Kb1 Qd1+" in found[True]
