"""Sample training positions by kind of game, for example a third from online blitz games of club players.

A mix is a text: one or more parts "SCALES/SPEEDS/RATINGS=SHARE", separated by commas. SCALES are rating scales, such as
"lichess", and SPEEDS are speeds, such as "blitz", joined by "+". RATINGS is "LOW-HIGH", limits for the mean rating of
the two players. "any" matches all values. SHARE is the share of the samples, up to 1. An example is
"lichess+chess.com/blitz+rapid/1000-2200=0.33". A game belongs to the first part that matches it. All games that match
no part together get the remaining share.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import UsageError
from kibitz.games.chess.sides import SCALES, SPEEDS

ANY = "any"
EXAMPLE = "lichess+chess.com/blitz+rapid/1000-2200=0.33"
_PART = re.compile(r"(?P<scales>[^/=]+)/(?P<speeds>[^/=]+)/(?P<ratings>[^/=]+)=(?P<share>[0-9.]+)")


@dataclass(frozen=True)
class MixPart:
    """One part of a mix: a group of games, and its share of the training samples.

    scales, speeds: the rating scales and speeds of the games, as indices into `sides.SCALES` and `sides.SPEEDS`, for
        example (2, 3), which are the scales lichess and chess.com; () for all.
    low, high: inclusive limits of the mean rating of the two players, for example 1000 and 2200; None for no limit.
    share: the share of the samples that come from these games, 0 to 1.
    """

    scales: tuple[int, ...]
    speeds: tuple[int, ...]
    low: int | None
    high: int | None
    share: float

    def holds(
        self, ratings: NDArray[np.int64], speeds: NDArray[np.uint8], scales: NDArray[np.uint8]
    ) -> NDArray[np.bool_]:
        """Return whether each game matches the scales, speeds and ratings of this part, bool [n].

        ratings: int64 [2, n], the ratings of both players, 0 if unknown. speeds, scales: uint8 [n], indices into
        `sides.SPEEDS` and `sides.SCALES`.
        """
        inside = np.ones(len(speeds), np.bool_)
        if self.scales:
            inside &= np.isin(scales, self.scales)
        if self.speeds:
            inside &= np.isin(speeds, self.speeds)
        if self.low is not None and self.high is not None:
            mean = ratings.sum(0) / 2
            inside &= (ratings > 0).all(0) & (mean >= self.low) & (mean <= self.high)
        return inside


def parse_mix(text: str) -> tuple[MixPart, ...]:
    """Parse the text of a mix, such as "lichess/blitz/1000-2200=0.33" (see the module's docstring). Returns the parts
    of the mix; () for an empty text.

    Raises UsageError if the text isn't a mix, or if the shares sum to more than 1.
    """
    parts = []
    for each in filter(None, (part.strip() for part in text.split(","))):
        match = _PART.fullmatch(each)
        if match is None:
            raise UsageError(f"--mix must have parts SCALES/SPEEDS/RATINGS=SHARE (got {each}). Example: {EXAMPLE}")
        scales, speeds = _indices(match["scales"], SCALES, "scale"), _indices(match["speeds"], SPEEDS, "speed")
        low, high = _ratings(match["ratings"], each)
        parts.append(MixPart(scales, speeds, low, high, _share(match["share"], each)))
    if (total := math.fsum(part.share for part in parts)) > 1:
        raise UsageError(f"--mix must have shares with a sum of at most 1 (got {total:g}). Reduce one of them.")
    return tuple(parts)


def _indices(text: str, names: Sequence[str], what: str) -> tuple[int, ...]:
    words = text.strip().split("+")
    if words == [ANY]:
        return ()
    for word in words:
        if word not in names[1:]:
            raise UsageError(f"the {what} in --mix must be one of {', '.join(names[1:])}, or {ANY} (got {word}).")
    return tuple(names.index(word) for word in words)


def _ratings(text: str, part: str) -> tuple[int | None, int | None]:
    if text.strip() == ANY:
        return None, None
    match = re.fullmatch(r"(\d{1,4})-(\d{1,4})", text.strip())
    if match is None or int(match[1]) > int(match[2]):
        raise UsageError(f"--mix must give ratings as LOW-HIGH or {ANY} (got {text} in {part}). Example: 1000-2200")
    return int(match[1]), int(match[2])


def _share(text: str, part: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 < share <= 1:
        raise UsageError(f"--mix must give a share above 0 and up to 1 (got {text} in {part}). Example: {EXAMPLE}")
    return share


def mixed_weights(
    parts: Sequence[MixPart],
    weights: NDArray[np.float64],
    plies: NDArray[np.int64],
    ratings: NDArray[np.int64],
    speeds: NDArray[np.uint8],
    scales: NDArray[np.uint8],
) -> NDArray[np.float64]:
    """Return the games' sampling weights, float64 [n], changed so that each part of the mix gets its share of all
    samples.

    weights: [n], the weights before the change: how often training uses each position of a game. plies: [n], the number
    of positions that can be sampled from each game. ratings, speeds, scales: as in `MixPart.holds`. The expected total
    number of samples stays the same. A part that matches no game is ignored, together with its share. If every game
    belongs to a part, the shares are scaled so that they sum to 1.
    """
    mixed = weights.astype(np.float64)
    total = float((mixed * plies).sum())
    free = np.ones(len(mixed), np.bool_)
    given = 0.0
    for part in parts:
        inside = free & part.holds(ratings, speeds, scales)
        free &= ~inside
        if (held := float((mixed[inside] * plies[inside]).sum())) > 0:
            mixed[inside] *= part.share * total / held
            given += part.share
    rest = float((mixed[free] * plies[free]).sum())
    if rest > 0:
        mixed[free] *= max(1 - given, 0.0) * total / rest
    elif given > 0:
        mixed /= given
    return mixed
