"""The session: the exported network gives the trained network's numbers, and a run without it still answers."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import chess.pgn
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file

import kibitz
from kibitz.cores import cores
from kibitz.errors import KibitzError
from kibitz.games.chess.replay import encode_board
from kibitz.play import session as session_module
from kibitz.play.session import Session
from kibitz.records import Stream
from kibitz.runs import FORMAT, INFO, ONNX, WEIGHTS, Run
from kibitz.systems.winner import SYSTEM, Settings
from kibitz.training.export import export_onnx
from support.patience import PATIENCE

TINY = "16conv4x4.pool2x2.ip8"
BUNDLED = Path(kibitz.__file__).parent / "data" / "games.pgn.zst"

VARIANTS: list[dict[str, Any]] = [
    {},
    {"activation": "relu"},
    {"attacks": "squares", "activation": "relu"},
    {"attacks": "counts"},
    {"view": "mover"},
    {"separate": "side"},
    {"separate": "phase"},
    {"separate": "side+phase"},
    {"separate": "side+phase", "view": "mover", "attacks": "counts", "activation": "relu"},
]


@pytest.fixture(scope="module")
def positions() -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """300 positions of bundled games in a mixed order, so that sides and phases alternate: codes and state."""
    text = next(Stream(str(BUNDLED)).blocks(1 << 16)).decode()
    file = io.StringIO(text)
    rows: list[NDArray[np.uint8]] = []
    while len(rows) < 300:
        game = chess.pgn.read_game(file)
        assert game is not None
        rows += [encode_board(node.board()) for node in game.mainline()]
    some = np.random.default_rng(1).permutation(np.stack(rows))[:300]
    return some[:, :64].copy(), some[:, 64:].copy()


def make_run(path: Path, positions: tuple[NDArray[np.uint8], NDArray[np.uint8]], **settings: Any) -> Run:
    """A run directory with random weights, large enough that the answers spread."""
    chosen = {"layers": TINY, **settings}
    torch.manual_seed(7)
    network = SYSTEM.network(Settings(**chosen)).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(4)
    path.mkdir()
    (path / INFO).write_text(
        json.dumps({"kibitz_run": FORMAT, "system": "winner", "game": "chess", "settings": chosen}), encoding="utf-8"
    )
    save_file(network.state_dict(), path / WEIGHTS)
    export_onnx(network, positions[0][:4], positions[1][:4], path / ONNX)
    return Run(path)


def by_torch(run: Run, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> NDArray[np.float32]:
    with torch.inference_mode():
        answer: NDArray[np.float32] = run.load_network()(torch.from_numpy(codes), torch.from_numpy(state))[0].numpy()
    return answer


@pytest.mark.parametrize("settings", VARIANTS, ids=lambda s: " ".join(f"{k}={v}" for k, v in s.items()) or "default")
def test_onnx_gives_the_torch_networks_numbers(
    settings: dict[str, Any], positions: tuple[NDArray[np.uint8], NDArray[np.uint8]], tmp_path: Path
) -> None:
    codes, state = positions
    run = make_run(tmp_path / "run", positions, **settings)
    session = Session(run)
    assert session.outputs == ("white_wins",)
    for n in (1, 2, 300):
        for first in {0, 300 - n}:
            part = slice(first, first + n)
            answer = session.evaluate(codes[part], state[part])["white_wins"]
            assert answer.shape == (n,)
            assert answer.dtype == np.float32
            np.testing.assert_allclose(answer, by_torch(run, codes[part], state[part]), rtol=0, atol=1e-5)
    assert np.ptp(answer) > 0.1  # else any two networks would agree


def test_pieces_and_threads_change_nothing(
    positions: tuple[NDArray[np.uint8], NDArray[np.uint8]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes, state = positions
    make_run(tmp_path / "run", positions, separate="side+phase")
    whole = Session(tmp_path / "run", threads=1).evaluate(codes, state)["white_wins"]
    monkeypatch.setattr(session_module, "BATCH_SIZE", 7)
    pieces = Session(tmp_path / "run", threads=2).evaluate(codes, state)["white_wins"]
    np.testing.assert_allclose(whole, pieces, rtol=0, atol=1e-6)


def test_threads_are_for_many_positions_alone(
    positions: tuple[NDArray[np.uint8], NDArray[np.uint8]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few are answered sooner by one."""
    codes, state = positions
    make_run(tmp_path / "run", positions)
    monkeypatch.setattr(session_module, "SINGLE_THREAD_MAX", 10)
    one, two = Session(tmp_path / "run", threads=1), Session(tmp_path / "run", threads=2)
    for session in (one, two):
        session.evaluate(codes[:10], state[:10])
        assert session._many is None
        session.evaluate(codes[:11], state[:11])
    assert one._many is None
    assert two._many is not None
    assert Session(tmp_path / "run").threads == cores()


def test_no_positions(positions: tuple[NDArray[np.uint8], NDArray[np.uint8]], tmp_path: Path) -> None:
    make_run(tmp_path / "run", positions)
    answer = Session(tmp_path / "run").evaluate(positions[0][:0], positions[1][:0])
    assert answer["white_wins"].shape == (0,)
    with pytest.raises(ValueError, match="got 3 and 2 rows"):
        Session(tmp_path / "run").evaluate(positions[0][:3], positions[1][:2])


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "text"])
def test_without_a_usable_onnx_file_torch_answers(
    damage: str,
    positions: tuple[NDArray[np.uint8], NDArray[np.uint8]],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    run = make_run(tmp_path / "run", positions)
    expected = by_torch(run, *positions)
    file = run.path / ONNX
    whole = file.read_bytes()
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes({"empty": b"", "cut": whole[: len(whole) // 2], "text": b"not a network\n"}[damage])
    session = Session(run)
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "uses PyTorch" in said.err
    assert session.outputs == ("white_wins",)
    np.testing.assert_allclose(session.evaluate(*positions)["white_wins"], expected, rtol=0, atol=1e-6)
    assert session.evaluate(positions[0][:0], positions[1][:0])["white_wins"].shape == (0,)


def test_nothing_trained_and_damaged_weights_are_told_in_one_line(
    positions: tuple[NDArray[np.uint8], NDArray[np.uint8]], tmp_path: Path
) -> None:
    run = make_run(tmp_path / "run", positions)
    (run.path / ONNX).unlink()
    whole = (run.path / WEIGHTS).read_bytes()
    (run.path / WEIGHTS).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(KibitzError, match="weights cannot be read"):
        Session(run)
    (run.path / WEIGHTS).unlink()
    with pytest.raises(KibitzError, match="no trained network"):
        Session(run)
    with pytest.raises(KibitzError, match="is not a run"):
        Session(tmp_path / "elsewhere")


def test_torch_is_not_loaded(positions: tuple[NDArray[np.uint8], NDArray[np.uint8]], tmp_path: Path) -> None:
    """An engine starts with a session: torch alone would take it more than a second."""
    make_run(tmp_path / "run", positions)
    code = (
        "import sys, numpy as np; from kibitz.play.session import Session;"
        "Session(sys.argv[1]).evaluate(np.zeros((9, 64), np.uint8), np.zeros((9, 4), np.uint8));"
        "print([name for name in ('torch', 'numba', 'chess') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "run")],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    assert done.stdout == "[]\n"


def test_tests_open_what_is_packaged_once_and_other_runs_anew(small_run: Path) -> None:
    """tests/support/opened.py: the path of a package's networks is its own."""
    first, second = (Session("gocnn") for _ in range(2))
    assert first._few is second._few
    assert first is not second
    assert Session(small_run)._few is not Session(small_run)._few
