"""Players over HTTP."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import chess
import pytest

import kibitz
from kibitz.games.go.points import PASS, from_gtp
from kibitz.play.go.imitation import STRONGEST, WEAKEST, ranks
from support.board_client import Client, until
from support.causes import mentions
from support.patience import PATIENCE


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("chessnet", None), ("chessnet", "top-prob"), ("chessnet", "top-move"), ("chessnet", "value-negamax"),
        ("convchess", None), ("chessnet-value", None),
    ],
)  # fmt: skip
def test_chess(client: Client, name: str, method: str | None) -> None:
    line = {"game": "chess", "moves": ["e2e4"]}
    asked = {"network": name, "line": line, "method": method, "seconds": 0.3, "seq": 9}
    lines = client.stream("/api/think", asked)
    assert all(found["seq"] == 9 for found in lines)
    assert lines[-1].keys() == {"seq", "move", "done"}
    board = chess.Board()
    board.push_uci("e2e4")
    assert board.is_legal(chess.Move.from_uci(lines[-1]["move"]))
    for found in lines[:-1]:
        assert len(found["pv"]) == len(found["san"]) >= 1
        assert 0 <= found["white"] <= 1
    assert lines[-2]["pv"][0] == lines[-1]["move"]


def test_scores_are_whites(client: Client) -> None:
    for fen, sign in (("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", 1), ("r3k3/8/8/8/8/8/5PPP/6K1 b - - 0 1", -1)):
        lines = client.stream(
            "/api/think", {"network": "chessnet", "line": {"game": "chess", "fen": fen}, "seconds": 5}
        )
        found = lines[-2]
        assert found["mate"] == sign
        assert found["score"] * sign > 5
        assert found["white"] == (1 if sign > 0 else 0)
        assert found["san"][0].endswith("#")


def test_nodes_are_a_limit(client: Client) -> None:
    line = {"game": "chess"}
    lines = client.stream("/api/think", {"network": "chessnet", "line": line, "nodes": 60, "seconds": None})
    assert 0 < lines[-2]["nodes"] <= 60


def test_there_may_be_no_move(client: Client) -> None:
    mate = {"game": "chess", "moves": ["f2f3", "e7e5", "g2g4", "d8h4"]}
    assert client.stream("/api/think", {"network": "chessnet", "line": mate})[-1] == {
        "seq": 0,
        "move": None,
        "done": True,
    }


def test_go(client: Client) -> None:
    line = {"game": "go", "size": 9, "moves": ["E5", "C3"]}
    lines = client.stream("/api/think", {"network": "gocnn", "line": line, "seconds": 0.2, "seq": 4})
    client.good("/api/move", {"line": line, "move": lines[-1]["move"]})
    assert lines[0]["pv"] == lines[0]["san"]
    assert 0 <= lines[0]["black"] <= 1


def test_nodes_are_a_limit_of_a_search_of_go(client: Client) -> None:
    asked = {"network": "gohuman", "line": {"game": "go", "size": 9, "moves": ["E5"]}, "nodes": 12, "seconds": None}
    lines = client.stream("/api/think", asked)
    assert 0 < lines[-2]["nodes"] <= 16  # and a look at a pass
    assert 0 < client.stream("/api/think", {**asked, "seconds": 500})[-2]["nodes"] <= 16  # whichever comes first


def test_how_long_people_think(client: Client) -> None:
    line = {"game": "chess", "moves": ["e2e4", "e7e5"]}
    asked = {"network": "human", "line": line, "method": "top-prob", "temperature": 1, "rating": 1500}
    times = [
        client.stream("/api/think", {**asked, "clock": left, "increment": 2, "start": 600})[-1]["people_seconds"]
        for left in (500, 20)
        for _ in range(5)
    ]
    assert all(0 <= each <= 250 for each in times[:5])
    assert all(0 <= each <= 10 for each in times[5:])
    assert "people_seconds" not in client.stream("/api/think", asked)[-1]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"network": "winner"}, "winner & moves"),
        ({"network": "chessnet", "clock": 60}, "clock & people & chessnet"),
        ({"network": "human", "clock": -1}, "clock & 0 & number"),
        ({"network": "convchess", "method": "topprob-negamax"}, "convchess & 'topprob-negamax' & method"),
        ({"network": "chessnet", "method": 3}, "method & string"),
        ({"network": "chessnet", "temperature": -1}, "temperature & 0 & 2 & number"),
        ({"network": "chessnet", "seconds": 1e9}, "seconds & 0 & 600 & number"),
        ({"network": "chessnet", "nodes": 1.5}, "nodes & whole"),
    ],
)
def test_what_cannot_be_played(client: Client, asked: dict[str, Any], told: str) -> None:
    assert mentions(client.error("/api/think", {"line": {"game": "chess"}, **asked}), told)


def test_a_thought_ends_when_nobody_waits_for_it(shared: tuple[Client, Any]) -> None:
    client, board = shared
    for name, line in (("chessnet", {"game": "chess"}), ("gocnn", {"game": "go"})):
        asked = {"network": name, "line": line, "seconds": 600}
        with client.lines("/api/think", asked) as lines:
            next(lines)
            assert board.workers.worker(f"player {name}").busy
        until(lambda name=name: not board.workers.worker(f"player {name}").busy)
    begun = time.monotonic()
    client.stream("/api/think", {"network": "chessnet", "line": {"game": "chess"}, "seconds": 0.1})
    assert time.monotonic() - begun < PATIENCE


def test_a_rating_to_play_like(client: Client) -> None:
    line = {"game": "chess", "moves": ["e2e4"]}
    asked = {"network": "human", "line": line, "method": "top-prob", "temperature": 1, "seconds": 1}
    lines = client.stream("/api/think", {**asked, "rating": 1000})
    board = chess.Board()
    board.push_uci("e2e4")
    assert board.is_legal(chess.Move.from_uci(lines[-1]["move"]))
    networks = {each["name"]: each["rated"] for each in client.get("/api/networks").json["networks"]}
    assert networks["human"]
    assert not networks["chessnet"]


def test_a_rank_to_play_like(client: Client) -> None:
    line = {"game": "go", "size": 9, "moves": ["E5", "E3", "C4"]}
    asked = {"network": "gohuman", "line": line, "temperature": 0, "seconds": 1}
    networks = {each["name"]: each["ranked"] for each in client.get("/api/networks").json["networks"]}
    assert networks["gohuman"]
    assert not networks["gocnn"]
    assert not networks["human"]
    # Without randomness, the most likely move: the ranks prefer different ones.
    moves = {rank: client.stream("/api/think", {**asked, "rank": rank})[-1]["move"] for rank in ("15k", "9d")}
    assert all(
        from_gtp(move, 9) not in (PASS, *(from_gtp(each, 9) for each in line["moves"])) for move in moves.values()
    )
    assert moves["15k"] != moves["9d"]


def test_the_page_offers_ranks_that_can_be_imitated() -> None:
    source = Path(kibitz.__file__).parents[2] / "frontend" / "src" / "play" / "strengths.ts"
    if not source.is_file():
        pytest.skip("the source tree is not here")
    listed = re.search(r"const RANKS = (\[.*\]);", source.read_text(encoding="utf-8"))
    assert listed
    offered = json.loads(listed[1])
    assert offered == [rank for rank in ranks() if rank in offered]
    assert (offered[0], offered[-1]) == (WEAKEST, STRONGEST)


@pytest.mark.parametrize(
    ("name", "game", "rank", "told"),
    [
        ("gohuman", "go", "strong", "rank & 15k & 9d & strong"), ("gohuman", "go", 5, "rank & string"),
        ("gocnn", "go", "5k", "gocnn & rank"), ("human", "chess", "5k", "human & rank"),
    ],
)  # fmt: skip
def test_a_rank_that_cannot_be_played(client: Client, name: str, game: str, rank: object, told: str) -> None:
    assert mentions(client.error("/api/think", {"network": name, "line": {"game": game}, "rank": rank}), told)


@pytest.mark.parametrize(("name", "rating"), [("human", 700), ("human", 3000), ("chessnet", 1500)])
def test_a_rating_that_cannot_be_played(client: Client, name: str, rating: int) -> None:
    assert "rating" in client.error("/api/think", {"network": name, "line": {"game": "chess"}, "rating": rating})
