"""Convert an analyzed game of Go to rows of a table, one for each move."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kibitz.analysis.go.games import AnalysedGame

COLUMNS: dict[str, type] = {
    "file": str, "game": int, "black": str, "white": str, "date": str, "result": str, "size": int, "komi": float,
    "ply": int, "side": str, "vertex": str, "before": float, "after": float, "change": float, "count": float,
    "mark": str, "black_wins": float, "probability": float, "first_choice": str, "words": str,
    "checked_by": str, "better": str, "better_points": float, "reason": str, "reason_text": str,
}  # fmt: skip
"""The names and types of the columns. A value is missing if the network does not predict it.

before, after: Black's lead in points. change: the change of the lead for the mover. count: Black's points minus White's
after the move, if the board is settled. black_wins: Black's win probability before the move, 0 to 1. probability: the
predicted probability of the played move. words: a description of the points whose owner changed, for annotated moves.
checked_by: the engine that evaluated the moves. better, better_points: the better move for an annotated move, and the
points that it gains. reason, reason_text: the code and the sentence of the reason, if one is found.
"""


def rows(game: AnalysedGame, file: str) -> Iterator[dict[str, Any]]:
    """Yield the moves of an analyzed game as rows of a table: one dict for each move. The keys are the names of the
    columns, which the constant COLUMNS lists. file: the path of the game's file.
    """
    headers = game.record.headers
    of_game = {
        "file": file, "game": game.number, "black": headers.get("PB", "?"), "white": headers.get("PW", "?"),
        "date": headers.get("DT", "?"), "result": headers.get("RE", "?"), "size": game.record.size,
        "komi": game.record.komi, "checked_by": game.checked_by and game.checked_by.words(),
    }  # fmt: skip
    for move in game.moves:
        found = move.as_json()
        likely = found.get("expected") or [{}]
        found["first_choice"] = likely[0].get("vertex")
        better, reason = found.pop("better", None), found.pop("reason", None) or {}
        if better:
            found |= {"better": better["line"][0], "better_points": better["points"]}
        found |= {"reason": reason.get("code"), "reason_text": reason.get("text")}
        yield {**of_game, **{name: found.get(name) for name in COLUMNS if name not in of_game}}
