"""The limits of one side's searches: nodes, depth, time per move, or a clock."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass

import chess.engine

from kibitz.errors import UsageError

DEFAULT_MOVETIME = 100
"""The time per move, in milliseconds, of a side for which no limit is given."""


@dataclass(frozen=True)
class ChessLimits:
    """The limits of one side's searches. If there are several limits, a search ends when it reaches one of them.

    nodes: the smallest and the largest number of nodes. If they differ, the number for each move is sampled between
        them, log-uniformly.
    depth: in plies.
    movetime: the time per move in milliseconds.
    clock, increment: the time for the game and the time that each move adds, in seconds.
    """

    nodes: tuple[int, int] | None = None
    depth: int | None = None
    movetime: int | None = None
    clock: float | None = None
    increment: float = 0.0

    def nodes_at(self, seed: int, game: int, ply: int) -> int | None:
        """Return the node limit of one move; None for no limit.

        The limit depends only on three numbers: the seed of the match, the number of the game and the ply.
        """
        if self.nodes is None:
            return None
        least, most = self.nodes
        drawn = random.Random(f"{seed}/{game}/{ply}").uniform(math.log(least), math.log(most))
        return min(max(round(math.exp(drawn)), least), most)

    def go(
        self, seed: int, game: int, ply: int, clocks: Mapping[chess.Color, float | None],
        increments: Mapping[chess.Color, float],
    ) -> chess.engine.Limit:  # fmt: skip
        """Return the limits of a search in the form that python-chess sends to the engine.

        seed, game, ply: the seed of the match, the number of the game, and the ply.
        clocks: the seconds left on each side's clock; None for a side without a clock.
        increments: the seconds that each move adds to each side's clock.
        """
        limit = chess.engine.Limit(depth=self.depth, nodes=self.nodes_at(seed, game, ply))
        if self.movetime is not None:
            limit.time = self.movetime / 1000
        if self.clock is not None:
            # UCI can't express that a side has no clock. Such a side gets the clock of the side to move.
            own = clocks[chess.WHITE if ply % 2 == 0 else chess.BLACK]
            limit.white_clock = clocks[chess.WHITE] if clocks[chess.WHITE] is not None else own
            limit.black_clock = clocks[chess.BLACK] if clocks[chess.BLACK] is not None else own
            limit.white_inc, limit.black_inc = (
                increments[colour] if clocks[colour] is not None else self.increment
                for colour in (chess.WHITE, chess.BLACK)
            )
        return limit

    def __str__(self) -> str:
        parts = []
        if self.nodes is not None:
            least, most = self.nodes
            parts.append(f"{least} nodes" if least == most else f"{least}-{most} nodes, log-uniform")
        if self.depth is not None:
            parts.append(f"depth {self.depth}")
        if self.movetime is not None:
            parts.append(f"{self.movetime} ms a move")
        if self.clock is not None:
            parts.append(f"clock {self.clock:g}+{self.increment:g} s")
        return ", ".join(parts)


def limits(
    nodes: str | None, depth: int | None, movetime: int | None, clock: str | None, ending: str = ""
) -> ChessLimits:
    """Return the search limits that a user gave as text. An argument is None if the user did not give the option.

    nodes: "800" or a range such as "10-1000".
    depth: in plies.
    movetime: in milliseconds.
    clock: seconds for the game and seconds per move, such as "10+0.1".
    ending: the end of the options' names in error messages, such as "-a" for `--nodes-a`.

    Without any limit, the time per move is 100 ms. Raises UsageError for invalid text, and for numbers below 1.
    """
    for name, value in (("depth", depth), ("movetime", movetime)):
        if value is not None and value < 1:
            raise UsageError(f"--{name}{ending} must be at least 1 (got {value})")
    if nodes is None and depth is None and movetime is None and clock is None:
        return ChessLimits(movetime=DEFAULT_MOVETIME)
    seconds, increment = _clock(clock, ending) if clock is not None else (None, 0.0)
    return ChessLimits(_nodes(nodes, ending) if nodes is not None else None, depth, movetime, seconds, increment)


def _nodes(text: str, ending: str) -> tuple[int, int]:
    least, _, most = text.partition("-")
    try:
        bounds = int(least), int(most or least)
    except ValueError:
        bounds = 0, 0
    if not 1 <= bounds[0] <= bounds[1]:
        raise UsageError(
            f"--nodes{ending} must be a whole number of at least 1, or a range, for example 800 or 10-1000 (got {text})"
        )
    return bounds


def _clock(text: str, ending: str) -> tuple[float, float]:
    base, _, increment = text.partition("+")
    try:
        seconds = float(base), float(increment or 0)
    except ValueError:
        seconds = 0.0, 0.0
    if not (0 < seconds[0] < math.inf and 0 <= seconds[1] < math.inf):
        raise UsageError(
            f"--clock{ending} must be the seconds for the game and the seconds added per move, for example 10+0.1"
            f" (got {text})"
        )
    return seconds
