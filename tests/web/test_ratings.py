"""Moves and risk by rating on the page are those of the other interfaces."""

from __future__ import annotations

import chess
import pytest

import kibitz
from kibitz.analysis.chess.risk import RISK_RATINGS
from kibitz.web.chess.ratings import RATINGS
from support.board_client import Client
from support.causes import mentions

MOVES = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4"]
"""Now players of a low rating often allow Ng5."""


def asked(moves: list[str], network: str = "human", **more: object) -> dict[str, object]:
    return {"network": network, "line": {"game": "chess", "moves": moves, **more}}


def test_moves_and_risk_by_rating_are_those_of_the_analysis(client: Client) -> None:
    found = client.good("/api/ratings", asked(MOVES))
    assert tuple(found["ratings"]) == RATINGS
    game = kibitz.analyse("1. e4 e5 2. Nf3 Nc6 3. Bc4 h6 *", "human", nodes=20)
    judged = game.moves[-1].judged  # type: ignore[union-attr]
    assert judged is not None
    for rating, risk in zip(RISK_RATINGS, judged.risks, strict=True):
        assert found["risk"][RATINGS.index(rating)] == pytest.approx(risk, abs=1e-3)
    by_move = {each["move"]: each for each in found["moves"]}
    result = client.stream("/api/analyse", {**asked(MOVES), "from": 5, "to": 5, "seq": 1})
    weak, strong = next(line for line in result if "by_rating" in line)["by_rating"]
    for compared in (weak, strong):
        first = compared["moves"][0]
        assert by_move[first["move"]]["p"][RATINGS.index(compared["rating"])] == pytest.approx(first["p"], abs=1e-3)
    assert all(len(each["p"]) == len(RATINGS) for each in found["moves"])
    # Every legal move is there, so the page can replace the estimate of any move that a search has evaluated.
    board = chess.Board()
    for name in MOVES:
        board.push_uci(name)
    assert set(by_move) == {move.uci() for move in board.legal_moves}
    for at, risk in enumerate(found["risk"]):
        assert sum(each["p"][at] for each in found["moves"]) == pytest.approx(1, abs=0.003)
        parts = sum(each["p"][at] * each["mistake"][at] for each in found["moves"])
        assert parts == pytest.approx(risk, abs=0.003)


def test_the_only_legal_move_is_no_mistake(client: Client) -> None:
    found = client.good("/api/ratings", asked([], fen="7k/8/8/8/8/8/r7/7K w - - 0 1"))
    assert [each["move"] for each in found["moves"]] == ["h1g1"]
    assert set(found["moves"][0]["mistake"]) == set(found["risk"]) == {0.0}


def test_stronger_players_go_wrong_less_often(client: Client) -> None:
    risk = client.good("/api/ratings", asked(MOVES))["risk"]
    assert 0 < risk[-1] < risk[0] < 1


def test_without_a_legal_move_there_is_nothing(client: Client) -> None:
    mate = ["f2f3", "e7e5", "g2g4", "d8h4"]
    assert client.good("/api/ratings", asked(mate)) == {"ratings": list(RATINGS), "moves": [], "risk": None}
    assert client.good("/api/ratings", asked(mate[:3]))["moves"]


def test_only_networks_with_ratings_are_asked(client: Client) -> None:
    assert client.good("/api/ratings", asked(MOVES))
    assert mentions(client.error("/api/ratings", asked(MOVES, "chessnet")), "chessnet")
    go = {"network": "gohuman", "line": {"game": "go", "size": 9, "moves": []}}
    assert mentions(client.error("/api/ratings", go), "chess")
