"""Describe an analyzed game of chess for the page that shows it, see `kibitz.analysis.shown`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import chess

from kibitz.analysis.chess.moves import AnalysedGame, Move
from kibitz.analysis.glyphs import rounded_change
from kibitz.analysis.shown import changed_cells, incomplete, player_name, record_texts, rounded

_CONTROL = re.compile(r"(\d{1,6})(?:\+(\d{1,4}))?", re.ASCII)


def position_cells(board: chess.Board) -> str:
    """Return a position as 64 characters, a1 first: the letters of FEN, and "." for an empty square."""
    pieces = (board.piece_at(square) for square in chess.SQUARES)
    return "".join(piece.symbol() if piece else "." for piece in pieces)


def steps(board: chess.Board, moves: Iterable[chess.Move]) -> Iterator[dict[str, Any]]:
    """Yield each move as a step. board: the position before the first move; the moves are played on it."""
    before = position_cells(board)
    for move in moves:
        text = board.san_and_push(move)
        after = position_cells(board)
        yield {
            "text": text,
            "cells": changed_cells(before, after),
            "at": [move.from_square, move.to_square] if move else [],
        }
        before = after


def game_facts(headers: Any, board: chess.Board) -> dict[str, Any]:
    """Return the fields of a game that do not depend on its analysis. headers: the PGN tags. board: the start
    position.
    """
    return {
        "game": "chess",
        "size": 8,
        "start": position_cells(board),
        "players": [player_name(headers, side, f"{side}Elo") for side in ("White", "Black")],
        "result": next(iter(record_texts(headers, ["Result"])), "*"),
        "facts": record_texts(
            {**headers, "TimeControl": time_words(headers.get("TimeControl") or "")},
            ["Event", "Site", "Date", "TimeControl"],
        ),
    }


def time_words(control: str) -> str:
    """Return a time control of PGN as players write it: "10 min" for "600", "3+2" for "180+2". Other texts stay.

    control: the header TimeControl, with seconds.
    """
    found = _CONTROL.fullmatch(control.strip())
    if not found:
        return control
    minutes, more = f"{int(found[1]) / 60:.3g}", int(found[2] or 0)
    return f"{minutes}+{more}" if more else f"{minutes} min"


def number_of(board: chess.Board) -> str:
    """Return the number of the next move as text: "12." for White, "12…" for Black."""
    return f"{board.fullmove_number}{'.' if board.turn == chess.WHITE else '…'}"


def shown_game(judged: AnalysedGame, swing: float) -> dict[str, Any]:
    """Return the description of an analyzed game, see `kibitz.analysis.shown`.

    swing: the smallest annotated change of the win probability, 0 to 1.
    """
    game = judged.record.game
    board, moves = game.board(), []
    for node, move in zip(game.mainline(), judged.moves, strict=False):
        about = {"number": number_of(board), "side": move.side, "mark": move.sign, **_remarks(move, board, swing)}
        moves.append({**next(steps(board, [node.move])), **about})
    values = [] if judged.white is None else judged.white.tolist()
    facts = game_facts(game.headers, game.board())
    return {
        **facts,
        "facts": [*facts["facts"], *incomplete(judged.record.problem)],
        "checked_by": judged.checked_by.words() if judged.checked_by else "",
        "value": judged.meaning.name,
        "values": rounded(values),
        "moves": moves,
        "summary": judged.summary.as_json() if judged.summary else None,
    }


def _remarks(move: Move, board: chess.Board, swing: float) -> dict[str, Any]:
    """Return what the page shows below an annotated move. board: the position before the move. swing: see
    `shown_game`.
    """
    if not move.sign:
        return {"change": None, "notes": [], "line": []}
    practical = move.practical.text() if move.practical and move.practical.differs else ""
    line: list[dict[str, Any]] = []
    after = board.copy(stack=False)
    for san in move.judged.line if move.judged else ():
        line += steps(after, [after.parse_san(san)])
    return {
        "change": move.change and rounded_change(100 * move.change, 100 * swing, 0),
        "notes": [text for text in (move.reason.text() if move.reason else "", practical) if text],
        "line": line,
    }
