"""Parts of one's own games on the board that need no network: which games of a file are whose, and how a training is
told."""

from __future__ import annotations

import base64
import gc
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kibitz.errors import KibitzError
from kibitz.games.go.io.sgf import parse_record
from kibitz.personal.names import Player
from kibitz.play.session import Session
from kibitz.runs import FORMAT
from kibitz.training.trainer import TrainProgress
from kibitz.web.mygames import analysing, repertoire, state, training
from kibitz.web.mygames.sources import ChosenGame, PgnSource, SgfSource, _newest
from kibitz.web.mygames.state import MyGames, _ending
from kibitz.web.params import BadRequest
from support.causes import mentions, naming

OPENINGS = (
    "1. e4 e5 2. Nf3 Nc6", "1. d4 d5 2. c4 e6", "1. e4 c5 2. Nf3 d6", "1. c4 e5 2. Nc3 Nf6", "1. e4 e6 2. d4 d5",
)  # fmt: skip

NO_ENGINES: Any = SimpleNamespace(program=lambda fields, game: None)
"""The judges of a board without engines."""


def game(white: str, black: str, date: str, moves: str = "1. e4 e5", more: str = "") -> str:
    return f'[White "{white}"]\n[Black "{black}"]\n[Date "{date}"]\n{more}\n{moves} *\n\n'


FILE = (
    game("Ana", "B", "2024.03.01"),
    game("C", "ana", "2024.05.01", "1. d4 d5"),
    game("Ana", "D", "2024.04.01", more='[Variant "Atomic"]\n'),
    game("Ana", "ANA", "2024.06.01"),
    game("Ana", "E", "????.??.??", "1. c4 c5"),
    game("F", "G", "2024.06.01"),
    game("Ana", "H", "2024.04.01", "1. b3 b6", '[UTCDate "2023.01.01"]\n'),
)


@pytest.fixture
def source(tmp_path: Path) -> PgnSource:
    (tmp_path / "mine.pgn").write_text("".join(FILE))
    return PgnSource(tmp_path / "mine.pgn", tmp_path / "copy.pgn", "mine.pgn")


def test_games_of_a_file_and_their_players(source: PgnSource) -> None:
    assert (source.games, source.variants) == (6, 1)
    assert (source.players[0].name.lower(), source.players[0].games) == ("ana", 6)


def test_the_newest_games_of_a_player_without_those_against_oneself(source: PgnSource) -> None:
    ana = source.find(["ana"])
    every = [ChosenGame(1, "white"), ChosenGame(2, "black"), ChosenGame(5, "white"), ChosenGame(7, "white")]
    assert source.newest(ana, 100) == every
    assert source.newest(ana, 1) == [ChosenGame(2, "black")]
    assert source.newest(ana, 2) == [ChosenGame(1, "white"), ChosenGame(2, "black")]
    assert source.newest(ana, 3) == [*every[:2], ChosenGame(7, "white")], "a day that is not known is an old one"


SGF = (
    "(;GM[1]SZ[9]KM[6.5]PB[Kim]PW[Bo]BR[3k]DT[2024-03-01]RE[B+R];B[ee];W[gc])\n"
    "(;GM[1]SZ[19]HA[2]AB[dd][pp]PB[Bo]PW[KIM]DT[2024-05-02,03];W[dp];B[pd])\n"
    "(;GM[1]SZ[9]PB[Kim]PW[kim]DT[2024-06-01];B[ee])\n"
    "(;GM[1]SZ[99]PB[Kim]PW[Bo];B[ee])\n"
    "(;GM[1]SZ[9]PB[Al]PW[Bo]DT[2024-06-01];B[ee])\n"
)


def test_the_games_of_a_go_player(tmp_path: Path) -> None:
    (tmp_path / "mine.sgf").write_text(SGF)
    source = SgfSource(tmp_path / "mine.sgf", tmp_path / "copy.sgf", "mine.sgf")
    assert (source.game, source.games, source.variants) == ("go", 4, 1)
    kim = source.find(["kim"])
    assert source.newest(kim, 9) == [ChosenGame(1, "black"), ChosenGame(2, "white")]
    assert source.newest(kim, 1) == [ChosenGame(2, "white")]
    again = parse_record(source.text(2))
    first = parse_record(SGF.splitlines()[1])
    assert (again.moves, again.black, again.side, again.handicap, again.headers["DT"]) == (
        first.moves, first.black, first.side, 2, "2024-05-02,03",
    )  # fmt: skip
    with pytest.raises(IndexError):
        source.text(4)
    assert (tmp_path / "copy.sgf").is_file()
    del source
    gc.collect()
    assert not (tmp_path / "copy.sgf").exists()


def test_a_text_that_is_no_date_is_an_old_day(tmp_path: Path) -> None:
    days = ("2024-03-01", "unknown", "2024-05-01", "Spring 2023", "2024/04/02", "2024")
    text = "\n".join(f"(;GM[1]SZ[9]PB[Kim]PW[Bo]DT[{day}];B[ee])" for day in days)
    (tmp_path / "mine.sgf").write_text(text)
    source = SgfSource(tmp_path / "mine.sgf", tmp_path / "copy.sgf", "mine.sgf")
    for most, numbers in ((1, [3]), (2, [3, 5]), (3, [1, 3, 5]), (4, [1, 3, 5, 6])):
        assert [game.number for game in source.newest(source.find(["kim"]), most)] == numbers


@pytest.mark.parametrize(
    ("text", "words"), [("a letter", "mine.sgf"), ("(;GM[1]SZ[9];B[ee])", "names"), ("(;GM[1]SZ[99];B[ee])", "99")]
)
def test_records_without_games_of_go_get_a_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "mine.sgf").write_text(text)
    with pytest.raises(KibitzError, match=words):
        SgfSource(tmp_path / "mine.sgf", tmp_path / "copy.sgf", "mine.sgf")


def test_reading_openings_has_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    add = repertoire.Repertoire.add
    monkeypatch.setattr(
        repertoire.Repertoire, "add", lambda self, *game: (seen.append(mine.as_json()["reading"]), add(self, *game))[1]
    )
    networks = SimpleNamespace(ready=lambda name: SimpleNamespace(game="chess", answers=(state.WHITE,)))
    mine = MyGames([], networks, NO_ENGINES)  # type: ignore[arg-type]
    try:
        uploaded(mine, "a.pgn", FILE[0] * 3)
        games = mine.repertoire({"players": ["Ana"]})["games"]
        assert seen == [{"done": done, "total": games} for done in range(games)]
        assert games == 3
        assert mine.as_json()["reading"] is None
    finally:
        mine.end()


def test_go_has_no_opening_trainer_and_no_explorer_of_my_games() -> None:
    networks = SimpleNamespace(ready=lambda name: SimpleNamespace(game="chess", answers=(state.WHITE,)))
    mine = MyGames([], networks, NO_ENGINES)  # type: ignore[arg-type]
    try:
        uploaded(mine, "a.sgf", SGF)
        assert mine.as_json()["games"]["game"] == "go"
        with pytest.raises(BadRequest, match="chess"):
            mine.repertoire({"players": ["Kim"]})
        uploaded(mine, "a.pgn", FILE[0])
        assert mine.as_json()["games"]["game"] == "chess"
        assert mine.repertoire({"players": ["Ana"]})["games"] == 1
    finally:
        mine.end()


def test_games_of_one_day_are_in_the_order_of_a_file_that_may_begin_with_the_newest() -> None:
    one, two = "2024.01.01", "2024.01.02"
    assert _newest([one, two, two], 1) == [2]
    assert _newest([two, two, one], 1) == [0]
    assert _newest([two, two], 1) == [1], "nothing says that they are the other way round"
    assert _newest([two], 1) == [0]


def test_each_game_is_read_again_as_it_was(source: PgnSource) -> None:
    for number, moves in ((1, "1. e4"), (2, "1. d4"), (5, "1. c4"), (7, "1. b3")):
        text = source.text(number)
        assert text.count("[White ") == 1
        assert moves in text
        assert text == FILE[number - 1].strip() + "\n\n"
    for number in (0, 3, 8):  # the third is of a variant
        with pytest.raises(IndexError):
            source.text(number)


def test_a_game_is_found_without_a_walk_through_all_games(source: PgnSource) -> None:
    class Unwalkable(list[Any]):
        def __iter__(self) -> Iterator[Any]:
            raise AssertionError("each game of a large file would take as long as all games")

    numbers = [part.number for part in source._parts]
    source._parts = Unwalkable(source._parts)
    assert [source.text(number) for number in numbers] == [f"{FILE[number - 1].strip()}\n\n" for number in numbers]
    for number in (0, max(numbers) + 1):
        with pytest.raises(IndexError):
            source.text(number)


def steps(monkeypatch: pytest.MonkeyPatch, *calls: tuple[float, int, int]) -> list[dict[str, Any]]:
    """What is told at (time, number of the training, iteration of 100)."""
    told: list[dict[str, Any]] = []
    tell = training._Steps(told.append)
    for now, number, iteration in calls:
        monkeypatch.setattr(training, "time", SimpleNamespace(monotonic=lambda now=now: now))
        progress = TrainProgress("moves", iteration, 100, samples_per_second=7.0)
        tell(SimpleNamespace(name=f"n{number}", number=number, progress=progress))  # type: ignore[arg-type]
    return told


def test_a_training_is_told_now_and_then_and_what_is_left_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    told = steps(
        monkeypatch,
        (50.0, 1, 10), (50.1, 1, 11), (50.6, 1, 20), (50.9, 1, 30), (54.0, 1, 50), (54.1, 2, 1), (54.7, 2, 4),
    )  # fmt: skip
    assert [(one["number"], one["iteration"], one["left"]) for one in told] == [
        (1, 10, None),
        (1, 20, pytest.approx(80 * 0.6 / 10)),
        (1, 50, pytest.approx(50 * 4 / 40)),
        (2, 1, None),
        (2, 4, pytest.approx(96 * 0.6 / 3)),
    ]
    assert told[0] == {
        "number": 1, "name": "n1", "iteration": 10, "iterations": 100, "per_second": 7.0, "left": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "stopped"), [("stopped", True), ("time limit", True), ("done", False), ("finished before", False)]
)
def test_the_end_of_a_training_is_told(
    reason: str, stopped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kibitz.personal import fitting

    asked = {"source": "a.pgn", "players": ["Ana"], "base": "human", "run": str(tmp_path / "r"), "command": "c"}
    requests: list[Any] = []

    def make(request: Any, on_step: Any, note: Any) -> Any:
        requests.append(request)
        note("a line")
        return SimpleNamespace(reason=reason, path=tmp_path / "r", info={"kept": "adapted"})

    monkeypatch.setattr(fitting, "make", make)
    told: list[dict[str, Any]] = []
    training.work(asked, told.append, threading.Event())
    assert told == [{"note": "a line"}, {"run": (tmp_path / "r").as_posix(), "kept": "adapted", "stopped": stopped}]
    assert requests[0].update is False
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "run.json").touch()
    training.work(asked, told.append, threading.Event())
    assert requests[1].update is True, "a run that there is gets the new games"


def test_names_of_packed_files() -> None:
    assert [_ending(name) for name in ("a.PGN.GZ", "a.zst", "a.pgn.bz2", "a.pgn", "gz", "a.gz.pgn")] == [
        ".pgn.gz", ".txt.zst", ".pgn.bz2", ".pgn", ".txt", ".pgn",
    ]  # fmt: skip


def test_a_file_of_exactly_the_limit_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    from kibitz.web.mygames import sources

    text = game("Ana", "B", "2024.03.01").encode()
    monkeypatch.setattr(sources, "LARGEST", len(text))
    mine = MyGames([], SimpleNamespace(), NO_ENGINES)  # type: ignore[arg-type]
    try:
        parts = (text[:20], text[20:])
        assert mine.upload({"name": "a.pgn", "at": 0, "data": base64.b64encode(parts[0]).decode()}) == {"at": 20}
        with pytest.raises(BadRequest, match="larger than 0 MB") as refused:
            mine.upload({"name": "a.pgn", "at": 20, "data": base64.b64encode(parts[1] + b"\n").decode(), "last": True})
        assert refused.value.status == 413
        long = {"name": "x" * 200, "at": 0, "data": base64.b64encode(parts[0]).decode()}
        assert mine.upload(long) == {"at": 20}
        last = {"name": "x" * 200, "at": 20, "data": base64.b64encode(parts[1]).decode(), "last": True}
        found = mine.upload(last)["games"]
        assert (found["games"], found["opened"], len(found["name"])) == (1, 1, 120)
        folder = mine._folder
        assert folder
        assert folder.is_dir()
    finally:
        mine.end()
    assert not folder.exists()


def uploaded(mine: MyGames, name: str, text: str) -> Any:
    return mine.upload({"name": name, "at": 0, "data": base64.b64encode(text.encode()).decode(), "last": True})


def test_a_part_that_comes_after_the_board_was_begun_anew_gets_a_line() -> None:
    mine = MyGames([], SimpleNamespace(), NO_ENGINES)  # type: ignore[arg-type]
    try:
        with pytest.raises(BadRequest, match="Choose the file again") as refused:
            mine.upload({"name": "a.pgn", "at": 5, "data": base64.b64encode(b"hello").decode(), "last": True})
        assert refused.value.status == 409
    finally:
        mine.end()


def test_a_part_of_another_tabs_file_is_refused() -> None:
    """Files of equal parts are told apart by their names."""
    mine = MyGames([], SimpleNamespace(), NO_ENGINES)  # type: ignore[arg-type]
    one, other = game("Ana", "B", "2024.03.01").encode(), game("Eve", "D", "2024.03.01").encode()
    part = {"at": 0, "data": base64.b64encode(one[:20]).decode()}
    try:
        mine.upload({"name": "a.pgn", **part})
        mine.upload({"name": "b.pgn", "at": 0, "data": base64.b64encode(other[:20]).decode()})
        with pytest.raises(BadRequest, match="Choose the file again"):
            mine.upload({"name": "a.pgn", "at": 20, "data": base64.b64encode(one[20:]).decode(), "last": True})
        last = {"name": "b.pgn", "at": 20, "data": base64.b64encode(other[20:]).decode(), "last": True}
        assert {player["name"] for player in mine.upload(last)["games"]["players"]} == {"Eve", "D"}
    finally:
        mine.end()


def test_a_file_that_is_refused_takes_nothing_from_the_next_one() -> None:
    mine = MyGames([], SimpleNamespace(), NO_ENGINES)  # type: ignore[arg-type]
    try:
        with pytest.raises(KibitzError, match="player names"):
            uploaded(mine, "bad.pgn", game("?", "?", "2024.03.01"))
        uploaded(mine, "good.pgn", FILE[0])
        gc.collect()
        assert "1. e4 e5" in mine.game({"game": 1})["text"]
    finally:
        mine.end()


def test_an_unknown_day_is_before_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text(game("Ana", "B", "2024.??.??") + game("Ana", "C", "2024.02.03"))
    source = PgnSource(tmp_path / "a.pgn", tmp_path / "copy.pgn", "a.pgn")
    assert source.newest(source.find(["ana"]), 1) == [ChosenGame(2, "white")]


def test_the_date_counts_where_the_day_of_utc_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text(
        game("Ana", "B", "2024.02.03", more='[UTCDate "????.??.??"]\n') + game("Ana", "C", "2023.01.01")
    )
    source = PgnSource(tmp_path / "a.pgn", tmp_path / "copy.pgn", "a.pgn")
    assert source.newest(source.find(["ana"]), 1) == [ChosenGame(1, "white")]


def test_copies_that_nothing_reads_are_removed() -> None:
    mine = MyGames([], SimpleNamespace(), NO_ENGINES)  # type: ignore[arg-type]
    try:
        for name in ("a.pgn", "b.pgn", "c.pgn"):
            uploaded(mine, name, FILE[0])
        assert mine._folder is not None
        assert [path.name for path in mine._folder.glob("games-*.pgn")] == ["games-3.pgn"]
    finally:
        mine.end()


def test_a_process_that_cannot_begin_is_no_work_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(state, "Background", full)
    networks = SimpleNamespace(ready=lambda name: SimpleNamespace(game="chess", answers=(state.WHITE,)))
    mine = MyGames([], networks, NO_ENGINES)  # type: ignore[arg-type]
    try:
        uploaded(mine, "a.pgn", FILE[0])
        for _ in range(2):
            answered = mine.analyse({"players": ["Ana"], "network": "human"})
            answer = answered["analysis"]
            assert answer["opened"] == answered["games"]["opened"]
            assert answer["state"] == "failed"
            assert mentions(answer["error"], "process & memory")
    finally:
        mine.end()


def test_players_whose_names_look_alike_in_a_folder_have_runs_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "RUNS", tmp_path)
    assert state._run_of([Player("A.B", (), 9)], "personal-a-b") == tmp_path / "personal-a-b"
    (tmp_path / "personal-a-b").mkdir()
    info = {
        "kibitz_run": FORMAT,
        "system": "human",
        "game": "chess",
        "person": {"name": "A.B", "names": ["A.B"]},
        "settings": {},
    }
    (tmp_path / "personal-a-b" / "run.json").write_text(json.dumps(info))
    assert state._run_of([Player("A.B", (), 9)], "personal-a-b") == tmp_path / "personal-a-b"
    assert state._run_of([Player("A-B", (), 9)], "personal-a-b") == tmp_path / "personal-a-b-2"


def test_the_report_has_the_rating_that_the_moves_look_like(tmp_path: Path) -> None:
    games = tmp_path / "games.jsonl"
    texts = [game("Ana", "Bo", f"2024.01.0{day}", moves) for day, moves in enumerate(OPENINGS, 1)]
    lines = [json.dumps({"number": number, "side": "white", "text": text}) for number, text in enumerate(texts, 1)]
    games.write_text("\n".join(lines), encoding="utf-8")
    reports: list[dict[str, Any]] = []
    asked = {"games": str(games), "player": "Ana", "source": "games.pgn", "quick": True}
    for network in ("human", "chessnet"):
        said: list[dict[str, Any]] = []
        analysing.work({**asked, "network": str(Session(network).run.path)}, said.append, threading.Event())
        # The last report of all games may be sent twice, if the one before it was long ago.
        reports.append([one["report"] for one in said if "report" in one][-1])
    human, chessnet = reports
    assert human["strength"]["games"] == human["games"] == len(OPENINGS)
    assert (
        human["strength"]["rating"]["low"] < human["strength"]["rating"]["value"] < human["strength"]["rating"]["high"]
    )
    assert 0.3 < human["accuracy"]["value"] <= 1
    assert "strength" not in chessnet


def test_only_a_network_that_says_who_wins_at_chess_judges() -> None:
    known = {
        "human": SimpleNamespace(game="chess", answers=["white", "moves"]),
        "convchess": SimpleNamespace(game="chess", answers=["moves"]),
        "gohuman": SimpleNamespace(game="go", answers=["white", "moves"]),
    }
    mine = MyGames([], SimpleNamespace(ready=known.__getitem__), NO_ENGINES)  # type: ignore[arg-type]
    assert mine._judge("human") == "human"
    assert mine._judge("gohuman", "go") == "gohuman"
    for name, game in (("convchess", "chess"), ("gohuman", "chess"), ("human", "go")):
        with pytest.raises(KibitzError, match=naming(f"{name}")):
            mine._judge(name, game)
    assert state.MOST < state.MOST_AT_ALL


def test_a_game_of_a_large_file_is_given_and_one_without_a_number_is_none() -> None:
    mine = MyGames([], SimpleNamespace(), NO_ENGINES)  # type: ignore[arg-type]
    mine._source = SimpleNamespace(text=lambda number: f"game {number}")  # type: ignore[assignment]
    assert mine.game({"game": 1_234_567}) == {"text": "game 1234567"}
    with pytest.raises(BadRequest, match="unknown game"):
        mine.game({})


class Process:
    """Stands in for a process: what it is asked, and what it tells when the test lets it."""

    started: list[Process]

    def __init__(self, module: str, asked: Any, on_message: Any, on_end: Any) -> None:
        self.module, self.asked, self.told, self.end, self.stopped = module, asked, on_message, on_end, False
        self.started.append(self)

    def stop(self) -> None:
        self.stopped = True
        self.end("stopped", "")

    def kill(self) -> None: ...


@pytest.fixture
def accounts(monkeypatch: pytest.MonkeyPatch) -> Iterator[MyGames]:
    monkeypatch.setenv("KIBITZ_LICHESS", "http://127.0.0.1:9")
    monkeypatch.setattr(Process, "started", [], raising=False)
    monkeypatch.setattr(state, "Background", Process)
    mine = MyGames([], SimpleNamespace(), NO_ENGINES)  # type: ignore[arg-type]
    yield mine
    mine.end()


def test_a_site_is_contacted_only_after_permission(accounts: MyGames) -> None:
    assert accounts.download({"account": "Kim", "site": "ogs"})["ask"]["account"] == "ogs:Kim"
    asked = accounts.download({"account": "Ana", "site": "lichess"})
    assert asked["ask"] == {"account": "lichess:Ana", "site": "lichess", "host": "127.0.0.1"}
    assert asked["download"] is None
    assert Process.started == []
    begun = accounts.download({"account": "lichess:Ana", "allowed": True})
    assert "ask" not in begun
    assert begun["download"]["state"] == "running"
    assert Process.started[0].asked == {"account": "lichess:Ana", "limit": state.DOWNLOADED}
    accounts.stop({"what": "download"})
    assert accounts.as_json()["download"]["state"] == "stopped"
    assert "ask" not in accounts.download({"account": "Bea"}), "one permission is enough for a site"
    with pytest.raises(BadRequest, match="Bea"):
        accounts.download({"account": "Cleo"})
    assert "ask" in accounts.download({"account": "chesscom:Ana"}), "another site"


def test_a_download_becomes_the_games(accounts: MyGames, tmp_path: Path) -> None:
    file = tmp_path / "Ana.pgn"
    file.write_text("".join(FILE))
    accounts.download({"account": "Ana", "allowed": True})
    process = Process.started[0]
    for told in ({"kept": 2}, {"expected": 9}, {"new": 5}, {"path": str(file)}):
        process.told(told)
    told = accounts.as_json()
    assert (told["download"]["kept"], told["download"]["new"], told["download"]["expected"]) == (2, 5, 9)
    assert told["games"] is None
    process.end("done", "")
    told = accounts.as_json()
    assert told["download"]["state"] == "done"
    assert told["games"]["name"] == "lichess:Ana"
    assert told["games"]["games"] == told["download"]["games"] == len(FILE) - 1
    file.write_text('[White "A"]\n[Black "B"]\n[Variant "Atomic"]\n\n1. e4 *\n')
    accounts.download({"account": "Ana"})
    Process.started[1].told({"path": str(file)})
    Process.started[1].end("done", "")
    told = accounts.as_json()
    assert told["download"]["state"] == "failed"
    assert mentions(told["download"]["error"], "lichess:Ana")
    assert told["games"]["games"] == len(FILE) - 1, "the games before stay"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"account": "lichess:an/a"}, "lichess:NAME"),
        ({"account": "kgs:Ana"}, "KGS"),
        ({"account": "Ana", "site": "nowhere"}, "site"),
        ({"account": ""}, "lichess:NAME"),
    ],
)
def test_accounts_that_cannot_be(accounts: MyGames, fields: dict[str, str], words: str) -> None:
    assert "ask" in accounts.download({"account": "lichess:Ana"})
    with pytest.raises(KibitzError, match=words):
        accounts.download(fields)
    assert Process.started == []


def test_a_thorough_report_about_go_replaces_a_quick_one_of_more_games() -> None:
    """The losses of the two stages differ, so no report has both. Some thorough games are enough."""
    mine = MyGames([], SimpleNamespace(), NO_ENGINES)  # type: ignore[arg-type]
    shown = []
    for game in ("chess", "go"):
        mine._report, mine._report_stage = (0, {}), ""
        task = state.Task({"game": game, "done": 0})
        for stage, games in (("quick", 30), ("thorough", 5), ("thorough", 9), ("thorough", 10), ("thorough", 11)):
            mine._analysed(task, {"report": {"games": games}, "stage": stage})
            shown.append((game, mine.report()["report"]["games"], mine.report()["stage"]))
    assert [one[1:] for one in shown if one[0] == "chess"] == [(30, "quick")] * 5
    assert [one[1:] for one in shown if one[0] == "go"] == [(30, "quick")] * 3 + [(10, "thorough"), (11, "thorough")]


def test_a_thorough_analysis_of_fewer_games_has_a_report_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report of a quick analysis stays only where the thorough one gets as many games."""

    class Process:
        def __init__(self, module: str, asked: Any, told: Any, ended: Any) -> None:
            told({"report": {"games": len(Path(asked["games"]).read_text().splitlines())}, "stage": "thorough"})
            ended("done", "")

    monkeypatch.setattr(state, "Background", Process)
    networks = SimpleNamespace(ready=lambda name: SimpleNamespace(game="chess", answers=(state.WHITE,)))
    mine = MyGames([], networks, NO_ENGINES)  # type: ignore[arg-type]
    try:
        uploaded(mine, "a.pgn", FILE[0] + FILE[1])
        for quick, most in ((True, 2), (False, 2), (False, 1)):
            mine.analyse({"players": ["Ana"], "network": "human", "quick": quick, "most": most})
            assert mine.report()["report"] == {"games": most}
    finally:
        mine.end()
