"""Store the evaluations of moves in a file of the cache folder, so that they still exist when `kibitz board` is started
again.

An evaluation belongs to a line of moves, the weights of a network and the limits of its search. Several servers may
share the file. A damaged file is replaced. If the file cannot be used, nothing is stored.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kibitz import __version__

if TYPE_CHECKING:
    from kibitz.web.networks import NetworkInfo
    from kibitz.web.positions import Line

FILE = "judged.sqlite"
ROOM = 50_000
"""The largest number of evaluations in the file. Each takes about 500 bytes."""
SPARE = 10
"""If the file has more evaluations than it may have, the surplus and another 1 / SPARE of the limit are removed. The
evaluations that were unused for the longest time are removed first.
"""
FORMAT = 2
WAIT = 2.0
"""Seconds to wait while another process writes to the file."""
_AT_ONCE = 500
"""The largest number of keys in one SQL query."""
_TABLE = "CREATE TABLE IF NOT EXISTS judged (key BLOB PRIMARY KEY, found TEXT NOT NULL, used REAL NOT NULL)"

Lines = list[dict[str, Any]]


class JudgedPositions:
    """A file that caches the evaluations of moves, so that they are computed only once. Several threads may use it.

    room: the largest number of evaluations in the file. If there are more, the least recently used ones are removed.
    """

    def __init__(self, path: Path, room: int = ROOM):
        self.path, self.room = path, room
        self._lock = threading.Lock()
        self._weights: dict[tuple[str, str], str] = {}

    def keys(self, network: NetworkInfo, line: Line, limits: Sequence[object]) -> list[bytes]:
        """Return the keys under which the evaluations of the moves of a line (a start position and moves) are stored,
        one key for each position. The evaluation of a move has the key of the position after it. The first key is that
        of the start position.

        limits: the settings of the search that affect the evaluations, such as its depth.
        """
        start_json = line.as_json()
        moves = start_json.pop("moves")
        start = [FORMAT, __version__, network.system, self._digest(network), list(limits), start_json]
        digest = hashlib.blake2b(json.dumps(start, sort_keys=True).encode(), digest_size=16)
        found = [digest.digest()]
        for move in moves:
            digest.update(f" {move}".encode())
            found.append(digest.digest())
        return found

    def _digest(self, network: NetworkInfo) -> str:
        """Return the hash of a network's weights."""
        from kibitz.web.networks import stamp

        assert network.run
        key = network.name, stamp(network.run)
        if key not in self._weights:
            self._weights[key] = network.run.weights_sha256()
        return self._weights[key]

    def get(self, keys: Sequence[bytes]) -> dict[bytes, dict[str, Any]]:
        """Return the stored evaluations with these keys, as a dict by key. Keys without a stored evaluation are missing
        in it.
        """
        found: dict[bytes, dict[str, Any]] = {}
        for first in range(0, len(keys), _AT_ONCE):
            rows = self._do(partial(_select, list(keys[first : first + _AT_ONCE])))
            for key, text in rows or []:
                with contextlib.suppress(ValueError, TypeError):
                    if isinstance(judgment := json.loads(text), dict):
                        found[key] = judgment
        if found:
            self._do(lambda base: base.executemany(
                "UPDATE judged SET used = ? WHERE key = ?", [(time.time(), key) for key in found]
            ))  # fmt: skip
        return found

    def put(self, found: Mapping[bytes, dict[str, Any]]) -> None:
        """Store evaluations of moves. found: a dict from keys (see `JudgedPositions.keys`) to evaluations."""
        if not found:
            return
        now = time.time()
        rows = [(key, json.dumps(judgment), now) for key, judgment in found.items()]

        def write(base: sqlite3.Connection) -> None:
            base.executemany("INSERT OR REPLACE INTO judged VALUES (?, ?, ?)", rows)
            (count,) = base.execute("SELECT count(*) FROM judged").fetchone()
            if count > self.room:
                away = count - self.room + self.room // SPARE
                base.execute("DELETE FROM judged WHERE key IN (SELECT key FROM judged ORDER BY used LIMIT ?)", (away,))

        self._do(write)

    def _do(self, work: Callable[[sqlite3.Connection], Any]) -> Any:
        """Return what work on the file returns; None if the file can't be used. A damaged file is replaced."""
        with self._lock:
            for _ in range(2):
                try:
                    return self._try(work)
                except sqlite3.OperationalError:  # locked, full, read-only, or of another format
                    return None
                except sqlite3.DatabaseError:
                    with contextlib.suppress(OSError):
                        self.path.unlink()
                except OSError:
                    return None
        return None

    def _try(self, work: Callable[[sqlite3.Connection], Any]) -> Any:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(self.path, WAIT)) as base, base:
            base.execute(_TABLE)
            return work(base)


def _select(keys: list[bytes], base: sqlite3.Connection) -> list[tuple[bytes, str]]:
    placeholders = ",".join("?" * len(keys))
    return base.execute(f"SELECT key, found FROM judged WHERE key IN ({placeholders})", keys).fetchall()


def remembered(
    judged: JudgedPositions,
    keys: Sequence[bytes],
    first: int,
    last: int,
    seq: int,
    judge: Callable[[int, int], Iterator[Lines]],
) -> Iterator[Lines]:
    """Yield the evaluations of the moves `first` to `last` of a line (a start position and moves) as lists of dicts.
    Stored evaluations come first. Then `judge` evaluates the other moves, and the new evaluations are stored.

    judged: the file with the stored evaluations.
    keys: the keys of all positions of the line (see `JudgedPositions.keys`).
    first, last: the range of moves, counted from 1; 0 is the start position.
    seq: the number that the browser page of `kibitz board` gave to the request.
    judge: a function that takes the first and the last move of a range without stored evaluations. It yields new
        evaluations, also as lists of dicts.
    """
    began = time.perf_counter()
    yield [{"seq": seq, "total": max(0, last - first + 1)}]
    known = judged.get(keys[first : last + 1])
    ready = [{**known[keys[ply]], "seq": seq, "ply": ply} for ply in range(first, last + 1) if keys[ply] in known]
    if ready:
        yield ready
    for begin, end in _missing(keys, known, first, last):
        ended = False
        for lines in judge(begin, end):
            ended = any(line.get("done") for line in lines)
            found = [line for line in lines if "ply" in line]
            judged.put({keys[line["ply"]]: {**line, "seq": 0} for line in found if line.get("exact")})
            if found:
                yield found
        if not ended:  # the client has disconnected, so the judge must stop
            return
    yield [{"seq": seq, "done": True, "seconds": round(time.perf_counter() - began, 3)}]


def _missing(keys: Sequence[bytes], known: Mapping[bytes, object], first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last ply of each range of successive plies without judgments."""
    ply = first
    while ply <= last:
        if keys[ply] in known:
            ply += 1
            continue
        begin = ply
        while ply < last and keys[ply + 1] not in known:
            ply += 1
        yield begin, ply
        ply += 1
