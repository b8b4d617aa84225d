"""Write the results of an analysis into an SGF game: the lead, annotations (?!, ?, ??), and sentences in comments.

`kibitz annotate` and the browser page of `kibitz board` write the results in the same form.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from kibitz.analysis.glyphs import GAINED
from kibitz.analysis.go.reason_texts import LANGUAGES
from kibitz.analysis.printing import turning_words
from kibitz.analysis.summary import GameSummary
from kibitz.text import rounded

_MARKS = {"?!": ("DO", ""), "?": ("BM", "1"), "??": ("BM", "2"), GAINED: ("TE", "1")}
_WORDS = {"?!": "Doubtful", "?": "Mistake", "??": "Big mistake", GAINED: "Good move"}
_LEAD = re.compile(r"Lead (?:0|[BW]\+[\d.]+)(?:, count (?:0|[BW]\+[\d.]+))?")
_MARK = re.compile(rf"({'|'.join(_WORDS.values())}): [+-][\d.]+ (?:points|percentage points) for (?:Black|White)")
_FORMS = {
    "at": r"[A-HJ-T]\d{1,2}", "move": r"(?:[A-HJ-T]\d{1,2}|pass)", "line": r"(?:[A-HJ-T]\d{1,2}|pass| )+",
    "stones": r"\d+ \w+", "points": r"\d+ \w+", "whose": r"[\w'’]+", "player": r"\w+", "other": r"\w+",
}  # fmt: skip
"""What the words in braces of `reason_texts` become, as regular expressions."""


def _sentences() -> str:
    """Return a regular expression that matches each sentence of `reason_texts`, in every language."""
    texts = sorted({text for words in LANGUAGES.values() for text in words.sentences.values()})
    parts = (re.split(r"\{(\w+)\}", text) for text in texts)
    return "|".join("".join(_FORMS[part] if i % 2 else re.escape(part) for i, part in enumerate(one)) for one in parts)


_REASON = re.compile(rf"(?:{_sentences()})(?: (?:{_sentences()}))?")
_AT = _FORMS["at"]
_OWNED = r"becomes? (?:Black|White)'s"
_TURNED = (
    rf"(?:the (?:black|white) stones? at {_AT}(?: \(\d+\))? (?:lives?|{_OWNED})|(?:\d+ points around )?{_AT} {_OWNED})"
)
_PART = r"(?:in|on) the (?:(?:upper|lower) (?:left|right|side)|(?:left|right) side|centre)"
_CHANGES = re.compile(rf"{_TURNED}(?:; {_TURNED})*(?:; and \d+ more)?|most of it {_PART}")
"""Matches the line that `changes.words` returns."""
_SUMMARY = re.compile(
    r"Accuracy: (?:Black|White) \d+%(?:, (?:Black|White) \d+%)?\."
    r"|Turning point: (?:(?:Black|White) stays|nobody is) ahead"
    rf" after move \d+, (?:Black|White) {_FORMS['move']}"
)
_CHECKED = re.compile(r"Checked by .+")

Notes = dict[str, list[str]]
"""The SGF properties of a node: for each property, such as "C", its values. The values are not yet escaped."""


def lead_words(lead: float) -> str:
    """Format Black's lead in points as Go players write it: "B+7.5", "W+0.5", "0"."""
    points = round(abs(lead), 1)
    return f"{'B' if lead > 0 else 'W'}+{points:.1f}" if points else "0"


def lead_line(lead: float, count: float | None = None) -> str:
    """Format Black's lead in points as a line of a comment.

    lead: the expected lead. count: the lead if every point goes to its more likely owner; None if it is unknown.
    """
    return f"Lead {lead_words(lead)}" + (f", count {lead_words(count)}" if count is not None else "")


def lead_value(lead: float) -> str:
    """Format Black's lead in points as the value of the SGF property V."""
    return f"{rounded(lead, 1):.1f}"


def mark_line(mark: str, change: float, side: str, unit: str = "points") -> str:
    """Return a line of a comment about an annotated move, such as "Mistake: -4.2 points for Black".

    mark: the annotation.
    change: the change for the mover, in `unit`.
    side: the mover, "black" or "white".
    unit: "points", or "percentage points" of win probability.
    """
    return f"{_WORDS[mark]}: {'+' if change > 0 else '-'}{abs(change):.1f} {unit} for {side.capitalize()}"


def mark_property(mark: str) -> tuple[str, str]:
    """Return the name and the value of the SGF property for an annotation. An example is ("BM", "2") for the annotation
    ??.
    """
    return _MARKS[mark]


def summary_words(summary: GameSummary, name: Callable[[int], str]) -> list[str]:
    """Return sentences about the accuracy of both sides and about the turning point of a game.

    name: a function that returns the text for a move from the number of the move, such as "move 12, Black D4".
    """
    shown = [
        f"{side.capitalize()} {one.accuracy:.0%}" for side, one in summary.sides.items() if one.accuracy is not None
    ]
    lines = [f"Accuracy: {', '.join(shown)}."] if shown else []
    if turning := summary.turning_point:
        lines.append(turning_words(turning, name(turning.ply)))
    return lines


def without_notes(comment: str) -> tuple[str, str]:
    """Remove the lines of an earlier analysis from a comment. Return the remaining comment, and the annotation (such as
    ??) that the removed lines described; "" if they described no annotation.

    Lines of an analysis with another network, engine or language are also removed. People may write similar lines
    themselves. So a line about the engine is removed only directly before a line about the lead. Lines about the reason
    and about changes are removed only directly after a line about the annotation.
    """
    written = comment.split("\n")
    lines, found = [], ""
    expected: tuple[re.Pattern[str], ...] = ()  # the forms that the current line may have in the earlier analysis
    for line, after in zip(written, [*written[1:], ""], strict=True):
        form = next((form for form in expected if form.fullmatch(line)), None)
        if match := _MARK.fullmatch(line):
            found = next(mark for mark, word in _WORDS.items() if word == match[1])
            expected = (_REASON, _CHANGES)
        elif form is not None:
            expected = expected[expected.index(form) + 1 :]
        else:
            expected = ()
            checked = _CHECKED.fullmatch(line) and _LEAD.fullmatch(after)
            if not (checked or _LEAD.fullmatch(line) or _SUMMARY.fullmatch(line)):
                lines.append(line)
    return "\n".join(lines).strip(), found
