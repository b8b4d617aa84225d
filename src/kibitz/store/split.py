"""Divide games into training, validation and test games (a split). Every game is in exactly one part of the split, by
its hash or its date.

By default, games with the same opening moves are in the same part.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import UsageError

TRAIN, VALIDATE, TEST = 0, 1, 2
SIDES = ("training", "validation", "test")
_PARTS = 1_000_000


def check_options(options: Mapping[str, Any]) -> None:
    """Raise UsageError if an option for a split would have no effect, for example a share if there is also a date for
    the same part. A split divides games into training, validation and test games. options: a dict from names of fields
    of `Split` to values.
    """
    for side in ("validate", "test"):
        if f"{side}_from" in options and f"{side}_share" in options:
            raise UsageError(f"--{side}-from cannot be combined with --{side}-share (got both). Choose one.")
    if "validate_from" in options and "test_from" not in options and options.get("test_share"):
        raise UsageError(
                "--test-share cannot be combined with --validate-from alone (got both). Add --test-from.")  # fmt: skip


@dataclass(frozen=True)
class Split:
    """A rule that divides games into training, validation and test games.

    Without dates, the hash of a game decides. validate_share and test_share are then percentages of the games.

    test_from: a date; games from this day on are test games. If only test_from is given, the validation games are
        sampled by hash from the earlier games.
    validate_from: a date; games from this day on, and before test_from, are validation games. If only validate_from is
        given, there are no test games. Games without a date count as earlier than all dates.
    newest: how many games, the last by date, are test games; 0 if test games are not selected in this way. Games of the
        same day are ordered as in the store. If `together` is true, near-duplicates of older games are not test games,
        so there may be fewer test games. The validation games are sampled by hash from the games that are not test
        games.
    together: whether near-duplicates are always in the same part of the split. Near-duplicates are games with the same
        start position and the same first 40 moves. The first of these games in the store decides for all of them or, if
        dates decide, the earliest. The value is False in splits that earlier versions of kibitz made.
    """

    validate_share: float = 5.0
    test_share: float = 5.0
    validate_from: datetime.date | None = None
    test_from: datetime.date | None = None
    together: bool = True
    newest: int = 0

    def check(self) -> None:
        """Raise UsageError if a value is invalid, if the shares leave no training games, or if values contradict each
        other.
        """
        shares = self.validate_share, self.test_share
        if not (all(share >= 0 for share in shares) and sum(shares) < 100):  # this form of the test also rejects NaN
            raise UsageError(
                f"--validate-share and --test-share must be percentages with a sum of less than 100 (got {shares[0]:g}"
                f" and {shares[1]:g})"
            )
        if self.newest < 0 or (self.newest and (self.test_from or self.validate_from)):
            raise UsageError(f"newest must be a number of games and cannot be combined with dates (got {self.newest})")
        if self.validate_from and self.test_from and self.test_from <= self.validate_from:
            raise UsageError(
                f"--test-from must be after --validate-from (got {self.test_from} and {self.validate_from}). Choose a"
                " later day for --test-from."
            )

    def changed(self, options: dict[str, Any]) -> Split:
        """Return a split with some values replaced. options: a dict from names of fields to their new values. If
        `options` has shares but neither dates nor `newest`, the result divides games by hash.
        """
        by_day = {"validate_from", "test_from", "newest"}
        if options.keys() & {"validate_share", "test_share"} and not options.keys() & by_day:
            options = {"validate_from": None, "test_from": None, "newest": 0, **options}
        return replace(self, **options)

    def assign(
        self, hashes: NDArray[np.uint64], dates: NDArray[np.datetime64], openings: NDArray[np.uint64] | None = None
    ) -> NDArray[np.uint8]:
        """Return the part of the split to which each game belongs, uint8 [n]: 0 training, 1 validation, 2 test.

        hashes: uint64 [n], the hashes of the games. dates: datetime64[D] [n], NaT if unknown. openings: uint64 [n],
        hashes of the first moves, which are equal for near-duplicates (see `Split.together`); None if unknown.
        """
        if self.together and openings is not None:
            hashes, dates = _as_one(hashes, dates, openings)
        fraction = (hashes >> np.uint64(11)) % np.uint64(_PARTS)
        side = np.zeros(len(hashes), np.uint8)
        validate, test = (round(share / 100 * _PARTS) for share in (self.validate_share, self.test_share))
        if self.validate_from is None:
            side[fraction < validate] = VALIDATE
        else:
            side[dates >= np.datetime64(self.validate_from)] = VALIDATE
        if self.newest:
            days = dates.astype(np.int64)  # an unknown date is the smallest number
            newest = np.zeros(len(side), np.bool_)
            newest[np.argsort(days, kind="stable")[-self.newest :]] = True
            # A game that begins like an older game is not an independent test, so it stays in the split of the older
            # game.
            if self.together and openings is not None:
                _, group = np.unique(openings, return_inverse=True)
                newest &= (np.bincount(group, ~newest) == 0)[group]
            side[newest] = TEST
        elif self.test_from is not None:
            side[dates >= np.datetime64(self.test_from)] = TEST
        elif self.validate_from is None:
            side[(fraction >= validate) & (fraction < validate + test)] = TEST
        return side

    def describe(self) -> str:
        """Return the rule of the split as a text for users, such as "by game hash: 5% validation, 5% test"."""
        if self.newest:
            rest = f"{self.validate_share:g}% of the others"
            return f"by date: test has the newest {self.newest} games, and validation {rest}"
        if self.validate_from is None and self.test_from is None:
            return f"by game hash: {self.validate_share:g}% validation, {self.test_share:g}% test"
        validate = f"from {self.validate_from}" if self.validate_from else f"{self.validate_share:g}% by hash"
        return f"by date: validation {validate}, test {f'from {self.test_from}' if self.test_from else 'none'}"

    def as_json(self) -> dict[str, Any]:
        """Return the values for JSON, in the form in which stores and runs (trained models) save them. `newest` is
        omitted if it is 0, because earlier versions don't know this key.
        """
        return {
            key: str(value) if isinstance(value, datetime.date) else value
            for key, value in asdict(self).items()
            if key != "newest" or value
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Split:
        """Return the split that `as_json` has converted to JSON values. Raises ValueError, KeyError, TypeError or
        AttributeError for other values.
        """
        days = {key: datetime.date.fromisoformat(data[key]) for key in ("validate_from", "test_from") if data.get(key)}
        split = cls(**{"together": False, **data, "validate_from": None, "test_from": None, **days})
        if not (0 <= split.validate_share <= 100 and 0 <= split.test_share <= 100 and 0 <= split.newest < 2**63):
            raise ValueError("the shares must be percentages from 0 to 100, and newest must be a number of games")
        return split


def _as_one(
    hashes: NDArray[np.uint64], dates: NDArray[np.datetime64], openings: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.datetime64]]:
    """Return hashes and dates that are equal for all games with the same opening: the hash of the first of these games,
    and the earliest date.
    """
    _, first, group = np.unique(openings, return_index=True, return_inverse=True)
    if len(first) == len(openings):
        return hashes, dates
    days = dates.astype(np.int64)  # an unknown date is the smallest number: it counts as early
    earliest = np.full(len(first), np.iinfo(np.int64).max)
    np.minimum.at(earliest, group, days)
    return hashes[first][group], earliest[group].astype(dates.dtype)
