"""Compute values from an ownership map: the predicted score, its uncertainty, the win probability, and the living
stones.

An ownership map is float32 [361]: the probability that each intersection of the board will be Black's at the end. It is
0.5 outside of the board, and for intersections whose owner is unknown. Leads are in points of area. A lead belongs to a
named player, such as "Black's lead". It is above 0 if this player is ahead.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.endings.counting import settle
from kibitz.games.go.points import BLACK, GRID, NONE, OUTSIDE, POINTS, WHITE, symmetries
from kibitz.games.go.replay import PASSES, SIDE, SIZE, colours_of
from kibitz.games.go.sides import KOMI_BYTE, NO_KOMI, OPPONENT, RANK, beyond_byte, board_inputs
from kibitz.play.go.thought import Terms
from kibitz.play.session import NetworkSession
from kibitz.runs import with_default_side_inputs

OUTPUT = "black_owns"
"""The name of the ownership map among a network's outputs."""
SYMMETRIES = 8
VARIANCE_FACTOR = 2.0
"""The factor by which the sum of the points' variances is multiplied to get the variance of the score. It is above 1
because the owners of neighboring points change together.
"""
MIN_SPREAD = 1.0
"""The smallest standard deviation of a score in points, even if every owner seems certain."""
LOGISTIC = math.pi / math.sqrt(3)
"""The log odds of a win if the lead is as large as the standard deviation of the score."""
SWINGS = {9: 3.0, 13: 5.0, 19: 10.0}
"""The smallest loss in points that counts as a mistake, by board size."""
SURE = np.float32(1 - 1e-6)
"""The limit for the absolute value of win probability minus loss probability, before log odds are computed from this
difference.
"""
LEAST_CHANCE = 1e-9
"""Move probabilities below this number are ignored when an entropy is computed."""
DEFAULT_SYMMETRIES = (0, 7)
"""The numbers of the two symmetries of the board in which games are evaluated: the identity and a mirror image. Other
pairs would work as well.
"""
FULL_ENOUGH = 4
"""If fewer than 1 / FULL_ENOUGH of the points have a stone, passes before the position are hidden from the network (see
`without_early_passes`).
"""
NEUTRAL = 0.3
"""A point between living stones of both colors is neutral if each side has at least this probability."""


@cache
def points_of(size: int) -> NDArray[np.int64]:
    """Return the points of a board of this size, row by row from the upper left, int64 [size²]."""
    rows = np.arange(size) * GRID
    return (rows[:, None] + np.arange(size)).ravel()


@cache
def symmetric_points(size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the eight symmetries of a board of this size as two arrays, both int64 [8, 361]. The points are numbered
    row · 19 + column.

    Let `sources` be the first array, and `targets` the second array. Symmetry s moves the content of point `sources[s,
    p]` to point p. So it moves the content of point p to point `targets[s, p]`. Points outside of the board don't move.
    """
    there = symmetries(size)
    return there, np.argsort(there, axis=1)


def outputs_of(network: NetworkSession) -> tuple[str, ...]:
    """Return the names of the network's outputs. If the network has no attribute `outputs`, its only output is the
    ownership map.
    """
    return tuple(getattr(network, "outputs", (OUTPUT,)))


class SymmetryAverage:
    """A network whose predictions are averages over symmetries (rotations and mirror images) of the board.

    network: the network. which: the symmetries, 0 to 7; all eight by default.
    """

    def __init__(self, network: NetworkSession, which: Sequence[int] = range(SYMMETRIES)):
        """Average the predictions of a network. which: the symmetries to average over, as indices into
        games.go.points.symmetries; all eight by default.
        """
        self.network, self.which = network, list(which)
        self.outputs = outputs_of(network)

    def evaluate(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> dict[str, NDArray[np.float32]]:
        """Return a dict from the names of the network's outputs to arrays, as `Session.evaluate` does, but averaged
        over the symmetries. Each symmetry takes one network evaluation. codes, state: the positions, see
        `kibitz.PositionArrays`.
        """
        if not len(codes):
            return dict(self.network.evaluate(codes, state))
        total: dict[str, NDArray[np.float32]] = {}
        for size in np.unique(state[:, SIZE]).tolist():
            rows = np.flatnonzero(state[:, SIZE] == size)
            for there, back in zip(*(each[self.which] for each in symmetric_points(size)), strict=True):
                for name, values in self.network.evaluate(codes[rows][:, there], state[rows]).items():
                    if name not in total:
                        total[name] = np.zeros((len(codes), *values.shape[1:]), np.float32)
                    total[name][rows] += _turned(values, back)
        return {name: values / np.float32(len(self.which)) for name, values in total.items()}


class BothSides:
    """A network that predicts only ownership, and evaluates each position twice, once with each side to move.

    The side to move has an advantage. The network has learned the average size of the advantage, but not its precise
    size in a single position. So the win probability from a single evaluation goes up and down with every move. The
    result is therefore the mean of the two ownership maps plus an advantage for the side to move. A part of this
    advantage (OWN_PART, 40%) is the network's estimate for this position. The rest is the usual advantage, 0.02 points
    of lead (MOVE_WORTH) for each intersection that is still open.
    """

    outputs: tuple[str, ...] = (OUTPUT,)
    OWN_PART = 0.4
    MOVE_WORTH = 0.02
    """The usual value of being the side to move, in points of lead for each open point. This number and OWN_PART were
    chosen on 8,036 positions of 30 games.
    """

    def __init__(self, network: NetworkSession):
        self.network = network

    def evaluate(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> dict[str, NDArray[np.float32]]:
        """Return the ownership map of each position, as Session.evaluate does: {OUTPUT: float32 [n, 361]}, the
        probability that each point will be Black's.

        The network evaluates each position twice, once with each side to move.
        """
        turned = state.copy()
        turned[:, SIDE] ^= 1
        own, other = (self.network.evaluate(codes, one)[OUTPUT] for one in (state, turned))
        mean, half = (own + other) / 2, (own - other) / 2
        black = np.where(state[:, SIDE] == 0, np.float32(1), np.float32(-1))[:, None]
        usual = black * np.float32(self.MOVE_WORTH / 2) * 4 * mean * (1 - mean)
        steady = mean + self.OWN_PART * half + (1 - self.OWN_PART) * usual
        answer = np.where(colours_of(codes) == OUTSIDE, own, np.clip(steady, 0, 1))
        return {OUTPUT: answer.astype(np.float32)}


class ResultsOfBothSides:
    """A network that predicts winner, lead and territory, and evaluates each position twice, once with each side to
    move. The evaluations of successive positions are therefore steadier.

    A single evaluation is not precise about how much it is worth to be the side to move, so its win probability jumps
    up and down from move to move. Here, the win probability (in log odds) and the lead are the means of both
    evaluations, plus the usual value of a move in similar positions. This usual value is computed from several
    features, for example the network's estimate of the value. The move probabilities and the spread (the standard
    deviation of the score) are those with the real side to move.
    """

    OWN_PART = 0.3
    """The weight, 0 to 1, of the difference between the two ownership maps. The difference shows point by point what it
    is worth to be the side to move.
    """
    ODDS: ClassVar[NDArray[np.float64]] = np.array([-1.479, 0.273, 0.476, -0.743, -0.08, -0.036, 0.534, 1.942])
    POINTS: ClassVar[NDArray[np.float64]] = np.array([0.926, 0.143, 2.007])
    """The weights of the features from `signs`. Their weighted sums are half the value of being the side to move: ODDS
    gives it in log odds of the winner, and POINTS in points of lead.

    The weights minimize the change of win probability and lead from move to move in strong players' games
    (bench/steady_results.py).
    """

    def __init__(self, network: NetworkSession):
        self.network, self.outputs = network, outputs_of(network)

    def evaluate(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> dict[str, NDArray[np.float32]]:
        """Return a dict from the names of the outputs to arrays, as `Session.evaluate` does, from two network
        evaluations of each position. codes, state: the positions, see `kibitz.PositionArrays`.
        """
        own = dict(self.network.evaluate(codes, state))
        other = self.network.evaluate(codes, as_the_other_side(state))
        odds, lead, of_odds, of_lead = signs(own, other, codes, state)
        own["value"] = np.tanh((odds + of_odds @ self.ODDS) / 2).astype(np.float32)
        lead += of_lead @ self.POINTS
        own["lead"] = self._lead(lead, own[OUTPUT], other[OUTPUT], codes, state).astype(np.float32)
        owners = (1 + self.OWN_PART) * own[OUTPUT] + (1 - self.OWN_PART) * other[OUTPUT]
        own[OUTPUT] = (owners / 2).astype(np.float32)
        return own

    def _lead(
        self,
        lead: NDArray[np.float64],
        own: NDArray[np.float32],
        other: NDArray[np.float32],
        codes: NDArray[np.uint8],
        state: NDArray[np.uint8],
    ) -> NDArray[np.float64]:
        """Return the mover's lead, [n].

        lead: the lead that the network predicts. own, other: the ownership maps, [n, 361], for the side to move, and
        with the opponent to move.
        """
        return lead


class WholeBoardLead(ResultsOfBothSides):
    """`ResultsOfBothSides` (two evaluations of each position) with a correction of large leads.

    The network predicts only about two thirds of a large lead. Its lead is a mean over its training games, and in games
    with handicap stones the weaker side lost ground. The lead by the ownership map is closer to the real lead. It is
    too small only if the owners of many points are uncertain. The lead by the ownership map is therefore multiplied by
    a factor from 1 to 1.85 (1 + STRETCH). The factor grows with the share of uncertain points.

    So a large lead is computed from the ownership map. A small lead is the lead that the network predicts, which
    changes less from move to move. A lead counts as large only if it remains large when the other side moves next. In a
    fight, either side may be far ahead if it moves next, and then the corrected lead would jump with every move.
    """

    OPEN, SETTLED = (4.0, 12.0), (18.0, 40.0)
    """Two pairs of limits (a, b) of large leads, in points on 19×19: for an open and for a settled board. Up to a lead
    of a, only the lead that the network predicts counts. For leads of a + b and more, only the territory counts.
    Between them, the weight of the territory rises.
    """
    OPEN_POWER = 8
    """An exponent: the weight of the limits OPEN is the open share of the board to this power. The limits SETTLED have
    the remaining weight.
    """
    STRETCH = 0.85
    """The share by which the lead on the board is larger than the ownership map shows, if the whole board is open. With
    this correction, the value of 2 to 9 handicap stones before the first move differs from GNU Go's estimate by at most
    10 points, with or without komi (bench/bench_handicap_lead.py).
    """
    EVEN_KOMI = 7.0
    """The approximate value of the first move of an even game, in points of area. If a board is even, Black's lead by
    the ownership map is 0 with Black to move, and up to this value if Black has just played.
    """
    MOVE_WORTH: ClassVar[tuple[float, float, float]] = (8.69, 0.126, -1.214)
    """Three weights for half the value of being the side to move, in points. They multiply three numbers: the square
    root of the open share of the board, the difference between both sides' ownership maps in points, and the open
    share.
    """

    def __init__(self, network: NetworkSession, terms: Terms):
        """Correct the leads of a network. terms: the conditions of the game. The ownership map counts each handicap
        stone as a point of area.
        """
        super().__init__(network)
        self.stones, self.uncounted = terms.handicap, terms.margin - terms.komi

    def _lead(
        self,
        lead: NDArray[np.float64],
        own: NDArray[np.float32],
        other: NDArray[np.float32],
        codes: NDArray[np.uint8],
        state: NDArray[np.uint8],
    ) -> NDArray[np.float64]:
        inside = colours_of(codes) != OUTSIDE
        area = state[:, SIZE].astype(np.float64) ** 2
        black = np.where(state[:, SIDE] == 0, 1.0, -1.0)
        mean = np.where(inside, (own + other) / 2, 0.5).astype(np.float64)
        is_open = np.where(inside, 4 * mean * (1 - mean), 0).sum(1) / area
        komi = (state[:, KOMI_BYTE].astype(np.float64) - NO_KOMI) / 2
        turn = np.where(inside, own - other, 0).sum(1) * black
        board = (2 * mean - 1).sum(1) - self.stones
        points, share = self.by_owners(board, komi + self.uncounted - self.stones, is_open, area, np.abs(turn))
        of_root, part, of_open = self.MOVE_WORTH
        move = (of_root * np.sqrt(is_open) + of_open * is_open) * np.sqrt(area) / GRID + part * turn
        return np.asarray(lead + share * (black * points + move - lead))

    @classmethod
    def by_owners(
        cls,
        board: NDArray[np.float64],
        komi: NDArray[np.float64] | float,
        is_open: NDArray[np.float64],
        area: NDArray[np.float64] | float,
        turn: NDArray[np.float64] | float = 0.0,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return Black's leads according to the ownership maps, in points, and the weights of these leads, 0 to 1. Both
        arrays are float64 [n]. The lead that the network predicts has the remaining weight, 1 minus the weight.

        board: Black's leads by area, the sums over the ownership maps, in points without komi and handicap stones.
        komi: the komi in points, less the handicap stones if they count as points.
        is_open: how uncertain the owners of the intersections are, 0 to 1: the mean over each board of 4p(1 − p), where
            p is the probability that an intersection will be Black's.
        area: the number of intersections of the board.
        turn: half the difference between a side's lead if it moves next and its lead if the opponent moves next, in
            points, 0 or more; 0 if unknown.

        The lead on the board has two parts: up to 7 points for Black (EVEN_KOMI), and the rest. The rest is multiplied
        by the factor 1 + STRETCH · is_open. Then the komi is subtracted.

        The weight grows with the larger of two absolute values: the multiplied rest, and the returned lead, less 7
        points. The rest does not contain the komi. It counts because the network expects the stronger side to win back
        handicap stones, whatever the komi is. A larger `turn` makes the weight smaller. The part of `turn` above 7
        points is multiplied by the same factor.
        """
        even = np.clip(board, 0, cls.EVEN_KOMI)
        ahead = (board - even) * (1 + cls.STRETCH * is_open)
        points = np.asarray(ahead + even - komi)
        turn = turn + cls.STRETCH * is_open * np.maximum(turn - cls.EVEN_KOMI, 0)
        large = (np.maximum(abs(ahead), abs(points) - cls.EVEN_KOMI) - turn) * POINTS / area
        part = is_open**cls.OPEN_POWER
        first, over = (part * one + (1 - part) * other for one, other in zip(cls.OPEN, cls.SETTLED, strict=True))
        return points, np.clip((large - first) / over, 0, 1)


def signs(
    own: Mapping[str, NDArray[np.float32]],
    other: Mapping[str, NDArray[np.float32]],
    codes: NDArray[np.uint8],
    state: NDArray[np.uint8],
) -> tuple[NDArray[np.float64], ...]:
    """Return four arrays for n positions. The first two are the mover's log odds of a win, [n], and the mover's lead in
    points, [n]. Both are means over two evaluations, one with each side to move. The other two arrays have features
    from which the value of being the side to move is computed: [n, 8] for the log odds, and [n, 3] for the lead.

    own: the network's outputs with the side to move. other: its outputs with the opponent to move. codes, state: the
    positions, see `kibitz.PositionArrays`.

    The "advantage" below is half of the difference between the two evaluations, for the mover. The columns are:

    [n, 8]: 1; the advantage in log odds; the uncertainty of the owners, 0 to 1 (`is_open` in WholeBoardLead.by_owners);
        the square of this uncertainty; the logarithm of the spread; the entropy of the move probabilities, in nats; the
        absolute log odds; a number that falls from 1 for an even game to 0 for a decided game.
    [n, 3]: 1; the advantage in points of lead; the uncertainty of the owners.
    """
    odds_own, odds_turned = (
        2 * np.arctanh(np.clip(one["value"].astype(np.float64), -SURE, SURE)) for one in (own, other)
    )
    odds, lead = (odds_own - odds_turned) / 2, (own["lead"].astype(np.float64) - other["lead"]) / 2
    owners = np.where(colours_of(codes) == OUTSIDE, 0, (own[OUTPUT] + other[OUTPUT]) / 2)
    is_open = (4 * owners * (1 - owners)).sum(1) / state[:, SIZE].astype(np.float64) ** 2
    spread = np.log(np.maximum((own["spread"] + other["spread"]) / 2, MIN_SPREAD))
    policy = own["policy"]
    entropy = -(policy * np.log(np.maximum(policy, LEAST_CHANCE))).sum(1)
    even = 1 - np.tanh(odds / 2) ** 2
    one = np.ones(len(odds))
    of_odds = np.stack([one, (odds_own + odds_turned) / 2, is_open, is_open**2, spread, entropy, np.abs(odds), even], 1)
    of_lead = np.stack([one, (own["lead"].astype(np.float64) + other["lead"]) / 2, is_open], 1)
    return odds, lead, of_odds, of_lead


def as_the_other_side(state: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return states with the opponent as the side to move, uint8 [n, columns]. If the states contain ranks, the ranks
    of the two players are exchanged. The number of preceding passes is set to 0. state: uint8 [n, 4 or more columns],
    see `kibitz.PositionArrays`.
    """
    turned = state.copy()
    turned[:, SIDE] ^= 1
    turned[:, PASSES] = 0
    if state.shape[1] > OPPONENT:
        turned[:, [RANK, OPPONENT]] = state[:, [OPPONENT, RANK]]
    return turned


def steady(network: NetworkSession) -> NetworkSession:
    """Return a network with the same outputs whose evaluations of successive positions differ less.

    A network that predicts only ownership evaluates each position twice: with Black and with White to move. A network
    with the outputs policy, value, lead, spread and black_owns evaluates each position four times: with Black and with
    White to move, each in two symmetries. Any other network is returned unchanged.
    """
    outputs = outputs_of(network)
    if outputs == (OUTPUT,):
        return BothSides(network)
    if not {"policy", "value", "lead", "spread", OUTPUT} <= set(outputs):
        return network
    return ResultsOfBothSides(
        network if isinstance(network, SymmetryAverage) else SymmetryAverage(network, DEFAULT_SYMMETRIES)
    )


def without_early_passes(codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the states of positions, uint8 [n, 4 or more]. The number of passes is set to 0 if fewer than a quarter (1
    / FULL_ENOUGH) of the board's points have a stone.

    In game records, players pass only at the end. For this reason, the networks predict after a pass in the opening
    that the player who passed is far ahead. codes, state: the positions, uint8 [n, 361] and uint8 [n, 4 or more], see
    `kibitz.PositionArrays`.
    """
    if not state[:, PASSES].any():
        return state
    colours = colours_of(codes)
    few = FULL_ENOUGH * ((colours == BLACK) | (colours == WHITE)).sum(1) < (colours != OUTSIDE).sum(1)
    hidden = state.copy()
    hidden[few, PASSES] = 0
    return hidden


def with_board_inputs(state: NDArray[np.uint8], usual: Mapping[str, int], terms: Terms) -> NDArray[np.uint8]:
    """Return states with the side inputs (network inputs in addition to the board) for evaluating which side leads,
    uint8 [n, 4 + side inputs].

    state: uint8 [n, 4], see `kibitz.PositionArrays`. usual: a dict from the side inputs of the network to their
        defaults.
    terms: the conditions of the game, which determine some of the side inputs; all others get their defaults.
    """
    known = board_inputs(terms.komi, terms.territory)
    return with_default_side_inputs(state, {name: known.get(name, value) for name, value in usual.items()})


class InGame:
    """A network that evaluates positions during a game. It changes the inputs and outputs of the given network in two
    ways.

    Passes in the opening are hidden from the network, see `without_early_passes`. If the komi is too large for the
    network's input, the network evaluates with the largest komi of its input, and the remaining points are added to the
    lead. These points also change the log odds of the win probability, by their number divided by the scale of the
    logistic function in `winrate`.
    """

    def __init__(self, network: NetworkSession, komi: float):
        """Evaluate with a network. komi: White's points from the start, see games.go.sides.komi_byte."""
        self.network, self.outputs, self.komi = network, outputs_of(network), komi

    def evaluate(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> dict[str, NDArray[np.float32]]:
        """Return a dict from the names of the outputs to arrays, as `Session.evaluate` does, for the full komi and
        without passes in the opening. codes, state: the positions, see `kibitz.PositionArrays`.
        """
        answers = self.network.evaluate(codes, without_early_passes(codes, state))
        return with_large_komi(answers, state, self.komi)


def with_large_komi(
    answers: Mapping[str, NDArray[np.float32]], state: NDArray[np.uint8], komi: float
) -> dict[str, NDArray[np.float32]]:
    """Return a network's outputs after a correction for a komi that is too large for the network's input. The lead and
    the value take into account the part of the komi that the input cuts off, see `InGame`.

    answers: a dict from the names of the outputs to arrays. It is returned unchanged if it has no lead. state: uint8
    [n, 4 or more], see `kibitz.PositionArrays`. komi: White's points before the game.
    """
    changed = dict(answers)
    if (points := beyond_byte(komi)) and {"lead", "value", "spread"} <= set(answers):
        lost = np.where(state[:, SIDE] == 0, points, -points)
        spread = np.maximum(answers["spread"], MIN_SPREAD).astype(np.float64)
        odds = 2 * np.arctanh(np.clip(answers["value"], -SURE, SURE).astype(np.float64))
        changed["lead"] = (answers["lead"] - lost).astype(np.float32)
        changed["value"] = np.tanh((odds - lost / spread * LOGISTIC) / 2).astype(np.float32)
    return changed


def judge(network: NetworkSession, terms: Terms) -> NetworkSession:
    """Return a network with which to evaluate who leads in a position: its evaluations are steadier, and its large
    leads are corrected (see `steady` and `WholeBoardLead`).

    The caller must set the side inputs for handicap and ranks to unknown, because these describe how the players will
    continue, and not who leads. terms: the conditions of the game. `InGame` takes its komi into account and hides
    passes in the opening.
    """
    steadied = steady(network)
    if isinstance(steadied, ResultsOfBothSides):
        steadied = WholeBoardLead(steadied.network, terms)
    return InGame(steadied, terms.komi)


def _turned(values: NDArray[np.float32], back: NDArray[np.int64]) -> NDArray[np.float32]:
    """Transform predictions for a transformed board back. Predictions are for the points, for the points and a pass, or
    for the whole board.
    """
    if values.shape[1:] == (POINTS,):
        return values[:, back]
    if values.shape[1:] == (POINTS + 1,):
        return values[:, [*back.tolist(), POINTS]]
    return values


def lead(owners: NDArray[np.float32], size: int) -> NDArray[np.float64]:
    """Return Black's expected lead by area, in points without komi, float64 [...]. Under the rules of a game, the lead
    is smaller by `Terms.margin`.

    owners: [..., 361], ownership maps: the probability that each intersection will be Black's. size: the number of
    lines of the board.
    """
    there = owners[..., points_of(size)].astype(np.float64)
    return np.asarray((2 * there - 1).sum(-1))


def spread(owners: NDArray[np.float32], size: int) -> float:
    """Return the standard deviation of the final score, in points, according to an ownership map. owners: float32
    [361], the probability that each intersection will be Black's. size: the number of lines of the board.
    """
    there = owners[points_of(size)].astype(np.float64)
    return max(MIN_SPREAD, math.sqrt(VARIANCE_FACTOR * float((4 * there * (1 - there)).sum())))


def winrate(lead: float, spread: float) -> float:
    """Return the win probability for a lead, 0 to 1: a logistic function of the lead divided by the standard deviation
    of the score. The result is 0.5 for a lead of 0, and 0.86 for a lead as large as the standard deviation.

    lead: in points, komi included. spread: the standard deviation of the score in points.
    """
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, lead / spread * LOGISTIC))))


def neighbours(point: int, size: int) -> list[int]:
    """Return the neighbors of a point on a board of this size, two to four points."""
    row, column = divmod(point, GRID)
    around = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return [r * GRID + c for r, c in around if 0 <= r < size and 0 <= c < size]


def chains(colours: NDArray[np.uint8], size: int) -> list[list[int]]:
    """Return the chains on the board, each as a list of points. The chains are in the order of their first points from
    the upper left. colours: uint8 [361], the color of each point.
    """
    result: list[list[int]] = []
    seen: set[int] = set()
    for start in points_of(size).tolist():
        if start in seen or colours[start] == NONE:
            continue
        seen.add(start)
        chain = [start]
        for point in chain:  # the list grows during the loop
            for neighbour in neighbours(point, size):
                if neighbour not in seen and colours[neighbour] == colours[start]:
                    seen.add(neighbour)
                    chain.append(neighbour)
        result.append(chain)
    return result


def dead_chains(owners: NDArray[np.float32], colours: NDArray[np.uint8], size: int) -> list[list[int]]:
    """Return the dead chains, each as a list of points. A chain is dead if the ownership map gives its points, on
    average over the chain, to the opponent.

    owners: float32 [361], the ownership map (the probability that each point will be Black's). colours: uint8 [361],
    the color of each point. size: the size of the board.
    """
    dead = []
    for chain in chains(colours, size):
        black = float(owners[chain].mean())
        if black < 0.5 if colours[chain[0]] == BLACK else black > 0.5:
            dead.append(chain)
    return dead


def settled(owners: NDArray[np.float32], colours: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """Return the owner of each point if the game ended now, uint8 [361]: 1 Black, 2 White, 0 neither.

    Dead stones are removed. Living stones belong to their color, and empty regions that touch only one color belong to
    that color. The ownership map decides about all other points, and points without a clear owner (see NEUTRAL) belong
    to neither side. owners: float32 [361], the probability that each point will be Black's. colours: uint8 [361], the
    color of each point.
    """
    dead = np.zeros(POINTS, np.bool_)
    for chain in dead_chains(owners, colours, size):
        dead[chain] = True
    owner = settle(colours, dead)
    open_points = points_of(size)[owner[points_of(size)] == NONE]
    sure = owners[open_points]
    owner[open_points] = np.select([sure > 1 - NEUTRAL, sure < NEUTRAL], [BLACK, WHITE], NONE)
    return owner
