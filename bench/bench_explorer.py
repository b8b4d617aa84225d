"""The explorer of a store: how long its index takes to make, how large it is, how long an answer takes, and a search.

python bench/bench_explorer.py games.store

Answers are timed at every position of some random games up to ply 40, and at the start, which all games share. The
index is made in a separate folder, and removed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import chess
import numpy as np

from kibitz.explorer import answers, index
from kibitz.explorer.report import answer
from kibitz.explorer.search import GameSearch, Wanted
from kibitz.games.chess.moves import to_move
from kibitz.games.go.rules import Board
from kibitz.store.store import Store


def positions(store: Store, games: int) -> list[Any]:
    """Boards of random games from the standard start, the start first."""
    found: list[Any] = []
    for game in np.random.default_rng(1).integers(0, len(store), games).tolist():
        if store.start_of[game]:
            continue
        board: Any = chess.Board() if store.game == "chess" else Board(19)
        for move in store.moves[store.offsets[game] : store.offsets[game + 1]][: index.DEPTH].tolist():
            found.append(board.copy())
            if store.game == "chess":
                board.push(to_move(move))
            else:
                board.play(board.to_move, move)
    return found


def timed(explorer: answers.Explorer, boards: list[Any], band: tuple[int, int] | None) -> list[float]:
    """Milliseconds of each answer, rows of games and notation of moves included."""
    times = []
    for board in boards:
        begun = time.perf_counter()
        answer(explorer, board, None, band)
        times.append(1000 * (time.perf_counter() - begun))
    return times


def searched(store: Store, made: index.PositionIndex) -> dict[str, float]:
    """Milliseconds of the first search, which reads the table, of one for a player and a year, and of one by result,
    ratings and years alone; of the latter two the medians of nine."""
    search = GameSearch(store, made.ratings)
    player = store.row(len(store) // 2)["white"].split(",")[0]
    wanted = {
        "search_words_ms": Wanted((player, "2012")),
        "search_filters_ms": Wanted(result=1, rating=(2000, 2400), first_year=2010, last_year=2015),
    }

    def once(what: Wanted) -> float:
        begun = time.perf_counter()
        search.find(what)
        return 1000 * (time.perf_counter() - begun)

    first = once(Wanted(("a",)))
    return {"search_first_ms": first} | {name: sorted(once(what) for _ in range(9))[4] for name, what in wanted.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", help="a store of games")
    parser.add_argument("--games", type=int, default=50, help="games whose positions are asked about (default 50)")
    parser.add_argument("--first", type=int, help="take only so many games of the store")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()

    store = Store(options.store)
    if options.first is not None:
        store = _first(store, options.first)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        small = Path(folder) / "compiled"
        index._make(_first(store, 100), small, lambda share: None)  # compiles
        begun, spent = time.perf_counter(), time.process_time()
        made = index._make(store, Path(folder) / "index", lambda share: None)
        build, processor = time.perf_counter() - begun, time.process_time() - spent
        index.open_index = lambda *_: made  # type: ignore[assignment]
        explorer = answers.Explorer(store)
        boards = positions(store, options.games)
        timed(explorer, boards[:3], (2000, 2400))  # compiles, and reads the table of games
        spent = time.process_time()
        start = sorted(timed(explorer, boards[:1] * 21, None))
        start_spent = time.process_time() - spent
        every = sorted(timed(explorer, boards, None))
        result = {
            "games": len(store),
            "entries": len(made.prints),
            "build_seconds": build,
            "build_processor_seconds": processor,
            "megabytes": made.bytes_on_disk / 1e6,
            "start_ms": start[10],
            "start_processor_ms": 1000 * start_spent / 21,
            "positions": len(every),
            "median_ms": every[len(every) // 2],
            "worst_ms": every[-1],
            **searched(store, made),
        }
    if options.json:
        print(json.dumps(result, indent=1))
        return
    for name, value in result.items():
        print(f"{name.replace('_', ' '):24} {value:,.2f}" if isinstance(value, float) else f"{name:24} {value:,}")


def _first(store: Store, games: int) -> Store:
    """The same store, of which only the first games are known."""
    few = Store(store.path)
    few.info = {**store.info, "games": games}
    few.__dict__["offsets"] = store.offsets[: games + 1]
    few.__dict__["start_of"] = store.start_of[:games]
    few.table = lambda columns=None: store.table(columns).slice(0, games)  # type: ignore[method-assign]
    few.column = lambda name: store.column(name)[:games]  # type: ignore[method-assign]
    return few


if __name__ == "__main__":
    main()
