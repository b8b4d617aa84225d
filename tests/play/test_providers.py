"""What computes the answers: which providers are taken, and what is said where one is not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from kibitz.cli import run
from kibitz.errors import KibitzError
from kibitz.games.chess.replay import STANDARD_START
from kibitz.play import providers, session
from kibitz.play.session import Session
from support.causes import mentions, naming

CUDA, OPENVINO, CPU = providers.NAMES.values()


@pytest.fixture(autouse=True)
def nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(providers.PROVIDER, raising=False)
    monkeypatch.setenv(providers.PROVIDER, "")  # is put back after the test, whatever a command has chosen


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """ONNX Runtime with CUDA and OpenVINO, of which only the latter starts; what sessions were asked for."""
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: [CPU, CUDA, OPENVINO])
    heard: list[list[str]] = []
    true = onnxruntime.InferenceSession

    class Opened:
        def __init__(self, path: Path, options: Any, providers: list[str]):
            heard.append(providers)
            if providers == [CUDA]:
                raise RuntimeError("no CUDA-capable device is detected\n(cudaErrorNoDevice)")
            self.inner, self.providers = true(path, options, providers=[CPU]), providers

        def get_providers(self) -> list[str]:
            return self.providers

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inner, name)

    monkeypatch.setattr(onnxruntime, "InferenceSession", Opened)
    return heard


def test_the_processor_answers_where_nothing_is_said(asked: list[list[str]]) -> None:
    Session("chessnet-value")
    assert asked == [[CPU]]


def test_auto_takes_the_first_that_starts(asked: list[list[str]]) -> None:
    providers.choose(providers.AUTO)
    opened = Session("winner", threads=1)
    assert asked == [[CPU], [CUDA], [OPENVINO]]
    rows = np.repeat(STANDARD_START[None], 40, 0)
    codes, state = np.ascontiguousarray(rows[:, :64]), np.ascontiguousarray(rows[:, 64:])
    many = opened.evaluate(codes, state)
    few = opened.evaluate(codes[:1], state[:1])
    assert asked == [[CPU], [CUDA], [OPENVINO]], "nothing is opened anew"
    for name in opened.outputs:
        np.testing.assert_allclose(many[name], np.repeat(few[name], 40, 0), atol=1e-3)


def test_one_that_does_not_start_is_one_line(asked: list[list[str]]) -> None:
    providers.choose("cuda")
    with pytest.raises(KibitzError, match=naming("--provider & cuda & CUDA-capable & cpu & provider")) as e:
        Session("winner")
    assert "\n" not in str(e.value)


def test_a_runtime_that_takes_another_one_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """ONNX Runtime goes on with the processor where a library of the GPU is missing."""
    with (
        pytest.warns(UserWarning, match=naming("provider")),
        pytest.raises(KibitzError, match="CPUExecutionProvider"),
    ):
        session._open(Session("winner").run.path / "model.onnx", 1, CUDA)


def test_a_gpu_takes_more_at_once(asked: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(providers.BATCHES, "openvino", 30)
    providers.choose("openvino")
    opened = Session("winner")
    sizes: list[int] = []
    answer = opened._answer
    opened._answer = lambda codes, state: (sizes.append(len(codes)), answer(codes, state))[1]  # type: ignore[func-returns-value]
    rows = np.repeat(STANDARD_START[None], 70, 0)
    assert len(opened.evaluate(rows[:, :64], rows[:, 64:])[opened.outputs[0]]) == 70
    assert sizes == [30, 30, 10]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["analyze", "winner", "a.pgn", "--provider", "cuda"], "cpu & onnxruntime-gpu"),
        (["bench", "--provider", "openvino"], "Install onnxruntime-openvino"),
        (["uci", "winner", "--provider", "tpu"], "--provider & tpu & auto & cpu & cuda & provider"),
        (["gtp", "gocnn", "--provider", "cuda"], "Install onnxruntime-gpu"),
        (["board", "--provider", "cuda"], "Install onnxruntime-gpu"),
        (["test", "winner", "a.store", "--provider", "cuda"], "Install onnxruntime-gpu"),
    ],
)
def test_an_absent_one_is_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: [CPU])
    assert run(words) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert mentions(err, said)
