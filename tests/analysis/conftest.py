"""Games judged by a network whose answers a test writes down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from kibitz.analysis.chess import answers
from kibitz.analysis.chess.moves import USUAL, AnalysedGame, analyse
from kibitz.games.chess.io.reader import read
from kibitz.systems.declaration import Meaning

Judge = Callable[[str, Sequence[float]], AnalysedGame]
Wanted = Mapping[str, float]
"""Moves as UCI writes them, and the probability of each pair of squares."""


class Fake:
    """A session that answers with the arrays it was given, each over and over."""

    of_person = False

    def __init__(self, side_inputs: Mapping[str, int] | None = None, **answers: Any):
        self.arrays = answers
        self.side_inputs = dict(side_inputs or {})
        self.asked: list[Any] = []

    def evaluate(self, codes: Any, state: Any) -> dict[str, Any]:
        assert codes.shape == (len(codes), 64)
        assert state.shape == (len(codes), 4 + len(self.side_inputs))
        assert codes.dtype == state.dtype == np.uint8
        self.asked.append((codes, state))
        n = len(codes)
        return {name: np.resize(np.array(v, np.float32), (n, *np.shape(v)[1:])) for name, v in self.arrays.items()}


def squares(wanted: Sequence[Wanted]) -> dict[str, Any]:
    """Answers of a network that expects these moves, one a position: origins, and targets by origin."""
    pairs = np.zeros((len(wanted), 64, 64))
    for i, moves in enumerate(wanted):
        for uci, probability in moves.items():
            move = chess.Move.from_uci(uci)
            pairs[i, move.from_square, move.to_square] = probability
    origin = pairs.sum(2)
    return {"origin": origin, "target": pairs / np.maximum(origin, 1e-9)[:, :, None]}


@pytest.fixture
def make_fake() -> type[Fake]:
    return Fake


@pytest.fixture
def judge_fake(tmp_path: Path) -> Callable[..., AnalysedGame]:
    """Judges the first game of a PGN text by a Fake, with a swing of 10 points."""

    def one(text: str, fake: Any, meaning: Meaning = USUAL) -> AnalysedGame:
        path = tmp_path / "game.pgn"
        path.write_text(text, encoding="utf-8")
        return analyse(next(iter(read(str(path)))), fake, answers, 0.1, meaning=meaning)

    return one


@pytest.fixture
def judge_text(judge_fake: Callable[..., AnalysedGame]) -> Judge:
    """The same by a network that says who wins: White's probabilities, one a position."""
    return lambda text, white: judge_fake(text, Fake(white_wins=white))


@pytest.fixture
def judge_moves(judge_fake: Callable[..., AnalysedGame]) -> Callable[..., AnalysedGame]:
    """The same by a network that expects moves, and says who wins where values are given (for the mover, −1..1)."""

    def one(text: str, wanted: Sequence[Wanted], value: Sequence[float] | None = None) -> AnalysedGame:
        more: dict[str, Any] = {} if value is None else {"value": value}
        return judge_fake(text, Fake(**squares(wanted), **more))

    return one
