"""What a move changed: chains and regions by hand, and against a slow search for connected points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz.analysis.go.changes import Change, changes, neighbours, regions, where, words
from kibitz.games.go.points import BLACK, GRID, POINTS, WHITE, from_gtp, to_gtp
from kibitz.games.go.replay import start_row
from support.causes import each_mentions, mentions
from support.go_fakes import owners


def board(black: str = "", white: str = "") -> np.ndarray:
    """The colours of a board of 9 × 9 with stones at these vertices."""
    points = [tuple(from_gtp(vertex, 9) for vertex in stones.split()) for stones in (black, white)]
    return start_row(9, *points)[:POINTS]


def painted(base: float, **at: float) -> np.ndarray:
    """Black's probabilities on 9 × 9: the same everywhere but at some vertices."""
    found = owners(*["0" * 9] * 9)
    inside = found != 0.5
    found[inside] = base
    for vertex, value in at.items():
        found[from_gtp(vertex, 9)] = value
    return found


def test_a_chain_changes_owner_as_a_whole() -> None:
    colours = board(black="C7 D7 D6", white="E7")
    before = painted(0.6, C7=0.9, D7=0.9, D6=0.9, E7=0.1)
    after = painted(0.6, C7=0.1, D7=0.1, D6=0.55, E7=0.1)  # D6's own word does not count
    (change,) = changes(colours, before, after)
    assert {to_gtp(point, 9) for point in change.points} == {"C7", "D7", "D6"}
    assert (change.stones, change.owner) == (BLACK, WHITE)
    assert change.worth == pytest.approx(2 * (0.8 + 0.8 + 0.35))
    assert mentions(change.words(9), "black & D7 & 3 & White's & stones")


def test_regions_of_empty_points() -> None:
    at = {"A9": 0.9, "B9": 0.8, "A8": 0.9, "J1": 0.2}
    before = painted(0.7, A9=0.1, B9=0.2, A8=0.1, J1=0.8)
    found = changes(board(), before, painted(0.7, **at))
    assert each_mentions([change.words(9) for change in found], "3 & A9 & Black", "J1 & White")
    assert [change.owner for change in found] == [BLACK, WHITE]
    assert found[0].as_json(9) == {
        "kind": "points", "colour": None, "at": "A9", "points": ["A9", "B9", "A8"], "owner": "black", "worth": 4.4,
    }  # fmt: skip


def test_a_little_more_than_even_is_no_change() -> None:
    assert changes(board(black="E5"), painted(0.49), painted(0.51)) == []
    assert changes(board(black="E5"), painted(0.49), painted(0.49 + 0.2)) == []
    assert len(changes(board(black="E5"), painted(0.4), painted(0.7))) == 2


def test_a_captured_stone_is_told_as_a_stone() -> None:
    (change,) = changes(board(white="E5"), painted(0.9, E5=0.2), painted(0.9))
    assert mentions(change.words(9), "white & E5 & Black's & stone")


@given(st.integers(0, 2**81 - 1), st.integers(0, 2**81 - 1))
def test_regions_are_what_is_connected(some: int, kinds: int) -> None:
    grid = [row * GRID + column for row in range(9) for column in range(9)]
    points = [point for i, point in enumerate(grid) if some >> i & 1]
    kind = np.zeros(POINTS, bool)
    kind[[point for i, point in enumerate(grid) if kinds >> i & 1]] = True
    label = {point: point for point in points}
    for _ in points:  # slowly: the smallest number spreads
        spread = {
            p: min([label[p], *(label[n] for n in neighbours(p) if n in label and kind[n] == kind[p])]) for p in points
        }
        if spread == label:
            break
        label = spread
    expected = {name: [p for p in points if label[p] == name] for name in set(label.values())}
    assert {region[0]: region for region in regions(points, kind)} == expected


@pytest.mark.parametrize(
    ("vertex", "name"),
    [
        ("B8", "the upper left"), ("E9", "the upper side"), ("J7", "the upper right"), ("A5", "the left side"),
        ("E5", "the centre"), ("J5", "the right side"), ("A1", "the lower left"), ("E2", "the lower side"),
        ("G3", "the lower right"),
    ],
)  # fmt: skip
def test_parts_of_the_board(vertex: str, name: str) -> None:
    place, moved = where(painted(0.6), painted(0.6, **{vertex: 0.1}), 9)
    assert (place, moved) == (name, pytest.approx(-1.0))


def test_words() -> None:
    gain, loss = Change(0, 0, (0,), BLACK, 1.0), Change(BLACK, 1, (1, 2), WHITE, 0.5)
    assert mentions(words([loss], ("the centre", 2.0), 9), "centre")
    assert mentions(words([], ("the left side", -2.0), 9), "side")
    assert mentions(words([gain, loss, gain], ("the centre", 2.0), 9), "A9 & Black's")
    assert mentions(words([gain] * 5, ("the centre", 2.0), 9), "A9 & Black's & 2")
    assert mentions(words([gain, loss], ("the centre", -2.0), 9), "black & B9 & 2 & White's & stones")
    assert mentions(Change(BLACK, 1, (1, 2), BLACK, 0.5).words(9), "black & B9 & 2 & stones")
    assert mentions(Change(WHITE, 1, (1,), WHITE, 0.5).words(9), "white & B9 & stone")
