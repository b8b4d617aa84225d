"""The two games, chess and Go: rules, game records and positions as arrays. `game_of` returns the interface that both
games implement.

The packages `chess` and `go` have the same structure. `io/` reads game records, `filters.py` selects games, `replay.py`
computes any position from the moves of a game, and `encodings.py` converts positions to network inputs. `game.py`
implements the interface.
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
"""The name of each game as it is written inside a sentence."""
STATE_WIDTH = 4
"""The number of state values of a position, for both games. A position is an array of codes, one for each square or
point, and an array of 4 state values, such as the side to move.
"""


class Reader(Protocol):
    """Reads the games of some files and yields them in batches. paths: the files. keep: the filter that selects games.

    The attribute `read` is the number of games that have been read so far. The attribute `broken` is a list with a line
    of text about each file that can't be read.
    """

    def __init__(self, paths: list[str], keep: Any): ...

    def __iter__(self) -> Iterator[GameBatch]:
        """Yield the games as batches, in the order of the files."""

    def batches(self, workers: Workers) -> Iterator[GameBatch]:
        """Yield the same batches of games as an iteration over the reader, in the same order, but read the games in
        worker processes. workers: these processes.
        """


class Game(Protocol):
    """The interface of one of the two games, chess or Go. The module `game` in each game's package implements it.

    Reader: the class that reads the game's records (PGN or SGF).
    COLUMNS: the columns of a store's table. A store is kibitz's game database; its table has one row for each game.
    PER_MOVE: the arrays that have one value for each move. A key is the name of an array. A value has two items: the
        array's dtype, and the number that means "missing".
    PER_GAME: the arrays that have one row for each game. A key is the name of an array. A value has three items: the
        array's dtype, the number that means "missing", and the width of a row.
    RESULTS: a dict from each result (1, 0 or -1) to its text, such as "1-0" or "Black won".
    SUMMARY_COLUMNS: a dict from a heading to a column of the table. For each of these columns, `kibitz info` shows how
        many games have each value.
    STANDARD_START: the standard start position, uint8 [width]: the codes and the state in chess (see
        `kibitz.PositionArrays`); the colors of the points, the side to move and the board's size in Go.
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
        """Return the positions of games after some numbers of moves. Position i is that of the game `games[i]` after
        `plies[i]` moves.

        The result is two arrays: `codes`, uint8 [n, squares], and `state`, uint8 [n, 4] (see the module `replay` of
        each game).

        moves: the moves of all games, game after game. offsets: [games + 1], the index in `moves` at which each game
        begins. starts: [k, width], start positions, each a row in the form of `Game.STANDARD_START`. start_of: [games],
        the row in `starts` of each game's start position. games, plies: int64 [n], the indices of games, and numbers of
        moves. Raises IndexError for a game or a ply that doesn't exist.
        """

    def are_starts(self, starts: NDArray[np.uint8]) -> bool:
        """Return whether all rows of `starts`, uint8 [k, width], are valid start positions. Each row is in the form of
        `Game.STANDARD_START`. If they are valid, `replay` never uses an index out of range.
        """

    def captures(
        self,
        moves: NDArray[np.uint16],
        offsets: NDArray[np.int64],
        starts: NDArray[np.uint8],
        start_of: NDArray[np.int32],
    ) -> NDArray[np.bool_]:
        """Return whether each move is a capture, bool [moves]. Raises NotImplementedError for Go.

        The arguments are those of `Game.replay`: the moves of all games, where each game begins, the start positions,
        and the start position of each game.
        """


def game_of(name: str) -> Game:
    """Return the interface of a game. name: "chess" or "go".

    The function imports the game's package, which needs numba and a parser. Raises ValueError for any other name.
    """
    if name not in GAMES:
        raise ValueError(f"the game must be one of {', '.join(GAMES)} (got {name})")
    return cast(Game, importlib.import_module(f"kibitz.games.{name}.game"))
