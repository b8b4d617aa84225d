"""`--compile`: the same training, by torch's own code for it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from kibitz.errors import KibitzError
from kibitz.runs import Run
from kibitz.store.store import Store
from kibitz.systems.winner import Settings
from kibitz.training import compiled as module
from kibitz.training.compiled import compiled
from kibitz.training.fit import train
from kibitz.training.trainer import TrainConfig
from support.helpers import SMALL, program


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own
def test_a_compiled_training_learns_the_same(
    small_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To rounding, and with what was compiled in the folder that was asked for."""
    program("g++")
    monkeypatch.setenv(module.CACHE, str(tmp_path / "cache"))
    given = Settings(**SMALL, batch=64, iterations=20)  # type: ignore[arg-type]
    losses = []
    for compile in (False, True):
        plan = TrainConfig(5, 20, 20, 200, precision="32-true", compile=compile)
        path = train("winner", given, str(small_store.path), run=tmp_path / f"{compile}", plan=plan).path
        losses.append([row["loss"] for row in Run(path).metrics() if row["kind"] != "warning"])
    assert len(losses[0]) == 5
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)
    assert any((tmp_path / "cache").rglob("*.so"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_where_torch_cannot_compile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(module.CACHE, str(tmp_path))

    def no_compiler(*_: object) -> None:
        raise RuntimeError("no C++ compiler")

    def double(values: torch.Tensor) -> torch.Tensor:
        return values * 2

    monkeypatch.setattr(torch, "compile", lambda function, **_: REAL(function, backend=no_compiler))
    with pytest.raises(KibitzError, match=r"--compile: .*no C\+\+ compiler.*leave the option out"):
        compiled(double)(torch.ones(3))


REAL = torch.compile
