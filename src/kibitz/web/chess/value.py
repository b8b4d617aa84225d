"""Compute the value of a chess position by a network's search. All parts of kibitz show this value."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from kibitz.web.chess.judging import judged

if TYPE_CHECKING:
    from kibitz.web.networks import NetworkInfo, NetworkRegistry
    from kibitz.web.positions import Line


def value(networks: NetworkRegistry, network: NetworkInfo, line: Line, stop: threading.Event) -> dict[str, Any]:
    """Return the value of the last position of a line (a start position and moves), which a search with the network
    computes. The value is a dict with the fields of kibitz.play.value.PositionValue. Raises BadRequest if the network
    does not evaluate positions, and Stopped when `stop` is set.
    """
    from kibitz.analysis import load
    from kibitz.analysis.chess.judging import Judge

    board = judged(network, line).since_null()
    session = networks.session(network.name)
    return Judge(session, load(network.system), stop=stop).value(board).as_json()
