"""Explain the count at the end of an analyzed Go game: an open border, and a different recorded result."""

from __future__ import annotations

from kibitz.analysis.go.games import AnalysedGame, owners_of_chains
from kibitz.analysis.go.notes import lead_words
from kibitz.analysis.go.predictions import terms_of
from kibitz.games.go.endings.final import count_board, open_border
from kibitz.games.go.points import BLACK, WHITE, to_gtp

ALMOST = 0.01
"""Two leads are equal if they differ by less than this number of points."""


def end_notes(judged: AnalysedGame) -> list[str]:
    """Return sentences about the count of the last position. The list is empty if the position has no count, or if the
    count needs no explanation.
    """
    record, last = judged.record, judged.positions[-1]
    count = last.score.count
    if count is None:
        return []
    board, terms, notes = record.board(), terms_of(record), []
    ended = board.passes >= 2
    dead = None
    if not ended:
        owns = owners_of_chains(last.colours, last.black_owns)
        dead = ((last.colours == BLACK) & (owns < 0.5)) | ((last.colours == WHITE) & (owns > 0.5))
    by_rules, otherwise = (
        count_board(board, terms.komi, by_territory, dead) for by_territory in (terms.territory, not terms.territory)
    )
    if ended and (gap := open_border(last.colours, by_rules)):
        points, at = gap
        counts = "point counts" if points == 1 else "points count"
        notes.append(f"The border is open at {to_gtp(at, record.size)}: {points} {counts} for nobody.")
    if judged.problem is None and record.margin is not None and record.result is not None:
        recorded = record.margin * (record.result or 1)
        if abs(recorded - count) > ALMOST:
            leads = by_rules.lead, otherwise.lead
            notes.append(_difference(count, recorded, leads, ended, terms.territory, f"komi {record.komi:g}"))
    return notes


def _difference(
    count: float, recorded: float, leads: tuple[float, float], ended: bool, territory: bool, komi: str
) -> str:
    """Return a sentence that explains why the count differs from the recorded result.

    count, recorded: Black's lead in points. leads: the lead by the scoring of the rules and by the other scoring, if
    neutral points count for nobody. ended: whether two passes ended the game. territory: whether the rules have
    territory scoring. komi: a text.
    """
    result, methods = f"the recorded {lead_words(recorded)}", ("area scoring", "territory scoring")
    if territory:
        methods = methods[::-1]
    for method, lead in zip(methods, leads, strict=True):
        if abs(lead - recorded) > ALMOST:
            continue
        if ended:
            return f"The count is by {methods[0]} with {komi}. By {method}, it is {result}."
        return (
            "The count gives each neutral point to its more likely owner. If neutral points count for nobody,"
            f" {method} with {komi} gives {result}."
        )
    used = methods[0] if ended else "area scoring"
    return (
        f"The count, by {used} with {komi}, differs from {result}. The komi, the rules or the dead stones of the"
        " players may have been different."
    )
