"""The values of single moves of a position: by a short search of the position after each move, and by a check of
captures and mates.

A search that sends its visits to a few moves evaluates the other moves badly. `MoveEvaluator` searches the position
after each given move, or evaluates it once with a network. `check_moves` searches the position after each move for a
few plies, and counts only material. It finds short mates of either side, and hanging pieces.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.replay import CLOCK, SQUARES, START_WIDTH, decode_board
from kibitz.play.chess import bare_king
from kibitz.play.chess.quiescence import MATE_SCORE, MAX_NODES, NO_ROWS, SURE, quiescence_search
from kibitz.play.chess.score import STEP, centipawns, of_centipawns
from kibitz.play.result import SearchLimits, TimeManager
from kibitz.play.session import Answers, NetworkSession

if TYPE_CHECKING:
    from kibitz.play.puct.player import LineValue
    from kibitz.play.puct.search import Entered

CHECK_PLIES = 5
"""The depth in plies of the search in `check_moves`, which looks for captures and mates after a move. Beyond this
depth, it searches only captures. A search of 4 plies would miss mates in 3 by the other side.
"""
LINE_CHECK_PLIES, LINE_CHECK_NODES = 7, 60_000
"""Limits of the check of captures and mates after a move that `MoveEvaluator` has searched: its depth in plies, and the
largest number of positions. If the check needs more positions, its result is that of the last completed depth. It takes
0.04 s on average.
"""
MATE_PLIES = 5
"""The number of plies in which `find_mate` searches for a mate by the side to move."""
SLACK_CENTIPAWNS = 50
"""A position's value may be higher than the value of its material in the check, by up to this number of centipawns."""
MATERIAL_FACTOR = 1.4
"""The centipawns of value for each hundredth of a pawn of material. The factor is above 1, because a side that is
behind in material usually has other disadvantages too.
"""
MATERIAL_WEIGHT, OPINION_WEIGHT = 0.34, 0.76
"""Two weights for the value of a move in log odds. The value is MATERIAL_WEIGHT times the material after the check, in
pawns, plus OPINION_WEIGHT times the log odds of the search's value.

The weights were fitted by least squares to Stockfish's values on half of the games of tools/label_mistakes.py.
"""
MOST_PAWNS = 20
WON_CENTIPAWNS, CERTAIN_CENTIPAWNS = 300, 500
"""The material balances, in centipawns, between which the upper limit of a value (see WON_BASE) takes effect. Below
WON_CENTIPAWNS, there is no limit. From CERTAIN_CENTIPAWNS on, the limit has its full effect.
"""
WON_BASE, WON_FACTOR = 250, 0.65
"""The upper limit of the value of a move that wins material, in centipawns: WON_BASE plus WON_FACTOR for each hundredth
of a pawn of material.

Stockfish's value of a won position is lower than its material suggests. Without this limit, the values of 46 of 1,000
lines were at least 300 centipawns too high.
"""
CONVINCED = 0.9
"""A search's value above this number raises the upper limit of the move's value, because the search may have found, for
example, a decisive attack.
"""
CONVINCED_CENTIPAWNS = 1000
"""The number of centipawns by which a search's value of 1 raises the upper limit of the move's value."""
SUREST = 0.998
"""The largest absolute value from a search that is converted to log odds; larger values are replaced by this number."""
CHECK_VISITS = 64
"""The number of visits of a move from which on `MoveCheck.corrected` does not lower a search's value to that of the
material. It lowers the value in part if there are fewer visits.
"""
LINE_VISITS = 80
"""The largest number of visits of the search after one move in `MoveEvaluator`."""
ALL_VISITS = 400
"""The largest number of visits of all searches of one position in `MoveEvaluator`."""
REPLY_SHARE = 0.2
"""In the search after a move, `MoveEvaluator` uses the value of the opponent's best reply. Only those replies count
that have at least this share of the visits of the most visited reply, because a refutation that is found late has few
visits.
"""
LOST_SHARE, LOST_CENTIPAWNS = 0.6, 100
"""`MoveCheck.limited` lowers a value below 0 by the share LOST_SHARE of its centipawns, but by at most LOST_CENTIPAWNS.

People save some lost positions. So a network that predicts people's results gives lost positions too high values.
"""
FALLING_DEPTHS = 4
"""The number of depths of the check whose material balances are compared (see `MoveCheck.falling`). They end with the
last depth. A balance that falls with the depth may be smaller again at the next depth.
"""
FALLING_SHARE, FALLING_CENTIPAWNS = 0.5, 150
"""`MoveCheck.limited` lowers a value by the share FALLING_SHARE of `MoveCheck.falling`, but by at most
FALLING_CENTIPAWNS.
"""
LIMIT_CENTIPAWNS = 100
"""After `MoveCheck.limited`, a value is higher than the value of the material by at most this number of centipawns."""
BARE_KING_VALUE = 0.98
"""The value of a position for a side that has enough material to mate a king without other pieces (a bare king). The
side must not lose any of this material immediately.
"""
BARE_KING_MATERIAL = 250
"""The material, in hundredths of a pawn, that a side must still have at the end of the check to get BARE_KING_VALUE."""

FIRST_SPEED, LEAST_NODES = 500_000, 1_000
"""The speed of checks, in positions per second, until it is measured, and the least size of a check whose speed is
measured.
"""
GRACE = 0.02
"""The seconds by which all checks of a search together may exceed its time limit."""
OPINIONS_AND_CHECKS, CHECKS = 0.5, 0.5
"""The shares of the time left that `MoveEvaluator` reserves: after the searches of moves for everything else, and after
the evaluations for the checks.
"""
OPINIONS_BATCH = 8
"""The number of positions that are evaluated together if there is a time limit."""

MAX_BARE_KING_CLOCK = 50
"""A position with a bare king gets BARE_KING_VALUE only if at most this number of plies has passed without a capture or
pawn move. Otherwise the fifty-move rule may prevent the mate.
"""


@dataclass(frozen=True)
class MoveCheck:
    """The result of a check of one move for captures and mates, from the point of view of the side that makes the move.

    centipawns: the material balance after the best play in the next plies.
    value: the value of the mate that was found (see `score.py`); None if none was found.
    bare_king: 1 if the opponent has only a king and the mover has enough material to force mate; -1 if the mover has
        only a king and the opponent can mate; 0 in all other cases.
    line: the packed moves (see `kibitz.games.chess.moves.from_move`) of the mate after this move; () without a mate.
    falling: by how much the material balance falls with the depth of the check, in centipawns, 0 or more. It is the
        highest balance at the last four depths (FALLING_DEPTHS) minus the balance at the last depth.
    can_win: whether the mover has a pawn, or enough pieces to force mate.
    """

    centipawns: int
    value: float | None = None
    bare_king: int = 0
    line: tuple[int, ...] = ()
    falling: int = 0
    can_win: bool = True

    def corrected(self, value: float, visits: int) -> float:
        """Return the value of the move after a correction by this check: -1 to 1, or a mate.

        value: the value from a search, -1 to 1, or a mate. visits: the visits of that search, 1 or more; more visits
        make the correction smaller.
        """
        if (certain := self._certain(value)) is not None:
            return certain
        value = min(self._with_material(value), self._limit(value))
        highest = of_centipawns(MATERIAL_FACTOR * self.centipawns + SLACK_CENTIPAWNS)
        if value <= highest:
            return value
        share = max(0.0, 1 - visits / CHECK_VISITS)
        return (1 - share) * value + share * highest

    def limited(self, value: float) -> float:
        """Return the value of the move after a correction by this check: -1 to 1, or a mate. The correction can only
        lower the value, unless a mate or a bare king decides it.

        value: the value from a search of the position after the move, -1 to 1, or a mate. Such a search has followed
        captures, so material never raises its value. In this, the method differs from `corrected`. The constants were
        chosen on about 1,000 moves of the network `human` in positions with a hanging piece or a threat of mate
        (bench/bench_multipv.py).
        """
        if (certain := self._certain(value)) is not None:
            return certain
        score = centipawns(value)
        if score < 0:
            value = of_centipawns(score - min(LOST_CENTIPAWNS, -LOST_SHARE * score))
        most = min(MATERIAL_FACTOR * self.centipawns + LIMIT_CENTIPAWNS, WON_BASE + WON_FACTOR * self.centipawns)
        if not self.can_win:
            most = min(most, LIMIT_CENTIPAWNS)
        value = min(value, of_centipawns(most))
        if self.falling:
            value = of_centipawns(centipawns(value) - min(FALLING_CENTIPAWNS, FALLING_SHARE * self.falling))
        return value

    def _certain(self, value: float) -> float | None:
        """Return the value if a mate or a bare king decides it, else None. value: the value from a search."""
        if self.value is not None:
            return self.value
        if abs(value) > 1:
            return value
        if self.bare_king:
            return max(value, BARE_KING_VALUE) if self.bare_king > 0 else min(value, -BARE_KING_VALUE)
        return None

    def _limit(self, value: float) -> float:
        """Return the highest value, up to 1, of a move that wins material, given a search's value."""
        if self.centipawns <= WON_CENTIPAWNS:
            return 1.0
        full = min(1.0, (self.centipawns - WON_CENTIPAWNS) / (CERTAIN_CENTIPAWNS - WON_CENTIPAWNS))
        limit = WON_BASE + WON_FACTOR * self.centipawns
        limit += CONVINCED_CENTIPAWNS * max(1 - full, (value - CONVINCED) / (1 - CONVINCED))
        return of_centipawns(limit)

    def _with_material(self, value: float) -> float:
        """Return the value, -1 to 1, corrected for the material in the check."""
        opinion = max(-SUREST, min(SUREST, value))
        pawns = max(-MOST_PAWNS, min(MOST_PAWNS, self.centipawns / 100))
        odds = MATERIAL_WEIGHT * pawns + OPINION_WEIGHT * math.log((1 + opinion) / (1 - opinion))
        return math.tanh(odds / 2)


class _CheckSpeed:
    """The measured speed of the checks, from which the size of a check is computed if there is a time limit.

    speed: positions per second.
    """

    def __init__(self) -> None:
        self.speed = float(FIRST_SPEED)

    def affordable(self, clock: TimeManager | None, checks: int, most: int) -> int:
        """Return the largest number of positions of the next check, at most `most`. checks: the number of checks that
        share the time left, including the next one.
        """
        left = math.inf if clock is None else clock.left() + GRACE
        return most if left == math.inf else min(most, int(self.speed * max(0.0, left) / checks))

    def note(self, nodes: int, seconds: float) -> None:
        """Note the size and the duration of a check."""
        if nodes >= LEAST_NODES:
            self.speed = nodes / max(seconds, 1e-6)


_pace = _CheckSpeed()


def check_moves(rows: NDArray[np.uint8], clock: TimeManager | None = None) -> list[MoveCheck | None]:
    """Test each move for captures and mates, and return the results. A result is None if there was no time for the
    test.

    rows: uint8 [n, 68], the position after each move, as rows of 64 codes and 4 numbers of the state. The game must not
    be over in any of these positions. clock: the limit on time; None for no limit.
    """
    return [_check(row, clock=clock, checks=len(rows) - i) for i, row in enumerate(rows)]


def find_mate(
    row: NDArray[np.uint8], drawn: NDArray[np.uint8] = NO_ROWS, clock: TimeManager | None = None
) -> tuple[float, tuple[int, ...]] | None:
    """Return the value and the packed moves (see `kibitz.games.chess.moves.from_move`) of a mate that the side to move
    can force; None if no mate is found.

    The mate takes at most 5 plies (MATE_PLIES). row: uint8 [68], the position as 64 codes and 4 numbers of the state,
    see `kibitz.PositionArrays`. drawn: uint8 [k, 68], positions that count as draws if they occur in the search. clock:
    the limit on time; None for no limit.
    """
    found = quiescence_search(row[None], MATE_PLIES, _pace.affordable(clock, 1, MAX_NODES), threads=1, drawn=drawn)
    depth = max(0, int(found.reached[0]))
    score = int(found.scores[0, depth])
    if score < SURE:
        return None
    return 2 - (MATE_SCORE - score) * STEP, tuple(int(move) for move in found.lines[0, depth] if move)


def _check(
    row: NDArray[np.uint8],
    plies: int = CHECK_PLIES,
    max_nodes: int = MAX_NODES,
    clock: TimeManager | None = None,
    checks: int = 1,
) -> MoveCheck | None:
    """Return the result of testing a move; None if there was no time. checks: see `_CheckSpeed.affordable`."""
    nodes = _pace.affordable(clock, checks, max_nodes)
    begun = time.perf_counter()
    # Each position is searched alone, so that its result doesn't depend on the other positions of a batch.
    found = quiescence_search(row[None], plies, nodes, threads=1)
    _pace.note(int(found.nodes[0]), time.perf_counter() - begun)
    if found.reached[0] < 0 and nodes < max_nodes:
        return None
    depth = max(0, int(found.reached[0]))
    score = int(found.scores[0, depth])
    line = tuple(int(move) for move in found.lines[0, depth] if move)
    if score >= SURE:
        return MoveCheck(-score, -2 + (MATE_SCORE - score + 1) * STEP, line=line)
    if score <= -SURE:
        return MoveCheck(-score, 2 - (MATE_SCORE + score + 1) * STEP, line=line)
    balances = -found.scores[0, max(0, depth + 1 - FALLING_DEPTHS) : depth + 1]
    falling = max(0, int(balances[balances < SURE].max(initial=-score)) + score)
    return MoveCheck(-score, bare_king=_bare_king(row, -score), falling=falling, can_win=_can_win(row))


def _can_win(row: NDArray[np.uint8]) -> bool:
    """Return MoveCheck.can_win. row: the position after the move."""
    board = decode_board(row[:SQUARES], row[SQUARES:START_WIDTH])
    mover = not board.turn
    return bool(board.pawns & board.occupied_co[mover]) or bare_king.has_mating_material(board, mover)


def _bare_king(row: NDArray[np.uint8], centipawns: int) -> int:
    """Return MoveCheck.bare_king for a move. row: the position after the move."""
    codes = row[:SQUARES]
    whites, blacks = int(((codes >= 1) & (codes <= 6)).sum()), int((codes >= 7).sum())
    near_draw = row[SQUARES + CLOCK] > MAX_BARE_KING_CLOCK
    if min(whites, blacks) != 1 or abs(centipawns) < BARE_KING_MATERIAL or near_draw:
        return 0
    board = decode_board(codes, row[SQUARES:START_WIDTH])
    mover = not board.turn  # the side that has just moved
    strong = chess.WHITE if blacks == 1 else chess.BLACK
    if (centipawns > 0) != (strong == mover) or not bare_king.has_mating_material(board, strong):
        return 0
    return 1 if strong == mover else -1


class _NoOpinion:
    """A value network that outputs 0 everywhere, so that only captures and material count."""

    outputs: tuple[str, ...] = ("value",)

    def evaluate(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> Answers:
        return {"value": np.zeros(len(codes), np.float32)}


class MoveEvaluator:
    """Evaluates single moves of a position with networks and by a check of captures and mates.

    policy: a network that predicts moves. value: a network that evaluates positions. If `value` is None, values come
    only from captures and material, without a search.
    """

    def __init__(self, policy: NetworkSession, value: NetworkSession | None):
        from kibitz.play.puct import chess as rules
        from kibitz.play.puct.player import PuctTuning

        valued = _NoOpinion() if value is None else value
        self._tuning = PuctTuning()
        self._rules = rules.ChessRules(policy, valued, self._tuning.temperature, self._tuning.captures)
        self._searches = value is not None
        self.nodes = 0
        """The number of positions evaluated so far."""

    def values(
        self,
        row: NDArray[np.uint8],
        moves: Sequence[int],
        drawn_keys: NDArray[np.uint64],
        visits: int = 1,
        clock: TimeManager | None = None,
        used: int = 0,
    ) -> list[tuple[float, tuple[int, ...]] | None]:
        """Return the value and the best line of each given move. Each element of the result is a pair: the move's value
        for the mover (see score.py), and the packed moves that follow it in the best line. The second part is () if
        there was no search and no mate was found. The element is None if there was no time for the move.

        row: uint8 [68], the position as 64 codes and 4 numbers of the state, see `kibitz.PositionArrays`.
        moves: legal moves, packed (see `kibitz.games.chess.moves.from_move`).
        drawn_keys: uint64, the keys (64-bit hashes) of positions that are drawn if they occur again.
        visits: the number of visits of the search for each move; 1 means one network evaluation.
        clock: the limits that end the searches; None for no limit.
        used: the number of evaluations that already count towards these limits.
        """
        from kibitz.play.puct.tree import DRAW, LOSS, UNKNOWN, WIN

        if not moves:
            return []
        packed = np.array(moves, np.uint16)
        entered = self._rules.enter(np.repeat(row[None, :START_WIDTH], len(packed), 0), packed)
        ended = np.where((entered.ended != LOSS) & np.isin(entered.again, drawn_keys), DRAW, entered.ended)
        known = {LOSS: 2 - STEP, WIN: -2 + 2 * STEP, DRAW: 0.0}
        open_ = np.flatnonzero(ended == UNKNOWN)
        clock = clock or TimeManager(SearchLimits(), None, 0)
        with clock.reserving(OPINIONS_AND_CHECKS):
            searched = self._searched(entered.rows, open_, drawn_keys, visits, clock, used)
        others = np.array([i for i in open_.tolist() if i not in searched], np.intp)
        with clock.reserving(CHECKS):
            values = dict(zip(others.tolist(), self._opinions(entered, others, clock), strict=False))
        checks = len(open_)
        found: list[tuple[float, tuple[int, ...]] | None] = []
        for i, end in enumerate(ended.tolist()):
            if end != UNKNOWN:
                mating = (int(entered.moves[entered.offsets[i]]),) if end == WIN else ()
                found.append((known[end], mating))
                continue
            size = (LINE_CHECK_PLIES, LINE_CHECK_NODES) if i in searched else (CHECK_PLIES, MAX_NODES)
            check = _check(entered.rows[i], *size, clock, checks)
            checks -= 1
            if check is None or (i not in searched and i not in values):
                found.append(None)
            elif i in searched:
                line = searched[i].line if check.value is None else check.line
                found.append((check.limited(searched[i].value), line))
            else:
                found.append((check.corrected(values[i], 1), check.line))
        return found

    def _searched(
        self,
        rows: NDArray[np.uint8],
        at: NDArray[np.intp],
        drawn_keys: NDArray[np.uint64],
        visits: int,
        clock: TimeManager,
        used: int,
    ) -> dict[int, LineValue]:
        """Return the results of the searches of some of the positions, by their index. Positions without a search are
        skipped.
        """
        from kibitz.play.puct.player import search_line

        found: dict[int, LineValue] = {}
        if not self._searches or visits < 2:
            return found

        def batch(done: int, size: int) -> int:
            return clock.batch(used + self.nodes + done, size)

        for i in at.tolist():
            result, evaluated = search_line(self._rules, self._tuning, rows[i], visits, drawn_keys, batch, REPLY_SHARE)
            self.nodes += evaluated
            if result is not None and result.visits > 1:
                found[i] = result
        return found

    def _opinions(self, entered: Entered, at: NDArray[np.intp], clock: TimeManager) -> list[float]:
        """Return the values, -1 to 1, of some of the positions for the side that has just moved. If the time is short,
        the last values are missing.
        """
        found: list[float] = []
        size = len(at) if clock.limits.seconds is None else OPINIONS_BATCH
        for start in range(0, len(at), max(1, size)):
            if clock.is_over() and clock.limits.seconds is not None:
                break
            some = at[start : start + size]
            self.nodes += len(some)
            parts = [entered.moves[entered.offsets[i] : entered.offsets[i + 1]] for i in some]
            offsets = np.cumsum([0, *map(len, parts)])
            opinions, _ = self._rules.evaluate(entered.rows[some], np.concatenate(parts), offsets)
            found += [float(np.clip(-np.nan_to_num(opinion), -1, 1)) for opinion in opinions]
        return found
