"""Open stores, kibitz's compact game databases, and read their games and positions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import chess
import numpy as np
from numpy.typing import ArrayLike, NDArray

from kibitz.api.checks import check_number, check_whole, name_arguments, plain
from kibitz.api.positions import PositionArrays
from kibitz.errors import UsageError
from kibitz.messages import did_you_mean, not_one_of

if TYPE_CHECKING:
    import pyarrow as pa

    from kibitz.api.networks import TrainedNetwork
    from kibitz.api.training import TrainingRun
    from kibitz.explorer.answers import Explorer
    from kibitz.games.go.rules import Board as GoBoard
    from kibitz.store.positions import Positions

PARTS = ("training", "validation", "test")
VIEWS = ("board", "mover")
"""The possible views of positions: "board" for the board as it is, and "mover" for the point of view of the side to
move (see `GameStore.positions`).
"""
UNKNOWN_CLOCK = 65535
"""The value in a store for a clock time that the record does not contain."""


class MoveArrays(NamedTuple):
    """The moves that were played in n positions, see `GameStore.moves_at`.

    origin, target: int16 [n], the square that the piece leaves, and the square that it goes to.
    promotion: uint8 [n], the new piece.

    Chess: squares are 0 to 63 (a1 = 0, b1 = 1, h8 = 63). Castling is a king's move of two files. `promotion` is the
    piece type of python-chess (2 knight to 5 queen), or 0 if the move is no promotion.

    Go: `target` is the point (row · 19 + column from the upper left), or 361 for a pass. `origin` is −1, and
    `promotion` is 0.

    >>> import kibitz
    >>> moves = kibitz.open_store("my.store").moves_at([0, 0], [0, 1])  # h3, b5
    >>> moves.origin.tolist(), moves.target.tolist(), moves.promotion.tolist()
    ([15, 49], [23, 33], [0, 0])
    """

    origin: NDArray[np.int16]
    target: NDArray[np.int16]
    promotion: NDArray[np.uint8]


class PositionLabels(NamedTuple):
    """Labels of n positions from the game records, see `GameStore.labels_at`. All arrays are [n].

    side: uint8, the side to move (0 White, 1 Black; in Go 0 Black, 1 White).
    result: int8, the result of the game for the player to move: 1 won, 0 drawn or unknown, −1 lost.
    rating, opponent_rating: float32, the ratings of the player to move and of the opponent; NaN if unknown. In Go they
        are ranks as numbers (1k is 0, 1d is 1).
    clock: float32, the seconds on the mover's clock after the move that was played in the position; NaN if unknown or
        if no move was played.

    >>> import kibitz
    >>> labels = kibitz.open_store("my.store").labels_at([0, 0], [0, 1])
    >>> labels.side.tolist(), (labels.result[0] == -labels.result[1]).item()
    ([0, 1], True)
    """

    side: NDArray[np.uint8]
    result: NDArray[np.int8]
    rating: NDArray[np.float32]
    opponent_rating: NDArray[np.float32]
    clock: NDArray[np.float32]


class GameStore:
    """A store: kibitz's compact database of games, opened with `open_store`. The games are numbered from 0, and
    len(store) is the number of games.

    path: the store's folder.
    game: "chess" or "go".
    plies: the number of moves of each game, int64 [games]. A game of n moves has n + 1 positions. Position 0 is its
        start, and position n comes after the last move.

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
        """The number of moves of each game, int64 [games]."""
        return self._store.plies

    def games(self, part: str | None = None) -> NDArray[np.int64]:
        """Return the numbers of the games in one part of the store, int64 [n]. A store is split into training games,
        validation games and test games.

        part: "training", "validation" or "test"; None for all games. Raises UsageError for an unknown part.

        >>> import kibitz
        >>> store = kibitz.open_store("my.store")
        >>> sum(len(store.games(part)) for part in ("training", "validation", "test")) == len(store)
        True
        """
        if part is None:
            return np.arange(len(self))
        if part not in PARTS:
            raise UsageError(not_one_of("part", part, PARTS))
        return np.flatnonzero(self._store.sides() == PARTS.index(part))

    def game_hashes(self) -> NDArray[np.uint64]:
        """Return a hash of each game, uint64 [games]. Copies of one game have the same hash."""
        return self._store.column("hash")

    def opening_hashes(self) -> NDArray[np.uint64] | None:
        """Return a hash of the start position and the first 40 plies of each game, uint64 [games]. Return None if the
        store does not contain these hashes.
        """
        return self._store.openings()

    def explore(
        self, moves: Sequence[str] = (), *, fen: str | None = None, rating: tuple[int, int] | None = None
    ) -> dict[str, Any]:
        """Return the moves that were played in a position, with the number of games and the score of each move. The
        result is a dict with the JSON of `kibitz explore --json`.

        moves: the moves that lead to the position, in SAN or UCI notation; in Go, in GTP notation, such as "Q16".
        fen: only in chess: the position from which these moves begin; None for the start of the game.
        rating: the lowest and the highest mean rating of the two players of a game; None for all games. In Go the
            ratings are ranks as numbers (1k is 0, 1d is 1).

        The first call makes an index in the store's folder. Raises UsageError for illegal moves, an invalid FEN, and an
        invalid range of ratings.

        >>> import kibitz
        >>> store = kibitz.open_store("my.store")
        >>> sum(each["games"] for each in store.explore()["moves"]) == len(store)
        True
        """
        from kibitz.explorer.answers import Explorer
        from kibitz.explorer.report import explore

        if rating is not None:
            if not isinstance(rating, (tuple, list)) or len(rating) != 2:
                raise UsageError(f"rating must be two numbers, the lowest and the highest (got {rating!r})")
            for each in rating:
                check_number("rating", each)
            if rating[0] > rating[1]:
                raise UsageError(f"rating must be two numbers, the lowest and the highest (got {rating})")
        if self._explorer is None:
            self._explorer = Explorer(self._store)
        return explore(self._explorer, moves, fen, plain(rating))

    def table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return a row for each game as a pyarrow Table. If pandas is installed, `.to_pandas()` converts it to a data
        frame.

        columns: the names of the columns to return, such as players, ratings, result and date; None for all columns.
        Raises UsageError for columns that the store doesn't have.

        >>> import kibitz
        >>> kibitz.open_store("my.store").table(["white", "result"]).column_names
        ['white', 'result']
        """
        if columns is not None:
            has = self._store.columns
            if unknown := [name for name in columns if name not in has]:
                raise UsageError(
                    f"{self.path} has no column {', '.join(unknown)}.{did_you_mean(unknown[0], has)} Its columns:"
                    f" {', '.join(has)}."
                )
            if not len(columns):
                raise UsageError("columns is empty. Name at least one column, or leave columns out to get all of them.")
        return self._store.table(None if columns is None else list(columns))

    def moves(self, game: int) -> list[str]:
        """Return the moves of one game: in chess SAN such as "Nf3", in Go vertices such as "D4" or "pass".

        game: the game's number. Raises UsageError for a game that is not in the store.

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

    def positions(self, games: ArrayLike, plies: ArrayLike, *, view: str = "board") -> PositionArrays:
        """Return n positions of the store as the arrays `codes` and `state`, see PositionArrays.

        `codes` is uint8 [n, 64] in chess and uint8 [n, 361] in Go. `state` is uint8 [n, 4].

        games, plies: integers [n]. Position i is the position of game `games[i]` after `plies[i]` plies. A single
            integer in place of an array applies to all positions. kibitz replays the games, and computes about a
            million positions per second.
        view: "board" for the board as it is, or "mover" for the point of view of the side to move. In the mover's view,
            this side has White's pieces (in Go: Black's stones), and the side to move in `state` is 0. In chess, the
            ranks are flipped if Black is to move, so that the mover's pawns always go up the board.

        Raises UsageError for a position that doesn't exist, and for an unknown view.

        >>> import kibitz
        >>> store = kibitz.open_store("my.store")
        >>> codes, state = store.positions([0, 0, 3], [0, 20, 5])
        >>> codes.shape, state.shape, state[:, 0].tolist()
        ((3, 64), (3, 4), [0, 0, 1])
        >>> store.positions([0, 0, 3], [0, 20, 5], view="mover").state[:, 0].tolist()
        [0, 0, 0]
        """
        games, plies = self._pairs(games, plies)
        by_mover = check_view(view)
        codes, state = self._store.replay(games, plies)
        if not by_mover:
            return PositionArrays(codes, state)
        if self.game == "go":
            from kibitz.games.go.replay import swap_colors
        else:
            from kibitz.games.chess.replay import swap_colours as swap_colors
        return PositionArrays(*swap_colors(codes, state, state[:, 0] == 1))

    def moves_at(self, games: ArrayLike, plies: ArrayLike, *, view: str = "board") -> MoveArrays:
        """Return the moves that were played in n positions of the store: origin, target and promotion, see MoveArrays.

        games, plies: integers [n]. Position i is the position of game `games[i]` after `plies[i]` plies. A single
            integer in place of an array applies to all positions. `sample(..., played=True)` samples positions in which
            a move was played.
        view: "board", or "mover" for the point of view of the side to move. In the mover's view of chess, the ranks are
            flipped if Black is to move.

        Raises UsageError for a position that doesn't exist or in which no move was played, and for an unknown view.

        >>> import kibitz
        >>> store = kibitz.open_store("my.store")
        >>> games, plies = store.sample(100, played=True)
        >>> moves = store.moves_at(games, plies, view="mover")
        >>> moves.origin.shape, moves.target.dtype, bool((moves.origin != moves.target).all())
        ((100,), dtype('int16'), True)
        """
        games, plies = self._pairs(games, plies)
        by_mover = check_view(view)
        for at in np.flatnonzero(plies == self.plies[games])[:1].tolist():
            game, ply = int(games[at]), int(plies[at])
            raise UsageError(
                f"{self.path}: game {game} has no move after its last position (got ply {ply}). Choose positions with"
                " sample(..., played=True)."
            )
        packed = self._store.moves[self._store.offsets[games] + plies]
        if self.game == "go":
            return MoveArrays(np.full(len(packed), -1, np.int16), packed.astype(np.int16), np.zeros(len(packed), "u1"))
        origin, target = (packed & 63).astype(np.int16), (packed >> 6 & 63).astype(np.int16)
        if by_mover:
            flip = self._sides(games, plies).astype(np.int16) * 56
            origin, target = origin ^ flip, target ^ flip
        return MoveArrays(origin, target, (packed >> 12).astype(np.uint8))

    def labels_at(self, games: ArrayLike, plies: ArrayLike) -> PositionLabels:
        """Return the labels of n positions of the store: side to move, result, ratings and clocks, see PositionLabels.

        games, plies: integers [n], or a single integer, as in `positions`. Raises UsageError for a position that
        doesn't exist.

        >>> import kibitz
        >>> store = kibitz.open_store("my.store")
        >>> labels = store.labels_at(*store.sample(100))
        >>> labels.result.shape, labels.rating.dtype
        ((100,), dtype('float32'))
        """
        games, plies = self._pairs(games, plies)
        side = self._sides(games, plies)
        first, second = self._ratings
        ratings = np.stack([first[games], second[games]])
        rows, mover = np.arange(len(games)), side.astype(np.int64)
        result = self._results[games] * (1 - 2 * side.astype(np.int8))
        return PositionLabels(side, result, ratings[mover, rows], ratings[1 - mover, rows], self._clocks(games, plies))

    def _sides(self, games: NDArray[np.int64], plies: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the side to move in each position, uint8 [n], without a replay."""
        at = 361 if self.game == "go" else 64
        first = self._store.starts[self._store.start_of[games], at].astype(np.int64)
        return np.asarray((first + plies) & 1, np.uint8)

    @cached_property
    def _results(self) -> NDArray[np.int8]:
        """The result of each game, int8 [games]: 1 if the player with side 0 won, −1 if that player lost, else 0."""
        won: NDArray[np.int8] = self._store.column("result").astype(np.int8)
        return won

    @cached_property
    def _ratings(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The ratings in each game of the player with side 0 and of the other player, float32 [games] each."""
        if self.game == "go":
            from kibitz.games.go.ranks import value_or_nan

            names = ("black_rank", "white_rank")
            first, second = ([value_or_nan(rank) for rank in self._store.column(name)] for name in names)
            return np.array(first, np.float32), np.array(second, np.float32)
        white, black = (self._store.column(f"{side}_rating").astype(np.float32) for side in ("white", "black"))
        return np.where(white > 0, white, np.float32("nan")), np.where(black > 0, black, np.float32("nan"))

    def _clocks(self, games: NDArray[np.int64], plies: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the seconds left after the move of each position, float32 [n]; NaN if unknown."""
        seconds = np.full(len(games), np.nan, np.float32)
        clocks = self._store.per_move("clock")
        if clocks is not None:
            played = plies < self.plies[games]
            known = clocks[self._store.offsets[games[played]] + plies[played]]
            seconds[played] = np.where(known == UNKNOWN_CLOCK, np.float32("nan"), known.astype(np.float32))
        return seconds

    def boards(self, games: ArrayLike, plies: ArrayLike) -> list[Any]:
        """Return n positions of the store as boards. Each is a chess.Board with the moves that led to it, or a Go
        board.

        games, plies: as in `positions`, which is much faster. Raises UsageError for a position that doesn't exist.

        >>> import kibitz
        >>> (board,) = kibitz.open_store("my.store").boards([0], [3])
        >>> board.fen(), len(board.move_stack)
        ('rnbqkbnr/p1pppppp/8/1p6/4P3/7P/PPPP1PP1/RNBQKBNR b KQkq - 0 2', 3)
        """
        games, plies = self._pairs(games, plies)
        make = self._go_board if self.game == "go" else self._chess_board
        return [make(game, ply) for game, ply in zip(games.tolist(), plies.tolist(), strict=True)]

    @name_arguments(part="split")
    def sample(
        self,
        count: int,
        *,
        part: str | None = None,
        seed: int = 0,
        played: bool = False,
        network: str | Path | TrainedNetwork | TrainingRun | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return positions that are sampled at random, as two arrays `games` and `plies`, both int64 [count]. They are
        sorted by game and ply. `positions`, `moves_at` and `boards` take them as arguments.

        The sample is uniform over all positions of the games in `part`, without repetition. If there are fewer than
        `count` positions, all of them are returned. The same seed returns the same sample.

        part: "training", "validation" or "test"; None for all games. If you give a network, the parts are "unseen" (the
            default), "test", "validation", "training" and "all". The part "unseen" has the games that the network has
            not seen in training.
        played: whether to sample only positions in which a move was played; not possible with `network`.
        network: a network to test, or None. With a network, the sample has the positions on which `kibitz test NETWORK
            STORE --positions COUNT` tests the network.

        Raises UsageError for a count below 1, a seed below 0, an unknown part, and `played` with `network`. Raises
        UsageError also for a network that is tested on pairs of positions, such as deepchess. Raises KibitzError if no
        game is left.

        >>> import kibitz
        >>> store = kibitz.open_store("my.store")
        >>> games, plies = store.sample(100, part="training", seed=1)
        >>> store.positions(games, plies).codes.shape
        (100, 64)
        >>> games, plies = store.sample(50, network="winner")
        >>> len(games)
        50
        """
        from kibitz.store.positions import permutation

        check_whole("count", count, 1)
        check_whole("seed", seed, 0)
        if network is not None:
            if played:
                raise UsageError("played cannot be combined with network (got both). Leave played out.")
            return self._tested(network, part or "unseen", count, seed)
        positions = self.positions_of(part, played)
        numbers = permutation(len(positions), seed, 0, 0, min(count, len(positions)))
        return positions.locate(np.sort(numbers))

    def positions_of(self, part: str | None = None, played: bool = False) -> Positions:
        """Return an object with all positions of the games in one part of the store, numbered from 0. A store is split
        into training, validation and test games.

        part: "training", "validation" or "test"; None for all games. played: True to include only positions in which a
        move was played.
        """
        from kibitz.store.positions import Positions

        return Positions(self._store, self.games(part), last=-2 if played else -1)

    @property
    def total_positions(self) -> int:
        """The number of positions in all games together."""
        return len(self._store.moves) + len(self)

    @property
    def fingerprint(self) -> str:
        """A short text that identifies the store's games. Stores with the same games have the same text."""
        return self._store.fingerprint

    def _tested(
        self, network: str | Path | TrainedNetwork | TrainingRun, part: str, count: int, seed: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        from kibitz.api.testing import run_of
        from kibitz.evaluation.compare import positions_of
        from kibitz.evaluation.games import choose

        run = run_of(network)
        return positions_of(run, self._store, choose(run, self._store, part).games, count, seed)

    @name_arguments()
    def unseen_games(self, *networks: str | Path | TrainedNetwork | TrainingRun) -> NDArray[np.int64]:
        """Return the numbers of the games that none of the given networks has seen, int64 [n], ascending. A network has
        seen a game if the game was used to train the network or to select its best version.

        The result contains only games on which all the networks can be tested. For example, a network of the system
        `winner` can be tested only on decisive games. Raises UsageError if you give no network, and KibitzError if no
        game is left.

        >>> import kibitz
        >>> store = kibitz.open_store("my.store")
        >>> len(store.unseen_games("winner")) <= len(store)
        True
        """
        from kibitz.api.testing import run_of
        from kibitz.evaluation.compare import unseen_by_all

        if not networks:
            raise UsageError("unseen_games needs at least one network (got none). Name one: unseen_games('winner').")
        return unseen_by_all([run_of(network) for network in networks], self._store)

    def _check(self, game: int) -> None:
        check_whole("game", game, -sys.maxsize)
        if not 0 <= game < len(self):
            raise UsageError(f"{self.path} has no game {game}. Choose a number from 0 to {len(self) - 1}.")

    def _pairs(self, games: ArrayLike, plies: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        first, second = np.atleast_1d(np.asarray(games)), np.atleast_1d(np.asarray(plies))
        for name, values in (("games", first), ("plies", second)):
            if values.ndim != 1 or (values.size and values.dtype.kind not in "iu"):
                raise UsageError(f"{name} must be whole numbers of shape [n] (got {values.dtype} {list(values.shape)})")
        try:
            first, second = np.broadcast_arrays(first, second)
        except ValueError:
            raise UsageError(
                f"games and plies must have the same length (got {len(first)} and {len(second)})"
            ) from None
        first, second = first.astype(np.int64), second.astype(np.int64)
        for game in first[(first < 0) | (first >= len(self))][:1].tolist():
            self._check(game)
        wrong = np.flatnonzero((second < 0) | (second > self.plies[first]))
        if len(wrong):
            game, ply = int(first[wrong[0]]), int(second[wrong[0]])
            raise UsageError(f"{self.path}: game {game} has positions 0 to {int(self.plies[game])} (got {ply})")
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


def check_view(view: str) -> bool:
    """Return True if `view` is "mover", and False if it is "board". Raises UsageError for any other text.

    The view "mover" shows a position from the point of view of the side to move. The view "board" shows the board as it
    is.
    """
    if view not in VIEWS:
        raise UsageError(f"view must be one of {', '.join(VIEWS)} (got {view!r}).")
    return view == "mover"


def open_store(path: str | Path) -> GameStore:
    """Open a game store, the folder that `kibitz import games.pgn --into my.store` makes.

    Arrays are memory-mapped, not copied. Raises KibitzError if there is no store, or if the store is damaged or was
    made by another version of kibitz.

    >>> import kibitz
    >>> len(kibitz.open_store("my.store"))
    400
    >>> kibitz.open_store("nothing.store")
    Traceback (most recent call last):
    ...
    kibitz.errors.KibitzError: nothing.store: no such store. To make one: kibitz import games.pgn --into nothing.store
    """
    return GameStore(path)
