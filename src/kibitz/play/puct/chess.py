"""The rules of chess for a PUCT search: positions after moves, their legal moves, and whether the game is over."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.attacks import can_pass
from kibitz.games.chess.board_kernels import play_moves, squares_of
from kibitz.games.chess.legal import MAX_MOVES, generate
from kibitz.games.chess.material import insufficient_material
from kibitz.games.chess.replay import (
    CASTLING,
    CLOCK,
    EN_PASSANT,
    SIDE,
    SQUARES,
    START_WIDTH,
    encode_board,
    encode_history,
)
from kibitz.kernels import fill, inner, is_among, kernel
from kibitz.play.chess.policy import KNIGHT, QUEEN
from kibitz.play.chess.quiescence import MoveQuiescence
from kibitz.play.chess.tactics import note_gains_and_checks
from kibitz.play.puct.search import Entered
from kibitz.play.puct.tree import DRAW, LOSS, UNKNOWN, WIN, PuctTree
from kibitz.play.session import NetworkSession

FIFTY = 100
"""The number of plies without a capture or pawn move after which a game is drawn."""

MOST_LOST, MOST_WON = 4.0, 12.0
"""The largest amounts of material, in pawns, that a move can lose or win for CaptureWeights. Larger amounts are
replaced by these numbers.
"""


class CaptureWeights(NamedTuple):
    """The weights with which captures change the network's outputs. A quiescence search follows each move: it searches
    captures until no piece can be captured for free.

    Weights for a prior apply to its logarithm. Weights for a value apply to its log odds. The unit of material is a
    pawn.
    loss: subtracted from the log of a move's prior (probability), for each pawn that the move loses compared with the
        best move.
    check: added to the log of a move's prior if the move gives check.
    opinion: the factor by which the network's value of a position is multiplied.
    pawn: added to the value for each pawn by which the mover is ahead.
    win: added to the value for each pawn that the best move wins.

    Networks know little about hanging pieces, because pieces rarely hang for long in games. The weights were fitted to
    Stockfish's win probabilities and to moves of games and puzzles, see docs/results/history/search.md.
    """

    loss: float = 0.8
    check: float = 0.7
    opinion: float = 0.55
    pawn: float = 0.19
    win: float = 0.23


_random = np.random.default_rng(0x5EED)
_PIECES = _random.integers(1, 2**63, (SQUARES, 13), np.int64).astype(np.uint64)
_PIECES[:, 0] = 0
_RIGHTS = _random.integers(1, 2**63, 16, np.int64).astype(np.uint64)
_PASSED = _random.integers(1, 2**63, 9, np.int64).astype(np.uint64)
_BLACK = np.uint64(_random.integers(1, 2**63))


_SURE = 0.999
"""Upper limit for the certainty of a network's value."""
_NO_PROMOTIONS = np.empty((0, 8, 4), np.float32)
_NO_SCORES = np.empty(0, np.float32)


@inner
def _key(row):  # type: ignore[no-untyped-def]
    """Return the key of a position, uint64. row: uint8 [68]."""
    key = np.uint64(0)
    for square in range(64):
        if row[square]:
            key ^= _PIECES[square, row[square]]
    key ^= _RIGHTS[row[64 + CASTLING]] ^ _PASSED[row[64 + EN_PASSANT]]
    return key ^ _BLACK if row[64 + SIDE] else key


@kernel
def _play(rows, moves):  # type: ignore[no-untyped-def]
    """Make one legal move in each row, in place. rows: uint8 [n, 68], the positions as rows of 64 codes and 4 numbers
    of the state. moves: uint16 [n].
    """
    view = np.empty(64, np.int8)
    for i in range(rows.shape[0]):
        board, state = rows[i, :64], rows[i, 64:]
        rights, clock, double_step = play_moves(
            board, moves, i, i + 1, np.int64(state[CASTLING]), np.int64(state[CLOCK]), None
        )
        side = np.int64(state[SIDE]) ^ 1
        state[SIDE], state[CASTLING], state[CLOCK] = side, rights, min(clock, 255)
        state[EN_PASSANT] = double_step if can_pass(board, side, double_step, view) else 0


@inner
def _mate(row, moves, begin, board, pinned):  # type: ignore[no-untyped-def]
    """Return the index of a mating move among a position's moves, from `begin` on; -1 for none."""
    count = moves.shape[0] - begin
    offsets, gain, check = np.array([0, count]), np.empty(count, np.int16), np.empty(count, np.bool_)
    one, replies = row.reshape(1, START_WIDTH), np.empty(MAX_MOVES, np.uint16)
    note_gains_and_checks(one[:, :64], one[:, 64:], moves[begin:], offsets, gain, check)
    for i in range(count):
        if check[i]:
            after = one.copy()
            _play(after, moves[begin + i :])
            if generate(after[0, :64], after[0, 64:], board, pinned, replies, np.int64(0))[0] == 0:
                return begin + i
    return -1


@kernel
def _short_mate(row, moves, drawn_keys, line):  # type: ignore[no-untyped-def]
    """Return whether a move mates immediately or forces mate with the next move, and write the mating line to line,
    uint16 [3].

    The line is the move, a reply, and the mate; or the mate and two zeros. Lines through drawn positions don't count.
    """
    board, pinned = np.empty(64, np.int8), np.empty(64, np.int64)
    at_once = _mate(row, moves, np.int64(0), board, pinned)
    if at_once >= 0:
        line[0], line[1], line[2] = moves[at_once], 0, 0
        return True
    replies, answers = np.empty(MAX_MOVES, np.uint16), np.empty(MAX_MOVES, np.uint16)
    if row[64 + CLOCK] >= FIFTY - 2:
        return False
    for i in range(moves.shape[0]):
        after = row.copy().reshape(1, START_WIDTH)
        _play(after, moves[i:])
        count, _ = generate(after[0, :64], after[0, 64:], board, pinned, replies, np.int64(0))
        if count == 0 or is_among(_key(after[0]), drawn_keys):
            continue
        forced = True
        for j in range(count):
            then = after.copy()
            _play(then, replies[j:])
            n, _ = generate(then[0, :64], then[0, 64:], board, pinned, answers, np.int64(0))
            mate = _mate(then[0], answers[:n], np.int64(0), board, pinned)
            if mate < 0 or is_among(_key(then[0]), drawn_keys):
                forced = False
                break
            line[1], line[2] = replies[j], answers[mate]
        if forced:
            line[0] = moves[i]
            return True
    return False


@kernel
def _describe(rows, keys, ended, moves, offsets, mates):  # type: ignore[no-untyped-def]
    """Fill the fields of Entered for rows. Returns the array of moves, which may have been replaced by a larger one.

    rows: uint8 [n, width]. keys: uint64 [n]. ended: int8 [n]. moves: uint16 [room]. offsets: int64 [n + 1]. mates:
    whether a position with a mating move gets only this move, and counts as won.
    """
    board, pinned = np.empty(64, np.int8), np.empty(64, np.int64)
    offsets[0] = 0
    for i in range(rows.shape[0]):
        row, begin = rows[i], offsets[i]
        if moves.shape[0] - begin < MAX_MOVES:
            more = np.empty(2 * moves.shape[0] + MAX_MOVES, np.uint16)
            fill(more[:begin], moves)
            moves = more
        count, checks = generate(row[:64], row[64:], board, pinned, moves, begin)
        offsets[i + 1] = count
        keys[i] = _key(row)
        ended[i] = UNKNOWN
        if count == begin:
            ended[i] = LOSS if checks else DRAW
        elif row[64 + CLOCK] >= FIFTY or insufficient_material(row[:64]):
            ended[i] = DRAW
        elif mates:
            mate = _mate(row, moves[:count], begin, board, pinned)
            if mate >= 0:
                ended[i] = WIN
                moves[begin], offsets[i + 1] = moves[mate], begin + 1
    return moves[: offsets[rows.shape[0]]]


@kernel
def _priors(origin, target, promotion, rows, moves, offsets, sharpness, priors):  # type: ignore[no-untyped-def]
    """Write the priors of the legal moves: their probabilities to the power of `sharpness`, normalized in each
    position.

    promotion: [n, 8, 4], or [0, 8, 4] if the network doesn't predict it; then only promotions to queens count. priors:
    float32 [total].
    """
    by_square, has_promotion = target.shape[1] == 64, promotion.shape[0] > 0
    for i in range(rows.shape[0]):
        first, last = offsets[i], offsets[i + 1]
        total = 0.0
        for at in range(first, last):
            start, end, piece = squares_of(moves[at])
            kind = start if by_square else (np.int64(rows[i, start]) - 1) % 6
            share = np.float64(origin[i, start]) * target[i, kind, end]
            if piece and has_promotion:
                share *= promotion[i, end & 7, piece - KNIGHT]
            elif piece and piece != QUEEN:
                share = 0.0
            share = share**sharpness if share > 0 else 0.0  # NaN counts as 0
            priors[at] = share
            total += share
        for at in range(first, last):
            priors[at] = priors[at] / total if total > 1e-30 else 1 / (last - first)


@kernel
def _weigh(weights, offsets, material, scores, checks, values, priors):  # type: ignore[no-untyped-def]
    """Correct values, [n], and priors, [total], for captures, in place; see CaptureWeights."""
    for i in range(values.shape[0]):
        first, last = offsets[i], offsets[i + 1]
        best = scores[first]
        for at in range(first, last):
            best = max(best, scores[at])
        total = 0.0
        for at in range(first, last):
            lost = min((best - scores[at]) / 100, MOST_LOST)
            priors[at] *= np.exp((weights.check if checks[at] else 0.0) - weights.loss * lost)
            total += priors[at]
        for at in range(first, last):
            priors[at] = priors[at] / total if total > 1e-30 else 1 / (last - first)
        won = max(-MOST_WON, min((best - material[i]) / 100, MOST_WON))
        value = max(-_SURE, min(np.float64(values[i]), _SURE)) if values[i] == values[i] else 0.0
        odds = weights.opinion * np.log((1 + value) / (1 - value))
        values[i] = np.tanh((odds + weights.pawn * material[i] / 100 + weights.win * won) / 2)


def described(rows: NDArray[np.uint8], mates: bool = False) -> Entered:
    """Return positions in the form in which the search uses them: with their legal moves, and with the result if the
    rules end the game. rows: uint8 [n, 68], codes and state. mates: whether to list only the mating move of a position
    that has one.
    """
    n = len(rows)
    keys, ended, offsets = np.empty(n, np.uint64), np.empty(n, np.int8), np.empty(n + 1, np.int64)
    moves = _describe(rows, keys, ended, np.empty(40 * n + MAX_MOVES, np.uint16), offsets, mates)
    return Entered(rows, keys, ended, moves, offsets, keys, _NO_SCORES)


def start(board: chess.Board, mates: bool = False) -> Entered:
    """Return a board's position in the form in which the search uses it, with its legal moves. mates: whether to list
    only a mating move if there is one.
    """
    return described(encode_board(board)[None], mates)


def short_mate(
    row: NDArray[np.uint8], moves: NDArray[np.uint16], drawn_keys: NDArray[np.uint64]
) -> tuple[int, ...] | None:
    """Return the packed moves (see `kibitz.games.chess.moves.from_move`) of a short forced mate: a mating move, or a
    move, a reply and the mating move. Return None if no such mate is found.

    row: uint8 [68], the position as 64 codes and 4 numbers of the state, see `kibitz.PositionArrays`. moves: uint16
    [n], the packed moves to try. drawn_keys: uint64, the keys (64-bit hashes) of positions that are drawn if they occur
    again in the game.
    """
    line = np.zeros(3, np.uint16)
    if not _short_mate(row, moves, drawn_keys, line):
        return None
    first, reply, mate = line.tolist()
    return (first, reply, mate) if mate else (first,)


class ChessRules:
    """The rules of chess and the networks for a PUCT search. The class implements the interface `search.SearchRules`.

    temperature: the temperature of the predicted move probabilities; above 1, they become more equal. captures: the
    weights of captures; None to use only the networks.
    """

    width, tail, usual, most, repetition = START_WIDTH, 0, 32, MAX_MOVES, DRAW

    def __init__(
        self,
        policy: NetworkSession,
        value: NetworkSession,
        temperature: float = 1.0,
        captures: CaptureWeights | None = None,
    ):
        self.policy, self.value, self.sharpness, self.captures = policy, value, 1 / temperature, captures
        self._followed = MoveQuiescence()

    def enter(self, rows: NDArray[np.uint8], moves: NDArray[np.uint16]) -> Entered:
        """Return the positions after one legal move in each given position. rows: uint8 [n, 68], the positions as rows
        of 64 codes and 4 numbers of the state, which are overwritten with the new ones. moves: uint16 [n], packed (see
        `kibitz.games.chess.moves.from_move`).
        """
        _play(rows, moves)
        return described(rows, mates=True)

    def condense(self, tree: PuctTree, least: int) -> None:
        """Do nothing, because chess positions have no tail with network outputs (see `search.SearchRules`)."""

    def evaluate(
        self, rows: NDArray[np.uint8], moves: NDArray[np.uint16], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the values of positions for the side to move, float32 [n], −1 to 1, and the priors (probabilities) of
        all moves, float32 [total]. Both are computed from the networks' outputs and from captures.

        rows: uint8 [n, 68], the positions as rows of 64 codes and 4 numbers of the state. moves: uint16 [total], the
        packed legal moves (see `kibitz.games.chess.moves.from_move`) of all positions. offsets: int64 [n + 1], the
        index at which each position's moves begin.
        """
        codes, state = np.ascontiguousarray(rows[:, :SQUARES]), np.ascontiguousarray(rows[:, SQUARES:])
        answers = self.policy.evaluate(codes, state)
        valued = answers if self.value is self.policy else self.value.evaluate(codes, state)
        priors = np.empty(len(moves), np.float32)
        promotion = answers.get("promotion", _NO_PROMOTIONS)
        origin, target = answers["origin"], answers["target"]
        _priors(origin, target, promotion, rows, moves, offsets, self.sharpness, priors)
        values = valued["value"]
        if self.captures is not None:
            values = values.astype(np.float32)
            _weigh(self.captures, offsets, *self._followed.scores(rows, moves, offsets), values, priors)
        return values, priors


def history(board: chess.Board) -> list[int]:
    """Return the keys (64-bit hashes) of the earlier positions of a board's game that can occur again, in the order of
    the game.
    """
    keys: list[int] = described(encode_history(board)).keys.tolist()
    return keys


def repeated(past: list[int]) -> NDArray[np.uint64]:
    """Return the keys (64-bit hashes) of the positions that are drawn if they occur again, uint64: those that occur at
    least twice in the game. past: the keys from `history`.
    """
    return np.array([key for key, times in Counter(past).items() if times > 1], np.uint64)


def repeated_rows(board: chess.Board) -> NDArray[np.uint8]:
    """Return the positions of a board's game that are drawn if they occur again, uint8 [n, 68] (codes and state, see
    `kibitz.PositionArrays`).
    """
    rows = encode_history(board)
    _, first, times = np.unique(described(rows).keys, return_index=True, return_counts=True)
    return rows[first[times > 1]]
