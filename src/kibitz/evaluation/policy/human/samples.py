"""The positions that the result page of a `human` test shows as examples: those whose predictions differ most by
rating, and the largest mistakes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation.policy.human.results import HumanResults
from kibitz.evaluation.samples import DiverseSampler, position, records
from kibitz.games.chess.legal import legal_moves
from kibitz.games.chess.moves import to_move
from kibitz.games.chess.sides import RATING, RATING_UNIT
from kibitz.play.chess.policy import move_probabilities, normalised

N_SAMPLES = 12
SEARCHED = 4096
"""The number of positions among which `samples` looks for predictions that differ by rating."""
WEAKER, STRONGER = 1200, 2200
"""The two ratings for which the result page compares the predicted moves."""


def samples(results: HumanResults, seed: int) -> dict[str, Any]:
    """Return the examples for the result page by their JSON keys: positions in which the predictions for two ratings
    differ, and positions with the most certain wrong predictions.
    """
    sampler = DiverseSampler(results.store, results.games, results.plies)
    wrong = np.flatnonzero(~results.right)
    mistakes = sampler.take(wrong[np.argsort(-results.marks["surest"][wrong], kind="stable")], N_SAMPLES)
    subset = np.sort(np.random.default_rng(seed + 1).permutation(len(results.indices))[:SEARCHED])
    differences = _differences(results, subset)
    gallery = sampler.take(list(differences), N_SAMPLES)
    known = records(results.store, (int(results.games[i]) for i in [*mistakes, *gallery]))

    def card(index: int, probability: float, meaning: str) -> dict[str, Any]:
        game_ply = (int(results.games[index]), int(results.plies[index]))
        return position(known[game_ply[0]], game_ply, round(probability, 4), meaning)

    def san(index: int, move: int) -> str:
        fen = known[int(results.games[index])].fen(int(results.plies[index]))
        return chess.Board(fen).san(to_move(move))

    cards = []
    for index in gallery:
        choice = differences[index]
        meaning = (
            f"{WEAKER}: {san(index, choice.weaker)} {choice.weaker_chance:.0%}; {STRONGER}: "
            f"{san(index, choice.stronger)} {choice.stronger_chance:.0%}; that move at {WEAKER}"
        )
        cards.append(card(index, choice.chance, meaning))
    surest, best = results.marks["surest"], results.marks["best"]
    return {
        "gallery": [{"title": f"{WEAKER} and {STRONGER} play differently", "positions": cards}] if cards else [],
        "mistakes": [card(i, float(surest[i]), f"{san(i, int(best[i]))} is played") for i in mistakes],
    }


@dataclass(frozen=True)
class Difference:
    """The most likely moves in a position for weaker and for stronger players, with their probabilities. WEAKER = 1200
    and STRONGER = 2200 are the two ratings.

    weaker, stronger: the most likely moves, packed as in `kibitz.games.chess.moves`.
    weaker_chance: the probability of the move `weaker` for players rated WEAKER.
    stronger_chance: the probability of the move `stronger` for players rated STRONGER.
    chance: the probability that players rated WEAKER choose the move `stronger`.
    """

    weaker: int
    weaker_chance: float
    stronger: int
    stronger_chance: float
    chance: float


def _differences(results: HumanResults, subset: NDArray[np.int64]) -> dict[int, Difference]:
    """Return indices of positions in which the most likely moves for the two ratings differ.

    They are ordered by how much more likely the move predicted for STRONGER is at STRONGER than at WEAKER.
    """
    rated = results.rated
    batch = results.positions.batch(results.indices[subset])
    moves, offsets = legal_moves(batch.codes, batch.state)
    chances = []
    for rating in (WEAKER, STRONGER):
        state = rated.full_state(batch)
        state[:, RATING : RATING + 2] = rating // RATING_UNIT
        answers = rated.session.evaluate(batch.codes, state)
        chances.append(normalised(move_probabilities(answers, batch.codes, moves, offsets), offsets))
    weak, strong = chances
    differing: list[tuple[float, int, Difference]] = []
    for i, index in enumerate(subset.tolist()):
        first, part = int(offsets[i]), slice(offsets[i], offsets[i + 1])
        one, other = first + int(weak[part].argmax()), first + int(strong[part].argmax())
        if one != other:
            difference = Difference(
                int(moves[one]), float(weak[one]), int(moves[other]), float(strong[other]), float(weak[other])
            )
            differing.append((float(weak[other] - strong[other]), index, difference))
    differing.sort(key=lambda entry: entry[0])
    return {index: difference for _, index, difference in differing[: 20 * N_SAMPLES]}
