"""The notes of an analysis in a comment."""

from __future__ import annotations

import pytest

from kibitz.analysis.go.better import Better
from kibitz.analysis.go.changes import Change, words
from kibitz.analysis.go.notes import lead_line, summary_words, without_notes
from kibitz.analysis.go.reason_texts import LANGUAGES
from kibitz.analysis.go.reasons import BETTER_AVOIDS, CODES, Why
from kibitz.analysis.summary import GameSummary, SideSummary
from kibitz.games.go.points import BLACK, NONE, WHITE, from_gtp


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
            assert without_notes(written) == ("", ""), written
    better = Better(3.2, (from_gtp("C3", 19),)).words(19, language)
    assert without_notes(f"Good idea\n{better}") == ("Good idea", "")


def test_the_line_about_changed_owners_is_removed() -> None:
    points = [from_gtp(vertex, 9) for vertex in ("C3", "C4")]
    found = [
        Change(stones, points[0], tuple(points[:n]), BLACK, 2.0) for stones in (NONE, BLACK, WHITE) for n in (1, 2)
    ]
    for part in ("the upper left", "the left side", "the centre"):
        for changed in ([], found[:1], found[1:2], found[2:4], found):
            line = words(changed, (part, 4.0), 9)
            assert without_notes(f"Mistake: -4.2 points for White\n{line}") == ("", "?"), line
    users = "the white stones at C3 live forever, I thought"
    assert without_notes(users) == (users, "")
