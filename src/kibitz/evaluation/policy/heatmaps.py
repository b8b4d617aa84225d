"""Heat maps of a network's moves: the probabilities of origin and target squares in sample positions."""

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
    """Return sample positions for the result page as JSON, each from a different game, ordered by ply.

    origin, target: the network's probabilities for the from-square and the to-square, on all 64 squares. The
        probabilities of the to-square are given the piece that makes the most likely move.
    choices: the most likely legal moves with their probabilities, normalized over legal moves.
    played, rank: the move of the game, and its rank among the legal moves.
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
        board = chess.Board(known[game].fens[ply])
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
