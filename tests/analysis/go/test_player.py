"""A Go player's own games: what the moves lost, by parts, with values that are written down."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from kibitz.analysis.glyphs import mark
from kibitz.analysis.go.games import AnalysedGame, AnalysedPosition, Move, Score
from kibitz.analysis.go.kinds import AREAS, KINDS, area_of, kind_of
from kibitz.analysis.go.losses import UsualLosses, usual_losses
from kibitz.analysis.go.player import GoPlayerReport, GoSides
from kibitz.analysis.go.predictions import PHASES, PositionPrediction
from kibitz.analysis.go.shown import shown_game
from kibitz.analysis.parts import A_GAME, ENOUGH
from kibitz.games.go.io.sgf import Record, parse_record
from kibitz.games.go.points import BLACK, NONE, POINTS, WHITE, from_gtp, to_gtp
from kibitz.games.go.rules import Board
from kibitz.personal.names import Player

SWING = 3.0
GAME = "(;GM[1]SZ[9]KM[6.5]PB[Kim]PW[Bo]BR[3k]WR[2k]RE[B+R]DT[2020-01-02];B[ee];W[ec];B[aa];W[gd];B[gc];W[dd])"


def game(losses: dict[int, float], text: str = GAME, number: int = 1) -> AnalysedGame:
    """A game whose moves lost these points, by ply."""
    record = parse_record(text)
    boards = [record.board(ply) for ply in range(len(record.moves) + 1)]
    score = Score(0.0, None)
    positions = [
        AnalysedPosition(ply, record.size, board.colours(), np.full(POINTS, 0.5), score)
        for ply, board in enumerate(boards)
    ]
    moves = []
    for ply, point in enumerate(record.moves, 1):
        lost, colour = losses.get(ply, 0.0), BLACK if ply % 2 else WHITE
        before = replace(score, lead=lost if colour == BLACK else -lost)
        moves.append(Move(ply, colour, point, to_gtp(point, 9), before, score, -lost, mark(-lost, SWING), record.size))
    return AnalysedGame(number, record, positions, moves, SWING)


def report_of(*games: AnalysedGame, colour: int = BLACK) -> GoPlayerReport:
    report = GoPlayerReport("Kim")
    for one in games:
        report.add(one, colour, "my.sgf")
    return report


def test_the_parts_of_a_players_moves() -> None:
    found = report_of(game({1: 0.5, 2: 9.0, 3: 4.0})).as_json()
    assert (found["name"], found["games"], found["won"], found["lost"], found["rank"]) == ("Kim", 1, 1, 0, "3k")
    assert (found["moves"], found["loss"]["value"]) == (3, 1.5)
    assert found["marks"] == {"inaccuracies": 1, "mistakes": 0, "blunders": 0}
    areas = {name: (part["moves"], part["loss"]["value"]) for name, part in found["by_area"].items()}
    assert areas == {"corner": (2, 2.0), "centre": (1, 0.5)}
    assert {name: part["moves"] for name, part in found["by_kind"].items()} == {"loose": 2, "contact": 1}
    assert found["by_phase"]["opening"]["moves"] == 3
    assert found["by_side"]["black"]["score"]["value"] == 1.0
    assert list(found["by_result"]) == ["won"]
    assert list(found["by_board"]) == ["9"]
    assert found["accuracy"]["n"] == 1


def test_the_worst_mistakes() -> None:
    found = report_of(game({1: 5.0, 3: 9.0, 5: 6.0})).as_json()["worst"]
    assert len(found) == A_GAME
    worst = found[0]
    assert (worst["vertex"], worst["mark"], worst["loss"], worst["before"]) == ("A9", "??", 9.0, 9.0)
    assert (worst["opponent"], worst["opponent_rank"], worst["date"]) == ("Bo", "2k", "2020-01-02")
    assert (worst["phase"], worst["area"], worst["kind"]) == ("opening", "corner", "loose")
    assert worst["stones"][2] == "....O...."
    assert worst["stones"][4] == "....X...."
    assert report_of(game({})).as_json()["worst"] == []


def test_a_network_of_another_person_says_nothing_about_the_first_choices_of_a_player() -> None:
    said = PositionPrediction(0.0, 0.5, np.eye(1, POINTS + 1, from_gtp("E5", 9), dtype=np.float32)[0])
    one = game({})
    one = replace(one, moves=[replace(move, prediction=said) for move in one.moves])
    assert report_of(one).as_json()["first_choice"]["n"] == 3
    one = replace(one, moves=[replace(move, predicted=move.colour != BLACK) for move in one.moves])
    assert report_of(one).as_json()["first_choice"]["n"] == 0


def test_the_change_of_a_move_on_a_page_is_never_minus_zero() -> None:
    one = game({1: 0.04, 3: 4.0})
    one = replace(one, moves=[replace(move, mark="?!") for move in one.moves])
    assert [str(move["change"]) for move in shown_game(one)["moves"]][:3] == ["0.0", "0.0", "-4.0"]


def test_the_change_of_a_move_on_a_page_is_not_rounded_to_the_limit_of_the_next_mark() -> None:
    one = game({1: 5.97})
    one = replace(one, swing=3.0, moves=[replace(move, mark="?!") for move in one.moves])
    assert shown_game(one)["moves"][0]["change"] == -5.97


def test_what_changed_since_the_last_month() -> None:
    old, new = game({1: 9.0}), game({1: 3.0}, GAME.replace("2020-01-02", "2020-03-01"))
    large = game({1: 9.0}, GAME.replace("2020-01-02", "2020-03-02").replace("SZ[9]", "SZ[19]"))
    found = report_of(old, old, new, large).as_json()["lately"]
    assert (found["since"], found["loss"]["games"], found["earlier_loss"]["games"]) == ("2020-02-01", 1, 2)
    assert (found["loss"]["value"], found["change"]["value"]) == (1.0, -2.0)
    assert report_of(old, old).as_json()["lately"] is None


@pytest.mark.parametrize("day", ["2020年3月1日", "2020-3-1 19:30", " 2020-03-01"])
def test_a_day_is_read_like_that_of_an_import(day: str) -> None:
    found = report_of(game({}), game({}, GAME.replace("2020-01-02", day))).as_json()["lately"]
    assert found["since"] == "2020-02-01"


def test_the_other_side() -> None:
    found = report_of(game({2: 9.0}), colour=WHITE).as_json()
    assert (found["rank"], found["won"], found["lost"], found["loss"]["value"]) == ("2k", 0, 1, 3.0)
    void = report_of(game({}, GAME.replace("B+R", "Void")))
    assert sum(void.results().values()) == 0


@pytest.mark.parametrize("games", [ENOUGH - 1, ENOUGH])
def test_an_interval_needs_enough_games(games: int) -> None:
    loss = report_of(*(game({1: float(number)}) for number in range(games))).parts().whole.loss
    assert np.isfinite(loss.low) == (games >= ENOUGH)


def record(black: str, white: str, moves: str = ";B[ee]") -> Record:
    return parse_record(f"(;GM[1]SZ[9]PB[{black}]PW[{white}]{moves})")


def test_the_games_of_the_player_and_repeats() -> None:
    sides = GoSides([Player("Kim", ("Kim",), 3)])
    assert sides.colour(record("kim", "Bo")) == BLACK
    assert sides.colour(record("Bo", "KIM")) == WHITE
    assert sides.colour(record("Bo", "Al")) == NONE
    assert sides.colour(record("Kim", "kim")) == NONE
    assert sides.is_new(record("Kim", "Bo"))
    assert sides.is_new(record("Kim", "Bo", ";B[dd]"))
    assert not sides.is_new(record("Kim", "Bo"))
    assert sides.again == 1


@pytest.mark.parametrize(
    ("stones", "move", "kind"),
    [
        ("W D4 B C4 D3 E4", "D5", "capture"),
        ("W D4 B C4 D3", "D5", "atari"),
        ("W D4 B C4", "D5", "contact"),
        ("W A1 B C4", "C5", "extension"),
        ("W A1 B C4", "G7", "loose"),
        ("W A1 A2 B C4 B1 B2", "A3", "capture"),
        ("W A1 A2 B C4 B1", "B2", "atari"),
    ],
)
def test_kinds_of_moves(stones: str, move: str, kind: str) -> None:
    board, colour = Board(9), NONE
    for word in stones.split():
        if word in "BW":
            colour = BLACK if word == "B" else WHITE
        else:
            board.put(colour, from_gtp(word, 9))
    before = board.colours()
    board.play(BLACK, from_gtp(move, 9))
    assert KINDS[kind_of(from_gtp(move, 9), before, board.colours())] == kind


@pytest.mark.parametrize(
    ("vertex", "size", "area"),
    [("A1", 19, "corner"), ("G7", 19, "centre"), ("F6", 19, "corner"), ("N13", 19, "centre"),
     ("O14", 19, "corner"), ("K3", 19, "side"), ("T10", 19, "side"),
     ("K10", 19, "centre"), ("C3", 9, "corner"), ("D4", 9, "centre"), ("E2", 9, "side")],
)  # fmt: skip
def test_areas(vertex: str, size: int, area: str) -> None:
    assert AREAS[area_of(from_gtp(vertex, size), size)] == area


ONE = UsualLosses(
    "", 1, -10, 9, math.log(2), 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, math.log(3)), (0.0,) * len(KINDS), {0: 0.5}
)
"""Two points a move, and six in the center."""


def test_the_fitted_losses() -> None:
    usual = usual_losses()
    assert [len(usual.phase), len(usual.area), len(usual.kind)] == [len(PHASES), len(AREAS), len(KINDS)]
    weak, strong = usual.loss(-9, 0, 0, 2), usual.loss(8, 0, 0, 2)
    assert 0 < strong < weak < 10
    assert math.isnan(usual.loss(usual.highest + 1, 0, 0, 2))
    assert math.isnan(usual.loss(usual.lowest - 1, 0, 0, 2))
    assert 0 < usual.error(-9) < 1


def test_a_report_compares_moves_on_19_lines_with_those_of_the_rank() -> None:
    large = GAME.replace("SZ[9]", "SZ[19]").replace("B[ee]", "B[jj]")
    report = GoPlayerReport("Kim", usual=ONE)
    report.add(game({1: 5.0}, large), BLACK, "my.sgf")
    found = report.as_json()
    assert found["usual_loss"]["value"] == pytest.approx((6 + 2 + 2) / 3, abs=1e-4)
    assert found["difference"]["value"] == pytest.approx((5 - 10) / 3, abs=1e-4)
    assert found["by_area"]["centre"]["usual_loss"]["value"] == pytest.approx(6, abs=1e-4)
    assert found["difference"]["low"] is None  # fewer than ten games have no interval


def test_no_comparison_without_a_rank_on_other_boards_or_without_losses() -> None:
    large = GAME.replace("SZ[9]", "SZ[19]")
    for text, usual in ((GAME, ONE), (large.replace("BR[3k]", ""), ONE), (large, None)):
        report = GoPlayerReport("Kim", usual=usual)
        report.add(game({1: 5.0}, text), BLACK, "my.sgf")
        assert "usual_loss" not in report.as_json()


def test_the_interval_of_the_difference_includes_the_error_of_the_usual_loss() -> None:
    large = GAME.replace("SZ[9]", "SZ[19]")
    ends = []
    for usual in (ONE, replace(ONE, errors={0: 0.0})):
        report = GoPlayerReport("Kim", usual=usual)
        for number in range(1, ENOUGH + 1):
            report.add(game({1: float(number)}, large, number), BLACK, "my.sgf")
        difference = report.parts().whole.difference
        ends.append(difference.high - difference.value)
    assert ends[0] == pytest.approx(np.hypot(ends[1], 1.96 * 0.5 * 2), rel=0.01)
