"""Games of a made-up player of Go: random moves on a small board, but for first moves of the player's own."""

from __future__ import annotations

import datetime
import random
from pathlib import Path

from kibitz.games.go.points import GRID, to_sgf

PERSON = "Kim Tengen"
SIZE, PLIES = 9, 30
CENTRE = 4 * GRID + 4
"""The player's first move, where it is free."""


def games(count: int, seed: int = 0) -> str:
    """Some games as SGF, half of them with each colour, against many opponents."""
    rng = random.Random(seed)
    texts = []
    for number in range(count):
        players = [PERSON, f"Opponent {number}"][:: 1 if number % 2 else -1]
        points = [row * GRID + column for row in range(SIZE) for column in range(SIZE)]
        rng.shuffle(points)
        points.remove(CENTRE)
        points.insert(0 if players[0] == PERSON else 1, CENTRE)
        day = datetime.date(2021, 1, 1) + datetime.timedelta(days=number)
        moves = "".join(f";{'WB'[ply % 2 == 0]}[{to_sgf(point)}]" for ply, point in enumerate(points[:PLIES]))
        texts.append(
            f"(;GM[1]FF[4]SZ[{SIZE}]KM[6.5]PB[{players[0]}]PW[{players[1]}]BR[3d]WR[3d]DT[{day}]"
            f"RE[{'BW'[number // 2 % 2]}+R]{moves})"
        )
    return "\n".join(texts) + "\n"


def write(path: Path, count: int = 40, seed: int = 0) -> Path:
    path.write_text(games(count, seed), encoding="utf-8")
    return path
