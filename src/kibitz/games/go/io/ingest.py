"""Convert SGF files to arrays: games are filtered by their headers, replayed, and filtered by their moves."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Generator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kibitz.games.batch import GameBatch, Rejections
from kibitz.games.go.filters import Filter
from kibitz.games.go.io.blocks import Games, Piece, gather, pieces
from kibitz.games.go.io.headers import SUPERKO, HeaderInfo, allows_suicide, interpret_headers, without_its_stones
from kibitz.games.go.io.main_lines import NO_LIBERTY, SOUND, WHY, MainLine, play
from kibitz.games.go.points import POINTS, to_gtp
from kibitz.games.go.replay import STANDARD_START
from kibitz.parallel import Workers, map_ordered
from kibitz.prefetch import prefetched
from kibitz.records import Files

COLUMNS = pa.schema([
    ("black", pa.string()), ("white", pa.string()),
    ("black_rank", pa.string()), ("white_rank", pa.string()),  # "9d", "3k", "1p"; null where unknown
    ("result", pa.int8()),  # 1 Black won, -1 White won, 0 drawn
    ("margin", pa.float32()),  # points by which the winner leads; null if the game was not scored
    ("ending", pa.string()),  # counted, resignation, time, forfeit, void, unknown
    ("komi", pa.float32()), ("rules", pa.string()), ("handicap", pa.int8()), ("size", pa.int8()),
    ("date", pa.date32()),  # null where the year is unknown
    ("event", pa.string()), ("place", pa.string()),
    ("labels", pa.string()),  # the referee that determined the owners; null: none
    ("source", pa.string()), ("number", pa.int32()),  # the file, and the game's number in it from 1
])  # fmt: skip

PER_MOVE: dict[str, tuple[str, int]] = {}
PER_GAME = {"owner": ("uint8", 0, POINTS)}
"""The arrays with one row for each game, by name: (dtype, value that means "missing", width of a row).

owner: the owner of each point at the end: 1 Black, 2 White, 0 neutral or unknown.
"""


class SgfReader(Files):
    """Reads the games of SGF files in batches.

    An iteration yields a GameBatch for each block of text. If you stop the iteration early, close the iterator.
    """

    def __init__(self, paths: list[str], keep: Filter):
        super().__init__(paths)
        self.keep = keep

    def __iter__(self) -> Generator[GameBatch]:
        """Yield the games in batches. Close the iterator if you stop before its end."""
        with contextlib.closing(prefetched(self._blocks())) as blocks:
            for games in blocks:
                yield finish(games, self.keep)

    def batches(self, workers: Workers) -> Generator[GameBatch]:
        """Yield the same batches as an iteration over the reader. The calling process finds the games and their moves
        in the files, and the worker processes replay the games. workers: the worker processes.
        """
        with contextlib.closing(prefetched(self._blocks())) as blocks:
            yield from map_ordered(functools.partial(_read, self.keep), blocks, workers)

    def _blocks(self) -> Generator[Games]:
        """Yield all games, in blocks of several hundred."""
        with contextlib.closing(self._pieces()) as pieces:
            yield from gather(pieces)

    def _pieces(self) -> Generator[Piece]:
        """Yield the games of all files. The generator runs in a separate thread, which opens, reads and closes the
        files.
        """
        with contextlib.closing(self.streams()) as streams:
            for stream in streams:
                yield from pieces(stream, self.broken)


def _read(keep: Filter, games: Games) -> GameBatch:
    return finish(games, keep)


def finish(games: Games, keep: Filter) -> GameBatch:
    """Return the batch of accepted games from one block of text.

    The function filters the games by their headers, replays the accepted games, and then filters them by their moves.
    games: the games of the block, before they are replayed. keep: the filter.
    """
    rejections, chosen, infos = Rejections(), list[int](), list[HeaderInfo]()

    def reject(i: int, headers: dict[str, str], reason: str, detail: str = "") -> None:
        named = {"White": "PW", "Black": "PB", "Date": "DT", "Event": "EV"}
        shown = {name: headers[key] for name, key in named.items() if headers.get(key)}
        rejections.add(reason, games.files[i], games.numbers[i], shown, detail)

    for i in range(len(games)):
        headers = games.headers(i)
        if why := games.why_not(i, headers):
            reject(i, headers, *why)
            continue
        game = interpret_headers(headers, _plausible(games.handicap(i)), int(games.lines.size[i]))
        if reason := keep.refuses_headers(game) or _why_unusable(game):
            reject(i, headers, reason)
            continue
        chosen.append(i)
        infos.append(game)
    played = play(
        games.lines,
        np.array(chosen, np.int64),
        np.array(
            [
                allows_suicide(game.rules, 0 if game.rules else games.black_stones(i))
                for i, game in zip(chosen, infos, strict=True)
            ],
            np.bool_,
        ),
        np.array([game.rules in SUPERKO for game in infos], np.bool_),
    )
    accepted = np.zeros(len(chosen), np.bool_)
    rows: dict[str, list[Any]] = {name: [] for name in COLUMNS.names}
    begin = 0
    for k, (i, game) in enumerate(zip(chosen, infos, strict=True)):
        end = begin + int(played.plies[k])
        if played.fault[k] != SOUND:
            reject(i, dict(game.headers), *_fault(played, k, begin, game.size))
        elif end == begin:
            reject(i, dict(game.headers), "no moves")
        elif reason := keep.refuses_moves(end - begin):
            reject(i, dict(game.headers), reason)
        else:
            accepted[k] = True
            _add_row(rows, game, games.files[i], games.numbers[i])
        begin = end
    starts = played.starts[accepted]
    return GameBatch(
        played.moves[np.repeat(accepted, played.plies)],
        played.plies[accepted],
        None if _all_standard(starts) else starts,
        pa.table([pa.array(rows[field.name], field.type) for field in COLUMNS], schema=COLUMNS),
        rejections,
        len(games),
    )


def _all_standard(starts: NDArray[np.uint8]) -> bool:
    return bool((starts == STANDARD_START).all())


MOST_STONES = 25
"""The largest number of handicap stones. If Black has more stones before White's first move, the position is a setup
and not a handicap.
"""


def _plausible(stones: int) -> int:
    """Return a number of handicap stones; 0 if it is larger than any real handicap."""
    return stones if stones <= MOST_STONES else 0


def _why_unusable(game: HeaderInfo) -> str | None:
    """Return the reason to reject a game before its moves are read; None if there is none."""
    if game.ending == "void":
        return "void"
    if game.result is None:
        return "no result"
    if without_its_stones(game.headers, game.handicap):
        return "handicap stones missing"
    return None


def _fault(played: MainLine, k: int, begin: int, size: int) -> tuple[str, str]:
    """Return the reason and the detail for a game with an illegal position or move."""
    fault, ply = int(played.fault[k]), int(played.ply[k])
    if fault == NO_LIBERTY:
        return "set-up position", WHY[fault]
    colour = "Black" if (int(played.starts[k, POINTS]) + ply) % 2 == 0 else "White"
    point = int(played.moves[begin + ply])
    return "illegal move", f"move {ply + 1}, {colour} {to_gtp(point, size)}: {WHY[fault]}"


def _add_row(rows: dict[str, list[Any]], game: HeaderInfo, file: str, number: int) -> None:
    headers = game.headers
    values = (
        headers.get("PB") or "?", headers.get("PW") or "?", game.black_rank, game.white_rank, game.result, game.margin,
        game.ending, game.komi, game.rules, game.handicap, game.size, game.date,
        headers.get("EV") or _name(headers.get("GN", "")), headers.get("PC"), None, file, number,
    )  # fmt: skip
    for column, value in zip(rows.values(), values, strict=True):
        column.append(value)


def _name(text: str) -> str:
    """Return a game's name, which may be the name of its event; empty if it is a server's number."""
    return "" if text.isdigit() else text
