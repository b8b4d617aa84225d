"""Parse accounts on servers as users write them (`lichess:NAME`, `chesscom:NAME`, `ogs:NAME`), and filter their
games.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

from kibitz.environment import user_cache
from kibitz.errors import UsageError
from kibitz.games.chess.filters import SPEEDS
from kibitz.messages import nearest, not_one_of
from kibitz.text import shown

DAY = 86_400_000
"""Number of milliseconds in a day."""
FOLDER = "games"
"""The name of the folder with downloaded games, inside the user's cache folder."""
LONGEST_NAME = 60
_LONGEST_FOLDER = 200
"""The largest number of characters in a folder's name; most systems allow 255."""


@dataclass(frozen=True)
class Site:
    """A server from which kibitz downloads games.

    name: the name that users write before the colon, for example lichess.
    title: the name in messages.
    game: "chess" or "go".
    ending: the file extension of its game records.
    address: the usual address of its interface for programs (API).
    variable: the environment variable that can replace this address.
    gap: the smallest number of seconds between two requests.
    busy: the seconds to wait after the reply "too many requests", if the reply does not name a waiting time.
    speeds: the site's names of speeds, such as blitz.
    """

    name: str
    title: str
    game: str
    ending: str
    address: str
    variable: str
    gap: float
    busy: float
    speeds: tuple[str, ...]

    def base(self) -> str:
        """Return the address of the site's interface, without a slash at the end: the value of the environment
        variable, or else the usual address. Raises UsageError if the value isn't an address.
        """
        given = os.environ.get(self.variable, "").strip()
        if not _is_address(given or self.address):
            raise UsageError(
                f"{self.variable} must be an address such as http://127.0.0.1:8000 (got {shown(given)}). Correct or"
                " unset it."
            )
        return (given or self.address).rstrip("/")


SITES = {
    site.name: site
    for site in (
        Site("lichess", "lichess", "chess", ".pgn", "https://lichess.org", "KIBITZ_LICHESS", 1.0, 60.0, SPEEDS),
        Site("chesscom", "chess.com", "chess", ".pgn", "https://api.chess.com", "KIBITZ_CHESSCOM", 0.5, 30.0, SPEEDS),
        Site(
            "ogs", "OGS", "go", ".sgf", "https://online-go.com", "KIBITZ_OGS", 1.0, 60.0,
            ("blitz", "rapid", "live", "correspondence"),
        ),
    )
}  # fmt: skip
OTHERS = {"kgs": "KGS", "fox": "Fox"}
"""Servers from which kibitz cannot download games. The keys are the names that users may write before the colon."""

_ACCOUNT = re.compile(r"([A-Za-z][A-Za-z.-]+):(.*)", re.DOTALL)
_CHESS_NAME = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Account:
    """An account on a server. site: the server. name: the user's name on this server."""

    site: Site
    name: str

    def __str__(self) -> str:
        return f"{self.site.name}:{self.name}"

    @property
    def folder(self) -> Path:
        """The folder for the account's downloaded games. The folder may not exist yet."""
        name = quote(self.name.lower(), safe="")
        if len(name) > _LONGEST_FOLDER:  # a letter outside ASCII becomes up to 12 characters
            name = f"{name[:100]}-{hashlib.sha256(name.encode()).hexdigest()[:32]}"
        return user_cache() / FOLDER / self.site.name / name


def account_in(text: str) -> Account | None:
    """Return the account in a text such as "lichess:NAME". Return None for any other text, or if a file with the name
    `text` exists.

    Raises UsageError for a name that no account can have, and for a server from which kibitz cannot download games.
    """
    match = _ACCOUNT.fullmatch(text)
    if match is None or text.startswith(("http:", "https:")) or "://" in text or Path(text).exists():
        return None
    server, name = match[1].lower(), match[2].strip()
    if server in OTHERS:
        raise UsageError(
            f"kibitz cannot download games from {OTHERS[server]} (got {shown(text)}). Download them yourself as SGF"
            " files, then give the path of their folder instead of the account."
        )
    site = SITES.get({"chess.com": "chesscom"}.get(server, server))
    if site is None:
        if (near := nearest(server, SITES)) is not None:
            raise UsageError(f"{shown(text)}: no such file, and no such server. Did you mean {near}:{shown(name)}?")
        return None
    fits = _CHESS_NAME.fullmatch(name) if site.game == "chess" else name.isprintable() and "/" not in name
    # a name that consists of dots would be another folder
    if not name.strip(".") or not fits or len(name) > LONGEST_NAME:
        raise UsageError(
            f"{site.name}:NAME needs the name of an account (got {shown(text)}). Example: {site.name}:NAME"
        )
    return Account(site, name)


@dataclass(frozen=True)
class GameChoice:
    """A filter for the games of an account.

    since, until: the first and the last day, in UTC; None for no limit.
    speeds: the accepted speeds, such as "blitz"; () for all.
    rated: True to accept only rated games.
    limit: the largest number of games; None for no limit. If there are more games, only the newest are used.
    """

    since: datetime.date | None = None
    until: datetime.date | None = None
    speeds: tuple[str, ...] = ()
    rated: bool = False
    limit: int | None = None

    def check(self, site: Site) -> None:
        """Raise UsageError if the filter has a speed that the site does not have, or a limit below 1. Call this method
        before a download.
        """
        for speed in self.speeds:
            if speed not in site.speeds:
                raise UsageError(not_one_of("--speed", speed, site.speeds))
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"--limit must be at least 1 (got {self.limit})")

    @property
    def begin(self) -> int:
        """The earliest time of an accepted game, in milliseconds since 1970; 0 if the filter has no first day."""
        return _milliseconds(self.since) if self.since else 0

    @property
    def end(self) -> int | None:
        """The first moment after the last day of the filter, in milliseconds since 1970; None if the filter has no last
        day.
        """
        return _milliseconds(self.until) + DAY if self.until else None

    def takes(self, time: int, speed: str, rated: bool) -> bool:
        """Return whether the filter accepts a game. The method ignores the limit on the number of games.

        time: the time of the game, in milliseconds since 1970. speed: the speed, such as "blitz". rated: whether the
        game was rated.
        """
        return (
            self.begin <= time
            and (self.end is None or time < self.end)
            and (not self.speeds or speed in self.speeds)
            and (rated or not self.rated)
        )

    @property
    def label(self) -> str:
        """The filter as a part of a file name, such as "-since-2024-01-01-blitz-rated-limit-100"; "" if the filter
        accepts all games.
        """
        parts = [f"since-{self.since}"] * bool(self.since) + [f"until-{self.until}"] * bool(self.until)
        parts += [*self.speeds, *["rated"] * self.rated]
        parts += [f"limit-{self.limit}"] * (self.limit is not None)
        return "".join(f"-{part}" for part in parts)


def _is_address(text: str) -> bool:
    """Return whether a text is the address of a server that requests can be sent to."""
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and text.isprintable()
    except ValueError:  # its port or a bracket is invalid
        return False


def _milliseconds(day: datetime.date) -> int:
    return (day - datetime.date(1970, 1, 1)).days * DAY
