"""Run the process of a Go engine in a match: start the process, request its moves through GTP, and end it in every
case, even after an error.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable
from dataclasses import dataclass

from kibitz.arena.contest import ATTEMPTS, Fault, StartFailed, in_words
from kibitz.arena.go.limits import GoClock
from kibitz.arena.players import Participant
from kibitz.external import EngineDied
from kibitz.external.gtp import CommandRefused, GtpProgram
from kibitz.games.go.points import BLACK, WHITE, from_gtp, to_gtp

START_PATIENCE = 60.0
"""The seconds in which a program must reply to its first commands. They allow for the loading of a network."""

RULES = ("chinese-ogs", "chinese")
"""Names of Chinese rules for the command kata-set-rules. The first name means rules with positional superko. The second
name means rules without it, for programs that don't know the first name.
"""

COLOUR = {BLACK: "black", WHITE: "white"}


@dataclass(frozen=True)
class MoveAnswer:
    """A move that an engine played.

    point: row · 19 + column from the upper left, or 361 for a pass; None if the engine resigned. seconds: the time that
    the move took.
    """

    point: int | None
    seconds: float


class GoEngine:
    """The process of the Go engine of one player, for one board size.

    participant: the player. hang: the seconds after which the engine counts as hung, if no time limit applies.

    `start` starts the process. After the exception Fault, the process has ended, and `start` can start a new process.
    """

    def __init__(self, participant: Participant, hang: float, size: int):
        self.participant = participant
        self.hang = hang
        self.identity = participant.name
        self._program: GtpProgram | None = None
        self._closed = False
        self._size = size
        self._replies = False  # whether it has replied to its first commands

    @property
    def command(self) -> tuple[str, ...]:
        """The whole command line of the program. GTP has no options, so the player's options are command-line
        arguments, such as `--level 5`.
        """
        return (
            *self.participant.command,
            *(word for name, value in self.participant.options for word in (f"--{name}", value)),
        )

    def start(self) -> None:
        """Start the process if it isn't running. Raises StartFailed if three attempts fail, or if the error shows that
        further attempts would fail, too.
        """
        if self._program is not None and self._program.running:
            return
        self.stop()
        reason = ""
        for _ in range(ATTEMPTS):
            if self._closed:
                break
            try:
                self._start()
                return
            except CommandRefused as error:  # starting it again would fail, too
                reason = in_words(error)
                break
            except EngineDied as error:
                silent = error.how == "hung" and not self._replies
                reason = "it does not reply in the GTP protocol" if silent else _problem(self.participant, error)
                self.stop()
        self.stop()
        raise StartFailed(
            f"{self.participant.name} cannot be started ({reason}). Try it in a terminal: {' '.join(self.command)}"
        )

    def _start(self) -> None:
        self._program = program = GtpProgram(self.command, self.participant.name)
        if self._closed:  # another thread closed the engine while it started
            program.kill()
        name, version = (program.request(word, START_PATIENCE) for word in ("name", "version"))
        self._replies = True
        self.identity = " ".join(f"{name} {version}".split()) or self.participant.name
        try:
            program.request(f"boardsize {self._size}", START_PATIENCE)
        except CommandRefused as error:
            raise CommandRefused(f"does not support boards of size {self._size} × {self._size}: {error}") from None
        if self.participant.weights:  # the network must be loaded before a clock runs
            program.request("genmove black", START_PATIENCE)

    def new_game(self, komi: float, clock: GoClock, opening: Iterable[tuple[int, int]], seed: int) -> None:
        """Begin a game: send the engine the rules, the clock, and the moves of the opening.

        komi: in points.
        clock: the engine's clock.
        opening: the moves of the opening as (color, point). The color is 1 for Black and 2 for White. The point is
            row · 19 + column from the upper left.
        seed: a random seed. Programs that accept seeds, such as GNU Go, play the same moves again with the same seed.

        Raises Fault if the engine rejects a necessary command, crashes or hangs.
        """
        self._require(f"boardsize {self._size}", "refused to play on this board")
        self._require("clear_board", "refused to begin a game")
        self._require(f"komi {komi:g}", "refused this komi")
        for rules in RULES:
            if self._try(f"kata-set-rules {rules}"):
                break
        if settings := clock.time.settings():
            self._try(f"time_settings {settings}")
        self._try(f"set_random_seed {seed}")
        for colour, point in opening:
            self.play(colour, point)

    def play(self, colour: int, point: int) -> None:
        """Send the engine a move of the opponent or of the opening.

        colour: 1 for Black or 2 for White. point: row · 19 + column from the upper left, or 361 for a pass. Raises
        Fault if the engine rejects the move, crashes or hangs.
        """
        vertex = to_gtp(point, self._size)
        self._require(f"play {COLOUR[colour]} {vertex}", f"refused the legal move {vertex}")

    def answer(self, colour: int, clock: GoClock) -> MoveAnswer:
        """Return the engine's move.

        colour: the engine's color, 1 for Black or 2 for White. clock: the engine's clock.

        Raises Fault if the engine crashes, hangs, exceeds its time, or replies with text that is not a move. In each of
        these cases, the method also ends the process.
        """
        if clock.time.main is not None:
            self._try(f"time_left {COLOUR[colour]} {clock.time_left()}")
        begun = time.perf_counter()
        try:
            reply = self._require(f"genmove {COLOUR[colour]}", "sent no move", clock.patience())
        except Fault as fault:
            if fault.kind == "hang" and clock.time.main is not None:
                raise Fault("time", f"ran out of time: it found no move within {clock.allowed:.2f} s") from None
            raise
        seconds = time.perf_counter() - begun
        if reply.lower() == "resign":
            return MoveAnswer(None, seconds)
        try:
            return MoveAnswer(from_gtp(reply, self._size), seconds)
        except ValueError:
            raise self.fault(
                "illegal", f"replied with text that is not a move on this board ({in_words(reply)})"
            ) from None

    def fault(self, kind: str, reason: str) -> Fault:
        """End the process, and return a Fault that the caller raises. kind: "crash", "hang", "time" or "illegal".
        reason: a description of the fault.
        """
        self.stop()
        return Fault(kind, reason)

    def _require(self, command: str, refusal: str, limit: float | None = None) -> str:
        """Return the reply to a command that every program must support. Raises Fault if the engine rejects it, crashes
        or hangs. refusal: the description of the fault if the engine rejects the command.
        """
        try:
            return self._request(command, limit)
        except CommandRefused as error:
            raise self.fault("illegal", f"{refusal} ({in_words(error)})") from None

    def _try(self, command: str) -> bool:
        """Send an optional command. Returns whether the program accepted it. Raises Fault if the engine crashes or
        hangs.
        """
        with contextlib.suppress(CommandRefused):
            self._request(command)
            return True
        return False

    def _request(self, command: str, limit: float | None = None) -> str:
        """Return the reply to a command within `limit` seconds; None for `hang` seconds. Raises CommandRefused if the
        engine rejects the command, and Fault if it crashes or hangs.
        """
        program = self._program  # a local name, because another thread may close the program
        if program is None:
            raise Fault("crash", "ended")
        limit = self.hang if limit is None else limit
        try:
            return program.request(command, limit)
        except EngineDied as error:
            if error.how == "hung":
                raise self.fault("hang", f"did not reply to {command!r} within {limit:.1f} s") from None
            raise self.fault("crash", f"crashed: {_problem(self.participant, error)}") from None

    def stop(self) -> None:
        """End the engine's process and all processes that it started."""
        program, self._program = self._program, None
        if program is not None:
            program.kill()

    def close(self) -> None:
        """End the process, so that it can't be started again.

        You can call this method while another thread waits for a move of the engine. The call in the other thread then
        raises Fault.
        """
        self._closed = True
        self.stop()


def _problem(participant: Participant, error: EngineDied) -> str:
    return in_words(error).removeprefix(f"{participant.name}: ")
