"""Put a trained run into the package: weights, ONNX, what it has seen, and a model card with measured figures.

    kibitz test runs/winner-1 --json > figures.json
    python tools/package_network.py runs/winner-1 winner --figures figures.json --data "…" --limits "…"

The card's figures come only from the JSON files. --data is a sentence that describes the games, --limits one that
states the network's limits.
"""

import argparse
import json
import shlex
import shutil
from pathlib import Path
from typing import Any

from kibitz.report.numbers import figure_text, interval_text
from kibitz.runs import INFO, ONNX, WEIGHTS, Run, write_json
from kibitz.stats import Kind
from kibitz.systems import find

NETWORKS = Path(__file__).parents[1] / "src" / "kibitz" / "networks"
FILES = (WEIGHTS, ONNX, "seen.npy")


def shown(figure: dict[str, Any], kind: Kind) -> str:
    return f"{figure_text(figure['value'], kind)} ({interval_text(figure, kind)})"


def command(result: dict[str, Any], name: str) -> str:
    """The test's command as others would give it: the packaged name, the store without its folder."""
    words = [word for word in shlex.split(result["command"]) if word != "--json"]
    if "--out" in words:
        at = words.index("--out")
        del words[at : at + 2]
    known = {result["run"]: name, result["data"]["store"]: Path(result["data"]["store"]).name}
    named = [known.get(word, word) for word in words]
    if known[result["data"]["store"]] not in named:
        named.insert(3, known[result["data"]["store"]])
    return shlex.join(named)


def table(result: dict[str, Any], name: str) -> str:
    """One test as a table: the headline, the other figures, and the baselines on the same positions."""
    data = result["data"]
    drawn = result["figures"][result["headline"]]["games"]
    lines = [
        f"Test: `{command(result, name)}`",
        "",
        f"{data['positions_tested']:,} positions of {drawn:,} games; {data['split']}.",
        "",
        "| figure | value (95% interval over games) | positions |",
        "|---|---|---|",
    ]
    for figure in result["figures"].values():
        lines.append(f"| {figure['label']} | {shown(figure, figure['kind'])} | {figure['n']:,} |")
    kind = result["figures"][result["headline"]]["kind"]
    for figure in result["baselines"].values():
        lines.append(f"| for comparison: {figure['label']} | {shown(figure, kind)} | {figure['n']:,} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("name", help="the packaged network's name")
    parser.add_argument("--figures", type=Path, nargs="+", required=True, help="output of kibitz test --json")
    parser.add_argument("--data", required=True, help="what the games are, in a sentence")
    parser.add_argument("--limits", required=True, help="what the network is not, in a sentence or two")
    options = parser.parse_args()
    run, target = Run(options.run), NETWORKS / options.name
    results = [json.loads(path.read_text()) for path in options.figures]
    if any(result["weights_sha256"] != run.weights_sha256() for result in results):
        raise SystemExit("these figures are of other weights; test this run again")
    system = find(run.info["system"])
    source = f"after: {system.paper}. Result in the paper: {system.anchor}"
    if not system.paper:
        source = f"without a paper. Related results: {system.anchor}"
    target.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(run.path / name, target / name)
    info = dict(run.info)
    info["data"] = {**info["data"], "store": Path(info["data"]["store"]).name}
    info["command"] = ""
    write_json(target / INFO, info)
    kept = "last iteration" if info["settings"].get("keep") == "last" else "best validation"
    settings = "\n".join(f"| {name} | {value} |" for name, value in info["settings"].items())
    data, versions = info["data"], info["versions"]
    games = data["games"]
    stages = {row["stage"]: row["iteration"] for row in run.metrics()}
    steps = ", ".join(f"{stage} {iterations:,}" for stage, iterations in stages.items())
    place = info["machine"] if "NVIDIA" in info["machine"] else f"a CPU ({info['machine']})"
    made = f"Iterations: {steps}; {info['seconds'] / 60:.0f} minutes on {place}"
    tests = "\n\n".join(table(result, options.name) for result in results)
    size = sum((target / name).stat().st_size for name in FILES)
    (target / "CARD.md").write_text(
        f"""# Model card: {options.name}

System `{info["system"]}` ({system.title}), {source}.

## Data

{options.data}

Split {data["split_in_words"]}: {games["training"]:,} games for training, {games["validation"]:,} for validation,
{games["test"]:,} for the test. Store fingerprint {data["fingerprint"]}. `seen.npy` holds a short hash of every game of
the first two, so that no later test counts one of them.

## Figures

{tests}

## How it was made

{made}, {info["precision"]}, kibitz {versions["kibitz"]},
torch {versions["torch"]}, seed {info["seed"]}. Of each stage the weights of the {kept} count.

| setting | value |
|---|---|
{settings}

Weights `best.safetensors`, sha256 {run.weights_sha256()}; `model.onnx` holds the same. {size / 1e6:.1f} MB in all.

## What it is not

{options.limits}
"""
    )
    print(f"{target}: {size / 1e6:.2f} MB")
    print("Now update versions and hashes: python tools/network_manifest.py")


if __name__ == "__main__":
    main()
