"""The notes of an analysis in a comment."""

from __future__ import annotations

from kibitz.analysis.go.notes import lead_line, summary_words, without_notes
from kibitz.analysis.summary import GameSummary, SideSummary


def test_a_summary_is_removed_and_a_users_sentence_about_accuracy_stays() -> None:
    sides = {"black": SideSummary(0.81, 0.7, 20, {}), "white": SideSummary(0.79, 0.8, 20, {})}
    users = "Accuracy: Black 12% of the time, says my teacher."
    for shown in (sides, {"white": sides["white"]}):
        written = [users, lead_line(1.5), *summary_words(GameSummary(shown, None), str)]
        assert len(written) == 3
        assert without_notes("\n".join(written)) == (users, "")
