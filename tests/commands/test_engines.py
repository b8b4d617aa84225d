"""kibitz uci, from the command line: what it refuses, what it loads and when, and from the wheel."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kibitz.commands.engines import opener
from kibitz.engines.uci.options import Options
from kibitz.play import result
from kibitz.play.puct import pace, search
from kibitz.runs import packaged
from support.causes import assert_refused, in_process, mentions, reading, refused
from support.warm import Warm

HEAVY = ("torch", "numba", "onnxruntime", "chess", "pyarrow", "onnx", "matplotlib")
ROOT = Path(__file__).parents[2]


def test_uci_is_answered_before_anything_heavy_is_loaded() -> None:
    script = (
        "import sys; from kibitz.cli import run; code = run(['uci', 'chessnet']);"
        f"sys.exit(', '.join(name for name in {HEAVY!r} if name in sys.modules) or code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input="uci\nsetoption name Hash value 1\nquit\n",
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("id name kibitz chessnet\n")
    assert done.stdout.endswith("uciok\n")


def test_a_search_is_compiled_before_a_clock_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is: a function that is compiled at a move takes more than the move's time."""
    called = set()

    def noted(name: str, function: Any) -> Any:
        def work(*arguments: Any) -> Any:
            called.add(name)
            return function(*arguments)

        return work

    begun = itertools.count(0, 10)  # every look at the time is ten seconds later
    monkeypatch.setattr(result, "time", SimpleNamespace(perf_counter=lambda: next(begun)))
    kernels = [(search, "settle"), (search, "select"), (search, "expand_all"), (search, "cut_out"), (pace, "lead")]
    for module, name in kernels:
        monkeypatch.setattr(module, name, noted(name, getattr(module, name)))
    opener("chessnet")(Options(threads=1))
    assert called == {name for _, name in kernels}


@pytest.mark.parametrize(
    ("without", "cause", "code", "names"),
    [
        (["chessnet"], ["nowhere"], 1, ["nowhere", "run"]),
        (["chessnet", "--value", "winner"], ["chessnet", "--value", "nowhere"], 1, ["nowhere", "run"]),
        (["human", "--method", "auto"], ["human", "--method", "luck"], 2, ["--method", "luck", "top-prob"]),
        (["chessnet", "--temperature", "100"], ["chessnet", "--temperature", "201"], 2, ["--temperature"]),
        (["chessnet"], [], 2, ["NETWORK"]),
    ],
)
def test_what_is_refused_at_once(without: list[str], cause: list[str], code: int, names: list[str]) -> None:
    refused(["uci", *without], ["uci", *cause], code=code, names=names, call=reading("uci\nquit\n"))


@pytest.mark.parametrize(
    ("change", "code", "names"),
    [({"game": "go"}, 2, ["Go", "UCI", "chess"]), ({}, 1, ["trained", "kibitz train"])],
)
def test_runs_that_cannot_play(tmp_path: Path, change: dict[str, str], code: int, names: list[str]) -> None:
    whole, part = packaged()["chessnet"], tmp_path / "part"
    part.mkdir()
    info = json.loads((whole / "run.json").read_text(encoding="utf-8"))
    (part / "run.json").write_text(json.dumps(info | {"command": "kibitz train"} | change), encoding="utf-8")
    refused(["uci", whole], ["uci", part], code=code, names=names, call=reading("uci\nquit\n"))


def test_a_network_that_does_not_choose_moves() -> None:
    call = reading("uci\nisready\nquit\n")
    refused(["uci", "chessnet"], ["uci", "winner"], code=2, names=["winner", "moves", "chessnet"], call=call)


@pytest.mark.slow
def test_from_the_wheel(tmp_path: Path) -> None:
    """The wheel alone, in an empty folder: the packaged networks are in it, and one of them answers."""
    hatchling = shutil.which("hatchling", path=str(Path(sys.executable).parent))
    if not hatchling or not (ROOT / "pyproject.toml").is_file():
        pytest.skip("hatchling or the source tree is not here")
    subprocess.run([hatchling, "build", "-t", "wheel", "-d", str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(tmp_path / "site")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    script = "import kibitz; from kibitz.runs import packaged; print(kibitz.__file__, *packaged())"
    listed = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    place, *names = listed.stdout.split()
    assert place.startswith(str(tmp_path))
    assert names == list(packaged())
    with Warm(environment, tmp_path) as wheel_alone:
        for name in names:
            info = json.loads((packaged()[name] / "run.json").read_text(encoding="utf-8"))
            if info["game"] == "go":
                done = wheel_alone.run("gtp", name, lines="boardsize 9\ngenmove b\nfinal_score\nquit\n")
                assert done.code == 0, done.err
                assert [line[:1] for line in done.out.splitlines()[::2]].count("=") == 4
                continue
            lines = "uci\nisready\nposition startpos moves e2e4\ngo wtime 100 btime 100\nquit\n"
            done = wheel_alone.run("uci", name, lines=lines)
            if info["system"] == "winner":  # says who wins, chooses no moves
                assert done.code == 2
                assert "chessnet" in done.err
            else:
                assert done.code == 0, done.err
                assert f"id name kibitz {name}\n" in done.out
                assert "readyok" in done.out
                assert done.out.splitlines()[-1].startswith("bestmove ")
                assert " score " in done.out.splitlines()[-2]


def moves_of(human_run: Path, *options: str, times: int = 8) -> list[str]:
    lines = ["uci", *(f"setoption name {option}" for option in options), "isready"]
    lines += ["position startpos moves e2e4 e7e5", "go nodes 100000", "wait"] * times
    done = in_process(["uci", human_run], "\n".join([*(line for line in lines if line != "wait"), "quit", ""]))
    assert done.code == 0, done.err
    assert "nodes 1 " in done.out
    assert not any("depth 2" in line for line in done.out.splitlines()), "one look, whatever is allowed"
    return [line.split()[1] for line in done.out.splitlines() if line.startswith("bestmove")]


def test_a_network_of_ratings_plays_at_once(human_run: Path) -> None:
    assert len(set(moves_of(human_run))) == 1, "the likeliest move, each time"
    like_a_person = moves_of(human_run, "UCI_LimitStrength value true", "UCI_Elo value 1200", times=12)
    assert len(set(like_a_person)) > 2, "drawn in proportion"
    limited = ("UCI_LimitStrength value true", "UCI_Elo value 1200", "temperature value 0")
    assert len(set(moves_of(human_run, *limited))) == 1


def test_a_strength_from_the_command_line(human_run: Path) -> None:
    said = in_process(["uci", human_run, "--elo", "1400"], "uci\nsetoption name UCI_Elo value 0\nquit\n").out
    assert "option name UCI_LimitStrength type check default true" in said
    assert "option name UCI_Elo type spin default 1400 min 800 max 2800" in said
    assert mentions(said, "UCI_Elo & 0 & 800 & 2800 & 1400 & whole")
    for arguments, names in (
        ([str(human_run), "--elo", "0"], ["--elo", "0", "800", "2800"]),
        (["chessnet", "--elo", "1500"], ["--elo", "1500", "chessnet", "rating"]),
    ):
        assert_refused(in_process(["uci", *arguments]), code=2, names=names)
