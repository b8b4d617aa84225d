"""Alpha-beta against a search without bounds, on positions that a network values at random."""

from __future__ import annotations

import hashlib
import random
from collections import Counter

import chess
import numpy as np
import pytest

from kibitz.play.chess import position as positions
from kibitz.play.chess.alphabeta import AlphaBeta
from kibitz.play.chess.best_first import SearchTuning
from kibitz.play.chess.evaluator import Evaluator
from kibitz.play.chess.player import ChessPlayer
from kibitz.play.chess.position import SearchPosition, children
from kibitz.play.chess.score import to_parent
from kibitz.play.result import SearchLimits
from kibitz.play.session import Session
from support.comparison_fakes import random_board


class Random:
    """A value for each position that follows from nothing but its bytes."""

    outputs = ("value",)

    def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
        drawn = [
            int.from_bytes(hashlib.md5(row.tobytes() + side[:1].tobytes()).digest()[:4], "little")
            for row, side in zip(codes, state, strict=True)
        ]
        return {"value": (np.array(drawn, np.float64) / 2**32 * 1.6 - 0.8).astype(np.float32)}


def evaluator() -> Evaluator:
    return Evaluator(None, Random(), cut=1.0, width=256, hash_mb=64)


def whole(ask: Evaluator, position: SearchPosition, depth: int, path: tuple[int, ...], seen: Counter[int]) -> float:
    """The value to the mover after all moves to a depth."""
    ask.evaluate([position])
    entry = ask.table[position.key]
    if entry.final or depth == 0:
        return entry.value
    made = children([position] * len(entry.moves), entry.moves)
    return max(after(ask, child, depth, path, seen) for child in made)


def after(ask: Evaluator, child: SearchPosition, depth: int, path: tuple[int, ...], seen: Counter[int]) -> float:
    if child.key in path or seen[child.key] > 1:
        return 0.0
    return to_parent(whole(ask, child, depth - 1, (*path, child.key), seen))


@pytest.mark.parametrize(
    ("fen", "depth"),
    [
        ("8/5P1p/k2P4/8/p7/2P3pK/8/8 w - - 0 1", 4),  # a bound under a newer floor was taken for a value
        ("8/5P1p/k2P4/8/p7/2P3pK/8/8 w - - 0 1", 3),
        ("8/2k5/1p6/1P1p4/3P4/4K3/6p1/8 b - - 0 1", 4),
    ],
)
def test_it_finds_the_value_of_a_whole_search(fen: str, depth: int) -> None:
    root, seen = positions.root(chess.Board(fen))
    search = AlphaBeta(evaluator(), SearchTuning(), root, seen, SearchLimits(depth=depth), 1, 1)
    _, values = search.think(None, lambda thought: None)
    moves, ask = np.array(root.legal(), np.uint16), evaluator()
    best = max(after(ask, child, depth, (root.key,), seen) for child in children([root] * len(moves), moves))
    assert values[0] == pytest.approx(best, abs=2e-5)


@pytest.mark.parametrize("seed", range(6))
def test_a_first_depth_that_was_cut_short_plays_the_best_it_has_seen(seed: int) -> None:
    board = random_board(random.Random(seed), 24)
    thought = ChessPlayer(Session("chessnet"), method="value-negamax", lines=3).think(board, SearchLimits(nodes=14))
    assert thought
    scores = [line.score for line in thought.lines]
    assert scores == sorted(scores, reverse=True)
