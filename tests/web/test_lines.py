"""Lines of both games: positions against python-chess and the slow rules of Go, and what is refused."""

from __future__ import annotations

from typing import Any

import chess
import numpy as np
import pytest

from kibitz.games.chess.replay import encode_board as encode_chess
from kibitz.games.go.points import to_gtp
from kibitz.games.go.replay import encode_board
from kibitz.web import positions
from kibitz.web.chess import line as chess_lines
from kibitz.web.go import line as go_lines
from kibitz.web.params import BadRequest
from support.board_client import Client
from support.causes import mentions, naming
from support.random_lines import random_chess, random_go


@pytest.mark.parametrize("seed", range(8))
def test_nodes_of_chess_are_those_of_python_chess(seed: int) -> None:
    moves = random_chess(seed, 120)
    line = chess_lines.read_line({"moves": moves})
    nodes, board = line.nodes(), chess.Board()
    assert len(nodes) == len(moves) + 1
    for ply, node in enumerate(nodes):
        assert node["ply"] == ply
        assert node["fen"] == board.fen()
        assert node["turn"] == ("w" if board.turn else "b")
        assert node["check"] == board.is_check()
        pairs = {(a, b) for a, targets in node["dests"].items() for b in targets}
        assert pairs == {(chess.square_name(m.from_square), chess.square_name(m.to_square)) for m in board.legal_moves}
        assert sum(map(len, node["dests"].values())) == len(pairs)
        if ply < len(moves):
            following = nodes[ply + 1]
            assert following["move"] == moves[ply]
            assert following["san"] == board.san(board.parse_uci(moves[ply]))
            board.push_uci(moves[ply])
    one = chess_lines.read_line({"moves": moves[:-1]}).after(moves[-1])
    assert one == nodes[-1]


@pytest.mark.parametrize(
    ("fen", "moves", "end"),
    [
        (chess.STARTING_FEN, ["f2f3", "e7e5", "g2g4", "d8h4"], "checkmate"),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", [], "stalemate"),
        ("7k/8/6K1/8/8/8/8/8 b - - 0 1", [], "dead"),
        (chess.STARTING_FEN, ["g1f3", "g8f6", "f3g1", "f6g8"] * 2, "repetition"),
        (chess.STARTING_FEN, ["g1f3", "g8f6", "f3g1", "f6g8"], None),
        ("7k/8/6K1/8/8/8/8/R7 b - - 100 80", [], "fifty moves"),
    ],
)
def test_ends_of_chess(fen: str, moves: list[str], end: str | None) -> None:
    assert chess_lines.read_line({"fen": fen, "moves": moves}).nodes()[-1]["end"] == end


@pytest.mark.parametrize("rules", ["chinese", "tromp-taylor", "new-zealand"])
@pytest.mark.parametrize("seed", range(3))
def test_nodes_of_go_are_those_of_the_rules(seed: int, rules: str) -> None:
    line = random_go(seed, 150, rules=rules)
    nodes, board = go_lines.read_line(line.as_json()).nodes(), line.start()
    for ply, node in enumerate(nodes):
        stones = "".join(".BW"[board[row * 19 + column]] for row in range(9) for column in range(9))
        assert node["stones"] == stones
        assert node["turn"] == "bw"[board.to_move - 1]
        legal = set(board.legal(board.to_move))
        assert node["legal"] == "".join(str(int(row * 19 + column in legal)) for row in range(9) for column in range(9))
        assert node["captured"] == {"B": board.captured[2], "W": board.captured[1]}
        assert node["end"] == ("passes" if board.passes > 1 else None)
        if ply < len(line.moves):
            assert nodes[ply + 1]["move"] == to_gtp(line.moves[ply], 9)
            board.play(board.to_move, line.moves[ply])


def test_rows_are_the_positions() -> None:
    line: Any = chess_lines.read_line({"moves": random_chess(3, 60)})
    codes, state = line.rows(7, 31)
    rows = np.stack([encode_chess(board) for board in line.boards()])
    assert len(rows) == 61
    np.testing.assert_array_equal(rows[7:32, :64], codes)
    np.testing.assert_array_equal(rows[7:32, 64:], state)
    line = random_go(3, 60)
    codes, state = line.rows(0, 60)
    some, some_state = line.rows(7, 31)
    np.testing.assert_array_equal(codes[7:32], some)
    np.testing.assert_array_equal(state[7:32], some_state)
    board = line.board()
    np.testing.assert_array_equal(encode_board(board)[0], codes[60])


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("4k3/8/8/8/8/8/8/4K2R w KQkq - 5000 20000", "4k3/8/8/8/8/8/8/4K2R w K - 1000 10000"),
        ("4k3/8/8/8/8/8/8/4K2R w K - 1000 10000", "4k3/8/8/8/8/8/8/4K2R w K - 1000 10000"),
        ("4k3/8/8/8/8/8/8/4K2R b - - 0 0", "4k3/8/8/8/8/8/8/4K2R b - - 0 1"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - e6 0 2", "4k3/8/8/3pP3/8/8/8/4K3 w - - 0 2"),  # no pawn has moved there
        ("4k3/8/8/3p4/8/8/8/4K3 w - d6 0 2", "4k3/8/8/3p4/8/8/8/4K3 w - - 0 2"),  # nobody can take it
        ("4k3/8/8/8/8/8/8/4K2R  w\tK - 0 1", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"),
        ("7k/8/5Q1Q/4QQQQ/8/8/8/QQQ1K3 b - - 0 1", "7k/8/5Q1Q/4QQQQ/8/8/8/QQQ1K3 b - - 0 1"),  # odd, and playable
    ],
)
def test_what_a_start_cannot_have_is_left_out(given: str, taken: str) -> None:
    line = chess_lines.read_line({"fen": given})
    assert line.fen == taken
    assert line.board().castling_rights == chess.Board(taken).castling_rights


def test_a_line_of_exactly_the_limit_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    moves = ["g1f3", "g8f6", "f3g1", "f6g8"]
    monkeypatch.setattr(chess_lines, "MAX_PLIES", 4)
    assert len(chess_lines.read_line({"moves": moves}).nodes()) == 5
    with pytest.raises(BadRequest, match="entries: 5"):
        chess_lines.read_line({"moves": [*moves, "g1f3"]})


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"moves": ["e2e4", "e2e4"]}, "move 2, e2e4 is illegal here"),
        ({"headers": {"TimeControl": 600}}, "headers & strings"),
        ({"moves": ["e9e4"]}, "move 1, e9e4 is not a move"),
        ({"moves": ["00000"]}, "move 1, 00000 is not a move"),
        ({"moves": ["e7e8k"]}, "move 1, e7e8k is not a move"),
        ({"moves": "e2e4"}, "moves & list"),
        ({"moves": [1]}, "moves & list"),
        ({"moves": ["e2e4"] * 10_001}, "moves & 10,001 & 10,000"),
        ({"fen": 3}, "fen & string"),
        ({"fen": "8/8/8/8/8/8/8/8 w - - 0 1"}, "FEN & White & king"),
        ({"fen": "4k3/4R3/8/8/8/8/8/4K3 w - - 0 1"}, "check"),
        ({"fen": "P3k3/8/8/8/8/8/8/4K3 w - - 0 1"}, "pawn"),
        ({"fen": "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"}, "Chess960"),
        ({"fen": "x" * 300}, "the FEN must have at most 200 characters (got 300)"),
        ({"fen": "x"}, "the FEN cannot be read"),
        ({"game": "shogi"}, "game & shogi & chess"),
        ({"game": "go", "size": 15}, "size & 15 & 9 & 13 & 19"),
        ({"game": "go", "size": True}, "size & whole"),
        ({"game": "go", "komi": float("nan")}, "komi & number"),
        ({"game": "go", "komi": 10**400}, "komi & number"),
        ({"game": "go", "rules": "chess"}, "rules must be one of"),
        ({"game": "go", "side": "x"}, "side & x"),
        ({"game": "go", "moves": ["I5"]}, "1 & I5 & 19 & board"),
        ({"game": "go", "moves": ["D4", "D4"]}, "2 & D4 & illegal"),
        ({"game": "go", "setup": {"B": ["D4", "D4"]}}, "stones"),
        ({"game": "go", "setup": {"B": ["A1"], "W": ["A2", "B1"]}}, "liberty"),
        ({"game": "go", "setup": {"B": ["pass"]}}, "not on the board"),
        ({"game": "go", "setup": None}, None),
        ({"game": "go", "setup": []}, "setup & object"),
        ({"game": "go", "setup": [1]}, "setup & object"),
    ],
)
def test_what_is_refused(line: dict[str, Any], told: str | None) -> None:
    if told is None:
        positions.read_line({"line": line})
        return
    with pytest.raises(BadRequest, match=r"^[^\n]+$") as error:
        positions.read_line({"line": line})
    assert mentions(str(error.value), told)


def test_castling_and_en_passant_that_cannot_be_are_left_out() -> None:
    line = chess_lines.read_line({"fen": "4k3/8/8/8/8/8/8/4K2R w KQkq e6 0 1"})
    assert line.fen == "4k3/8/8/8/8/8/8/4K2R w K - 0 1"


def test_moves_as_people_type_them(client: Client) -> None:
    line = {"game": "chess", "moves": ["e2e4", "e7e5"]}
    for typed in ("Nf3", "g1f3", " Nf3 ", "G1F3"):
        node = client.good("/api/move", {"line": line, "move": typed})["node"]
        assert (node["move"], node["san"], node["ply"], node["turn"]) == ("g1f3", "Nf3", 3, "b")
    assert mentions(client.error("/api/move", {"line": line, "move": "Nf6"}), "Nf6 & move")
    assert client.error("/api/move", {"line": line, "move": "e2e4"}) == "e2e4 is illegal here"
    assert client.good("/api/move", {"line": line, "move": "--"})["node"]["move"] == "0000"
    assert client.good("/api/move", {"line": line, "move": "Sf3"})["node"]["move"] == "g1f3"
    assert client.good("/api/move", {"line": line, "move": "♘f3"})["node"]["move"] == "g1f3"
    assert mentions(client.error("/api/move", {"line": line, "move": "Df3x"}), "Df3x & move")
    two = {"game": "chess", "fen": "4k3/8/8/8/8/8/8/R3K2R w - - 0 1"}
    assert "Add the square" in client.error(
        "/api/move", {"line": {**two, "fen": "4k3/8/8/8/8/7K/8/R6R w - - 0 1"}, "move": "Rd1"}
    )
    passed = {"game": "chess", "moves": ["e2e4", "a7a6", "e4e5", "d7d5"]}
    assert client.good("/api/move", {"line": passed, "move": "exd6"})["node"]["move"] == "e5d6"
    for typed in ("Nxf3", "Sxf3", "N:f3", "♘xf3", "nxf3"):
        assert mentions(client.error("/api/move", {"line": line, "move": typed}), f"{typed} & not a capture")
    promoted = {"game": "chess", "fen": "8/P6k/8/8/8/8/8/K7 w - - 0 1"}
    assert client.good("/api/move", {"line": promoted, "move": "a7a8n"})["node"]["san"] == "a8=N"
    go = {"game": "go", "size": 9, "moves": ["D4"]}
    assert client.good("/api/move", {"line": go, "move": "e5"})["node"]["move"] == "E5"
    assert client.good("/api/move", {"line": go, "move": "Pass"})["node"]["move"] == "pass"
    assert mentions(client.error("/api/move", {"line": go, "move": "D4"}), "illegal")
    nodes = client.good("/api/line", {"line": go})["nodes"]
    assert [node["ply"] for node in nodes] == [0, 1]
    assert nodes[0]["move"] is None
    assert nodes[0]["san"] == ""


def test_null_moves_of_chess() -> None:
    """A null move ends one game of a replay and begins the next; every position is the one of python-chess."""
    moves = ["e2e4", "0000", "d2d4", "0000", "c2c4", "e7e5", "g1f3"]
    line = chess_lines.read_line({"moves": moves})
    rows = np.concatenate(line.rows(0, 7), 1)
    for row, board in zip(rows, line.boards(), strict=True):
        assert (row == encode_chess(board)).all()
    assert (np.concatenate(line.rows(3, 5), 1) == rows[3:6]).all()
    assert [n["san"] for n in line.nodes()] == ["", "e4", "--", "d4", "--", "c4", "e5", "Nf3"]
    assert [move.uci() for move in line.since_null().move_stack] == moves[4:]
    assert line.since_null().fen() == line.board().fen()
    with pytest.raises(BadRequest, match=naming("side")):
        chess_lines.read_line({"moves": ["e2e4", "f7f6", "d1h5", "0000"]})


def test_a_search_of_go_is_told_the_handicap() -> None:
    given = {"game": "go", "size": 9, "rules": "japanese", "komi": 0.5, "setup": {"B": ["C3", "G7"]}, "moves": []}
    line = positions.read_line({"line": {**given, "side": "w"}})
    assert isinstance(line, go_lines.GoLine)
    assert (line.handicap, line.terms.handicap) == (2, 2)
