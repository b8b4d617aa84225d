"""The stores that a board is given: what it answers of them, and what it refuses."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kibitz.commands.board import _divided
from kibitz.errors import KibitzError
from support.board_client import Client, served, until
from support.helpers import import_games


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return import_games(tmp_path_factory.mktemp("stores") / "a.store", limit=150).path


@pytest.fixture(scope="module")
def client(path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("here"))
    try:
        with served([], [str(path)]) as (found, _):
            yield found
    finally:
        os.chdir(before)


def explored(client: Client, moves: list[str], **more: Any) -> dict[str, Any]:
    """The answer, once the index is made."""
    found: dict[str, Any] = {}

    def ready() -> bool:
        found.update(client.good("/api/explore", {"line": {"game": "chess", "moves": moves}, **more}))
        return "games" in found

    until(ready, 60)
    return found


def test_what_was_played(client: Client, path: Path) -> None:
    start = explored(client, [])
    assert (start["stores"], start["store"], start["opening"]) == ([str(path)], str(path), None)
    assert start["games"] == 150 == sum(each["games"] for each in start["moves"])
    after = explored(client, [start["moves"][0]["move"]])
    assert after["games"] == start["moves"][0]["games"]
    assert explored(client, ["e2e4", "c7c5"])["opening"] == {"eco": "B20", "name": "Sicilian Defence"}
    assert explored(client, [], rating="1500-1700")["games"] < 150
    text = client.good("/api/stored", {"store": str(path), "game": start["examples"][0]["game"]})["text"]
    assert start["examples"][0]["white"] in text
    loaded = client.good("/api/load", {"text": text})
    assert len(loaded["tree"]) > 2
    assert loaded["problems"] == []


def test_without_a_store_of_the_game_only_the_opening(client: Client) -> None:
    assert client.good("/api/explore", {"line": {"game": "go", "moves": []}}) == {"stores": [], "opening": None}


@pytest.mark.parametrize(
    ("route", "body", "words"),
    [
        ("/api/explore", {}, "line must be"),
        ("/api/explore", {"line": {"game": "chess", "moves": ["e2e5"]}}, "illegal"),
        ("/api/explore", {"line": {"game": "chess"}, "rating": "x"}, "range"),
        ("/api/stored", {"store": "/etc", "game": 0}, "no such store"),
    ],
)
def test_what_is_refused(client: Client, route: str, body: Any, words: str) -> None:
    explored(client, [])
    assert words in client.error(route, body)


def test_a_game_that_is_not_there(client: Client, path: Path) -> None:
    explored(client, [])
    assert "game must be" in client.error("/api/stored", {"store": str(path), "game": 150})


def test_a_store_that_goes_away_is_told(tmp_path: Path) -> None:
    path = import_games(tmp_path / "b.store", limit=10).path
    with served([], [str(path)]) as (client, _):
        explored(client, [])
        shutil.rmtree(path)
        assert "the store is gone" in client.error("/api/explore", {"line": {"game": "chess"}})


def test_stores_and_networks_are_told_apart(path: Path) -> None:
    assert _divided(["winner", str(path)]) == ([str(path)], ["winner"])
    with pytest.raises(KibitzError):
        _divided([str(path.parent)])
