"""Write games as PGN with python-chess."""

from __future__ import annotations

import chess.pgn

from kibitz.games.chess.io.tags import escape


class Exporter(chess.pgn.StringExporter):
    """Writes games as PGN text. Quotation marks and backslashes in headers are escaped as the PGN standard requires."""

    def visit_header(self, tagname: str, tagvalue: str) -> None:
        super().visit_header(tagname, escape(tagvalue))
