"""The moves that players of many ratings would choose in a chess position, and how often they make mistakes in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kibitz.web.answers import rounded
from kibitz.web.chess.answers import telling
from kibitz.web.chess.judging import judged
from kibitz.web.params import BadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kibitz.web.networks import NetworkInfo, NetworkRegistry
    from kibitz.web.positions import Line

RATINGS = tuple(range(800, 2801, 100))
"""Ratings, of both players, for which the moves are predicted."""
_HALF_DIGIT = 5e-5
"""Half of the last digit of values that are rounded to four digits."""
FIRST = 4
"""Number of likely moves for each rating that `likely_moves` returns."""


def by_rating(networks: NetworkRegistry, network: NetworkInfo, line: Line) -> dict[str, Any]:
    """Return the likely moves of players in the last position, and how often players make a mistake in it, for each of
    RATINGS.

    ratings: RATINGS. moves: the legal moves, the most likely move on average first; p: the probability of the move at
    each rating; mistake: the probability at each rating that the move loses analysis.chess.risk.LOSS or more, by a
    first estimate. The page replaces the estimate of each move that a search has evaluated. risk: the sum of p times
    mistake at each rating; null if there is no legal move. All are 0 to 1. Raises BadRequest for a network without
    rating inputs.
    """
    from kibitz.analysis import load
    from kibitz.analysis.chess.judging import Judge
    from kibitz.analysis.chess.ratings import OPPONENT
    from kibitz.analysis.chess.risk import mistake_probability, risk
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
    listed = listed[np.argsort(-shares[:, listed].mean(0), kind="stable")]
    mistakes = np.array([mistake_probability(look.losses_of(legal), rating) for rating in RATINGS])
    # The only legal move is never a mistake, and a move without an estimate counts as none.
    mistakes = np.nan_to_num(mistakes) * (len(look.moves) > 1)
    moves = []
    for i in listed.tolist():
        move = to_move(int(legal[i]))
        by_move = {"p": [rounded(p) for p in shares[:, i]], "mistake": [rounded(p) for p in mistakes[:, i]]}
        moves.append({"move": move.uci(), "san": board.san(move), **by_move})
    risks = [risk(look, legal, shares[at], rating) for at, rating in enumerate(RATINGS)]
    return {"ratings": RATINGS, "moves": moves, "risk": [None if one is None else rounded(one) for one in risks]}


def likely_moves(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the moves of a result of `by_rating` that are among the FIRST likely moves for at least one rating, each
    without the key "mistake".
    """
    moves = found["moves"]
    order = [sorted(range(len(moves)), key=lambda i: -moves[i]["p"][at]) for at in range(len(RATINGS))]
    likely = {i for indices in order for i in indices[:FIRST]}
    return [{key: value for key, value in moves[i].items() if key != "mistake"} for i in sorted(likely)]


def risk_with(found: dict[str, Any], losses: Mapping[str, float]) -> list[float | None]:
    """Return the risk at each rating of a result of `by_rating`, 0 to 1; an empty list without a legal move.

    losses: the loss of each move that a search has evaluated, 0 to 1, by its UCI notation. If a move has been searched,
    its loss decides whether the move counts as a mistake. For the other moves, the first estimate gives the probability
    of a mistake. The page computes the same numbers.
    """
    from kibitz.analysis.chess.risk import LOSS

    risks: list[float | None] = []
    for at, estimated in enumerate(found["risk"] or ()):
        if estimated is None:
            risks.append(None)
            continue
        known = [move for move in found["moves"] if move["move"] in losses]
        changes = (
            move["p"][at] * ((losses[move["move"]] >= LOSS - _HALF_DIGIT) - move["mistake"][at]) for move in known
        )
        risks.append(rounded(min(1.0, max(0.0, estimated + sum(changes)))))
    return risks
