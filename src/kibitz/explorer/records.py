"""Convert a game of a store to a game record: PGN for chess, SGF for Go."""

from __future__ import annotations

from typing import Any

from kibitz.errors import KibitzError
from kibitz.games.chess.replay import decode_board
from kibitz.store.store import Store

_RESULTS = {1: "1-0", 0: "1/2-1/2", -1: "0-1"}


def record(store: Store, game: int) -> str:
    """Return a game of a store as PGN or SGF text. game: the game's number in the store, from 0.

    Raises IndexError for a game that is not in the store, and KibitzError if the game is damaged.
    """
    row = store.row(game)
    moves = store.moves[store.offsets[game] : store.offsets[game + 1]].tolist()
    start = store.starts[store.start_of[game]]
    try:
        return (_pgn if store.game == "chess" else _sgf)(row, moves, start)
    except _Damaged:
        raise KibitzError(f"{store.path}: game {game + 1} has an illegal move. Import the games again.") from None


class _Damaged(Exception):
    """Raised for moves that no game can have."""


def _pgn(row: dict[str, Any], moves: list[int], start: Any) -> str:
    import chess.pgn

    from kibitz.games.chess.io.exporter import Exporter
    from kibitz.games.chess.moves import to_move

    written = chess.pgn.Game()
    board = decode_board(start[:64], start[64:])
    if board.fen() != chess.STARTING_FEN:
        written.setup(board)
    names = {"Event": "event", "Site": "site", "White": "white", "Black": "black", "WhiteElo": "white_rating",
             "BlackElo": "black_rating", "ECO": "eco", "TimeControl": "time_control"}  # fmt: skip
    for name, column in names.items():
        if row.get(column):
            written.headers[name] = str(row[column])
    if row.get("date"):
        written.headers["Date"] = row["date"].isoformat().replace("-", ".")
    written.headers["Result"] = _RESULTS[row["result"]]
    line = [to_move(move) for move in moves]
    for move in line:
        if not board.is_legal(move):
            raise _Damaged
        board.push(move)
    written.add_line(line)
    return written.accept(Exporter(columns=None))


def _sgf(row: dict[str, Any], moves: list[int], start: Any) -> str:
    import numpy as np

    from kibitz.games.go.io.sgf import Record, write_sgf
    from kibitz.games.go.points import BLACK, PASS, POINTS, WHITE

    if max(moves, default=PASS) > PASS:
        raise _Damaged
    names = {"PB": "black", "PW": "white", "BR": "black_rank", "WR": "white_rank", "DT": "date", "EV": "event",
             "PC": "place", "RU": "rules"}  # fmt: skip
    headers = {name: str(row[column]) for name, column in names.items() if row.get(column)}
    if row.get("komi") is not None:
        headers["KM"] = f"{row['komi']:g}"
    black, white = (tuple(np.flatnonzero(start[:POINTS] == colour).tolist()) for colour in (BLACK, WHITE))
    side = int(start[POINTS]) + 1
    return write_sgf(
        Record(
            int(start[POINTS + 1]), black, white, side, moves, headers, row.get("komi") or 0.0, row.get("rules"),
            row.get("handicap") or 0, row["result"], row.get("margin"), row.get("ending") or "unknown",
        )
    )  # fmt: skip
