"""An outside engine that judges moves of Go: GNU Go's estimates, KataGo's analysis, and engines that fail."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from kibitz.analysis import load_owners
from kibitz.analysis.checkers import Checker, GameRejected, find_checker
from kibitz.analysis.go import engine_judge
from kibitz.analysis.go.engine_judge import GoEngineJudge
from kibitz.analysis.go.games import AnalysedGame, analyse
from kibitz.analysis.go.gtp_engine import read_owners
from kibitz.analysis.go.sgf import annotated
from kibitz.errors import UsageError
from kibitz.external import EngineDied
from kibitz.external.gtp import GtpProgram
from kibitz.games.go.io.sgf import Record, parse_record
from kibitz.games.go.points import BLACK, WHITE, from_gtp, to_gtp
from kibitz.play.session import Session
from support.helpers import program
from support.opinion_fakes import fake
from support.processes import is_gone

SHORT = "(;GM[1]SZ[9]KM[5.5];B[ee];W[ec];B[cc])"


@pytest.fixture(scope="module")
def session() -> Session:
    return Session("gohuman")


@pytest.fixture
def faulty(tmp_path: Path) -> Iterator[Callable[..., Checker]]:
    """A fake engine with a fault; at the end all of its processes have ended."""

    def make(fault: str, visits: int | None = 40) -> Checker:
        return find_checker(fake("gtp", fault, tmp_path), "go", "gohuman", None, visits)

    yield make
    for line in (tmp_path / "started").read_text().splitlines():
        assert all(is_gone(int(number)) for number in line.split())


def record(text: str) -> Record:
    return parse_record(text, cut=True)


def judged(session: Session, checker: Checker, text: str = SHORT) -> AnalysedGame:
    with GoEngineJudge(checker) as engine:
        return analyse(1, record(text), session, load_owners(session.system), engine=engine)


def test_katago_gives_lead_chance_and_line(session: Session, faulty: Callable[..., Checker]) -> None:
    """Each position has a lead of 3.25 points and 70% for the side to move: the fake's values."""
    game = judged(session, faulty("sound"))
    assert [one.score.lead for one in game.positions] == [3.25, -3.25, 3.25, -3.25]
    assert [round(one.prediction.black_wins, 4) for one in game.positions if one.prediction] == [0.7, 0.3, 0.7, 0.3]
    assert [move.change for move in game.moves] == [-6.5, -6.5, -6.5]
    assert [move.mark for move in game.moves] == ["?", "?", "?"]
    line = game.moves[0].as_json()["line"]
    assert line == ["D4", "F6"]
    plain = analyse(1, record(SHORT), session, load_owners(session.system), nodes=0)
    assert [move.as_json()["expected"] for move in game.moves] == [move.as_json()["expected"] for move in plain.moves]
    assert game.as_json()["checked_by"] == {"engine": "Fake Go 1", "nodes": 40, "depth": None}
    assert "checked_by" not in plain.as_json()
    assert "Fake Go 1, 40 visits" in annotated(game)
    assert "Checked by" not in annotated(plain)


def test_the_owners_are_the_engines() -> None:
    told = " ".join(["1"] * 40 + ["-0.5"] * 41)
    owns = read_owners(f"info move D4 visits 1 winrate 0.5 scoreLead 1 order 0 pv D4 ownership {told}", 9, BLACK)
    assert owns is not None
    assert owns[from_gtp("A9", 9)] == 1.0
    assert owns[from_gtp("J1", 9)] == 0.25
    white = read_owners(f"info move D4 ownership {told}", 9, WHITE)
    assert white is not None
    assert np.allclose(white.reshape(19, 19)[:9, :9], 1 - owns.reshape(19, 19)[:9, :9])
    assert read_owners("info move D4 ownership 1 1", 9, BLACK) is None
    assert read_owners("info move D4", 9, BLACK) is None


def test_kibitz_as_katago_gives_its_owners(session: Session) -> None:
    checker = find_checker(f"{sys.executable} -m kibitz gtp gohuman", "go", "gohuman", None, 2)
    game = judged(session, checker)
    plain = analyse(1, record(SHORT), session, load_owners(session.system), nodes=0)
    assert game.checked_by is not None
    assert game.checked_by.engine.startswith("kibitz")
    assert all(abs(one.score.lead) < 81 for one in game.positions)
    assert not np.allclose(game.positions[1].black_owns, plain.positions[1].black_owns)


def test_the_second_choice_is_searched_without_the_best_move() -> None:
    checker = find_checker(f"{sys.executable} -m kibitz gtp gohuman", "go", "gohuman", None, 20)
    game = record(SHORT)
    with GoEngineJudge(checker) as engine:
        best = engine.position(game, 2).line[0]
        second = engine.second(game, 2, best)
        assert second is not None
        assert second.line[0] != best
        assert engine.position(game, 3).line


def test_an_engine_that_ends_gives_no_second_choice() -> None:
    checker = find_checker(f"{sys.executable} -m kibitz gtp gohuman", "go", "gohuman", None, 20)
    game = record(SHORT)
    with GoEngineJudge(checker) as engine:
        best = engine.position(game, 2).line[0]
        assert engine.second(game, 2, best) is not None
        engine._program.kill()
        assert engine.second(game, 2, best) is None
        assert engine.position(game, 3).line, "it is started again"


def test_gnugos_lead_is_the_mean_of_two_estimates(session: Session) -> None:
    """The slow way: the estimate of each position, and of the one after GNU Go's best move."""
    path = program("gnugo")
    checker = find_checker(f"{path} --mode gtp --level 1", "go", "gohuman")
    game = judged(session, checker)

    def estimate(engine: GtpProgram) -> float:
        color, value = re.match(r"([BW])\+([\d.]+)", engine.request("estimate_score", 60)).groups()  # type: ignore[union-attr]
        return float(value) * (1 if color == "B" else -1)

    leads = []
    with GtpProgram(checker.program.command) as engine:
        for command in ("boardsize 9", "komi 5.5"):
            engine.request(command, 20)
        for at, point in enumerate([None, *record(SHORT).moves]):
            if point is not None:
                engine.request(f"play {('white', 'black')[at % 2]} {to_gtp(point, 9)}", 20)
            side = ("black", "white")[at % 2]
            engine.request("set_random_seed 1", 20)
            alone = estimate(engine)
            best = engine.request(f"top_moves_{side}", 60).split()[0]
            engine.request(f"play {side} {best}", 20)
            leads.append((alone + estimate(engine)) / 2)
            engine.request("undo", 20)
    assert [one.score.lead for one in game.positions] == pytest.approx(leads)
    assert game.checked_by is not None
    assert game.checked_by.words() == "GNU Go 3.8"


@pytest.mark.parametrize(
    ("fault", "kind", "why"),
    [
        ("crash", EngineDied, "exit code 3"),
        ("refuse", GameRejected, "not today"),
        ("picky", GameRejected, "no such board"),
    ],
)
def test_a_failure_is_one_error(
    session: Session, faulty: Callable[..., Checker], fault: str, kind: type[Exception], why: str
) -> None:
    with pytest.raises(kind, match=why) as raised:
        judged(session, faulty(fault))
    assert "\n" not in str(raised.value)


def test_an_engine_without_results_is_ended(
    session: Session, faulty: Callable[..., Checker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_judge, "PATIENCE", 0.5)
    with pytest.raises(EngineDied, match=r"0.5 s"):
        judged(session, faulty("silent"))


def test_an_engine_without_a_score_cannot_judge(session: Session, faulty: Callable[..., Checker]) -> None:
    with pytest.raises(UsageError, match="no score"):
        GoEngineJudge(faulty("dumb"))
    with pytest.raises(UsageError, match="cannot judge"):
        GoEngineJudge(faulty("lz"))
    with GoEngineJudge(faulty("sound")) as engine:
        assert engine.checked_by.visits


def test_a_search_size_needs_an_engine_that_counts_visits() -> None:
    path = program("gnugo")
    with pytest.raises(UsageError, match="GNU Go"):
        GoEngineJudge(find_checker(path, "go", "gohuman", None, 10))
    with GoEngineJudge(find_checker(path, "go", "gohuman")) as engine:
        assert engine.checked_by.nodes is None
    for options, depth in (({"Hash": 1}, None), (None, 5)):
        with pytest.raises(UsageError, match="UCI"):
            find_checker(path, "go", "gohuman", options, None, depth)
