"""Games judged by a network whose answers a test writes down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kibitz.analysis import winner
from kibitz.analysis.games import read
from kibitz.analysis.moves import Judged, judge

Judge = Callable[[str, Sequence[float]], Judged]


class Fake:
    """A session that answers with the numbers it was given, over and over."""

    def __init__(self, white: Sequence[float]):
        self.white = white

    def evaluate(self, codes: Any, state: Any) -> dict[str, Any]:
        assert codes.shape == (len(codes), 64)
        assert state.shape == (len(codes), 4)
        return {"white_wins": np.resize(np.array(self.white, np.float32), len(codes))}


@pytest.fixture
def judge_text(tmp_path: Path) -> Judge:
    """Judges the first game of a PGN text with the given answers, one a position, with a swing of 10 points."""

    def one(text: str, white: Sequence[float]) -> Judged:
        path = tmp_path / "game.pgn"
        path.write_text(text, encoding="utf-8")
        session: Any = Fake(white)
        return judge(next(iter(read(str(path)))), session, winner, 0.1)

    return one
