"""An analyzed game on a terminal: a curve, a row per move, the important moves. Color is never the only sign."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from kibitz.analysis.chess.choices import FAR_DOWN, SHOWN, UNLIKELY, Expected, ordinal, percent
from kibitz.analysis.chess.moves import (
    MATE,
    PIECES,
    SIDES,
    SIGNS,
    STALEMATE,
    STEP,
    UNLIKELY_FOR,
    WHOLE,
    AnalysedGame,
    ByStrength,
    Move,
    Report,
    report,
)
from kibitz.analysis.glyphs import GAINED
from kibitz.analysis.printing import STYLES as OF_MARKS
from kibitz.analysis.printing import bar, clean, print_line, print_text, sparkline
from kibitz.games.chess.material import PHASES

WIDEST_BAR, NARROWEST_BAR = 30, 8
RANK, CHOICE = 12, 13
"""Widths in columns: the played move's rank and probability; one of the network's choices (a move of up to seven
characters, its probability, a gap)."""
MOST_SWINGS, MOST_ONLY = 5, 8
SURPRISE = "*"
SLIP = "!"
"""A costly move that is unlikely for its player's rating."""
STYLES = {**OF_MARKS, MATE: "bold", STALEMATE: "bold"}
SURPRISED = "magenta"


def show(judged: AnalysedGame, swing: float, console: Console) -> None:
    """Print a game. It needs 60 columns, or 80 with a network's choices.

    Narrower windows omit the bars first, then the later choices.
    """
    _show_heading(judged, console)
    print_line(console, "")
    if judged.moves:
        if judged.white is not None:
            print_line(console, f"{judged.meaning.name}, from start to end:")
            width = min(console.width, len(judged.white))
            print_line(console, sparkline(judged.white, width, console.options.ascii_only))
            if judged.meaning.note:
                print_line(console, judged.meaning.note)
            print_line(console, "")
        _show_moves(judged, console)
        print_line(console, "")
    _show_summary(judged, swing, console)


def _show_heading(judged: AnalysedGame, console: Console) -> None:
    headers = judged.record.game.headers
    players = []
    for side in ("White", "Black"):
        name, rating = clean(headers.get(side, "?"), 60), clean(headers.get(f"{side}Elo", ""), 6)
        players.append(f"{name} ({rating})" if rating.strip("?-0") else name)
    result = clean(headers.get("Result", "*"), 10)
    print_line(console, f"Game {judged.record.number}: {' – '.join(players)}, {result}", "bold")
    rest = [clean(headers.get(name, "?")) for name in ("Event", "Site", "Date")]
    if known := [text for text in rest if text.strip("?.- ")]:
        print_line(console, ", ".join(known))


def _show_moves(judged: AnalysedGame, console: Console) -> None:
    """Print a row per move. With choices, the probability before the move is omitted: the row above ends with it."""
    ascii_only = console.options.ascii_only
    before, after, mover = "before", "after", "mover"
    if any(move.judged for move in judged.moves):
        before, after, mover = "best", "played", "lost"
        what = after if judged.predicts else f"{before}, {after}"
        print_line(console, f"{what}: {judged.meaning.name}; {mover}: what the move cost its player")
    heading = f"{'move':<17}"
    room = 6 if judged.predicts else 8
    if judged.white is not None:
        heading += ("" if judged.predicts else f"{before:>6} ") + f"{after:>6}{mover:>{room}}  "
    choices = 0
    strengths = any(move.by_strength for move in judged.moves)
    if strengths:
        heading += f"{f'-{STEP}':>5}{'own':>5}{f'+{STEP}':>6}  "
    if judged.predicts:
        choices = max(0, min(SHOWN, (console.width + 2 - len(heading) - RANK) // CHOICE))  # the last needs no gap
        title = "network's choices" if choices > 1 else "choice" if choices else ""
        heading += f"rank prob   {title:<{choices * CHOICE}}"
    width = 0
    if judged.white is not None and (choices == SHOWN or not judged.predicts):
        width = min(WIDEST_BAR, console.width - len(heading) - 1)
        width = width if width >= NARROWEST_BAR else 0
        heading += f" {judged.meaning.short}" if width else ""
    print_line(console, heading.rstrip(), "bold")
    for move in judged.moves:
        text = Text(f"{_number(move, ascii_only):>5} {move.san + _sign(move):<11}")
        if move.worth:
            if not judged.predicts:
                text.append(f"{move.worth.before:>6.0%} ")
            text.append(f"{move.worth.after:>6.0%}{_change(move):>{room}} {GAINED if move.mark == GAINED else ' '}")
        if sign := move.sign or move.mark:
            text.stylize(STYLES[sign])
        if strengths:
            text.append(_strengths(move.by_strength))
        if move.expected:
            text.append(_expected(move.expected, choices))
        if width and move.worth:
            text.append(" " + bar(move.worth.after, width, ascii_only))
        text.rstrip()
        print_text(console, text)


def _strengths(one: ByStrength | None) -> Text:
    """Return the probability of the move for a weaker player, this one and a stronger one, as text of fixed width."""
    if one is None:
        return Text(" " * 18)
    text = f"{percent(one.weaker):>5}{percent(one.player):>5}{percent(one.stronger):>6}{SLIP if one.slip else ' '} "
    return Text(text)


def _expected(expected: Expected, choices: int) -> Text:
    """Return rank and probability of the played move, and the network's first choices, as text of fixed width."""
    sign = SURPRISE if expected.surprising else " "
    text = Text(f"{expected.rank:>4}{percent(expected.probability):>5}{sign}  ")
    if expected.surprising:
        text.stylize(SURPRISED)
    for i in range(choices):
        one = expected.choices[i] if i < len(expected.choices) else None
        text.append((f"{one.san} {percent(one.probability)}" if one else "").ljust(CHOICE))
    return text


def _show_summary(judged: AnalysedGame, swing: float, console: Console) -> None:
    if not judged.moves:
        if judged.white is None:
            print_line(console, "no moves")
        else:
            print_line(console, f"no moves; {judged.meaning.name} is {judged.white[0]:.0%}")
            if judged.meaning.note:
                print_line(console, judged.meaning.note)
        return
    end = {MATE: "Checkmate", STALEMATE: "Stalemate"}.get(judged.moves[-1].mark)
    if judged.white is not None:
        if end and not any(move.judged for move in judged.moves):
            print_line(console, f"{end}: the last number is the network's, not the result.")
        elif judged.moves[-1].mark == STALEMATE:
            print_line(console, f"{end}.")
        _show_swings(judged, swing, console)
    elif end:
        print_line(console, f"{end}.")
    if slips := judged.slips:
        more = f", the costliest {MOST_SWINGS}" if len(slips) > MOST_SWINGS else ""
        print_line(console, f"Slips {SLIP} (costly, and under {UNLIKELY_FOR:.0%} for the rating): {len(slips)}{more}:")
        for move in slips[:MOST_SWINGS]:
            if strength := move.by_strength:
                line = f"{_where(move, console)}{_points(move.change or 0):>4}  {percent(strength.player)} at "
                line += f"{strength.rating}, {percent(strength.stronger)} at {strength.rating + STEP}"
                print_line(console, line, STYLES[move.sign])
    if judged.predicts:
        _show_surprises(judged, console)
        _show_predictable(judged, console)


def _show_mistakes(judged: AnalysedGame, swing: float, console: Console) -> None:
    """Print the annotated moves with the better moves, and where each side lost most."""
    marked = judged.swings
    points = f"{swing * 100:g} points or more"
    if not marked:
        print_line(console, f"No move lost its player {points}.")
    else:
        more = f", the costliest {MOST_SWINGS}" if len(marked) > MOST_SWINGS else ""
        print_line(console, f"Moves that lost their player {points}: {len(marked)}{more}:")
    for move in marked[:MOST_SWINGS]:
        line = f"{_where(move, console)}{_points(move.change or 0):>4}  better: "
        line += " ".join(move.judged.line if move.judged else ())
        print_line(console, line, STYLES[move.sign])
    if found := [move for move in judged.moves if move.judged and move.judged.only and move.mark != MATE]:
        shown = ", ".join(f"{_number(move, console.options.ascii_only)} {move.san}" for move in found[:MOST_ONLY])
        print_line(console, f"Only moves that were found: {shown}{', …' if len(found) > MOST_ONLY else ''}")
    print_line(console, "")
    _show_report(report([judged]), console)


def show_report(report: Report) -> None:
    """Print the report over many games."""
    console = Console()
    print_line(console, "")
    print_line(console, f"All {report.games:,} games", "bold")
    _show_report(report, console)


def _show_report(report: Report, console: Console) -> None:
    """Print the points lost per move and the annotations of both sides: in total, by phase and by piece.

    If known, the usual loss of players of the same rating in these positions is next to them.
    """
    compared = [side for side in SIDES if (whole := report.slice(side, WHOLE)) and whole.usual is not None]
    heading = f"{'points lost a move':<19}"
    for side in SIDES:
        heading += f"{side.capitalize():>8}" + (f"{'usual':>7}" if side in compared else "")
        heading += "".join(f"{sign:>4}" for sign in SIGNS) + "  "
    print_line(console, heading.rstrip(), "bold")
    for name in (WHOLE, *PHASES, *PIECES):
        row = f"{name:<19}"
        for side in SIDES:
            one = report.slice(side, name)
            row += f"{one.loss * 100:>8.1f}" if one else f"{'':>8}"
            if side in compared:
                row += f"{one.usual * 100:>7.1f}" if one and one.usual is not None else f"{'':>7}"
            row += "".join(f"{one.marks[sign] or '':>4}" if one else f"{'':>4}" for sign in SIGNS) + "  "
        if row.strip() != name:
            print_line(console, row.rstrip())
    if compared:
        print_line(console, "usual: what players of the same rating lose in the same positions.")


def _show_swings(judged: AnalysedGame, swing: float, console: Console) -> None:
    if any(move.judged for move in judged.moves):
        _show_mistakes(judged, swing, console)
        return
    swings = judged.swings
    points = f"{swing * 100:g} points or more"
    if not swings:
        print_line(console, f"No move changed its player's chances by {points}.")
    else:
        more = f", the largest {MOST_SWINGS}" if len(swings) > MOST_SWINGS else ""
        print_line(console, f"Swings of {points}: {len(swings)}{more}:")
    for move in swings[:MOST_SWINGS]:
        line = f"{_where(move, console)}{_points(move.change or 0):>4}"
        if move.worth:
            line += f"  White {move.worth.before:.0%} → {move.worth.after:.0%}"
        print_line(console, line, STYLES[move.sign])
    losses = []
    for side in SIDES:
        loss, _ = judged.average_loss(side)
        if loss is not None:
            losses.append(f"{side.capitalize()} {loss * 100:.1f} points")
    if losses:
        print_line(console, f"Average loss a move: {', '.join(losses)}.")


def _show_surprises(judged: AnalysedGame, console: Console) -> None:
    surprises = judged.surprises
    bounds = f"below the {ordinal(FAR_DOWN)} rank, or under {UNLIKELY:.0%}"
    if not surprises:
        print_line(console, f"No move surprised the network ({bounds}).")
    else:
        more = f", the least likely {MOST_SWINGS}" if len(surprises) > MOST_SWINGS else ""
        print_line(console, f"Surprises {SURPRISE} ({bounds}): {len(surprises)}{more}:")
    for move in surprises[:MOST_SWINGS]:
        if (expected := move.expected) and expected.choices:
            first = expected.choices[0]
            line = f"{_where(move, console)} {ordinal(expected.rank)} of {expected.legal}, "
            line += f"{percent(expected.probability)}; first choice {first.san} {percent(first.probability)}"
            print_line(console, line, SURPRISED)
    if any(move.expected and move.expected.underpromotion for move in judged.moves):
        print_line(console, "A pawn is expected to become a queen; any other piece has 0% and ranks last.")


def _show_predictable(judged: AnalysedGame, console: Console) -> None:
    print_line(console, "")
    columns = f"{'moves':>6}{'first choice':>14}{'first three':>13}{'mean prob':>11}"
    print_line(console, f"{'How predictable':<17}{columns}", "bold")
    for side in SIDES:
        if one := judged.predictable(side):
            line = f"{side.capitalize():<17}{one.moves:>6}{one.first_choice:>14.0%}{one.first_three:>13.0%}"
            print_line(console, f"{line}{one.probability:>11.0%}")


def _where(move: Move, console: Console) -> str:
    return f"{_number(move, console.options.ascii_only):>5} {move.san + _sign(move):<11}"


def _sign(move: Move) -> str:
    """Return ?!, ?, ?? or nothing: the other annotations are shown elsewhere."""
    return move.sign if move.sign != GAINED else ""


def _number(move: Move, ascii_only: bool) -> str:
    return f"{move.move_number}{'.' if move.side == 'white' else '...' if ascii_only else '…'}"


def _change(move: Move) -> str:
    """Return the change by a move, or how it ended the game."""
    if move.change is None:
        return move.mark
    if not move.judged:
        return _points(move.change)
    return _lost(move.change) or (move.mark if move.mark == STALEMATE else "")


def _lost(change: float) -> str:
    """Return the loss of a move in percentage points: 12; "" for 0."""
    points = round(-change * 100)
    return f"{points}" if points > 0 else ""


def _points(change: float) -> str:
    """Return a change in percentage points: +7, -12, 0."""
    points = round(change * 100)
    return f"{points:+d}" if points else "0"
