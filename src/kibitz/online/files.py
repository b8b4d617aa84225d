"""Download the games of an account, and write them into a file of game records."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from kibitz.errors import KibitzError
from kibitz.online.accounts import Account, GameChoice
from kibitz.online.cache import opened
from kibitz.online.chesscom import ChessCom
from kibitz.online.client import Client
from kibitz.online.lichess import Lichess
from kibitz.online.ogs import Ogs
from kibitz.online.periods import Downloads, download
from kibitz.text import number_of

SOURCES: dict[str, Callable[[Client], Downloads]] = {"lichess": Lichess, "chesscom": ChessCom, "ogs": Ogs}


class Listener(Protocol):
    """The interface of an object that shows the progress of a download."""

    def account(self, account: Account, saved_games: int) -> None:
        """Called when the download of an account's games begins. saved_games: the number of games that earlier
        downloads saved.
        """

    def expect(self, games: int) -> None:
        """Called with the number of games that the account has on the server; 0 if the number is unknown."""

    def game(self) -> None:
        """Called each time a new game was saved."""

    def note(self, line: str) -> None:
        """Show the user one line about the result."""


def file_of(account: Account, wanted: GameChoice, listener: Listener) -> Path:
    """Download the new games of an account. Return the path of a file with all games that the filter accepts, the
    newest first.

    account: the account. wanted: the filter. listener: shows the progress. Every downloaded game is saved, even if an
    error follows.

    Raises UsageError for a filter that the site does not support. Raises KibitzError, with the number of saved games,
    if the site can't be reached or sends invalid data. It also raises KibitzError if the filter accepts no game. Ctrl-C
    raises KeyboardInterrupt with a message.
    """
    wanted.check(account.site)
    with contextlib.ExitStack() as stack:
        cache = stack.enter_context(opened(account))
        client = Client(account, lambda: len(cache.entries))
        stack.callback(client.close)
        listener.account(account, len(cache.entries))
        try:
            result = download(SOURCES[account.site.name](client), cache, wanted, listener.expect, listener.game)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"interrupted; kibitz saved {number_of(len(cache.entries), 'game')} of {account}."
                " Run the same command again to resume."
            ) from None
        name = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in account.name)
        path = account.folder / f"{name}{wanted.label}{account.site.ending}"
        games = cache.write(path, wanted)
    for number, what in ((result.damaged, "damaged"), (result.hidden, "not public")):
        if number:
            few = "game is" if number == 1 else "games are"
            listener.note(f"{account}: {number:,} {few} {what}, and kibitz skips {'it' if number == 1 else 'them'}.")
    if not games:
        path.unlink(missing_ok=True)
        chosen = " that pass the filter. Use a weaker filter." if wanted != GameChoice() else ". Check the name."
        raise KibitzError(f"{account} has no games{chosen}")
    listener.note(f"{account}: {number_of(result.new, 'new game')}, {games:,} in {path}")
    return path
