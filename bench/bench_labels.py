"""Labels of counted games a second, how many games each referee confirms, and whether GNU Go agrees with what is kept.

    python bench/bench_labels.py tygem.sgfl.zst kgs.sgfl.zst --games 75

From each file the first so many counted games are taken. They are labelled twice: by playouts alone, and by playouts
with GNU Go for what those do not confirm. Then GNU Go judges every game, whether or not its score is the written one,
and each game that was kept is compared with it on every point; points that either leaves to nobody are passed over.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from kibitz.cores import cores
from kibitz.external.programs import find_gnugo
from kibitz.games.batch import GameBatch, Rejections
from kibitz.games.go.endings.counting import settle
from kibitz.games.go.endings.dead import GNUGO_ARGUMENTS, GnuGo
from kibitz.games.go.endings.scoring import Final, Referee, finals
from kibitz.games.go.filters import Filter
from kibitz.games.go.io.ingest import SgfReader


def read(path: str, games: int) -> list[GameBatch]:
    """The first counted games of a file."""
    batches: list[GameBatch] = []
    with contextlib.closing(iter(SgfReader([path], Filter(ending="counted")))) as found:
        for batch in found:
            some = np.arange(len(batch)) < games
            batches.append(batch.take(some))
            games -= int(some.sum())
            if games <= 0:
                break
    return batches


def processor() -> float:
    """Processor seconds of this process and of those that it started and that have ended; for a busy machine."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def label(batches: list[GameBatch], which: str, workers: int) -> tuple[dict[str, Any], dict[tuple[str, int], Any]]:
    """What a referee did, and the owner map of each game that it kept."""
    begun, before = time.perf_counter(), processor()
    with Referee(which, workers=workers) as referee:
        labelled = [referee.label(replace(batch, rejections=Rejections())) for batch in batches]
    seconds, work = time.perf_counter() - begun, processor() - before
    owners = {}
    labels: Counter[str] = Counter()
    for batch in labelled:
        table = batch.table
        labels.update(table["labels"].to_pylist())
        labels.update(batch.rejections.counts)
        keys = zip(table["source"].to_pylist(), table["number"].to_pylist(), strict=True)
        owners.update(zip(keys, batch.per_game["owner"], strict=True))
    games = sum(map(len, batches))
    rates = {"games": games, "kept": len(owners), "seconds": seconds, "games_per_second": games / seconds}
    costs = {"processor_ms_per_game": work / games * 1000, "minutes_for_10000": 10_000 / games * seconds / 60}
    return {**rates, **costs, "verdicts": dict(labels)}, owners


def gnugo_owners(batches: list[GameBatch], path: str, workers: int) -> dict[tuple[str, int], Any]:
    """GNU Go's owner map of every game that it answers on."""
    judges = [GnuGo((path, *GNUGO_ARGUMENTS), 60.0) for _ in range(workers)]

    def judge(final: Final) -> Any:
        mine = judges.pop()
        try:
            dead, _ = mine.dead(final.colours, final.size)
            return settle(final.colours, dead)
        except Exception as error:
            print(f"left out of the comparison: {error}")
            return None
        finally:
            judges.append(mine)

    found = {}
    with ThreadPoolExecutor(workers) as pool:
        for batch in batches:
            keys = zip(batch.table["source"].to_pylist(), batch.table["number"].to_pylist(), strict=True)
            owners = pool.map(judge, finals(batch, np.arange(len(batch))))
            found.update({key: owner for key, owner in zip(keys, owners, strict=True) if owner is not None})
    for judge_ in judges:
        judge_.close()
    return found


def agreement(kept: dict[tuple[str, int], Any], theirs: dict[tuple[str, int], Any]) -> dict[str, float]:
    """The share of kept games in which no point has two owners, with a 95% interval (Wilson)."""
    both = kept.keys() & theirs.keys()
    same = sum(not ((kept[key] != theirs[key]) & (kept[key] > 0) & (theirs[key] > 0)).any() for key in both)
    n, z = len(both), 1.96
    share = same / n
    middle, half = share + z * z / (2 * n), z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return {"value": share, "low": (middle - half) / (1 + z * z / n), "high": (middle + half) / (1 + z * z / n), "n": n}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", help="SGF records")
    parser.add_argument("--games", type=int, default=75, help="counted games of each file (default 75)")
    parser.add_argument("--workers", type=int, default=cores(), help="threads (default: the cores)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    path = find_gnugo()
    batches = [batch for file in options.files for batch in read(file, options.games)]
    with Referee("playouts") as referee:
        referee.label(replace(batches[0].take(np.arange(len(batches[0])) < 1), rejections=Rejections()))  # compiles
    results: dict[str, Any] = {}
    kept: dict[str, dict[tuple[str, int], Any]] = {}
    for which in ("playouts", *(["auto"] if path else [])):
        results[which], kept[which] = label(batches, which, options.workers)
    if path:
        theirs = gnugo_owners(batches, path, options.workers)
        for which, owners in kept.items():
            results[which]["agreement"] = agreement(owners, theirs)
    if options.json:
        print(json.dumps(results))
        return
    print(f"{sum(map(len, batches)):,} counted games, {options.workers} threads, GNU Go {path or 'not installed'}")
    for which, row in results.items():
        name = "playouts alone" if which == "playouts" else "playouts, GNU Go"
        print(
            f"{name:17s} {row['games_per_second']:8.1f} games/s, {row['processor_ms_per_game']:.1f} ms of processor"
            f" time a game; 10,000 in {row['minutes_for_10000']:.1f} min; kept {row['kept'] / row['games']:.1%}"
        )
        print(f"{'':17s} {row['verdicts']}")
        if "agreement" in row:
            same = row["agreement"]
            print(
                f"{'':17s} GNU Go agrees on every point of {same['value']:.1%} of the kept games"
                f" ({same['low']:.1%} to {same['high']:.1%}, n = {same['n']})"
            )


if __name__ == "__main__":
    main()
