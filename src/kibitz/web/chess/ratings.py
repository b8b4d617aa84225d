"""Predict which moves players of many ratings would choose in a chess position, and how often they make mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kibitz.analysis.chess.risk import NOTHING_SEARCHED
from kibitz.web.answers import rounded
from kibitz.web.chess.answers import telling
from kibitz.web.chess.judging import judged
from kibitz.web.params import BadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kibitz.web.networks import NetworkInfo, NetworkRegistry
    from kibitz.web.positions import Line

RATINGS = tuple(range(800, 2801, 100))
"""The ratings, of both players, for which moves are predicted."""
FIRST = 4
"""`likely_moves` returns the moves that are among this number of most likely moves at some rating."""


def by_rating(
    networks: NetworkRegistry, network: NetworkInfo, line: Line, searched: Mapping[int, float] = NOTHING_SEARCHED
) -> dict[str, Any]:
    """Return, for players of each rating from 800 to 2800, the likely moves in a position and the probability of a
    mistake. The position is the last one of a line (a start position and moves). All probabilities are from 0 to 1.

    searched: the results of a search, as a dict. The keys are the searched moves, packed into integers. The values are
    the losses of win probability, 0 to 1 (see `analysis.chess.risk.searched_losses`). If the dict is empty, the risk is
    computed from estimates of the moves.

    The result has these keys:

    ratings: the ratings, in steps of 100.
    moves: a dict for each legal move, with the highest mean probability first. The key "p" has the probabilities of the
        move, one for each rating.
    risk: the probability at each rating that the player's move loses 10 percentage points of win probability or more;
        None if there is no legal move.

    Raises BadRequest for a network without rating inputs.
    """
    from kibitz.analysis import load
    from kibitz.analysis.chess.judging import Judge
    from kibitz.analysis.chess.ratings import OPPONENT
    from kibitz.analysis.chess.risk import risk
    from kibitz.games.chess.moves import to_move
    from kibitz.play.chess.policy import QUEEN, normalised

    line = judged(network, line)
    session, analysis = networks.session(network.name), load(network.system)
    if not network.rated or OPPONENT not in session.side_inputs:
        raise BadRequest(
            f"{network.name} does not predict the moves of players of any rating. Choose the network 'human'"
        )
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
    listed = listed[np.argsort(-shares[:, listed].mean(0), kind="stable")]
    moves = []
    for i in listed.tolist():
        move = to_move(int(legal[i]))
        moves.append({"move": move.uci(), "san": board.san(move), "p": [rounded(p) for p in shares[:, i]]})
    risks = [risk(look, legal, shares[at], rating, searched) for at, rating in enumerate(RATINGS)]
    return {"ratings": RATINGS, "moves": moves, "risk": [None if one is None else rounded(one) for one in risks]}


def likely_moves(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the moves that are among the 4 most likely moves at one rating or more. found: a result of `by_rating`."""
    moves = found["moves"]
    order = [sorted(range(len(moves)), key=lambda i: -moves[i]["p"][at]) for at in range(len(RATINGS))]
    likely = {i for indices in order for i in indices[:FIRST]}
    return [moves[i] for i in sorted(likely)]
