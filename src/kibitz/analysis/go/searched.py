"""Search the positions of a Go game, and put the results into the network's predictions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kibitz import ongoing
from kibitz.analysis.go.predictions import PositionPrediction, terms_of
from kibitz.games.go.io.sgf import Record
from kibitz.games.go.points import BLACK, POINTS
from kibitz.games.go.rules import Board
from kibitz.play.go.puct import GoPuctPlayer
from kibitz.play.go.thought import GoThought, Look, Terms
from kibitz.play.go.value import search_board
from kibitz.play.session import NetworkSession

REMEMBERED = 8
"""The number of results that `searching` keeps. Up to five positions are searched for one move."""


def with_values(
    record: Record, network: NetworkSession, predictions: list[PositionPrediction], visits: int
) -> tuple[list[PositionPrediction], NDArray[np.float64]]:
    """Search the first n positions of a game, where n is the number of predictions. Each position is searched
    separately. Return two values.

    The first value is a copy of the predictions with the lead, the win probability and the best line of the searches.
    The second value is the ownership map of each position, float64 [n, 361]: the probability that each point belongs to
    Black. An ownership map is the mean over all positions in the tree of one search.

    record: a game whose first n - 1 moves are legal.
    network: the network that guides the searches.
    predictions: the network's predictions for the n positions.
    visits: the number of visits of each search (see kibitz.play.go.value).
    """
    player, terms = GoPuctPlayer(network), terms_of(record)
    found, owns = [], np.empty((len(predictions), POINTS))
    for ply, (one, board) in enumerate(ongoing.counted(boards(record, predictions), len(predictions))):
        thought = search_board(network, board, terms, visits, player=player)
        best = thought.moves[0]
        black = best.winrate if thought.colour == BLACK else 1 - best.winrate
        found.append(replace(one, lead=thought.sign * best.lead, black_wins=black, line=best.pv))
        owns[ply] = thought.owners
    return found, owns


def with_lines(
    record: Record, network: NetworkSession, predictions: list[PositionPrediction], visits: int
) -> list[PositionPrediction]:
    """Return a copy of the predictions with the best line and the lead that a search of each position found. The search
    tree is reused from one position to the next.

    record: the game to which the predictions belong.
    network: the network that guides the searches.
    visits: the number of visits of each search.
    """
    player, terms = GoPuctPlayer(network, visits=visits), terms_of(record)
    found = []
    for one, board in ongoing.counted(boards(record, predictions), len(predictions)):
        looks: list[Look] = []
        player.choose(board, board.to_move, terms, on_progress=looks.append)
        thought = looks[-1](1)
        best = thought.moves[0]
        found.append(replace(one, lead=thought.sign * best.lead, line=best.pv))
    return found


def searching(network: NetworkSession, terms: Terms, visits: int) -> Callable[[Board], GoThought]:
    """Return a function that searches a position. Earlier searches do not influence its results.

    The position after a move is also the position before the next one. So the function keeps its last results, and
    returns them again for the same position with the same moves before it. Do not change a result.

    network: the network that guides the searches. terms: komi, scoring and handicap. visits: the number of visits of
    each search.
    """
    player = GoPuctPlayer(network)
    results: dict[Hashable, GoThought] = {}

    def search(board: Board) -> GoThought:
        key = _key(board)
        thought = results.pop(key, None) or search_board(network, board, terms, visits, player=player)
        results[key] = thought
        if len(results) > REMEMBERED:
            del results[next(iter(results))]
        return thought

    return search


def _key(board: Board) -> Hashable:
    """Return all that a search depends on: stones and their ages, prisoners, ko, passes and earlier positions."""
    return (
        board.board.tobytes(), board.to_move, board.ko, board.passes, board.ply, *board.captured, board.positions
    )  # fmt: skip


def boards(record: Record, predictions: list[PositionPrediction]) -> Iterator[tuple[PositionPrediction, Board]]:
    """Yield each prediction together with the board of its position. The predictions belong to the first positions of
    the game, in order.
    """
    board = record.board(0, superko=False, suicide=True)
    board.to_move = colour = record.side
    for ply, one in enumerate(predictions):
        yield one, board
        if ply + 1 < len(predictions):
            board.play(colour, record.moves[ply])
            colour = 3 - colour
