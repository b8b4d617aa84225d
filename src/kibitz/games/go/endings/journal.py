"""A file that saves the owner labels of games (the owner of each point at the end), so that a resumed import doesn't
compute them again.

Records have a fixed length and a checksum. Reading stops at the first incomplete or damaged record.
"""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kibitz.games.go.points import POINTS

_MARK = b"kibitz labels 1\n"
_OWNER = (POINTS + 3) // 4  # length in bytes, with four points per byte
_RECORD = 8 + 1 + _OWNER + 4


def _pack(key: int, verdict: int, owner: NDArray[np.uint8] | None) -> bytes:
    points = np.zeros(_OWNER * 4, np.uint8)
    if owner is not None:
        points[:POINTS] = owner
    four = points.reshape(-1, 4)
    packed = four[:, 0] | four[:, 1] << 2 | four[:, 2] << 4 | four[:, 3] << 6
    data = key.to_bytes(8, "little") + bytes([verdict]) + packed.astype(np.uint8).tobytes()
    return data + zlib.crc32(data).to_bytes(4, "little")


def _unpack(record: bytes) -> tuple[int, int, NDArray[np.uint8]] | None:
    data, check = record[:-4], record[-4:]
    if len(record) < _RECORD or zlib.crc32(data) != int.from_bytes(check, "little"):
        return None
    packed = np.frombuffer(data[9:], np.uint8)
    points = (packed[:, None] >> np.array([0, 2, 4, 6], np.uint8) & 3).reshape(-1)[:POINTS]
    return int.from_bytes(data[:8], "little"), data[8], points.astype(np.uint8)


class Journal:
    """A file that saves for each game how its owners were determined (the verdict) and the owner of each point.

    A record has a key of 64 bits, the hash of the game; a verdict of 8 bits, an index into `scoring.VERDICTS`; and the
    owners, uint8 [361], 0 to 3. `known` contains the records that were in the file when it was opened, and `get` finds
    only these records.

    When `add` returns, the operating system has the record, so it survives the end of this process. A file of another
    kind at this path is overwritten. Raises OSError if it cannot be written.
    """

    def __init__(self, path: Path):
        self.known: dict[int, tuple[int, bytes]] = {}
        self._file = open(path, "a+b", buffering=0)  # noqa: SIM115
        self._file.seek(0)
        text = self._file.read()
        good = len(_MARK) if text.startswith(_MARK) else 0
        while good and (entry := _unpack(text[good : good + _RECORD])) is not None:
            self.known[entry[0]] = (entry[1], entry[2].tobytes())
            good += _RECORD
        self._file.truncate(good)
        if not good:
            self._file.write(_MARK)

    def get(self, key: int) -> tuple[int, NDArray[np.uint8]] | None:
        """Return the verdict and the owners, uint8 [361], from the record of a game; None if the game has no record.
        The method finds only records that were in the file when the journal was opened. The verdict is an index into
        `scoring.VERDICTS` and shows how the owners were determined. key: the hash of the game.
        """
        if (entry := self.known.get(key)) is None:
            return None
        return entry[0], np.frombuffer(entry[1], np.uint8)

    def add(self, key: int, verdict: int, owner: NDArray[np.uint8] | None) -> None:
        """Append a game's record to the file. key: the hash of the game. verdict: an index into `scoring.VERDICTS`,
        which shows how the owners were determined. owner: uint8 [361]; None is written as zeros.
        """
        self._file.write(_pack(key, verdict, owner))

    def close(self) -> None:
        self._file.close()
