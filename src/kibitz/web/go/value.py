"""Compute the value of a Go position for the browser page of `kibitz board`."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from kibitz.web.go.line import GoLine

if TYPE_CHECKING:
    from kibitz.web.networks import NetworkInfo, NetworkRegistry
    from kibitz.web.positions import Line


def value(networks: NetworkRegistry, network: NetworkInfo, line: Line, stop: threading.Event) -> dict[str, Any]:
    """Return the value of the last position of a line (a start position and moves), which a search with the network
    computes. The value is a dict with the fields of kibitz.play.value.PositionValue. Black's lead in points has the key
    "score".
    """
    from kibitz.play.go.value import value_board

    assert isinstance(line, GoLine)
    found = value_board(networks.session(network.name), line.board(), line.terms, stop=stop).as_json()
    return {**found, "score": found.pop("lead")}
