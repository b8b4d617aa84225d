"""Outside engines as judges of the page's moves, by fakes whose values are known, and by the real programs."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import chess
import chess.engine
import pytest

from kibitz.analysis.chess import engine_judge
from kibitz.analysis.go import engine_judge as go_engine_judge
from kibitz.commands.board import _checkers
from kibitz.errors import UsageError
from kibitz.external.programs import Program
from kibitz.play.chess.score import win_chance
from kibitz.play.session import Session
from kibitz.web.judges import Judges
from kibitz.web.mygames import analysing
from kibitz.web.opinions import Opinions
from support.board_client import WithFake, WithFakes, served
from support.causes import mentions, naming
from support.helpers import program
from support.opinion_fakes import fake, greedy
from support.processes import is_gone

NAME = Path(sys.executable).stem
MOVES = ["e2e4", "e7e5", "d1h5", "b8c6", "h5e5", "c6e5"]
"""White takes a pawn with the queen, and the knight takes her."""
GO = {"game": "go", "size": 9, "komi": 6.5, "moves": ["E5", "D4"]}


def chance(board: chess.Board) -> float:
    """White's win probability as the fake engine has it."""
    score, _ = greedy(board)
    return win_chance(chess.engine.Cp(score if board.turn else -score))


def chances(moves: list[str]) -> list[float]:
    board = chess.Board()
    found = [chance(board)]
    for move in moves:
        board.push_uci(move)
        found.append(chance(board))
    return found


class Asked(WithFake):
    """A board whose fake engine judges."""

    def body(self, played: list[str], **more: Any) -> dict[str, Any]:
        line = {"game": "chess", "moves": played}
        return {"network": "human", "line": line, "checked_by": NAME, "seq": 5, **more}

    def lines(self, path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
        found = self.client.stream(path, body)
        assert all(line["seq"] == 5 for line in found)
        return found

    def error(self, path: str, body: dict[str, Any]) -> str:
        return str(self.lines(path, body)[-1]["error"])


@pytest.fixture
def ask(with_fake: WithFakes) -> Callable[[str, str], Asked]:
    return lambda protocol, fault: Asked(*with_fake(protocol, fault))


def test_an_engine_judges_each_move(ask: Callable[[str, str], Asked]) -> None:
    asked = ask("uci", "greedy")
    first, *found, done = asked.lines("/api/judge", asked.body(MOVES, **{"from": 0}))
    assert (first["total"], first["checked_by"]) == (7, {"engine": "Fake Fish", "nodes": 100_000, "depth": None})
    assert done["done"] is True
    assert [(one["ply"], one["exact"]) for one in found] == [(ply, True) for ply in range(7)]
    wanted = chances(MOVES)
    assert [one["white"]["after"] for one in found] == pytest.approx(wanted, abs=1e-4)
    assert [one["white"]["before"] for one in found[1:]] == pytest.approx(wanted[:-1], abs=1e-4)
    assert [one["mark"] for one in found] == ["", "", "", "", "", "??", ""]
    queen = found[5]
    assert queen["loss"] == pytest.approx(wanted[4] - wanted[5], abs=1e-4)
    assert (queen["best"]["san"], queen["line"]) == ("Qxh7", ["Qxh7"])
    own = asked.client.stream("/api/judge", {**asked.body(MOVES), "checked_by": ""})
    assert "checked_by" not in own[0]  # the control: without an engine the network's search judges
    assert [one["exact"] for one in own[1:-1]] == [False] * 6 + [True] * 6


def test_one_value_for_one_position(ask: Callable[[str, str], Asked]) -> None:
    asked = ask("uci", "greedy")
    moves = MOVES[:4]
    *_, best = asked.lines("/api/candidates", asked.body(moves, moves=["h5e5", "g1f3"]))
    assert best["done"] is True
    assert [line["moves"][0] for line in best["lines"]] == ["h5h7", "h5e5", "g1f3"]
    for line in best["lines"]:
        judged = asked.lines("/api/judge", asked.body([*moves, line["moves"][0]], **{"from": 5}))[1]
        assert line["white"] == judged["white"]["after"]
    searches = sum(note.startswith("go") for note in asked.notes())
    asked.lines("/api/candidates", asked.body(moves, moves=["h5e5", "g1f3"]))
    assert sum(note.startswith("go") for note in asked.notes()) == searches  # known positions are not searched again
    assert mentions(asked.error("/api/candidates", asked.body(moves, moves=["a1a8"])), "a1a8")


def test_the_last_move_is_checked(ask: Callable[[str, str], Asked]) -> None:
    asked = ask("uci", "greedy")
    (found,) = asked.lines("/api/check", asked.body(MOVES[:5]))
    wanted = chances(MOVES[:5])
    assert (found["before"], found["after"]) == pytest.approx((wanted[4], wanted[5]), abs=1e-4)
    assert (found["mark"], found["reply"]) == ("??", ["Nxe5"])
    assert mentions(asked.error("/api/check", asked.body([])), "no move")


def test_engines_that_are_not_there_or_play_another_game_are_refused(ask: Callable[[str, str], Asked]) -> None:
    asked = ask("uci", "greedy")
    assert mentions(asked.client.error("/api/judge", {**asked.body(MOVES), "checked_by": "nobody"}, 404), "nobody")
    go = {"network": "gohuman", "line": GO, "checked_by": NAME}
    assert mentions(asked.client.error("/api/judge", go), f"{NAME} & chess")


def test_an_engine_that_ends_is_started_again_once(ask: Callable[[str, str], Asked]) -> None:
    again = ask("uci", "crash once")
    assert again.lines("/api/judge", again.body(MOVES[:2]))[-1]["done"] is True


def test_an_engine_that_keeps_ending_gives_one_line(ask: Callable[[str, str], Asked]) -> None:
    asked = ask("uci", "crash")
    said = asked.error("/api/judge", asked.body(MOVES[:2]))
    assert mentions(said, "Fake Fish")
    assert "\n" not in said
    own = asked.client.stream("/api/judge", {**asked.body(MOVES[:2]), "checked_by": ""})
    assert own[-1]["done"] is True


def test_an_engine_that_hangs_gives_one_line(ask: Callable[[str, str], Asked], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_judge, "PATIENCE", 0.5)
    monkeypatch.setattr(engine_judge, "SLOWEST", 1_000_000)
    asked = ask("uci", "silent")
    assert mentions(asked.error("/api/judge", asked.body(MOVES[:2])), "Fake Fish & s")


@pytest.mark.process
def test_a_program_that_is_no_engine_gives_one_line() -> None:
    with served([], engines=["/bin/true"]) as (client, _):
        line = {"game": "chess", "moves": MOVES[:2]}
        found = client.stream("/api/judge", {"network": "human", "line": line, "checked_by": "true"})
    assert mentions(found[-1]["error"], "true & terminal")


def test_the_engine_ends_with_the_board_and_when_it_is_idle(ask: Callable[[str, str], Asked]) -> None:
    asked = ask("uci", "greedy")
    asked.lines("/api/judge", asked.body(MOVES[:2]))
    numbers = [int(each) for note in asked.notes("started") for each in note.split()]
    for number in numbers:
        os.kill(number, 0)  # it runs
    asked.board.judges.end()  # as after IDLE seconds
    assert all(map(is_gone, numbers))
    assert asked.lines("/api/judge", asked.body(MOVES[:3]))[-1]["done"] is True  # it starts again


def test_a_game_of_any_length_keeps_its_engine(
    ask: Callable[[str, str], Asked], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time after which an idle engine ends starts again with each move."""
    asked = ask("uci", "greedy")
    judges, kept = asked.board.judges, []
    keep = judges.keep
    monkeypatch.setattr(judges, "keep", lambda: (kept.append(True), keep()))
    asked.lines("/api/judge", asked.body(MOVES))
    assert len(kept) >= len(MOVES)


def test_an_engine_of_go_judges_each_move(ask: Callable[[str, str], Asked], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(go_engine_judge, "VISITS", 40)  # as many as the fake makes
    asked = ask("gtp", "sound")
    body = {"network": "gohuman", "line": GO, "checked_by": NAME, "seq": 5, "from": 0}
    first, start, black, white, done = asked.lines("/api/judge", body)
    assert first["checked_by"] == {"engine": "Fake Go 1", "nodes": 40, "depth": None}
    assert done["done"] is True
    # The fake's value of each position: the side to move wins with 0.7, and leads by 3.25.
    assert [one["white"]["after"] for one in (start, black, white)] == pytest.approx([0.3, 0.7, 0.3])
    assert [one["score"] for one in (start, black, white)] == [3.25, -3.25, 3.25]
    # On 9×9, a mistake loses 6 points, and a blunder 9. Only the points decide, as in `kibitz analyze`.
    assert (black["loss"], black["points"], black["mark"]) == (pytest.approx(0.4), 6.5, "?")
    assert (black["best"]["san"], black["line"]) == ("D4", ["D4", "F6"])
    assert (white["loss"], white["points"], white["mark"]) == (0, 0, "")  # the engine's own move
    *_, best = asked.lines("/api/candidates", {**body, "line": {**GO, "moves": ["E5"]}, "moves": ["C3", "D4"]})
    assert [(line["moves"], line["black"], line["score"]) for line in best["lines"]] == [
        (["D4", "F6"], 0.7, 3.2),
        (["C3", "D4", "F6"], 0.7, 3.2),
    ]
    # A network's likely move may be illegal. Then only this move has no value.
    *_, best = asked.lines("/api/candidates", {**body, "line": {**GO, "moves": ["E5"]}, "moves": ["E5", "C3"]})
    assert [line["moves"][0] for line in best["lines"]] == ["D4", "C3"]
    (checked,) = asked.lines("/api/check", {**body, "line": {**GO, "moves": ["E5"]}})
    assert (checked["before"], checked["after"], checked["mark"]) == (0.7, pytest.approx(0.3), "?")


def test_a_game_of_go_that_passes_ended_is_counted(
    ask: Callable[[str, str], Asked], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(go_engine_judge, "VISITS", 40)
    asked = ask("gtp", "sound")
    line = {**GO, "moves": ["E5", "pass", "pass"]}
    body = {"network": "gohuman", "line": line, "checked_by": NAME, "seq": 5, "from": 2}
    _, first, second, _ = asked.lines("/api/judge", body)
    assert (first["loss"], second["loss"]) == (0, 0)
    assert second["score"] == 81 - 6.5  # the only stone owns the board
    assert second["white"]["after"] == 0


def test_an_engine_without_win_probability_gives_the_lead(ask: Callable[[str, str], Asked]) -> None:
    """GNU Go's way: a fake whose estimates are known."""
    with served([], engines=[f"{program('gnugo')} --mode gtp --level 1"]) as (client, _):
        body = {"network": "gohuman", "line": GO, "checked_by": "gnugo", "from": 0}
        first, *found, done = client.stream("/api/judge", body)
    assert first["checked_by"]["engine"].startswith("GNU Go")
    assert done["done"] is True
    assert len(found) == 3
    for one in found:
        assert abs(one["score"]) < 81
        assert (one["white"]["after"] < 0.5) == (one["score"] > 0)


def test_stockfish_sees_what_everybody_sees() -> None:
    with served([], engines=[program("stockfish")]) as (client, _):
        body = {"network": "human", "line": {"game": "chess", "moves": MOVES}, "checked_by": "stockfish"}
        first, *found, _ = client.stream("/api/judge", body)
    assert first["checked_by"]["engine"].startswith("Stockfish")
    assert [one["mark"] for one in found][4] == "??"
    assert found[4]["white"]["after"] < 0.1
    assert "en" in found[4]["reason"]["texts"]


def test_the_command_line_chooses_who_judges_at_first(tmp_path: Path) -> None:
    engine = fake("uci", "greedy", tmp_path)
    checkers = _checkers([engine])
    known = Opinions([], checkers)
    assert known.checked_by == {"chess": NAME}
    assert NAME in [each["name"] for each in known.known()]
    twice = Opinions([Program("other", ("/bin/true",), "chess"), *checkers], checkers)
    assert len([each for each in twice.known() if each["name"].startswith(NAME)]) == 1
    assert Opinions([]).checked_by == {}
    assert len(_checkers([engine, f"{engine} gtp"])) == 2  # one for each game
    with pytest.raises(UsageError, match=naming("--checked-by & chess")):
        _checkers([engine, engine])


def test_programs_name_the_judge(ask: Callable[[str, str], Asked]) -> None:
    assert ask("uci", "greedy").client.get("/api/programs").json["checked_by"] == {}


def test_my_games_are_judged_by_an_engine(tmp_path: Path) -> None:
    games = tmp_path / "games.jsonl"
    text = '[White "Ana"]\n[Black "Bo"]\n\n1. e4 e5 2. Qh5 Nc6 3. Qxe5+ Nxe5 4. d4 *\n'
    games.write_text(json.dumps({"number": 1, "side": "white", "text": text}), encoding="utf-8")
    engine = fake("uci", "greedy", tmp_path)
    (checker,) = _checkers([engine])
    path = str(Session("human").run.path)
    asked: dict[str, Any] = {
        "games": str(games), "network": path, "player": "Ana", "source": "games.pgn", "quick": True,
        "engine": {"name": checker.name, "command": list(checker.command)},
    }  # fmt: skip
    said: list[dict[str, Any]] = []
    analysing.work(asked, said.append, threading.Event())
    report = next(one["report"] for one in reversed(said) if "report" in one)
    assert report["checked_by"] == {"engine": "Fake Fish", "nodes": analysing.QUICK_NODES, "depth": None}
    plain: list[dict[str, Any]] = []
    analysing.work({**asked, "engine": None}, plain.append, threading.Event())
    assert "checked_by" not in next(one["report"] for one in reversed(plain) if "report" in one)
    thorough: list[dict[str, Any]] = []
    analysing.work({**asked, "quick": False}, thorough.append, threading.Event())
    assert next(one["report"] for one in reversed(thorough) if "report" in one)["checked_by"]["nodes"] == 100_000
    assert {one["stage"] for one in thorough if "stage" in one} == {"quick", "thorough"}
    numbers = [int(each) for line in (tmp_path / "started").read_text().splitlines() for each in line.split()]
    assert all(map(is_gone, numbers))


def test_two_engines_may_start_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each engine has its own thread. One may add its judge while the other closes an old one."""
    judges = Judges(Opinions([]), cast(Any, None))
    session: Any = SimpleNamespace(name="human", system="human")
    meanwhile: Any = SimpleNamespace(close=lambda: judges._chess.update({("other", "human"): meanwhile}))
    judges._chess = {("first", "winner"): meanwhile, ("first", "chessnet"): meanwhile}
    monkeypatch.setattr(engine_judge, "EngineJudge", lambda *arguments, **more: "new")
    found: Any = judges._of_chess(Program("first", ("first",), "chess"), session)
    assert found == "new"
    assert judges._chess["other", "human"] is meanwhile
