"""Convert an analyzed chess game to rows of a table, one for each move."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kibitz.analysis.chess.clocks import times_left
from kibitz.analysis.chess.moves import SIDES, AnalysedGame
from kibitz.analysis.chess.ratings import ratings_of

COLUMNS: dict[str, type] = {
    "file": str, "game": int, "white": str, "black": str, "date": str, "result": str, "ply": int, "move_number": int,
    "side": str, "rating": int, "fen": str, "san": str, "uci": str, "seconds_left": float, "before": float,
    "after": float, "change": float, "loss": float, "mark": str, "best": str, "line": str, "only_move": bool,
    "reason": str, "reason_text": str, "phase": str, "piece": str, "usual_loss": float, "risk": float, "rank": int,
    "probability": float, "legal_moves": int, "first_choice": str, "weaker": float, "stronger": float,
    "mate": int, "checked_by": str,
}  # fmt: skip
"""The names and types of the columns. A value is missing if the network does not predict it. Many columns have the same
names as the keys of a move in the JSON output.

before, after, change: White's win probability, and its change for the mover, 0 to 1. rating: the mover's rating in the
record. mate: the number of moves to mate after the move, positive if White mates. checked_by: the engine that evaluated
the moves. seconds_left: the time on the mover's clock. reason: the code of the reason why the move was bad.
"""


def rows(game: AnalysedGame, file: str) -> Iterator[dict[str, Any]]:
    """Yield the moves of an analyzed game as rows of a table: one dict for each move. The keys are the names of the
    columns, which the constant COLUMNS lists. file: the path of the game's file.
    """
    headers, ratings = game.record.game.headers, ratings_of(game.record.game.headers)
    of_game = {
        "file": file, "game": game.record.number, "white": headers.get("White", "?"),
        "black": headers.get("Black", "?"), "date": headers.get("Date", "?"), "result": headers.get("Result", "*"),
        "checked_by": game.checked_by and game.checked_by.words(),
    }  # fmt: skip
    board = game.record.game.board()
    for move, seconds, node in zip(game.moves, times_left(game.record.game), game.record.game.mainline(), strict=True):
        found = move.as_json()
        reason, strength = found.pop("reason", None) or {}, found.get("by_strength", {})
        choices = found.get("choices") or [{}]
        found |= {
            "line": " ".join(found["line"]) if "line" in found else None, "fen": board.fen(),
            "rating": ratings[SIDES.index(move.side)] or None, "seconds_left": seconds,
            "reason": reason.get("code"), "reason_text": reason.get("text"), "first_choice": choices[0].get("uci"),
            "weaker": strength.get("weaker"), "stronger": strength.get("stronger"),
        }  # fmt: skip
        yield {**of_game, **{name: found.get(name) for name in COLUMNS if name not in of_game}}
        board.push(node.move)
