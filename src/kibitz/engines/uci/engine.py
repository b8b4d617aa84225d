"""The UCI engine: a loop that reads the GUI's lines, and a thread that searches.

The engine replies to `uci` before it loads anything large. It loads the network on `isready`, or on the first `go`. It
reports invalid commands in an `info string` line and ignores them. A search that fails still ends with a legal move.
Every `go` gets exactly one `bestmove`, which is (none) if the last position was invalid. Chess960 is not supported.

Pondering is a search on the opponent's time, without limits, until `stop` or `ponderhit`. After `ponderhit`, a second
search with the limits of the `go` begins. It reuses the results of the first search.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import IO, TYPE_CHECKING

from kibitz.engines.uci.advisers import Advisers
from kibitz.engines.uci.options import (
    CLEAR_HASH,
    Options,
    changed,
    declared,
    of_engine,
    of_player,
    split_setoption,
)
from kibitz.engines.uci.time_budget import seconds_to_think
from kibitz.errors import KibitzError, one_line
from kibitz.text import shown

if TYPE_CHECKING:
    import chess

    from kibitz.engines.uci.parser import GoCommand, PositionCommand
    from kibitz.play.result import OnResult, SearchLimits, SearchResult, ThinkingPlayer

UNLIMITED_SECONDS = 1.0
"""The thinking time, in seconds, of a `go` without limits or with invalid limits."""
LONGEST_LINE = 1 << 20
"""The largest number of bytes of a line that the engine reads. A game of 100,000 moves is shorter."""
LONG = "the line is longer than 1 MiB and is skipped"
"""The message about a line longer than LONGEST_LINE."""
_BEGINNING = 200
"""The number of bytes at the beginning of a long line in which its command is read."""
FAREWELL = 5.0
"""The number of seconds that the engine waits for the end of a search after `quit`."""
CHESS960 = "uci_chess960"


class SearchSignals:
    """The events by which the thread that reads the GUI's commands controls the thread that searches. Times are in
    seconds of the monotonic clock.

    infinite: whether the `go` command contains "infinite".
    pondering: whether the `go` command contains "ponder". The engine then searches without limits on the opponent's
        time. After `ponderhit`, a second search with limits follows.
    stop: an event that ends a search, except the search on the opponent's time. The method `end` sets this event.
    unbounded: an event that ends the search on the opponent's time. The methods `end` and `ponderhit` set this event.
    hit: the time at which the GUI sent `ponderhit`. It is None before `ponderhit`, and if the engine does not ponder.
    """

    def __init__(self, infinite: bool = False, pondering: bool = False):
        self.infinite, self.pondering = infinite, pondering
        self.stop, self.unbounded = threading.Event(), threading.Event()
        self.hit: float | None = None

    def end(self) -> None:
        """End the search as soon as possible."""
        self.stop.set()
        self.unbounded.set()

    def ponderhit(self) -> None:
        """Record that the opponent played the expected move, so that the engine's clock runs from now on."""
        if self.pondering and self.hit is None:
            self.hit = time.monotonic()
            self.unbounded.set()

    def wait(self) -> None:
        """Wait until the UCI protocol allows the engine to send the best move."""
        if self.infinite:
            self.stop.wait()
        elif self.pondering:
            self.unbounded.wait()


def read_lines(stream: IO[bytes], on_long: Callable[[str], None]) -> Iterator[str]:
    """Yield the lines of a stream as text. Invalid bytes are replaced, a byte order mark is removed, and lines longer
    than LONGEST_LINE (1 MiB) are skipped. For each skipped line, `on_long` is called once with the beginning of the
    line.
    """
    passing = False
    while piece := stream.readline(LONGEST_LINE):
        whole = piece.endswith(b"\n") or len(piece) < LONGEST_LINE
        if not passing:
            text = (piece if whole else piece[:_BEGINNING]).decode(errors="replace").removeprefix("\ufeff").strip()
            if whole:
                yield text
            else:
                on_long(text)
        passing = not whole


class UciEngine:
    """A UCI engine that reads command lines and writes its replies to a stream.

    name: the engine's name, as a GUI shows it.
    open_player: a function that returns the player, which is the object that chooses moves, for the given options. It
        may take seconds, and may raise KibitzError.
    options: the options at the start.
    output: a binary stream to which nothing else is written.
    """

    def __init__(
        self, name: str, open_player: Callable[[Options], ThinkingPlayer], options: Options, output: IO[bytes]
    ):
        self._name = name
        self._open_player = open_player
        self._output = output
        self._writing = threading.Lock()
        self._initial = self._options = options
        self._player: ThinkingPlayer | None = None
        self._playing = of_player(options)  # the options of the current player
        self._advisers = Advisers(self._send_info)
        self._forget = False  # whether to clear the player's memory before the next search
        self._debug = False
        self._signals = SearchSignals()
        self._thread: threading.Thread | None = None
        self._searching = False  # false once bestmove is sent, although the thread may run a moment longer
        self._commands: dict[str, Callable[[str], None]] = {
            "uci": self._uci,
            "debug": self._set_debug,
            "isready": self._isready,
            "setoption": self._setoption,
            "ucinewgame": self._ucinewgame,
            "position": self._set_position,
            "go": self._go,
            "stop": lambda line: self._signals.end(),
            "ponderhit": lambda line: self._signals.ponderhit(),
            "register": lambda line: None,
        }

    def run(self, lines: Iterable[str]) -> None:
        """Execute UCI commands until `quit` or until the lines end. lines: the command lines.

        If `open_player` fails and no player exists yet, this method raises the error. It raises no other errors.
        """
        try:
            for line in lines:
                word = line.split(maxsplit=1)[0].lower() if line.strip() else ""
                if word == "quit":
                    break
                if command := self._commands.get(word):
                    command(line)
                elif word:
                    self._send_info(f"unknown command: {shown(line)}")
        finally:
            self._signals.end()
            if self._thread:
                self._thread.join(FAREWELL)

    def report_long(self, beginning: str) -> None:
        """Report to the GUI a line that is too long and was skipped. beginning: the beginning of the line."""
        word = beginning.split(maxsplit=1)[0].lower() if beginning else ""
        if word == "position":
            self._position.refused = True
            self._send_info(f"position: {LONG}. kibitz plays no move until it gets a valid position.")
        else:
            self._send_info(f"{shown(word)}: {LONG}")

    @cached_property
    def _position(self) -> PositionCommand:
        from kibitz.engines.uci.parser import PositionCommand

        return PositionCommand()

    def _uci(self, line: str) -> None:
        self._send(
            f"id name kibitz {self._name}", "id author the kibitz developers", *declared(self._initial), "uciok"
        )  # fmt: skip

    def _set_debug(self, line: str) -> None:
        self._debug = line.split()[1:2] != ["off"]

    def _isready(self, line: str) -> None:
        if not self._searching:
            self._ready()
            self._advisers.use(self._options)
        self._send("readyok")

    def _setoption(self, line: str) -> None:
        name, value = split_setoption(line)
        if name == CLEAR_HASH:
            self._forget = True
            return
        if name == CHESS960:
            if value.lower() != "false":
                self._send_info("UCI_Chess960: kibitz supports standard chess only. The option stays off.")
            return
        try:
            self._options = changed(self._options, name, value)
        except ValueError as error:
            self._send_info(str(error))

    def _ucinewgame(self, line: str) -> None:
        self._forget = True

    def _set_position(self, line: str) -> None:
        if problem := self._position.set(line.split()[1:]):
            self._send_info(problem)

    def _go(self, line: str) -> None:
        from kibitz.engines.uci.parser import read_go

        begun = time.monotonic()
        if self._searching:
            self._send_info("go: a search was running. It is stopped, and the new search starts.")
        self._signals.end()
        if self._thread:
            self._thread.join()
        board = self._position.board
        go = read_go(line.split()[1:], board)
        if self._position.refused:
            self._send_info("go: the last position command was invalid, so there is no move")
            self._begin(SearchSignals(go.infinite, go.ponder), lambda signals: self._answer(signals, ()))
            return
        self._send_info(*go.problems)
        player = self._ready()
        self._advisers.use(self._options)
        limits = _limits(go, board, self._options.overhead)
        if self._debug:
            self._send_info(f"{limits}")
        board = board.copy()
        self._begin(
            SearchSignals(go.infinite, go.ponder),
            lambda signals: self._search(player, board, limits, begun, signals),
        )

    def _begin(self, signals: SearchSignals, search: Callable[[SearchSignals], None]) -> None:
        """Start the reply to a `go` in a separate thread."""
        self._signals = signals
        self._searching = True
        self._thread = threading.Thread(target=search, args=(signals,), daemon=True)
        self._thread.start()

    def _ready(self) -> ThinkingPlayer:
        """Return the player for the current options.

        If this player can't be made, the result is the previous player, or a player with the first options. So an
        invalid option does not end a game.
        """
        if self._player is None or of_player(self._options) != self._playing:
            try:
                self._player, self._playing = self._open_player(self._options), of_player(self._options)
            except Exception as error:
                self._send_info(one_line(error))
                if of_player(self._options) == self._playing:
                    raise
                self._send_info("kibitz continues with the previous options.")
                self._options = replace(self._playing, **of_engine(self._options))
                return self._ready()
        elif self._forget:
            self._player.new_game()
        self._forget = False
        return self._player

    def _search(
        self, player: ThinkingPlayer, board: chess.Board, limits: SearchLimits, begun: float, signals: SearchSignals
    ) -> None:
        """Search a position, and send the reply."""
        try:
            moves = self._choose(player, board, limits, begun, signals)
        except Exception as error:
            if not isinstance(error, KibitzError):  # an error in kibitz: standard error shows the traceback
                with contextlib.suppress(OSError, ValueError, AttributeError):  # standard error may be closed, or None
                    traceback.print_exc(file=sys.stderr)
            self._send_info(f"the search failed: {one_line(error).rstrip('.')}. kibitz plays any legal move.")
            moves = (next(iter(limits.moves or board.legal_moves)),)
            self._send(f"info depth 0 score cp 0 nodes 0 time {_milliseconds(begun)} pv {moves[0].uci()}")
        self._answer(signals, moves)

    def _answer(self, signals: SearchSignals, moves: tuple[chess.Move, ...]) -> None:
        """Send the move and the expected reply, as soon as a reply is allowed."""
        signals.wait()
        self._searching = False
        answer = moves[0].uci() if moves else "(none)"
        if self._options.ponder and len(moves) > 1:
            answer += f" ponder {moves[1].uci()}"
        self._send(f"bestmove {answer}")

    def _choose(
        self, player: ThinkingPlayer, board: chess.Board, limits: SearchLimits, begun: float, signals: SearchSignals
    ) -> tuple[chess.Move, ...]:
        """Return the player's move and the expected moves after it; () if no move is legal. During the search, the
        method sends `info` lines.

        Raises the player's errors.
        """
        if not any(board.legal_moves):
            self._send(f"info depth 0 score {'mate 0' if board.is_check() else 'cp 0'}")
            return ()
        last: SearchResult | None = None
        advice = self._advisers.advise(board, limits, signals.infinite)

        def report(thought: SearchResult) -> None:
            nonlocal last
            last = thought
            thought = advice.corrected(thought)
            self._send(*info_lines(thought, self._options.multipv, self._options.show_wdl))

        if advice.move:
            self._send_info(advice.note)
            return (advice.move,)
        thought = advice.result or _think(player, board, advice.limits, begun, signals, report)
        if thought is None:
            raise RuntimeError("the search found no move")
        if last is None or thought != replace(last, seconds=thought.seconds):
            report(thought)
        if thought.resigns:
            self._send_info("resigns")
            return ()
        line = thought.lines[0]
        if line.move not in (limits.moves or board.legal_moves):
            raise RuntimeError(f"the search returned the illegal move {line.move.uci()}")
        return line.pv or (line.move,)

    def _send_info(self, *lines: str) -> None:
        self._send(*(f"info string {line}" for line in lines))

    def _send(self, *lines: str) -> None:
        text = "".join(line + "\n" for line in lines).encode(errors="replace")
        # If the GUI has ended, writing fails, and the loop ends because its input ends.
        with self._writing, contextlib.suppress(OSError, ValueError):
            self._output.write(text)
            self._output.flush()


def _think(
    player: ThinkingPlayer,
    board: chess.Board,
    limits: SearchLimits,
    begun: float,
    signals: SearchSignals,
    on_result: OnResult,
) -> SearchResult | None:
    """Return the player's result. Pondering has no limits. After a ponderhit, the player searches again within the
    limits.
    """
    if signals.pondering:
        unlimited = replace(limits, depth=None, nodes=None, seconds=None)
        thought = player.think(board.copy(), unlimited, signals.unbounded, on_result)
        # The pondering search has ended by itself, so its result can be used as soon as the pondered move is played.
        if thought and not signals.unbounded.is_set():
            on_result(thought)
        signals.unbounded.wait()
        if signals.hit is None or signals.stop.is_set():
            return thought
        begun = signals.hit
    if limits.seconds is not None:  # the clock already ran while the network was loaded, or while another search ended
        limits = replace(limits, seconds=max(0.0, limits.seconds - (time.monotonic() - begun)))
    return player.think(board.copy(), limits, signals.stop, on_result)


def info_lines(thought: SearchResult, max_lines: int, show_wdl: bool) -> list[str]:
    """Return the `info` lines of a search result for the GUI, at most `max_lines`, with the best move first.

    The best move always gets a line. Another move gets a line only if the search evaluated it. show_wdl: whether the
    lines contain the win, draw and loss probabilities.
    """
    milliseconds = round(thought.seconds * 1000)
    work = f"nodes {thought.nodes} nps {thought.nodes * 1000 // max(1, milliseconds)} time {milliseconds}"
    lines = []
    first, *others = thought.lines[:max_lines]
    for rank, line in enumerate([first, *(line for line in others if line.own_value)], 1):
        score = f"cp {line.score}" if line.mate is None else f"mate {line.mate}"
        wdl = " wdl {} {} {}".format(*line.wdl) if show_wdl else ""
        moves = " ".join(move.uci() for move in line.pv or (line.move,))
        lines.append(f"info depth {thought.depth} multipv {rank} score {score}{wdl} {work} pv {moves}")
    return lines


def _limits(go: GoCommand, board: chess.Board, overhead: int) -> SearchLimits:
    """Return the limits of a `go` command for this position."""
    from kibitz.play.result import SearchLimits

    number = go.numbers.get
    mine = "w" if board.turn else "b"
    depths = [max(1, go.numbers["depth"])] if "depth" in go.numbers else []
    if mate := number("mate"):
        # `go mate N`: N moves are 2N - 1 plies if the mover mates, and 2N plies if the mover is mated.
        depths.append(2 * abs(mate) - (mate > 0))
    nodes = max(1, go.numbers["nodes"]) if "nodes" in go.numbers else None
    clock = number(f"{mine}time")
    seconds = seconds_to_think(
        clock, number(f"{mine}inc", 0), number("movestogo"), number("movetime"), overhead,
        board.fullmove_number,
    )  # fmt: skip
    if go.infinite:
        seconds = None
    elif seconds is None and nodes is None and not depths:
        seconds = UNLIMITED_SECONDS
    left = None if clock is None or go.infinite else max(0, clock) / 1000
    increment = max(0, number(f"{mine}inc", 0)) / 1000
    return SearchLimits(
        depth=min(depths, default=None), nodes=nodes, seconds=seconds, moves=go.moves, clock=left, increment=increment
    )  # fmt: skip


def _milliseconds(begun: float) -> int:
    return round((time.monotonic() - begun) * 1000)
