"""What Go players of a rank usually lose, for moves of the same phase, area and kind.

The mean loss of a move is modeled as a product of factors: one for the rank, and one each for the phase, the area of
the board and the kind of the move. `bench/go_losses_by_rank.py` fits them to games on 19×19 between players of known
rank. The losses are those of the searches with which `kibitz analyze gohuman` judges moves, so the factors are valid
for one network only.
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
"""The board size of the games to which the factors were fitted."""


@dataclass(frozen=True)
class UsualLosses:
    """The fitted parameters of the usual losses of Go players by rank. Ranks are numbers, see `rank_value`: 1k is 0,
    and 1d is 1.

    network: the SHA-256 of the network file for which the parameters are valid.
    games: the number of games to which the parameters were fitted.
    lowest, highest: the range of the ranks in these games.
    base: the natural logarithm of the mean loss in points at rank 0.
    slope: the change of this logarithm per rank.
    phase, area, kind: what is added to this logarithm for each phase, area and kind, in the order of PHASES, AREAS and
        KINDS.
    errors: the relative standard error of the mean loss, by rank.
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
        """Return the mean loss, in points, of players of a rank for moves of a phase, area and kind; NaN for a rank
        outside the fitted range.

        rank: a number, see `rank_value`. phase, area, kind: indices into PHASES, AREAS and KINDS.
        """
        if not self.lowest <= rank <= self.highest:
            return math.nan
        return math.exp(self.base + self.slope * rank + self.phase[phase] + self.area[area] + self.kind[kind])

    def error(self, rank: float) -> float:
        """Return the relative standard error of the mean loss at the nearest fitted rank. rank: a number, see
        `rank_value`.
        """
        return self.errors[min(self.errors, key=lambda one: abs(one - rank))]


@cache
def usual_losses() -> UsualLosses:
    """Return the fitted parameters of the usual losses from kibitz's data file."""
    text = resources.files("kibitz.analysis.go").joinpath("losses.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    lists = {name: tuple(found[name]) for name in ("phase", "area", "kind")}
    errors = {int(rank): float(error) for rank, error in found["errors"].items()}
    return UsualLosses(**{**found, **lists, "errors": errors})


def fitted_losses(session: Session) -> UsualLosses | None:
    """Return the fitted parameters of the usual losses if they are valid for this session's network; None if they are
    not.
    """
    path, usual = session.run.path / ONNX, usual_losses()
    return usual if path.is_file() and manifest.sha256(path) == usual.network else None
