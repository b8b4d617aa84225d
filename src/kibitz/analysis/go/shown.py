"""Describe an analyzed game of Go for the page that shows it, see `kibitz.analysis.shown`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from kibitz.analysis.glyphs import rounded_change
from kibitz.analysis.go.games import AnalysedGame, Move
from kibitz.analysis.go.predictions import terms_of
from kibitz.analysis.shown import changed_cells, incomplete, player_name, record_texts, rounded
from kibitz.games.go.endings.final import FinalCount, count_board
from kibitz.games.go.points import BLACK, GRID, NONE, PASS, WHITE, to_gtp
from kibitz.games.go.rules import Board, Illegal

if TYPE_CHECKING:
    from kibitz.games.go.io.sgf import Record

_LETTERS = {BLACK: "X", WHITE: "O"}


def position_cells(board: Board) -> str:
    """Return a position, one character for each intersection, row by row from the upper left: "X" for a black stone,
    "O" for a white stone, "." for an empty intersection.
    """
    size, colours = board.size, board.colours()
    return "".join(
        _LETTERS.get(int(colour), ".") for row in range(size) for colour in colours[row * GRID : row * GRID + size]
    )


def owner_cells(board: Board, found: FinalCount) -> str:
    """Return the owners of a counted position, one character for each intersection, row by row from the upper left: "X"
    for Black, "O" for White, "." for neutral. A dead stone belongs to the other side, even in a neutral area: the page
    marks it then.

    board: the position. found: its score.
    """
    owner = found.owner.copy()
    neutral = found.dead & (owner == NONE)
    owner[neutral] = BLACK + WHITE - board.colours()[neutral]
    grid = owner.reshape(GRID, GRID)[: board.size, : board.size]
    return "".join(_LETTERS.get(int(side), ".") for side in grid.ravel())


def steps(board: Board, points: Iterable[int]) -> Iterator[dict[str, Any]]:
    """Yield each move as a step, until a move is illegal.

    board: the position before the first move; the moves are played on it. points: the moves, each as a point (row · 19
    + column) or 361 for a pass.
    """
    before = position_cells(board)
    for point in points:
        try:
            board.play(board.to_move, point)
        except Illegal:
            return
        after = position_cells(board)
        at = [] if point == PASS else [point // GRID * board.size + point % GRID]
        yield {"text": to_gtp(point, board.size), "cells": changed_cells(before, after), "at": at}
        before = after


def game_facts(headers: Any, board: Board, komi: float) -> dict[str, Any]:
    """Return the fields of a game that do not depend on its analysis.

    headers: the SGF properties. board: the start position. komi: the komi in points.
    """
    size = f"{board.size}×{board.size}"
    return {
        "game": "go",
        "size": board.size,
        "start": position_cells(board),
        "players": [player_name(headers, f"P{side}", f"{side}R") for side in "BW"],
        "result": next(iter(record_texts(headers, ["RE"])), "?"),
        "facts": [*record_texts(headers, ["EV", "PC", "DT"]), size, f"komi {komi:g}", *record_texts(headers, ["RU"])],
        "value": "Black's win probability",
    }


def shown_game(judged: AnalysedGame) -> dict[str, Any]:
    """Return the description of an analyzed game, see `kibitz.analysis.shown`."""
    record = judged.record
    board, moves = record.board(0), []
    for move in judged.moves:
        about = {"number": f"{move.ply}.", "side": move.side, "mark": move.mark, **_remarks(move, board, judged.swing)}
        moves += [{**step, **about} for step in steps(board, [move.point])]
    facts = game_facts(record.headers, record.board(0), record.komi)
    return {
        **facts,
        "facts": [*facts["facts"], *incomplete(judged.problem)],
        "checked_by": judged.checked_by.words() if judged.checked_by else "",
        "values": rounded([one.black_wins for one in judged.positions]),
        "leads": rounded([one.score.lead for one in judged.positions], 1),
        "moves": moves,
        "owners": _owners(record),
        "summary": judged.summary.as_json() if judged.moves else None,
    }


def _owners(record: Record) -> str:
    """Return the owners at the end of a game that two passes ended, see `owner_cells`; "" for other games."""
    board, terms = record.board(), terms_of(record)
    return owner_cells(board, count_board(board, terms.komi, terms.territory)) if board.passes >= 2 else ""


def _remarks(move: Move, board: Board, swing: float) -> dict[str, Any]:
    """Return what the page shows below an annotated move. board: the position before the move. swing: the smallest
    annotated change, in points.
    """
    if not move.mark:
        return {"change": None, "notes": [], "line": []}
    line = list(steps(board.copy(), move.better.line)) if move.better else []
    return {"change": rounded_change(move.change, swing, 1), "notes": move.explanations, "line": line}
