"""The moves that players of many ratings would choose in a chess position, and how often they make mistakes in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kibitz.web.answers import rounded
from kibitz.web.chess.answers import telling
from kibitz.web.chess.judging import judged
from kibitz.web.params import BadRequest

if TYPE_CHECKING:
    from kibitz.web.networks import NetworkInfo, NetworkRegistry
    from kibitz.web.positions import Line

RATINGS = tuple(range(800, 2801, 100))
"""Ratings, of both players, for which the moves are predicted."""
FIRST = 4
"""Number of likely moves for each rating that the response contains."""


def by_rating(networks: NetworkRegistry, network: NetworkInfo, line: Line) -> dict[str, Any]:
    """Return the likely moves of players in the last position, and how often players make a mistake in it, for each of
    RATINGS.

    ratings: RATINGS. moves: the moves with their probability at each rating; the most likely move on average is first.
    risk: the probability at each rating of a move that loses analysis.chess.risk.LOSS or more; null if there is no
    legal move. Raises BadRequest for a network without rating inputs.
    """
    from kibitz.analysis import load
    from kibitz.analysis.chess.judging import Judge
    from kibitz.analysis.chess.ratings import OPPONENT
    from kibitz.analysis.chess.risk import risk
    from kibitz.games.chess.moves import to_move
    from kibitz.play.chess.policy import QUEEN, normalised

    line = judged(network, line)
    session, analysis = networks.session(network.name), load(network.system)
    if OPPONENT not in session.side_inputs:
        raise BadRequest(f"{network.name} has no rating inputs. Choose the network 'human'")
    last = len(line.moves)
    codes, state = line.rows(last, last)
    conditioned_state = telling(session.side_inputs, line, state, last)
    rows = np.concatenate([conditioned_state((rating, rating)) for rating in RATINGS])
    many = np.repeat(codes, len(RATINGS), axis=0)
    found = analysis.expected_moves(session.evaluate(many, rows), many, np.repeat(state, len(RATINGS), axis=0))
    board = line.since_null()
    look = Judge(session, analysis).first_look(board)
    if found is None or look is None:
        return {"ratings": RATINGS, "moves": [], "risk": None}
    packed, offsets, probabilities = found
    legal = packed[: offsets[1]]
    shares = normalised(probabilities, offsets).reshape(len(RATINGS), -1)
    promotion = legal >> 12
    listed = np.flatnonzero((promotion == 0) | (promotion == QUEEN) | (shares.max(0) > 0))
    first = np.argsort(-shares[:, listed], axis=1, kind="stable")[:, :FIRST]
    likely = listed[np.unique(first)]
    likely = likely[np.argsort(-shares[:, likely].mean(0), kind="stable")]
    moves = []
    for i in likely.tolist():
        move = to_move(int(legal[i]))
        moves.append({"move": move.uci(), "san": board.san(move), "p": [rounded(share) for share in shares[:, i]]})
    risks = [risk(look, legal, shares[at], rating) for at, rating in enumerate(RATINGS)]
    return {"ratings": RATINGS, "moves": moves, "risk": [None if one is None else rounded(one) for one in risks]}
