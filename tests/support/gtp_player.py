"""A GTP program that plays at random, up to its fault at a move: python gtp_fake.py FAULT AT.

From move AT on it passes, where its fault is none. As a module: `fake` makes its command line.
"""

from __future__ import annotations

import os
import random
import shlex
import sys
import time

from sgfmill import boards, common


def fake(fault: str = "sound", at: int = 10) -> str:
    """The command line of a program with this fault at its move `at` (from 1)."""
    return shlex.join([sys.executable, __file__, fault, str(at)])


class Position:
    """A board with positional superko and without suicide."""

    def __init__(self, size: int):
        self.board = boards.Board(size)
        self.before = {str(self.board.list_occupied_points())}
        self.plies = 0

    def play(self, colour: str, point: tuple[int, int] | None) -> bool:
        """Play where it is legal; whether it was."""
        if point is not None:
            if self.board.get(*point) is not None:
                return False
            after = self.board.copy()
            after.play(*point, colour)
            if after.get(*point) is None or str(after.list_occupied_points()) in self.before:
                return False
            self.board = after
            self.before.add(str(after.list_occupied_points()))
        self.plies += 1
        return True


def main(fault: str, at: int) -> None:
    if fault == "mute":
        time.sleep(3600)
    if fault == "exit":
        sys.exit(3)
    position, moves, chance = Position(19), 0, random.Random(at)
    for line in sys.stdin:
        number, command, *words = line.split()
        good, said = True, ""
        size = position.board.side
        if fault == "deaf" and command == "time_left":
            time.sleep(3600)
        if command in ("name", "version"):
            said = {"name": fault, "version": "1"}[command]
        elif command == "boardsize":
            good = fault != "19" or words == ["19"]
            said = "" if good else "no such board"
            position = Position(int(words[0]))
        elif command == "clear_board":
            position, moves = Position(size), 0
        elif command == "play":
            refused = fault == "refuse" and position.plies > at
            good = not refused and position.play(words[0][0], common.move_from_vertex(words[1], size))
        elif command == "genmove":
            moves += 1
            wanted = [(row, column) for row in range(size) for column in range(size)]
            chance.shuffle(wanted)
            point = None
            while moves < at and not position.play(words[0][0], point := wanted.pop() if wanted else None):
                pass
            said = common.format_vertex(point)
            if moves == at:
                if fault == "crash":
                    os._exit(7)
                if fault in ("hang", "slow"):
                    time.sleep(3600 if fault == "hang" else 1.5)
                if fault == "occupied":
                    said = common.format_vertex(position.board.list_occupied_points()[0][1])
                said = {"resign": "resign", "off": "T19", "nonsense": "no idea"}.get(fault, said)
                good = fault != "error"
        elif command not in ("komi", "quit"):
            good, said = False, "unknown command"
        if fault == "garbage":
            print("Hello! \x07 = is no answer\n\n=9999 nor this\n")
        print(f"{'=' if good else '?'}{number} {said}\n", flush=True)
        if command == "quit":
            break


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
