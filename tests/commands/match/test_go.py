"""kibitz match for Go, from the command line: GNU Go, programs that misbehave, going on after a kill."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from sgfmill import sgf

from kibitz.arena.go import referee
from kibitz.cli import run
from kibitz.games.go.replay import encode_board
from kibitz.games.go.rules import Board
from support.causes import Ended, assert_refused, mentions, must_succeed
from support.gtp_player import fake
from support.helpers import program
from support.patience import PATIENCE


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def no_gnugo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(referee, "find_gnugo", lambda: None)


NINE = ("--game", "go", "--size", "9")


def matched(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    code = run(["match", *arguments, "--json"])
    out, err = capsys.readouterr()
    assert code == 0, err
    result: dict[str, Any] = json.loads(out)
    assert result["game"] == "go"
    assert result["wins"] + result["draws"] + result["losses"] == result["games"]
    return result


def refused(capsys: pytest.CaptureFixture[str], code: int, *arguments: str) -> str:
    """The one line that a call ends with that cannot be done."""
    ended = Ended(run(["match", *map(str, arguments)]), *capsys.readouterr())
    assert_refused(ended, code=code, names=())
    return ended.err


def read(path: str | Path) -> list[sgf.Sgf_game]:
    text = Path(path).read_text(encoding="utf-8")
    return [sgf.Sgf_game.from_string(part) for part in re.split(r"(?<=\n\n)(?=\()", text)]


def moves_of(game: sgf.Sgf_game) -> list[tuple[str, tuple[int, int] | None]]:
    return [node.get_move() for node in game.get_main_sequence() if node.get_move()[0]]


def test_gnugo_against_gnugo(capsys: pytest.CaptureFixture[str]) -> None:
    program("gnugo")
    call = ["gnugo", "gnugo", "--option-a", "level=1", "--option-b", "level=2", "--size", "9", "--games", "2"]
    result = matched(capsys, *call, "--concurrency", "2")
    assert (result["a"]["name"], result["b"]["engine"]) == ("gnugo A", "GNU Go 3.8")
    assert (result["size"], result["komi"], result["games"], result["pairs"]) == (9, 7.5, 2, 1)
    assert result["by_colour"]["black"]["games"] == result["by_colour"]["white"]["games"] == 1
    assert result["forfeits"] == []
    none, endings = {"games": 0}, result["endings"]
    assert sum(endings.get(how, none)["games"] for how in ("both_passed", "resignation")) == 2
    assert result["referees"].get("gnu_go", none)["games"] == endings.get("both_passed", none)["games"]
    assert result["sgf"] == "matches/gnugo-A-vs-gnugo-B.sgf"
    games = read(result["sgf"])
    assert sorted(game.get_root().get("RO") for game in games) == ["1.1", "1.2"]
    assert moves_of(games[0])[:2] == moves_of(games[1])[:2]
    for game in games:
        assert game.get_komi() == 7.5
        board = Board(9, superko=True)
        for colour, point in moves_of(game):
            board.play(" bw".index(colour), 361 if point is None else (8 - point[0]) * 19 + point[1])


def test_gnugos_games_can_be_had_again(capsys: pytest.CaptureFixture[str], no_gnugo: None) -> None:
    program("gnugo")
    call = ["gnugo", "gnugo", "--option-a", "level=0", "--option-b", "level=0", "--size", "9", "--max-plies", "20"]
    found = []
    for seed, name in (("1", "a"), ("1", "b"), ("2", "c")):
        matched(capsys, *call, "--games", "2", "--seed", seed, "--sgf", f"{name}.sgf")
        found.append([moves_of(game) for game in read(f"{name}.sgf")])
    assert found[0] == found[1] != found[2]
    assert found[0][0] != found[0][1]  # one level, one opening, but not one seed


def test_the_table(capsys: pytest.CaptureFixture[str], no_gnugo: None) -> None:
    call = ["match", fake("sound", 6), fake("sound", 7), "--name-a", "First", "--name-b", "Second", *NINE]
    assert run([*call, "--games", "2", "--sprt", "0,20", "--komi", "0.5", "--movetime-b", "2000"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert mentions(out, "Second & 2 & 9 & 0.5 & komi")
    assert out.index("with Black") < out.index("with White")
    assert "2 both passed" in out
    assert "2 random playouts" in out
    assert "games: matches/First-vs-Second.sgf" in out


@pytest.mark.parametrize(
    ("fault", "kind", "said"),
    [
        ("crash", "crash", "ended during the command 'genmove"),
        ("hang", "hang", "did not reply to 'genmove"),
        ("occupied", "illegal", "on a stone"),
        ("off", "illegal", "board"),
    ],
)
def test_forfeits_are_recorded_and_the_match_goes_on(
    capsys: pytest.CaptureFixture[str], fault: str, kind: str, said: str
) -> None:
    call = [fake(), fake(fault, 3), *NINE, "--games", "3", "--name-b", "bad"]
    call += ["--hang", "3" if fault == "hang" else "60"]  # a sound program on a busy machine must not hang
    result = matched(capsys, *call)
    assert [(f["game"], f["side"], f["name"], f["kind"]) for f in result["forfeits"]] == [
        (number, "B", "bad", kind) for number in range(3)
    ]
    assert (result["wins"], result["losses"], result["referees"]) == (3, 0, {})
    for game in read(result["sgf"]):
        assert game.get_root().get("RE") == ("B+F" if game.get_player_name("w") == "bad" else "W+F")
        assert mentions(game.get_last_node().get("C"), said)
    assert run(["match", *call]) == 0
    assert capsys.readouterr().out.count(": bad forfeits") == 3  # as read from the SGF again


def test_a_program_that_cannot_be_started_ends_the_match(capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(capsys, 1, fake(), fake("exit"), *NINE, "--name-b", "bad", "--games", "4")
    assert mentions(line, "bad & 'name'")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--nodes-a", "100"], 2, "--nodes-a & nodes"),
        (["--depth", "1"], 2, "--depth & chess"),
        (["--adjudicate-win", "800:3"], 2, "--adjudicate-win & chess"),
        (["--pgn", "x.pgn"], 2, "--pgn & chess"),
        (["--size", "20"], 2, "--size & 20 & 9, 13"),
        (["--komi", "6.3"], 2, "--komi & 6.3 & komi"),
        (["--movetime", "100"], 2, "--movetime & got 100 & 1000"),
        (["--clock-b", "10+0.1"], 2, "--clock & 10+0.1 & seconds"),
        (["--option-a", "level=3"], 2, "command line"),
    ],
)
def test_wrong_calls(
    capsys: pytest.CaptureFixture[str], no_gnugo: None, arguments: list[str], code: int, said: str
) -> None:
    # Random moves leave the board open, and GNU Go needs long for the dead stones of an open board.
    call = [fake(), fake(), *NINE, "--games", "2"]
    assert mentions(refused(capsys, code, *call, *arguments), said)
    must_succeed(["match", *call], once="match of Go")


@pytest.mark.parametrize("arguments", [["--size", "9"], ["--komi", "6.5"], ["--sgf", "x.sgf"]])
def test_what_chess_does_not_have(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    said = refused(capsys, 2, "winner", "stockfish", *arguments)
    assert mentions(said, f"{arguments[0]} & match")


def test_games_that_do_not_go_together(capsys: pytest.CaptureFixture[str]) -> None:
    assert mentions(refused(capsys, 2, "sunfish", "gnugo"), "sunfish & gnugo & chess")


def test_a_killed_match_goes_on(capsys: pytest.CaptureFixture[str], folder: Path, no_gnugo: None) -> None:
    record = folder / "m.sgf"
    call = [fake("sound", 20), fake("sound", 21), *NINE, "--games", "12", "--concurrency", "2", "--sgf", str(record)]
    process = subprocess.Popen([sys.executable, "-m", "kibitz", "match", *call], start_new_session=True)
    end = time.monotonic() + PATIENCE
    while not record.exists() or record.read_text().count("RO[") < 2:
        assert time.monotonic() < end
        time.sleep(0.02)
    process.kill()
    process.communicate()
    before = record.read_text()
    with record.open("a") as file:
        file.write("(;EV[kibitz match]\nFF[4]GM[1")  # cut in the middle of a write
    result = matched(capsys, *call)
    assert 2 <= result["resumed"] <= 12
    assert result["games"] == len(read(record)) == 12
    assert record.read_text().startswith(before)
    assert matched(capsys, *call)["speed"]["a"]["moves"] == 0  # nothing is left to play
    changed = [("13" if word == "9" else word) for word in call]
    assert "--sgf" in refused(capsys, 2, *changed)


@pytest.fixture(scope="module")
def go_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A `gocnn` that has learned nothing."""
    import torch
    from safetensors.torch import save_file

    from kibitz.runs import FORMAT, INFO, ONNX, WEIGHTS
    from kibitz.systems.gocnn import SYSTEM, Settings
    from kibitz.training.export import export_onnx

    path = tmp_path_factory.mktemp("runs") / "newborn"
    path.mkdir()
    settings = Settings(sizes="9", layers="8conv3x3p1", last=3)
    torch.manual_seed(1)
    network = SYSTEM.network(settings)
    save_file(network.state_dict(), path / WEIGHTS)
    codes, state = encode_board(Board(9))
    export_onnx(network, codes[None], state[None], path / ONNX)
    info = {"kibitz_run": FORMAT, "system": "gocnn", "game": "go", "settings": asdict(settings)}
    (path / INFO).write_text(json.dumps(info))
    return path


def test_a_run_against_gnugo(capsys: pytest.CaptureFixture[str], go_run: Path) -> None:
    program("gnugo")
    result = matched(capsys, str(go_run), "gnugo", "--option-b", "level=0", "--size", "9", "--games", "2")
    assert result["a"]["name"] == "newborn"
    assert result["forfeits"] == []
    assert result["speed"]["a"]["moves"] > 5
    assert result["losses"] == 2


def test_a_run_that_does_not_know_the_board(capsys: pytest.CaptureFixture[str], go_run: Path) -> None:
    said = refused(capsys, 1, str(go_run), fake(), "--size", "13")
    assert mentions(said, "newborn & 13")
