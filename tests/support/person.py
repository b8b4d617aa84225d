"""Games of a made-up person: random moves, but for an opening of the person's own, with dates and clocks."""

from __future__ import annotations

import datetime
import random
from pathlib import Path

import chess
import chess.pgn

PERSON = "Muñoz, Ana"
SPELLINGS = (PERSON, "ana munoz")
OWN = {chess.WHITE: ("b2b3", "c1b2"), chess.BLACK: ("b7b6", "c8b7")}
"""The first moves of the person, where they are legal."""
PLIES = 24


def game(
    number: int, white: str, black: str, rng: random.Random, newest_first: bool = False, plies: int = PLIES
) -> chess.pgn.Game:
    """One game. The person's own moves come first, all others are drawn."""
    record = chess.pgn.Game()
    day = datetime.date(2020, 1, 1) + datetime.timedelta(days=-number if newest_first else number)
    record.headers.update({
        "Event": "Rated blitz game", "Site": "https://lichess.org/x", "Date": day.strftime("%Y.%m.%d"), "White": white,
        "Black": black, "Result": ("1-0", "0-1")[number % 2], "WhiteElo": "1500", "BlackElo": "1450",
        "TimeControl": "180+2",
    })  # fmt: skip
    node: chess.pgn.GameNode = record
    board = chess.Board()
    clocks = {chess.WHITE: 180, chess.BLACK: 180}
    while board.ply() < plies and not board.is_game_over():
        name = white if board.turn else black
        own = chess.Move.from_uci(OWN[board.turn][board.ply() // 2]) if board.ply() < 4 else None
        legal = [move for move in board.legal_moves if not _mates(board, move)]
        move = own if name in SPELLINGS and own in legal else rng.choice(legal)
        clocks[board.turn] -= rng.randrange(0, 6)
        node = node.add_variation(move)
        node.set_clock(clocks[board.turn])
        board.push(move)
    return record


def _mates(board: chess.Board, move: chess.Move) -> bool:
    board.push(move)
    mates = board.is_checkmate()
    board.pop()
    return mates


def games(
    count: int, first: int = 0, person: str = PERSON, seed: int = 0, newest_first: bool = False, plies: int = PLIES
) -> str:
    """Some games as PGN, half of them with each colour, against many opponents."""
    rng = random.Random(seed)
    texts = []
    for number in range(first, first + count):
        players = [person, f"Opponent {number}"]
        texts.append(str(game(number, *(players if number % 2 else players[::-1]), rng, newest_first, plies)))
    return "\n\n".join(texts) + "\n"


def write(path: Path, count: int = 60, **more: int) -> Path:
    """A file of the person's games, every fifth of them under another spelling."""
    text = games(count, **more)  # type: ignore[arg-type]
    parts = text.split("[Event ")
    parts[5::5] = [part.replace(PERSON, SPELLINGS[1]) for part in parts[5::5]]
    path.write_text("[Event ".join(parts), encoding="utf-8")
    return path
