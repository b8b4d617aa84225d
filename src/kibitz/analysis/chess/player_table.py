"""A player's report on a terminal. Color is never the only sign."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rich.console import Console

from kibitz.analysis.chess.moves import SIDES
from kibitz.analysis.chess.player import LABELS, Mistake, Part, PlayerReport
from kibitz.analysis.chess.strength.terminal import sentences as sentences_of_strength
from kibitz.analysis.printing import STYLES, clean, print_line
from kibitz.stats import Estimate

SHOWN = 10
"""Number of worst mistakes that are shown."""
LABEL = 27
"""Width of a part's name in columns."""
COUNTED = ("?", "??")
"""The annotations that are counted; ?! is omitted to save space."""
TITLES = {
    "phase": "by phase", "piece": "by piece moved", "time_left": "by time left", "side": "by color",
    "result": "by result",
}  # fmt: skip


def show(report: PlayerReport, console: Console) -> None:
    """Print a player's report: results with the usual values, and the worst mistakes."""
    parts = report.parts()
    whole = parts.whole
    rating = f" ({report.rating})" if report.rating else ""
    print_line(console, f"{clean(report.name, 60)}{rating}: {counted(report.games, 'game')}", "bold")
    results = report.results()
    if whole.score is not None and whole.score.n:
        line = f"won {results['won']:,}, drawn {results['drawn']:,}, lost {results['lost']:,}"
        print_line(console, f"{line}: score {whole.score.value:.1%}{_interval(whole.score)}")
    if report.checked_by is not None:
        print_line(console, f"Checked by {clean(report.checked_by.words(), 90)}")
    if report.strength is not None:
        for sentence in sentences_of_strength(report.strength):
            print_line(console, sentence)
    accuracy = report.accuracy
    if accuracy.n:
        print_line(console, f"mean accuracy {accuracy.value:.1%}{_interval(accuracy)}")
    print_line(console, "")
    if not whole.loss.n:
        print_line(console, "no moves")
        return
    compared = bool(whole.usual.n)
    _heading(console, compared)
    _row(console, whole, compared)
    for name, rows in parts.by.items():
        if rows:
            _rows(console, TITLES[name], rows.values(), compared)
    for side in SIDES:
        if own := [part for part in parts.openings if part.side == side]:
            _rows(console, f"by opening {LABELS['side'][side]} (whole games)", own, compared)
    print_line(console, "")
    print_line(console, "lost, usual, more: percentage points per move. ±: half of the 95% interval.")
    if compared:
        print_line(console, "usual: what players of the same rating lose in the same positions.")
        for line in sentences(parts.standing_out()):
            print_line(console, line)
    _show_worst(report.worst, console)


def counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def sentences(parts: list[Part]) -> list[str]:
    """Return where a player loses significantly more than usual, and where less, one line each."""
    told = [f"{part.label} ({part.difference.value * 100:+.1f})" for part in parts]
    more = [text for text, part in zip(told, parts, strict=True) if part.difference.value > 0]
    less = [text for text, part in zip(told, parts, strict=True) if part.difference.value < 0][::-1]
    lines = [("Loses more than usual", more), ("Loses less than usual", less)]
    return [f"{words}: {', '.join(some)}." for words, some in lines if some]


def _heading(console: Console, compared: bool) -> None:
    heading = f"{'loss per move':<{LABEL}}{'games':>6}{'moves':>7}{'score':>6}{'lost':>6}"
    heading += f"{'usual':>6}{'more':>6}{'':>6}" if compared else f"{'':>6}"
    print_line(console, heading + "".join(f"{sign:>5}" for sign in COUNTED), "bold")


def _rows(console: Console, title: str, parts: Iterable[Part], compared: bool) -> None:
    print_line(console, title, "bold")
    for part in parts:
        _row(console, part, compared, "  ")


def _row(console: Console, part: Part, compared: bool, indent: str = "") -> None:
    """Print the results of a part, at most 80 columns wide. The interval is that of the difference, if there is one."""
    label = indent + clean(part.opening.name if part.opening else part.label, LABEL - len(indent) - 1)
    score = f"{part.score.value:.0%}" if part.score is not None and part.score.n else ""
    row = f"{label:<{LABEL}}{part.loss.games:>6,}{part.loss.n:>7,}{score:>6}{part.loss.value * 100:>6.1f}"
    if not compared:
        row += f"{_half(part.loss):>6}"
    elif part.usual.n:
        row += f"{part.usual.value * 100:>6.1f}{part.difference.value * 100:>+6.1f}{_half(part.difference):>6}"
    else:
        row += f"{'':>18}"
    print_line(console, (row + "".join(f"{part.marks[sign] or '':>5}" for sign in COUNTED)).rstrip())


def _half(figure: Estimate) -> str:
    """Return half of the interval in points, "±0.4"; "" if there is none."""
    return "" if math.isnan(figure.low) else f" ±{(figure.high - figure.low) * 50:.1f}"


def _interval(figure: Estimate) -> str:
    return "" if math.isnan(figure.low) else f" (95% interval {figure.low:.1%} to {figure.high:.1%})"


def _show_worst(worst: list[Mistake], console: Console) -> None:
    print_line(console, "")
    if not worst:
        print_line(console, "No mistakes.")
        return
    print_line(console, "Worst mistakes", "bold")
    several = len({one.file for one in worst}) > 1
    for one in worst[:SHOWN]:
        move, judged = one.move, one.move.judged
        dots = "." if move.side == "white" else "..." if console.options.ascii_only else "…"
        line = f"{clean(one.file, 40)} " if several else ""
        line += f"game {one.game}, {clean(one.opponent, 30)}: {move.move_number}{dots} {move.san}{move.sign} "
        line += f"{one.before:.0%} → {one.after:.0%}; better: {' '.join(judged.line if judged else ())}"
        print_line(console, line, STYLES.get(move.sign, ""))
