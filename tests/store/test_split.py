"""The split: every game on one side, by hash or by date, and no date looks into the future."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kibitz.errors import UsageError
from kibitz.store.split import TEST, TRAIN, VALIDATE, Split
from kibitz.store.store import Store

DAY = datetime.date
HASHES = np.random.default_rng(0).integers(1, 2**63, 20_000).astype(np.uint64)
DATES = (np.datetime64("2015-01-01") + np.arange(20_000) % 3650).astype("datetime64[D]")

ANY_DAY = st.none() | st.dates(DAY(2014, 1, 1), DAY(2025, 1, 1))


def shares(sides: NDArray[np.uint8]) -> list[float]:
    return [float((sides == side).mean() * 100) for side in (TRAIN, VALIDATE, TEST)]


def test_by_hash() -> None:
    sides = Split(10, 20).assign(HASHES, DATES)
    np.testing.assert_allclose(shares(sides), [70, 10, 20], atol=1.5)
    assert shares(Split(0, 0).assign(HASHES, DATES)) == [100, 0, 0]


def test_by_date() -> None:
    sides = Split(validate_from=DAY(2020, 1, 1), test_from=DAY(2021, 1, 1)).assign(HASHES, DATES)
    assert (DATES[sides == TRAIN] < np.datetime64("2020-01-01")).all()
    assert (DATES[sides == TEST] >= np.datetime64("2021-01-01")).all()
    year = (np.datetime64("2020-01-01") <= DATES) & (np.datetime64("2021-01-01") > DATES)
    assert ((sides == VALIDATE) == year).all()


def test_a_test_by_date_and_a_validation_by_hash() -> None:
    sides = Split(10, test_from=DAY(2021, 1, 1)).assign(HASHES, DATES)
    late = np.datetime64("2021-01-01") <= DATES
    assert (sides[late] == TEST).all()
    np.testing.assert_allclose(shares(sides[~late]), [90, 10, 0], atol=1.5)


def test_unknown_dates_are_early() -> None:
    unknown = np.full(len(HASHES), np.datetime64("NaT"), "datetime64[D]")
    sides = Split(validate_from=DAY(1000, 1, 1), test_from=DAY(1001, 1, 1)).assign(HASHES, unknown)
    assert (sides == TRAIN).all()


@given(
    shares=st.tuples(st.floats(0, 49), st.floats(0, 49)),
    days=st.tuples(ANY_DAY, ANY_DAY),
    part=st.integers(1, 200),
)
def test_a_game_stands_where_it_stood(shares: tuple[float, float], days: tuple[Any, Any], part: int) -> None:
    """Its side hangs on the game alone: other games of the store, and their order, do not matter."""
    split = Split(*shares, *days)
    sides = split.assign(HASHES[:200], DATES[:200])
    assert set(sides.tolist()) <= {TRAIN, VALIDATE, TEST}
    np.testing.assert_array_equal(split.assign(HASHES[:part][::-1], DATES[:part][::-1]), sides[:part][::-1])
    assert Split.from_json(split.as_json()) == split


@pytest.mark.parametrize(
    "options",
    [
        {"validate_share": -1.0}, {"test_share": -0.1}, {"validate_share": 60.0, "test_share": 40.0},
        {"validate_from": DAY(2021, 1, 1), "test_from": DAY(2020, 1, 1)},
        {"validate_from": DAY(2021, 1, 1), "test_from": DAY(2021, 1, 1)},
    ],
)  # fmt: skip
def test_splits_that_cannot_work(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="--") as caught:
        Split(**options).check()
    assert "Swap" not in str(caught.value)  # no help if the days are equal


@pytest.mark.parametrize(
    "options",
    [
        {"validate_share": 0.0}, {"test_share": 0.0}, {"validate_share": 0.0, "test_share": 0.0},
        {"validate_share": 59.9, "test_share": 40.0}, {"newest": 1},
        {"validate_from": DAY(2021, 1, 1), "test_from": DAY(2021, 1, 2)},
    ],
)  # fmt: skip
def test_splits_that_just_work(options: dict[str, Any]) -> None:
    """A share of 0 holds out no game, and whatever is left to train on is enough."""
    split = Split(**options)
    split.check()
    assert Split.from_json(split.as_json()) == split
    sides = split.assign(HASHES, DATES)
    assert (sides == TRAIN).any()
    if not split.newest and split.test_from is None:
        for side, share in ((VALIDATE, split.validate_share), (TEST, split.test_share)):
            assert (sides == side).any() == (share > 0)


@pytest.mark.parametrize("days", [{}, {"validate_from": DAY(2020, 1, 1)}, {"test_from": DAY(2020, 1, 1)}])
@pytest.mark.parametrize("newest", [-1, 3])
def test_the_newest_are_a_number_without_days(newest: int, days: dict[str, Any]) -> None:
    split = Split(newest=newest, **days)
    if newest > 0 and not days:
        split.check()
    else:
        with pytest.raises(UsageError, match="newest"):
            split.check()


def test_a_game_keeps_the_side_of_its_hash() -> None:
    """For ever: a network must not be tested on games that an earlier version gave to its training. Millionths of the
    hash, less its last eleven bits, are compared with the shares."""
    millionths = np.array([0, 49_999, 50_000, 149_999, 150_000, 999_999, 1_000_000, 1_050_000, 7_149_999], np.uint64)
    sides = Split(5, 10).assign(millionths << np.uint64(11), DATES[: len(millionths)])
    expected = [VALIDATE, VALIDATE, TEST, TEST, TRAIN, TRAIN, VALIDATE, TEST, TEST]
    assert sides.tolist() == expected
    low = (millionths << np.uint64(11)) + np.uint64(2047)
    assert Split(5, 10).assign(low, DATES[: len(millionths)]).tolist() == expected


@pytest.mark.parametrize("newest", [-1, 2**63])
def test_the_newest_of_a_file_are_a_number_of_games(newest: int) -> None:
    with pytest.raises(ValueError, match="percentages"):
        Split.from_json({"newest": newest})


@pytest.mark.parametrize("share", [-0.1, 100.1])
@pytest.mark.parametrize("name", ["validate_share", "test_share"])
def test_shares_of_a_file_are_percents(name: str, share: float) -> None:
    with pytest.raises(ValueError, match="percentages"):
        Split.from_json({name: share})
    for bound in (0.0, 100.0):
        assert getattr(Split.from_json({name: bound}), name) == bound


def test_the_same_game_twice_is_on_one_side(bundled_store: Store) -> None:
    """Equal moves and result, equal hash: over all bundled games no two rows of one game stand on two sides."""
    sides, hashes = bundled_store.sides(), bundled_store.column("hash")
    assert len(np.unique(hashes)) == len(hashes)
    assert min(int((sides == side).sum()) for side in (TRAIN, VALIDATE, TEST)) > 100


def test_games_that_begin_alike_stand_together() -> None:
    """By hash and by date, whatever their own hashes and dates; of singles nothing changes."""
    openings = np.arange(len(HASHES), dtype=np.uint64)
    openings[1::2] = openings[::2][: len(openings[1::2])]  # pairs
    pairs = len(HASHES) // 2 * 2
    dates = np.random.default_rng(5).permutation(DATES)
    for split in (Split(20, 20), Split(validate_from=DAY(2020, 1, 1), test_from=DAY(2021, 1, 1))):
        alone = split.assign(HASHES, dates)[:pairs].reshape(-1, 2)
        sides = split.assign(HASHES, dates, openings)[:pairs].reshape(-1, 2)
        assert (alone[:, 0] != alone[:, 1]).any(), "or nothing is tested"
        assert (sides[:, 0] == sides[:, 1]).all()
        first = alone[:, 0] if split.test_from is None else alone.min(axis=1)  # by date the sides rise with it
        np.testing.assert_array_equal(sides[:, 0], first)
        np.testing.assert_array_equal(
            split.assign(HASHES, dates, np.arange(len(HASHES), dtype=np.uint64)), split.assign(HASHES, dates)
        )


def test_a_game_without_a_date_takes_its_like_to_training() -> None:
    split = Split(validate_from=DAY(2020, 1, 1), test_from=DAY(2021, 1, 1))
    dates = np.array(["2022-01-01", "NaT"], "datetime64[D]")
    assert split.assign(HASHES[:2], dates, np.zeros(2, np.uint64)).tolist() == [TRAIN, TRAIN]


def test_splits_of_earlier_versions_stay_as_they_were() -> None:
    written = Split(20, 20).as_json()
    assert written.pop("together")
    old = Split.from_json(written)
    np.testing.assert_array_equal(
        old.assign(HASHES, DATES, np.zeros(len(HASHES), np.uint64)), old.assign(HASHES, DATES)
    )
    assert set(Split(20, 20).assign(HASHES, DATES, np.zeros(len(HASHES), np.uint64)).tolist()) != {0, 1, 2}


def test_near_duplicates_are_not_torn_apart_by_the_newest() -> None:
    """Of three games the newest two are the test; one of them begins like the oldest, and learns with it."""
    hashes, dates = np.arange(3, dtype=np.uint64), np.array(["2020-01-01", "2021-01-01", "2022-01-01"], "datetime64[D]")
    split = Split(newest=2, validate_share=0)
    assert split.assign(hashes, dates, np.array([7, 8, 7], np.uint64)).tolist() == [TRAIN, TEST, TRAIN]
    assert split.assign(hashes, dates, np.array([7, 8, 9], np.uint64)).tolist() == [TRAIN, TEST, TEST]
    assert split.assign(hashes, dates, np.array([7, 8, 8], np.uint64)).tolist() == [TRAIN, TEST, TEST]


@pytest.mark.parametrize("share", [float("nan"), -1.0, 100.0, float("inf")])
def test_shares_that_are_none(share: float) -> None:
    for split in (Split(share, 5), Split(5, share)):
        with pytest.raises(UsageError, match="percentages"):
            split.check()


def test_shares_alone_take_the_place_of_days() -> None:
    by_day = Split(validate_from=DAY(2020, 1, 1), test_from=DAY(2021, 1, 1))
    assert by_day.changed({"validate_share": 7.0}) == Split(7.0)
    assert by_day.changed({"validate_share": 7.0, "test_from": DAY(2022, 1, 1)}).test_from == DAY(2022, 1, 1)
    assert by_day.changed({}) == by_day
