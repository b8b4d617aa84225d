"""Planes against slow loops over python-chess boards."""

from __future__ import annotations

import chess
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from kibitz.games.chess.encodings import (
    AttackPlanes,
    MoverView,
    PieceBits,
    PiecePlanes,
    RightsPlanes,
    SignedPlanes,
    Stack,
)
from kibitz.games.chess.replay import decode_board, encode_board
from kibitz.store.store import Store
from support.causes import naming

POSITIONS = 150


@pytest.fixture(scope="module")
def positions(bundled_store: Store) -> tuple[Tensor, Tensor, list[chess.Board]]:
    """Positions of the bundled games, from openings to bare endings, both sides to move."""
    random = np.random.default_rng(5)
    games = random.integers(0, len(bundled_store), POSITIONS)
    plies = (random.random(POSITIONS) * (bundled_store.plies[games] + 1)).astype(np.int64)
    codes, state = bundled_store.replay(games, plies)
    boards = [decode_board(c, s) for c, s in zip(codes, state, strict=True)]
    assert {board.turn for board in boards} == {True, False}
    return torch.from_numpy(codes), torch.from_numpy(state), boards


def planes_of(board: chess.Board) -> NDArray[np.float32]:
    planes = np.zeros((6, 8, 8), np.float32)
    for square, piece in board.piece_map().items():
        planes[piece.piece_type - 1, square // 8, square % 8] = 1 if piece.color else -1
    return planes


def attacks_of(board: chess.Board) -> NDArray[np.float32]:
    """How many pieces of each colour attack each square."""
    counts = np.zeros((2, 8, 8), np.float32)
    for i, colour in enumerate((chess.WHITE, chess.BLACK)):
        for square in chess.SQUARES:
            counts[i, square // 8, square % 8] = len(board.attackers(colour, square))
    return counts


def test_signed_planes(positions: tuple[Tensor, Tensor, list[chess.Board]]) -> None:
    codes, state, boards = positions
    without, with_side = SignedPlanes(side=False), SignedPlanes()
    assert (without.channels, with_side.channels) == (6, 7)
    expected = np.stack([planes_of(board) for board in boards])
    np.testing.assert_array_equal(without(codes, state).numpy(), expected)
    planes = with_side(codes, state).numpy()
    np.testing.assert_array_equal(planes[:, :6], expected)
    for plane, board in zip(planes[:, 6], boards, strict=True):
        assert (plane == (1 if board.turn else -1)).all()


def test_attack_planes(positions: tuple[Tensor, Tensor, list[chess.Board]]) -> None:
    codes, state, boards = positions
    expected = np.stack([attacks_of(board) for board in boards])
    assert expected.max() >= 4  # or the counts would show little
    np.testing.assert_array_equal(AttackPlanes("counts")(codes, state).numpy() * 4, expected)
    np.testing.assert_array_equal(AttackPlanes("squares")(codes, state).numpy(), expected > 0)


def attackers_by_type(board: chess.Board) -> NDArray[np.float32]:
    """How many pieces of each colour and type attack each square, White's P N B R Q K first."""
    counts = np.zeros((12, 8, 8), np.float32)
    for i, colour in enumerate((chess.WHITE, chess.BLACK)):
        for square in chess.SQUARES:
            for attacker in board.attackers(colour, square):
                kind = board.piece_type_at(attacker)
                assert kind is not None
                counts[6 * i + kind - 1, square // 8, square % 8] += 1
    return counts


def test_attack_planes_by_type(positions: tuple[Tensor, Tensor, list[chess.Board]]) -> None:
    codes, state, boards = positions
    planes = AttackPlanes("pieces")
    assert planes.channels == 12
    found, expected = planes(codes, state).numpy(), np.stack([attackers_by_type(board) for board in boards])
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "fen",
    [
        "8/8/8/8/8/8/8/Q6k w - - 0 1",  # to the far ends of the board
        "k7/8/8/QQQQQQQQ/8/8/8/K7 w - - 0 1",  # sliders behind each other
        "NNNNNNNN/8/8/8/8/8/8/K6k w - - 0 1",
        "k7/P6P/8/8/8/8/p6p/K7 w - - 0 1",  # pawns at the edges
        "4k3/8/8/3bb3/3BB3/8/8/4K3 b - - 0 1",
    ],
)
def test_attack_planes_of_odd_boards(fen: str) -> None:
    board = chess.Board(fen)
    row = torch.from_numpy(encode_board(board))[None]
    planes = AttackPlanes("counts")(row[:, :64], row[:, 64:]).numpy()[0] * 4
    np.testing.assert_array_equal(planes, attacks_of(board))


def test_the_movers_view(positions: tuple[Tensor, Tensor, list[chess.Board]]) -> None:
    codes, state, boards = positions
    seen = MoverView()(codes, state).numpy()
    for row, board in zip(seen, boards, strict=True):
        expected = board if board.turn else board.mirror()
        np.testing.assert_array_equal(row, encode_board(expected)[:64])


def test_a_stack_is_its_parts(positions: tuple[Tensor, Tensor, list[chess.Board]]) -> None:
    codes, state, _ = positions
    parts = (SignedPlanes(), AttackPlanes())
    stack = Stack(*parts)
    assert stack.channels == 9
    assert torch.equal(stack(codes, state), torch.cat([part(codes, state) for part in parts], 1))
    assert torch.equal(Stack(parts[0])(codes, state), parts[0](codes, state))


def test_an_unknown_kind_of_attacks() -> None:
    with pytest.raises(ValueError, match=naming("attack")):
        AttackPlanes("none")


def test_piece_planes_are_one_for_each_code() -> None:
    codes = torch.arange(13, dtype=torch.uint8).repeat(5)[:64][None]
    planes = PiecePlanes()(codes, torch.zeros(1, 4, dtype=torch.uint8))[0]
    assert planes.shape == (12, 8, 8)
    for square, code in enumerate(codes[0].tolist()):
        expected = [1.0 if code == plane + 1 else 0.0 for plane in range(12)]
        assert planes[:, square // 8, square % 8].tolist() == expected


@pytest.mark.parametrize("side", [0, 1])
def test_rights_planes_show_the_movers_rights_first(side: int) -> None:
    state = torch.tensor([[side, 0b0110, 5, 0]], dtype=torch.uint8)  # White's queen side, Black's king side; e-file
    planes = RightsPlanes()(torch.zeros(1, 64, dtype=torch.uint8), state)[0]
    assert planes[:4, 3, 3].tolist() == ([0, 1, 1, 0] if side == 0 else [1, 0, 0, 1])
    assert planes[4].nonzero().tolist() == [[5, 4]]  # e6 as the mover sees it


def bits_of(board: chess.Board) -> list[float]:
    """The 773 bits as the paper counts them: a board of 64 a piece, White first, then the state."""
    bits = []
    for colour in (chess.WHITE, chess.BLACK):
        for kind in chess.PIECE_TYPES:
            bits += [board.piece_at(square) == chess.Piece(kind, colour) for square in chess.SQUARES]
    rights = [board.has_kingside_castling_rights, board.has_queenside_castling_rights]
    bits += [board.turn, *[has(colour) for colour in (chess.WHITE, chess.BLACK) for has in rights]]
    return [float(bit) for bit in bits]


def test_piece_bits(positions: tuple[Tensor, Tensor, list[chess.Board]]) -> None:
    codes, state, boards = positions
    bits = PieceBits()
    assert bits.channels == 773
    expected = [bits_of(board) for board in boards]
    assert {row[-1] for row in expected} == {row[-4] for row in expected} == {0.0, 1.0}
    np.testing.assert_array_equal(bits(codes, state).numpy(), np.array(expected, np.float32))
