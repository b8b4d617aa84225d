"""Print the rating that is estimated from a player's moves."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from kibitz.analysis.chess.strength.estimate import HIGHEST, LOWEST, RatingEstimate
from kibitz.analysis.chess.strength.player import FITTED_SCALES, SCALE_NAMES, PlayerStrength
from kibitz.analysis.printing import clean, print_line
from kibitz.text import number_of

TITLES = {
    "by_phase": "by phase", "by_side": "by color", "by_speed": "by speed", "by_time_left": "by time left",
    "by_month": "by month",
}  # fmt: skip
LABELS = {
    "white": "as White", "black": "as Black", "under_30_seconds": "under 30 s",
    "30_seconds_to_2_minutes": "30 s to 2 min", "over_2_minutes": "over 2 min",
}  # fmt: skip
_WIDTH = 24


def show(strength: PlayerStrength, console: Console) -> None:
    """Print a player's estimated rating, the estimates for groups of the moves (by phase of the game, color, speed,
    time left and month), and what the rating means.
    """
    whole = strength.rating()
    assert whole is not None
    print_line(
        console,
        f"{clean(strength.name, 60)}: {number_of(whole.games, 'game')}, {number_of(whole.moves, 'move')}",
        "bold",
    )
    for line in sentences(strength):
        print_line(console, line)
    print_line(console, "")
    print_line(console, f"{'':<{_WIDTH}}{'games':>6}{'moves':>7}{'looks like':>12}{'90% interval':>16}", "bold")
    for name, parts in strength.parts().items():
        print_line(console, TITLES[name], "bold")
        for part, estimate in parts.items():
            print_line(console, row(LABELS.get(part, part), estimate))


def sentences(strength: PlayerStrength) -> Iterator[str]:
    """Yield the estimated rating and its meaning as sentences."""
    whole = strength.rating()
    if whole is None:
        return
    scale = SCALE_NAMES[strength.scale]
    value = f"{whole.value:.0f}"
    if whole.value >= HIGHEST or whole.value <= LOWEST:
        value += " or more" if whole.value >= HIGHEST else " or less"
    yield f"The moves look like {value} ({whole.low:.0f} to {whole.high:.0f}) on the {scale} scale."
    recorded = strength.recorded()
    if recorded is not None:
        yield f"The games have the rating {recorded}."
    if strength.scale not in FITTED_SCALES:
        yield "This scale was not measured. The rating is on an average of the Lichess and Chess.com scales."


def row(label: str, estimate: RatingEstimate) -> str:
    """Format one estimate as a line of the table: the label, the numbers of games and moves, the rating, and its
    interval.
    """
    interval = f"{estimate.low:.0f} to {estimate.high:.0f}"
    counts = f"{estimate.games:>6,}{estimate.moves:>7,}"
    return f"  {clean(label, _WIDTH - 3):<{_WIDTH - 2}}{counts}{estimate.value:>12.0f}{interval:>16}"
