"""Names of games: equal for equal games however they come, different for different ones; and the set of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz.games.hashing import HashSet, hash_games, hash_names
from support.examples import share

STANDARD = np.arange(68, dtype=np.uint8)


def names(games: list[tuple[list[int], int]], starts: np.ndarray | None = None) -> list[int]:  # type: ignore[type-arg]
    moves = np.array([move for game, _ in games for move in game], np.uint16)
    plies = np.array([len(game) for game, _ in games], np.int32)
    results = np.array([result for _, result in games], np.int8)
    return hash_games(moves, plies, starts, results, STANDARD).tolist()  # type: ignore[no-any-return]


@given(st.lists(st.tuples(st.lists(st.integers(4, 2**15), max_size=6), st.sampled_from([-1, 0, 1])), max_size=30))
def test_equal_exactly_for_equal_games(games: list[tuple[list[int], int]]) -> None:
    """Against a slow twin: games as keys. (64 bits: chance will not make two alike here.)

    Codes 0 to 3 are left out: as a first move they cancel the result, which is mixed in before them. In chess they lead
    from the first rank's corner to itself or its neighbours, in Go no game begins there."""
    keys = [(tuple(moves), result) for moves, result in games]
    found = names(games)
    assert len(set(found)) == len(set(keys))
    assert len(set(zip(keys, found, strict=True))) == len(set(keys))
    assert 0 not in found


def test_a_name_does_not_hang_on_its_neighbours() -> None:
    game = ([1, 2, 3], 1)
    assert names([game])[0] == names([([9], 0), game, ([], -1)])[1]


def test_players_count_only_in_games_of_less_than_60_moves() -> None:
    hashes, plies = np.array([7, 7], np.uint64), np.array([59, 60], np.int32)
    short, long = (hash_names(hashes, plies, np.array([name, name], np.uint64)).tolist() for name in (1, 2))
    assert short[0] != long[0]
    assert short[1] == long[1] == 7


def test_moves_do_not_flow_from_game_to_game() -> None:
    assert names([([1], 1), ([2, 3], 1)]) != names([([1, 2], 1), ([3], 1)])


def test_starts_count_but_not_how_the_standard_one_was_said() -> None:
    """A game in a batch with set-up positions has the same name as in one without."""
    game = ([1, 2], 1)
    other = STANDARD.copy()
    other[0] += 1
    plain = names([game, game])
    mixed = names([game, game], np.stack([STANDARD, other]))
    assert plain[0] == plain[1] == mixed[0] != mixed[1]


@settings(max_examples=share(0.5))
@given(st.lists(st.lists(st.integers(1, 200).map(lambda n: n << 40), max_size=300), max_size=10))
def test_the_set_is_a_set(batches: list[list[int]]) -> None:
    """Against Python's; the hashes here all fall on the same place of the table."""
    ours, theirs = HashSet(), set[int]()
    for batch in batches:
        expected = []
        for value in batch:
            expected.append(value not in theirs)
            theirs.add(value)
        assert ours.add(np.array(batch, np.uint64)).tolist() == expected
        assert len(ours) == len(theirs)


def test_the_set_grows() -> None:
    ours = HashSet()
    values = np.random.default_rng(0).integers(1, 2**63, 100_000).astype(np.uint64)
    for part in np.split(values, 10):
        ours.add(part)
    assert len(ours) == len(np.unique(values))
    assert not ours.add(values).any()


def test_the_set_takes_few_bytes_for_each() -> None:
    ours = HashSet()
    values = np.unique(np.random.default_rng(1).integers(1, 2**63, 60_000).astype(np.uint64))
    for part in np.array_split(values, 40):
        ours.add(part)
        if len(ours) > 5000:
            assert 13 < ours._slots.nbytes / len(ours) < 27
