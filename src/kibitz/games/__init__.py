"""The two games: rules, records and arrays of positions. `game_of` returns the interface that both games implement.

The packages `chess` and `go` have the same structure: `io/` reads records, `filters.py` selects games, `replay.py`
computes any position from packed moves, `encodings.py` makes planes from positions. `game.py` is the game's interface
to the rest of kibitz.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from kibitz.games.batch import GameBatch
    from kibitz.parallel import Workers

GAMES = ("chess", "go")
GAME_NAMES = {"chess": "chess", "go": "Go"}
"""The name of each game in a sentence."""
STATE_WIDTH = 4
"""Number of values of a position in addition to its codes, for both games."""


class Reader(Protocol):
    """Reads the games of some files and yields them in batches. paths: the files. keep: the filter of the games.

    read: the number of games that have been read so far. broken: a line of text about each unreadable file.
    """

    def __init__(self, paths: list[str], keep: Any): ...

    def __iter__(self) -> Iterator[GameBatch]: ...

    def batches(self, workers: Workers) -> Iterator[GameBatch]:
        """Yield the same batches in the same order as iterating over the reader. The games are read by worker
        processes.
        """


class Game(Protocol):
    """The interface of one of the two games, chess or Go. The module `game` in the game's package implements it.

    Reader: the reader of its game records.
    COLUMNS: the columns of a store's table.
    PER_MOVE: the dtype and the missing value of each array with a value for each move, by the array's name.
    PER_GAME: the dtype, the missing value and the width of each array with a row for each game, by the array's name.
    RESULTS: the text for each result: 1, 0 or -1.
    SUMMARY_COLUMNS: a dict from a heading to a column of the table. `kibitz info` shows how many games have each value
        of this column.
    STANDARD_START: the start position as a row of codes and state.
    """

    Reader: type[Any]
    COLUMNS: pa.Schema
    PER_MOVE: Mapping[str, tuple[str, int]]
    PER_GAME: Mapping[str, tuple[str, int, int]]
    RESULTS: Mapping[int, str]
    SUMMARY_COLUMNS: Mapping[str, str]
    STANDARD_START: NDArray[np.uint8]

    def replay(
        self,
        moves: NDArray[np.uint16],
        offsets: NDArray[np.int64],
        starts: NDArray[np.uint8],
        start_of: NDArray[np.int32],
        games: NDArray[np.int64],
        plies: NDArray[np.int64],
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return the positions (games[i], plies[i]) as the arrays `codes` and `state`.

        `codes` is uint8 [n, squares], and `state` is uint8 [n, 4].

        moves: the moves of all games, game after game. offsets: [games + 1], the index in `moves` at which each game
        begins. starts: [k, width], start positions. start_of: [games], the row in `starts` of each game's start
        position. Raises IndexError for a position that doesn't exist.
        """

    def are_starts(self, starts: NDArray[np.uint8]) -> bool:
        """Return whether all rows of `starts`, uint8 [k, width], are valid start positions. From valid start positions,
        `replay` never uses an index out of range.
        """

    def captures(
        self,
        moves: NDArray[np.uint16],
        offsets: NDArray[np.int64],
        starts: NDArray[np.uint8],
        start_of: NDArray[np.int32],
    ) -> NDArray[np.bool_]:
        """Return whether each move of a store is a capture, bool [moves]. The arguments are those of `replay`. Raises
        NotImplementedError if the function does not exist for this game.
        """


def game_of(name: str) -> Game:
    """Return the game with this name, one of GAMES. This imports the game's package, which needs numba and a parser."""
    if name not in GAMES:
        raise ValueError(f"the game must be one of {', '.join(GAMES)} (got {name})")
    return cast(Game, importlib.import_module(f"kibitz.games.{name}.game"))
