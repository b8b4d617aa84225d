"""The command `kibitz rate`: estimate a player's rating from the moves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from kibitz import records
from kibitz.commands.accounts import AccountOptions, any_account, files_of, names_of
from kibitz.commands.progress import BAR, LEFT, Progress
from kibitz.errors import KibitzError, UsageError
from kibitz.messages import note, warning
from kibitz.text import number_of

if TYPE_CHECKING:
    from kibitz.analysis.chess.strength.player import PlayerStrength


def rate(
    games: Annotated[str, typer.Argument(metavar="MY.pgn", show_default=False)],
    *,
    player: Annotated[list[str] | None, typer.Option(metavar="NAME", show_default=False)] = None,
    account: AccountOptions,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Show a player's rating and its 90% interval, estimated from the player's moves.

    The network `human` predicts the probability of each move for six ratings from 600 to 2600. From these
    probabilities, the command computes the posterior distribution of the player's rating. The estimate is the mean of
    this distribution, after a linear correction. The results and ratings in the games are not used. The command also
    shows estimates by phase, color, speed, time left and month.
    """
    from kibitz.analysis.chess.player_sides import players_in
    from kibitz.analysis.chess.strength.estimate import LEVEL
    from kibitz.analysis.chess.strength.player import ENOUGH, SHORTEST, PlayerStrength, add_games, chess_files

    if games == records.STDIN:
        raise UsageError("the games are read twice, so they cannot come from standard input (got -). Give a file name.")
    _check_chess(games)
    names = list(player or names_of([games]))
    if any_account([games]):
        games = files_of([games], account.wanted([games]))[0]
    else:
        account.wanted([games])
    files = chess_files(games)
    found = players_in(files, names, records.printable(games))
    total = sum(one.games for one in found)
    strength, stopped = PlayerStrength(", ".join(one.name for one in found)), False
    with Progress("{task.completed:,.0f} of {task.total:,.0f} games", BAR, LEFT, patient=True) as bar:
        bar.begin("", total)
        try:
            for done in add_games(strength, files, found, warning):
                bar.update(done, f"kibitz: {done:,} of {number_of(total, 'game')}")
        except KeyboardInterrupt:
            if len(strength.games) < ENOUGH:
                raise
            stopped = True
    if strength.too_fast:
        number = number_of(strength.too_fast, "game")
        note(f"skipped {number} with less than {SHORTEST} seconds for a player: too little time to think")
    if len(strength.counted) < ENOUGH:
        raise KibitzError(
            f"{records.printable(games)}: a rating needs at least {ENOUGH} games with moves of the player"
            f" (got {len(strength.counted)}). Add games."
        )
    if as_json:
        print(json.dumps({"level": LEVEL, **strength.as_json()}, ensure_ascii=False))
    else:
        _show(strength)
    if stopped:
        raise KeyboardInterrupt(
            f"interrupted: the rating is estimated from the first {len(strength.games):,} of {number_of(total, 'game')}"
        )


def _check_chess(source: str) -> None:
    """Raise UsageError for a file or an account with games of Go."""
    from kibitz.online.accounts import account_in

    named = account_in(source) if any_account([source]) else None
    if source.lower().endswith((".sgf", ".sgfl", ".gib")) or (named is not None and named.site.game != "chess"):
        raise UsageError(f"ratings are estimated for chess only (got {records.printable(source)}). Give a PGN file.")


def _show(strength: PlayerStrength) -> None:
    from rich.console import Console

    from kibitz.analysis.chess.strength.terminal import show

    show(strength, Console())
    others = len(strength.games) - len(strength.counted)
    if others:
        note(f"skipped {number_of(others, 'game')} on other rating scales")
