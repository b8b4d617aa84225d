"""Progress of the commands on standard error: a bar on a terminal, otherwise plain lines."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress as RichProgress
    from rich.progress import ProgressColumn, TaskID

SHORTEST = 1.0
"""The number of seconds after which the speed of a part of the work is known."""
PATIENCE = 2.0
"""If `Progress` is made with `patient=True`, its bar appears after this number of seconds. Shorter work needs no
bar.
"""
MINUTE = 60.0
"""The default number of seconds between two lines of progress if standard error is not a terminal."""
BAR, ELAPSED, LEFT = "[bar]", "[elapsed]", "[left]"
"""Names of special columns of a progress bar: the bar, the elapsed time and the time left. Any other column is a
template for text, see `Progress`.
"""


@contextlib.contextmanager
def ticking(tick: Callable[[], None], every: float = 0.5) -> Iterator[None]:
    """Return a context manager that calls `tick` at short intervals from another thread. A progress bar can then move
    even while no work is completed.

    every: the seconds between two calls.
    """
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(every):
            tick()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class Progress:
    """Shows the progress of a command. The command uses the object in a `with` block. It calls `begin` for each part of
    the work, and `update` as the part advances.

    On a terminal, the progress is a bar with the given columns. The column BAR is the bar, ELAPSED is the time since
    the part began, and LEFT is the time left. Any other column is a template for text. It can contain
    `{task.description}`, `{task.completed}`, `{task.total}` and `{task.fields[NAME]}`. The arguments of `begin` and
    `update` set these values.

    Without a terminal, `update` prints its argument `line` and the time left, at most once in `every` seconds. It
    prints no line for a completed part.

    columns: the columns of the bar.
    every: the smallest number of seconds between two lines; None for MINUTE.
    patient: whether the bar appears only after a part has taken two seconds.
    stays: whether the bars of all parts remain on the terminal after the `with` block.
    """

    def __init__(self, *columns: str, patient: bool = False, stays: bool = False, every: float | None = None):
        self.on_terminal = sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
        self._columns, self._patient, self._stays = columns, patient, stays
        self._every = MINUTE if every is None else every
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None
        self._passing = False
        self._total: float | None = None
        self._first = self._done = 0.0
        self._started = self._last_line = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    @property
    def seconds(self) -> float:
        """The seconds since the present part of the work began."""
        return time.monotonic() - self._started

    def begin(
        self, description: str, total: float | None, done: int = 0, *, at_once: bool = False,
        since: float | None = None, passing: bool = False, **fields: Any,
    ) -> None:  # fmt: skip
        """Begin a part of the work. The previous part ends.

        description: the name of the part.
        total: the size of the part in any unit; None if it is unknown.
        done: the amount that an earlier run of the program completed, in the same unit. The speed and the time left are
            computed without this amount.
        at_once: whether to show the bar immediately, even if `patient` is true.
        since: the time at which the part began, in seconds of `time.monotonic`; None for now.
        passing: whether the bar of this part disappears when the next part begins, even if `stays` is true.
        fields: values for the templates in the columns. The value of the argument NAME replaces `{task.fields[NAME]}`.
        """
        stayed, self._passing = self._stays and not self._passing, passing
        self._total, self._first, self._done = total, done, done
        self._started = time.monotonic() if since is None else since
        if not self.on_terminal:
            return
        bar = self._bar = self._bar or self._new_bar()
        if self._task is not None:
            (bar.stop_task if stayed else bar.remove_task)(self._task)
        self._task = bar.add_task(description, total=total, completed=done, **fields)
        if at_once or not self._patient:
            bar.start()

    def update(self, done: float, line: str = "", **fields: Any) -> None:
        """Set how much of the present part is done.

        done: the completed amount, in the unit of `total`.
        line: the text that is printed without a terminal; "" prints nothing.
        fields: new values for the templates in the columns. The value of the argument NAME replaces
            `{task.fields[NAME]}`. The argument `description` replaces the name of the part.
        """
        self._done = done
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, **fields)
            if self._patient and self.seconds >= PATIENCE:
                self._bar.start()
        elif line and self._total_is_ahead() and time.monotonic() - self._last_line >= self._every:
            left = self.time_left()
            self.log(f"{line}, {left}" if left else line)

    def log(self, line: str) -> None:
        """Print a line on standard error. On a terminal, it appears above the bar."""
        self._last_line = time.monotonic()
        if self._bar is None:
            print(line, file=sys.stderr)
        else:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def hide(self) -> None:
        """Remove the bar from the terminal. The next part shows it again."""
        if self._bar is not None:
            self._bar.stop()
        self._bar = self._task = None

    def rate(self, done: float | None = None) -> float:
        """Return the speed in the present part of the work, in units per second; 0 at its beginning. Work that an
        earlier run of the program completed does not count.

        done: the completed amount; None for the amount at the last `update`.
        """
        passed = self.seconds
        return ((self._done if done is None else done) - self._first) / passed if passed > 0 else 0.0

    def time_left(self) -> str:
        """Return the estimated time left as text, such as "12 min left"; "" if it is unknown. The estimate uses the
        speed since the last call of `begin`. It is unknown in the first second.
        """
        rate = self.rate()
        if self._total is None or rate <= 0 or self.seconds < SHORTEST:
            return ""
        seconds = max(0.0, self._total - self._done) / rate
        if seconds < 120:
            return f"{seconds:,.0f} s left"
        return f"{seconds / 60:,.0f} min left" if seconds < 7200 else f"{seconds / 3600:,.1f} h left"

    def _total_is_ahead(self) -> bool:
        return self._total is None or self._done < self._total

    def _new_bar(self) -> RichProgress:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        drawn: dict[str, list[ProgressColumn]] = {
            BAR: [BarColumn()],
            ELAPSED: [TimeElapsedColumn()],
            LEFT: [TextColumn("left:"), TimeRemainingColumn()],
        }
        columns = [column for name in self._columns for column in drawn.get(name) or [TextColumn(name)]]
        return Bar(*columns, console=Console(stderr=True), transient=not self._stays)
