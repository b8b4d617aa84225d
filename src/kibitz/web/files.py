"""Read PGN, SGF and FEN for the browser page of `kibitz board`, and write PGN and SGF."""

from __future__ import annotations

import re
from typing import Any

from kibitz.games.go.io.gib import is_gib
from kibitz.links import what_to_do
from kibitz.web import game_tree
from kibitz.web.notes import read_notes
from kibitz.web.params import BadRequest, Fields, choice, optional_object, text, whole, words
from kibitz.web.positions import GAMES, read_line

_SGF = re.compile(r"\(\s*+;\s*+[A-Za-z]*+\s*+[\[;()]|\A\s*+\(\s*+[A-Z]{1,2}\[")
"""Matches the beginning of a game in SGF. Records from Sina lack the first semicolon. In a PGN, this pattern can match
only inside a comment.
"""


def load(fields: Fields) -> dict[str, Any]:
    """Return the response of /api/load: the games or the position in the request's text (PGN, SGF or FEN). fields: the
    JSON of the request. Raises BadRequest if no game or position can be read.
    """
    record = text(fields, "text").lstrip("\ufeff").replace("\0", " ")
    index = whole(fields, "index", 0, 0, 10**7)
    if not record.replace("\ufeff", "").strip():
        raise BadRequest("nothing to open. Paste or drop a PGN, SGF or FEN")
    if advice := what_to_do(record):
        raise BadRequest(advice)
    match = _SGF.search(record)
    if is_gib(record[:64].encode()) or (match and not _looks_like_pgn(record[: match.start()])):
        from kibitz.web.go import files as go_records

        return go_records.load_sgf(record, index)

    from kibitz.web.chess import files

    fen = files.fen_of(record)
    return files.load_fen(fen) if fen else files.load_pgn(record, index)


def _looks_like_pgn(before: str) -> bool:
    """Return whether the text before "(;" is the beginning of a PGN."""
    return bool(re.search(r'^[ \t]*+\[[A-Za-z]\w*+[ \t]+"|\b\d++[ \t]*+\.', before, re.MULTILINE))


def save(fields: Fields) -> dict[str, Any]:
    """Return the response of /api/save: {"text": the game in a request, as PGN or SGF}. fields: the JSON of the
    request. Raises BadRequest for invalid data, such as an invalid tree of moves.

    The field "analysis" of the request may describe an analysis of the game (see `kibitz.web.notes.read_notes`). The
    text then also has win probabilities, annotations, and the reasons why moves were bad. Their format is that of
    `kibitz annotate`.
    """
    tree = game_tree.read_tree(fields)
    headers = optional_object(fields, "headers")
    line: Any = read_line(fields) if fields.get("line") is not None else None
    game = choice(fields, "game", tuple(GAMES), "chess")
    if line is not None and line.game != game:
        raise BadRequest("line and tree must be of the same game")
    notes = read_notes(fields, tree, game)
    if game == "go":
        from kibitz.web.go import files as go_records

        assumed = words(optional_object(fields, "line"), "assumed", 2)
        return {"text": go_records.save_sgf(tree, headers, line, assumed, notes)}

    from kibitz.web.chess import files

    return {"text": files.save_pgn(tree, headers, line.fen if line else None, notes)}
