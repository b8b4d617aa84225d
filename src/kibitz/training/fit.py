"""From a system and a store to a finished run: choose the directory, train, export."""

from __future__ import annotations

import platform
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from torch import nn

from kibitz.errors import KibitzError, UsageError
from kibitz.runs import FORMAT, INFO, ONNX, SEEN, WEIGHTS, Run, same_training, short_hashes, write_json
from kibitz.store.positions import Positions, permutation
from kibitz.store.split import SIDES, TEST, TRAIN, VALIDATE, Split
from kibitz.store.store import Store
from kibitz.systems import load
from kibitz.systems.base import Network, System
from kibitz.training.checkpoints import run_bytes
from kibitz.training.export import export_onnx
from kibitz.training.trainer import Beat, TrainConfig, Trainer, TrainOutcome, best_precision

RUNS = Path("runs")


@dataclass(frozen=True)
class TrainResult:
    """What `train` came to: the run's directory, how it ended, and whether it went on from an earlier call."""

    path: Path
    outcome: TrainOutcome
    continued: bool


def choose(
    system: str, settings: Any, data: dict[str, Any], seed: int, wanted: Path | None
) -> tuple[Path, dict[str, Any] | None]:
    """The run directory for this training, and its run.json when it was begun before.

    With `wanted`, that one; else the numbered run of this very training, else the next number. Raises UsageError where
    `wanted` is another training's or no run.
    """
    if wanted is not None:
        if not wanted.exists():
            return wanted, None
        if not (wanted / INFO).is_file():
            if any(wanted.iterdir()):
                raise UsageError(f"{wanted}: not a run, and not empty; choose another --run")
            return wanted, None
        info = Run(wanted).info
        if not same_training(info, system, settings, data, seed):
            raise UsageError(
                f"{wanted}: {differences(info, system, settings, data, seed)}; choose another --run to train anew"
            )
        return wanted, info
    for path, info in _numbered(system):
        if same_training(info, system, settings, data, seed):
            return path, info
    number = 1
    while (path := RUNS / f"{system}-{number}").exists():
        number += 1
    return path, None


def _numbered(system: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The numbered runs of a system with their run.json, up to the first number that is free."""
    number = 1
    while (path := RUNS / f"{system}-{number}").exists():
        if (path / INFO).is_file():
            yield path, Run(path).info
        number += 1


def begun_before(system: str, settings: Any, data: dict[str, Any], seed: int) -> Path | None:
    """The last numbered run of the same call, made when the store had other games."""
    found = None
    for path, info in _numbered(system):
        then = info.get("data", {})
        now = {**data, "fingerprint": then.get("fingerprint")}
        if then.get("store") == data["store"] and same_training(info, system, settings, now, seed):
            found = path
    return found


def differences(info: dict[str, Any], system: str, settings: Any, data: dict[str, Any], seed: int) -> str:
    """How a begun run differs from what is asked for now, in a few words."""
    if info.get("system") != system:
        return f"a run of {info.get('system')}"
    old, new = info.get("settings", {}), asdict(settings)
    parts = [f"{name} {old.get(name)} not {new[name]}" for name in new if old.get(name) != new[name]]
    if info.get("seed") != seed:
        parts.append(f"seed {info.get('seed')} not {seed}")
    before = info.get("data", {})
    if before.get("fingerprint") != data["fingerprint"]:
        parts.append("a store with other games")
    if before.get("split") != data["split"]:
        parts.append("another split")
    if before.get("started_from") != data.get("started_from"):
        parts.append("other weights to start from")
    return "begun with " + ", ".join(parts)


@dataclass(frozen=True)
class Lessons:
    """What a system can learn from a store: the store, its games on each side of the split, and all that in words."""

    store: Store
    parts: dict[int, NDArray[np.int64]]
    data: dict[str, Any]


def prepare_data(system: System, settings: Any, store_path: str, split: Split | None = None) -> Lessons:
    """Open a store for a system. Raises KibitzError or UsageError where the system has nothing to learn from it."""
    store = Store(store_path)
    if store.game != system.game:
        raise UsageError(f"{store_path}: a store of {store.game} games; {system.name} learns {system.game}")
    split = split or store.split
    split.check()
    games = system.games(store, settings)
    sides = store.sides(split)[games]
    parts = {side: games[sides == side] for side in (TRAIN, VALIDATE, TEST)}
    if not len(parts[TRAIN]):
        raise KibitzError(
            f"{store_path}: none of its {len(store)} games is for training with {system.name} "
            f"({len(games)} fit the system; split {split.describe()}); import other games or choose another split"
        )
    data = {
        "store": str(store_path),
        "fingerprint": store.fingerprint,
        "split": split.as_json(),
        "split_in_words": split.describe(),
        "games": {SIDES[side]: len(part) for side, part in parts.items()},
    }
    return Lessons(store, parts, data)


def _adopted(
    system: System, network: nn.Module, earlier: Run, weights: Mapping[str, torch.Tensor]
) -> Mapping[str, torch.Tensor]:
    """The weights to start from. Raises UsageError where those of the earlier run do not fit."""
    try:
        return system.adopt(network, earlier.info["system"], weights)
    except UsageError as error:
        raise UsageError(f"--start-from {earlier.name}: {error}") from None


def train(
    name: str,
    settings: Any,
    store_path: str,
    *,
    run: Path | None = None,
    split: Split | None = None,
    plan: TrainConfig | None = None,
    start_from: str | None = None,
    recipe: str = "",
    command: str = "",
    export: bool = True,
    tell: Callable[[Beat], object] = lambda beat: None,
    say: Callable[[str], None] = lambda line: None,
) -> TrainResult:
    """Train a system on a store, or go on with a training that was broken off.

    start_from: a run or packaged network whose weights to begin with; what it has seen counts as seen by this run too.
    recipe: the name of the recipe that the settings come from, for the run to tell.
    export: write model.onnx at the end. tell: is called with each Beat; where it returns True the training stops as by
    Ctrl-C. say: is called with each line for the user.
    Raises KibitzError or UsageError where the store has nothing to learn from or the settings make no network.
    """
    plan = plan or TrainConfig()
    system = load(name)
    earlier = Run(start_from) if start_from else None
    if earlier:
        if earlier.info["system"] not in (name, *system.begins_from):
            raise UsageError(f"--start-from {start_from}: a run of {earlier.info['system']}, not of {name}")
        try:
            earlier.system.check(earlier.settings)
        except UsageError as error:
            raise UsageError(f"--start-from {start_from}: cannot learn any further ({error})") from None
    system.check(settings)
    material = prepare_data(system, settings, store_path, split)
    store, parts, data = material.store, material.parts, material.data
    if earlier:
        data["started_from"] = earlier.weights_sha256()
    torch.manual_seed(plan.seed)
    network = system.network(settings)
    weights = load_file(earlier.trained()) if earlier else None
    if weights and earlier:
        _adopted(system, network, earlier, weights)  # that they fit is known before a run is begun
    path, begun = choose(name, settings, data, plan.seed, run)
    if begun is None and run is None and (other := begun_before(name, settings, data, plan.seed)):
        say(f"{store_path} has other games than when {other} was begun, so {path} begins anew")
    if begun and begun.get("finished"):
        if export and not (path / ONNX).is_file():  # it was killed between its last iteration and the export
            finish(path, store, parts[TRAIN])
        return TrainResult(path, TrainOutcome(True, "finished before", begun["iteration"], begun["best"]), True)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KibitzError(f"{path}: {(error.strerror or str(error)).lower()}; choose another --run") from None
    takes = run_bytes(network, plan.snapshot_megabytes)
    there = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    if (free := shutil.disk_usage(path).free + there) < takes.peak:
        raise KibitzError(
            f"{path}: this run may take {takes.peak / 1e6:,.0f} MB and {free / 1e6:,.0f} MB are free on this disk; make"
            " room, or choose another --run, fewer --snapshot-megabytes or a smaller network"
        )
    info: dict[str, Any] = begun or {
        "kibitz_run": FORMAT,
        "system": name,
        "game": system.game,
        "settings": asdict(settings),
        "recipe": recipe,
        "seed": plan.seed,
        "precision": best_precision(plan.device) if plan.precision == "auto" else plan.precision,
        "data": data,
        "versions": {"kibitz": version("kibitz"), "torch": torch.__version__, "python": platform.python_version()},
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads",
        "command": command,
        "beyond": cast(Network, network).beyond,
        "finished": False,
        "seconds": 0.0,
    }
    plan = replace(plan, precision=info["precision"])
    if not begun:
        hashes = store.column("hash")
        seen = [short_hashes(hashes[np.concatenate([parts[TRAIN], parts[VALIDATE]])])]
        if earlier:
            seen.append(np.load(earlier.path / SEEN))
        np.save(path / SEEN, np.unique(np.concatenate(seen)))
        write_json(path / INFO, info)
    if begun or recipe:
        what = "going on with this run" if begun else f"recipe {recipe}"
        say(f"{path}: {what}; it will take up to {takes.kept / 1e6:,.0f} MB")
    if takes.weights > plan.snapshot_megabytes * 1e6:
        say(
            f"no snapshot is kept: one of {takes.weights / 1e6:,.0f} MB is over --snapshot-megabytes"
            f" {plan.snapshot_megabytes:g}"
        )
    if not len(parts[VALIDATE]):
        say("no game is left for validation: training runs to its last iteration and keeps the last weights")
    system.prepare(network, store, parts[TRAIN], settings, plan.seed)
    if weights and earlier:
        network.load_state_dict(_adopted(system, network, earlier, weights))
    trainer = Trainer(path, system, settings, network, store, parts[TRAIN], parts[VALIDATE], plan, tell)
    began = time.monotonic()
    outcome = trainer.train()
    info["seconds"] = round(info["seconds"] + time.monotonic() - began, 1)
    info |= {
        "finished": outcome.finished,
        "iteration": outcome.iteration,
        "best": outcome.best,
        "ended": outcome.reason,
    }
    write_json(path / INFO, info)
    if export:
        finish(path, store, parts[TRAIN])
    return TrainResult(path, outcome, begun is not None)


def finish(path: Path, store: Store, games: Any) -> None:
    """Export the best weights, as far as there are any."""
    run = Run(path)
    if (path / WEIGHTS).is_file():
        positions = Positions(store, games)
        some = positions.batch(permutation(len(positions), 0, 0, 0, min(4, len(positions))))
        export_onnx(run.network(), some.codes, some.state, path / ONNX)
