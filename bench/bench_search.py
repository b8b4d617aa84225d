"""Network evaluations a second inside the search: in batches, compared with the same search one leaf at a time.

    python bench/bench_search.py --run chessnet

Both think for so many seconds about each of a few positions of bundled games, from an empty table; rounds alternate,
and the best of each counts, so that other work on the machine weighs on both alike. The leaves of the one-at-a-time
search are evaluated by the same session, on one thread. Beside them: the network alone, in the batches that the search
makes; and, with --torch, one position at a time by torch on one thread, as programs without ONNX
Runtime do. What the search itself costs is the difference to the network alone, in µs an evaluation.

    python bench/bench_search.py --run gohuman --size 19

A run for Go thinks about positions after 30, 60, 90 ... moves that it plays itself by the likeliest move.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any

import chess
import numpy as np

from kibitz.play.chess.best_first import SearchTuning
from kibitz.play.chess.player import ChessPlayer
from kibitz.play.puct.player import PUCT, PuctPlayer, PuctTuning
from kibitz.play.puct.search import BatchSizes
from kibitz.play.result import SearchLimits
from kibitz.play.session import Session

SEARCHES = (PUCT, "topprob-negamax", "value-negamax")


class Counted:
    """A session that notes its batches and the time they took."""

    def __init__(self, session: Session):
        self.session, self.outputs, self.name = session, session.outputs, session.name
        self.positions, self.calls, self.seconds = 0, 0, 0.0

    @property
    def side_inputs(self) -> dict[str, int]:
        return self.session.side_inputs

    def evaluate(self, codes: np.ndarray, state: np.ndarray) -> Any:
        begun = time.perf_counter()
        answers = self.session.evaluate(codes, state)
        self.seconds += time.perf_counter() - begun
        self.positions += len(codes)
        self.calls += 1
        return answers


class ByTorch:
    """The run's torch network in the session's place."""

    def __init__(self, session: Session):
        import torch

        torch.set_num_threads(1)  # for one position others cost more than they bring
        self.torch, self.network = torch, session.run.load_network().eval()
        self.outputs, self.name = session.outputs, session.name

    def evaluate(self, codes: np.ndarray, state: np.ndarray) -> Any:
        torch = self.torch
        with torch.inference_mode():
            answers = self.network(torch.from_numpy(codes.copy()), torch.from_numpy(state.copy()))
            return {name: values.float().numpy() for name, values in zip(self.outputs, answers, strict=True)}


def boards(n: int) -> list[chess.Board]:
    """Positions after 10, 18, 26 ... moves of bundled games."""
    from importlib.resources import files

    from kibitz.games.chess.io.reader import read

    found = []
    for i, record in enumerate(read(str(files("kibitz") / "data" / "games.pgn.zst"))):
        moves = list(record.game.mainline_moves())
        plies = 20 + 16 * (i % 4)
        if len(moves) > plies + 10:
            board = record.game.board()
            for move in moves[:plies]:
                board.push(move)
            found.append(board)
        if len(found) == n:
            break
    return found


def open_player(session: Any, value: Any, method: str, batch: int) -> Any:
    """A player by a method, with batches of at most that many leaves."""
    if method == PUCT:
        sizes = BatchSizes()
        batches = BatchSizes(min(batch, sizes.least), min(batch, sizes.most), sizes.visits)
        return PuctPlayer(session, value=value, tuning=PuctTuning(batches=batches))
    return ChessPlayer(session, value=value, method=method, tuning=SearchTuning(batch=batch))


def go_boards(session: Any, n: int, size: int) -> list[Any]:
    """Positions of a game that the network plays against itself without a search, after every 30 moves."""
    from kibitz.games.go.rules import Board
    from kibitz.play.go.puct import GoPuctPlayer
    from kibitz.play.go.thought import Terms

    player, board, found = GoPuctPlayer(session, method="top-prob"), Board(size, superko=True), []
    step = 30 if size == 19 else 8
    while len(found) < n and board.passes < 2:
        board.play(board.to_move, player.choose(board, board.to_move, Terms(7.5)).point)
        if board.ply % step == 0:
            found.append(board.copy())
    return found


def think_of_go(session: Any, some: list[Any], seconds: float, batch: int | None) -> dict[str, float]:
    """Rates over these positions."""
    from kibitz.play.go.puct import GoPuctPlayer, GoTuning
    from kibitz.play.go.thought import Terms

    counted = Counted(session)
    tuning = GoTuning() if batch is None else GoTuning(batches=BatchSizes(batch, batch, 1))
    player = GoPuctPlayer(counted, temperature=1e-9, tuning=tuning)  # so that it uses all of its time
    spent, visits = 0.0, 0
    for board in some:
        player.new_game()
        begun = time.perf_counter()
        player.choose(board, board.to_move, Terms(7.5), seconds=seconds)
        spent += time.perf_counter() - begun
        visits += int(player.search.tree.visits[0])
    return {
        "rate": counted.positions / spent,
        "alone": counted.positions / counted.seconds,
        "batch": counted.positions / counted.calls,
        "overhead_us": (spent - counted.seconds) / counted.positions * 1e6,
        "visits": visits / spent,
    }


def measure_go(options: argparse.Namespace) -> list[dict[str, Any]]:
    session = Session(options.run, options.threads)
    some = go_boards(session, options.positions, options.size)
    think_of_go(session, some[:1], 0.5, None)  # loaded, compiled, warm
    sides: dict[str, int | None] = {"as it plays": None, "16 leaves": 16, "one leaf": 1}
    best: dict[str, dict[str, float]] = {}
    for _ in range(options.rounds):
        for name, batch in sides.items():
            found = think_of_go(session, some, options.seconds, batch)
            if name not in best or found["rate"] > best[name]["rate"]:
                best[name] = found
    first = best["as it plays"]["rate"]
    return [
        {
            "method": PUCT,
            "leaves": name,
            **found,
            "share": found["rate"] / found["alone"],
            "ratio": first / found["rate"],
        }
        for name, found in best.items()
    ]


def think(
    session: Any, value: Any, method: str, batch: int, some: list[chess.Board], seconds: float
) -> dict[str, float]:
    """Rates over these positions."""
    counted = Counted(session)
    valued = value if value is None else Counted(value)
    player = open_player(counted, valued, method, batch)
    spent = 0.0
    for board in some:
        player.new_game()
        thought = player.think(board, SearchLimits(seconds=seconds))
        spent += thought.seconds if thought else 0
    main = counted if counted.positions else valued
    assert main is not None
    network = counted.seconds + (valued.seconds if valued else 0)
    return {
        "rate": main.positions / spent,
        "alone": main.positions / network,
        "batch": main.positions / main.calls,
        "overhead_us": (spent - network) / main.positions * 1e6,
    }


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    session = Session(options.run, options.threads)
    value = Session(options.value, options.threads) if options.value else None
    some = boards(options.positions)
    rows = []
    for method in SEARCHES:
        sides: dict[str, tuple[Any, Any, int]] = {
            "batches": (session, value, SearchTuning().batch),
            "one leaf": (session, value, 1),
        }
        if options.torch:
            sides["one leaf, torch"] = ByTorch(session), ByTorch(value) if value else None, 1
        best: dict[str, dict[str, float]] = {}
        for one, two, batch in sides.values():
            think(one, two, method, batch, some[:1], 0.3)  # loaded, compiled, warm
        for _ in range(options.rounds):
            for name, (one, two, batch) in sides.items():
                found = think(one, two, method, batch, some, options.seconds)
                if name not in best or found["rate"] > best[name]["rate"]:
                    best[name] = found
        for name, found in best.items():
            share = found["rate"] / found["alone"]
            rows.append(
                {
                    "method": method,
                    "leaves": name,
                    **found,
                    "share": share,
                    "ratio": best["batches"]["rate"] / found["rate"],
                }
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--run", default="chessnet", help="a run, or a packaged network's name (default: chessnet)")
    parser.add_argument("--value", help="another run whose value network is used")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="threads for batches (default: all)")
    parser.add_argument("--positions", type=int, default=4, help="positions to think about (default: 4)")
    parser.add_argument("--seconds", type=float, default=0.5, help="seconds of thinking a position (default: 0.5)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each, of which the best counts (default: 3)")
    parser.add_argument("--torch", action="store_true", help="also one leaf at a time by torch")
    parser.add_argument("--size", type=int, default=19, help="of Go, the board's size (default: 19)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    rows = measure_go(options) if Session(options.run).game == "go" else measure(options)
    if options.json:
        print(json.dumps({"run": options.run, "load_before": load, "rows": rows}))
        return
    print(f"{options.run}; {options.threads} threads; load of the machine before: {load}")
    print(
        f"{'method':<16} {'leaves':<16} {'evals/s':>8} {'network alone/s':>16}"
        f" {'share':>6} {'batch':>6} {'µs beside':>9} {'ratio':>6}"
    )
    for row in rows:
        print(
            f"{row['method']:<16} {row['leaves']:<16} {row['rate']:>8,.0f} {row['alone']:>16,.0f} {row['share']:>6.0%}"
            f" {row['batch']:>6.1f} {row['overhead_us']:>9.0f} {row['ratio']:>6.2f}"
        )


if __name__ == "__main__":
    from kibitz.errors import KibitzError

    try:
        main()
    except KibitzError as error:
        raise SystemExit(f"{error} (name a run with --run)") from None
