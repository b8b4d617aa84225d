"""External UCI and GTP engines on this computer: their analysis of positions on the browser page of `kibitz board`, and
their moves in games.

No text of a request is ever executed. A request names an engine from the command line of `kibitz board`, or an
installed well-known engine. An engine gets positions only after they have been parsed and rewritten. The only option
that a request can set is the rating to imitate, which is a number.
"""

from __future__ import annotations

import contextlib
import shlex
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from kibitz.external import EngineDied, kill_all
from kibitz.external.programs import Program, known_programs
from kibitz.web.params import BadRequest, Fields, text, whole

if TYPE_CHECKING:
    from kibitz.web.positions import Line

MAX_LINES = 5
SILENCE = 60.0
"""Seconds in which an engine must send a result for a position. If an engine chooses a move, these seconds are added to
its thinking time.
"""
MOST_RATED = 10_000
IDLE = 300.0
"""The number of seconds without use after which an engine is ended."""


@dataclass(frozen=True)
class MoveLimits:
    """The limits of a search for a move. nodes, seconds: the largest number of nodes, and the longest time. At most one
    of them is None, which means no such limit. rating: the rating of the player to imitate; None for full strength.
    """

    nodes: int | None
    seconds: float | None
    rating: int | None = None


class Thinker(Protocol):
    """The interface of a running engine. Only one thread at a time may use an engine, but any thread may call `kill`.
    Methods raise EngineDied if the engine has ended or doesn't respond.

    name: the name that the engine reports. ratings: the lowest and the highest rating that the engine can imitate; None
    if it has no such setting.
    """

    name: str
    ratings: tuple[int, int] | None

    def begin(self, line: Line, lines: int) -> None:
        """Start to analyze the last position of a line (a start position and moves). lines: the number of best moves to
        analyze. Call `halt` before this method. Raises BadRequest if the engine can't analyze the position.
        """

    def play(self, line: Line, limits: MoveLimits) -> None:
        """Start to choose a move in the last position of a line (a start position and moves). limits: the limits of the
        search. Call `halt` before this method. Raises BadRequest if the engine can't analyze the position.
        """

    @property
    def move(self) -> str:
        """The move that the engine has chosen, after a call of `play`. It is available once `over` is true. A Go engine
        may return "resign". Raises EngineDied if there is no move.
        """

    def look(self, stop: threading.Event) -> dict[str, Any] | None:
        """Wait for a short time, and return the engine's current results as a dict for the browser page of `kibitz
        board`; None if there are none yet. stop: an event that ends the wait. Raises BadRequest if the engine rejects
        the position.
        """

    @property
    def over(self) -> bool:
        """Whether the engine has ended its analysis or search and sent all results."""

    def halt(self) -> None:
        """Stop the current analysis or search, so that another one can begin."""

    def kill(self) -> None: ...


def read_lines(fields: Fields) -> int:
    """Return the field "lines" of a request: the number of best moves that an engine must find, 1 to MAX_LINES (5). The
    result is 1 if the field is missing. fields: the JSON of the request. Raises BadRequest for any other value.
    """
    return whole(fields, "lines", 1, 1, MAX_LINES)


def read_move_limits(fields: Fields) -> MoveLimits:
    """Return the limits of an engine's search for a move, from the fields "nodes", "seconds" and "rating" of a request.
    fields: the JSON of the request.

    nodes: at most 10,000,000. seconds: at most 600. If both are missing, the result has a limit of one second. rating:
    at most 10,000; without a rating, the engine plays at full strength. Raises BadRequest for values out of range.
    """
    from kibitz.web.players import read_limits

    return MoveLimits(*read_limits(fields), whole(fields, "rating", 0, 0, MOST_RATED) or None)


class Desk:
    """One engine and its process, for all requests. If a newer request needs the engine, the earlier request ends with
    a message.
    """

    def __init__(self, program: Program):
        self.program = program
        self._thinker: Thinker | None = None
        self._holder: threading.Event | None = None
        self._lost: Callable[[str], None] = lambda why: None
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def analyse(
        self, line: Line, lines: int, seq: int, on_result: Callable[[Any], None], stop: threading.Event
    ) -> Iterator[list[dict[str, Any]]]:
        """Analyze the last position of a line (a start position and moves) with the engine. Yields lists of dicts, each
        of which becomes a line of the response. There is a dict whenever the results change, until the client
        disconnects or the analysis ends.

        Between results, the method yields empty lists, so that the thread can process newer requests first.

        lines: the number of best moves to analyze.
        seq: the number that the browser page of `kibitz board` gave to the request.
        on_result: a function that sends an error line if another request takes the engine.
        stop: an event that is set when the client disconnects.
        """
        with self._held(stop, lambda why: on_result([{"seq": seq, "error": f"{self.program.name} {why}"}])) as thinker:
            thinker.begin(line, lines)
            yield [{"seq": seq, "program": thinker.name}]
            last, began = None, time.monotonic()
            while self._holder is stop and not stop.is_set():
                found = thinker.look(stop)
                over = thinker.over
                if found is not None and found != last:
                    last = found
                    yield [{"seq": seq, **found}]
                elif last is None and not over and time.monotonic() - began > SILENCE:
                    raise EngineDied(f"{thinker.name} gave no result for this position within {SILENCE:g} s", "hung")
                else:
                    yield []
                if over:
                    yield [{"seq": seq, "done": True}]
                    return

    def play(
        self, line: Line, limits: MoveLimits, seq: int, on_result: Callable[[Any], None], stop: threading.Event
    ) -> Iterator[list[dict[str, Any]]]:
        """Let the engine choose a move in the last position of a line (a start position and moves). Yields the move
        once, as a list of dicts. Newer requests don't interrupt this search.

        seq: the number of the request. on_result: a function that sends interim results. stop: an event that cancels
        the search. Raises BadRequest if the engine can't imitate the rating, and EngineDied if it fails.
        """
        with self._held(stop, lambda why: None, "plays a move now") as thinker:
            rated = thinker.ratings
            if limits.rating is not None and not (rated and rated[0] <= limits.rating <= rated[1]):
                knows = f"supports ratings from {rated[0]} to {rated[1]}" if rated else "has no rating setting"
                raise BadRequest(f"{thinker.name} {knows}")
            thinker.play(line, limits)
            last, patience = None, (limits.seconds or 0) + SILENCE
            until = time.monotonic() + patience
            over = False
            while not over:
                over = thinker.over  # read before the results, so that the last results are reported too
                found = thinker.look(stop)
                if stop.is_set():
                    return
                if found is not None and found != last:
                    last = found
                    if limits.seconds is None:  # without a time limit, a search may take any time
                        until = time.monotonic() + patience
                    on_result([{"seq": seq, **_thought(found)}])
                if time.monotonic() > until and not thinker.over:
                    raise EngineDied(f"{thinker.name} found no move within {patience:g} s", "hung")
            move = thinker.move
        yield [{"seq": seq, "move": move, "done": True}]

    def about(
        self, seq: int, on_result: Callable[[Any], None], stop: threading.Event
    ) -> Iterator[list[dict[str, Any]]]:
        """Yield the engine's name and the range of ratings that it can imitate, once, as a list of dicts. The arguments
        are those of `play`.
        """
        thinker = self._thinker
        if thinker is None:
            with self._held(stop, lambda why: None) as thinker:
                pass
        yield [{"seq": seq, "program": thinker.name, "ratings": thinker.ratings, "done": True}]

    @contextlib.contextmanager
    def _held(
        self, holder: threading.Event, lost: Callable[[str], None], why: str = "is used in another tab now"
    ) -> Iterator[Thinker]:
        """Return the running program, halted, for this request.

        lost: a function that is called with the reason when a later request takes over the program. why: the reason to
        give to the previous request, from which this request takes over the program.
        """
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
        """Halt the program. If it does not halt, or sends invalid data, it is ended."""
        if self._thinker is not None:
            try:
                self._thinker.halt()
            except EngineDied:
                self.end()

    def _open(self) -> Thinker:
        """Return the running program, halted. It is started if necessary."""
        self._halt()  # the previous request may still use the program, and its errors must not affect this one
        if self._thinker is None:
            if self.program.game == "chess":
                from kibitz.web.chess.opinion import UciThinker as Made
            else:
                from kibitz.web.go.opinion import GtpThinker as Made  # type: ignore[assignment]
            try:
                self._thinker = Made(self.program)
            except EngineDied as error:
                raise EngineDied(f"{error}. Start the engine in a terminal to see why", error.how) from None
        return self._thinker

    def end(self) -> None:
        """Kill the process. The next request starts a new one."""
        thinker, self._thinker = self._thinker, None
        if thinker is not None:
            thinker.kill()


def _thought(found: dict[str, Any]) -> dict[str, Any]:
    """Convert a program's analysis of a position to the form of players' results."""
    best = found["lines"][0]
    result_json = {name: found.get(name) for name in ("depth", "nodes")}
    result_json |= {"score": best["score"], "mate": best.get("mate"), "white": best.get("white")}
    return {**result_json, "pv": best["moves"], "san": best["san"]}


class Opinions:
    """The engines that the browser page of `kibitz board` can use: those on the command line, and well-known engines
    that are installed on this computer.

    given: the engines on the command line. checkers: the engines that evaluate moves until the user selects others, at
    most one per game.
    """

    def __init__(self, given: Sequence[Program], checkers: Sequence[Program] = ()):
        programs = known_programs(list(dict.fromkeys([*given, *checkers])))
        self._desks = {program.name: Desk(program) for program in programs}
        commands = {(program.command, program.game): program.name for program in programs}
        self.checked_by = {checker.game: commands[checker.command, checker.game] for checker in checkers}
        """The names of the engines that evaluate moves until the user selects others, by game."""

    def known(self) -> list[dict[str, Any]]:
        """Return the engines as dicts for the browser page of `kibitz board`."""
        return [
            {"name": program.name, "game": program.game, "command": shlex.join(program.command)}
            for program in (desk.program for desk in self._desks.values())
        ]

    def desk(self, fields: Fields, game: str | None = None) -> Desk:
        """Return the `Desk` of the engine that a request selects. game: "chess" or "go"; None for either. fields: the
        JSON of the request. Raises BadRequest if there is no such engine, or if it is for the other game.
        """
        name = text(fields, "program")
        desk = self._desks.get(name)
        if desk is None:
            raise BadRequest(f"unknown engine {name[:60]!r}. Add one with kibitz board --engine", 404)
        if game is not None and desk.program.game != game:
            raise BadRequest(f"{name} plays {'Go' if desk.program.game == 'go' else 'chess'}")
        return desk

    def end(self) -> None:
        """Kill all processes, including those that are still starting."""
        for desk in self._desks.values():
            desk.end()
        kill_all()
