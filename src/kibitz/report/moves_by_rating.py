"""A diagram that shows which moves players of different ratings choose in a position. Each likely move has its
curve.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

WIDTH, HEIGHT = 640, 320
"""Size of the diagram in SVG units, without the lines of text below the curves."""
CURVES, LEAST = 8, 0.05
"""The largest number of moves that get a curve, and the smallest share that a move must have at some rating. Traps
always get a curve.
"""
INKS = ("#0067a8", "#c4622d", "#2d7d4f", "#7a4fa3", "#8a6d00", "#00808a", "#a23b72", "#5a5a5a")
TRAP = "#c22f2f"
_INK, _QUIET, _GRID = "#1c1c1c", "#5a5a5a", "#dcdcdc"
_LEFT, _TOP, _RIGHT, _BOTTOM = 48, 40, 150, 40
_LINE = 17
TOPS = (0.25, 0.5, 0.75, 1.0)
"""The possible upper ends of the vertical axis, which shows the share of the players who choose a move."""

Row = Mapping[str, Any]


def curves_of(found: Row) -> list[tuple[Row, str, bool]]:
    """Return the moves that get a curve in the diagram, in the order of `found`.

    Each move is a tuple: the move's dict from `found`, the color of its curve as a hex value, and whether the move is a
    trap. A trap is a losing move that weaker players choose.

    found: a dict with these keys:
        ratings: the ratings on the x axis.
        moves: a list of dicts, the most likely move first. Each has "move" (UCI), "san" and "p". "p" is a list with the
            share, 0 to 1, of the players at each rating who choose the move.
        traps: a list of dicts, each with the "move" of a trap (UCI).
    """
    traps = {trap["move"] for trap in found["traps"]}
    first = [move for move in found["moves"] if max(move["p"]) >= LEAST][:CURVES]
    shown = [move for move in found["moves"] if move in first or move["move"] in traps]
    return [
        (move, TRAP if move["move"] in traps else INKS[i % len(INKS)], move["move"] in traps)
        for i, move in enumerate(shown)
    ]


def top_of(curves: Sequence[tuple[Row, str, bool]]) -> float:
    """Return the upper end of the vertical axis: the smallest of 0.25, 0.5, 0.75 and 1 that no curve exceeds. curves:
    as `curves_of` returns them.
    """
    highest = max((max(move["p"]) for move, _, _ in curves), default=0.0)
    return next(top for top in TOPS if top >= min(highest, 1.0))


def moves_by_rating_svg(found: Row, title: str, words: Sequence[str]) -> Markup:
    """Return a diagram as SVG: for each likely move, a curve of the share of players who choose the move, by rating.

    found: the moves, as `curves_of` takes them. title: the text above the curves. words: the lines of text below the
    curves.
    """
    curves, ratings = curves_of(found), found["ratings"]
    top, tall = top_of(curves), HEIGHT + _LINE * len(words) + 14
    wide, high = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM

    def x(rating: float) -> float:
        return _LEFT + wide * (rating - float(ratings[0])) / float(ratings[-1] - ratings[0])

    def y(share: float) -> float:
        return _TOP + high * (1 - share / top)

    out = io.StringIO()
    out.write(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="kibitz-ratings" width="{WIDTH}" height="{tall}"'
        f' viewBox="0 0 {WIDTH} {tall}" font-family="system-ui, sans-serif" font-size="12.5" role="img">'
        f'<title>{escape(title)}</title><rect width="{WIDTH}" height="{tall}" rx="6" fill="#fff"/>'
        f'<text x="{_LEFT}" y="22" font-weight="600" fill="{_INK}">{escape(title)}</text>'
    )
    for share in (0.0, top / 2, top):
        out.write(
            f'<path d="M{_LEFT} {y(share):.1f}h{wide}" stroke="{_GRID}"/>'
            f'<text x="{_LEFT - 6}" y="{y(share) + 4:.1f}" text-anchor="end" fill="{_QUIET}">{100 * share:.3g}%</text>'
        )
    for rating in ratings[::4]:
        out.write(
            f'<text x="{x(rating):.1f}" y="{_TOP + high + 18}" text-anchor="middle" fill="{_QUIET}">{rating}</text>'
        )
    out.write(
        f'<text x="{_LEFT + wide / 2:.1f}" y="{_TOP + high + 34}" text-anchor="middle" fill="{_QUIET}">rating of both'
        " players</text>"
    )
    for i, (move, ink, is_trap) in enumerate(curves):
        points = " ".join(f"{x(rating):.1f},{y(share):.1f}" for rating, share in zip(ratings, move["p"], strict=True))
        dashes = ' stroke-dasharray="6 3"' if is_trap else ""
        at = _TOP + 12 + 20 * i
        out.write(
            f'<polyline class="{"trap" if is_trap else "move"}" points="{points}" fill="none" stroke="{ink}"'
            f' stroke-width="2.2"{dashes}/>'
            f'<path d="M{WIDTH - _RIGHT + 16} {at - 4}h22" stroke="{ink}" stroke-width="2.2"{dashes}/>'
            f'<text x="{WIDTH - _RIGHT + 44}" y="{at}" fill="{_INK}">{escape(move["san"])}'
            f"{' (trap)' if is_trap else ''}</text>"
        )
    for i, line in enumerate(words):
        out.write(f'<text x="{_LEFT}" y="{HEIGHT + 16 + _LINE * i}" fill="{_INK}">{escape(line)}</text>')
    out.write("</svg>")
    return Markup(out.getvalue())
