"""The summary that the page asks for is that of `kibitz analyze`."""

from __future__ import annotations

from typing import Any

import pytest

from kibitz.analysis.summary import summarize
from support.board_client import Client
from support.causes import mentions

GAME = {
    "game": "chess", "values": [0.5, 0.4, 0.8], "movers": ["white", "black"], "losses": [0.1, 0.4],
    "marks": ["?!", "??"],
}  # fmt: skip


def test_a_game_is_summarized(client: Client) -> None:
    found = client.good("/api/summary", GAME)
    assert (
        found == summarize(("white", "black"), [0.5, 0.4, 0.8], ["white", "black"], [0.1, 0.4], ["?!", "??"]).as_json()
    )
    assert found["turning_point"] == {"ply": 2, "ahead": "white"}


def test_a_game_of_go_is_summarized_in_points(client: Client) -> None:
    asked = {**GAME, "game": "go", "movers": ["black", "white"], "losses": [2, None]}
    found = client.good("/api/summary", asked)
    assert found["black"]["accuracy"]["value"] == 0.5625
    assert found["white"]["accuracy"]["value"] is None
    assert found["turning_point"]["ahead"] == "black"
    leads = {"leads": [None, -1, -3]}
    assert client.good("/api/summary", {**asked, **leads})["turning_point"] is None


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"values": [0.5, 0.4]}, "values"), ({"values": [0.5, None, 0.8]}, "values"),
        ({"values": [0.5, 1.4, 0.8]}, "values"),
        ({"movers": ["white", "green"]}, "movers"), ({"marks": ["?!", "!!!"]}, "marks"), ({"losses": "0.1"}, "losses"),
        ({"losses": [0.1, True]}, "losses"), ({"leads": [0, 1]}, "leads"), ({"game": "shogi"}, "shogi"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(client: Client, wrong: dict[str, Any], words: str) -> None:
    assert client.good("/api/summary", GAME)
    assert mentions(client.error("/api/summary", {**GAME, **wrong}), words)
