"""Ranks of Go players: how they are read, and their order."""

from __future__ import annotations

import numpy as np
import pytest

from kibitz.games.go.ranks import FIRST_PROFESSIONAL, rank_of, rank_value, read_rank, value_or_nan


@pytest.mark.parametrize(
    ("text", "rank"),
    [("9d", "9d"), ("3k", "3k"), ("5 kyu", "5k"), ("9段", "9d"), ("P9段", "9p"), ("九段", "9d"), ("1p", "1p"),
     ("6 dan", "6d"), ("7d?", "7d"), ("18级", "18k"), ("9 dan pro", "9p"),
     ("9 dan professional", "9p"), ("9dp", "9p"), ("9d P", "9p"), ("3d player", "3d"),
     ("5k provisional", "5k"), ("初段", "1d"), ("", None), ("NR", None),
     ("Meijin", None), ("44d", None), ("0k", None), ("30K", "30k"), ("4단", "4d"),
     ("35k", "35k"), ("36k", None), ("10d", "10d"), ("11d", None), ("10p", None),
     ("业余5段", "5d"), ("業餘6段", "6d"), ("アマ5段", "5d"), ("アマチュア五段", "5d"), ("아마5단", "5d"),
     ("amateur 5 dan", "5d"), ("ama 2k", "2k"), ("5d amateur", "5d"), ("5段(业余)", "5d"),
     ("职业九段", "9p"), ("プロ九段", "9p"), ("프로9단", "9p"), ("pro 9d", "9p"), ("9d (pro)", "9p"),
     ("九段 (职业)", "9p"), ("9d (provisional)", "9d"), ("5 Dan *", "5d"), ("3級", "3k"),
     ("十八级", "18k"), ("二十級", "20k"), ("２段", "2d"), ("プロ", None), ("peter 3", None), ("ama", None)],
)  # fmt: skip
def test_ranks(text: str, rank: str | None) -> None:
    assert read_rank(text) == rank


@pytest.mark.parametrize(
    ("text", "rank"),
    [("9d (pro)", "9p"), ("四段（プロ）", "4p"), ("5k", "5k"), ("5k*", None), ("9d (", None), ("9d)", None)],
)
def test_a_whole_text_that_is_a_rank(text: str, rank: str | None) -> None:
    assert read_rank(text, whole=True) == rank


def test_ranks_are_in_order() -> None:
    order = ["30k", "2k", "1k", "1d", "6d", "9d", "10d", "1p", "9p"]
    assert sorted(order, key=rank_value, reverse=True) == order[::-1]
    with pytest.raises(ValueError, match="is not a rank"):
        rank_value("strong")


@pytest.mark.parametrize(
    ("rank", "value"),
    [("9d", 9), ("1d", 1), ("1k", 0), ("12k", -11), ("3p", 13), ("", None), (None, None), ("?d", None)],
)
def test_values(rank: str | None, value: float | None) -> None:
    assert value_or_nan(rank) == (pytest.approx(np.nan, nan_ok=True) if value is None else value)


def test_professionals_are_above_all_amateurs() -> None:
    assert rank_value("1p") == FIRST_PROFESSIONAL > rank_value("10d")


@pytest.mark.parametrize("rank", ["35k", "2k", "1k", "1d", "10d", "1p", "9p"])
def test_a_place_in_the_order_has_its_rank(rank: str) -> None:
    assert rank_of(rank_value(rank)) == rank
