"""Judgments that outlast the board: kept by line and weights, in a file that may be damaged, full, or shared."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import chess
import pytest

from kibitz.web.chess.line import ChessLine
from kibitz.web.judged import JudgedPositions, remembered
from support.board_client import Client, served
from support.patience import PATIENCE

MOVES = ["e2e4", "e7e5", "d1h5", "b8c6", "h5e5", "c6e5"]
GO = ["E5", "E3", "C7"]


def key(number: int) -> bytes:
    return number.to_bytes(16, "big")


def some(count: int) -> dict[bytes, dict[str, Any]]:
    return {key(number): {"ply": number} for number in range(count)}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "judged.sqlite"


def test_what_is_kept_is_found_by_another_board(file: Path) -> None:
    JudgedPositions(file).put(some(3))
    assert JudgedPositions(file).get([key(1), key(7)]) == {key(1): {"ply": 1}}
    assert len(JudgedPositions(file).get([key(number) for number in range(2000)])) == 3


def test_keys_depend_on_the_weights(tmp_path: Path, file: Path) -> None:
    """A network that was trained further has the same name, and none of its old judgments."""

    class Weights:
        path = tmp_path

        def __init__(self, digest: str):
            self.digest = digest

        def weights_sha256(self) -> str:
            return self.digest

    def keys(digest: str) -> list[bytes]:
        network: Any = SimpleNamespace(name="mine", system="winner", run=Weights(digest))
        return JudgedPositions(file).keys(network, ChessLine(chess.STARTING_FEN, ("e2e4",)), [1])

    assert keys("a") == keys("a")
    assert not set(keys("a")) & set(keys("b"))


def test_the_oldest_are_removed_where_there_are_too_many(file: Path) -> None:
    kept = JudgedPositions(file, room=20)
    kept.put(some(20))
    assert len(kept.get(list(some(20)))) == 20
    kept.get([key(0)])  # used again
    kept.put({key(20): {"ply": 20}})
    left = kept.get([key(number) for number in range(21)])
    assert len(left) == 18
    assert {key(0), key(20)} <= left.keys()


def test_a_damaged_file_is_made_anew(file: Path) -> None:
    kept = JudgedPositions(file)
    kept.put(some(500))
    data = bytearray(file.read_bytes())
    for damaged in (b"no database", bytes(data[:100]) + b"\xff" * (len(data) - 100), bytes(data[: len(data) // 2])):
        file.write_bytes(damaged)
        kept.get([key(1)])
        kept.put(some(3))
        kept.put({key(900): {"ply": 900}})
        assert kept.get([key(900)]) == {key(900): {"ply": 900}}


def test_a_judgment_that_cannot_be_read_is_none(file: Path) -> None:
    kept = JudgedPositions(file)
    kept.put(some(3))
    with sqlite3.connect(file) as base:
        base.execute("UPDATE judged SET found = '{' WHERE key = ?", (key(1),))
        base.execute("UPDATE judged SET found = '[1]' WHERE key = ?", (key(2),))
    base.close()
    assert kept.get(list(some(3))) == {key(0): {"ply": 0}}


def test_a_file_that_cannot_be_used_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "no folder").write_text("")
    for path in (tmp_path / "no folder" / "judged.sqlite", tmp_path):
        kept = JudgedPositions(path)
        kept.put(some(3))
        assert kept.get([key(1)]) == {}


def test_several_boards_write_at_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kibitz.web.judged.WAIT", PATIENCE)  # a busy computer may need longer than a page should wait

    def write(first: int) -> None:
        kept = JudgedPositions(file)
        for number in range(first, first + 10):
            kept.put({key(number): {"ply": number}})

    threads = [threading.Thread(target=write, args=(100 * at,)) for at in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(JudgedPositions(file).get([key(100 * at + number) for at in range(3) for number in range(10)])) == 30


def test_only_what_is_missing_is_judged(file: Path) -> None:
    kept, asked = JudgedPositions(file), []
    keys = [key(number) for number in range(8)]
    kept.put({keys[ply]: {"ply": 0, "seq": 9, "exact": True, "loss": ply} for ply in (2, 3, 6)})

    def judge(first: int, last: int) -> Iterator[list[dict[str, Any]]]:
        asked.append((first, last))
        yield [{"seq": 5, "total": last - first + 1}]
        for exact in (False, True):
            yield [{"seq": 5, "ply": ply, "exact": exact, "loss": 0} for ply in range(first, last + 1)]
        yield [{"seq": 5, "done": True}]

    lines = [line for some in remembered(kept, keys, 1, 7, 5, judge) for line in some]
    assert asked == [(1, 1), (4, 5), (7, 7)]
    assert lines[0] == {"seq": 5, "total": 7}
    assert lines[1:4] == [{"seq": 5, "ply": ply, "exact": True, "loss": ply} for ply in (2, 3, 6)]
    assert lines[-1]["done"] is True
    assert all(line["seq"] == 5 for line in lines)
    asked.clear()
    again = [line for some in remembered(kept, keys, 1, 7, 6, judge) for line in some]
    assert asked == []
    assert [line["ply"] for line in again[1:-1]] == [1, 2, 3, 4, 5, 6, 7]
    assert all(line["exact"] for line in again[1:-1])  # a quick look is not kept


def test_a_stream_that_nobody_wants_ends_early(file: Path) -> None:
    keys = [key(number) for number in range(8)]

    def stopped(first: int, last: int) -> Iterator[list[dict[str, Any]]]:
        yield [{"seq": 5, "ply": first, "exact": True}]

    lines = [line for some in remembered(JudgedPositions(file), keys, 1, 7, 5, stopped) for line in some]
    assert [line.get("ply") for line in lines] == [None, 1]
    assert not any("done" in line for line in lines)


def judged(client: Client, moves: list[str], **line: Any) -> list[dict[str, Any]]:
    asked = {"network": "winner", "line": {"game": "chess", "moves": moves, **line}, "seq": 5}
    return [each for each in client.stream("/api/judge", asked) if "ply" in each]


def kept(client: Client, network: str, line: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.good("/api/judged", {"network": network, "line": line})["judged"]
    return found


def test_a_board_that_is_started_again_knows_the_judgments(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(["winner"]) as (client, board):
        board.judged = JudgedPositions(file)
        first = judged(client, MOVES)
        asked = {"network": "gohuman", "line": {"game": "go", "size": 9, "moves": GO}, "seq": 5}
        (go,) = client.stream("/api/check", asked)
        assert kept(client, "winner", {"game": "chess", "moves": ["a2a3", "a7a6"]}) == []
    exact = [each for each in first if each["exact"]]
    assert len(exact) == 6
    assert len(first) > 6
    with served(["winner"]) as (client, board):
        board.judged = JudgedPositions(file)
        session = monkeypatch.setattr(board.networks, "session", lambda name: pytest.fail(f"{name} is not needed"))
        assert session is None
        assert judged(client, MOVES) == exact
        (again,) = client.stream("/api/check", asked)
        assert again == go
        # All of them come in one answer, which needs no network.
        found = kept(client, "winner", {"game": "chess", "moves": MOVES})
        assert found == [{**each, "seq": 0} for each in exact]
        (check,) = kept(client, "gohuman", asked["line"])
        assert check == {key: value for key, value in go.items() if key not in ("seq", "done")} | {"ply": len(GO)}
        # Of a longer line, those of its beginning; of another one, none.
        longer = {"game": "chess", "moves": [*MOVES, "a2a3"]}
        assert [each["ply"] for each in kept(client, "winner", longer)] == [1, 2, 3, 4, 5, 6]
        assert kept(client, "winner", {"game": "chess", "moves": MOVES, "ratings": [1500, 1500]}) == []
        board.judged = None
        assert kept(client, "winner", {"game": "chess", "moves": MOVES}) == []
        board.judged = JudgedPositions(file)
        monkeypatch.undo()
        # Another rating is another question.
        assert len(judged(client, MOVES, ratings=[1500, 1500])) > 6
        # So are other weights.
        monkeypatch.setattr(JudgedPositions, "_digest", lambda self, network: "other")
        assert len(judged(client, MOVES)) > 6
