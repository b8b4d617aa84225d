"""Moves in other spellings; a word that is none is said, and is no fault."""

from __future__ import annotations

import pytest

from kibitz.games.chess.io.reader import parse


@pytest.mark.parametrize("word", ["b4b4", "b4-b4", "e2e2"])
def test_a_move_from_a_square_to_itself_ends_the_game_there(word: str) -> None:
    """As fuzzing found it: python-chess does not read such a word at all."""
    record = parse(f"1. e2e4 b7b5 2. a3 {word} 3. h3 *")
    assert record is not None
    assert record.game.end().ply() == 3
    assert word in record.problem
