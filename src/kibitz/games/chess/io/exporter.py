"""Games as PGN, written by python-chess."""

from __future__ import annotations

import chess.pgn

from kibitz.games.chess.io.tags import escape


class Exporter(chess.pgn.StringExporter):
    """Writes games with backslashes before the quotation marks and backslashes of headers, as the standard has it."""

    def visit_header(self, tagname: str, tagvalue: str) -> None:
        super().visit_header(tagname, escape(tagvalue))
