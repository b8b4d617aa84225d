"""Heat maps of predicted moves: the probabilities of the squares from which and to which a piece moves, in sample
positions.
"""

from __future__ import annotations

from typing import Any

import chess
import numpy as np

from kibitz.evaluation.policy.metrics import PolicyResults, with_side_inputs
from kibitz.evaluation.samples import DiverseSampler, records
from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.moves import to_move
from kibitz.play.chess.policy import move_probabilities, normalised
from kibitz.play.session import Session
from kibitz.store.positions import Batch
from kibitz.systems.movers.nets import PIECES

POSITIONS, CHOICES = 8, 3


def heat_maps(session: Session, results: PolicyResults, seed: int) -> list[dict[str, Any]]:
    """Return sample positions for the result page as JSON data, each from a different game, ordered by the number of
    moves before the position. A position has these keys:

    origin, target: the network's probabilities for the from-square and the to-square, each a list for 64 squares. The
        to-square is predicted for the piece of the most likely move.
    target_of: the name of this piece.
    choices: the most likely legal moves with their probabilities, which add up to 1 over all legal moves.
    played, rank: the move of the game, and its rank among the legal moves.
    fen, game, ply: the position, the index of its game in the database of games, and the number of moves before the
        position.
    """
    order = np.random.default_rng(seed).permutation(len(results.games))
    chosen = np.array(DiverseSampler(results.store, results.games, results.plies).take(order, POSITIONS))
    chosen = chosen[np.argsort(results.plies[chosen], kind="stable")]
    games, plies = results.games[chosen], results.plies[chosen]
    codes, state = results.store.replay(games, plies)
    batch = Batch(codes, state, games, plies)
    answers = session.evaluate(codes, with_side_inputs(session, results.settings, results.store, batch))
    moves, offsets = legal_moves(codes, state)
    chances = normalised(move_probabilities(answers, codes, moves, offsets), offsets)
    known = records(results.store, games.tolist())
    maps = []
    for i, (game, ply) in enumerate(zip(games.tolist(), plies.tolist(), strict=True)):
        mine = slice(offsets[i], offsets[i + 1])
        best = np.argsort(-chances[mine], kind="stable")[:CHOICES]
        board = chess.Board(known[game].fen(ply))
        first = int(moves[mine][best[0]]) & 63
        on = f" on {chess.square_name(first)}" if results.by_square else ""
        kind = (int(codes[i, first]) - 1) % 6
        row = first if results.by_square else kind
        maps.append(
            {
                "fen": board.fen(),
                "game": str(game),
                "ply": ply,
                "origin": _rounded(answers["origin"][i]),
                "target": _rounded(answers["target"][i, row]),
                "target_of": PIECES[kind] + on,
                "choices": [
                    {"move": board.san(to_move(int(moves[mine][j]))), "probability": round(float(chances[mine][j]), 4)}
                    for j in best
                ],
                "played": known[game].san[ply],
                "rank": int(results.marks["rank"][chosen[i]]),
                **known[game].headers,
            }
        )
    return maps


def _rounded(chances: np.ndarray) -> list[float]:
    return [round(float(chance), 3) for chance in chances]
