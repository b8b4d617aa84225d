"""Evaluate moves by a search with a network: what each move cost its player, and which move was better.

A network's evaluation in the middle of an exchange is unreliable. Also, the network's evaluations of two successive
positions differ by more than most moves cost. For these reasons, kibitz searches each position until no capture
wins material, which means that the position is quiet (play/chess/quiescence.py). The win probability combines the
material of the quiet position and the network's evaluation of the quiet position.

A move is compared with the best move of the same search. The position before the move is searched DEPTH (6) plies deep,
and the position after the move one ply less deep. So both searches end at the same ply.

A fast analysis uses a smaller depth. If its result suggests that a move is a mistake, the positions before and after
the move are searched again, DEPTH plies deep. In a fast analysis, a move counts as a mistake only if two losses are
large enough for an annotation. One is the loss compared with the best move. The other is the drop of the mover's win
probability from the position before the move to the position after it.

If the network also predicts moves, a PUCT search (a Monte Carlo tree search) gives the value of each position. The
search has a fixed number of evaluations. A move that this search chooses costs nothing, unless the value drops by
enough for an annotation. In that case, the second choice is searched, too. The cost of any other move is the loss
compared with the best move. If the drop of the value gives the same annotation as this loss, or if a mate is proven,
the cost is the drop.

Each position is searched separately. So the value of a position is the same in a game, alone on the browser page of
`kibitz board`, through UCI and in Python.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz import ongoing
from kibitz.analysis.chess.limits import DEPTH, NODES
from kibitz.analysis.chess.risk import searched_losses
from kibitz.analysis.glyphs import CHESS_SWING, mark
from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.material import MAX_PIECES_INSUFFICIENT, insufficient_material
from kibitz.games.chess.moves import from_move, to_move
from kibitz.games.chess.replay import SIDE, SQUARES, encode_board, replay
from kibitz.play.chess.quiescence import MAX_NODES, SURE, quiescence_search
from kibitz.play.result import SearchLimits
from kibitz.play.value import RULES, SEARCH, PositionValue

if TYPE_CHECKING:
    from kibitz.analysis import Analysis
    from kibitz.analysis.checkers import CheckedBy, Checker
    from kibitz.play.puct.together import Together
    from kibitz.play.session import Session

MAX_DEPTH, MAX_EVALUATIONS = 12, 1_000_000
"""The largest search depth in plies, and the largest number of evaluations per position."""
FURTHER, DOUBTFUL, PATIENCE = 2, 0.06, 600_000
"""If the first search of a move finds a loss of win probability of at least DOUBTFUL, a second search follows. The
second search is FURTHER plies deeper and visits at most PATIENCE positions.
"""
UNSURE, LONGER = (0.14, 0.33), 5
"""UNSURE is a range of losses of win probability. If the first search of a move finds a loss in this range, the search
is repeated with LONGER times as many evaluations. About one move in twenty is in the range.

The longer search changes only the annotation of the move. The value of the position stays the same in all interfaces.
"""
WEIGHTS = {"winner": (0.27, 0.27), "deepchess": (0.23, 0.33), "chessnet": (0.23, 0.5)}
"""Two weights for each system: the weight of a pawn of material, and the weight of the network's evaluation of the
quiet position (a logit). The weighted sum is the logit of the win probability. The weights were fitted to Stockfish's
win probabilities on half of the games of tools/label_mistakes.py.
"""
OTHER_WEIGHTS = (0.25, 0.35)
"""The two weights of WEIGHTS for all systems that WEIGHTS does not contain."""
SEARCH_WEIGHTS = {"human": (0.3, 0.6)}
OTHER_SEARCH_WEIGHTS = (0.34, 0.76)
"""The two weights, in the order of WEIGHTS, for systems whose moves a PUCT search evaluates. SEARCH_WEIGHTS has the
weights for `human`, which classify mistakes best. OTHER_SEARCH_WEIGHTS is for all other systems, and was fitted to
chessnet by least squares.
"""
ONLY = 0.2
"""A move is the only good move if every other move loses at least this much more win probability than this move, 0 to
1.
"""
_SIDE_STEP = 50
"""The network may prefer a move that is worse than the best move by up to this number of hundredths of a pawn."""
_SHOWN = 6
"""The largest number of moves in a line."""
_EQUAL = 0.02
"""Losses up to this limit count as no loss."""
_MOST = 2000
"""The material balance is limited to this number of hundredths of a pawn."""
_LOOK = 1
"""For a first estimate of all moves, the search considers all moves for this number of plies after each move, then only
captures.
"""
_SURE = 1e-3
"""Evaluations have at least this distance from 0 and 1."""


class Stopped(Exception):
    """Raised if a caller stops an analysis before all moves are evaluated."""


@dataclass(frozen=True)
class Judgement:
    """The evaluation of a played move by a search.

    before, after: White's win probability, 0 to 1, in the positions before and after the move. Each position is
        searched separately.
    loss: the mover's loss of win probability, 0 to 1.
    best: the best move, which may be the played move.
    line: the best move and the moves that the search expects after it.
    only: whether the played move is the only good move: every other move loses at least 0.2 of win probability more.
    options: a first estimate of the loss of every legal move; None if there is no legal move or no estimate.
    searched: the losses of moves in a PUCT search, as a dict {move: loss, 0 to 1}. The moves are packed (see
        `kibitz.games.chess.moves.from_move`). The dict has the legal moves with at least 8 visits or with a proven
        result. It is empty without a PUCT search.
    mate: the number of moves to a mate after the played move, negative if Black mates; None if no engine has found a
        mate.
    reply: the moves that an engine expects after the played move, beginning with the opponent's reply; () without an
        engine.
    """

    before: float
    after: float
    loss: float
    best: chess.Move
    line: tuple[chess.Move, ...]
    only: bool
    options: FirstLook | None = None
    searched: Mapping[int, float] = field(default_factory=dict)
    mate: int | None = None
    reply: tuple[chess.Move, ...] = ()


@dataclass(frozen=True)
class FirstLook:
    """A first estimate of the loss of each legal move of a position, from a short search. The search considers all
    replies to each move, and after the replies only captures.

    moves: the n legal moves, uint16 [n], packed (see `kibitz.games.chess.moves.from_move`).
    losses: float64 [n], the mover's loss of win probability compared with the best of these moves, 0 to 1.
    """

    moves: NDArray[np.uint16]
    losses: NDArray[np.float64]

    def losses_of(self, moves: NDArray[np.uint16]) -> NDArray[np.float64]:
        """Return the estimated loss of win probability of each given move, float64 [k], 0 to 1; NaN for an illegal
        move.

        moves: uint16 [k], packed (see `kibitz.games.chess.moves.from_move`).
        """
        order = np.argsort(self.moves)
        at = order[np.searchsorted(self.moves[order], moves).clip(0, len(order) - 1)]
        return np.where(self.moves[at] == moves, self.losses[at], np.nan)

    def expected(self, moves: NDArray[np.uint16], shares: NDArray[np.float32]) -> float | None:
        """Return the mean loss of win probability, 0 to 1, of players who choose the given moves with the given
        probabilities. Return None if none of the moves is legal, or if all legal moves have the probability 0.

        moves: uint16 [k], packed (see `kibitz.games.chess.moves.from_move`).
        shares: float32 [k], the probability of each move; they need not sum to 1.
        """
        losses = self.losses_of(moves)
        known = np.isfinite(losses)
        total = float(shares[known].sum())
        return float(shares[known] @ losses[known]) / total if total > 0 else None


@dataclass
class _Followed:
    """Search results of successive positions.

    For each position, they are the depth, the material value, the quiet position and the line. The `later` results are
    the material value and the quiet position of the next position in the game, searched a ply less deep.
    """

    depths: NDArray[np.int64]
    scores: NDArray[np.int32]
    leaves: NDArray[np.uint8]
    lines: NDArray[np.uint16]
    later_scores: NDArray[np.int32]
    later_leaves: NDArray[np.uint8]

    def take(
        self, indices: NDArray[np.intp], other: _Followed, at: NDArray[np.intp], names: Sequence[str] = ()
    ) -> None:
        """Copy results from another object into this one. other: the results of another search. indices: the indices,
        in this object, of the positions whose results are replaced. at: for each of these positions, its index in
        `other`. names: the fields to copy; () for all.
        """
        for name in names or vars(self):
            getattr(self, name)[indices] = getattr(other, name)[at]


_OF_ONE, _OF_NEXT = ("depths", "scores", "leaves", "lines"), ("later_scores", "later_leaves")
"""The fields of `_Followed` about the position itself, and those about the next position in the game."""


@dataclass(frozen=True)
class _Thought:
    """The result of a search.

    chance: the mover's win probability, 0 to 1.
    mate: the number of moves to a mate, negative if the mover is mated; None if no mate is found.
    line: the best move and the moves that are expected after it.
    opinion: the network's win probability for the mover without a search, 0 to 1.
    searched: for the moves that the search has evaluated well enough: their losses, see `searched_losses`.
    """

    chance: float
    mate: int | None
    line: tuple[chess.Move, ...]
    opinion: float
    searched: Mapping[int, float] = field(default_factory=dict)


@dataclass
class Judge:
    """Evaluates the moves of games with one network and a search.

    session: the loaded network.
    analysis: the module that interprets the network's outputs.
    depth: the depth of the alpha-beta search in plies. After this depth, the search continues with captures until the
        position is quiet. In a quiet position, no capture wins material.
    nodes: the number of network evaluations per position in a PUCT search (a Monte Carlo tree search). This search
        gives the value of each position. With 0, or if the network cannot guide a PUCT search, there is only the
        alpha-beta search. The network then evaluates the quiet positions of the alpha-beta search.
    threads: the number of threads of the alpha-beta search; None for all.
    stop: an event that another thread can set to end the analysis; None for no such event. A PUCT search or an engine's
        search then ends, and the methods raise Stopped.
    """

    session: Session
    analysis: Analysis
    depth: int = DEPTH
    nodes: int = NODES
    threads: int | None = None
    stop: threading.Event | None = None

    def __post_init__(self) -> None:
        self._player: Any = self._opened() if self.nodes else None
        table, other = (WEIGHTS, OTHER_WEIGHTS) if self._player is None else (SEARCH_WEIGHTS, OTHER_SEARCH_WEIGHTS)
        self.weights = table.get(self.session.system, other)
        self._last: tuple[Any, _Thought] | None = None
        self._together: Together | None = None

    @property
    def searches(self) -> bool:
        """Whether the moves are evaluated by PUCT searches (Monte Carlo tree searches with the network)."""
        return self._player is not None

    @property
    def checked_by(self) -> CheckedBy | None:
        """The external engine that evaluates the moves, as the results show it; None if the network evaluates them."""
        return None

    @property
    def checker(self) -> Checker | None:
        """The description of the external engine and its limits, with which a worker process starts the same engine.
        None if the network evaluates the moves.
        """
        return None

    def judge(
        self, start: chess.Board, moves: Sequence[chess.Move], rows: NDArray[np.uint8]
    ) -> tuple[NDArray[np.float64], list[Judgement]]:
        """Evaluate the moves of a game. Return two values: White's win probability in each position, float64 [moves +
        1], 0 to 1, and an evaluation of each move.

        start: the position before the first move, with the earlier moves in its `move_stack`. A PUCT search uses these
            moves to detect repetitions. If the last earlier move shows that the first move is a recapture, the first
            move does not count as an only move.
        moves: the moves of the game from `start` on.
        rows: the positions of the game, uint8 [moves + 1, 68]. A row has the 64 codes and the 4 state values of
            `kibitz.PositionArrays`.

        The network must predict the winner. Raises Stopped if another thread sets the event `stop`.
        """
        if self._player is not None:
            return self._judge_by_own_search(start, moves, rows)
        black = rows[:, SQUARES + SIDE] != 0
        ongoing.report(0, len(rows))
        seen = self._followed(rows, self.depth)
        first, second = self._own_opinions(seen.leaves, black), self._own_opinions(seen.later_leaves, black[1:])
        over, drawn = _result(start, moves), _drawn(rows)
        chances, left = self._both(seen, first, second, over, drawn)
        if not moves:
            return self._alone(rows, over) if self.depth >= DEPTH else np.where(black, 1 - chances, chances), []
        doubtful = np.flatnonzero(chances[:-1] - left >= DOUBTFUL)
        if len(doubtful) and self.depth >= DEPTH:
            some = np.unique(np.concatenate([doubtful, doubtful + 1]))
            further = self._followed(rows[some], self.depth + FURTHER, PATIENCE)
            at = np.searchsorted(some, doubtful)
            deeper = replace(seen, **{name: values.copy() for name, values in vars(seen).items()})
            deeper.take(doubtful, further, at)
            first[doubtful] = self._own_opinions(deeper.leaves[doubtful], black[doubtful])
            second[doubtful] = self._own_opinions(deeper.later_leaves[doubtful], black[doubtful + 1])
            compared, left = self._both(deeper, first, second, over, drawn)
            seen = deeper
        else:
            if self.depth < DEPTH:
                chances, left = self._confirmed(seen, first, second, rows, over, drawn)
            compared = chances
        white = self._alone(rows, over) if self.depth >= DEPTH else np.where(black, 1 - chances, chances)
        lost, change = (compared[:-1] - left).clip(0), _changes(white, rows)
        lost = (
            _as_shown(lost, change, np.zeros(len(moves), np.bool_)) if self.depth >= DEPTH else _as_both(lost, change)
        )
        scores, depths, lines = seen.scores, seen.depths, seen.lines
        best_moves, only, options = self._alternatives(rows[:-1], moves, earlier_move(start))
        held = self._hold(rows[:-1], best_moves, scores[:-1], depths[:-1])
        found = []
        for i, played in enumerate(moves):
            loss = float(lost[i])
            line = tuple(to_move(int(move)) for move in lines[i] if move)[:_SHOWN]
            follows = held[i]
            if follows is not None and (not line or line[0] != best_moves[i]):
                line = (best_moves[i], *follows)[:_SHOWN]
            if not line or line[0] == played:
                loss, line = 0.0, line or (played,)
            found.append(_judgement(white, i, loss, line, played, only[i], options[i]))
        return white, found

    def _confirmed(
        self, seen: _Followed, first: NDArray[np.float64], second: NDArray[np.float64], rows: NDArray[np.uint8],
        over: float | None, drawn: NDArray[np.bool_],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # fmt: skip
        """Search the positions before and after each suspected mistake DEPTH plies deep, and return the results of
        `_both`.

        A short search stops in the middle of a combination, so its large losses are often wrong. The new values may
        raise new suspicions about the moves next to them, so the method repeats until no suspicion is left. Both
        positions of a mistake thus have the same depth. seen: the results of the short search. first, second: the
        network's evaluations, see `_losses`. These three arguments change.
        """
        black = rows[:, SQUARES + SIDE] != 0
        confirmed = np.zeros(len(rows) - 1, np.bool_)
        while True:
            chances, left = self._both(seen, first, second, over, drawn)
            drop = np.maximum(chances[:-1] - left, _changes(np.where(black, 1 - chances, chances), rows))
            suspects = np.flatnonzero((drop >= CHESS_SWING) & ~confirmed)
            if not len(suspects):
                return chances, left
            confirmed[suspects] = True
            some = np.unique(np.concatenate([suspects, suspects + 1]))
            further = self._followed(rows[some], DEPTH, PATIENCE)
            seen.take(some, further, np.arange(len(some)), _OF_ONE)
            seen.take(suspects, further, np.searchsorted(some, suspects), _OF_NEXT)
            first[some] = self._own_opinions(seen.leaves[some], black[some])
            second[suspects] = self._own_opinions(seen.later_leaves[suspects], black[suspects + 1])

    def value(self, board: chess.Board) -> PositionValue:
        """Return White's win probability in a position. If there is a PUCT search, the result also has the best line.

        The PUCT search uses the board's `move_stack` to detect repetitions. Raises Stopped if another thread sets the
        event `stop`.
        """
        if (over := end_value(board)) is not None:
            return PositionValue(over, RULES)
        if self._player is not None:
            thought = self._think(board)
            mate = thought.mate if board.turn or thought.mate is None else -thought.mate
            chance = thought.chance if board.turn else 1 - thought.chance
            return PositionValue(chance, SEARCH, mate, tuple(move.uci() for move in thought.line))
        white, _ = self.judge(board, [], encode_board(board)[None])
        return PositionValue(float(white[0]), SEARCH)

    def values(self, rows: NDArray[np.uint8], depth: int, by_network: bool = True) -> NDArray[np.float64]:
        """Return White's win probability in n positions, float64 [n], 0 to 1, from an alpha-beta search. The positions
        need not come from one game.

        rows: the positions, uint8 [n, 68], in each row 64 codes and 4 numbers of the state, see
            `kibitz.PositionArrays`.
        depth: the depth of the search in plies.
        by_network: whether the network evaluates the last positions of the search; if it is False, only material
            counts.
        """
        deep = quiescence_search(rows, depth, threads=self.threads)
        n, depths = np.arange(len(rows)), deep.reached.clip(0)
        black = rows[:, SQUARES + SIDE] != 0
        opinions = self._own_opinions(deep.rows[n, depths], black) if by_network else np.full(len(rows), 0.5)
        chances = np.where(_drawn(rows), 0.5, self._chances(deep.scores[n, depths], opinions))
        white: NDArray[np.float64] = np.where(black, 1 - chances, chances)
        return white

    def first_moves(self, rows: NDArray[np.uint8], depth: int) -> NDArray[np.uint16]:
        """Return the best move of each of n positions, uint16 [n], packed (see `kibitz.games.chess.moves.from_move`).
        The entry of a position without a legal move is 0. The search counts only material.

        rows: the positions, uint8 [n, 68], in each row 64 codes and 4 numbers of the state, see
            `kibitz.PositionArrays`.
        depth: the depth of the search in plies.
        """
        deep = quiescence_search(rows, depth, threads=self.threads)
        first: NDArray[np.uint16] = deep.lines[np.arange(len(rows)), deep.reached.clip(0), 0]
        return first

    def first_look(self, board: chess.Board) -> FirstLook | None:
        """Return a first estimate of the loss of each legal move of a position; None if there is no legal move."""
        nothing = chess.Move.null()
        _, _, (look,) = self._alternatives(encode_board(board)[None], [nothing], nothing)
        return look

    def _judge_by_own_search(
        self, start: chess.Board, moves: Sequence[chess.Move], rows: NDArray[np.uint8]
    ) -> tuple[NDArray[np.float64], list[Judgement]]:
        """Evaluate moves with a PUCT search of every position."""
        boards, drawn = [start.copy()], _drawn(rows)
        for move in moves:
            boards.append(boards[-1].copy())
            push(boards[-1], move)
        thoughts, white = self._think_together(boards), np.empty(len(rows))
        for i, (board, thought) in enumerate(zip(boards, thoughts, strict=True)):
            over = end_value(board)
            chance = thought.chance if board.turn == chess.WHITE else 1 - thought.chance
            white[i] = over if over is not None else 0.5 if drawn[i] else chance
        if not moves:
            return white, []
        seen = self._followed(rows, self.depth)
        opinions = np.array([thought.opinion for thought in thoughts])
        lost = self._losses(seen, opinions[:-1], opinions[1:], start, moves, rows)
        doubtful = np.flatnonzero(lost >= DOUBTFUL)
        if len(doubtful) and self.depth >= DEPTH:
            some = np.unique(np.concatenate([doubtful, doubtful + 1]))
            further = self._followed(rows[some], self.depth + FURTHER, PATIENCE)
            seen.take(doubtful, further, np.searchsorted(some, doubtful))
        first, second = opinions[:-1].copy(), opinions[1:].copy()
        lost = self._losses(seen, first, second, start, moves, rows)
        favorites = [(thought.line or (move,))[0] for thought, move in zip(thoughts, moves, strict=False)]
        lines = [thought.line for thought in thoughts]
        unsure = [i for i, move in enumerate(moves) if move and UNSURE[0] <= lost[i] < UNSURE[1]]
        indices = sorted({at for i in unsure for at in (i, i + 1)})
        longer = dict(zip(indices, self._think_together([boards[at] for at in indices], LONGER), strict=True))
        for i in unsure:
            first[i], second[i] = longer[i].opinion, longer[i + 1].opinion
            lines[i], favorites[i] = longer[i].line, (longer[i].line or (moves[i],))[0]
        lost = self._losses(seen, first, second, start, moves, rows)
        proven = np.array([thought.mate is not None for thought in thoughts])
        proven[-1] |= end_value(boards[-1]) is not None
        changes = _changes(white, rows)
        lost = _as_shown(lost, changes, proven[:-1] | proven[1:])
        held = self._hold(rows[:-1], favorites, seen.scores[:-1], seen.depths[:-1])
        _, only, options = self._alternatives(rows[:-1], moves, earlier_move(start))
        found = []
        for i, played in enumerate(moves):
            line = tuple(to_move(int(move)) for move in seen.lines[i] if move)
            if held[i] is not None or thoughts[i].mate is not None or not line:
                line = lines[i] or (played,)
            loss = float(lost[i])
            if line[0] == played:
                change = float(changes[i])
                loss, line = 0.0, line
                if played and mark(-change, CHESS_SWING):
                    loss, line = self._loss_of_choice(boards[i], played, float(white[i + 1]), change, line)
            judgement = _judgement(white, i, loss, line[:_SHOWN], played, only[i] and not loss, options[i])
            found.append(replace(judgement, searched=thoughts[i].searched))
        return white, found

    def _loss_of_choice(
        self, board: chess.Board, chosen: chess.Move, after: float, change: float, line: tuple[chess.Move, ...]
    ) -> tuple[float, tuple[chess.Move, ...]]:
        """Return the loss of the move that the search chose, and the line of the second choice. If the second choice is
        no better, return 0 and `line`.

        The search before the move may have overlooked the reply. A search without `chosen` finds the second choice, and
        the position after it is searched like the position after `chosen`. The loss is the difference of these two
        positions, 0 to `change`. board: the position before the move. after: White's win probability after `chosen`.
        change: the drop of the value, 0 to 1. Raises Stopped.
        """
        others = tuple(move for move in board.legal_moves if move != chosen)
        second = self._thought(self._player, board, 1, others).line[:1] if others else ()
        if not second:
            return 0.0, line
        push(other := board.copy(), second[0])
        if (white := end_value(other)) is not None:
            instead: tuple[chess.Move, ...] = ()
        else:
            thought = self._thought(self._player, other, 1)
            white, instead = (thought.chance if other.turn else 1 - thought.chance), thought.line
        gain = min(change, white - after if board.turn else after - white)
        return (gain, (*second, *instead)) if gain > 0 else (0.0, line)

    def _losses(
        self, seen: _Followed, first: NDArray[np.float64], second: NDArray[np.float64], start: chess.Board,
        moves: Sequence[chess.Move], rows: NDArray[np.uint8],
    ) -> NDArray[np.float64]:  # fmt: skip
        """Return the loss of each move, float64 [moves], 0 to 1.

        first, second: the movers' evaluations before and after each move, [moves] each. The loss is computed from these
        evaluations, and from the material of positions that are searched equally deep.
        """
        chances, left = self._both(seen, np.append(first, 0.5), second, _result(start, moves), _drawn(rows))
        return (chances[:-1] - left).clip(0)

    def _followed(self, rows: NDArray[np.uint8], depth: int, most: int = MAX_NODES) -> _Followed:
        """Search successive positions until they are quiet. Each position and its next one are searched equally
        deep.
        """
        deep = quiescence_search(rows, depth, most, threads=self.threads)
        depths = np.append(np.minimum(deep.reached[:-1], deep.reached[1:] + 1), deep.reached[-1]).clip(0)
        n = np.arange(len(rows))
        then = (depths[:-1] - 1).clip(0)
        return _Followed(
            depths, deep.scores[n, depths], deep.rows[n, depths], deep.lines[n, depths],
            deep.scores[n[1:], then], deep.rows[n[1:], then],
        )  # fmt: skip

    def _alone(self, rows: NDArray[np.uint8], over: float | None) -> NDArray[np.float64]:
        """Return White's win probability in each position, float64 [n]. Each position is evaluated alone, so that other
        positions have no influence. over: see `_both`.
        """
        scores, leaves = np.empty(len(rows), np.int32), np.empty((len(rows), rows.shape[1]), np.uint8)
        for i, row in enumerate(ongoing.counted(rows, len(rows))):
            found = quiescence_search(row[None], self.depth, threads=1)
            depth = max(0, int(found.reached[0]))
            scores[i], leaves[i, : found.rows.shape[2]] = found.scores[0, depth], found.rows[0, depth]
        black = rows[:, SQUARES + SIDE] != 0
        opinions = np.concatenate([self._own_opinions(leaves[i : i + 1], black[i : i + 1]) for i in range(len(rows))])
        chances = np.where(_drawn(rows), 0.5, self._chances(scores, opinions))
        if over is not None:
            chances[-1] = over
        white: NDArray[np.float64] = np.where(black, 1 - chances, chances)
        return white

    def _both(
        self, seen: _Followed, first: NDArray[np.float64], second: NDArray[np.float64], over: float | None,
        drawn: NDArray[np.bool_],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # fmt: skip
        """Return the win probabilities of each position's mover: with the best move, [moves + 1], and with the played
        move, [moves].

        over: the mover's win probability after the last move, if the rules decide it; else None. drawn: bool [moves +
        1], whether neither side can mate.
        """
        chances = np.where(drawn, 0.5, self._chances(seen.scores, first))
        left = np.where(drawn[1:], 0.5, 1 - self._chances(seen.later_scores, second))
        if over is not None:
            chances[-1], left[-1:] = over, 1 - over
        return chances, left

    def _own_opinions(self, rows: NDArray[np.uint8], black: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the network's evaluation of positions, [n]: win probabilities of Black if `black` is True, else of
        White.
        """
        white = self._opinions(rows)
        return np.where(black, 1 - white, white)

    def _opened(self) -> Any:
        """Return the player that searches with the network by PUCT; None if the network can't search."""
        from kibitz.play import open_player
        from kibitz.systems import find
        from kibitz.systems.declaration import PUCT

        info = self.session.run.info
        if PUCT not in find(info["system"]).methods_of(info["settings"]):
            return None
        return open_player(self.session.run, lambda: self.session, method=PUCT.name)

    def _think(self, board: chess.Board, times: int = 1) -> _Thought:
        """Return the result of a PUCT search with `times` as many evaluations as usual. Earlier searches do not
        influence the result. Raises Stopped.
        """
        key = board.fen(), tuple(board.move_stack), times
        # A game is analyzed in parts. The first position of a part is known: it is the last one of the previous part.
        if self._last is None or self._last[0] != key:
            self._last = key, self._thought(self._player, board, times)
        return self._last[1]

    def _think_together(self, boards: Sequence[chess.Board], times: int = 1) -> list[_Thought]:
        """Return the results of `_think` for several boards, which share evaluations. Raises Stopped."""
        from kibitz.play.puct.together import AT_ONCE, Together, TogetherRules

        if len(boards) < 2:
            return [self._think(board, times) for board in boards]
        if self._together is None:
            self._together = Together(self._player.search.rules)
        ongoing.report(0, len(boards))
        first = self._think(boards[0], times)  # alone, because it loads the kernels
        rest, finished = boards[1:], itertools.count(2)
        players = [self._opened() for _ in range(min(AT_ONCE, len(rest)))]

        def search_with(player: Any) -> Callable[[int], _Thought]:
            rules = TogetherRules(player.search.rules, together)
            player.search.rules = rules

            def search(number: int) -> _Thought:
                rules.number = number
                thought = self._thought(player, rest[number], times)
                ongoing.report(next(finished), len(boards))
                return thought

            return search

        together = self._together
        thoughts = [first, *together.run([search_with(player) for player in players], len(rest))]
        ongoing.report(len(boards), len(boards))
        board = boards[-1]
        self._last = (board.fen(), tuple(board.move_stack), times), thoughts[-1]
        return thoughts

    def _thought(self, player: Any, board: chess.Board, times: int, only: tuple[chess.Move, ...] = ()) -> _Thought:
        """Return the result of a player's search. only: the moves that are searched; () for all. Raises Stopped."""
        if self.stop is not None and self.stop.is_set():
            raise Stopped
        player.new_game()
        found = player.think(board, SearchLimits(nodes=times * self.nodes, moves=only), self.stop)
        if self.stop is not None and self.stop.is_set():  # then the search may have ended early
            raise Stopped
        if found is None:  # the game is over
            return _Thought(0.5, None, (), 0.5)
        best = found.lines[0]
        win, _, loss = best.wdl
        opinion = (1 + max(-1.0, min(1.0, player.opinion))) / 2
        losses = searched_losses(player.root_moves)
        return _Thought((1000 + win - loss) / 2000, best.mate, best.pv, opinion, losses)

    def _opinions(self, rows: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return White's win probability in positions, with one evaluation each; 0.5 if nobody can win."""
        codes, state = np.ascontiguousarray(rows[:, :SQUARES]), np.ascontiguousarray(rows[:, SQUARES:])
        white = self.analysis.white_wins(self.session.evaluate(codes, state), state)
        assert white is not None
        return np.where(_drawn(rows), 0.5, white)

    def _chances(self, scores: NDArray[np.int32], opinions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the movers' win probabilities, 0 to 1. scores: the material found by the search. opinions: the
        network's evaluations.
        """
        pawn, opinion = self.weights
        clipped = np.clip(opinions, _SURE, 1 - _SURE)
        odds = pawn * scores.clip(-_MOST, _MOST) / 100 + opinion * np.log(clipped / (1 - clipped))
        chances = 1 / (1 + np.exp(-odds))
        return np.where(scores >= SURE, 1.0, np.where(scores <= -SURE, 0.0, chances))

    def _alternatives(
        self, rows: NDArray[np.uint8], played: Sequence[chess.Move], earlier: chess.Move
    ) -> tuple[list[chess.Move], list[bool], list[FirstLook | None]]:
        """Return, for each position, the best move, whether the played move is the only good move, and the first
        estimate of all legal moves.

        earlier: the move before the first position; a null move if there is none.
        """
        codes, state = np.ascontiguousarray(rows[:, :SQUARES]), np.ascontiguousarray(rows[:, SQUARES:])
        moves, offsets = legal_moves(codes, state)
        children = _after(rows, moves, np.repeat(np.arange(len(rows)), np.diff(offsets)))
        shallow = quiescence_search(children, _LOOK, threads=self.threads)
        scores, leaves = -shallow.scores[:, _LOOK], shallow.rows[:, _LOOK]
        sizes = np.diff(offsets)
        some = sizes > 0  # a null move may leave a position without any legal move
        most = np.repeat(np.maximum.reduceat(scores, offsets[:-1][some]), sizes[some]) if len(scores) else scores
        near_best = np.flatnonzero(scores >= most - _SIDE_STEP)
        white = np.full(len(children), np.nan)
        white[near_best] = self._opinions(leaves[near_best])
        preferred: list[chess.Move] = []
        only: list[bool] = []
        options: list[FirstLook | None] = []
        for i, move in enumerate(played):
            part = slice(offsets[i], offsets[i + 1])
            own = white[part] if rows[i, SQUARES + SIDE] == 0 else 1 - white[part]
            if not len(own):  # a null move
                preferred.append(move)
                only.append(False)
                options.append(None)
                continue
            own = np.where(np.isnan(own), np.nanmean(own), own)
            chances = self._chances(scores[part], own)
            order = np.argsort(-chances, kind="stable")
            best = int(moves[part][order[0]])
            preferred.append(to_move(best))
            alone = len(order) > 1 and bool(chances[order[0]] - chances[order[1]] >= ONLY)
            before = played[i - 1] if i else earlier
            retaken = bool(before) and before.to_square == move.to_square
            only.append(alone and not retaken and to_move(best) == move)
            options.append(FirstLook(moves[part], chances.max() - chances))
        return preferred, only, options

    def _hold(
        self, rows: NDArray[np.uint8], favourites: list[chess.Move], scores: NDArray[np.int32],
        depths: NDArray[np.int64],
    ) -> list[tuple[chess.Move, ...] | None]:  # fmt: skip
        """Return, for each position, the moves that are expected after a given move if they keep the material value of
        the position; None if they don't.

        favourites: the given move for each position; a null move has no result. scores, depths: the material value of
        each position, and the depth of the search that found it.
        """
        packed = np.array([from_move(move) if move else 0 for move in favourites], np.uint16)
        known = np.flatnonzero(packed)
        deep = quiescence_search(
            _after(rows[known], packed[known], np.arange(len(known))), self.depth - 1, threads=self.threads
        )
        found: list[tuple[chess.Move, ...] | None] = [None] * len(rows)
        for at, i in enumerate(known.tolist()):
            depth = min(max(int(depths[i]) - 1, 0), int(deep.reached[at]))
            if depth >= 0 and -deep.scores[at, depth] >= scores[i] - _SIDE_STEP:
                found[i] = tuple(to_move(int(move)) for move in deep.lines[at, depth] if move)
        return found


def predicts_winner(session: Session) -> bool:
    """Return whether a network predicts who wins. Without this prediction, kibitz computes no losses and writes no
    annotations.
    """
    return bool({"white_wins", "white_better", "value"} & set(session.outputs))


def judge_by_search(
    session: Session, analysis: Analysis, depth: int | None = None, nodes: int | None = None
) -> Judge | None:
    """Return a `Judge`, which evaluates moves by search with a network; None if the network doesn't predict the winner.

    session: the loaded network.
    analysis: the module that interprets the network's outputs.
    depth, nodes: the limits of the search, see `Judge`; None for the default.
    """
    if not predicts_winner(session):
        return None
    return Judge(session, analysis, DEPTH if depth is None else depth, NODES if nodes is None else nodes)


def _after(rows: NDArray[np.uint8], moves: NDArray[np.uint16], parents: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the positions after legal moves: rows, uint8 [moves, 68]. parents: the index of the position before each
    move.
    """
    n = np.arange(len(moves) + 1)  # all moves are replayed in one call, each as a game of one move
    codes, state = replay(
        moves, n, np.ascontiguousarray(rows), parents.astype(np.int32), n[:-1], np.ones(len(moves), np.int64)
    )
    return np.concatenate([codes, state], 1)


def _drawn(rows: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """For each position, return whether no sequence of moves can lead to a mate of either side, bool [n]. rows: uint8
    [n, 68].
    """
    codes = np.ascontiguousarray(rows[:, :SQUARES])
    found: NDArray[np.bool_] = np.count_nonzero(codes, axis=1) <= MAX_PIECES_INSUFFICIENT
    for i in np.flatnonzero(found):
        found[i] = insufficient_material(codes[i])
    return found


def _judgement(
    white: NDArray[np.float64], i: int, loss: float, line: tuple[chess.Move, ...], played: chess.Move, only: bool,
    options: FirstLook | None,
) -> Judgement:  # fmt: skip
    """Return the evaluation of move i of a game. white: White's win probability in each of its positions."""
    best = line[0] if loss >= _EQUAL else played
    shown = line if loss >= _EQUAL else (played,)
    return Judgement(float(white[i]), float(white[i + 1]), loss, best, shown, only and loss < _EQUAL, options)


def _changes(white: NDArray[np.float64], rows: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the movers' losses, [n], at least 0. white: White's win probability in each position, [n + 1]."""
    return np.where(rows[:-1, SQUARES + SIDE] == 0, white[:-1] - white[1:], white[1:] - white[:-1]).clip(0)


def _as_shown(lost: NDArray[np.float64], change: NDArray[np.float64], exact: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the loss of each move, [n]. If possible, it is the difference of the values that users see before and
    after the move.

    lost: the losses from the comparison of equally deep searches, which decide the annotation. change: the differences
    of the values that users see, at least 0. exact: whether a mate is proven or the rules decide. The result is
    `change` if `exact` is true, or if `lost` and `change` give the same annotation. Otherwise, the result is `lost`.
    """
    alike = [
        bool(sign) and sign == mark(-other, CHESS_SWING)
        for sign, other in ((mark(-one, CHESS_SWING), other) for one, other in zip(lost, change, strict=True))
    ]
    return np.where(exact | np.array(alike, np.bool_), change, lost)


def _as_both(lost: NDArray[np.float64], change: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the loss of each move by short searches, [n]. A mistake needs two signs, because one short search often
    stops in the middle of a combination. The arguments are those of `_as_shown`.

    If both losses are large enough for an annotation, the result is `change`, the difference of the values that users
    see. Otherwise, the result is the smaller loss, which gets no annotation.
    """
    both = np.minimum(lost, change)
    return np.where([bool(mark(-one, CHESS_SWING)) for one in both], change, both)


def push(board: chess.Board, move: chess.Move) -> None:
    """Make a move on the board. After a null move, which passes the turn, the function clears the board's move history,
    because kibitz's searches don't support null moves.
    """
    board.push(move)
    if not move:
        board.clear_stack()


def earlier_move(start: chess.Board) -> chess.Move:
    """Return the last move that was made on a board; a null move if its `move_stack` is empty."""
    return start.move_stack[-1] if start.move_stack else chess.Move.null()


def end_value(board: chess.Board) -> float | None:
    """Return White's win probability if the game is over by mate, stalemate or insufficient material: 1, 0 or 0.5.
    Return None if the game continues.
    """
    if board.is_checkmate():
        return 0.0 if board.turn == chess.WHITE else 1.0
    return 0.5 if board.is_stalemate() or board.is_insufficient_material() else None


def _result(start: chess.Board, moves: Sequence[chess.Move]) -> float | None:
    """Return the mover's win probability after the last move if the rules have ended the game; else None."""
    board = start.copy()
    for move in moves:
        board.push(move)
    if board.is_checkmate():
        return 0.0
    return 0.5 if board.is_stalemate() else None
