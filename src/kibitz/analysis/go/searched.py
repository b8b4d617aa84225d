"""The results of a search for the positions of a Go game."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


def with_values(
    record: Record, network: NetworkSession, predictions: list[PositionPrediction], visits: int
) -> tuple[list[PositionPrediction], NDArray[np.float64]]:
    """Search the first n positions of a record, where n is the number of predictions. Return two values: the
    predictions, with the lead, the win probability and the best line of the searches; and the searches' ownership maps.

    record: a game whose first n - 1 moves are legal.
    predictions: the network's predictions for the n positions.
    visits: the visits of each search (see play.go.value). Each position is searched separately.

    The ownership maps are float64 [n, 361]: the probability that each point is Black's, as the mean over the positions
    that the search visited.
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
    """Return the predictions with the best line and the lead that a search of each position found.

    visits: the visits of each search. The search tree is reused from one position to the next.
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
    """Return a function that searches a position with `visits` visits. Earlier searches do not influence the result.
    terms: komi, scoring and handicap.
    """
    player = GoPuctPlayer(network)
    return lambda board: search_board(network, board, terms, visits, player=player)


def boards(record: Record, predictions: list[PositionPrediction]) -> Iterator[tuple[PositionPrediction, Board]]:
    """Yield a pair for each prediction: the prediction, and the board of its position. The predictions belong to the
    first positions of the record, in order.
    """
    board = record.board(0, superko=False, suicide=True)
    board.to_move = colour = record.side
    for ply, one in enumerate(predictions):
        yield one, board
        if ply + 1 < len(predictions):
            board.play(colour, record.moves[ply])
            colour = 3 - colour
