"""The planes that the page shows are those that the networks are given, for every setting, on real squares."""

from __future__ import annotations

import importlib
from dataclasses import asdict, replace
from itertools import product
from typing import Any, cast

import chess
import numpy as np
import pytest
import torch
from torch import nn

from kibitz.games.chess.encodings import BOARD_ENCODINGS, AttackPlanes, PieceBits
from kibitz.games.chess.planes import ATTACKS, BOARDS, OWN_AND_OTHERS, attacks
from kibitz.games.go.encodings import BoardPlanes
from kibitz.runs import with_default_side_inputs
from kibitz.store.store import Store
from kibitz.systems import SYSTEMS, chessnet, convchess, deepchess, gocnn, gohuman, human, winner
from kibitz.web.chess import line as chess_lines
from kibitz.web.go import line as go_lines
from support.board_client import Client
from support.causes import mentions
from support.random_lines import random_go


def shown(system: str, network: Any, settings: Any, line: Any) -> dict[str, Any]:
    """The named planes of a line's last position; a run that knows no settings has those of the defaults."""
    codes, state = line.rows(len(line.moves), len(line.moves))
    state = with_default_side_inputs(state, network.side_inputs)
    module, _, function = SYSTEMS[system].planes.partition(":")
    named_planes = getattr(importlib.import_module(module), function)
    told = {} if settings == type(settings)() else asdict(settings)
    named: dict[str, Any] = named_planes(told, codes[0], state[0])
    assert {values.dtype for values in named.values()} == {np.dtype(np.float32)}
    return named


def check_given(network: nn.Module, line: Any, named: dict[str, Any], flipped: bool = False) -> None:
    """The first convolution is given just these planes, on a grid that may be larger; flipped: in a mover's view."""
    found: list[Any] = []
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            module.register_forward_pre_hook(lambda _, given: found.append(given[0].numpy()))
    codes, state = line.rows(len(line.moves), len(line.moves))
    state = with_default_side_inputs(state, cast(Any, network).side_inputs)
    with torch.inference_mode():
        network.eval()(torch.from_numpy(codes), torch.from_numpy(state))
    given = found[0][0]
    side = int(len(next(iter(named.values()))) ** 0.5)
    planes = np.stack(list(named.values())).reshape(len(named), side, side)
    np.testing.assert_array_equal(planes[:, ::-1] if flipped else planes, given[:, :side, :side])


BLACK_MOVES = chess_lines.read_line({"moves": ["e2e4", "a7a6", "e4e5", "d7d5", "g1f3"]})


@pytest.mark.parametrize(("attacks", "view"), list(product(ATTACKS, ("white", "mover"))))
def test_winner(attacks: str, view: str) -> None:
    settings = winner.Settings(attacks=attacks, view=view, layers="4conv3x3p1")
    network = winner.Winner(settings)
    found = shown("winner", network, settings, BLACK_MOVES)
    check_given(network, BLACK_MOVES, found, view == "mover")
    pawns = next(values for name, values in found.items() if name.startswith("pawns"))
    assert pawns[8] == (1 if view == "white" else -1)  # a2, White's
    assert pawns[40] == (-1 if view == "white" else 1)  # a6, Black's, who moves
    assert pawns[36] == (1 if view == "white" else -1)  # e5
    who = next(values for name, values in found.items() if name.startswith("side to move"))
    assert set(who) == {-1 if view == "white" else 1}


@pytest.mark.parametrize(
    ("planes", "attacks", "rights", "rating"),
    list(product(BOARD_ENCODINGS, ("none", "pieces"), (False, True), (False, True))),
)
def test_movers(planes: str, attacks: str, rights: bool, rating: bool) -> None:
    settings = chessnet.Settings(
        planes=planes, attacks=attacks, rights_planes=rights, rating_plane=rating, layers="4conv3x3p1", networks="piece"
    )
    network = chessnet.SYSTEM.network(settings)
    found = shown("chessnet", network, settings, BLACK_MOVES)
    check_given(network, BLACK_MOVES, found, flipped=True)
    if planes == "12":
        assert np.flatnonzero(found["own pawns"]).tolist() == [35, 40, 49, 50, 52, 53, 54, 55]
        assert found["the other side's knights"][21] == 1  # exact: a key; f3
    if rights:
        assert set(found["own right to castle to the king's side"]) == {1}
    if rating:
        assert 0 < next(values for name, values in found.items() if name.startswith("rating"))[0] < 1


def test_human() -> None:
    settings = human.Settings(blocks=1, filters=4)
    network = human.SYSTEM.network(settings)
    found = shown("human", network, settings, BLACK_MOVES)
    check_given(network, BLACK_MOVES, found, flipped=True)
    assert np.flatnonzero(found["own pawns"]).tolist() == [35, 40, 49, 50, 52, 53, 54, 55]
    assert not found["origin of the last move"].any(), "the board does not tell it yet"


def test_gohuman() -> None:
    settings = gohuman.Settings(blocks=1, filters=8)
    network = gohuman.SYSTEM.network(settings)
    line = random_go(3, 25, 9)
    found = shown("gohuman", network, settings, line)
    check_given(network, line, found)
    assert "the move 5 moves ago" in found


@pytest.mark.parametrize("system", [winner, convchess, chessnet, gocnn])
def test_a_run_without_a_setting_has_its_default(system: Any) -> None:
    settings = system.Settings()
    network, line = system.SYSTEM.network(settings), random_go(3, 25, 9) if system is gocnn else BLACK_MOVES
    name = system.SYSTEM.name
    assert list(shown(name, network, settings, line)) == list(
        shown(name, network, replace(settings, batch=settings.batch + 1), line)
    )


def test_every_encoding_of_the_board_has_its_planes() -> None:
    assert BOARDS.keys() == BOARD_ENCODINGS.keys()


@pytest.mark.parametrize("kind", ATTACKS[1:])
def test_attacks_are_those_of_the_encoding(bundled_store: Store, kind: str) -> None:
    random = np.random.default_rng(5)
    games = random.integers(0, len(bundled_store), 60)
    plies = (random.random(60) * (bundled_store.plies[games] + 1)).astype(np.int64)
    codes, state = bundled_store.replay(games, plies)
    encoded = AttackPlanes(kind)(torch.from_numpy(codes), torch.from_numpy(state)).flatten(2).numpy()
    for one, planes in zip(codes, encoded, strict=True):
        np.testing.assert_array_equal(np.stack(list(attacks(one, kind, OWN_AND_OTHERS).values())), planes)


def test_en_passant_is_on_its_square() -> None:
    settings = chessnet.Settings(rights_planes=True, layers="4conv3x3p1", networks="piece")
    network = chessnet.SYSTEM.network(settings)
    for moves, square in ((["e2e4", "a7a6", "e4e5", "d7d5"], 43), (["a2a3", "e7e5", "a3a4", "e5e4", "d2d4"], 19)):
        line = chess_lines.read_line({"moves": moves})
        found = shown("chessnet", network, settings, line)
        check_given(network, line, found, flipped=len(moves) % 2 == 1)
        passed = found["square that a pawn has just passed (en passant)"]
        assert np.flatnonzero(passed).tolist() == [square]


def test_comparer() -> None:
    settings = deepchess.Settings(pos2vec="4.4", compare="4", small_pos2vec="4", small_compare="4")
    found = shown("deepchess", deepchess.SYSTEM.network(settings), settings, BLACK_MOVES)
    codes, state = BLACK_MOVES.rows(5, 5)
    bits = PieceBits()(torch.from_numpy(codes), torch.from_numpy(state))[0].numpy()
    boards = [values if i < 12 else values[:1] for i, values in enumerate(found.values())]
    np.testing.assert_array_equal(np.concatenate(boards), bits)
    assert np.flatnonzero(found["White's knights"]).tolist() == [1, 21]
    assert set(found["White is to move"]) == {0}
    assert set(found["Black's right to castle to the queen's side"]) == {1}


@pytest.mark.parametrize(("liberties", "recent", "ages"), list(product((3, 6), (0, 1, 8), (False, True))))
def test_owners(liberties: int, recent: int, ages: bool) -> None:
    settings = gocnn.Settings(liberties=liberties, recent=recent, ages=ages, layers="4conv3x3p1", last=1, sizes="9,19")
    line = random_go(3, 25, 9)
    network = gocnn.GoNet(settings)
    found = shown("gocnn", network, settings, line)
    check_given(network, line, dict(list(found.items())[:-1]))
    assert len(found) == BoardPlanes(19, liberties, recent, ages).channels + 1
    board = line.board()
    mine = sum(values for name, values in found.items() if name.startswith("own stones"))
    grid = [row * 19 + column for row in range(9) for column in range(9)]
    assert mine.tolist() == [int(board[point] == board.to_move) for point in grid]
    assert set(found["intersections of the board"]) == {1}
    if recent:
        assert np.flatnonzero(found["the last move"]).tolist() == [grid.index(line.moves[-1])]
    chains = found[next(name for name in found if name.startswith("chains"))]
    assert (chains > 0).tolist() == [bool(board[point]) for point in grid]
    numbers = sorted(set(chains[chains > 0]))
    assert numbers == list(range(1, len(numbers) + 1))


def test_chains_of_a_network_that_is_given_them() -> None:
    line = go_lines.read_line({"size": 9, "moves": ["A9", "E5", "B9", "E4", "A7", "E3"]})
    settings = gocnn.Settings(layers="4conv3x3p1.chain", last=1, sizes="9")
    chains = shown("gocnn", gocnn.GoNet(settings), settings, line)["chains (a number for each)"]
    assert chains[:3].tolist() == [1, 1, 0]
    assert chains[18] == 2
    assert chains[[40, 49, 58]].tolist() == [3, 3, 3]


@pytest.mark.parametrize("name", ["winner", "convchess", "chessnet", "chessnet-value", "human", "deepchess"])
def test_packaged_networks_of_chess(client: Client, name: str) -> None:
    found = client.good("/api/planes", {"network": name, "line": BLACK_MOVES.as_json()})["planes"]
    assert all(len(plane["values"]) == 64 for plane in found)


def test_last_moves_and_ratings_of_the_line_are_shown(client: Client) -> None:
    line = {"game": "chess", "moves": ["e2e4", "a7a6", "e4e5", "d7d5", "g1f3"], "ratings": [1500, 2100]}
    found = client.good("/api/planes", {"network": "human", "line": line})["planes"]
    one = {plane["name"]: np.flatnonzero(plane["values"]).tolist() for plane in found if sum(plane["values"]) == 1}
    squares = [name for name, on in one.items() if on in ([chess.G1], [chess.F3], [chess.D7], [chess.D5])]
    assert len([name for name in squares if "move" in name]) == 4


@pytest.mark.parametrize("size", [9, 13, 19])
def test_packaged_network_of_go(client: Client, size: int) -> None:
    found = client.good("/api/planes", {"network": "gocnn", "line": {"game": "go", "size": size, "moves": ["D4"]}})
    assert all(len(plane["values"]) == size * size for plane in found["planes"])
    names = [plane["name"] for plane in found["planes"]]
    assert mentions(names, "3 & side")
