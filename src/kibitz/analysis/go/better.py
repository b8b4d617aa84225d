"""Find what each move of a Go game lost, the better move, and why this move is better.

Short searches of the positions before and after a move show how much the move may have lost. The side to move differs
in these positions, so the difference of their values is inexact. If the loss is large, two more positions are searched
deeper: the position after the best move and the position after the played move. They have the same side to move. Their
ownership maps and best lines show what the played move lost. If the rules of Go prove no reason, the positions at the
ends of these lines are searched too.

A search can overestimate the loss of a move. So a move that seems to be a mistake is searched again, with many more
visits, before it gets the annotation of a mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from kibitz import ongoing
from kibitz.analysis.go.predictions import PositionPrediction
from kibitz.analysis.go.reason_texts import sentence
from kibitz.analysis.go.reasons import LOSES_AREA, WITHOUT_PLACE, Situation, Why, explain, may_be_area_of_lines
from kibitz.analysis.go.searched import boards
from kibitz.games.go.io.sgf import Record
from kibitz.games.go.points import BLACK, PASS, to_gtp
from kibitz.games.go.rules import Board
from kibitz.play.go.thought import GoThought

SUSPECT = 0.8
"""A move is searched deeper if the short searches find a loss of at least this share of the smallest annotated loss. On
833 moves of five games, the share 0.8 needs 40 deeper searches and finds 13 annotated moves. The share 0.5 needs 102
searches and finds 16 annotated moves.
"""

LONG_VISITS = 800
"""The number of visits of the searches that decide whether a move is a mistake or only an inaccuracy."""

Search = Callable[[Board], GoThought]
"""A function that searches a position and returns the result. The result includes the ownership map, `owners`."""


@dataclass(frozen=True)
class Better:
    """A move that is better than the played move.

    points: the lead in points after the better move minus the lead after the played move, for the mover; more than 0.
    line: the better move and the moves that are expected after it, as points (row · 19 + column) or 361 for a pass.
    why: the reason why the move is better; None if no reason is found.
    played_line: the played move and the moves that are expected after it, as points or 361 for a pass.
    chance: the mover's win probability after the better move minus the win probability after the played move, 0 to 1.
    """

    points: float
    line: tuple[int, ...]
    why: Why | None = None
    played_line: tuple[int, ...] = ()
    chance: float = 0.0

    def words(self, size: int, language: str = "en") -> str:
        """Return a text that describes the better move and how many points it gains.

        size: the board size. language: a key of `reason_texts.LANGUAGES`, such as "en".
        """
        return sentence("better_is", {"move": to_gtp(self.line[0], size), "points": round(self.points)}, language)

    def as_json(self, size: int) -> dict[str, Any]:
        return {"points": round(self.points, 2), "line": [to_gtp(point, size) for point in self.line]}


@dataclass(frozen=True)
class PointLoss:
    """How many points a move lost.

    points: how much the mover's lead fell, 0 or more. better: the better move that a deeper search found. It is None if
    there was no deeper search, or if the search found no better move.
    """

    points: float = 0.0
    better: Better | None = None


def judge(
    record: Record,
    predictions: list[PositionPrediction],
    search: Search,
    swing: float,
    last: int,
    longer: Search | None = None,
) -> list[PointLoss]:
    """Return how many points each move of a game lost, one `PointLoss` for each move.

    record: the game.
    predictions: the results of short searches of all positions, with the best lines (sequences of moves).
    search: a function that searches a position deeper.
    swing: the smallest annotated loss, in points.
    last: the number of the last move to evaluate, from 1. Only the passes that end the game come after this move, and
        they lose nothing.
    longer: a function that searches a position with more visits, for moves that seem to be mistakes. None to search
        these moves only once.
    """
    found = [PointLoss()] * len(record.moves)
    for i, (one, board) in enumerate(ongoing.counted(boards(record, predictions[:last]), last)):
        played = record.moves[i]
        best = one.line[0] if one.line else played
        points = (1 if board.to_move == BLACK else -1) * (one.lead - predictions[i + 1].lead)
        found[i] = loss_of(board, played, best, points, search, swing, longer)
    return found


def loss_of(
    board: Board,
    played: int,
    best: int,
    points: float,
    search: Search,
    swing: float,
    longer: Search | None = None,
    before: GoThought | None = None,
    after: GoThought | None = None,
) -> PointLoss:
    """Return how many points a move lost. `kibitz analyze` and the browser page of `kibitz board` use this function.

    best, points: the best move, and how much the played move lowered the mover's lead, both from short searches.
    swing: the smallest annotated loss, in points.

    The other parameters are those of `find_better`.
    """
    if points <= 0 or best == played or (best == PASS and board.passes):
        return PointLoss()
    if points < SUSPECT * swing:
        return PointLoss(points)
    better = find_better(board, played, search, before, after, longer=longer, swing=swing)
    return PointLoss(better.points if better else 0.0, better)


def find_better(
    board: Board,
    played: int,
    search: Search,
    before: GoThought | None = None,
    after: GoThought | None = None,
    best: int | None = None,
    longer: Search | None = None,
    swing: float = 0.0,
) -> Better | None:
    """Return a move that is better than the played move; None if the searches find no better move.

    board: the position before the played move.
    played: the played move, as a point (row · 19 + column) or 361 for a pass.
    search: a function that searches a position.
    before, after: the results of `search` for the positions before and after the played move; None to search these
        positions now.
    best: the best move; None to take it from the search.
    longer: a function that searches with more visits. It is used if the played move lost at least 1.6 · `swing`. It
        then finds the best move and the values after both moves, and `search` searches only the ends of the lines.
    swing: the smallest annotated loss, in points.
    """
    found = _compared(board, played, search, before, after, best)
    if found and longer and found.lost >= SUSPECT * 2 * swing:
        found = _compared(board, played, longer)
    if found is None:
        return None
    line, played_line = (found.best, *found.better_line), (played, *found.after_line)
    why = explain(found)
    if (why is None or why.code in (LOSES_AREA, *WITHOUT_PLACE)) and may_be_area_of_lines(found):
        ends = board_after(board, *line), board_after(board, *played_line)
        if all(end.passes < 2 for end in ends):
            better_end, after_end = (search(end).owners.astype(float) for end in ends)
            why = explain(replace(found, better_end=better_end, after_end=after_end))
    return Better(found.lost, line, why, played_line, found.lost_chance)


def _compared(
    board: Board,
    played: int,
    look: Search,
    before: GoThought | None = None,
    after: GoThought | None = None,
    best: int | None = None,
) -> Situation | None:
    """Return what searches find after the played move and after the best move; None if the best move is not better.
    look: a function that searches a position. The other parameters are those of `find_better`.
    """
    best = (before or look(board)).moves[0].point if best is None else best
    if best == played or (best == PASS and board.passes):
        return None
    after = after or look(board_after(board, played))
    better = look(board_after(board, best))
    reply, other = after.moves[0], better.moves[0]
    if reply.lead <= other.lead:
        return None
    return Situation(
        board, played, best, better.owners.astype(float), after.owners.astype(float), reply.lead - other.lead,
        other.pv, reply.pv, lost_chance=max(0.0, reply.winrate - other.winrate),
    )  # fmt: skip


def board_after(board: Board, *moves: int) -> Board:
    """Return the position after one or more moves, which the two sides play in turn. Moves that the rules of ko or
    suicide forbid are also played.
    """
    after = board.copy()
    after.superko, after.suicide = False, True
    for move in moves:
        after.play(after.to_move, move)
    return after
