"""Compute the values of a game's positions with a GTP engine, and what each move lost. `kibitz analyze` and the browser
page of `kibitz board` use this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kibitz.analysis.glyphs import mark
from kibitz.games.go.io.sgf import Record
from kibitz.games.go.points import BLACK, PASS
from kibitz.play.go import ownership
from kibitz.play.go.ownership import SWINGS
from kibitz.play.go.thought import Terms
from kibitz.play.go.value import final_count, judge_board

if TYPE_CHECKING:
    from kibitz.analysis.go.engine_judge import EnginePosition, GoEngineJudge
    from kibitz.play.session import Session


@dataclass(frozen=True)
class Valued:
    """The value of a position according to an engine, from Black's point of view.

    black: Black's win probability, 0 to 1.
    lead: the lead in points, komi included.
    line: the best move and the moves that are expected after it, as points (row · 19 + column) or 361 for a pass.
    owners: the probability that each point belongs to Black, float64 [361]; None if the engine does not report it.
    """

    black: float
    lead: float
    line: tuple[int, ...]
    owners: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class EngineLoss:
    """What a move lost, according to an engine.

    chance: the loss of win probability, 0 to 1.
    points: the loss of lead in points, 0 or more.
    line: the better move and the moves that are expected after it. If no move is better, the line begins with the
        played move.
    """

    chance: float
    points: float
    line: tuple[int, ...]


class ValuesByEngine:
    """The values of the positions of a game according to an engine.

    engine: evaluates the positions.
    session: the loaded network.
    record: the game.
    terms: komi, scoring and handicap.
    positions: the engine's evaluations of all positions; None to request each evaluation from the engine when it is
        needed.
    rules: the keywords `suicide` and `superko`, which are passed to `Record.board`.

    If the engine gives no win probability, it is computed from the lead and from the uncertainty of the network's
    ownership map. If two passes ended the game, the final position is scored.
    """

    def __init__(
        self, engine: GoEngineJudge, session: Session, record: Record, terms: Terms,
        positions: Sequence[EnginePosition] | None = None, **rules: Any,
    ):  # fmt: skip
        self.engine, self.record, self.terms = engine, record, terms
        self._session, self._positions, self._rules = session, positions, rules
        self._known: dict[int, Valued] = {}

    def at(self, ply: int) -> Valued:
        """Return the value of the position after `ply` moves. Raises EngineDied if the engine fails."""
        if ply not in self._known:
            self._known[ply] = self._value(ply)
        return self._known[ply]

    def _value(self, ply: int) -> Valued:
        ended = set(self.record.moves[ply:]) <= {PASS}  # two earlier passes are not scored, because moves follow them
        if ended and (final := final_count(self.record.board(ply, **self._rules), self.terms)) is not None:
            return Valued(final.black_wins, final.lead, ())
        found = self.engine.position(self.record, ply) if self._positions is None else self._positions[ply]
        if found.black_wins is not None:
            return Valued(found.black_wins, found.lead, found.line, found.owners)
        if ownership.OUTPUT in self._session.outputs:
            spread = judge_board(self._session, self.record.board(ply, **self._rules), self.terms)[1]
        else:
            spread = SWINGS[self.record.size]
        return Valued(ownership.winrate(found.lead, spread), found.lead, found.line, found.owners)

    def lost(self, ply: int) -> EngineLoss:
        """Return how much a move lost. ply: the number of the move, from 1. A pass that ends the game loses nothing.

        The engine's best move usually loses nothing. But the engine may have overlooked a reply: the value may fall by
        enough for an annotation after the move. Then the move is also compared with the engine's second choice, and the
        smaller loss counts. If the smaller loss is too small for an annotation, the loss is 0. Raises EngineDied if the
        engine fails.
        """
        before, after, played = self.at(ply - 1), self.at(ply), self.record.moves[ply - 1]
        line = before.line or (played,)
        if self._closes(ply):
            return EngineLoss(0.0, 0.0, line)
        drop = self._drop(ply, before, after)
        if line[0] != played:
            return EngineLoss(*drop, line)
        if self.mark(drop[1]) and (second := self._second(ply, played)):
            instead = self._drop(ply, second, after)
            chance, points = min(drop[0], instead[0]), min(drop[1], instead[1])
            if self.mark(points):
                return EngineLoss(chance, points, second.line)
        return EngineLoss(0.0, 0.0, line)

    def mark(self, points: float) -> str:
        """Return the annotation of a move that lost `points` points: "?!", "?", "??" or ""."""
        return mark(-points, SWINGS[self.record.size])

    def _second(self, ply: int, chosen: int) -> Valued | None:
        """Return the value after the engine's second choice, with the line that begins with it.

        The search before a move may have overlooked the reply. The position after the second choice is searched like
        the one after `chosen`, the move number `ply`. None if the engine gives no second choice.
        """
        found = self.engine.second(self.record, ply - 1, chosen)
        if found is None or not found.line or found.line[0] == chosen:
            return None
        point, board = found.line[0], self.record.board(ply - 1, **self._rules)
        if board.why_not(board.to_move, point) is not None:  # the engine may have other rules
            return None
        other = replace(self.record, moves=[*self.record.moves[: ply - 1], point])
        value = ValuesByEngine(self.engine, self._session, other, self.terms, **self._rules).at(ply)
        return replace(value, line=(point, *value.line))

    def _drop(self, ply: int, before: Valued, after: Valued) -> tuple[float, float]:
        """Return how much the mover's values fell by a move: win probability, and points."""
        sign = 1 if (self.record.side == BLACK) == (ply % 2 == 1) else -1
        return max(0.0, sign * (before.black - after.black)), max(0.0, sign * (before.lead - after.lead))

    def _closes(self, ply: int) -> bool:
        """Return whether a move is one of the passes that end the game."""
        moves = self.record.moves
        return len(moves) > 1 and set(moves[-2:]) == {PASS} and set(moves[ply - 1 :]) == {PASS}
