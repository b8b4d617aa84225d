"""Filters of Go games: what they let through, what they refuse to be."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from kibitz.errors import UsageError
from kibitz.games.go.filters import Filter
from kibitz.games.go.io.headers import HeaderInfo, interpret_headers

DAY = datetime.date


def said(handicap: int = 0, size: int = 19, **headers: str) -> HeaderInfo:
    usual = {
        "BR": "6d",
        "WR": "7d",
        "RE": "B+3.5",
        "RU": "Japanese",
        "DT": "2010-05-01",
        "PB": "Shusaku",
        "PW": "Gennan",
    }
    return interpret_headers(usual | headers, handicap, size)


@pytest.mark.parametrize(
    ("keep", "game", "reason"),
    [
        (Filter(), said(), None),
        (Filter(rank="6d"), said(), None),
        (Filter(rank="7d"), said(), "rank under 7d"),
        (Filter(rank="6d"), said(BR=""), "no rank"),
        (Filter(rank="6d", unranked=True), said(BR=""), None),
        (Filter(rank="6d", unranked=True), said(BR="", WR="5d"), "rank under 6d"),
        (Filter(rank="9d"), said(BR="P1段", WR="9p"), None),
        (Filter(ending="counted"), said(), None),
        (Filter(ending="counted"), said(RE="B+R"), "not counted"),
        (Filter(ending="resignation"), said(), "not by resignation"),
        (Filter(ending="time"), said(RE="W+T"), None),
        (Filter(rules=("japanese", "chinese")), said(), None),
        (Filter(rules=("chinese",)), said(), "rules japanese"),
        (Filter(rules=("chinese",)), said(RU=""), "no rules named"),
        (Filter(handicap=0), said(handicap=2), "handicap"),
        (Filter(handicap=4), said(handicap=4), None),
        (Filter(handicap=4), said(handicap=5), "handicap over 4"),
        (Filter(size=(9, 13)), said(size=13), None),
        (Filter(size=(9,)), said(), "board of 19×19"),
        (Filter(since=DAY(2010, 5, 1), until=DAY(2010, 5, 1)), said(), None),
        (Filter(since=DAY(2011, 1, 1)), said(), "before 2011-01-01"),
        (Filter(until=DAY(2009, 1, 1)), said(), "after 2009-01-01"),
        (Filter(until=DAY(2009, 1, 1)), said(DT=""), "no date"),
        (Filter(player=("shu",)), said(), None),
        (Filter(player=("go",)), said(), "other players"),
        (Filter(result=("black",)), said(), None),
        (Filter(result=("white", "draw")), said(), "other result"),
    ],
)
def test_headers(keep: Filter, game: HeaderInfo, reason: str | None) -> None:
    keep.check()
    assert keep.refuses_headers(game) == reason


def test_moves() -> None:
    assert Filter(min_moves=50).refuses_moves(49) == "under 50 moves"
    assert Filter(min_moves=50).refuses_moves(50) is None


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"rank": "strong"}, "--rank .*strong"),
        ({"ending": "checkmate"}, "--ending .*checkmate"),
        ({"rules": ("mine",)}, "--rules .*mine"),
        ({"size": (20,)}, "--size .*20"),
        ({"handicap": -1}, "--handicap .*-1"),
        ({"result": ("1-0",)}, "--result .*1-0"),
        ({"limit": 0}, "--limit .*0"),
        ({"since": DAY(2010, 1, 2), "until": DAY(2010, 1, 1)}, "Swap them"),
    ],
)
def test_filters_that_make_no_sense(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Filter(**wrong).check()


def test_as_json_tells_what_was_asked() -> None:
    assert Filter().as_json() == {}
    assert Filter(rank="6d", size=(9,), since=DAY(2010, 1, 1)).as_json() == {
        "rank": "6d", "size": (9,), "since": "2010-01-01",
    }  # fmt: skip
