"""Read files that may come from other people, and may be damaged or malicious. Before memory is allocated, the sizes in
a file's header are compared with the file's real size.

No file is unpickled, because unpickling can run code: numpy reads arrays without objects, safetensors reads weights,
and torch reads training checkpoints with weights_only.
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
"""The largest size of run.json and store.json, in bytes. The files that kibitz writes are at most a hundredth of this
size, even with the names of all imported files.
"""


def read_json(path: Path) -> Any:
    """Return the content of a JSON file. Raises ValueError if the file is invalid, too large or nested too deeply, and
    OSError if it can't be read.
    """
    if path.stat().st_size > MOST_JSON_BYTES:
        raise ValueError(f"the file is larger than {MOST_JSON_BYTES >> 20} MB")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError("the content is nested too deeply") from None


def read_array(path: Path, dtype: Any) -> NDArray[Any]:
    """Memory-map an .npy file with a one-dimensional array of the type `dtype`, and return the array, [n].

    Raises ValueError if the file has other contents or is shorter than its header claims, and OSError if it can't be
    read.
    """
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError:
        raise
    except Exception as error:  # numpy parses headers as Python literals, and any error may result
        raise ValueError(str(error)) from None
    if not isinstance(array, np.ndarray) or array.dtype != np.dtype(dtype) or array.ndim != 1:
        raise ValueError(f"the array must be one-dimensional with the type {np.dtype(dtype)}")
    return array


def is_inside(folder: Path, path: Path) -> bool:
    """Return whether `path` is in `folder` after all symbolic links are resolved."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # circular links
        return False


def inflates(packed: bytes) -> bool:
    """Return whether a zip archive may be a zip bomb: whether its directory lists files that are together larger than
    the archive. torch.save never writes such an archive, because it does not compress.

    packed: the bytes of the archive. Raises ValueError if they aren't a zip archive, or if a checksum is wrong (torch
    doesn't verify checksums).
    """
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            if sum(member.file_size for member in archive.infolist()) > len(packed):
                return True
            if damaged := archive.testzip():
                raise ValueError(f"the file {damaged} in the archive is damaged")
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError, RuntimeError, zlib.error) as error:
        raise ValueError(str(error)) from None
    return False


# ONNX, as far as it is needed to find tensors: message -> field -> the message in this field. Field numbers are those
# of onnx.proto
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
"""The largest depth of nested messages. kibitz's networks have a depth of five."""


def is_self_contained(path: Path) -> bool:
    """Return whether an ONNX file contains all its weights. If not, loading the file would read weights from another
    file or from a memory address ("external data").

    Raises ValueError if the file isn't an ONNX file, and OSError if it can't be read.
    """
    if path.stat().st_size == 0:
        raise ValueError("the file is empty")
    return not _has_outside_data(np.memmap(path, np.uint8, mode="r").data, "model", 0)


def _has_outside_data(data: memoryview, message: str, depth: int) -> bool:
    if depth > _DEEPEST:
        raise ValueError("the content is nested too deeply")
    inside = _ONNX.get(message, {})
    for field, value in _fields(data):
        if message == "tensor" and (field == _EXTERNAL_DATA or (field == _DATA_LOCATION and value != 0)):
            return True
        if field in inside and isinstance(value, memoryview) and _has_outside_data(value, inside[field], depth + 1):
            return True
    return False


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield the fields of a protobuf message: number, and a number or bytes. Raises ValueError for damage."""
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
                raise ValueError("the file is damaged")
            value = data[at : at + length]
            at += length
        yield key >> 3, value


def _number(data: memoryview, at: int) -> tuple[int, int]:
    """Parse a number of variable length. Returns the number and the offset of its end."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError("the file is damaged")
