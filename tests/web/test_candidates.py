"""A single move judged with the answer to it, and candidate moves with their values, through the board's API."""

from __future__ import annotations

import importlib
from typing import Any

import chess
import pytest

from kibitz.analysis.go import better
from kibitz.play.go import value
from support.board_client import Client, until
from support.causes import mentions

HANGS = "e2e4 e7e5 d1h5 b8c6 h5e5"
HANGS_TOO = "e2e4 e7e5 b1c3 d8h4 g1f3 h4e4"


def chess_line(moves: str) -> dict[str, Any]:
    return {"game": "chess", "moves": moves.split()}


def go_line(*moves: str) -> dict[str, Any]:
    return {"game": "go", "size": 9, "komi": 6.5, "moves": list(moves)}


def check(client: Client, network: str, line: Any) -> dict[str, Any]:
    (answer,) = client.stream("/api/check", {"network": network, "line": line, "seq": 3})
    assert "error" not in answer, answer
    assert answer["done"]
    assert answer["seq"] == 3
    return answer


@pytest.mark.parametrize("network", ["winner", "chessnet"])
@pytest.mark.parametrize(("moves", "reply"), [(HANGS, "Nxe5"), (HANGS_TOO, "Nxe4")])
def test_a_hung_queen_is_a_blunder_of_either_side(client: Client, network: str, moves: str, reply: str) -> None:
    found = check(client, network, chess_line(moves))
    assert found["mark"] == "??"
    assert found["reply"][0] == reply
    assert found["before"] - found["after"] == pytest.approx(found["loss"], abs=2e-4)
    assert found["loss"] > 0.3
    assert found["points"] is None


def test_mate_is_the_reply(client: Client) -> None:
    found = check(client, "winner", chess_line("f2f3 e7e5 g2g4"))
    assert (found["mark"], found["after"], found["reply"]) == ("??", 0.0, ["Qh4#"])


def test_a_usual_move_is_none(client: Client) -> None:
    found = check(client, "chessnet", chess_line("e2e4 e7e5 g1f3"))
    assert (found["mark"], found["reply"]) == ("", [])
    mate = check(client, "winner", chess_line("f2f3 e7e5 g2g4 d8h4"))
    assert (mate["mark"], mate["after"]) == ("", 1.0)


WALLS = "D5 E5 D4 E4 D6 E6 D3 E3 D7 E7 D2 E2 D8 E8 D1 E1"
"""Black has four columns of nine and the move at the top, which decides who gets the fifth."""


def test_a_wasted_move_of_go_is_searched_longer(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    visits: list[int] = []

    def counted(network: Any, board: Any, terms: Any, times: int, **more: Any) -> Any:
        visits.append(times)
        return search_board(network, board, terms, times, **more)

    search_board = value.search_board
    monkeypatch.setattr(value, "search_board", counted)
    monkeypatch.setattr(better, "LONG_VISITS", 40)
    monkeypatch.setattr(value, "VISITS", 20)
    found = check(client, "gohuman", go_line(*WALLS.split(), "A1"))
    assert found["mark"] == "??"
    assert found["points"] > 5
    assert found["reply"]
    assert found["line"]
    assert found["line"][0] != "A1"
    assert found["before"] > found["after"]
    assert 40 in visits
    visits.clear()
    assert check(client, "gohuman", go_line("E5"))["mark"] in ("", "?!")
    assert set(visits) == {20}


@pytest.mark.parametrize(
    ("network", "line", "why"),
    [
        ("winner", chess_line(""), "no move to check"),
        ("winner", chess_line("e2e4 0000"), "no move to check"),
        ("gohuman", go_line(), "no move to check"),
        ("convchess", chess_line("e2e4"), "evaluate"),
    ],
)
def test_moves_that_are_not_judged(client: Client, network: str, line: Any, why: str) -> None:
    (answer,) = client.stream("/api/check", {"network": network, "line": line})
    assert mentions(answer["error"], why)


def candidates(client: Client, network: str, line: Any) -> list[dict[str, Any]]:
    answer = client.stream("/api/candidates", {"network": network, "line": line, "seq": 4})[-1]
    assert answer["done"]
    lines: list[dict[str, Any]] = answer["lines"]
    return lines


def test_a_likely_move_outside_the_best_has_the_value_that_it_has_once_played(client: Client) -> None:
    played = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7"
    line = chess_line(played)
    best = candidates(client, "human", line)
    board = chess.Board()
    for move in played.split():
        board.push_uci(move)
    asked = [
        best[0]["moves"][0],
        *sorted({move.uci() for move in board.legal_moves} - {one["moves"][0] for one in best})[:2],
    ]
    body = {"network": "human", "line": line, "seq": 4}
    found = client.stream("/api/candidates", {**body, "moves": asked})[-1]["lines"]
    assert [one["moves"][0] for one in found] == [*(one["moves"][0] for one in best), *asked[1:]]
    for one in found[len(best) :]:
        after = {"network": "human", "line": chess_line(f"{played} {one['moves'][0]}")}
        assert one["white"] == client.stream("/api/value", after)[-1]["chance"]
    assert "a1a8" in client.stream("/api/candidates", {**body, "moves": ["a1a8"]})[-1]["error"]


@pytest.mark.parametrize(
    ("network", "line", "likely"),
    [("chessnet", chess_line("e2e4"), ["a7a6"]), ("gohuman", go_line("E5"), ["A1", "J9"])],
)
def test_a_search_is_told_before_the_values_of_more_moves(
    client: Client, network: str, line: Any, likely: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module(f"kibitz.web.{line['game']}.candidates")
    body = {"network": network, "line": line, "seq": 4}
    found = module.search

    def few(*given: Any) -> Any:  # so that some likely moves are not among the best
        best = found(*given)
        return {**best, "lines": best["lines"][:1]}

    monkeypatch.setattr(module, "search", few)
    answers = client.stream("/api/candidates", {**body, "moves": likely})
    place = next(at for at, each in enumerate(answers) if each.get("searched"))
    assert len(answers[place]["lines"]) == 1
    assert len(answers[-1]["lines"]) == 1 + len(likely)
    assert "searched" not in answers[-1]
    # What the search has found is not searched again.
    monkeypatch.setattr(module, "search", None)
    alone = client.stream("/api/candidates", {**body, "moves": likely, "searched": True})
    assert alone[-1]["lines"] == answers[-1]["lines"][1:]
    assert not any(each.get("searched") for each in alone)


def test_a_point_outside_the_best_has_the_value_that_it_has_once_played(client: Client) -> None:
    line = {**go_line("E5"), "komi": 7.5}
    best = {one["moves"][0] for one in candidates(client, "gohuman", line)}
    (asked,) = [name for name in ("A1", "J9") if name not in best][:1]
    body = {"network": "gohuman", "line": line, "seq": 4, "moves": ["E5", asked]}  # a stone is on E5
    found = client.stream("/api/candidates", body)[-1]["lines"]
    assert len(found) == len(best) + 1
    assert found[-1]["moves"][0] == asked
    value = client.stream("/api/value", {"network": "gohuman", "line": {**line, "moves": ["E5", asked]}})[-1]
    assert (found[-1]["black"], found[-1]["score"]) == (value["chance"], round(value["score"], 1))


def test_candidates_of_chess(client: Client) -> None:
    moves = HANGS.split()
    lines = candidates(client, "chessnet", chess_line(HANGS))
    assert lines[0]["san"][0] == "Nxe5"
    assert all(line["visits"] for line in lines)
    assert [line["visits"] for line in lines] == sorted((line["visits"] for line in lines), reverse=True)
    taken, others = lines[0]["white"], [line["white"] for line in lines[1:] if line["visits"] > 3]
    assert all(taken < other for other in others)  # Black is to move, and the chance is White's
    for line in lines:
        board = chess.Board()
        for move in moves:
            board.push_uci(move)
        assert [board.san_and_push(chess.Move.from_uci(move)) for move in line["moves"]] == line["san"]


def test_a_mate_among_candidates(client: Client) -> None:
    best, *others = candidates(client, "chessnet", chess_line("f2f3 e7e5 g2g4"))
    assert (best["san"], best["mate"], best["white"]) == (["Qh4#"], -1, 0.0)
    assert others
    assert best["moves"][0] not in [other["moves"][0] for other in others]
    assert candidates(client, "chessnet", chess_line("f2f3 e7e5 g2g4 d8h4")) == []


RECAPTURE = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5c6 d7c6 e1g1 f7f6 d2d4 e5d4 f3d4 c6c5 d4e2 d8d1"


def test_likely_moves_have_values_even_where_a_search_wants_one_alone(client: Client) -> None:
    lines = candidates(client, "human", chess_line(RECAPTURE))
    assert lines[0]["san"][0] == "Rxd1"
    assert len(lines) >= 8
    assert all(line["visits"] and line["white"] < 0.2 for line in lines[1:])
    # Not among the likeliest of every network; where it is, the mate that follows is seen.
    mated = [(line["san"], line["mate"], line["white"]) for line in lines if line["moves"][0] == "f1e1"]
    assert mated in ([], [(["Re1", "Qxe1#"], -1, 0.0)])


def test_candidates_of_go_in_the_view_of_black(client: Client) -> None:
    line = {**go_line(), "komi": 60.5}
    lines = candidates(client, "gohuman", line)
    assert sum(each["visits"] for each in lines) > 50
    assert lines[0]["black"] < 0.4
    assert lines[0]["score"] < -20
    lines = candidates(client, "gohuman", {**line, "moves": ["E5"]})
    assert lines[0]["black"] < 0.4
    assert lines[0]["score"] < -20


def test_networks_without_a_search_have_no_candidates(client: Client) -> None:
    for network, line in (("winner", chess_line("")), ("gocnn", go_line())):
        assert "does not search" in client.error("/api/candidates", {"network": network, "line": line})


def test_a_search_ends_with_its_client(shared: tuple[Client, Any]) -> None:
    client, board = shared
    with client.lines("/api/candidates", {"network": "chessnet", "line": chess_line("e2e4")}):
        pass
    until(lambda: not board.workers.busy)
