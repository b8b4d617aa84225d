"""Why moves of Go were bad, on positions drawn by hand. Owners of points are written down."""

from __future__ import annotations

import itertools
import re
import string
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kibitz.analysis.go import reasons
from kibitz.analysis.go.better import Better, PointLoss, board_after, find_better, judge
from kibitz.analysis.go.games import colour_of
from kibitz.analysis.go.predictions import PositionPrediction, terms_of
from kibitz.analysis.go.reason_texts import ENGLISH, LANGUAGES
from kibitz.analysis.go.reasons import CODES, INSTEAD, Situation, Why, explain
from kibitz.analysis.go.searched import searching
from kibitz.games.go.io.sgf import Record, parse_record, read_records
from kibitz.games.go.points import BLACK, PASS, POINTS, WHITE, from_gtp
from kibitz.games.go.rules import Board
from kibitz.play.go.thought import GoThought, MoveThought
from kibitz.play.go.value import VISITS
from kibitz.play.session import Session
from kibitz.web.reason_lines import reason_lines
from support.causes import mentions

GAMES = Path(str(resources.files("kibitz"))) / "data" / "games.sgfl.zst"
LADDER = {"B": "D4", "W": "C4 D3 E3"}


def position(stones: dict[str, str], size: int = 19, to_move: int = BLACK) -> Board:
    made = Board(size)
    for colour, name in ((BLACK, "B"), (WHITE, "W")):
        for vertex in stones.get(name, "").split():
            made.put(colour, from_gtp(vertex, size))
    made.to_move = to_move
    return made


def owned(vertices: str, probability: float, size: int = 19, rest: float = 0.5) -> np.ndarray:
    """Black's probabilities: this one for some points, and another one for the others."""
    found = np.full(POINTS, rest)
    for vertex in vertices.split():
        found[from_gtp(vertex, size)] = probability
    return found


def why(
    board: Board, played: str, best: str, points: str, better: float = 0.95, after: float = 0.05, lost: float = 5.0,
    better_line: str = "", after_line: str = "",
) -> Why | None:  # fmt: skip
    """The reason of a move, if these points of Black's have this probability after the better move and after it."""
    size = board.size
    maps = (owned(points, probability, size) for probability in (better, after))
    lines = ([from_gtp(move, size) for move in line.split()] for line in (better_line, after_line))
    return explain(Situation(board, from_gtp(played, size), from_gtp(best, size), *maps, lost, *lines))


def check(reason: Why | None, code: str, **parameters: Any) -> Why:
    assert reason is not None
    assert reason.code == code
    assert {name: reason.parameters[name] for name in parameters} == parameters
    return reason


def lines(reason: Why) -> list[tuple[bool, list[str]]]:
    """The moves that the reason's text has, and whether they begin instead of the played move."""
    found = reason_lines(reason.as_json(), INSTEAD)
    assert all(" ".join(moves) in reason.text(language) for _, moves in found for language in LANGUAGES)
    return found


def test_a_ladder_that_works() -> None:
    reason = check(why(position(LADDER), "Q10", "E4", "D4"), "allows_ladder", stones=1, at="D4", move="D5")
    assert mentions(reason.text(), "White & D4 & ladder & D5 & E4")
    assert lines(reason) == [(False, ["D5"]), (True, ["E4"])]
    assert why(position(LADDER), "Q16", "E4", "D4") is None, "the played move breaks the ladder"
    assert why(position(LADDER), "Q10", "E4", "D4", after=0.9) is None, "the stone lives"


def test_running_in_a_ladder_that_works() -> None:
    stones = {"B": "D4", "W": "C4 D3 E3 D5"}
    reason = check(why(position(stones), "E4", "Q10", "D4", 0.05), "runs_in_ladder", stones=2, move="F4")
    assert mentions(reason.text(), "ladder & F4 & 2 stones")
    assert lines(reason) == [(False, ["F4"])]
    assert why(position({**stones, "B": "D4 P16"}), "E4", "Q10", "D4", 0.05) is None, "a stone breaks the ladder"


def test_a_missed_ladder() -> None:
    stones = {"W": "D4", "B": "C4 D3 E3"}
    reason = check(why(position(stones), "Q10", "D5", "D4"), "misses_ladder", colour="white", move="D5")
    assert lines(reason) == [(True, ["D5"])]
    assert why(position({**stones, "W": "D4 Q16"}), "Q10", "D5", "D4") is None


def test_stones_in_atari() -> None:
    stones = {"B": "D4 D5", "W": "C4 C5 E4 E5 D3"}
    reason = check(why(position(stones), "Q10", "D6", "D4 D5"), "allows_capture", stones=2, move="D6")
    assert mentions(reason.text(), "White & 2 stones & D5 & D6")
    free = {"B": "D4 D5", "W": "C4 C5 E4 E5"}
    assert why(position(free), "Q10", "D6", "D4 D5") is None, "they have more liberties"
    check(why(position(stones, to_move=WHITE), "Q10", "D6", "D4 D5", 0.1, 0.9), "misses_capture", stones=2, move="D6")


def test_self_atari_and_a_snapback() -> None:
    stones = {"B": "D4 D5 D8", "W": "C4 E4 E5 D3 C6 B5"}
    check(why(position(stones), "C5", "D6", "D4 D5"), "self_atari", stones=3, move="D6")
    check(why(position(stones), "Q10", "D6", "D4 D5"), "allows_ladder", stones=2)
    loses = {"B": "A1 A3 B3 C2", "W": "A2 B2"}
    check(why(position(loses), "Q10", "B1", "A1"), "allows_capture", stones=1, move="B1")
    snapback = {**loses, "B": "A1 A3 B3 C2 C1"}
    assert why(position(snapback), "Q10", "B1", "A1") is None, "Black captures back"


CORNER = {"B": "A1 B1 A2 B2", "W": "C1"}
"""Black's four stones in the corner have three liberties: A3, B3 and C2."""


def test_suicide_as_the_played_move_or_as_the_better_move() -> None:
    """No chain is then left on the points of the removed stones, and no ladder begins there."""
    board = position({"B": "A9 G3", "W": "A8 B8 C9 G4 F3 G2"}, 9)
    assert board_after(board, from_gtp("B9", 9)).captured[BLACK] == 2
    assert why(board, "B9", "E5", "A9 B9") is None
    check(why(board, "B9", "H3", "G3"), "allows_capture", at="G3")
    assert why(board, "E5", "B9", "A9 B9") is None


def test_a_group_that_the_line_captures() -> None:
    line = "C2 Q10 B3 Q3 A3"
    reason = check(why(position(CORNER), "Q4", "C2", "A1", after_line=line), "group_dies", colour="black", stones=4)
    assert mentions(reason.text(), "Black's & A2 & 4 stones & C2 Q10 B3 Q3 A3")
    assert reason.parameters["line"] == line.split()
    assert lines(reason) == [(False, line.split()), (True, ["C2"])]
    assert why(position(CORNER), "Q4", "C2", "A1", after_line="C2 Q10 B3 Q3") is None, "the line does not capture it"
    assert why(position(CORNER), "Q4", "C2", "A1", after=0.9, after_line=line) is None, "the group lives"
    assert why(position(CORNER), "Q4", "Q5", "A1", better_line=line, after_line=line) is None, "it dies anyway"
    illegal = why(position(CORNER), "Q4", "C2", "A1", after_line=f"A1 Q5 {line}")
    assert illegal is None, "a line ends before its first illegal move"


def test_a_group_that_the_better_line_captures() -> None:
    board = position(CORNER, to_move=WHITE)
    line = "Q10 B3 Q3 A3"
    reason = check(why(board, "Q4", "C2", "A1", 0.05, 0.95, better_line=line), "group_lives", stones=4)
    assert mentions(reason.text(), "Black's & A2 & 4 stones & C2 Q10 B3 Q3 A3")
    assert lines(reason) == [(True, ["C2", *line.split()])]
    assert why(board, "Q4", "C2", "A1", 0.05, 0.95, better_line="Q10 B3 Q3") is None


def test_a_loss_that_the_searches_do_not_confirm_has_no_reason() -> None:
    assert why(position(LADDER), "Q10", "E4", "D4", lost=5.0) is not None
    assert why(position(LADDER), "Q10", "E4", "D4", lost=4.9) is None
    assert why(position(LADDER, 9), "H9", "E4", "D4", lost=2.0) is not None


def test_a_group_that_is_a_small_part_of_the_loss_is_no_reason() -> None:
    board, points = position(LADDER), owned("D4", 0.95)
    elsewhere = owned("D4", 0.05)
    elsewhere[[from_gtp(vertex, 19) for vertex in ("Q16", "Q15", "Q14", "R16", "R15", "R14")]] = 0.0
    points[[from_gtp(vertex, 19) for vertex in ("Q16", "Q15", "Q14", "R16", "R15", "R14")]] = 1.0
    played, best = from_gtp("Q10", 19), from_gtp("E4", 19)
    assert explain(Situation(board, played, best, points, elsewhere, 5.0)) is not None
    assert explain(Situation(board, played, best, points, elsewhere, 14.0)) is None


def lost_area(points: int, lost: float, size: int = 19, to_move: int = BLACK, turned: float = 1.0) -> Why | None:
    """The reason of a move after which the mover owns so many connected points no more."""
    letters = "ABCDEFGHJKLMNOPQRST"[:size]
    area = [f"{letter}{row}" for row in (7, 8) for letter in letters][:points]
    kept, gone = (0.5 + turned / 2, 0.5 - turned / 2) if to_move == BLACK else (0.5 - turned / 2, 0.5 + turned / 2)
    board = position({"B": "C3", "W": "E3"}, size, to_move)
    return why(board, "H4", "G3", " ".join(area), kept, gone, lost)


def test_the_area_where_the_searches_differ() -> None:
    reason = check(lost_area(9, 10.0), "loses_area", colour="black", points=18)
    assert len(reason.parameters["area"]) == 9
    assert reason.parameters["at"] in reason.parameters["area"]
    assert mentions(reason.text(), "kibitz's search & Black & 18 points & G3")
    assert mentions(reason.text("de"), "Suche & Schwarz & 18 Punkte & G3")
    assert mentions(reason.text("fr"), "recherche & Noir & 18 points & G3")
    assert not mentions(reason.why_bad(), "G3"), "the first sentence leaves the better move out"
    assert mentions(reason.why_bad("de"), "Schwarz & 18 Punkte")
    check(lost_area(9, 10.0, to_move=WHITE), "loses_area", colour="white", points=18)


def test_an_area_that_does_not_explain_the_loss_is_no_reason() -> None:
    assert lost_area(8, 19.9) is None, "only 16 points"
    check(lost_area(9, 54.0), "loses_area", points=18)
    assert lost_area(9, 55.0) is None, "less than a third of the loss"
    assert lost_area(9, 9.0) is None, "no mistake"
    assert lost_area(14, 5.9, 9) is None, "a small loss on a small board"


def test_points_that_hardly_change_are_no_area() -> None:
    assert lost_area(32, 20.0, turned=0.04) is None
    check(lost_area(32, 20.0, turned=0.3), "loses_area", points=19)


def test_a_capture_comes_before_the_area() -> None:
    board, vertices = position(LADDER), "D4 D5 D6 D7 D8 D9 D10 D11 D12"
    check(why(board, "Q10", "E4", vertices, 1.0, 0.0, 14.0), "allows_ladder")
    board = position({"B": "D4", "W": "C4"})
    check(why(board, "E10", "E4", vertices, 1.0, 0.0, 14.0), "loses_area", points=18)


AREA = "D4 D5 D6 D7 D8 D9 D10 D11 D12"


@pytest.mark.parametrize(("played", "named"), [("H8", False), ("G8", True), ("pass", True)])
def test_a_move_far_from_the_area_has_no_reason(played: str, named: bool) -> None:
    reason = why(position({}), played, "E8", AREA, 1.0, 0.0, 14.0)
    assert (reason is not None) == named
    if named:
        found = check(reason, "loses_area", points=18, colour="black")
        assert mentions(found.text(), "kibitz's search & D8 & Black & 18 points & avoids this")


@pytest.mark.parametrize(("size", "least", "points"), [(9, 6.0, 2), (13, 10.0, 3), (19, 20.0, 5)])
def test_an_area_with_half_of_the_loss_of_a_mistake(size: int, least: float, points: int) -> None:
    def area(lost: float) -> Why | None:
        vertices = " ".join(["G7", "H7", "J7", "G8", "H8"][:points])
        return why(position({}, size), "H5", "H4", vertices, 1.0, 0.0, lost)

    check(area(least), "loses_area", points=2 * points)
    assert area(least - 0.1) is None, "the loss of an inaccuracy"
    check(area(4.0 * points), "loses_area")
    assert area(4 * points + 0.1) is None, "less than half of the loss"


def test_the_lines_must_show_half_of_a_smaller_area() -> None:
    maps, ends = [owned(AREA, 0.9), owned(AREA, 0.1)], [owned(AREA, 0.6), owned(AREA, 0.4)]
    played, best = (from_gtp(vertex, 19) for vertex in ("E10", "E4"))
    situation = Situation(position({}), played, best, *maps, 20.0)
    check(explain(situation), "loses_area", points=14)
    reason = explain(replace(situation, better_end=ends[0], after_end=ends[1]))
    assert reason is not None
    assert reason.code == "elsewhere", "the better move is far away"


GROUP = {"B": "D4 D5 F4", "W": "Q16 Q15 R14"}
"""Two chains of Black that are near to each other, and stones of White."""
AROUND = "D3 D4 D5 E3 E4 F3 F4 G4"


@pytest.mark.parametrize(
    ("better", "after", "code"),
    [(0.9, 0.2, "group_lost"), (0.9, 0.4, "group_in_danger"), (0.9, 0.55, None), (0.7, 0.45, None), (0.55, 0.1, None)],
)
def test_a_group_that_changes_its_owner_by_the_searches(better: float, after: float, code: str | None) -> None:
    """A loss of 20 points or more on 19×19 needs no proof by a line."""
    reason = why(position(GROUP), "E6", "E5", AROUND, better, after, 20.0)
    assert (reason and reason.code) == code
    if reason is not None:
        check(reason, str(code), colour="black", stones=3)
        assert reason.parameters["at"] in GROUP["B"].split()
        assert mentions(reason.text(), "kibitz's search & Black's & 3 stones & E5 avoids this")
        assert lines(reason) == [(True, ["E5"])]
    assert why(position(GROUP), "E6", "E5", AROUND, better, after, 19.9) is None, "the loss of an inaccuracy"


@pytest.mark.parametrize(("better", "code"), [(0.3, "misses_attack"), (0.4, "misses_attack"), (0.2, "misses_kill")])
def test_a_group_of_the_opponent_that_the_better_move_kills(better: float, code: str) -> None:
    """White is to move, and the group is Black's."""
    reason = why(position(GROUP, to_move=WHITE), "E6", "E5", AROUND, better, 0.95, 20.0)
    check(reason, code, colour="black", stones=3, move="E5")
    assert reason is not None
    assert mentions(reason.text(), "kibitz's search & E5 & Black's & 3 stones")
    assert lines(reason) == [(True, ["E5"])]


@pytest.mark.parametrize("best", ["Q10", "pass"])
def test_a_distant_move_kills_no_group(best: str) -> None:
    """The played move has revived dead stones."""
    reason = why(position(GROUP, to_move=WHITE), "E6", best, AROUND, 0.2, 0.95, 20.0)
    assert reason is None or not reason.code.startswith("misses_")


@pytest.mark.parametrize(("chance", "code"), [(0.24, "group_lost"), (0.3, "group_in_danger")])
def test_a_group_dies_only_if_all_its_chains_die(chance: float, code: str) -> None:
    better, after = owned(AROUND, 0.9), owned(AROUND, 0.1)
    after[from_gtp("F4", 19)] = chance
    situation = Situation(position(GROUP), from_gtp("E6", 19), from_gtp("E5", 19), better, after, 20.0)
    check(explain(situation), code, stones=3)


def test_the_group_must_explain_the_loss() -> None:
    check(why(position(GROUP), "E6", "E5", AROUND, 0.95, 0.1, 40.0), "group_lost")
    assert why(position(GROUP), "E6", "E5", AROUND, 0.95, 0.1, 41.0) is None, "less than a third of the loss"
    check(why(position({"B": "D4"}), "E6", "E5", AROUND, 0.95, 0.1, 20.0), "loses_area")


@pytest.mark.parametrize(
    ("played", "best", "lost", "code"),
    [
        ("D4", "Q16", 20.0, "elsewhere"), ("D4", "G5", 20.0, "elsewhere"), ("D4", "F5", 20.0, None),
        ("D4", "Q16", 19.9, None), ("pass", "Q16", 20.0, "passes"), ("D4", "pass", 20.0, None),
    ],
)  # fmt: skip
def test_a_larger_move_elsewhere_is_the_last_reason(played: str, best: str, lost: float, code: str | None) -> None:
    reason = why(position({}), played, best, "", lost=lost)
    assert (reason and reason.code) == code
    if reason is not None:
        check(reason, str(code), move="Q16" if best == "Q16" else best, points=20)
        assert mentions(reason.text(), f"kibitz's search & {best} & 20 points")
        assert lines(reason) == [(True, [best])]


def of_lines(
    moved: float = 0.4,
    at_the_end: int = 10,
    lost: float = 12.0,
    size: int = 19,
    to_move: int = BLACK,
    seen: float = 0.95,
) -> Why | None:
    """The reason if nine points change by `moved` in the searches, and `at_the_end` points at the ends of the lines."""
    owns = seen if to_move == BLACK else 1 - seen
    letters = "ABCDEFGHJKLMNOPQRST"[:size]
    ends = " ".join([f"{letter}{row}" for row in (4, 5) for letter in letters][:at_the_end])
    nine = " ".join(ends.split()[:9])
    half = moved / 2 if to_move == BLACK else -moved / 2
    maps = (owned(nine, 0.5 + half, size), owned(nine, 0.5 - half, size))
    end_maps = (owned(ends, owns, size), owned(ends, 1 - owns, size))
    played, best = (from_gtp(vertex, size) for vertex in ("E7", "E6"))
    situation = Situation(position({}, size, to_move), played, best, *maps, lost)
    assert explain(situation) is None, "without the ends of the lines"
    return explain(replace(situation, better_end=end_maps[0], after_end=end_maps[1]))


@pytest.mark.parametrize(("to_move", "colour"), [(BLACK, "black"), (WHITE, "white")])
def test_an_area_that_the_lines_show(to_move: int, colour: str) -> None:
    reason = check(of_lines(0.4, 12, to_move=to_move), "loses_area", colour=colour, points=7, after_lines=22)
    assert len(reason.parameters["area"]) == 12
    assert mentions(reason.text(), f"{colour.capitalize()} & 7 points")


def test_limits_of_an_area_that_the_lines_show() -> None:
    check(of_lines(at_the_end=12), "loses_area", after_lines=22)
    assert of_lines(at_the_end=11) is None, "only 19.8 points at the end of the lines"
    assert of_lines(at_the_end=12, seen=0.05) is None, "the better line loses the area"
    check(of_lines(0.28, 12), "loses_area", points=5)
    assert of_lines(0.27, 12) is None, "the searches expect a loss of 4.9 points"
    check(of_lines(at_the_end=12, lost=21.5), "loses_area", points=7)
    assert of_lines(at_the_end=12, lost=22.0) is None, "less than a third of the loss"
    assert of_lines(at_the_end=12, lost=9.9) is None, "no mistake"
    assert of_lines(at_the_end=12, lost=9.0, size=13) is None, "not checked on small boards"


@pytest.mark.parametrize(("shown", "named"), [(0.51, True), (0.49, False)])
def test_the_lines_must_show_half_of_a_large_area(shown: float, named: bool) -> None:
    maps = (owned(AREA, 1.0), owned(AREA, 0.0))
    ends = (owned(AREA, 0.5 + shown / 2), owned(AREA, 0.5 - shown / 2))
    played, best = (from_gtp(vertex, 19) for vertex in ("E10", "E4"))
    situation = Situation(position({}), played, best, *maps, 14.0, (), (), *ends)
    assert (explain(situation) is not None) == named
    check(explain(replace(situation, better_end=None)), "loses_area", points=18)


class LinesSearched:
    """A search that expects a small loss around D8 if the stone at Q16 is missing. At the ends of its lines, this area
    is lost. It remembers the positions.
    """

    def __init__(self, last: str = "Q3") -> None:
        self.line, self.seen = (from_gtp("R3", 19), from_gtp(last, 19)), list[Board]()

    def __call__(self, board: Board) -> GoThought:
        self.seen.append(board)
        kept = board[from_gtp("D8", 19)] == BLACK
        sure = 0.5 if board[from_gtp("R3", 19)] else 0.2
        owners = owned(AREA + " E4 E5 E6", 0.5 + sure if kept else 0.5 - sure).astype(np.float32)
        move = MoveThought(
            from_gtp("D8", 19), 9, 1.0, 0.5, 0.5, 2.0 if kept else 14.0, 9.0, None, 0, self.line, (9,), owners
        )
        return GoThought(board.to_move, 19, 9, 0.5, 2.0, 9.0, owners, (move,))


def test_the_ends_of_both_lines_are_searched() -> None:
    search, board = LinesSearched(), position({})
    better = find_better(board, from_gtp("F6", 19), search)
    assert better is not None
    check(better.why, "loses_area", colour="black", points=10, after_lines=24)
    ends = search.seen[3:]
    assert len(ends) == 2
    for end, line in zip(ends, (better.line, better.played_line), strict=True):
        colours = [end[point] for point in line]
        assert colours == [BLACK, WHITE, BLACK]
        assert end.to_move == WHITE
        assert end.colours().tolist().count(BLACK) == 2


def test_the_ends_are_not_searched_if_passes_end_a_line() -> None:
    search = LinesSearched()
    search.line = (PASS, PASS)
    better = find_better(position({}), from_gtp("Q16", 19), search)
    assert better is not None
    assert better.why is None
    assert len(search.seen) == 3


def test_moves_of_a_real_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest area that move 183 loses has less than 18 points. Move 126 loses no area of this size at all. But at
    the ends of its lines, an area differs by about 20 points.
    """
    games = (game for game in read_records([str(GAMES)]) if isinstance(game, Record))
    record, session = next(itertools.islice(games, 140, None)), Session("gohuman")
    search = searching(session, terms_of(record), VISITS)

    def better(ply: int) -> Better:
        board = record.board(ply - 1, superko=False, suicide=True)
        board.to_move = colour_of(record, ply)
        found = find_better(board, record.moves[ply - 1], search)
        assert found is not None
        assert found.points > 5
        assert found.played_line[0] == record.moves[ply - 1]
        return found

    assert better(183).why is None
    monkeypatch.setattr(reasons, "LARGE_AREA", 12.0)
    reason = check(better(183).why, "loses_area", colour="white")
    assert 12 <= reason.parameters["points"] < 18
    assert int(reason.parameters["at"][1:]) >= 15, "an area at the upper side"
    monkeypatch.setattr(reasons, "LARGE_AREA_OF_LINES", 30.0)
    assert better(126).why is None
    monkeypatch.setattr(reasons, "LARGE_AREA_OF_LINES", 12.0)
    assert better(126).why is None, "the move was played far from the area"
    monkeypatch.setattr(reasons, "FAR", 30)
    reason = check(better(126).why, "loses_area", colour=("black", "white")[colour_of(record, 126) - 1])
    assert 12 <= reason.parameters["after_lines"] < 30
    assert reason.parameters["points"] < 18


def test_every_code_has_a_sentence_in_every_language() -> None:
    for language, words in LANGUAGES.items():
        assert words.sentences.keys() == ENGLISH.sentences.keys()
        for code, text in words.sentences.items():
            assert fields(text) == fields(ENGLISH.sentences[code]) | (fields(text) & {"whose"}), (language, code)
    for code in CODES:
        for stones in (1, 2):
            said = {
                "colour": "black", "at": "D4", "move": "Q16", "stones": stones, "line": ["Q16", "D4"], "points": 9,
                "area": ["D4"],
            }  # fmt: skip
            texts = {Why(code, said, Why("better_avoids", said)).text(language) for language in LANGUAGES}
            assert len(texts) == len(LANGUAGES)
            assert not any(re.search("[{}]", text) for text in texts)


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name} - {"whose"}


class Searched:
    """A search whose answers are written down: the best move, and the lead of the side to move by stones that are
    there."""

    def __init__(self, best: str, leads: dict[str, float]) -> None:
        self.best, self.leads, self.asked = from_gtp(best, 19), leads, 0

    def __call__(self, board: Board) -> GoThought:
        self.asked += 1
        lead = next((lead for vertex, lead in self.leads.items() if board[from_gtp(vertex, 19)]), 0.0)
        owners = np.full(POINTS, 0.5, np.float32)
        move = MoveThought(self.best, 9, 1.0, 0.5, 0.5, lead, 9.0, None, 0, (self.best,), (9,), owners)
        return GoThought(board.to_move, 19, 9, 0.5, lead, 9.0, owners, (move,))


def test_both_positions_of_a_comparison_have_the_same_side_to_move() -> None:
    # The opponent leads by 2 points after the best move, and by 14 after the played one.
    search, played = Searched("Q16", {"Q16": 2.0, "D4": 14.0}), from_gtp("D4", 19)
    better = find_better(position({}), played, search)
    best = from_gtp("Q16", 19)
    assert better == Better(12.0, (best, best), None, (played, best))
    assert mentions(better.words(19), "Q16 & 12 points")
    assert search.asked == 3
    assert find_better(position({}), from_gtp("Q16", 19), search) is None, "the best move"
    assert find_better(position({}), played, Searched("Q16", {"Q16": 14.0, "D4": 2.0})) is None, "a better one"


@pytest.mark.parametrize("known", [True, False])
def test_searches_that_are_known_are_not_repeated(known: bool) -> None:
    search, board, played = Searched("Q16", {"Q16": 2.0, "D4": 14.0}), position({}), from_gtp("D4", 19)
    then = board.copy()
    then.play(BLACK, played)
    before, after = (search(board), search(then)) if known else (None, None)
    search.asked = 0
    better = find_better(board, played, search, before, after)
    assert better is not None
    assert (better.points, search.asked) == (12.0, 1 if known else 3)
    assert find_better(board, played, search, best=from_gtp("Q3", 19)).line[0] == from_gtp("Q3", 19)  # type: ignore[union-attr]


def test_a_pass_that_ends_the_game_is_no_better_move() -> None:
    board = position({})
    assert find_better(board, from_gtp("D4", 19), Searched("pass", {"D4": 14.0})) is not None
    board.play(WHITE, PASS)
    board.to_move = BLACK
    assert find_better(board, from_gtp("D4", 19), Searched("pass", {"D4": 14.0})) is None


def told(lead: float, line: str) -> PositionPrediction:
    return PositionPrediction(lead, 0.5, np.zeros(POINTS + 1, np.float32), (from_gtp(line, 19),))


@pytest.mark.parametrize(("drop", "asked"), [(7.9, 0), (8.0, 3)])
def test_only_suspects_are_searched_deeper(drop: float, asked: int) -> None:
    record, search = parse_record("(;GM[1]SZ[19];B[dp];W[pd])"), Searched("Q16", {"D4": 6.0})
    found = judge(record, [told(0, "Q16"), told(-drop, "Q16"), told(9, "Q16")], search, 10.0, 2)
    assert found[0].points == (6.0 if asked else drop)
    assert (found[0].better is not None) == bool(asked)
    assert found[1] == PointLoss(), "the best move"
    assert search.asked == asked
    assert judge(record, [told(0, "Q16"), told(-9, "Q16"), told(9, "Q16")], search, 10.0, 0)[0] == PointLoss()


@pytest.mark.parametrize(("lost", "points", "asked"), [(15.9, 15.9, 0), (16.0, 6.0, 3), (30.0, 6.0, 3)])
def test_moves_that_seem_to_be_mistakes_are_searched_longer(lost: float, points: float, asked: int) -> None:
    record = parse_record("(;GM[1]SZ[19];B[dp];W[pd])")
    predictions = [told(0, "Q16"), told(-20, "Q16"), told(9, "Q16")]
    search, longer = Searched("Q16", {"D4": lost}), Searched("Q16", {"D4": 6.0})
    found = judge(record, predictions, search, 10.0, 2, longer)
    assert (found[0].points, longer.asked) == (points, asked)
    assert judge(record, predictions, search, 10.0, 2)[0].points == lost, "without a longer search"
    refuted = Searched("D4", {})  # the longer search finds that the played move is the best one
    assert judge(record, predictions, search, 10.0, 2, refuted)[0].points == (0.0 if asked else lost)


def test_a_loss_that_the_deeper_search_does_not_find_is_none() -> None:
    record, search = parse_record("(;GM[1]SZ[19];B[dp];W[pd])"), Searched("Q16", {"Q16": 3.0, "D4": 1.0})
    assert judge(record, [told(0, "Q16"), told(-20, "Q16"), told(9, "Q16")], search, 10.0, 2)[0] == PointLoss()
