"""Compare the predicted probabilities of the first move of a game with the frequencies in the tested games."""

from __future__ import annotations

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation.tables import Cell, Column, Table
from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.moves import to_move
from kibitz.games.chess.replay import STANDARD_START
from kibitz.play.chess.policy import move_probabilities, normalised
from kibitz.play.session import Session
from kibitz.stats import ClusterBootstrap
from kibitz.store.store import Store

SHOWN = 8


def opening_moves(session: Session, store: Store, games: NDArray[np.int64]) -> list[Table]:
    """Return a list with one table: the most likely first moves, with their predicted probability and their frequency
    in the games.

    games: int64 [k], indices in the store. The list is empty if no game began from the standard start position.
    """
    games = games[(store.start_of[games] == 0) & (store.plies[games] > 0)]  # 0 is the usual start
    if not len(games):
        return []
    start = np.asarray(STANDARD_START, np.uint8)[None]
    codes, state = start[:, :64], start[:, 64:]
    moves, offsets = legal_moves(codes, state)
    chances = normalised(move_probabilities(session.evaluate(codes, state), codes, moves, offsets), offsets)
    best = np.argsort(-chances, kind="stable")[:SHOWN]
    first = store.moves[store.offsets[games]]
    board = chess.Board()
    played = ClusterBootstrap(games).means([first == moves[i] for i in best])
    rows: list[list[Cell]] = [
        [board.san(to_move(int(moves[i]))), round(float(chances[i]), 4), figure]
        for i, figure in zip(best, played, strict=True)
    ]
    return [
        Table(
            "First moves",
            "The network's probabilities in the start position, and how often the tested games began with these moves.",
            "move",
            [
                Column("network"),
                Column("games"),
            ],
            rows,
        )
    ]
