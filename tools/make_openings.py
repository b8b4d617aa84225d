"""Choose the openings that `kibitz match` plays: what is played most, no two the same, and neither side better.

    python tools/make_openings.py STORE --out src/kibitz/data/openings.txt

STORE is an imported store of chess games (kibitz import). The first eight plies of all games from the ordinary start
are counted. Then the lines are tried, the most frequent first. A line is taken if its position is new, if not too many
lines share its first four plies, and if Stockfish's evaluation is within the margin.
"""

import argparse
from collections import Counter

import chess
import chess.engine
import numpy as np

from kibitz.games.chess.moves import to_move
from kibitz.games.chess.replay import STANDARD_START
from kibitz.store.store import Store

PLIES = 8
COUNT = 200
SAME_BEGINNING = 8  # lines that may share their first four plies: without it half of them are Sicilians
DEPTH = 12
MARGIN = 60  # centipawns for either side


def frequent(store: Store) -> list[tuple[tuple[int, ...], int]]:
    """Lines of PLIES packed moves and how many games began with them, the most frequent first."""
    ordinary = (store.starts == STANDARD_START).all(axis=1)[store.start_of]
    firsts = store.offsets[:-1][ordinary & (store.plies >= PLIES)]
    lines = store.moves[firsts[:, None] + np.arange(PLIES)]
    return Counter(map(tuple, lines.tolist())).most_common(20 * COUNT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store")
    parser.add_argument("--out", default="src/kibitz/data/openings.txt")
    parser.add_argument("--stockfish", default="/usr/games/stockfish")
    options = parser.parse_args()

    chosen: list[str] = []
    positions: set[str] = set()
    beginnings: Counter[tuple[int, ...]] = Counter()
    with chess.engine.SimpleEngine.popen_uci(options.stockfish) as engine:
        for line, games in frequent(Store(options.store)):
            board = chess.Board()
            for code in line:
                board.push(to_move(code))
            if board.epd() in positions or beginnings[line[:4]] >= SAME_BEGINNING:
                continue
            score = engine.analyse(board, chess.engine.Limit(depth=DEPTH), game=object())["score"].white()
            if score.is_mate() or abs(score.score()) > MARGIN:
                continue
            positions.add(board.epd())
            beginnings[line[:4]] += 1
            chosen.append(" ".join(move.uci() for move in board.move_stack))
            print(f"{len(chosen):4} {games:6} {score.score():+4} {chosen[-1]}")
            if len(chosen) == COUNT:
                break
        name = engine.id["name"]
    header = (
        f"# {len(chosen)} openings of {PLIES} plies, UCI moves, the most played first, by tools/make_openings.py:\n"
        f"# from real games, no position twice, at most {SAME_BEGINNING} lines with the same four first plies,\n"
        f"# each within {MARGIN} centipawns for {name} at depth {DEPTH}.\n"
    )
    with open(options.out, "w", encoding="utf-8") as file:
        file.write(header + "\n".join(chosen) + "\n")


if __name__ == "__main__":
    main()
