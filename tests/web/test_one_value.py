"""A position is worth the same wherever one asks: list, curve, Compare, Python, and the UCI engine."""

from __future__ import annotations

import sys

import chess
import chess.engine
import pytest

import kibitz
from kibitz.analysis.chess.limits import NODES
from support.board_client import Client
from support.causes import mentions

MOVES = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "a7a6", "e1g1", "d7d6", "f3g5"]
START = chess.STARTING_FEN
CASES = [
    (START, []),
    (START, MOVES[:6]),
    (START, MOVES),
    ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", []),
    ("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 0 4", ["h7h6"]),
    ("8/8/8/4k3/8/8/8/KQ6 w - - 0 1", []),
    ("8/8/8/4k3/8/8/8/KQ6 w - - 0 1", ["a1a2"]),
]


def values(client: Client, network: str, fen: str, moves: list[str]) -> dict[str, float]:
    """What the board's server and Python say."""
    line = {"game": "chess", "fen": fen, "moves": moves}
    request = {"network": network, "line": line, "seq": 1}
    curve = client.stream("/api/judge", {**request, "from": len(moves), "to": len(moves)})
    board = chess.Board(fen)
    for move in moves:
        board.push_uci(move)
    found = {
        "curve": curve[-2]["white"]["after"],
        "compare": client.stream("/api/value", request)[-1]["chance"],
        "python": round(kibitz.load_network(network).value_position(board).chance, 4),
    }
    if network != "winner":
        found["list"] = client.stream("/api/candidates", request)[-1]["lines"][0]["white"]
    return found


@pytest.mark.parametrize(("fen", "moves"), CASES)
@pytest.mark.parametrize("network", ["chessnet", "winner"])
def test_server_and_python_agree(client: Client, network: str, fen: str, moves: list[str]) -> None:
    found = values(client, network, fen, moves)
    assert len(set(found.values())) == 1, found
    if fen.startswith("kbK5") or moves == ["h7h6"]:
        assert set(found.values()) == {1.0}
    if fen.startswith("8/8"):
        assert min(found.values()) > 0.95


def test_the_engine_agrees_with_one_line_and_with_five(client: Client) -> None:
    command = [sys.executable, "-m", "kibitz", "uci", "chessnet"]
    with chess.engine.SimpleEngine.popen_uci(command, timeout=600) as engine:
        engine.configure({"UCI_ShowWDL": True})
        for fen, moves in CASES:
            board = chess.Board(fen)
            for move in moves:
                board.push_uci(move)
            wanted = values(client, "chessnet", fen, moves)["list"]
            for lines in (1, 5):
                limit = chess.engine.Limit(nodes=NODES if lines == 1 else 2 * NODES)
                infos = engine.analyse(board, limit, multipv=lines, game=object())
                assert infos[0]["wdl"].white().expectation() == pytest.approx(wanted, abs=1e-4), (fen, lines)
                assert len(infos) == min(lines, board.legal_moves.count())


def test_the_two_halves_of_a_comparison_are_searched(client: Client) -> None:
    """What cannot be searched says so, and what is over is not searched."""
    line = {"game": "chess", "moves": MOVES}
    assert mentions(client.error("/api/value", {"network": "convchess", "line": line}), "convchess & evaluate")
    assert client.stream("/api/value", {"network": "winner", "line": line})[-1]["source"] == "search"
    ended = {"game": "chess", "moves": ["f2f3", "e7e5", "g2g4", "d8h4"]}
    last = client.stream("/api/value", {"network": "winner", "line": ended})[-1]
    assert (last["source"], last["chance"]) == ("rules", 0.0)
