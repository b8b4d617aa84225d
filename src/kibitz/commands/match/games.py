"""A match's game, from the options of kibitz match."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kibitz.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kibitz.arena.chess.contest import ChessContest
    from kibitz.arena.go.contest import GoContest

_CHESS_PLIES = 600
_KOMI = 7.5
_MOST_KOMI = 361


def chess_game(
    limits: Mapping[str, Mapping[str, Any]],
    seed: int,
    hang: float,
    draw: str | None,
    win: str | None,
    plies: int | None,
) -> ChessContest:
    """Chess with the limits of "A" and "B" (nodes, depth, movetime, clock) and rules of adjudication as given.

    Raises UsageError for what cannot be read.
    """
    from kibitz.arena.chess.contest import ChessContest
    from kibitz.arena.chess.game import Adjudication
    from kibitz.arena.chess.limits import limits as limits_of

    for side in "AB":
        for name in ("depth", "movetime"):
            if limits[side][name] is not None and limits[side][name] < 1:
                raise UsageError(f"--{name} {limits[side][name]}: must be at least 1")
    of_sides = {side: limits_of(**limits[side]) for side in "AB"}
    rules = Adjudication(
        _adjudicated("--adjudicate-draw", draw), _adjudicated("--adjudicate-win", win), plies or _CHESS_PLIES
    )
    return ChessContest(of_sides, seed, hang, rules)


def _adjudicated(option: str, text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    found = re.fullmatch(r"(\d+):(\d+)", text)
    if not found or int(found[2]) < 1:
        raise UsageError(f"{option} {text}: write centipawns and moves, as 20:8")
    return int(found[1]), int(found[2])


def go_game(
    limits: Mapping[str, Mapping[str, Any]],
    seed: int,
    hang: float,
    size: int | None,
    komi: float | None,
    moves: int | None,
) -> GoContest:
    """Go with the limits of "A" and "B" (movetime, clock) and rules as they were given. Raises UsageError."""
    from kibitz.arena.go.contest import GoContest
    from kibitz.arena.go.game import GoRules
    from kibitz.arena.go.limits import time_limit
    from kibitz.games.go.points import SIZES

    size = SIZES[-1] if size is None else size
    komi = _KOMI if komi is None else komi
    if size not in SIZES:
        raise UsageError(f"--size {size}: choose from {', '.join(map(str, SIZES))}")
    if komi * 2 % 1 or abs(komi) > _MOST_KOMI:
        raise UsageError(f"--komi {komi:g}: write whole or half points, as 7.5")
    times = {side: time_limit(limits[side]["movetime"], limits[side]["clock"]) for side in "AB"}
    return GoContest(times, seed, hang, GoRules(size, komi, moves or 3 * size * size))
