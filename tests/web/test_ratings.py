"""Moves and risk by rating on the page are those of the other interfaces."""

from __future__ import annotations

import chess
import pytest

import kibitz
from kibitz.analysis.chess.risk import RISK_RATINGS
from kibitz.web.chess.ratings import RATINGS
from support.board_client import Client
from support.causes import mentions

MOVES = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4"]
"""Now players of a low rating often allow Ng5."""


def asked(moves: list[str], network: str = "human", **more: object) -> dict[str, object]:
    return {"network": network, "line": {"game": "chess", "moves": moves, **more}}


def test_moves_by_rating_are_those_of_the_analysis(client: Client) -> None:
    found = client.good("/api/ratings", asked(MOVES))
    assert tuple(found["ratings"]) == RATINGS
    by_move = {each["move"]: each for each in found["moves"]}
    result = client.stream("/api/analyse", {**asked(MOVES), "from": 5, "to": 5, "seq": 1})
    weak, strong = next(line for line in result if "by_rating" in line)["by_rating"]
    for compared in (weak, strong):
        first = compared["moves"][0]
        assert by_move[first["move"]]["p"][RATINGS.index(compared["rating"])] == pytest.approx(first["p"], abs=1e-3)
    assert all(len(each["p"]) == len(RATINGS) for each in found["moves"])
    board = chess.Board()
    for name in MOVES:
        board.push_uci(name)
    assert set(by_move) == {move.uci() for move in board.legal_moves}
    for at in range(len(RATINGS)):
        assert sum(each["p"][at] for each in found["moves"]) == pytest.approx(1, abs=0.003)


ITALIAN = "1. e4 e5 2. Nf3 Nc6 3. Bc4 Nf6 4. Ng5 Bc5 5. Nxf7 Bxf2+ 6. Kxf2 Nxe4+ 7. Kg1 Qh4 8. g3 Nxg3 9. hxg3 Qxg3+ *"
MATE = "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# *"
"""Before the last two moves, the mover can allow a mate in one, and can mate in one."""


@pytest.mark.parametrize(("text", "count"), [(ITALIAN, 18), (MATE, 7)])
def test_all_interfaces_show_the_same_risk(
    client: Client, text: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last six positions are compared. The depth is a setting for judging moves and does not change the risk."""
    for module in ("limits", "judging"):
        monkeypatch.setattr(f"kibitz.analysis.chess.{module}.NODES", 80)
    game = kibitz.analyse(text, "human", depth=2)
    moves = [move.uci for move in game.moves]
    assert len(moves) == count
    changed = 0
    for ply, move in enumerate(game.moves):
        if ply < count - 6:
            continue
        assert move.judged is not None  # type: ignore[union-attr]
        shown = dict(zip(RISK_RATINGS, move.judged.risks, strict=True))  # type: ignore[union-attr]
        in_python = kibitz.moves_by_rating(text, "human", ply=ply)
        *_, searched = client.stream("/api/candidates", {**asked(moves[:ply]), "seq": 1})
        estimated = client.good("/api/ratings", asked(moves[:ply]))["risk"]
        for rating, risk in shown.items():
            at = RATINGS.index(rating)
            assert in_python.risk[at] == pytest.approx(risk, abs=1e-4), (move.san, rating)
            assert searched["risk"][at] == pytest.approx(risk, abs=1e-4), (move.san, rating)
            changed += abs(estimated[at] - risk) > 0.01
    assert changed > 6  # so the search decides


def test_likely_moves_are_those_of_the_analysis_of_the_same_game(client: Client) -> None:
    headers = {"Event": "Live Chess", "Site": "https://www.chess.com/game/live/1", "TimeControl": "600"}
    tags = {**headers, "WhiteElo": "1555", "BlackElo": "1557"}
    clocks = (
        "1. e4 {[%clk 0:10:00]} e5 {[%clk 0:09:59]} 2. Nf3 {[%clk 0:09:58]} Nc6 {[%clk 0:09:50]} 3. Bc4 Nf6 4. Ng5 *"
    )
    text = "".join(f'[{name} "{value}"]\n' for name, value in tags.items()) + f"\n{clocks}\n"
    analyzed = kibitz.analyse(text, "human").as_json()["moves"]
    opened = client.good("/api/load", {"text": text})
    known = {name: opened["headers"][name] for name in headers}
    line = {"moves": [each["move"] for each in opened["tree"][1:]], "ratings": [1555, 1557]}
    shown, without = (
        [one["moves"] for one in client.stream("/api/analyse", {**asked(**each), "seq": 1}) if "moves" in one]
        for each in ({**line, "headers": known}, line)
    )
    assert shown != without
    assert len(analyzed) == 7
    for move, likely in zip(analyzed, shown, strict=False):
        for choice, one in zip(move["choices"], likely, strict=False):
            assert (choice["san"], choice["probability"]) == (one["san"], pytest.approx(one["p"], abs=1e-3))


def test_the_only_legal_move_is_no_mistake(client: Client) -> None:
    found = client.good("/api/ratings", asked([], fen="7k/8/8/8/8/8/r7/7K w - - 0 1"))
    assert [each["move"] for each in found["moves"]] == ["h1g1"]
    assert set(found["risk"]) == {0.0}


def test_stronger_players_go_wrong_less_often(client: Client) -> None:
    risk = client.good("/api/ratings", asked(MOVES))["risk"]
    assert 0 < risk[-1] < risk[0] < 1


def test_without_a_legal_move_there_is_nothing(client: Client) -> None:
    mate = ["f2f3", "e7e5", "g2g4", "d8h4"]
    assert client.good("/api/ratings", asked(mate)) == {"ratings": list(RATINGS), "moves": [], "risk": None}
    assert client.good("/api/ratings", asked(mate[:3]))["moves"]


def test_only_networks_with_ratings_are_asked(client: Client) -> None:
    assert client.good("/api/ratings", asked(MOVES))
    assert mentions(client.error("/api/ratings", asked(MOVES, "chessnet")), "chessnet")
    go = {"network": "gohuman", "line": {"game": "go", "size": 9, "moves": []}}
    assert mentions(client.error("/api/ratings", go), "chess")
