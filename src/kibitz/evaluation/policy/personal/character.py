"""Describe a chess player's style: favorite openings, moves that others of the same rating don't find, and mistakes
that others avoid.

The other players are represented by the base network, which was not adapted to the person, with the person's rating as
input. The same network, with a high rating as input, evaluates a move by the expected score after the move.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation.policy.personal.beside import (
    FIND,
    MISTAKE,
    BesideOthers,
    beside_others,
    favourites,
    mistakes_and_finds,
)
from kibitz.evaluation.samples import DiverseSampler, position, records
from kibitz.evaluation.tables import Table
from kibitz.games.chess.material import PHASES, phase
from kibitz.games.chess.moves import to_move
from kibitz.games.chess.sides import BEYOND, RATING_UNIT
from kibitz.personal.chess.positions import ChessPlayerPositions
from kibitz.personal.games import NEITHER, in_time, sides_of
from kibitz.personal.shares import PlayerPositions
from kibitz.play.puct.chess import ChessRules
from kibitz.play.puct.tree import DRAW, LOSS, WIN
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.store.store import Store
from kibitz.text import signed

LOOKED_AT = 300
"""The number of the person's newest games that are analyzed."""
STRONG = 2400
"""The rating of both sides that is the network's input for the evaluation of a move."""
RARE = 0.1
"""A move is rare if the predicted probability that other players choose it is lower than this number."""
FIRST_PLIES, SHOWN = 4, 12
PIECES = ("pawn", "knight", "bishop", "rook", "queen", "king")


def character(run: Run, store: Store, seed: int, on_progress: Callable[[int, int], None]) -> dict[str, Any]:
    """Return the parts of the result page that describe a chess player's style, as a dict of JSON data: tables, example
    positions and mistakes.

    The analysis uses the person's newest games in the store. These may be training games, because the analysis uses
    only the base network, which was not trained on them. run: the person's network. seed: the
    random seed.
    """
    sides = sides_of(store, run.info["person"]["names"])
    order = in_time(store)
    mine = order[(sides[order] != NEITHER) & (store.plies[order] > 1)]
    positions = ChessPlayerPositions(store, mine[-LOOKED_AT:], sides)
    compared = beside_others(positions, Session(run.info["base"], corrected=False), worth, seed, on_progress)
    tables = [
        _openings(store, mine, sides),
        *mistakes_and_finds(compared, _parts(positions), "phase and by the piece moved"),
    ]
    return {"tables": [table for table in tables if table.rows], **_boards(store, compared)}


def _openings(store: Store, mine: NDArray[np.int64], sides: NDArray[np.int8]) -> Table:
    """Return the table of the most frequent first moves with White and with Black, and the person's score with them."""
    lines: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for game in mine.tolist():
        if store.start_of[game] == 0 and store.plies[game] >= FIRST_PLIES:
            at = store.offsets[game]
            key = int(sides[game]), tuple(store.moves[at : at + FIRST_PLIES].tolist())
            lines.setdefault(key, []).append(game)
    return favourites(
        [
            (colour, [(_line(moves), np.array(games)) for (of, moves), games in lines.items() if of == side])
            for side, colour in enumerate(("White", "Black"))
        ],
        (1 + store.column("result").astype(np.float64) * (1 - 2 * sides)) / 2,
        "The first two moves of both sides, how often the person had them, and the score, with a draw as half a win.",
    )


def _line(moves: tuple[int, ...]) -> str:
    board = chess.Board()
    return board.variation_san([to_move(move) for move in moves])


def _parts(positions: PlayerPositions) -> list[tuple[str, NDArray[np.bool_]]]:
    """Return masks of the moves by name: all moves, and the moves by phase and by moving piece."""
    squares = (positions.packed & 63).astype(np.intp)
    piece = (positions.codes[np.arange(len(positions)), squares].astype(np.int64) - 1) % 6
    parts = [("all moves", np.ones(len(positions), np.bool_))]
    parts += [(name, phase(positions.codes) == i) for i, name in enumerate(PHASES)]
    return parts + [(name, piece == i) for i, name in enumerate(PIECES)]


def worth(session: Session, positions: PlayerPositions, moves: NDArray[np.uint16]) -> NDArray[np.float64]:
    """Return the mover's expected score after the given move in each position, float64 [n], 0 to 1.

    The score is 1 if the move mates, 0 if the opponent can then mate in one move, and 0.5 if the game is then drawn.
    moves: uint16 [n], packed as in `kibitz.games.chess.moves`.
    """
    rows = np.concatenate([positions.codes, positions.state[:, :4]], 1)
    ended = ChessRules(session, session).enter(rows, moves).ended
    state = np.zeros((len(rows), 4 + len(BEYOND)), np.uint8)
    state[:, :4] = rows[:, 64:]
    state[:, 4:6] = STRONG // RATING_UNIT
    state[:, 6:8] = positions.state[:, 6:8]
    state[:, 8], state[:, 9] = (moves & 63) + 1, (moves >> 6 & 63) + 1
    state[:, 10:12] = positions.state[:, 8:10]
    codes = np.ascontiguousarray(rows[:, :64])
    worth = (1 - session.evaluate(codes, state)["value"].astype(np.float64)) / 2
    return np.select([ended == LOSS, ended == WIN, ended == DRAW], [1.0, 0.0, 0.5], worth)


def _boards(store: Store, compared: BesideOthers) -> dict[str, Any]:
    """Return the positions of finds and of mistakes that others seldom play, the largest difference first."""
    positions, seldom = compared.positions, compared.chance < RARE
    sampler = DiverseSampler(store, positions.games, positions.plies)

    def take(values: NDArray[np.float64], least: float) -> list[int]:
        some = np.flatnonzero(seldom & (values >= least))
        return sampler.take(some[np.argsort(-values[some], kind="stable")].tolist(), SHOWN)

    finds, mistakes = take(compared.own, FIND), take(-compared.own, MISTAKE)
    known = records(store, (int(positions.games[i]) for i in [*finds, *mistakes]))

    def card(index: int) -> dict[str, Any]:
        at = (int(positions.games[index]), int(positions.plies[index]))
        board = chess.Board(known[at[0]].fen(at[1]))
        played, usual = (board.san(to_move(int(move))) for move in (positions.packed[index], compared.usual[index]))
        meaning = (
            f"{played} among others, who play {usual}; expected score {signed(100 * compared.own[index], 0)} points"
        )
        return position(known[at[0]], at, round(float(compared.chance[index]), 4), meaning)

    gallery = [{"title": "Moves that others seldom find", "positions": [card(i) for i in finds]}] if finds else []
    return {"gallery": gallery, "mistakes": [card(i) for i in mistakes]}
