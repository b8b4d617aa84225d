"""Searches of the positions of a game."""

from __future__ import annotations

from typing import Any

import pytest

from kibitz.analysis.go import searched
from kibitz.games.go.points import BLACK, WHITE, from_gtp
from kibitz.games.go.rules import Board
from kibitz.play.go.thought import Terms
from kibitz.play.session import Session


def played(*moves: str) -> Board:
    board = Board(9)
    for i, move in enumerate(moves):
        board.play((BLACK, WHITE)[i % 2], from_gtp(move, 9))
    return board


def test_a_position_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another order of the moves, another side to move or an old position is searched again."""
    seen: list[Board] = []
    real = searched.search_board

    def counted(network: Any, board: Board, *arguments: Any, **options: Any) -> Any:
        seen.append(board)
        return real(network, board, *arguments, **options)

    monkeypatch.setattr(searched, "search_board", counted)
    search = searched.searching(Session("gohuman"), Terms(), 8)
    first = search(played("E5", "C3", "G7"))
    assert search(played("E5", "C3", "G7")) is first
    assert len(seen) == 1
    other = search(played("G7", "C3", "E5"))
    assert other is not first
    turned = played("E5", "C3", "G7")
    turned.to_move = BLACK
    assert search(turned).colour == BLACK
    assert len(seen) == 3
    for i in range(searched.REMEMBERED):
        search(played(f"A{i + 1}"))
    again = search(played("E5", "C3", "G7"))
    assert len(seen) == 4 + searched.REMEMBERED
    assert [move.point for move in again.moves] == [move.point for move in first.moves]
    assert again.lead == first.lead
