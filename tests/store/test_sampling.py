"""Drawn positions: which may be drawn, that all have the same chance, and what the draw depends on."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kibitz.store.sampling import Sample, sample_positions, splitmix64, whole_times
from kibitz.store.store import Store
from support.helpers import import_games


def made_up(lengths: list[int], seed: int = 0) -> Store:
    """What `sample_positions` asks of a store, for games of so many moves."""
    hashes = np.random.default_rng(seed).integers(0, 2**63, len(lengths), np.int64).astype(np.uint64)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return cast(
        Store, SimpleNamespace(offsets=offsets, plies=np.diff(offsets), column=lambda name: {"hash": hashes}[name])
    )


def pairs(sample: Sample) -> list[tuple[int, int]]:
    return list(zip(sample.games.tolist(), sample.plies.tolist(), strict=True))


def allowed(store: Store, games: list[int], first: int, without: NDArray[np.bool_] | None) -> list[tuple[int, int]]:
    """All (game, ply) that qualify, slowly."""
    found = []
    for game in games:
        for ply in range(first, int(store.plies[game]) + 1):
            if without is None or ply == 0 or not without[store.offsets[game] + ply - 1]:
                found.append((game, ply))
    return found


@given(
    data=st.data(), lengths=st.lists(st.integers(0, 25), max_size=12), first=st.integers(0, 12), each=st.integers(0, 8)
)
def test_what_is_drawn(data: st.DataObject, lengths: list[int], first: int, each: int) -> None:
    """Every draw is of qualifying plies, without repetition, as many as are asked for or as there are, in order."""
    store = made_up(lengths, data.draw(st.integers(0, 100)))
    games = data.draw(st.permutations(range(len(lengths)))) if lengths else []
    marks = data.draw(st.lists(st.booleans(), min_size=sum(lengths), max_size=sum(lengths)))
    without = data.draw(st.sampled_from([None, np.array(marks, np.bool_)]))
    share = data.draw(st.sampled_from([0.0, 10.0, 50.0]))
    may = allowed(store, games, first, without)

    def drawn(each: int, held_out: bool) -> list[tuple[int, int]]:
        numbers = np.array(games, np.int64)
        return pairs(
            sample_positions(store, numbers, each, first=first, exclude=without, share=share, held_out=held_out)
        )

    trained, kept = drawn(0, False), drawn(0, True)
    assert sorted(trained + kept) == sorted(may)  # disjoint and complete
    if share == 0:
        assert (trained, kept) == (may, [])
    for whole, held_out in ((trained, False), (kept, True)):
        some = drawn(each, held_out)
        assert len(set(some)) == len(some)
        assert set(some) <= set(whole)
        assert [pair for pair in whole if pair in set(some)] == some
        for game in games:
            of_game = sum(1 for pair in whole if pair[0] == game)
            assert sum(1 for pair in some if pair[0] == game) == (min(each, of_game) if each else of_game)


def test_never_in_the_opening_and_never_after_a_capture(bundled_store: Store) -> None:
    taken = bundled_store.captures()
    games = np.arange(len(bundled_store))
    sample = sample_positions(bundled_store, games, 10, first=10, exclude=taken)
    assert sample.plies.min() == 10
    assert (sample.plies <= bundled_store.plies[sample.games]).all()
    assert not taken[bundled_store.offsets[sample.games] + sample.plies - 1].any()
    counts = np.bincount(sample.games, minlength=len(games))
    assert counts.max() == 10
    assert (counts[bundled_store.plies > 100] == 10).all()
    assert (sample.plies == bundled_store.plies[sample.games]).any()  # the last position may be drawn too


def test_every_position_has_the_same_chance() -> None:
    """The ranks of the drawn plies among a game's 50, one drawn and ten; chi square with 49 degrees of freedom."""
    store = made_up([49] * 4000)
    for each in (1, 10):
        counts = np.bincount(sample_positions(store, np.arange(4000), each).plies, minlength=50)
        expected = 4000 * each / 50
        assert ((counts - expected) ** 2 / expected).sum() < 85  # one in a thousand


def test_every_set_of_positions_has_the_same_chance() -> None:
    store = made_up([3] * 6000)
    plies = sample_positions(store, np.arange(6000), 2).plies.reshape(-1, 2)
    counts = np.unique(plies[:, 0] * 4 + plies[:, 1], return_counts=True)[1]
    assert len(counts) == 6
    assert ((counts - 1000) ** 2 / 1000).sum() < 20.5


@pytest.mark.parametrize("share", [10.0, 33.3])
def test_the_share_held_out(share: float) -> None:
    store, games = made_up([99] * 1000), np.arange(1000)
    kept = sample_positions(store, games, 0, share=share, held_out=True)
    assert len(kept) / 100_000 == pytest.approx(share / 100, abs=0.005)
    by_ply = np.bincount(kept.plies, minlength=100)
    expected = 10 * share
    assert ((by_ply - expected) ** 2 / (expected * (1 - share / 100))).sum() < 150  # any ply, opening or end


def test_the_smallest_share_held_out() -> None:
    """One in ten thousand, of 100,000."""
    kept = sample_positions(made_up([99] * 1000), np.arange(1000), 0, share=0.01, held_out=True)
    assert 1 <= len(kept) <= 30


def test_the_draw_of_a_game_is_its_own(small_store: Store, tmp_path: Path) -> None:
    """The same in another store, beside other games, and in another order."""
    few = import_games(tmp_path / "few.store", limit=60)
    common = {int(h): game for game, h in enumerate(small_store.column("hash"))}
    there = np.array([common[int(h)] for h in few.column("hash")])
    options: dict[str, Any] = {"first": 10, "share": 10.0}
    here = sample_positions(few, np.arange(len(few)), 10, exclude=few.captures(), **options)
    order = np.random.default_rng(1).permutation(len(there))
    far = sample_positions(small_store, there[order], 10, exclude=small_store.captures(), **options)
    back = {int(game): number for number, game in enumerate(there)}
    assert sorted(pairs(here)) == sorted((back[game], ply) for game, ply in pairs(far))
    assert far.games.tolist() == [g for g in there[order] for _ in range(np.count_nonzero(far.games == g))]


def test_seeds_differ_and_repeat() -> None:
    store, games = made_up([79] * 100), np.arange(100)
    one, again, other = (pairs(sample_positions(store, games, 10, seed=seed)) for seed in (0, 0, 1))
    assert one == again
    assert len(set(one) & set(other)) < 250  # 125 by chance
    kept, others = (
        set(pairs(sample_positions(store, games, 0, share=10, held_out=True, seed=seed))) for seed in (0, 1)
    )
    assert len(kept & others) < len(kept) / 5


def test_no_games() -> None:
    assert len(sample_positions(made_up([]), np.zeros(0, np.int64), 10)) == 0
    assert len(sample_positions(made_up([5, 5]), np.arange(2), 10, first=6)) == 0


def test_mixed_words_are_even_and_repeat() -> None:
    words = splitmix64(np.arange(100_000, dtype=np.uint64))
    assert words.dtype == np.uint64
    assert len(np.unique(words)) == 100_000
    np.testing.assert_array_equal(splitmix64(np.arange(50, dtype=np.uint64)), words[:50])
    bits = (words[:, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)).mean(0)
    assert np.abs(bits - 0.5).max() < 0.008
    follows = ((words[1:] ^ words[:-1])[:, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)).mean(0)
    assert np.abs(follows - 0.5).max() < 0.008


def test_the_words_are_those_of_splitmix64() -> None:
    """The generator's published first words after the seed 0: what was drawn once is drawn by every version."""
    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC]
    assert splitmix64(np.arange(4, dtype=np.uint64)).tolist() == published


def test_whole_times_are_right_on_average() -> None:
    hashes = splitmix64(np.arange(20_000, dtype=np.uint64))
    times = np.repeat([0.0, 0.25, 1.0, 2.9], 5000)
    whole = whole_times(times, hashes)
    assert (np.abs(whole - times) < 1).all()
    np.testing.assert_allclose(whole.reshape(4, -1).mean(1), [0.0, 0.25, 1.0, 2.9], atol=0.025)
    np.testing.assert_array_equal(whole_times(times, hashes), whole)


GOLDEN, WORD = 0x9E3779B97F4A7C15, 2**64


def mixed(word: int) -> int:
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB % WORD
    return word ^ word >> 31


def drawn_slowly(store: Store, each: int, first: int, share: float, held_out: bool, seed: int) -> list[tuple[int, int]]:
    """With the numbers of Python, which do not overflow."""
    found = []
    for game, word in enumerate(store.column("hash").tolist()):
        word = key = mixed((word + (seed + 1) * GOLDEN) % WORD)
        plies = [
            ply for ply in range(first, int(store.plies[game]) + 1)
            if (share > 0 and mixed(key ^ ply * GOLDEN % WORD) % 10_000 < round(share * 100)) == held_out
        ]  # fmt: skip
        needed = min(each, len(plies)) if each else len(plies)
        for i, ply in enumerate(plies):
            word = mixed((word + GOLDEN) % WORD)
            if word % (len(plies) - i) < needed:
                found.append((game, ply))
                needed -= 1
    return found


@pytest.mark.parametrize(
    ("each", "first", "share", "held_out"), [(3, 2, 0.0, False), (5, 0, 12.5, False), (0, 1, 40, True)]
)
def test_a_draw_stays_as_it_was(each: int, first: int, share: float, held_out: bool) -> None:
    """Against a slow loop: a run that goes on, or a test that is made again, has the positions of the first time."""
    store = made_up([0, 1, 7, 40, 25, 60] * 5, seed=4)
    found = sample_positions(store, np.arange(30), each, first=first, share=share, held_out=held_out, seed=3)
    assert pairs(found) == drawn_slowly(store, each, first, share, held_out, 3)
