"""Planes of Go positions, and chains of stones, against slow loops and hand-made positions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sgfmill import boards

from kibitz.games.go.encodings import BoardPlanes, mean_over_chains, on_board, pool_chains, roots, stones
from kibitz.games.go.planes import plane_table
from kibitz.games.go.points import GRID, SIZES, from_gtp
from kibitz.games.go.replay import encode_board
from kibitz.games.go.rules import Board
from support import go_oracle as oracle

BOARDS = arrays(np.int64, (5, 7), elements=st.integers(0, 2))


def planes(board: Board, **options: int) -> np.ndarray:
    codes, state = encode_board(board)
    made = BoardPlanes(**options)(torch.from_numpy(codes)[None], torch.from_numpy(state)[None])
    return made[0].numpy()


def where(plane: np.ndarray, size: int = 19) -> set[str]:
    from kibitz.games.go.points import to_gtp

    return {to_gtp(int(row) * GRID + int(column), size) for row, column in np.argwhere(plane)}


def played(*moves: str, size: int = 19) -> Board:
    board = Board(size)
    for move in moves:
        board.play(board.to_move, from_gtp(move, size))
    return board


def test_the_eight_planes_of_the_seed() -> None:
    board = played("A1", "B1", "D4", "Q16")
    seen = planes(board)  # Black to move
    assert seen.shape == (8, 19, 19)
    assert [where(plane) for plane in seen[:7]] == [{"A1"}, set(), {"D4"}, set(), {"B1"}, {"Q16"}, set()]
    assert (seen[7] == 1).all()
    board.play(1, from_gtp("K10", 19))
    seen = planes(board)  # White to move: own stones first again
    assert [where(plane) for plane in seen[:6]] == [set(), {"B1"}, {"Q16"}, {"A1"}, set(), {"D4", "K10"}]


def test_the_ko_plane() -> None:
    board = played("C5", "E4", "D4", "E6", "D6", "F5", "A1", "D5", "E5")
    seen = planes(board)
    assert where(seen[6]) == {"D5"}
    assert "D5" not in where(seen[:6].sum(0))


def test_finer_liberties_recent_moves_and_ages() -> None:
    board = played("D4", "Q16", "D5", "pass", "D6")
    seen = planes(board, liberties=6, recent=4)
    assert seen.shape == (18, 19, 19)
    assert where(seen[11]) == {"D4", "D5", "D6"}  # the other's, 6 and more
    assert [where(plane) for plane in seen[14:18]] == [{"D6"}, set(), {"D5"}, {"Q16"}]
    old = planes(board, recent=8, ages=True)
    assert old.shape == (21, 19, 19)
    assert not old[16:].any()
    for move in ("A1", "B3", "C1", "D2", "E1", "F2"):
        board.play(board.to_move, from_gtp(move, 19))
    old = planes(board, recent=8, ages=True)
    assert where(old[16]) == {"D4", "Q16", "D5"}  # 11, 10 and 9 moves ago


@pytest.mark.parametrize("size", SIZES)
def test_a_small_board_lies_in_the_corner(size: int) -> None:
    board = played("A1", size=size)
    seen = planes(board)
    assert seen[7].sum() == size * size
    assert seen[3:6].sum() == 1
    assert seen[4, size - 1, 0] == 1
    codes, _ = encode_board(board)
    assert np.array_equal(on_board(torch.from_numpy(codes)).numpy().reshape(19, 19), seen[7] == 1)
    if size < 19:
        assert planes(board, grid=size).shape == (8, size, size)


def test_no_plane_for_a_code_that_is_none() -> None:
    assert not plane_table(3, 0, False)[[14, 15, 14 + 256]].any()


@given(st.integers(0, 2**32))
def test_every_stone_is_on_one_plane(seed: int) -> None:
    slow, ko = boards.Board(9), 0
    board = Board(9)
    for i, point in enumerate(oracle.random_game(9, 90, seed)):
        board.play(1 + i % 2, point)
        ko = oracle.play(slow, 1 + i % 2, point)
    assert ko in range(362)
    codes, _ = encode_board(board)
    colours = oracle.colours(slow).reshape(19, 19)
    assert np.array_equal(stones(torch.from_numpy(codes)).numpy(), np.where(colours.ravel() == 3, 0, colours.ravel()))
    seen = planes(board, liberties=6)
    assert np.array_equal(seen[:6].sum(0), colours == 1)
    assert np.array_equal(seen[6:12].sum(0), colours == 2)


def slow_chains(board: np.ndarray) -> list[set[int]]:
    """The chains of a board of 0, 1, 2 by flood filling; a point without a stone is one by itself."""
    height, width = board.shape
    found, known = [], set()
    for start in range(height * width):
        if start in known:
            continue
        chain, waiting = set(), [start]
        while waiting:
            here = waiting.pop()
            if here in chain:
                continue
            chain.add(here)
            row, column = divmod(here, width)
            colour = board[row, column]
            for r, c in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
                if colour and 0 <= r < height and 0 <= c < width and board[r, c] == colour:
                    waiting.append(r * width + c)
        found.append(chain)
        known |= chain
    return found


def square(board: np.ndarray) -> np.ndarray:
    """On a square grid, as `roots` wants it."""
    side = max(board.shape)
    return np.pad(board, ((0, side - board.shape[0]), (0, side - board.shape[1])))


def check_pooling(board: np.ndarray) -> None:
    """Roots, largest values, their gradient, and means, against the slow loop."""
    board = square(board)
    chains = slow_chains(board)
    found = roots(torch.from_numpy(board)[None])
    values = torch.randn(1, 3, *board.shape, dtype=torch.float64, requires_grad=True)
    pooled, means = pool_chains(values, found), mean_over_chains(values[:, 0].flatten(1), found)
    weight = torch.randn_like(values)
    (pooled * weight).sum().backward()
    assert values.grad is not None
    expected = torch.zeros_like(values).flatten(2)
    for chain in chains:
        points = sorted(chain)
        assert (found[0, points] == points[-1]).all()
        here = values.detach().flatten(2)[0, :, points]
        assert torch.equal(pooled.detach().flatten(2)[0, :, points], here.max(1, keepdim=True)[0].expand_as(here))
        assert torch.allclose(means.detach()[0, points], here[0].mean())
        for channel in range(3):  # all of the gradient goes to the stone with the largest value
            expected[0, channel, points[int(here[channel].argmax())]] = weight.flatten(2)[0, channel, points].sum()
    assert torch.allclose(values.grad.flatten(2), expected)


@given(BOARDS)
def test_pooling_over_any_chains(board: np.ndarray) -> None:
    check_pooling(board)


def spiral(side: int) -> np.ndarray:
    board, row, column, down, right = np.zeros((side, side), np.int64), 0, 0, 0, 1

    def free(row: int, column: int, down: int, right: int) -> bool:
        for step in (1, 2):
            r, c = row + step * down, column + step * right
            if not (0 <= r < side and 0 <= c < side):
                return step == 2
            if board[r, c]:
                return False
        return True

    while True:
        board[row, column] = 1
        if not free(row, column, down, right):
            down, right = right, -down
            if not free(row, column, down, right):
                return board
        row, column = row + down, column + right


def comb() -> np.ndarray:
    board = np.zeros((19, 19), np.int64)
    board[:, ::2], board[9] = 1, 1
    return board


@pytest.mark.parametrize(
    "board", [spiral(19), spiral(19)[::-1].copy(), comb(), comb().T.copy(), np.ones((19, 19), int)]
)
def test_pooling_over_long_chains(board: np.ndarray) -> None:
    check_pooling(board)


def test_the_rounds_of_an_exported_network_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = [spiral(19), spiral(19)[::-1], spiral(19).T, comb(), comb().T, np.ones((19, 19), np.int64)]
    shapes += [np.rot90(shape) for shape in shapes]
    chance = np.random.default_rng(1)
    shapes += [(chance.random((19, 19)) < density).astype(np.int64) for density in (0.4, 0.55, 0.6, 0.65, 0.8) * 20]
    boards_ = torch.from_numpy(np.stack([np.ascontiguousarray(shape) for shape in shapes]))
    exact = roots(boards_)
    monkeypatch.setattr(torch.onnx, "is_in_onnx_export", lambda: True)
    assert torch.equal(roots(boards_), exact)
