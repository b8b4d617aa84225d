"""How long people think: the packaged model, its features, and the engine that waits so long."""

from __future__ import annotations

import importlib.util
import threading
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz.commands.engines import opener
from kibitz.engines.uci.options import Options
from kibitz.play.chess.thinking_time import (
    FEATURES,
    LONGEST,
    MoveContext,
    PaceOfPeople,
    ThinkingTimes,
    context_of,
    is_recapture,
    thinking_times,
)
from kibitz.play.result import SearchLimits
from kibitz.play.session import Session, with_rating


def context(**changes: float) -> MoveContext:
    """One quiet move in the middle of a game of three minutes."""
    usual = {
        "clock": 120.0, "increment": 0.0, "start": 180.0, "number": 15.0, "rating": 1500.0, "entropy": 1.8,
        "surprise": 1.2, "recapture": 0.0, "only_move": 0.0, "in_check": 0.0,
    }  # fmt: skip
    return MoveContext(**{name: np.array([value]) for name, value in (usual | changes).items()})


def seconds(level: float = 0.5, **changes: float) -> float:
    return float(thinking_times().times(context(**changes), np.array([level]))[0])


def test_what_makes_people_slow_or_fast() -> None:
    usual = seconds()
    assert 1 < usual < 10
    assert seconds(clock=1200, start=1800) > 2 * usual, "a longer game"
    assert seconds(clock=8) < usual / 2, "little time left"
    assert seconds(recapture=1) < usual
    assert seconds(entropy=0.2, surprise=0.1) < usual / 1.5, "an obvious move"
    assert seconds(number=2) < usual, "the opening"
    assert seconds(rating=2500) < usual


@given(
    level=st.floats(0, 1), clock=st.floats(0.1, 7200), number=st.integers(0, 200), rating=st.integers(400, 3200),
    entropy=st.floats(0, 4),
)  # fmt: skip
def test_no_move_takes_half_of_the_clock(level: float, clock: float, number: int, rating: int, entropy: float) -> None:
    start = max(clock, 60.0)
    taken = seconds(level, clock=clock, start=start, number=number, rating=rating, entropy=entropy)
    assert 0 <= taken <= LONGEST * clock
    slower = seconds(min(1.0, level + 0.2), clock=clock, start=start, number=number, rating=rating, entropy=entropy)
    assert slower >= taken


def test_the_parameters_belong_to_the_features() -> None:
    model = thinking_times()
    assert model.as_json()["features"] == list(FEATURES)
    assert model.weights.shape == (len(FEATURES),)
    assert context().features().shape == (1, len(FEATURES))
    assert model.quantiles.shape[0] == len(model.limits) + 1
    again = ThinkingTimes.from_json(model.as_json())
    assert np.allclose(again.times(context(), np.array([0.3])), model.times(context(), np.array([0.3])), rtol=1e-3)


def test_a_recapture() -> None:
    board = chess.Board()
    for san in ("e4", "d5", "exd5"):
        board.push_san(san)
    moves = {san: board.parse_san(san) for san in ("Qxd5", "Nf6")}
    assert (is_recapture(board, moves["Qxd5"]), is_recapture(board, moves["Nf6"])) == (True, False)
    board.pop()
    assert not is_recapture(board, board.parse_san("exd5")), "the first capture"
    packed = np.array([1, 2], np.uint16)
    found = context_of(board, board.parse_san("exd5"), (packed, np.array([0.5, 0.5], np.float32)))
    assert found["entropy"] == pytest.approx(np.log(2))
    assert found["number"] == 1


def bench() -> ModuleType:
    path = Path(__file__).parents[3] / "bench" / "thinking_times.py"
    spec = importlib.util.spec_from_file_location("thinking_times_bench", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_fit_finds_the_times_that_it_was_given() -> None:
    random = np.random.default_rng(3)
    n = 20_000
    some = MoveContext(
        clock=random.uniform(20, 300, n), increment=random.integers(0, 3, n).astype(float), start=np.full(n, 300.0),
        number=random.integers(1, 60, n).astype(float), rating=random.uniform(800, 2400, n),
        entropy=random.uniform(0, 3, n), surprise=random.uniform(0, 4, n), recapture=random.integers(0, 2, n) * 1.0,
        only_move=random.integers(0, 2, n) * 1.0, in_check=random.integers(0, 2, n) * 1.0,
    )  # fmt: skip
    played = thinking_times().times(some, random.random(n))
    fitted = bench().fitted(some, played)
    again = fitted.times(some, random.random(n))
    for level in (0.1, 0.5, 0.9):
        assert np.quantile(again, level) == pytest.approx(np.quantile(played, level), rel=0.1)


def test_the_pace_depends_on_the_clock_and_the_rating() -> None:
    session = Session("human")
    board = chess.Board()
    for san in ("e4", "e5", "Nf3", "Nc6", "Bb5", "a6"):
        board.push_san(san)
    move = board.parse_san("Ba4")

    def mean(rating: int, limits: SearchLimits) -> float:
        told = with_rating(session, rating)
        pace = PaceOfPeople(told, told.side_inputs, rating, np.random.default_rng(1), start=600.0)
        return float(np.mean([pace.seconds(board, move, limits) for _ in range(100)]))

    usual = mean(1500, SearchLimits(clock=500.0))
    assert 0.5 < usual < 30
    assert mean(1500, SearchLimits(clock=20.0)) < usual / 2
    assert mean(2600, SearchLimits(clock=500.0)) < usual
    assert mean(1500, SearchLimits(seconds=5.0)) == 0, "no clock"


@pytest.mark.parametrize("wanted", [True, False])
def test_the_engine_waits(wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    options = replace(
        Options(), rated=True, limit_strength=True, elo=1500, think_times=wanted, seed=3, temperature=-1, threads=1
    )
    player = opener("human")(options)
    waited: list[float] = []
    monkeypatch.setattr(threading.Event, "wait", lambda self, seconds=None: waited.append(seconds))
    for clock in (600.0, 590.0, None):
        thought = player.think(chess.Board(), SearchLimits(clock=clock), threading.Event())
        assert thought
    assert len(waited) == (2 if wanted else 0)
    assert all(0 < each < 300 for each in waited)
