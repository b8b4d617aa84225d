"""The class that chooses Go moves by a PUCT search, or plays the most likely move.

The network must predict moves, winner, territory and score. The player chooses the move with the most visits. The
search averages the win probability and, with a small weight, a function of the lead that is steepest at the expected
lead. So the player also tries to gain points if the winner of the game is already clear. The player passes if a pass
loses nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import UsageError
from kibitz.games.go.endings.final import nothing_to_gain
from kibitz.games.go.points import PASS, POINTS
from kibitz.games.go.rules import CELL, CELLS, ROWS, Board, place, set_up
from kibitz.games.go.sides import board_inputs
from kibitz.play.go import ownership
from kibitz.play.go.imitation import imitated_rank, players_inputs
from kibitz.play.go.thought import GoThought, Look, MoveThought, Terms
from kibitz.play.puct import go as rules
from kibitz.play.puct.pace import batch_size, decided
from kibitz.play.puct.search import BatchSizes, PuctSearch, children
from kibitz.play.puct.tree import UNKNOWN, WIN, Constants, PuctTree, lead
from kibitz.play.result import SearchLimits, TimeManager
from kibitz.play.session import NetworkSession, Session
from kibitz.runs import Run
from kibitz.systems.declaration import GO_TOP_PROB

VISITS = 200
"""The number of visits of the root for each move, if there is no time limit."""
RANK = "9d"
"""The rank of both players in the network's inputs, for the strongest play."""
NEEDED = ("policy", "value", "black_owns", "lead", "spread")
DRIFT = 3.0
"""If the expected lead changes by more than this number of points, the values in the tree are computed again."""

UNSURE = 0.3
"""The largest share of points with an uncertain owner (see `GoPuctPlayer.count`) with which the player passes first."""
PASS_SHARE_OF_PLAYERS = 0.1
"""The smallest predicted probability of a pass with which a player that imitates others may pass first. Smaller
probabilities add up over the moves of a game, and would end some games too early.
"""
ENOUGH, MEANS_NOTHING = 0.03, 1.5
"""Limits of the best move's gain over a pass: ENOUGH in win probability, MEANS_NOTHING in points. If the gain is less
than both limits, the player replies to a pass with a pass.
"""
AS_GOOD, NEXT_TO_NOTHING = 0.01, 0.25
"""Limits of the best move's gain over a pass: AS_GOOD in win probability, NEXT_TO_NOTHING in points. The player passes
first only if the gain is less than both limits.
"""
MAX_MOVES_PER_POINT = 3
"""The number of moves per point of the board after which the player only passes."""
PASS_VISITS, PASS_SHARE = 24, 4
"""Visits that the search must give to a pass before the player passes first: at least PASS_VISITS visits, and at least
1 / PASS_SHARE of the best move's visits.
"""
LEAST_VISITS = 100
"""The number of visits of the root below which the player doesn't pass first, however short the search is. Values of
few visits differ by more than a move gains at the end of a game.
"""
CLEAR_CHANCE, CLEAR_POINTS = (0.15, 0.3), (3.0, 7.0)
"""Gains of a move over a pass, in win probability and in points. If a move gains more, the player does not pass, even
if playouts find nothing to gain.

The first number of each pair is for area scoring, where a wasted move costs nothing. The second number is for territory
scoring.
"""
SURE_VISITS = 2.0
"""The distance between a move's mean win probability and its lower confidence bound (`lcb`), in standard deviations of
the mean.
"""


@dataclass(frozen=True)
class GoTuning:
    """The parameters of the PUCT search in Go.

    constants: the constants of the formula that selects moves.
    temperature: the temperature of the predicted move probabilities; above 1, they become more equal.
    batches: the batch sizes.
    score_share: the weight of the score in a position's value, 0 to 1, see `kibitz.play.puct.go.Preference`.
    """

    constants: Constants = field(default_factory=Constants)
    temperature: float = 1.2
    batches: BatchSizes = field(default_factory=lambda: BatchSizes(4, 32, 16))
    score_share: float = 0.15


class GoPuctPlayer:
    """Chooses Go moves by a PUCT search or, with the method top-prob, with one network evaluation.

    temperature: 0 plays the move with the most visits. T > 0 samples moves in proportion to `visits^(1/T)`, or for
        top-prob to `prior^(1/T)`. In each game, the number of sampled moves equals the number of lines of the board;
        with a personal network or a `rank`, all moves are sampled.
    visits: the number of visits of the root in a search without a time limit.
    hash_mb: the size of the tree and of the evaluations of a game, in megabytes.
    seed: the random seed; None for an unpredictable one.
    rank: the rank of the players to imitate, such as "5k" or "9d". It is the rank of both players in the network's
        inputs. None for "9d" (RANK), the strongest play. `kibitz.play.go.imitation.imitation` returns the settings that
        go with a rank.
    side_inputs: a dict from inputs of the network to values, 0 to 255. They replace or complement the values that the
        game determines.

    If the game continues with a move in the tree, the next search uses this part of the tree again. Raises UsageError
    if the network lacks an output, and for settings out of range.
    """

    def __init__(
        self,
        network: NetworkSession,
        *,
        method: str | None = None,
        temperature: float = 0.0,
        visits: int | None = None,
        hash_mb: int = 256,
        seed: int | None = None,
        tuning: GoTuning | None = None,
        rank: str | None = None,
        side_inputs: Mapping[str, int] = {},
    ):
        name = getattr(network, "name", "the network")
        if not set(NEEDED) <= set(network.outputs):
            raise UsageError(
                f"puct needs a network that predicts moves, the winner, territory and the score (got {name})."
                " Use the network 'gohuman'."
            )
        if temperature < 0 or hash_mb < 1 or (visits is not None and visits < 1):
            raise UsageError("visits and hash must be at least 1, and temperature must be at least 0")
        self.network, self.temperature = network, temperature
        self.of_person = getattr(network, "of_person", False)
        self.rank = None if rank is None else imitated_rank(rank)
        self.searches = method != GO_TOP_PROB.name
        self.visits = (VISITS if visits is None else visits) if self.searches else 1
        self.random, self.side_inputs = np.random.default_rng(seed), dict(side_inputs)
        self.tuning = tuning or GoTuning()
        self.rules = rules.GoSearchRules(network, self.tuning.temperature if self.searches else 1.0)
        self.rules.preference = rules.Preference(self.tuning.score_share)
        self.search = PuctSearch(self.rules, self.tuning.constants, hash_mb * 1_000_000)
        self._game: tuple[Terms, bool] | None = None
        self._whole = True
        """Whether the tree's root has all legal moves. Only such a tree can be reused for the next position."""

    def new_game(self) -> None:
        """Clear the tree, the evaluations of the last game, and the expected lead, before a new game."""
        self.search.forget()
        self.rules.preference = replace(self.rules.preference, centre=0.0)

    # Thinking

    def looks(
        self, board: Board, colour: int, terms: Terms, only: Sequence[int] | None = None, last: int = PASS
    ) -> Iterator[Look]:
        """Search a position in steps. After each step, yield a function that returns the results so far (see
        `GoThinker.looks`).
        """
        history = self._begin(board, colour, terms, only)
        # The first part is the search that `choose` makes without a time limit. So after this part, the result is that
        # of `choose`.
        for _ in self._grown(TimeManager(SearchLimits(nodes=self.visits), None, self.search.evaluated), history):
            yield self.look
        clock = TimeManager(SearchLimits(), None, self.search.evaluated)
        while size := clock.batch(self.search.evaluated, self._batch(clock)):
            if not self.search.grow(size, history):
                break
            yield self.look

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
        """Return the move to play, or PASS, with its evaluation. The arguments are those of `GoThinker.choose`."""
        history = self._begin(board, colour, terms, only)
        limits = SearchLimits(seconds=seconds, nodes=visits or (self.visits if seconds is None else None))
        for _ in self._grown(TimeManager(limits, stop, self.search.evaluated), history):
            on_progress(self.look)
        while (move := self._chosen(thought := self.look(unvisited=True), clean_up)).point == PASS:
            if (stop is not None and stop.is_set()) or not self._searches_further(thought, history):
                break
        return move

    def _grown(self, clock: TimeManager, history: NDArray[np.uint64]) -> Iterator[None]:
        """Grow the tree step by step until the clock ends it or more visits can't change the result."""
        before = int(self.search.tree.visits[0])
        yield  # yields before the pass is visited, because the results don't contain the pass yet
        if clock.batch(self.search.evaluated, 1):
            self._try_pass(history)
        while self.searches and not self._done(clock, before):
            size = clock.batch(self.search.evaluated, self._batch(clock))
            if size == 0 or not self.search.grow(size, history):
                break
            yield

    def _begin(self, board: Board, colour: int, terms: Terms, only: Sequence[int] | None) -> NDArray[np.uint64]:
        """Set up the tree of a position: a part of the last tree if the game continues in it, else a new tree.

        Returns the hashes of the stones that may not recur.
        """
        self._set_terms(terms, board.suicide)
        history = rules.hashes(board.positions)
        root, whole = self.rules.start(board, colour, history)
        if only is None and self._whole and self._goes_on(int(root.again[0]), root.rows[0]):
            self._forbid_all_but(root.moves)
            self._weigh()
            return history
        moves = root.moves if only is None else root.moves[np.isin(root.moves, np.array(only, np.uint16))]
        if not len(moves):
            moves = np.array([PASS], np.uint16)
        whole, self._whole = whole and only is None, only is None
        self.search.begin(root._replace(moves=moves, offsets=np.array([0, len(moves)])), whole=whole)
        self._weigh()
        return history

    def _forbid_all_but(self, allowed: NDArray[np.uint16]) -> None:
        """Mark the moves that the game's history allows. The method is used if the root was inside the
        previous tree.
        """
        tree = self.search.tree
        nodes = children(tree, 0)
        nodes = nodes[(tree.proven[nodes] == UNKNOWN) & ~np.isin(tree.move[nodes], allowed)]
        tree.proven[nodes], tree.plies[nodes] = WIN, 0

    def _try_pass(self, history: NDArray[np.uint64]) -> None:
        """Evaluate a pass, even if it is unlikely, because it decides whether the game may end.

        After the opponent's pass, this needs no evaluation.
        """
        tree = self.search.tree
        nodes = children(tree, 0)
        nodes = nodes[(tree.move[nodes] == PASS) & (tree.visits[nodes] == 0)]
        if len(nodes) and (self.searches or tree.rows[tree.row[0]][rules.PASSES_AT]):
            self.search.visit(nodes, history)

    def _searches_further(self, thought: GoThought, history: NDArray[np.uint64]) -> bool:
        """Search a little further if the search is too short to pass first. Returns whether it searched."""
        tree = self.search.tree
        if not self.searches or tree.rows[tree.row[0]][rules.PASSES_AT]:
            return False
        if tree.visits[0] < LEAST_VISITS and self._grow(history):
            return True
        return self._doubts_pass(thought) and self._look_at_pass(history)

    def _grow(self, history: NDArray[np.uint64]) -> bool:
        """Search further for a few visits. Returns False if nothing more can be searched."""
        before = int(self.search.tree.visits[0])
        self.search.grow(self.tuning.batches.least, history)
        return int(self.search.tree.visits[0]) > before

    def _doubts_pass(self, thought: GoThought) -> bool:
        """Return whether a pass needs more visits before the player passes first: few visits don't show what a pass
        loses.
        """
        passing = next(move for move in thought.moves if move.point == PASS)
        most = max((move.visits for move in thought.moves if move.point != PASS), default=0)
        return passing.visits < min(PASS_VISITS, most // PASS_SHARE)

    def _look_at_pass(self, history: NDArray[np.uint64]) -> bool:
        """Use the next visits for a pass. Returns False if nothing more can be searched after it."""
        tree = self.search.tree
        moves = children(tree, 0)
        others = moves[tree.move[moves] != PASS]
        proven = tree.proven[others].copy()
        tree.proven[others] = WIN  # moves with a proven result are not selected, so only the pass can be selected now
        grown = self._grow(history)
        tree = self.search.tree  # the tree may have grown or been cut; children of the root keep their slots
        tree.proven[others] = proven
        return grown

    def _goes_on(self, key: int, row: NDArray[np.uint8]) -> bool:
        search = self.search
        if not search.go_on(key):
            return False
        return bool((search.tree.rows[search.tree.row[0]][: rules.BARE] == row[: rules.BARE]).all())

    def _set_terms(self, terms: Terms, suicide: bool) -> None:
        """Set the terms for scoring, and remove all evaluations under other terms."""
        if self._game == (terms, suicide):
            return
        self._game = terms, suicide
        self.search.forget()
        self.rules.scoring = rules.Scoring(terms.komi, terms.territory, suicide)
        given = (
            players_inputs(terms, self.rank or RANK)
            if terms.between_players
            else board_inputs(terms.komi, terms.territory)
        )
        if self.of_person:  # a player that imitates a person keeps the person's rank and server
            given = {name: value for name, value in given.items() if name in ("komi", "handicap", "rules")}
        self.rules.set_side_inputs(given | self.side_inputs)

    def _weigh(self) -> None:
        """Move the center of the bonus for points to the lead that is now expected."""
        tree, preference = self.search.tree, self.rules.preference
        sign = -1 if tree.rows[tree.row[0]][rules.SIDE_AT] else 1
        expected = sign * float(self._means(rules.LEAD_AT, rules.POINT_STEPS)[0])
        if abs(expected - preference.centre) > DRIFT:
            self.rules.preference = replace(preference, centre=expected)
            rules.weigh_again(tree, preference.share, expected)
            self.search.forget_evaluations()

    def _batch(self, clock: TimeManager) -> int:
        return batch_size(self.tuning.batches, clock, int(self.search.tree.visits[0]))

    def _done(self, clock: TimeManager, before: int) -> bool:
        """Return whether the search of the move can end."""
        tree = self.search.tree
        if tree.children[0] == 1:
            return True
        if clock.limits.nodes is not None:
            left = clock.limits.nodes - int(tree.visits[0])
            if left <= 0 or (not self.temperature and lead(tree) > left):
                return True
        timed = clock.limits.seconds is not None
        return timed and not self.temperature and decided(tree, clock, self.search.evaluated, before)

    # Results of the search

    def raw(self, board: Board, colour: int, terms: Terms, symmetry: int) -> GoThought:
        """Return the network's evaluation of a position without a search, see `GoThinker.raw`. symmetry: how the board
        is rotated or mirrored before the evaluation, 0 to 7.
        """
        self._set_terms(terms, board.suicide)
        entered, _ = self.rules.start(board, colour, rules.hashes(board.positions))
        predicted = self.rules.predict(entered.rows, symmetry)
        odds = predicted["policy"][0][entered.moves].astype(np.float64)
        odds /= max(float(odds.sum()), 1e-30)
        winrate, lead, spread = (
            float(1 + predicted["value"][0]) / 2,
            float(predicted["lead"][0]),
            float(predicted["spread"][0]),
        )
        moves = tuple(
            MoveThought(int(point), 0, float(prior), winrate, winrate, lead, spread, None, 0, (int(point),), (0,))
            for point, prior in zip(entered.moves, odds, strict=True)
        )
        return GoThought(colour, board.size, 1, winrate, lead, spread, predicted["black_owns"][0], moves)

    def _means(self, at: SupportsIndex, steps: float) -> NDArray[np.float64]:
        """Return, for each node, the mean over its visits of a number in the rows, float64 [nodes]; 0 without a visit.

        at: the number's place in a row. steps: the number's unit.
        """
        tree = self.search.tree
        visits = np.maximum(1, tree.visits[: tree.size[0]])
        return np.asarray(rules.sums_below(tree, at) / visits / steps)

    def look(self, most: int = POINTS + 1, owners: bool = False, unvisited: bool = False) -> GoThought:
        """Return the results of the search so far.

        most: the largest number of moves in the result. owners: whether to include the ownership map after each move.
        unvisited: whether to include moves without visits even if other moves have visits.
        """
        tree = self.search.tree
        chances, leads = self._means(rules.CHANCE_AT, rules.CHANCE_STEPS), self._means(rules.LEAD_AT, rules.POINT_STEPS)
        row = tree.rows[tree.row[0]]
        spread = rules.number_at(tree, 0, rules.SPREAD_AT) / rules.POINT_STEPS
        order = self._order()
        if not unvisited:
            order = [child for child in order if tree.visits[child]] or order
        passed = next((child for child in order if tree.move[child] == PASS and tree.visits[child]), None)
        shown = order[:most]
        mapped = shown if passed is None or passed in shown else [*shown, passed]
        maps = np.empty((1 + len(mapped), POINTS))
        rules.owners_below(tree, np.array([0]), maps[:1])
        rules.owners_below(tree, np.array(mapped, np.int64), maps[1:])
        visited = [i for i, child in enumerate([0, *mapped]) if tree.visits[child]]
        nodes = np.array([0, *mapped])[visited]
        leads[nodes] = self._whole_board_leads(leads[nodes], maps[visited], row)
        found = []
        for i, child in enumerate(shown):
            visits = int(tree.visits[child])
            chance, points = (-chances[child], -leads[child]) if visits else (chances[0], leads[0])
            winrate = float(1 + chance) / 2
            pv, pv_visits = likely_line(tree, child)
            found.append(
                MoveThought(
                    point=int(tree.move[child]), visits=visits, prior=float(tree.prior[child]), winrate=winrate,
                    lcb=max(0.0, winrate - SURE_VISITS * float(np.sqrt(winrate * (1 - winrate) / max(1, visits)))),
                    lead=float(points), spread=spread, gain=None if passed is None else float(points + leads[passed]),
                    captured=captured(row, int(tree.move[child])), pv=pv, pv_visits=pv_visits,
                    owners=maps[1 + i].astype(np.float32) if owners else None,
                )
            )  # fmt: skip
        return GoThought(
            int(row[rules.SIDE_AT]) + 1, int(row[rules.SIZE_AT]), int(tree.visits[0]), float(1 + chances[0]) / 2,
            float(leads[0]), spread, maps[0].astype(np.float32), tuple(found),
        )  # fmt: skip

    def _whole_board_leads(
        self, leads: NDArray[np.float64], maps: NDArray[np.float64], row: NDArray[np.uint8]
    ) -> NDArray[np.float64]:
        """Return the leads in points, float64 [n], with large leads corrected (see ownership.WholeBoardLead).

        leads: the lead in a position, followed by the leads after moves in it, each for the side to move. maps: float64
        [n, 361], the probability that each point is Black's, 0 to 1. row: the row of the position.
        """
        assert self._game is not None
        terms = self._game[0]
        inside = maps[:, ownership.points_of(int(row[rules.SIZE_AT]))]
        points, share = ownership.WholeBoardLead.by_owners(
            (2 * inside - 1).sum(1) - terms.handicap, terms.margin - terms.handicap,
            (4 * inside * (1 - inside)).mean(1), inside.shape[1],
        )  # fmt: skip
        black = np.full(len(leads), 1.0 if row[rules.SIDE_AT] else -1.0)
        black[0] *= -1
        return np.asarray(leads + share * (black * points - leads))

    def _order(self) -> list[int]:
        """Return the root's allowed moves, the most visited first. A pass comes after moves with the same number of
        visits, because the search gave it the first visit without choosing it, see `_try_pass`.
        """
        tree = self.search.tree
        return sorted(
            (child for child in children(tree, 0).tolist() if not _is_forbidden(tree, child)),
            key=lambda child: (
                (tree.visits[child], tree.move[child] != PASS, *_rank(tree, child))
                if self.searches
                else (float(tree.prior[child]),)
            ),
            reverse=True,
        )

    # Choosing

    def _chosen(self, thought: GoThought, clean_up: bool) -> MoveThought:
        """Return the move to play at the end of the search."""
        tree, moves = self.search.tree, thought.moves
        row = tree.rows[tree.row[0]]
        passing = next((move for move in moves if move.point == PASS), moves[0])
        seen = next((move for move in moves if move.point != PASS and (move.visits or not self.searches)), None)
        if clean_up and (takes := self._to_take(thought)):
            return takes[0]
        if rules.number_at(tree, 0, rules.PLY_AT) > MAX_MOVES_PER_POINT * thought.size**2:
            return passing
        by_territory = self.rules.scoring.territory
        loses = seen is not None and passing.visits > 0 and _loses_clearly(passing, seen, by_territory)
        if self.searches and not loses and nothing_to_gain(row[:POINTS], thought.colour, by_territory):
            return passing
        counted, unsure = self.count(thought)
        settled = unsure <= UNSURE * thought.size**2
        if row[rules.PASSES_AT]:
            best = next((move for move in moves if move.point != PASS), passing)
            if counted > max(0.0, unsure) or _ends_well(passing, best, counted):
                return passing
        elif settled and passing.visits and seen is not None and _is_as_good(passing, seen):
            return passing
        elif seen is None:  # at most a pass was searched
            moves = tuple(sorted(moves, key=lambda move: (move.point != PASS, move.prior), reverse=True))
        imitates = self.of_person or self.rank is not None
        if not (imitates and not self.searches and settled and passing.prior >= PASS_SHARE_OF_PLAYERS):
            # a pass is not played here, even if it has the most visits
            moves = tuple(move for move in moves if move.point != PASS) or moves
        if self.temperature > 0 and (imitates or rules.number_at(tree, 0, rules.PLY_AT) < thought.size):
            return self._drawn(moves)
        return moves[0]

    def count(self, thought: GoThought) -> tuple[float, float]:
        """Return two numbers for the searched position, if the game ended now: the lead of the side to move in points,
        including komi, and the number of uncertain intersections.

        An intersection adds a number from 0 to 1 to the second result: 0 if its owner is certain, and 1 if both owners
        are equally likely. thought: the result of the search.
        """
        tree = self.search.tree
        row = tree.rows[tree.row[0]].copy()
        row[rules.OWNERS_AT : rules.OWNERS_AT + POINTS] = np.round(255 * thought.owners)
        scoring = self.rules.scoring
        board, owner = np.empty((ROWS, CELLS), np.int16), np.empty(POINTS, np.uint8)
        set_up(board, row[:POINTS])
        black, unsure = rules.count(row, board, scoring.komi, scoring.territory, owner)
        return thought.sign * black, unsure

    def _to_take(self, thought: GoThought) -> list[MoveThought]:
        """Return the moves next to dead stones of the opponent, the best first."""
        colours = self.search.tree.rows[self.search.tree.row[0]][:POINTS]
        adjacent = {
            point
            for chain in ownership.dead_chains(thought.owners, colours, thought.size)
            if colours[chain[0]] != thought.colour
            for stone in chain
            for point in ownership.neighbours(stone, thought.size)
        }
        return [move for move in thought.moves if move.point in adjacent]

    def _drawn(self, moves: Sequence[MoveThought]) -> MoveThought:
        visited = self.searches and any(move.visits for move in moves)
        weights = np.array([move.visits if visited else move.prior for move in moves], np.float64)
        odds = (weights / max(weights.max(), 1e-30)) ** (1 / self.temperature)
        return moves[int(self.random.choice(len(odds), p=odds / odds.sum()))]


def _ends_well(passing: MoveThought, best: MoveThought, counted: float) -> bool:
    """Return whether to end the game after the opponent has passed. counted: the lead of the side to move, in points,
    if the game ends.
    """
    if not best.visits:
        return best.prior < passing.prior
    return best.winrate - passing.winrate < ENOUGH and best.lead - counted < MEANS_NOTHING


def _loses_clearly(passing: MoveThought, best: MoveThought, by_territory: bool) -> bool:
    """Return whether a pass loses so much that the player follows the search, even if playouts find no loss."""
    chance, points = CLEAR_CHANCE[by_territory], CLEAR_POINTS[by_territory]
    return best.winrate - passing.winrate > chance or best.lead - passing.lead > points


def _is_as_good(passing: MoveThought, best: MoveThought) -> bool:
    """Return whether a pass loses almost nothing."""
    return best.winrate - passing.winrate < AS_GOOD and best.lead - passing.lead < NEXT_TO_NOTHING


def _is_forbidden(tree: PuctTree, child: int) -> bool:
    return bool(tree.proven[child] == WIN)


def _rank(tree: PuctTree, child: int) -> tuple[float, ...]:
    """Return a key that orders moves: visits, then value, then the prior."""
    visits = int(tree.visits[child])
    return visits, -float(tree.total[child]) / visits if visits else -1.0, float(tree.prior[child])


def likely_line(tree: PuctTree, node: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the line that begins with the move of a node and continues with the most visited moves. Also return the
    visits of each of its moves. node: the index of a node in the tree.
    """
    moves, visits = [int(tree.move[node])], [int(tree.visits[node])]
    while tree.first[node] >= 0:
        below = children(tree, node)
        counts = tree.visits[below]
        most = counts.max()
        if not most:
            break
        node = max(below[counts == most].tolist(), key=lambda child: _rank(tree, child))
        moves.append(int(tree.move[node]))
        visits.append(int(tree.visits[node]))
    return tuple(moves), tuple(visits)


def captured(row: NDArray[np.uint8], point: int) -> int:
    """Return the number of stones that a move of the side to move captures. row: uint8 [width], the position, see
    `kibitz.play.puct.go`. point: the move's point.
    """
    if point == PASS:
        return 0
    board = np.empty((ROWS, CELLS), np.int16)
    set_up(board, row[:POINTS])
    return max(0, int(place(board, int(CELL[point]), int(row[rules.SIDE_AT]) + 1, 0)[0]))


def open_player(
    run: Run, session: Callable[[], Session], *, method: str | None = None, **settings: Any
) -> GoPuctPlayer:
    """Return the player for the network of a run (the folder of a trained network). The arguments are those of
    `kibitz.play.open_player`.
    """
    return GoPuctPlayer(session(), method=method, **settings)
