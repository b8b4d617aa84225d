"""Write games as PGN with python-chess."""

from __future__ import annotations

import chess.pgn

from kibitz.games.chess.io.tags import escape


class Exporter(chess.pgn.StringExporter):
    """Writes python-chess games as PGN text. It escapes quotation marks and backslashes in headers, as the PGN standard
    requires.
    """

    def visit_header(self, tagname: str, tagvalue: str) -> None:
        """Add a header to the text. tagname, tagvalue: its name and its value without escapes."""
        super().visit_header(tagname, escape(tagvalue))
