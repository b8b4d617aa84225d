"""Export of a trained network to ONNX, for inference on a CPU."""

from __future__ import annotations

import io
import logging
import warnings
from pathlib import Path
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from kibitz.durable import write_whole
from kibitz.nets.batch_norm import fold
from kibitz.runs import with_default_side_inputs
from kibitz.systems.base import Network


def export_onnx(network: nn.Module, codes: NDArray[np.uint8], state: NDArray[np.uint8], path: Path) -> None:
    """Write a network as an ONNX file with the inputs `codes` and `state`, and with the network's outputs. The file
    accepts any number of positions.

    codes, state: a few positions with which torch traces the network, see `kibitz.PositionArrays`. They must not have
    side inputs (ratings, komi and other facts besides the board). The network is changed: its normalization layers are
    merged into its convolutions.
    """
    outputs, side_inputs = cast(Network, network).outputs, cast(Network, network).side_inputs
    network = network.cpu().float().eval().to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]
    fold(network)
    target = io.BytesIO()
    names = ["codes", "state", *outputs]
    state = with_default_side_inputs(state, side_inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # these warnings are about the exporter itself
        logging.getLogger("torch.onnx").setLevel(logging.ERROR)
        torch.onnx.export(
            network,
            (torch.from_numpy(codes), torch.from_numpy(state)),
            target,  # type: ignore[arg-type]
            input_names=names[:2],
            output_names=names[2:],
            dynamic_axes={name: {0: "positions"} for name in names},
            opset_version=18,
            dynamo=False,
        )
    write_whole(path, target.getvalue())
