"""Figures of an owner map: the predicted score, its uncertainty, the winning probability, and living stones.

A map is float32 [361]: the probability that Black owns the point at the end; 0.5 outside the board and where nothing is
known. Leads are in points of area, and positive for whoever is named.
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
from kibitz.games.go.sides import KOMI_BYTE, NO_KOMI, OPPONENT, RANK
from kibitz.play.session import NetworkSession

OUTPUT = "black_owns"
"""The answer of a network that such maps are."""
SYMMETRIES = 8
VARIANCE_FACTOR = 2.0
"""So many points change hands together: the score's variance is that of its points, if each were alone, times this."""
MIN_SPREAD = 1.0
"""Points by which a score may be wrong even where every owner seems certain."""
SWINGS = {9: 3.0, 13: 5.0, 19: 10.0}
"""The usual least swing in points, a loss of which is a mistake, by the size of the board."""
SURE = np.float32(1 - 1e-6)
"""Win − loss beyond which log odds are cut."""
LEAST_CHANCE = 1e-9
"""Probabilities below this count nothing in an entropy."""
STEADY_WAYS = (0, 7)
"""The two ways in which a board is looked at where games are judged: as it is, and mirrored. Any two serve as well."""
NEUTRAL = 0.3
"""A point between living stones of both colours that either owns at least so probably belongs to neither."""


@cache
def points_of(size: int) -> NDArray[np.int64]:
    """int64 [size²]: the points of a board, row by row from the upper left."""
    rows = np.arange(size) * GRID
    return (rows[:, None] + np.arange(size)).ravel()


@cache
def ways(size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """int64 [8, 361] each: how to turn and mirror a board of that size, and how to turn it back."""
    there = symmetries(size)
    return there, np.argsort(there, axis=1)


def outputs_of(network: NetworkSession) -> tuple[str, ...]:
    """Those of the network, or the owners alone where it does not name any."""
    return tuple(getattr(network, "outputs", (OUTPUT,)))


class AllWays:
    """A network that looks at the board turned and mirrored in all eight ways, or in some of them, and answers with the
    mean."""

    def __init__(self, network: NetworkSession, which: Sequence[int] = range(SYMMETRIES)):
        """which: the ways, see games.go.points.symmetries."""
        self.network, self.which = network, list(which)
        self.outputs = outputs_of(network)

    def evaluate(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> dict[str, NDArray[np.float32]]:
        """As Session.evaluate, of as many times the work as there are ways."""
        if not len(codes):
            return dict(self.network.evaluate(codes, state))
        total: dict[str, NDArray[np.float32]] = {}
        for size in np.unique(state[:, SIZE]).tolist():
            rows = np.flatnonzero(state[:, SIZE] == size)
            for there, back in zip(*(each[self.which] for each in ways(size)), strict=True):
                for name, values in self.network.evaluate(codes[rows][:, there], state[rows]).items():
                    if name not in total:
                        total[name] = np.zeros((len(codes), *values.shape[1:]), np.float32)
                    total[name][rows] += _turned(values, back)
        return {name: values / np.float32(len(self.which)) for name, values in total.items()}


class BothSides:
    """A network of owners that is asked with either side to move, so that its judgement of a game is steadier.

    Such a network has learned what having the move is worth on the average, and is unsure of it in a single position;
    that doubt makes the chance go up and down with every move. The answer is the mean of both maps, with a part
    (OWN_PART) of what the move is worth by the network itself, and for the rest what it is worth elsewhere: a share
    (MOVE_WORTH) of the points that are still open.
    """

    outputs: tuple[str, ...] = (OUTPUT,)
    OWN_PART = 0.4
    MOVE_WORTH = 0.02
    """Points of lead for each open point; this and OWN_PART were chosen on 8,036 positions of 30 games."""

    def __init__(self, network: NetworkSession):
        self.network = network

    def evaluate(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> dict[str, NDArray[np.float32]]:
        """The owners, as Session.evaluate, of twice the work."""
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
    """A network of winner, lead and owners that is asked with either side to move, so that its judgement of a game is
    steadier: it, too, is unsure of what the move is worth, and the chance goes up and down with every move.

    Chance (in log odds) and lead are the means of both, with what the move is worth where games are like this one; what
    the network itself says of that is one sign among others. Moves and the spread are the network's own.
    """

    OWN_PART = 0.3
    """Of the owners, which say what a move is worth point by point."""
    ODDS: ClassVar[NDArray[np.float64]] = np.array([-0.656, 0.16, 0.963, -0.814, -0.145, -0.035, 0.373, 1.03])
    POINTS: ClassVar[NDArray[np.float64]] = np.array([0.937, 0.12, 2.202])
    """Weights of `signs` in half of what the move is worth, in log odds of the winner and in points of lead: those with
    which the chance and the lead of strong players' games change least from move to move (bench/steady_results.py)."""

    def __init__(self, network: NetworkSession):
        self.network, self.outputs = network, outputs_of(network)

    def evaluate(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> dict[str, NDArray[np.float32]]:
        """As Session.evaluate, of twice the network's work."""
        said = dict(self.network.evaluate(codes, state))
        other = self.network.evaluate(codes, as_the_other_side(state))
        odds, lead, of_odds, of_lead = signs(said, other, codes, state)
        said["value"] = np.tanh((odds + of_odds @ self.ODDS) / 2).astype(np.float32)
        lead += of_lead @ self.POINTS
        said["lead"] = self._lead(lead, said[OUTPUT], other[OUTPUT], codes, state).astype(np.float32)
        owners = (1 + self.OWN_PART) * said[OUTPUT] + (1 - self.OWN_PART) * other[OUTPUT]
        said[OUTPUT] = (owners / 2).astype(np.float32)
        return said

    def _lead(
        self,
        lead: NDArray[np.float64],
        said: NDArray[np.float32],
        other: NDArray[np.float32],
        codes: NDArray[np.uint8],
        state: NDArray[np.uint8],
    ) -> NDArray[np.float64]:
        """The mover's lead [n]. lead: by the network's own output; said, other: the owners [n, 361] for the side to
        move, and with the other side to move."""
        return lead


class WholeBoardLead(ResultsOfBothSides):
    """`ResultsOfBothSides` whose lead stays true if it is large.

    The network's lead is a mean over the games that it learned from. In those with handicap stones the weaker side lost
    ground, so a large lead comes out too small, about two thirds of it. A sum over the owners shrinks less. It shrinks
    only where points are open, which STRETCH makes good. Small leads are the network's own, because they are steadier.
    """

    FROM_POINTS, OVER_POINTS = 12.0, 40.0
    """The network's own lead counts alone up to FROM_POINTS on 19×19; OVER_POINTS later the owners count alone."""
    STRETCH = 0.4
    """The part of the lead that the owners lack where the whole board is open: 2 to 9 handicap stones before the first
    move then are worth what GNU Go estimates, within 10 points (bench/bench_handicap_lead.py)."""
    MOVE_WORTH: ClassVar[tuple[float, float, float]] = (8.69, 0.126, -1.214)
    """Half of what the move is worth by the owners, in points: for the square root of the open part of the board, for
    each point of the network's own difference, and for the open part."""

    def __init__(self, network: NetworkSession, stones: int = 0):
        """stones: handicap stones of a game by territory, which owners count as points of area; else 0."""
        super().__init__(network)
        self.stones = stones

    def _lead(
        self,
        lead: NDArray[np.float64],
        said: NDArray[np.float32],
        other: NDArray[np.float32],
        codes: NDArray[np.uint8],
        state: NDArray[np.uint8],
    ) -> NDArray[np.float64]:
        inside = colours_of(codes) != OUTSIDE
        area = state[:, SIZE].astype(np.float64) ** 2
        black = np.where(state[:, SIDE] == 0, 1.0, -1.0)
        mean = np.where(inside, (said + other) / 2, 0.5).astype(np.float64)
        is_open = np.where(inside, 4 * mean * (1 - mean), 0).sum(1) / area
        komi = (state[:, KOMI_BYTE].astype(np.float64) - NO_KOMI) / 2
        points = ((2 * mean - 1).sum(1) - komi - self.stones) * (1 + self.STRETCH * is_open)
        turn = np.where(inside, said - other, 0).sum(1) * black
        of_root, part, of_open = self.MOVE_WORTH
        of_owners = (
            black * points + (of_root * np.sqrt(is_open) + of_open * is_open) * np.sqrt(area) / GRID + part * turn
        )
        scale = area / POINTS
        share = np.clip((abs(points) / scale - self.FROM_POINTS) / self.OVER_POINTS, 0, 1)
        return np.asarray(lead + share * (of_owners - lead))


def signs(
    said: Mapping[str, NDArray[np.float32]],
    other: Mapping[str, NDArray[np.float32]],
    codes: NDArray[np.uint8],
    state: NDArray[np.uint8],
) -> tuple[NDArray[np.float64], ...]:
    """What is known of n positions without their turn, and the signs of what the move is worth.

    said, other: the answers for the side to move, and with the other side to move. Returns the mover's log odds [n] and
    lead [n], the mean of both; and the signs for either, in the order of their weights. [n, 8]: 1; half of what the
    network says the move is worth in log odds; the part of the board that is open, and its square; the logarithm of the
    spread; the entropy of the moves, in nats; the log odds, whoever is ahead; and 1 where both have the same chance, 0
    where one has won. [n, 3]: 1; half of what the network says in points; the part that is open.
    """
    own, turned = (2 * np.arctanh(np.clip(one["value"].astype(np.float64), -SURE, SURE)) for one in (said, other))
    odds, lead = (own - turned) / 2, (said["lead"].astype(np.float64) - other["lead"]) / 2
    owners = np.where(colours_of(codes) == OUTSIDE, 0, (said[OUTPUT] + other[OUTPUT]) / 2)
    is_open = (4 * owners * (1 - owners)).sum(1) / state[:, SIZE].astype(np.float64) ** 2
    spread = np.log(np.maximum((said["spread"] + other["spread"]) / 2, MIN_SPREAD))
    policy = said["policy"]
    entropy = -(policy * np.log(np.maximum(policy, LEAST_CHANCE))).sum(1)
    even = 1 - np.tanh(odds / 2) ** 2
    one = np.ones(len(odds))
    of_odds = np.stack([one, (own + turned) / 2, is_open, is_open**2, spread, entropy, np.abs(odds), even], 1)
    of_lead = np.stack([one, (said["lead"].astype(np.float64) + other["lead"]) / 2, is_open], 1)
    return odds, lead, of_odds, of_lead


def as_the_other_side(state: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """States with the other side to move, ranks exchanged where they are told, and no passes before."""
    turned = state.copy()
    turned[:, SIDE] ^= 1
    turned[:, PASSES] = 0
    if state.shape[1] > OPPONENT:
        turned[:, [RANK, OPPONENT]] = state[:, [OPPONENT, RANK]]
    return turned


def steady(network: NetworkSession) -> NetworkSession:
    """The network as it judges the positions of a game: one that says how it ends is asked for both sides, and with the
    board in two ways, which is four times the work."""
    outputs = outputs_of(network)
    if outputs == (OUTPUT,):
        return BothSides(network)
    if not {"policy", "value", "lead", "spread", OUTPUT} <= set(outputs):
        return network
    return ResultsOfBothSides(network if isinstance(network, AllWays) else AllWays(network, STEADY_WAYS))


def judge(network: NetworkSession, stones: int = 0) -> NetworkSession:
    """The network as it says who leads on the board, see `steady` and `WholeBoardLead`. It expects side inputs without
    handicap and ranks, which say how people play on, not who leads.

    stones: handicap stones of a game that is counted by territory; else 0.
    """
    steadied = steady(network)
    return WholeBoardLead(steadied.network, stones) if isinstance(steadied, ResultsOfBothSides) else steadied


def _turned(values: NDArray[np.float32], back: NDArray[np.int64]) -> NDArray[np.float32]:
    """Answers about a turned board as those about the board: of its points, of its points and a pass, or of neither."""
    if values.shape[1:] == (POINTS,):
        return values[:, back]
    if values.shape[1:] == (POINTS + 1,):
        return values[:, [*back.tolist(), POINTS]]
    return values


def lead(owners: NDArray[np.float32], size: int) -> NDArray[np.float64]:
    """Black's points less White's, as expected by maps [..., 361]; without komi."""
    there = owners[..., points_of(size)].astype(np.float64)
    return np.asarray((2 * there - 1).sum(-1))


def spread(owners: NDArray[np.float32], size: int) -> float:
    """The standard deviation of the score that a map [361] predicts, in points."""
    there = owners[points_of(size)].astype(np.float64)
    return max(MIN_SPREAD, math.sqrt(VARIANCE_FACTOR * float((4 * there * (1 - there)).sum())))


def winrate(lead: float, spread: float) -> float:
    """The chance to win of who leads by so much, komi counted: a logistic with the standard deviation of the score.

    0.5 where the lead is 0, 0.86 where it is as large as the spread. It follows from the map alone: nobody asked the
    network who wins.
    """
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, lead / spread * math.pi / math.sqrt(3)))))


def neighbours(point: int, size: int) -> list[int]:
    """The points of the board next to a point."""
    row, column = divmod(point, GRID)
    around = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return [r * GRID + c for r, c in around if 0 <= r < size and 0 <= c < size]


def chains(colours: NDArray[np.uint8], size: int) -> list[list[int]]:
    """The points of each chain on the board, the chain that comes first from the upper left first."""
    result: list[list[int]] = []
    seen: set[int] = set()
    for start in points_of(size).tolist():
        if start in seen or colours[start] == NONE:
            continue
        seen.add(start)
        chain = [start]
        for point in chain:  # grows while it is walked
            for neighbour in neighbours(point, size):
                if neighbour not in seen and colours[neighbour] == colours[start]:
                    seen.add(neighbour)
                    chain.append(neighbour)
        result.append(chain)
    return result


def dead_chains(owners: NDArray[np.float32], colours: NDArray[np.uint8], size: int) -> list[list[int]]:
    """The chains that the map gives to the other side, on the average of their stones."""
    dead = []
    for chain in chains(colours, size):
        black = float(owners[chain].mean())
        if black < 0.5 if colours[chain[0]] == BLACK else black > 0.5:
            dead.append(chain)
    return dead


def settled(owners: NDArray[np.float32], colours: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """uint8 [361]: the owner of each point, 1 Black, 2 White, 0 neither, if the game ended now.

    Dead stones are taken away; living ones own their points, and so they do empty regions that touch no other side's.
    Elsewhere the map decides, and where it is unsure (NEUTRAL) nobody owns the point.
    """
    dead = np.zeros(POINTS, np.bool_)
    for chain in dead_chains(owners, colours, size):
        dead[chain] = True
    owner = settle(colours, dead)
    open_points = points_of(size)[owner[points_of(size)] == NONE]
    sure = owners[open_points]
    owner[open_points] = np.select([sure > 1 - NEUTRAL, sure < NEUTRAL], [BLACK, WHITE], NONE)
    return owner
