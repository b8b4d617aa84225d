"""The import of several files, and labels of games of Go, with workers against the serial path; is the store the same?

    python bench/bench_ray.py lichess.pgn --files 8 --workers 2
    python bench/bench_ray.py tygem.sgfl --labels 2000 --workers 2

PGN: the file is cut at games into so many files. These ways take turns: the serial backend (this process alone, one
block after the other), what `kibitz import` does by itself (a thread reads, two parse), one worker process, and the
workers of each backend. SGF: the first counted games; one thread of this
process, one worker process and the workers of each backend label them by playouts. Seconds are those of the work:
workers are started before, and what that takes is a figure of its own; so are the processor seconds of this process
alone, which with workers are the part that no further worker takes away. Each way is run as often as --repeat says, and
its fastest run counts, since other work disturbs a machine; the load average is printed too.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import math
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kibitz.games import game_of
from kibitz.games.batch import GameBatch
from kibitz.games.chess.filters import Filter as ChessFilter
from kibitz.games.chess.io.scan import scan
from kibitz.games.go.endings.scoring import Referee
from kibitz.games.go.filters import Filter as GoFilter
from kibitz.parallel import Backend, Workers, open_workers
from kibitz.records import Stream
from kibitz.store.writer import StoreWriter

FEW = 8
"""Games of Go that are labelled at a time."""
Run = Callable[[Workers | None, Path], int]
"""Does the work into a store at the path, and returns how many games it was. Workers None: the usual way."""


def cut(path: str, files: int, folder: Path, most: int) -> list[str]:
    """Cut a PGN file, or its first `most` bytes, into `files` files of whole games."""
    text = b""
    with contextlib.closing(Stream(path)) as stream:
        for block in stream.blocks(1 << 22):
            text += block
            if len(text) >= most:
                break
    begins, _ = scan(text)
    ends = [int(begins[len(begins) * i // files]) for i in range(1, files)] + [int(begins[-1])]
    names, begin = [], int(begins[0])
    for number, end in enumerate(ends):
        names.append(folder / f"{number}.pgn")
        names[-1].write_bytes(text[begin:end])
        begin = end
    return list(map(str, names))


def counted(path: str, games: int) -> list[GameBatch]:
    """The first counted games of an SGF file."""
    batches: list[GameBatch] = []
    with contextlib.closing(iter(game_of("go").Reader([path], GoFilter(ending="counted")))) as found:
        for batch in found:
            batches.append(batch.take(np.arange(len(batch)) < games))
            games -= len(batches[-1])
            if games <= 0:
                break
    return batches


def import_chess(files: list[str]) -> Run:
    rules = game_of("chess")

    def run(workers: Workers | None, into: Path) -> int:
        reader = rules.Reader(files, ChessFilter())
        with StoreWriter(into, "chess", rules.COLUMNS, rules.STANDARD_START, rules.PER_MOVE) as writer:
            batches = reader.batches(workers) if workers else iter(reader)
            with contextlib.closing(batches):
                for batch in batches:
                    writer.add(batch)
            writer.commit({})
            return writer.read

    return run


def label_go(batches: list[GameBatch]) -> Run:
    rules = game_of("go")

    def run(workers: Workers | None, into: Path) -> int:
        with (
            Referee("playouts", workers=workers or 1, keep_unconfirmed=True) as referee,
            StoreWriter(
                into, "go", rules.COLUMNS, rules.STANDARD_START, rules.PER_MOVE, per_game=rules.PER_GAME
            ) as writer,
        ):
            for batch in batches:
                writer.add(batch, None, referee.label)
            writer.commit({})
            return writer.games

    return run


def fingerprint(store: Path) -> str:
    """A hash of all files of a store."""
    digest = hashlib.sha256()
    for file in sorted(file for file in store.rglob("*") if file.is_file()):
        digest.update(str(file.relative_to(store)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


@contextlib.contextmanager
def opened(backends: dict[str, Backend | None]) -> Iterator[tuple[dict[str, Workers | None], dict[str, float]]]:
    """The workers of each way, and the seconds that their start took."""
    with contextlib.ExitStack() as stack:
        workers: dict[str, Workers | None] = {}
        seconds = {}
        for name, backend in backends.items():
            begun = time.perf_counter()
            workers[name] = stack.enter_context(open_workers(backend)) if backend else None
            seconds[name] = round(time.perf_counter() - begun, 2)
        yield workers, seconds


def measured(run: Run, few: Run, backends: dict[str, Backend | None], repeat: int) -> dict[str, Any]:
    """few: a little of the same work, by which each way begins."""
    times: dict[str, list[float]] = {name: [] for name in backends}
    own = dict.fromkeys(backends, math.inf)
    stores: dict[str, str] = {}
    games = 0
    with opened(backends) as (workers, starts), tempfile.TemporaryDirectory() as folder:
        for name in backends:  # compiled functions and imports of the workers are not measured
            few(workers[name], Path(folder) / f"first-{len(list(Path(folder).iterdir()))}")
        for turn in range(repeat):
            for i, name in enumerate(backends):
                into = Path(folder) / f"store-{turn}-{i}"
                begun, busy = time.perf_counter(), time.process_time()
                games = run(workers[name], into)
                times[name].append(time.perf_counter() - begun)
                own[name] = min(own[name], time.process_time() - busy)
                stores[name] = fingerprint(into)
    best = {name: min(taken) for name, taken in times.items()}
    base = next(iter(best.values()))
    return {
        "games": games,
        "stores_equal": len(set(stores.values())) == 1,
        "start_seconds": starts,
        "seconds": {name: [round(one, 2) for one in taken] for name, taken in times.items()},
        "own_processor_seconds": {name: round(one, 2) for name, one in own.items()},
        "games_per_second": {name: round(games / one, 1) for name, one in best.items()},
        "ratio_to_first": {name: round(base / one, 2) for name, one in best.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--megabytes", type=int, default=240, help="of text of a PGN file, at most")
    parser.add_argument("--labels", type=int, help="label so many games of an SGF file")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--without-ray", action="store_true")
    parser.add_argument("--without-processes", action="store_true", help="the usual way and Ray alone")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    count = arguments.workers
    backends: dict[str, Backend | None] = {"serial": Backend(), "usual": None}
    if not arguments.without_processes:
        backends |= {"1 process": Backend("processes", 1), f"{count} processes": Backend("processes", count)}
    if not arguments.without_ray:
        backends[f"Ray, {count} workers"] = Backend("ray", count)
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        if arguments.labels:
            batches = counted(arguments.file, arguments.labels)
            run, few = label_go(batches), label_go([batches[0].take(np.arange(len(batches[0])) < 4 * FEW)])
        else:
            run = few = import_chess(cut(arguments.file, arguments.files, Path(folder), arguments.megabytes << 20))
        result = measured(run, few, backends, arguments.repeat)
    print(json.dumps({**result, "load": [round(before, 1), round(os.getloadavg()[0], 1)]}, indent=1))


if __name__ == "__main__":
    main()
