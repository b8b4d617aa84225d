"""`kibitz board`: seconds until the moves of a game of 80 plies are judged by search, over HTTP, during other requests.

    python bench/bench_judging.py game.pgn winner chessnet --runs 3

Prints for each network the median of the runs: until the quick look at all moves is there, until all exact judgements
are, the longest wait between two answers, and how long one position's analysis takes meanwhile. A first run, which
compiles or loads what the search needs, is given apart.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import chess.pgn

from bench_board import PLIES, analysis, ask, free_port, running
from kibitz.web.chess.line import ChessLine


def judged(port: int, network: str, line: ChessLine) -> tuple[float, float, float, float]:
    """Seconds to the last quick judgement, to the end, between two answers at most, and of an analysis meanwhile."""
    begun = last = time.perf_counter()
    quick = longest = meanwhile = 0.0
    start = ChessLine(line.fen)
    for raw in ask(port, "POST", "/api/judge", {"network": network, "line": line.as_json()}):
        said: dict[str, Any] = json.loads(raw)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
        if said.get("exact") is False:
            quick = now - begun
        elif said.get("exact") and not meanwhile:
            _, meanwhile = analysis(port, network, start)
            last = time.perf_counter()
    assert said.get("done"), said
    return quick, time.perf_counter() - begun, longest, meanwhile


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pgn", type=Path, help="its first game is judged, the first 80 plies of it")
    parser.add_argument("networks", nargs="+")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    with arguments.pgn.open(encoding="utf-8") as file:
        game = chess.pgn.read_game(file)
    assert game is not None, "no game"
    moves = tuple(move.uci() for move in game.mainline_moves())[:PLIES]
    line = ChessLine(game.board().fen(), moves)
    port = free_port()
    with running([sys.executable, "-m", "kibitz", "board", "--no-browser", "--port", str(port)], port):
        for name in arguments.networks:
            first = judged(port, name, line)
            found = zip(*(judged(port, name, line) for _ in range(arguments.runs)), strict=True)
            quick, whole, longest, meanwhile = (statistics.median(column) for column in found)
            print(
                f"{name}: {len(moves)} plies, quick {quick:.2f} s, exact {whole:.1f} s, longest wait {longest:.2f} s,"
                f" an analysis meanwhile {meanwhile:.3f} s; the first time {first[0]:.1f} and {first[1]:.1f} s;"
                f" load {os.getloadavg()[0]:.1f}"
            )


if __name__ == "__main__":
    main()
