"""Games of an account: every command takes its name, downloads what is new, and filters."""

from __future__ import annotations

import datetime
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kibitz.online.accounts import GameChoice, account_in
from kibitz.online.cache import opened
from kibitz.store.store import Store
from support.causes import Ended, in_process, must_succeed, refused
from support.game_server import FIRST, MINUTE, Game, GameServer

NAME = "Tester-1"
SITES = ("lichess", "chesscom", "ogs")
NEW_GAME = {"lichess": "/api/games/user/", "chesscom": "/games/20", "ogs": "/sgf"}
DAY = 1440 * MINUTE


@pytest.fixture
def fetch(tmp_path: Path) -> Callable[..., tuple[Ended, Store | None]]:
    """Imports an account; returns how the call ended, and the store."""
    count = 0

    def call(source: str, *options: object) -> tuple[Ended, Store | None]:
        nonlocal count
        count += 1
        into = tmp_path / f"{count}.store"
        ended = in_process(["import", source, "--into", into, *options])
        return ended, Store(into) if ended.code == 0 else None

    return call


Fetch = Callable[..., tuple[Ended, Store | None]]


def numbers(server: GameServer, store: Store | None) -> list[int]:
    """Which games of the server a store has."""
    assert store is not None
    names = [set(pair) for pair in zip(store.column("white"), store.column("black"), strict=True)]
    return sorted(int(re.sub(r"\D", "", next(iter(pair - {server.name})))) for pair in names)


@pytest.mark.parametrize("site", SITES)
def test_all_games_come_once(site: str, server: GameServer, fetch: Fetch) -> None:
    ended, store = fetch(f"{site}:{NAME}")
    assert numbers(server, store) == list(range(24)), ended
    before = len(server.asked(NEW_GAME[site]))
    server.games.append(Game(24))
    again, store = fetch(f"{site}:{NAME.upper() if site != 'ogs' else NAME}")
    assert numbers(server, store) == list(range(25)), again
    assert "1 new game" in again.err
    asked = server.asked(NEW_GAME[site])[before:]
    if site == "ogs":
        assert len(asked) == 1
    if site == "lichess":
        usual = [request.parameters for request in asked if "perfType" not in request.parameters]
        assert usual
        assert all(int(one["since"]) > FIRST + DAY for one in usual)


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize(
    ("options", "takes"),
    [
        (["--rated"], lambda game: game.rated),
        (["--since", "2026-01-05"], lambda game: game.day.date() >= datetime.date(2026, 1, 5)),
        (["--until", "2026-01-04"], lambda game: game.day.date() <= datetime.date(2026, 1, 4)),
        (["--speed", "blitz"], lambda game: game.speed == "blitz"),
        (["--limit", "5"], lambda game: game.number >= 19),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_filters(
    site: str, options: list[str], takes: Callable[[Game], bool], server: GameServer, fetch: Fetch
) -> None:
    """The same games come if all were downloaded before, and if none were."""
    expected = [game.number for game in server.games if takes(game)]
    assert 0 < len(expected) < 24
    first = fetch(f"{site}:{NAME}", *options)
    assert numbers(server, first[1]) == expected, first
    everything = fetch(f"{site}:{NAME}")
    assert numbers(server, everything[1]) == list(range(24)), everything
    again = fetch(f"{site}:{NAME}", *options)
    assert numbers(server, again[1]) == expected, again


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("option", [("--speed", "blitz"), ("--rated",)])
def test_games_after_a_filtered_download_come_later(
    site: str, option: tuple[str, ...], server: GameServer, fetch: Fetch
) -> None:
    """All games are kept, then only some of the newer ones are requested."""
    first, server.games = server.games, server.games[:12]
    fetch(f"{site}:{NAME}")
    server.games = first + [
        Game(number, ["blitz", "rapid"][number % 2], rated=number % 3 != 0) for number in range(24, 40)
    ]
    fetch(f"{site}:{NAME}", *option)
    fetch(f"{site}:{NAME}")
    account = account_in(f"{site}:{NAME}")
    assert account is not None
    with opened(account) as kept:
        assert len(kept.entries) == 40


def test_a_limit_downloads_no_more(server: GameServer, fetch: Fetch) -> None:
    """Then more: the games before them follow, and none comes twice."""
    fetch(f"lichess:{NAME}", "--limit", "4")
    assert [request.parameters.get("max") for request in server.asked("/api/games/user/")] == ["4"]
    fetch(f"ogs:{NAME}", "--limit", "4")
    assert len(server.asked("/sgf")) == 4
    ended, store = fetch(f"ogs:{NAME}", "--limit", "10")
    assert len(server.asked("/sgf")) == 10
    assert numbers(server, store) == list(range(14, 24)), ended


def test_games_between_two_limits_come_later(server: GameServer, fetch: Fetch) -> None:
    """Games 0 to 19 exist at first; the newest five of 24 leave a gap."""
    server.games, later = server.games[:10], server.games[10:]
    fetch(f"lichess:{NAME}", "--limit", "3")
    server.games += later
    _, store = fetch(f"lichess:{NAME}", "--limit", "5")
    assert numbers(server, store) == [19, 20, 21, 22, 23]
    _, store = fetch(f"lichess:{NAME}")
    assert numbers(server, store) == list(range(24))


def test_a_correspondence_game_that_ends_later_comes(server: GameServer, fetch: Fetch) -> None:
    """lichess lists games by their beginning."""
    ended, store = fetch(f"lichess:{NAME}")
    assert numbers(server, store) == list(range(24)), ended
    server.games.append(Game(24, "correspondence", moment=FIRST + 6 * DAY + 1))
    server.games.append(Game(25, moment=FIRST + 300 * DAY))
    _, store = fetch(f"lichess:{NAME}")
    assert numbers(server, store) == list(range(26))


def test_the_file_has_the_newest_game_first(server: GameServer, tmp_path: Path) -> None:
    must_succeed(["import", f"lichess:{NAME}", "--into", tmp_path / "a.store"], once=str(tmp_path))
    [file] = (tmp_path / "cache" / "kibitz" / "games" / "lichess" / NAME.lower()).glob("*.pgn")
    dates = re.findall(r'UTCDate "([^"]+)', file.read_text())
    assert dates == sorted(dates, reverse=True)
    assert len(dates) == 24


def test_an_account_becomes_a_report_with_one_command(server: GameServer, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    ended = in_process(
        ["analyze", "winner", f"lichess:{NAME}", "--mine", "--depth", "1", "--limit", "6", "--page", page, "--json"]
    )
    assert ended.code == 0, ended.err
    data = json.loads(ended.out)
    assert len(data["games"]) == 6
    assert page.stat().st_size > 1000


def test_analyze_downloads_the_newest_game_alone(server: GameServer) -> None:
    ended = in_process(["analyze", "winner", f"lichess:{NAME}", "--depth", "1", "--json"])
    assert ended.code == 0, ended.err
    assert [request.parameters.get("max") for request in server.asked("/api/games/user/")] == ["1"]


def test_the_token_goes_to_lichess_alone(server: GameServer, fetch: Fetch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIBITZ_LICHESS_TOKEN", "secret")
    monkeypatch.setenv("KIBITZ_CONTACT", "me@example.org")
    for site in SITES:
        assert fetch(f"{site}:{NAME}", "--limit", "2")[0].code == 0
    lichess = server.asked("/api/games/user/")
    assert {request.headers["Authorization"] for request in lichess} == {"Bearer secret"}
    others = [request for request in server.requests if "/pub/" in request.path or "/v1/" in request.path]
    assert others
    assert not any("Authorization" in request.headers for request in others)
    assert all("me@example.org" in request.headers["User-Agent"] for request in server.requests)


def test_it_waits_between_requests_to_a_real_site(
    server: GameServer, fetch: Fetch, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    from kibitz.online import client

    fetch(f"ogs:{NAME}", "--limit", "3")
    assert waits == []
    monkeypatch.setattr(client, "_LOOPBACK", set())
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    fetch(f"ogs:{NAME}", "--limit", "6")
    assert len(waits) >= 3
    assert all(0 < wait <= 1 for wait in waits)


@pytest.mark.parametrize(
    ("source", "options", "code", "words"),
    [
        ("lichess:", [], 2, "lichess:NAME"),
        ("ogs:..", [], 2, "ogs:NAME"),
        ("lichess:a/b", [], 2, "a/b"),
        ("kgs:NAME", [], 2, "KGS"),
        ("liches:NAME", [], 2, "lichess:NAME"),
        ("somewhere:NAME", [], 1, "somewhere:NAME"),
        (f"lichess:{NAME}", ["--speed", "live"], 2, "live"),
        (f"lichess:{NAME}", ["--limit", "0"], 2, "0"),
        (f"lichess:{NAME}", ["--since", "2027"], 1, NAME),
    ],
)
def test_wrong_names_and_filters(
    source: str, options: list[str], code: int, words: str, server: GameServer, tmp_path: Path
) -> None:
    into = ["--into", tmp_path / "a.store"]
    refused(["import", f"lichess:{NAME}", *into], ["import", source, *into, *options], code=code, names=words)


def test_a_long_name_in_another_script(server: GameServer, fetch: Fetch) -> None:
    folders = set()
    for name in ("中" * 60, "中" * 59 + "国"):
        server.name = name
        fetch(f"ogs:{name}", "--limit", "2")
        account = account_in(f"ogs:{name}")
        assert account is not None
        assert account.folder.is_dir()
        folders.add(account.folder)
    assert len(folders) == 2


def test_options_of_accounts_need_an_account(server: GameServer, tmp_path: Path) -> None:
    file = tmp_path / "games.pgn"
    file.write_text(server.games[0].pgn(NAME))
    must_succeed(["analyze", "winner", file, "--depth", "1"], once="a file")
    refused(
        ["import", file, "--into", tmp_path / "a.store"],
        ["import", file, "--into", tmp_path / "b.store", "--rated"], code=2, names="--rated",
    )  # fmt: skip
    refused(
        ["analyze", "winner", file, "--depth", "1"],
        ["analyze", "winner", file, "--limit", "3"],
        code=2,
        names="--limit",
    )
    refused(
        ["analyze", "winner", f"lichess:{NAME}", "--depth", "1"], ["analyze", "winner", f"ogs:{NAME}"], code=2,
        names="Go",
    )  # fmt: skip


def test_a_file_with_such_a_name_is_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert account_in("lichess:NAME") is not None
    Path("lichess:NAME").touch()
    assert account_in("lichess:NAME") is None
    assert account_in("https://lichess.org") is None
    assert account_in("games.pgn") is None


def test_without_the_extra_it_names_the_command(
    server: GameServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util

    find = importlib.util.find_spec
    call = ["import", f"lichess:{NAME}", "--into", tmp_path / "a.store"]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "httpx" else find(name, *rest))
    ended = in_process(call)
    assert (ended.code, "kibitz[online]" in ended.err, len(ended.err.splitlines())) == (1, True, 1)
    assert server.requests == []
    monkeypatch.undo()


def test_nothing_of_it_is_loaded_for_a_file(tmp_path: Path, server: GameServer) -> None:
    file = tmp_path / "games.pgn"
    file.write_text(server.games[0].pgn(NAME))
    sys.modules.pop("kibitz.online.files", None)
    assert in_process(["import", file, "--into", tmp_path / "a.store"]).code == 0
    assert "kibitz.online.files" not in sys.modules
    assert server.requests == []


def test_the_label_of_a_filter_is_a_part_of_a_file_name() -> None:
    assert GameChoice().label == ""
    assert (
        GameChoice(datetime.date(2026, 1, 2), None, ("blitz",), True, 5).label
        == "-since-2026-01-02-blitz-rated-limit-5"
    )
