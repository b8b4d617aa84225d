"""Add an analysis of a Go game to the nodes of its SGF record, in the format of `kibitz annotate`. The browser page of
`kibitz board` sends the analysis.
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
from kibitz.web.params import optional_object

_NAGS = {"?!": 6, "?": 2, "??": 4, "↑": 1}
_OF_MOVES = set(range(1, 7))
_SIDES = {BLACK: "Black", WHITE: "White"}


def annotate(
    written: game_tree.Written, index: int, notes: Notes, colour: int, size: int, summary: list[str]
) -> game_tree.Written:
    """Return a copy of a node with its evaluation added: as lines of the comment, as the annotation of the move, and as
    SGF properties. If there is nothing to add, the node itself is returned.

    written: the node.
    index: the node's index in the tree.
    notes: the analysis of the game.
    colour: the color of the player who made the node's move: 1 for Black, 2 for White.
    size: the board size.
    summary: lines for the end of the comment. They are added even if the move was not evaluated.

    Results of an earlier analysis are replaced. An annotation that a person made is kept.
    """
    note = notes.moves.get(index)
    if note is None and not summary:
        return written
    reasons = reasons_of(note) if note else {}
    comment, earlier = without_notes(written.comment)
    nags = [nag for nag in written.nags if nag != _NAGS.get(earlier)]
    props = dict(optional_object(written.fields, "props"))
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
    """Return the summary of a game as {index: lines of text}. The index is that of the node whose comment gets the
    lines: the last node of the main line. Returns {} if there is no summary, or if the summary has another number of
    moves than the main line.

    tree: the nodes of the game, the root first. notes: the analysis of the game.
    """
    line = [0]
    while tree[line[-1]].children:
        line.append(tree[line[-1]].children[0])
    if notes.summary is None or len(line) != len(notes.movers) + 1:
        return {}

    def name(ply: int) -> str:
        return f"move {ply}, {notes.movers[ply - 1].capitalize()} {tree[line[ply]].move}"

    return {line[-1]: summary_words(notes.summary, name)}
