"""Download games from OGS: the list of a player's games, page by page, and an SGF for each game."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from typing import Any

from kibitz.errors import KibitzError
from kibitz.online.accounts import GameChoice
from kibitz.online.cache import CachedGames
from kibitz.online.client import Client, NotFoundError, RefusedError
from kibitz.online.lichess import clean
from kibitz.online.periods import ALL, Gap, Result
from kibitz.records import decode

PAGE = 50
MOST_LISTED = 5000
"""The largest number of a player's games that OGS lists. OGS lists the newest games."""


class Ogs:
    """Downloads games of an account on OGS."""

    def __init__(self, client: Client):
        self._client, self._id = client, 0

    def key(self, wanted: GameChoice) -> str:
        parts = [*sorted(wanted.speeds), *["rated"] * wanted.rated]
        return " ".join(parts) if parts else ALL

    def begin(self, cache: CachedGames, wanted: GameChoice, newest: int, expect: Callable[[int], None]) -> Result:
        account = self._client.account
        data = self._client.json("/api/v1/players/", {"username": account.name})
        found = data.get("results") if isinstance(data, dict) else None
        for player in found if isinstance(found, list) else []:
            if isinstance(player, dict) and str(player.get("username", "")).casefold() == account.name.casefold():
                number = player.get("id")
                if not isinstance(number, int):
                    self._client.fail("sent an answer that kibitz cannot read. Try again later.")
                self._id = number
        if not self._id:
            raise KibitzError(f"OGS has no player {account.name} (got {account}). Check the name.")
        listed = self._page(1)
        expect(min(_count(listed), MOST_LISTED) if not newest else 0)
        return Result()

    def fill(self, gap: Gap) -> None:
        newer = sum(one.time >= gap.until for one in gap.cache.entries.values())
        # The pages before this page have only games that are newer than the requested games.
        number = max(1, newer // PAGE)
        while (number - 1) * PAGE < MOST_LISTED:
            page = self._page(number)
            games = page.get("results", [])
            for data in games:
                listed = _listed(data)
                if listed is None:
                    gap.result.damaged += 1
                    continue
                id, moment, speed, rated = listed
                if moment > gap.until:
                    continue
                if gap.has_enough:
                    return
                if moment < gap.since:
                    gap.reached(gap.since)
                    return
                if id not in gap.cache.entries and gap.wanted.takes(moment, speed, rated):
                    self._get(id, moment, speed, rated, gap)
                else:
                    gap.seen(moment, speed, rated)
                gap.reached(moment)
            if not games or not page.get("next"):
                break
            number += 1
        gap.reached(gap.since)

    def _page(self, number: int) -> dict[str, Any]:
        """Return a page of the list; an empty list after the last page."""
        parameters = {
            "ended__isnull": "false", "ordering": "-ended", "page_size": str(PAGE), "page": str(number),
            "source": "play",
        }  # fmt: skip
        try:
            page = self._client.json(f"/api/v1/players/{self._id}/games/", parameters)
        except NotFoundError:
            return {}
        if not isinstance(page, dict) or not isinstance(page.get("results", []), list):
            self._client.not_json(b"?")
        return page

    def _get(self, id: str, moment: int, speed: str, rated: bool, gap: Gap) -> None:
        """Download a game. If OGS does not show the game, it is counted as hidden."""
        try:
            with self._client.file(f"/api/v1/games/{id}/sgf", accept="application/x-go-sgf, */*") as file:
                text = clean(decode(file.read()))
        except (NotFoundError, RefusedError):
            gap.result.hidden += 1
            return
        if text[:1] == b"<":
            self._client.not_json(text)
        if is_whole(text):
            gap.put(id, moment, speed, rated, text)
        else:
            gap.result.damaged += 1


def is_whole(text: bytes) -> bool:
    """Return whether a text is exactly one SGF game tree: the parentheses are balanced, and nothing follows the
    tree.
    """
    depth, in_value, skip, ended = 0, False, False, False
    for byte in text:
        if in_value:
            if skip:
                skip = False
            elif byte == ord("\\"):
                skip = True
            elif byte == ord("]"):
                in_value = False
        elif ended:
            return False
        elif byte == ord("["):
            in_value = True
        elif byte == ord("("):
            depth += 1
        elif byte == ord(")"):
            depth -= 1
            ended = depth == 0
    return ended and text.startswith(b"(")


def _count(page: dict[str, Any]) -> int:
    count = page.get("count")
    return count if isinstance(count, int) else 0


def _listed(data: Any) -> tuple[str, int, str, bool] | None:
    """Return number, end, speed and whether it is ranked from an entry of the list; None if the entry is damaged."""
    try:
        control = data.get("time_control_parameters")
        control = json.loads(control) if isinstance(control, str) else control
        speed = control.get("speed", "") if isinstance(control, dict) else ""
        ended = datetime.datetime.fromisoformat(data["ended"])
        moment = int(ended.replace(tzinfo=ended.tzinfo or datetime.UTC).timestamp() * 1000)
        return str(int(data["id"])), moment, str(speed), data.get("ranked") is True
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None
