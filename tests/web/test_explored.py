"""The explorer of files and of one's own games: what it counts, what it refuses, and that nothing of it stays."""

from __future__ import annotations

import base64
import gzip
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import pytest

from kibitz.explorer.answers import Explorer
from kibitz.explorer.report import explore
from kibitz.web import explored, given
from kibitz.web.mygames.sources import PgnSource
from kibitz.web.mygames.state import _explored
from support import person
from support.board_client import Client, served, until
from support.causes import mentions
from support.helpers import import_games

ONE = '[White "A"]\n[Black "B"]\n[Date "2001.02.03"]\n[Result "{}"]\n\n{} {}\n\n'
GO = "(;GM[1]FF[4]SZ[19]CA[GB2312]PB[甲]PW[乙]RE[{}];B[pd];W[{}];B[pq])"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Temporary folders of a test are in a folder of its own."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.chdir(tmp_path)
    with served([]) as (found, _):
        yield found


def send(client: Client, text: str, game: str = "chess", part: int = 1 << 20, upload: str = "abcdefgh") -> str:
    """Send a file in parts. Returns the name of its store."""
    data, answer = text.encode(), {}
    for at in range(0, max(1, len(data)), part):
        answer = client.good("/api/explore/upload", sent(data, at, part, game, upload))
    name: str = answer["store"]
    return name


def sent(data: bytes, at: int, part: int, game: str = "chess", upload: str = "abcdefgh") -> dict[str, Any]:
    some = base64.b64encode(data[at : at + part]).decode()
    return {"upload": upload, "game": game, "at": at, "data": some, "last": at + part >= len(data)}


def explored_by(client: Client, line: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The answer, once the store is made."""
    found: dict[str, Any] = {}

    def ready() -> bool:
        found.clear()
        found.update(client.good("/api/explore", {"line": line, **more}))
        return "building" not in found

    until(ready)
    return found


def start(**more: Any) -> dict[str, Any]:
    return {"game": "chess", "moves": [], **more}


def small(*games: tuple[str, str]) -> str:
    """A file of games: result and moves of each."""
    return "".join(ONE.format(result, moves, result) for result, moves in games)


def test_a_sent_file_counts_as_its_store_does(client: Client, bundled_file: Path, tmp_path: Path) -> None:
    text = "".join(person.games(40, seed=seed) for seed in (1, 2))
    file = tmp_path / "some.pgn"
    file.write_text(text, encoding="utf-8")
    name = send(client, text, part=3000)
    assert name == send(client, text, upload="other123")  # the same games are the same store
    found = explored_by(client, start(), store=name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("support.helpers.GAMES", file)
        of_store = explore(Explorer(import_games(tmp_path / "b.store")))
    for key in ("games", "white", "draws", "black", "average_rating", "moves"):
        assert found[key] == of_store[key], key
    assert found["has"] == {"ratings": True, "dates": True}
    assert (found["left_out"], found["stores"]) == ({}, [])
    # the numbers are those of the file
    for row in found["examples"]:
        assert row["white"] in text.split("[Event ")[row["number"]]


def test_filters(client: Client) -> None:
    games = (("1-0", "1. e4 e5 2. Nf3"), ("0-1", "1. e4 c5 2. Nf3"), ("1/2-1/2", "1. d4 d5"), ("1-0", "1. e4 e5 2. f4"))
    text = small(*games[:3]) + small(games[3]).replace("2001", "2011")
    name = send(client, text)
    asked = {"line": start(), "store": name}
    assert explored_by(client, start(), store=name)["has"] == {"ratings": False, "dates": True}

    def moves(**more: Any) -> dict[str, int]:
        return {each["san"]: each["games"] for each in client.good("/api/explore", {**asked, **more})["moves"]}

    assert moves() == {"e4": 3, "d4": 1}
    assert moves(result="1") == {"e4": 2}
    assert moves(result="0") == {"d4": 1}
    assert moves(result="-1", last_year=2001) == {"e4": 1}
    assert moves(first_year=2002) == {"e4": 1}
    assert moves(last_year=2000) == {}
    assert moves(rating="1000-2000") == {}
    # the games behind a move
    line = start(moves=["e2e4"])
    cases: list[tuple[dict[str, Any], int]] = [
        ({}, 4),
        ({"line": line}, 3),
        ({"line": line, "move": "e7e5"}, 2),
        ({"line": line, "move": "e7e5", "first_year": 2002}, 1),
        ({"line": line, "move": "a7a6"}, 0),
    ]
    for more, count in cases:
        answer = client.good("/api/stored-games", {"store": name, **more})
        assert (answer["count"], answer["of"], len(answer["games"])) == (count, 4, count)
    assert answer["games"] == []
    assert "side must be" in client.error("/api/explore", {**asked, "side": "white"})


def test_skipped_games_are_named_and_a_file_without_any_is_explained(client: Client) -> None:
    mixed = send(client, small(("1-0", "1. e4 e5"), ("*", "1. d4 d5"), ("*", "1. c4")))
    found = explored_by(client, start(), store=mixed)
    assert (found["games"], found["left_out"]) == (1, {"no result": 2})
    none = explored_by(client, start(), store=send(client, small(("*", "1. d4 d5"))))
    assert mentions(none["problem"], "the opened file & no result (1) & with a result")
    assert "games" not in none
    assert "kibitz-" not in none["problem"]


def test_a_file_of_go(client: Client) -> None:
    text = "\n".join(GO.format(result, move) for result, move in (("B+R", "dp"), ("W+2.5", "dp"), ("B+T", "dd")))
    name = send(client, text, "go")
    line = {"game": "go", "moves": ["Q16"]}
    found = explored_by(client, line, store=name)
    assert found["games"] == 3
    assert Counter({each["games"] for each in found["moves"]}) == Counter({1: 1, 2: 1})
    assert found["examples"][0]["black"] == "甲"  # though the text says that it is in another encoding
    assert "(;" in client.good("/api/stored", {"store": name, "game": 0})["text"]
    assert "moves" not in client.good("/api/explore", {"line": start(), "store": name})
    assert mentions(client.error("/api/stored-games", {"store": name, "line": start()}), "same game")


def test_what_is_refused(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    good = sent(small(("1-0", "1. e4 e5")).encode(), 0, 1 << 20)
    assert client.good("/api/explore/upload", good)["store"].startswith("@chess-")
    for change, status, words in (
        ({"upload": "../../x"}, 400, "upload must be"), ({"upload": 3}, 400, "upload must be"),
        ({"data": "%"}, 400, "data must be base64"), ({"game": "checkers"}, 400, "game must be"),
        ({"at": 5}, 409, "part of the file is missing"), ({"at": -1}, 400, "at must be"),
    ):  # fmt: skip
        assert words in client.error("/api/explore/upload", good | change, status)
    assert client.good("/api/explore", {"line": start(), "store": "@chess-0"})["missing"] is True
    assert "unknown game store" in client.error("/api/stored", {"store": "@chess-0", "game": 0})
    assert "mine" not in client.good("/api/explore", {"line": start(), "store": explored.MINE})
    monkeypatch.setattr(explored, "LARGEST", 20)
    assert mentions(client.error("/api/explore/upload", good, 413), "too large & kibitz import games.pgn")


def test_a_file_with_too_many_games(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    text = small(("1-0", "1. e4 e5"), ("1-0", "1. d4 d5"))
    monkeypatch.setattr(explored, "MOST_GAMES", 1)
    found = explored_by(client, start(), store=send(client, text))
    assert mentions(found["problem"], "too large & kibitz import")


def folders(here: Path) -> list[Path]:
    return [store for folder in here.iterdir() if (store := folder / "games.store").exists()]


def test_few_stores_are_kept_and_none_stays(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with served([]) as (client, _):
        names = []
        for number in range(explored.MAX_STORES + 2):
            names.append(send(client, small(("1-0", f"1. e4 {'abcdefgh'[number]}6"))))
            assert explored_by(client, start(), store=names[-1])["games"] == 1
        assert len(set(names)) == len(names)
        until(lambda: len(folders(here)) == explored.MAX_STORES)
        assert client.good("/api/explore", {"line": start(), "store": names[0]})["missing"] is True
        assert explored_by(client, start(), store=names[-1])["games"] == 1
        assert [file for folder in here.iterdir() for file in folder.glob("*.pgn")] == []  # only stores are kept
    assert list(here.iterdir()) == []


def test_a_file_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mine.pgn"
    file.write_text(small(("1-0", "1. e4 {why} e5"), ("*", "1. d4"), ("0-1", "1. c4 c5")))
    with served([], None, ["mine.pgn"]) as (client, _):
        found = explored_by(client, start())
        assert (found["stores"], found["store"], found["games"]) == (["mine.pgn"], "mine.pgn", 2)
        assert [row["number"] for row in found["examples"]] == [1, 3]
        for game, words in ((0, "{why}"), (1, "1. c4 c5")):  # as the file has them
            assert words in client.good("/api/stored", {"store": "mine.pgn", "game": game})["text"]
        file.write_text(small(("1-0", "1. e4 e5")))
        os.utime(file, (time.time() + 5, time.time() + 5))
        assert explored_by(client, start())["games"] == 1
        assert file.exists()
        file.unlink()
        assert mentions(client.good("/api/explore", {"line": start()})["problem"], "mine.pgn & deleted")


GO_COMMENT = "(;GM[1]FF[4]SZ[19]CA[GB2312]PB[甲]PW[乙]RE[{}];B[pd];W[{}]C[第一])"


def test_a_file_and_a_folder_of_go_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    games = [GO_COMMENT.format(result, move) for result, move in (("B+R", "dp"), ("", "dd"), ("W+2.5", "qp"))]
    file = tmp_path / "some.sgf"
    file.write_bytes("\n".join(games).encode("gb18030"))
    folder = tmp_path / "mine"
    folder.mkdir()
    for number, game in enumerate(games):
        (folder / f"{number}.sgf").write_text(game.replace("GB2312", "UTF-8"), encoding="utf-8")
    (tmp_path / "chess.pgn").write_text(small(("1-0", "1. e4 e5")))
    line = {"game": "go", "moves": ["Q16"]}
    with served([], None, ["some.sgf", "mine", "chess.pgn"]) as (client, _):
        given = client.get("/api/given").json
        assert (given["name"], client.good("/api/load", {"text": given["text"]})["count"]) == ("some.sgf", 3)
        assert "甲" in given["text"]
        for name, numbers in (("some.sgf", [1, 3]), ("mine", [None, None])):
            found = explored_by(client, line, store=name)
            assert (found["stores"], found["games"], found["left_out"]) == (["some.sgf", "mine"], 2, {"no result": 1})
            # The second game of the folder is the third of the text that the page shows, so it has no number there.
            assert sorted((row.get("number") for row in found["examples"]), key=str) == numbers
            text = client.good("/api/stored", {"store": name, "game": 1})["text"]
            assert "C[第一]" in text  # as the file has it
            assert "W+2.5" in text
        assert explored_by(client, start())["stores"] == ["chess.pgn"]
        assert client.get("/api/mygames").json["given"] == ["chess.pgn"]
    with served([], None, ["mine"]) as (client, _):
        assert client.good("/api/load", {"text": client.get("/api/given").json["text"]})["count"] == 3


def test_the_first_file_is_opened_unless_it_is_large_or_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert given.first_file([]) == {}
    text = small(("1-0", "1. e4 e5"))
    (tmp_path / "a.pgn").write_text(text)
    assert given.first_file(["a.pgn", "b.pgn"]) == {"name": "a.pgn", "text": text}
    (tmp_path / "a.sgf").write_text(GO.format("B+R", "dp"))
    assert "text" in given.first_file(["a.sgf"])
    monkeypatch.setattr(given, "LARGEST", 30)
    for name in ("a.pgn", "a.sgf"):
        assert given.first_file([name]) == {"name": name}
    (tmp_path / "b.sgf").write_text("a letter")
    assert mentions(given.first_file(["b.sgf"])["problem"], "b.sgf & no games")
    assert "problem" in given.first_file(["missing.pgn"])


def test_a_game_without_moves_keeps_its_side_to_itself(tmp_path: Path) -> None:
    """The next game, whose headers are in another order, is a game of its own."""
    file = tmp_path / "a.pgn"
    played = '[Site "s"]\n[White "{}"]\n[Black "{}"]\n[Result "1-0"]\n\n1. e4 e5 2. d4 d5 1-0\n\n'
    other = '[White "Q"]\n[Black "R"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n\n'
    none = '[White "Me"]\n[Black "B"]\n\n'
    file.write_text(none + other + played.format("C", "Me") + played.format("Me", "D"), encoding="utf-8")
    source = PgnSource(file, tmp_path / "copy.pgn", "a.pgn")
    chosen = source.newest(source.find(["Me"]), 10)
    stores = explored.BuiltStores()
    found = stores.find(explored.MINE, _explored(1, "Me", source, chosen))
    assert found is not None
    # Another report of the same games keeps the index, one of fewer games does not.
    assert stores.find(explored.MINE, _explored(1, "Me", source, source.newest(source.find(["Me"]), 10))) is found
    assert explored.BuiltStores().find(explored.MINE, _explored(1, "Me", source, chosen[:1])) is not found
    until(lambda: found.ready() is not None)
    assert found.sides is not None
    assert list(zip(found.numbers.tolist(), found.sides.tolist(), strict=True)) == [(2, -1), (3, 1)]
    assert found.left_out == {"no moves": 1}
    assert '[White "C"]' in found.text(0)
    stores.end()


@pytest.mark.process
def test_my_games(client: Client, tmp_path: Path) -> None:
    """The games of a report, by the side of the player."""
    assert "mine" not in client.good("/api/explore", {"line": start()})
    data = person.games(24).encode()
    client.good(
        "/api/mygames/upload", {"name": "a.pgn", "at": 0, "last": True, "data": base64.b64encode(data).decode()}
    )
    asked = {"players": [person.PERSON], "network": "human", "most": 20, "quick": True}
    client.good("/api/mygames/analyse", asked)
    client.good("/api/mygames/stop", {"what": "analysis"})
    mine = client.good("/api/explore", {"line": start()})["mine"]
    assert mine == {"store": explored.MINE, "player": person.PERSON, "games": 20}
    white = explored_by(client, start(), store=explored.MINE, side="white")
    black = explored_by(client, start(), store=explored.MINE, side="black")
    both = explored_by(client, start(), store=explored.MINE)
    assert (white["games"], black["games"], both["games"]) == (10, 10, 20)
    first = chess.Move.from_uci(person.OWN[chess.WHITE][0]).uci()
    assert [(each["move"], each["games"]) for each in white["moves"]] == [(first, 10)]
    assert (white["white"], white["black"]) == (0, 10)  # the person has White in odd games, and loses them
    dates = [row["date"] for row in white["examples"]]
    assert dates == sorted(dates, reverse=True)
    assert all(row["white"] == person.PERSON for row in white["examples"])
    listed = client.good("/api/stored-games", {"store": explored.MINE, "line": start(), "move": first, "side": "white"})
    assert listed["count"] == 10
    text = client.good("/api/stored", {"store": explored.MINE, "game": listed["games"][0]["game"]})["text"]
    assert listed["games"][0]["black"] in text
    assert "[%clk" in text  # as it was written
    until(lambda: client.get("/api/mygames").json["analysis"]["state"] != "running")


def test_a_store_that_failed_for_a_passing_reason_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason is told once; the next request finds the file free, or room on the disk."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.pgn").write_text(small(("1-0", "1. e4 e5")))
    store = import_games(tmp_path / "a.store", limit=20).path
    with served([], [str(store)], ["mine.pgn"]) as (client, _):
        real, full = Explorer.__init__, True

        def begin(self: Explorer, *given: Any, **more: Any) -> None:
            if full:
                raise OSError(28, "No space left on device")
            real(self, *given, **more)

        monkeypatch.setattr(Explorer, "__init__", begin)
        sent_ = send(client, small(("1-0", "1. d4 d5")))
        names = [str(store), "mine.pgn", sent_]
        for name in names:
            assert "no space left" in explored_by(client, start(), store=name)["problem"]
        full = False
        for name in names[:2]:
            assert explored_by(client, start(), store=name)["games"] > 0
        # the page sends the file again
        assert explored_by(client, start(), store=sent_)["missing"] is True
        assert send(client, small(("1-0", "1. d4 d5"))) == sent_
        assert explored_by(client, start(), store=sent_)["games"] == 1
        # a file without games stays without games
        none = send(client, small(("*", "1. d4 d5")))
        for _ in range(2):
            assert "no game counts" in explored_by(client, start(), store=none)["problem"]


def test_a_packed_file_that_is_too_large_unpacked_gets_a_line(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = gzip.compress(small(*[("1-0", "1. e4 e5")] * 30_000).encode())

    def explored_packed() -> dict[str, Any]:
        answer = client.good("/api/explore/upload", sent(packed, 0, len(packed)))
        return explored_by(client, start(), store=answer["store"])

    monkeypatch.setattr(explored, "UNPACKED", 1 << 20)
    assert mentions(explored_packed()["problem"], "the opened file & unpacks to more than 1 MB & Split")


def test_a_packed_file_within_the_limit_is_read(client: Client) -> None:
    packed = gzip.compress(small(*[("1-0", "1. e4 e5")] * 30).encode())
    answer = client.good("/api/explore/upload", sent(packed, 0, len(packed)))
    found = explored_by(client, start(), store=answer["store"])
    assert (found["games"], found["left_out"]) == (1, {"duplicate": 29})
