"""How steady the curve of a game is: mean change of the lead between successive moves, on games that the network has
not seen.

    python bench/bench_lead_curve.py gohuman games.store fox_pro.sgfl.zst [--games 12]

games.store is an import of that file alone. Even games on 19×19 of 100 moves or more from the test part of the
network's split, spread evenly over the store. Prints Markdown: how a position is judged, mean and median change,
seconds for each position.
"""

import argparse
import time

import numpy as np

from kibitz.analysis import load_owners
from kibitz.analysis.go.games import analyse
from kibitz.games.go.io.sgf import Record, read_records
from kibitz.play.session import Session
from kibitz.store.split import TEST
from kibitz.store.store import Store

MIN_MOVES = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network")
    parser.add_argument("store")
    parser.add_argument("file")
    parser.add_argument("--games", type=int, default=12)
    parser.add_argument("--offset", type=int, default=0, help="games to leave out: others than those of the fit")
    parser.add_argument("--steadied", action="store_true", help="only as positions are judged")
    options = parser.parse_args()
    session, store = Session(options.network), Store(options.store)
    unseen = np.flatnonzero(store.sides(session.run.split) == TEST)
    even = (store.column("handicap")[unseen] < 2) & (store.column("size")[unseen] == 19)
    numbers = set(store.column("number")[unseen[even]].tolist())
    games = [
        game
        for number, game in enumerate(read_records([options.file]), 1)
        if number in numbers and isinstance(game, Record) and len(game.moves) >= MIN_MOVES
    ]
    games = games[options.offset :: max(1, len(games) // options.games)][: options.games]
    analysis = load_owners(session.system)
    print("| judged | mean change | median change | seconds a position |\n|---|---|---|---|")
    ways = (
        ("for both sides to move, two symmetries", True, 0),
        ("by one evaluation", False, 0),
        ("by a search of 16 visits", False, 16),
    )
    for name, steadied, nodes in ways[:1] if options.steadied else ways:
        begun, changes, positions = time.process_time(), [], 0
        for number, game in enumerate(games, 1):
            judged = analyse(number, game, session, analysis, None, nodes, steadied=steadied)
            leads = [position.score.lead for position in judged.positions]
            changes.append(np.abs(np.diff(leads)))
            positions += len(leads)
        whole = np.concatenate(changes)
        seconds = (time.process_time() - begun) / positions
        print(f"| {name} | {whole.mean():.2f} | {np.median(whole):.2f} | {seconds:.4f} |", flush=True)
    print(f"\n{len(games)} games, {len(whole):,} moves")


if __name__ == "__main__":
    main()
