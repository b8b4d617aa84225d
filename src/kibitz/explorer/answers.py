"""Find the moves that were played in a position, with their numbers of games and their scores. The games are those of a
store, which is kibitz's database of games.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kibitz.errors import KibitzError, UsageError
from kibitz.explorer.index import UNRATED, PositionIndex, open_index
from kibitz.explorer.keys import NO_MOVE
from kibitz.explorer.search import GameSearch
from kibitz.kernels import kernel
from kibitz.store.store import Store
from kibitz.text import whole_number

if TYPE_CHECKING:
    import chess
    import pyarrow as pa

    from kibitz.games.go.rules import Board as GoBoard

MOST_GAMES = 8
"""The largest number of games that a result lists."""
FARTHEST = 30_000
"""The largest absolute value of a rating in a query. It replaces a missing limit of a range."""
_MOST_MOVES = 512
"""No position has more than this number of different moves."""


@dataclass
class Scores:
    """The results of some games.

    first, draws, second: the numbers of games that the first player won, that were drawn, and that the second player
        won. The first player is White in chess and Black in Go.
    rating: the mean rating over the games with known ratings; None if no rating is known. For a move, it is the rating
        of the player who made the move. For a position, it is the mean rating of both players.
    """

    first: int = 0
    draws: int = 0
    second: int = 0
    rating: float | None = None

    @property
    def games(self) -> int:
        """The number of games."""
        return self.first + self.draws + self.second


@dataclass
class PlayedMove:
    """A move that was played in a position.

    move: the move in UCI notation or, in Go, in GTP notation.
    san: the move in a notation for people, such as SAN.
    scores: the results of the games in which the move was played.
    """

    move: str
    san: str
    scores: Scores


@dataclass
class Explored:
    """The moves that were played in a position, over the games of a store, and the results of these games.

    total: the results of all games in which the position occurs.
    moves: the moves, each with the results of its games. The most frequent move is first.
    games: at most 8 of the games in which the position occurs, as indices in the store. These are the games with the
        highest ratings, and the highest rating is first.
    """

    total: Scores = field(default_factory=Scores)
    moves: list[PlayedMove] = field(default_factory=list)
    games: list[int] = field(default_factory=list)


class Explorer:
    """Finds the games of a store in which a position occurs, and the moves that were played in the position.

    store: the store. report: a function that is called with the completed share of the work, 0 to 1, while the index is
    built.
    """

    def __init__(self, store: Store, report: Callable[[float], object] = lambda share: None):
        self.store = store
        self.index: PositionIndex = open_index(store, report)
        self._table: pa.Table | None = None

    def explore(
        self,
        board: chess.Board | GoBoard,
        rating: tuple[int, int] | None = None,
        among: NDArray[np.bool_] | None = None,
    ) -> Explored:
        """Return the moves that were played in a position, no matter which moves led to it. In Go, only games on 19 ×
        19 are found.

        rating: the smallest and the largest mean rating of the two players; in Go, the mean rank as a number (see
            `kibitz.games.go.ranks.rank_value`); None for all games. If `rating` is given, games without known ratings
            are excluded.
        among: bool [games], whether to use each game of the store; None for all games.
        """
        key, side, name = self._reader(board)
        if key is None:
            return Explored()
        low, high = (min(max(int(end), -FARTHEST), FARTHEST) for end in rating or (UNRATED, UNRATED))
        index, where = self.index, self.index.entries(key)
        moves, counts = np.empty(_MOST_MOVES, np.uint16), np.zeros((_MOST_MOVES, 3), np.int64)
        ratings, best = np.zeros((_MOST_MOVES + 1, 2), np.int64), np.full(MOST_GAMES, -1, np.int64)
        wanted = np.empty(0, np.bool_) if among is None else among
        found = _gather(
            index.games[where], index.moves[where], index.results, index.ratings, side, low, high, rating is not None,
            wanted, moves, counts, ratings, best,
        )  # fmt: skip
        order = sorted(range(found), key=lambda row: (-counts[row].sum(), moves[row]))
        return Explored(
            _scores(counts[:found].sum(0), ratings[_MOST_MOVES]),
            [
                PlayedMove(*name(int(moves[row])), _scores(counts[row], ratings[row]))
                for row in order
                if moves[row] != NO_MOVE
            ],
            [int(game) for game in best if game >= 0],
        )

    def games_with(self, board: chess.Board | GoBoard, move: str | None = None) -> NDArray[np.bool_]:
        """Return whether a position occurs in each game of the store, bool [games].

        move: a move in UCI or GTP notation; None for any move. If it is given, the game must also contain this move at
        the first occurrence of the position.
        """
        found = np.zeros(len(self.store), np.bool_)
        key, _, name = self._reader(board)
        if key is None:
            return found
        where = self.index.entries(key)
        games, moves = np.asarray(self.index.games[where], np.int64), np.asarray(self.index.moves[where])
        first = np.ones(len(games), np.bool_)
        first[1:] = games[1:] != games[:-1]  # later entries of a game are repetitions of the position
        first &= games < len(found)  # other numbers occur only in a damaged index
        if move is not None:
            codes = [code for code in np.unique(moves).tolist() if code != NO_MOVE and name(code)[0] == move]
            first &= np.isin(moves, codes)
        found[games[first]] = True
        return found

    def _reader(self, board: Any) -> tuple[int | None, int, Callable[[int], tuple[str, str]]]:
        """Return the key of a position, the side to move (0 White, 1 Black), and a function that formats its moves."""
        if self.store.game == "chess":
            from kibitz.explorer.chess import key_of
            from kibitz.games.chess.moves import to_move

            def chess_name(code: int) -> tuple[str, str]:
                move = to_move(code)
                if not board.is_legal(move):
                    raise self._illegal_move()
                return move.uci(), board.san(move)

            return key_of(board), int(not board.turn), chess_name
        from kibitz.explorer.go import key_of as key_of_go
        from kibitz.explorer.go import unseen
        from kibitz.games.go.points import BLACK, GRID, PASS, to_gtp

        def name(code: int) -> tuple[str, str]:
            if code > PASS:
                raise self._illegal_move()
            vertex = to_gtp(unseen(board, code), GRID)
            return vertex, vertex

        return key_of_go(board) if board.size == GRID else None, int(board.to_move == BLACK), name

    def _illegal_move(self) -> KibitzError:
        return KibitzError(f"{self.store.path} has an illegal move in this position. Import the games again.")

    def rows(self, games: list[int]) -> list[dict[str, Any]]:
        """Return a dict for each of the given games, with the players, their ratings or ranks, the result and the date.
        The date is YYYY-MM-DD, or None if it is unknown. games: the numbers of the games in the store.
        """
        if not games:
            return []
        if self._table is None:  # read once, because reading one row costs as much as reading all rows
            mark = "rank" if self.store.game == "go" else "rating"
            names = ["white", "black", f"white_{mark}", f"black_{mark}", "result", "date"]
            self._table = self.store.table(names).combine_chunks()
        rows = zip(games, self._table.take(games).to_pylist(), strict=True)
        return [{"game": game, **row, "date": row["date"] and str(row["date"])} for game, row in rows]

    @cached_property
    def search(self) -> GameSearch:
        """A `GameSearch`, which finds games of the store by player, result and other conditions."""
        return GameSearch(self.store, self.index.ratings)


def _scores(counts: NDArray[np.int64], ratings: NDArray[np.int64]) -> Scores:
    total, n = ratings
    return Scores(int(counts[0]), int(counts[1]), int(counts[2]), round(float(total / n), 1) if n else None)


@kernel
def _gather(games, played, results, ratings, side, low, high, only, among, moves, counts, rated, best):  # type: ignore[no-untyped-def]
    """Add up the entries of a position, and return the number of different moves.

    among: bool [games], the games to use; an empty array for all games.

    Outputs: moves, uint16 [n]; counts, int64 [n, 3] (won, drawn, lost by the first player); rated, int64 [n + 1, 2],
    the sum and the number of the movers' ratings, and in the last row those of the mean of both players; best, int64
    [k], the games with the highest mean ratings.
    """
    rows = np.full(65536, -1, np.int16)
    tops = np.full(best.shape[0], -1000000, np.int64)
    found, before = 0, np.int64(-1)
    last = rated.shape[0] - 1
    for i in range(games.shape[0]):
        game = np.int64(games[i])
        if game == before:  # the game reached the position again
            continue
        before = game
        if game >= results.shape[0] or results[game] < -1 or results[game] > 1:  # the index is damaged
            continue
        if among.shape[0] > 0 and (game >= among.shape[0] or not among[game]):
            continue
        white, black = np.int64(ratings[game, 0]), np.int64(ratings[game, 1])
        mean = (white + black) // 2
        if white == UNRATED:
            mean = black
        elif black == UNRATED:
            mean = white
        if only and (mean == UNRATED or mean < low or mean > high):
            continue
        row = rows[played[i]]
        if row < 0:
            if found == moves.shape[0]:
                continue
            row = found
            rows[played[i]] = row
            moves[row] = played[i]
            found += 1
        counts[row, 1 - results[game]] += 1
        mover = black if side else white
        if mover != UNRATED:
            rated[row, 0] += mover
            rated[row, 1] += 1
        if mean != UNRATED:
            rated[last, 0] += mean
            rated[last, 1] += 1
        if mean > tops[-1] or best[-1] < 0:
            at = best.shape[0] - 1
            while at > 0 and (best[at - 1] < 0 or tops[at - 1] < mean):
                best[at], tops[at] = best[at - 1], tops[at - 1]
                at -= 1
            best[at], tops[at] = game, mean
    return found


def read_band(text: str, game: str) -> tuple[int, int]:
    """Parse a range of ratings, such as "1600-2000", "2400-" or "-1200"; in Go, a range of ranks, such as "5k-3d".

    Return the lowest and the highest rating. A missing limit is replaced by −30,000 or 30,000. In Go, the limits are
    ranks as numbers (see `kibitz.games.go.ranks.rank_value`).

    text: the range. game: "chess" or "go". Raises UsageError if the text is not a range, or if the first limit is
    higher than the second.
    """
    from kibitz.games.go.ranks import rank_value

    low, dash, high = text.replace("–", "-").partition("-")
    try:
        if not dash or not (low.strip() or high.strip()):
            raise ValueError
        read = _rating if game == "chess" else rank_value
        band = read(low) if low.strip() else -FARTHEST, read(high) if high.strip() else FARTHEST
    except ValueError:
        example = "1600-2000" if game == "chess" else "5k-3d"
        raise UsageError(f"the rating must be a range, for example {example} (got {text})") from None
    if band[0] > band[1]:
        raise UsageError(f"the rating must be a range with the lower end first (got {text})")
    return band


def _rating(text: str) -> int:
    """Parse a rating, at most FARTHEST. Raises ValueError if the text isn't an integer."""
    if (rating := whole_number(text.strip())) is None:
        raise ValueError
    return min(rating, FARTHEST)
