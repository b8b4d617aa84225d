"""kibitz match: two programs play chess or Go against each other, and how much stronger one is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kibitz.commands.match.games import chess_game, go_game
from kibitz.commands.match.table import Progress, show

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kibitz.arena.elo import Sprt
    from kibitz.arena.players import Participant

_LIMITS = "Limits of both sides, or of A or B alone (default: 100 ms a move; Go: none)"
_RULES = "Openings, adjudication, forfeits"
_GO = "Go"
_STATISTICS = "Sequential test"


def _limit(what: str, metavar: str, side: str = "") -> Any:
    whose = f" for {side} alone" if side else ""
    return typer.Option(help=f"{what}{whose}.", metavar=metavar, rich_help_panel=_LIMITS, show_default=False)


_NODES = "Nodes a move (chess); a range is drawn from for every move, evenly in its logarithm"
_DEPTH = "Plies of depth (chess)"
_MOVETIME = "Milliseconds a move; in Go whole seconds"
_CLOCK = "A clock: seconds for the game and seconds a move on top; in Go those are for moves after the main time"


def match(
    a: Annotated[
        str,
        typer.Argument(
            help="A run's directory, a packaged network, 'sunfish', 'gnugo', or the command of a UCI engine (stockfish,"
            " \"gnuchess --uci\") or of a GTP engine.",
            show_default=False,
        ),
    ],
    b: Annotated[str, typer.Argument(help="Its opponent, likewise.", show_default=False)],
    game: Annotated[
        str | None,
        typer.Option(
            help="chess or go, where the players do not say: a run and gnugo do. Default: chess.", metavar="GAME",
            show_default=False,
        ),
    ] = None,
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
        list[str] | None,
        typer.Option(
            help="A UCI option of A; in Go an option of kibitz gtp or of gnugo, as level=5. May be repeated.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    option_b: Annotated[list[str] | None, typer.Option(help="An option of B.", metavar="NAME=VALUE")] = None,
    name_a: Annotated[str | None, typer.Option(help="What A is called in the games and the table.")] = None,
    name_b: Annotated[str | None, typer.Option(help="What B is called.")] = None,
    concurrency: Annotated[int, typer.Option(help="Games at a time; more than there are cores is unfair.", min=1)] = 1,
    seed: Annotated[
        int, typer.Option(help="The order of the openings, and every drawn node limit, follow from it.",
                          rich_help_panel=_RULES)
    ] = 0,
    adjudicate_draw: Annotated[
        str | None,
        typer.Option(
            help="Chess: a draw when both see the score within CP centipawns of 0 for MOVES moves. Default: off.",
            metavar="CP:MOVES", rich_help_panel=_RULES, show_default=False,
        ),
    ] = None,
    adjudicate_win: Annotated[
        str | None,
        typer.Option(
            help="Chess: a win when both see the same side at least CP centipawns up for MOVES moves. Default: off.",
            metavar="CP:MOVES", rich_help_panel=_RULES, show_default=False,
        ),
    ] = None,
    max_plies: Annotated[
        int | None,
        typer.Option(
            help="A chess game of this length is a draw (default 600), a game of Go is counted (default: three times"
            " the board's points).",
            min=20, rich_help_panel=_RULES, show_default=False,
        ),
    ] = None,
    hang: Annotated[
        float,
        typer.Option(
            help="Seconds after which an engine without a clock or a time per move hangs, and forfeits.", min=0.1,
            rich_help_panel=_RULES,
        ),
    ] = 60.0,
    size: Annotated[
        int | None,
        typer.Option(help="The board: 9, 13 or 19. Default: 19.", rich_help_panel=_GO, show_default=False),
    ] = None,
    komi: Annotated[
        float | None,
        typer.Option(help="White's points for moving second. Default: 7.5.", rich_help_panel=_GO, show_default=False),
    ] = None,
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
    sgf: Annotated[
        Path | None,
        typer.Option(help="The same for Go. Default: matches/A-vs-B.sgf.", metavar="FILE", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
) -> None:  # fmt: skip
    """Let two programs play chess or Go, every opening with both colours, and say how much stronger one is.

    Go is played by Chinese rules with positional superko, and GNU Go counts the games, or else random playouts.
    """
    from kibitz.arena.match import Match, MatchConfig, players_differ
    from kibitz.arena.players import game_of, player

    played = game_of(a, b, game)
    given = {
        "": {"nodes": nodes, "depth": depth, "movetime": movetime, "clock": clock},
        "A": {"nodes": nodes_a, "depth": depth_a, "movetime": movetime_a, "clock": clock_a},
        "B": {"nodes": nodes_b, "depth": depth_b, "movetime": movetime_b, "clock": clock_b},
    }
    for_chess = {
        "nodes": nodes, "nodes-a": nodes_a, "nodes-b": nodes_b, "depth": depth, "depth-a": depth_a, "depth-b": depth_b,
        "adjudicate-draw": adjudicate_draw, "adjudicate-win": adjudicate_win, "pgn": pgn,
    }  # fmt: skip
    _only(played, {"chess": for_chess, "go": {"size": size, "komi": komi, "sgf": sgf}})
    limits = {side: given[side] if any(v is not None for v in given[side].values()) else given[""] for side in "AB"}
    test = _sprt(sprt, alpha, beta)

    rules = (
        go_game(limits, seed, hang, size, komi, max_plies)
        if played == "go"
        else chess_game(limits, seed, hang, adjudicate_draw, adjudicate_win, max_plies)
    )
    one, other = players_differ(player(a, option_a or (), name_a, played), player(b, option_b or (), name_b, played))
    config = MatchConfig(
        one, other, rules, games, sgf or pgn or _record(one, other, played), seed=seed, workers=concurrency, sprt=test
    )
    contest = Match(config)
    try:
        with Progress() as progress:
            contest.run(progress.tell)
    except KeyboardInterrupt:
        show(contest, as_json)
        raise KeyboardInterrupt(
            f"interrupted after {len(contest.rows)} of {games} games; the same command goes on"
        ) from None
    show(contest, as_json)


def _only(game: str, options: Mapping[str, Mapping[str, Any]]) -> None:
    """Raises UsageError for an option of the other game."""
    from kibitz.errors import UsageError

    for of, given in options.items():
        for name, value in given.items():
            if value is not None and of != game:
                raise UsageError(f"--{name}: is for {of}, and this match is of {game}; leave it out")


def _record(a: Participant, b: Participant, game: str) -> Path:
    one, other = (re.sub(r"[^\w.+-]+", "-", player.name).strip("-.") or "engine" for player in (a, b))
    return Path("matches") / f"{one}-vs-{other}.{'sgf' if game == 'go' else 'pgn'}"


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
