"""Evaluate chess positions for a search: the value of each position and the probabilities of its moves. They come from
the rules, a table of earlier results, or the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.replay import SQUARES
from kibitz.play.chess.policy import move_probabilities, normalised
from kibitz.play.chess.position import SearchPosition
from kibitz.play.chess.score import MATED, STEP
from kibitz.play.chess.tactics import MATE, gains_and_checks, order_moves
from kibitz.play.session import NetworkSession

ENTRY_BYTES = 1200
"""The approximate size of an entry of the table in bytes: 35 moves with 7 bytes each, and Python's overhead."""
_MIN_ENTRIES = 4096
_BY_GAIN = 0.4
"""Without a policy, a move is e times more likely for every 1/_BY_GAIN pawns that it wins."""


class TableEntry(NamedTuple):
    """The evaluation of a position from the point of view of the side to move. It does not depend on the earlier moves
    of the game.

    value: the value on the scale of `score.py`: -1 to 1, or a mate.
    final: whether the value is certain, because the game is over or the mover can mate in one. If the game is over,
        `moves` is empty. If the mover can mate, `moves` has only the mating move.
    moves: uint16 [k], the packed moves (see `kibitz.games.chess.moves.from_move`) by descending weight.
    weights: float32 [k], the probabilities of the moves; they sum to 1.
    marks: uint8 [k], QUIET, TACTICAL or MATE for each move, see `tactics.py`.
    width: how many of the moves to search, from the first on.
    """

    value: float
    final: bool
    moves: NDArray[np.uint16]
    weights: NDArray[np.float32]
    marks: NDArray[np.uint8]
    width: int


_NONE = np.zeros(0, np.uint16), np.zeros(0, np.float32), np.zeros(0, np.uint8), 0
LOST, DRAWN = TableEntry(MATED, True, *_NONE), TableEntry(0.0, True, *_NONE)


class Evaluator:
    """Evaluates positions with networks, and stores the results in a table of limited size. If the table is full, the
    oldest entries are removed.

    policy: a network with the outputs `origin` and `target`, from which move probabilities are computed. None if there
        is no such network: then moves that gain more material are more likely.
    value: a network with the output `value`; it can be the same network as `policy`. None gives all positions the value
        0. At least one of the two networks is necessary.
    cut, width: limits on the moves that are searched in each position. The most likely moves are searched until their
        probabilities sum to `cut`, but at most `width` moves.
    hash_mb: the size of the table in megabytes.
    tactics: whether to detect winning captures, checks and mates in one by the rules, and to make them more likely
        (`tactics.py`). If not, a policy network is necessary, and its probabilities are not changed.
    """

    def __init__(
        self,
        policy: NetworkSession | None,
        value: NetworkSession | None,
        *,
        cut: float,
        width: int,
        hash_mb: int,
        tactics: bool = True,
    ):
        self.policy, self.value = policy, value
        self.cut, self.width, self.tactics = cut, width, tactics
        self.table: dict[int, TableEntry] = {}
        self.max_entries = max(_MIN_ENTRIES, hash_mb * 1_000_000 // ENTRY_BYTES)
        self.nodes = 0
        """The number of positions that the network has evaluated."""

    def evaluate(self, positions: Sequence[SearchPosition]) -> None:
        """Add the evaluations of these positions to the table, except those that it already contains."""
        self._evict()
        table = self.table
        pending: list[SearchPosition] = []
        pending_keys: set[int] = set()
        legal: list[list[int]] = []
        for position in positions:
            if position.key in table or position.key in pending_keys:
                continue
            some = position.legal()
            if not some:
                table[position.key] = LOST if position.in_check() else DRAWN
            elif position.has_insufficient_material():
                table[position.key] = DRAWN
            else:
                pending_keys.add(position.key)
                pending.append(position)
                legal.append(some)
        if not pending:
            return
        offsets = np.zeros(len(pending) + 1, np.int64)
        np.cumsum([len(some) for some in legal], out=offsets[1:])
        moves = np.array([move for some in legal for move in some], np.uint16)
        rows = np.array([position.row for position in pending])
        codes, state = np.ascontiguousarray(rows[:, :SQUARES]), np.ascontiguousarray(rows[:, SQUARES:])
        gain, check = self._tactics(codes, state, moves, offsets)
        mates = self._mates(pending, moves, offsets, check)
        if mates:
            for i, mating in mates.items():
                table[pending[i].key] = TableEntry(
                    2 - STEP, True, moves[mating : mating + 1], np.ones(1, np.float32), np.full(1, MATE, np.uint8), 1
                )
            selected = np.ones(len(pending), np.bool_)
            selected[list(mates)] = False
            sizes = np.diff(offsets)
            each = np.repeat(selected, sizes)
            pending = [position for i, position in enumerate(pending) if selected[i]]
            codes, state, moves, gain, check = codes[selected], state[selected], moves[each], gain[each], check[each]
            offsets = np.concatenate([[0], np.cumsum(sizes[selected])])
            if not pending:
                return
        values, shares = self._network(codes, state, moves, offsets)
        if self.policy is None:
            shares = normalised(np.exp(_BY_GAIN * gain).astype(np.float32), offsets)
        moves, weights, marks, widths = order_moves(moves, offsets, shares, gain, check, self.cut, self.width)
        bounds = offsets.tolist()
        for i, (position, value, width) in enumerate(zip(pending, values.tolist(), widths.tolist(), strict=True)):
            one = slice(bounds[i], bounds[i + 1])
            # The arrays are copied: a slice would keep the whole batch in memory as long as one of its entries exists.
            table[position.key] = TableEntry(
                value, False, moves[one].copy(), weights[one].copy(), marks[one].copy(), width
            )

    def root(self, position: SearchPosition, only: set[int], lines: int) -> tuple[TableEntry, dict[int, float]]:
        """Return the evaluation of the position for which a move is chosen. Also return a dict from each packed legal
        move (see `kibitz.games.chess.moves.from_move`) to the probability that the policy network gives it.

        only: the packed moves to consider; empty for all legal moves. The evaluation is never final, and its width is
        at least `lines`, or the number of moves if this number is smaller (see `TableEntry`).
        """
        legal = position.legal()
        moves, offsets = np.array(legal, np.uint16), np.array([0, len(legal)])
        codes, state = position.row[None, :SQUARES], position.row[None, SQUARES:]
        values, shares = self._network(codes, state, moves, offsets)
        priors = dict(zip(legal, shares.tolist(), strict=True))
        selected = np.array([move in only for move in legal]) if only else np.ones(len(legal), np.bool_)
        moves, shares, offsets = moves[selected], shares[selected], np.array([0, int(selected.sum())])
        gain, check = self._tactics(codes, state, moves, offsets)
        mates = self._mates([position], moves, offsets, check).values()
        gain[list(mates)] = 100  # mating moves get a large gain, so they are searched first
        moves, weights, marks, widths = order_moves(moves, offsets, shares, gain, check, self.cut, self.width)
        for mating in np.flatnonzero(marks):
            if position.mates(int(moves[mating])):
                marks[mating] = MATE
        order = np.argsort(marks != MATE, kind="stable")
        width = min(len(moves), max(int(widths[0]), lines))
        return TableEntry(float(values[0]), False, moves[order], weights[order], marks[order], width), priors

    def _tactics(
        self, codes: NDArray[np.uint8], state: NDArray[np.uint8], moves: NDArray[np.uint16], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int16], NDArray[np.bool_]]:
        """Return the material that each move gains, int16 [moves], and whether it gives check, bool [moves]. Both
        arrays are zero if tactics are off.
        """
        if self.tactics:
            return gains_and_checks(codes, state, moves, offsets)
        return np.zeros(len(moves), np.int16), np.zeros(len(moves), np.bool_)

    def _mates(
        self,
        positions: list[SearchPosition],
        moves: NDArray[np.uint16],
        offsets: NDArray[np.int64],
        check: NDArray[np.bool_],
    ) -> dict[int, int]:
        """Return the positions that have a mate in one, and the index in `moves` of the mating move."""
        mates: dict[int, int] = {}
        where = np.flatnonzero(check)
        rows = np.searchsorted(offsets, where, side="right") - 1
        for row, at in zip(rows.tolist(), where.tolist(), strict=True):
            if row not in mates and positions[row].mates(int(moves[at])):
                mates[row] = at
        return mates

    def _network(
        self, codes: NDArray[np.uint8], state: NDArray[np.uint8], moves: NDArray[np.uint16], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return values, float32 [n], and probabilities of the legal moves, float32 [total], summing to 1 in each
        position."""
        self.nodes += len(codes)
        answers = self.policy.evaluate(codes, state) if self.policy is not None else {}
        if self.policy is None:
            shares = normalised(np.ones(len(moves), np.float32), offsets)
        else:
            shares = normalised(move_probabilities(answers, codes, moves, offsets), offsets)
        if self.value is None:
            return np.zeros(len(codes), np.float32), shares
        if self.value is not self.policy:
            answers = self.value.evaluate(codes, state)
        return np.clip(np.nan_to_num(answers["value"]), -1, 1).astype(np.float32), shares

    def _evict(self) -> None:
        """Remove the oldest quarter of the entries."""
        if len(self.table) > self.max_entries:
            for key in list(self.table)[: self.max_entries // 4]:
                del self.table[key]
