"""Addresses of web pages that kibitz does not open."""

from __future__ import annotations

import pytest

from kibitz.links import what_to_do


@pytest.mark.parametrize("address", ["https://www.chess.com/game/live/1", "https://lichess.org/abcdefgh"])
def test_the_address_stands_in_the_message_as_it_was_given(address: str) -> None:
    said = what_to_do(f" {address}\n")
    assert said is not None
    assert f" {address} " in said  # not its first word, which the page begins with a capital letter
    assert what_to_do(f"{address}.pgn") is None
