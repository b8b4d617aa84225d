"""Make the `ChessContest` or `GoContest`, which plays the games of a match, from the options of `kibitz match`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kibitz.errors import UsageError
from kibitz.messages import not_one_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kibitz.arena.chess.contest import ChessContest
    from kibitz.arena.go.contest import GoContest
    from kibitz.commands.match.options import RuleOptions

_KOMI = 7.5


def chess_game(limits: Mapping[str, Mapping[str, Any]], options: RuleOptions) -> ChessContest:
    """Return the `ChessContest`, the object that plays the games of a chess match, with the given limits and rules.

    limits: the limits of both players, as `LimitOptions.of_sides` returns them. options: the seed for the openings, and
    the rules by which a game ends early (adjudication). Raises UsageError for values that can't be read.
    """
    from kibitz.arena.chess.contest import ChessContest
    from kibitz.arena.chess.game import Adjudication
    from kibitz.arena.chess.limits import limits as limits_of

    of_sides = {side: limits_of(**limits[side]) for side in "AB"}
    rules = Adjudication(
        _adjudicated("--adjudicate-draw", options.adjudicate_draw, "20:8"),
        _adjudicated("--adjudicate-win", options.adjudicate_win, "800:3"),
        options.max_plies or Adjudication.plies,
    )
    return ChessContest(of_sides, options.seed, options.hang, rules)


def _adjudicated(option: str, text: str | None, example: str) -> tuple[int, int] | None:
    if text is None:
        return None
    match = re.fullmatch(r"(\d+):(\d+)", text)
    if not match or int(match[2]) < 1:
        raise UsageError(f"{option} must be centipawns and moves, for example {example} (got {text})")
    return int(match[1]), int(match[2])


def go_game(limits: Mapping[str, Mapping[str, Any]], options: RuleOptions) -> GoContest:
    """Return the `GoContest`, the object that plays the games of a Go match, with the given limits and rules.

    limits: the limits of both players, as `LimitOptions.of_sides` returns them. options: the seed for the openings, the
    board size, the komi and the largest number of moves. Raises UsageError for values that can't be read or are out of
    range.
    """
    from kibitz.arena.go.contest import GoContest
    from kibitz.arena.go.game import GoRules
    from kibitz.arena.go.limits import time_limit
    from kibitz.games.go.points import POINTS, SIZES

    size = SIZES[-1] if options.size is None else options.size
    komi = _KOMI if options.komi is None else options.komi
    if size not in SIZES:
        raise UsageError(not_one_of("--size", size, SIZES))
    if komi * 2 % 1 or abs(komi) > POINTS:
        raise UsageError(f"--komi must be a whole or half number of points, for example 7.5 (got {komi:g})")
    times = {side: time_limit(limits[side]["movetime"], limits[side]["clock"], limits[side]["ending"]) for side in "AB"}
    return GoContest(times, options.seed, options.hang, GoRules(size, komi, options.max_plies or 3 * size * size))
