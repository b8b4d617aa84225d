"""Put a trained run into the package: weights, ONNX, what it has seen, and a model card with measured figures.

    kibitz test runs/winner-1 --json > figures.json
    python tools/package_network.py runs/winner-1 winner --figures figures.json --data "…"

The card's figures are those of the JSON files, nothing else; --data says in a sentence what the games are.
"""

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

from kibitz.training.run import INFO, ONNX, WEIGHTS, Run, write_json

NETWORKS = Path(__file__).parents[1] / "src" / "kibitz" / "networks"
FILES = (WEIGHTS, ONNX, "seen.npy")


def percent(figure: dict[str, Any]) -> str:
    return f"{figure['value']:.1%} ({figure['low']:.1%} to {figure['high']:.1%})"


def table(result: dict[str, Any]) -> str:
    """One test as a table: the headline, the other figures, and the baselines on the same positions."""
    data = result["data"]
    lines = [
        f"Test: `{result['command']}`",
        "",
        f"{data['positions_tested']:,} positions of {data['games']:,} games; {data['split']}.",
        "",
        "| figure | value (95% interval over games) | positions |",
        "|---|---|---|",
    ]
    for name, figure in result["figures"].items():
        shown = (
            percent(figure)
            if name == "accuracy"
            else f"{figure['value']:.3f} ({figure['low']:.3f} to {figure['high']:.3f})"
        )
        lines.append(f"| {name.replace('_', ' ')} | {shown} | {figure['n']:,} |")
    for name, figure in result["baselines"].items():
        lines.append(f"| for comparison: {name} | {percent(figure)} | {figure['n']:,} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("name", help="the packaged network's name")
    parser.add_argument("--figures", type=Path, nargs="+", required=True, help="output of kibitz test --json")
    parser.add_argument("--data", required=True, help="what the games are, in a sentence")
    options = parser.parse_args()
    run, target = Run(options.run), NETWORKS / options.name
    results = [json.loads(path.read_text()) for path in options.figures]
    if any(result["weights_sha256"] != run.weights_sha256() for result in results):
        raise SystemExit("these figures are of other weights; test this run again")
    target.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(run.path / name, target / name)
    info = dict(run.info)
    info["data"] = {**info["data"], "store": Path(info["data"]["store"]).name}
    info["command"] = ""
    write_json(target / INFO, info)
    settings = "\n".join(f"| {name} | {value} |" for name, value in info["settings"].items())
    data, versions = info["data"], info["versions"]
    games = data["games"]
    made = (
        f"{info['iteration']:,} iterations of {info['settings']['batch']:,} positions in "
        f"{info['seconds'] / 60:.0f} minutes on a CPU ({info['machine']})"
    )
    tests = "\n\n".join(table(result) for result in results)
    size = sum((target / name).stat().st_size for name in FILES)
    (target / "CARD.md").write_text(
        f"""# Model card: {options.name}

System `{info["system"]}` ({run.system.title}), after: {run.system.paper}. Paper's figure: {run.system.anchor}.

## Data

{options.data}

Split {data["split_in_words"]}: {games["training"]:,} games for training, {games["validation"]:,} for validation,
{games["test"]:,} for the test. Store fingerprint {data["fingerprint"]}. `seen.npy` holds a short hash of every game of
the first two, so that no later test counts one of them.

## Figures

{tests}

## How it was made

{made}, {info["precision"]}, kibitz {versions["kibitz"]},
torch {versions["torch"]}, seed {info["seed"]}. The weights are those of the best validation, at iteration
{info["best"]["iteration"]:,.0f}.

| setting | value |
|---|---|
{settings}

Weights `best.safetensors`, sha256 {run.weights_sha256()}; `model.onnx` holds the same. {size / 1e6:.1f} MB in all.

## What it is not

It looks at one position and does not search: it is blind to what the next move captures. It has learned from games
between strong players, and knows nothing of who is playing. Its probability is about the winner of games that were not
drawn.
"""
    )
    print(f"{target}: {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
