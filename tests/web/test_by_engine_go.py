"""The verdict on a move of Go that the checking engine chose itself."""

from __future__ import annotations

import threading
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kibitz.analysis import load_owners
from kibitz.analysis.checkers import CheckedBy
from kibitz.analysis.go.engine_judge import EnginePosition
from kibitz.analysis.go.games import AnalysedGame, analyse
from kibitz.games.go.io.sgf import Record
from kibitz.games.go.points import PASS, from_gtp
from kibitz.play.session import Session
from kibitz.web.go import checking
from kibitz.web.go.by_engine import EngineValues, candidates
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

    checked_by = CheckedBy("fake")

    def judge(self, record: Record) -> list[EnginePosition]:
        return [self.position(record, ply) for ply in range(len(record.moves) + 1)]

    def second(self, record: Record, ply: int, best: int) -> EnginePosition | None:
        assert (ply, best) == (0, CHOSEN)
        return EnginePosition(4, 0.58, (SECOND,), None) if self.excludes else None


LINE = {"game": "go", "size": 9, "komi": 7.5, "rules": "chinese", "moves": ["E5"]}


@pytest.fixture(scope="module")
def session() -> Session:
    return Session("gohuman")


def analysed(engine: Engine, session: Session) -> AnalysedGame:
    """The same line, as `kibitz analyze` judges it."""
    record = Record(9, moves=[CHOSEN], komi=7.5, rules="chinese")
    return analyse(1, record, session, load_owners(session.system), engine=cast(Any, engine))


@pytest.mark.parametrize(
    ("after", "instead", "excludes", "points"),
    [(-10, 4, True, 14), (-10, 9, True, 15), (-10, -10, True, 0), (4, 9, True, 0), (-10, 4, False, 0)],
)
def test_the_engines_own_choice_loses_what_its_second_choice_keeps(
    session: Session, after: float, instead: float, excludes: bool, points: float
) -> None:
    engine = Engine(after, instead, excludes)
    found = EngineValues(cast(Any, engine), cast(Any, None), read_line(LINE)).judgment(1)
    assert found["points"] == points
    assert bool(found["mark"]) == bool(points)
    assert found["best"]["move"] == ("C3" if points else "E5")
    assert found["line"] == (["C3", "G7"] if points else ["E5", "G7"])
    (move,) = analysed(engine, session).moves
    assert move.change == -points
    assert bool(move.mark) == bool(points)
    assert move.as_json()["line"] == found["line"]


class WithoutChances(Engine):
    """It gives only leads, as GNU Go does."""

    def position(self, record: Record, ply: int) -> EnginePosition:
        return replace(super().position(record, ply), black_wins=None)


@pytest.mark.parametrize("after", [-10.0, 4.0])
def test_a_win_probability_made_of_a_lead_is_the_same_in_the_analysis(session: Session, after: float) -> None:
    engine = WithoutChances(after, 4, True)
    values = EngineValues(cast(Any, engine), session, read_line(LINE))
    chances = [one.prediction.black_wins for one in analysed(engine, session).positions if one.prediction]
    assert chances == [values.at(ply).black for ply in (0, 1)]
    assert (chances[0] > chances[1]) == (after < 5)


@pytest.mark.parametrize(("searches", "instead", "shown"), [(False, 9, None), (False, -2, -2), (True, 9, 9)])
def test_no_estimate_contradicts_the_engines_choice(searches: bool, instead: float, shown: float | None) -> None:
    engine: Any = Engine(4, instead, False)
    engine.searches = searches
    line = read_line({**LINE, "moves": []})
    found = candidates(engine, cast(Any, None), line, ["C3"], lambda found: None, threading.Event())["lines"]
    assert [(each["moves"][0], each["score"]) for each in found] == [("E5", 4), ("C3", shown)]
    assert (found[1]["black"] is None) == (shown is None)


def test_passes_that_end_the_game_lose_nothing(session: Session) -> None:
    """The engine gives Black 100 points, and the final count 73.5: the closing pass did not lose the difference."""
    engine = Engine(100, 4, False)
    over = EngineValues(cast(Any, engine), session, read_line({**LINE, "moves": ["E5", "pass", "pass"]}))
    assert [over.at(ply).lead for ply in (2, 3)] == [100, 73.5]
    assert [over.judgment(ply)["points"] for ply in (2, 3)] == [0, 0]
    going_on = EngineValues(cast(Any, engine), session, read_line({**LINE, "moves": ["pass", "E5"]}))
    assert going_on.judgment(1)["points"] == 1, "a pass alone is a move like any other"


def test_passes_that_end_the_game_lose_nothing_by_search_either(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search gives Black, who passes, 100 points, and the final count gives 73.5."""
    best = SimpleNamespace(point=PASS, winrate=0.9, lead=100.0, pv=(PASS,))
    monkeypatch.setattr(checking, "_looked", lambda *position: SimpleNamespace(sign=1, moves=(best,)))
    networks: Any = SimpleNamespace(session=lambda name: session)
    line = read_line({**LINE, "moves": ["E5", "pass", "pass"]})
    found = checking.check(networks, cast(Any, SimpleNamespace(name="gohuman")), line, threading.Event())
    assert (found["loss"], found["points"], found["mark"], found["line"]) == (0, 0, "", ["pass"])
    assert (found["before"], found["after"]) == (0.9, 1.0)


def test_two_passes_before_the_end_are_not_scored(session: Session) -> None:
    """Moves follow the passes, so the engine's values count; at the end, the same passes are scored."""
    engine = Engine(2, 4, False)
    moves = ["E5", "pass", "pass"]
    ended = EngineValues(cast(Any, engine), session, read_line({**LINE, "moves": moves}))
    went_on = EngineValues(cast(Any, engine), session, read_line({**LINE, "moves": [*moves, "G7"]}))
    assert ended.at(3).lead == 73.5
    assert [went_on.at(ply).lead for ply in (2, 3, 4)] == [2, 2, 2]
