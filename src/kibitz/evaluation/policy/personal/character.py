"""What is special about a person: favourite openings, moves that others of the rating do not find, and mistakes that
they do not make.

Others are the network that the run began from, told the person's rating: what it expects most, and one move drawn from
what it expects, which stands for another player of that rating in the same position. What a move is worth is told by
the same network, told the highest rating that it knows well: the expected score after it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation.policy.personal.arms import Arms
from kibitz.evaluation.samples import DiverseSampler, position, records
from kibitz.evaluation.tables import Cell, Column, Table
from kibitz.games.chess.material import PHASES, phase
from kibitz.games.chess.moves import to_move
from kibitz.games.chess.sides import BEYOND, RATING_UNIT
from kibitz.personal.games import NEITHER, in_time, sides_of
from kibitz.personal.shares import Asked
from kibitz.play.puct.chess import ChessRules
from kibitz.play.puct.tree import DRAW, LOSS, WIN
from kibitz.play.session import Session
from kibitz.runs import Run
from kibitz.stats import ClusterBootstrap
from kibitz.store.store import Store

LOOKED_AT = 300
"""Newest games that are looked at."""
STRONG = 2400
"""The rating of both sides for what a move is worth."""
MISTAKE, FIND = 0.2, 0.1
"""A move is a mistake where the expected score after it is so much lower (of 0 to 1) than after what others play most,
and a find where it is so much higher."""
RARE = 0.1
"""Others seldom play a move of a lower probability."""
FIRST_PLIES, FAVOURITES, LEAST_GAMES, SHOWN = 4, 8, 3, 12
PIECES = ("pawn", "knight", "bishop", "rook", "queen", "king")


@dataclass(frozen=True)
class _BesideOthers:
    """The person's moves beside those of others, one entry a move.

    own, drawn: what the person's move, and the one drawn from what others play, are worth above the move that others
    play most, −1..1; usual, chance: that move, and the share of the person's move among others.
    """

    asked: Asked
    own: NDArray[np.float64]
    drawn: NDArray[np.float64]
    usual: NDArray[np.uint16]
    chance: NDArray[np.float64]


def character(run: Run, store: Store, arms: Arms, seed: int, on_progress: Callable[[int, int], None]) -> dict[str, Any]:
    """Tables, gallery and mistakes of a result page. They look at the person's newest games in the store, those that
    were learned from too: nothing here is told by what was learned."""
    sides = sides_of(store, run.info["person"]["names"])
    order = in_time(store)
    mine = order[(sides[order] != NEITHER) & (store.plies[order] > 1)]
    compared = _compare(run, store, mine[-LOOKED_AT:], sides, seed, on_progress)
    tables = [_openings(store, mine, sides), *_special(compared)]
    return {"tables": [table for table in tables if table.rows], **_boards(store, compared)}


# Openings


def _openings(store: Store, mine: NDArray[np.int64], sides: NDArray[np.int8]) -> Table:
    """The most frequent first moves with White and with Black, and the score with them."""
    lines: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for game in mine.tolist():
        if store.start_of[game] == 0 and store.plies[game] >= FIRST_PLIES:
            at = store.offsets[game]
            key = int(sides[game]), tuple(store.moves[at : at + FIRST_PLIES].tolist())
            lines.setdefault(key, []).append(game)
    score = (1 + store.column("result").astype(np.float64) * (1 - 2 * sides)) / 2
    rows: list[list[Cell]] = []
    for side, name in enumerate(("White", "Black")):
        mine_of = sum(len(games) for (of, _), games in lines.items() if of == side)
        of_side = sorted(
            ((games, moves) for (of, moves), games in lines.items() if of == side), key=lambda x: -len(x[0])
        )
        for games, moves in of_side[:FAVOURITES]:
            if len(games) >= LEAST_GAMES:
                figure = ClusterBootstrap(games).mean(score[games])
                rows.append([f"{name}: {_line(moves)}", figure, len(games) / mine_of, len(games)])
    return Table(
        "Favourite openings",
        "The first two moves of both sides, by how often the person had them, and the score (a draw is half a win).",
        "opening",
        [Column("score"), Column("of the games with this colour"), Column("games", "count")],
        rows,
    )


def _line(moves: tuple[int, ...]) -> str:
    board = chess.Board()
    return board.variation_san([to_move(move) for move in moves])


# Beside others


def _compare(
    run: Run,
    store: Store,
    games: NDArray[np.int64],
    sides: NDArray[np.int8],
    seed: int,
    on_progress: Callable[[int, int], None],
) -> _BesideOthers:
    asked = Asked(store, games, sides)
    base = Session(run.info["base"], corrected=False)
    shares = asked.shares(base, on_progress)
    usual = asked.judge(shares).first
    within = np.random.default_rng(seed).random(len(asked))
    sums = np.cumsum(shares)
    before = sums[asked.offsets[:-1]] - shares[asked.offsets[:-1]]
    drawn = np.clip(np.searchsorted(sums, before + within), asked.offsets[:-1], asked.offsets[1:] - 1)
    worth = [_worth(base, asked, asked.moves[at]) for at in (asked.played, drawn, usual)]
    return _BesideOthers(asked, worth[0] - worth[2], worth[1] - worth[2], asked.moves[usual], shares[asked.played])


def _worth(session: Session, asked: Asked, moves: NDArray[np.uint16]) -> NDArray[np.float64]:
    """The mover's expected score after each of some moves, 0..1 [n]: 1 after a mate, 0 where the other side mates."""
    rows = np.concatenate([asked.codes, asked.state[:, :4]], 1)
    ended = ChessRules(session, session).enter(rows, moves).ended
    state = np.zeros((len(rows), 4 + len(BEYOND)), np.uint8)
    state[:, :4] = rows[:, 64:]
    state[:, 4:6] = STRONG // RATING_UNIT
    state[:, 6:8] = asked.state[:, 6:8]
    state[:, 8], state[:, 9] = (moves & 63) + 1, (moves >> 6 & 63) + 1
    state[:, 10:12] = asked.state[:, 8:10]
    codes = np.ascontiguousarray(rows[:, :64])
    worth = (1 - session.evaluate(codes, state)["value"].astype(np.float64)) / 2
    return np.select([ended == LOSS, ended == WIN, ended == DRAW], [1.0, 0.0, 0.5], worth)


def _special(compared: _BesideOthers) -> list[Table]:
    """How often the person's moves are better and worse than what others play, by phase and by piece."""
    asked = compared.asked
    squares = (asked.packed & 63).astype(np.intp)
    piece = (asked.codes[np.arange(len(asked)), squares].astype(np.int64) - 1) % 6
    groups = ClusterBootstrap(asked.games)
    parts = [("all moves", np.ones(len(asked), np.bool_))]
    parts += [(name, phase(asked.codes) == i) for i, name in enumerate(PHASES)]
    parts += [(name, piece == i) for i, name in enumerate(PIECES)]
    tables = []
    for title, text, wrong in (
        ("Mistakes", f"Moves after which the expected score is {MISTAKE} or more lower than after the usual one", True),
        ("Finds", f"Moves after which the expected score is {FIND} or more higher than after the usual one", False),
    ):
        own, drawn = (
            (values <= -MISTAKE if wrong else values >= FIND).astype(np.float64)
            for values in (compared.own, compared.drawn)
        )
        rows: list[list[Cell]] = [
            [
                name,
                groups.mean(own, part),
                groups.mean(drawn, part),
                groups.difference(own, drawn, part),
                int(part.sum()),
            ]
            for name, part in parts
            if part.any()
        ]
        tables.append(Table(
            title,
            f"{text}, which others of the same rating play most there: of the person, and of another player of that "
            "rating who had to move in the same positions. By phase and by the piece moved.",
            "part",
            [Column("the person", "small share"), Column("others", "small share"), Column("difference", "points"),
             Column("moves", "count")],
            rows,
        ))  # fmt: skip
    return tables


# Boards


def _boards(store: Store, compared: _BesideOthers) -> dict[str, Any]:
    """The finds and the mistakes that others seldom play, the largest first."""
    asked, seldom = compared.asked, compared.chance < RARE
    sampler = DiverseSampler(store, asked.games, asked.plies)

    def take(values: NDArray[np.float64], least: float) -> list[int]:
        some = np.flatnonzero(seldom & (values >= least))
        return sampler.take(some[np.argsort(-values[some], kind="stable")].tolist(), SHOWN)

    finds, mistakes = take(compared.own, FIND), take(-compared.own, MISTAKE)
    known = records(store, (int(asked.games[i]) for i in [*finds, *mistakes]))

    def card(index: int) -> dict[str, Any]:
        place = (int(asked.games[index]), int(asked.plies[index]))
        board = chess.Board(known[place[0]].fens[place[1]])
        played, usual = (board.san(to_move(int(move))) for move in (asked.packed[index], compared.usual[index]))
        meaning = f"{played} among others, who play {usual}; expected score {100 * compared.own[index]:+.0f} points"
        return position(known[place[0]], place, round(float(compared.chance[index]), 4), meaning)

    gallery = [{"title": "Moves that others seldom find", "positions": [card(i) for i in finds]}] if finds else []
    return {"gallery": gallery, "mistakes": [card(i) for i in mistakes]}
