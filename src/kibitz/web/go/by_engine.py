"""Evaluate Go moves by a GTP engine instead of a search with the network, and return the results in the form for the
page.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kibitz.analysis.glyphs import CHESS_SWING, mark
from kibitz.games.go.io.sgf import Record
from kibitz.games.go.points import BLACK, PASS, to_gtp
from kibitz.play.go import ownership
from kibitz.play.go.ownership import SWINGS
from kibitz.web.answers import rounded
from kibitz.web.go.line import GoLine, read_point
from kibitz.web.params import BadRequest

if TYPE_CHECKING:
    from kibitz.analysis.go.engine_judge import GoEngineJudge
    from kibitz.play.session import Session
    from kibitz.web.positions import Line

MOST_SHOWN = 8
"""The largest number of moves of a line."""


@dataclass(frozen=True)
class Valued:
    """An engine's value of a position, in Black's view.

    black: Black's win probability, 0 to 1. from_engine: whether this probability comes from the engine. lead: the lead
    in points, komi included. line: the best move and the moves that would follow.
    """

    black: float
    from_engine: bool
    lead: float
    line: tuple[int, ...]


class EngineValues:
    """The values of the positions of a line, by an engine.

    If the engine gives no win probability, it is computed from the lead and from the uncertainty of the network's
    ownership map. If two passes ended the game, the final position is scored.
    """

    def __init__(self, engine: GoEngineJudge, session: Session, line: Line):
        assert isinstance(line, GoLine)
        self.engine, self.line, self._session = engine, line, session
        self._record = Record(
            line.size, line.black, line.white, line.side, list(line.moves), komi=line.komi, rules=line.rules,
            handicap=line.handicap,
        )  # fmt: skip
        self._known: dict[int, Valued] = {}

    def at(self, ply: int) -> Valued:
        """Return the value of the position after `ply` moves. Raises EngineDied."""
        if ply not in self._known:
            self._known[ply] = self._value(ply)
        return self._known[ply]

    def _value(self, ply: int) -> Valued:
        from kibitz.play.go.value import final_count

        line = replace(self.line, moves=self.line.moves[:ply])
        board = line.board()
        if (final := final_count(board, line.terms)) is not None:
            return Valued(final.black_wins, True, final.lead, ())
        found = self.engine.position(self._record, ply)
        if found.black_wins is not None:
            return Valued(found.black_wins, True, found.lead, found.line)
        return Valued(ownership.winrate(found.lead, self._spread(line)), False, found.lead, found.line)

    def _spread(self, line: GoLine) -> float:
        """Return the standard deviation of the score in points: from the network's ownership map, if it has one."""
        from kibitz.play.go.value import judge_board

        if ownership.OUTPUT not in self._session.outputs:
            return SWINGS[line.size]
        return judge_board(self._session, line.board(), line.terms)[1]

    def judgment(self, ply: int) -> dict[str, Any]:
        """Return the evaluation of the move that leads to a position. A pass that ends the game loses nothing."""
        moves, after = self.line.moves, self.at(ply)
        found = {"ply": ply, "only": False, "score": round(after.lead, 2)}
        white = rounded(1 - after.black)
        if ply == 0:
            nothing: dict[str, Any] = {"move": "", "san": ""}
            return {**found, "loss": 0.0, "points": None, "mark": "", "best": nothing, "line": [],
                    "white": {"before": None, "after": white}}  # fmt: skip
        before, played = self.at(ply - 1), moves[ply - 1]
        best = before.line[0] if before.line else played
        line, (loss, points) = before.line, self._lost(ply, before, after)
        if self._closes(ply):
            loss, points = 0.0, 0.0
        elif best == played:
            drop, loss, points = (loss, points), 0.0, 0.0
            if self._mark(*drop, before, after) and (second := self._second(ply, played)):
                lost = [min(most, each) for most, each in zip(drop, self._lost(ply, second, after), strict=True)]
                if self._mark(lost[0], lost[1], before, after):
                    (loss, points), line, best = lost, second.line, second.line[0]
        names = [to_gtp(point, self.line.size) for point in line[:MOST_SHOWN]]
        name = to_gtp(best, self.line.size)
        return {
            **found, "loss": rounded(loss), "points": round(points, 1), "mark": self._mark(loss, points, before, after),
            "best": {"move": name, "san": name}, "line": names,
            "white": {"before": rounded(1 - before.black), "after": white},
        }  # fmt: skip

    def _second(self, ply: int, chosen: int) -> Valued | None:
        """Return the value after the engine's second choice, with the line that begins with this choice; None if the
        engine gives no second choice.

        The search before a move may have overlooked the reply. The position after the second choice is searched like
        the one after `chosen`, the move number `ply`.
        """
        found = self.engine.second(self._record, ply - 1, chosen)
        if found is None or not found.line or found.line[0] == chosen:
            return None
        earlier, point = self.line.moves[: ply - 1], found.line[0]
        board = replace(self.line, moves=earlier).board()
        if board.why_not(board.to_move, point) is not None:  # the engine may have other rules
            return None
        value = EngineValues(self.engine, self._session, replace(self.line, moves=(*earlier, point))).at(ply)
        return replace(value, line=(point, *value.line))

    def _lost(self, ply: int, before: Valued, after: Valued) -> tuple[float, float]:
        """Return what the mover lost by a move: win probability, and points."""
        first = self.line.side == BLACK
        sign = 1 if first == (ply % 2 == 1) else -1
        return max(0.0, sign * (before.black - after.black)), max(0.0, sign * (before.lead - after.lead))

    def _closes(self, ply: int) -> bool:
        """Return whether a move is one of the passes that end the game."""
        moves = self.line.moves
        return len(moves) > 1 and set(moves[-2:]) == {PASS} and set(moves[ply - 1 :]) == {PASS}

    def _mark(self, loss: float, points: float, before: Valued, after: Valued) -> str:
        """Return the annotation of a move by its loss in points. If the engine gives win probabilities, the loss of win
        probability also gives an annotation, and the worse of the two is returned.
        """
        by_points = mark(-points, SWINGS[self.line.size])
        by_chance = mark(-loss, CHESS_SWING) if before.from_engine and after.from_engine else ""
        return max(by_points, by_chance, key=["", "?!", "?", "??"].index)


def judge(
    engine: GoEngineJudge, session: Session, line: Line, first: int, last: int, seq: int, stop: threading.Event
) -> Iterator[list[dict[str, Any]]]:
    """Yield the lines of a stream: the number of moves and the engine's name, the evaluation of each move, and the end.

    first, last: the range of moves, counted from 1. 0 is the start position, for which only the value is sent.
    """
    began = time.perf_counter()
    yield [{"seq": seq, "total": max(0, last - first + 1), "checked_by": engine.checked_by.as_json()}]
    values = EngineValues(engine, session, line)
    for ply in range(first, last + 1):
        yield [{"seq": seq, **values.judgment(ply), "exact": True}]
    yield [{"seq": seq, "done": True, "seconds": round(time.perf_counter() - began, 3)}]


def check(engine: GoEngineJudge, session: Session, line: Line, stop: threading.Event) -> dict[str, Any]:
    """Return the evaluation of the last move, as `kibitz.web.go.checking.check` does. Raises BadRequest."""
    assert isinstance(line, GoLine)
    if not line.moves:
        raise BadRequest("there is no move to check")
    last = len(line.moves)
    values = EngineValues(engine, session, line)
    found, reply = values.judgment(last), values.at(last).line[:MOST_SHOWN]
    chances = {name: found["white"][name] for name in ("before", "after")}
    if (line.side == BLACK) == (last % 2 == 1):  # Black made the last move
        chances = {name: rounded(1 - white) for name, white in chances.items()}
    return {
        **{name: found[name] for name in ("loss", "mark", "points", "line")}, **chances,
        "reply": [to_gtp(point, line.size) for point in reply] if found["loss"] else [],
    }  # fmt: skip


def candidates(
    engine: GoEngineJudge, session: Session, line: Line, names: Sequence[str],
    report: Callable[[dict[str, Any]], None], stop: threading.Event,
) -> dict[str, Any]:  # fmt: skip
    """Return the best move in the last position, and the value after it and after some other moves.

    names: the other moves. The value after a move is the value that the page shows after the move is played. report:
    called with interim results. Raises BadRequest for an illegal move.
    """
    assert isinstance(line, GoLine)
    board = line.board()
    found = EngineValues(engine, session, line).at(len(line.moves))
    others = [read_point(name, line.size) for name in names]
    for name, point in zip(names, others, strict=True):
        if board.why_not(board.to_move, point) is not None:
            raise BadRequest(f"{name} is illegal here")
    lines: list[dict[str, Any]] = []
    for point in dict.fromkeys([*found.line[:1], *others]):
        if board.why_not(board.to_move, point) is not None:  # the engine may have other rules
            continue
        if stop.is_set():
            break
        after = replace(line, moves=(*line.moves, point))
        value = EngineValues(engine, session, after).at(len(after.moves))
        pv = found.line if found.line[:1] == (point,) else (point, *value.line)
        moves = [to_gtp(each, line.size) for each in pv[:MOST_SHOWN]]
        lines.append({"moves": moves, "san": moves, "black": rounded(value.black), "score": round(value.lead, 1)})
        report({"lines": lines})
    return {"lines": lines}
