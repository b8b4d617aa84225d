"""Shares of the samples by kind of game: what a text means, and the weights that it gives."""

from __future__ import annotations

import numpy as np
import pytest

from kibitz.errors import UsageError
from kibitz.games.chess.mix import EXAMPLE, mixed_weights, parse_mix
from kibitz.games.chess.sides import SCALES, SPEEDS

BLITZ, RAPID, LICHESS, FIDE = (
    SPEEDS.index("blitz"),
    SPEEDS.index("rapid"),
    SCALES.index("lichess"),
    SCALES.index("fide"),
)


def test_a_mix_is_read() -> None:
    (part,) = parse_mix(EXAMPLE)
    assert [SCALES[scale] for scale in part.scales] == ["lichess", "chess.com"]
    assert [SPEEDS[speed] for speed in part.speeds] == ["blitz", "rapid"]
    assert (part.low, part.high, part.share) == (1000, 2200, 0.33)
    anything, other = parse_mix("any/any/any=0.5, fide/any/2000-3000=0.25")
    assert (anything.scales, anything.speeds, anything.low) == ((), (), None)
    assert other.share == 0.25
    assert parse_mix("") == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lichess=0.3", "SCALES/SPEEDS/RATINGS"),
        ("lichess/blitz/1000-2200=1.5", "above 0 and up to 1"),
        ("lichess/blitz/1000-2200=0", "above 0"),
        ("lichess/blitz/1000-2200=0.7,fide/any/any=0.6", "sum of at most"),
        ("lycos/blitz/1000-2200=0.5", "scale in --mix"),
        ("lichess/fast/1000-2200=0.5", "speed in --mix"),
        ("lichess/blitz/2200-1000=0.5", "LOW-HIGH"),
    ],
)
def test_what_is_no_mix_is_refused(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse_mix(text)


def test_each_part_has_its_share() -> None:
    rng = np.random.default_rng(0)
    n = 500
    ratings = rng.integers(0, 2800, (2, n))
    speeds, scales = rng.integers(0, len(SPEEDS), n).astype(np.uint8), rng.integers(0, len(SCALES), n).astype(np.uint8)
    plies, weights = rng.integers(1, 120, n), rng.random(n) * 3
    parts = parse_mix("lichess+chess.com/blitz+rapid/1000-2200=0.4,fide/any/any=0.3")
    mixed = mixed_weights(parts, weights, plies, ratings, speeds, scales)
    samples = mixed * plies
    mean = ratings.sum(0) / 2
    first = (
        np.isin(scales, (LICHESS, SCALES.index("chess.com")))
        & np.isin(speeds, (BLITZ, RAPID))
        & (ratings > 0).all(0)
        & (mean >= 1000)
        & (mean <= 2200)
    )
    fide = scales == FIDE
    assert first.sum() > 20
    assert samples[first].sum() / samples.sum() == pytest.approx(0.4)
    assert samples[fide].sum() / samples.sum() == pytest.approx(0.3)
    assert samples.sum() == pytest.approx((weights * plies).sum())
    inside = np.flatnonzero(first)
    assert mixed[inside] / weights[inside] == pytest.approx(mixed[inside[0]] / weights[inside[0]]), (
        "all alike in a part"
    )


def test_a_part_without_games_leaves_its_share_to_the_rest() -> None:
    plies, weights = np.array([10, 20]), np.array([1.0, 1.0])
    ratings, speeds = np.full((2, 2), 1500), np.full(2, BLITZ, np.uint8)
    scales = np.full(2, LICHESS, np.uint8)
    mixed = mixed_weights(parse_mix("fide/any/any=0.5"), weights, plies, ratings, speeds, scales)
    assert mixed.tolist() == [1.0, 1.0]


def test_parts_with_all_games_share_all_samples() -> None:
    plies, weights = np.array([10, 20, 30]), np.array([1.0, 2.0, 1.0])
    ratings, speeds = np.full((2, 3), 1500), np.full(3, BLITZ, np.uint8)
    scales = np.array([LICHESS, LICHESS, FIDE], np.uint8)
    one = mixed_weights(parse_mix("any/any/any=0.25"), weights, plies, ratings, speeds, scales)
    assert one == pytest.approx(weights)
    two = mixed_weights(parse_mix("lichess/any/any=0.6,fide/any/any=0.2"), weights, plies, ratings, speeds, scales)
    assert (two * plies).tolist() == pytest.approx([12.0, 48.0, 20.0])


def test_shares_of_one_hundred_percent_are_no_more_than_that() -> None:
    """0.56 + 0.34 + 0.1 is more than 1 as a sum of floats."""
    text = "fide/any/any=0.56,lichess/any/any=0.34,chess.com/any/any={}"
    assert [part.share for part in parse_mix(text.format("0.1"))] == [0.56, 0.34, 0.1]
    with pytest.raises(UsageError):
        parse_mix(text.format("0.11"))
