"""Positions a second on the CPU: a session (ONNX Runtime) beside torch, the same network in the same process.

    python bench/bench_inference.py --run runs/winner-1

One position at a time is what an engine asks for; both sides have one thread there. Batches have as many threads as
--threads says. Rounds alternate between the two, and the best of each counts, so that other work on the machine weighs
on both alike.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from kibitz.play.session import Session

SIZES = (1, 256, 4096)


def positions(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Bundled games' positions, over and over, in a mixed order: codes [n, 64] and state [n, 4]."""
    from importlib.resources import files

    from kibitz.games.chess.io.reader import read
    from kibitz.games.chess.replay import encode_board

    rows: list[Any] = []
    for record in read(str(files("kibitz") / "data" / "games.pgn.zst")):
        rows += [encode_board(node.board()) for node in record.game.mainline()]
        if len(rows) >= 1000:
            break
    some = np.stack(rows)[np.random.default_rng(0).integers(len(rows), size=n)]
    return np.ascontiguousarray(some[:, :64]), np.ascontiguousarray(some[:, 64:])


def rate(answer: Callable[[], Any], n: int, seconds: float) -> float:
    """Positions per second, measured over `seconds` seconds."""
    calls, begun = 0, time.perf_counter()
    while (passed := time.perf_counter() - begun) < seconds or not calls:
        answer()
        calls += 1
    return calls * n / passed


def measure(name: str, threads: int, rounds: int, seconds: float) -> list[dict[str, Any]]:
    session = Session(name, threads)
    network = session.run.load_network()
    found = []
    for n in SIZES:
        used = 1 if n == 1 else threads
        torch.set_num_threads(used)
        codes, state = positions(n)
        inputs = torch.from_numpy(codes), torch.from_numpy(state)

        def by_session(codes: Any = codes, state: Any = state) -> Any:
            return session.evaluate(codes, state)[session.outputs[0]]

        @torch.inference_mode()
        def by_torch(inputs: Any = inputs) -> Any:
            return network(*inputs)[0].numpy()

        np.testing.assert_allclose(by_session(), by_torch(), atol=1e-5)  # both answer the same, and are warm
        best = {"session": 0.0, "torch": 0.0}
        for _ in range(rounds):
            best["session"] = max(best["session"], rate(by_session, n, seconds))
            best["torch"] = max(best["torch"], rate(by_torch, n, seconds))
        found.append({"positions": n, "threads": used, **best, "ratio": best["session"] / best["torch"]})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--run", default="winner", help="a run, or the name of a packaged network (default: winner)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="threads for batches (default: all)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each, of which the best counts (default: 5)")
    parser.add_argument("--seconds", type=float, default=1.0, help="seconds a round (default: 1)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    rows = measure(options.run, options.threads, options.rounds, options.seconds)
    if options.json:
        print(json.dumps({"run": options.run, "load_before": load, "rows": rows}))
        return
    print(f"{options.run}; load of the machine before: {load}")
    print(f"{'positions':>9} {'threads':>7} {'session/s':>11} {'torch/s':>11} {'ratio':>6}")
    for row in rows:
        rates = f"{row['session']:>11,.0f} {row['torch']:>11,.0f}"
        print(f"{row['positions']:>9} {row['threads']:>7} {rates} {row['ratio']:>6.2f}")


if __name__ == "__main__":
    from kibitz.errors import KibitzError

    try:
        main()
    except KibitzError as error:
        raise SystemExit(f"{error} (name a run with --run)") from None
