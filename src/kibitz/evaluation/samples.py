"""The positions and games that the result page of a chess test shows as examples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.games.chess.moves import to_move
from kibitz.games.chess.replay import CLOCK, decode_board
from kibitz.play.session import Session
from kibitz.store.store import Store
from kibitz.text import rounded

GamePly = tuple[int, int]
"""A position: the index of a game in the store, and the number of moves (plies) before the position."""

_RESULTS = {1: "1-0", 0: "1/2-1/2", -1: "0-1"}


class DiverseSampler:
    """Selects example positions from lists of candidates. It never selects two positions of the same game, and never
    the same position twice.
    """

    def __init__(self, store: Store, games: NDArray[np.int64], plies: NDArray[np.int64]):
        """Make a sampler. games, plies: int64 [positions], the positions to select from."""
        self._store, self._games, self._plies = store, games, plies
        self._used: set[int] = set()
        self._known: set[bytes] = set()

    def take(self, candidates: Iterable[int], count: int) -> list[int]:
        """Select the first `count` candidates whose game and position were not selected before. The result has fewer
        positions if there are not enough such candidates.

        candidates: indices of positions.
        """
        taken: list[int] = []
        for index in candidates:
            if len(taken) == count:
                break
            if self.take_all([index]):
                taken.append(int(index))
        return taken

    def take_all(self, group: Sequence[int]) -> bool:
        """Select all positions of a group, or none of them if a game or a position of the group was selected before.
        Return whether they were selected. group: indices of positions from different games.
        """
        games = {int(self._games[index]) for index in group}
        if games & self._used:
            return False
        codes, state = self._store.replay(self._games[group], self._plies[group])
        positions = {each.tobytes() + rest[:CLOCK].tobytes() for each, rest in zip(codes, state, strict=True)}
        if len(positions) < len(group) or positions & self._known:
            return False
        self._known |= positions
        self._used |= games
        return True


@dataclass(frozen=True)
class GameRecord:
    """One game of a store.

    row: the game's row in the store's table of games, by column.
    san, uci: the moves in SAN and in UCI notation.
    start: the FEN of the position before the first move.
    """

    row: dict[str, Any]
    san: list[str]
    uci: list[str]
    start: str

    def fen(self, ply: int) -> str:
        """Return the FEN of a position. ply: the number of moves before it, from 0 to the number of all moves."""
        board = chess.Board(self.start)
        for move in self.uci[:ply]:
            board.push(chess.Move.from_uci(move))
        return board.fen()

    @cached_property
    def headers(self) -> dict[str, Any]:
        """The players, their ratings and the date, with the keys that the result page uses."""
        known = {name: self.row.get(name) for name in ("white", "black", "white_rating", "black_rating")}
        return {**known, "date": str(self.row["date"]) if self.row.get("date") else None}

    @property
    def result(self) -> str:
        """The result as in PGN, such as "1-0"."""
        return _RESULTS[self.row["result"]]


def records(store: Store, games: Iterable[int]) -> dict[int, GameRecord]:
    """Return a dict from the indices of some games in the store to their records. games: these indices."""
    numbers = sorted(set(games))
    if not numbers:
        return {}
    return {
        game: _record(store, game, row)
        for game, row in zip(numbers, store.table().take(numbers).to_pylist(), strict=True)
    }


def _record(store: Store, game: int, row: dict[str, Any]) -> GameRecord:
    codes, state = store.replay(np.array([game]), np.array([0]))
    board = decode_board(codes[0], state[0])
    start, san, uci = board.fen(), [], []
    for code in store.moves[store.offsets[game] : store.offsets[game + 1]].tolist():
        move = to_move(code)
        san.append(board.san(move))
        uci.append(move.uci())
        board.push(move)
    return GameRecord(row, san, uci, start)


def fens(store: Store, games: NDArray[np.int64], plies: NDArray[np.int64]) -> list[str]:
    """Return the FEN of each position. The FENs have the full-move number 1, because a position of a store has no move
    number.

    games, plies: int64 [n], the positions: the index of a game in the store, and the number of moves before the
    position.
    """
    codes, state = store.replay(games, plies)
    return [decode_board(code, row).fen() for code, row in zip(codes, state, strict=True)]


def position(record: GameRecord, game_ply: GamePly, probability: float, probability_of: str) -> dict[str, Any]:
    """Return a position as JSON data for the result page.

    record: the game. game_ply: the game's index in the database of games, and the number of moves before the position.
    probability: the predicted probability that the page shows. probability_of: a text that names the event with this
    probability.
    """
    game, ply = game_ply
    return {
        "fen": record.fen(ply),
        "probability": probability,
        "probability_of": probability_of,
        "result": record.result,
        "game": str(game),
        "ply": ply,
        "last_move": record.uci[ply - 1] if ply else None,
        **record.headers,
    }


def game_curve(record: GameRecord, curve: list[float], ply: int) -> dict[str, Any]:
    """Return a game as JSON data for the result page.

    record: the game. curve: the network's predicted probability before the first move and after each move, which the
    page shows as a curve. ply: a number of moves. If the game is on Lichess, the link to the game opens the position
    after this number of moves.
    """
    link = str(record.row.get("site") or "")
    if not link.startswith(("http://", "https://")):
        link = ""
    elif link.startswith("https://lichess.org/") and "#" not in link:
        link += f"#{ply}"  # opens the game at this ply
    return {
        **record.headers,
        "event": record.row.get("event"),
        "result": record.result,
        "link": link or None,
        "moves": record.san,
        **({"black_first": True} if " b " in record.start else {}),
        "curve": curve,
    }


def curve(session: Session, store: Store, game: int, output: str) -> list[float]:
    """Evaluate every position of a game, from the first to the last. Returns the values of one output of the network.

    session: the network. game: the game's index in the store. output: the name of the output.
    """
    plies = np.arange(store.plies[game] + 1)
    answers = session.evaluate(*store.replay(np.full(len(plies), game), plies))
    return [rounded(float(value), 4) for value in answers[output]]
