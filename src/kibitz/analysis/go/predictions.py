"""Convert the outputs of a network that predicts moves, winner and score to predictions for the positions of a Go
game.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.endings.counting import compensation
from kibitz.games.go.io.sgf import Record
from kibitz.games.go.points import POINTS
from kibitz.games.go.replay import SIDE
from kibitz.games.go.sides import side_inputs
from kibitz.play.go.thought import Terms
from kibitz.play.session import Answers

NAMED = frozenset(("lead", "value", "policy"))
"""The names of the outputs that a network must have to predict moves, winner and score."""
PHASES = ("opening", "middlegame", "endgame")
_UNTIL = (60 / POINTS, 160 / POINTS)
"""The moves per point of the board at which the first two phases end: 60 and 160 moves on 19×19, 14 and 36 on 9×9."""


@dataclass(frozen=True)
class PositionPrediction:
    """A network's predictions for one position.

    lead: Black's lead in points, komi included.
    black_wins: Black's win probability, 0 to 1.
    policy: the probability of each move, float32 [362], 0 to 1. The index of a point is row · 19 + column, and index
        361 is a pass.
    line: the best move that a search found, and the moves that are expected after it, as points or 361 for a pass; ()
        without a search.
    between_ranks: Black's win probability, 0 to 1, in a game between players of the recorded ranks; None if the record
        has no ranks and no handicap.
    """

    lead: float
    black_wins: float
    policy: NDArray[np.float32]
    line: tuple[int, ...] = ()
    between_ranks: float | None = None

    def likely(self, most: int) -> list[tuple[int, float]]:
        """Return the `most` most likely moves with their probabilities, the most likely first. A move is the number row
        · 19 + column, or 361 for a pass.
        """
        return [(int(point), float(self.policy[point])) for point in np.argsort(-self.policy, kind="stable")[:most]]


def with_side_inputs(record: Record, state: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the array `state` of a game's n positions with six more columns for the side inputs of the game. state:
    uint8 [n, 4], see `kibitz.PositionArrays`. The result is uint8 [n, 10].

    The side inputs are komi, handicap, rules, the ranks of both players, and the server. If the record has no komi, the
    value is that of komi 0, and the analysis reports this assumption.
    """
    headers = record.headers
    komi = record.komi + compensation(record.rules, record.handicap)
    rows = []
    for mover, other in (("BR", "WR"), ("WR", "BR")):
        inputs = side_inputs(
            komi, record.handicap, record.rules, headers.get(mover), headers.get(other), headers.get("PC")
        )
        rows.append(list(inputs.values()))
    return np.concatenate([state, np.array(rows, np.uint8)[state[:, SIDE]]], 1)


def terms_of(record: Record) -> Terms:
    """Return the conditions of a game on which the lead depends in addition to the position: komi, territory or area
    scoring, and handicap. The ranks of the players are not included.
    """
    return Terms.of_record(record.rules, record.komi, record.handicap).for_board()


def predictions_of(answers: Answers, state: NDArray[np.uint8]) -> list[PositionPrediction]:
    """Return a network's predictions for each of n positions. Return [] if the network lacks an output for moves,
    winner or score.

    answers: the network's outputs, as a dict from names to arrays. state: uint8 [n, 4 or more], see
    `kibitz.PositionArrays`.
    """
    if not answers.keys() >= NAMED:
        return []
    black = np.where(state[:, SIDE] == 0, 1.0, -1.0)
    leads, chances = black * answers["lead"], (1 + black * answers["value"]) / 2
    return [
        PositionPrediction(float(lead), float(chance), policy)
        for lead, chance, policy in zip(leads, chances, answers["policy"], strict=True)
    ]


def phase_of(ply: int, size: int) -> int:
    """Return the phase of the game in which a move is played, 0 for the opening, 1 for the middlegame, 2 for the
    endgame. ply: the number of the move, from 1. size: the board size.
    """
    return int(np.searchsorted(_UNTIL, (ply - 1) / size**2, side="right"))


def phases(moves: list[Any], size: int) -> list[dict[str, Any]]:
    """Return a list of dicts, one for each side in each phase of a game of Go. A dict has the number of moves, their
    mean loss in points, and the number of moves with each annotation. If a side made no move in a phase, the list has
    no dict for it.

    moves: the moves of the game, of the class `kibitz.analysis.go.games.Move`. size: the board size. A gain counts as a
    loss of 0.
    """
    rows = []
    for number, name in enumerate(PHASES):
        for side in ("black", "white"):
            some = [move for move in moves if move.side == side and phase_of(move.ply, size) == number]
            if some:
                rows.append({
                    "phase": name, "side": side, "moves": len(some),
                    "average_loss": round(sum(max(0.0, -move.change) for move in some) / len(some), 3),
                    "marks": {sign: sum(move.mark == sign for move in some) for sign in ("?!", "?", "??")},
                })  # fmt: skip
    return rows
