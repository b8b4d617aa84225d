"""A process that downloads the newest games of an account, as `kibitz import lichess:NAME` does."""

from __future__ import annotations

import _thread
import threading
import time
from typing import TYPE_CHECKING

from kibitz.web.mygames.background import Message, Send

if TYPE_CHECKING:
    from kibitz.online.accounts import Account

EVERY = 0.5
"""Seconds between two messages about the number of downloaded games."""


def work(job: Message, send: Send, stop: threading.Event) -> None:
    """Download the new games of an account. This is the work of a process. If it is stopped, the games downloaded so
    far are saved for the next call.

    job: the description of the work, a dict with "account", such as lichess:NAME, and "limit", the largest number of
    games in the file; the newest games are used. send: a function that sends a message, a dict with these keys:

    kept: the number of games from earlier downloads.
    new: the number of games downloaded so far.
    expected: the number of games of the account up to the limit; 0 if unknown.
    path: the path of a file with the games, only in the last message.

    Raises KibitzError if the download fails (see `online.files.file_of`).
    """
    from kibitz.online.accounts import GameChoice, account_in
    from kibitz.online.files import file_of

    account = account_in(job["account"])
    assert account is not None
    over = threading.Event()
    threading.Thread(target=_interrupt, args=(stop, over), daemon=True).start()
    try:
        path = file_of(account, GameChoice(limit=job["limit"]), _Counts(send, job["limit"]))
    except KeyboardInterrupt:
        return
    finally:
        over.set()
    send({"path": str(path)})


def _interrupt(stop: threading.Event, over: threading.Event) -> None:
    """Stop a download in the same way as Ctrl-C."""
    stop.wait()
    if not over.is_set():
        _thread.interrupt_main()


class _Counts:
    """Sends the number of games at intervals. It is a `kibitz.online.files.Listener`."""

    def __init__(self, send: Send, limit: int):
        self._send, self._limit, self._new, self._next = send, limit, 0, 0.0

    def account(self, account: Account, saved_games: int) -> None:
        self._send({"kept": saved_games})

    def expect(self, games: int) -> None:
        self._send({"expected": min(games, self._limit)})

    def game(self) -> None:
        self._new += 1
        if (now := time.monotonic()) >= self._next:
            self._next = now + EVERY
            self._send({"new": self._new})

    def note(self, line: str) -> None:
        self._send({"new": self._new})
