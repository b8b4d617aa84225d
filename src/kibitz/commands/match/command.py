"""The command `kibitz match`: let two programs play chess or Go against each other, and measure the difference in
strength.
"""

from __future__ import annotations

from typing import Annotated

import typer

from kibitz.commands.match.games import chess_game, go_game
from kibitz.commands.match.options import (
    LimitOptions,
    OutputOptions,
    PlayerOptions,
    RuleOptions,
    SprtOptions,
    check_game,
)
from kibitz.commands.match.table import MatchProgress, show
from kibitz.commands.workers import Ray, ray_backend
from kibitz.text import number_of


def match(
    a: Annotated[
        str,
        typer.Argument(
            show_default=False,
            metavar="PLAYER",
        ),
    ],
    b: Annotated[str, typer.Argument(show_default=False, metavar="OPPONENT")],
    *,
    game: Annotated[
        str | None,
        typer.Option(
            metavar="GAME",
            show_default=False,
        ),
    ] = None,
    games: Annotated[int, typer.Option(min=1)] = 100,
    limits: LimitOptions,
    players: PlayerOptions,
    concurrency: Annotated[int, typer.Option(min=1)] = 1,
    ray: Ray = None,
    rules: RuleOptions,
    test: SprtOptions,
    output: OutputOptions,
) -> None:
    """Let two players play a match of chess or Go, and measure the difference in strength. Every opening is played with
    both colors.

    The rules of Go are Chinese with positional superko, and GNU Go scores the games. If GNU Go is not installed, random
    playouts determine the dead stones.
    """
    from kibitz.arena.match import Match, MatchConfig, players_differ
    from kibitz.arena.players import game_of, player

    played = game_of(a, b, game)
    check_game(played, limits, rules, output)
    of_sides, sprt = limits.of_sides(), test.test()
    terms = go_game(of_sides, rules) if played == "go" else chess_game(of_sides, rules)
    one, other = players_differ(
        player(a, players.option_a or (), players.name_a, played),
        player(b, players.option_b or (), players.name_b, played),
    )
    config = MatchConfig(
        one, other, terms, games, output.record(one, other, played), seed=rules.seed, workers=concurrency, sprt=sprt,
        backend=None if ray is None else ray_backend(ray, concurrency),
    )  # fmt: skip
    contest = Match(config)
    try:
        with MatchProgress() as progress:
            contest.run(progress.on_game)
    except KeyboardInterrupt:
        show(contest, output.as_json)
        raise KeyboardInterrupt(
            f"interrupted after {len(contest.rows)} of {number_of(games, 'game')}. Run the same command again to"
            " resume."
        ) from None
    show(contest, output.as_json)
