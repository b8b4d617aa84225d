"""`kibitz board`, its server side: seconds from start to first page, and to analyse a game of 80 plies over HTTP.

Beside the first: Python's own `http.server`, until its first page. Beside the second: the same positions given to the
network directly, all at once. First results: seconds until the first position of the game is there. The first analysis
after the start loads what it needs, and is given apart.

python bench/bench_board.py --runs 5
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import random
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import chess

from kibitz.play.session import Session
from kibitz.web.chess.line import ChessLine

NETWORKS = {"winner": 1.0, "convchess": 5.0}
"""Networks, and the seconds that a game may take on 2 cores."""
FIRST_PAGE = 1.0
PLIES = 80


def free_port() -> int:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as found:
        port: int = found.getsockname()[1]
        return port


@contextlib.contextmanager
def running(command: list[str], port: int) -> Iterator[float]:
    """A server; the seconds that it took to its first page."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                ask(port, "GET", "/").read()
                break
            except OSError:
                time.sleep(0.005)
        yield time.perf_counter() - begun
    finally:
        process.kill()
        process.wait()


def ask(port: int, method: str, path: str, body: object = None) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
    return connection.getresponse()


def analysis(port: int, network: str, line: ChessLine) -> tuple[float, float]:
    """Seconds to the first position's result, and to the last one's."""
    begun = time.perf_counter()
    first = 0.0
    for raw in ask(port, "POST", "/api/analyse", {"network": network, "line": line.as_json()}):
        said: dict[str, Any] = json.loads(raw)
        if "ply" in said and not first:
            first = time.perf_counter() - begun
    assert said.get("done")
    return first, time.perf_counter() - begun


def game(seed: int) -> ChessLine:
    """A game of PLIES random moves."""
    draw, board = random.Random(seed), chess.Board()
    while len(board.move_stack) < PLIES:
        if board.is_game_over():
            board = chess.Board()
        board.push(draw.choice(list(board.legal_moves)))
    return ChessLine(chess.STARTING_FEN, tuple(move.uci() for move in board.move_stack))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    ours, plain = [], []
    for _ in range(arguments.runs):
        port = free_port()
        with running([sys.executable, "-m", "kibitz", "board", "--no-browser", "--port", str(port)], port) as seconds:
            ours.append(seconds)
        port = free_port()
        with running([sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"], port) as seconds:
            plain.append(seconds)
    first, other = statistics.median(ours), statistics.median(plain)
    print(
        f"first page: {first:.2f} s (slowest {max(ours):.2f}), http.server {other:.2f} s, ratio {first / other:.1f};"
        f" {'within' if first <= FIRST_PAGE else 'OVER'} {FIRST_PAGE:g} s"
    )
    port = free_port()
    with running([sys.executable, "-m", "kibitz", "board", "--no-browser", "--port", str(port)], port):
        for name, most in NETWORKS.items():
            _, cold = analysis(port, name, game(0))
            found = [analysis(port, name, game(seed)) for seed in range(1, arguments.runs + 1)]
            session = Session(name)
            direct = []
            for seed in range(arguments.runs + 1):
                codes, state = game(seed).rows(0, PLIES)
                begun = time.perf_counter()
                session.evaluate(codes, state)
                direct.append(time.perf_counter() - begun)
            whole, alone = statistics.median(seconds for _, seconds in found), statistics.median(direct[1:])
            print(
                f"{name}: {PLIES} plies in {whole:.3f} s (first result {statistics.median(f for f, _ in found):.3f} s,"
                f" right after the start {cold:.2f} s), the network alone {alone:.3f} s, ratio {whole / alone:.1f};"
                f" {'within' if whole <= most else 'OVER'} {most:g} s"
            )


if __name__ == "__main__":
    main()
