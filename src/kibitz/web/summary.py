"""Compute the summary of a game that was evaluated on the browser page of `kibitz board`. The page sends the
evaluations of the moves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kibitz.web.params import BadRequest, Fields, choice, numbers, words

if TYPE_CHECKING:
    from kibitz.analysis.summary import GameSummary

MAX_MOVES = 10_000
"""The largest number of moves of a game."""
MOST_LEAD = 1000
"""The largest lead in points."""
SIDES = {"chess": ("white", "black"), "go": ("black", "white")}
"""The sides of each game. The win probabilities in a request are those of the first side."""


def summary(fields: Fields) -> dict[str, Any]:
    """Return the summary of an evaluated game, such as each side's mean loss, as `kibitz analyze --json` prints it.
    fields: the request, see `summarized`.
    """
    return summarized(fields).as_json()


def summarized(fields: Fields) -> GameSummary:
    """Return the summary of a game whose moves the browser page of `kibitz board` has evaluated.

    fields: a request with these fields:
        game: "chess" or "go".
        values: the win probability in each position, of White in chess and of Black in Go.
        movers: the side of each move.
        losses: what each move lost, as win probability in chess and in points in Go; null if unknown.
        marks: the annotation of each move, or "".
        leads: Black's lead in points in each position of a Go game; null if unknown. The field may be missing.

    Raises BadRequest for invalid fields.
    """
    from kibitz.analysis.glyphs import SIGNS
    from kibitz.analysis.summary import summarize

    game = choice(fields, "game", list(SIDES), "chess")
    movers, marks = words(fields, "movers", MAX_MOVES), words(fields, "marks", MAX_MOVES)
    values = numbers(fields, "values", MAX_MOVES + 1, 0, 1)
    losses = numbers(fields, "losses", MAX_MOVES, 0, 1000)
    leads = None if fields.get("leads") is None else numbers(fields, "leads", MAX_MOVES + 1, -MOST_LEAD, MOST_LEAD)
    if not len(movers) == len(marks) == len(losses) == len(values) - 1:
        raise BadRequest(
            "movers, marks and losses must have one entry for each move. values must have one entry for each position"
        )
    if leads is not None and len(leads) != len(values):
        raise BadRequest("leads must have one entry for each position")
    if not set(movers) <= set(SIDES[game]):
        raise BadRequest(f"each entry of movers must be {' or '.join(SIDES[game])}")
    if not set(marks) <= {"", *SIGNS}:
        raise BadRequest(f"each entry of marks must be {', '.join(SIGNS)} or empty")
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        raise BadRequest("values must have a number for every position, without null")
    return summarize(SIDES[game], known, movers, losses, marks, in_points=game == "go", leads=leads)
