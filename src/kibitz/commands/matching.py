"""kibitz match: two engines play each other, and how much stronger one is."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kibitz.commands.printing import print_table

if TYPE_CHECKING:
    from kibitz.arena.elo import Sprt
    from kibitz.arena.game import Adjudication
    from kibitz.arena.limits import Limits
    from kibitz.arena.match import Match

_LINE_EVERY = 15.0
"""Seconds between lines of progress, where standard error is no terminal."""

_LIMITS = "Limits of a side (of both, or of A or B alone; default 100 ms a move)"
_RULES = "Openings, adjudication, forfeits"
_STATISTICS = "Sequential test"


def _limit(what: str, metavar: str, side: str = "") -> Any:
    whose = f" for {side} alone" if side else ""
    return typer.Option(help=f"{what}{whose}.", metavar=metavar, rich_help_panel=_LIMITS, show_default=False)


_NODES = "Nodes a move; a range is drawn from for every move, evenly in its logarithm"
_DEPTH = "Plies of depth"
_MOVETIME = "Milliseconds a move"
_CLOCK = "A clock: seconds for the game and seconds a move on top"


def match(
    a: Annotated[
        str,
        typer.Argument(
            help="A run's directory, a packaged network, 'sunfish', or a UCI engine's command: stockfish,"
            " \"gnuchess --uci\".",
            show_default=False,
        ),
    ],
    b: Annotated[str, typer.Argument(help="Its opponent, likewise.", show_default=False)],
    games: Annotated[int, typer.Option(help="Games, two for each opening, with colours changed.", min=1)] = 100,
    nodes: Annotated[str | None, _limit(_NODES, "N|LEAST-MOST")] = None,
    nodes_a: Annotated[str | None, _limit("The same", "N|LEAST-MOST", "A")] = None,
    nodes_b: Annotated[str | None, _limit("The same", "N|LEAST-MOST", "B")] = None,
    depth: Annotated[int | None, _limit(_DEPTH, "PLIES")] = None,
    depth_a: Annotated[int | None, _limit("The same", "PLIES", "A")] = None,
    depth_b: Annotated[int | None, _limit("The same", "PLIES", "B")] = None,
    movetime: Annotated[int | None, _limit(_MOVETIME, "MS")] = None,
    movetime_a: Annotated[int | None, _limit("The same", "MS", "A")] = None,
    movetime_b: Annotated[int | None, _limit("The same", "MS", "B")] = None,
    clock: Annotated[str | None, _limit(_CLOCK, "10+0.1")] = None,
    clock_a: Annotated[str | None, _limit("The same", "10+0.1", "A")] = None,
    clock_b: Annotated[str | None, _limit("The same", "10+0.1", "B")] = None,
    option_a: Annotated[
        list[str] | None, typer.Option(help="A UCI option of A; may be given several times.", metavar="NAME=VALUE")
    ] = None,
    option_b: Annotated[list[str] | None, typer.Option(help="A UCI option of B.", metavar="NAME=VALUE")] = None,
    name_a: Annotated[str | None, typer.Option(help="What A is called in the PGN and the table.")] = None,
    name_b: Annotated[str | None, typer.Option(help="What B is called.")] = None,
    concurrency: Annotated[int, typer.Option(help="Games at a time; more than there are cores is unfair.", min=1)] = 1,
    seed: Annotated[
        int, typer.Option(help="The order of the openings, and every drawn node limit, follow from it.",
                          rich_help_panel=_RULES)
    ] = 0,
    adjudicate_draw: Annotated[
        str | None,
        typer.Option(
            help="A draw when both see the score within CP centipawns of 0 for MOVES moves in a row. Default: off.",
            metavar="CP:MOVES", rich_help_panel=_RULES, show_default=False,
        ),
    ] = None,
    adjudicate_win: Annotated[
        str | None,
        typer.Option(
            help="A win when both see the same side at least CP centipawns up for MOVES moves in a row. Default: off.",
            metavar="CP:MOVES", rich_help_panel=_RULES, show_default=False,
        ),
    ] = None,
    max_plies: Annotated[int, typer.Option(help="A draw at this length.", min=20, rich_help_panel=_RULES)] = 600,
    hang: Annotated[
        float,
        typer.Option(
            help="Seconds after which an engine without a clock or a time per move hangs, and forfeits.", min=0.1,
            rich_help_panel=_RULES,
        ),
    ] = 60.0,
    sprt: Annotated[
        str | None,
        typer.Option(
            help="End the match once it is known whether A is ELO1 rather than ELO0 stronger. Default: off.",
            metavar="ELO0,ELO1", rich_help_panel=_STATISTICS, show_default=False,
        ),
    ] = None,
    alpha: Annotated[
        float, typer.Option(help="How often ELO1 may be accepted wrongly.", rich_help_panel=_STATISTICS)
    ] = 0.05,
    beta: Annotated[
        float, typer.Option(help="How often ELO0 may be accepted wrongly.", rich_help_panel=_STATISTICS)
    ] = 0.05,
    pgn: Annotated[
        Path | None,
        typer.Option(
            help="Where every game goes as it ends. The same command goes on where it stopped."
            " Default: matches/A-vs-B.pgn.",
            metavar="FILE", show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
) -> None:  # fmt: skip
    """Let two engines play each other, every opening with both colours, and say how much stronger one is."""
    from kibitz.arena.match import Match, Plan, players_differ
    from kibitz.arena.players import player

    given = {
        "": (nodes, depth, movetime, clock),
        "a": (nodes_a, depth_a, movetime_a, clock_a),
        "b": (nodes_b, depth_b, movetime_b, clock_b),
    }
    limit_a, limit_b = _limits(given, "a"), _limits(given, "b")
    rules, test = _rules(adjudicate_draw, adjudicate_win, max_plies), _sprt(sprt, alpha, beta)
    one, other = players_differ(player(a, option_a or (), name_a), player(b, option_b or (), name_b))
    plan = Plan(
        one, other, limit_a, limit_b, games, pgn or _default_pgn(one.name, other.name),
        seed=seed, workers=concurrency, hang=hang, rules=rules, sprt=test,
    )  # fmt: skip
    played = Match(plan)
    try:
        with _Progress() as progress:
            played.run(progress.tell)
    except KeyboardInterrupt:
        _show(played, as_json)
        raise KeyboardInterrupt(
            f"interrupted after {len(played.rows)} of {games} games; the same command goes on"
        ) from None
    _show(played, as_json)


def _limits(given: dict[str, tuple[str | None, int | None, int | None, str | None]], side: str) -> Limits:
    """A side's limits: its own where it has any, else those of both."""
    from kibitz.arena.limits import limits
    from kibitz.errors import UsageError

    nodes, depth, movetime, clock = given[side] if any(value is not None for value in given[side]) else given[""]
    for name, number in (("--depth", depth), ("--movetime", movetime)):
        if number is not None and number < 1:
            raise UsageError(f"{name} {number}: must be at least 1")
    return limits(nodes, depth, movetime, clock)


def _rules(draw: str | None, win: str | None, plies: int) -> Adjudication:
    from kibitz.arena.game import Adjudication
    from kibitz.errors import UsageError

    def read(option: str, text: str | None) -> tuple[int, int] | None:
        if text is None:
            return None
        found = re.fullmatch(r"(\d+):(\d+)", text)
        if not found or int(found[2]) < 1:
            raise UsageError(f"{option} {text}: write centipawns and moves, as 20:8")
        return int(found[1]), int(found[2])

    return Adjudication(read("--adjudicate-draw", draw), read("--adjudicate-win", win), plies)


def _sprt(text: str | None, alpha: float, beta: float) -> Sprt | None:
    from kibitz.arena.elo import Sprt
    from kibitz.errors import UsageError

    if text is None:
        return None
    try:
        elo0, elo1 = (float(word) for word in text.split(","))
    except ValueError:
        raise UsageError(f"--sprt {text}: write two Elo differences, as 0,10") from None
    if not -1000 <= elo0 < elo1 <= 1000:
        raise UsageError(f"--sprt {text}: the first must be the lower one, and both within 1000")
    for name, value in (("--alpha", alpha), ("--beta", beta)):
        if not 0 < value < 0.5:
            raise UsageError(f"{name} {value:g}: must lie between 0 and 0.5")
    return Sprt(elo0, elo1, alpha, beta)


def _default_pgn(a: str, b: str) -> Path:
    one, other = (re.sub(r"[^\w.+-]+", "-", name).strip("-.") or "engine" for name in (a, b))
    return Path("matches") / f"{one}-vs-{other}.pgn"


class _Progress:
    """The running score: a bar on a terminal, a line now and then anywhere else; on standard error."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:.0f} of {task.total:.0f} games"),
            TextColumn("left:"), TimeRemainingColumn(), console=self._console, transient=True,
            disable=not self._console.is_terminal,
        )  # fmt: skip
        self._task: Any = None
        self._said = time.monotonic()

    def __enter__(self) -> _Progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def tell(self, match: Match) -> None:
        """The score after a game; called first before any, with those of an earlier call."""
        done, tally = len(match.rows), match.tally
        score = f"{match.plan.a.name} +{tally.wins} ={tally.draws} -{tally.losses}"
        if self._task is None:
            self._task = self._bar.add_task(score, total=match.plan.games, completed=done)
            if match.resumed:
                _say(f"going on: {match.resumed} of {match.plan.games} games are in {match.plan.pgn}")
        self._bar.update(self._task, description=score, completed=done)
        now = time.monotonic()
        if not self._console.is_terminal and done < match.plan.games and now - self._said >= _LINE_EVERY:
            rate = (done - match.resumed) / match.seconds if match.seconds else 0
            left = f", {(match.plan.games - done) / rate:,.0f} s left" if rate else ""
            _say(f"{done} of {match.plan.games} games: {score}{left}")
            self._said = now


def _say(line: str) -> None:
    print(f"kibitz: {line}", file=sys.stderr)


def _show(match: Match, as_json: bool) -> None:
    result = match.result()
    if as_json:
        print(json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False))
    else:
        _report(result)
    sys.stdout.flush()


def _report(result: dict[str, Any]) -> None:
    """The tables: the score, both colours, what it says about strength, speed, and forfeits."""
    a, b = result["a"], result["b"]
    print(f"{a['name']} ({a['limit']}) against {b['name']} ({b['limit']}): {result['games']} of {result['of']} games")
    print()
    rows = [
        (a["name"], result),
        ("with White", result["by_colour"]["white"]),
        ("with Black", result["by_colour"]["black"]),
    ]
    print_table(
        "", ("", "won", "drawn", "lost", "score", "95% interval"),
        [
            (name, str(r["wins"]), str(r["draws"]), str(r["losses"]), _percent(r["score"]["value"]),
             f"{_percent(r['score']['low'])} to {_percent(r['score']['high'])}")
            for name, r in rows
        ],
        right=(1, 2, 3, 4, 5),
    )  # fmt: skip
    print()
    elo, test = result["elo"], result["sprt"]
    facts = [
        ("Elo difference", f"{_elo(elo['value'])} ({_elo(elo['low'], -1)} to {_elo(elo['high'], 1)})"),
        ("likelihood that it is the stronger one", f"{100 * result['los']:.1f}%"),
        ("pairs with 0, ½, 1, 1½, 2 points", ", ".join(map(str, result["pentanomial"]))),
    ]
    if test:
        said = {"H0": f"{test['elo0']:g} accepted", "H1": f"{test['elo1']:g} accepted"}.get(
            test["decision"], "undecided"
        )
        bounds = f"{test['lower']:.2f} to {test['upper']:.2f}"
        facts.append((f"SPRT, Elo {test['elo0']:g} or {test['elo1']:g}", f"{said}; LLR {test['llr']:.2f} in {bounds}"))
    facts.append(("endings", ", ".join(f"{n} {ending}" for ending, n in result["endings"].items()) or "none"))
    print_table("", ("", ""), facts)
    print()
    if any(result["speed"][side]["moves"] for side in "ab"):
        print_table(
            "", ("of this call", "moves", "ms a move", "longest", "nodes a move"),
            [(result[side]["name"], *_speed(result["speed"][side])) for side in "ab"], right=(1, 2, 3, 4),
        )  # fmt: skip
        print()
    for forfeit in result["forfeits"]:
        print(f"game {forfeit['game'] + 1}: {forfeit['name']} forfeits: {forfeit['reason']}")
    print(f"games: {os.fspath(result['pgn'])}")


def _speed(used: dict[str, Any]) -> tuple[str, str, str, str]:
    if not used["moves"]:
        return "0", "-", "-", "-"
    nodes = used["nodes_per_move"]
    return (
        f"{used['moves']:,}", f"{1000 * used['seconds_per_move']:.1f}", f"{1000 * used['longest_seconds']:.0f}",
        f"{nodes:,.0f}" if nodes else "-",
    )  # fmt: skip


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}%"


def _elo(value: float | None, sign: int = 0) -> str:
    """An Elo difference; where it has no end, "unbounded"."""
    return f"{round(value):+d}" if value is not None else ("unbounded" if sign else "without bound")
