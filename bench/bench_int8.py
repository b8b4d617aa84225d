"""Whole numbers of 8 bits, numbers of 16 bits, and OpenVINO, against the network as it is answered today: speed, and
what it costs.

    python bench/bench_int8.py winner games.store --positions 20000

One thread, batches of 64. Rounds alternate between the ways, and the best of each counts, so that other work on the
machine weighs on all alike. The accuracy is the headline figure of `kibitz test` on the same positions, each way in the
place of the run's model.onnx; it is left out for ways that are slower than the network as it is, and for
deepchess, whose pairs the test compares without that file. Quantised by onnxruntime.quantization: dynamic (weights),
and static (activations too, calibrated on the games that come with kibitz, as `kibitz export --int8` does). OpenVINO is
measured where its own package is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from onnxruntime.quantization import QuantType, quantize_dynamic

from kibitz.evaluation import EvalConfig, evaluate
from kibitz.evaluation.games import choose
from kibitz.play.session import Session
from kibitz.runs import ONNX, Run
from kibitz.store.store import Store
from kibitz.training.quantised import KINDS, positions, write_half, write_int8

BATCH = 64
NOBODY = {"stockfish_positions": 0, "gnugo_positions": 0, "playout_positions": 0}
"""The network is not compared with another program."""


def variants(run: Run, folder: Path) -> dict[str, Path]:
    """Copies of the run, each with another model.onnx, by the name of the way."""
    found = {"as it is": run.path}
    makers: dict[str, Callable[[Path], None]] = {
        "int8, dynamic": lambda new: quantize_dynamic(
            run.path / ONNX, new, op_types_to_quantize=KINDS, weight_type=QuantType.QInt8
        ),
        "int8, static": lambda new: write_int8(run, new, None),
        "16 bits": lambda new: write_half(run, new),
    }
    for name, make in makers.items():
        path = folder / name.replace(", ", "-").replace(" ", "-")
        shutil.copytree(run.path, path)
        (path / ONNX).unlink()
        try:
            make(path / ONNX)
            Session(str(path), 1)
        except Exception as error:
            print(f"{name}: cannot be made ({str(error).splitlines()[0][:120]})")
            continue
        found[name] = path
    return found


def openvino(path: Path, codes: np.ndarray, state: np.ndarray) -> Callable[[], Any]:
    """OpenVINO's own runtime, with one thread, on these positions."""
    import openvino as ov

    model = ov.Core().compile_model(
        str(path / ONNX), "CPU", {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    )
    request = model.create_infer_request()
    given = {"codes": codes, "state": state}
    return lambda: request.infer(given)


def rates(ways: dict[str, Callable[[], Any]], rounds: int, seconds: float) -> dict[str, float]:
    """Positions a second of each way: the best round, by the processor's time of this process."""
    best = dict.fromkeys(ways, 0.0)
    for answer in ways.values():
        answer()
    for _ in range(rounds):
        for name, answer in ways.items():
            calls, begun = 0, time.process_time()
            while (passed := time.process_time() - begun) < seconds or not calls:
                answer()
                calls += 1
            best[name] = max(best[name], calls * BATCH / passed)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="a run or a packaged network")
    parser.add_argument("store", help="a store of its game")
    parser.add_argument(
        "--positions", type=int, default=20_000, help="positions of the accuracy, 0 for none (default 20,000)"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="processor seconds of a round (default 1)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()

    run, store = Run(options.run), Store(options.store)
    codes, state = positions(run, store, BATCH)
    with tempfile.TemporaryDirectory() as folder:
        paths = variants(run, Path(folder))
        sessions = {name: Session(str(path), 1, corrected=False) for name, path in paths.items()}
        ways: dict[str, Callable[[], Any]] = {
            name: (lambda session=session: session.evaluate(codes, state)) for name, session in sessions.items()
        }
        if importlib.util.find_spec("openvino"):
            ways["OpenVINO"] = openvino(run.path, codes, state)
        speed = rates(ways, options.rounds, options.seconds)
        found = {}
        for name, path in paths.items():
            if not options.positions or speed[name] < speed["as it is"] or run.info["system"] == "deepchess":
                continue
            config = EvalConfig(options.positions, **NOBODY)  # type: ignore[arg-type]
            result = evaluate(
                Run(path), store, choose(run, store, "all"), config, command="", on_progress=lambda *_: None,
                log=lambda _: None,
            )  # fmt: skip
            found[name] = result["figures"][result["headline"]]
    rows = [
        {"way": name, "per_second": rate, "ratio": rate / speed["as it is"],
         **({"accuracy": found[name]["value"], "n": found[name]["n"]} if name in found else {})}
        for name, rate in speed.items()
    ]  # fmt: skip
    if options.json:
        print(json.dumps({"run": options.run, "load": os.getloadavg()[0], "rows": rows}, indent=1))
        return
    print(f"{options.run}: batches of {BATCH}, one thread, load {os.getloadavg()[0]:.1f}")
    for row in rows:
        share = f"{100 * row['accuracy']:.2f}% of {row['n']:,}" if "accuracy" in row else ""
        print(f"{row['way']:15} {row['per_second']:10,.0f} positions/s  {row['ratio']:.2f}×  {share}")


if __name__ == "__main__":
    main()
