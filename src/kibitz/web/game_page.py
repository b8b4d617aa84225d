"""Export the game on the browser page of `kibitz board` as an HTML file, see `kibitz.report.game`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kibitz.analysis import shown
from kibitz.text import rounded
from kibitz.web import game_tree
from kibitz.web.chess.line import ChessLine
from kibitz.web.notes import LANGUAGE, MOST_TEXT, Note, read_notes
from kibitz.web.params import BadRequest, Fields, text
from kibitz.web.positions import read_line

_NO_NOTE = Note(None, None, "", 0.0, None, "", {})
Steps = Callable[[Any, Iterable[Any]], Iterator[dict[str, Any]]]
"""A function that yields moves as steps, such as `kibitz.analysis.chess.shown.steps`."""


def page(fields: Fields) -> dict[str, Any]:
    """Return the response of /api/page: {"html": the page of the game's main line}.

    fields: the fields of a request to /api/save, and "value", the name of the values, such as "White's win
    probability". The field "by" names the network that evaluated the moves, if no engine did. The field "dead" has the
    vertices of the dead stones in the last position of a Go game. Raises BadRequest for an invalid tree.
    """
    from kibitz.report.game import LANGUAGES, render_game_page

    line: Any = read_line(fields)
    tree, main = game_tree.read_tree(fields), [0]
    while tree[main[-1]].children:
        main.append(tree[main[-1]].children[0])
    notes = read_notes(fields, tree, line.game)
    language = notes.language if notes and notes.language in LANGUAGES else LANGUAGE
    found = [notes.moves.get(index, _NO_NOTE) if notes else _NO_NOTE for index in main]
    described = (_chess if isinstance(line, ChessLine) else _go)(
        fields, line, [tree[index].move or "" for index in main[1:]], found[1:], language
    )
    if value := text(fields, "value", "")[:MOST_TEXT]:
        described["value"] = value
    whole = notes is not None and notes.summary is not None and len(notes.movers) == len(main) - 1
    described |= {
        "checked_by": (notes.checked_by or text(fields, "by", "")[:MOST_TEXT]) if notes else "",
        "values": shown.rounded([note.value for note in found]),
        "leads": shown.rounded([note.lead for note in found], 1),
        "summary": notes.summary.as_json() if whole and notes and notes.summary else None,
    }
    return {"html": render_game_page([described], language)}


def _chess(fields: Fields, line: Any, names: list[str], notes: list[Note], language: str) -> dict[str, Any]:
    from kibitz.analysis.chess.shown import game_facts, number_of, steps
    from kibitz.analysis.glyphs import CHESS_SWING, rounded_change
    from kibitz.web.chess.line import read_move

    board, moves = line.start(), []
    for name, note in zip(names, notes, strict=True):
        about: dict[str, Any] = {"number": number_of(board), "side": "white" if board.turn else "black"}
        about |= _remarks(note, note.reasons, rounded_change(-100 * note.loss, 100 * CHESS_SWING, 0), language)
        about["line"] = _better(note, board.copy(stack=False), read_move, steps)
        moves += [{**step, **about} for step in steps(board, [read_move(board, name)])]
    return {
        **game_facts(game_tree.texts(fields, "headers"), line.start()),
        "value": "White's win probability",
        "moves": moves,
    }


def _go(fields: Fields, line: Any, names: list[str], notes: list[Note], language: str) -> dict[str, Any]:
    from kibitz.analysis.go.shown import game_facts, owner_cells, steps
    from kibitz.games.go.points import BLACK
    from kibitz.web.go.annotating import reasons_of
    from kibitz.web.go.counting import final_count
    from kibitz.web.go.line import read_point

    def read(board: Any, name: str) -> int:
        return read_point(name, line.size)

    board, moves = line.start(), []
    for ply, (name, note) in enumerate(zip(names, notes, strict=True), 1):
        about: dict[str, Any] = {"number": f"{ply}.", "side": "black" if board.to_move == BLACK else "white"}
        about |= _remarks(note, reasons_of(note), note.points and rounded(-note.points, 1), language)
        about["line"] = _better(note, board.copy(), read, steps)
        step = list(steps(board, [read(board, name)]))
        if not step:
            raise BadRequest(f"tree: move {ply} is illegal here")
        moves.append({**step[0], **about})
    owners = owner_cells(board, final_count(fields, line, board)) if board.passes >= 2 else ""
    facts = game_facts(game_tree.texts(fields, "headers"), line.start(), line.komi)
    return {**facts, "moves": moves, "owners": owners}


def _remarks(note: Note, reasons: dict[str, str], change: float | None, language: str) -> dict[str, Any]:
    """Return the mark of a move and, if it has one, the change of the value and the reason. reasons: by language."""
    if not note.mark:
        return {"mark": "", "change": None, "notes": []}
    reason = reasons.get(language) or reasons.get(LANGUAGE)
    return {"mark": note.mark, "change": change, "notes": [reason] if reason else []}


def _better(note: Note, board: Any, read: Callable[[Any, str], Any], steps: Steps) -> list[dict[str, Any]]:
    """Return the better line as steps, up to its first invalid move; [] for a move without a mark.

    board: a copy of the position before the move, on which the line is played. read: parses a move. steps: yields moves
    as steps.
    """
    found: list[dict[str, Any]] = []
    for name in (note.line or (note.best,)) if note.mark and note.best else ():
        try:
            found += steps(board, [read(board, name)])
        except BadRequest:
            break
    return found
