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
from kibitz.store.store import Store
from support.board_client import Client, served, until
from support.causes import mentions, naming
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

    until(ready)
    return found


def test_what_was_played(client: Client, path: Path) -> None:
    start = explored(client, [])
    assert (start["stores"], start["store"], start["opening"]) == ([str(path)], str(path), None)
    assert start["games"] == 150 == sum(each["games"] for each in start["moves"])
    after = explored(client, [start["moves"][0]["move"]])
    assert after["games"] == start["moves"][0]["games"]
    assert explored(client, ["e2e4", "c7c5"])["opening"] == {"eco": "B20", "name": "Sicilian Defense"}
    assert explored(client, [], rating="1500-1700")["games"] < 150
    text = client.good("/api/stored", {"store": str(path), "game": start["examples"][0]["game"]})["text"]
    assert start["examples"][0]["white"] in text
    loaded = client.good("/api/load", {"text": text})
    assert len(loaded["tree"]) > 2
    assert loaded["problems"] == []


def test_without_a_store_of_the_game_only_the_opening(client: Client) -> None:
    assert client.good("/api/explore", {"line": {"game": "go", "moves": []}}) == {"stores": [], "opening": None}


def test_a_store_that_is_gone_leaves_the_others(path: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone.store"
    shutil.copytree(path, gone)
    with served([], [str(gone), str(path)]) as (client, _):
        explored(client, [], store=str(path))
        shutil.rmtree(gone)
        answer = client.good("/api/explore", {"line": {"game": "chess", "moves": []}})
        assert answer["stores"] == [str(gone), str(path)]
        assert mentions(answer["problem"], f"{gone} & deleted")
        assert explored(client, [], store=str(path))["games"] == 150


@pytest.mark.parametrize(
    ("route", "body", "words"),
    [
        ("/api/explore", {}, "line must be"),
        ("/api/explore", {"line": {"game": "chess", "moves": ["e2e5"]}}, "illegal"),
        ("/api/explore", {"line": {"game": "chess"}, "rating": "x"}, "range"),
        ("/api/stored", {"store": "/etc", "game": 0}, "unknown game store"),
        ("/api/stored-games", {"store": "/etc"}, "unknown game store"),
    ],
)
def test_what_is_refused(client: Client, route: str, body: Any, words: str) -> None:
    explored(client, [])
    assert words in client.error(route, body)


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"rating": "x"}, "range"),
        ({"result": "2"}, "must be one of"),
        ({"search": "a " * 21}, "at most 20 words"),
        ({"search": ["a"]}, "search & string"),
        ({"first": -1}, "first must be"),
        ({"first_year": "x"}, "first_year must be"),
        ({"last_year": 10_000}, "last_year must be"),
    ],
)
def test_a_search_that_cannot_be(client: Client, path: Path, wanted: dict[str, Any], words: str) -> None:
    explored(client, [])
    assert mentions(client.error("/api/stored-games", {"store": str(path), **wanted}), words)


def test_games_that_are_there_and_that_are_not(client: Client, path: Path) -> None:
    explored(client, [])
    for number in (0, 149):  # the first and the last
        assert "[White " in client.good("/api/stored", {"store": str(path), "game": number})["text"]
    for number in (-1, 150):
        assert "game must be" in client.error("/api/stored", {"store": str(path), "game": number})
    assert mentions(client.error("/api/stored", {"store": str(path)}), "game & number")


def found(client: Client, path: Path, **wanted: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.good("/api/stored-games", {"store": str(path), **wanted})
    return answer


def test_games_are_found(client: Client, path: Path) -> None:
    """Against a plain loop over all rows."""
    explored(client, [])
    rows = [{"game": i} | row for i, row in enumerate(Store(path).table().to_pylist())]
    first, second = rows[0], rows[1]
    mean = (first["white_rating"] + first["black_rating"]) // 2

    def means(row: dict[str, Any]) -> int | None:
        known = [rating for rating in (row["white_rating"], row["black_rating"]) if rating is not None]
        return sum(known) // len(known) if known else None

    for wanted, fits in [
        ({}, lambda row: True),
        ({"search": first["white"].upper()}, lambda row: first["white"] in row["white"] + "\n" + row["black"]),
        ({"result": "-1"}, lambda row: row["result"] == -1),
        ({"result": "0"}, lambda row: row["result"] == 0),
        ({"rating": f"{mean}-{mean}"}, lambda row: means(row) == mean),
        ({"first_year": 9999}, lambda row: False),
        ({"first_year": second["date"].year, "last_year": second["date"].year},
         lambda row: row["date"] is not None and row["date"].year == second["date"].year),
        ({"search": f"{first['white']} {first['date']}", "result": str(first["result"])},
         lambda row: all(row[name] == first[name] for name in ("white", "date", "result"))),
    ]:  # fmt: skip
        answer = found(client, path, **wanted)
        expected = {row["game"] for row in rows if fits(row)}
        assert {row["game"] for row in answer["games"]} == expected, wanted
        assert (answer["count"], answer["of"]) == (len(expected), 150)
        dates = [row["date"] or "" for row in answer["games"]]
        assert dates == sorted(dates, reverse=True)
    assert found(client, path, first=100)["games"] == found(client, path)["games"][100:]


def test_a_store_that_goes_away_is_told(tmp_path: Path) -> None:
    path = import_games(tmp_path / "b.store", limit=10).path
    with served([], [str(path)]) as (client, _):
        explored(client, [])
        shutil.rmtree(path)
        assert mentions(client.good("/api/explore", {"line": {"game": "chess"}})["problem"], "b.store & deleted")


def test_stores_and_networks_are_told_apart(path: Path) -> None:
    assert _divided(["winner", str(path)]) == ([str(path)], ["winner"])
    with pytest.raises(KibitzError):
        _divided([str(path.parent)])
    with pytest.raises(KibitzError, match=naming("other.store & store")):
        _divided([str(path.parent / "other.store")])
