"""Puzzles solved, by rating band, for each way of choosing a move.

    python bench/bench_puzzles.py puzzles.csv --run chessnet --methods top-prob,topprob-negamax --nodes 400

The file has one puzzle a line: id, FEN, moves (the first is the opponent's), rating. A puzzle is solved when every move
of the solver's is the solution's, or mates at once. Puzzles are drawn evenly; intervals are Wilson's, 95%.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import time
from pathlib import Path
from typing import Any

import chess
import numpy as np

from kibitz.play import open_player
from kibitz.play.chess.player import METHODS
from kibitz.play.result import SearchLimits, ThinkingPlayer
from kibitz.play.session import Session

BANDS = (0, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2400, 4000)


def solved(player: ThinkingPlayer, limits: SearchLimits, fen: str, moves: list[str]) -> bool:
    """Whether the player finds each of its moves; the opponent's are the solution's."""
    board = chess.Board(fen)
    for number, uci in enumerate(moves):
        move = chess.Move.from_uci(uci)
        if number % 2:
            thought = player.think(board, limits)
            assert thought is not None
            answer = thought.lines[0].move
            if answer != move:
                board.push(answer)
                return board.is_checkmate()
        board.push(move)
    return True


def wilson(right: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """95% interval of a share."""
    share, square = right / n, z * z / n
    middle = (share + square / 2) / (1 + square)
    half = z * math.sqrt(share * (1 - share) / n + square / (4 * n)) / (1 + square)
    return max(0.0, middle - half), middle + half


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("puzzles", type=Path)
    parser.add_argument("--run", default="chessnet")
    parser.add_argument("--value", help="another run, for the values")
    parser.add_argument("--methods", default=",".join(METHODS[:3]))
    parser.add_argument("--nodes", type=int, default=400, help="positions a network evaluates, a move")
    parser.add_argument("--depth", type=int, help="plies, instead of --nodes")
    parser.add_argument("--count", type=int, default=1000, help="puzzles, drawn evenly; 0 for all")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with options.puzzles.open(newline="") as file:
        puzzles = list(csv.DictReader(file))
    if 0 < options.count < len(puzzles):
        puzzles = [puzzles[i] for i in np.random.default_rng(0).choice(len(puzzles), options.count, replace=False)]
    band = np.searchsorted(BANDS, [int(puzzle["rating"]) for puzzle in puzzles], side="right") - 1
    session = Session(options.run)
    value = Session(options.value) if options.value else None
    results: dict[str, Any] = {}
    for method in options.methods.split(","):
        limits = SearchLimits(depth=options.depth) if options.depth else SearchLimits(nodes=options.nodes)
        settings = {} if value is None else {"value": value}
        player = open_player(session.run, lambda: session, method=method, seed=0, **settings)
        begun = time.perf_counter()
        right = np.array([solved(player, limits, puzzle["fen"], puzzle["moves"].split()) for puzzle in puzzles])
        seconds = time.perf_counter() - begun
        rows = []
        for number in [*range(len(BANDS) - 1), None]:
            here = right if number is None else right[band == number]
            if len(here):
                low, high = wilson(int(here.sum()), len(here))
                name = "all" if number is None else f"{BANDS[number]} to {BANDS[number + 1] - 1}"
                rows.append({"band": name, "value": float(here.mean()), "low": low, "high": high, "n": len(here)})
        results[method] = {"bands": rows, "seconds": round(seconds, 1)}
        if not options.json:
            print(f"{options.run}, {method} ({seconds:.0f} s)")
            for row in rows:
                print(
                    f"  {row['band']:>12}  {row['value']:6.1%}  ({row['low']:.1%} to {row['high']:.1%})  n {row['n']:,}"
                )
    if options.json:
        print(json.dumps({"run": options.run, "nodes": options.nodes, "depth": options.depth, "methods": results}))


if __name__ == "__main__":
    main()
