"""Checks of the bundled networks: their files have the recorded hashes, and a sample evaluation is correct."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kibitz
from kibitz import manifest
from kibitz.doctor.findings import Finding
from kibitz.errors import KibitzError, one_line

TOLERANCE = 0.01
"""The largest allowed difference between a computed output of a network and its expected value. CPUs round differently.
"""
POSITIONS = {
    "chess": "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
    "go": "(;GM[1]SZ[19]KM[7.5];B[pd];W[dp];B[pp];W[dd])",
}
"""For each game, the position that the bundled networks evaluate as a sample. In chess, the position is the Ruy Lopez,
as a FEN. In Go, it is a game with a stone in each corner, as SGF.
"""
REINSTALL = "Install kibitz again."


def evaluate(name: str, position: str) -> dict[str, NDArray[np.float32]]:
    """Evaluate one position with a network. Return a dict from the name of each output to the output's values, float32
    [n]. The number of values, n, depends on the output.

    name: the network's name, such as "human". position: the position as text, a FEN for chess or an SGF game for Go.
    """
    return {key: values.reshape(-1) for key, values in kibitz.load_network(name).predict([position]).items()}


def bundled() -> Iterator[Finding]:
    """Yield a finding for each bundled network: whether its files and its sample evaluation are correct."""
    if not manifest.entries():
        yield Finding("networks", "problem", "the list of the bundled networks is missing", REINSTALL)
    for name, entry in manifest.entries().items():
        yield _network(name, entry)


def _network(name: str, entry: Mapping[str, Any]) -> Finding:
    key = f"network {name}"
    for file in entry["files"]:
        if (problem := manifest.problem(manifest.NETWORKS / name / file)) is not None:
            return Finding(key, "problem", f"{file} is {problem}", REINSTALL)
    try:
        found = evaluate(name, entry["sample"]["position"])
    except KibitzError as error:
        return Finding(key, "problem", one_line(error), REINSTALL)
    for output, (index, value) in entry["sample"]["outputs"].items():
        got = float(found[output][index]) if output in found and index < len(found[output]) else float("nan")
        if not abs(got - value) <= TOLERANCE:
            text = f"{output} of the sample is {got:.3f} instead of {value:.3f}"
            return Finding(key, "problem", text, "Report this line: the CPU or ONNX Runtime computes wrong values.")
    return Finding(key, "ok", f"{manifest.version_of(name)}, the sample is right")
