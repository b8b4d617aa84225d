"""The page of a player's games: whole, self-contained, safe with hostile names."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kibitz.report.player import BOARDS, render_player_page
from report.test_page import HOSTILE, Reader

ABOUT = {"run": "human", "system": "human", "file": "my-games.pgn"}


def figure(value: float | None, sure: bool = True) -> dict[str, Any]:
    if value is None:
        return {"value": None, "low": None, "high": None, "n": 0, "games": 0}
    low, high = (value - 0.01, value + 0.01) if sure else (None, None)
    return {"value": value, "low": low, "high": high, "n": 300, "games": 24}


def part(label: str, loss: float, usual: float | None = 0.04, **more: Any) -> dict[str, Any]:
    compared = {} if usual is None else {"usual_loss": figure(usual), "difference": figure(loss - usual)}
    marks = {"inaccuracies": 3, "mistakes": 2, "blunders": 1}
    return {"label": label, "moves": 300, "games": 24, "loss": figure(loss), **compared, "marks": marks, **more}


def mistake(**more: Any) -> dict[str, Any]:
    return {
        "file": "my-games.pgn",
        "game": 7, "ply": 2, "move_number": 1, "side": "black", "san": "f6", "uci": "f7f6", "mark": "??", "loss": 0.4,
        "usual_loss": 0.1, "before": 0.5, "after": 0.1, "best": "e7e5", "line": ["e5", "Nf3"], "phase": "opening",
        "piece": "pawn", "fen": "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", "opponent": "Bo",
        "opponent_rating": 1500, "date": "2020.01.01", "time_left": 61.0, **more,
    }  # fmt: skip


def result(usual: float | None = 0.04, **more: Any) -> dict[str, Any]:
    whole = {name: value for name, value in part("", 0.06, usual).items() if name not in ("label", "games")}
    return {
        "name": "Ana", "games": 24, "won": 12, "drawn": 2, "lost": 10, "rating": 1500, "score": figure(0.54), **whole,
        "by_phase": {"opening": part("the opening", 0.03, usual)}, "by_piece": {}, "by_time_left": {},
        "by_side": {"white": part("as White", 0.07, usual, score=figure(0.5))}, "by_result": {},
        "by_opening": [part("Caro-Kann Defense, as White", 0.05, usual, score=figure(None))],
        "stands_out": [{"label": "as White", "difference": figure(0.03)}], "worst": [mistake()] * 12, **more,
    }  # fmt: skip


def test_the_page_is_whole_and_asks_for_nothing() -> None:
    html = render_player_page(result(), ABOUT)
    page = Reader(html)
    for words in ("Ana", "6.0", "You lose more than usual: as White (+3.0)", "54%", "Caro-Kann Defense", "1:01 left"):
        assert words in page.said, words
    assert "1… f6??" in page.said.replace("\n", " ")
    assert len(re.findall(r'class="arrow"', html)) == BOARDS
    assert not re.search(r"(?:src|href)=\"(?!#|data:)|url\((?!#)|@import|<script", html)
    anchors = {value for tag, name, value in page.attributes if name == "id"}
    assert {value[1:] for value in page.values("href") if value.startswith("#")} <= anchors
    assert "#by_piece" not in page.values("href")


def test_hostile_names_stay_text() -> None:
    html = render_player_page(result(name=HOSTILE, worst=[mistake(opponent=HOSTILE, date=HOSTILE)]), ABOUT)
    assert "<script" not in html
    assert HOSTILE in "".join(Reader(html).text)


def test_without_ratings_nothing_is_compared() -> None:
    html = render_player_page(result(None, stands_out=[], worst=[]), ABOUT)
    assert "same rating" not in html
    assert "Worst mistakes" not in html
    assert "significant" not in html
    assert "significant" in render_player_page(result(stands_out=[], worst=[]), ABOUT)


@pytest.mark.parametrize(("side", "squares"), [("black", "board-squares-turned"), ("white", "board-squares")])
def test_boards_are_seen_from_the_players_side(side: str, squares: str) -> None:
    html = render_player_page(result(worst=[mistake(side=side)]), ABOUT)
    assert f'<use href="#{squares}"/>' in html


def test_a_value_has_one_name_and_an_interval_is_named_only_where_it_is() -> None:
    scores, chances, interval = "expected score", "win probability", "95% interval over"
    for about, named, other in (
        (ABOUT, scores, chances),
        (ABOUT | {"system": "winner"}, chances, scores),
        (ABOUT | {"checked_by": "Stockfish"}, chances, scores),
    ):
        said = Reader(render_player_page(result(), about)).said
        assert named in said
        assert other not in said
        assert interval in said
    assert interval not in Reader(render_player_page(result(loss=figure(0.06, sure=False)), ABOUT)).said


def test_an_interval_does_not_begin_at_minus_zero() -> None:
    html = render_player_page(result(by_phase={"opening": part("the opening", 0.05, 0.0403)}), ABOUT)
    assert "-0.0 to" not in html


def test_a_provisional_report_says_why_it_compares_nothing() -> None:
    words = "does not compare"
    assert words in Reader(render_player_page(result(None, stands_out=[], provisional=True), ABOUT)).said
    assert words not in Reader(render_player_page(result(), ABOUT)).said


def go_result(**more: Any) -> dict[str, Any]:
    kept = {key: value for key, value in result(None, worst=[]).items() if key not in ("rating", "stands_out")}
    by = {"by_area": {}, "by_kind": {"contact": part("contact moves", 2.0, None)}, "by_board": {}}
    rank = {"rank": "3k", "accuracy": figure(0.7), "first_choice": figure(0.4), "usual_first_choice": figure(0.5)}
    return {**kept, **by, **rank, **more}


def change(value: float, low: float | None, high: float | None, label: str = "") -> dict[str, Any]:
    known = {"value": value, "low": low, "high": high, "n": 100, "games": 20}
    loss, earlier = figure(2.5 + value) | {"games": 8}, figure(2.5) | {"games": 12}
    return {**({"label": label} if label else {}), "loss": loss, "earlier_loss": earlier, "change": known}


def test_a_report_on_go_has_what_changed_since_the_last_month() -> None:
    about = ABOUT | {"system": "gohuman", "game": "go"}
    lately = {"since": "2024-05-02", **change(-0.5, -0.9, -0.1)}
    html = render_player_page(go_result(lately={**lately, "changed": [change(-1.1, -1.5, -0.7, "endgame")]}), about)
    said = " ".join(Reader(html).said.split())
    for words in (
        "2024-05-02 on (8)",
        "before (12)",
        "lower than before",
        "endgame",
        "-1.1",
        "-1.5 to -0.7",
        "-0.9 to -0.1",
    ):
        assert words in said, words
    assert "#lately" in Reader(html).values("href")
    for low, high, words in (
        (0.1, 0.9, "higher than before"),
        (-0.1, 0.9, "too few games"),
        (None, None, "too few games"),
    ):
        lately = {"since": "2024-05-02", **change(0.5, low, high), "changed": []}
        assert words in Reader(render_player_page(go_result(lately=lately), about)).said
    assert "Last month" not in render_player_page(go_result(lately=None), about)
