"""Estimate a rating and its interval from the likelihoods of a player's moves.

For each move, `likelihoods` gives the log-likelihood at six ratings. At each of these ratings, the log-likelihoods of
all moves are added. Interpolation gives the sum at every other rating. A Gaussian prior converts the sums to a
posterior distribution of the rating. The mean of the posterior is the raw rating. The network is not trained to measure
strength, so the raw rating is corrected: the result is `offset + slope · raw rating`.

The width of the interval has two parts. One part accounts for the player's style, and does not become smaller with more
games. The other part accounts for noise, and becomes smaller with the number of moves. `bench/rating_estimates.py` fits
all parameters to the games of real players, for each rating scale. The parameters are valid for one network only.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.analysis.chess.strength.likelihoods import RATINGS, MoveLikelihoods
from kibitz.games.chess.material import PHASES

LEVEL = 0.9
"""The probability that the interval contains the player's rating, 0 to 1."""
LOWEST, HIGHEST = 300, 3000
"""The limits of displayed ratings. An estimate outside of these limits is replaced by the nearer limit, because the
network was trained on too few such players.
"""
PRIOR = (1500.0, 450.0)
"""The mean and the standard deviation of the prior distribution of the raw rating, in points."""
GRID = np.arange(200.0, 3201.0, 10.0)
"""The ratings, in points, for which the posterior distribution is computed, float64 [301]."""
WHOLE = "all"
PARTS = (WHOLE, *PHASES)
"""The groups of moves for which the rating estimate has separate parameters: all moves, and the moves of each phase."""


@dataclass(frozen=True)
class RatingEstimate:
    """An estimated rating with its interval.

    value, low, high: the rating and the bounds of its 90% interval, in points of a rating scale, such as Lichess's.
    games, moves: the number of games and moves that the estimate uses.
    """

    value: float
    low: float
    high: float
    games: int
    moves: int

    def as_json(self) -> dict[str, int]:
        """Return the estimate as a dict for JSON."""
        return {**{name: round(getattr(self, name)) for name in ("value", "low", "high")},
                "games": self.games, "moves": self.moves}  # fmt: skip


@dataclass(frozen=True)
class RatingModel:
    """The fitted parameters with which the rating is estimated, for one rating scale and one group of moves: all moves,
    or the moves of one phase.

    offset, slope: the rating is `offset + slope · raw rating`.
    style: half the width of the 90% interval after an infinite number of moves, in points.
    noise: half the width of the 90% interval for a single move, in points, if `style` were 0.
    """

    offset: float
    slope: float
    style: float
    noise: float

    def value(self, raw: float) -> float:
        """Return the corrected rating, in points, for a raw rating, which is the estimate before the correction."""
        return self.offset + self.slope * raw

    def half_width(self, moves: int) -> float:
        """Return half the width of the 90% interval, in points, for an estimate from `moves` moves."""
        return math.sqrt(self.style**2 + self.noise**2 / moves)


def raw_rating(log: NDArray[np.float64]) -> float:
    """Return a player's raw rating in points. It is the mean of the posterior distribution of the rating, given the
    player's moves. The prior is a normal distribution with the mean 1500 and the standard deviation 450.

    log: the log-likelihood of all moves together for the ratings 600, 1000, 1400, 1800, 2200 and 2600, float64 [6].
    Between these ratings, the log-likelihood is interpolated by a natural cubic spline. Below and above them, it is
    extrapolated linearly.
    """
    at = np.array(RATINGS, np.float64)
    values = _spline(at, log, GRID)
    total = values - 0.5 * ((GRID - PRIOR[0]) / PRIOR[1]) ** 2
    weight = np.exp(total - total.max())
    return float(weight @ GRID / weight.sum())


def _spline(x: NDArray[np.float64], y: NDArray[np.float64], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the natural cubic spline through equally spaced points, with lines outside of them."""
    n, step = len(x), x[1] - x[0]
    system = np.eye(n)
    bends = np.zeros(n)
    for i in range(1, n - 1):
        system[i, i - 1 : i + 2] = (1, 4, 1)
        bends[i] = 6 * (y[i + 1] - 2 * y[i] + y[i - 1]) / step**2
    second = np.linalg.solve(system, bends)
    i = np.clip(((at - x[0]) // step).astype(int), 0, n - 2)
    right = (at - x[i]) / step
    left = 1 - right
    inner = left * y[i] + right * y[i + 1]
    inner += ((left**3 - left) * second[i] + (right**3 - right) * second[i + 1]) * step**2 / 6
    first = (y[1] - y[0]) / step - step * second[1] / 6
    last = (y[-1] - y[-2]) / step + step * second[-2] / 6
    inner = np.where(at < x[0], y[0] + first * (at - x[0]), inner)
    return np.asarray(np.where(at > x[-1], y[-1] + last * (at - x[-1]), inner))


@cache
def _parameters() -> dict[str, Any]:
    text = resources.files("kibitz.analysis.chess.strength").joinpath("model.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def fitted_for() -> str:
    """Return the SHA-256 of the network file to which the parameters of the rating estimate were fitted. The parameters
    are valid only for this file.
    """
    return str(_parameters()["network"])


@cache
def rating_model(scale: str, part: str = WHOLE) -> RatingModel:
    """Return the fitted parameters of the rating estimate for a rating scale and a group of moves.

    scale: one of `kibitz.games.chess.sides.SCALES`, such as "lichess". A scale without separate parameters gets the
    parameters that were fitted to all scales together. part: "all" for all moves, or a phase such as "endgame".
    """
    models = _parameters()["models"]
    return RatingModel(**models.get(scale, models[""])[part])


def estimate_rating(games: Sequence[MoveLikelihoods], scale: str, part: str = WHOLE) -> RatingEstimate | None:
    """Return a player's rating with its interval, estimated from the player's moves. Return None if there are no moves.

    games: the likelihoods of the player's moves in each game. If `part` is a phase, they contain only the moves in this
        phase.
    scale: the rating scale of the result, one of `kibitz.games.chess.sides.SCALES`, such as "lichess".
    part: the group of moves: "all", or a phase such as "endgame".
    """
    moves = sum(len(game) for game in games)
    if not moves:
        return None
    model = rating_model(scale, part)
    value = model.value(raw_rating(np.sum([game.log.sum(0, dtype=np.float64) for game in games], axis=0)))
    half = model.half_width(moves)
    value, low, high = (min(max(end, LOWEST), HIGHEST) for end in (value, value - half, value + half))
    return RatingEstimate(value, low, high, sum(bool(len(game)) for game in games), moves)
