"""Train a network on a game store. The function `train` calls three others: `prepare` chooses the run (the directory
for the network), `fit` trains, and `finish` exports the network.
"""

from __future__ import annotations

import contextlib
import platform
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load as load_weights
from safetensors.torch import load_file, save
from torch import nn

from kibitz import __version__
from kibitz.errors import KibitzError, UsageError, one_line
from kibitz.games import GAME_NAMES
from kibitz.lock import exclusive_lock
from kibitz.records import printable
from kibitz.runs import (
    FORMAT,
    INFO,
    LOCK,
    ONNX,
    SEEN,
    WEIGHTS,
    Run,
    barely_begun,
    same_training,
    short_hashes,
    write_json,
    write_seen,
)
from kibitz.store.positions import Positions, permutation
from kibitz.store.split import SIDES, TEST, TRAIN, VALIDATE, Split
from kibitz.store.store import Store
from kibitz.systems import DEFAULT, find_recipe, load
from kibitz.systems.base import Network, System
from kibitz.systems.spelling import AUTO, respelled, same_value
from kibitz.training import compiled
from kibitz.training.batch_size import find_batch
from kibitz.training.checkpoints import RunBytes, run_bytes
from kibitz.training.export import export_onnx
from kibitz.training.trainer import (
    FINISHED_BEFORE,
    NoExamples,
    TrainConfig,
    Trainer,
    TrainOutcome,
    TrainProgress,
    best_precision,
)

RUNS = Path("runs")
_OTHERS_CHOOSE = 60.0
"""Seconds to wait for the lock while other training runs choose their directories."""


@dataclass(frozen=True)
class TrainResult:
    """The result of `train`.

    path: the run's directory, which contains the network. outcome: how the training ended. continued: whether this call
    resumed a run that an earlier call began.
    """

    path: Path
    outcome: TrainOutcome
    continued: bool


def choose(
    system: str, settings: Any, data: dict[str, Any], seed: int, requested: Path | None
) -> tuple[Path, dict[str, Any] | None]:
    """Return the directory for a training run, and the content of its run.json. The content is None for a new run,
    which no earlier call began.

    data: the description of the training data. requested: the directory that the user requested, or None. With None,
    the result is the run in runs/SYSTEM-NUMBER that has the same system (kind of network), settings, games and seed. If
    there is none, the result is the directory with the next free number.

    Raises UsageError if the requested directory has a run that differs in system, settings, games or seed, or has other
    files and no run.
    """
    if requested is not None:
        if (name := printable(str(requested))) != str(requested):
            raise UsageError(f"--run must be valid UTF-8 text (got {name}). Choose another name.")
        if not requested.exists():
            return requested, None
        if not (requested / INFO).is_file():
            if not barely_begun(requested):
                raise UsageError(f"{requested} is neither a run nor an empty folder. Choose another --run.")
            return requested, None
        info = Run(requested).info
        if not same_training(info, system, settings, data, seed):
            raise UsageError(f"{requested} {differences(info, system, settings, data, seed)}. Choose another --run.")
        return requested, info
    for path, info in _numbered(system):
        if same_training(info, system, settings, data, seed):
            return path, info
    run_number = 1
    while (path := RUNS / f"{system}-{run_number}").exists() and not barely_begun(path):
        run_number += 1
    return path, None


def _numbered(system: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the numbered runs of a system with their run.json, in order. Unreadable runs are skipped."""
    numbers = (path.name.removeprefix(f"{system}-") for path in RUNS.glob(f"{system}-*"))
    for number in sorted(int(text) for text in numbers if text.isdecimal() and text.isascii() and text[0] != "0"):
        with contextlib.suppress(KibitzError):
            if ((path := RUNS / f"{system}-{number}") / INFO).is_file():
                yield path, Run(path).info


def begun_before(system: str, settings: Any, data: dict[str, Any], seed: int) -> Path | None:
    """Return the last directory runs/SYSTEM-NUMBER whose training had the same system (kind of network), settings, seed
    and store path, even if the games in the store have changed since. Returns None if there is none. data: the
    description of the training data.
    """
    latest = None
    for path, info in _numbered(system):
        then = info.get("data", {})
        now = {**data, "fingerprint": then.get("fingerprint")}
        if then.get("store") == data["store"] and same_training(info, system, settings, now, seed):
            latest = path
    return latest


def differences(info: dict[str, Any], system: str, settings: Any, data: dict[str, Any], seed: int) -> str:
    """Return in a few words how an existing run differs from the requested training, such as "started with seed 1
    instead of 2". info: the content of the existing run.json. The other arguments describe the requested training.
    """
    if info.get("system") != system:
        return f"is a run of {info.get('system')}"
    old, new = respelled(info.get("settings", {}), [each.name for each in fields(settings)]), asdict(settings)
    parts = [
        f"{name} {old.get(name)} instead of {new[name]}" for name in new if not same_value(old.get(name), new[name])
    ]
    parts += [f"the unknown setting {name}" for name in old if name not in new]
    if info.get("seed") != seed:
        parts.append(f"seed {info.get('seed')} instead of {seed}")
    before = info.get("data", {})
    if before.get("fingerprint") != data["fingerprint"]:
        parts.append("other games")
    if before.get("split") != data["split"]:
        parts.append("another split")
    if before.get("started_from") != data.get("started_from"):
        parts.append("another --start-from")
    return "started with " + ", ".join(parts)


@dataclass(frozen=True)
class TrainingData:
    """The games of a store that a system can train on.

    games: for each part of the split (TRAIN, VALIDATE, TEST) the indices of its games in the store, int64. description:
    the value of "data" in run.json, which describes the store, the split and the number of games.
    """

    store: Store
    games: dict[int, NDArray[np.int64]]
    description: dict[str, Any]


def prepare_data(system: System, settings: Any, store_path: str, split: Split | None = None) -> TrainingData:
    """Open a store, select the games on which a system (kind of network) can train, and split them. split: None for the
    store's own split. Raises KibitzError or UsageError if the store has no training games for the system.
    """
    store = Store(store_path)
    if store.game != system.game:
        raise UsageError(
            f"{store_path} is a store of {GAME_NAMES[store.game]} games, and {system.name} needs"
            f" {GAME_NAMES[system.game]} games. Choose another store."
        )
    split = split or store.split
    split.check()
    games = system.games(store, settings)
    sides = store.sides(split)[games]
    games_by_side = {side: games[sides == side] for side in (TRAIN, VALIDATE, TEST)}
    if not len(games_by_side[TRAIN]):
        raise KibitzError(
            f"{store_path} has no training games for {system.name}: the system can use {len(games):,} of {len(store):,}"
            f" games, and the split is {split.describe()}. Import other games or choose another split."
        )
    description = {
        "store": str(store_path),
        "fingerprint": store.fingerprint,
        "split": split.as_json(),
        "split_in_words": split.describe(),
        "games": {SIDES[side]: len(some) for side, some in games_by_side.items()},
    }
    return TrainingData(store, games_by_side, description)


@dataclass(frozen=True)
class TrainRequest:
    """The arguments of a call of `training.fit.train`, whose docstring describes them. plan: the options of the
    training loop. found_batch_size: whether `training.batch_size.find_batch` determined the batch size.
    """

    system: str
    settings: Any
    store: str
    run: Path | None
    split: Split | None
    plan: TrainConfig
    start_from: str | None
    recipe: str
    command: str
    found_batch_size: bool = False


@dataclass
class TrainJob:
    """A training run that is ready to start or to resume.

    path: the run's directory.
    info: the content of run.json.
    parent: the run whose weights are the initial weights; None if there is none.
    plan: the requested options of the training loop, with the precision of the run (the folder of a trained network).
    continued: whether an earlier call began this run.
    finished: whether an earlier call finished this run.
    held: the lock of the run's directory, which only the main process holds.
    """

    path: Path
    system: System
    settings: Any
    network: nn.Module
    data: TrainingData
    plan: TrainConfig
    info: dict[str, Any]
    parent: Run | None
    continued: bool
    finished: bool = False
    held: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)


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
    on_progress: Callable[[TrainProgress], object] = lambda progress: None,
    log: Callable[[str], None] = lambda line: None,
) -> TrainResult:
    """Train a system (kind of network) on a store, or resume a run that was interrupted.

    name, settings: the system's name and an instance of its `settings_type`.
    run: the directory of the run; None for runs/NAME-NUMBER.
    split: how to split the games; None for the store's own split.
    plan: when to report, validate, save and stop; None for the defaults.
    start_from: the run or bundled network whose weights are the initial weights; None for random weights. Its training
        games also count as training games of this run.
    recipe, command: the recipe and the command line to record in run.json.
    export: whether to write model.onnx at the end.
    on_progress: a function that is called after every iteration. If it returns True, training stops as with Ctrl-C.
    log: a function that is called with each message for the user.

    If several processes train together (`plan.ranks`), each of them must call this function. Raises KibitzError or
    UsageError if the store has no training games, or if no network can be trained with these settings.
    """
    request = TrainRequest(name, settings, store_path, run, split, plan or TrainConfig(), start_from, recipe, command)
    job = prepare_all(request, log)
    with job.held:
        outcome = fit(job, on_progress)
        return finish(job, outcome, export)


def prepare_all(request: TrainRequest, log: Callable[[str], None]) -> TrainJob:
    """Call `prepare` in the main process, and send its result to the other processes. So these processes need no access
    to the directory of the run (the trained network).

    Raises KibitzError if a process has other games or settings than the main process.
    """
    ranks, device = request.plan.ranks, request.plan.device
    ranks.together(lambda: compiled.check(request.plan.compile, ranks.fabric(device, "32-true").device))
    request = _with_batch(request, log)
    job = ranks.together(lambda: prepare(request, log) if ranks.main else _follow(request))
    same = (
        job.system.name,
        asdict(job.settings),
        job.plan.seed,
        job.data.description["fingerprint"],
        job.data.description["split"],
    )
    shared = ranks.broadcast((same, job.path, job.plan.precision, job.info, job.continued, job.finished))

    def compare() -> None:
        if shared[0] != same:
            what = "store" if shared[0][:3] == same[:3] else "settings"
            raise KibitzError(
                f"process {ranks.rank + 1} of {ranks.world} and process 1 have different {what}. Start all processes"
                f" with the same {what}."
            )

    try:
        ranks.together(compare)
    except KibitzError:
        job.held.close()
        raise
    _, path, precision, info, continued, finished = shared
    plan = replace(job.plan, precision=precision)
    return replace(job, path=path, plan=plan, info=info, continued=continued, finished=finished)


def _with_batch(request: TrainRequest, log: Callable[[str], None]) -> TrainRequest:
    """Return the request with the batch size "auto" replaced by a number, which is the same in every process."""
    if getattr(request.settings, "batch", None) != AUTO:
        return request
    ranks = request.plan.ranks
    batch = ranks.broadcast(ranks.together(lambda: _batch(request, log) if ranks.main else 0))
    return replace(request, settings=replace(request.settings, batch=batch), found_batch_size=True)


def _batch(request: TrainRequest, log: Callable[[str], None]) -> int:
    """Return the batch size of the run (the folder of a trained network) that this call resumes. If there is none,
    return the largest batch size that fits.
    """
    system, kind = load(request.system), type(request.settings)
    usual = find_recipe(request.system, request.recipe or DEFAULT).settings.get("batch", kind().batch)
    settings = replace(request.settings, batch=usual)
    system.check(settings)
    data = prepare_data(system, settings, request.store, request.split)
    if request.start_from:
        data.description["started_from"] = _open_parent(system, request.start_from).weights_sha256()
    requested = request.run
    runs: Iterable[tuple[Path, dict[str, Any]]] = _numbered(system.name)
    if requested is not None:
        runs = [(requested, Run(requested).info)] if (requested / INFO).is_file() else []
    for _, info in runs:
        before = info.get("settings", {}).get("batch")
        if info.get("batch_found") and same_training(
            info, system.name, replace(settings, batch=before), data.description, request.plan.seed
        ):
            return int(before)
    batch = find_batch(system, settings, data.store, data.games[TRAIN], request.plan)
    log(
        f"--batch {AUTO}: {batch:,} (the recipe's {usual:,}); the learning rate and the iterations of the"
        " recipe do not change"
    )
    return batch


def _follow(request: TrainRequest) -> TrainJob:
    """Make the job of a process that writes no output files. The job contains everything that needs no data from the
    main process.
    """
    system, settings = load(request.system), request.settings
    system.check(settings)
    data = prepare_data(system, settings, request.store, request.split)
    network = system.network(settings)
    return TrainJob(Path(), system, settings, network, data, request.plan, {}, None, False)


def prepare(request: TrainRequest, log: Callable[[str], None]) -> TrainJob:
    """Do everything before the first iteration: check the arguments, choose the directory of the run (the trained
    network) and write run.json. log: a function that is called with each message for the user.

    If an error is raised, or if an earlier call finished the run, nothing is written.
    """
    system, settings, seed = load(request.system), request.settings, request.plan.seed
    parent = _open_parent(system, request.start_from) if request.start_from else None
    system.check(settings)
    data = prepare_data(system, settings, request.store, request.split)
    if parent:
        data.description["started_from"] = parent.weights_sha256()
    torch.manual_seed(seed)
    network = system.network(settings)
    if parent:
        _weights_from(parent, system, network)  # raises an error before a directory is made
    with contextlib.ExitStack() as choosing, contextlib.ExitStack() as held:
        path, begun = _chosen(request, system, data, choosing, held)
        if begun and begun.get("finished"):
            return TrainJob(path, system, settings, network, data, request.plan, begun, parent, True, finished=True)
        if not begun and not request.run and (other := begun_before(system.name, settings, data.description, seed)):
            log(f"{request.store} has changed since {other} started, so a new run starts: {path}")
        size = _make_room(path, network, request.plan)
        info = begun or _new_info(request, system, network, data)
        plan = replace(request.plan, precision=info["precision"])
        job = TrainJob(path, system, settings, network, data, plan, info, parent, begun is not None)
        if not begun:
            _write_new_run(job)
        else:
            info.pop("ended", None)
            info["data"]["store"] = data.description["store"]  # the store may have been moved
            write_json(path / INFO, info)  # the run is resumed
        job.held = held.pop_all()
    _announce(job, request.recipe, size, log)
    return job


def _chosen(
    request: TrainRequest,
    system: System,
    data: TrainingData,
    choosing: contextlib.ExitStack,
    held: contextlib.ExitStack,
) -> tuple[Path, dict[str, Any] | None]:
    """Call `choose` with locks, so that no other process chooses the same directory.

    All runs are locked until run.json is written, and this run until the training ends. Raises UsageError if the run
    (the folder of a trained network) can't be resumed as requested, and KibitzError if another process is training it.
    """

    def look() -> tuple[Path, dict[str, Any] | None]:
        path, begun = choose(system.name, request.settings, data.description, request.plan.seed, request.run)
        requested = request.plan.precision
        if begun and requested not in ("auto", begun.get("precision")):
            raise UsageError(
                f"{path} started with another precision ({begun.get('precision')}). Leave --precision out to resume,"
                " or choose another --run."
            )
        return path, begun

    path, begun = look()
    if request.run is None and begun is None:
        _lock(RUNS, choosing, wait=_OTHERS_CHOOSE)
        path, begun = look()
    if not (begun and begun.get("finished")):  # A finished run is never written, and its directory may be read-only.
        _lock(path, held)
        path, begun = look()
    return path, begun


def _lock(path: Path, held: contextlib.ExitStack, wait: float = 0.0) -> None:
    """Create a directory if necessary, and lock it until `held` is closed. If the directory is then empty, it is
    removed.

    Raises KibitzError if it can't be created or written, or if another process has locked it.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        held.callback(_remove_empty, path)
        held.enter_context(exclusive_lock(path / LOCK, path, "training run", wait))
    except OSError as error:
        raise KibitzError(f"{path}: {one_line(error)}. Choose another --run.") from None


def fit(job: TrainJob, on_progress: Callable[[TrainProgress], object]) -> TrainOutcome:
    """Train until the last iteration, or until training is stopped, and record the outcome in run.json, the description
    of the trained network. job: the result of `prepare`. on_progress: see `train`.
    """
    info, games, ranks = job.info, job.data.games, job.plan.ranks
    if job.finished:
        return TrainOutcome(True, FINISHED_BEFORE, info["iteration"], info["best"], parts=info.get("parts", []))
    try:
        job.system.prepare(job.network, job.data.store, games[TRAIN], job.settings, job.plan.seed)
    except KibitzError:
        _remove_unstarted(job)
        raise
    if job.parent:
        job.network.load_state_dict(_weights_from(job.parent, job.system, job.network))
    if not ranks.alone:
        job.network.load_state_dict(load_weights(ranks.broadcast(save(job.network.state_dict()))))
    trainer = Trainer(
        job.path,
        job.system,
        job.settings,
        job.network,
        job.data.store,
        games[TRAIN],
        games[VALIDATE],
        job.plan,
        on_progress,
        revive=job.parent is not None,
    )
    began = time.monotonic()
    try:
        outcome = trainer.train()
    except NoExamples:
        _remove_unstarted(job)
        raise
    if not ranks.main:
        return outcome
    info["seconds"] = round(info["seconds"] + time.monotonic() - began, 1)
    info |= {
        "finished": outcome.finished,
        "iteration": outcome.iteration,
        "best": outcome.best,
        "ended": outcome.reason,
        **({"averaged_over": job.plan.average} if job.plan.average else {}),
        **({"parts": outcome.parts} if outcome.parts else {}),
    }
    write_json(job.path / INFO, info)
    return outcome


def _remove_unstarted(job: TrainJob) -> None:
    """Remove the files of a new run whose training can't start, so that its directory is removed, too."""
    if job.plan.ranks.main and not job.continued and not (job.path / WEIGHTS).exists():
        for name in (INFO, SEEN, "metrics.jsonl"):
            (job.path / name).unlink(missing_ok=True)


def finish(job: TrainJob, outcome: TrainOutcome, export: bool) -> TrainResult:
    """Export the best weights as model.onnx, if `export` is true and the run (the directory of the network) has
    weights. Return the result of `train`.

    An earlier call of `train` may have finished the training and then been killed before it wrote model.onnx. So if the
    training was already finished, this function writes model.onnx only if the file is missing.
    """
    onnx, export = job.path / ONNX, export and job.plan.ranks.main
    if export and (job.path / WEIGHTS).is_file() and not (job.finished and onnx.is_file()):
        positions = Positions(job.data.store, job.data.games[TRAIN])
        few = positions.batch(permutation(len(positions), 0, 0, 0, min(4, len(positions))))
        export_onnx(Run(job.path).load_network(), few.codes, few.state, onnx)
    return TrainResult(job.path, outcome, job.continued)


def _open_parent(system: System, name: str) -> Run:
    """Open the run or bundled network to start from. Raises UsageError if the system (kind of network) can't use its
    weights.
    """
    parent = Run(name)
    if parent.info["system"] not in (system.name, *system.begins_from):
        raise UsageError(f"--start-from must be a run of {system.name} (got {name}, a run of {parent.info['system']})")
    try:
        parent.system.check(parent.settings)
    except UsageError as error:
        raise UsageError(f"--start-from {name} cannot be trained further: {error}") from None
    return parent


def _weights_from(parent: Run, system: System, network: nn.Module) -> Mapping[str, torch.Tensor]:
    """Convert the parent's weights to the form of `network`. Raises UsageError if they don't fit."""
    try:
        with parent.naming_unreadable_weights():
            weights = load_file(parent.trained())
        return system.adopt(network, parent.info["system"], weights)
    except UsageError as error:
        raise UsageError(f"--start-from {parent.name} is not compatible with this training: {error}") from None


def _remove_empty(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.rmdir()  # fails if the directory is not empty


def _make_room(path: Path, network: nn.Module, plan: TrainConfig) -> RunBytes:
    """Return upper limits of the run's size on disk. Raises KibitzError if the disk has too little free space."""
    size = run_bytes(network, plan.checkpoint_megabytes, averages=plan.average > 0)
    present = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    if (free := shutil.disk_usage(path).free + present) < size.peak:
        raise KibitzError(
            f"{path} may need {size.peak / 1e6:,.0f} MB, and the disk has {free / 1e6:,.0f} MB free. Free some"
            " space, or use a smaller --checkpoint-megabytes."
        )
    return size


def _new_info(request: TrainRequest, system: System, network: nn.Module, data: TrainingData) -> dict[str, Any]:
    """Return the run.json of a new training."""
    plan = request.plan
    return {
        "kibitz_run": FORMAT,
        "system": system.name,
        "game": system.game,
        "settings": asdict(request.settings),
        "recipe": request.recipe,
        "seed": plan.seed,
        "precision": best_precision(plan.device) if plan.precision == "auto" else plan.precision,
        "data": data.description,
        "versions": {"kibitz": __version__, "torch": torch.__version__, "python": platform.python_version()},
        "machine": _machine(plan),
        "command": request.command,
        "beyond": cast(Network, network).side_inputs,
        **({"batch_found": True} if request.found_batch_size else {}),
        "finished": False,
        "seconds": 0.0,
    }


def _write_new_run(job: TrainJob) -> None:
    """Write run.json, and the hashes of all training games of the network."""
    hashes, games = job.data.store.column("hash"), job.data.games
    seen = [short_hashes(hashes[np.concatenate([games[TRAIN], games[VALIDATE]])])]
    if job.parent:
        seen.append(job.parent.seen())
    write_seen(job.path, seen)
    write_json(job.path / INFO, job.info)


def _machine(plan: TrainConfig) -> str:
    """Describe the machine for run.json: the GPU or else the kind of processor, the threads, and the processes."""
    many = "" if plan.ranks.alone else f", {plan.ranks.world} processes"
    return f"{_gpu(plan) or platform.machine()}, {torch.get_num_threads()} threads{many}"


def _gpu(plan: TrainConfig) -> str:
    """Return the name of the GPU that trains, such as "NVIDIA H200"; "" if the CPU trains."""
    device = plan.ranks.fabric(plan.device, "32-true").device
    return torch.cuda.get_device_name(device) if device.type == "cuda" else ""


def _hardware(plan: TrainConfig) -> str:
    """Return the device that trains, as a user calls it: "the CPU", or the name of the GPU."""
    return f"the GPU {name}" if (name := _gpu(plan)) else "the CPU"


def _announce(job: TrainJob, recipe: str, size: RunBytes, log: Callable[[str], None]) -> None:
    if job.continued or recipe:
        what = "resuming this run" if job.continued else f"recipe {recipe}"
        log(f"{job.path}: {what}; trains on {_hardware(job.plan)}; the run will need up to {size.total / 1e6:,.0f} MB")
    if size.weights > job.plan.checkpoint_megabytes * 1e6:
        log(
            f"no checkpoint is kept: a checkpoint of {size.weights / 1e6:,.0f} MB exceeds --checkpoint-megabytes"
            f" {job.plan.checkpoint_megabytes:g}"
        )
    if not len(job.data.games[VALIDATE]):
        log("no game is left for validation: training runs to its last iteration and keeps the last weights")
