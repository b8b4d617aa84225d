"""Print a Go player's report on a terminal. Everything that is shown by color is also shown by text or signs."""

from __future__ import annotations

import math

from rich.console import Console

from kibitz.analysis.go.notes import lead_words
from kibitz.analysis.go.player import GoMistake, GoPlayerReport
from kibitz.analysis.lately import Lately, LossChange
from kibitz.analysis.parts_table import print_heading, print_parts, score_words, with_interval
from kibitz.analysis.printing import STYLES, clean, print_line
from kibitz.games.go.points import to_gtp
from kibitz.text import number_of, signed

SHOWN = 10
"""The number of worst mistakes that are shown."""
TITLES = {
    "phase": "by phase", "area": "by area", "kind": "by kind of move", "side": "by color", "result": "by result",
    "board": "by board",
}  # fmt: skip


def show_go(report: GoPlayerReport, console: Console) -> None:
    """Print a Go player's report: the results, the mean loss in each group of moves, such as one phase, and the worst
    mistakes.
    """
    parts, rank = report.parts(), f" ({report.rank})" if report.rank else ""
    games = number_of(report.games, "game")
    print_line(console, f"{clean(report.name, 60)}{rank}: {games}", "bold")
    if parts.whole.score is not None and parts.whole.score.n:
        print_line(console, score_words(report.results(), parts.whole.score))
    if report.checked_by is not None:
        print_line(console, f"Checked by {clean(report.checked_by.words(), 90)}")
    if report.accuracy.n:
        print_line(console, f"mean accuracy {report.accuracy.value:.1%}{with_interval(report.accuracy)}")
    own, others = report.first_choices()
    if own.n and report.rank:
        print_line(console, f"played the most likely move for the rank: {own.value:.1%}{with_interval(own)}")
        print_line(console, f"expected for players of this rank: {others.value:.1%}")
    print_line(console, "")
    if not parts.whole.loss.n:
        print_line(console, "no moves")
        return
    compared = bool(parts.whole.usual.n)
    print_heading(console, compared, scored=True)
    print_parts(console, "", [parts.whole], compared, unit=1)
    for name, rows in parts.by.items():
        if rows and (name != "board" or len(rows) > 1):
            print_parts(console, TITLES[name], rows.values(), compared, unit=1)
    print_line(console, "")
    print_line(console, "lost: points per move. ±: half of the 95% interval.")
    if compared:
        print_line(console, "usual: players of the rank, on moves of the same phase, area and kind.")
        print_line(console, "more: compared with usual.")
    print_line(console, "")
    if change := report.lately():
        _show_lately(change, console)
    if not report.worst:
        print_line(console, "No mistakes.")
        return
    print_line(console, "Worst mistakes", "bold")
    several = len({one.file for one in report.worst}) > 1
    for one in report.worst[:SHOWN]:
        _show_mistake(one, several, console)


def _show_lately(change: Lately, console: Console) -> None:
    """Print what changed since the last month: all moves, and the parts that changed for sure."""
    games, earlier = change.whole.loss.games, change.whole.earlier.games
    print_line(console, f"Since {change.since}: {games:,} of {number_of(games + earlier, 'game')} with a date", "bold")
    print_line(console, f"{'loss per move':<27}{'since':>7}{'before':>8}{'change':>8}")
    for row in (change.whole, *change.changed):
        print_line(console, _change_row(row))
    print_line(console, "")


def _change_row(row: LossChange) -> str:
    known = "" if math.isnan(row.change.low) else f" ±{(row.change.high - row.change.low) / 2:.1f}"
    return f"{row.label:<27}{row.loss.value:>7.1f}{row.earlier.value:>8.1f}{signed(row.change.value):>8}{known}"


def _show_mistake(one: GoMistake, several: bool, console: Console) -> None:
    """Print a mistake, and below it the reason or the better move. several: whether the games are from several
    files.
    """
    move = one.move
    line = f"{clean(one.file, 40)} " if several else ""
    line += f"game {one.game}, {clean(one.opponent, 30)}: move {move.ply}, {move.side.capitalize()} {move.vertex}"
    line += f"{move.mark} {lead_words(move.before.lead)} → {lead_words(move.after.lead)}"
    print_line(console, line, STYLES.get(move.mark, ""))
    if move.better and move.better.why:
        print_line(console, f"      {move.better.why.text()}")
    elif move.better:
        print_line(console, f"      better: {' '.join(to_gtp(point, move.size) for point in move.better.line)}")
