"""Lines of either game: what a request says, and what the page is told of its positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kibitz.web.params import Fields, an_object, choice

if TYPE_CHECKING:
    from kibitz.web.chess.line import ChessLine
    from kibitz.web.go.line import GoLine

    Line = ChessLine | GoLine

GAMES = ("chess", "go")


def read_line(fields: Fields, name: str = "line") -> Line:
    """The line of a request. Raises BadRequest for one that is none, or has an illegal move."""
    line = an_object(fields.get(name), name)
    if choice(line, "game", GAMES, "chess") == "go":
        from kibitz.web.go import line as go_lines

        return go_lines.read_line(line)

    from kibitz.web.chess import line as chess_lines

    return chess_lines.read_line(line)


def nodes(line: Line) -> list[dict[str, Any]]:
    """Every position of a line as the page is told of it, 0 .. n."""
    if line.game == "go":
        from kibitz.web.go import line as go_lines

        return go_lines.nodes(line)

    from kibitz.web.chess import line as chess_lines

    return chess_lines.nodes(line)


def after(line: Line, move: str) -> dict[str, Any]:
    """The position after one more move. Raises BadRequest where it is illegal."""
    if line.game == "go":
        from kibitz.web.go import line as go_lines

        return go_lines.after(line, move)

    from kibitz.web.chess import line as chess_lines

    return chess_lines.after(line, move)
