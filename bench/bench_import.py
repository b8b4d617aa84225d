"""Import against python-chess: games a second on the same file in one run, and peak memory of a fresh process.

    python bench/bench_import.py --file masters_to_2022.pgn.zst --peer-games 3000

Kibitz imports the whole file with every filter on, as a command in a process of its own; python-chess reads headers and
main line of the first games of the same file (it checks every move, as the import does).
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import chess.pgn

from kibitz.records import Stream

FILTERS = [
    "--min-rating", "2000", "--max-rating", "3000", "--ending", "decisive", "--result", "1-0", "--result", "0-1",
    "--since", "1950", "--until", "2022", "--min-plies", "10",
]  # fmt: skip
SHARED = Path(__file__).parents[2] / "shared" / "data" / "chess" / "masters_to_2022.pgn.zst"
IMPORT = """
import json, resource, sys
from kibitz import cli
code = cli.run(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_SELF)
told = {"kilobytes": used.ru_maxrss, "processor_seconds": used.ru_utime + used.ru_stime}
print(json.dumps(told), file=sys.stderr)
sys.exit(code)
"""


def run_import(file: Path, into: Path, filters: list[str]) -> dict[str, float]:
    """Import a file in a fresh process. Seconds count the whole process, its start too."""
    command = [sys.executable, "-c", IMPORT, "import", str(file), "--into", str(into), "--json", *filters]
    begun = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds = time.perf_counter() - begun
    told = json.loads(done.stdout)
    used = json.loads(done.stderr.splitlines()[-1])
    return {
        "games": told["read"], "kept": told["kept"], "seconds": seconds, "gigabytes": used["kilobytes"] / 1e6,
        "processor_seconds": used["processor_seconds"],
    }  # fmt: skip


def ours(file: Path) -> dict[str, float]:
    """Import the file with all filters."""
    with tempfile.TemporaryDirectory() as folder:
        return run_import(file, Path(folder) / "a.store", FILTERS)


def peer(file: Path, games: int) -> dict[str, float]:
    """Python-chess reading headers and main line of the first games. Unpacking is not in its time."""
    stream, text = Stream(str(file)), b""
    for block in stream.blocks(1 << 20):
        text += block
        if text.count(b"[Result ") > games:
            break
    stream.close()
    source = io.StringIO(text.decode("utf-8", "replace"))
    read, begun = 0, time.perf_counter()
    while read < games and (game := chess.pgn.read_game(source)) is not None:
        for _ in game.mainline_moves():
            pass
        read += 1
    return {"games": read, "seconds": time.perf_counter() - begun}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path, default=SHARED, help="a PGN file, packed or not")
    parser.add_argument("--peer-games", type=int, default=3000, help="games that python-chess reads (default 3000)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()

    before = peer(options.file, options.peer_games // 2)  # before and after, so that neither has the quieter machine
    mine = ours(options.file)
    after = peer(options.file, options.peer_games - options.peer_games // 2)
    rate = mine["games"] / mine["seconds"]
    peer_rate = (before["games"] + after["games"]) / (before["seconds"] + after["seconds"])
    if options.json:
        rates = {"games_per_second": rate, "python_chess_games_per_second": peer_rate, "ratio": rate / peer_rate}
        print(json.dumps({"file": options.file.name, **mine, **rates}))
        return
    print(f"{options.file.name}: {mine['games']:,} games read, {mine['kept']:,} kept, all filters on")
    print(f"kibitz import   {rate:12,.0f} games/s   peak memory {mine['gigabytes']:.2f} GB")
    print(f"python-chess    {peer_rate:12,.0f} games/s   (headers and moves of {options.peer_games:,} games)")
    print(f"ratio           {rate / peer_rate:12,.0f}")


if __name__ == "__main__":
    main()
