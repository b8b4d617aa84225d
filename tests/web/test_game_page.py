"""The game on the page as a file for others: what the server writes of what the page has found so far."""

from __future__ import annotations

from typing import Any

import chess
import pytest

from kibitz.analysis.chess.shown import game_facts
from support.board_client import Client
from support.causes import mentions
from support.game_pages import HOSTILE, Parts, played


def asked(client: Client, text: str, judged: dict[int, dict[str, Any]], **analysis: Any) -> dict[str, Any]:
    """A request for the page of a game. judged: what was found, by the index of the node."""
    found = client.good("/api/load", {"text": text})
    tree = [{**node, "judged": judged.get(index)} for index, node in enumerate(found["tree"])]
    about = {"meaning": "", "language": "en", "checked_by": None, "summary": None, **analysis}
    return {**{key: found[key] for key in ("game", "headers", "line")}, "tree": tree, "analysis": about}


def page_of(client: Client, request: dict[str, Any]) -> Parts:
    return Parts(client.good("/api/page", request)["html"])


def test_a_game_of_chess_that_is_partly_analyzed(client: Client) -> None:
    mark = {
        "value": 0.3, "mark": "?", "loss": 0.25, "best": "e5", "line": ["e5", "Nf3", "nonsense"],
        "reasons": {"en": "It loses.", "de": "Er verliert."},
    }  # fmt: skip
    text = f'[White "{HOSTILE.replace(chr(34), "")}"]\n\n1. e4 f6 (1... e5 2. Nf3) 2. d4 *'
    request = {**asked(client, text, {1: {"value": 0.5}, 2: mark}), "value": "White's expected score", "by": "human"}
    parts = page_of(client, request)
    (game,) = parts.data["games"]
    assert (parts.scripts, "img" in parts.elements) == (1, False)
    assert [move["text"] for move in game["moves"]] == ["e4", "f6", "d4"]
    assert game["values"] == [None, 0.5, 0.3, None]
    assert game["leads"] == []
    assert game["checked_by"] == "human"
    assert mentions(parts.data["texts"]["legend"], "? mistake")
    assert game["value"] == "White's expected score"
    assert game["summary"] is None
    marked = game["moves"][1]
    assert (marked["mark"], marked["change"], marked["notes"]) == ("?", -25, ["It loses."])
    assert [step["text"] for step in marked["line"]] == ["e5", "Nf3"]
    assert played(game)[-1].count(".") == 32


def test_the_page_has_the_language_of_the_board(client: Client) -> None:
    mark = {"value": 0.3, "mark": "?", "loss": 0.25, "best": "e5", "reasons": {"en": "It loses.", "de": "Er verliert."}}
    parts = page_of(client, asked(client, "1. e4 f6 *", {2: mark}, language="de"))
    assert ("lang", "de") in parts.attributes
    assert parts.data["texts"]["accuracy"] == "Genauigkeit"
    assert parts.data["games"][0]["moves"][1]["notes"] == ["Er verliert."]
    assert ("lang", "en") in page_of(client, asked(client, "1. e4 f6 *", {2: mark}, language="tlh")).attributes


def test_a_game_of_go_with_its_summary(client: Client) -> None:
    mark = {"value": 0.4, "lead": -1.5, "mark": "?!", "loss": 0.1, "points": 3.25, "best": "C3", "line": ["C3", "G7"]}
    summary = {
        "game": "go", "values": [0.5, 0.5, 0.6, 0.4], "movers": ["black", "white", "black"], "losses": [0, 0, 3.25],
        "marks": ["", "", "?!"],
    }  # fmt: skip
    request = asked(client, "(;SZ[9]PB[A]PW[B]KM[6.5];B[ee];W[ed];B[aa])", {3: mark}, summary=summary)
    (game,) = page_of(client, request).data["games"]
    assert (game["game"], game["size"], game["players"]) == ("go", 9, ["A", "B"])
    assert game["leads"] == [None, None, None, -1.5]
    assert game["summary"]["black"]["marks"]["inaccuracies"] == 1
    marked = game["moves"][2]
    assert (marked["text"], marked["change"], marked["side"]) == ("A9", -3.2, "black")
    assert "C3" in marked["notes"][0]
    assert [step["text"] for step in marked["line"]] == ["C3", "G7"]
    assert played(game)[-1].count("X") == 2


WALLS = "AB[ea:ei]AW[fa:fi][cc]"
"""Black's wall on the fifth column, White's on the sixth, and one white stone in Black's half."""


def test_a_counted_game_of_go_has_its_territory_and_dead_stones(client: Client) -> None:
    request = asked(client, f"(;SZ[9]KM[6.5]RU[japanese]{WALLS};B[];W[])", {})
    estimated, marked, none = (
        page_of(client, {**request, **dead}).data["games"][0]["owners"] for dead in ({}, {"dead": ["C7"]}, {"dead": []})
    )
    assert estimated == marked == "XXXXXOOOO" * 9
    assert none[18:27] == "..O.XOOOO"  # the stone lives, so this half belongs to nobody
    assert page_of(client, asked(client, f"(;SZ[9]{WALLS};B[])", {})).data["games"][0]["owners"] == ""
    assert mentions(client.error("/api/page", {**request, "dead": ["A1"]}), "A1")
    # Without the lowest stone of the wall, the dead stone is in a neutral area.
    opened = asked(client, f"(;SZ[9]{WALLS.replace('ea:ei', 'ea:eh')};B[];W[])", {})
    assert page_of(client, {**opened, "dead": ["C7"]}).data["games"][0]["owners"][18:27] == "..X.XOOOO"


def test_a_small_loss_of_points_is_not_minus_zero(client: Client) -> None:
    mark = {"value": 0.4, "lead": -1.5, "mark": "?!", "loss": 0.1, "points": 0.04, "best": "C3", "line": ["C3"]}
    (game,) = page_of(client, asked(client, "(;SZ[9];B[ee])", {1: mark})).data["games"]
    assert str(game["moves"][0]["change"]) == "0.0"


def test_a_loss_is_not_rounded_to_the_limit_of_the_next_mark(client: Client) -> None:
    marks = {i: {"value": 0.5, "mark": "?", "loss": loss, "best": "a3"} for i, loss in ((1, 0.296), (2, 0.2))}
    (game,) = page_of(client, asked(client, "1. e4 e5 *", marks)).data["games"]
    assert [move["change"] for move in game["moves"]] == [-29.6, -20]


def test_a_start_position_with_black_to_move(client: Client) -> None:
    fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 0 12"
    (game,) = page_of(client, asked(client, f'[FEN "{fen}"]\n\n12... Kd7 13. e4 *', {})).data["games"]
    assert [move["number"] for move in game["moves"]] == ["12…", "13."]
    assert game["start"][chess.E8] == "k"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"tree": [{"id": 0}, {"id": 1, "parent": 0, "move": "e2e5"}]}, "e2e5"),
        ({"tree": []}, "tree"),
        ({"headers": {"White": 1}}, "headers"),
        ({"value": 1}, "value"),
        ({"line": None}, "line"),
    ],
)
def test_a_request_that_is_wrong_is_refused(changes: dict[str, Any], says: str, client: Client) -> None:
    request = {**asked(client, "1. e4 *", {}), **changes}
    assert mentions(client.error("/api/page", request), says)


@pytest.mark.parametrize(
    ("control", "words"), [("600", "10 min"), ("180+2", "3+2"), ("30+0", "0.5 min"), ("1/86400", "1/86400"), ("-", "")]
)
def test_the_time_control_is_written_as_players_write_it(control: str, words: str) -> None:
    headers = {"Event": "Club", "TimeControl": control}
    assert game_facts(headers, chess.Board())["facts"] == ["Club", *([words] if words else [])]
