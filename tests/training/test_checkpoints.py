"""Which snapshots of a training are kept, and what a run may take of a disk."""

import itertools
import shutil
from collections import namedtuple
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from kibitz.errors import KibitzError
from kibitz.store.store import Store
from kibitz.systems.winner import Settings
from kibitz.training.checkpoints import N_NEWEST, _least_missed, run_bytes, series, thin
from kibitz.training.fit import train
from kibitz.training.trainer import TrainConfig
from support.causes import naming
from support.helpers import SMALL


def write(folder: Path, stage: str, iteration: int, size: int = 1_000_000) -> None:
    (folder / f"{stage}-{iteration:06d}.safetensors").write_bytes(bytes(size))


def test_a_long_series_stays_under_its_megabytes_and_even(tmp_path: Path) -> None:
    for iteration in range(100, 10_001, 100):
        write(tmp_path, "moves", iteration)
        thin(tmp_path, ["moves"], 12.0)
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 12_000_000
    kept = [place for place, _ in series(tmp_path, ["moves"])]
    assert len(kept) == 12
    assert kept[0] == 100
    assert kept[-N_NEWEST:] == [9800, 9900, 10_000]
    gaps = [later - earlier for earlier, later in itertools.pairwise(kept)][: -N_NEWEST + 1]
    assert max(gaps) <= 4 * min(gaps), kept


def test_stages_stand_one_after_another(tmp_path: Path) -> None:
    for stage in ("piece", "pawn"):
        for iteration in (10, 20, 30):
            write(tmp_path, stage, iteration, 10)
    assert [place for place, _ in series(tmp_path, ["piece", "pawn"])] == [10, 20, 30, 40, 50, 60]
    assert [path.stem for _, path in series(tmp_path, ["piece", "pawn"])][3:] == [
        "pawn-000010",
        "pawn-000020",
        "pawn-000030",
    ]


def test_where_not_even_one_fits_none_is_kept(tmp_path: Path) -> None:
    write(tmp_path, "moves", 10)
    (tmp_path / "notes.txt").write_text("mine")
    thin(tmp_path, ["moves"], 0.5)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=40, unique=True))
def test_the_newest_are_never_left_out_while_there_are_others(places: list[int]) -> None:
    out = _least_missed(sorted(places))
    assert 0 <= out < len(places)
    assert out < max(1, len(places) - N_NEWEST)


def test_a_run_keeps_to_its_megabytes(small_store: Store, tmp_path: Path) -> None:
    plan = TrainConfig(50, 50, 2, 500, precision="32-true", checkpoint_megabytes=0.3)
    train("winner", Settings(**SMALL, batch=64, iterations=60), str(small_store.path), run=tmp_path / "r", plan=plan)
    files = list((tmp_path / "r" / "snapshots").iterdir())
    assert 3 < len(files) < 30
    assert sum(path.stat().st_size for path in files) <= 300_000


def test_a_run_that_cannot_fit_is_refused(small_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**9, 10**9 - 10**8, 10**8))
    given = Settings(**SMALL, batch=64, iterations=60)
    with pytest.raises(KibitzError, match=naming("MB & 100 & --checkpoint-megabytes")):
        train("winner", given, str(small_store.path), run=tmp_path / "r", plan=TrainConfig(precision="32-true"))
    train(
        "winner",
        given,
        str(small_store.path),
        run=tmp_path / "r",
        plan=TrainConfig(precision="32-true", checkpoint_megabytes=5),
    )


def test_the_bound_is_one(small_store: Store, tmp_path: Path) -> None:
    """Of a network with an optimiser that keeps two numbers a weight."""
    given = Settings(**SMALL, batch=64, iterations=20)
    path = train("winner", given, str(small_store.path), run=tmp_path / "r", plan=TrainConfig(precision="32-true")).path
    taken = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    assert taken <= run_bytes(nn.Linear(1, 1), 200).total + 20 * (path / "best.safetensors").stat().st_size
    assert run_bytes(nn.Linear(999, 1000), 200).total == 5 * 4_000_000 + 210_000_000
