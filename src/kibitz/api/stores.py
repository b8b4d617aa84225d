"""Stores of games, and their positions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess
import numpy as np
from numpy.typing import ArrayLike, NDArray

from kibitz.api.checks import check_whole
from kibitz.api.positions import PositionArrays
from kibitz.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from kibitz.explorer.answers import Explorer
    from kibitz.games.go.rules import Board as GoBoard

PARTS = ("training", "validation", "test")


class GameStore:
    """The games of a store, see `open_store`. len(store): how many. Games have numbers from 0, in the store's order.

    path: its folder. game: "chess" or "go". plies: int64 [games], the moves of each game; a game of n moves has the
    positions 0 (its start) to n.

    >>> import kibitz
    >>> store = kibitz.open_store("my.store")
    >>> store
    GameStore('my.store', game='chess', games=400)
    >>> int(store.plies[0]), store.moves(0)[:3]
    (70, ['h3', 'b5', 'e4'])
    """

    def __init__(self, path: str | Path):
        from kibitz.store.store import Store

        self._store = Store(path)
        self.path: Path = self._store.path
        self.game: str = self._store.game
        self._explorer: Explorer | None = None

    def __len__(self) -> int:
        return len(self._store)

    def __repr__(self) -> str:
        return f"GameStore({str(self.path)!r}, game={self.game!r}, games={len(self)})"

    @property
    def plies(self) -> NDArray[np.int64]:
        """Moves in each game, int64 [games]."""
        return self._store.plies

    def games(self, part: str | None = None) -> NDArray[np.int64]:
        """The numbers of the games of one part of the store's split: "training", "validation" or "test"; None: all.

        Raises UsageError for another part.

        >>> import kibitz
        >>> store = kibitz.open_store("my.store")
        >>> sum(len(store.games(part)) for part in ("training", "validation", "test")) == len(store)
        True
        """
        if part is None:
            return np.arange(len(self))
        if part not in PARTS:
            raise UsageError(f"part {part!r}: choose from {', '.join(PARTS)}")
        return np.flatnonzero(self._store.sides() == PARTS.index(part))

    def explore(
        self, moves: Sequence[str] = (), *, fen: str | None = None, rating: tuple[int, int] | None = None
    ) -> dict[str, Any]:
        """What was played in a position, how often, and how it scored: the JSON of `kibitz explore`, as a dict.

        moves: those that lead to it, in SAN or as UCI names them; of Go as GTP names them. fen: the position that they
        begin from; of chess only. rating: the least and greatest mean rating of the players, of Go their ranks as
        numbers (1k is 0, 1d is 1). The first call makes an index beside the store.

        Raises UsageError for moves that are illegal, a FEN that is no position, and ratings that are no range.

        >>> import kibitz
        >>> store = kibitz.open_store("my.store")
        >>> sum(each["games"] for each in store.explore()["moves"]) == len(store)
        True
        """
        from kibitz.explorer.answers import Explorer
        from kibitz.explorer.report import explore

        if rating is not None and (len(rating) != 2 or rating[0] > rating[1]):
            raise UsageError(f"rating {rating}: two numbers, the least and the greatest")
        if self._explorer is None:
            self._explorer = Explorer(self._store)
        return explore(self._explorer, moves, fen, rating)

    def table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """A row for each game as a pyarrow Table (`.to_pandas()`, where pandas is installed): players, ratings, result,
        date …; columns: only these.

        Raises UsageError for columns that the store does not have.

        >>> import kibitz
        >>> kibitz.open_store("my.store").table(["white", "result"]).column_names
        ['white', 'result']
        """
        if columns is not None:
            has = self._store.columns
            if unknown := [name for name in columns if name not in has]:
                raise UsageError(f"{self.path}: no column {', '.join(unknown)}; it has {', '.join(has)}")
        return self._store.table(None if columns is None else list(columns))

    def moves(self, game: int) -> list[str]:
        """The moves of one game: SAN of chess ("Nf3"), vertices of Go ("D4", "pass"). Raises UsageError for a game
        that is not in the store.

        >>> import kibitz
        >>> kibitz.open_store("my.store").moves(0)[-1]
        'Qxh4#'
        """
        self._check(game)
        packed = self._packed(game)
        if self.game == "go":
            from kibitz.games.go.points import to_gtp

            size = int(self._start(game)[-1])
            return [to_gtp(int(move), size) for move in packed]
        from kibitz.games.chess.moves import to_move

        board = self._chess_board(game, 0)
        return [board.san_and_push(to_move(int(move))) for move in packed]

    def positions(self, games: ArrayLike, plies: ArrayLike) -> PositionArrays:
        """Positions (games[i], plies[i]) as arrays: codes uint8 [n, 64 or 361], state uint8 [n, 4], see PositionArrays.

        games, plies: whole numbers [n], or one of each. Made on demand, a million or so in a second.
        Raises UsageError for a position that is not there.

        >>> import kibitz
        >>> codes, state = kibitz.open_store("my.store").positions([0, 0, 3], [0, 20, 5])
        >>> codes.shape, state.shape, state[:, 0].tolist()
        ((3, 64), (3, 4), [0, 0, 1])
        """
        games, plies = self._pairs(games, plies)
        codes, state = self._store.replay(games, plies)
        return PositionArrays(codes, state)

    def boards(self, games: ArrayLike, plies: ArrayLike) -> list[Any]:
        """The same positions as boards that can be played on: a chess.Board, with the moves before it, or a board of Go
        each. Slower by far than `positions`.

        >>> import kibitz
        >>> (board,) = kibitz.open_store("my.store").boards([0], [3])
        >>> board.fen(), len(board.move_stack)
        ('rnbqkbnr/p1pppppp/8/1p6/4P3/7P/PPPP1PP1/RNBQKBNR b KQkq - 0 2', 3)
        """
        games, plies = self._pairs(games, plies)
        make = self._go_board if self.game == "go" else self._chess_board
        return [make(game, ply) for game, ply in zip(games.tolist(), plies.tolist(), strict=True)]

    def sample(
        self, count: int, *, part: str | None = None, seed: int = 0
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Random positions, for `positions` and `boards`: games and plies, int64 [count] each, by game and ply.

        Every position of the games of `part` (None: of all) is as likely as any other, none comes twice; all of them
        where there are fewer. The same seed draws the same. Raises UsageError for a count below 1, a seed
        below 0 and another part.

        >>> import kibitz
        >>> store = kibitz.open_store("my.store")
        >>> games, plies = store.sample(100, part="training", seed=1)
        >>> store.positions(games, plies).codes.shape
        (100, 64)
        """
        from kibitz.store.positions import Positions, permutation

        check_whole("count", count, 1)
        check_whole("seed", seed, 0)
        positions = Positions(self._store, self.games(part))
        numbers = permutation(len(positions), seed, 0, 0, min(count, len(positions)))
        return positions.locate(np.sort(numbers))

    def _check(self, game: int) -> None:
        check_whole("game", game, -sys.maxsize)
        if not 0 <= game < len(self):
            raise UsageError(f"{self.path}: there is no game {game}, the store has games 0 to {len(self) - 1}")

    def _pairs(self, games: ArrayLike, plies: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        first, second = np.atleast_1d(np.asarray(games)), np.atleast_1d(np.asarray(plies))
        for name, values in (("games", first), ("plies", second)):
            if values.ndim != 1 or (values.size and values.dtype.kind not in "iu"):
                raise UsageError(f"{name} must be whole numbers [n], not {values.dtype} {list(values.shape)}")
        try:
            first, second = np.broadcast_arrays(first, second)
        except ValueError:
            raise UsageError(f"{len(first)} games and {len(second)} plies: one of each a position") from None
        first, second = first.astype(np.int64), second.astype(np.int64)
        for game in first[(first < 0) | (first >= len(self))][:1].tolist():
            self._check(game)
        wrong = np.flatnonzero((second < 0) | (second > self.plies[first]))
        if len(wrong):
            game, ply = int(first[wrong[0]]), int(second[wrong[0]])
            raise UsageError(f"{self.path}: game {game} has positions 0 to {int(self.plies[game])}, not {ply}")
        return first, second

    def _packed(self, game: int) -> NDArray[np.uint16]:
        offsets = self._store.offsets
        return self._store.moves[int(offsets[game]) : int(offsets[game + 1])]

    def _start(self, game: int) -> NDArray[np.uint8]:
        start: NDArray[np.uint8] = self._store.starts[int(self._store.start_of[game])]
        return start

    def _chess_board(self, game: int, ply: int) -> chess.Board:
        from kibitz.games.chess.moves import to_move
        from kibitz.games.chess.replay import decode_board

        start = self._start(game)
        board = decode_board(start[:64], start[64:])
        for move in self._packed(game)[:ply].tolist():
            board.push(to_move(move))
        return board

    def _go_board(self, game: int, ply: int) -> GoBoard:
        from kibitz.games.go.points import BLACK, POINTS, WHITE
        from kibitz.games.go.rules import Board

        start = self._start(game)
        board = Board(int(start[POINTS + 1]), suicide=True)
        for colour in (BLACK, WHITE):
            for point in np.flatnonzero(start[:POINTS] == colour).tolist():
                board.put(colour, point)
        board.to_move = int(start[POINTS]) + 1
        for point in self._packed(game)[:ply].tolist():
            board.play(board.to_move, point)
        return board


def open_store(path: str | Path) -> GameStore:
    """A store of games, as `kibitz import games.pgn --into my.store` makes it.

    Arrays are mapped from disk, not copied. Raises KibitzError where there is no store, or one of another version, or a
    damaged one.

    >>> import kibitz
    >>> len(kibitz.open_store("my.store"))
    400
    >>> kibitz.open_store("nothing.store")
    Traceback (most recent call last):
    ...
    kibitz.errors.KibitzError: nothing.store: no such store; make one with: kibitz import games.pgn --into nothing.store
    """
    return GameStore(path)
