"""The verdict on a move of Go that the checking engine chose itself."""

from __future__ import annotations

from typing import Any, cast

import pytest

from kibitz.analysis.go.engine_judge import EnginePosition
from kibitz.games.go.io.sgf import Record
from kibitz.games.go.points import from_gtp
from kibitz.web.go.by_engine import EngineValues
from kibitz.web.go.line import read_line

CHOSEN, SECOND, REPLY = (from_gtp(name, 9) for name in ("E5", "C3", "G7"))


class Engine:
    """It expects a lead of 5 points with E5. After E5 the lead is `after`, after C3 it is `instead`."""

    def __init__(self, after: float, instead: float, excludes: bool):
        self.after, self.instead, self.excludes = after, instead, excludes

    def position(self, record: Record, ply: int) -> EnginePosition:
        if ply == 0:
            return EnginePosition(5, 0.6, (CHOSEN, REPLY), None)
        lead = self.after if record.moves[0] == CHOSEN else self.instead
        return EnginePosition(lead, 0.5 + lead / 50, (REPLY,), None)

    def second(self, record: Record, ply: int, best: int) -> EnginePosition | None:
        assert (ply, best) == (0, CHOSEN)
        return EnginePosition(4, 0.58, (SECOND,), None) if self.excludes else None


@pytest.mark.parametrize(
    ("after", "instead", "excludes", "points"),
    [(-10, 4, True, 14), (-10, 9, True, 15), (-10, -10, True, 0), (4, 9, True, 0), (-10, 4, False, 0)],
)
def test_the_engines_own_choice_loses_what_its_second_choice_keeps(
    after: float, instead: float, excludes: bool, points: float
) -> None:
    line = read_line({"game": "go", "size": 9, "komi": 7.5, "rules": "chinese", "moves": ["E5"]})
    found = EngineValues(cast(Any, Engine(after, instead, excludes)), cast(Any, None), line).judgment(1)
    assert found["points"] == points
    assert bool(found["mark"]) == bool(points)
    assert found["best"]["move"] == ("C3" if points else "E5")
    assert found["line"] == (["C3", "G7"] if points else ["E5", "G7"])
