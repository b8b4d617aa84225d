"""Print a chess player's report on a terminal. Everything that is shown by color is also shown by text or signs."""

from __future__ import annotations

from rich.console import Console

from kibitz.analysis.chess.moves import SIDES
from kibitz.analysis.chess.player import LABELS, Mistake, PlayerReport
from kibitz.analysis.chess.strength.terminal import sentences as sentences_of_strength
from kibitz.analysis.parts import Part
from kibitz.analysis.parts_table import print_heading, print_parts, score_words, with_interval
from kibitz.analysis.printing import STYLES, clean, print_line
from kibitz.text import signed

SHOWN = 10
"""The number of worst mistakes that are shown."""
TITLES = {
    "phase": "by phase", "piece": "by piece moved", "time_left": "by time left", "side": "by color",
    "result": "by result",
}  # fmt: skip


def show(report: PlayerReport, console: Console) -> None:
    """Print a chess player's report: the results, the mean losses and the worst mistakes. If the losses of players of
    the same rating are known, they are also printed.
    """
    parts = report.parts()
    whole = parts.whole
    rating = f" (median rating {report.rating})" if report.rating else ""
    print_line(console, f"{clean(report.name, 60)}{rating}: {counted(report.games, 'game')}", "bold")
    results = report.results()
    if whole.score is not None and whole.score.n:
        print_line(console, score_words(results, whole.score))
    if report.checked_by is not None:
        print_line(console, f"Checked by {clean(report.checked_by.words(), 90)}")
    if report.strength is not None:
        for sentence in sentences_of_strength(report.strength):
            print_line(console, sentence)
    accuracy = report.accuracy
    if accuracy.n:
        print_line(console, f"mean accuracy {accuracy.value:.1%}{with_interval(accuracy)}")
    print_line(console, "")
    if not whole.loss.n:
        print_line(console, "no moves")
        return
    compared = bool(whole.usual.n)
    print_heading(console, compared, scored=True)
    print_parts(console, "", [whole], compared)
    for name, rows in parts.by.items():
        if rows:
            print_parts(console, TITLES[name], rows.values(), compared)
    for side in SIDES:
        if own := [part for part in parts.openings if part.side == side]:
            print_parts(console, f"by opening {LABELS['side'][side]} (whole games)", own, compared)
    print_line(console, "")
    print_line(console, "lost, usual, more: percentage points per move. ±: half of the 95% interval.")
    if compared:
        print_line(console, "usual: what players of the same rating lose in the same positions.")
        for line in sentences(parts.standing_out()):
            print_line(console, line)
    _show_worst(report.worst, console)


def counted(number: int, what: str) -> str:
    """Return a number with a noun, such as "1 game" or "2 games". what: the noun in the singular."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def sentences(parts: list[Part]) -> list[str]:
    """Return at most two sentences about the groups of moves, such as phases, in which the player differs from players
    of the same rating. One sentence lists the groups with a larger loss, the other those with a smaller loss.

    parts: the groups with a significant difference, the largest difference first.
    """
    labels = [f"{part.label} ({signed(part.difference.value * 100)})" for part in parts]
    more = [text for text, part in zip(labels, parts, strict=True) if part.difference.value > 0]
    less = [text for text, part in zip(labels, parts, strict=True) if part.difference.value < 0][::-1]
    lines = [("Loses more than usual", more), ("Loses less than usual", less)]
    return [f"{words}: {', '.join(some)}." for words, some in lines if some]


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
