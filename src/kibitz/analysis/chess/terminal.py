"""Print an analyzed game: a curve of the win probability, a row for each move, and the important moves. Everything that
is shown by color is also shown by text or signs.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from kibitz.analysis.chess.choices import FAR_DOWN, SHOWN, UNLIKELY, Expected, ordinal, percent
from kibitz.analysis.chess.moves import (
    MATE,
    PIECES,
    SIDES,
    STALEMATE,
    STEP,
    UNLIKELY_FOR,
    WHOLE,
    AnalysedGame,
    Move,
    Report,
    report,
    stepped,
)
from kibitz.analysis.chess.risk import LOSS, RISK_RATINGS
from kibitz.analysis.glyphs import GAINED, SIGNS, decimals
from kibitz.analysis.printing import STYLES as OF_MARKS
from kibitz.analysis.printing import bar, clean, print_line, print_text, show_summary, sparkline
from kibitz.games.chess.material import PHASES
from kibitz.text import number_of, signed

WIDEST_BAR, NARROWEST_BAR = 30, 8
RANK, CHOICE = 12, 13
"""Widths of two columns in characters. RANK is the width for the rank and the probability of the played move. CHOICE is
the width for one likely move: a move of up to seven characters, its probability, and a gap.
"""
MOST_SWINGS, MOST_ONLY = 5, 8
MARGIN = 6
"""The number of columns to the left of the text of a reason."""
WON = 0.97
"""The win probability for White from which a game counts as won for White. At 1 − WON or below, the game counts as lost
for White.
"""
EXPLAINED = 0.05
"""The smallest difference, 0 to 1, of a loss and the change of the values in the table that a note explains."""
FOLDED = 6
"""The smallest number of moves at the end of a won game that are shown together as one row."""
SURPRISE = "*"
SLIP = "!"
"""The sign of a slip: a costly move that is unlikely for players of the mover's rating."""
STYLES = {**OF_MARKS, MATE: "bold", STALEMATE: "bold"}
SURPRISED = "magenta"


def show(judged: AnalysedGame, swing: float, console: Console) -> None:
    """Print an analyzed game. The table of moves fits into a window with at least 36 columns.

    If the window is too narrow for all columns of the table, the output omits the bars first. It then omits the less
    likely moves, and last the probabilities by rating and the rank of the played move. swing: the smallest annotated
    change of the win probability, 0 to 1.
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
        _show_moves(judged, swing, console)
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
    if judged.checked_by:
        print_line(console, f"Checked by {clean(judged.checked_by.words(), 90)}")
    if judged.note:
        print_line(console, f"note: {clean(judged.note, len(judged.note))}")


def _show_moves(judged: AnalysedGame, swing: float, console: Console) -> None:
    """Print one row per move.

    If the rows contain the network's choices, the value before the move is not shown, because the row above ends with
    this value. The moves of a won ending are one row, because they change nothing.
    """
    columns = _columns(judged, swing, console)
    print_line(console, _legend(judged, columns), "")
    print_line(console, "".join(column.heading for column in columns).rstrip(), "bold")
    folded = _won_ending(judged)
    for at, move in enumerate(judged.moves):
        if at in folded:
            if at == folded[0]:
                stays = f"above {WON:.0%}" if _white_at_end(judged) > 0.5 else f"below {1 - WON:.0%}"
                print_line(console, f"     … {number_of(len(folded), 'move')}: White stays {stays}")
            continue
        text = Text()
        for column in columns:
            text.append(column.cell(move))
        text.rstrip()
        print_text(console, text)
        if move.reason:
            _show_reason(move.reason.text(), move, console)
        if move.practical and move.practical.differs:
            _show_reason(move.practical.text(), move, console)
    if any(map(_differs, judged.moves)):
        print_line(
            console,
            "lost compares a move with the best move in one search. Each value of White comes from a separate search,"
            " so it can change by another amount.",
        )


def _show_reason(reason: str, move: Move, console: Console) -> None:
    """Print a text about an annotated move below its row, with a margin on every line."""
    for line in textwrap.wrap(reason, max(console.width - MARGIN, 20), break_on_hyphens=False):
        print_line(console, " " * MARGIN + line, STYLES[move.sign])


@dataclass(frozen=True)
class _Column:
    """A column of the table of moves: its name, its heading, and its cell for a move. Heading and cell have the same
    width.
    """

    name: str
    heading: str
    cell: Callable[[Move], Text]


def _columns(judged: AnalysedGame, swing: float, console: Console) -> list[_Column]:
    """Return the columns that fit into the window."""
    ascii_only = console.options.ascii_only
    by_rating = _strength_columns(judged)
    columns = [_Column("move", f"{'move':<16}", lambda move: _styled(move, _where(move, console)[:16]))]
    if judged.white is not None:
        columns += _value_columns(judged, swing)
    room = console.width - sum(len(column.heading) for column in columns)
    wide = sum(len(column.heading) for column in by_rating)
    if by_rating and room >= wide - 2:
        columns, room = columns + by_rating, room - wide
    elif judged.predicts and room >= RANK - 2:
        columns.append(_Column("rank", f"{'rank prob':<{RANK}}", lambda move: _rank(move.expected)))
        room -= RANK
    # + 2, because each choice except the last is followed by a gap of two columns.
    choices = max(0, min(SHOWN, (room + 2) // CHOICE)) if judged.predicts else 0
    if choices:
        title = "network's choices" if choices > 1 else "choice"
        heading = f"{title:<{choices * CHOICE}}"
        columns.append(_Column("choices", heading, lambda move: _choices(move.expected, choices)))
        room -= choices * CHOICE
    width = min(WIDEST_BAR, room - 2)
    if judged.white is not None and (choices == SHOWN or not judged.predicts) and width >= NARROWEST_BAR:

        def filled(move: Move) -> Text:
            return _styled(move, " " + bar(move.worth.after, width, ascii_only)) if move.worth else Text()

        columns.append(_Column("bar", f" {judged.meaning.short}", filled))
    return columns


def _styled(move: Move, text: str) -> Text:
    sign = move.sign or move.mark
    return Text(text, style=STYLES[sign] if sign else "")


def _value_columns(judged: AnalysedGame, swing: float) -> list[_Column]:
    """Return the columns of White's value and of what the move cost or changed. The value is shown before and after the
    move, or only after it.
    """
    searched = any(move.judged for move in judged.moves)
    change = "lost" if searched else "change"

    def after(move: Move) -> Text:
        return _styled(move, f"{move.worth.after:>6.0%}") if move.worth else Text(" " * 6)

    def before(move: Move) -> Text:
        return _styled(move, f"{move.worth.before:>6.0%} ") if move.worth else Text(" " * 7)

    def changed(move: Move) -> Text:
        gained = GAINED if move.mark == GAINED else " "
        return _styled(move, f"{_change(move, swing):>7} {gained}") if move.worth else Text(" " * 9)

    last = _Column(change, f"{change:>7}  ", changed)
    if judged.predicts:
        return [_Column("White", f"{'White':>6}", after), last]
    heads = ("best", "played") if searched else ("before", "after")
    return [_Column(heads[0], f"{heads[0]:>6} ", before), _Column(heads[1], f"{heads[1]:>6}", after), last]


def _strength_columns(judged: AnalysedGame) -> list[_Column]:
    """Return columns with the move's probability for players of three ratings; none for a network without rating
    inputs.
    """
    known = {move.by_strength.rating for move in judged.moves if move.by_strength}
    if not known:
        return []
    heads, width = ("weaker", "same", "stronger"), 8
    if len(known) == 1:
        rating = known.pop()
        heads, width = (f"at {stepped(rating, -STEP)}", f"{rating}", f"{stepped(rating, STEP)}"), 5
    return [
        _Column("strengths", f"{heads[0]:>7}{heads[1]:>6} {heads[2]:>{width}}  ", lambda move: _strengths(move, width))
    ]


def _legend(judged: AnalysedGame, columns: list[_Column]) -> str:
    """Return one line that explains the columns whose headings are not clear by themselves."""
    names = {column.name for column in columns}
    heading = next((" ".join(column.heading.split()) for column in columns if column.name == "strengths"), "")
    parts = []
    if "best" in names:
        parts.append("best, played: with the best move, with the played one")
    if "lost" in names:
        parts.append("lost: in percentage points")
    if "change" in names:
        parts.append("change: percentage points, for the player")
    if heading.startswith("at "):
        parts.append(f"{heading.replace(' ', ', ').replace('at, ', 'at ')}: how often players of this rating choose it")
    elif heading:
        parts.append(f"weaker, stronger: players rated {STEP} lower and higher")
    if "rank" in names:
        parts.append("rank, prob: of the played move")
    return ". ".join(parts) + "." if parts else ""


def _differs(move: Move) -> bool:
    """Return whether a move's loss differs from the drop of its mover's value in the table by EXPLAINED or more."""
    if move.judged is None or move.worth is None:
        return False
    drop = move.worth.before - move.worth.after
    return abs(move.judged.loss - max(0.0, drop if move.side == "white" else -drop)) >= EXPLAINED


def _white_at_end(judged: AnalysedGame) -> float:
    last = judged.moves[-1].worth
    return last.after if last else 0.5


def _won_ending(judged: AnalysedGame) -> range:
    """Return the moves of a long won ending that are shown as one row: all but the first and the last of them."""
    white = [move.worth.after if move.worth else 0.5 for move in judged.moves]
    if not white or abs(white[-1] - 0.5) < WON - 0.5:
        return range(0)
    first = len(white)
    while first and (white[first - 1] > 0.5) == (white[-1] > 0.5) and abs(white[first - 1] - 0.5) >= WON - 0.5:
        if judged.moves[first - 1].sign in SIGNS:
            break
        first -= 1
    folded = range(first + 1, len(white) - 1)
    return folded if len(folded) >= FOLDED else range(0)


def _strengths(move: Move, width: int) -> Text:
    """Format the move's probability for a weaker player, this player and a stronger player, with a fixed width."""
    one = move.by_strength
    if one is None:
        return Text(" " * (16 + width))
    surprising = SURPRISE if move.expected and move.expected.surprising else " "
    text = f"{percent(one.weaker):>7}{percent(one.player):>6}{surprising}{percent(one.stronger):>{width}}"
    return Text(f"{text}{SLIP if one.slip else ' '} ", style=SURPRISED if surprising == SURPRISE else "")


def _rank(expected: Expected | None) -> Text:
    """Format rank and probability of the played move, with a fixed width."""
    if expected is None:
        return Text(" " * RANK)
    sign = SURPRISE if expected.surprising else " "
    text = f"{expected.rank:>4}{percent(expected.probability):>5}{sign}".ljust(RANK)
    return Text(text, style=SURPRISED if expected.surprising else "")


def _choices(expected: Expected | None, choices: int) -> Text:
    """Format the network's most likely moves, with a fixed width."""
    text = ""
    for one in expected.choices[:choices] if expected else ():
        text += f"{one.san} {percent(one.probability)}".ljust(CHOICE)
    return Text(text.ljust(CHOICE * choices), style=SURPRISED if expected and expected.surprising else "")


def _show_summary(judged: AnalysedGame, swing: float, console: Console) -> None:
    if not judged.moves:
        if judged.white is None:
            print_line(console, "no moves")
        else:
            print_line(console, f"no moves. {judged.meaning.name}: {judged.white[0]:.0%}")
            if judged.meaning.note:
                print_line(console, judged.meaning.note)
        return
    if summary := judged.summary:

        def name(ply: int) -> str:
            move = judged.moves[ply - 1]
            return f"{_number(move, console.options.ascii_only)} {move.san}{_sign(move)}"

        show_summary(console, summary, "percentage points", 100, name)
        print_line(console, "")
    end = {MATE: "Checkmate", STALEMATE: "Stalemate"}.get(judged.moves[-1].mark)
    if judged.white is not None:
        if end and not any(move.judged for move in judged.moves):
            print_line(console, f"{end}. The last number is the network's prediction, not the result.")
        elif judged.moves[-1].mark == STALEMATE:
            print_line(console, f"{end}.")
        _show_swings(judged, swing, console)
    elif end:
        print_line(console, f"{end}.")
    if slips := judged.slips:
        title = _counted(
            len(slips), "slip", f"costly, and played by under {UNLIKELY_FOR:.0%} of players with the same rating",
            "costliest",
        )  # fmt: skip
        print_line(console, f"{title} {SLIP}")
        for move in slips[:MOST_SWINGS]:
            if strength := move.by_strength:
                line = f"{_where(move, console)}{_points(move.change or 0, swing):>4}  {percent(strength.player)} at "
                line += f"{strength.rating}, {percent(strength.stronger)} at {stepped(strength.rating, STEP)}"
                print_line(console, line, STYLES[move.sign])
    _show_riskiest(judged, console)
    if judged.predicts:
        _show_surprises(judged, console)
        _show_predictable(judged, console)


def _show_riskiest(judged: AnalysedGame, console: Console) -> None:
    """Print the riskiest positions: those in which players of the mover's rating make mistakes most often. The risk for
    other ratings is shown too.
    """
    found = judged.riskiest
    if not found:
        return
    print_line(console, "")
    title = f"Riskiest positions: the probability of losing {LOSS * 100:.0f} points or more, by rating"
    print_line(console, title, "bold")
    heading = "".join(f"{rating:>6}" for rating in RISK_RATINGS)
    print_line(console, f"{'before':<16}{'player':>7}{heading}")
    for move in found:
        assert move.judged is not None
        own = percent(move.judged.risk or 0)
        print_line(
            console, f"{_where(move, console):<16}{own:>7}" + "".join(f"{percent(one):>6}" for one in move.judged.risks)
        )


def _show_mistakes(judged: AnalysedGame, swing: float, console: Console) -> None:
    """Print the annotated moves with the better moves, and the phases and pieces with which each side lost most."""
    marked = judged.swings
    points = f"{swing * 100:g} percentage points or more"
    print_line(console, _counted(len(marked), "mistake", points, "largest"))
    for move in marked[:MOST_SWINGS]:
        line = f"{_where(move, console)}{_points(move.change or 0, swing):>4}  better: "
        line += " ".join(move.judged.line if move.judged else ())
        print_line(console, line, STYLES[move.sign])
    if found := [move for move in judged.moves if move.judged and move.judged.only and move.mark != MATE]:
        shown = ", ".join(f"{_number(move, console.options.ascii_only)} {move.san}" for move in found[:MOST_ONLY])
        print_line(console, f"Played the only good move: {shown}{', …' if len(found) > MOST_ONLY else ''}")
    print_line(console, "")
    _show_report(report([judged]), console)


def show_report(report: Report) -> None:
    """Print a report on the losses of each side in many games."""
    console = Console()
    print_line(console, "")
    print_line(console, "1 game" if report.games == 1 else f"All {report.games:,} games", "bold")
    _show_report(report, console)


def _show_report(report: Report, console: Console) -> None:
    """Print percentage points lost per move and the annotations of both sides: in total, by phase and by piece.

    If it is known, the usual loss of players of the same rating in these positions is next to them.
    """
    compared = [side for side in SIDES if (whole := report.slice(side, WHOLE)) and whole.usual is not None]
    print_line(console, "Average loss per move, in percentage points", "bold")
    both = len(_report_rows(report, SIDES, compared)[0]) <= console.width
    for sides in [SIDES] if both else [(side,) for side in SIDES]:
        heading, *rows = _report_rows(report, sides, compared)
        print_line(console, heading, "bold")
        for row in rows:
            print_line(console, row)
    if compared:
        print_line(console, "usual: what players of the same rating lose in the same positions.")


def _report_rows(report: Report, sides: Sequence[str], compared: Sequence[str]) -> list[str]:
    """Return the table of a report: its heading, and a row for each part with moves."""
    heading = f"{'':<14}"
    for side in sides:
        heading += f"{side.capitalize():>8}" + (f"{'usual':>7}" if side in compared else "")
        heading += "".join(f"{sign:>4}" for sign in SIGNS) + "  "
    rows = [heading.rstrip()]
    for name in (WHOLE, *PHASES, *PIECES):
        row = f"{name:<14}"
        for side in sides:
            one = report.slice(side, name)
            row += f"{one.loss * 100:>8.1f}" if one else f"{'':>8}"
            if side in compared:
                row += f"{one.usual * 100:>7.1f}" if one and one.usual is not None else f"{'':>7}"
            row += "".join(f"{one.marks[sign] or '':>4}" if one else f"{'':>4}" for sign in SIGNS) + "  "
        if row.strip() != name:
            rows.append(row.rstrip())
    return rows


def _counted(count: int, what: str, bounds: str, first: str) -> str:
    """Return the title of a list, such as "2 mistakes (10 percentage points or more):"; a sentence if the list is
    empty.

    first: what distinguishes the first moves of the list, if only these are shown, such as "largest".
    """
    if not count:
        return f"No {what}s ({bounds})."
    more = f", the {MOST_SWINGS} {first}" if count > MOST_SWINGS else ""
    return f"{count} {what}{'' if count == 1 else 's'} ({bounds}){more}:"


def _show_swings(judged: AnalysedGame, swing: float, console: Console) -> None:
    if any(move.judged for move in judged.moves):
        _show_mistakes(judged, swing, console)
        return
    swings = judged.swings
    points = f"{swing * 100:g} percentage points or more"
    print_line(console, _counted(len(swings), "swing", points, "largest"))
    for move in swings[:MOST_SWINGS]:
        line = f"{_where(move, console)}{_points(move.change or 0, swing):>4}"
        if move.worth:
            line += f"  White {move.worth.before:.0%} → {move.worth.after:.0%}"
        print_line(console, line, STYLES[move.sign])
    losses = []
    for side in SIDES:
        loss, _ = judged.average_loss(side)
        if loss is not None:
            losses.append(f"{side.capitalize()} {loss * 100:.1f}")
    if losses:
        print_line(console, f"Average loss per move, in percentage points: {', '.join(losses)}.")


def _show_surprises(judged: AnalysedGame, console: Console) -> None:
    surprises = judged.surprises
    bounds = f"below the {ordinal(FAR_DOWN)} choice of the network, or under {UNLIKELY:.0%}"
    print_line(
        console,
        _counted(len(surprises), "surprising move", bounds, "least likely") + (f" {SURPRISE}" if surprises else ""),
    )
    for move in surprises[:MOST_SWINGS]:
        if (expected := move.expected) and expected.choices:
            first = expected.choices[0]
            line = f"{_where(move, console)} {ordinal(expected.rank)} of {expected.legal}, "
            line += f"{percent(expected.probability)}; first choice {first.san} {percent(first.probability)}"
            print_line(console, line, SURPRISED)
    if any(move.expected and move.expected.underpromotion for move in judged.moves):
        print_line(console, "The network assumes that a pawn becomes a queen: any other piece has 0%.")


def _show_predictable(judged: AnalysedGame, console: Console) -> None:
    print_line(console, "")
    columns = f"{'moves':>6}{'top-1':>7}{'top-3':>7}{'mean prob.':>12}"
    print_line(console, f"{'Predicted moves':<17}{columns}", "bold")
    for side in SIDES:
        if one := judged.predictable(side):
            line = f"{side.capitalize():<17}{one.moves:>6}{one.first_choice:>7.0%}{one.first_three:>7.0%}"
            print_line(console, f"{line}{one.probability:>12.0%}")


def _where(move: Move, console: Console) -> str:
    return f"{_number(move, console.options.ascii_only):>5} {move.san + _sign(move):<11}"


def _sign(move: Move) -> str:
    """Return ?!, ?, ?? or "". Other annotations are shown in other columns."""
    return move.sign if move.sign != GAINED else ""


def _number(move: Move, ascii_only: bool) -> str:
    return f"{move.move_number}{'.' if move.side == 'white' else '...' if ascii_only else '…'}"


def _change(move: Move, swing: float) -> str:
    """Format the change by a move, or how the move ended the game."""
    if move.change is None:
        return move.mark
    if not move.judged:
        return _points(move.change, swing)
    return _lost(move.change, swing) or (move.mark if move.mark == STALEMATE else "")


def _lost(change: float, swing: float) -> str:
    """Format the loss of a move in percentage points: "12"; "" for 0."""
    return _points(change, swing)[1:] if round(change * 100) < 0 else ""


def _points(change: float, swing: float) -> str:
    """Format a change in percentage points: "+7", "-12", "0". A change that is too small for an annotation is not
    rounded to the limit of the annotation: "-9.8".
    """
    points = change * 100
    return signed(points, decimals(points, swing * 100, 0)) if round(points) else "0"
