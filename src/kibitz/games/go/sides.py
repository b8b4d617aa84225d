"""The side inputs of Go networks: inputs in addition to the board, each a number from 0 to 255. They are the komi,
handicap, rules, ranks and server.

Komi and handicap decide the value of a lead. Ranks and the server indicate how the players play.
"""

from __future__ import annotations

import re
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kibitz.games import STATE_WIDTH
from kibitz.games.go import KOMI
from kibitz.games.go.handicap import bonus_of
from kibitz.games.go.io.headers import RULES as NAMED_RULES
from kibitz.games.go.ranks import rank_value, read_rank
from kibitz.games.texts import text_codes

RULES = ("", *NAMED_RULES)
"""The names of rules. The index of a name is the network input; 0 is unknown."""
SERVERS = ("", "tygem", "tom", "fox", "kgs", "ogs", "board")
"""The names of servers. The index of a name is the network input; 0 is unknown, and "board" is a game over the
board.
"""
NO_KOMI = 128
"""The network input for a komi of 0. Each half point for White adds 1, and each half point for Black subtracts 1."""
MOST_KOMI = 63.5
"""The largest absolute value of a komi that the network input can represent, in points."""
LOWEST_RANK = 40
"""The network input for the rank 1k. Each step of `ranks.rank_value` adds 1."""


def komi_byte(points: float | None) -> int:
    """Return White's points before the game, komi plus compensation for handicap stones, as a network input from 1 to
    255; 0 if they are unknown (None).

    1 to 255 mean −63.5 to 63.5 points in steps of half a point. Larger values are limited to this range.
    """
    return 0 if points is None else int(min(255, max(1, NO_KOMI + round(2 * points))))


def beyond_byte(points: float) -> float:
    """Return the part of a komi that `komi_byte` cuts off, in points: 10 for 73.5, and -10 for -73.5. It is 0 if the
    komi is between -63.5 and 63.5.
    """
    return points - max(-MOST_KOMI, min(MOST_KOMI, points))


def rank_byte(rank: str | None) -> int:
    """Return the network input for a rank such as "9d", from 6 for 35k to 59 for 9p; 0 if the rank is unknown or the
    text isn't a rank.
    """
    return 0 if rank is None or read_rank(rank) is None else LOWEST_RANK + rank_value(rank)


def handicap_byte(stones: int | None) -> int:
    """Return the network input for a number of handicap stones: the number plus 1, or 0 if it is unknown."""
    return 0 if stones is None else min(255, stones + 1)


def rules_byte(rules: str | None) -> int:
    """Return the network input for the name of the rules: its index in RULES, or 0 if the rules are unknown."""
    return RULES.index(rules) if rules in RULES else 0


_SERVER_WORDS = [
    (re.compile(word), name)
    for word, name in (
        ("tygem", "tygem"), (r"(?<![a-z])tom(?![a-z])", "tom"), (r"(?<![a-z])fox(?=wq|wei|go|[^a-z]|$)", "fox"),
        ("野狐", "fox"), ("kgs|kiseido", "kgs"), (r"(?<![a-z])ogs(?![a-z])|online-go", "ogs"),
    )
]  # fmt: skip
"""Patterns that match a server's name in the header PC, each with the name in SERVERS. Short names must be whole words,
because the name of a city, such as Tomsk, may begin with them.
"""


def server_byte(place: str | None) -> int:
    """Return the network input for the server on which a game was played: the server's index in SERVERS.

    place: the value of the SGF property PC, which names a server or a place. The result is 0 if the value is empty or
    missing, and the index of "board" for a place that is not a known server.
    """
    text = (place or "").strip().lower()
    if not text:
        return 0
    return next((SERVERS.index(name) for word, name in _SERVER_WORDS if word.search(text)), SERVERS.index("board"))


BEYOND = {"komi": komi_byte(KOMI), "handicap": 1, "rules": 0, "rank": 0, "opponent_rank": 0, "server": 0}
"""The side inputs by name, with their defaults; 0 is always unknown. They are the `komi_byte`, `handicap_byte` and
`rules_byte` of the game, the `rank_byte` of the side to move and of the opponent, and the `server_byte`.
"""
KOMI_BYTE, HANDICAP, GAME_RULES, RANK, OPPONENT, SERVER = range(STATE_WIDTH, STATE_WIDTH + 6)
"""The columns of the side inputs in a position's state, after the four columns of the board's state."""


def board_inputs(komi: float, territory: bool) -> dict[str, int]:
    """Return three side inputs of a network: komi, handicap and rules. Side inputs are inputs in addition to the board.
    The inputs are suitable for estimating who leads in a position. The result is a dict from an input's name to its
    number, 0 to 255.

    komi: White's points before the game, see `komi_byte`.
    territory: whether territory is scored. If area is scored, the rules are set to unknown. The reason: fewer than 1%
        of the training games of the network `gohuman` name rules with area scoring, and many of those games have
        handicap stones.

    The handicap is always set to unknown. It describes the strength of the players, and not who leads: the handicap
    stones are already on the board.
    """
    known = side_inputs(komi, None, "japanese" if territory else None)
    return {name: known[name] for name in ("komi", "handicap", "rules")}


class _GameTable(Protocol):
    """The interface of a store that this module uses."""

    def table(self, columns: list[str]) -> pa.Table: ...


def side_inputs(
    komi: float | None = KOMI,
    handicap: int | None = 0,
    rules: str | None = None,
    rank: str | None = None,
    opponent_rank: str | None = None,
    place: str | None = None,
) -> dict[str, int]:
    """Return the side inputs of one position: the network's inputs in addition to the board. The result is a dict from
    an input's name to its number, 0 to 255. The names are komi, handicap, rules, rank, opponent_rank and server.

    komi: White's points before the game, see `komi_byte`.
    handicap: the number of handicap stones.
    rules: the name of the rules, one of RULES.
    rank, opponent_rank: the ranks of the side to move and of its opponent, such as "9d".
    place: the value of the SGF property PC, which names a server or a place.

    None means that a value is unknown.
    """
    return {
        "komi": komi_byte(komi), "handicap": handicap_byte(handicap), "rules": rules_byte(rules),
        "rank": rank_byte(rank), "opponent_rank": rank_byte(opponent_rank), "server": server_byte(place),
    }  # fmt: skip


class GameSides:
    """The side inputs (network inputs in addition to the board) of every game of a store. store: any object with a
    method `table` like that of `kibitz.store.store.Store`.

    A komi of 0 in an even game usually means that the komi was not recorded, so such a komi counts as unknown. But it
    counts as known if the store has the final owner of each point. These owners are stored only if they agree with the
    recorded score, so the komi is correct.
    """

    def __init__(self, store: _GameTable):
        table = store.table(["komi", "handicap", "rules", "black_rank", "white_rank", "place", "labels", "margin"])
        self._rules = text_codes(table["rules"], rules_byte)
        self._ranks = np.stack([text_codes(table["black_rank"], rank_byte), text_codes(table["white_rank"], rank_byte)])
        self._servers = text_codes(table["place"], server_byte)
        stones = table["handicap"].combine_chunks().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        self._handicaps = np.minimum(255, stones + 1).astype(np.uint8)
        komi = table["komi"].combine_chunks().to_numpy(zero_copy_only=False).astype(np.float64)
        bonus = text_codes(table["rules"], lambda rules: {"0": 0, "N-1": 1, "N": 2}[bonus_of(rules)])
        paid = np.where(stones < 2, 0, np.select([bonus == 2, bonus == 1], [stones, stones - 1], 0))
        self._komi = np.clip(np.round(2 * np.nan_to_num(komi + paid)) + NO_KOMI, 1, 255).astype(np.uint8)
        confirmed = table["labels"].is_valid().to_numpy() & table["margin"].is_valid().to_numpy()
        self._komi[np.isnan(komi) | ((komi == 0) & (stones < 2) & ~confirmed)] = 0

    def of(self, games: NDArray[np.int64], side: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the side inputs (komi, ranks and other facts besides the board) of n positions, uint8 [n, 6]. The
        columns are komi, handicap, rules, the rank of the side to move, the opponent's rank and the server.

        games: int64 [n], the index of each position's game in the store. side: [n], the side to move, 0 Black or 1
        White.
        """
        side = side.astype(np.int64)
        columns = (
            self._komi[games], self._handicaps[games], self._rules[games], self._ranks[side, games],
            self._ranks[1 - side, games], self._servers[games],
        )  # fmt: skip
        return np.stack(columns, 1)
