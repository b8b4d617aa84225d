"""The result page of a test: one self-contained HTML file.

Names, events and links come from game records and are untrusted text. The templates escape everything, links must be
http or https, and the page's content security policy forbids scripts and outside requests.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from kibitz.report.boards import go
from kibitz.report.boards.chess import board_svg, piece_defs
from kibitz.report.curves import course_svg, landscape_svg, learning_curve_svg, reliability_svg, slices_svg
from kibitz.report.numbers import cell_text, figure_text, interval_text, is_share

Row = Mapping[str, Any]

TEXTS = {
    "figures": "The bootstrap for the intervals resamples games, because positions of one game are not independent.",
    "unit": "positions",
    "baselines": "The network compared with simpler predictions, on the same positions.",
    "calibration": "The predicted probability, and how often the event happened. On the dashed line, the two"
    " are equal.",
    "by": "The same measure over parts of the positions. The dashed line is the value over all positions.",
    "gallery": "Positions by the network's certainty.",
    "pairs": "The left position is from a game that White won, and the right position from a game that"
    " Black won. The bar is the predicted probability that the left position is better for White."
    " Below each board is the probability that this position is better for White than a balanced"
    " position.",
    "hardest": "Positions with a predicted probability near 50%.",
    "mistakes": "Positions in which the network was most confident, and wrong.",
    "games": "The games of these positions, with the predicted probability after every move.",
    "heat_maps": "The predicted origin of the move, and the predicted target of the most likely piece. Darker"
    " squares are more probable, and the numbers are percent. Illegal squares are included.",
    "landscape": "Each point is a position. If the network's last hidden layer has similar outputs for two positions,"
    " they are close together (t-SNE map). Two lines connect the positions of one game. The solid line is for the side"
    " that moved first, and the dotted line for the other side.",
    "metrics": "Loss and accuracy during training.",
    "course": "Probability after every move, from 0 (bottom) to 1 (top)",
    "counted": "positions",
}
"""The text under the heading of each section of a result page, by the name of the section. The "texts" of a test's
result may replace a text.

Three keys are not sections. "course" describes the small curve of a game. "unit" is the unit of the results, such as
"positions". "counted" is the unit of the calibration.
"""


def render_test_page(result: Mapping[str, Any]) -> str:
    """Return the whole result page as HTML. result: the result of a test, as `kibitz test --json` prints it.

    Only "figures" is required: a dict from the name of each metric to {"label", "value", "low", "high", "n", "games",
    "kind"}, with None for missing values. Every other section appears only if the result has its key:

    main: the names of the metrics in the first table; if it is missing, the table has all metrics.
    tables, curves: lists of each `Table` and `Curve` of `kibitz.evaluation.tables` as JSON.
    heat_maps, landscape: as `policy.heatmaps` and `positions.tsne` of `kibitz.evaluation` return them.
    pairs: groups of pairs of positions, as `kibitz.evaluation.pairs.samples` returns them.
    texts: replacements for the sentences under the headings of the sections, see `TEXTS`.

    A game has "moves" and "curve". curve[ply] is a number from 0 to 1 for the position after `ply` moves, such as
    White's win probability. The text "course" in `TEXTS` describes these numbers. If a game has "numbered": n, every
    n-th move has a number in the list of moves. Without this key, White's moves have numbers, as in chess. If Black
    made the first move of a game of chess, the game has "black_first": True.

    A position has a "fen" or, in Go, a "board" for `report.boards.go`. Its "ply" is the number of moves played before
    it, so the last of these moves is moves[ply - 1] of its game. Raises ValueError if there are no metrics, and for an
    invalid FEN or move.
    """
    figures = result.get("figures")
    if not figures:
        raise ValueError("a result page needs numbers, but the result has no figures")
    headline = str(result.get("headline"))
    if headline not in figures:
        headline = next(iter(figures))
    games = {str(key): game for key, game in (result.get("games") or {}).items()}
    anchors = {key: _anchor(key, index) for index, key in enumerate(games)}
    texts = TEXTS | dict(result.get("texts") or {})
    page = {
        "result": result,
        "title": result.get("title") or result.get("system") or "test",
        "headline": headline,
        "kind": figures[headline]["kind"],
        "figures": {name: figures[name] for name in result.get("main") or figures},
        "top": figures[headline],
        "data": result.get("data") or {},
        "texts": texts,
        "bars": _bars(result, headline),
        "reliability": _reliability(result, texts),
        "slices": _slices(result, headline),
        "games": [_game(game, anchors[key], _moments(result, key)) for key, game in games.items()],
        "anchors": anchors,
        "tables": [{**table, "anchor": f"table-{i}"} for i, table in enumerate(result.get("tables") or ())],
        "curves": [
            {**curve, "anchor": f"curve-{i}", "picture": course_svg(curve)}
            for i, curve in enumerate(result.get("curves") or ())
        ],
        "heat_maps": [_heat(row) for row in result.get("heat_maps") or ()],
        "landscape": landscape_svg(result["landscape"]) if result.get("landscape") else None,
        "learning": learning_curve_svg(result["metrics"]) if result.get("metrics") else None,
        "pieces": _defs(result),
    }
    environment = Environment(
        loader=PackageLoader("kibitz.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(
        figure=figure_text, interval=interval_text, words=_words, count=_count, board=_board, cell=cell_text
    )
    return environment.get_template("page.html.j2").render(page)


def _words(name: str) -> str:
    """Convert a name such as "log_loss" to readable words."""
    text = str(name).replace("_", " ")
    return text[:1].upper() + text[1:]


def _count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def _defs(result: Row) -> Markup:
    """Return the shared definitions for the boards of the page."""
    sizes = {position["board"]["size"] for position in _positions(result) if position.get("board")}
    return go.board_defs(sizes) if sizes else piece_defs()


def _board(position: Row) -> Markup:
    """Return the position's board; "" for a record without one."""
    if position.get("board"):
        return go.board_svg(position["board"], position.get("last_move"))
    return board_svg(position["fen"], position.get("last_move")) if position.get("fen") else Markup("")


def _reliability(result: Row, texts: Mapping[str, str]) -> Markup | None:
    return reliability_svg(result["calibration"], texts["counted"]) if result.get("calibration") else None


def _heat(row: Row) -> dict[str, Any]:
    """Return a sample position with its two boards."""
    return {
        **row,
        "boards": [
            ("where it starts", board_svg(row["fen"], tints=row["origin"])),
            (f"where the {row['target_of']} goes", board_svg(row["fen"], tints=row["target"])),
        ],
    }


def _bars(result: Row, headline: str) -> list[dict[str, Any]]:
    """Return the network and its baselines as bars, in percent of the longest one (for shares, in percent of 1)."""
    baselines = result.get("baselines") or {}
    if not baselines:
        return []
    rows = [
        ("the network", result["figures"][headline], True),
        *((row["label"], row, False) for row in baselines.values()),
    ]
    values = [row["value"] for _, row, _ in rows if row["value"] is not None]
    share = is_share(result["figures"][headline]["kind"]) and all(value >= 0 for value in values)
    reach = 1.0 if share else max((abs(row.get("high") or row["value"] or 0.0) for _, row, _ in rows), default=0) or 1.0
    return [
        {
            "name": name,
            "figure": row,
            "own": own,
            "kin": not own and name.startswith("the network"),
            **{end: _percent_of(row.get(end), reach) for end in ("value", "low", "high")},
        }
        for name, row, own in rows
    ]


def _percent_of(value: float | None, reach: float) -> float | None:
    return None if value is None or math.isnan(value) else round(100 * min(max(value / reach, 0.0), 1.0), 2)


def _slices(result: Row, headline: str) -> list[dict[str, Any]]:
    """Return pictures of the slices. All have the same range, so that they can be compared."""
    overall = result["figures"][headline]["value"]
    by = {part["label"]: part["rows"] for part in (result.get("by") or {}).values() if part["rows"]}
    ends = [row["figure"].get(end) for rows in by.values() for row in rows for end in ("value", "low", "high")]
    known = [end for end in [*ends, overall] if end is not None]
    span = (min(known), max(known)) if known else (0.0, 1.0)
    percent = is_share(result["figures"][headline]["kind"])
    return [
        {
            "name": name,
            "rows": rows,
            "picture": slices_svg(rows, f"{_words(headline)} by {name}", overall, span, percent),
        }
        for name, rows in by.items()
    ]


def _anchor(key: str, index: int) -> str:
    """Return an id for the game's section. If the key is not a valid id or link, the index is used."""
    return f"game-{key}" if re.fullmatch(r"[A-Za-z0-9_]+", key) else f"game--{index}"


def _positions(result: Row) -> Iterator[Row]:
    yield from result.get("mistakes") or ()
    yield from result.get("hardest") or ()
    for band in result.get("gallery") or ():
        for kind in ("positions", "correct", "wrong"):
            yield from band.get(kind) or ()
    for group in result.get("pairs") or ():
        for pair in group["pairs"]:
            yield from (pair["won"], pair["lost"])


def _moments(result: Row, key: str) -> list[Row]:
    """Return the positions of one game that the page shows, each once: first the mistakes, then the others in the
    page's order.
    """
    by_ply: dict[int, Row] = {}
    for position in _positions(result):
        if str(position.get("game")) == key:
            by_ply.setdefault(position["ply"], position)
    return list(by_ply.values())


def _game(game: Row, anchor: str, moments: Sequence[Row]) -> dict[str, Any]:
    marked = {moment["ply"] for moment in moments}
    curve = game.get("curve") or []
    return {
        "record": game,
        "anchor": anchor,
        "link": _outside(game.get("link")),
        "moments": moments,
        "moves": list(_numbered(game.get("moves") or [], marked, game.get("numbered"), bool(game.get("black_first")))),
        "lines": list(_lines(curve)),
        "dots": [(_x(ply, curve), _y(curve[ply])) for ply in sorted(marked) if _known(curve, ply)],
    }


def _numbered(
    moves: Iterable[str], marked: set[int], every: int | None, black_first: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield moves with their numbers. White's moves have numbers such as "12.", or every `every`-th move has its
    number.

    marked: the plies after which a position is shown. black_first: whether Black made the first move in chess.
    """
    for index, san in enumerate(moves):
        if every:
            number = f"{index + 1}." if index % every == 0 else ""
        else:
            count, is_black = divmod(index + black_first, 2)
            number = f"{count + 1}{'…' if is_black else '.'}" if not is_black or not index else ""
        yield {"number": number, "san": san, "marked": index + 1 in marked}


def _outside(link: Any) -> str | None:
    """Return the link if it is plain http or https. A PGN may have any text there, such as "javascript:…"."""
    try:
        parts = urlsplit(str(link or ""))
    except ValueError:
        return None
    return str(link) if parts.scheme in ("http", "https") and parts.netloc else None


CURVE_WIDTH, CURVE_HEIGHT = 600, 110


def _lines(curve: Sequence[float | None]) -> Iterator[str]:
    """Yield the points of polylines. A ply without a probability interrupts the line."""
    points: list[str] = []
    for ply, value in enumerate([*curve, None]):
        if value is not None:
            points.append(f"{_x(ply, curve)},{_y(value)}")
        elif points:
            yield " ".join(points)
            points = []


def _known(curve: Sequence[float | None], ply: int) -> bool:
    return 0 <= ply < len(curve) and curve[ply] is not None


def _x(ply: int, curve: Sequence[float | None]) -> float:
    return round(CURVE_WIDTH * ply / max(1, len(curve) - 1), 1)


def _y(value: float | None) -> float:
    return round(CURVE_HEIGHT * (1 - (value or 0.0)), 1)
