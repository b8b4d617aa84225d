"""Draw chess boards as small SVG elements inside an HTML page.

A page shows up to a hundred boards. Therefore `piece_defs` draws the squares and the twelve pieces once, in a hidden
`<svg>`, and every board refers to these drawings.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import chess
import chess.svg
from markupsafe import Markup, escape

SQUARE = 45
"""Side length of a square in SVG units. python-chess draws its pieces for this size."""

MARGIN = 16
"""Width in SVG units of the space to the right of a board, in which a disc shows the side to move."""

_LIGHT, _DARK = "#eeddc0", "#b58f6c"


def piece_defs(turned: bool = False) -> Markup:
    """Return a hidden SVG with the drawings of squares and pieces to which the boards of `board_svg` refer. A page
    needs it once, before its first board.

    turned: whether to include the squares for boards that are seen from Black's side.
    """
    pieces = "".join(chess.svg.PIECES[symbol] for symbol in "PNBRQKpnbrqk")
    other = f'<g id="board-squares-turned">{_squares(turned=True)}</g>' if turned else ""
    return Markup(
        '<svg width="0" height="0" style="position:absolute" aria-hidden="true" focusable="false"><defs>'
        f'<g id="board-squares">{_squares()}</g>{other}{pieces}</defs></svg>'
    )


def board_svg(
    fen: str,
    last_move_uci: str | None = None,
    tints: Sequence[float] | None = None,
    turned: bool = False,
    arrow: str | None = None,
) -> Markup:
    """Return one board as SVG. The page must also contain the result of `piece_defs`.

    fen: the position.
    last_move_uci: a move, such as "e2e4", whose two squares are highlighted.
    tints: a probability for each of the 64 squares, a1 first. A more probable square is darker, and a probability of at
        least 1% is also shown as a number.
    turned: whether the board is seen from Black's side.
    arrow: a move in UCI notation that is drawn as an arrow.

    A disc to the right of the board shows the side to move. It is at the bottom if this side's pieces start at the
    bottom of the board, otherwise at the top. The `<title>` describes the position in words. Raises ValueError for an
    invalid FEN or move.
    """
    board = chess.Board(fen)
    move = chess.Move.from_uci(last_move_uci) if last_move_uci else chess.Move.null()
    tinted = [move.from_square, move.to_square] if move else []
    squares = "board-squares-turned" if turned else "board-squares"
    parts = [f"<title>{escape(describe(board, move))}</title>", f'<use href="#{squares}"/>']
    for square in tinted:
        x, y = _at(square, turned)
        parts.append(f'<rect class="last" x="{x}" y="{y}" width="{SQUARE}" height="{SQUARE}"/>')
    parts += list(_tints(tints or (), turned))
    for square, piece in sorted(board.piece_map().items()):
        x, y = _at(square, turned)
        parts.append(f'<use href="#{_name(piece)}" x="{x}" y="{y}"/>')
    parts += list(_percents(tints or (), turned))
    if arrow:
        parts.append(_arrow(chess.Move.from_uci(arrow), turned))
    parts.append(_marker(board.turn, turned))
    side = 8 * SQUARE
    return Markup(f'<svg class="board" viewBox="0 0 {side + MARGIN} {side}" role="img">{"".join(parts)}</svg>')


def _arrow(move: chess.Move, turned: bool) -> str:
    """Return an arrow from the center of a square to the center of another one."""
    (x, y), (u, v) = (
        tuple(c + SQUARE / 2 for c in _at(square, turned)) for square in (move.from_square, move.to_square)
    )
    long = math.hypot(u - x, v - y)
    if not long:
        return ""
    along, across = ((u - x) / long, (v - y) / long), (-(v - y) / long, (u - x) / long)

    def at(back: float, aside: float) -> str:
        return f"{u - back * along[0] + aside * across[0]:.1f} {v - back * along[1] + aside * across[1]:.1f}"

    corners = [at(long, 4), at(18, 4), at(18, 12), at(0, 0), at(18, -12), at(18, -4), at(long, -4)]
    return f'<path class="arrow" d="M{"L".join(corners)}z"/>'


def _tints(chances: Sequence[float], turned: bool) -> Iterator[str]:
    """Yield probabilities as tints. The strength is the square root of the probability, so that small probabilities are
    visible.
    """
    for square, chance in enumerate(chances):
        if chance >= 0.005:
            x, y = _at(square, turned)
            strength = min(0.9, chance**0.5)
            yield f'<rect class="heat" x="{x}" y="{y}" width="{SQUARE}" height="{SQUARE}" opacity="{strength:.2f}"/>'


def _percents(chances: Sequence[float], turned: bool) -> Iterator[str]:
    for square, chance in enumerate(chances):
        if chance >= 0.01:
            x, y = _at(square, turned)
            yield f'<text class="percent" x="{x + SQUARE - 2}" y="{y + SQUARE - 3}">{chance * 100:.0f}</text>'


def describe(board: chess.Board, move: chess.Move) -> str:
    """Return a description of the position for screen readers: "White to move, after e2e4. White: Ke1, … Black: …".

    move: the last move, or a null move if there is none.
    """
    after = f", after {move.uci()}" if move else ""
    sides = [f"{_side(board.turn)} to move{after}."]
    for colour in (chess.WHITE, chess.BLACK):
        men = [(square, piece) for square, piece in board.piece_map().items() if piece.color == colour]
        men.sort(key=lambda man: (-man[1].piece_type, man[0]))
        words = (piece.symbol().upper().replace("P", "") + chess.square_name(square) for square, piece in men)
        sides.append(f"{_side(colour)}: {', '.join(words) or 'nothing'}.")
    return " ".join(sides)


def _squares(turned: bool = False) -> str:
    side = 8 * SQUARE
    dark = "".join(
        f"M{x} {y}h{SQUARE}v{SQUARE}h-{SQUARE}z" for x, y in map(_at, chess.SquareSet(chess.BB_DARK_SQUARES))
    )
    names, numbers = ("hgfedcba", "12345678") if turned else ("abcdefgh", "87654321")
    files = "".join(_label(7 * SQUARE + 42, index * SQUARE + 37, name) for index, name in enumerate(names))
    ranks = "".join(_label(index * SQUARE + 11, 3, number) for index, number in enumerate(numbers))
    return f'<path fill="{_LIGHT}" d="M0 0h{side}v{side}h-{side}z"/><path fill="{_DARK}" d="{dark}"/>{files}{ranks}'


def _label(y: int, x: int, text: str) -> str:
    """Return the name of a file or rank, as a small text in the corner of its square."""
    return f'<text x="{x}" y="{y}" font-size="10" fill="#6b4f36" aria-hidden="true">{text}</text>'


def _marker(turn: chess.Color, turned: bool) -> str:
    """Return the marker of the side to move. Its position shows the side, so that color is not needed."""
    y = 8 if (turn == chess.BLACK) != turned else 8 * SQUARE - 8
    fill = "#fff" if turn == chess.WHITE else "#111"
    return f'<circle cx="{8 * SQUARE + 9}" cy="{y}" r="5.5" fill="{fill}" stroke="#777" stroke-width="2"/>'


def _at(square: int, turned: bool = False) -> tuple[int, int]:
    """Return the upper left corner of a square. White is at the bottom, or Black if `turned`."""
    square = square ^ 63 if turned else square
    return chess.square_file(square) * SQUARE, (7 - chess.square_rank(square)) * SQUARE


def _name(piece: chess.Piece) -> str:
    """Return the id of python-chess's drawing of a piece, such as "white-knight"."""
    return f"{_side(piece.color).lower()}-{chess.piece_name(piece.piece_type)}"


def _side(colour: chess.Color) -> str:
    return "White" if colour == chess.WHITE else "Black"
