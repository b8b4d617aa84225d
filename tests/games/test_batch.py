"""Batches and the account of what was left out."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa

from kibitz.games.batch import EXAMPLES, GameBatch, Rejections


def test_taking_some_games() -> None:
    batch = GameBatch(
        np.array([1, 2, 3, 4, 5, 6], np.uint16), np.array([2, 0, 3, 1], np.int32),
        np.arange(4, dtype=np.uint8)[:, None],
        pa.table({"name": ["a", "b", "c", "d"]}), Rejections(), 9, {"clock": np.array([10, 20, 30, 40, 50, 60])},
    )  # fmt: skip
    taken = batch.take(np.array([False, True, True, False]))
    assert taken.moves.tolist() == [3, 4, 5]
    assert taken.plies.tolist() == [0, 3]
    assert taken.starts is not None
    assert taken.starts.tolist() == [[1], [2]]
    assert taken.table["name"].to_pylist() == ["b", "c"]
    assert taken.per_move["clock"].tolist() == [30, 40, 50]
    assert (len(taken), taken.read) == (2, 9)
    assert batch.take(np.ones(4, np.bool_)) is batch


def test_accounts_add_up_and_come_back() -> None:
    one, two = Rejections(), Rejections()
    for game in range(3):
        one.add("drawn", "a.pgn", game, {"White": "A", "Round": "1"})
        two.add("drawn", "b.pgn", game, {})
    two.add("variant", "b.pgn", 9, {}, "Atomic")
    one.merge(two)
    assert one.counts == {"drawn": 6, "variant": 1}
    assert [example["file"] for example in one.examples["drawn"]] == ["a.pgn"] * 3 + ["b.pgn"] * (EXAMPLES - 3)
    assert one.examples["drawn"][0]["headers"] == {"White": "A"}
    again = Rejections.from_json(one.as_json())
    assert again.as_json() == one.as_json()
    again.add("drawn", "c.pgn", 1, {})  # does not reach into the account it came from
    assert one.counts["drawn"] == 6


def test_a_rejected_row_without_a_date_has_no_date() -> None:
    account = Rejections()
    row: dict[str, object] = {"white": "A", "black": None, "date": None, "source": "a.pgn", "number": 2}
    account.add_row("duplicate", row)
    account.add_row("duplicate", {**row, "date": datetime.date(2020, 1, 2)})
    undated, dated = (example["headers"] for example in account.as_json()["duplicate"]["first"])
    assert undated == {"White": "A", "Black": "?"}
    assert dated == {**undated, "Date": "2020-01-02"}


def test_only_the_first_games_with_a_reason_are_examples() -> None:
    one, many = Rejections(), Rejections()
    for game in range(EXAMPLES + 3):
        one.add("drawn", "a.pgn", game, {"White": f"player {game}"})
    reasons = ["drawn", "variant"] * (EXAMPLES + 3)
    many.add_many(reasons, "a.pgn", lambda at: (at // 2, {"White": f"player {at // 2}"}, ""))
    assert one.counts == {"drawn": EXAMPLES + 3}
    assert many.counts == {"drawn": EXAMPLES + 3, "variant": EXAMPLES + 3}
    for examples in (one.examples["drawn"], many.examples["drawn"], many.examples["variant"]):
        assert [example["game"] for example in examples] == list(range(EXAMPLES))


def test_long_headers_and_details_are_cut() -> None:
    account = Rejections()
    account.add("illegal move", "a.pgn", 7, {"White": "A" * 500, "Result": "*"}, "x" * 500)
    assert account.as_json()["illegal move"]["first"] == [
        {"file": "a.pgn", "game": 7, "headers": {"White": "A" * 80}, "detail": "x" * 200}
    ]
