"""Parse the position of a query, and return the moves that were played in it as JSON. The command `kibitz explore`, the
Python API and the browser page of `kibitz board` use this module.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from kibitz.errors import UsageError
from kibitz.explorer.answers import FARTHEST, Explorer, Scores
from kibitz.explorer.openings import Opening, opening_of
from kibitz.games.chess.io.san import claims_capture
from kibitz.games.chess.start import BadStart, read_fen
from kibitz.text import shown

_NUMBER = re.compile(r"\d+\.+")


def read_chess(moves: Sequence[str], fen: str | None = None) -> list[chess.Board]:
    """Return the positions after each move of a line, the start position first.

    moves: the moves in SAN or UCI notation, with or without move numbers. fen: the start position; None for the
    standard position. Raises UsageError for an invalid FEN, for an illegal move, and for a
    move that is written as a capture and captures nothing.
    """
    try:
        board = read_fen(fen or chess.STARTING_FEN)
    except BadStart as error:
        raise UsageError(f"{error} (got {shown(fen or '')}). Check the FEN.") from None
    boards = [board.copy(stack=False)]
    for word in _words(moves):
        if not (move := _move(board, word)):
            raise UsageError(
                f"move {len(boards)}, {shown(word)}, is illegal in the"
                f" {'start position' if len(boards) == 1 and not fen else 'position'}"
            )
        if claims_capture(word) and not board.is_capture(move):
            raise UsageError(f"move {len(boards)}, {shown(word)}, is not a capture. Check the moves.")
        board.push(move)
        boards.append(board.copy(stack=False))
    return boards


def _move(board: chess.Board, word: str) -> chess.Move | None:
    """Parse a legal move in SAN or UCI notation. Returns a null move for "--" and similar words, and None for other
    text.
    """
    with contextlib.suppress(ValueError):
        return board.parse_san(word)
    with contextlib.suppress(ValueError):
        return board.parse_uci(word.lower())
    return None


def read_go(moves: Sequence[str]) -> Any:
    """Return the 19 × 19 board after the given moves.

    moves: the moves in GTP notation, such as Q16. Raises UsageError for an invalid or illegal move.
    """
    from kibitz.games.go.points import GRID, from_gtp
    from kibitz.games.go.rules import Board

    board = Board(GRID)
    for ply, word in enumerate(_words(moves), 1):
        try:
            board.play(board.to_move, from_gtp(word, GRID))
        except ValueError:
            raise UsageError(
                f"move {ply}, {shown(word)}, is illegal {'on the empty board' if ply == 1 else 'in the position'}."
                " Write moves like Q16."
            ) from None
    return board


def _words(moves: Sequence[str]) -> list[str]:
    return [word for text in moves for word in _NUMBER.sub(" ", text).split()]


def explore(
    explorer: Explorer, moves: Sequence[str] = (), fen: str | None = None, rating: tuple[int, int] | None = None
) -> dict[str, Any]:
    """Return the moves that were played in a position in the games of a store, as a dict for JSON (see `answer`).

    explorer: finds the games of the store.
    moves: the moves that lead to the position.
    fen: the start position of these moves in chess; None for the standard position.
    rating: the range of ratings, as for `Explorer.explore`; None for all games.

    Raises UsageError for an invalid start position or move.
    """
    if explorer.store.game == "chess":
        boards = read_chess(moves, fen)
        return answer(explorer, boards[-1], opening_of(boards), rating)
    if fen is not None:
        raise UsageError(
            "this is a Go store, and a FEN works only for chess. Give the moves instead, for example Q16 D4."
        )
    return answer(explorer, read_go(moves), None, rating)


def answer(
    explorer: Explorer,
    board: Any,
    opening: Opening | None,
    rating: tuple[int, int] | None,
    among: NDArray[np.bool_] | None = None,
) -> dict[str, Any]:
    """Return the moves that were played in a position, and the results of the games with these moves, as a dict for
    JSON. docs/reference/json.md lists the keys.

    explorer: finds the games of the store.
    board: the position.
    opening: the opening of the position; None if it has no name.
    rating: the range of ratings, as for `Explorer.explore`; None for all games.
    among: bool [games], whether to use each game of the store; None for all games.
    """
    found = explorer.explore(board, rating, among)
    chess_store = explorer.store.game == "chess"
    known: dict[str, Any] = {"store": str(explorer.store.path), "game": explorer.store.game}
    known["fen"] = board.fen() if chess_store else None
    known["opening"] = {"eco": opening.eco, "name": opening.name} if opening else None
    known["rating"] = [None if abs(end) >= FARTHEST else end for end in rating] if rating else None
    known |= _scored(found.total, chess_store)
    known["moves"] = [{"move": each.move, "san": each.san, **_scored(each.scores, chess_store)} for each in found.moves]
    known["examples"] = explorer.rows(found.games)
    return known


def _scored(scores: Scores, first_is_white: bool) -> dict[str, Any]:
    first, second = ("white", "black") if first_is_white else ("black", "white")
    return {
        "games": scores.games,
        first: scores.first,
        "draws": scores.draws,
        second: scores.second,
        "average_rating": scores.rating,
    }
