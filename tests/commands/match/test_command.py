"""kibitz match, from the command line: real engines, engines that misbehave, kills and Ctrl-C."""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess.pgn
import pytest

from kibitz.arena import match, record
from kibitz.cli import run
from support.board_client import until
from support.causes import Ended, assert_refused, mentions, must_succeed
from support.helpers import program
from support.patience import PATIENCE

HAS_RAY = importlib.util.find_spec("ray") is not None
# The engines of tests/arena/conftest.py are needed here too; a fixture of another folder is not seen.
ENGINES = (Path(__file__).parents[2] / "arena" / "conftest.py").read_text(encoding="utf-8")


@pytest.fixture
def engine(tmp_path: Path) -> Callable[..., str]:
    source = ENGINES.split('ENGINE = """')[1].split('"""')[0].replace("\\\\", "\\")

    def make(fault: str = "sound", at: int = 3, score: int | None = None) -> str:
        path = tmp_path / f"{fault}.py"
        path.write_text(source.format(fault=fault, at=at, score=score), encoding="utf-8")
        return shlex.join([sys.executable, str(path)])

    return make


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def matched(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    code = run(["match", *arguments, "--json"])
    out, err = capsys.readouterr()
    assert code == 0, err
    result: dict[str, Any] = json.loads(out)
    assert result["wins"] + result["draws"] + result["losses"] == result["games"]
    return result


def refused(capsys: pytest.CaptureFixture[str], code: int, *arguments: str) -> str:
    """The one line that a call ends with that cannot be done."""
    ended = Ended(run(["match", *map(str, arguments)]), *capsys.readouterr())
    assert_refused(ended, code=code, names=())
    return ended.err


def read(path: str) -> list[chess.pgn.Game]:
    games = []
    with open(path, encoding="utf-8") as file:
        while (game := chess.pgn.read_game(file)) is not None:
            assert not game.errors
            games.append(game)
    return games


@pytest.mark.skipif(not HAS_RAY and not os.environ.get("CI"), reason="Ray is not installed")
def test_ray_plays_the_same_games(engine: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    plain = matched(capsys, engine(), engine(), "--games", "5", "--nodes", "1", "--pgn", "plain.pgn")
    shared = matched(
        capsys, engine(), engine(), "--games", "5", "--nodes", "1", "--pgn", "shared.pgn", "--ray", "--concurrency", "2"
    )
    assert shared["games"] == 5
    for name in ("wins", "draws", "losses", "pentanomial", "endings"):
        assert plain[name] == shared[name]
    assert plain["a"]["engine"] == shared["a"]["engine"]

    def played(path: str) -> dict[str, str]:
        return {game.headers["Round"]: " ".join(move.uci() for move in game.mainline_moves()) for game in read(path)}

    assert played("plain.pgn") == played("shared.pgn")


def test_two_real_engines(capsys: pytest.CaptureFixture[str]) -> None:
    fish, gnu = program("stockfish"), program("gnuchess")
    result = matched(capsys, fish, f"{gnu} --uci", "--depth", "1", "--games", "5", "--concurrency", "2")
    assert result["games"] == result["of"] == 5
    assert result["pairs"] == sum(result["pentanomial"]) == 2
    assert result["a"]["engine"].startswith("Stockfish")
    assert result["b"]["name"] == "gnuchess"
    assert result["by_colour"]["white"]["games"] == 3
    assert result["by_colour"]["black"]["games"] == 2
    assert result["forfeits"] == []
    assert result["elo"]["n"] == 5
    assert result["speed"]["a"]["moves"] > 20
    games = read(result["pgn"])
    assert result["pgn"] == "matches/stockfish-vs-gnuchess.pgn"
    assert sorted(game.headers["Round"] for game in games) == ["1.1", "1.2", "2.1", "2.2", "3.1"]
    openings = {game.headers["Round"]: [move.uci() for move in list(game.mainline_moves())[:8]] for game in games}
    assert openings["1.1"] == openings["1.2"] != openings["2.1"]
    for game in games:  # results are those of the boards
        end = game.end().board()
        if game.headers["Ending"] == "checkmate":
            assert end.is_checkmate()
            assert game.headers["Result"] == end.result()


def test_the_table(capsys: pytest.CaptureFixture[str], engine: Callable[..., str]) -> None:
    call = ["match", engine(), engine(), "--name-a", "First", "--name-b", "Second", "--depth", "1", "--games", "2"]
    assert run([*call, "--sprt", "0,20", "--max-plies", "40"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert mentions(out, "1 & Second & 2 & games")
    assert "SPRT, Elo 0 or 20" in out
    assert "games: matches/First-vs-Second.pgn" in out


@pytest.mark.parametrize(
    ("fault", "kind", "termination", "said"),
    [
        ("crash", "crash", "abandoned", "exit code 7"),
        ("hang", "hang", "abandoned", "found no move within"),
        ("illegal", "illegal", "rules infraction", "e1e8"),
    ],
)
def test_forfeits_are_recorded_and_the_match_goes_on(
    capsys: pytest.CaptureFixture[str], engine: Callable[..., str], fault: str, kind: str, termination: str, said: str
) -> None:
    hang = "3" if fault == "hang" else "60"  # a sound engine on a busy machine must not hang
    call = [engine(), engine(fault), "--depth", "1", "--games", "3", "--hang", hang, "--name-b", "bad"]
    result = matched(capsys, *call)
    assert [(f["game"], f["side"], f["name"], f["kind"]) for f in result["forfeits"]] == [
        (number, "B", "bad", kind) for number in range(3)
    ]
    assert (result["wins"], result["losses"]) == (3, 0)
    for game in read(result["pgn"]):
        assert game.headers["Termination"] == termination
        assert said in game.headers["Reason"]
        assert game.headers["Reason"] in game.end().comment.replace("\n", " ")
        assert game.headers["Result"] == ("1-0" if game.headers["Black"] == "bad" else "0-1")
    assert run(["match", *call]) == 0
    assert capsys.readouterr().out.count(": bad forfeits") == 3  # as read from the PGN again


def test_an_engine_that_cannot_be_started_ends_the_match(
    capsys: pytest.CaptureFixture[str], engine: Callable[..., str]
) -> None:
    line = refused(capsys, 1, engine(), engine("exit"), "--name-b", "bad", "--games", "4")
    assert mentions(line, "bad & 3")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of asyncio
def test_an_engine_that_is_mute(
    capsys: pytest.CaptureFixture[str], engine: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kibitz.arena.chess.engine.START_PATIENCE", 0.5)
    before = set(threading.enumerate())
    line = refused(capsys, 1, engine("mute"), engine(), "--name-a", "bad", "--games", "4")
    assert mentions(line, "bad & UCI")
    until(lambda: set(threading.enumerate()) <= before)  # the thread that talked to it has ended
    gc.collect()


@pytest.mark.process
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["no-such-engine", "winner"], 1, "no-such-engine"),
        (["chessnet", "chessnet", "--nodes", "x"], 2, "--nodes & got x"),
        (["chessnet", "chessnet", "--clock-b", "0"], 2, "--clock-b & got 0"),
        (["chessnet", "chessnet", "--nodes-a", "0"], 2, "--nodes-a & got 0"),
        (["chessnet", "chessnet", "--depth-b", "0"], 2, "--depth-b & got 0"),
        (["chessnet", "chessnet", "--depth", "0"], 2, "--depth & got 0"),
        (["chessnet", "chessnet", "--sprt", "10"], 2, "--sprt & got 10"),
        (["chessnet", "chessnet", "--sprt", "10,0"], 2, "--sprt & got 10,0"),
        (["chessnet", "chessnet", "--sprt", "0,10", "--alpha", "0.7"], 2, "--alpha & got 0.7"),
        (["chessnet", "chessnet", "--beta", "0.1"], 2, "--beta & --sprt & got 0.1"),
        (["chessnet", "chessnet", "--adjudicate-win", "800"], 2, "--adjudicate-win & got 800"),
        (["chessnet", "chessnet", "--option-a", "Hash"], 2, "NAME=VALUE & Hash"),
    ],
)
def test_wrong_calls(capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str) -> None:
    assert mentions(refused(capsys, code, *arguments), said)
    must_succeed(["match", "chessnet", "chessnet", "--nodes", "2", "--max-plies", "20", "--games", "2"])


def test_other_settings_want_another_file(capsys: pytest.CaptureFixture[str], engine: Callable[..., str]) -> None:
    call = [engine(), engine("garbage"), "--games", "1", "--max-plies", "20"]
    matched(capsys, *call, "--depth", "1")
    assert "--pgn" in refused(capsys, 2, *call, "--depth", "2")
    assert matched(capsys, *call, "--depth", "2", "--pgn", "other.pgn")["resumed"] == 0


def test_a_decided_sprt_ends_the_match(capsys: pytest.CaptureFixture[str], engine: Callable[..., str]) -> None:
    call = [program("stockfish"), engine(), "--depth", "1", "--games", "60", "--sprt", "-300,300"]
    result = matched(capsys, *call)
    assert result["sprt"]["decision"] == "H1"
    assert result["games"] < 60
    assert matched(capsys, *call)["games"] == result["games"]  # and stays ended


def begun(arguments: list[str], games: int, pgn: Path) -> subprocess.Popen[str]:
    """The command in a process of its own, some games on."""
    process = subprocess.Popen(
        [sys.executable, "-m", "kibitz", "match", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    end = time.monotonic() + PATIENCE
    while not pgn.exists() or pgn.read_text().count("[Round ") < games:
        assert time.monotonic() < end
        assert process.poll() is None, process.stderr and process.stderr.read()
        time.sleep(0.02)
    return process


def test_a_killed_match_goes_on(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    pgn = folder / "m.pgn"
    fish = program("stockfish")
    call = [fish, fish, "--depth", "4", "--games", "12", "--concurrency", "2", "--pgn", str(pgn), "--max-plies", "80"]
    process = begun(call, 3, pgn)
    process.kill()
    process.communicate()
    before = pgn.read_text()
    with pgn.open("a") as file:
        file.write('[Event "kibitz match"]\n[Si')  # cut in the middle of a write
    result = matched(capsys, *call)
    assert 3 <= result["resumed"] < 12
    assert result["games"] == 12
    assert pgn.read_text().startswith(before)
    numbers = [int(game.headers["GameNumber"]) for game in read(str(pgn))]
    assert sorted(numbers) == list(range(12))
    assert matched(capsys, *call)["speed"]["a"]["moves"] == 0  # nothing is left to play
    assert matched(capsys, *[("14" if word == "12" else word) for word in call])["games"] == 14  # unless more are asked


def test_a_game_that_is_recorded_counts_whenever_the_interrupt_comes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], engine: Callable[..., str], folder: Path
) -> None:
    def interrupted(path: Path, text: str) -> None:
        record.append(path, text)
        if len(read(str(path))) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(match, "append", interrupted)
    call = [
        "match",
        engine(),
        engine("garbage"),
        "--games",
        "6",
        "--depth",
        "1",
        "--pgn",
        str(folder / "m.pgn"),
        "--json",
    ]
    assert run(call) == 130
    assert json.loads(capsys.readouterr().out)["games"] == 2


@pytest.mark.skipif(os.name == "nt", reason="signals of a terminal")
def test_ctrl_c_tells_the_score_so_far(folder: Path) -> None:
    pgn = folder / "m.pgn"
    fish = program("stockfish")
    process = begun([fish, fish, "--depth", "6", "--games", "100", "--pgn", str(pgn), "--json"], 2, pgn)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    result = json.loads(out)
    assert result["games"] == len(read(str(pgn))) >= 2
    assert mentions(err, "command")
    assert "Traceback" not in err
    assert not list(folder.glob(".*lock"))


def test_two_matches_do_not_write_one_file(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    pgn = folder / "m.pgn"
    fish = program("stockfish")
    call = [fish, fish, "--depth", "6", "--games", "100", "--pgn", str(pgn)]
    process = begun(call, 1, pgn)
    try:
        assert "another match" in refused(capsys, 1, *call)
    finally:
        process.kill()
        process.communicate()
