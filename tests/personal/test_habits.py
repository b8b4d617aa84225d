"""Habits: think times from clocks, and when a person resigns."""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import chess
import numpy as np
import pytest

from kibitz.personal.games import sides_of
from kibitz.personal.habits import MOVES, QUANTILES, HabitualPlayer, PersonalPace, think_times
from kibitz.play.result import SearchLimits, SearchResult, make_line
from kibitz.runs import Run
from kibitz.store.store import Store
from support import person

MOVE = chess.Move.from_uci("e2e4")
HABITS = {"think": [[0.1] * QUANTILES] * (len(MOVES) - 1), "resign": {"share": 1.0, "below": 0.2}}


class Fixed:
    """A player that finds every position worth the same."""

    def __init__(self, value: float):
        self.value = value

    def new_game(self) -> None:
        """Nothing to forget."""

    def think(self, board: chess.Board, limits: SearchLimits, stop: object = None, tell: object = None) -> SearchResult:
        return SearchResult(1, 1, 0.0, (make_line(self.value, 1.0, [12 | 28 << 6]),))


def test_think_times_are_shares_of_the_clock(my_games: Path, make_store: Callable[..., Store], tmp_path: Path) -> None:
    """The made-up clocks lose 0 to 5 seconds a move, of 180, and two come back each time."""
    store = make_store(tmp_path / "s", my_games)
    told = think_times(store, np.arange(len(store)), sides_of(store, person.SPELLINGS))
    assert len(told) == len(MOVES) - 1
    assert all(len(band) == QUANTILES and band == sorted(band) for band in told)
    assert told[0][0] == pytest.approx(2 / 180, abs=0.001)
    assert told[0][-1] == pytest.approx(7 / 165, abs=0.005)
    assert think_times(store, np.arange(2), sides_of(store, person.SPELLINGS)) == [], "too few moves"


def test_think_times_by_the_number_of_the_move(make_store: Callable[..., Store], tmp_path: Path) -> None:
    """The first five moves take nothing, the next ones half of the clock."""
    left = [128] * 5 + [64, 32, 16, 8, 4, 2, 1]
    moves = " ".join(
        f"{i + 1}. {'Nf3' if i % 2 == 0 else 'Ng1'} {{[%clk 0:{clock // 60:02}:{clock % 60:02}]}}"
        f" {'Nf6' if i % 2 == 0 else 'Ng8'} {{[%clk 0:01:00]}}"
        for i, clock in enumerate(left)
    )
    games = "".join(
        f'[White "{person.PERSON}"]\n[Black "B"]\n[Round "{i}"]\n[Date "2020.01.{i % 28 + 1:02}"]\n[Result "1-0"]\n'
        f'[TimeControl "300+0"]\n\n{moves} 1-0\n\n'
        for i in range(28)
    )
    (tmp_path / "g.pgn").write_text(games)
    store = make_store(tmp_path / "s", tmp_path / "g.pgn")
    assert len(store) == 28
    first, second, *_ = think_times(store, np.arange(28), sides_of(store, [person.PERSON]))
    assert first == [0.0] * QUANTILES
    assert second == [0.5] * QUANTILES


def test_a_player_waits_as_long_as_the_person(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(threading.Event, "wait", lambda self, seconds=None: waited.append(seconds))
    player = HabitualPlayer(Fixed(0.0), HABITS, think=True, resign=False, seed=1)
    player.think(chess.Board(), SearchLimits(clock=60.0), threading.Event())
    player.think(chess.Board(), SearchLimits(), threading.Event())
    assert waited == [pytest.approx(6.0)], "a tenth of the clock; without a clock not at all"


def test_the_number_of_the_move_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each band has a share of its own, told from others; no move takes more than half of the clock."""
    shares = [0.01 * (band + 1) for band in range(len(MOVES) - 2)] + [0.9]
    player = HabitualPlayer(
        Fixed(0.0), {"think": [[share] * QUANTILES for share in shares]}, think=True, resign=False, seed=1
    )
    pace = PersonalPace([[share] * QUANTILES for share in shares], np.random.default_rng(1))
    for band, share in enumerate(shares):
        for number in (MOVES[band], MOVES[band + 1] - 1):
            board = chess.Board()
            board.move_stack = [chess.Move.null()] * (2 * number)
            assert pace.seconds(board, MOVE, SearchLimits(clock=100.0)) == pytest.approx(100 * min(share, 0.5))
    board.move_stack = [chess.Move.null()] * (2 * MOVES[-1])
    assert pace.seconds(board, MOVE, SearchLimits(clock=100.0)) == 50, "no game is too long"
    waited: list[float] = []
    monkeypatch.setattr(threading.Event, "wait", lambda self, seconds=None: waited.append(seconds))
    board = chess.Board()
    for san in ["Nf3", "Nf6", "Ng1", "Ng8"] * 3:
        board.push_san(san)
    player.think(board, SearchLimits(clock=100.0), threading.Event())
    assert waited == [pytest.approx(2.0)], "White's seventh move, the second of its band"


def test_a_clock_at_zero_tells_nothing(my_games: Path, make_store: Callable[..., Store], tmp_path: Path) -> None:
    """A flag that has fallen, in a game that goes on: what the next move took of it is no share."""
    text = re.sub(r"%clk 0:0[0-9]:[0-9]{2}", "%clk 0:00:00", my_games.read_text(), count=40)
    (tmp_path / "flags.pgn").write_text(text)
    store = make_store(tmp_path / "s", tmp_path / "flags.pgn")
    clocks = store.per_move("clock")
    assert clocks is not None
    assert (clocks == 0).sum() >= 30
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # as numpy says where it divides by 0
        told = think_times(store, np.arange(len(store)), sides_of(store, person.SPELLINGS))
    assert np.isfinite(told).all()


@pytest.mark.parametrize(
    ("value", "resign", "expected"), [(-0.9, True, True), (-0.9, False, False), (0.0, True, False)]
)
def test_a_player_resigns_where_the_person_would(value: float, resign: bool, expected: bool) -> None:
    player = HabitualPlayer(Fixed(value), HABITS, think=False, resign=resign, seed=1)
    thought = player.think(chess.Board(), SearchLimits())
    assert thought is not None
    assert thought.resigns is expected


def test_the_run_knows_them(personal_run: Path) -> None:
    habits = Run(personal_run).info["habits"]
    assert len(habits["think"]) == len(MOVES) - 1
    assert 0 < habits["resign"]["share"] <= 1
    assert 0 < habits["resign"]["below"] < 1
