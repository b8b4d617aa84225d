"""The two games: rules, records and arrays of positions. What is the same for both reaches a game through `game_of`.

The packages `chess` and `go` have the same plan: `io/` reads records, `filters.py` chooses games, `replay.py` makes any
position from packed moves, `encodings.py` makes planes from positions; `game.py` is what a game declares to the rest.
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
STATE_WIDTH = 4
"""Numbers of a position besides its codes, in both games."""


class Reader(Protocol):
    """The games of some files as batches. read: games seen so far; broken: one line for each unreadable file."""

    def __init__(self, paths: list[str], keep: Any): ...

    def __iter__(self) -> Iterator[GameBatch]: ...

    def batches(self, workers: Workers) -> Iterator[GameBatch]:
        """The same batches in the same order, read by workers."""


class Game(Protocol):
    """A game: the module `game` of its package.

    COLUMNS: the columns of a store's table. PER_MOVE: name -> (dtype, value for "none") of the arrays with a value for
    each move. PER_GAME: name -> (dtype, value for "none", values a game). RESULTS: a result (1, 0, -1) in words.
    SUMMARY_COLUMNS: heading -> column of which `kibitz info` counts the games with each value. STANDARD_START: the
    start position as a row of codes and state.
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
        """Positions (games[i], plies[i]) as codes uint8 [n, squares] and state uint8 [n, numbers].

        moves: of all games; offsets [games + 1]: where each game's begin; starts [k, row], start_of [games]: the start
        position of each. Raises IndexError for a position that is not there.
        """

    def are_starts(self, starts: NDArray[np.uint8]) -> bool:
        """Whether rows [k, row] are start positions that `replay` can read without stepping out of its arrays."""

    def captures(
        self,
        moves: NDArray[np.uint16],
        offsets: NDArray[np.int64],
        starts: NDArray[np.uint8],
        start_of: NDArray[np.int32],
    ) -> NDArray[np.bool_]:
        """Whether each move captures, bool [moves]. Raises NotImplementedError for games without it."""


def game_of(name: str) -> Game:
    """The game of that name, one of GAMES. Imports its package, which takes numba and a parser."""
    if name not in GAMES:
        raise ValueError(f"{name}: no such game; there are {', '.join(GAMES)}")
    return cast(Game, importlib.import_module(f"kibitz.games.{name}.game"))
