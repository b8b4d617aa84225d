"""The main loop of the GTP engine, and a thread for an analysis, which ends when the next command line arrives.

In GTP, the program that sends the commands is called the controller. Every command gets exactly one reply: `= …`, or `?
…` with the reason of an error. The engine replies to the first commands of a controller (name, version, commands)
before it loads the network. It loads the network when a command first needs the network.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from typing import IO, TYPE_CHECKING

from kibitz.engines.gtp import board, gogui, kata
from kibitz.engines.gtp import play as gtp_play
from kibitz.engines.gtp.parse import Command, GtpError, answer, read_command
from kibitz.engines.gtp.session import AnalysisStream, GtpSession, GtpSettings, Handler
from kibitz.engines.uci.engine import LONG
from kibitz.errors import KibitzError, one_line
from kibitz.games.go.rulesets import UnknownRules

if TYPE_CHECKING:
    from kibitz.play.session import NetworkSession

QUIT = "quit"


class GtpEngine:
    """A GTP engine that reads command lines and writes its replies to a stream.

    settings: the settings of the engine.
    load: a function that opens the network. The engine calls the function when a command first needs the network. If
        the function raises KibitzError, the text of this error becomes the reply to the command.
    output: a binary stream to which nothing else is written.
    """

    def __init__(self, settings: GtpSettings, load: Callable[[], NetworkSession], output: IO[bytes]):
        self.session = GtpSession(settings, load)
        self._output = output
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._commands: dict[str, Handler] = {
            "protocol_version": lambda session, command: "2",
            "name": lambda session, command: session.settings.name,
            "version": lambda session, command: session.settings.version,
            "known_command": self._known_command,
            "list_commands": lambda session, command: "\n".join(self._commands),
            QUIT: lambda session, command: "",
            **board.COMMANDS,
            **gtp_play.COMMANDS,
            **kata.COMMANDS,
            **gogui.COMMANDS,
        }

    def run(self, lines: Iterable[str]) -> None:
        """Execute GTP commands until `quit` or until the lines end. lines: the command lines."""
        try:
            for line in lines:
                self._end_stream()  # GTP analysis commands end at the next line from the controller, even an empty one
                if command := read_command(line):
                    self._obey(command)
                    if command.name == QUIT:
                        break
        finally:
            self._end_stream()

    def reject_long(self, beginning: str) -> None:
        """Reply with an error to a line that is too long and was skipped. beginning: the beginning of the line."""
        self._end_stream()
        if command := read_command(beginning):
            self._send(answer(command.id, LONG, good=False))

    def _known_command(self, session: GtpSession, command: Command) -> str:
        return "true" if command.words and command.words[0].lower() in self._commands else "false"

    def _obey(self, command: Command) -> None:
        try:
            if (handler := self._commands.get(command.name)) is None:
                raise GtpError("unknown command")
            result = handler(self.session, command)
        except (GtpError, UnknownRules, KibitzError) as error:
            self._send(answer(command.id, one_line(error), good=False))
        except Exception as error:
            _trace()
            self._send(answer(command.id, f"internal error: {one_line(error)}", good=False))
        else:
            if isinstance(result, str):
                self._send(answer(command.id, result))
            else:
                self._begin_stream(command, result)

    def _begin_stream(self, command: Command, stream: AnalysisStream) -> None:
        self._send(f"={command.id}\n")
        self._stop = threading.Event()
        if stream.ends:
            self._stream(stream, self._stop)
        else:
            self._thread = threading.Thread(target=self._stream, args=(stream, self._stop), daemon=True)
            self._thread.start()

    def _stream(self, stream: AnalysisStream, stop: threading.Event) -> None:
        try:
            stream.run(lambda line: self._send(line + "\n"), stop)
        except Exception:
            _trace()  # the beginning of the reply has been sent, so it is too late to send an error
        self._send("\n")

    def _end_stream(self) -> None:
        self._stop.set()
        if self._thread:
            self._thread.join()
            self._thread = None

    def _send(self, text: str) -> None:
        # If the controller has ended, writing fails, and the loop ends because its input ends.
        with contextlib.suppress(OSError, ValueError):
            self._output.write(text.encode(errors="replace"))
            self._output.flush()


def _trace() -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):  # standard error may be closed, or None
        traceback.print_exc(file=sys.stderr)
