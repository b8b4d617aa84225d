"""Accounts on game servers, such as "lichess:NAME", as arguments of commands that read files of games. kibitz downloads
the new games of an account and shows a progress bar.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from kibitz import messages
from kibitz.commands.progress import BAR, LEFT, Progress
from kibitz.dates import parse_day
from kibitz.errors import UsageError
from kibitz.text import number_of, shown

if TYPE_CHECKING:
    from kibitz.online.accounts import Account, GameChoice


@dataclass(frozen=True)
class AccountOptions:
    """The command-line options that select games of an account on a game server."""

    since: Annotated[str | None, typer.Option(metavar="DATE")] = None
    speed: Annotated[list[str] | None, typer.Option(metavar="SPEED")] = None
    rated: Annotated[bool, typer.Option("--rated")] = False
    limit: Annotated[int | None, typer.Option(metavar="N")] = None

    def wanted(self, sources: Sequence[str]) -> GameChoice:
        """Return the filter that the options describe, for the games of the accounts in `sources`.

        sources: the command's arguments, each an account such as "lichess:NAME", or a file. Raises UsageError if an
        option is given although no source is an account.
        """
        from kibitz.online.accounts import GameChoice

        values = {name: getattr(self, name) for name in ("since", "speed", "rated", "limit")}
        given = [name for name, value in values.items() if value is not None and value is not False and value != []]
        if given and not any_account(sources):
            raise UsageError(
                f"--{given[0]} works only with an account, such as lichess:NAME (got {shown(sources[0])}). Leave"
                f" --{given[0]} out."
            )
        since = parse_day(self.since, "--since") if self.since is not None else None
        return GameChoice(since, None, tuple(self.speed or ()), self.rated, self.limit)


def any_account(sources: Sequence[str]) -> bool:
    """Return whether at least one of the sources is an account on a game server, such as "lichess:NAME"."""
    return any(_account(source) for source in sources)


def names_of(sources: Sequence[str]) -> list[str]:
    """Return the names of the accounts if all sources are accounts, otherwise []."""
    accounts = [_account(source) for source in sources]
    return [one.name for one in accounts if one] if all(accounts) else []


def files_of(sources: Sequence[str], wanted: GameChoice) -> list[str]:
    """Download the games of each account in `sources` into a file. Return the sources with the path of this file in
    place of the account.

    wanted: the filter for the games. Raises UsageError for a filter that the server does not support, and KibitzError
    if the games can't be downloaded or none matches the filter.
    """
    found = []
    for source in sources:
        if (account := _account(source)) is None:
            found.append(source)
            continue
        from kibitz.online.files import file_of

        with _DownloadBar(wanted.limit) as bar:
            found.append(str(file_of(account, wanted, bar)))
        for line in bar.notes:
            messages.note(line)
    return found


def _account(source: str) -> Account | None:
    if ":" not in source or os.path.exists(source):
        return None
    from kibitz.online.accounts import account_in

    return account_in(source)


class _DownloadBar(Progress):
    """The progress bar of one account: new games, and games per second."""

    def __init__(self, limit: int | None) -> None:
        super().__init__(
            "{task.description}", BAR, "{task.completed:,.0f} new games", "{task.fields[rate]:,.1f} games/s", LEFT,
            patient=True, every=15.0,
        )  # fmt: skip
        self.notes: list[str] = []
        self._limit, self._saved_games, self._new, self._name = limit, 0, 0, ""

    def begin_account(self, total: int | None) -> None:
        """Begin the progress bar for the downloads of an account. total: the number of games to download; None if it is
        not known.
        """
        self.begin(self._name, total, self._new, rate=0.0)

    # the interface `kibitz.online.files.Listener`

    def account(self, account: Account, saved_games: int) -> None:
        self._name, self._saved_games = str(account), saved_games
        self.begin_account(self._limit)

    def expect(self, games: int) -> None:
        if games and self._limit is None and games > self._saved_games:
            self.begin_account(games - self._saved_games)

    def game(self) -> None:
        self._new += 1
        rate = self.rate(self._new)
        self.update(self._new, f"{self._name}: {number_of(self._new, 'new game')}, {rate:,.1f} games/s", rate=rate)

    def note(self, line: str) -> None:
        self.notes.append(line)
