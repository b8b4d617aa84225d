"""Write smaller ONNX files, with int8 or fp16 numbers. bench/bench_int8.py measures their speed and loss of
accuracy.
"""

from __future__ import annotations

import importlib
import importlib.resources
import logging
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kibitz.durable import write_whole
from kibitz.games import game_of
from kibitz.runs import ONNX, Run, with_default_side_inputs
from kibitz.store.store import Store
from kibitz.store.writer import StoreWriter

KINDS = ["Conv", "MatMul", "Gemm"]
"""The types of ONNX operations that are computed with int8 numbers."""
POSITIONS, BATCH = 512, 64
"""The number of positions from which the ranges of the int8 numbers are computed, and the number of positions per
batch.
"""
RECORDS = {"chess": "games.pgn.zst", "go": "games.sgfl.zst"}


def write_half(run: Run, path: Path) -> None:
    """Convert the ONNX file of a run (the folder of a trained network) to fp16 and write it to `path`. Weights and
    intermediate values become fp16 numbers. Inputs and outputs keep their types.
    """
    import onnx
    from onnxruntime.transformers.float16 import convert_float_to_float16

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # these warnings are about tiny weights that become 0
        network = convert_float_to_float16(onnx.load(run.path / ONNX), keep_io_types=True)
    write_whole(path, network.SerializeToString())


def write_int8(run: Run, path: Path, store: Store | None = None) -> None:
    """Quantize the ONNX file of a run (the folder of a trained network) to int8 and write it to `path`. Weights and
    inputs of convolutions and dense layers become 8-bit integers.

    store: a store whose positions are used for calibration: they determine the ranges of the integers. None to use
    games that are bundled with kibitz.
    """
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    class Batches(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self._batches = _batches(run, store)

        def get_next(self) -> dict[str, NDArray[np.uint8]] | None:
            return next(self._batches, None)

    logging.getLogger().addFilter(_no_advice)
    try:
        quantize_static(
            run.path / ONNX, path, Batches(), quant_format=QuantFormat.QDQ, op_types_to_quantize=KINDS,
            per_channel=True, weight_type=QuantType.QInt8, activation_type=QuantType.QUInt8,
        )  # fmt: skip
    finally:
        logging.getLogger().removeFilter(_no_advice)


def _no_advice(record: logging.LogRecord) -> bool:
    """Filter out ONNX Runtime's advice to preprocess the file: the files of kibitz don't need it."""
    return "pre-processing" not in record.getMessage()


def positions(run: Run, store: Store, n: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Sample `n` positions of a store as inputs of a network. Returns `codes`, uint8 [n, squares], and `state`, uint8
    [n, k], see `kibitz.PositionArrays`. `state` includes the default values of the network's side inputs (ratings, komi
    and other facts besides the board).
    """
    draw = np.random.default_rng(0)
    games = np.sort(draw.integers(len(store), size=n))
    codes, state = store.replay(games, (draw.random(n) * store.plies[games]).astype(np.int64))
    return codes, with_default_side_inputs(state, run.side_inputs)


def _batches(run: Run, store: Store | None) -> Iterator[dict[str, NDArray[np.uint8]]]:
    if store is None:
        with tempfile.TemporaryDirectory(prefix="kibitz-") as folder:
            codes, state = positions(run, _own_games(run.info["game"], Path(folder) / "games"), POSITIONS)
    else:
        codes, state = positions(run, store, POSITIONS)
    for at in range(0, len(codes), BATCH):
        yield {"codes": codes[at : at + BATCH], "state": state[at : at + BATCH]}


def _own_games(game: str, path: Path) -> Store:
    """Return a store of the games that kibitz includes."""
    rules: Any = game_of(game)
    keep = importlib.import_module(f"kibitz.games.{game}.filters").Filter()
    records = str(importlib.resources.files("kibitz") / "data" / RECORDS[game])
    with StoreWriter(path, game, rules.COLUMNS, rules.STANDARD_START, rules.PER_MOVE) as writer:
        for batch in rules.Reader([records], keep):
            batch.per_game = {}
            writer.add(batch)
        return writer.commit({})
