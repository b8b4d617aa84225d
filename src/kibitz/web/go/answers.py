"""Evaluate Go positions with a network, as dicts for the page of `kibitz board`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kibitz.web.answers import batches, rounded, rounded_list
from kibitz.web.go.line import GoLine

if TYPE_CHECKING:
    from kibitz.analysis.go.predictions import PositionPrediction
    from kibitz.games.go.endings.final import FinalCount
    from kibitz.play.session import Session
    from kibitz.web.networks import NetworkInfo
    from kibitz.web.torch_process import TorchSession

N_MOVES = 8
"""The largest number of likely moves in a result."""


def results(
    session: Session | TorchSession, network: NetworkInfo, line: GoLine, first: int, last: int
) -> Iterator[list[dict[str, Any]]]:
    """Yield the network's results for the positions of a line (a start position and moves) from ply `first` to ply
    `last`, batch by batch. Each result is a dict for the browser page of `kibitz board`. session: the loaded network.

    If the network predicts moves, winner and score, its predictions are used. If it predicts only ownership, the win
    probability and the score are computed from the ownership map.
    """
    codes, state = line.rows(first, last)
    return results_of(session, network, line, codes, state, first)


def results_of(
    session: Session | TorchSession, network: NetworkInfo, line: GoLine,
    codes: NDArray[np.uint8], state: NDArray[np.uint8], first: int | None = 0,
) -> Iterator[list[dict[str, Any]]]:  # fmt: skip
    """Yield the network's results for n positions, batch by batch. Each result is a dict for the browser page of
    `kibitz board`.

    session: the loaded network.
    network: the description of the network.
    line: the line (a start position and moves) from which the positions come. It gives the board size, the komi and the
        rules. If the line ends with two passes, the positions after the last move that is not a pass get the final
        score.
    codes, state: the positions, uint8 [n, 361] and uint8 [n, 4], see `kibitz.PositionArrays`.
    first: the ply of the first position. Each next position has the next ply. None if the positions are changed copies
        of the line's positions. Then none of them gets the final score.
    """
    from kibitz.analysis import load_owners
    from kibitz.analysis.go.predictions import predictions_of
    from kibitz.play.go.ownership import judge, points_of, with_board_inputs

    state = with_board_inputs(state, session.side_inputs, line.terms)
    judged, there = judge(session, line.terms), points_of(line.size)
    counted_from, final = (0, None) if first is None else _final(line)
    for part in batches(len(codes)):
        answers = judged.evaluate(codes[part], state[part])
        owners = load_owners(network.system).black_owns(answers).astype(np.float32)
        predictions = predictions_of(answers, state[part])
        batch: list[dict[str, Any]] = []
        for i, ply in enumerate(range((first or 0) + part.start, (first or 0) + part.stop)):
            lead, chance = (predictions[i].lead, predictions[i].black_wins) if predictions else worth(owners[i], line)
            over = final is not None and ply >= counted_from + 2  # nobody moves after two passes
            if final is not None and ply >= counted_from:
                lead, chance, owners[i] = final.lead, final.black_wins, final.black_owns
            batch.append(
                {"ply": ply, "black": rounded(chance), "origin": None, "owners": rounded_list(owners[i][there], 3),
                 "score": rounded(lead, 2),
                 "moves": likely_moves(predictions[i], line.size) if predictions and not over else None}
            )  # fmt: skip
        yield batch


def _final(line: GoLine) -> tuple[int, FinalCount | None]:
    """Return the ply after which only passes follow, and the final score, if two passes end the line; else None."""
    from kibitz.games.go.endings.final import count_board
    from kibitz.games.go.points import PASS

    passes = next((i for i, point in enumerate(reversed(line.moves)) if point != PASS), len(line.moves))
    if passes < 2:
        return 0, None
    return len(line.moves) - passes, count_board(line.board(), line.terms.komi, line.law.territory)


def likely_moves(predictions: PositionPrediction, size: int) -> list[dict[str, Any]]:
    """Return the most likely moves with their probabilities, at most N_MOVES (8), as dicts for the browser page of
    `kibitz board`. size: the board size.
    """
    from kibitz.games.go.points import to_gtp

    names = [(to_gtp(point, size), chance) for point, chance in predictions.likely(N_MOVES) if chance > 0]
    return [{"move": name, "san": name, "p": rounded(chance)} for name, chance in names]


def worth(owners: NDArray[np.float32], line: GoLine) -> tuple[float, float]:
    """Compute Black's lead and Black's win probability from an ownership map. Return the lead in points, which includes
    komi and handicap compensation, and the win probability, 0 to 1. The GTP engine computes the same lead.

    owners: float32 [361], the probability that each intersection of the 19×19 grid will be Black's.
    line: a line (a start position and moves) with the board size, the komi and the rules.
    """
    from kibitz.play.go import ownership

    lead = float(ownership.lead(owners, line.size)) - line.terms.margin
    chance = ownership.winrate(lead, ownership.spread(owners, line.size))
    return lead, chance
