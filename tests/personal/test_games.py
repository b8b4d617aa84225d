"""A person's games: whose move it is, their order in time, and what is usual in them."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess.pgn
import numpy as np
import pytest

from kibitz.games.chess.moves import to_move
from kibitz.personal.chess.kind import usual_game
from kibitz.personal.games import NEITHER, OwnPositions, add_games, in_time, sides_of, split_of
from kibitz.runs import write_json
from kibitz.store.split import TEST, TRAIN, VALIDATE, Split
from kibitz.store.store import Store
from support import person


def test_own_positions_are_those_in_which_the_person_moved(
    my_games: Path, make_store: Callable[..., Store], tmp_path: Path
) -> None:
    store = make_store(tmp_path / "s", my_games)
    sides = sides_of(store, person.SPELLINGS)
    own = OwnPositions(store, np.arange(len(store)), sides)
    games, plies = own.locate(np.arange(len(own)))
    expected = []
    text = io.StringIO(my_games.read_text(encoding="utf-8"))
    number = 0
    while record := chess.pgn.read_game(text):
        board = record.board()
        for move in record.mainline_moves():
            if record.headers["White" if board.turn else "Black"] in person.SPELLINGS:
                expected.append((number, board.ply(), move.uci()))
            board.push(move)
        number += 1
    moves = [to_move(int(move)).uci() for move in store.moves[store.offsets[games] + plies]]
    assert list(zip(games.tolist(), plies.tolist(), moves, strict=True)) == expected
    batch = own.batch(np.arange(len(own)))
    assert (batch.state[:, 0] == sides[batch.games]).all()
    assert len(OwnPositions(store, np.arange(len(store)), np.full(len(store), NEITHER, np.int8))) == 0


def test_records_from_new_to_old_are_turned(make_store: Callable[..., Store], tmp_path: Path) -> None:
    """Both files have two games a day; a server's order tells which of the two is the later."""
    text = person.games(40).replace("2020.01.", "2020.01.0").replace("[Date", "[Date")
    (tmp_path / "old.pgn").write_text(text)
    (tmp_path / "new.pgn").write_text(person.games(40, newest_first=True))
    for name, first in (("old", 0), ("new", 39)):
        store = make_store(tmp_path / f"{name}.store", tmp_path / f"{name}.pgn")
        order = in_time(store)
        days = store.column("date").astype("datetime64[D]")[order]
        assert (np.diff(days.astype(np.int64)) >= 0).all()
        assert name == "old" or order[0] == first


def test_the_newest_games_are_the_test(my_games: Path, make_store: Callable[..., Store], tmp_path: Path) -> None:
    store = make_store(tmp_path / "s", my_games)
    split = split_of(store)
    assert split == Split(10.0, 0.0, newest=6)
    assert Split.from_json(split.as_json()) == split
    of = store.sides(split)
    dates = store.column("date")
    assert (of == TEST).sum() == 6
    assert dates[of == TEST].min() > dates[of != TEST].max()
    assert {TRAIN, VALIDATE} <= set(of.tolist())
    assert "newest" not in Split().as_json(), "earlier versions read what this one writes"
    (tmp_path / "undated.pgn").write_text(person.games(30).replace("[Date ", "[Day "))
    assert split_of(make_store(tmp_path / "u", tmp_path / "undated.pgn")) == Split(10.0, 10.0)


@pytest.mark.parametrize(("games", "least", "most"), [(300, 18, 42), (5000, 35, 65), (50_000, 35, 65)])
def test_games_without_dates_have_no_more_test_games(games: int, least: int, most: int) -> None:
    hashes = np.random.default_rng(2).integers(2**63, size=games).astype(np.uint64)
    dates = np.full(games, np.datetime64("NaT"), "datetime64[D]")

    class Undated:
        def __len__(self) -> int:
            return games

        def column(self, name: str) -> Any:
            return dates

        def sides(self, split: Split) -> Any:
            return split.assign(hashes, dates)

    some: Any = Undated()
    split = split_of(some)
    assert least <= (some.sides(split) == TEST).sum() <= most


def test_what_is_usual(my_games: Path, make_store: Callable[..., Store], tmp_path: Path) -> None:
    store = make_store(tmp_path / "s", my_games)
    usual = usual_game(store, in_time(store), sides_of(store, person.SPELLINGS))
    assert (usual.rating, usual.opponent_rating) == (1475 // 16, 1475 // 16)
    assert (usual.speed, usual.scale) == (2, 2)  # blitz, lichess


def test_games_without_a_date_do_not_turn_the_order_of_a_day() -> None:
    """Two games without a day, then three of one day as they were played; and a server's, from new to old."""

    class Dates:
        def __init__(self, *days: str):
            self.days = np.array(days, "datetime64[D]")

        def column(self, name: str) -> np.ndarray:
            return self.days

    assert in_time(Dates("NaT", "NaT", "2020-05-01", "2020-05-01", "2020-05-01")).tolist() == [0, 1, 2, 3, 4]
    assert in_time(Dates("2020-05-02", "NaT", "2020-05-01", "2020-05-01")).tolist() == [1, 3, 2, 0]


def test_names_that_are_no_text(my_games: Path, make_store: Callable[..., Store], tmp_path: Path) -> None:
    """Bytes in a file's name that are no UTF-8 become question marks in the store and in run.json."""
    source, odd = make_store(tmp_path / "s", my_games), os.fsdecode(b"my\xff.pgn")
    into = add_games(source, np.arange(5), tmp_path / "into", [odd])
    assert len(into) == 5
    assert "my?.pgn" in (tmp_path / "into" / "store.json").read_text(encoding="utf-8")
    write_json(tmp_path / "run.json", {"command": f"kibitz personal {odd}", "name": "Muñoz"})
    text = (tmp_path / "run.json").read_text(encoding="utf-8")
    assert "my?.pgn" in text
    assert "Muñoz" in text
