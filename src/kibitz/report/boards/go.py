"""Draw Go boards as small SVG elements inside an HTML page: the stones, and the predicted ownership on top.

`board_defs` draws an empty board of each size once, in a hidden `<svg>`, and every board refers to one of these
drawings. "Ownership" means which side each intersection belongs to at the end of the game.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from kibitz.games.go.points import COLUMNS, GRID, PASS, SIZES, from_gtp

STEP = 20
"""Distance between two lines of the board, in SVG units."""
EDGE = 26
"""Distance from the edge of the picture to the first line, in SVG units. The coordinates are in this space."""
LARGEST = 13
"""The side length, in SVG units, of the square on an intersection whose predicted owner is certain."""
FAINTEST = 2
"""A square on an intersection is not drawn if its side length is smaller than this number of SVG units."""

_WOOD, _LINE, _NAME = "#dfb876", "#6d5128", "#5d4420"
_FILL = {"X": ("#17191c", "#8b8f94"), "O": ("#fbfbf8", "#767b80")}
"""Fill and outline of Black's and White's marks."""
_WRONG, _LAST, _BETTER = "#d0321e", "#2b7de0", "#15781b"
_STARS = {9: (2, 4, 6), 13: (3, 6, 9), 19: (3, 9, 15)}


def board_defs(sizes: Iterable[int]) -> Markup:
    """Return a hidden SVG with an empty board of each size, to which the boards of `board_svg` refer. A page needs it
    once, before its first board.

    sizes: the board sizes, such as 19.
    """
    boards = "".join(f'<g id="go-{size}">{_empty(size)}</g>' for size in sorted(set(sizes)))
    return Markup(
        '<svg width="0" height="0" style="position:absolute" aria-hidden="true" focusable="false">'
        f"<defs>{boards}</defs></svg>"
    )


def board_svg(position: Mapping[str, Any], last_move: str | None = None, better: str | None = None) -> Markup:
    """Return one board as SVG. The page must also contain the result of `board_defs` for this board size.

    position: a dict with these keys:
        "size": the board size.
        "stones": one string per row, from the top: "X" for black, "O" for white, "." for empty points.
        "black_owns" (optional): one string per row. It has a number for each intersection, separated by spaces: the
            predicted probability, in percent, that the intersection belongs to Black at the end of the game.
        "owners" (optional): one string per row with the final owners: "X" for Black, "O" for White, "-" for neither.

    last_move: a move such as "Q16", which is marked by a ring. better: a better move, which is marked by a dot.

    Predictions are drawn as squares in the color of the predicted owner. A larger square is a more certain prediction,
    and a cross marks a wrong prediction. Raises ValueError if the rows don't fit the size, and for unknown letters or
    an invalid move.
    """
    size = int(position["size"])
    if size not in SIZES:
        raise ValueError(f"the board must be one of {SIZES} (got {size})")
    stones = _rows(position["stones"], size, "XO.")
    chances = _percents(position["black_owns"], size) if position.get("black_owns") else None
    owners = _rows(position["owners"], size, "XO-") if position.get("owners") else None
    move = from_gtp(last_move, size) if last_move else PASS
    parts = [f'<use href="#go-{size}"/>', *_stones(stones)]
    if move != PASS:
        x, y = _at(move // GRID, move % GRID)
        parts.append(f'<circle cx="{x}" cy="{y}" r="8.4" fill="none" stroke="{_LAST}" stroke-width="2.6"/>')
    if better and (point := from_gtp(better, size)) != PASS:
        x, y = _at(point // GRID, point % GRID)
        parts.append(f'<circle cx="{x}" cy="{y}" r="6.5" fill="{_BETTER}"/>')
    if chances:
        parts += [*_squares(chances), *_crosses(chances, owners)]
    title = describe(stones, chances, owners, last_move)
    side = (size - 1) * STEP + 2 * EDGE
    return Markup(
        f'<svg class="board" viewBox="0 0 {side} {side}" role="img"><title>{title}</title>{"".join(parts)}</svg>'
    )


def describe(
    stones: Sequence[str], chances: Sequence[Sequence[int]] | None, owners: Sequence[str] | None, last_move: str | None
) -> str:
    """Return a description of a position for screen readers: the number of stones, the last move, the predicted
    territory, and the number of wrong predictions.

    stones: one string per row, with X for Black and O for White.
    chances: the predicted probability, in percent, that each intersection belongs to Black at the end, by row; None if
        there is no prediction.
    owners: the final owners, one string per row, with X for Black, O for White and - for neither; None if unknown.
    last_move: the last move, such as "Q16"; None if there is none.
    """
    black, white = (sum(row.count(letter) for row in stones) for letter in "XO")
    words = [f"{black} black and {white} white stones" + (f", after {_plain(last_move)}." if last_move else ".")]
    if chances:
        mine = sum(chance > 50 for row in chances for chance in row)
        others = sum(chance < 50 for row in chances for chance in row)
        words.append(f"Predicted: {mine} intersections for Black, {others} for White.")
    if chances and owners:
        words.append(f"{sum(1 for _ in _wrong(chances, owners))} intersections wrong.")
    return " ".join(words)


def _plain(move: str) -> str:
    return "".join(letter for letter in move if letter.isalnum())


def _rows(rows: Sequence[str], size: int, letters: str) -> list[str]:
    if len(rows) != size or any(len(row) != size or set(row) - set(letters) for row in rows):
        raise ValueError(f"the board must be {size} rows of {size} letters from {letters}")
    return list(rows)


def _percents(rows: Sequence[str], size: int) -> list[list[int]]:
    chances = [[int(word) for word in row.split()] for row in rows]
    if len(chances) != size or any(len(row) != size or min(row) < 0 or max(row) > 100 for row in chances):
        raise ValueError(f"the territory must be {size} rows of {size} percentages")
    return chances


def _at(row: int, column: int) -> tuple[int, int]:
    """Return the coordinates of a point."""
    return EDGE + column * STEP, EDGE + row * STEP


def _empty(size: int) -> str:
    end = (size - 1) * STEP
    side, far = end + 2 * EDGE, EDGE + end
    lines = "".join(f"M{EDGE} {EDGE + i * STEP}h{end}M{EDGE + i * STEP} {EDGE}v{end}" for i in range(size))
    stars = "".join(_dot(*_at(row, column), 2.6) for row in _STARS[size] for column in _STARS[size])
    below = "".join(f'<text x="{EDGE + i * STEP}" y="{far + 21}">{COLUMNS[i]}</text>' for i in range(size))
    left = "".join(f'<text x="8" y="{EDGE + i * STEP + 3}">{size - i}</text>' for i in range(size))
    return (
        f'<path fill="{_WOOD}" d="M0 0h{side}v{side}h-{side}z"/><path stroke="{_LINE}" d="{lines}"/>'
        f'<g fill="{_LINE}">{stars}</g>'
        f'<g font-size="9" text-anchor="middle" fill="{_NAME}" aria-hidden="true">{below}{left}</g>'
    )


def _dot(x: int, y: int, radius: float) -> str:
    return f'<circle cx="{x}" cy="{y}" r="{radius:g}"/>'


def _stones(rows: Sequence[str]) -> Iterator[str]:
    """Yield a group for each color that has stones."""
    for letter, (fill, _) in _FILL.items():
        points = [_at(y, x) for y, row in enumerate(rows) for x, there in enumerate(row) if there == letter]
        if points:
            stones = "".join(_dot(x, y, 9.4) for x, y in points)
            yield f'<g class="stones" fill="{fill}" stroke="#3c3a36" stroke-width=".8">{stones}</g>'


def _squares(chances: Sequence[Sequence[int]]) -> Iterator[str]:
    """Yield a path for each color with predicted points."""
    for letter, sign in (("X", 1), ("O", -1)):
        drawn = []
        for row, line in enumerate(chances):
            for column, chance in enumerate(line):
                side = round(sign * (chance - 50) / 50 * LARGEST)
                if side >= FAINTEST:
                    x, y = _at(row, column)
                    drawn.append(f"M{x - side / 2:g} {y - side / 2:g}h{side}v{side}h-{side}z")
        if drawn:
            fill, rim = _FILL[letter]
            yield f'<path class="owned" fill="{fill}" stroke="{rim}" stroke-width=".9" d="{"".join(drawn)}"/>'


def _wrong(chances: Sequence[Sequence[int]], owners: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield row and column of each point whose owner is predicted wrongly."""
    for y, row in enumerate(chances):
        for x, chance in enumerate(row):
            if (owners[y][x] == "X" and chance < 50) or (owners[y][x] == "O" and chance > 50):
                yield y, x


def _crosses(chances: Sequence[Sequence[int]], owners: Sequence[str] | None) -> Iterator[str]:
    """Yield crosses on wrong points, larger if the prediction was more certain."""
    drawn = []
    for row, column in _wrong(chances, owners) if owners else ():
        x, y = _at(row, column)
        side = 3 + round(abs(chances[row][column] - 50) / 50 * 8)
        drawn.append(f"M{x - side / 2:g} {y - side / 2:g}l{side} {side}m0-{side}l-{side} {side}")
    if drawn:
        yield f'<path class="wrong-points" fill="none" stroke="{_WRONG}" stroke-width="1.9" d="{"".join(drawn)}"/>'
