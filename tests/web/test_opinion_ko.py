"""The second opinion of a program that lists a move which takes back a ko."""

from __future__ import annotations

from kibitz.games.go.points import from_gtp
from kibitz.web.go.line import GoLine
from kibitz.web.go.opinion import GtpThinker


def test_a_move_that_takes_back_a_ko_is_no_candidate() -> None:
    moves = ["B9", "C9", "A8", "D8", "B7", "C7", "G5", "B8", "C8"]
    thinker = GtpThinker.__new__(GtpThinker)
    thinker._line = GoLine(9, 6.5, moves=tuple(from_gtp(name, 9) for name in moves))
    assert thinker._legal(["B8", "E5", "pass", "Z9"]) == ["E5", "pass"]
    thinker._line = GoLine(9, 6.5, moves=tuple(from_gtp(name, 9) for name in [*moves, "E5", "F5"]))
    assert thinker._legal(["B8", "G7"]) == ["B8", "G7"]
