"""Compute the statistics of a match: the score, the Elo difference with its interval, LOS and SPRT. LOS is the
likelihood of superiority, and SPRT is the sequential probability ratio test.

The two games of a pair have the same opening, so their results are correlated. So the variance is computed from pairs.
The score of a pair has one of five values (0, 1/2, 1, 3/2 or 2 points: the pentanomial). If there are fewer than two
pairs, the variance is computed from single games.

The variance is only an estimate. So intervals and LOS use Student's t-distribution, with one degree of freedom less
than the number of pairs. An interval is ±2.26 standard errors for ten pairs, and ±1.96 for many pairs.

Sources: Michel Van den Bergh, "A practical introduction to the GSPRT" and "Comments on normalized Elo" (the mathematics
of fishtest); for LOS, the chess programming wiki's "Match statistics".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

LEVEL = 0.975
"""The quantile of the upper limit of an interval of 95%: 97.5% of the distribution is below this limit."""

LARGE = 1000
"""The number of degrees of freedom from which the normal distribution replaces Student's t-distribution."""

PRIOR = 1e-3
"""The number that replaces counts of 0 in the SPRT. So results that have not occurred yet are unlikely but possible."""


@dataclass(frozen=True)
class ScoreEstimate:
    """A value with its 95% interval, such as a score or an Elo difference, estimated from `n` games.

    Elo differences may be ±inf. Without games, value, low and high are NaN.
    """

    value: float
    low: float
    high: float
    n: int

    def as_json(self) -> dict[str, float | int | None]:
        """Return the fields as a dict for JSON. Infinite values and NaN become None, because JSON has no such
        numbers.
        """
        numbers = {"value": self.value, "low": self.low, "high": self.high}
        return {**{name: x if math.isfinite(x) else None for name, x in numbers.items()}, "n": self.n}


@dataclass(frozen=True)
class Tally:
    """The results of a match from the point of view of the player "A": wins, draws and losses.

    pairs: the numbers of complete game pairs in which "A" scored 0, 1/2, 1, 3/2 and 2 points. A pair is two games with
    the same opening and swapped colors.
    """

    wins: int
    draws: int
    losses: int
    pairs: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)

    @property
    def games(self) -> int:
        """The number of games."""
        return self.wins + self.draws + self.losses

    def _units(self) -> tuple[Sequence[int], Sequence[float], int]:
        """Return counts and scores (0 to 1) of the independent units, and games per unit: 2 for pairs, 1 for single
        games."""
        if sum(self.pairs) >= 2:
            return self.pairs, (0.0, 0.25, 0.5, 0.75, 1.0), 2
        return (self.losses, self.draws, self.wins), (0.0, 0.5, 1.0), 1

    def score(self) -> ScoreEstimate:
        """Return the score of the player "A", with its interval. The score is the share of the points, 0 to 1."""
        if not self.games:
            return ScoreEstimate(math.nan, math.nan, math.nan, 0)
        value = (self.wins + self.draws / 2) / self.games
        error = self._standard_error()
        if error > 0:
            reach = student_quantile(LEVEL, self._freedom()) * error
            return ScoreEstimate(value, max(value - reach, 0.0), min(value + reach, 1.0), self.games)
        # All n units (pairs or games) had the same result, so their spread is unknown. If another result had the
        # probability 1 - 0.025 ** (1 / n), n equal results would still occur with a probability of 2.5%. The bounds
        # assume this probability, and that the other results are all wins, or all losses.
        counts, _, _ = self._units()
        other = 1 - (1 - LEVEL) ** (1 / sum(counts))
        return ScoreEstimate(value, value - other * value, value + other * (1 - value), self.games)

    def _freedom(self) -> int:
        """Return the degrees of freedom of the estimated spread."""
        return sum(self._units()[0]) - 1

    def _standard_error(self) -> float:
        """Return the standard error of the score; 0 if all units had the same result."""
        counts, scores, size = self._units()
        total = sum(counts)
        mean = sum(count * score for count, score in zip(counts, scores, strict=True)) / total
        squares = sum(count * (score - mean) ** 2 for count, score in zip(counts, scores, strict=True))
        return math.sqrt(squares / max(total - 1, 1) / (self.games / size))

    def elo(self) -> ScoreEstimate:
        """Return the Elo difference, A's minus B's, with its interval. The logistic formula of Elo ratings converts the
        score to the difference.
        """
        score = self.score()
        return ScoreEstimate(elo(score.value), elo(score.low), elo(score.high), score.n)

    def los(self) -> float:
        """Return the likelihood of superiority: the probability, 0 to 1, that "A" is the stronger player. It is 0.5 if
        "A" has as many wins as losses.
        """
        if self.wins == self.losses:
            return 0.5
        error = self._standard_error()
        if error > 0:
            return student_cdf((self.score().value - 0.5) / error, self._freedom())
        return NormalDist().cdf((self.wins - self.losses) / math.sqrt(self.wins + self.losses))


def elo(score: float) -> float:
    """Convert the expected score of "A", 0 to 1, to the Elo difference, A's minus B's: -inf for 0, inf for 1, NaN for
    NaN.
    """
    if math.isnan(score):
        return math.nan
    if score <= 0 or score >= 1:
        return -math.inf if score <= 0 else math.inf
    return -400 * math.log10(1 / score - 1) + 0.0  # + 0.0 turns -0.0 into 0.0


def expected(difference: float) -> float:
    """Convert an Elo difference, A's minus B's, to the expected score of "A", 0 to 1."""
    return 1 / (1 + 10 ** (-difference / 400))


def student_cdf(t: float, freedom: int) -> float:
    """Return the cumulative distribution function of Student's t-distribution at `t` (Abramowitz and Stegun, 26.7.3 and
    26.7.4). freedom: the degrees of freedom, at least 1.
    """
    if freedom >= LARGE:
        return NormalDist().cdf(t)
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    total, term = 0.0, cosine if odd else 1.0
    for power in range(odd, freedom - 1, 2):
        total += term
        term *= cosine * cosine * (power + 1) / (power + 2)
    within = (angle + sine * total) * 2 / math.pi if odd else sine * total
    return (1 + within) / 2


def student_quantile(level: float, freedom: int) -> float:
    """Return the quantile of Student's t-distribution for a probability. level: the probability, over 0.5 and under 1.
    freedom: the degrees of freedom, at least 1.
    """
    low, high = 0.0, 1.0
    while student_cdf(high, freedom) < level:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_cdf(middle, freedom) < level else (low, middle)
    return high


@dataclass(frozen=True)
class Sprt:
    """A sequential probability ratio test (SPRT) of two hypotheses. H1 is "A is `elo1` Elo stronger than B", and H0 is
    "A is `elo0` Elo stronger than B".

    alpha: the largest probability that H1 is accepted although H0 is true. beta: the largest probability that H0 is
    accepted although H1 is true.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    @property
    def bounds(self) -> tuple[float, float]:
        """The two limits of the log-likelihood ratio. H0 is accepted if the ratio is at or below the first limit, and
        H1 if it is at or above the second limit.
        """
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def llr(self, tally: Tally) -> float:
        """Return the generalized log-likelihood ratio of H1 to H0; 0 without games. The ratio is computed from game
        pairs, or from single games if there are fewer than two pairs.
        """
        counts, scores, _ = tally._units()
        if not sum(counts):
            return 0.0
        smoothed = [count or PRIOR for count in counts]
        total = sum(smoothed)
        shares = [count / total for count in smoothed]
        under0 = _closest(shares, scores, expected(self.elo0))
        under1 = _closest(shares, scores, expected(self.elo1))
        return total * sum(p * math.log(q1 / q0) for p, q0, q1 in zip(shares, under0, under1, strict=True))

    def decision(self, tally: Tally) -> str | None:
        """Return the accepted hypothesis, "H0" or "H1"; None if more games are needed."""
        lower, upper = self.bounds
        ratio = self.llr(tally)
        return "H0" if ratio <= lower else "H1" if ratio >= upper else None

    def as_json(self, tally: Tally) -> dict[str, Any]:
        """Return the test and its present result as a dict for JSON."""
        lower, upper = self.bounds
        return {
            "elo0": self.elo0, "elo1": self.elo1, "alpha": self.alpha, "beta": self.beta,
            "llr": self.llr(tally), "lower": lower, "upper": upper, "decision": self.decision(tally),
        }  # fmt: skip


def _closest(shares: Sequence[float], scores: Sequence[float], mean: float) -> list[float]:
    """Return the distribution with this mean that makes the observed shares most likely (Van den Bergh, prop. 1.1).

    It is `p_i / (1 + t (a_i - mean))`, with the t that gives this mean. Bisection finds t, because the mean decreases
    in t.
    """
    low, high = -1 / (max(scores) - mean), 1 / (mean - min(scores))
    for _ in range(100):
        t = (low + high) / 2
        slope = sum(p * (a - mean) / (1 + t * (a - mean)) for p, a in zip(shares, scores, strict=True))
        low, high = (t, high) if slope > 0 else (low, t)
    return [p / (1 + t * (a - mean)) for p, a in zip(shares, scores, strict=True)]
