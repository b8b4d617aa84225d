"""The count of a finished game: dead stones, seki, the owner of each point, and the lead under the rules.

It needs no network and no other program, so that every command and the page give one result for one position. Careful
random playouts judge which chains are dead; `seki` brings back those that nobody can capture.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.endings.counting import area, settle, territory
from kibitz.games.go.endings.dead import survival
from kibitz.games.go.endings.playouts import black_share
from kibitz.games.go.endings.seki import in_seki, without_uncapturable
from kibitz.games.go.points import BLACK, WHITE
from kibitz.games.go.rules import Board

PLAYOUTS = 1000
"""Careful random playouts of a final position, about 50 milliseconds on 19×19."""
SEED = 1
CACHED_POSITIONS = 64


@dataclass(frozen=True)
class FinalCount:
    """A counted position.

    dead: bool [361], stones taken off at the end; seki: bool [361], living stones next to liberties that neither side
    can fill; owner: uint8 [361], 1 Black, 2 White, 0 neutral; lead: Black's lead in points, for example 1.5, -0.5 if
    White wins by half a point; komi and compensation for handicap stones are taken off.
    """

    dead: NDArray[np.bool_]
    seki: NDArray[np.bool_]
    owner: NDArray[np.uint8]
    lead: float

    @property
    def black_wins(self) -> float:
        """1 if Black wins, 0 if White wins, 0.5 for a draw."""
        return (1 + float(np.sign(self.lead))) / 2

    @property
    def black_owns(self) -> NDArray[np.float32]:
        """The owners as probabilities, float32 [361]: 1 Black, 0 White, 0.5 neutral or outside the board."""
        return np.select([self.owner == BLACK, self.owner == WHITE], [1.0, 0.0], 0.5).astype(np.float32)


def count_position(
    colours: NDArray[np.uint8], captured: tuple[int, int], komi: float, by_territory: bool
) -> FinalCount:
    """Count a position in which both players have passed.

    colours uint8 [361], 3 outside the board; captured: the stones that Black and White lost so far; komi: White's
    points from the start, with the compensation for handicap stones; by_territory: as in Japanese rules, where the
    eyes of groups in seki do not count, else by area.
    """
    dead, seki = _dead_and_seki(np.ascontiguousarray(colours, np.uint8).tobytes())
    owner = settle(colours, dead, seki if by_territory else None)
    points = territory(owner, colours, captured) if by_territory else area(owner)
    return FinalCount(dead, seki, owner, points - komi)


def count_board(board: Board, komi: float, by_territory: bool) -> FinalCount:
    """`count_position` of a board."""
    return count_position(board.colours(), (board.captured[BLACK], board.captured[WHITE]), komi, by_territory)


@lru_cache(CACHED_POSITIONS)
def _dead_and_seki(position: bytes) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    colours = np.frombuffer(position, np.uint8)
    share = black_share(colours, playouts=PLAYOUTS, seed=SEED, careful=True)
    dead = without_uncapturable(colours, survival(colours, share) < 0.5)
    return dead, in_seki(colours, dead)
