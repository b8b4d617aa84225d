"""Write games as PGN with python-chess."""

from __future__ import annotations

import chess.pgn

from kibitz.games.chess.io.tags import escape


class Exporter(chess.pgn.StringExporter):
    """Writes games, with quotation marks and backslashes of headers escaped as the PGN standard requires."""

    def visit_header(self, tagname: str, tagvalue: str) -> None:
        super().visit_header(tagname, escape(tagvalue))
