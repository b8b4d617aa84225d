"""bench/alphabeta_go.py: the pruned search finds the value of the full one, with fewer positions."""

from __future__ import annotations

import itertools
import math
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kibitz.games.go.points import BLACK, PASS, WHITE, from_gtp
from kibitz.games.go.rules import Board
from support.go_fakes import FakeGo, FakeOwners

BENCH = runpy.run_path(str(Path(__file__).parents[3] / "bench" / "alphabeta_go.py"))


def searcher(plies: int, width: int) -> Any:
    return BENCH["AlphaBeta"](FakeOwners(), FakeGo(), plies, width, 6.5)


def board(*moves: str) -> Board:
    made = Board(9, superko=True)
    for move in moves:
        made.play(made.to_move, from_gtp(move, 9))
    return made


def minimax(player: Any, position: Board, colour: int, plies: int) -> float:
    """The same search without bounds."""
    moves = player.likely(position, colour)
    if plies == 1 and moves:
        codes, state, _ = BENCH["children"](position, colour, np.array(moves))
        return float(player.leads(codes, state, colour, 9).max())
    return max(-minimax(player, after(position, colour, move), 3 - colour, plies - 1) for move in moves)


def after(position: Board, colour: int, move: int) -> Board:
    made = position.copy()
    made.play(colour, move)
    return made


@pytest.mark.parametrize("plies", [2, 3])
def test_pruning_changes_no_value(plies: int) -> None:
    pruned, full = searcher(plies, 4), searcher(plies, 4)
    for position in (board("E5", "C3"), board("D4", "F6", "D6", "F4", "E5")):
        colour = position.to_move
        found = pruned.value(position, colour, plies, -math.inf, math.inf)
        assert found == pytest.approx(minimax(full, position, colour, plies))
    assert pruned.leaves < full.leaves if plies == 3 else pruned.leaves == full.leaves


def test_likely_moves_come_first_and_own_eyes_never() -> None:
    position = board("A2", "J9", "B1", "J8", "B2", "J7")
    player = searcher(1, 100)
    moves = player.likely(position, BLACK)
    assert from_gtp("A1", 9) not in moves
    assert from_gtp("E5", 9) in moves
    chance = FakeGo().evaluate(*(each[None] for each in BENCH["encode_board"](position)))["policy"][0]
    assert all(chance[a] >= chance[b] for a, b in itertools.pairwise(moves))


def test_it_passes_where_it_has_won_and_the_other_side_passes() -> None:
    walls = [f"{letter}{row}" for row in range(1, 10) for letter in "DE"]
    position = board(*walls)
    position.play(BLACK, from_gtp("F5", 9))
    player = BENCH["AlphaBeta"](FakeOwners(), FakeGo(), 2, 3, -40.0)
    assert player.choose(position, WHITE) != PASS
    position.play(WHITE, PASS)
    assert player.choose(position, BLACK) == PASS
