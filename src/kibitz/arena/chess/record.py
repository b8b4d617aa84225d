"""Convert a game of a chess match to PGN."""

from __future__ import annotations

import datetime
import io
from collections.abc import Mapping

import chess
import chess.pgn

from kibitz.arena.chess.game import GameResult
from kibitz.arena.record import RecordFormat, ScoredGame, row, side_of, tag, tags_of
from kibitz.text import signed

POINTS = {"1-0": 2, "1/2-1/2": 1, "0-1": 0}
"""White's points for each result, in half points: 2 for a win, 1 for a draw, 0 for a loss."""


def counted(number: int, played: GameResult) -> ScoredGame:
    """Return the score of a game in the match. number: the game's number in the match, from 0. played: the result of
    the game.
    """
    return row(number, POINTS[played.result], played.ending, played.at_fault, played.reason)


def text_of(
    number: int, played: GameResult, names: Mapping[str, str], opening: int, settings: Mapping[str, str]
) -> str:
    """Return a game as PGN that ends with an empty line.

    number: the game's number in the match, from 0.
    played: the game and its result.
    names: a dict from "A" and "B" to the names of the players.
    opening: the number of the opening in the list of openings, from 0.
    settings: the settings of the match, which are written as PGN tags.
    """
    game = chess.pgn.Game()
    white, black = side_of(number, chess.WHITE), side_of(number, chess.BLACK)
    game.headers["Event"] = "kibitz match"
    game.headers["Site"] = "?"
    game.headers["Date"] = datetime.date.today().strftime("%Y.%m.%d")
    game.headers["Round"] = f"{number // 2 + 1}.{number % 2 + 1}"
    game.headers["White"], game.headers["Black"] = tag(names[white]), tag(names[black])
    game.headers["Result"] = played.result
    game.headers["Termination"] = played.termination
    game.headers["SideA"] = "White" if white == "A" else "Black"
    game.headers["OpeningNumber"] = str(opening)
    for key, value in tags_of(counted(number, played), settings).items():
        game.headers[key] = value
    node: chess.pgn.GameNode = game
    for ply, move in enumerate(played.board.move_stack):
        node = node.add_variation(move)
        if ply >= played.opening:
            node.comment = _comment(played, ply)
    last = played.ending
    if played.at_fault is not None:
        last = f"{'White' if played.at_fault == chess.WHITE else 'Black'} forfeits: {tag(played.reason)}"
    last = last.translate({ord("{"): "(", ord("}"): ")"})  # a brace would end the comment
    node.comment = f"{node.comment}; {last}" if node.comment else last
    return game.accept(chess.pgn.StringExporter(columns=100)) + "\n\n"


def _comment(played: GameResult, ply: int) -> str:
    answer = played.answers[ply - played.opening]
    parts = []
    if answer.score is not None:
        parts.append(signed(answer.score / 100, 2) + (f"/{answer.depth}" if answer.depth is not None else ""))
    parts.append(f"{answer.seconds:.3f}s")
    if answer.nodes is not None:
        parts.append(f"{answer.nodes}n")
    return " ".join(parts)


def _read(text: str) -> tuple[int, Mapping[str, str]] | None:
    headers = chess.pgn.read_headers(io.StringIO(text))
    result = headers.get("Result", "*") if headers is not None else "*"
    if headers is None or result not in POINTS or not text.endswith(f"{result}\n\n"):
        return None
    return POINTS[result], headers


PGN = RecordFormat("--pgn", '[Event "kibitz match"]', _read)
