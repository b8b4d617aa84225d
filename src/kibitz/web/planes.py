"""The input planes of a network for a position, with names, for the browser page of `kibitz board`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from kibitz.web.answers import rounded_list
from kibitz.web.networks import NetworkInfo
from kibitz.web.params import BadRequest

if TYPE_CHECKING:
    from kibitz.web.positions import Line


def planes(network: NetworkInfo, line: Line) -> dict[str, Any]:
    """Return the input planes of a network for the last position of a line (a start position and moves), each with its
    name and values. Raises BadRequest if the network's system (kind of network) does not define names for its planes.
    """
    if network.declaration is None or not network.declaration.planes:
        raise BadRequest(
            f"kibitz cannot show the input of {network.name}: the system {network.system} does not describe its input"
        )
    assert network.run
    module, _, function = network.declaration.planes.partition(":")
    codes, state = line.conditioned(network.run.side_inputs)
    named = getattr(importlib.import_module(module), function)(network.settings, codes[0], state[0])
    return {"planes": [{"name": name, "values": rounded_list(values, 3)} for name, values in named.items()]}
