"""Boards: every piece of a position stands where it belongs, and everything referred to is defined."""

from __future__ import annotations

import random
import re
from xml.etree import ElementTree

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz.report.boards.chess import SQUARE, board_svg, describe, piece_defs
from support.causes import mentions
from support.examples import share


def played(seed: int, plies: int) -> chess.Board:
    rng, board = random.Random(seed), chess.Board()
    for _ in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            break
        board.push(rng.choice(moves))
    return board


def pieces_of(svg: str) -> dict[int, str]:
    """What the picture shows, read back: square → piece name."""
    shown = {}
    for use in ElementTree.fromstring(svg).iter("use"):
        if use.get("x") is not None:
            file, row = int(use.get("x", "")) // SQUARE, int(use.get("y", "")) // SQUARE
            shown[chess.square(file, 7 - row)] = use.get("href", "")[1:]
    return shown


@given(st.integers(0, 10_000), st.integers(0, 120))
@settings(max_examples=share(0.5))
def test_every_piece_is_drawn_on_its_square(seed: int, plies: int) -> None:
    board = played(seed, plies)
    expected = {
        square: f"{'white' if piece.color else 'black'}-{chess.piece_name(piece.piece_type)}"
        for square, piece in board.piece_map().items()
    }
    assert pieces_of(board_svg(board.fen())) == expected


def test_whatever_a_board_refers_to_is_defined_once() -> None:
    defined = re.findall(r' id="([^"]+)"', piece_defs())
    assert len(defined) == len(set(defined)) == 13
    used = set(re.findall(r'href="#([^"]+)"', board_svg(chess.STARTING_FEN)))
    assert used == set(defined)
    ElementTree.fromstring(piece_defs())


def test_last_move_is_tinted_at_both_ends() -> None:
    svg = ElementTree.fromstring(board_svg(chess.STARTING_FEN, "e2e4"))
    assert {(r.get("x"), r.get("y")) for r in svg.iter("rect")} == {("180", "270"), ("180", "180")}
    for nothing in (None, "", "0000"):
        assert "<rect" not in board_svg(chess.STARTING_FEN, nothing)


def test_side_to_move_shows_at_its_own_end_and_in_words() -> None:
    for turn, word, place in (("w", "White", "352"), ("b", "Black", "8")):
        svg = ElementTree.fromstring(board_svg(f"4k3/8/8/8/8/8/P7/4K3 {turn} - - 0 1"))
        assert svg[0].tag == "title"
        assert (svg[0].text or "").startswith(f"{word} to move")
        assert next(svg.iter("circle")).get("cy") == place


def test_description_names_every_man() -> None:
    board = chess.Board("4k3/8/8/8/8/8/P7/4K2R w - - 0 1")
    assert mentions(describe(board, chess.Move.null()), "White & Ke1 & Rh1 & a2 & Black & Ke8 & move")
    assert "nothing" in describe(chess.Board.empty(), chess.Move.null())


@pytest.mark.parametrize(("fen", "move"), [("not a fen", None), ('"><script>', None), (chess.STARTING_FEN, "e2")])
def test_what_is_no_position_is_refused(fen: str, move: str | None) -> None:
    with pytest.raises(ValueError, match=r"."):
        board_svg(fen, move)


def test_a_board_is_small() -> None:
    assert len(board_svg(chess.STARTING_FEN, "e2e4")) < 3000


def test_tints_stand_on_their_squares_and_small_ones_are_left_out() -> None:
    chances = [0.0] * 64
    chances[chess.E4], chances[chess.A8], chances[chess.H1] = 0.64, 0.008, 0.001
    root = ElementTree.fromstring(board_svg(chess.STARTING_FEN, tints=chances))
    heat = {(rect.get("x"), rect.get("y")): rect.get("opacity") for rect in root.iter("rect")}
    assert heat == {(str(4 * SQUARE), str(4 * SQUARE)): "0.80", ("0", "0"): "0.09"}
    assert [text.text for text in root.iter("text")] == ["64"]


def test_a_turned_board_has_every_piece_at_the_opposite_place() -> None:
    board = played(3, 40)
    straight, turned = pieces_of(board_svg(board.fen())), pieces_of(board_svg(board.fen(), turned=True))
    assert turned == {63 - square: piece for square, piece in straight.items()}
    assert set(re.findall(r'href="#([^"]+)"', board_svg(board.fen(), turned=True))) <= set(
        re.findall(r' id="([^"]+)"', piece_defs(turned=True))
    )


@pytest.mark.parametrize(
    ("turned", "ends"), [(False, ("202.5 292.5", "202.5 202.5")), (True, ("157.5 67.5", "157.5 157.5"))]
)
def test_an_arrow_points_to_where_the_move_goes(turned: bool, ends: tuple[str, str]) -> None:
    path = re.search(r'class="arrow" d="M([^"]+)z"', board_svg(chess.STARTING_FEN, turned=turned, arrow="e2e4"))
    assert path is not None
    corners = [tuple(map(float, corner.split())) for corner in path[1].split("L")]
    start, end = (tuple(map(float, place.split())) for place in ends)
    assert corners[3] == end
    assert ((corners[0][0] + corners[-1][0]) / 2, (corners[0][1] + corners[-1][1]) / 2) == start
