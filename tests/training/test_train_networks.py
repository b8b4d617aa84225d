"""The pipeline of the packaged networks, with a network of a few weights: players, store, plateau, cool-down, test."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from kibitz.runs import Run
from kibitz.store.store import Store
from kibitz.systems.human import Settings
from kibitz.training.fit import train
from kibitz.training.trainer import TrainConfig
from support.causes import in_process
from support.patience import PATIENCE

TOOLS = Path(__file__).parents[2] / "tools"
TINY = {"blocks": 1, "filters": 8, "batch": 16}


def load_tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """The script. Its imports and its cool-down run in this process, which has PyTorch loaded."""
    load_tool("held_out_players")
    loaded = load_tool("train_networks")
    program = loaded.kibitz

    def kibitz(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        if arguments[0] == "test" or options not in ({}, {"stdout": subprocess.DEVNULL}):
            found: subprocess.CompletedProcess[str] = program(*arguments, **options)
            return found
        ended = in_process(arguments)
        done = subprocess.CompletedProcess([str(each) for each in arguments], ended.code, ended.out, ended.err)
        done.check_returncode()
        return done

    loaded.kibitz = kibitz  # type: ignore[attr-defined]
    return loaded


def owned(game: str, owner: str, opponent: str = "Somebody") -> str:
    """A bundled game as one of a single player's."""
    lines = [line for line in game.splitlines() if not line.startswith(('[White "', '[Black "'))]
    lines[1:1] = [f'[White "{owner.partition("@")[0]}"]', f'[Black "{opponent}"]', f'[Owner "{owner}"]']
    return "\n".join(lines) + "\n\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, bundled_games: list[str]) -> dict[str, Path]:
    """Games of four players, of masters before and after 2020, and others."""
    folder = tmp_path_factory.mktemp("records")
    owners = ["ann@lichess"] * 12 + ["bob@lichess"] * 9 + ["cid@chesscom"] * 6 + ["dan@lichess"] * 3
    players = [owned(game, owner) for game, owner in zip(bundled_games, owners, strict=False)]
    players.append(owned(bundled_games[40], "ann@lichess", opponent="Bob"))
    dated = [
        game.replace('[Date "', f'[Date "{year}.05.01"]\n[OldDate "', 1)
        for game, year in zip(bundled_games[50:70], [2019] * 12 + [2022] * 8, strict=True)
    ]
    found = {}
    for name, games in (("players", players), ("masters", dated), ("online", bundled_games[80:120])):
        found[name] = folder / f"{name}.pgn"
        found[name].write_text("".join(games), encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def pipeline(tool: ModuleType, files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A pipeline with its players divided and its store made."""
    made = tool.Pipeline(tmp_path_factory.mktemp("work"), tmp_path_factory.mktemp("plateaus"))
    tool.players(made, [files["players"]])
    tool.store(made, "human", files["masters"], [files["online"]])
    return made


def test_the_commands_of_the_page_are_understood(tool: ModuleType) -> None:
    page = (TOOLS.parent / "docs" / "dev" / "training-networks.md").read_text(encoding="utf-8")
    commands = [
        shlex.split(line, comments=True)[2:]
        for line in page.splitlines()
        if line.startswith("python tools/train_networks.py ")
    ]
    understood = [tool.parser().parse_args(words) for words in commands]
    assert {"players", "store", "start", "save", "cool", "test", "package"} <= {each.step for each in understood}
    made = next(each for each in understood if each.step == "store" and each.name == "human")
    assert made.masters == Path("masters.pgn.zst")
    assert made.games == [Path("lichess.pgn.zst"), Path("online.pgn.zst")]


@pytest.mark.process
def test_every_third_player_is_held_out(pipeline: Any) -> None:
    assert (pipeline.work / "held-out-players.txt").read_text().split() == ["bob@lichess"]
    training = (pipeline.work / "training-players.pgn").read_text(encoding="utf-8")
    assert training.count("[Owner ") == 12 + 6 + 3, "the game of a training player against Bob is out, too"
    assert '"bob' not in training.lower()
    held_out = (pipeline.work / "held-out-players.pgn").read_text(encoding="utf-8")
    assert held_out.count('[Owner "bob@lichess"]') == held_out.count("[Owner ") == 9


@pytest.mark.process
def test_no_held_out_game_is_in_the_store(
    tool: ModuleType, pipeline: Any, files: dict[str, Path], tmp_path: Path
) -> None:
    games = Store(pipeline.store("human"))
    players = {name for color in ("white", "black") for name in games.table([color])[color].to_pylist()}
    assert {"ann", "cid", "dan"} <= players
    assert "bob" not in {str(name).lower() for name in players}
    tool.check(pipeline, "human", [files["masters"]])
    wrong = tool.Pipeline(tmp_path)
    for name, records, words in (
        ("held-out-players.pgn", pipeline.work / "held-out-players.pgn", "held-out-players.pgn"),
        ("none.pgn", files["masters"], "masters.pgn"),
    ):
        tool.kibitz("import", records, files["online"], "--into", wrong.store("human"))
        (tmp_path / name).write_bytes(records.read_bytes())
        with pytest.raises(SystemExit, match=f"games of {words}"):
            tool.check(wrong, "human", [files["masters"]])
        (tmp_path / name).unlink()
        tool.shutil.rmtree(wrong.store("human"))


@pytest.fixture
def begun(tool: ModuleType, pipeline: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The pipeline with a tiny plateau that has validated once. Ends what runs."""
    run = pipeline.run("human")
    if not run.exists():
        recipe = {"learning_rate": 0.003, "warmup": 2, "cooldown": 0.0, "iterations": 3_000_000, "most_epochs": 0.0}
        plan = TrainConfig(validate_every=10, checkpoint_every=5, summary_every=1, validate_positions=32, average=4,
                           time_limit=0.5, precision="32-true")  # fmt: skip
        tiny = pipeline.work / "tiny"
        train("human", Settings(**TINY, iterations=1), str(pipeline.store("human")), run=tiny, plan=TrainConfig(),
              export=False)  # fmt: skip
        train("human", Settings(**TINY, **recipe), str(pipeline.store("human")), run=run, plan=plan,
              start_from=str(tiny), export=False)  # fmt: skip
        pipeline.write_notes("human", {"start_from": str(tiny), "positions": 1000})
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    yield pipeline
    if pid := pipeline.process("human"):
        os.killpg(pid, tool.signal.SIGKILL)


def test_an_older_plateau_goes_on_in_the_background(
    tool: ModuleType, begun: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lowered = []  # with the lowest share, a busy machine would not come to it for long
    monkeypatch.setattr(tool, "_in_background", lambda *process: lowered.append(process))
    before = begun.positions("human")
    assert before > 1000
    tool.start(begun, ["human"], None)
    tool.start(begun, ["human"], None)
    assert lowered == [(begun.process("human"), tool.NETWORKS["human"].core)]
    assert "running already" in capsys.readouterr().out
    assert begun.notes("human")["start_from"] == str(begun.work / "human-start"), "a release may exchange the network"
    end = time.monotonic() + PATIENCE
    while begun.positions("human") == before:
        assert begun.process("human"), begun.log("human").read_text()
        assert time.monotonic() < end
        time.sleep(0.2)
    tool.main(["--work", str(begun.work), "pause", "human"])
    tool.main(["--work", str(begun.work), "status", "human"])
    assert "running" in capsys.readouterr().out
    tool.main(["--work", str(begun.work), "stop", "human"])
    while begun.process("human") and time.monotonic() < end:
        try:  # the test is the parent, so it takes the exit code
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        time.sleep(0.1)
    assert begun.process("human") is None
    assert not Run(begun.run("human")).info["finished"]


def test_a_background_process_gets_the_lowest_share(tool: ModuleType) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True) as process:
        shares = Path(f"/proc/{process.pid}/autogroup")
        assert os.getpriority(os.PRIO_PROCESS, process.pid) < 19
        tool._in_background(process.pid, 0)
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == 19
        if shares.exists() and "nice" in shares.read_text():  # Linux with a share for each session
            assert "nice 19" in shares.read_text()
        process.communicate(b"\n")


def test_a_plateau_is_saved_without_folders_of_this_machine(tool: ModuleType, begun: Any) -> None:
    tool.save(begun, ["human"])
    saved = begun.plateaus / "human"
    assert json.loads((saved / "positions.json").read_text())["positions"] == begun.positions("human")
    assert str(begun.work) not in (saved / "run.json").read_text()
    assert tool.Pipeline(begun.work / "other", begun.plateaus).notes("human") == {}
    assert tool._first_notes(begun, "human")["start_from"] == str(saved)
    assert Run(saved).load_network() is not None


def test_a_copy_is_cooled_tested_and_not_made_twice(
    tool: ModuleType, begun: Any, files: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    tool.cool(begun, "human", 3)
    run = tool.cooled(begun, "human")
    rates = [row["learning_rate"] for row in Run(run).metrics() if row["kind"] == "summary"]
    assert rates[-1] < 0.003 / 3
    assert Run(run).info["finished"]
    kept = (run / "best.safetensors").read_bytes()
    tool.cool(begun, "human", 3)
    assert (run / "best.safetensors").read_bytes() == kept
    assert "done before" in capsys.readouterr().out
    store = begun.work / "unseen.store"
    tool.kibitz("import", begun.work / "held-out-players.pgn", "--into", store)
    tool.test(begun, "human", [store], ["--positions", "20", "--stockfish-positions", "0"])
    figures = json.loads((run.parent / "figures-unseen.json").read_text())
    assert figures["figures"]["accuracy"]["n"] == 20
    assert np.isfinite(figures["figures"]["log_loss"]["value"])


def test_games_without_a_date_are_not_labeled(tmp_path: Path) -> None:
    """A game of an unknown year may be one that a network was trained on."""
    dates = ("2019.01.01", "2022.01.01", "????.??.??", "")
    tags = '[Event "e"]\n{}[WhiteElo "1500"]\n[BlackElo "1500"]\n\n1. e4 e5 *\n'
    games = [tags.format(f'[Date "{date}"]\n' if date else "") for date in dates]
    (tmp_path / "games.pgn").write_text("\n".join(games))
    chosen = load_tool("label_mistakes").chosen([str(tmp_path / "games.pgn")], "2021", 50)
    assert [dict(re.findall(r'\[(\w+) "([^"]*)"', text))["Date"] for _, _, text in chosen] == ["2022.01.01"]
