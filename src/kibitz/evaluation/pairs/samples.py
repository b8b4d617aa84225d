"""The pairs that the result page of a `deepchess` test shows as examples.

The network predicts the probability that the position of the game that White won is better for White than the other
position. The examples are pairs with a probability near 1, near 0.5 and near 0, and the largest mistakes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.evaluation.pairs.answers import PairResults
from kibitz.evaluation.samples import DiverseSampler, curve, game_curve, position, records
from kibitz.play.session import Session

OUTPUT, MEANING = "white_better", "better for White"
GALLERY = ((0.9, 1.0, "Surely right"), (0.45, 0.55, "Even"), (0.0, 0.1, "Surely wrong"))
IN_BAND, MISTAKES = 4, 6
CANDIDATES = 20_000
"""The largest number of pairs that `take` examines."""


def page_samples(results: PairResults, session: Session, seed: int) -> dict[str, Any]:
    """Return the examples for the result page by their JSON keys: "pairs", groups of pairs of positions, and "games",
    the games with the largest mistakes.
    """
    of, answers = results.pairs, results.main
    sampler = DiverseSampler(of.store, of.games, of.plies)
    order = np.random.default_rng(seed).permutation(len(of))
    wrong = np.flatnonzero(answers.right == 0)
    wrong = wrong[np.argsort(answers.as_shown[wrong], kind="stable")]
    mistakes = take(results, sampler, wrong, MISTAKES)
    groups: list[tuple[dict[str, Any], list[int]]] = []
    for low, high, title in GALLERY:
        inside = (answers.chance >= low) & (answers.chance <= high)
        groups.append(({"title": title, "band": [low, high]}, take(results, sampler, order[inside[order]], IN_BAND)))
    groups.append(({"title": "Biggest mistakes"}, mistakes))
    groups_of = {
        int(number): (int(of.games[number]), int(of.plies[number]))
        for _, taken in groups for index in taken for number in (of.won[index], of.lost[index])
    }  # fmt: skip
    known = records(of.store, (game for game, _ in groups_of.values()))
    chances = {}
    if groups_of:
        games, plies = (np.array(column) for column in zip(*groups_of.values(), strict=True))
        chances = dict(zip(groups_of, session.evaluate(*of.store.replay(games, plies))[OUTPUT].tolist(), strict=True))

    def side(number: int) -> dict[str, Any]:
        return position(known[groups_of[number][0]], groups_of[number], round(chances[number], 4), MEANING)

    stories = [groups_of[int(number)] for index in mistakes for number in (of.won[index], of.lost[index])]
    return {
        "pairs": [
            head
            | {
                "pairs": [
                    {
                        "chance": round(float(answers.chance[index]), 4),
                        "won": side(int(of.won[index])),
                        "lost": side(int(of.lost[index])),
                    }
                    for index in taken
                ]
            }
            for head, taken in groups
            if taken
        ],
        "games": {
            str(game): game_curve(known[game], curve(session, of.store, game, OUTPUT), ply) for game, ply in stories
        },
    }


def take(results: PairResults, sampler: DiverseSampler, candidates: NDArray[np.int64], count: int) -> list[int]:
    """Select the first `count` candidates whose games and positions are new on the result page. Returns the indices of
    the selected pairs. The list is shorter if there are too few such pairs among the first 20,000 candidates.

    candidates: indices of pairs, in the preferred order.
    sampler: the object that remembers the selected games and positions. A pair with one of them is skipped.
    """
    of = results.pairs
    taken: list[int] = []
    for index in candidates[:CANDIDATES].tolist():
        if len(taken) == count:
            break
        if sampler.take_all([int(of.won[index]), int(of.lost[index])]):
            taken.append(index)
    return taken
