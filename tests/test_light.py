"""Every command of the small size works where nothing of the extra `train` can be imported."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kibitz import environment as surroundings
from kibitz.errors import TRAINING, KibitzError, need_training
from kibitz.play.session import Session
from kibitz.runs import find
from support.causes import mentions, naming
from support.light import FORBIDDEN, STEPS, Program, write_games
from support.warm import Warm

SOURCES = str(Path(surroundings.__file__).parents[1])


@pytest.fixture(scope="module")
def kibitz(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """kibitz as it is here, in processes (and those that they start) to which the extra's parts are not there."""
    folder = tmp_path_factory.mktemp("light")
    write_games(folder)
    hidden = tmp_path_factory.mktemp("hidden")
    (hidden / "sitecustomize.py").write_text(f"import sys\nsys.modules.update(dict.fromkeys({FORBIDDEN!r}))\n")
    path = os.pathsep.join([str(hidden), SOURCES])
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}
    with Warm(environment, folder) as warm:
        yield Program([sys.executable, "-m", "kibitz"], folder, environment, warm)


def test_nothing_of_the_extra_can_be_imported_there(kibitz: Program) -> None:
    script = f"for name in {FORBIDDEN!r}:\n    try: __import__(name)\n    except ModuleNotFoundError: print(name)\n"
    done = subprocess.run(
        [sys.executable, "-c", script], env=dict(kibitz.environment), capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == list(FORBIDDEN)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_without_the_extra_it(kibitz: Program, step: Callable[[Program], None]) -> None:
    step(kibitz)


def test_without_the_extra_a_notebook_shows_positions(kibitz: Program) -> None:
    script = (
        "import kibitz; import chess\n"
        "for name in ('winner', 'chessnet', 'deepchess'):\n"
        "    assert '<svg' in kibitz.show(chess.Board(), name).svg\n"
        "assert '<svg' in kibitz.show(open('game.sgf').read(), 'gocnn', ply=20).svg\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=kibitz.folder, env=dict(kibitz.environment), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_without_the_extra_the_python_face_does_all_but_train(kibitz: Program) -> None:
    script = (
        "import kibitz, chess\n"
        "for name in kibitz.__all__: getattr(kibitz, name)\n"
        "assert kibitz.load_network('chessnet').choose_move(chess.Board(), nodes=20).san\n"
        "assert kibitz.load_network('gocnn').evaluate(open('game.sgf').read()).owners.shape == (9, 9)\n"
        "assert len(kibitz.analyse('games.pgn', 'winner').white) > 10\n"
        "assert kibitz.analyse('game.sgf', 'gocnn').moves and 'winner' in kibitz.list_systems()\n"
        "try: kibitz.train('winner', 'my.store')\n"
        "except kibitz.KibitzError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=kibitz.folder, env=dict(kibitz.environment), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert mentions(done.stdout, "winner & PyTorch & 'kibitz[train]' & system")


def test_a_run_without_onnx_names_file_and_remedy(kibitz: Program) -> None:
    """Only torch can answer for it."""
    shutil.copytree(find("winner"), kibitz.folder / "lacking")
    (kibitz.folder / "lacking" / "model.onnx").unlink()
    code, out, err = kibitz.run("analyze", "lacking", "games.pgn")
    assert (code, out) == (1, "")
    assert mentions(err, "lacking/model.onnx & PyTorch & 'kibitz[train]'")


def test_where_only_some_parts_are_missing_they_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    need_training("train")
    monkeypatch.setattr("kibitz.errors.TRAINING", (*TRAINING, "no_such_part", "nor_this_one"))
    with pytest.raises(KibitzError, match=naming("no_such_part & nor_this_one & 'kibitz[train]'")):
        need_training("train")


@pytest.mark.slow
def test_what_is_compiled_goes_to_the_users_folder(tmp_path: Path) -> None:
    """And ONNX Runtime leaves nothing there: it would keep a number of the device, and reports."""
    environment = {key: value for key, value in os.environ.items() if key not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    script = (
        "import numpy as np; from kibitz.play.session import Session; from kibitz.games.chess.io.scan import *\n"
        "from kibitz.games.chess.replay import encode_board; import chess\n"
        "from kibitz.games.chess.legal import legal_moves\n"
        "row = encode_board(chess.Board())[None]\n"
        "legal_moves(np.ascontiguousarray(row[:, :64]), np.ascontiguousarray(row[:, 64:]))\n"
        "Session('winner').evaluate(row[:, :64], row[:, 64:])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**environment, "HOME": str(tmp_path), "PYTHONPATH": SOURCES},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    kept = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert kept
    folder = surroundings.user_folder().relative_to(Path.home()) if sys.platform != "linux" else Path(".cache/kibitz")
    assert all(path.is_relative_to(folder) for path in kept), kept


def test_without_a_folder_to_write_a_temporary_one_is_removed_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", "import os, kibitz; f = os.environ['NUMBA_CACHE_DIR']; print(f, os.path.isdir(f))"],
        env={**environment, "XDG_CACHE_HOME": str(tmp_path / "file"), "PYTHONPATH": SOURCES}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    folder, there = done.stdout.split()
    assert there == "True"
    assert not Path(folder).exists()


@pytest.mark.parametrize(("given", "kept"), [({}, "passive"), ({"OMP_WAIT_POLICY": "active"}, "active")])
def test_threads_that_wait_sleep_unless_the_user_says_otherwise(given: dict[str, str], kept: str) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "OMP_WAIT_POLICY"}
    done = subprocess.run(
        [sys.executable, "-c", "import os, kibitz; print(os.environ['OMP_WAIT_POLICY'])"],
        env={**environment, **given, "PYTHONPATH": SOURCES}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == kept


def test_a_cache_folder_that_is_named_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/somewhere")
    surroundings.set_up()
    assert os.environ["NUMBA_CACHE_DIR"] == "/somewhere"


def test_a_session_needs_no_torch_where_onnx_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kibitz.errors.TRAINING", ("no_such_part",))
    assert Session("winner").outputs == ("white_wins",)
