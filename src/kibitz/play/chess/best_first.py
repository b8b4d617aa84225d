"""The method topprob-negamax: a negamax search of the most probable moves, in which a network evaluates the leaves in
batches.

The method is from Ashudeep Singh's thesis, section "TopProb-Negamax Interleaved". The thesis searches to a fixed depth.
This search expands the most probable paths first, in batches. A path's probability is the product of its moves'
probabilities. A move's probability is the network's prediction, changed by the values found so far: better moves become
more probable. So refuted moves are ignored, and the best line is searched deepest. Depth d is complete when every path
that has not been searched has a probability below 4^-d.

The rules decide mate, stalemate, repetition, fifty moves and dead positions. A position that repeats an earlier
position of its line, or that occurred twice in the game before, is a draw.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.replay import FIFTY_MOVES
from kibitz.play.chess.evaluator import DRAWN, ENTRY_BYTES, Evaluator
from kibitz.play.chess.position import SearchPosition, children, packed
from kibitz.play.chess.score import STEP
from kibitz.play.chess.tree import Tree
from kibitz.play.result import OnResult, ProgressThrottle, SearchLimits, SearchResult, TimeManager, make_line

PER_DEPTH = 0.25
_NODE_BYTES = 900
"""Approximate size in bytes of a node with its edges and boards."""
_AWAY = 1e-3
"""A path is abandoned if its probability is below this share of the probability of the least probable path in the last
batch.
"""


@dataclass(frozen=True)
class SearchTuning:
    """The parameters of the best-first search.

    focus: how strongly the values of moves change their probabilities. A move whose value is higher by 1/focus becomes
        e (2.718) times more likely.
    doubt: the size of the penalty that is subtracted from the values of unlikely moves. The penalty is `doubt` for a
        move with one evaluation that is e (2.718) times less likely than the most likely move. See `tree.Tree.backup`
        for all other moves.
    loud: the factor by which the probability of a capture that wins material is multiplied.
    batch: the largest number of positions in a batch.
    first: the largest number of positions in a batch while the tree is small.
    """

    focus: float = 6.0
    doubt: float = 0.03
    loud: float = 8.0
    batch: int = 128
    first: int = 16


class BestFirstSearch:
    """A search of one position that expands the most likely lines of moves first.

    evaluator: the networks and the table of evaluations. seen: how often each earlier position of the game occurred, by
    the position's key (a 64-bit hash). limits: the limits of the search. lines: how many lines intermediate results
    have. final_lines: the largest number of lines in the final result.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        tuning: SearchTuning,
        position: SearchPosition,
        seen: Counter[int],
        limits: SearchLimits,
        lines: int,
        final_lines: int,
    ):
        """lines: number of lines reported during the search. final_lines: the largest number of lines at the end."""
        self.evaluator, self.tuning, self.position, self.seen, self.limits = evaluator, tuning, position, seen, limits
        self.lines, self.final_lines = lines, final_lines
        self.depth = 0
        """The last complete depth."""

    def think(self, stop: threading.Event | None, on_result: OnResult) -> tuple[SearchResult, list[float]]:
        """Search the position until a limit is reached. Returns the result, and a list with the value of each of its
        lines, on the scale of `score.py`: -1 to 1, or a mate. The position must have a legal move.

        stop: an event that ends the search. on_result: a function that gets intermediate results.
        """
        evaluator, tuning, limits = self.evaluator, self.tuning, self.limits
        self.clock = clock = TimeManager(limits, stop, evaluator.nodes)
        entry, self.policy = evaluator.root(self.position, packed(limits.moves), self.lines)
        self.tree = tree = Tree(max(1000, evaluator.max_entries * ENTRY_BYTES // _NODE_BYTES), entry, self.position)
        if len(entry.moves) == 1 and limits.seconds is not None:
            return self._thought(1)  # there is only one legal move
        least, progress = 0.0, ProgressThrottle(clock, on_result)
        while not tree.full:
            batch_size = min(tuning.batch, max(tuning.first, tree.n // 4))
            size = clock.batch(evaluator.nodes, batch_size)
            if size == 0:
                break
            edges, nodes, shares = self._frontier(least)
            likeliest = shares.max() if len(shares) else 0.0
            before = self.depth
            while (likeliest or self.depth < (limits.depth or 0)) and likeliest < PER_DEPTH ** (self.depth + 1):
                self.depth += 1
            if tree.n > 1 and (self.depth > before or progress.due()):
                progress(*self._thought(self.lines))
            if not likeliest:
                break
            chosen = np.argpartition(-shares, size - 1)[:size] if size < len(shares) else np.arange(len(shares))
            chosen = chosen[np.argsort(-shares[chosen], kind="stable")]
            least = float(shares[chosen[-1]])
            self._grow(edges[chosen], nodes[chosen])
            tree.backup(tuning.doubt)
        self._find_draws()
        return self._thought(self.final_lines)

    def _find_draws(self) -> None:
        """If all known moves are worse than a draw, also evaluate the moves that draw, however unlikely."""
        tree, first = self.tree, int(self.tree.first[0])
        if tree.sorted_moves(self.tuning.doubt)[0][1] >= 0:
            return
        edges = [edge for edge in range(first, first + int(tree.move_count[0])) if tree.child[edge] < 0]
        positions = children([self.position] * len(edges), tree.move[edges]) if edges else []
        for edge, position in zip(edges, positions, strict=True):
            if self._drawn(0, position) or position.is_drawn():
                tree.add(0, tree.consider(edge), position, DRAWN)
        tree.backup(self.tuning.doubt)

    def _frontier(self, least: float) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Return the moves that have not been searched: edges, nodes and probabilities, [n] each. least: the smallest
        probability in the last batch.
        """
        tuning, depth = self.tuning, self.limits.depth
        plies = 1000 if depth is None else depth
        focus, root_value = tuning.focus, float(self.tree.value[0])
        if root_value > 1 and self.lines == 1:
            # A forced mate was found, so only a shorter mate is searched, which ends at least two plies earlier. The
            # bound is another ply lower, because a node detects a mate in one by the rules, without a search.
            plies = min(plies, round((2 - root_value) / STEP) - 3)
            focus = 0.0
        if depth is not None:  # all moves that are probable enough
            enough = PER_DEPTH**depth
            edges, nodes, shares = self.tree.frontier(focus, tuning.loud, plies, enough / tuning.loud, self.lines)
            probable = shares >= enough
            return edges[probable], nodes[probable], shares[probable]
        frontier = self.tree.frontier(focus, tuning.loud, plies, least * _AWAY, self.lines)
        return frontier if len(frontier[0]) else self.tree.frontier(focus, tuning.loud, plies, 0.0, self.lines)

    def _grow(self, edges: NDArray[np.int64], nodes: NDArray[np.int64]) -> None:
        """Make the chosen moves and evaluate the positions after them."""
        tree, evaluator = self.tree, self.evaluator
        parents = nodes.tolist()
        positions = children([tree.positions[i] for i in parents], tree.move[edges])
        drawn = [self._drawn(parent, position) for parent, position in zip(parents, positions, strict=True)]
        evaluator.evaluate([position for position, draw in zip(positions, drawn, strict=True) if not draw])
        for parent, edge, position, draw in zip(parents, edges.tolist(), positions, drawn, strict=True):
            tree.add(parent, edge, position, DRAWN if draw else evaluator.table[position.key])

    def _drawn(self, parent: int, position: SearchPosition) -> bool:
        """Return whether a position is drawn because of the moves before it: by repetition or the fifty-move rule."""
        if position.clock >= FIFTY_MOVES:
            return not position.board.is_checkmate()
        return self.seen[position.key] > 1 or self.tree.repeats(parent, position)

    def _thought(self, count: int) -> tuple[SearchResult, list[float]]:
        """Return the result so far, the best moves first."""
        tree, clock = self.tree, self.clock
        moves = tree.sorted_moves(self.tuning.doubt)[:count]
        lines, values = [], []
        for edge, value in moves:
            move = int(tree.move[edge])
            pv = [move] if tree.child[edge] < 0 else [move, *tree.line(int(tree.child[edge]))]
            line = make_line(value, self.policy[move], pv)
            lines.append(replace(line, own_value=tree.child[edge] >= 0))
            values.append(value)
        nodes = self.evaluator.nodes - clock.before
        return SearchResult(max(1, self.depth), nodes, clock.seconds(), tuple(lines)), values
