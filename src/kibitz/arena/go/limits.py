"""The time limits of one side in a game of Go, as GTP expresses them, and the side's clock."""

from __future__ import annotations

from dataclasses import dataclass

from kibitz.errors import UsageError

CLOCK_MARGIN = 0.05
"""The seconds by which a move may exceed the engine's clock. They allow for the communication. An engine that needs
more time loses on time.
"""

MOVETIME_GRACE = 5.0
"""The seconds by which a move may exceed the time per move before the program counts as hung. Late moves within these
seconds are counted in the table of the match.
"""


@dataclass(frozen=True)
class GoTime:
    """The time limit of one side: `main` seconds for the game, then `move` seconds for each move.

    If `move` is None, the whole game must be finished in `main` seconds. If `main` is None, `move` is the time per
    move, and a late move is only reported. If both are None, there is no limit.
    """

    main: int | None = None
    move: int | None = None

    def settings(self) -> str | None:
        """Return the arguments of GTP's command time_settings: the main time, the time of a byo-yomi period, and the
        number of moves in a period. Return None if there is no limit.
        """
        if self.main is None and self.move is None:
            return None
        return f"{self.main or 0} {self.move or 0} {1 if self.move else 0}"

    def __str__(self) -> str:
        if self.main is None:
            return f"{self.move} s a move" if self.move else "no time limit"
        return f"{self.main} s" + (f", then {self.move} s a move" if self.move else "")


class GoClock:
    """The clock of one side in a game of Go.

    time: the time limit. left: the remaining main time in seconds.
    """

    def __init__(self, time: GoTime):
        self.time = time
        self.left = float(time.main or 0)

    def patience(self) -> float | None:
        """Return how many seconds to wait for a move. Return None if there is no time limit; the caller then waits for
        the `hang` seconds of the engine.
        """
        if self.time.main is not None:
            return self.allowed + CLOCK_MARGIN
        return None if self.time.move is None else self.time.move + MOVETIME_GRACE

    @property
    def allowed(self) -> float:
        """The number of seconds that the next move may take; 0 if there is no time limit."""
        return self.left + (self.time.move or 0)

    def time_left(self) -> str:
        """Return the last two arguments of GTP's command time_left, such as "300 0". The first argument of this
        command, the color, is not in the result.

        The two arguments are a number of seconds and a number of moves. During the main time, they are the seconds left
        and 0. After the main time, they are the seconds for one move and 1. The clock must have a main time.
        """
        return f"{int(self.left)} 0" if self.left >= 1 or not self.time.move else f"{self.time.move} 1"

    def spend(self, seconds: float) -> bool:
        """Subtract the time of a move from the main time. Return True, or False if the move took too long and the side
        has lost on time.

        seconds: the time of the move.
        """
        if self.time.main is None:
            return True
        in_time = seconds <= self.allowed + CLOCK_MARGIN
        self.left = max(self.left - seconds, 0.0)
        return in_time


def time_limit(movetime: int | None, clock: str | None, ending: str = "") -> GoTime:
    """Return the time limit that a user gave as text. An argument is None if the user did not give the option.

    movetime: milliseconds per move.
    clock: seconds for the game, such as "600"; or seconds for the game and then for each move, such as "600+10".
    ending: the end of the options' names in error messages, such as "-a" for `--clock-a`.

    Raises UsageError for invalid text, and for times with a fraction of a second, which GTP can't express.
    """
    if movetime is not None and clock is not None:
        raise UsageError(f"--movetime{ending} cannot be combined with --clock{ending} in Go (got both). Choose one.")
    if movetime is not None:
        if movetime < 1000 or movetime % 1000:
            raise UsageError(
                f"--movetime{ending} is in milliseconds. In Go it must be a multiple of 1000, for example 1000 or 2000"
                f" (got {movetime})"
            )
        return GoTime(move=movetime // 1000)
    if clock is None:
        return GoTime()
    main, plus, move = clock.partition("+")
    if not (main.isdecimal() and (move.isdecimal() if plus else True)) or int(main) < 1:
        raise UsageError(
            f"--clock{ending} must be a number of seconds for the game, or two numbers: for the game, and then for each"
            f" move. Examples: 600 or 600+10 (got {clock})"
        )
    return GoTime(int(main), int(move or 0) or None)
