"""Compare a person's moves with those of other players of the same strength, for chess and Go.

The other players are represented by the base network, which was not adapted to the person, with the person's strength
as input. Its most likely move is the usual move. A move that is sampled from its predictions represents the choice of
another player of this strength.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation.tables import Cell, Column, Table
from kibitz.personal.shares import PlayerPositions
from kibitz.play.session import Session
from kibitz.stats import ClusterBootstrap

MISTAKE, FIND = 0.2, 0.1
"""Limits of the difference between the expected score (0 to 1) after the person's move and after the usual move of
other players.

A move is a mistake if its expected score is lower by at least MISTAKE, and a find if it is higher by at least FIND.
"""
FAVOURITES, LEAST_GAMES = 8, 3
"""The largest number of openings that are shown for each color, and the smallest number of games that an opening
needs.
"""
FEW_GAMES = 10
"""If an opening has fewer games than this number, its score is shown without an interval."""
Worth = Callable[[Session, PlayerPositions, NDArray[np.uint16]], NDArray[np.float64]]
"""A function that returns the mover's expected score after a given move in each position, float64 [n], 0 to 1."""


@dataclass(frozen=True)
class BesideOthers:
    """A person's moves compared with those of other players. Each array has one entry per move of the person. The value
    of a move is the mover's expected score after the move, 0 to 1. The usual move is the most likely move of other
    players with the same strength.

    positions: the positions in which the person moved.
    own: float64, the value of the person's move minus the value of the usual move, −1 to 1.
    drawn: float64, the value of a sampled move minus the value of the usual move, −1 to 1. The sampled move represents
        the choice of another player.
    usual: uint16, the usual move. It is packed in chess (see `kibitz.games.chess.moves`), and a point in Go.
    chance: float64, the predicted probability that another player plays the person's move.
    """

    positions: PlayerPositions
    own: NDArray[np.float64]
    drawn: NDArray[np.float64]
    usual: NDArray[np.uint16]
    chance: NDArray[np.float64]


def beside_others(
    positions: PlayerPositions, base: Session, worth: Worth, seed: int, on_progress: Callable[[int, int], None]
) -> BesideOthers:
    """Compare a person's moves with the moves that other players would choose in the same positions.

    positions: the positions in which the person moved.
    base: the network that predicts the other players' moves.
    worth: a function that returns the mover's expected score after a given move in each position, 0 to 1.
    seed: the random seed of the sampled moves.
    """
    shares = positions.shares(base, on_progress)
    usual = positions.judge(shares).first
    within = np.random.default_rng(seed).random(len(positions))
    sums = np.cumsum(shares)
    before = sums[positions.offsets[:-1]] - shares[positions.offsets[:-1]]
    drawn = np.clip(np.searchsorted(sums, before + within), positions.offsets[:-1], positions.offsets[1:] - 1)
    found = [worth(base, positions, positions.moves[at]) for at in (positions.played, drawn, usual)]
    return BesideOthers(
        positions, found[0] - found[2], found[1] - found[2], positions.moves[usual], shares[positions.played]
    )


def mistakes_and_finds(compared: BesideOthers, parts: Sequence[tuple[str, NDArray[np.bool_]]], by: str) -> list[Table]:
    """Return two tables with a row for each group of moves. The first table is about mistakes, and the second about
    finds. A row contains the share of mistakes or finds among the person's moves, the share among other players' moves,
    and the difference.

    A move is compared with the usual move in the same position by the mover's expected score, 0 to 1. A move is a
    mistake if its score is lower than the usual move's score by at least 0.2. A move is a find if its score is higher
    by at least 0.1.

    parts: the name of each group, and a mask of the moves in the group, bool [n]. by: a description of the groups, such
    as "phase".
    """
    groups = ClusterBootstrap(compared.positions.games)
    tables = []
    for title, text, wrong in (
        (
            "Mistakes",
            f"Moves after which the expected score is {MISTAKE} or more lower than after the usual move",
            True,
        ),
        ("Finds", f"Moves after which the expected score is {FIND} or more higher than after the usual move", False),
    ):
        own, drawn = (values <= -MISTAKE if wrong else values >= FIND for values in (compared.own, compared.drawn))
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
            f"{text}, which others of the same strength play most: by the person, and by another player of that "
            f"strength in the same positions. Parts: {by}.",
            "part",
            [Column("the person", "small share"), Column("others", "small share"), Column("difference", "points"),
             Column("moves", "count")],
            rows,
        ))  # fmt: skip
    return tables


def favourites(
    lines: Sequence[tuple[str, Sequence[tuple[str, NDArray[np.int64]]]]],
    score: NDArray[np.float64],
    text: str,
) -> Table:
    """Return a table of the person's openings, with the person's score in each opening. For each color, the table has
    at most 8 openings, the most frequent ones first. An opening needs at least 3 games.

    lines: a pair for each color: the color's name, and a list of openings. An opening is a pair: its name, and the
        indices of the games with this opening, int64 [k].
    score: float64 [games], the person's score in each game of the store, 0 to 1.
    text: the text below the table's title.
    """
    rows: list[list[Cell]] = []
    for colour, beginnings in lines:
        every = sum(len(games) for _, games in beginnings)
        for name, games in sorted(beginnings, key=lambda found: -len(found[1]))[:FAVOURITES]:
            if len(games) >= LEAST_GAMES:
                figure = ClusterBootstrap(games).mean(score[games], score=True)
                if len(games) < FEW_GAMES:  # too few games for a useful interval
                    figure = replace(figure, low=math.nan, high=math.nan)
                rows.append([f"{colour}: {name}", figure, len(games) / every, len(games)])
    return Table(
        "Favourite openings", text, "opening",
        [Column("score"), Column("share of games with this color"), Column("games", "count")], rows,
    )  # fmt: skip
