"""Test how a network evaluates an additional piece: the expected score in opening positions from which one piece was
removed.
"""

from __future__ import annotations

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation.slices import VALUES
from kibitz.evaluation.tables import Cell, Column, Metric, Metrics, Table
from kibitz.games.chess.replay import SIDE, decode_board, encode_board
from kibitz.games.chess.sides import BEYOND, RATING, RATING_UNIT
from kibitz.play.session import Session
from kibitz.stats import ClusterBootstrap, Estimate
from kibitz.store.store import Store

FROM, TO = 8, 14
"""The smallest and the largest number of moves (plies) that were played before an opening position."""
OPENINGS = 200
EQUALS = 1500
"""The rating of both players, which is an input of the network."""
TAKEN = {"queen": (5,), "rook": (4,), "piece": (2, 3)}
"""The kinds of removed pieces by name, as numbers of python-chess's piece types."""
KNOWN = "rnb1kbnr/1pp1pppp/p7/3q4/8/2N5/PPPP1PPP/R1BQKBNR w KQkq - 0 4"
"""A position in which White can take a queen for nothing, after 1. e4 d5 2. exd5 Qxd5 3. Nc3 a6. The test uses the
position after 4. Nxd5.
"""


def openings(store: Store, games: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Sample at most 200 opening positions with equal material, each from a different game. Returns int64 [k, 2]: the
    index of the game in the store, and the number of moves before the position.

    games: int64 [n], the games to sample from. seed: the random seed.
    """
    rng = np.random.default_rng(seed)
    picked = rng.permutation(games[store.plies[games] > TO])[: 8 * OPENINGS]
    plies = rng.integers(FROM, TO + 1, len(picked))
    if not len(picked):
        return np.empty((0, 2), np.int64)
    codes, _ = store.replay(picked, plies)
    equal = VALUES[codes].sum(1, dtype=np.int16) == 0
    return np.stack([picked[equal], plies[equal]], 1)[:OPENINGS]


def without(
    board: chess.Board, codes: tuple[int, ...], colour: chess.Color, rng: np.random.Generator
) -> chess.Board | None:
    """Return a copy of the board without one random piece of a color; None if the color has no piece of the given
    types, or if the new position is invalid.

    codes: the types of pieces that may be removed, as in python-chess. rng: the source of random numbers.
    """
    squares = [square for code in codes for square in board.pieces(code, colour)]
    if not squares:
        return None
    less = board.copy(stack=False)
    less.remove_piece_at(int(rng.choice(squares)))
    less.castling_rights = less.clean_castling_rights()
    return less if less.is_valid() and any(less.legal_moves) else None


def expected_scores(session: Session, boards: list[chess.Board], rating: int = EQUALS) -> NDArray[np.float64]:
    """Return White's expected score in each position, float64 [n], 0 to 1. A draw counts as 0.5.

    session: the network. rating: the rating of both players, if the network has rating inputs.
    """
    rows = np.stack([encode_board(board) for board in boards])
    codes, state = rows[:, :64], rows[:, 64:]
    if session.side_inputs:
        more = np.zeros((len(rows), len(session.side_inputs)), np.uint8)
        state = np.concatenate([state, more], 1)
        if tuple(session.side_inputs) == tuple(BEYOND):
            state[:, RATING : RATING + 2] = rating // RATING_UNIT
    answers = session.evaluate(codes, state)
    mover = (1 + answers["value"].astype(np.float64)) / 2
    return np.where(state[:, SIDE] == 0, mover, 1 - mover)


def handicaps(session: Session, store: Store, games: NDArray[np.int64], seed: int) -> tuple[Metrics, Table]:
    """Test whether the network's expected scores reflect the value of pieces. Returns the metrics "ahead_by_queen",
    "ahead_by_rook", "ahead_by_piece" and "known_blunder", and their table.

    The first three metrics are the mean expected score of the side that has one piece more, between players rated 1500.
    The last metric is White's expected score after White won a queen for nothing.
    """
    rng = np.random.default_rng(seed)
    figures: Metrics = {}
    rows: list[list[Cell]] = []
    positions = openings(store, games, seed)
    boards = []
    for game, ply in positions:
        codes, state = store.replay(np.array([game]), np.array([ply]))
        boards.append(decode_board(codes[0], state[0]))
    for name, codes_of in TAKEN.items():
        cut, of, lost = [], [], []
        for i, board in enumerate(boards):
            colour = bool(rng.integers(0, 2))
            if (less := without(board, codes_of, colour, rng)) is not None:
                cut.append(less)
                of.append(i)
                lost.append(colour)
        if not cut:
            continue
        white = expected_scores(session, cut)
        lost_white = np.array(lost)
        ahead = np.where(lost_white, 1 - white, white)
        to_move = np.array([board.turn for board in cut]) != lost_white
        groups = ClusterBootstrap(np.array(of))
        figures[f"ahead_by_{name}"] = Metric(groups.mean(ahead))
        cells = [groups.mean(ahead), groups.mean(ahead, to_move), groups.mean(ahead, ~to_move)]
        least = float(np.percentile(ahead, 5))
        rows.append([f"a {name}", *cells, least, len(cut)])
    board = chess.Board(KNOWN)
    board.push_san("Nxd5")
    value = float(expected_scores(session, [board])[0])
    blunder = Estimate(value, float("nan"), float("nan"), 1, 1)
    figures["known_blunder"] = Metric(blunder)
    rows.append(["after 1. e4 d5 2. exd5 Qxd5 3. Nc3 a6 4. Nxd5", blunder, None, None, None, 1])
    return figures, Table(
        "A piece up in the opening",
        f"Real openings after {FROM} to {TO} plies, equal so far, with one piece removed. Expected score (a draw is "
        f"half) of the side that is ahead, between players rated {EQUALS}, also by side to move; 5% of the positions "
        "are below the 5th percentile.",
        "ahead by",
        [
            Column("expected score"),
            Column("to move"),
            Column("not to move"),
            Column("5th percentile"),
            Column("positions", "count"),
        ],
        rows,
    )
