"""kill -9 at random moments: the same command goes on, and what comes out is what an untroubled one gives.

    python -m soak.kills --moments 100 --minutes 60 [--only import,train-winner] [--folder .soak]

Each work is done once untroubled. Then, again and again: it is begun, killed at a random moment of that time, called
again until it ends by itself, and compared. Moments are counted in FOLDER/kills.json, and the next call goes on.
A command is a fork of this process, which has imported the libraries: a kill then costs no start of torch.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import json
import os
import pkgutil
import random
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import chess.pgn
import lightning_fabric  # noqa: F401
import matplotlib.pyplot  # noqa: F401
import numba
import onnxruntime  # noqa: F401
import optuna  # noqa: F401
import pyarrow.parquet  # noqa: F401
import torch  # noqa: F401

import kibitz
from kibitz import cli
from kibitz.store.store import Store
from soak import known as known_counts
from soak import save
from support import person

DATA = Path(kibitz.__file__).parent / "data"
CHESS, GO = str(DATA / "games.pgn.zst"), str(DATA / "games.sgfl.zst")
OFTEN = ["--validate-every", "10", "--checkpoint-every", "5", "--validate-positions", "200", "--precision", "float32"]
"""Small steps between checkpoints: most kills come after one, and go on from it."""


@dataclass(frozen=True)
class Work:
    """A command in an empty folder. before: commands that prepare it, once. result: what must be equal after it.
    done: how it refuses to do again what was all done when the kill came; "" where it does not refuse.
    """

    command: list[str]
    result: Callable[[Path], object]
    before: tuple[list[str], ...] = ()
    done: str = ""


def store(folder: Path) -> object:
    """The games of a store, and their table without the places where they were read."""
    found = Store(folder / "a.store")
    owners = found.per_game("owner")
    table = found.table().drop(["number"]).to_pylist()
    return (
        found.fingerprint, len(found), found.moves.tobytes(), repr(table), None if owners is None else owners.tobytes(),
    )  # fmt: skip


def weights(folder: Path) -> object:
    """Of the run, and of all its networks, bit for bit."""
    files = sorted((folder / "run").rglob("*.safetensors"))
    assert folder / "run" / "best.safetensors" in files
    return [(str(file.relative_to(folder)), hashlib.sha256(file.read_bytes()).hexdigest()) for file in files]


def trials(folder: Path) -> object:
    """What each trial of a study reached, and the weights of each."""
    report = json.loads((folder / "report.json").read_text())
    files = sorted((folder / "searches").rglob("best.safetensors"))
    assert files
    return (
        [
            [row[name] for name in sorted(row) if "second" not in name and "time" not in name]
            for row in report["trials"]
        ],
        [(str(file.relative_to(folder)), hashlib.sha256(file.read_bytes()).hexdigest()) for file in files],
    )


def personal(folder: Path) -> object:
    """A person's network, bit for bit, its book, and what was chosen from."""
    info = json.loads((folder / "run" / "run.json").read_text())
    assert info["finished"]
    assert not (folder / "run" / "candidates").exists()
    book = (folder / "run" / "book.npy").read_bytes()
    weights = (folder / "run" / "best.safetensors").read_bytes()
    return info["candidates"], hashlib.sha256(book).hexdigest(), hashlib.sha256(weights).hexdigest()


def games(folder: Path) -> object:
    """Which games a match has, each once, and that each is whole."""
    with (folder / "m.pgn").open(encoding="utf-8") as file:
        found = []
        while (game := chess.pgn.read_game(file)) is not None:
            assert not game.errors, game.errors
            assert game.headers["Result"] == "*" or game.end().ply() > 0
            found.append((game.headers["GameNumber"], game.headers["White"], game.headers["Black"]))
    return sorted(found)


CHESS_STORE = ["import", CHESS, "--into", "a.store"]
GO_STORE = ["import", GO, "--into", "a.store", "--referee", "playouts"]
WHOLE = "there is a store already"
SMALL = ["--layers", "8conv3x3p1.ip16", "--batch", "32", "--min-rating", "0"]
APART = [*SMALL, "--share", "none", "--targets", "piece"]
"""Seven networks, a stage each."""
HUMAN = ["--blocks", "1", "--filters", "16", "--batch", "64", "--warmup", "5", "--iterations", "40"]
PAIRS = [
    "--positions", "5", "--pos2vec", "48.24", "--compare", "24.8", "--small-pos2vec", "32", "--small-compare", "16",
    "--pretrain-epochs", "2", "--epochs", "2", "--pairs", "2000", "--distil-epochs", "2", "--optimiser", "adamw",
    "--schedule", "cosine", "--batch", "128",
]  # fmt: skip


def training(system: str, *settings: str, store: tuple[list[str], ...] = ([*CHESS_STORE, "--limit", "200"],)) -> Work:
    return Work(["train", system, "a.store", "--run", "run", *settings, *OFTEN], weights, store)


GO_GAMES = ([*GO_STORE, "--limit", "8"],)
WORKS = {
    "import": Work([*CHESS_STORE, "--limit", "3000"], store, done=WHOLE),
    "append": Work([*CHESS_STORE, "--append"], store, ([*CHESS_STORE, "--limit", "300"],)),
    "label": Work([*GO_STORE, "--limit", "12"], store, done=WHOLE),
    "train-winner": training(
        "winner", "--layers", "8conv4x4.pool2x2.ip8", "--optimiser", "adamw", "--batch", "64", "--iterations", "60"
    ),
    "train-convchess": training("convchess", *APART, "--iterations", "15"),
    "train-chessnet": training(
        "chessnet", *APART, "--iterations", "15", "--value-batch", "32", "--value-iterations", "15"
    ),
    "train-human": training("human", *HUMAN),
    "train-deepchess": training("deepchess", *PAIRS),
    "train-gocnn": training(
        "gocnn", "--layers", "4conv3x3p1.4conv3x3p1", "--min-moves", "0", "--batch", "16", "--iterations", "40",
        store=GO_GAMES,
    ),
    "train-gohuman": training(
        "gohuman", "--blocks", "1", "--filters", "16", "--min-moves", "1", "--batch", "16", "--warmup", "5",
        "--iterations", "40", store=GO_GAMES,
    ),
    "tune": Work(
        ["tune", "convchess", "a.store", *SMALL, "--network", "piece", "--learning-rates", "0.001,0.002",
         "--weight-decays", "0", "--initials", "he", "--iterations-per-trial", "40", "--no-prune",
         "--validate-positions", "200", "--precision", "float32", "--json"],
        trials, ([*CHESS_STORE, "--limit", "200"],),
    ),
    "personal": Work(
        ["personal", "my.pgn", "--from", "base", "--run", "run"], personal,
        ([*CHESS_STORE, "--limit", "200"], ["train", "human", "a.store", "--run", "base", *HUMAN]),
    ),
    "match": Work(
        ["match", "stockfish", "stockfish", "--depth", "3", "--games", "12", "--pgn", "m.pgn", "--max-plies", "60"],
        games,
    ),
}  # fmt: skip


def forked(work: Callable[[], int]) -> int:
    """The process of a function; its exit code is the function's, 70 where it raised."""
    sys.stdout.flush()
    if not (child := os.fork()):
        code = 70
        try:
            code = work()
        finally:
            os._exit(code)
    return child


def call(arguments: list[str], folder: Path, seconds: float | None = None) -> int:
    """The exit code of a command, the signal's number below zero where it was killed, after `seconds`."""

    def work() -> int:
        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for stream, name in ((1, "report.json"), (2, "errors.txt")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), stream)
        sys.argv = ["kibitz", *arguments]
        try:
            cli.main()
        except SystemExit as end:
            return int(end.code or 0)
        return 0

    process = forked(work)
    handle = os.pidfd_open(process)
    if not select.select([handle], [], [], 1800 if seconds is None else seconds)[0]:
        os.kill(process, signal.SIGKILL)
    os.close(handle)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if code > 0:
        print((folder / "errors.txt").read_text()[-2000:], flush=True)
    return code


def result(work: Work, folder: Path) -> str:
    """What must be equal, as text; read in a process of its own, as a fork of threads would hang."""
    out = folder.with_name(f"{folder.name}.result")

    def read() -> int:
        out.write_text(repr(work.result(folder)))
        return 0

    assert os.waitpid(forked(read), 0)[1] == 0, "the result cannot be read"
    return hashlib.sha256(out.read_bytes()).hexdigest()


def prepare(work: Work, folder: Path) -> Path:
    """The folder that the work begins with; it is copied for each try."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    person.write(folder / "my.pgn")
    for arguments in work.before:
        assert call(arguments, folder) == 0
    return folder


def fresh(begin: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    return Path(shutil.copytree(begin, folder))


def untroubled(work: Work, begin: Path, folder: Path) -> tuple[str, float]:
    """The result, and how long it takes."""
    fresh(begin, folder)
    start = time.monotonic()
    assert call(work.command, folder) == 0
    return result(work, folder), time.monotonic() - start


def troubled(work: Work, begin: Path, folder: Path, seconds: float, draw: random.Random) -> tuple[str, int]:
    """The result after a kill, or more where it is hit again, and how often it was killed."""
    fresh(begin, folder)
    killed = 0
    while True:
        last = killed >= 10 or (killed > 0 and draw.random() < 0.15)
        code = call(work.command, folder, None if last else draw.uniform(0, seconds))
        refused = code == 2 and killed > 0 and work.done and work.done in (folder / "errors.txt").read_text()
        if code == 0 or refused:
            return result(work, folder), killed
        assert code == -signal.SIGKILL, f"exit code {code}"
        assert not last, "it was killed by something else"
        killed += 1


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--moments", type=int, default=100, help="of each work, in all calls together")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--folder", type=Path, default=Path(".soak"))
    asked = parser.parse_args()
    end = time.monotonic() + asked.minutes * 60
    counts_file = asked.folder / "kills.json"
    counts: dict[str, int] = known_counts(counts_file)
    names = [name for name in WORKS if not asked.only or name in asked.only.split(",")]
    known: dict[str, tuple[str, float]] = {}
    spent: dict[str, float] = {}
    draw = random.Random()
    for module in pkgutil.walk_packages(kibitz.__path__, "kibitz."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # what asks for packages of others
                importlib.import_module(module.name)
    numba.njit(lambda: 0)()  # reads what numba knows of the processor
    while time.monotonic() < end:
        open_ = [name for name in names if counts.get(name, 0) < asked.moments]
        if not open_:
            break
        name = min(open_, key=lambda name: (spent.get(name, 0.0), counts.get(name, 0)))  # the same time for each
        start = time.monotonic()
        work = WORKS[name]
        folder = (asked.folder / "kills" / name).resolve()
        begin = folder.with_name(f"{name}.begin")
        if name not in known:
            known[name] = untroubled(work, prepare(work, begin), folder)
            print(name, f"{known[name][1]:.1f} s untroubled", flush=True)
        expected, seconds = known[name]
        found, killed = troubled(work, begin, folder, seconds, draw)
        if found != expected:
            print(f"{name}: another result after {killed} kills; see {folder}", flush=True)
            sys.exit(1)
        counts[name] = counts.get(name, 0) + killed
        spent[name] = spent.get(name, 0.0) + time.monotonic() - start
        save(counts_file, counts)
    print("kills:", counts)


if __name__ == "__main__":
    main()
