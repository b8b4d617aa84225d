"""One's own games on the board: what is read, the report beside that of the command, and a network made of them."""

from __future__ import annotations

import base64
import bz2
import contextlib
import datetime
import gzip
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
import zstandard

from kibitz.cli import run
from kibitz.commands.board import _records
from kibitz.errors import KibitzError
from kibitz.web.mygames.state import MyGames
from kibitz.web.mygames.telling import provisional
from support import person
from support.board_client import Client, served, until
from support.causes import mentions, naming
from support.helpers import import_games
from support.patience import PATIENCE

pytestmark = pytest.mark.process  # analyses and trainings are processes of their own

GAMES = 24


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games of one person, with two other games, of which one is of a variant."""
    path = tmp_path_factory.mktemp("mine") / "mine.pgn"
    others = '[White "A"]\n[Black "B"]\n\n1. e4 *\n\n[Variant "Atomic"]\n[White "ana munoz"]\n[Black "B"]\n\n1. e4 *\n'
    path.write_text(person.games(GAMES) + "\n" + others, encoding="utf-8")
    return path


@contextlib.contextmanager
def board(
    folder: Path, human_run: Path, stores: list[str] | None = None, records: Sequence[str] = ()
) -> Iterator[Client]:
    """A board that is served in a folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        with served([str(human_run)], stores, records) as (client, _):
            yield client
    finally:
        os.chdir(before)


@pytest.fixture(scope="module")
def client(human_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with board(tmp_path_factory.mktemp("here"), human_run) as client:
        yield client


def upload(client: Client, data: bytes, name: str = "mine.pgn", part: int = 1 << 20) -> Any:
    answer: Any = None
    for at in range(0, max(1, len(data)), part):
        some = base64.b64encode(data[at : at + part]).decode()
        answer = client.good(
            "/api/mygames/upload", {"name": name, "at": at, "data": some, "last": at + part >= len(data)}
        )
    return answer


def refused(client: Client, data: bytes, name: str = "mine.pgn") -> str:
    body = {"name": name, "at": 0, "last": True, "data": base64.b64encode(data).decode()}
    return client.error("/api/mygames/upload", body)


def ended(client: Client, what: str) -> dict[str, Any]:
    """How the analysis or the training ended."""
    until(lambda: client.get("/api/mygames").json[what]["state"] != "running", PATIENCE)
    task: dict[str, Any] = client.get("/api/mygames").json[what]
    return task


# Games


def test_a_file_comes_in_parts_and_packed(client: Client, mine: Path) -> None:
    for data, name in ((mine.read_bytes(), "a.pgn"), (gzip.compress(mine.read_bytes()), "a.pgn.gz")):
        games = upload(client, data, name, part=700)["games"]
        assert (games["name"], games["games"], games["variants"]) == (name, GAMES + 1, 1)
        assert games["players"][0] == {"name": person.PERSON, "games": GAMES}


@pytest.mark.parametrize(
    ("text", "game"), [("(;GM[1]PB[A]PW[B];B[dd])", "go"), ('[White "A"]\n[Black "B"]\n\n1. e4 *\n', "chess")]
)
def test_the_text_of_a_file_tells_its_game(client: Client, text: str, game: str) -> None:
    for name, data in (
        ("mine.txt", text.encode()),
        ("mine.txt.gz", gzip.compress(text.encode())),
        ("m", text.encode()),
    ):
        assert upload(client, data, name)["games"]["game"] == game


@pytest.mark.parametrize("ending", ["gz", "bz2", "zst"])
def test_a_packed_file_that_is_too_large_unpacked_gets_a_line(
    client: Client, mine: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kibitz.web.mygames import sources

    pack = {"gz": gzip.compress, "bz2": bz2.compress, "zst": zstandard.ZstdCompressor().compress}[ending]
    text = mine.read_bytes()
    bomb = pack(text + b" " * (2 << 20))
    monkeypatch.setattr(sources, "UNPACKED", 1 << 20)
    body = {"name": f"mine.pgn.{ending}", "at": 0, "last": True, "data": base64.b64encode(bomb).decode()}
    assert mentions(client.error("/api/mygames/upload", body), f"mine.pgn.{ending} & unpacks to more than 1 MB")
    assert upload(client, pack(text), f"mine.pgn.{ending}")["games"]["games"] == GAMES + 1


def test_games_of_the_command_line(human_run: Path, mine: Path, tmp_path: Path) -> None:
    store = import_games(tmp_path / "a.store", limit=20).path
    with board(tmp_path, human_run, [str(store)], [str(mine)]) as client:
        assert client.get("/api/mygames").json["given"] == [str(mine), str(store)]
        assert client.good("/api/mygames/open", {"name": str(mine)})["games"]["games"] == GAMES + 1
        games = client.good("/api/mygames/open", {"name": str(store)})["games"]
        assert games["games"] == 20
        assert mentions(client.error("/api/mygames/open", {"name": "/etc/passwd"}), "board")


def test_files_among_the_names_of_the_command_line(mine: Path, tmp_path: Path) -> None:
    folder = tmp_path / "years.pgn"
    folder.mkdir()
    with pytest.raises(KibitzError, match=naming("years.pgn & PGN or SGF & folder")):
        _records([str(folder)])
    for name in ("2.pgn", "1.PGN.gz", "notes.txt"):
        (folder / name).touch()
    (folder / "older.pgn").mkdir()
    inside = [str(folder / "1.PGN.gz"), str(folder / "2.pgn")]
    (tmp_path / "a.store").mkdir()
    (tmp_path / "a.store" / "store.json").touch()
    (tmp_path / "a.store" / "a.pgn").touch()
    store = str(tmp_path / "a.store")
    assert _records(["human", str(mine), store, str(folder)]) == ([str(mine), *inside], ["human", store])
    for name in ("nothing.pgn", "nothing.sgf"):
        with pytest.raises(KibitzError, match="no such file"):
            _records([name])
    (folder / "b.sgf").touch()
    assert _records([str(folder), str(folder / "b.sgf")]) == ([*inside, str(folder), str(folder / "b.sgf")], [])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "mine.pgn: the file is empty"),
        (b"hello, this is a letter", "mine.pgn & PGN & file"),
        (b"\x00\x01\x02", "mine.pgn & binary"),
        (b'[White "A"]\n[Variant "Atomic"]\n\n1. e4 *\n', "1 & chess"),
        (b'[Event "?"]\n\n1. e4 *\n', "player"),
    ],
)
def test_files_without_games_get_a_line(client: Client, data: bytes, words: str) -> None:
    assert mentions(refused(client, data), words)


def test_requests_without_sense_get_a_line(client: Client, mine: Path) -> None:
    upload(client, mine.read_bytes())
    for body, words, status in (
        ({"name": "a", "at": 0, "data": "?"}, "data must be base64", 400),
        ({"name": "a", "at": 7, "data": ""}, "part of the file is missing", 409),
        ({"name": "a", "at": -1, "data": ""}, "at must be", 400),
    ):
        assert words in client.error("/api/mygames/upload", body, status)
    for body, words in (
        ({"players": ["ana munos"]}, "Similar names: 'Muñoz, Ana' (24)"),
        ({"players": [" "]}, "no player given"),
        ({"players": "ana"}, "players must be a list"),
        ({"players": ["munoz ana"], "most": 0}, "most must be"),
    ):
        line = client.error("/api/mygames/analyse", body)
        assert words.replace("'", "") in line.replace("'", "")
    assert "unknown network" in client.error("/api/mygames/analyse", {"players": ["munoz ana"], "network": "x"}, 404)
    assert "unknown game" in client.error("/api/mygames/game", {"game": 999})


# Analysis


def without_files(found: dict[str, Any], told: dict[str, Any]) -> None:
    """Takes out of two reports how they name files, and out of the board's the sentences for the list of mistakes."""
    for each in (*found["worst"], *told["worst"]):
        del each["file"]
    for each in found["worst"]:
        if each["reason"]:
            why = each["reason"].pop("why")
            assert {"en", "de"} <= set(why)
            assert each["reason"]["text"].startswith(why["en"])
            assert why["en"] != why["de"]


def test_the_report_is_that_of_the_command(
    client: Client, human_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A game that is there again counts once."""
    games, again, plies = 6, 2, 10
    path = tmp_path / "mine.pgn"
    path.write_text(person.games(games, plies=plies) + "\n" + person.games(again, plies=plies), encoding="utf-8")
    upload(client, path.read_bytes())
    body = {"players": ["MUNOZ ana"], "network": str(human_run), "quick": True}
    began = client.good("/api/mygames/analyse", body)["analysis"]
    assert (began["games"], began["of"], began["player"]) == (games + again, games + again, person.PERSON)
    task = ended(client, "analysis")
    assert (task["state"], task["done"], task["left_out"], task["error"]) == ("done", games, again, "")
    found = client.get("/api/mygames/report").json["report"]
    assert found["games"] == games
    arguments = [
        "analyze",
        str(human_run),
        str(path),
        "--player",
        "Muñoz, Ana",
        "--depth",
        "2",
        "--nodes",
        "0",
        "--json",
    ]
    assert run(arguments) == 0
    told = json.loads(capsys.readouterr().out)["player"]
    without_files(found, told)
    # A quick report is not compared with other players.
    assert "usual_loss" in told
    assert "usual_loss" not in found
    assert found == provisional(told)
    assert found["by_time_left"]
    worst = found["worst"][0]
    record = client.good("/api/mygames/game", {"game": worst["game"]})["text"]
    assert worst["opponent"] in record
    tree = client.good("/api/load", {"text": record})["tree"]
    assert tree[worst["ply"]]["san"] == worst["san"]
    page = client.get("/api/mygames/page").json["html"]
    assert "Muñoz, Ana" in page
    assert page.startswith("<!doctype html>")


def test_only_the_newest_and_only_one_at_a_time(client: Client, human_run: Path, mine: Path) -> None:
    upload(client, mine.read_bytes())
    body = {"players": ["ana munoz"], "network": str(human_run), "quick": True, "most": 3}
    assert client.good("/api/mygames/analyse", body)["analysis"]["games"] == 3
    assert ended(client, "analysis")["state"] == "done"
    report = client.get("/api/mygames/report").json["report"]
    newest = {f"Opponent {number}" for number in range(GAMES - 3, GAMES)}
    assert report["games"] == 3
    assert {each["opponent"] for each in report["worst"]} <= newest
    client.good("/api/mygames/analyse", body | {"most": GAMES, "quick": False})
    assert mentions(client.error("/api/mygames/analyse", body, 409), "running")
    client.good("/api/mygames/stop", {"what": "analysis"})
    task = ended(client, "analysis")
    assert (task["state"], task["error"]) == ("stopped", "")
    assert task["done"] < GAMES


def test_no_speed_is_known_before_it_was_measured() -> None:
    known = MyGames([], cast("Any", None), cast("Any", None)).as_json()
    assert (known["pace"], known["engine_pace"]) == ({}, {})


def test_a_quick_report_is_deepened_and_stays_meanwhile(client: Client, human_run: Path) -> None:
    games = 3
    upload(client, person.games(games, plies=8).encode())
    body = {"players": ["ana munoz"], "network": str(human_run), "quick": True}
    client.good("/api/mygames/analyse", body)
    assert ended(client, "analysis")["stage"] == "quick"
    quick = client.get("/api/mygames/report").json
    assert quick["report"]["games"] == games
    client.good("/api/mygames/analyse", body | {"quick": False})
    kept = client.get("/api/mygames/report").json["report"]
    assert kept["games"] == games
    task = ended(client, "analysis")
    assert (task["stage"], task["done"], task["state"]) == ("thorough", games, "done")
    deep = client.get("/api/mygames/report").json
    assert deep["revision"] > quick["revision"]
    assert (deep["report"]["games"], deep["report"]["moves"]) == (games, quick["report"]["moves"])
    assert deep["report"]["loss"] != quick["report"]["loss"]
    assert quick["report"]["provisional"]
    assert "provisional" not in deep["report"]
    assert "difference" in deep["report"]
    pace = client.get("/api/mygames").json["pace"]
    assert set(pace) == {"quick", "thorough"}
    # Another analysis begins with an empty report.
    client.good("/api/mygames/analyse", body)
    assert client.get("/api/mygames/report").json["report"].get("games", 0) < games
    assert ended(client, "analysis")["state"] == "done"


def test_the_work_ends_with_the_board(human_run: Path, mine: Path, tmp_path: Path) -> None:
    with board(tmp_path, human_run) as client:
        upload(client, mine.read_bytes())
        client.good("/api/mygames/analyse", {"players": ["ana munoz"], "network": str(human_run)})
        until(lambda: _child(tmp_path))  # a process that has just begun has no name for a moment
        process = _child(tmp_path)
        assert process
    until(lambda: not _alive(process))


def _child(folder: Path) -> int | None:
    """The process that works in a folder."""
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and (entry / "cwd").resolve() == folder.resolve():
                line = (entry / "cmdline").read_bytes()
                if b"kibitz.web.mygames" in line:
                    return int(entry.name)
    return None


def _alive(process: int) -> bool:
    try:
        return b") Z " not in Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return False


MOVES = ("ee", "gc", "cc", "gg", "eg")
MISTAKE = ("ee", "gc", "ac")
"""The last move loses some points, but too few for a search with `LONG_VISITS`, which takes long."""


def go_games(count: int) -> str:
    """Short games of Go on a small board, one a week."""
    texts = []
    for number in range(count):
        moves = MISTAKE if number == 1 else MOVES[: 3 + number % 3]
        played = "".join(f";{'BW'[ply % 2]}[{point}]" for ply, point in enumerate(moves))
        players = ("Kim", f"Other {number}") if number % 2 else (f"Other {number}", "Kim")
        date = datetime.date(2024, 1, 1) + datetime.timedelta(days=20 * number)
        texts.append(f"(;GM[1]SZ[9]KM[6.5]PB[{players[0]}]PW[{players[1]}]BR[3k]WR[3k]DT[{date}]RE[B+R]{played})\n")
    return "".join(texts)


def test_the_report_of_a_go_player_is_that_of_the_command(
    client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = go_games(4)
    (tmp_path / "kim.sgf").write_text(text)
    games = upload(client, text.encode(), "kim.sgf")["games"]
    assert (games["game"], games["games"], games["players"][0]) == ("go", 4, {"name": "Kim", "games": 4})
    began = client.good("/api/mygames/analyse", {"players": ["kim"]})["analysis"]
    assert (began["game"], began["network"], began["games"]) == ("go", "gohuman", 4)
    task = ended(client, "analysis")
    assert (task["state"], task["stage"], task["done"], task["error"]) == ("done", "thorough", 4, "")
    answer = client.get("/api/mygames/report").json
    assert (answer["game"], answer["stage"]) == ("go", "thorough")
    assert run(["analyze", "gohuman", str(tmp_path / "kim.sgf"), "--player", "Kim", "--json"]) == 0
    told, found = json.loads(capsys.readouterr().out)["player"], answer["report"]
    without_files(found, told)
    assert found == told
    assert found["worst"]
    assert found["lately"]["earlier_loss"]["games"] > 0
    # The record on the board has the moves of the report.
    record = client.good("/api/mygames/game", {"game": 2})["text"]
    tree = client.good("/api/load", {"text": record})["tree"]
    assert len(tree) == 1 + len(MISTAKE)
    page = client.get("/api/mygames/page").json["html"]
    assert "Kim" in page
    assert "Area" in page
    assert mentions(client.error("/api/mygames/repertoire", {"players": ["Kim"]}), "chess")
    # A quick report has the same games; the searches find more than the network alone.
    client.good("/api/mygames/analyse", {"players": ["kim"], "quick": True})
    assert ended(client, "analysis")["stage"] == "quick"
    quick = client.get("/api/mygames/report").json
    assert (quick["stage"], quick["report"]["games"], quick["report"]["moves"]) == ("quick", 4, found["moves"])
    assert quick["report"]["loss"] != found["loss"]


# Training


def test_a_network_is_made_of_the_games(human_run: Path, mine: Path, tmp_path: Path) -> None:
    with board(tmp_path, human_run) as client:
        upload(client, mine.read_bytes())
        body = {"players": ["ana munoz"], "base": str(human_run)}
        began = client.good("/api/mygames/train", body)["training"]
        made = "runs/personal-ana-munoz"
        assert (began["state"], began["run"], began["games"]) == ("running", made, GAMES)
        assert mentions(client.error("/api/mygames/train", body, 409), "running")
        until(lambda: client.get("/api/mygames").json["training"].get("iteration"), PATIENCE)
        client.good("/api/mygames/stop", {"what": "training"})
        assert ended(client, "training")["state"] == "stopped"
        client.good("/api/mygames/train", body)
        task = ended(client, "training")
        assert (task["state"], task["error"]) == ("done", "")
        known = {each["name"]: each for each in client.get("/api/networks").json["networks"]}
        assert known[made]["system"] == "personal"
        assert known[made]["problem"] is None
        move = client.stream("/api/think", {"network": made, "line": {"game": "chess"}, "method": "top-prob"})[-1][
            "move"
        ]
        assert move


def test_too_few_games_are_refused(client: Client) -> None:
    upload(client, person.games(7).encode())
    line = client.error("/api/mygames/train", {"players": ["ana munoz"]})
    assert mentions(line, "7 & Muñoz & Ana & 20 & games")
