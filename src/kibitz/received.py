"""Files that may come from others: what they claim is checked against their size before memory is taken for it.

None of them is ever unpickled: arrays are read by numpy without objects, weights by safetensors, checkpoints of a
training by torch with weights_only.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_JSON_BYTES = 1 << 26
"""Of run.json and store.json. The largest of ours, with the names of all imported files, is a hundredth of it."""


def read_json(path: Path) -> Any:
    """A JSON file. Raises ValueError where it is none, or too large or deep, and OSError where it cannot be read."""
    if path.stat().st_size > MOST_JSON_BYTES:
        raise ValueError(f"over {MOST_JSON_BYTES >> 20} MB")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError("nested too deep") from None


def read_array(path: Path, dtype: Any) -> NDArray[Any]:
    """A file of numpy, mapped from disk: an array of one dimension with this dtype.

    Raises ValueError where it is something else, or shorter than it claims, and OSError where it cannot be read.
    """
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError:
        raise
    except Exception as error:  # numpy reads headers as Python's own literals, and lets through what that raises
        raise ValueError(str(error)) from None
    if not isinstance(array, np.ndarray) or array.dtype != np.dtype(dtype) or array.ndim != 1:
        raise ValueError(f"not a list of {np.dtype(dtype)}")
    return array


def is_inside(folder: Path, path: Path) -> bool:
    """Whether a file lies in a folder, also where links have been followed."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # links that lead round in a circle
        return False


def inflates(packed: bytes) -> bool:
    """Whether a zip archive, as torch writes it, claims to hold more than it has bytes: torch packs nothing.

    Raises ValueError where it is no archive, or a member is not what its checksum says: torch does not look.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            if sum(member.file_size for member in archive.infolist()) > len(packed):
                return True
            if damaged := archive.testzip():
                raise ValueError(f"{damaged}: damaged")
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError, RuntimeError, zlib.error) as error:
        raise ValueError(str(error)) from None
    return False


# ONNX, as far as tensors are found: message -> field -> the message in it. Field numbers are those of onnx.proto.
_ONNX = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
}
_EXTERNAL_DATA, _DATA_LOCATION = 13, 14
_DEEPEST = 64
"""Messages inside each other. Networks of ours have five."""


def is_self_contained(path: Path) -> bool:
    """Whether an ONNX file has all its weights in itself. Others name files, or even addresses in memory, of which
    their maker knows and the user does not. Raises ValueError where it is no ONNX file, and OSError."""
    if path.stat().st_size == 0:
        raise ValueError("empty")
    return not _has_outside_data(np.memmap(path, np.uint8, mode="r").data, "model", 0)


def _has_outside_data(data: memoryview, message: str, depth: int) -> bool:
    if depth > _DEEPEST:
        raise ValueError("nested too deep")
    inside = _ONNX.get(message, {})
    for field, value in _fields(data):
        if message == "tensor" and (field == _EXTERNAL_DATA or (field == _DATA_LOCATION and value != 0)):
            return True
        if field in inside and isinstance(value, memoryview) and _has_outside_data(value, inside[field], depth + 1):
            return True
    return False


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """The fields of a protobuf message: number, and a number or bytes. Raises ValueError for damage."""
    at = 0
    while at < len(data):
        key, at = _number(data, at)
        kind = key & 7
        value: int | memoryview
        if kind == 0:
            value, at = _number(data, at)
        else:
            length, at = (8, at) if kind == 1 else (4, at) if kind == 5 else _number(data, at)
            if kind not in (1, 2, 5) or length > len(data) - at:
                raise ValueError("damaged")
            value = data[at : at + length]
            at += length
        yield key >> 3, value


def _number(data: memoryview, at: int) -> tuple[int, int]:
    """A number of variable length, and where it ends."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError("damaged")
