"""Servers that answer badly: one clear line each, nothing that came is lost, and the next call gets the rest."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kibitz.errors import KibitzError
from kibitz.online import client, lichess
from kibitz.online.accounts import account_in
from kibitz.online.cache import INDEX, STATE, TEXTS, opened
from kibitz.store.store import Store
from support.causes import assert_refused, in_process, naming
from support.game_server import MINUTE, Answer, Fault, Game, GameServer, Request

NAME = "Tester-1"
GAMES = 24
LIST = "/api/games/user/"


def status(number: int, **headers: str) -> Fault:
    """An error of the server."""
    fields = {key.replace("_", "-"): value for key, value in headers.items()}
    return lambda request, answer: Answer(number, "text/html", b"<html>error</html>", fields)


def lines(change: Callable[[Iterator[bytes]], Iterator[bytes]], cut: bool = False) -> Fault:
    """The right lines, changed."""
    return lambda request, answer: replace(answer, body=change(iter(answer.body)), cut=cut)


def half_a_line(body: Iterator[bytes]) -> Iterator[bytes]:
    yield from itertools.islice(body, 7)
    yield next(body)[:100]


def damaged_third(body: Iterator[bytes]) -> Iterator[bytes]:
    for number, line in enumerate(body):
        yield b'{"id": "broken", "pgn": [\n' if number == 2 else line


def latin(body: Iterator[bytes]) -> Iterator[bytes]:
    for line in body:
        data = json.loads(line)
        data["pgn"] = data["pgn"].replace("game", "Grüße")
        yield json.dumps(data, ensure_ascii=False).encode("latin-1") + b"\n"


def too_long(body: Iterator[bytes]) -> Iterator[bytes]:
    yield b'{"id": "huge", "pgn": "' + b"x" * 3000 + b'"}\n'
    yield from body


def web_page(request: Request, answer: Answer) -> Answer:
    return Answer(kind="text/html; charset=utf-8", body=b"<!DOCTYPE html><title>Just a moment</title>")


def page_as_json(request: Request, answer: Answer) -> Answer:
    return replace(answer, body=b"<!DOCTYPE html>\n<title>Just a moment</title>\n")


def repeated(request: Request, answer: Answer) -> Answer:
    """The same page, whatever was requested."""
    return replace(answer, body=list(itertools.islice(answer.body, 5)) * 2)


@dataclass(frozen=True)
class Bad:
    """A bad answer.

    name: in the test's name. fault: of the answers to requests for games, `times` times; None: always. code: how the
    call ends. words: in its error, or in its other lines. kept: the smallest number of games that are kept then.
    """

    name: str
    fault: Fault
    times: int | None
    code: int
    words: tuple[str, ...]
    kept: int


BAD = (
    Bad("429 once", status(429, Retry_After="7"), 1, 0, ("7 s",), GAMES),
    Bad("429 without end", status(429), None, 1, ("429", "lichess"), 0),
    Bad("429 for an hour", status(429, Retry_After="3600"), 1, 1, ("60 minutes",), 0),
    Bad("500 twice", status(500), 2, 0, (), GAMES),
    Bad("503 without end", status(503), None, 1, ("503", "lichess"), 0),
    Bad("cut once", lines(half_a_line, cut=True), 1, 0, (), GAMES),
    Bad("cut without a sign", lines(half_a_line), 1, 0, (), GAMES),
    Bad("a web page", web_page, None, 1, ("web page",), 0),
    Bad("a web page as JSON", page_as_json, None, 1, ("web page",), 0),
    Bad("unknown user", status(404), None, 1, (NAME,), 0),
    Bad("private games", status(403), None, 1, (NAME, "403"), 0),
    Bad("another host", status(302, Location="http://evil.invalid/games"), None, 1, ("evil.invalid",), 0),
    Bad("an invalid address", status(302, Location="http://["), None, 1, ("invalid address",), 0),
    Bad("redirects in a circle", status(302, Location=LIST + NAME), None, 1, ("more than 5",), 0),
    Bad("wrong encoding", lines(latin), None, 0, (), GAMES),
    Bad("damaged game", lines(damaged_third), 1, 0, ("damaged",), GAMES - 1),
    Bad("huge game", lines(too_long), None, 0, ("damaged",), GAMES),
    Bad("repeated page", repeated, 1, 0, (), GAMES),
    Bad("nothing", lines(lambda body: iter(())), None, 1, ("no games",), 0),
    Bad("unexpected status", status(418), None, 1, ("418",), 0),
    Bad("wrong compression", lambda request, answer: replace(answer, headers={"Content-Encoding": "gzip"}), None, 1,
        ("damaged",), 0),
)  # fmt: skip


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "LONGEST_LINE", 2500)


def test_a_line_that_is_too_long_replaces_no_other_line(small_limits: None) -> None:
    response: Any = SimpleNamespace(iter_bytes=lambda: iter([b'{"a": 1}\n', b"x" * 3000, b"\n", b'{"b": 2}\n']))
    found = client.Client.__new__(client.Client)._split(response)
    assert list(found) == [b'{"a": 1}', b"{", b'{"b": 2}']


def games_kept() -> int:
    account = account_in(f"lichess:{NAME}")
    assert account is not None
    with opened(account) as kept:
        return len(kept.entries)


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name.replace(" ", "-"))
def test_a_bad_answer(bad: Bad, server: GameServer, tmp_path: Path, waits: list[float], small_limits: None) -> None:
    if bad.times is None:
        server.extra = (LIST, bad.fault)
    else:
        server.faults = [(LIST, bad.fault)] * bad.times
    call = ["import", f"lichess:{NAME}", "--into", tmp_path / "a.store"]
    ended = in_process(call)
    if bad.code:
        errors = [line for line in ended.err.splitlines() if not line.startswith("warning: ")]
        assert_refused(replace(ended, err="\n".join(errors) + "\n"), code=bad.code, names=bad.words)
    else:
        assert (ended.code, "Traceback" in ended.err) == (0, False), ended.err
        assert all(word in ended.err for word in bad.words), ended.err
    assert games_kept() >= bad.kept
    server.extra, server.faults = None, []
    if bad.code == 0:
        call += ["--append"]
    again = in_process(call)
    assert again.code == 0, again.err
    if bad.name != "damaged game":  # that one is not requested again
        assert games_kept() == GAMES
    assert len(Store(tmp_path / "a.store")) == games_kept()
    assert len(waits) < 40


def test_after_a_cut_only_the_rest_is_requested(server: GameServer, tmp_path: Path) -> None:
    """Each attempt brings seven games more. The last one never ends well, so the call fails, and all games are kept."""
    server.extra = (LIST, lines(half_a_line, cut=True))
    call = ["import", f"lichess:{NAME}", "--into", tmp_path / "a.store"]
    ended = in_process(call)
    errors = [line for line in ended.err.splitlines() if line.startswith("error: ")]
    assert (ended.code, len(errors)) == (1, 1)
    assert "24 games are kept" in errors[0]
    untils = [int(request.parameters["until"]) for request in server.asked(LIST)]
    assert untils == sorted(untils, reverse=True)
    assert len(set(untils)) == 5, "the rest begins where the answer before ended"
    server.extra = None
    assert in_process(call).code == 0
    assert len(Store(tmp_path / "a.store")) == GAMES


def test_an_endless_stream_ends(server: GameServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same games again and again, and bytes without a line."""

    def endless(request: Request, answer: Answer) -> Answer:
        return replace(answer, body=itertools.cycle([server.line(game) for game in server.newest()]))

    monkeypatch.setattr(lichess, "MOST_REPEATED", 200)
    server.extra = (LIST, endless)
    call = ["import", f"lichess:{NAME}", "--into", tmp_path / "a.store"]
    assert_refused(in_process(call), code=1, names="again and again")
    assert games_kept() == GAMES
    monkeypatch.setattr(client, "LARGEST_STREAM", 100_000)
    server.extra = (LIST, lambda request, answer: replace(answer, body=itertools.repeat(b"x" * 1000)))
    assert_refused(in_process(call), code=1, names="too many games")
    server.extra = None
    assert in_process(call).code == 0


def test_a_slow_server_is_given_up(server: GameServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It sends nothing, and a few bytes without a whole line."""
    monkeypatch.setattr(client, "SILENCE", 0.05)
    monkeypatch.setattr(client, "MOST_FAILURES", 2)

    def silent(request: Request, answer: Answer) -> Answer:
        server.end.wait()
        return answer

    server.extra = (LIST, silent)
    call = ["import", f"lichess:{NAME}", "--into", tmp_path / "a.store"]
    ended = in_process(call)
    assert (ended.code, "does not answer" in ended.err) == (1, True), ended.err
    monkeypatch.undo()


def test_drops_without_a_line_are_given_up(server: GameServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "SLOWEST", -1.0)
    monkeypatch.setattr(client, "MOST_FAILURES", 2)
    server.extra = (LIST, lambda request, answer: replace(answer, body=itertools.repeat(b"\n")))
    call = ["import", f"lichess:{NAME}", "--into", tmp_path / "a.store"]
    ended = in_process(call)
    assert (ended.code, "does not answer" in ended.err) == (1, True), ended.err
    monkeypatch.setattr(client, "SLOWEST", 100.0)
    server.extra = None
    assert in_process(call).code == 0


def test_an_expired_token(server: GameServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def expired(request: Request, answer: Answer) -> Answer:
        return Answer(401, body=b'{"error": "expired"}') if "Authorization" in request.headers else answer

    monkeypatch.setenv(client.TOKEN, "old")
    server.extra = ("/api/", expired)
    call = ["import", f"lichess:{NAME}", "--into", tmp_path / "a.store"]
    assert_refused(in_process(call), code=1, names=client.TOKEN)
    monkeypatch.delenv(client.TOKEN)
    assert in_process(call).code == 0


def test_a_token_is_not_sent_in_the_clear(server: GameServer, monkeypatch: pytest.MonkeyPatch) -> None:
    account = account_in("lichess:NAME")
    assert account is not None
    monkeypatch.setenv(client.TOKEN, "secret")
    sent = []
    for address in (server.address, "https://example.invalid", "http://example.invalid"):
        monkeypatch.setenv("KIBITZ_LICHESS", address)
        one = client.Client(account, lambda: 0)
        sent.append("Authorization" in one._http.headers)
        one.close()
    assert sent == [True, True, False]


@pytest.mark.parametrize("token", ["“lip_x”", "lip_x\nb", "lip x"])
def test_a_token_with_other_signs(
    token: str, server: GameServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = ["import", f"lichess:{NAME}", "--into", tmp_path / "a.store"]
    monkeypatch.setenv(client.TOKEN, token)
    ended = in_process(call)
    assert_refused(ended, code=2, names=client.TOKEN)
    assert "lip" not in ended.err
    monkeypatch.setenv(client.TOKEN, "lip_x")
    assert in_process(call).code == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [("ALL_PROXY", "socks://me:secret@127.0.0.1:1080/"), ("all_proxy", "ftp://127.0.0.1:1"), ("NO_PROXY", "fd00::/8")],
)
def test_proxy_settings_that_cannot_be_used(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """GNOME writes socks:// into ALL_PROXY, and servers have networks in NO_PROXY; httpx accepts neither."""
    account = account_in("lichess:NAME")
    assert account is not None
    for variable in ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"):
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.delenv(variable.lower(), raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv(name, value)
    with pytest.raises(KibitzError, match=naming(f"HTTPS_PROXY & {name}" if name != "ALL_PROXY" else name)) as error:
        client.Client(account, lambda: 0)
    assert value not in str(error.value)
    monkeypatch.delenv(name)
    client.Client(account, lambda: 0).close()


@pytest.mark.parametrize("address", ["ftp://example.org", "lichess.org", "http://", "http://[::1", "http://a:b"])
def test_a_wrong_address(address: str, server: GameServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call = ["import", f"lichess:{NAME}", "--into", tmp_path / "a.store"]
    monkeypatch.setenv("KIBITZ_LICHESS", address)
    assert_refused(in_process(call), code=2, names="KIBITZ_LICHESS")
    monkeypatch.setenv("KIBITZ_LICHESS", server.address)
    assert in_process(call).code == 0


@pytest.mark.parametrize("site", ["lichess", "chesscom", "ogs"])
def test_a_site_that_cannot_be_reached(
    site: str, server: GameServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = ["import", f"{site}:{NAME}", "--into", tmp_path / "a.store"]
    monkeypatch.setenv(f"KIBITZ_{site.upper()}", "http://127.0.0.1:1")
    assert_refused(in_process(call), code=1, names="http://127.0.0.1:1")
    monkeypatch.setenv(f"KIBITZ_{site.upper()}", server.address)
    assert in_process(call).code == 0


def test_redirects_on_the_same_host_are_followed(server: GameServer, tmp_path: Path) -> None:
    server.faults = [(LIST, status(302, Location=f"{LIST}{NAME}?max=3"))]
    assert in_process(["import", f"lichess:{NAME}", "--into", tmp_path / "a.store"]).code == 0
    assert games_kept() == GAMES


# chess.com and OGS

MONTH = "/games/20"


@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [
        (lambda request, answer: replace(answer, body=answer.body[:-2000]), 1, "incomplete"),
        (lambda request, answer: replace(answer, body=answer.body[:-2000], cut=True), 0, ""),
        (lambda request, answer: replace(answer, body=b"[]"), 1, "no JSON"),
        (lambda request, answer: replace(answer, body=answer.body.replace(b'"rated"', b'"rated', 1)), 0, "damaged"),
        (status(429), 0, ""),
        (web_page, 1, "web page"),
    ],
    ids=["half", "cut", "no list", "damaged", "429", "page"],
)
def test_a_bad_month(fault: Fault, code: int, words: str, server: GameServer, tmp_path: Path) -> None:
    server.games = [
        Game(number, moment=0 if number < 12 else Game(number).moment + 44640 * MINUTE) for number in range(24)
    ]
    server.faults = [(MONTH, fault)]
    call = ["import", f"chesscom:{NAME}", "--into", tmp_path / "a.store", "--keep-duplicates"]
    ended = in_process(call)
    assert (ended.code, words in ended.err, "Traceback" in ended.err) == (code, True, False), ended.err
    if code:
        assert len([line for line in ended.err.splitlines() if line.startswith("error: ")]) == 1
        assert in_process(call).code == 0
    assert len(Store(tmp_path / "a.store")) == 24 - (words == "damaged")


@pytest.mark.parametrize(
    ("site", "path", "body"),
    [
        ("chesscom", "/archives", b'{"archives": null}'),
        ("ogs", "/players/", b'{"results": [{"username": "Tester-1"}]}'),
        ("ogs", "/players/", b'{"results": [{"username": "Tester-1", "id": "x"}]}'),
    ],
)
def test_a_list_that_cannot_be_read(site: str, path: str, body: bytes, server: GameServer, tmp_path: Path) -> None:
    server.faults = [(path, lambda request, answer: replace(answer, body=body))]
    call = ["import", f"{site}:{NAME}", "--into", tmp_path / "a.store"]
    assert_refused(in_process(call), code=1, names="cannot read")
    assert in_process(call).code == 0


@pytest.mark.parametrize("year", ["0000", "9999"])
def test_a_month_of_an_impossible_year_is_skipped(year: str, server: GameServer, tmp_path: Path) -> None:
    def more(request: Request, answer: Answer) -> Answer:
        months = json.loads(answer.body)["archives"]
        return replace(answer, body=json.dumps({"archives": [f"/games/{year}/12", *months]}).encode())

    server.faults = [("/archives", more)]
    assert in_process(["import", f"chesscom:{NAME}", "--into", tmp_path / "a.store", "--keep-duplicates"]).code == 0
    assert len(Store(tmp_path / "a.store")) == GAMES


def test_a_game_with_nested_data_is_damaged(server: GameServer, tmp_path: Path) -> None:
    def nested(request: Request, answer: Answer) -> Answer:
        data = json.loads(answer.body)
        data["results"][3]["time_control_parameters"] = "[" * 100_000
        return replace(answer, body=json.dumps(data).encode())

    server.extra = ("/players/7/games", nested)
    ended = in_process(["import", f"ogs:{NAME}", "--into", tmp_path / "a.store"])
    assert (ended.code, "1 game is damaged" in ended.err) == (0, True), ended.err


def test_games_that_are_not_public_are_counted(server: GameServer, tmp_path: Path) -> None:
    server.games[3].hidden = server.games[20].hidden = True
    server.faults = [("/games/1022/sgf", lambda request, answer: replace(answer, body=b"(;GM[1]SZ[9];B[aa]"))]
    call = ["import", f"ogs:{NAME}", "--into", tmp_path / "a.store"]
    ended = in_process(call)
    assert ended.code == 0, ended.err
    assert "2 games are not public" in ended.err
    assert "1 game is damaged" in ended.err
    assert len(Store(tmp_path / "a.store")) == GAMES - 3


def test_ogs_lists_in_pages(server: GameServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a repeated page brings nothing twice."""
    from kibitz.online import ogs

    monkeypatch.setattr(ogs, "PAGE", 5)
    server.faults = [("/sgf", status(500))]
    assert in_process(["import", f"ogs:{NAME}", "--into", tmp_path / "a.store"]).code == 0
    assert len(Store(tmp_path / "a.store")) == GAMES
    assert len(server.asked("/sgf")) == GAMES + 1


# The kept games


def test_after_a_kill_what_is_whole_remains(server: GameServer, tmp_path: Path) -> None:
    """The index and the texts end anywhere; what the state says is older."""
    call = ["import", f"lichess:{NAME}", "--into", tmp_path / "a.store"]
    assert in_process(call).code == 0
    account = account_in(f"lichess:{NAME}")
    assert account is not None
    folder = account.folder
    for name, size in ((INDEX, 1100), (TEXTS, 5000)):
        with open(folder / name, "r+b") as file:
            file.truncate(size)
    (folder / STATE).write_text("{}")
    kept = games_kept()
    assert 0 < kept < GAMES
    assert in_process([*call, "--append"]).code == 0
    assert games_kept() == GAMES
    [file] = folder.glob("*.pgn")
    assert file.read_text().count("[White ") == GAMES


@pytest.mark.parametrize("name", [INDEX, TEXTS])
def test_games_that_a_damaged_disk_lost_come_again(name: str, server: GameServer, tmp_path: Path) -> None:
    """The state says that everything was downloaded, but the files have fewer games."""
    call = ["import", f"lichess:{NAME}", "--into", tmp_path / "a.store"]
    assert in_process(call).code == 0
    account = account_in(f"lichess:{NAME}")
    assert account is not None
    data = bytearray((account.folder / name).read_bytes())
    if name == INDEX:
        data[1100] = 0
    else:
        del data[5000:]
    (account.folder / name).write_bytes(bytes(data))
    assert in_process([*call, "--append"]).code == 0
    assert games_kept() == GAMES


def test_ctrl_c_keeps_what_came(server: GameServer, tmp_path: Path) -> None:
    from kibitz.online.accounts import GameChoice
    from kibitz.online.files import file_of

    class Stops:
        count = 0

        def account(self, *_: object) -> None: ...
        def expect(self, games: int) -> None: ...
        def note(self, line: str) -> None: ...
        def game(self) -> None:
            self.count += 1
            if self.count == 6:
                raise KeyboardInterrupt

    account = account_in(f"lichess:{NAME}")
    assert account is not None
    with pytest.raises(KeyboardInterrupt, match="6 games"):
        file_of(account, GameChoice(), Stops())
    assert games_kept() == 6
    server.requests.clear()
    assert in_process(["import", f"lichess:{NAME}", "--into", tmp_path / "a.store"]).code == 0
    assert games_kept() == GAMES
    sent = [request.parameters for request in server.asked(LIST) if "perfType" not in request.parameters]
    assert int(sent[0]["until"]) <= server.games[19].moment + 1


def test_many_games_come_in_one_stream(server: GameServer, tmp_path: Path) -> None:
    server.games = [Game(number, moment=1_500_000_000_000 + number * MINUTE) for number in range(2_000)]
    into = tmp_path / "a.store"
    ended = in_process(["import", f"lichess:{NAME}", "--into", into, "--keep-duplicates"])
    assert ended.code == 0, ended.err
    assert games_kept() == 2_000
    assert "2,000 new games" in ended.err
    assert len(server.asked(LIST)) == 2
