"""Second opinions: UCI and GTP programs of this machine that analyse what the page shows.

Nothing that a request says is ever run. It names one of the programs that the board was started with, or one of
WELL_KNOWN that is installed; positions reach it only after they have been read and written anew, and no request sets
an option.
"""

from __future__ import annotations

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
"""Seconds in which a program must have said something of a position."""
IDLE = 300.0
"""Seconds after which a program that nobody asks is ended."""


@dataclass(frozen=True)
class Program:
    """A program that may be asked. name: as the page has it; command: its path and arguments; game: chess (UCI) or go
    (GTP)."""

    name: str
    command: tuple[str, ...]
    game: str


class Thinker(Protocol):
    """A running program. name: as it calls itself. One thread at a time; `kill` from any."""

    name: str

    def begin(self, line: Line, lines: int) -> None:
        """Turn, halted, to a line's last position. Raises BadRequest where it cannot be analysed, and EngineDied."""

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


class Desk:
    """One program and its process. The newest request has it; the one before is told so."""

    def __init__(self, program: Program):
        self.program = program
        self._thinker: Thinker | None = None
        self._holder: threading.Event | None = None
        self._lost: Callable[[], None] = lambda: None
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def analyse(
        self, line: Line, lines: int, seq: int, tell: Callable[[Any], None], stop: threading.Event
    ) -> Iterator[list[dict[str, Any]]]:
        """The lines of a stream: what the program says, as it changes, until the client leaves. An empty step lets
        newer requests of the thread come first."""
        self._take(stop, lambda: tell([{"seq": seq, "error": f"{self.program.name} is asked in another tab now"}]))
        try:
            thinker = self._open()
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
        except EngineDied:
            self.end()
            raise
        finally:
            self._leave(stop)

    def _take(self, holder: threading.Event, lost: Callable[[], None]) -> None:
        with self._lock:
            if self._timer:
                self._timer.cancel()
            if self._holder is not None and not self._holder.is_set():
                self._lost()
            self._holder, self._lost = holder, lost

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


class Opinions:
    """The programs that the page may ask. given: those of the command line."""

    def __init__(self, given: Sequence[Program]):
        self._desks = {program.name: Desk(program) for program in known_programs(given)}

    def known(self) -> list[dict[str, Any]]:
        return [
            {"name": program.name, "game": program.game, "command": shlex.join(program.command)}
            for program in (desk.program for desk in self._desks.values())
        ]

    def read(self, fields: Fields, line: Line) -> tuple[Desk, int]:
        """The program of a request, and the number of lines. Raises BadRequest if there is none, or it is of another
        game."""
        name = text(fields, "program")
        desk = self._desks.get(name)
        if desk is None:
            raise BadRequest(f"there is no program {name[:60]!r} here; start the board with --engine to add one", 404)
        if desk.program.game != line.game:
            raise BadRequest(f"{name} plays {'Go' if desk.program.game == 'go' else 'chess'}")
        return desk, whole(fields, "lines", 1, 1, MAX_LINES)

    def end(self) -> None:
        """Kill all processes, also those that are only starting."""
        for desk in self._desks.values():
            desk.end()
        kill_all()
