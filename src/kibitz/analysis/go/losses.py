"""Estimate what Go players of a rank usually lose by moves of the same phase, area and kind.

The mean loss of a move is modeled as a product of factors: one for the rank, and one each for the phase, the area of
the board and the kind of the move. `bench/go_losses_by_rank.py` fits the factors to games on 19×19 between players of
known rank. In these games, the searches of `kibitz analyze gohuman` measured the losses. So the factors are valid for
one network only.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from kibitz import manifest
from kibitz.play.session import Session
from kibitz.runs import ONNX

SIZE = 19
"""The board size of the games to which the factors were fitted. Losses on other board sizes are not compared."""


@dataclass(frozen=True)
class UsualLosses:
    """The fitted parameters for the usual losses of Go players by rank. Ranks are numbers: 1k is 0, and 1d is 1 (see
    `kibitz.games.go.ranks.rank_value`).

    network: the SHA-256 of the network file for which the parameters are valid.
    games: the number of games to which the parameters were fitted.
    lowest, highest: the lowest and the highest rank in these games.
    base: the natural logarithm of the mean loss in points at rank 0.
    slope: the change of this logarithm per rank.
    phase, area, kind: the numbers that are added to this logarithm for each phase of the game, area of the board and
        kind of move, in the order of PHASES, AREAS and KINDS.
    errors: a dict from ranks to the relative standard error of the mean loss.
    """

    network: str
    games: int
    lowest: int
    highest: int
    base: float
    slope: float
    phase: tuple[float, ...]
    area: tuple[float, ...]
    kind: tuple[float, ...]
    errors: dict[int, float]

    def loss(self, rank: int, phase: int, area: int, kind: int) -> float:
        """Return the mean loss in points of players of a rank, for moves of a phase, area of the board and kind. Return
        NaN for a rank outside the fitted range.

        rank: a number, see `UsualLosses`. phase, area, kind: indices into PHASES, AREAS and KINDS.
        """
        if not self.lowest <= rank <= self.highest:
            return math.nan
        return math.exp(self.base + self.slope * rank + self.phase[phase] + self.area[area] + self.kind[kind])

    def error(self, rank: float) -> float:
        """Return the relative standard error of the mean loss for a rank. If the rank has no such error, the error of
        the nearest rank is used. rank: a number, see `UsualLosses`.
        """
        return self.errors[min(self.errors, key=lambda one: abs(one - rank))]


@cache
def usual_losses() -> UsualLosses:
    """Return the fitted parameters for the usual losses, which kibitz's data file contains."""
    text = resources.files("kibitz.analysis.go").joinpath("losses.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    lists = {name: tuple(found[name]) for name in ("phase", "area", "kind")}
    errors = {int(rank): float(error) for rank, error in found["errors"].items()}
    return UsualLosses(**{**found, **lists, "errors": errors})


def fitted_losses(session: Session) -> UsualLosses | None:
    """Return the fitted parameters for the usual losses if they are valid for this network; otherwise None. session:
    the loaded network.
    """
    path, usual = session.run.path / ONNX, usual_losses()
    return usual if path.is_file() and manifest.sha256(path) == usual.network else None
