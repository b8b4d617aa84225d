"""Draw the diagrams of a result page with matplotlib, as SVG that uses the page's colors and font.

The functions do not use pyplot or its global state of open figures. A saved file contains colors as hex values. In an
SVG for a page, each color is `var(--name, hex)`, so that the page's dark or light mode selects the color.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

import matplotlib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from kibitz.durable import write_whole
from kibitz.report.moves_by_rating import curves_of, top_of
from kibitz.runs import CURVE, Run

INK, MUTED, GRID, ONE, TWO, THREE = "#26303b", "#6a7684", "#dce1e7", "#2a6fb0", "#c4622d", "#2d7d4f"
_VARIABLES = {INK: "ink", MUTED: "muted", GRID: "line", ONE: "accent", TWO: "second", THREE: "good"}
_WIDTH = 5.8
"""Width in inches. It is small on purpose, so that a phone needs to shrink the picture only a little and its text stays
readable.
"""

_SHOWN = ("loss", "accuracy", "origin_accuracy", "target_accuracy")
"""Measures that get a panel in a learning curve, if the metrics have them."""

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "kibitz",
    "text.parse_math": False,
    "font.size": 9.5,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": GRID,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
}

Row = Mapping[str, Any]


def reliability_svg(calibration: Sequence[Row], counted: str = "positions") -> Markup:
    """Return a reliability diagram as SVG: the observed frequency for each predicted probability, with 95% intervals.

    On the diagonal, predictions are perfectly calibrated. Bars below the diagram show the share of the predictions in
    each bin.

    calibration: the rows of `kibitz.stats.reliability`. counted: the label of the bars, which names the things that are
    counted, such as "positions".
    """
    with _drawing():
        figure = Figure(figsize=(_WIDTH, 5.2), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[4, 1])
        above.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
        rows = [row for row in calibration if row["observed"]["value"] is not None]
        predicted = [row["predicted"] for row in rows]
        _points(above, predicted, [row["observed"] for row in rows], line=True)
        above.set(ylabel="happened", xlim=(0, 1), ylim=(0, 1))
        total = sum(row["n"] for row in calibration) or 1
        middles = [(row["low"] + row["high"]) / 2 for row in calibration]
        widths = [(row["high"] - row["low"]) * 0.92 for row in calibration]
        below.bar(middles, [row["n"] / total for row in calibration], width=widths, color=ONE, alpha=0.45)
        below.set(xlabel="predicted", ylabel=counted)
        for axis in (above.xaxis, above.yaxis, below.yaxis):
            axis.set_major_formatter(FuncFormatter(_percent))
        below.yaxis.set_major_locator(MaxNLocator(2))
        return _inline(figure, "Predicted probability against observed frequency")


def slices_svg(
    rows: Sequence[Row],
    title: str,
    whole: float | None = None,
    span: tuple[float, float] | None = None,
    percent: bool = True,
) -> Markup:
    """Return a diagram as SVG that compares the values of a measure on several slices (groups of positions). Each slice
    has one line with a dot for the value and a bar for its 95% interval.

    rows: {"slice": label, "figure": estimate} for each slice. The estimate is a dict with "value", "low" and "high". A
        slice without positions has the value None and gets a line without a dot.
    title: a description of the diagram for screen readers.
    whole: the value over all slices, which is shown as a dashed line; None for no line.
    span: a range that the horizontal axis must include, so that diagrams side by side can have the same axis.
    percent: whether the values are shares, which are shown in percent.
    """
    with _drawing():
        figure = Figure(figsize=(_WIDTH, 0.62 + 0.27 * len(rows)), layout="constrained")
        axes = figure.subplots()
        for index, row in enumerate(rows):
            if row["figure"]["value"] is not None:
                _points(axes, [index], [row["figure"]], across=True)
        if whole is not None:
            axes.axvline(whole, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
        axes.set_yticks(range(len(rows)), [_shortened(str(row["slice"])) for row in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        if span is not None:
            axes.plot(span, [0, 0], alpha=0)
        axes.grid(axis="y", visible=False)
        axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
        if percent:
            axes.xaxis.set_major_formatter(FuncFormatter(_percent))
        return _inline(figure, title)


def learning_curve_svg(metrics: Sequence[Row]) -> Markup:
    """Return a diagram as SVG: loss and accuracy by training iteration, on the training and the validation positions.

    metrics: the rows of metrics.jsonl. Only rows of the kinds "summary" and "validation" are drawn. They have
    "iteration" and "loss", and may have "stage", "accuracy", "origin_accuracy" and "target_accuracy". A stage is a part
    of the training. The curves of several stages are next to each other, from left to right. If two rows have the same
    iteration, because training was resumed, the last row is drawn.
    """
    with _drawing():
        return _inline(_learning_figure(metrics), "Learning curve")


def course_svg(curve: Row) -> Markup:
    """Return a diagram as SVG with several lines and their shaded 95% intervals. The x axis shows the move number or
    another quantity.

    curve: a dict with "title"; "heading", the label of the x axis; and "lines". Each line has a "name" and "points". A
    point is [x, estimate], and an estimate is a dict with "value", "low" and "high".
    """
    with _drawing():
        figure = Figure(figsize=(_WIDTH, 4), layout="constrained")
        axes = figure.subplots()
        colours = (ONE, TWO, THREE, MUTED)
        for index, line in enumerate(curve["lines"]):
            known = [(at, value) for at, value in line["points"] if value["value"] is not None]
            if not known:
                continue
            colour, along = colours[index % len(colours)], [at for at, _ in known]
            values = [value["value"] for _, value in known]
            low, high = ([value.get(end) if value.get(end) is not None else value["value"] for _, value in known]
                         for end in ("low", "high"))  # fmt: skip
            axes.fill_between(along, low, high, color=colour, alpha=0.15, linewidth=0)
            axes.plot(along, values, color=colour, label=_shortened(line["name"]), marker=_mark(known))
        axes.set_xlabel(curve["heading"])
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        axes.yaxis.set_major_formatter(FuncFormatter(_percent))
        if axes.lines:
            axes.legend(loc="best")
        return _inline(figure, curve["title"])


def landscape_svg(landscape: Row) -> Markup:
    """Return a diagram as SVG that shows positions as points on a map, colored by group. A path connects the positions
    of one game.

    landscape: a dict with "points", each [x, y, index of the group]; "groups", the names of the groups; and "course",
    the [x, y] of the game's positions, in the order of the game.
    """
    with _drawing():
        figure = Figure(figsize=(_WIDTH, 5.2), layout="constrained")
        axes = figure.subplots()
        for number, (name, colour) in enumerate(zip(landscape["groups"], (ONE, TWO, THREE), strict=False)):
            points = [point[:2] for point in landscape["points"] if point[2] == number]
            if points:
                axes.plot(*zip(*points, strict=True), ".", color=colour, markersize=3.2, alpha=0.6, label=name)
        course = landscape.get("course") or []
        for first, style in ((0, "-"), (1, (0, (2, 2)))):  # results of both sides get separate lines
            if len(course) > first:
                axes.plot(*zip(*course[first::2], strict=True), color=INK, linewidth=1, linestyle=style)
        if course:
            for words, place in (("start", course[0]), ("end", course[-1])):
                axes.annotate(words, place, xytext=(4, 4), textcoords="offset points", fontweight="bold")
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        if landscape["points"]:
            axes.legend(loc="best", markerscale=3)
        return _inline(figure, "Positions by the last hidden layer")


def moves_by_rating_png(found: Row, title: str, words: Sequence[str]) -> bytes:
    """Return a PNG file with the same picture as `kibitz.report.moves_by_rating.moves_by_rating_svg`. The arguments are
    the same as for that function.
    """
    with _drawing():
        figure = Figure(figsize=(_WIDTH * 1.25, 3.6 + 0.2 * len(words)), layout="constrained")
        axes = figure.subplots()
        curves = curves_of(found)
        for move, ink, is_trap in curves:
            label = f"{move['san']} (trap)" if is_trap else move["san"]
            axes.plot(found["ratings"], move["p"], color=ink, linestyle="--" if is_trap else "-", label=label)
        axes.set(title=title, xlabel="\n".join(["rating of both players", *words]), ylim=(0, top_of(curves)))
        axes.set_xlim(found["ratings"][0], found["ratings"][-1])
        axes.yaxis.set_major_formatter(FuncFormatter(_percent))
        axes.yaxis.set_major_locator(MaxNLocator(4))
        if curves:
            axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=160, facecolor="white")
        return file.getvalue()


def save_learning_curve(metrics: Sequence[Row], path: Path | str) -> None:
    """Write a diagram of loss and accuracy by training iteration to a file, atomically.

    metrics: the rows of metrics.jsonl, as for `learning_curve_svg`. path: the file, whose extension selects the format,
    .svg or .png. Raises ValueError for any other extension.
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in (".svg", ".png"):
        raise ValueError(f"{target}: a learning curve must be a .svg or .png file (got {kind or 'no extension'})")
    with _drawing():
        undated, file = {"Date": None} if kind == ".svg" else None, io.BytesIO()
        _learning_figure(metrics).savefig(file, format=kind[1:], dpi=160, facecolor="white", metadata=undated)
    write_whole(target, file.getvalue())


def draw_curve(run: Path, again: bool) -> None:
    """Draw the learning curve of a run (the folder of a trained network), and save it in this folder. If the run has no
    metrics, the function does nothing.

    again: whether to replace an existing picture. If False and the picture exists, nothing is written, so that the
    folder may be read-only.
    """
    if (again or not (run / CURVE).is_file()) and (rows := Run(run).metrics()):
        save_learning_curve(rows, run / CURVE)


def _learning_figure(metrics: Sequence[Row]) -> Figure:
    rows, borders = _unrolled(metrics)
    names = [name for name in _SHOWN if any(row.get(name) is not None for row in rows)]
    figure = Figure(figsize=(_WIDTH, 0.5 + 2.1 * max(1, len(names))), layout="constrained")
    panels = figure.subplots(max(1, len(names)), 1, sharex=True, squeeze=False)[:, 0]
    for axes, name in zip(panels, names, strict=False):
        for kind, label, colour in (("summary", "training", ONE), ("validation", "validation", TWO)):
            for stage, _ in borders:
                mine = (row for row in rows if row["kind"] == kind and str(row.get("stage") or "") == stage)
                points = [(row["at"], row[name]) for row in mine if row.get(name) is not None]
                if points:
                    axes.plot(*zip(*points, strict=True), color=colour, label=label, marker=_mark(points))
                    label = ""
        for _, start in borders[1:]:
            axes.axvline(start, color=MUTED, linewidth=1, linestyle=(0, (2, 3)))
        axes.set_ylabel(name.replace("_", " "))
        if name.endswith("accuracy"):
            axes.yaxis.set_major_formatter(FuncFormatter(_percent))
    if names:
        panels[0].legend(loc="best")
    for stage, start in borders if len(borders) > 1 else []:
        top = panels[0].get_xaxis_transform()
        panels[0].annotate(
            _shortened(stage), (start, 1), xycoords=top, xytext=(3, 3), textcoords="offset points",
            rotation=60 if len(borders) > 3 else 0,
        )  # fmt: skip
    panels[-1].set_xlabel("iteration")
    panels[-1].xaxis.set_major_locator(MaxNLocator(6, integer=True))
    panels[-1].xaxis.set_major_formatter(FuncFormatter(lambda at, _: f"{at:,.0f}"))
    return figure


def _unrolled(metrics: Sequence[Row]) -> tuple[list[dict[str, Any]], list[tuple[str, int]]]:
    """Return rows with "at", their place on one axis over all stages, and the place where each stage starts."""
    stages: dict[str, dict[tuple[str, int], Row]] = {}
    for row in metrics:
        if row.get("kind") in ("summary", "validation") and row.get("iteration") is not None:
            stages.setdefault(str(row.get("stage") or ""), {})[row["kind"], row["iteration"]] = row
    rows: list[dict[str, Any]] = []
    borders: list[tuple[str, int]] = []
    end = 0
    for stage, stage_rows in stages.items():
        borders.append((stage, end))
        ordered = sorted(stage_rows.items(), key=lambda item: item[0][1])
        rows += [{**row, "at": end + iteration} for (_, iteration), row in ordered]
        end += ordered[-1][0][1]
    return rows, borders


def _points(
    axes: Axes, positions: Sequence[float], figures: Sequence[Row], *, across: bool = False, line: bool = False
) -> None:
    """Draw dots with their intervals, if there are intervals. across: whether to draw along x instead of y."""
    values = [figure["value"] for figure in figures]
    reach = [[_reach(figure, end) for figure in figures] for end in ("low", "high")]
    x, y = (values, positions) if across else (positions, values)
    axes.errorbar(
        x,
        y,
        xerr=reach if across else None,
        yerr=None if across else reach,
        fmt="o-" if line else "o",
        color=ONE,
        markersize=4.5,
        linewidth=1.3,
        elinewidth=2.2,
        capsize=0,
    )


def _reach(figure: Row, end: str) -> float:
    """Return the distance from the value to the end of its interval; 0 without an interval."""
    return 0.0 if figure.get(end) is None else abs(float(figure["value"]) - float(figure[end]))


def _mark(points: Sequence[Any]) -> str:
    """Return a marker for few points, which would be invisible as a plain line."""
    return "o" if len(points) < 4 else ""


def _shortened(text: str, length: int = 28) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _percent(share: float, _: int | None = None) -> str:
    return f"{share * 100:.10g}%"


@contextmanager
def _drawing() -> Iterator[None]:
    """Use kibitz's style inside the context. Warnings about letters that the measuring font lacks are suppressed,
    because the browser's font draws the text.
    """
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield


def _inline(figure: Figure, title: str) -> Markup:
    """Return the figure as an `<svg>` element for a page with other figures.

    The prolog is removed, the page's colors are used, and ids get a unique prefix, because all figures have the same
    ids.
    """
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True)
    svg = out.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.S)
    view = re.search(r'viewBox="([^"]*)"', svg)
    body = svg[svg.index(">") + 1 :]
    prefix = "c" + blake2b(svg.encode(), digest_size=4).hexdigest()
    body = re.sub(r'(?<= id=")|(?<=href="#)|(?<=url\(#)', prefix, body).replace("xlink:href", "href")
    for colour, name in _VARIABLES.items():
        body = body.replace(colour, f"var(--{name}, {colour})")
    label = Markup("<title>{}</title>").format(title)
    return Markup(f'<svg class="chart" viewBox="{view[1] if view else ""}" role="img">{label}{body.strip()}')
