"""The rules of Go for a PUCT search: positions after moves, legal moves, the end of the game and its score.

This module also reads the network's outputs. A position is one row of uint8. It begins with the colors of the 361
points. The age of the stone on each point follows, in plies: 1 for the last move, 129 (OLDEST) for this age or more,
and 0 for no stone. After the ages come numbers such as the side to move and the board's size; the constants SIDE_AT to
LOST_AT are their columns. The tail of the row has the network's predictions: territory, win probability, lead and
spread. If the game has ended, the tail has the final score instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.endings.counting import fill_owners
from kibitz.games.go.points import GRID, OUTSIDE, PASS, POINTS, symmetries
from kibitz.games.go.replay import (
    AGE,
    BLACK_STONE,
    EMPTY,
    KO,
    OFF,
    PASSES,
    PLIES,
    SIZE,
    WHITE_STONE,
    ages,
)
from kibitz.games.go.replay import SIDE as TO_MOVE
from kibitz.games.go.rules import (
    CELL,
    CELLS,
    COLOUR,
    PLAYED,
    POINT,
    ROOT,
    ROWS,
    STONES,
    WIDE,
    Board,
    is_suicide,
    liberties,
    place,
    position_hash,
    set_up,
)
from kibitz.kernels import inner, is_among, kernel
from kibitz.play.go.ownership import InGame
from kibitz.play.puct.search import Entered
from kibitz.play.puct.tree import FORBIDDEN, SCORED, UNKNOWN, PuctTree
from kibitz.play.session import STATE, NetworkSession

PLIES_AGO = POINTS
SIDE_AT = 2 * POINTS
"""The column of the side to move in a position's row: 0 Black, 1 White. The next two columns have the board's size and
the number of passes just before.
"""
SIZE_AT, PASSES_AT = SIDE_AT + 1, SIDE_AT + 2
# NumPy's type, see kernels.inner.
KO_AT, PLY_AT, LOST_AT = np.int64(SIDE_AT + 3), np.int64(SIDE_AT + 5), np.int64(SIDE_AT + 7)
"""Columns of numbers of two bytes in a position's row: the point that ko forbids (PASS for none), the ply, and the
stones lost by Black and by White.
"""
BARE = SIDE_AT + 11
"""The length of a position's row without its tail, in which the network's predictions are.

The tail has the probability that each point will be Black's, where 0 to 255 means 0 to 1. Then it has numbers of two
bytes, for the side to move: win − loss in steps of 1 / CHANCE_STEPS, and lead and spread in steps of 1 / POINT_STEPS.
"""
OWNERS_AT = BARE
CHANCE_AT = np.int64(BARE + POINTS)
LEAD_AT, SPREAD_AT = CHANCE_AT + 2, CHANCE_AT + 4
WIDTH = BARE + POINTS + 6
CHANCE_STEPS, POINT_STEPS = 32000.0, 32.0

OLDEST = 129
MOST_CHILDREN = 64
"""The largest number of moves that the tree has for a node below the root. A tree with all moves would be five times as
large.
"""
_AT_ONCE = 512
"""Number of positions whose ownership maps are processed together; they take 1.5 MB."""
NEUTRAL = 77
"""A limit for the probability of an owner, where 255 means 1. An empty point between living stones of both sides is
neutral if both owners have at least this probability.
"""

_random = np.random.default_rng(0x60)
_WHITE = np.uint64(_random.integers(1, 2**63))
_PASSED = _random.integers(1, 2**63, 3, np.int64).astype(np.uint64)
_KO = _random.integers(1, 2**63, POINTS + 1, np.int64).astype(np.uint64)
_AGE_CLASSES = ages() * AGE
_NOWHERE = np.zeros(POINTS, np.bool_)


@dataclass(frozen=True)
class Scoring:
    """The rules by which a Go game is scored at its end.

    komi: the points that White gets before the game, including the compensation for handicap stones.
    territory: whether territory and prisoners are counted. If not, area is counted.
    suicide: whether a move may remove the player's own chain.
    """

    komi: float = 7.5
    territory: bool = False
    suicide: bool = False


@dataclass(frozen=True)
class Preference:
    """The weights of winning and of the score in the value of a position: `(1 − share) · (win − loss) + share ·
    f(lead)`.

    Here win and loss are the probabilities of a win and of a loss. f(lead) rises from −1 to 1. It is 0 at a lead of
    `centre` points, where it is steepest. It is 0.5 at a lead of `centre` plus the number of lines of the board, for
    example `centre` + 19 points on 19×19.
    """

    share: float = 0.15
    centre: float = 0.0


@kernel
def _get(row, at):  # type: ignore[no-untyped-def]
    """Return a signed number of two bytes at a place. row: uint8."""
    value = np.int64(row[at]) + 256 * np.int64(row[at + 1])
    return value - 65536 if value >= 32768 else value


@kernel
def _put(row, at, value):  # type: ignore[no-untyped-def]
    """Write a signed number, rounded and clipped to 16 bits, to two bytes of row, uint8."""
    whole = np.int64(min(32767.0, max(-32768.0, np.round(value)))) & 65535
    row[at], row[at + 1] = whole & 255, whole >> 8


@inner
def worth(chance, lead, size, share, centre):  # type: ignore[no-untyped-def]
    """Return the value of a position for one side by the formula of `Preference`, −1 to 1.

    chance: this side's probability of a win minus that of a loss, −1 to 1. lead, centre: the lead and the centre in
    points, from the point of view of this side. size: the size of the board. share: the weight of the score, 0 to 1.
    """
    return (1 - share) * chance + share * 2 / math.pi * math.atan((lead - centre) / size)


@inner
def _is_own_eye(board, cell, colour):  # type: ignore[no-untyped-def]
    """Return whether a cell is an own eye of a colour (1 or 2), with the same rule as play.go.player.own_eyes.

    board: int16 [ROWS, CELLS].
    """
    for step in (1, -1, WIDE, -WIDE):
        there = board[COLOUR, cell + step]
        if there != colour and there != OUTSIDE:
            return False
    held, edge = 0, 0
    for step in (WIDE + 1, WIDE - 1, -WIDE + 1, -WIDE - 1):
        there = board[COLOUR, cell + step]
        held += there == 3 - colour
        edge |= there == OUTSIDE
    return held + edge < 2


@kernel
def _list_moves(board, row, suicide, moves, begin):  # type: ignore[no-untyped-def]
    """Write the legal moves to `moves`, from index `begin` on; returns the index after the last move.

    Superko is not tested. Own eyes are excluded. The pass is the last move.
    """
    colour, size, ko = np.int64(row[SIDE_AT]) + 1, np.int64(row[SIZE_AT]), _get(row, KO_AT)
    end = begin
    for line in range(size):
        for point in range(line * GRID, line * GRID + size):
            cell = np.int64(CELL[point])
            if board[COLOUR, cell] or point == ko or _is_own_eye(board, cell, colour):
                continue
            if not suicide and is_suicide(board, cell, colour):
                continue
            moves[end] = point
            end += 1
    moves[end] = PASS
    return end + 1


@kernel
def _key(row, stones):  # type: ignore[no-untyped-def]
    """Return a position's key, uint64, from its row, uint8 [width], and the hash of its stones, uint64."""
    key = stones ^ _KO[_get(row, KO_AT)] ^ _PASSED[min(row[PASSES_AT], 2)]
    return key ^ _WHITE if row[SIDE_AT] else key


@inner
def _play(row, board, move):  # type: ignore[no-untyped-def]
    """Make a move, a point or PASS, on a row, uint8 [width], and on its board, int16 [ROWS, CELLS]."""
    side, ko = np.int64(row[SIDE_AT]), np.int64(PASS)
    for point in range(POINTS):
        if 0 < row[PLIES_AGO + point] < OLDEST:
            row[PLIES_AGO + point] += 1
    if move < PASS:
        taken, ko_cell = place(board, np.int64(CELL[move]), side + 1, np.int64(0))
        if ko_cell:
            ko = np.int64(POINT[ko_cell])
        if taken:
            loser = 1 - side if taken > 0 else side
            lost = LOST_AT + 2 * loser
            _put(row, lost, np.float64(_get(row, lost) + abs(taken)))
        row[PLIES_AGO + move] = 1
        for point in range(POINTS):
            colour = board[COLOUR, CELL[point]]
            if colour != row[point]:
                row[point] = colour
                if colour == 0:
                    row[PLIES_AGO + point] = 0
        if row[move] == 0:  # suicide
            row[PLIES_AGO + move] = 0
        row[PASSES_AT] = 0
    else:
        row[PASSES_AT] = min(row[PASSES_AT] + 1, 2)
    _put(row, KO_AT, np.float64(ko))
    _put(row, PLY_AT, np.float64(min(_get(row, PLY_AT) + 1, 32000)))
    row[SIDE_AT] = 1 - side


@kernel
def count(row, board, komi, territory, owner):  # type: ignore[no-untyped-def]
    """Return two numbers for a position, if the game ended now: Black's lead in points, including komi, and the number
    of uncertain intersections. An intersection adds a number from 0 to 1 to the second result: 0 if its owner is
    certain, and 1 if both owners are equally likely.

    The function writes the owner of each intersection to `owner`, uint8 [361]: 1 Black, 2 White, 0 neither. Chains
    count as dead if the row's ownership map gives them to the opponent. row: uint8 [WIDTH], the position (see the
    docstring of this module). board: int16 [7, 441], the same position as a board array (see `games.go.rules`). komi:
    in points. territory: whether territory scoring applies, else area scoring.
    """
    sums, dead = np.zeros(CELLS, np.int64), np.zeros(POINTS, np.bool_)
    for point in range(POINTS):
        if row[point] == 1 or row[point] == 2:
            sums[board[ROOT, CELL[point]]] += row[OWNERS_AT + point]
    for point in range(POINTS):
        if row[point] == 1 or row[point] == 2:
            root = board[ROOT, CELL[point]]
            black = 2 * sums[root] > 255 * np.int64(board[STONES, root])
            dead[point] = black if row[point] == 2 else 2 * sums[root] < 255 * np.int64(board[STONES, root])
    fill_owners(row[:POINTS], dead, _NOWHERE, owner)
    lead, unsure = 0.0, 0.0
    for point in range(POINTS):
        if row[point] == OUTSIDE:
            continue
        black = np.int64(row[OWNERS_AT + point])
        if owner[point] == 0:
            owner[point] = 1 if black > 255 - NEUTRAL else 2 if black < NEUTRAL else 0
        unsure += 2 * min(black, 255 - black) / 255
        sign = 1 if owner[point] == 1 else -1 if owner[point] == 2 else 0
        if not territory or row[point] == 0:
            lead += sign
        elif owner[point] == 3 - row[point]:
            lead += 2 * sign
    if territory:
        lead += _get(row, LOST_AT + 2) - _get(row, LOST_AT)
    return lead - komi, unsure


@inner
def _end(row, board, komi, territory):  # type: ignore[no-untyped-def]
    """Score a row in which the game has just ended, and replace its tail, which is still that of the position before
    the last pass.

    If the score and the network agree on the winner, the end is at least as certain as the network's prediction.
    """
    owner = np.empty(POINTS, np.uint8)
    lead, unsure = count(row, board, komi, territory, owner)
    side = np.int64(row[SIDE_AT])
    if side:
        lead = -lead
    counted = min(1.0, max(-1.0, lead / max(0.5, unsure)))
    expected = -_get(row, CHANCE_AT) / CHANCE_STEPS  # the tail is from the opponent's point of view
    chance = counted
    if counted * expected > 0:
        chance = counted if abs(counted) > abs(expected) else expected
    for point in range(POINTS):
        row[OWNERS_AT + point] = 255 if owner[point] == 1 else 0 if owner[point] == 2 else 128
    _put(row, CHANCE_AT, chance * CHANCE_STEPS)
    _put(row, LEAD_AT, lead * POINT_STEPS)


@kernel
def _enter(rows, played, scoring, preference, keys, again, ended, values, moves, offsets):  # type: ignore[no-untyped-def]
    """Play a move in each row, and fill the fields of Entered for the new positions. Returns the index after the last
    legal move.

    rows: uint8 [n, width]. played: uint16 [n]. scoring: komi, territory, suicide. preference: share, and centre for
    Black. keys, again: uint64 [n]. ended: int8 [n]. values: float32 [n]. moves: uint16 [room]. offsets: int64 [n + 1].
    """
    board = np.empty((ROWS, CELLS), np.int16)
    offsets[0] = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        set_up(board, row[:POINTS])
        _play(row, board, played[i])
        stones = position_hash(board)
        keys[i] = _key(row, stones)
        again[i] = stones ^ _PASSED[row[PASSES_AT]] if row[PASSES_AT] else stones
        ended[i] = UNKNOWN
        offsets[i + 1] = _list_moves(board, row, scoring[2] > 0, moves, offsets[i])
        if row[PASSES_AT] > 1:
            # A position after the end of the game must not count as a repetition of the same stones during the game. So
            # the position after the end gets another key.
            ended[i], again[i] = SCORED, ~stones
            _end(row, board, scoring[0], scoring[1] > 0)
            sign = -1.0 if row[SIDE_AT] else 1.0
            chance, lead = _get(row, CHANCE_AT) / CHANCE_STEPS, _get(row, LEAD_AT) / POINT_STEPS
            values[i] = worth(chance, lead, row[SIZE_AT], preference[0], sign * preference[1])
    return offsets[rows.shape[0]]


@kernel
def _encode(rows, codes, state):  # type: ignore[no-untyped-def]
    """Write rows as codes, uint8 [n, 361], and state, uint8 [n, 4 or more], see games.go.replay."""
    board = np.empty((ROWS, CELLS), np.int16)
    for i in range(rows.shape[0]):
        row = rows[i]
        set_up(board, row[:POINTS])
        for point in range(POINTS):
            colour = row[point]
            if colour == OUTSIDE:
                codes[i, point] = OFF
            elif colour == 0:
                codes[i, point] = EMPTY
            else:
                free = liberties(board, np.int64(board[ROOT, CELL[point]]))
                kind = (BLACK_STONE if colour == 1 else WHITE_STONE) + free - 1
                codes[i, point] = kind + _AGE_CLASSES[row[PLIES_AGO + point]]
        if _get(row, KO_AT) < PASS:
            codes[i, _get(row, KO_AT)] = KO
        state[i, TO_MOVE], state[i, SIZE], state[i, PASSES] = row[SIDE_AT], row[SIZE_AT], row[PASSES_AT]
        state[i, PLIES] = min(_get(row, PLY_AT), 255)


@kernel
def _read(rows, answers, moves, offsets, sharpness, preference, values, priors):  # type: ignore[no-untyped-def]
    """Read the network's outputs: write them to the rows' tails, to values, [n], and to the priors of the moves.

    answers: policy [n, 362], value [n], black_owns [n, 361], lead [n], spread [n]. NaN counts as 0.
    """
    policy, value, owns, lead, spread = answers
    for i in range(rows.shape[0]):
        row = rows[i]
        for point in range(POINTS):
            black = owns[i, point]
            row[OWNERS_AT + point] = np.uint8(255 * black + 0.5) if 0 <= black <= 1 else 128
        chance = min(1.0, max(-1.0, np.float64(value[i]))) if not np.isnan(value[i]) else 0.0
        points = np.float64(lead[i]) if abs(lead[i]) < 1000 else 0.0
        _put(row, CHANCE_AT, chance * CHANCE_STEPS)
        _put(row, LEAD_AT, points * POINT_STEPS)
        _put(row, SPREAD_AT, min(1000.0, max(0.0, np.float64(spread[i]))) * POINT_STEPS)
        sign = -1.0 if row[SIDE_AT] else 1.0
        values[i] = worth(chance, points, row[SIZE_AT], preference[0], sign * preference[1])
        total = 0.0
        for at in range(offsets[i], offsets[i + 1]):
            odds = np.float64(policy[i, moves[at]])
            priors[at] = odds**sharpness if odds > 0 else 0.0
            total += priors[at]
        for at in range(offsets[i], offsets[i + 1]):
            priors[at] = priors[at] / total if total > 1e-30 else 1 / (offsets[i + 1] - offsets[i])


@kernel
def _repeating(board, colour, moves, history, repeated):  # type: ignore[no-untyped-def]
    """Write to `repeated`, bool, whether each move leads to a placement of stones that occurred before in the game."""
    for i in range(moves.shape[0]):
        repeated[i] = False
        if moves[i] < PASS:
            after = board.copy()
            place(after, np.int64(CELL[moves[i]]), colour, np.int64(0))
            repeated[i] = is_among(position_hash(after), history)


def row_of(board: Board, colour: int) -> NDArray[np.uint8]:
    """Convert a board to a position's row for the search, uint8 [WIDTH] (see the docstring of this module). `colour` is
    to move, even if the other side is to move on the board. The last numbers of the row, which are for the network's
    predictions, are zeros.
    """
    row = np.zeros(WIDTH, np.uint8)
    colours = board.colours()
    row[:POINTS] = colours
    played = board.board[PLAYED, CELL].astype(np.int64)
    stones = ((colours == 1) | (colours == 2)) & (played > 0)
    row[PLIES_AGO : PLIES_AGO + POINTS][stones] = np.minimum(OLDEST, board.ply - played[stones] + 1)
    row[SIDE_AT : SIDE_AT + 3] = colour - 1, board.size, min(board.passes, 2)
    _put(row, KO_AT, float(board.ko if board.to_move == colour else PASS))
    _put(row, PLY_AT, float(min(board.ply, 32000)))
    for side in (1, 2):
        _put(row, LOST_AT + 2 * (side - 1), float(board.captured[side]))
    return row


class GoSearchRules:
    """The rules of Go and the network for a PUCT search. The class implements the interface `search.SearchRules`.

    network: the network, with the outputs policy, value, black_owns, lead and spread.
    temperature: the temperature of the predicted move probabilities; above 1, they become more equal.
    scoring, preference: the rules of scoring, and the weights of winning and of the score, in the current game. If they
        change, the caller must clear the tree and the cache. If only the centre of `preference` changes, `weigh_again`
        corrects the tree, and the caller must clear only the cache.
    """

    width, tail, usual, most, repetition = WIDTH, WIDTH - BARE, POINTS, MOST_CHILDREN, FORBIDDEN

    def __init__(self, network: NetworkSession, temperature: float = 1.0):
        self.network, self.sharpness = network, 1 / temperature
        self.scoring, self.preference = Scoring(), Preference()
        self.side_inputs: tuple[int, ...] = ()

    def set_side_inputs(self, given: Mapping[str, int]) -> None:
        """Set the network's side inputs (inputs in addition to the position), such as komi and rules. given: a dict
        from their names to values, which replace the defaults.
        """
        defaults: Mapping[str, int] = getattr(self.network, "side_inputs", {})
        self.side_inputs = tuple(given.get(name, default) for name, default in defaults.items())

    @property
    def _scoring(self) -> tuple[float, float, float]:
        return float(self.scoring.komi), float(self.scoring.territory), float(self.scoring.suicide)

    @property
    def _preference(self) -> tuple[float, float]:
        return self.preference.share, self.preference.centre

    def enter(self, rows: NDArray[np.uint8], moves: NDArray[np.uint16]) -> Entered:
        """Return the positions after one move in each given position. rows: uint8 [n, WIDTH], the positions (see the
        docstring of this module), which are overwritten with the new ones. moves: uint16 [n], points or PASS.
        """
        n = len(rows)
        keys, again, ended = np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty(n, np.int8)
        values, listed, offsets = (
            np.zeros(n, np.float32),
            np.empty((POINTS + 1) * n, np.uint16),
            np.empty(n + 1, np.int64),
        )
        end = _enter(rows, moves, self._scoring, self._preference, keys, again, ended, values, listed, offsets)
        return Entered(rows, keys, ended, listed[:end], offsets, again, values)

    def start(self, board: Board, colour: int, history: NDArray[np.uint64]) -> tuple[Entered, bool]:
        """Return a board's position with the moves that are legal and don't repeat a position of the history. Also
        return whether these are all legal moves.

        colour: the side to move. history: uint64, the hashes of the stones in positions that may not occur again.
        """
        row = row_of(board, colour)
        moves = np.empty(POINTS + 1, np.uint16)
        moves = moves[: _list_moves(board.board, row, self.scoring.suicide, moves, 0)]
        repeated = np.empty(len(moves), np.bool_)
        _repeating(board.board, colour, moves, history, repeated)
        moves = moves[~repeated]
        stones = np.uint64(position_hash(board.board))
        again = stones ^ _PASSED[row[PASSES_AT]] if row[PASSES_AT] else stones
        entered = Entered(
            row[None], np.array([_key(row, stones)], np.uint64), np.array([UNKNOWN], np.int8), moves,
            np.array([0, len(moves)]), np.array([again], np.uint64), np.zeros(1, np.float32),
        )  # fmt: skip
        return entered, not repeated.any()

    def evaluate(
        self, rows: NDArray[np.uint8], moves: NDArray[np.uint16], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the network's values of positions for the side to move, float32 [n], −1 to 1, and the priors
        (probabilities) of the moves, float32 [total]. The function also writes the network's predictions, such as
        territory and lead, to the last numbers (the tail) of each row.

        rows: uint8 [n, WIDTH], the positions (see the docstring of this module). moves: uint16 [total], the legal moves
        of all positions. offsets: int64 [n + 1], the index at which each position's moves begin.
        """
        predicted = self.predict(rows)
        answers = (
            predicted["policy"],
            predicted["value"],
            predicted["black_owns"],
            predicted["lead"],
            predicted["spread"],
        )
        values, priors = np.empty(len(rows), np.float32), np.empty(len(moves), np.float32)
        _read(rows, answers, moves, offsets, self.sharpness, self._preference, values, priors)
        return values, priors

    def condense(self, tree: PuctTree, least: int) -> None:
        """Prepare a tree for `tree.cut_out`, which removes the subtrees of seldom visited nodes. These nodes are below
        the root, and have fewer than `least` visits and no proven (certain) result.

        Each of these nodes gets the mean network outputs of its subtree, in the tail (the last numbers) of its row.
        """
        sums = [(at, sums_below(tree, at)) for at in (CHANCE_AT, LEAD_AT)]
        tops = topmost(tree, least)
        maps = np.empty((_AT_ONCE, POINTS))
        for begin in range(0, len(tops), _AT_ONCE):
            some = tops[begin : begin + _AT_ONCE]
            owners_below(tree, some, maps[: len(some)])
            tree.rows[tree.row[some], OWNERS_AT : OWNERS_AT + POINTS] = np.round(255 * maps[: len(some)])
        for at, of in sums:
            put_all(tree, tops, at, of[tops] / tree.visits[tops])

    def predict(self, rows: NDArray[np.uint8], symmetry: int = 0) -> dict[str, NDArray[np.float32]]:
        """Return the network's outputs for positions, as a dict from names to arrays.

        rows: uint8 [n, WIDTH], positions on boards of the same size (see the docstring of this module). symmetry: the
        symmetry, 0 to 7, by which the boards are transformed for the network. The outputs are transformed back.
        """
        codes = np.empty((len(rows), POINTS), np.uint8)
        state = np.empty((len(rows), STATE + len(self.side_inputs)), np.uint8)
        state[:, STATE:] = self.side_inputs
        _encode(rows, codes, state)
        network = InGame(self.network, self.scoring.komi)
        if not symmetry:
            return network.evaluate(codes, state)
        there = symmetries(int(rows[0, SIZE_AT]))[symmetry]
        predicted = dict(network.evaluate(np.ascontiguousarray(codes[:, there]), state))
        back = np.argsort(there)
        predicted["black_owns"] = predicted["black_owns"][:, back]
        predicted["policy"] = predicted["policy"][:, np.append(back, PASS)]
        return predicted


def hashes(history: Iterable[int]) -> NDArray[np.uint64]:
    """Return hashes of positions in the form in which the search uses them: a sorted array, uint64 [n]. history: the
    hashes of the stones in each position.
    """
    return np.array(sorted(history), np.uint64)


# Values from a tree


@inner
def _own_visits(tree):  # type: ignore[no-untyped-def]
    """Return the number of visits of each node that did not continue to a child, int64 [nodes].

    It is one if the node's position was evaluated. It is larger if the game has ended, or if the part of the tree below
    was cut.
    """
    n = tree.size[0]
    own = tree.visits[:n].astype(np.int64)
    for node in range(1, n):
        own[tree.parent[node]] -= tree.visits[node]
    return own


@kernel
def sums_below(tree, at):  # type: ignore[no-untyped-def]
    """Return for each node of a tree the sum of one network output over all visits of the node, float64 [nodes].

    at: the column of this output in the positions' rows. The sums are from the point of view of the side to move at the
    node.
    """
    n = tree.size[0]
    sums, times = np.zeros(n), _own_visits(tree)
    for node in range(n - 1, -1, -1):  # the loop runs backward, because children come after their parents
        if tree.row[node] >= 0:
            sums[node] += times[node] * np.float64(_get(tree.rows[tree.row[node]], at))
        if node and sums[node] != 0:
            sums[tree.parent[node]] -= sums[node]
    return sums


@kernel
def owners_below(tree, tops, owners):  # type: ignore[no-untyped-def]
    """Write mean ownership maps to `owners`, float64 [n, 361]: the probability that each point will be Black's,
    averaged over the visits of each node in `tops`.

    tops: int64 [n], nodes of the tree. No node of `tops` may be below another node of `tops`.
    """
    n = tree.size[0]
    group = np.full(n, -1, np.int64)
    weight, own = np.zeros(tops.shape[0]), _own_visits(tree)
    owners[:] = 0
    for i in range(tops.shape[0]):
        group[tops[i]] = i
    for node in range(n):
        if tree.row[node] < 0:
            continue
        if node and group[node] < 0:
            group[node] = group[tree.parent[node]]
        if group[node] < 0:
            continue
        times = np.float64(own[node])
        row = tree.rows[tree.row[node]]
        weight[group[node]] += times
        for point in range(POINTS):
            owners[group[node], point] += times * row[OWNERS_AT + point]
    for i in range(tops.shape[0]):
        if weight[i] > 0:
            for point in range(POINTS):
                owners[i, point] /= 255 * weight[i]


@kernel
def topmost(tree, least):  # type: ignore[no-untyped-def]
    """Return the nodes of a tree whose subtrees `cut_out` will remove, int64 [n]. No node of the result is below
    another one.

    These nodes have fewer than `least` visits and no proven (certain) result, and are below the root.
    """
    n = tree.size[0]
    cut, found = np.zeros(n, np.bool_), np.empty(n, np.int64)
    count = 0
    for node in range(1, n):
        cut[node] = cut[tree.parent[node]]
        if cut[node] or tree.first[node] < 0 or tree.visits[node] >= least or tree.proven[node] != UNKNOWN:
            continue
        cut[node] = True
        if tree.visits[node] > 1:
            found[count] = node
            count += 1
    return found[:count]


@kernel
def put_all(tree, nodes, at, values):  # type: ignore[no-untyped-def]
    """Write one number of two bytes to the row (the encoded position) of each of these nodes of a tree. nodes: int [n],
    the indices of the nodes. at: the column of the number in the row. values: [n], the numbers.
    """
    for i in range(nodes.shape[0]):
        _put(tree.rows[tree.row[nodes[i]]], at, values[i])


@inner
def _weigh(rows, n, share, centre, values):  # type: ignore[no-untyped-def]
    """Write the value of each of the first n rows, by a preference, to values. rows: uint8 [n, WIDTH]."""
    for i in range(n):
        row = rows[i]
        sign = -1.0 if row[SIDE_AT] else 1.0
        chance, lead = _get(row, CHANCE_AT) / CHANCE_STEPS, _get(row, LEAD_AT) / POINT_STEPS
        values[i] = worth(chance, lead, row[SIZE_AT], share, sign * centre)


@kernel
def weigh_again(tree, share, centre):  # type: ignore[no-untyped-def]
    """Compute the value of every node of a tree again with other weights of winning and of the score. share, centre:
    those of the new `Preference`, with the centre from Black's point of view.
    """
    values = np.empty(tree.size[1], np.float32)
    _weigh(tree.rows, tree.size[1], share, centre, values)
    own = _own_visits(tree)
    for node in range(tree.size[0]):
        tree.total[node] = 0.0
    for node in range(tree.size[0] - 1, -1, -1):
        if tree.row[node] >= 0:
            value = values[tree.row[node]]
            tree.value[node] = value
            tree.total[node] += value * own[node]
        if node:
            tree.total[tree.parent[node]] -= tree.total[node]


def number_at(tree: PuctTree, node: int, at: SupportsIndex) -> int:
    """Return a number of two bytes from a node's row (its encoded position). The node must have been visited. at: the
    column of the number in the row.
    """
    return int(_get(tree.rows[tree.row[node]], at))
