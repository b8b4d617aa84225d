"""SGF reading against sgfmill: games a second on the same real file in one run.

    python bench/bench_sgf.py --file tygem9d_2010.sgfl.zst --games 20000 --peer-games 2000

Kibitz reads as an import does, up to the batches for the store: unpacking, headers, main lines, every move checked.
sgfmill reads the first games of the same file: parse, headers, moves of the main line, none of them checked.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from pathlib import Path

from sgfmill import sgf

from kibitz.games.go.filters import Filter
from kibitz.games.go.io.ingest import SgfReader
from kibitz.games.go.io.scan import find_games
from kibitz.records import Stream

SHARED = Path(__file__).parents[2] / "shared" / "data" / "go" / "tygem9d_2010.sgfl.zst"


def ours(file: Path, most: int) -> dict[str, float]:
    """Read so many games of the file; one batch before the clock starts, for numba to load."""
    with contextlib.closing(iter(SgfReader([str(file)], Filter()))) as batches:
        next(batches)
    begun = time.perf_counter()
    read = kept = moves = 0
    with contextlib.closing(iter(SgfReader([str(file)], Filter()))) as batches:
        for batch in batches:
            read, kept, moves = read + batch.read, kept + len(batch), moves + len(batch.moves)
            if read >= most:
                break
    return {"games": read, "kept": kept, "moves": moves, "seconds": time.perf_counter() - begun}


def texts_of(file: Path, most: int) -> list[bytes]:
    """The first games of a file, one by one."""
    stream, text = Stream(str(file)), b""
    for block in stream.blocks(1 << 20):
        text += block
        if text.count(b"(;") > most:
            break
    stream.close()
    begins, ends, _ = find_games(text)
    return [text[begin:end] for begin, end in zip(begins, ends, strict=True)][:most]


def peer(texts: list[bytes]) -> float:
    """Seconds that sgfmill takes for these games. Unpacking and finding them is not in its time."""
    begun = time.perf_counter()
    for text in texts:
        game = sgf.Sgf_game.from_bytes(text)
        headers = [game.root.get_raw(name) for name in game.root.properties()]
        moves = [node.get_move() for node in game.get_main_sequence()]
        del headers, moves
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path, default=SHARED, help="an SGF collection, packed or not")
    parser.add_argument("--games", type=int, default=40_000, help="games that kibitz reads at most (default 40000)")
    parser.add_argument("--peer-games", type=int, default=2000, help="games that sgfmill reads (default 2000)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()

    texts = texts_of(options.file, options.peer_games)
    half = len(texts) // 2
    before = peer(texts[:half])  # before and after, so that neither has the quieter machine
    mine = ours(options.file, options.games)
    after = peer(texts[half:])
    rate, peer_rate = mine["games"] / mine["seconds"], len(texts) / (before + after)
    if options.json:
        rates = {"games_per_second": rate, "sgfmill_games_per_second": peer_rate, "ratio": rate / peer_rate}
        print(json.dumps({"file": options.file.name, **mine, **rates}))
        return
    print(f"{options.file.name}: {mine['games']:,} games read, {mine['kept']:,} kept, {mine['moves']:,} moves played")
    print(f"kibitz    {rate:12,.0f} games/s   (headers, main lines, every move checked)")
    print(f"sgfmill   {peer_rate:12,.0f} games/s   (headers and main lines of {len(texts):,} games)")
    print(f"ratio     {rate / peer_rate:12,.1f}")


if __name__ == "__main__":
    main()
