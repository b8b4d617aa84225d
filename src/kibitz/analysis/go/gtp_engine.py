"""Communicate with GTP engines: set up a position, and parse the lines that the command kata-analyze prints."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kibitz.external.gtp import CommandRefused
from kibitz.games.go.points import BLACK, GRID, POINTS, WHITE, from_gtp, to_gtp

STARTS, ANSWERS, THINKS = 90.0, 20.0, 120.0
"""Time limits in seconds for an engine's reply. STARTS is for the first command, because some engines calibrate
themselves. THINKS is for a command that searches, and ANSWERS is for all other commands.
"""
KATA, LEELA = "kata-analyze", "lz-analyze"
MOST_SHOWN = 12
"""The largest number of moves in a line, which is a sequence of moves that the engine expects."""
COLORS = {BLACK: "black", WHITE: "white"}
_KEYS = {"pvVisits", "pvEdgeVisits", "ownership", "ownershipStdev", "movesOwnership", "rootInfo"}
"""Words in an analysis line that can follow the moves of a variation."""


@dataclass(frozen=True)
class EngineMove:
    """A move that an engine analyzed. The values are from Black's point of view.

    black_wins: Black's win probability after the move, 0 to 1.
    lead: the lead in points; None if the engine does not report it.
    line: this move and the moves that the engine expects after it, as points (row · 19 + column) or 361 for a pass.
    visits: the number of visits of this move in the search.
    """

    black_wins: float
    lead: float | None
    line: tuple[int, ...]
    visits: int


def set_up(
    request: Callable[[str], object],
    commands: set[str],
    size: int,
    komi: float,
    rules: str,
    black: Sequence[int],
    white: Sequence[int],
    handicap: int,
) -> None:
    """Send the start position of a game to a GTP engine.

    request: a function that sends a command to the engine.
    commands: the commands that the engine supports.
    size: the board size.
    komi: in points.
    rules: the name of the rules for the command `kata-set-rules`.
    black, white: the points of the stones at the start.
    handicap: how many of Black's stones are handicap stones; 0 for none.

    Raises CommandRefused if the engine rejects a command.
    """
    request(f"boardsize {size}")
    request("clear_board")
    if "kata-set-rules" in commands:
        with contextlib.suppress(CommandRefused):  # if the engine doesn't support the rules, it scores by its own rules
            request(f"kata-set-rules {rules}")
    request(f"komi {komi:g}")
    if handicap and "set_free_handicap" in commands:
        request("set_free_handicap " + " ".join(to_gtp(point, size) for point in black))
        return
    for color, stones in ((BLACK, black), (WHITE, white)):
        for point in stones:
            request(f"play {COLORS[color]} {to_gtp(point, size)}")


def read_moves(text: str, size: int, color: int, command: str) -> list[EngineMove]:
    """Return the moves in a line of an engine's analysis, the best move first. Invalid moves are skipped.

    text: the line that the engine printed.
    size: the board size.
    color: the side to move. The values in the line are from this side's point of view.
    command: the command that prints the line, "kata-analyze" or "lz-analyze".
    """
    found: list[tuple[int, EngineMove]] = []
    for group in text.split("info ")[1:]:
        words = group.split()
        at = words.index("pv") if "pv" in words else len(words)
        keys = dict(zip(words[:at:2], words[1:at:2], strict=False))
        try:
            found.append((int(keys.get("order", len(found))), _move(keys, words[at + 1 :], size, color, command)))
        except (KeyError, ValueError, OverflowError):
            continue
    return [each for _, each in sorted(found, key=lambda one: one[0])]


def _move(keys: dict[str, str], pv: list[str], size: int, color: int, command: str) -> EngineMove:
    """Parse one move of an analysis line. Raises KeyError and ValueError for invalid values."""
    chance = float(keys["winrate"]) / (10_000 if command == LEELA else 1)
    lead = float(keys["scoreLead"]) if "scoreLead" in keys else float(keys.get("scoreMean", "nan"))
    if not 0 <= chance <= 1:
        raise ValueError
    line: list[int] = []
    for word in pv or [keys["move"]]:
        if word in _KEYS or len(line) == MOST_SHOWN:
            break
        line.append(from_gtp(word, size))
    if not line:
        raise ValueError
    black = color == BLACK
    return EngineMove(
        chance if black else 1 - chance, None if not math.isfinite(lead) else lead if black else -lead, tuple(line),
        int(keys.get("visits", 0)),
    )  # fmt: skip


def read_owners(text: str, size: int, color: int) -> NDArray[np.float64] | None:
    """Return the ownership map in a line of an engine's analysis: the probability that each point belongs to Black,
    float64 [361], 0 to 1. Return None if the line has no valid ownership map.

    text: the line that the engine printed.
    size: the board size.
    color: the side to move, 1 for Black or 2 for White. The values in the line are from this side's point of view.
    """
    words = text.split()
    if "ownership" not in words:
        return None
    at = words.index("ownership") + 1
    try:
        estimates = np.array([float(word) for word in words[at : at + size * size]])
    except ValueError:
        return None
    if len(estimates) != size * size or not (np.abs(estimates) <= 1.0 + 1e-6).all():
        return None
    owns = np.full((GRID, GRID), 0.5)
    owns[:size, :size] = (1 + (estimates if color == BLACK else -estimates).reshape(size, size)) / 2
    return owns.reshape(POINTS)
