"""Write analyzed games as SGF files for other programs.

Every node gets some of these properties in addition to its move. A swing is an annotated move.

    C        A comment with the lead. For a swing, also the change, and the reason or the better move.
             After the last move, also the summary of the game.
    V        The lead, positive if Black leads, as the SGF version FF[4] defines it.
    TB, TW   Points that are very likely Black's and White's: empty points, and stones of the other player.
    SQ, TR   For a swing, the stones and the other points whose owner the move changed.
    DO       A doubtful move, with the annotation ?!.
    BM       A bad move, with the annotation ?. BM[2] is a very bad move, with the annotation ??.
    TE       A good move, with the annotation ↑.
    HO       A swing of at least twice the smallest annotated change.
"""

from __future__ import annotations

import numpy as np

from kibitz import __version__
from kibitz.analysis.go.games import SURE, AnalysedGame, AnalysedPosition, Move, owners_of_chains
from kibitz.analysis.go.notes import Notes, lead_line, lead_value, mark_line, mark_property, summary_words
from kibitz.games.go.io.sgf import write_sgf
from kibitz.games.go.points import BLACK, OUTSIDE, WHITE, to_sgf


def annotated(judged: AnalysedGame) -> str:
    """Return an analyzed game as SGF text. Every node of the main line has the results of the analysis (see
    `position_notes`). The root node also has the properties that describe the game, such as players and komi.

    The record's earlier comments, markup and variations are not in the result.
    """
    notes = {0: position_notes(judged.positions[0])}
    if judged.checked_by:
        notes[0]["C"] = [f"Checked by {judged.checked_by.words()}\n{notes[0]['C'][0]}"]
    for move, position in zip(judged.moves, judged.positions[1:], strict=True):
        notes[move.ply] = position_notes(position, move, judged.swing)
    if judged.moves:
        last = notes[len(judged.moves)]
        last["C"] = ["\n".join([*last["C"], *_summary(judged)])]
    return write_sgf(judged.record, notes, {"AP": f"kibitz:{__version__}"})


def _summary(judged: AnalysedGame) -> list[str]:
    def name(ply: int) -> str:
        move = judged.moves[ply - 1]
        return f"move {move.ply}, {move.side.capitalize()} {move.vertex}"

    return summary_words(judged.summary, name)


def position_notes(position: AnalysedPosition, move: Move | None = None, swing: float = 0) -> Notes:
    """Return the SGF properties of a node, which describe its position and the move that leads to this position.

    move: the move; None for the start position. swing: the smallest annotated change, in points.
    """
    score = position.score
    words = lead_line(score.lead, score.count)
    notes: Notes = {"V": [lead_value(score.lead)]}
    if move and move.mark:
        words += "\n" + mark_line(move.mark, move.change, move.side)
        name, value = mark_property(move.mark)
        notes[name] = [value]
        words += "".join(f"\n{one}" for one in move.explanations)
        if abs(move.change) >= 2 * swing:
            notes["HO"] = ["1"]
        if move.shift:
            for name, stones in (("SQ", True), ("TR", False)):
                marked = [
                    to_sgf(point)
                    for change in move.shift.changes
                    if bool(change.stones) == stones
                    for point in change.points
                    if point != move.point
                ]
                if marked:
                    notes[name] = marked
    black_owns = owners_of_chains(position.colours, position.black_owns)
    for name, colour, owns in (("TB", BLACK, black_owns >= SURE), ("TW", WHITE, black_owns <= 1 - SURE)):
        theirs = np.flatnonzero(owns & (position.colours != colour) & (position.colours != OUTSIDE))
        if len(theirs):
            notes[name] = [to_sgf(int(point)) for point in theirs]
    return {"C": [words], **notes}
