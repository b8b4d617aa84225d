"""Download games from chess.com. The server has one JSON file for each month, GET /pub/player/NAME/games/YEAR/MONTH."""

from __future__ import annotations

import codecs
import datetime
import json
import re
from collections.abc import Callable, Iterator
from typing import IO, Any

from kibitz.errors import KibitzError
from kibitz.games.chess.filters import speed_of
from kibitz.online.accounts import GameChoice
from kibitz.online.cache import CachedGames
from kibitz.online.client import LONGEST_LINE, Client, CutOffError, NotFoundError
from kibitz.online.lichess import clean
from kibitz.online.periods import ALL, Gap, Result

_MONTH = re.compile(r"/(\d{4})/(\d{2})/?$")
_YEARS = range(1970, 9999)
"""Years for which dates can be computed."""
_BLOCK = 1 << 20


class ChessCom:
    """Downloads games of an account on chess.com."""

    def __init__(self, client: Client):
        self._client, self._name = client, client.account.name.lower()
        self._months: list[tuple[int, int]] = []

    def key(self, wanted: GameChoice) -> str:
        return ALL

    def begin(self, cache: CachedGames, wanted: GameChoice, newest: int, expect: Callable[[int], None]) -> Result:
        try:
            data = self._client.json(f"/pub/player/{self._name}/games/archives")
        except NotFoundError:
            raise KibitzError(
                f"chess.com has no player {self._client.account.name} (got {self._client.account}). Check the name."
            ) from None
        addresses = data.get("archives", []) if isinstance(data, dict) else []
        if not isinstance(addresses, list):
            self._client.fail("sent an answer that kibitz cannot read. Try again later.")
        found = {match for address in addresses if (match := _MONTH.search(str(address)))}
        months = {(int(match[1]), int(match[2])) for match in found}
        self._months = sorted(((y, m) for y, m in months if y in _YEARS and 1 <= m <= 12), reverse=True)
        return Result()

    def fill(self, gap: Gap) -> None:
        for year, month in self._months:
            begin, end = _moment(year, month), _moment(year + month // 12, month % 12 + 1)
            if end <= gap.since or begin >= gap.until:
                continue
            self._read_month(f"/pub/player/{self._name}/games/{year}/{month:02}", gap)
            gap.reached(begin)
            if gap.has_enough:
                return
        gap.reached(gap.since)

    def _read_month(self, path: str, gap: Gap) -> None:
        try:
            with self._client.file(path, accept="application/json") as file:
                for data in objects_in(file, self._client.not_json):
                    game = _game(data)
                    if game is None:
                        gap.result.damaged += 1
                    else:
                        gap.put(*game)
        except NotFoundError:  # a month in the list may have no games
            return
        except CutOffError:
            self._client.fail("sent an incomplete answer. Try again later.")


def _moment(year: int, month: int) -> int:
    return int(datetime.datetime(year, month, 1, tzinfo=datetime.UTC).timestamp() * 1000)


def objects_in(file: IO[bytes], fail: Callable[[bytes], Any]) -> Iterator[Any]:
    """Yield the objects in the list "games" of a JSON file, one after the other; None for a damaged object. Only a few
    objects are in memory at a time.

    fail: a function that raises an error. It is called with the file's first bytes if the file has no list "games".
    Raises CutOffError if the list is incomplete.
    """
    decoder, reads, buffer = json.JSONDecoder(), codecs.getincrementaldecoder("utf-8")("replace"), ""
    first, in_list, ended = b"", False, False
    while not ended:
        block = file.read(_BLOCK)
        first, ended = first or block[:200], not block
        buffer += reads.decode(block, ended)
        if not in_list:
            begin = re.search(r'"games"\s*:\s*\[', buffer)
            if begin is None:
                if ended or len(buffer) > LONGEST_LINE:
                    fail(first)
                continue
            buffer, in_list = buffer[begin.end() :], True
        while buffer := buffer.lstrip(" \t\r\n,"):
            if buffer[0] == "]":
                return
            try:
                data, end = decoder.raw_decode(buffer)
            except (ValueError, RecursionError):
                if not ended and len(buffer) <= LONGEST_LINE:
                    break  # the rest of the object comes with the next block
                data, end = None, _end_of_damaged(buffer)
            yield data
            buffer = buffer[end:]
    raise CutOffError("the list of games is incomplete")


def _end_of_damaged(text: str) -> int:
    """Return the end of a damaged object: the begin of the next object, or the end of the list. Raises CutOffError if
    there is neither.
    """
    if found := re.search(r"\}\s*,\s*(?=\{\s*\"(?:url|pgn|uuid)\")|(?=\]\s*\}\s*$)", text):
        return found.end()
    raise CutOffError("the list of games is incomplete")


def _game(data: Any) -> tuple[str, int, str, bool, bytes] | None:
    """Return the arguments for `Gap.put` from a game of a month; None if the game is damaged."""
    try:
        text = clean(data["pgn"])
        if not text.startswith(b"["):
            return None
        speed = speed_of(str(data.get("time_control", "")), "Live Chess") or ""
        id = str(data.get("uuid") or data["url"])
        return id, int(data["end_time"]) * 1000, speed, data.get("rated") is True, text
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None
