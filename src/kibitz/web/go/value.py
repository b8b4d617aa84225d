"""What a position of Go is worth: the value of the best line of a search."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from kibitz.web.go.candidates import search

if TYPE_CHECKING:
    from kibitz.web.networks import NetworkInfo, NetworkRegistry
    from kibitz.web.positions import Line


def value(networks: NetworkRegistry, network: NetworkInfo, line: Line, stop: threading.Event) -> dict[str, Any]:
    """The value of the last position, see kibitz.analysis.value, with Black's lead in points as `score`."""
    from kibitz.analysis.value import SEARCH, PositionValue

    found = search(networks, network, line, lambda some: None, stop)
    best = (found or {"lines": []})["lines"][:1]
    if not best:
        return {"source": None}
    known = PositionValue(best[0]["black"], SEARCH, None, tuple(best[0]["moves"]))
    return {**known.as_json(), "score": best[0]["score"]}
