"""The class that chooses chess moves with a network: by its move probabilities, or by one of several searches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.errors import UsageError
from kibitz.games.chess.moves import from_move
from kibitz.games.chess.replay import encode_board
from kibitz.messages import not_one_of
from kibitz.play import plays_nothing
from kibitz.play.chess import position as positions
from kibitz.play.chess.alphabeta import AlphaBeta
from kibitz.play.chess.bare_king import narrowed
from kibitz.play.chess.best_first import BestFirstSearch, SearchTuning
from kibitz.play.chess.evaluator import Evaluator
from kibitz.play.chess.fixed_depth import FixedDepthSearch
from kibitz.play.chess.line_values import ALL_VISITS, LINE_VISITS, MoveEvaluator
from kibitz.play.chess.policy import move_probabilities, normalised, pair_probabilities
from kibitz.play.puct import chess as rules
from kibitz.play.result import OnResult, PvLine, SearchLimits, SearchResult, TimeManager, by_score, make_line
from kibitz.play.session import NetworkSession, Session
from kibitz.play.side_inputs import with_side_inputs
from kibitz.runs import Run
from kibitz.systems.declaration import THESIS_NEGAMAX, TOP_MOVE, TOP_PROB, TOPPROB_NEGAMAX, VALUE_NEGAMAX

_SEARCHES: dict[str, type[BestFirstSearch | AlphaBeta | FixedDepthSearch]] = {
    TOPPROB_NEGAMAX.name: BestFirstSearch, VALUE_NEGAMAX.name: AlphaBeta, THESIS_NEGAMAX.name: FixedDepthSearch,
}  # fmt: skip
_DRIVING = (TOPPROB_NEGAMAX.name, VALUE_NEGAMAX.name)
"""The methods that also search for the mate of a bare king. The thesis' search uses only the network."""
METHODS = (TOP_MOVE.name, TOP_PROB.name, *_SEARCHES)
CUT, WIDTH = 0.98, 20
"""Limits on the moves of each position that topprob-negamax and thesis-negamax search. The most likely moves are
searched until their probabilities sum to CUT, but at most WIDTH moves. The chapter of the thesis gives neither number.
"""
SPREAD = 0.1
"""At temperature 1, a move becomes e (2.718) times less probable if its value is lower by this number."""


def _ignore(thought: SearchResult) -> None:
    """Do nothing; the default callback."""


class ChessPlayer:
    """Chooses moves by one of METHODS:

    - top-move: the most likely from-square, and then the most likely to-square for it
    - top-prob: the most likely move, by the product of the probabilities of its two squares
    - topprob-negamax: a search of the most likely moves (`best_first.py`)
    - value-negamax: an alpha-beta search of all moves with the value network (`alphabeta.py`)
    - thesis-negamax: a search of only the most likely moves to a fixed depth (`fixed_depth.py`)

    session: the loaded network.
    method: one of METHODS. None selects topprob-negamax if the networks predict both moves and values. It selects
        top-prob if they predict only moves, and value-negamax if they predict only values.
    value: a second network, whose values replace those of `session`.
    temperature: 0 plays the best move. T > 0 samples moves in proportion to `probability^(1/T)` for methods that use
        only the move probabilities, and to `probability · exp(value / (SPREAD · T))` for searches, with SPREAD = 0.1.
    lines: the number of lines to report.
    cut, width: limits on the moves that topprob-negamax and thesis-negamax search, see CUT.
    hash_mb: the size of the table of evaluations in megabytes.
    seed: the random seed; None for an unpredictable one.
    side_inputs: values for the network's side inputs (inputs in addition to the position), for top-move and top-prob. A
        dict from an input's name to a number, 0 to 255. The inputs for the last moves are set automatically.

    Raises UsageError for an unknown method, for a method whose network is missing, and for settings out of range.
    """

    own_values = True
    """Whether each reported line gets a value from an evaluation after its first move (see `PvLine.own_value`)."""

    def __init__(
        self,
        session: NetworkSession,
        *,
        method: str | None = None,
        value: NetworkSession | None = None,
        temperature: float = 0.0,
        lines: int = 1,
        cut: float = CUT,
        width: int = WIDTH,
        hash_mb: int = 64,
        seed: int | None = None,
        tuning: SearchTuning | None = None,
        side_inputs: Mapping[str, int] | None = None,
    ):
        self.policy = session if "origin" in session.outputs else None
        self.value = value if value is not None else session if "value" in session.outputs else None
        name = getattr(session, "name", "the network")
        if value is not None and "value" not in value.outputs:
            raise UsageError(
                f"{getattr(value, 'name', 'the network')} has no value network. Choose a run that has one."
            )
        if self.policy is None and self.value is None:
            raise UsageError(plays_nothing(name))
        if method is None:
            searched = "topprob-negamax" if self.value is not None else "top-prob"
            method = searched if self.policy is not None else "value-negamax"
        if method not in METHODS:
            raise UsageError(not_one_of("method", method, METHODS))
        if method != "value-negamax" and self.policy is None:
            raise UsageError(
                f"the method {method} needs a network that predicts moves (got {name}). Choose another network."
            )
        if method in _SEARCHES and self.value is None:
            raise UsageError(
                f"the method {method} needs a value network, and {name} has none. Choose a run that has one, or use"
                " top-prob."
            )
        if not 0 < cut <= 1 or width < 1 or lines < 1 or temperature < 0 or hash_mb < 1:
            raise UsageError(
                "cut must be from 0 to 1, temperature must be at least 0, and width, lines and hash must be at least 1"
            )
        self.method, self.temperature, self.lines, self.tuning = method, temperature, lines, tuning or SearchTuning()
        self._random = np.random.default_rng(seed)
        self._side_inputs = side_inputs or {}
        policy = self.policy
        if method == "value-negamax" and policy is not self.value:
            # A second network only for the order of moves would cost more time than the better order saves.
            policy = value if value is not None and "origin" in value.outputs else None
        if method == VALUE_NEGAMAX.name:
            cut, width = 1.0, 256
        self._evaluator = Evaluator(
            policy, self.value, cut=cut, width=width, hash_mb=hash_mb, tactics=method != THESIS_NEGAMAX.name
        )

    def new_game(self) -> None:
        """Clear the table of evaluations before a new game."""
        self._evaluator.table.clear()

    def think(
        self,
        board: chess.Board,
        limits: SearchLimits,
        stop: threading.Event | None = None,
        on_result: OnResult = _ignore,
    ) -> SearchResult | None:
        """Choose a move in a position. Returns the result of the search; None if there is no legal move, or if none of
        limits.moves is legal.

        board: the position, with its move stack, which is needed to detect repetitions. stop: an event; the search ends
        soon after it is set. on_result: a function that gets each intermediate result, but not the final one.
        """
        if self.method in _DRIVING and self.lines == 1 and not self.temperature:
            limits = narrowed(board, limits)
        clock = TimeManager(limits, stop, 0)
        legal = set(board.legal_moves)
        if not legal or (limits.moves and not legal & set(limits.moves)):
            return None
        if self.method not in _SEARCHES:
            thought, odds = self._at_once(board, limits)
        else:
            position, seen = positions.root(board)
            # If the temperature is above 0, the move is sampled from all legal moves, so the search returns all values.
            final_lines = self.lines if self.temperature == 0 else len(legal)
            search = _SEARCHES[self.method](
                self._evaluator, self.tuning, position, seen, limits, self.lines, final_lines
            )
            thought, values = search.think(stop, on_result)
            scores = np.array(values)
            odds = np.exp((scores - scores.max()) / (SPREAD * max(self.temperature, 1e-9)))
            odds *= [line.probability for line in thought.lines]
            if scores.max() > 1:  # if there are moves that mate, one of them is always chosen
                odds = (scores == scores.max()).astype(float)
        chosen = list(thought.lines)
        if self.temperature > 0 and odds.sum() > 0:
            first = int(self._random.choice(len(odds), p=odds / odds.sum()))
            chosen.insert(0, chosen.pop(first))
        shown, nodes = chosen[: self.lines], thought.nodes
        if self.lines > 1 and self.own_values and not all(line.own_value for line in shown):
            new, searched = self.with_own_values(board, shown, clock, nodes)
            shown, nodes = list(new), nodes + searched
            if self.method in _SEARCHES:  # policy methods order moves by probability
                shown[1:] = sorted(shown[1:], key=by_score, reverse=True)
        return SearchResult(thought.depth, nodes, clock.seconds(), tuple(shown))

    def with_own_values(
        self, board: chess.Board, lines: Sequence[PvLine], clock: TimeManager, used: int
    ) -> tuple[tuple[PvLine, ...], int]:
        """Return the lines, each with a value from an evaluation of the position after the line's first move. Also
        return how many positions this method has evaluated.

        Lines that already have such a value (`PvLine.own_value`) are unchanged. Every other line gets a value from a
        short search after its first move. If the time is too short or there are many lines, the value comes from one
        network evaluation. The line is unchanged if there is no time for an evaluation, or if no network predicts
        moves.

        board: the position in which the lines begin.
        lines: the lines of this position.
        clock: the limits on time and evaluations.
        used: the number of evaluations that already count towards these limits.
        """
        unknown = [line for line in lines if not line.own_value]
        if not unknown or self.policy is None:
            return tuple(lines), 0
        evaluator = MoveEvaluator(self.policy, self.value)
        total = ALL_VISITS if clock.limits.nodes is None else min(ALL_VISITS, clock.limits.nodes - used)
        found = evaluator.values(
            encode_board(board),
            [from_move(line.move) for line in unknown],
            rules.repeated(rules.history(board)),
            min(LINE_VISITS, total // len(unknown)),
            clock,
            used,
        )
        known = [(line, values) for line, values in zip(unknown, found, strict=True) if values is not None]
        new = {
            line.move: make_line(value, line.probability, [from_move(line.move), *pv]) for line, (value, pv) in known
        }
        return tuple(new.get(line.move, line) for line in lines), evaluator.nodes

    def _at_once(self, board: chess.Board, limits: SearchLimits) -> tuple[SearchResult, NDArray[np.float64]]:
        """Return every legal move as a line, the best first, and the odds of each, for the methods top-move and
        top-prob.
        """
        clock = TimeManager(limits, None, 0)
        position, _ = positions.root(board)
        assert self.policy is not None
        row = position.row[None]
        moves = np.array(position.legal(), np.uint16)
        offsets = np.array([0, len(moves)])
        state = with_side_inputs(row[:, 64:], getattr(self.policy, "side_inputs", {}), board, self._side_inputs)
        answers = self.policy.evaluate(row[:, :64], state)
        value = 0.0
        if self.value is not None:
            valued = answers if self.value is self.policy else self.value.evaluate(row[:, :64], row[:, 64:])
            value = float(np.clip(np.nan_to_num(valued["value"][0]), -1, 1))
        origin, target = pair_probabilities(answers, row[:, :64], moves, offsets)
        pairs = move_probabilities(answers, row[:, :64], moves, offsets)
        lesser = (moves >> 12 > 0) & (moves >> 12 != 5) & (pairs == 0)
        shares = normalised(pairs, offsets)
        allowed = np.array([move in positions.packed(limits.moves) for move in moves.tolist()]) | (not limits.moves)
        if self.method == "top-move":
            order = np.lexsort((-pairs, -target, moves & 63, -origin, lesser, ~allowed))
        else:
            order = np.lexsort((-pairs, lesser, ~allowed))
        order = order[: int(allowed.sum())]
        found = (make_line(value, float(shares[i]), [int(moves[i])]) for i in order)
        lines = tuple(replace(line, own_value=False) for line in found)
        logs = np.log(np.maximum(shares[order].astype(np.float64), 1e-30)) / max(self.temperature, 1e-9)
        return SearchResult(1, 1, clock.seconds(), lines), np.exp(logs - logs.max())


def open_player(run: Run, session: Callable[[], Session], **settings: Any) -> ChessPlayer:
    """Return the player for the network of a run (the folder of a trained network). The arguments are those of
    `kibitz.play.open_player`.
    """
    return ChessPlayer(session(), **settings)
