"""The predictions of a network with outputs for moves, winner and score, for the positions of a game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.endings.counting import TERRITORY, compensation
from kibitz.games.go.io.sgf import Record
from kibitz.games.go.points import POINTS
from kibitz.games.go.replay import SIDE
from kibitz.games.go.sides import side_inputs
from kibitz.play.go.thought import Terms
from kibitz.play.session import Answers

NAMED = frozenset(("lead", "value", "policy"))
"""Outputs of a network that predicts moves, winner and score."""
PHASES = ("opening", "middlegame", "endgame")
_UNTIL = (60 / POINTS, 160 / POINTS)
"""The moves per point of the board at which the first two phases end: 60 and 160 moves on 19×19, 14 and 36 on 9×9."""


@dataclass(frozen=True)
class PositionPrediction:
    """A network's predictions for one position.

    lead: Black's lead in points, komi included.
    black_wins: Black's win probability, 0 to 1.
    policy: float32 [362], the probability of each move, 0 to 1; the last one is a pass.
    line: the best move by a search, and the moves that are expected after it, as points or PASS; () without a search.
    between_ranks: Black's win probability, 0 to 1, between players of the recorded ranks; None if the record has no
        ranks and no handicap.
    """

    lead: float
    black_wins: float
    policy: NDArray[np.float32]
    line: tuple[int, ...] = ()
    between_ranks: float | None = None

    def likely(self, most: int) -> list[tuple[int, float]]:
        """Return the `most` most likely moves, as points or PASS, with their probabilities, the most likely first."""
        return [(int(point), float(self.policy[point])) for point in np.argsort(-self.policy, kind="stable")[:most]]


def with_side_inputs(record: Record, state: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Append the side inputs of a record to the state rows of its positions. state: uint8 [n, 4]. The result is uint8
    [n, 10].

    The side inputs are komi, handicap, rules, ranks and server. A missing komi counts as 0; the analysis reports this
    assumption.
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
    """Return komi, scoring (territory or area) and handicap of a record: what the lead depends on in addition to the
    position. The ranks of the players are not included.
    """
    komi = record.komi + compensation(record.rules, record.handicap)
    return Terms(komi, record.rules in TERRITORY, record.handicap, between_players=False)


def predictions_of(answers: Answers, state: NDArray[np.uint8]) -> list[PositionPrediction]:
    """Return the predictions for each position; [] unless the network predicts all three: moves, winner and score.

    answers: the network's outputs by name. state: uint8 [n, 4 or more].
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
    """Return the phase, as an index into PHASES, of move number `ply`, from 1."""
    return int(np.searchsorted(_UNTIL, (ply - 1) / size**2, side="right"))


def phases(moves: list[Any], size: int) -> list[dict[str, Any]]:
    """Return a list of dicts, one for each side in each phase of a game of Go: the number of moves, their mean loss in
    points, and the number of each annotation. A phase in which a side made no move is omitted.

    A gain counts as a loss of 0. moves: the moves of the game, as `games.Move`. size: the board size.
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
