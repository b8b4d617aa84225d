"""A network's answers to positions of Go, as the page shows them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kibitz.web.answers import batches, rounded, rounded_list
from kibitz.web.go.line import GoLine

if TYPE_CHECKING:
    from kibitz.play.session import Session
    from kibitz.web.networks import NetworkInfo, TorchSession


def results(
    session: Session | TorchSession, network: NetworkInfo, line: GoLine, first: int, last: int
) -> Iterator[list[dict[str, Any]]]:
    """The answers to the positions from ply first to last, batch by batch."""
    codes, state = line.rows(first, last)
    for part in batches(len(codes)):
        owners = owners_of(session, network, codes[part], state[part])
        batch = []
        for i, ply in enumerate(range(first + part.start, first + part.stop)):
            lead, chance, on_board = worth(owners[i], line)
            batch.append(
                {"ply": ply, "black": rounded(chance), "moves": None, "origin": None,
                 "owners": rounded_list(on_board, 3), "score": round(lead, 2)}
            )  # fmt: skip
        yield batch


def owners_of(
    session: Session | TorchSession, network: NetworkInfo, codes: NDArray[np.uint8], state: NDArray[np.uint8]
) -> NDArray[np.float32]:
    """The probability that Black owns each point, float32 [n, 361]."""
    from kibitz.analysis import load_owners

    return load_owners(network.system).black_owns(session.evaluate(codes, state)).astype(np.float32)


def worth(owners: NDArray[np.float32], line: GoLine) -> tuple[float, float, NDArray[np.float32]]:
    """From the owners of the points, float32 [361], three values.

    Black's lead in points, minus komi and the compensation for handicap stones; Black's chance, as the GTP engine
    computes it; the owners of the board's own points, float32 [size²].
    """
    from kibitz.play.go import ownership

    lead = float(ownership.lead(owners, line.size)) - line.terms.komi
    chance = ownership.winrate(lead, ownership.spread(owners, line.size))
    return lead, chance, owners[ownership.points_of(line.size)]
