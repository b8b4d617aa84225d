"""The class that chooses Go moves with a network that only predicts territory: it plays the move with the best expected
score.

A `Study` evaluates one position, the positions after its moves, and the position after a pass. A second step averages
the evaluations of the best moves over the symmetries of the board.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.points import GRID, NONE, OUTSIDE, PASS, POINTS
from kibitz.games.go.replay import BLACK_STONE, WHITE_STONE, children, encode_board
from kibitz.games.go.rules import COLOUR, WIDE, Board
from kibitz.play.go import ownership
from kibitz.play.go.ownership import OUTPUT, SYMMETRIES
from kibitz.play.go.thought import GoThought, Look, MoveThought, Terms
from kibitz.play.session import NetworkSession, Session
from kibitz.runs import Run

MARGIN = 0.5
"""The smallest gain of a move over a pass, in points; if no move gains more, the player passes. A smaller gain is
noise.
"""
SELF_ATARI = 1.0
"""The points that are subtracted from the value of a move whose chain the opponent can capture immediately."""
PER_STONE = 0.01
"""The points that are added to the value of a move for each captured stone, to choose between equally good moves."""
BATCH_SIZE = 32
"""The number of positions that are evaluated between two checks of the clock."""
NEAR = 2
"""A distance in lines. Moves within this distance of the last move are evaluated first."""
MAX_FAVOURITES = 16
"""The largest number of moves that are evaluated in all symmetries."""
SPREAD = 1.0
"""At temperature 1, a move becomes e (2.718) times less probable if its value is lower by this number of points."""
MAX_MOVES_PER_POINT = 3
"""The number of moves per point of the board after which the player only passes."""


@dataclass(frozen=True)
class Candidate:
    """A move that the player considers, with its evaluation.

    point: the intersection of the move, row · 19 + column, or PASS.
    lead: the player's expected lead in points after the move, including komi.
    gain: `lead` minus the lead after a pass.
    value: the number by which the moves are sorted. It is the gain with small corrections, for example for captured
        stones. Under territory scoring, it is 1 point less, because the played stone costs a point.
    captured: the number of captured stones.
    looks: the number of network evaluations of the position after the move.
    owners: float32 [361], the ownership map after the move: the probability that each intersection will be Black's.
    """

    point: int
    lead: float
    gain: float
    value: float
    captured: int
    looks: int
    owners: NDArray[np.float32] = field(repr=False)


class Study:
    """The evaluation of one position and of the positions after its moves, by a network that predicts territory.

    All values are from the point of view of `colour`, which counts as the side to move. The positions have row numbers:
    0 is the position itself, 1 is the position after a pass, and larger numbers are the positions after the moves. Only
    the methods `look` and `steps` run the network.

    only: the points that may be played; None for all. Moves into the player's eyes, suicide, and moves that repeat a
        position are always excluded.
    last: the point of the last move; PASS if there is none.
    """

    def __init__(
        self,
        network: NetworkSession,
        board: Board,
        colour: int,
        terms: Terms,
        only: Sequence[int] | None = None,
        last: int = PASS,
    ):
        self.network, self.colour, self.terms, self.size = network, colour, terms, board.size
        self.last = last
        self.sign = 1 if colour == 1 else -1
        self.board = board.copy()
        self.board.superko, self.board.suicide = True, False
        if self.board.to_move != colour:
            self.board.to_move, self.board.ko = colour, PASS
        eyes = own_eyes(self.board, colour)
        points = [p for p in self.board.legal(colour) if not eyes[p] and (only is None or p in only)]
        self.points = np.array(points, np.int64)
        self.may_pass = only is None or PASS in only or not points
        codes, state, self.captured = children(self.board, colour, self.points)
        here, here_state = encode_board(self.board)
        self.board.play(colour, PASS)
        passed, passed_state = encode_board(self.board)
        # The first row is the position itself, the second row is the position after a pass, and the other rows are the
        # positions after the moves.
        self.codes = np.concatenate([here[None], passed[None], codes])
        self.state = np.concatenate([here_state[None], passed_state[None], state])
        self.sums = np.zeros((len(self.codes), POINTS), np.float32)
        self.looks = np.zeros(len(self.codes), np.int64)
        stone = codes[np.arange(len(points)), self.points] & 15
        self.atari = stone == (BLACK_STONE if colour == 1 else WHITE_STONE)

    def look(self, rows: NDArray[np.int64] | None = None, symmetry: int = 0) -> None:
        """Evaluate some positions with the network, and add the results to those of earlier calls.

        rows: the row numbers of the positions: 0 is the position itself, 1 is the position after a pass, and larger
            numbers are the positions after the moves. None means all positions.
        symmetry: the symmetry of the board, 0 to 7, by which the positions are transformed before the evaluation.
        """
        rows = np.arange(len(self.codes)) if rows is None else rows
        there, back = ownership.symmetric_points(self.size)
        seen = self.network.evaluate(self.codes[rows][:, there[symmetry]], self.state[rows])[OUTPUT]
        self.sums[rows] += seen[:, back[symmetry]]
        self.looks[rows] += 1

    def steps(self, batch_size: int = BATCH_SIZE) -> Iterator[None]:
        """Evaluate all useful positions in batches of at most `batch_size`, and yield after each batch.

        The order is: first the position itself and the position after a pass; then the positions after the moves,
        likely moves first; last, in the other symmetries, the position itself, the position after a pass, and the
        positions after the best moves.
        """
        self.look(np.array([0, 1]))
        yield
        moves = self._likely()
        for start in range(0, len(moves), batch_size):
            self.look(moves[start : start + batch_size])
            yield
        best = [row for row in self._order() if row > 1][:MAX_FAVOURITES]
        rows = np.array([0, 1, *best])
        for symmetry in range(1, SYMMETRIES):
            for start in range(0, len(rows), batch_size):
                self.look(rows[start : start + batch_size], symmetry)
                yield

    def thought(self, most: int | None = None, owners: bool = False) -> GoThought:
        """Return the evaluation so far.

        most: the largest number of moves in the result; None for all. owners: whether to include the ownership map
        after each move.

        The visits of a move are the network evaluations of the position after it. The priors (move probabilities) are a
        softmax over the moves' values. The win probability is computed from the lead and the spread, the standard
        deviation of the score.
        """
        candidates = self.candidates()
        moves = tuple(
            self.thought_of(candidate, prior)
            for candidate, prior in zip(candidates[:most], priors(candidates).tolist(), strict=False)
        )
        here, lead = self.owners(), self.lead()
        spread = ownership.spread(here, self.size)
        winrate = ownership.winrate(lead, spread)
        return GoThought(self.colour, self.size, int(self.looks.sum()), winrate, lead, spread, here, moves)

    def thought_of(self, candidate: Candidate, prior: float = 0.0) -> MoveThought:
        """Convert a candidate move to a MoveThought. prior: the probability of the move in a softmax over the moves'
        values, 0 to 1.
        """
        spread = ownership.spread(candidate.owners, self.size)
        winrate = ownership.winrate(candidate.lead, spread)
        return MoveThought(
            candidate.point, candidate.looks, prior, winrate, winrate, candidate.lead, spread, candidate.gain,
            candidate.captured, (candidate.point,), (candidate.looks,), candidate.owners,
        )  # fmt: skip

    def _likely(self) -> NDArray[np.int64]:
        """Return the rows of the moves in the order of their evaluation: moves near the last move first, then the other
        moves, those with the least certain owner first.
        """
        certain = np.abs(2 * self.owners()[self.points] - 1)
        if self.last != PASS:
            down, right = np.divmod(self.points, GRID) - np.array(divmod(self.last, GRID))[:, None]
            certain -= (np.maximum(abs(down), abs(right)) <= NEAR).astype(np.float32)
        return np.argsort(certain, kind="stable") + 2

    def owners(self, row: int = 0) -> NDArray[np.float32]:
        """Return the ownership map of a position, float32 [361]: the probability that each point will be Black's,
        averaged over all network evaluations of the position.

        row: the row number of the position: 0 for the position itself, 1 for the position after a pass, and larger
        numbers for the positions after the moves.
        """
        return np.asarray(self.sums[row] / np.float32(max(1, self.looks[row])))

    def lead(self, row: int = 0) -> float:
        """Return the expected lead of the side to move in points, including komi.

        row: the row number of the position: 0 for the position itself, 1 for the position after a pass, and larger
        numbers for the positions after the moves.
        """
        return float(self._leads(np.array([row]))[0])

    def candidates(self) -> list[Candidate]:
        """Return the evaluated moves, sorted by value, the best first. They include a pass if it is allowed."""
        rows = self._order()
        rows = rows if self.may_pass else rows[rows != 1]
        leads, values = self._leads(rows), self._values(rows)
        passed = self.lead(1) if self.looks[1] else 0.0
        return [
            Candidate(
                point=PASS if row == 1 else int(self.points[row - 2]),
                lead=float(lead),
                gain=float(lead) - passed,
                value=float(value),
                captured=0 if row == 1 else int(self.captured[row - 2]),
                looks=int(self.looks[row]),
                owners=self.owners(row),
            )
            for row, lead, value in zip(rows.tolist(), leads, values, strict=True)
        ]

    def _leads(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        maps = self.sums[rows] / np.maximum(1, self.looks[rows]).astype(np.float32)[:, None]
        return self.sign * (ownership.lead(maps, self.size) - self.terms.margin)

    def _values(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the value by which moves are compared, for rows other than 0.

        It is the gain over a pass. For a move, the cost of its stone and MARGIN are subtracted.
        """
        values = self._leads(rows) - (self.lead(1) if self.looks[1] else 0.0)
        moves = rows > 1
        index = rows[moves] - 2
        values[moves] -= MARGIN + self.terms.territory
        values[moves] += PER_STONE * self.captured[index] - SELF_ATARI * self.atari[index]
        return values

    def _order(self) -> NDArray[np.int64]:
        """Return the evaluated rows, except the position's, best value first.

        After the best moves have been evaluated in more symmetries, no move with a single evaluation is ordered before
        them. The highest of many single evaluations is usually too high.
        """
        rows = np.flatnonzero(self.looks)
        rows = rows[rows > 0]
        seldom = (rows > 1) & (self.looks[rows] == 1) & bool((self.looks[2:] > 1).any())
        return rows[np.lexsort((-self._values(rows), seldom))]


def priors(candidates: list[Candidate]) -> NDArray[np.float64]:
    """Return a probability for each candidate move, float64 [n]: a softmax over the moves' values."""
    values = np.array([move.value for move in candidates]) / SPREAD
    odds = np.exp(values - values.max(initial=-np.inf))
    return np.asarray(odds / max(odds.sum(), 1e-30))


def own_eyes(board: Board, colour: int) -> NDArray[np.bool_]:
    """Return for each point whether it is a real eye of a color, bool [361], by a simple rule. colour: BLACK or WHITE.

    The rule: all neighbors of an eye are stones of this color, or the edge of the board. The opponent has a stone on at
    most one of its diagonal neighbors, and on none if the eye is at the edge.
    """
    field = board.board[COLOUR].reshape(WIDE, WIDE)
    own, other, edge = field == colour, field == 3 - colour, field == OUTSIDE
    inner = slice(1, GRID + 1)

    def shifted(what: NDArray[np.bool_], down: int, right: int) -> NDArray[np.bool_]:
        return what[1 + down : GRID + 1 + down, 1 + right : GRID + 1 + right]

    eyes = field[inner, inner] == NONE
    for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        eyes = eyes & shifted(own | edge, down, right)
    corners = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    held = sum(shifted(other, *corner).astype(np.int64) for corner in corners)
    near_edge = np.logical_or.reduce([shifted(edge, *corner) for corner in corners])
    return np.asarray(eyes & (held + near_edge < 2)).ravel()


class GoPlayer:
    """Chooses Go moves with a network that predicts territory: the move with the best expected score.

    temperature: 0 plays the best move; T > 0 samples the first moves of a game in proportion to `exp(value / (SPREAD ·
        T))`, with SPREAD = 1 point. The number of sampled moves equals the number of lines of the board.
    seed: the random seed; None for an unpredictable one.
    """

    searches = False

    def __init__(self, network: NetworkSession, *, temperature: float = 0.0, seed: int | None = None):
        self.network, self.temperature = network, temperature
        self.random = np.random.default_rng(seed)

    def new_game(self) -> None:
        """Do nothing, because this player has no data of earlier games."""

    def study(
        self, board: Board, colour: int, terms: Terms, only: Sequence[int] | None = None, last: int = PASS
    ) -> Study:
        """Return an empty evaluation of a position, with `colour` to move; the network has not run yet. only: the
        points that may be played; None for all. last: the point of the last move; PASS if there is none.
        """
        return Study(self.network, board, colour, terms, only, last)

    def looks(
        self, board: Board, colour: int, terms: Terms, only: Sequence[int] | None = None, last: int = PASS
    ) -> Iterator[Look]:
        """Evaluate a position in steps. After each step, yield a function that returns the results so far (see
        `GoThinker.looks`).

        The evaluation ends when the network has evaluated every move once, and the best moves in all symmetries.
        """
        study = self.study(board, colour, terms, only, last)
        for _ in study.steps():
            yield study.thought

    def raw(self, board: Board, colour: int, terms: Terms, symmetry: int) -> GoThought:
        """Return the network's evaluation of a position without a search, see `GoThinker.raw`. symmetry: how the board
        is rotated or mirrored before the evaluation, 0 to 7.
        """
        study = self.study(board, colour, terms)
        study.look(symmetry=symmetry)
        return study.thought()

    def choose(
        self,
        board: Board,
        colour: int,
        terms: Terms,
        *,
        last: int = PASS,
        seconds: float | None = None,
        visits: int | None = None,
        only: Sequence[int] | None = None,
        clean_up: bool = False,
        on_progress: Callable[[Look], None] = lambda look: None,
        stop: threading.Event | None = None,
    ) -> MoveThought:
        """Return the move to play, or PASS, with its evaluation. The arguments are those of `GoThinker.choose`.

        Without `seconds`, every move is evaluated at least once. `visits` is ignored, because this player does not
        search.
        """
        begun = time.perf_counter()
        study = self.study(board, colour, terms, only, last)
        for _ in study.steps():
            on_progress(study.thought)
            late = seconds is not None and time.perf_counter() - begun > seconds
            if (late or (stop is not None and stop.is_set())) and study.looks[2:].any():
                break
        return study.thought_of(self._chosen(study, board, clean_up))

    def _chosen(self, study: Study, board: Board, clean_up: bool) -> Candidate:
        candidates = study.candidates()
        if clean_up and (captures := self._to_take(study, candidates)):
            return captures[0]
        if study.may_pass and is_over(study):
            return next(candidate for candidate in candidates if candidate.point == PASS)
        if self.temperature > 0 and board.ply < board.size:
            return self._drawn(candidates)
        return candidates[0]

    def _drawn(self, candidates: list[Candidate]) -> Candidate:
        values = np.array([candidate.value for candidate in candidates])
        odds = np.exp((values - values.max()) / (SPREAD * self.temperature))
        return candidates[int(self.random.choice(len(candidates), p=odds / odds.sum()))]

    def _to_take(self, study: Study, candidates: list[Candidate]) -> list[Candidate]:
        """Return the moves next to dead stones of the opponent, the best first."""
        colours = study.board.colours()
        adjacent = {
            point
            for chain in ownership.dead_chains(study.owners(), colours, study.size)
            if colours[chain[0]] != study.colour
            for stone in chain
            for point in ownership.neighbours(stone, study.size)
        }
        return [candidate for candidate in candidates if candidate.point in adjacent]


def is_over(study: Study) -> bool:
    """Return whether the player should pass, even if a move would gain points.

    The player passes if the game has more than 3 plies per intersection of the board (MAX_MOVES_PER_POINT). The player
    also passes if the opponent has just passed and the player's lead in points is larger than the uncertainty. The
    uncertainty is the sum of 4 · min(p, 1 − p), where p is the probability that an intersection will be Black's.

    study: the evaluation of the position.
    """
    board = study.board  # the board after the pass that the player considers
    if board.ply > MAX_MOVES_PER_POINT * study.size**2:
        return True
    owners = study.owners(1)[ownership.points_of(study.size)]
    return board.passes > 1 and study.lead(1) > float(4 * np.minimum(owners, 1 - owners).sum())


def open_player(run: Run, session: Callable[[], Session], *, method: str | None = None, **settings: Any) -> GoPlayer:
    """Return the player for the network of a run (the folder of a trained network). The arguments are those of
    `kibitz.play.open_player`. method: ignored, because there is only one.
    """
    return GoPlayer(session(), **settings)
