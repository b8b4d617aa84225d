"""The notes of an analysis in a comment."""

from __future__ import annotations

import pytest

from kibitz.analysis.go.better import Better
from kibitz.analysis.go.changes import Change, words
from kibitz.analysis.go.notes import lead_line, summary_words, without_notes
from kibitz.analysis.go.reason_texts import LANGUAGES
from kibitz.analysis.go.reasons import BETTER_AVOIDS, CODES, Why
from kibitz.analysis.summary import GameSummary, SideSummary, TurningPoint
from kibitz.games.go.points import BLACK, NONE, WHITE, from_gtp

MISTAKE = "Mistake: -4.2 points for White"
OF_PEOPLE = (
    "the white stones at C3 live forever, I thought",
    "D4 lives",
    "3 points around D4 live",
    "most of it in the end game was bad",
    "Checked by my teacher",
    "Turning point: I am ahead after move 40, says my teacher",
    "Puts the stone at D4 in atari: Black captures it with D5. Or so I thought.",
)
"""Lines that a person wrote, some of them like those of an analysis."""


def test_a_summary_is_removed_and_a_users_sentence_about_accuracy_stays() -> None:
    sides = {"black": SideSummary(0.81, 0.7, 20, {}), "white": SideSummary(0.79, 0.8, 20, {})}
    users = "Accuracy: Black 12% of the time, says my teacher."
    for shown in (sides, {"white": sides["white"]}):
        written = [users, lead_line(1.5), *summary_words(GameSummary(shown, None), str)]
        assert len(written) == 3
        assert without_notes("\n".join(written)) == (users, "")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_lines_of_another_analysis_are_removed(language: str) -> None:
    """Its network, engine or language gave other reasons, which a second analysis cannot know."""
    line, area = ["D4", "pass", "Q16"], ["D4"]
    for code in CODES:
        for stones in (1, 7):
            facts = {"colour": "white", "at": "D4", "move": "Q16", "stones": stones, "line": line, "points": stones,
                     "area": area}  # fmt: skip
            written = Why(code, facts, Why(BETTER_AVOIDS, facts)).text(language)
            assert without_notes(f"{MISTAKE}\n{written}") == ("", "?"), written
            assert without_notes(written) == (written, ""), "a person may write such a line"
    better = Better(3.2, (from_gtp("C3", 19),)).words(19, language)
    assert without_notes(f"Good idea\n{MISTAKE}\n{better}\n{better}") == (f"Good idea\n{better}", "?")


def test_the_line_about_changed_owners_is_removed() -> None:
    points = [from_gtp(vertex, 9) for vertex in ("C3", "C4")]
    found = [
        Change(stones, points[0], tuple(points[:n]), BLACK, 2.0) for stones in (NONE, BLACK, WHITE) for n in (1, 2)
    ]
    for part in ("the upper left", "the left side", "the centre"):
        for changed in ([], found[:1], found[1:2], found[2:4], found):
            line = words(changed, (part, 4.0), 9)
            assert without_notes(f"{MISTAKE}\n{line}") == ("", "?"), line


def test_the_turning_point_and_the_engine_are_removed() -> None:
    for ahead, who in (("black", "Black stays"), ("", "nobody is")):
        for name in ("move 12, White D4", "move 12, White pass"):
            turning = GameSummary({}, TurningPoint(12, ahead))
            (line,) = summary_words(turning, {12: name}.__getitem__)
            assert line == f"Turning point: {who} ahead after {name}"
            assert without_notes(line) == ("", "")
    for engine in ("GNU Go 3.8", "KataGo 1.15, 50 visits per position"):
        assert without_notes(f"Checked by {engine}\n{lead_line(1.5)}") == ("", "")


@pytest.mark.parametrize("before", ["", MISTAKE + "\n", lead_line(1.5) + "\n"])
@pytest.mark.parametrize("users", OF_PEOPLE)
def test_lines_of_people_stay(users: str, before: str) -> None:
    assert without_notes(before + users)[0] == users
    assert without_notes(f"{before}{users}\nD4 avoids this.")[0] == f"{users}\nD4 avoids this."


@pytest.mark.parametrize(
    "begin", ["", "Black's group at D4 (7 stones) dies: ", "Black's stone at D4 dies: ", "Turning point: ", "Lead B+",
              "Checked by ", "D4 becomes White's; ", "Puts the "],
)  # fmt: skip
@pytest.mark.parametrize(
    "again", ["A1 ", "pass ", "passpass", " ", "1", "a", "D4 becomes White's; ", " ahead after move "]
)
def test_the_time_is_proportional_to_the_length(begin: str, again: str) -> None:
    """A form with two ways to read the same text would need years for these lines."""
    users = (begin + again * 3000 + "!").strip()
    comment = f"{MISTAKE}\n{users}"
    assert without_notes("\n".join([comment] * 3)) == ("\n".join([users] * 3), "?")
