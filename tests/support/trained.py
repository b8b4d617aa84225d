"""Small trained runs that are recorded in tests/recorded/trained, so that fixtures need not train them.

`make runs` trains all of them again and writes the records: do that after a change of what a run's folder holds. A
record is found by what it was trained with. Where there is none, the run is trained; under CI that fails.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import os
import tarfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from kibitz.runs import INFO, WEIGHTS, write_json
from kibitz.store.store import Store
from support.meter import METER

RUNS = Path(__file__).parents[1] / "recorded" / "trained"
REWRITE = "KIBITZ_NEW_RUNS"
"""The environment variable with which runs are trained and recorded."""
TRAINING_ONLY = ("last.pt", "snapshots")
"""What a run holds for going on with its training."""


def trained(
    system: str,
    settings: Any,
    store: Store,
    path: Path,
    plan: Any,
    also: tuple[str, ...] = (),
    record: bool = True,
) -> Path:
    """A run of a system on a store, in the new folder `path`, from the record where there is one.

    settings: those that are not the defaults find the record, so that a new setting changes nothing.
    plan: the TrainConfig; it is not part of the key. also: of TRAINING_ONLY, what the record contains nevertheless.
    record: False for a run that is always trained, in a slow test.
    """

    def make(path: Path) -> None:
        from kibitz.training.fit import train

        train(system, settings, str(store.path), run=path, plan=plan)

    if not record:
        make(path)
        return path
    defaults = asdict(type(settings)())
    given = {name: value for name, value in asdict(settings).items() if value != defaults[name]}
    recorded(system, {"settings": given, "store": store.fingerprint}, path, make, also)
    point_to(path, Path(store.path))
    return path


def point_to(run: Path, *places: Path) -> None:
    """Have a recorded run name these files and folders where it names others with the same names."""
    names = {place.name: str(place) for place in (run / "games", *places)}

    def moved(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: moved(item) for key, item in value.items()}
        if isinstance(value, list):
            return [moved(item) for item in value]
        if isinstance(value, str) and Path(value).is_absolute():
            return names.get(Path(value).name, value)
        return value

    write_json(run / INFO, moved(json.loads((run / INFO).read_text(encoding="utf-8"))))


def recorded(
    name: str, key: dict[str, Any], path: Path, make: Callable[[Path], object], also: tuple[str, ...] = ()
) -> Path:
    """A run that `make` would train in the new folder `path`, from its record where there is one.

    key: what the run depends on, as JSON. Of equal names and keys there is one record.
    """
    digest = hashlib.sha256(json.dumps([key, also], sort_keys=True, default=str).encode()).hexdigest()[:10]
    file = RUNS / f"{name}-{digest}.tar.xz"
    rewrite = bool(os.environ.get(REWRITE))
    if file.exists() and not rewrite:
        path.mkdir(parents=True)
        with tarfile.open(fileobj=io.BytesIO(lzma.decompress(file.read_bytes()))) as packed:
            packed.extractall(path, filter="data")
        return path
    if os.environ.get("CI") and not rewrite:
        pytest.fail(f"{file.name} is not recorded: run `make runs` and commit what it writes")
    with METER.allowed():
        make(path)
    if rewrite:
        RUNS.mkdir(exist_ok=True)
        file.write_bytes(_packed(path, also))
    return path


def weights_hash(run: Path) -> str:
    """A run's weights as a part of a key."""
    return hashlib.sha256((run / WEIGHTS).read_bytes()).hexdigest()


def _packed(path: Path, also: tuple[str, ...]) -> bytes:
    """A run's folder as tar.xz, the same bytes for the same files."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as packed:
        for file in sorted(path.rglob("*")):
            name = file.relative_to(path)
            if file.is_file() and name.parts[0] not in set(TRAINING_ONLY) - set(also):
                entry = tarfile.TarInfo(name.as_posix())
                entry.size = file.stat().st_size
                packed.addfile(entry, io.BytesIO(file.read_bytes()))
    return lzma.compress(data.getvalue(), preset=9)
