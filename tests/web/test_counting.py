"""The page's count of a finished game of Go is the count of every other interface."""

from __future__ import annotations

from typing import Any

import pytest

from kibitz.engines.gtp.session import GtpSettings
from support.board_client import Client
from support.causes import mentions
from support.gtp_bench import Bench

WALLS = """
. . . X O . . . .
. . . X O . . . .
. O . X O . . . .
. . . X O . . . .
. . . X . O . . .
. . . X O O . X .
. . . X O . . . .
. . . X O . . . .
. . . X O . . . .
"""
"""Two walls with a neutral point between them, and a dead stone behind each."""
SEKI = """
. X X X . O X . X
O O O O O O X X .
X X X X X X X X X
O O O O O O O O O
. . . . . . . . .
O O O O O O O O O
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
"""
"""Neither three black stones nor the white ones around them can be taken, and A9 and E9 are nobody's."""


def line(board: str, rules: str = "japanese", komi: float = 6.5) -> dict[str, Any]:
    rows = [row.split() for row in board.strip().splitlines()]
    names = "ABCDEFGHJ"
    setup = {
        colour: [f"{names[x]}{9 - y}" for y in range(9) for x in range(9) if rows[y][x] == sign]
        for colour, sign in (("B", "X"), ("W", "O"))
    }
    return {"game": "go", "size": 9, "komi": komi, "rules": rules, "setup": setup, "side": "b", "moves": ["pass"] * 2}


def by_gtp(asked: dict[str, Any]) -> dict[str, Any]:
    """The same by the GTP engine: `final_score` and `final_status_list`."""
    bench = Bench(settings=GtpSettings("kibitz", "1.0", komi=asked["komi"], rules=asked["rules"]))
    stones = [f"play {colour} {point}" for colour in "WB" for point in asked["setup"][colour]]
    answers = bench.say("boardsize 9", *stones, "play b pass", "play w pass", "final_score", *(
        f"final_status_list {status}" for status in ("dead", "seki", "black_territory", "dame")
    ))  # fmt: skip
    score, *lists = (answer.removeprefix("= ").removeprefix("=") for answer in answers[-5:])
    names = ("dead", "seki", "black", "dame")
    return {"score": score, **{name: set(each.split()) for name, each in zip(names, lists, strict=True)}}


@pytest.mark.parametrize("rules", ["japanese", "chinese"])
@pytest.mark.parametrize("board", [WALLS, SEKI], ids=["walls", "seki"])
def test_the_page_counts_as_the_engine(client: Client, board: str, rules: str) -> None:
    asked = line(board, rules)
    found, wanted = client.good("/api/count", {"line": asked}), by_gtp(asked)
    lead = found["black"] - found["white"]
    assert f"{'B' if lead > 0 else 'W'}+{abs(lead):g}" == wanted["score"]
    assert set(found["dead"]) == wanted["dead"]
    assert set(found["seki"]) == wanted["seki"]
    names = [f"{'ABCDEFGHJ'[point % 9]}{9 - point // 9}" for point in range(81)]
    owners = dict(zip(names, found["owners"], strict=True))
    assert {name for name in wanted["black"] if owners[name] == 1} == wanted["black"]
    assert {name for name in wanted["dame"] if owners[name] == 0.5} == wanted["dame"]


def test_what_is_counted(client: Client) -> None:
    walls = client.good("/api/count", {"line": line(WALLS)})
    assert set(walls["dead"]) == {"B7", "H4"}
    assert (walls["black"], walls["white"]) == (27 + 1, 35 + 6.5)
    seki = client.good("/api/count", {"line": line(SEKI)})
    assert len(seki["seki"]) == 3 + 7
    assert seki["owners"][0] == 0.5
    assert (seki["black"], seki["white"]) == (2, 9 + 27 + 6.5)


def test_players_say_which_stones_are_dead(client: Client) -> None:
    alive = client.good("/api/count", {"line": line(WALLS), "dead": []})
    assert alive["dead"] == []
    assert alive["owners"][0] == 0.5, "B7 lives, so that the corner is nobody's"
    assert mentions(client.error("/api/count", {"line": line(WALLS), "dead": ["E5"]}), "no stone & E5")
    assert mentions(client.error("/api/count", {"line": line(WALLS), "dead": ["pass"]}), "no stone & pass")
    assert mentions(client.error("/api/count", {"line": {"game": "chess", "moves": []}}), "Go")
