#!/usr/bin/env python3
"""Train the bundled networks `human` and `gohuman` from game records, step by step: see docs/dev/training-networks.md.

    python tools/train_networks.py players PLAYERS.pgn.zst …
    python tools/train_networks.py store human --masters MASTERS.pgn.zst GAMES.pgn.zst …
    python tools/train_networks.py store gohuman GAMES.sgfl.zst …
    python tools/train_networks.py start | status | pause | resume | stop | save     in the background, both networks
    python tools/train_networks.py cool human
    python tools/train_networks.py test human --stores masters.store lichess.store
    python tools/train_networks.py package human --data "…" --limits "…"

Each step resumes after an interruption, and a finished step only says so. All files are in --work (default:
.work/training). The background trainings have the lowest priority and one core each.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from held_out_players import HELD_OUT_PGN, TRAINING_PGN, divide

PROJECT = Path(__file__).resolve().parents[1]
KIBITZ = [sys.executable, "-m", "kibitz"]
MASTERS_UNTIL, UNSEEN_SINCE = "2020-12-31", "2021"
"""The last day of masters' games for training, and the first year of those for measurements."""
COOL_SHARE = 0.15
"""Positions of a cool-down, as a share of those since the last release."""
LOWEST_PRIORITY = 19


@dataclass(frozen=True)
class Network:
    """One of the networks. core: the processor core of its training. store: its folder in the work folder."""

    name: str
    core: int
    store: str


NETWORKS = {"human": Network("human", 0, "chess.store"), "gohuman": Network("gohuman", 1, "go.store")}


@dataclass(frozen=True)
class Pipeline:
    """The files of the pipeline. work: its folder; plateaus: the folder for saved plateaus, to be committed."""

    work: Path
    plateaus: Path = field(default=PROJECT / "training" / "plateau")

    def run(self, name: str) -> Path:
        return self.work / f"{name}-plateau"

    def log(self, name: str) -> Path:
        return self.work / f"{name}-plateau.log"

    def store(self, name: str) -> Path:
        return self.work / NETWORKS[name].store

    def ready(self, name: str) -> Path:
        return self.work / f"{NETWORKS[name].store}.ready"

    def notes(self, name: str) -> dict[str, Any]:
        """The notes on a plateau. start_from: a run or network; positions: those seen before; released: positions at
        the last release."""
        path = self.work / f"{name}-plateau.json"
        return dict(json.loads(path.read_text())) if path.exists() else {}

    def write_notes(self, name: str, notes: dict[str, Any]) -> None:
        path = self.work / f"{name}-plateau.json"
        part = path.with_suffix(".part")
        part.write_text(json.dumps(notes) + "\n")
        part.rename(path)

    def positions(self, name: str) -> int:
        """Positions that the plateau has seen, with those before this run."""
        rows = metrics_of(self.run(name))
        return int(self.notes(name).get("positions", 0)) + (int(rows[-1]["samples"]) if rows else 0)

    def process(self, name: str) -> int | None:
        """The number of the background training; None if there is none."""
        try:
            pid = int((self.work / f"{name}.pid").read_text())
            os.kill(pid, 0)
        except (OSError, ValueError):
            return None
        with contextlib.suppress(OSError):  # another process may have got the number after a restart of the machine
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":  # ended, not yet waited for
                return None
            # A process that is only starting has no command line for a moment, and for longer at the lowest priority.
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if words != [b""] and not any(str(self.run(name)).encode() in word or word == b"loop" for word in words):
                return None
        return pid


def metrics_of(run: Path) -> list[dict[str, Any]]:
    """The rows of a run's metrics.jsonl that are whole."""
    rows = []
    path = run / "metrics.jsonl"
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []:
        with contextlib.suppress(ValueError):
            rows.append(json.loads(line))
    return [row for row in rows if "samples" in row]


def kibitz(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*KIBITZ, *map(str, arguments)], check=True, text=True, **options)


# Data and stores


def players(pipeline: Pipeline, files: Sequence[Path]) -> None:
    """Divide the single players' games. Every third player is held out for measurements."""
    if (pipeline.work / HELD_OUT_PGN).exists() and (pipeline.work / TRAINING_PGN).exists():
        print(f"{pipeline.work / HELD_OUT_PGN}: done before")
        return
    print(f"{len(divide(files, pipeline.work))} players are held out; their games: {pipeline.work / HELD_OUT_PGN}")


def store(pipeline: Pipeline, name: str, masters: Path | None, games: Sequence[Path]) -> None:
    """Import the training games, and check that no held-out game is among them."""
    path, ready = pipeline.store(name), pipeline.ready(name)
    if ready.exists():
        print(f"{path}: done before")
        return
    shutil.rmtree(path, ignore_errors=True)
    pipeline.work.mkdir(parents=True, exist_ok=True)
    if name == "gohuman":
        kibitz("import", *games, "--into", path, "--min-moves", 20, "--referee", "playouts", "--unconfirmed")
    else:
        _chess_store(pipeline, path, masters, games)
        check(pipeline, name, [masters] if masters else [])
    ready.touch()


def _chess_store(pipeline: Pipeline, path: Path, masters: Path | None, games: Sequence[Path]) -> None:
    append: tuple[str, ...] = ()
    if masters:
        kibitz("import", masters, "--into", path, "--min-plies", 10, "--until", MASTERS_UNTIL,
               "--validate-share", 1, "--test-share", 4)  # fmt: skip
        append = ("--append",)
    of_players = pipeline.work / TRAINING_PGN
    more = [*games, *([of_players] if of_players.exists() else [])]
    if more:
        split = () if append else ("--validate-share", "1", "--test-share", "4")
        kibitz("import", *more, "--into", path, "--min-plies", 10, *append, *split)


def check(pipeline: Pipeline, name: str, masters: Sequence[Path]) -> None:
    """Raises SystemExit if the store has a game of a held-out player, or of the masters after MASTERS_UNTIL."""
    held_out = [(path, ()) for path in [pipeline.work / HELD_OUT_PGN] if path.exists()]
    for path, options in [*held_out, *((path, ("--since", UNSEEN_SINCE)) for path in masters)]:
        found = shared_games(pipeline.store(name), path, options, pipeline.work)
        if found:
            raise SystemExit(
                f"{pipeline.store(name)}: has {found:,} games of {path.name} that are held out. Import again."
            )
        print(f"{pipeline.store(name)}: no held-out game of {path.name}")


def shared_games(store: Path, records: Path, options: Sequence[str], work: Path) -> int:
    """How many games of some records a store has: the same moves by the same players. Two games of other players may
    have the same few moves."""
    from kibitz.store.store import Store

    other = work / f"check-{os.getpid()}.store"
    try:
        kibitz("import", records, "--into", other, *options, stdout=subprocess.DEVNULL)
        held_out = _games(Store(other), Store(store).column("hash"))
        return len(held_out & _games(Store(store), Store(other).column("hash")))
    finally:
        shutil.rmtree(other, ignore_errors=True)


def _games(store: Any, hashes: Any) -> set[tuple[int, str, str]]:
    """The games of a store whose hash is among these: hash, White and Black."""
    import numpy as np

    own = store.column("hash")
    at = np.flatnonzero(np.isin(own, hashes))
    names = store.table(["white", "black"]).take(at).to_pylist()
    return {
        (int(key), (row["white"] or "").lower(), (row["black"] or "").lower())
        for key, row in zip(own[at].tolist(), names, strict=True)
    }


# The plateau, in the background


def plateau_command(pipeline: Pipeline, name: str, mix: str | None) -> list[str]:
    """The command of the plateau: that of the run if it was begun, with all its settings, else of the recipe."""
    run, notes = pipeline.run(name), pipeline.notes(name)
    options: list[str] = []
    if (run / "run.json").exists():
        from kibitz.runs import Run

        info = json.loads((run / "run.json").read_text())
        for setting, value in asdict(Run(run).settings).items():  # with those that the run is older than
            option = setting.replace("_", "-")
            options += (
                [f"--{option}" if value else f"--no-{option}"] if isinstance(value, bool) else [f"--{option}={value}"]
            )
        seed = info["seed"]
    else:
        seed = int(time.time()) % 100_000
        options += ["--mix", mix] if mix is not None else []
    return [*KIBITZ, "train", name, str(pipeline.store(name)), "--run", str(run), "--recipe", "plateau", "--start-from",
            notes["start_from"], "--seed", str(seed), *options]  # fmt: skip


def start(pipeline: Pipeline, names: Sequence[str], mix: str | None) -> None:
    """Begin or resume the plateaus in the background."""
    pipeline.work.mkdir(parents=True, exist_ok=True)
    for name in names:
        if pipeline.process(name):
            print(f"{name}: running already")
            continue
        if not pipeline.ready(name).exists():
            print(f"{name}: no store yet. Run: python tools/train_networks.py store {name} …")
            continue
        if not pipeline.notes(name):
            pipeline.write_notes(name, _first_notes(pipeline, name))
        _keep_start(pipeline, name)
        command = plateau_command(pipeline, name, mix)
        with pipeline.log(name).open("a") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=PROJECT,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )  # fmt: skip
        _in_background(process.pid, NETWORKS[name].core)
        (pipeline.work / f"{name}.pid").write_text(str(process.pid))
        print(f"{name}: started, process {process.pid}; log: {pipeline.log(name)}")


def _first_notes(pipeline: Pipeline, name: str) -> dict[str, Any]:
    """Where a plateau begins: from the saved plateau if there is one, else from the packaged network."""
    saved = pipeline.plateaus / name
    if (saved / "positions.json").exists():
        return {"start_from": str(saved), **json.loads((saved / "positions.json").read_text())}
    return {"start_from": name, "positions": 0}


def _keep_start(pipeline: Pipeline, name: str) -> None:
    """Copy the network that a plateau starts from into the work folder: a release replaces the packaged network, and a
    training can resume only with the weights that it began with."""
    from kibitz.runs import Run

    notes, copy = pipeline.notes(name), pipeline.work / f"{name}-start"
    if notes["start_from"] == str(copy):
        return
    part = copy.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    for file in ("best.safetensors", "run.json", "seen.npy"):
        shutil.copyfile(Run(notes["start_from"]).path / file, part / file)
    shutil.rmtree(copy, ignore_errors=True)
    part.rename(copy)
    pipeline.write_notes(name, {**notes, "start_from": str(copy)})


def _in_background(pid: int, core: int) -> None:
    """The lowest priority, and one core, for a process and the threads that it starts from now on."""
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, pid, LOWEST_PRIORITY)
    with contextlib.suppress(OSError):  # Linux shares the processor among sessions, whatever the priorities inside them
        Path(f"/proc/{pid}/autogroup").write_text(str(LOWEST_PRIORITY))
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setaffinity(pid, {core % (os.cpu_count() or 1)})


def send(pipeline: Pipeline, names: Sequence[str], number: signal.Signals, word: str) -> None:
    """Send a signal to the background trainings."""
    for name in names:
        if pid := pipeline.process(name):
            os.killpg(pid, number)
            print(f"{name}: {word}")
        else:
            print(f"{name}: not running")


def status(pipeline: Pipeline, names: Sequence[str]) -> None:
    """How far each plateau is: positions, rate, and the losses of the raw and the averaged weights."""
    for name in names:
        rows = metrics_of(pipeline.run(name))
        parts = ["running" if pipeline.process(name) else "not running", f"{pipeline.positions(name):,} positions"]
        for kind, word in (
            ("summary", "training"),
            ("validation_raw", "validation, raw weights"),
            ("validation", "validation"),
        ):
            if last := next((row for row in reversed(rows) if row["kind"] == kind), None):
                rate = f" at {last['samples_per_second']:,} samples/s" if "samples_per_second" in last else ""
                parts.append(f"{word} loss {last['loss']:.4f} at iteration {last['iteration']:,}{rate}")
        print(f"{name}: {'; '.join(parts)}")


def save(pipeline: Pipeline, names: Sequence[str]) -> None:
    """Copy the newest weights of each plateau into a folder of the project, to be committed."""
    for name in names:
        run, to = pipeline.run(name), pipeline.plateaus / name
        if not (run / "best.safetensors").exists():
            print(f"{name}: no validation yet, so there is nothing to save")
            continue
        to.mkdir(parents=True, exist_ok=True)
        shutil.copy(run / "best.safetensors", to / "best.safetensors")
        info = json.loads((run / "run.json").read_text())
        info["data"]["store"], info["command"] = Path(info["data"]["store"]).name, ""  # no folder of this machine
        (to / "run.json").write_text(json.dumps(info, indent=1) + "\n")
        shutil.copy(run / "seen.npy", to / "seen.npy")
        (to / "positions.json").write_text(json.dumps({"positions": pipeline.positions(name)}) + "\n")
        print(f"{to}: {pipeline.positions(name):,} positions; commit it")


# A release


@contextlib.contextmanager
def paused(pipeline: Pipeline, name: str) -> Iterator[None]:
    """A context in which the background training of a network waits."""
    pid = pipeline.process(name)
    if pid:
        os.killpg(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        if pid:
            os.killpg(pid, signal.SIGCONT)


def cooled(pipeline: Pipeline, name: str) -> Path:
    """The run of the newest cool-down."""
    found = sorted(pipeline.work.glob(f"{name}-cool-*"), key=lambda path: int(path.name.rpartition("-")[2]))
    if not found:
        raise SystemExit(f"{name}: no cool-down yet. Run: python tools/train_networks.py cool {name}")
    return found[-1] / "run"


def cool(pipeline: Pipeline, name: str, iterations: int | None) -> None:
    """Cool a copy of the plateau: the rate falls to a thousandth. The plateau is paused meanwhile and resumes
    afterwards."""
    notes, seen = pipeline.notes(name), pipeline.positions(name)
    begun = sorted(pipeline.work.glob(f"{name}-cool-*"))
    open_one = next((path for path in begun if not _finished(path / "run")), None)
    folder = open_one or pipeline.work / f"{name}-cool-{seen}"
    if open_one is None and folder.exists():
        print(f"{folder}: done before")
        return
    source = folder / "from"
    if not (source / "positions.json").exists():  # a copy, because the plateau continues
        if not (pipeline.run(name) / "best.safetensors").exists():
            raise SystemExit(
                f"{name}: the plateau has no validation yet. Run: python tools/train_networks.py start {name}"
            )
        source.mkdir(parents=True, exist_ok=True)
        for file in ("best.safetensors", "run.json", "seen.npy"):
            shutil.copy(pipeline.run(name) / file, source / file)
        settings = json.loads((source / "run.json").read_text())["settings"]
        since = seen - int(notes.get("released", notes.get("positions", 0)))
        length = iterations or max(1, round(COOL_SHARE * since / settings["batch"]))
        plan = {"positions": seen, "iterations": length, "mix": settings.get("mix")}
        (source / "positions.json").write_text(json.dumps(plan) + "\n")
    plan = json.loads((source / "positions.json").read_text())
    mix = ["--mix", plan["mix"]] if plan["mix"] is not None else []
    with paused(pipeline, name):
        kibitz("train", name, pipeline.store(name), "--run", folder / "run", "--start-from", source, "--recipe", "cool",
               "--iterations", plan["iterations"], *mix)  # fmt: skip


def _finished(run: Path) -> bool:
    return (run / "run.json").exists() and bool(json.loads((run / "run.json").read_text()).get("finished"))


def test(pipeline: Pipeline, name: str, stores: Sequence[Path], options: Sequence[str]) -> None:
    """Test the cooled network on stores that it has not seen, into figures-STORE.json next to the run."""
    run = cooled(pipeline, name)
    for path in stores:
        figures = run.parent / f"figures-{path.name.removesuffix('.store')}.json"
        if figures.exists():
            print(f"{figures}: done before")
            continue
        result = kibitz("test", run, path, *options, "--json", stdout=subprocess.PIPE).stdout
        part = figures.with_suffix(".part")
        part.write_text(result, encoding="utf-8")
        part.rename(figures)
        accuracy = json.loads(result)["figures"]["accuracy"]
        print(f"{figures}: accuracy {accuracy['value']:.1%} ({accuracy['low']:.1%} to {accuracy['high']:.1%})")


def package(pipeline: Pipeline, name: str, data: str, limits: str) -> None:
    """Put the cooled network and its card into the package."""
    run = cooled(pipeline, name)
    figures = sorted(run.parent.glob("figures-*.json"))
    if not figures:
        raise SystemExit(f"{run}: not tested yet. Run: python tools/train_networks.py test {name} --stores …")
    plan = json.loads((run.parent / "from" / "positions.json").read_text())
    words = f"{data} The network has seen {plan['positions']:,} positions before the last fall of the learning rate."
    subprocess.run([sys.executable, str(Path(__file__).with_name("package_network.py")), str(run), name, "--figures",
                    *map(str, figures), "--data", words, "--limits", limits], check=True)  # fmt: skip
    pipeline.write_notes(name, {**pipeline.notes(name), "released": plan["positions"]})


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument(
        "--work", type=Path, default=Path(".work/training"), help="folder of all files (default: .work/training)"
    )
    top.add_argument("--plateaus", type=Path, default=PROJECT / "training" / "plateau", help="folder for save")
    steps = top.add_subparsers(dest="step", required=True)
    steps.add_parser("players", help="divide single players").add_argument("files", type=Path, nargs="+")
    for step in ("store", "check"):
        one = steps.add_parser(step, help="import the training games" if step == "store" else "look for held-out games")
        one.add_argument("name", choices=NETWORKS)
        one.add_argument("--masters", type=Path, help=f"masters' games; those after {MASTERS_UNTIL} stay out")
        # "+" where games are needed: with "*", argparse refuses games that come after an option.
        if step == "store":
            one.add_argument("games", type=Path, nargs="+")
        else:
            one.set_defaults(games=[])
    for step in ("start", "status", "pause", "resume", "stop", "save"):
        one = steps.add_parser(step, help=f"{step} the plateaus in the background")
        one.add_argument("names", nargs="*", metavar="human|gohuman")
        if step == "start":
            one.add_argument(
                "--mix", help="shares of the samples, see kibitz train human --help (default: the recipe's)"
            )
    one = steps.add_parser("cool", help="let the rate of a copy fall, for a release")
    one.add_argument("name", choices=NETWORKS)
    one.add_argument("--iterations", type=int, help="default: 15%% of the positions since the last release")
    one = steps.add_parser("test", help="measure the cooled network")
    one.add_argument("name", choices=NETWORKS)
    one.add_argument("--stores", type=Path, nargs="+", required=True)
    one.add_argument("--options", default="", help="more options of kibitz test, in one text")
    one = steps.add_parser("package", help="put the cooled network into the package, with its card")
    one.add_argument("name", choices=NETWORKS)
    one.add_argument("--data", required=True, help="what the games are, in a sentence")
    one.add_argument("--limits", required=True, help="what the network is not, in a sentence or two")
    return top


def main(arguments: Sequence[str] | None = None) -> None:
    given = parser().parse_args(arguments)
    pipeline = Pipeline(given.work.resolve(), given.plateaus)
    names = list(getattr(given, "names", None) or NETWORKS)
    if unknown := [name for name in names if name not in NETWORKS]:
        raise SystemExit(f"error: no network {unknown[0]}. Choose from {', '.join(NETWORKS)}.")
    signals = {"pause": (signal.SIGSTOP, "paused"), "resume": (signal.SIGCONT, "goes on"),
               "stop": (signal.SIGINT, "stops after this iteration, with a checkpoint")}  # fmt: skip
    if given.step == "players":
        players(pipeline, given.files)
    elif given.step == "store":
        store(pipeline, given.name, given.masters, given.games)
    elif given.step == "check":
        check(pipeline, given.name, [given.masters] if given.masters else [])
    elif given.step == "start":
        start(pipeline, names, given.mix)
    elif given.step in signals:
        if given.step == "stop":  # a paused process receives the signal only when it is continued
            send(pipeline, names, signal.SIGCONT, "goes on")
        send(pipeline, names, *signals[given.step])
    elif given.step in ("status", "save"):
        {"status": status, "save": save}[given.step](pipeline, names)
    elif given.step == "cool":
        cool(pipeline, given.name, given.iterations)
    elif given.step == "test":
        test(pipeline, given.name, given.stores, given.options.split())
    else:
        package(pipeline, given.name, given.data, given.limits)


if __name__ == "__main__":
    main()
