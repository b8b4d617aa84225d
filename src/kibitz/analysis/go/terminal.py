"""Print an analyzed Go game: a curve of the lead, a row for each move, the important moves, and boards with territory.

The output is readable without colors. On a board, every intersection has a sign, see `games.AnalysedPosition.signs`.
The background color of an intersection also shows the probability that the intersection will belong to Black. The color
is brown for 0, gray for 0.5, blue for 1, and between these colors for other probabilities.
"""

from __future__ import annotations

import numpy as np
from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.text import Text

from kibitz.analysis.glyphs import GAINED, decimals
from kibitz.analysis.go.ending import end_notes
from kibitz.analysis.go.games import SURE, AnalysedGame, AnalysedPosition, Move, Score
from kibitz.analysis.go.notes import lead_words
from kibitz.analysis.printing import STYLES, bar, clean, print_line, print_text, show_summary, sparkline
from kibitz.games.go.points import BLACK, COLUMNS, GRID, PASS
from kibitz.text import signed

WIDEST_BAR, NARROWEST_BAR = 30, 8
MOST_SWINGS = 5
LEAST_SCALE = 10.0
"""The smallest lead, in points, at which the scale of the curve and of the bars ends. With this limit, small leads look
small.
"""
_OWNERS = ((181, 101, 29), (119, 119, 119), (59, 110, 168))
"""The background colors of White's, neutral and Black's points, as red, green and blue from 0 to 255. Letters for black
and white stones are readable on each color.
"""


def show(judged: AnalysedGame, ply: int | None, console: Console) -> None:
    """Print the analysis of a game of Go, with pictures of the board.

    The full output needs 60 columns. In a narrower window, the output omits the bars first, then columns of the table,
    then the space between the points of a board.

    ply: the number of moves before the position to show; None for the positions that `AnalysedGame.boards` selects.
    """
    _heading(judged, console)
    print_line(console, "")
    if judged.moves:
        _curve(judged, console)
        _moves(judged, console)
        print_line(console, "")
    _summary(judged, console)
    for position in judged.boards(ply):
        print_line(console, "")
        show_board(judged, position, console)
    print_line(console, "")
    print_line(
        console, f"X, O: stones. x, o: stones that will be lost. +, -: territory of Black, White ({SURE:.0%} sure)."
    )


def _heading(judged: AnalysedGame, console: Console) -> None:
    headers = judged.record.headers
    players = []
    for player, rank in (("PB", "BR"), ("PW", "WR")):
        name, level = clean(headers.get(player, "") or "?", 60), clean(headers.get(rank, ""), 12)
        players.append(f"{name} ({level})" if level else name)
    result = clean(headers.get("RE", "") or "?", 20)
    print_line(console, f"Game {judged.number}: {players[0]} (Black) – {players[1]} (White), {result}", "bold")
    record = judged.record
    rest = [clean(headers.get(name, ""), 60) for name in ("EV", "PC", "DT")]
    rest += [f"{record.size}×{record.size}", f"komi {record.komi:g}"]
    if record.handicap:
        rest.append(f"handicap {record.handicap}")
    print_line(console, ", ".join(text for text in [*rest, clean(headers.get("RU", ""), 30)] if text))
    if judged.checked_by:
        print_line(console, f"Checked by {clean(judged.checked_by.words(), 90)}")


def _scale(judged: AnalysedGame) -> float:
    return max(LEAST_SCALE, *(abs(one.score.lead) for one in judged.positions))


def _curve(judged: AnalysedGame, console: Console) -> None:
    scale = _scale(judged)
    shares = np.array([(one.score.lead / scale + 1) / 2 for one in judged.positions])
    print_line(console, f"Black's lead, from start to end ({scale:.0f} points behind to {scale:.0f} ahead):")
    print_line(console, sparkline(shares, min(console.width, len(shares)), console.options.ascii_only))
    print_line(console, "")


def _moves(judged: AnalysedGame, console: Console) -> None:
    ascii_only, scale = console.options.ascii_only, _scale(judged)
    columns = (("before", 8), ("after", 8), ("count", 8), ("change", 8))
    left = max(0, console.width - 14)
    shown = {"after", "change"} if left < 32 else {name for name, _ in columns}
    settled = any(one.settled for one in judged.positions)
    if not settled:
        shown.discard("count")
    heading = f"{'move':<14}" + "".join(f"{name:>{room}}" for name, room in columns if name in shown)
    width = min(WIDEST_BAR, console.width - len(heading) - 4)
    width = width if width >= NARROWEST_BAR else 0
    legend = "before, after: the lead. " if "before" in shown else ""
    # A narrow window has no column for it, but the lines about the end and above the boards have the count too.
    legend += "count: the lead if each intersection goes to its more likely owner. " if settled else ""
    print_line(console, f"{legend}change: points for the player who moved.")
    print_line(console, heading + ("    Black leads"[: width + 4] if width else ""), "bold")
    for move in judged.moves:
        cells = {
            "before": lead_words(move.before.lead),
            "after": lead_words(move.after.lead),
            "count": "" if move.after.count is None else lead_words(move.after.count),
            "change": change_words(move.change, judged.swing),
        }
        row = _move(move) + "".join(f"{cells[name]:>{room}}" for name, room in columns if name in shown)
        row += f" {GAINED if move.mark == GAINED else ' '}"
        if width:
            row += "  " + bar((move.after.lead / scale + 1) / 2, width, ascii_only)
        print_line(console, row.rstrip(), STYLES.get(move.mark, ""))
    pairs = zip(judged.moves, judged.moves[1:], strict=False)
    if "before" in shown and any(lead_words(one.after.lead) != lead_words(next_.before.lead) for one, next_ in pairs):
        print_line(
            console,
            "before is computed from after and from the points that this row's move lost in the searches. So before"
            " can differ from after in the row above.",
        )


def _summary(judged: AnalysedGame, console: Console) -> None:
    last = judged.positions[-1].score
    if not judged.moves:
        print_line(console, "no moves")
    elif not judged.swings:
        print_line(console, f"No swings ({judged.swing:g} points or more).")
    else:
        swings = judged.swings
        more = f", the largest {MOST_SWINGS}" if len(swings) > MOST_SWINGS else ""
        what = "swing" if len(swings) == 1 else "swings"
        print_line(console, f"{len(swings)} {what} ({judged.swing:g} points or more){more}:")
        for move in swings[:MOST_SWINGS]:
            lead = f"{lead_words(move.before.lead)} → {lead_words(move.after.lead)}"
            print_line(
                console, f"{_move(move)} {change_words(move.change, judged.swing):>6}  {lead}", STYLES[move.mark]
            )
            for words in move.explanations:
                print_line(console, f"      {words}")
    if judged.moves:
        print_line(console, "")
        show_summary(console, judged.summary, "points", 1, lambda ply: _move(judged.moves[ply - 1]).strip())
    if judged.phases:
        _phases(judged, console)
    result = clean(judged.record.headers.get("RE", ""), 20)
    print_line(
        console,
        f"At the end: {_score_words(last)}{f'. Recorded result: {result}' if result else ''}.",
    )
    for note in end_notes(judged):
        print_line(console, note)


def _phases(judged: AnalysedGame, console: Console) -> None:
    """Print how many points each side lost in each phase of the game."""
    print_line(console, f"{'loss per move':<20}{'moves':>6}{'mean':>7}{'?!':>5}{'?':>5}{'??':>5}", "bold")
    for row in judged.phases:
        marks = "".join(f"{count:>5}" for count in row["marks"].values())
        name = f"{row['phase']}, {row['side'].capitalize()}"
        print_line(console, f"{name:<20}{row['moves']:>6}{row['average_loss']:>7.1f}{marks}")


def _score_words(score: Score) -> str:
    """Format a lead, and the count if the board is settled: "B+7.5 (count B+6.5)"."""
    return lead_words(score.lead) + ("" if score.count is None else f" (count {lead_words(score.count)})")


def show_board(judged: AnalysedGame, position: AnalysedPosition, console: Console) -> None:
    """Print the board of one position with coordinates. The last move is in brackets.

    judged: the analyzed game. position: one of the game's positions.
    """
    score = _score_words(position.score)
    last = PASS
    if position.ply:
        move = judged.moves[position.ply - 1]
        last = move.point
        end = ", the end" if position.ply == len(judged.moves) else ""
        print_line(console, f"After move {move.ply}, {move.side.capitalize()} {move.vertex}{end}: {score}", "bold")
    else:
        print_line(console, f"Before the first move: {score}", "bold")
    for row in board_rows(position, last, wide=console.width >= 2 * position.size + 7):
        print_text(console, row)


def board_rows(position: AnalysedPosition, last: int, wide: bool) -> list[Text]:
    """Return the board as lines of styled text: one line for each row, between two lines with the column letters.

    position: the position on the board.
    last: the intersection of the last move, row · 19 + column from the upper left; 361 for a pass or no move. This
        intersection is in brackets if `wide` is true.
    wide: whether there is a space between the intersections.
    """
    size, gap = position.size, " " if wide else ""
    letters = Text("   " + gap + gap.join(COLUMNS[:size]))
    rows = [letters]
    owns = position.grid(position.black_owns)
    colours = position.grid(position.colours)
    for i, signs in enumerate(position.signs()):
        text = Text(f"{size - i:>2} ")
        for j, sign in enumerate(signs):
            style = _style(int(colours[i, j]), float(owns[i, j]))
            point = i * GRID + j
            before = "(" if point == last else ")" if j and point == last + 1 else gap
            text.append(before if wide else "", style)
            text.append(sign, style)
        if wide:
            text.append(")" if last == i * GRID + size - 1 else " ", style)
            text.append(f" {size - i}")
        rows.append(text)
    return [*rows, letters]


def _style(colour: int, black_owns: float) -> Style:
    """Return the style of a point: blue background for Black, brown for White, grayer if the owner is less certain."""
    white, nobody, black = np.array(_OWNERS, float)
    share = abs(2 * black_owns - 1)
    red, green, blue = (black if black_owns > 0.5 else white) * share + nobody * (1 - share)
    stone = (0, 0, 0) if colour == BLACK else (255, 255, 255)
    return Style(
        color=Color.from_rgb(*stone), bgcolor=Color.from_rgb(round(red), round(green), round(blue)), bold=colour > 0
    )


def _move(move: Move) -> str:
    sign = move.mark if move.mark != GAINED else ""
    return f"{move.ply:>4}. {'B' if move.colour == BLACK else 'W'} {move.vertex + sign:<6}"


def change_words(change: float, swing: float) -> str:
    """Format a change of the lead in points, such as "+7.2" or "-12.0". The text is "0" if the change is between −0.05
    and 0.05. A change that is too small for an annotation is not rounded to the limit of the annotation.

    swing: the smallest annotated change, in points.
    """
    return signed(change, decimals(change, swing, 1)) if abs(change) >= 0.05 else "0"
