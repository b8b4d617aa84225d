"""Write the evaluations of a Go game by the browser page of `kibitz board` into the nodes of its SGF record, in the
format of `kibitz annotate`.
"""

from __future__ import annotations

from kibitz.analysis.go.notes import (
    lead_line,
    lead_value,
    mark_line,
    summary_words,
    without_notes,
)
from kibitz.analysis.go.reason_texts import LANGUAGES, sentence
from kibitz.games.go.points import BLACK, WHITE
from kibitz.play.go.ownership import SWINGS
from kibitz.web import game_tree
from kibitz.web.notes import LANGUAGE, Note, Notes

_NAGS = {"?!": 6, "?": 2, "??": 4, "↑": 1}
_OF_MOVES = set(range(1, 7))
_SIDES = {BLACK: "Black", WHITE: "White"}


def annotate(
    written: game_tree.Written, index: int, notes: Notes, colour: int, size: int, summary: list[str]
) -> game_tree.Written:
    """Return the node with its evaluation added: as lines of the comment, as the annotation of the move, and as SGF
    properties.

    written: the node.
    index: its index in the tree.
    notes: the results of the analysis.
    colour: the color of the player who made the node's move.
    size: the board size.
    summary: more lines to add to the comment; they are added even if the move was not evaluated.

    Results of an earlier analysis are replaced. An annotation that a person made is kept.
    """
    note = notes.moves.get(index)
    if note is None and not summary:
        return written
    reasons = reasons_of(note) if note else {}
    comment, earlier = without_notes(written.comment)
    nags = [nag for nag in written.nags if nag != _NAGS.get(earlier)]
    properties = written.fields.get("props") or {}
    props = dict(properties) if isinstance(properties, dict) else {}
    lines = [comment] if comment else []
    if index == 0 and notes.checked_by:
        lines.append(f"Checked by {notes.checked_by}")
    if note and note.lead is not None:
        lines.append(lead_line(note.lead))
        props["V"] = [lead_value(note.lead)]
    if note:
        props.pop("HO", None)
        if note.mark and not _OF_MOVES & set(nags):
            nags = sorted([*nags, _NAGS[note.mark]])
            lines.append(_lost(note, _SIDES[colour]))
            if reason := reasons.get(notes.language) or reasons.get(LANGUAGE):
                lines.append(reason)
            if (note.points or 0) >= 2 * SWINGS[size]:
                props["HO"] = ["1"]
    fields = {**written.fields, "props": props}
    return game_tree.Written(written.move, "\n".join([*lines, *summary]), nags, fields, written.children)


def reasons_of(note: Note) -> dict[str, str]:
    """Return why a marked move was bad, by language. If no reason is known, return which move was better.

    note: the evaluation of the move.
    """
    if note.reasons or not note.best or not note.points:
        return note.reasons
    facts = {"move": note.best, "points": round(note.points)}
    return {language: sentence("better_is", facts, language) for language in LANGUAGES}


def _lost(note: Note, side: str) -> str:
    if note.points is None:
        return mark_line(note.mark, -100 * note.loss, side, "percentage points")
    return mark_line(note.mark, -note.points, side)


def last_words(tree: list[game_tree.Written], notes: Notes) -> dict[int, list[str]]:
    """Return the lines of text of a game's summary, and where to write them: {index: lines}. tree: the nodes of the
    game. notes: its evaluations. The index is that of the last node of the main line, to whose comment they are added.
    Returns {} if there is no summary.
    """
    line = [0]
    while tree[line[-1]].children:
        line.append(tree[line[-1]].children[0])
    if notes.summary is None or len(line) != len(notes.movers) + 1:
        return {}

    def name(ply: int) -> str:
        return f"move {ply}, {notes.movers[ply - 1].capitalize()} {tree[line[ply]].move}"

    return {line[-1]: summary_words(notes.summary, name)}
