"""Download games from lichess, GET /api/games/user/NAME. Each line of the reply is a JSON object with a PGN. The newest
game is first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from kibitz.errors import KibitzError
from kibitz.games.chess.filters import SPEEDS
from kibitz.online.accounts import DAY, GameChoice
from kibitz.online.cache import CachedGames
from kibitz.online.client import Client, NotFoundError
from kibitz.online.periods import ALL, Gap, Result
from kibitz.records import decode

FIRST_MOMENT = 1356998400070
"""The earliest time, in milliseconds since 1970, that lichess accepts as a limit of a request."""
LONGEST_GAME = 200 * DAY
"""The longest duration, in milliseconds, of a correspondence game. Games that began within this time before the newest
complete period are requested again, because they may have ended since.
"""
MOST_REPEATED = 20_000
"""The number of games in a row that were already saved after which a reply counts as endless. The download then
fails.
"""


class Lichess:
    """Downloads games of an account on Lichess."""

    def __init__(self, client: Client):
        self._client, self._name = client, client.account.name

    def key(self, wanted: GameChoice) -> str:
        parts = [*sorted(wanted.speeds), *["rated"] * wanted.rated]
        return " ".join(parts) if parts else ALL

    def begin(self, cache: CachedGames, wanted: GameChoice, newest: int, expect: Callable[[int], None]) -> Result:
        result = Result()
        if not newest:
            counts = self._checked(lambda: self._client.json(f"/api/user/{self._name}"))
            expect(_games_in(counts, wanted))
        # Correspondence games that began before the period may have ended since then.
        elif not wanted.speeds or "correspondence" in wanted.speeds:
            slow = GameChoice(speeds=("correspondence",), rated=wanted.rated)
            since = max(newest - LONGEST_GAME, wanted.begin)
            self._request(Gap(cache, slow, since, newest, None, lambda _: None, lambda: None, result), slow)
        return result

    def fill(self, gap: Gap) -> None:
        self._request(gap, gap.wanted)

    def _request(self, gap: Gap, wanted: GameChoice) -> None:
        last = [gap.until]

        def reached(moment: int) -> None:
            last[0] = min(last[0], moment)
            gap.reached(moment)

        def parameters() -> dict[str, str]:
            values = {"pgnInJson": "true", "clocks": "true", "until": str(max(last[0] + 1, FIRST_MOMENT))}
            if gap.since > FIRST_MOMENT:
                values["since"] = str(gap.since)
            if gap.need is not None:
                values["max"] = str(gap.need - gap.matched)
            if wanted.speeds:
                names = ["ultraBullet"] * ("bullet" in wanted.speeds) + list(wanted.speeds)
                values["perfType"] = ",".join(names)
            return values | ({"rated": "true"} if wanted.rated else {})

        def take(lines: Iterator[bytes]) -> None:
            self._take(lines, gap, reached)

        self._checked(lambda: self._client.lines(f"/api/games/user/{self._name}", parameters, take))

    def _take(self, lines: Iterator[bytes], gap: Gap, reached: Callable[[int], None]) -> None:
        """Save the games of a reply while it arrives."""
        repeated, read, times = 0, 0, [gap.until]
        ordered = True
        for line in lines:
            game = _game(line)
            if game is None:
                if not read and not line.lstrip().startswith(b"{"):
                    self._client.not_json(line)
                gap.result.damaged += 1
                read += 1
                continue
            read += 1
            if gap.put(*game):
                self._client.works()
                repeated = 0
            else:
                repeated += 1
            if repeated > MOST_REPEATED:
                self._client.fail("sends the same games again and again. Try again later.")
            ordered = ordered and game[1] <= times[-1]
            times.append(game[1])
            if ordered:
                reached(game[1])
            if gap.has_enough:
                break
        if not ordered and not gap.has_enough:
            reached(min(times))

    def _checked(self, request: Callable[[], Any]) -> Any:
        try:
            return request()
        except NotFoundError:
            raise KibitzError(
                f"lichess has no player {self._name} (got lichess:{self._name}). Check the name."
            ) from None


def _games_in(user: Any, wanted: GameChoice) -> int:
    """Return the number of games in the data of a user that a filter may accept; 0 if it is unknown."""
    try:
        if wanted.speeds:
            names = ["ultraBullet"] * ("bullet" in wanted.speeds) + list(wanted.speeds)
            return sum(int(user["perfs"].get(name, {}).get("games", 0)) for name in names)
        return int(user["count"]["rated" if wanted.rated else "all"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return 0


def _game(line: bytes) -> tuple[str, int, str, bool, bytes] | None:
    """Return the arguments for `Gap.put` from a line of the reply; None if the line is damaged."""
    try:
        game = json.loads(decode(line))
        text = clean(game["pgn"])
        if not text.startswith(b"["):
            return None
        speed = str(game.get("speed", "")).replace("ultraBullet", "bullet")
        return (
            str(game["id"]),
            int(game["createdAt"]),
            speed if speed in SPEEDS else "",
            game.get("rated") is True,
            text,
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        return None


def clean(text: str) -> bytes:
    """Return a game record in the form in which it is saved: UTF-8 without zero bytes, and without white space at the
    beginning and at the end.
    """
    return text.replace("\r\n", "\n").replace("\0", "?").strip().encode(errors="replace")
