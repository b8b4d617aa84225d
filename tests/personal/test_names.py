"""Names of players: spellings, nearest names, and who is in nearly all games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from kibitz.errors import UsageError
from kibitz.personal import names
from kibitz.store.store import Store
from support import person
from support.causes import naming


@pytest.mark.parametrize(
    ("one", "other"),
    [("Muñoz, Ana", "ana munoz"), ("ANA MUNOZ", "Munoz Ana"), ("x_y-1", "X_Y-1"), ("Ding, Liren", "Liren  Ding")],
)
def test_spellings_of_one_name(one: str, other: str) -> None:
    assert names.key(one) == names.key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("player1", "player2"),
        ("Ana", "Ana Munoz"),
        ("a_b", "b_a"),
        ("中村", "村中"),
        ("bob", "bob_"),
        ("_bob", "bob"),
        ("c++", "c"),
    ],
)
def test_other_names(one: str, other: str) -> None:
    assert names.key(one) != names.key(other)


def test_programs_are_told_by_their_names() -> None:
    assert all(map(names.looks_like_a_program, ("Stockfish 15", "lichess AI level 3", "somebot", "maia1")))
    assert not any(map(names.looks_like_a_program, ("Abbott", "Robotham, A", "Komodovich", "Ana")))


def test_the_person_in_nearly_all_games_is_found(
    my_games: Path, make_store: Callable[..., Store], tmp_path: Path
) -> None:
    store = make_store(tmp_path / "s", my_games)
    (found,) = names.find(store, (), "my.pgn")
    assert (found.name, set(found.spellings), found.games) == (person.PERSON, set(person.SPELLINGS), 60)
    assert names.find(store, ["MUNOZ ana"], "my.pgn") == [found]
    both = names.find(store, ["Ana Munoz", "opponent 3"], "my.pgn")
    assert [player.games for player in both] == [60, 1]


def test_nobody_of_that_name(my_games: Path, make_store: Callable[..., Store], tmp_path: Path) -> None:
    store = make_store(tmp_path / "s", my_games)
    with pytest.raises(UsageError, match=naming("--player & Muños & my.pgn & Muñoz & Ana & 60 & player")):
        names.find(store, ["Muños"], "my.pgn")
    with pytest.raises(UsageError, match=naming("Muñoz & Ana & 60 & Opponent & 1")):
        names.find(store, ["Zz"], "my.pgn")


def test_names_with_the_same_beginning_are_near() -> None:
    players = names.players_among(Counter({"Zoe": 9, "marlow_the_quiet": 3, "ben_b": 2}))
    with pytest.raises(UsageError, match=r"Similar names: marlow_the_quiet \(3\)$"):
        names.named(players, ["marlowxx"], "my.pgn")
    with pytest.raises(UsageError, match=naming("Zoe")):
        names.named(players, ["marx"], "my.pgn")


def test_two_people_in_all_games(make_store: Callable[..., Store], tmp_path: Path) -> None:
    (tmp_path / "two.pgn").write_text(person.games(4).replace("Opponent 0", "B").replace("Opponent 1", "B")
                                      .replace("Opponent 2", "B").replace("Opponent 3", "B"))  # fmt: skip
    with pytest.raises(UsageError, match=naming("--player & players")):
        names.find(make_store(tmp_path / "s", tmp_path / "two.pgn"), (), "two.pgn")


def test_a_game_against_oneself_counts_once(make_store: Callable[..., Store], tmp_path: Path) -> None:
    (tmp_path / "one.pgn").write_text(person.games(4).replace("Opponent 0", person.PERSON))
    players = names.players_of(make_store(tmp_path / "s", tmp_path / "one.pgn"))
    assert {player.name: player.games for player in players}[person.PERSON] == 4
