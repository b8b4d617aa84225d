"""What a player tells its network beside the position."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.play.chess.player import ChessPlayer
from kibitz.play.result import SearchLimits
from kibitz.play.side_inputs import last_moves, with_side_inputs

BEYOND = {"rating": 7, "last_from": 0, "last_to": 0, "before_from": 0, "before_to": 0}


class Asked:
    """A network that answers evenly and keeps what it was told."""

    outputs = ("origin", "target", "promotion")
    name = "asked"

    def __init__(self, side_inputs: Mapping[str, int]):
        self.side_inputs = side_inputs
        self.states: list[NDArray[np.uint8]] = []

    def evaluate(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> Any:
        self.states.append(state)
        n = len(codes)
        promotion = np.tile(np.float32([0.7, 0.1, 0.1, 0.1]), (n, 8, 1))
        return {
            "origin": np.full((n, 64), 1 / 64, np.float32), "target": np.full((n, 64, 64), 1 / 64, np.float32),
            "promotion": promotion,
        }  # fmt: skip


def test_last_moves_are_the_boards() -> None:
    board = chess.Board()
    assert set(last_moves(board).values()) == {0}
    board.push_san("e4")
    assert last_moves(board) == {"last_from": 13, "last_to": 29, "before_from": 0, "before_to": 0}
    board.push(chess.Move.null())
    assert last_moves(board) == {"last_from": 0, "last_to": 0, "before_from": 13, "before_to": 29}


def test_a_network_that_is_told_nothing_gets_four_columns() -> None:
    state = np.zeros((1, 4), np.uint8)
    assert with_side_inputs(state, {}, chess.Board(), {"rating": 1}).shape == (1, 4)


def test_the_player_tells_rating_and_last_moves() -> None:
    network = Asked(BEYOND)
    board = chess.Board()
    board.push_san("Nf3")
    board.push_san("d5")
    ChessPlayer(network, method="top-prob", side_inputs={"rating": 93}).think(board, SearchLimits(nodes=1000))
    assert [row.tolist() for row in network.states] == [[[0, 15, 0, 0, 93, 52, 36, 7, 22]]]
    ChessPlayer(network, method="top-prob").think(board, SearchLimits())
    assert network.states[-1][0, 4] == 7, "the usual value where nobody says"


def test_an_underpromotion_can_be_the_likeliest_move() -> None:
    board = chess.Board("8/4P1k1/8/8/8/8/8/4K3 w - - 0 1")
    thought = ChessPlayer(Asked({}), method="top-prob", lines=40).think(board, SearchLimits())
    assert thought is not None
    chance = {line.move.uci(): line.probability for line in thought.lines}
    assert chance["e7e8n"] == max(chance[move] for move in chance if move.startswith("e7e8"))
    assert sum(chance.values()) > 0.999
