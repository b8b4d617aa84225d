"""Find the dead stones of a final position, by random playouts or with the program GNU Go. GNU Go can also play a game
to its end.

All stones of a chain are dead, or all are alive. `counting.settle` computes the owners of the points from the dead
stones.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kibitz.external.gtp import GtpProgram
from kibitz.games.go.endings.playouts import black_share
from kibitz.games.go.points import BLACK, NONE, POINTS, WHITE, from_gtp, to_sgf
from kibitz.games.go.rules import CELL, CELLS, ROOT, ROWS, set_up
from kibitz.kernels import kernel

GNUGO_ARGUMENTS = ("--mode", "gtp", "--level", "0", "--quiet", "--never-resign")
MOST_MOVES = 500
"""If GNU Go plays this number of moves without an end, kibitz stops the game."""
PLAYOUTS = 200
_FILE = "game.sgf"
_NAMES = {BLACK: "black", WHITE: "white"}


@kernel
def _survival(colours, share, alive):  # type: ignore[no-untyped-def]
    """Fill `alive`, float32 [361], with the result of `survival`."""
    board = np.empty((ROWS, CELLS), np.int16)
    set_up(board, colours)
    total, stones = np.zeros(CELLS, np.float32), np.zeros(CELLS, np.int16)
    for point in range(POINTS):
        if colours[point] == 1 or colours[point] == 2:
            root = board[ROOT, CELL[point]]
            total[root] += share[point] if colours[point] == 1 else 1 - share[point]
            stones[root] += 1
    for point in range(POINTS):
        alive[point] = 1
        if colours[point] == 1 or colours[point] == 2:
            root = board[ROOT, CELL[point]]
            alive[point] = total[root] / stones[root]


def survival(colours: NDArray[np.uint8], share: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the probability that each stone lives, float32 [361], 0 to 1; 1 for points without a stone.

    All stones of a chain have the same probability. For each point of the chain, the function takes the share of
    playouts in which the chain's color owns the point. The mean of these shares is the probability.

    colours: uint8 [361], the stones: 0 none, 1 Black, 2 White, 3 outside the board. share: float32 [361], the share of
    playouts in which each point is Black's (see `playouts.black_share`).
    """
    alive = np.empty(POINTS, np.float32)
    _survival(np.ascontiguousarray(colours, np.uint8), share, alive)
    return alive


def playout_survival(colours: NDArray[np.uint8], seed: int, playouts: int = PLAYOUTS) -> NDArray[np.float32]:
    """Return the share of random playouts in which each stone lives, float32 [361], 0 to 1; 1 for points without a
    stone. colours: uint8 [361], the stones: 0 none, 1 Black, 2 White, 3 outside the board. seed: the random seed.
    playouts: the number of playouts.
    """
    return survival(colours, black_share(colours, playouts=playouts, seed=seed))


def by_playouts(colours: NDArray[np.uint8], seed: int, playouts: int = PLAYOUTS) -> NDArray[np.bool_]:
    """Return the stones that die in more than half of the random playouts, bool [361]. colours: uint8 [361], the
    stones: 0 none, 1 Black, 2 White, 3 outside the board. seed: the random seed. playouts: the number of playouts.
    """
    return playout_survival(colours, seed, playouts) < 0.5


class GnuGo:
    """GNU Go as a referee that finds the dead stones of final positions. One process evaluates many positions. If it
    dies, it is started again.

    command: the command that starts GNU Go. limit: the time limit in seconds for finding the dead stones of a position.
    """

    def __init__(self, command: Sequence[str], limit: float):
        self.command, self.limit = command, limit
        self._program: GtpProgram | None = None
        self._folder = Path(tempfile.mkdtemp(prefix="kibitz-"))
        self._closed = False

    def dead(self, colours: NDArray[np.uint8], size: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the stones that GNU Go considers dead and those that it considers alive in seki, both bool [361].

        colours: uint8 [361], the stones. size: the board's size. Raises EngineDied, CommandRefused or ValueError if GNU
        Go fails, as `play_out` does.
        """
        until = time.monotonic() + self.limit
        self._set_up(_position(colours, size), until)
        # GNU Go needs half a second for the first list, and finds the second list at the same time. So the second
        # command takes almost no time.
        dead = self._stones("dead", colours, size, until)
        return dead, self._stones("seki", colours, size, until)

    def play_out(
        self, colours: NDArray[np.uint8], size: int, komi: float, mover: int, limit: float
    ) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Let GNU Go play both sides until both pass. Returns the stones at the end, uint8 [361], and the dead stones,
        bool [361].

        colours: uint8 [361], the stones. size: the board's size. mover: the side to move, BLACK or WHITE. komi: the
        komi in points; the rules are area scoring. limit: the time limit in seconds.

        Raises EngineDied if GNU Go fails or needs too much time, and CommandRefused if it rejects a command. Raises
        ValueError for an unexpected reply, or if the game doesn't end.
        """
        until = time.monotonic() + limit
        self._set_up(_position(colours, size, f"RU[chinese]KM[{komi:g}]PL[{'?BW'[mover]}]"), until)
        passes = 0
        for _ in range(MOST_MOVES):
            passes = passes + 1 if self._request(f"genmove {_NAMES[mover]}", until).lower() == "pass" else 0
            mover = BLACK + WHITE - mover
            if passes == 2:
                break
        else:
            raise ValueError(f"the game did not end within {MOST_MOVES} moves")
        final = np.where(colours > WHITE, colours, NONE).astype(np.uint8)  # keep the points outside the board
        for colour, name in _NAMES.items():
            final[self._points(f"list_stones {name}", size, until)] = colour
        return final, self._stones("dead", final, size, until)

    def _set_up(self, record: str, until: float) -> None:
        """Load a record, in a new process if none is running."""
        if self._program is None or not self._program.running:
            self._program = GtpProgram(self.command, "GNU Go", self._folder)
            if self._closed:  # another thread has closed it in the meantime
                self._program.kill()
        (self._folder / _FILE).write_text(record, encoding="ascii")
        self._request(f"loadsgf {_FILE}", until)

    def _request(self, command: str, until: float) -> str:
        assert self._program is not None
        return self._program.request(command, max(until - time.monotonic(), 0.01))

    def _stones(self, status: str, colours: NDArray[np.uint8], size: int, until: float) -> NDArray[np.bool_]:
        stones = np.zeros(POINTS, np.bool_)
        stones[self._points(f"final_status_list {status}", size, until)] = True
        if (stones & (colours != BLACK) & (colours != WHITE)).any():
            raise ValueError("there is no stone on this point")
        return stones

    def _points(self, command: str, size: int, until: float) -> list[int]:
        """Return the points in the reply to a command. Raises ValueError if one isn't a point."""
        points = [from_gtp(vertex, size) for vertex in self._request(command, until).split()]
        if any(point >= POINTS for point in points):
            raise ValueError("a pass is not a point of the board")
        return points

    def close(self) -> None:
        """End GNU Go's process and remove its temporary folder. Any thread may call this method."""
        self._closed = True
        if self._program is not None:
            self._program.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


def _position(colours: NDArray[np.uint8], size: int, more: str = "") -> str:
    """Return a position as SGF. more: further properties as text."""
    stones = {
        name: "".join(f"[{to_sgf(int(point))}]" for point in np.flatnonzero(colours == colour))
        for name, colour in (("AB", BLACK), ("AW", WHITE))
    }
    set_up = "".join(name + points for name, points in stones.items() if points)
    return f"(;GM[1]FF[4]SZ[{size}]{set_up}{more})"
