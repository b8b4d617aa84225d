"""Moves judged by search, as the page asks for them: against the judge of a whole game."""

from __future__ import annotations

from typing import Any

import chess
import numpy as np
import pytest

from kibitz.analysis import load
from kibitz.analysis.chess.judging import Judge
from kibitz.analysis.chess.moves import AnalysedGame, analyse
from kibitz.games.chess.io.reader import parse
from kibitz.play.session import Session
from support.board_client import Client, until
from support.causes import mentions
from support.random_lines import random_chess

GAME = """1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3 Nf6 5. d4 exd4 6. cxd4 Bb4+ 7. Nc3 Nxe4 8. O-O Nxc3 9. bxc3 Bxc3
10. Ba3 d6 11. Rc1 Ba5 12. Qa4 a6 13. Bd5 Bb6 14. Bxc6+ bxc6 15. Qxc6+ Qd7 16. Qxa8 O-O *"""
"""The Greco attack, and then Black leaves a rook."""
KNIGHTS = ["g1f3", "g8f6", "f3g1", "f6g8"]


def moves_of(text: str) -> list[str]:
    record = parse(text)
    assert record is not None
    return [move.uci() for move in record.game.mainline_moves()]


def whole(name: str, text: str) -> AnalysedGame:
    """The game as `kibitz analyze` judges it."""
    record, session = parse(text), Session(name)
    assert record is not None
    analysis = load(session.system)
    return analyse(record, session, analysis, 0.1, judge=Judge(session, analysis))


def asked(name: str, moves: list[str], **more: Any) -> dict[str, Any]:
    return {"network": name, "line": {"game": "chess", "moves": moves}, "seq": 5, **more}


@pytest.mark.parametrize("name", ["winner", "chessnet"])
def test_chunks_say_what_the_judge_of_the_whole_game_says(client: Client, name: str) -> None:
    """Of the end of a game: three chunks of the exact judge."""
    board = chess.Board()
    for played in moves_of(GAME)[:20]:
        board.push_uci(played)
    start, moves = board.fen(), moves_of(GAME)[20:]
    text = f'[SetUp "1"]\n[FEN "{start}"]\n\n{board.variation_san(map(chess.Move.from_uci, moves))} *'
    lines = client.stream("/api/judge", {**asked(name, moves), "line": {"game": "chess", "fen": start, "moves": moves}})
    assert all(line["seq"] == 5 for line in lines)
    assert lines[0] == {"seq": 5, "total": 12}
    assert lines[-1]["done"] is True
    assert lines[-1]["seconds"] > 0
    assert [(line["exact"], line["ply"]) for line in lines[1:-1]] == [
        (exact, ply) for exact in (False, True) for ply in range(1, 13)
    ]
    found, wanted = lines[13:-1], whole(name, text).moves
    losses = np.array([(one["loss"], move.judged.loss) for one, move in zip(found, wanted, strict=True) if move.judged])
    away = np.abs(losses[:, 0] - losses[:, 1])
    # Searches share what they found with their neighbours, and those at the edge of a chunk have fewer.
    assert len(away) == 12
    assert (away < 0.01).mean() >= 0.9
    assert away.max() < 0.1
    assert [one["mark"] for one in found] == [move.mark for move in wanted]
    for one, move in zip(found, wanted, strict=True):
        sign = 1 if board.turn == chess.WHITE else -1
        # A best move loses nothing. Doubtful moves are searched longer than the positions are.
        change = sign * (one["white"]["before"] - one["white"]["after"])
        assert one["loss"] == pytest.approx(max(0.0, change), abs=0.2) or one["best"]["san"] == move.san
        assert board.san(board.parse_uci(one["best"]["move"])) == one["best"]["san"] == one["line"][0]
        after = board.copy()
        for san in one["line"]:
            after.push_san(san)
        board.push_san(move.san)
    others = [move.judged.best for move in wanted if move.judged]
    assert sum(one["best"]["move"] != other for one, other in zip(found, others, strict=True)) <= 1
    assert [one["only"] for one in found] == [move.judged and move.judged.only for move in wanted]
    assert found[9]["mark"] in ("?", "??")  # a queen moves, the rook behind her is taken
    assert found[9]["best"]["san"] == "Bd7"
    # The lines of a reason begin after the played move or instead of it.
    lines = [(ply, line) for ply, one in enumerate(found) for line in one.get("reason", {"lines": []})["lines"]]
    assert {line["instead"] for _, line in lines} == {False, True}
    for ply, line in lines:
        board = chess.Board(start)
        for played in moves[: ply + (not line["instead"])]:
            board.push_uci(played)
        assert [board.san_and_push(chess.Move.from_uci(each)) for each in line["moves"]] == line["written"].split()


def test_a_part_of_the_game(client: Client) -> None:
    moves = moves_of(GAME)
    lines = client.stream("/api/judge", asked("winner", moves, **{"from": 30, "to": 31}))
    assert lines[0]["total"] == 2
    assert [(line["ply"], line["exact"]) for line in lines[1:-1]] == [(30, False), (31, False), (30, True), (31, True)]
    assert lines[3]["mark"] == "??"
    recapture = asked("winner", moves_of("1. e4 d5 2. exd5 Qxd5 *"), **{"from": 4})
    assert client.stream("/api/judge", recapture)[2]["only"] is False  # who takes back has found nothing
    # Of a line without moves there is the value of its position.
    total, *both, done = client.stream("/api/judge", asked("winner", []))
    assert (total["total"], done["done"]) == (1, True)
    assert [(line["ply"], line["exact"], line["white"]["before"]) for line in both] == [
        (0, False, None),
        (0, True, None),
    ]
    start = client.stream("/api/judge", asked("winner", moves, **{"from": 0, "to": 1}))[1:-1]
    assert [(line["ply"], line["exact"]) for line in start] == [(0, False), (1, False), (0, True), (1, True)]
    assert start[2]["white"]["after"] == both[1]["white"]["after"] == start[3]["white"]["before"]


def test_repetitions_before_the_chunk_are_known(client: Client) -> None:
    """A queen down, Black repeats a position for the third time, as the network's own search sees."""
    line = {
        "game": "chess",
        "fen": "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "moves": KNIGHTS * 2 + KNIGHTS[:1],
    }
    last = {"network": "chessnet", "line": line, "from": 9}
    before = {**last, "line": {**line, "moves": KNIGHTS + KNIGHTS[:1]}, "from": 5}
    repeated, first = (client.stream("/api/judge", each)[2]["white"]["after"] for each in (last, before))
    assert first > 0.9
    assert repeated < first - 0.01


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"network": "convchess"}, "convchess & winner & moves"),
        ({"network": "gocnn", "line": {"game": "go"}}, "search"),
        ({"network": "gocnn"}, "gocnn & Go & network"),
        ({"from": -1}, "from & 0 & 4 & whole"),
        ({"from": 3, "to": 2}, "to & 3 & 4 & whole"),
        ({"to": 5}, "to & 1 & 4 & whole"),
        ({"seq": "x"}, "seq & whole"),
    ],
)
def test_what_is_refused(client: Client, more: dict[str, Any], told: str) -> None:
    assert mentions(client.error("/api/judge", {**asked("winner", KNIGHTS), **more}), told)


def test_who_leaves_ends_the_work_and_an_analysis_does_not_wait_for_it(shared: tuple[Client, Any]) -> None:
    client, board = shared
    moves = random_chess(4, 300)
    worker = board.workers.worker("judge chessnet")
    with client.lines("/api/judge", asked("chessnet", moves)) as lines:
        assert next(lines)["total"] == 300
        assert next(lines)["exact"] is False
        analysed = client.stream("/api/analyse", asked("chessnet", moves))
        assert analysed[-1]["done"] is True
        assert worker.busy
    until(lambda: not worker.busy)


def test_a_null_move_loses_nothing(client: Client) -> None:
    moves = ["e2e4", "e7e5", "0000", "d7d5", "d1h5"]
    found = client.stream("/api/judge", {**asked("winner", moves), "from": 1, "to": 5})
    exact = {each["ply"]: each for each in found if each.get("exact")}
    assert sorted(exact) == [1, 2, 3, 4, 5]
    assert exact[3]["loss"] == 0
    assert exact[3]["white"]["before"] is None
    assert exact[5]["white"]["before"] is not None
