"""The input planes of a network, with names that a person understands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kibitz.web.networks import NetworkInfo, NetworkRegistry
from kibitz.web.params import BadRequest

if TYPE_CHECKING:
    from kibitz.web.positions import Line


def planes(networks: NetworkRegistry, known: NetworkInfo, line: Line) -> dict[str, Any]:
    """The planes of a line's last position. Raises BadRequest for a network without named planes."""
    network: Any = networks.module(known.name)
    if not hasattr(network, "named_planes"):
        raise BadRequest(f"{known.name}: nobody has written down what networks of the system {known.system} are given")
    import torch  # there now, or the line before has said what to install

    from kibitz.runs import with_default_side_inputs

    last = len(line.moves)
    codes, state = line.rows(last, last)
    state = with_default_side_inputs(state, network.side_inputs)
    with torch.inference_mode():
        names, values = network.named_planes(torch.from_numpy(codes), torch.from_numpy(state))
    if len(names) != len(values):
        raise RuntimeError(f"{known.system}: {len(names)} names of {len(values)} planes")
    shown = values.double().numpy().round(3).tolist()
    return {"planes": [{"name": name, "values": plane} for name, plane in zip(names, shown, strict=True)]}
