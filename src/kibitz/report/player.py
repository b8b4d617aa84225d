"""Write the page of a player's own games: one self-contained HTML file, in the style of the result pages.

The module uses no template engine, because an installation without the extra for training has none. Names come from
game records and are untrusted text. Therefore all text is passed through `Markup`, which escapes it, and the page's
content security policy forbids scripts and outside requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import resources
from typing import Any

from markupsafe import Markup

from kibitz.report.boards import go
from kibitz.report.boards.chess import board_svg, piece_defs
from kibitz.systems import SYSTEMS
from kibitz.text import number_of, signed

Row = Mapping[str, Any]

BOARDS = 10
"""The number of mistakes, the worst first, that the page shows on a board."""
_CHESS_TITLES = {
    "by_phase": (
        "Phase",
        "The opening ends when ten pieces are left, not counting pawns and kings. The endgame begins with six.",
    ),
    "by_piece": ("Piece", "The type of piece that moved."),
    "by_time_left": ("Time left", "The time left before the move, if the game record has clock times."),
    "by_side": ("Color", ""),
    "by_result": ("Result", "Lost games contain more mistakes than won games, so compare them with the usual values."),
    "by_opening": ("Opening", "All moves of the games with this opening, not only the opening moves."),
}
_GO_TITLES = {
    "by_phase": (
        "Phase",
        "On 19×19, the opening has 60 moves and the endgame begins after 160. On smaller boards it is in proportion.",
    ),
    "by_area": (
        "Area",
        "On 19×19, the six outer lines are near an edge. Corner: near two edges. Side: near one edge. Center: near "
        "none.",
    ),
    "by_kind": (
        "Kind of move",
        "Each move counts as the first kind in the list that applies to it. A contact move is next to a stone of the "
        "opponent.",
    ),
    "by_side": ("Color", ""),
    "by_result": ("Result", "Lost games contain more mistakes than won games."),
    "by_board": ("Board", "A mistake costs fewer points on a small board."),
}
_SIGNS = {"inaccuracies": "?!", "mistakes": "?", "blunders": "??"}
_PROVISIONAL = (
    "This report is a first, quick one. It misses many mistakes, so it does not compare the player with others. The "
    "thorough analysis of My games does."
)
_LOSSES = ("loss", "usual_loss", "difference")
_STYLE = """
.usual { position: absolute; top: -3px; bottom: -3px; width: 3px; margin-left: -1.5px; background: var(--second); }
.key { display: inline-block; width: .8rem; height: .8rem; margin: 0 .35rem -.1rem .9rem; border-radius: .15rem; }
.mistakes { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr)); gap: 1.75rem 2rem; }
.mistakes figcaption { margin-top: .4rem; font-size: .92rem; line-height: 1.45; }
.bars.of { margin-bottom: .8rem; }
"""


def render_player_page(report: Row, about: Row) -> str:
    """Return the whole page of a player's report as HTML.

    report: the value of "player" in the output of `kibitz analyze --player --json`. about: a dict of texts with these
    keys:

    run, system, file: the names of the network, of its system and of the file of games.
    game: "chess" or "go"; if it is missing, "chess".
    checked_by: the name of the engine that evaluated the moves. The key is missing if a network evaluated them.
    """
    is_go = about.get("game") == "go"
    titles, report = _GO_TITLES if is_go else _CHESS_TITLES, _in_points(report, 1 if is_go else 100)
    titles = {key: titles[key] for key in titles if key != "by_board" or len(report[key]) > 1}
    meaning = (
        SYSTEMS[about["system"]].meaning.name if about["system"] in SYSTEMS and not about.get("checked_by") else ""
    )
    value = "expected score" if "expected score" in meaning else "win probability"
    blocks = [_figures(report, is_go), _lately(report), *_divisions(report, titles), _mistakes(report, is_go)]
    links = [
        ("figures", "Figures"),
        *([("lately", "Last month")] if report.get("lately") else []),
        *((key, titles[key][0]) for key in titles if report[key]),
    ]
    links += [("mistakes", "Worst mistakes")] if report["worst"] else []
    nav = Markup("\n").join(Markup('<a href="#{}">{}</a>').format(*link) for link in links)
    style = resources.files("kibitz.report").joinpath("templates/style.css").read_text(encoding="utf-8")
    checked = about.get("checked_by")
    page = Markup(_PAGE).format(
        checked=Markup("<div><dt>checked by</dt><dd>{}</dd></div>\n").format(checked) if checked else "",
        name=report["name"], style=Markup(style + _STYLE), head=_head(report, "" if is_go else value),
        pieces=go.board_defs(row["size"] for row in report["worst"]) if is_go else piece_defs(turned=True),
        nav=nav, main=Markup("\n").join(blocks), file=about["file"], run=about["run"],
    )  # fmt: skip
    return str(page)


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>{name} – games</title>
<style>
{style}
</style>
</head>
<body>
{pieces}
<header class="top">
<p class="brand">kibitz <span>/ my games</span></p>
<h1>{name}</h1>
{head}
<dl class="facts">
<div><dt>games</dt><dd>{file}</dd></div>
<div><dt>network</dt><dd>{run}</dd></div>
{checked}</dl>
<nav>
{nav}
</nav>
</header>
<main>
{main}
</main>
<footer><p>Made by kibitz. This page is complete and makes no network requests.</p></footer>
</body>
</html>
"""


def _in_points(report: Row, unit: int) -> Row:
    """Convert all losses of a report to points. unit: the factor by which they are multiplied."""
    if unit == 1:
        return report

    def turned(figure: Row) -> Row:
        return {key: figure[key] * unit if key in ("value", "low", "high") and figure[key] is not None else figure[key]
                for key in figure}  # fmt: skip

    def part(row: Row) -> dict[str, Any]:
        return {key: turned(row[key]) if key in _LOSSES else row[key] for key in row}

    shown = part(report)
    for key in (*_CHESS_TITLES, "stands_out"):
        rows = report[key]
        shown[key] = list(map(part, rows)) if isinstance(rows, list) else {name: part(rows[name]) for name in rows}
    return shown


def _head(report: Row, value: str) -> Markup:
    """Return the main number, the usual value, the number of games, and the score.

    value: what the moves lost, "win probability" or "expected score"; "" for points of Go.
    """
    loss, lines = report["loss"], []
    unit = f", in percentage points of {value}" if value else ""
    lines.append(Markup("<p><b>Points lost per move</b>{}{}</p>").format(unit, _over(loss)))
    if report.get("usual_loss"):
        words = "rating lose <b>{}</b> in the same positions" if value else "rank lose <b>{}</b> in such moves"
        lines.append(
            Markup(f"<p>Players of the same {words}: {{}}</p>").format(
                _points(report["usual_loss"]), _more(report["difference"])
            )
        )
    if (strength := report.get("strength")) and (estimate := strength["rating"]):
        lines.append(
            Markup("<p>The moves look like a rating of <b>{}</b>, 90% interval {} to {}</p>").format(
                estimate["value"], estimate["low"], estimate["high"]
            )
        )
    if (accuracy := report.get("accuracy")) and accuracy["n"]:
        lines.append(Markup("<p>Mean accuracy <b>{}</b></p>").format(_percent(accuracy)))
    if (own := report.get("first_choice")) and own["n"] and report["rank"]:
        lines.append(
            Markup("<p>Most likely move of players of the rank: played in <b>{}</b>, by such players in {}</p>").format(
                _percent(own), _percent(report["usual_first_choice"])
            )
        )
    rating = Markup(", rated about {}").format(report["rating"]) if report.get("rating") else ""
    rating += Markup(", rank {}").format(report["rank"]) if report.get("rank") else ""
    score = Markup(": score {}").format(_percent(report["score"])) if report["score"]["n"] else ""
    results = f"{report['won']:,} won, {report['drawn']:,} drawn, {report['lost']:,} lost"
    games = number_of(report["games"], "game")
    lines.append(Markup('<p class="quiet">{}{}; {}{}</p>').format(games, rating, results, score))
    return Markup('<div class="headline"><p class="big">{}</p><div>{}</div></div>').format(
        _points(loss), Markup("").join(lines)
    )


def _over(figure: Row) -> Markup:
    if figure["low"] is None:
        return Markup("")
    return Markup(", 95% interval <b>{} to {}</b>").format(_number(figure["low"]), _number(figure["high"]))


def _more(figure: Row) -> Markup:
    """Return a difference in words, with its interval."""
    value = figure["value"]
    words = f"{abs(value):.1f} {'more' if value >= 0 else 'fewer'} here"
    if figure["low"] is None:
        return Markup("{}").format(words)
    low, high = (signed(figure[end]) for end in ("low", "high"))
    return Markup("{} <small>(95% interval of the difference {} to {})</small>").format(words, low, high)


def _figures(report: Row, is_go: bool) -> Markup:
    """Return the parts in which the player differs from others of the same rating, and an explanation of the
    numbers.
    """
    compared, has_interval = bool(report.get("usual_loss")), report["loss"]["low"] is not None
    paragraphs = []
    if report.get("provisional"):
        paragraphs.append(Markup("<p>{}</p>").format(_PROVISIONAL))
    for words, sign in (("You lose more than usual", 1), ("You lose less than usual", -1)):
        some = [row for row in report.get("stands_out", ()) if row["difference"]["value"] * sign > 0]
        parts = [f"{row['label']} ({signed(row['difference']['value'])})" for row in some[::sign]]
        if parts:
            paragraphs.append(Markup("<p><b>{}:</b> {}.</p>").format(words, ", ".join(parts)))
    if compared and not paragraphs:
        paragraphs.append(Markup("<p>No difference is significant yet. Add more games for a clearer result.</p>"))
    key = Markup(
        '<p class="quiet"><span class="key" style="background:var(--accent);margin-left:0"></span>points lost per move'
        "{}{}</p>"
    ).format(
        ", with its 95% interval over games" if has_interval else "",
        Markup('<span class="key" style="background:var(--second)"></span>{}').format(
            "usual for the rank, on moves of the same phase, area and kind"
            if is_go
            else "usual for the rating in the same positions"
        )
        if compared
        else "",
    )
    text = "Intervals are bootstrapped over games, and shown for ten games or more."
    return _section("figures", "Where you lost points", text, Markup("").join([*paragraphs, key]))


def _lately(report: Row) -> Markup:
    """Return what changed since the last month, for all moves and for the parts with a sure change. It is empty if the
    report has no such comparison, which exists only for Go.
    """
    change = report.get("lately")
    if not change:
        return Markup("")
    now, before = (f"{change[key]['games']:,}" for key in ("loss", "earlier_loss"))
    text = (
        f"Games from {change['since']} on ({now}), compared with the games before ({before}). Only parts with a "
        "significant change are in the table."
    )
    low, high = change["change"]["low"], change["change"]["high"]
    if low is None or low <= 0 <= high:
        words = "There are too few games to be sure of a change."
    else:
        words = f"The loss per move is {'higher' if low > 0 else 'lower'} than before."
    lines = []
    for row in ({"label": "all moves", **change}, *change["changed"]):
        cells = (
            _points(row["loss"]),
            _points(row["earlier_loss"]),
            _signed(row["change"]),
            _interval(row["change"], signed),
        )
        body = Markup("").join(Markup("<td>{}</td>").format(cell) for cell in cells)
        lines.append(Markup('<tr><th scope="row">{}</th>{}</tr>').format(row["label"], body))
    headings = ("points lost per move", "since", "before", "change", "95% interval")
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(each) for each in headings)
    table = Markup(
        '<div class="wide" tabindex="0" role="region" aria-label="Last month"><table><thead><tr>{}</tr></thead>'
        "<tbody>{}</tbody></table></div>"
    ).format(head, Markup("").join(lines))
    return _section("lately", "Last month", text, Markup("<p><b>{}</b></p>{}").format(words, table))


def _divisions(report: Row, titles: Mapping[str, tuple[str, str]]) -> Iterator[Markup]:
    """Yield a section for each way to divide the moves: bars, and a table with all numbers."""
    for name, (title, text) in titles.items():
        rows = report[name] if isinstance(report[name], list) else list(report[name].values())
        if rows:
            reach = max(_ends(rows), default=0.0) or 1.0
            bars = Markup("").join(_bar(row, reach) for row in rows)
            whole = Markup('<div class="bars of" role="table" aria-label="Points lost per move by {}">{}</div>')
            yield _section(name, title, text, whole.format(title.lower(), bars) + _table(title, rows))


def _ends(rows: Iterable[Row]) -> Iterator[float]:
    for row in rows:
        for figure in (row["loss"], row.get("usual_loss")):
            if figure:
                yield figure["high"] if figure["high"] is not None and figure is row["loss"] else figure["value"]


def _bar(row: Row, reach: float) -> Markup:
    """Return a part as a bar, with its interval and a mark at the usual loss."""

    def place(value: float) -> float:
        return round(100 * min(max(value / reach, 0.0), 1.0), 2)

    loss, usual = row["loss"], row.get("usual_loss")
    marks = Markup('<span class="fill" style="width:{}%"></span>').format(place(loss["value"]))
    if loss["low"] is not None:
        left, right = place(loss["low"]), place(loss["high"])
        marks += Markup('<span class="reach" style="left:{}%;width:{}%"></span>').format(left, round(right - left, 2))
    if usual:
        marks += Markup('<span class="usual" style="left:{}%"></span>').format(place(usual["value"]))
    beside = f"usual {_points(usual)}" if usual else f"{number_of(row['moves'], 'move')}"
    return Markup(
        '<div role="row" class="bar own"><span role="rowheader" class="name">{}</span>'
        '<span role="presentation" class="track">{}</span><span role="cell" class="value">{}</span>'
        '<span role="cell" class="quiet">{}</span></div>'
    ).format(row["label"], marks, _points(loss), beside)


def _table(title: str, rows: Iterable[Row]) -> Markup:
    rows = list(rows)
    compared, scored = any("usual_loss" in row for row in rows), any("score" in row for row in rows)
    headings = ["games", "moves", *(["score"] if scored else []), "lost", "95% interval"]
    headings += ["usual", "more", "95% interval"] if compared else []
    headings += list(_SIGNS.values())
    lines = []
    for row in rows:
        cells = [f"{row['games']:,}", f"{row['moves']:,}"]
        cells += [_percent(row["score"])] if scored else []
        cells += [_points(row["loss"]), _interval(row["loss"])]
        if compared:
            difference = row.get("difference")
            cells += (
                [_points(row["usual_loss"]), _signed(difference), _interval(difference, signed)]
                if difference
                else ["–"] * 3
            )
        cells += [f"{row['marks'][name]:,}" for name in _SIGNS]
        body = Markup("").join(Markup("<td>{}</td>").format(cell) for cell in cells)
        lines.append(Markup('<tr><th scope="row">{}</th>{}</tr>').format(row["label"], body))
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(text) for text in [title.lower(), *headings])
    return Markup(
        '<details><summary>numbers</summary><div class="wide" tabindex="0" role="region" aria-label="{}, numbers">'
        "<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div></details>"
    ).format(title, head, Markup("").join(lines))


def _mistakes(report: Row, is_go: bool) -> Markup:
    if not report["worst"]:
        return Markup("")
    shown = report["worst"][:BOARDS]
    several = len({row["file"] for row in shown}) > 1
    cards = Markup("\n").join((_go_mistake if is_go else _mistake)(row, several) for row in shown)
    text = "The squares of your move are tinted, and the arrow shows the better move."
    if is_go:
        text = "The ring shows your move, and the green dot the better one."
    text = f"At most two mistakes per game. {text}"
    return _section("mistakes", "Worst mistakes", text, Markup('<div class="mistakes">{}</div>').format(cards))


def _mistake(row: Row, several: bool) -> Markup:
    """Return a board with the played move and the better move. several: whether the games are from several files."""
    dots = "." if row["side"] == "white" else "…"
    board = board_svg(row["fen"], row["uci"], turned=row["side"] == "black", arrow=row["best"])
    mark = row["mark"] if row["mark"] in _SIGNS.values() else ""
    rating = Markup(" <small>{}</small>").format(row["opponent_rating"]) if row["opponent_rating"] else ""
    usual = Markup(", usual {}").format(f"{row['usual_loss'] * 100:.0f}") if row["usual_loss"] is not None else ""
    clock = Markup(", {} left").format(_time(row["time_left"])) if row["time_left"] is not None else ""
    file = f"{row['file']} " if several else ""
    date = f", {row['date']}" if row["date"].strip("?. ") else ""
    reason = Markup("<p>{}</p>").format(row["reason"]["text"]) if row.get("reason") else ""
    return Markup(
        '<figure class="card">{}<figcaption><p class="said"><b>{}{} {}{}</b> lost {} points: {:.0%} to {:.0%}{}</p>'
        '{}<p>better: <b>{}</b>{}</p><p>against <span class="player">{}</span>{}</p>'
        '<p class="quiet">{}game {}{}, {}{}</p></figcaption></figure>'
    ).format(
        board, row["move_number"], dots, row["san"], mark, f"{row['loss'] * 100:.0f}", row["before"], row["after"],
        usual, reason, row["line"][0], " " + " ".join(row["line"][1:]), row["opponent"], rating, file, row["game"],
        date, row["phase"], clock,
    )  # fmt: skip


def _go_mistake(row: Row, several: bool) -> Markup:
    """Return a Go board with the played move and the better move. several: whether the games are from several files."""
    line = row["line"]
    board = go.board_svg({"size": row["size"], "stones": row["stones"]}, row["vertex"], line[0] if line else None)
    rank = Markup(" <small>{}</small>").format(row["opponent_rank"]) if row["opponent_rank"] else ""
    date = f", {row['date']}" if row["date"].strip("?. ") else ""
    reason = Markup("<p>{}</p>").format(row["reason"]["text"]) if row["reason"] else ""
    better = Markup("<p>better: <b>{}</b>{}</p>").format(line[0], " " + " ".join(line[1:])) if line else ""
    return Markup(
        '<figure class="card">{}<figcaption><p class="said"><b>{} {}{}</b> lost {} points: {} to {}</p>'
        '{}{}<p>against <span class="player">{}</span>{}</p>'
        '<p class="quiet">{}game {}, move {}{}, {}</p></figcaption></figure>'
    ).format(
        board, row["side"].capitalize(), row["vertex"], row["mark"], f"{row['loss']:.0f}", _lead(row["before"]),
        _lead(row["after"]), reason, better, row["opponent"], rank, f"{row['file']} " if several else "", row["game"],
        row["ply"], date, row["phase"],
    )  # fmt: skip


def _lead(points: float) -> str:
    """Format Black's lead as Go players write it."""
    return f"{'B' if points > 0 else 'W'}+{abs(points):.1f}" if round(points, 1) else "0"


def _section(anchor: str, title: str, text: str, body: Markup) -> Markup:
    paragraph = Markup("<p>{}</p>").format(text) if text else ""
    return Markup('<section><header class="opening"><h2 id="{}">{}</h2>{}</header>{}</section>').format(
        anchor, title, paragraph, body
    )


def _time(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _number(value: float) -> str:
    return f"{value:.1f}"


def _points(figure: Row) -> str:
    """Format a loss in points."""
    return _number(figure["value"]) if figure["value"] is not None else "–"


def _signed(figure: Row) -> str:
    return signed(figure["value"])


def _interval(figure: Row, written: Callable[[float], str] = _number) -> str:
    if figure["low"] is None:
        return "–"
    return " to ".join(written(figure[end]) for end in ("low", "high"))


def _percent(figure: Row) -> str:
    return "–" if figure["value"] is None else f"{figure['value']:.0%}"
