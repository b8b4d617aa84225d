from __future__ import annotations

from kibitz.arena.openings import opening_of


def test_openings_come_in_pairs_in_the_order_of_the_seed() -> None:
    count = 150
    order = [opening_of(game, 3, count) for game in range(4 * count)]
    assert order[0::2] == order[1::2]
    assert sorted(order[0 : 2 * count : 2]) == list(range(count))
    assert sorted(order[2 * count :: 2]) == list(range(count))
    assert order != [opening_of(game, 4, count) for game in range(4 * count)]
