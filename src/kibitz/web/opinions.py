"""UCI and GTP programs of this machine: their second opinions of what the page shows, and their moves in games.

Nothing that a request says is ever run. It names one of the programs that the board was started with, or one of
WELL_KNOWN that is installed; positions reach it only after they have been read and written anew, and no request sets
an option but the rating to play like, a number.
"""

from __future__ import annotations

import contextlib
import shlex
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from kibitz.errors import UsageError
from kibitz.external import EngineDied, kill_all
from kibitz.external.programs import find_program
from kibitz.web.params import BadRequest, Fields, text, whole

if TYPE_CHECKING:
    from kibitz.web.positions import Line

WELL_KNOWN = ("stockfish", "lc0", "gnuchess --uci", "gnugo --mode gtp", "katago gtp", "pachi")
"""Commands that are offered where the programs are installed."""
_OF_GO = {"gnugo", "katago", "pachi"}
"""Programs that speak GTP; of others their command has a word with gtp in it."""
MAX_LINES = 5
SILENCE = 60.0
"""Seconds in which a program must have said something of a position; for a move, beyond the time that it is given."""
MOST_RATED = 10_000
IDLE = 300.0
"""Seconds after which a program that nobody asks is ended."""


@dataclass(frozen=True)
class Program:
    """A program that may be asked. name: as the page has it; command: its path and arguments; game: chess (UCI) or go
    (GTP)."""

    name: str
    command: tuple[str, ...]
    game: str


@dataclass(frozen=True)
class MoveLimits:
    """What a move may take, nodes or seconds or both. rating: the player to play like; None for full strength."""

    nodes: int | None
    seconds: float | None
    rating: int | None = None


class Thinker(Protocol):
    """A running program. name: as it calls itself; ratings: the least and the most that it can be told to play like,
    None where it has no such setting. One thread at a time; `kill` from any."""

    name: str
    ratings: tuple[int, int] | None

    def begin(self, line: Line, lines: int) -> None:
        """Turn, halted, to a line's last position. Raises BadRequest where it cannot be analysed, and EngineDied."""

    def play(self, line: Line, limits: MoveLimits) -> None:
        """Begin, halted, to think of a move in a line's last position. Raises as `begin`."""

    @property
    def move(self) -> str:
        """The move, when it is over; "resign" from a program of Go. Raises EngineDied where there is none."""

    def look(self, stop: threading.Event) -> dict[str, Any] | None:
        """What it says by now, after a moment's wait; None for nothing yet. Raises BadRequest and EngineDied."""

    @property
    def over(self) -> bool:
        """Whether it has said all that it will. Raises EngineDied."""

    def halt(self) -> None:
        """Stop thinking. Raises EngineDied."""

    def kill(self) -> None: ...


def read_command(words: str) -> Program:
    """The program of a command line, as `--engine` has it. Raises UsageError where it is not installed."""
    path = find_program(words)
    try:
        command = [words] if path else shlex.split(words)
    except ValueError:
        raise UsageError(f"--engine {words}: a quotation mark is open; close it") from None
    path = path or (find_program(command[0]) if command else None)
    if path is None:
        raise UsageError(f"--engine {words}: no such program; give its name or path, and its arguments after it")
    return _program(str(Path(path).absolute()), command[1:])


def _program(path: str, arguments: Sequence[str]) -> Program:
    name = Path(path).stem
    go = name.lower() in _OF_GO or any("gtp" in word.lower() for word in (name, *arguments))
    if name.lower() == "gnugo" and not arguments:
        arguments = ("--mode", "gtp")
    return Program(name, (path, *arguments), "go" if go else "chess")


def known_programs(given: Sequence[Program]) -> list[Program]:
    """Those given, then the well-known ones that are installed. Each has a name of its own."""
    found = list(given)
    for words in WELL_KNOWN:
        word, *arguments = words.split()
        path = find_program(word)
        if path and all(Path(path).resolve() != Path(each.command[0]).resolve() for each in given):
            found.append(_program(str(Path(path).absolute()), arguments))
    named: dict[str, Program] = {}
    for each in found:
        name, number = each.name, 1
        while name in named:
            number += 1
            name = f"{each.name} {number}"
        named[name] = Program(name, each.command, each.game)
    return list(named.values())


def read_lines(fields: Fields) -> int:
    """How many lines of an opinion are asked for. Raises BadRequest."""
    return whole(fields, "lines", 1, 1, MAX_LINES)


def read_move_limits(fields: Fields) -> MoveLimits:
    """Raises BadRequest."""
    from kibitz.web.players import read_limits

    return MoveLimits(*read_limits(fields), whole(fields, "rating", 0, 0, MOST_RATED) or None)


class Desk:
    """One program and its process. The newest request has it; the one before is told so."""

    def __init__(self, program: Program):
        self.program = program
        self._thinker: Thinker | None = None
        self._holder: threading.Event | None = None
        self._lost: Callable[[str], None] = lambda why: None
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def analyse(
        self, line: Line, lines: int, seq: int, tell: Callable[[Any], None], stop: threading.Event
    ) -> Iterator[list[dict[str, Any]]]:
        """The lines of a stream: what the program says, as it changes, until the client leaves. An empty step lets
        newer requests of the thread come first."""
        with self._held(stop, lambda why: tell([{"seq": seq, "error": f"{self.program.name} {why}"}])) as thinker:
            thinker.begin(line, lines)
            yield [{"seq": seq, "program": thinker.name}]
            said, began = None, time.monotonic()
            while self._holder is stop and not stop.is_set():
                found = thinker.look(stop)
                over = thinker.over
                if found is not None and found != said:
                    said = found
                    yield [{"seq": seq, **found}]
                elif said is None and not over and time.monotonic() - began > SILENCE:
                    raise EngineDied(f"{thinker.name} says nothing of this position for {SILENCE:g} s", "hung")
                else:
                    yield []
                if over:
                    yield [{"seq": seq, "done": True}]
                    return

    def play(
        self, line: Line, limits: MoveLimits, seq: int, tell: Callable[[Any], None], stop: threading.Event
    ) -> Iterator[list[dict[str, Any]]]:
        """One step, whose result is the move, so that no newer request comes between; what it thinks is told on the
        way."""
        with self._held(stop, lambda why: None, "plays a move now") as thinker:
            rated = thinker.ratings
            if limits.rating is not None and not (rated and rated[0] <= limits.rating <= rated[1]):
                knows = f"plays like ratings from {rated[0]} to {rated[1]}" if rated else "cannot play like a rating"
                raise BadRequest(f"{thinker.name} {knows}")
            thinker.play(line, limits)
            said, patience = None, (limits.seconds or 0) + SILENCE
            until = time.monotonic() + patience
            over = False
            while not over:
                over = thinker.over  # before the look: what it thought last is reported too
                found = thinker.look(stop)
                if stop.is_set():
                    return
                if found is not None and found != said:
                    said = found
                    if limits.seconds is None:  # positions may take as long as they do
                        until = time.monotonic() + patience
                    tell([{"seq": seq, **_thought(found)}])
                if time.monotonic() > until and not thinker.over:
                    raise EngineDied(f"{thinker.name} has no move after {patience:g} s", "hung")
            move = thinker.move
        yield [{"seq": seq, "move": move, "done": True}]

    def about(self, seq: int, tell: Callable[[Any], None], stop: threading.Event) -> Iterator[list[dict[str, Any]]]:
        """One step: how it calls itself, and the ratings that it can play like."""
        thinker = self._thinker
        if thinker is None:
            with self._held(stop, lambda why: None) as thinker:
                pass
        yield [{"seq": seq, "program": thinker.name, "ratings": thinker.ratings, "done": True}]

    @contextlib.contextmanager
    def _held(
        self, holder: threading.Event, lost: Callable[[str], None], why: str = "is asked in another tab now"
    ) -> Iterator[Thinker]:
        """The running program, halted, for this request. lost: called with the reason when another one takes it; why:
        that reason, for the one before."""
        with self._lock:
            if self._timer:
                self._timer.cancel()
            if self._holder is not None and not self._holder.is_set():
                self._lost(why)
            self._holder, self._lost = holder, lost
        try:
            yield self._open()
        except EngineDied:
            self.end()
            raise
        finally:
            self._leave(holder)

    def _leave(self, holder: threading.Event) -> None:
        if self._holder is not holder:
            return
        self._halt()
        with self._lock:
            self._holder = None
            self._timer = threading.Timer(IDLE, self._retire)
            self._timer.daemon = True
            self._timer.start()

    def _retire(self) -> None:
        with self._lock:
            if self._holder is None:
                self.end()

    def _halt(self) -> None:
        """Stop what it thinks of; a program that does not, or says what cannot be, is ended."""
        if self._thinker is not None:
            try:
                self._thinker.halt()
            except EngineDied:
                self.end()

    def _open(self) -> Thinker:
        """The running program, halted; it is started where it is not."""
        self._halt()  # the request before may not have left yet, and its errors are not this one's
        if self._thinker is None:
            if self.program.game == "chess":
                from kibitz.web.chess.opinion import UciThinker as Made
            else:
                from kibitz.web.go.opinion import GtpThinker as Made  # type: ignore[assignment]
            try:
                self._thinker = Made(self.program)
            except EngineDied as error:
                raise EngineDied(f"{error}; start it in a terminal to see why", error.how) from None
        return self._thinker

    def end(self) -> None:
        """Kill the process. The next request starts another."""
        thinker, self._thinker = self._thinker, None
        if thinker is not None:
            thinker.kill()


def _thought(found: dict[str, Any]) -> dict[str, Any]:
    """What a program thinks of a position, as players report it."""
    best = found["lines"][0]
    told = {name: found.get(name) for name in ("depth", "nodes")}
    told |= {"score": best["score"], "mate": best.get("mate"), "white": best.get("white")}
    return {**told, "pv": best["moves"], "san": best["san"]}


class Opinions:
    """The programs that the page may ask. given: those of the command line."""

    def __init__(self, given: Sequence[Program]):
        self._desks = {program.name: Desk(program) for program in known_programs(given)}

    def known(self) -> list[dict[str, Any]]:
        return [
            {"name": program.name, "game": program.game, "command": shlex.join(program.command)}
            for program in (desk.program for desk in self._desks.values())
        ]

    def desk(self, fields: Fields, line: Line | None = None) -> Desk:
        """The program of a request. Raises BadRequest if there is none, or it is not of the line's game."""
        name = text(fields, "program")
        desk = self._desks.get(name)
        if desk is None:
            raise BadRequest(f"unknown engine {name[:60]!r}. Add one with kibitz board --engine", 404)
        if line is not None and desk.program.game != line.game:
            raise BadRequest(f"{name} plays {'Go' if desk.program.game == 'go' else 'chess'}")
        return desk

    def end(self) -> None:
        """Kill all processes, also those that are only starting."""
        for desk in self._desks.values():
            desk.end()
        kill_all()
