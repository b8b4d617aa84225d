"""Long sessions with the engines: random commands, and what must hold after each.

python -m soak.sessions uci|gtp [RUN] [--commands 100000] [--minutes 1000] [--seed 1] [--options="--method top-prob"]

Without --seed each call takes the next one; FOLDER/sessions.json counts the commands of all.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from soak import known, save
from support.helpers import import_games
from support.sessions import Watch, gtp_session, uci_session
from support.small_runs import make_go, make_mover


def made(protocol: str, folder: Path) -> Path:
    """A small run, made at the first call."""
    folder.mkdir(parents=True, exist_ok=True)
    path, begun = folder / protocol, folder / f"{protocol}.begun"
    if not path.exists():
        shutil.rmtree(begun, ignore_errors=True)  # a call that was ended
        begun.mkdir()
        if protocol == "gtp":
            make_go(begun / "run")
        else:
            make_mover(begun / "run", import_games(begun / "small.store", limit=400))
        (begun / "run").rename(path)
    return path


def count(file: Path, protocol: str, commands: int, moves: int) -> None:
    """Add a session to those of all calls."""
    counts = known(file)
    before = counts.get(protocol, {"sessions": 0, "commands": 0, "moves": 0})
    counts[protocol] = {
        "sessions": before["sessions"] + 1, "commands": before["commands"] + commands, "moves": before["moves"] + moves,
    }  # fmt: skip
    save(file, counts)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("protocol", choices=["uci", "gtp"])
    parser.add_argument("run", nargs="?", default="", help="a small one is made in FOLDER where none is named")
    parser.add_argument("--folder", type=Path, default=Path(".soak"))
    parser.add_argument("--commands", type=int, default=100_000)
    parser.add_argument("--minutes", type=float, default=1000.0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--options", default="", help="of kibitz uci, as one text")
    asked = parser.parse_args()
    run = asked.run or str(made(asked.protocol, asked.folder.resolve() / "runs"))
    counts = asked.folder / "sessions.json"
    seed = asked.seed or known(counts).get(asked.protocol, {}).get("sessions", 0) + 1
    watch = Watch(max(1, asked.commands // 20), asked.minutes)
    if asked.protocol == "uci":
        moves = uci_session(run, asked.commands, seed, asked.options.split(), watch)
    else:
        moves = gtp_session(run, asked.commands, seed, watch)
    count(counts, asked.protocol, watch.commands, moves)
    print(f"{asked.protocol}: {watch.commands:,} commands of seed {seed}, {moves:,} moves: all as they must be")
    print(f"in all {known(counts)[asked.protocol]}")


if __name__ == "__main__":
    main()
