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
        (["chessnet"], 2, ["--to"]),
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
