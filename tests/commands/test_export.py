"""kibitz export: a folder that works without kibitz."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kibitz.cli import run
from kibitz.runs import Run
from support.causes import assert_refused, in_process, refused
from support.patience import PATIENCE

WITHOUT = "import sys; sys.modules['kibitz'] = sys.modules['torch'] = None; sys.argv = sys.argv[1:];"


def example(folder: Path, *arguments: str) -> str:
    """What the example prints where neither kibitz nor torch can be imported."""
    script = f"{WITHOUT} import runpy; runpy.run_path(sys.argv[0], run_name='__main__')"
    command = [sys.executable, "-c", script, str(folder / "example.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout


@pytest.mark.parametrize("name", ["winner", "chessnet"])
def test_the_example_answers_as_kibitz_does(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import chess
    import numpy as np

    from kibitz.games.chess.replay import encode_board
    from kibitz.play.session import Session

    assert run(["export", name, "--to", str(tmp_path / "out")]) == 0
    assert "python" in capsys.readouterr().out
    fen = "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4"
    told = example(tmp_path / "out", fen)
    row = encode_board(chess.Board(fen))[None]
    answers = Session(name).evaluate(row[:, :64], row[:, 64:])
    output = "value" if "value" in answers else "white_wins"
    assert f"{output} {np.round(answers[output][0], 3)!s}" in told
    if "origin" in answers:
        assert "Qxf7#" in told


def test_the_description_names_every_input_and_output(tmp_path: Path) -> None:
    assert run(["export", "chessnet", "--to", str(tmp_path / "out")]) == 0
    told = json.loads((tmp_path / "out" / "description.json").read_text(encoding="utf-8"))
    assert told["inputs"]["state"]["shape"] == ["positions", 4]
    assert set(told["outputs"]) == {"origin", "target", "value"}
    assert all(output["meaning"] for output in told["outputs"].values())
    assert told["weights_sha256"] == Run("chessnet").weights_sha256()


@pytest.mark.parametrize(
    ("arguments", "code", "names"),
    [
        (["nowhere", "--to", "x"], 1, ["nowhere", "run"]),
        (["chessnet", "--to", "full"], 2, ["full"]),
        (["gocnn", "--to", "x"], 1, ["gocnn", str(Run("gocnn").path / "model.onnx")]),
        (["deepchess", "--to", "full"], 1, ["deepchess"]),
        (["chessnet"], 2, ["--to", "--web"]),
        (["chessnet", "--to", "x", "--web", "y"], 2, ["--to", "--web"]),
        (["chessnet", "--web", "x", "--half"], 2, ["--web", "--half"]),
        (["chessnet", "--web", "x", "--name", " "], 2, ["--name"]),
        (["chessnet", "--web", "full"], 2, ["full"]),
        (["deepchess", "--web", "x"], 1, ["deepchess"]),
        (["chessnet", "--to", "x", "--int8", "--half"], 2, ["--int8", "--half"]),
    ],
)
def test_what_cannot_be_exported(
    arguments: list[str], code: int, names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    refused(["export", "chessnet", "--to", "new"], ["export", *arguments], code=code, names=names)
    assert sorted(path.name for path in tmp_path.iterdir()) in (["full"], ["full", "new"])


@pytest.mark.parametrize(("numbers", "size", "mean"), [("int8", 0.5, 0.02), ("half", 0.6, 0.001)])
def test_smaller_numbers_answer_nearly_the_same(
    numbers: str, size: float, mean: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import numpy as np
    import onnxruntime

    from kibitz.play.session import Session
    from kibitz.training.quantised import positions
    from support.helpers import import_games

    folder = tmp_path / "out"
    assert run(["export", "winner", "--to", str(folder), f"--{numbers}"]) == 0
    capsys.readouterr()
    assert json.loads((folder / "description.json").read_text(encoding="utf-8"))["numbers"] == numbers
    assert (folder / "model.onnx").stat().st_size < size * (Run("winner").path / "model.onnx").stat().st_size
    codes, state = positions(Run("winner"), import_games(tmp_path / "s", limit=60), 500)
    small = onnxruntime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
    answers = small.run(["white_wins"], {"codes": codes, "state": state})[0]
    before = Session("winner").evaluate(codes, state)["white_wins"]
    assert np.abs(answers - before).mean() < mean
    assert np.abs(answers - before).max() > 0, "in other numbers"


def test_what_cannot_be_exported_is_refused_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kibitz.commands import export

    monkeypatch.setattr(Run, "person", {"name": "Kim"})
    monkeypatch.setattr(export, "_name_of_person", lambda name: pytest.fail("it asked"))
    assert_refused(in_process(["export", "gocnn", "--to", tmp_path / "x"]), code=1, names="gocnn")
    with pytest.raises(pytest.fail.Exception, match="it asked"):
        in_process(["export", "winner", "--to", tmp_path / "x"])


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page in place of the built one."""
    from kibitz.web import site

    folder = tmp_path / "page"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html>")
    (folder / "assets" / "main.js").write_text("")
    (folder / "sw.js").write_text(f"{site.VERSION}\n{site.FILES}\n")
    monkeypatch.setattr(site, "SHARE", folder)
    return folder


@pytest.mark.parametrize(
    ("network", "answers"),
    [
        ("human", ["white", "moves"]),
        ("winner", ["white"]),
        ("convchess", ["moves"]),
        ("gohuman", ["white", "moves", "owners"]),
        ("gocnn", ["owners"]),
    ],
)
def test_a_site_has_the_network_as_it_is(network: str, answers: list[str], page: Path, tmp_path: Path) -> None:
    import hashlib

    folder = tmp_path / "site"
    assert run(["export", network, "--web", str(folder)]) == 0
    told = json.loads((folder / "network.json").read_text(encoding="utf-8"))
    content = (folder / "model.onnx").read_bytes()
    assert content == (Run(network).path / "model.onnx").read_bytes()
    assert told["file"] == {"name": "model.onnx", "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    assert (told["network"]["name"], told["network"]["answers"], told["license"]) == (
        network,
        answers,
        "GPL-3.0-or-later",
    )
    assert told["network"]["plays"] == (answers != ["owners"])
    searches = network in ("human", "gohuman")
    assert told["network"]["methods"] == ["top-prob"] * (network != "gocnn") + ["short-puct"] * searches
    assert dict(told["side_inputs"]) == Run(network).side_inputs
    assert told["card"] == (Run(network).path / "CARD.md").read_text(encoding="utf-8")
    worker = (folder / "sw.js").read_text(encoding="utf-8")
    files = json.loads(worker.split("const FILES = ")[1].split(";")[0])
    assert sorted(files) == sorted(
        [
            "./",
            *(
                path.relative_to(folder).as_posix()
                for path in folder.rglob("*")
                if path.is_file() and path.name != "sw.js"
            ),
        ]
    )


def test_another_network_is_another_version_of_the_site(page: Path, tmp_path: Path) -> None:
    for folder, network in (("a", "winner"), ("b", "winner"), ("c", "chessnet")):
        assert run(["export", network, "--web", str(tmp_path / folder), "--name", "one"]) == 0
    a, b, c = ((tmp_path / folder / "sw.js").read_text(encoding="utf-8") for folder in "abc")
    assert a == b != c


def test_a_site_names_a_person_only_if_the_owner_says_so(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Run, "person", {"name": "Kim Doe", "names": ["kimdoe"]})
    assert run(["export", "winner", "--web", str(tmp_path / "a")]) == 0
    assert run(["export", "winner", "--web", str(tmp_path / "b"), "--name", "Kim"]) == 0
    capsys.readouterr()
    for folder, name in (("a", "a person"), ("b", "Kim")):
        for path in (tmp_path / folder).rglob("*"):
            assert path.is_dir() or not any(word in path.read_bytes() for word in (b"Doe", b"kimdoe"))
        told = json.loads((tmp_path / folder / "network.json").read_text(encoding="utf-8"))
        assert (told["network"]["name"], told["network"]["person"], told["card"]) == (name, name, "")


def test_a_page_that_is_not_built_and_a_damaged_network_are_refused(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    folder = shutil.copytree(Run("winner").path, tmp_path / "w")
    wanted = ["export", str(folder), "--web", str(tmp_path / "x")]
    (folder / "model.onnx").write_bytes(b"no network")
    refused(["export", "winner", "--web", str(tmp_path / "new")], wanted, code=1, names=["model.onnx"])
    (page / "index.html").unlink()
    assert_refused(in_process(["export", "winner", "--web", tmp_path / "y"]), code=1, names="page")
