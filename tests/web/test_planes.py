"""Names of planes for every setting, and planes on real squares and points."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from kibitz.games.chess.encodings import ATTACKS, BOARD_ENCODINGS
from kibitz.games.go.encodings import BoardPlanes
from kibitz.systems import chessnet, deepchess, gocnn, human, winner
from kibitz.web.chess import line as chess_lines
from kibitz.web.go import line as go_lines
from support.board_client import Client
from support.random_lines import random_go

PIECES = "PNBRQK"


def shown(network: Any, line: Any) -> dict[str, Any]:
    codes, state = line.rows(len(line.moves), len(line.moves))
    if beyond := getattr(network, "side_inputs", None):
        from kibitz.runs import with_default_side_inputs

        state = with_default_side_inputs(state, beyond)
    with torch.inference_mode():
        names, values = network.eval().named_planes(torch.from_numpy(codes), torch.from_numpy(state))
    assert len(names) == len(values)
    assert len(set(names)) == len(names)
    return dict(zip(names, values.numpy(), strict=True))


BLACK_MOVES = chess_lines.read_line({"moves": ["e2e4", "a7a6", "e4e5", "d7d5", "g1f3"]})


@pytest.mark.parametrize(("attacks", "view"), list(product(ATTACKS, ("white", "mover"))))
def test_winner(attacks: str, view: str) -> None:
    network = winner.Winner(winner.Settings(attacks=attacks, view=view))
    found = shown(network, BLACK_MOVES)
    pawns = next(values for name, values in found.items() if name.startswith("pawns"))
    assert pawns[8] == (1 if view == "white" else -1)  # a2, White's
    assert pawns[40] == (-1 if view == "white" else 1)  # a6, Black's, who moves
    assert pawns[36] == (1 if view == "white" else -1)  # e5
    who = next(values for name, values in found.items() if name.startswith("who moves"))
    assert set(who) == {-1 if view == "white" else 1}


@pytest.mark.parametrize(
    ("planes", "attacks", "rights", "rating"),
    list(product(BOARD_ENCODINGS, ("none", "pieces"), (False, True), (False, True))),
)
def test_movers(planes: str, attacks: str, rights: bool, rating: bool) -> None:
    settings = chessnet.Settings(
        planes=planes, attacks=attacks, rights_planes=rights, rating_plane=rating, layers="4conv3x3p1", networks="piece"
    )
    found = shown(chessnet.SYSTEM.network(settings), BLACK_MOVES)
    if planes == "12":
        assert np.flatnonzero(found["own pawns"]).tolist() == [35, 40, 49, 50, 52, 53, 54, 55]
        assert found["the other side's knights"][21] == 1  # f3
    if rights:
        assert set(found["own right to castle to the king's side"]) == {1}
    if rating:
        assert 0 < found["rating of the mover (600: 0, 3000: 1)"][0] < 1


def test_human() -> None:
    network = human.SYSTEM.network(human.Settings(blocks=1, filters=4))
    found = shown(network, BLACK_MOVES)
    assert np.flatnonzero(found["own pawns"]).tolist() == [35, 40, 49, 50, 52, 53, 54, 55]
    assert not found["the last move came from"].any(), "the board does not tell it yet"


def test_en_passant_is_on_its_square() -> None:
    settings = chessnet.Settings(rights_planes=True, layers="4conv3x3p1", networks="piece")
    network = chessnet.SYSTEM.network(settings)
    for moves, square in ((["e2e4", "a7a6", "e4e5", "d7d5"], 43), (["a2a3", "e7e5", "a3a4", "e5e4", "d2d4"], 19)):
        found = shown(network, chess_lines.read_line({"moves": moves}))
        passed = found["passed over by a pawn just now (en passant)"]
        assert np.flatnonzero(passed).tolist() == [square]


def test_comparer() -> None:
    network = deepchess.SYSTEM.network(
        deepchess.Settings(pos2vec="4.4", compare="4", small_pos2vec="4", small_compare="4")
    )
    found = shown(network, BLACK_MOVES)
    assert np.flatnonzero(found["White's knights"]).tolist() == [1, 21]
    assert set(found["White is to move"]) == {0}
    assert set(found["Black's right to castle to the queen's side"]) == {1}


@pytest.mark.parametrize(("liberties", "recent", "ages"), list(product((3, 6), (0, 1, 8), (False, True))))
def test_owners(liberties: int, recent: int, ages: bool) -> None:
    settings = gocnn.Settings(liberties=liberties, recent=recent, ages=ages, layers="4conv3x3p1", last=1, sizes="9,19")
    line = random_go(3, 25, 9)
    found = shown(gocnn.GoNet(settings), line)
    assert len(found) == BoardPlanes(19, liberties, recent, ages).channels + 1
    board = line.board()
    mine = sum(values for name, values in found.items() if name.startswith("own stones"))
    grid = [row * 19 + column for row in range(9) for column in range(9)]
    assert mine.tolist() == [int(board[point] == board.to_move) for point in grid]
    assert set(found["the board"]) == {1}
    if recent:
        assert np.flatnonzero(found["the last move"]).tolist() == [grid.index(line.moves[-1])]
    chains = found[next(name for name in found if name.startswith("chains"))]
    assert (chains > 0).tolist() == [bool(board[point]) for point in grid]
    numbers = sorted(set(chains[chains > 0]))
    assert numbers == list(range(1, len(numbers) + 1))


def test_chains_of_a_network_that_is_given_them() -> None:
    line = go_lines.read_line({"size": 9, "moves": ["A9", "E5", "B9", "E4", "A7", "E3"]})
    network = gocnn.GoNet(gocnn.Settings(layers="4conv3x3p1.chain", last=1, sizes="9"))
    chains = shown(network, line)["chains (a number for each)"]
    assert chains[:3].tolist() == [1, 1, 0]
    assert chains[18] == 2
    assert chains[[40, 49, 58]].tolist() == [3, 3, 3]


@pytest.mark.parametrize("name", ["winner", "convchess", "chessnet", "chessnet-value"])
def test_packaged_networks_of_chess(client: Client, name: str) -> None:
    found = client.good("/api/planes", {"network": name, "line": BLACK_MOVES.as_json()})["planes"]
    assert all(len(plane["values"]) == 64 for plane in found)


@pytest.mark.parametrize("size", [9, 13, 19])
def test_packaged_network_of_go(client: Client, size: int) -> None:
    found = client.good("/api/planes", {"network": "gocnn", "line": {"game": "go", "size": size, "moves": ["D4"]}})
    assert all(len(plane["values"]) == size * size for plane in found["planes"])
    names = [plane["name"] for plane in found["planes"]]
    assert "the other side's stones with 3 or more liberties" in names
