"""`--compile`: the same training, by torch's own code for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from kibitz.cli import run as command
from kibitz.environment import TORCH_CACHE
from kibitz.errors import UsageError
from kibitz.runs import Run
from kibitz.store.store import Store
from kibitz.systems import load
from kibitz.systems.winner import Settings
from kibitz.training import compiled, trainer
from kibitz.training.dataloader import make_batch
from kibitz.training.fit import train
from kibitz.training.trainer import TrainConfig
from support.causes import mentions, naming
from support.helpers import SMALL, SMALL_PAIRS, program

pytestmark = [  # torch's own, about itself
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning"),
]
CPU = torch.device("cpu")
GIVEN: dict[str, Any] = {**SMALL, "batch": 64, "iterations": 20, "dropout": 0.3}
PLAN: dict[str, Any] = {
    "summary_every": 5, "validate_every": 10, "checkpoint_every": 8, "validate_positions": 200, "precision": "32-true",
    "device": "cpu",
}  # fmt: skip


def rows(path: Path) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k != "samples_per_second"} for row in Run(path).metrics()]


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """torch takes a step apart and puts it together again, as ever, but makes no code for it, which would take long.
    What it was given."""
    asked: list[Any] = []

    def compile(function: Any, **_: Any) -> Any:
        asked.append(function)
        return REAL(function, backend="aot_eager")

    monkeypatch.setattr(torch, "compile", compile)
    return asked


REAL = torch.compile


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("winner", {"layers": "8conv4x4.pool2x2.ip8", "dropout": 0.3, "batch": 33}),
        pytest.param(
            "winner", {"layers": "8conv4x4.pool2x2.ip8", "batch": 33, "separate": "side+phase"}, marks=pytest.mark.slow
        ),
        pytest.param("chessnet", {"layers": "8conv3x3p1.ip16", "batch": 33, "value_batch": 33}, marks=pytest.mark.slow),
        pytest.param(
            "deepchess",
            {**SMALL_PAIRS, "reuse": 3, "batch": 33, "nearer": True, "mirror": True},
            marks=pytest.mark.slow,
        ),
        ("human", {"blocks": 1, "filters": 16, "batch": 33}),
        pytest.param("gocnn", {"layers": "8conv5x5p2.chain8", "batch": 9}, marks=pytest.mark.slow),
        pytest.param("gohuman", {"blocks": 1, "filters": 16, "batch": 9}, marks=pytest.mark.slow),
    ],
)
def test_torch_takes_every_stage_apart(
    name: str, given: dict[str, Any], small_store: Store, small_go_store: Store, traced: list[Any]
) -> None:
    """Its loss and gradient are those of the stage, for one batch after the other."""
    system, store = load(name), small_go_store if name.startswith("go") else small_store
    settings = system.settings_type(**given)
    torch.manual_seed(0)
    network, games = system.network(settings), system.games(store, settings)
    system.prepare(network, store, games, settings, 0)
    stages = list(system.stages(network, settings))
    for stage in stages[:1] if name == "chessnet" else stages:
        fast, examples = compiled.compiled(stage.loss), stage.examples(store, games)
        for number in range(3):
            batch = make_batch(examples, stage.batch, 0, number)
            found = []
            for loss in (stage.loss, fast):
                network.zero_grad()
                torch.manual_seed(number)
                with compiled.compilation_errors():
                    value, _ = loss(batch)
                    value.backward()  # type: ignore[no-untyped-call]
                found.append([value.detach(), *(p.grad for p in network.parameters() if p.grad is not None)])
            largest = max(float(gradient.abs().max()) for gradient in found[0][1:])
            assert len(found[0]) == len(found[1])
            for ours, theirs in zip(found[1], found[0], strict=True):
                assert float((ours - theirs).abs().max()) <= 1e-5 * max(largest, 1e-6), stage.name
    assert len(traced) >= 1


def test_a_compiled_training_goes_on_and_leaves_a_run_like_any(
    small_store: Store, tmp_path: Path, traced: list[Any]
) -> None:
    given, plan = Settings(**GIVEN), TrainConfig(**PLAN, compile="on")
    said: list[str] = []

    def leave(progress: trainer.TrainProgress) -> None:
        said.append(progress.note)
        if progress.iteration == 13:
            raise InterruptedError

    train("winner", given, str(small_store.path), run=tmp_path / "whole", plan=plan)
    with pytest.raises(InterruptedError):
        train("winner", given, str(small_store.path), run=tmp_path / "left", plan=plan, on_progress=leave)
    assert train("winner", given, str(small_store.path), run=tmp_path / "left", plan=plan).continued
    train("winner", given, str(small_store.path), run=tmp_path / "plain", plan=TrainConfig(**PLAN))
    assert len(traced) == 3
    assert "compiling" in said[0]
    assert rows(tmp_path / "left") == rows(tmp_path / "whole")
    whole, left, plain = (load_file(tmp_path / name / "best.safetensors") for name in ("whole", "left", "plain"))
    assert whole.keys() == left.keys() == plain.keys()
    assert all(torch.equal(whole[key], left[key]) for key in whole)
    assert all(torch.allclose(whole[key], plain[key], atol=1e-3) for key in whole)


def test_where_torch_cannot_compile(small_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--compile on` fails, and `--compile auto` trains without compilation. Neither message quotes torch."""

    def broken(*_: object) -> None:
        raise RuntimeError("no code for this")

    monkeypatch.setattr(torch, "compile", lambda function, **_: REAL(function, backend=broken))
    given = Settings(**GIVEN)
    with pytest.raises(UsageError, match=naming("--compile on")) as refused:
        train("winner", given, str(small_store.path), run=tmp_path / "r", plan=TrainConfig(**PLAN, compile="on"))
    assert "no code for this" not in str(refused.value)  # torch's text
    monkeypatch.setattr(trainer, "wanted", lambda wish, device: wish == "auto")  # as on a GPU
    said: list[str] = []
    auto = TrainConfig(**PLAN, compile="auto")
    train(
        "winner", given, str(small_store.path), run=tmp_path / "r", plan=auto, on_progress=lambda p: said.append(p.note)
    )
    told = [line for line in said if "not compiled:" in line]
    assert told
    assert not [line for line in told if "no code for this" in line]
    train("winner", given, str(small_store.path), run=tmp_path / "plain", plan=TrainConfig(**PLAN))
    assert rows(tmp_path / "r") == rows(tmp_path / "plain")


def test_without_a_compiler(
    small_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["train", "winner", str(small_store.path), "--run", str(tmp_path / "r"), "--device", "cpu"]
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert command([*words, "--compile", "on"]) == 2
    assert mentions(" ".join(capsys.readouterr().err.split()), "no-such-compiler & compiler")
    assert command([*words, "--compile", "perhaps"]) == 2
    assert mentions(capsys.readouterr().err, "--compile & perhaps & auto")
    assert not (tmp_path / "r").exists()
    gpu = torch.device("cuda")
    monkeypatch.setattr(compiled.importlib.util, "find_spec", lambda name: None)
    assert compiled.missing(gpu) == "Triton is not installed"
    monkeypatch.setattr(compiled.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setenv("CC", "no-such-compiler")
    assert mentions(compiled.missing(gpu), "no-such-compiler & compiler")
    monkeypatch.setenv("CC", sys.executable)
    assert compiled.missing(gpu) == ""


def test_who_compiles() -> None:
    """`auto` does on GPUs, and the recipes for them say `auto`."""
    gpu = torch.device("cuda")
    assert [compiled.wanted(wish, CPU) for wish in compiled.WISHES] == [False, True, False]
    assert [compiled.wanted(wish, gpu) for wish in compiled.WISHES] == [True, True, False]
    assert TrainConfig().compile == "off"
    for name in ("human", "gohuman"):
        assert load(name).recipes["gpu"].training["compile"] == "auto"


@pytest.mark.slow
def test_real_code_learns_the_same(small_store: Store, tmp_path: Path) -> None:
    """To rounding, alone and with two processes; a second start finds in the user's cache what the first has made."""
    program("g++")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}
    environment.pop(TORCH_CACHE, None)

    def words(name: str, batch: int, *more: str) -> list[str]:
        given = {**GIVEN, "batch": batch, "device": "cpu"}
        options = [f"--{option.replace('_', '-')}={value}" for option, value in given.items()]
        every = ["--precision=float32", "--summary-every=5", "--validate-every=10", "--checkpoint-every=8"]
        start = ["train", "winner", str(small_store.path), "--run", str(tmp_path / name), "--validate-positions=200"]
        return [*start, *options, *every, "--json", *more]

    def trained(name: str, batch: int, *more: str) -> list[float]:
        """The losses of a training in a new process."""
        done = subprocess.run(
            [sys.executable, "-m", "kibitz.cli", *words(name, batch, *more)],
            env=environment, capture_output=True, text=True, timeout=900, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["finished"] is True
        return losses(name)

    def losses(name: str) -> list[float]:
        return [row["loss"] for row in rows(tmp_path / name) if row["kind"] != "warning"]

    def files() -> dict[Path, int]:
        found = (tmp_path / "cache/kibitz/torch").rglob("*.so")
        return {path: path.stat().st_mtime_ns for path in found if path.is_file()}

    assert command(words("plain", 64)) == 0
    once = trained("once", 64, "--compile", "on")
    made = files()
    assert made
    two = trained("two", 2 * 64, "--compile", "on", "--devices", "2")  # each process has the shapes of `once`
    assert files() == made
    for ours, theirs in ((once, losses("plain")), (two, trained("plain-two", 2 * 64, "--devices", "2"))):
        assert len(ours) == 6
        assert ours == pytest.approx(theirs, rel=1e-3)
    weights = load_file(tmp_path / "once/best.safetensors")
    assert weights.keys() == load_file(tmp_path / "plain/best.safetensors").keys()
    assert (tmp_path / "once/model.onnx").is_file()
