"""A run of deepchess without its full network: the distilled one alone, small enough for the package.

    python tools/distilled_alone.py runs/deepchess-1 runs/deepchess-small

The new run answers with the distilled network. Its teacher is not in it, so that it cannot be trained further.
"""

import argparse
import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path

from safetensors.torch import load_file, save_file

from kibitz.play.session import Session
from kibitz.runs import INFO, ONNX, SEEN, WEIGHTS, Run, write_json
from kibitz.store.store import Store
from kibitz.systems.deepchess import positions
from kibitz.training.export import export_onnx

TEACHER = ("full.", "decoders.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("out", type=Path, help="a folder that is not there yet")
    options = parser.parse_args()
    run = Run(options.run)
    options.out.mkdir(parents=True)
    info = json.loads((run.path / INFO).read_text(encoding="utf-8"))
    info["settings"] = asdict(replace(run.settings, networks="distilled"))
    write_json(options.out / INFO, info)
    shutil.copyfile(run.path / SEEN, options.out / SEEN)
    shutil.copyfile(run.path / "metrics.jsonl", options.out / "metrics.jsonl")
    weights = load_file(run.path / WEIGHTS)
    save_file({name: values for name, values in weights.items() if not name.startswith(TEACHER)}, options.out / WEIGHTS)
    small = Run(options.out)
    store = Store(run.info["data"]["store"])
    sample = positions(store, run.system.games(store, run.settings)[:100], run.settings)
    codes, state = store.replay(sample.games[:4], sample.plies[:4])
    export_onnx(small.load_network(), codes, state, options.out / ONNX)
    Session(small).evaluate(codes, state)  # it answers


if __name__ == "__main__":
    main()
