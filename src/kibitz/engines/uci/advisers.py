"""Sources of chess moves that the UCI engine uses before it searches: an opening book and endgame tablebases.

If the book or a tablebase has a problem, the engine reports the problem in one line and continues without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kibitz.errors import UsageError, one_line

if TYPE_CHECKING:
    import chess

    from kibitz.engines.uci.options import Options
    from kibitz.play.chess.book import OpeningBook
    from kibitz.play.chess.tablebase import Tablebases
    from kibitz.play.result import SearchLimits, SearchResult

_DRAWN = (0, 1000, 0)


@dataclass(frozen=True)
class Advice:
    """The result of looking up a position in the opening book and the tablebases, before the search.

    limits: the limits of the search, including the allowed moves.
    move: the move that the book chose, which has no score; None if the book chose no move.
    note: a line of text about the move, for the GUI.
    result: the search result made from the tablebases, if they decide the move and no search is needed; otherwise None.
    drawn: whether all allowed moves draw according to the tablebases.
    """

    limits: SearchLimits
    move: chess.Move | None = None
    note: str = ""
    result: SearchResult | None = None
    drawn: bool = False

    def corrected(self, thought: SearchResult) -> SearchResult:
        """Return the search result, with the score of a draw for every move if `drawn` is true. Otherwise the result is
        unchanged.

        thought: the search result.
        """
        if not self.drawn:
            return thought
        lines = tuple(replace(line, score=0, mate=None, wdl=_DRAWN) for line in thought.lines)
        return replace(thought, lines=lines)


class Advisers:
    """The opening book and the endgame tablebases of a UCI engine. The engine's options select their files.

    send_line: a function that sends a line of text to the GUI.
    """

    def __init__(self, send_line: Callable[[str], None]):
        self._send_line = send_line
        self._paths = ""
        self._tables: Tablebases | None = None
        self._book_of: tuple[str, int] = ("", 0)
        self._book: OpeningBook | None = None
        self._book_depth = 0

    def use(self, options: Options) -> None:
        """Open the opening book and the endgame tablebases of the given options, and close those of the previous
        options. If a file can't be opened, send a line to the GUI.
        """
        if options.syzygy != self._paths:
            self._paths = options.syzygy
            self._open_tables()
        if (options.book, options.seed) != self._book_of:
            self._book_of = options.book, options.seed
            self._open_book()
        self._book_depth = options.book_depth

    def _open_tables(self) -> None:
        if self._tables:
            self._tables.close()
        self._tables = None
        if not self._paths:
            return
        from kibitz.play.chess.tablebase import Tablebases

        try:
            self._tables = Tablebases(self._paths)
        except (UsageError, OSError, ValueError) as error:  # ValueError is raised for a file name with a zero byte
            self._send_line(f"SyzygyPath: {one_line(error).rstrip('.')}. The engine plays without tablebases.")
            return
        if self._tables.problems:
            self._send_line(f"SyzygyPath: {'; '.join(self._tables.problems)}")

    def _open_book(self) -> None:
        if self._book:
            self._book.close()
        self._book = None
        path, seed = self._book_of
        if not path:
            return
        from kibitz.play.chess.book import OpeningBook

        try:
            self._book = OpeningBook(path, seed or None)
        except (UsageError, OSError, ValueError) as error:  # ValueError is raised for a file name with a zero byte
            self._send_line(f"BookFile: {one_line(error).rstrip('.')}. The engine plays without a book.")

    def advise(self, board: chess.Board, limits: SearchLimits, analysis: bool) -> Advice:
        """Look up a position, first in the opening book and then in the tablebases.

        board: the position, which must have a legal move. limits: the limits of the search. analysis: whether the
        result needs a score. The book has no scores, so it is used only if analysis is False.
        """
        return (
            (None if analysis else self._advise_from_book(board, limits))
            or self._advise_from_tables(board, limits)
            or Advice(limits)
        )

    def _advise_from_book(self, board: chess.Board, limits: SearchLimits) -> Advice | None:
        if not self._book or board.ply() >= self._book_depth:
            return None
        drawn = self._book.draw(board, limits.moves)
        if drawn is None:
            return None
        move, weight, total = drawn
        return Advice(limits, move, f"book: {move.uci()}, weight {weight} of {total}")

    def _advise_from_tables(self, board: chess.Board, limits: SearchLimits) -> Advice | None:
        """Query the tablebases for the best move. If several moves draw, a search chooses one of them."""
        if not self._tables:
            return None
        from kibitz.play.result import SearchResult

        try:
            known = self._tables.best(board, limits.moves)
        except Exception:  # python-chess raises any kind of error when it reads a damaged table
            self._send_line("SyzygyPath: a table is damaged. The engine plays without tablebases.")
            self._tables = None
            return None
        if known is None:
            return None
        if known.outcome.sign == 0 and len(known.moves) > 1:
            return Advice(replace(limits, moves=known.moves), drawn=True)
        return Advice(limits, result=SearchResult(1, 0, 0.0, (known.line(known.moves[0]),)))
