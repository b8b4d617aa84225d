"""Test suites in EPD: the strategic test suite by its points, mates and tactics by the best move.

    python bench/bench_suites.py STS1-STS15_LAN_v3.epd --seconds 1
    python bench/bench_suites.py mate_in_2.epd --nodes 400

A position with points (c8, and their moves in c9, as UCI writes them) gives those of the move that is played; one with
`bm` alone is right where that move is played. `ce +M2` asks for a mate in two: any proven one is right. Intervals are
95%, bootstrapped over positions.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import chess
import numpy as np

from kibitz.play import open_player
from kibitz.play.result import PvLine, SearchLimits
from kibitz.play.session import Session


def points(best: PvLine, operations: dict[str, Any]) -> float:
    """What a move is worth, as a share of the most that there is."""
    if "c8" in operations and "c9" in operations:
        worth = [int(word) for word in str(operations["c8"]).split()]
        by_move = dict(zip(str(operations["c9"]).split(), worth, strict=False))
        return by_move.get(best.move.uci(), 0) / max(worth)
    if best.mate is not None and 0 < best.mate <= 2 and "M2" in str(operations.get("ce", "")):
        return 1.0
    return float(best.move in operations["bm"])


def read(path: Path) -> list[tuple[chess.Board, dict[str, Any]]]:
    """Boards, and the operations of each as text; `bm` as moves, as far as they can be read."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        fields = line.split(maxsplit=4)
        board = chess.Board(" ".join(fields[:4]) + " 0 1")
        operations: dict[str, Any] = {}
        for operation in fields[4].split(";"):
            name, _, value = operation.strip().partition(" ")
            operations[name] = value.strip('"')
        operations["bm"] = []
        for word in re.findall(r"bm ([^;]*)", fields[4])[:1]:
            for move in word.split():
                with contextlib.suppress(ValueError):
                    operations["bm"].append(board.parse_san(move))
        found.append((board, operations))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=Path)
    parser.add_argument("--run", default="chessnet")
    parser.add_argument("--method")
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--count", type=int, default=0, help="positions, evenly spread; 0 for all")
    options = parser.parse_args()
    suite = read(options.suite)
    if 0 < options.count < len(suite):
        suite = [suite[i] for i in np.random.default_rng(0).choice(len(suite), options.count, replace=False)]
    session = Session(options.run)
    player = open_player(session.run, lambda: session, method=options.method)
    limits = SearchLimits(nodes=options.nodes, seconds=options.seconds)
    player.think(chess.Board(), SearchLimits(nodes=20))  # compiled kernels are loaded by the first
    begun, found = time.perf_counter(), defaultdict(list)
    for board, operations in suite:
        player.new_game()
        thought = player.think(board, limits)
        assert thought is not None
        worth = points(thought.lines[0], operations)
        found["all"].append(worth)
        if "c8" in operations:
            found[str(operations["id"]).rsplit(".", 1)[0]].append(worth)
    seconds = time.perf_counter() - begun
    print(f"{options.run}, {options.suite.name}: {len(suite):,} positions in {seconds:,.0f} s")
    rng = np.random.default_rng(1)
    for name, values in found.items():
        worth = np.array(values)
        means = rng.choice(worth, (1000, len(worth))).mean(1)
        low, high = np.percentile(means, [2.5, 97.5])
        print(f"  {name:<60} {worth.mean():6.1%} ({low:.1%} to {high:.1%})  n {len(worth):,}")


if __name__ == "__main__":
    main()
