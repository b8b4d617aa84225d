"""The method human-search: it samples moves that people play, and prefers moves to which a short search gives a good
value.

A move is sampled with the probability softmax(alpha · log prior + beta · value). The prior is the probability that
players of a rating play the move. One network evaluation gives the priors of all moves. The value comes from a small
PUCT search, which is the same for all ratings. alpha and beta were fitted to games (bench/bench_human_search.py). alpha
is a constant, and beta depends on the rating. The size of the search doesn't depend on the time, because a player with
a rating must not become stronger on a faster machine.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import chess
import numpy as np
from numpy.typing import ArrayLike, NDArray

from kibitz.errors import UsageError
from kibitz.games.chess.legal import MAX_MOVES
from kibitz.games.chess.moves import from_move
from kibitz.games.chess.sides import RATING_UNIT
from kibitz.play.chess.player import ChessPlayer
from kibitz.play.puct import chess as rules
from kibitz.play.puct.player import PuctTuning, likely_line, value_for_parent
from kibitz.play.puct.search import PuctSearch, children
from kibitz.play.puct.tree import UNKNOWN
from kibitz.play.result import OnResult, PvLine, SearchLimits, SearchResult, TimeManager, make_line
from kibitz.play.session import Answers, NetworkSession, Session
from kibitz.runs import Run, with_default_side_inputs
from kibitz.systems.declaration import HUMAN_SEARCH, TOP_PROB

VISITS = 100
"""The number of visits of the root: one for each of its moves; PUCT selects the moves for the remaining visits."""
RATING_OF_SEARCH = 2400
"""The rating of both players in the network's inputs during the search. If the ratings differed, the values would
reflect the difference.
"""
USUAL_RATING = 1600
"""The rating of the player if none is given."""
LEAST_PRIOR = 1e-9
"""The probability of a move for which the network predicts 0."""
MATES, IS_MATED = 1.3, -1.0
"""The values of two kinds of moves: MATES if the player forces mate, IS_MATED if the player is mated after the move.

They were fitted to games: people prefer a mate to a certain win, and overlook a mate by the opponent as often as
another certain loss.
"""


@dataclass(frozen=True)
class HumanWeights:
    """The weights of the formula for the probability of a move, softmax(alpha · log prior + beta · value).

    alpha: the factor of `log prior`. The factor is the same for all ratings.
    beta: the factor of `value` for players with the rating 1600 (USUAL_RATING).
    growth: by how much beta is larger if the rating is 1,000 points higher.
    lowest, highest: the range of ratings to which beta was fitted. A rating outside of this range has the same beta as
        the nearest end of the range.
    """

    alpha: float = 0.9
    beta: float = 3.78
    growth: float = 0.38
    lowest: int = 800
    highest: int = 2800

    def beta_at(self, rating: int) -> float:
        """Return the factor of the value, beta, for players of this rating."""
        return self.beta + self.growth * (min(max(rating, self.lowest), self.highest) - USUAL_RATING) / 1000


def shares(priors: ArrayLike, values: ArrayLike, alpha: float, beta: float) -> NDArray[np.float64]:
    """Return the probability of each move, float64 [n]: softmax(alpha · log prior + beta · value).

    priors: [n], 0 to 1. values: [n], the value of each move for the side that makes the move: -1 to 1, or a mate (see
    score.py). If this side forces mate, the formula uses the value 1.3. If this side is mated, the formula uses -1.
    """
    logs = alpha * np.log(np.maximum(np.asarray(priors, np.float64), LEAST_PRIOR))
    logs = logs + beta * np.clip(values, IS_MATED, MATES)
    odds = np.exp(logs - logs.max())
    played: NDArray[np.float64] = odds / odds.sum()
    return played


class _Conditioned:
    """A network that gets the same side inputs (ratings, speed and other facts besides the board) in every position."""

    def __init__(self, session: NetworkSession, side_inputs: Mapping[str, int]):
        self.outputs = session.outputs
        self._session, self._side_inputs = session, side_inputs

    def evaluate(self, codes: NDArray[np.uint8], state: NDArray[np.uint8]) -> Answers:
        return self._session.evaluate(codes, with_default_side_inputs(state, self._side_inputs))


class RootSearch:
    """A small PUCT search of a position. It visits every move of the position before it visits a move again. Each
    search begins with an empty tree, so its result is reproducible.

    session: a network with rating inputs. value: a second network, whose values replace those of `session`; None for
    none. rating: the rating of both players in the network's inputs. visits: a search ends when the position has this
    number of visits.
    """

    def __init__(
        self,
        session: NetworkSession,
        value: NetworkSession | None = None,
        *,
        hash_mb: int = 64,
        rating: int = RATING_OF_SEARCH,
        visits: int = VISITS,
    ):
        equal = dict.fromkeys(("rating", "opponent_rating"), rating // RATING_UNIT)
        conditioned = _Conditioned(session, {**getattr(session, "side_inputs", {}), **equal})
        tuning = PuctTuning()
        chess_rules = rules.ChessRules(conditioned, value or conditioned, tuning.temperature)
        self.search = PuctSearch(chess_rules, tuning.constants, hash_mb * 1_000_000)
        self._batch, self._visits = tuning.batches.least, visits
        self.unvisited: set[int] = set()
        """Moves, packed, that the last search did not visit."""

    def look(self, board: chess.Board, clock: TimeManager, before: int = 0) -> dict[int, tuple[float, list[int]]]:
        """Search a position that has legal moves. Returns a dict from packed legal moves (see
        `kibitz.games.chess.moves.from_move`) to pairs. A pair has the value of the move for the side to move (see
        `score.py`), and the packed moves of the line that begins with the move.

        The search ends early if it reaches a limit. A move without a visit then gets the network's value of `board`,
        and is put into the attribute `unvisited`. The result is {} if the limits do not allow a single evaluation.

        clock: the object that checks the limits of the search. before: the number of earlier evaluations that count
        towards these limits.
        """
        search = self.search
        if not clock.batch(before, self._batch):
            return {}
        often = rules.repeated(rules.history(board))
        begun = search.evaluated
        search.begin(rules.start(board))
        while int(search.tree.visits[0]) < self._visits and not search.solved:
            size = clock.batch(before + search.evaluated - begun, self._batch)
            size = min(size, self._visits - int(search.tree.visits[0]))
            if size <= 0 or not (search.visit_children(size, often) or search.grow(size, often)):
                break
        tree = search.tree
        found = {}
        self.unvisited = set()
        for child in children(tree, 0).tolist():
            move = int(tree.move[child])
            found[move] = value_for_parent(tree, child), [move, *likely_line(tree, child)]
            if not tree.visits[child] and tree.proven[child] == UNKNOWN:
                self.unvisited.add(move)
        return found


LINES_SHARE = 0.5
"""The share of the time that a search for several lines reserves for the values of its lines."""


class HumanSearchPlayer:
    """Chooses chess moves as people of a rating do, by the method human-search (see the docstring of this module).

    session: a network with rating inputs, such as `human`.
    value: a second network, whose values the search uses instead of those of `session`; None for none.
    temperature: 0 plays the move with the highest probability in the method's formula. T > 0 samples moves in
        proportion to probability^(1/T).
    lines: the number of lines to report. The first line begins with the chosen move, and the other lines with the most
        likely other moves.
    side_inputs: values for the network's side inputs (inputs in addition to the position), as for ChessPlayer. The
        rating among them selects beta.

    Raises UsageError if the network lacks an input or output, and for settings out of range.
    """

    def __init__(
        self,
        session: NetworkSession,
        *,
        method: str | None = None,
        value: NetworkSession | None = None,
        temperature: float = 0.0,
        lines: int = 1,
        hash_mb: int = 64,
        seed: int | None = None,
        side_inputs: Mapping[str, int] | None = None,
        weights: HumanWeights | None = None,
    ):
        name = getattr(session, "name", "the network")
        known = getattr(session, "side_inputs", {})
        if "rating" not in known:
            raise UsageError(
                f"{HUMAN_SEARCH.name} needs a network with rating inputs (got {name}). Use the network 'human'."
            )
        if "value" not in (value or session).outputs:
            raise UsageError(
                f"{HUMAN_SEARCH.name} needs a value network, and {name} has none. Choose a run that has one."
            )
        self._look = ChessPlayer(session, method=TOP_PROB.name, lines=MAX_MOVES, side_inputs=side_inputs)
        self._look.own_values = False
        if lines < 1 or temperature < 0 or hash_mb < 1:
            raise UsageError("lines and hash must be at least 1, and the temperature at least 0")
        self.method, self.temperature, self.lines = HUMAN_SEARCH.name, temperature, lines
        self._search = RootSearch(session, value, hash_mb=hash_mb)
        rating = {**known, **(side_inputs or {})}["rating"] * RATING_UNIT or USUAL_RATING
        weights = weights or HumanWeights()
        self.alpha, self.beta = weights.alpha, weights.beta_at(rating)
        self._random = np.random.default_rng(seed)

    def new_game(self) -> None:
        """Clear the evaluations of the last game, before a new game."""
        self._search.search.forget()

    def think(
        self,
        board: chess.Board,
        limits: SearchLimits,
        stop: threading.Event | None = None,
        on_result: OnResult | None = None,
    ) -> SearchResult | None:
        """Choose a move in a position. The arguments and the result are those of `ChessPlayer.think`, but limits.depth
        is ignored. The search is small, so there are no intermediate results, and `on_result` is never called. If there
        is little time, some reported lines have the value of `board` instead of a value from a search (see
        `PvLine.own_value`).
        """
        clock = TimeManager(limits, stop, 0)
        looked = self._look.think(board, SearchLimits(moves=limits.moves))
        if looked is None:
            return None
        begun = self._search.search.evaluated
        with clock.reserving(LINES_SHARE if self.lines > 1 else 0.0):
            seen = self._search.look(board, clock, looked.nodes)
        lines = self._weighed(looked.lines, seen)
        nodes = looked.nodes + self._search.search.evaluated - begun
        if self.temperature:
            odds = np.array([line.probability for line in lines])
            odds = (odds / odds.max()) ** (1 / self.temperature)
            lines.insert(0, lines.pop(int(self._random.choice(len(odds), p=odds / odds.sum()))))
        shown = tuple(lines[: self.lines])
        if self.lines > 1:
            # In such a small search, most moves get a single visit. Their values are good enough to choose a move, but
            # too optimistic to be shown.
            shown = tuple(replace(line, own_value=line.mate is not None) for line in shown)
            shown, evaluated = self._look.with_own_values(board, shown, clock, nodes)
            nodes += evaluated
        return SearchResult(len(shown[0].pv), nodes, clock.seconds(), shown)

    def _weighed(self, looked: tuple[PvLine, ...], seen: dict[int, tuple[float, list[int]]]) -> list[PvLine]:
        """Return the policy's lines with the probabilities and values of their moves, the most likely first."""
        if not seen:
            return list(looked)
        found = [seen[from_move(line.move)] for line in looked]
        played = shares([line.probability for line in looked], [value for value, _ in found], self.alpha, self.beta)
        order = np.argsort(-played, kind="stable")
        lines = [make_line(found[i][0], float(played[i]), found[i][1]) for i in order.tolist()]
        return [replace(line, own_value=from_move(line.move) not in self._search.unvisited) for line in lines]


def open_player(run: Run, session: Callable[[], Session], **settings: Any) -> HumanSearchPlayer:
    """Return the player for the network of a run (the folder of a trained network). The arguments are those of
    `kibitz.play.open_player`.
    """
    return HumanSearchPlayer(session(), **settings)
