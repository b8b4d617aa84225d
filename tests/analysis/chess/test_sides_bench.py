"""The benches that sort the moves of chess games by player: the side to move is that of the board, also in games that
begin with Black to move.
"""

from __future__ import annotations

import random
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import chess
import numpy as np
import pytest

from kibitz.analysis import load
from kibitz.games.chess.io.reader import parse
from kibitz.play.session import Session

BENCHES = Path(__file__).parents[3] / "bench"
HEADS = """[FEN "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"]
[SetUp "1"]
[WhiteElo "1200"]
[BlackElo "2300"]
[TimeControl "180+0"]

"""
BLACK_BEGINS = [
    "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6", "O-O", "Be7", "Re1", "b5", "Bb3", "d6", "c3", "O-O", "h3",
    "Nb8", "d4", "Nbd7", "Nbd2", "Bb7", "Bc2", "Re8", "Nf1", "Bf8", "Ng3", "g6", "a4", "c5", "d5", "c4",
]  # fmt: skip


def bench(name: str) -> dict[str, Any]:
    return runpy.run_path(str(BENCHES / f"{name}.py"))


def test_losses_of_the_side_that_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHES))  # it imports another bench
    by_movers = bench("bench_marks")["by_movers"]
    white = np.array([0.5, 0.4, 0.6])
    assert by_movers(white, chess.WHITE) == pytest.approx([0.1, 0.2])
    assert by_movers(white, chess.BLACK) == pytest.approx([-0.1, -0.2])


def test_the_rating_of_the_player_who_thinks() -> None:
    # White has more than two minutes at each move, and Black has less
    moves = [f"{san} {{[%clk 0:0{2 if at % 2 else 1}:{59 - at}]}}" for at, san in enumerate(BLACK_BEGINS)]
    thinking_times = bench("thinking_times")
    rating, clock = (thinking_times["COLUMNS"].index(name) for name in ("rating", "clock"))
    rows = thinking_times["moves_of"](HEADS + " ".join(moves) + " *\n", Session("human"), random.Random(1))
    assert {(row[clock] > 120, row[rating]) for row in rows} == {(True, 1200), (False, 2300)}


def test_the_rating_of_the_player_whose_mistake_it_is() -> None:
    judgement = SimpleNamespace(options=SimpleNamespace(losses_of=np.zeros_like), loss=0.0, searched={})
    judge = SimpleNamespace(judge=lambda board, moves, positions: ([], [judgement] * len(moves)))
    record = parse(HEADS + " ".join(BLACK_BEGINS) + " *\n")
    assert record is not None
    found = bench("bench_risk")["judged"](0, record.game, Session("human"), load("human"), judge)
    assert [row[1] for row in found[:3]] == [2300, 1200, 2300]
