"""A position of Go is worth the same wherever one asks: list, Compare, curve, Python, `analyze`, and GTP."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import kibitz
from kibitz.analysis.go import better
from kibitz.engines.gtp.session import GtpSettings
from kibitz.games.go.points import to_gtp
from kibitz.play.go import value as go_value
from kibitz.play.go.value import VISITS
from kibitz.play.session import Session
from support.board_client import Client
from support.gtp_bench import Bench

FINISHED = "AB[ac][bc][cc][dc][ec][fc][gc][hc][ic]AW[ae][be][ce][de][ee][fe][ge][he][ie]"
"""Two walls. They are set up, because each move of a game costs a search."""
GAMES = {
    "begin": "(;GM[1]SZ[9]KM[7]RU[Chinese])",
    "opening": "(;GM[1]SZ[19]KM[6.5]RU[Japanese];B[pd];W[dp];B[qp])",
    "five stones": "(;GM[1]SZ[19]KM[0.5]HA[5]RU[Japanese]AB[dd][pp][dp][pd][jj];W[nc];B[qf])",
    "handicap, no rules": "(;GM[1]SZ[9]KM[0.5]HA[2]AB[cc][gg];W[gc])",
    "no rules": "(;GM[1]SZ[9]KM[5.5];B[ee];W[ec];B[gd])",
    "one pass": f"(;GM[1]SZ[9]KM[5.5]RU[Japanese]{FINISHED};B[])",
    "two passes": f"(;GM[1]SZ[9]KM[5.5]RU[Japanese]{FINISHED};B[];W[])",
}
FIRST_MOVE = re.compile(r"info move \S+ visits \d+ .*? winrate ([\d.]+) scoreMean (-?[\d.]+)")


def line_of(client: Client, sgf: str) -> dict[str, Any]:
    """The line that the page makes of a record."""
    loaded = client.good("/api/load", {"text": sgf})
    return {**loaded["line"], "moves": [node["move"] for node in loaded["tree"][1:]]}


def of_page(client: Client, network: str, sgf: str) -> dict[str, tuple[float, float]]:
    """Black's chance and lead: the list's best line, *Compare*, and the curve's value without a search."""
    line = line_of(client, sgf)
    request = {"network": network, "line": line, "seq": 1}
    alone = client.stream("/api/analyse", {**request, "from": len(line["moves"])})
    found = {"curve": next((one["black"], one["score"]) for one in alone if "black" in one)}
    if network == "gohuman":
        compared = client.stream("/api/value", request)[-1]
        found["compare"] = compared["chance"], compared["score"]
        if compared["source"] == "search":
            best = client.stream("/api/candidates", request)[-1]["lines"][0]
            found["list"] = best["black"], best["score"]
    return found


def of_gtp(network: str, path: Path) -> dict[str, tuple[float, float]]:
    """`kibitz-score`, as text in tenths."""
    bench = Bench(Session(network), GtpSettings("kibitz", "1.0", visits=VISITS))
    rules = [] if "RU[" in path.read_text() else ["kata-set-rules new-zealand"]  # the record's own come with it
    bench.engine.run([f"loadsgf {path}", *rules, "kibitz-score"])
    lead, chance = re.search(
        r"(?:Expected|Counted) score ([^ ,]+).*, Black's win probability ([\d.]+)%", bench.text
    ).groups()
    points = 0.0 if lead == "0" else float(lead[2:]) * (1 if lead[0] == "B" else -1)
    return {"kibitz-score": (float(chance) / 100, points)}


def close(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two values are one, as far as tenths tell."""
    return abs(one[0] - other[0]) <= 0.00051 and abs(one[1] - other[1]) <= 0.0501


@pytest.mark.process
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("network", ["gohuman", "gocnn"])
def test_one_value(client: Client, tmp_path: Path, network: str, name: str) -> None:
    path = tmp_path / "game.sgf"
    path.write_text(GAMES[name])
    page = of_page(client, network, GAMES[name])
    loaded = kibitz.load_network(network)
    value = loaded.value_position(GAMES[name])
    assert value.lead is not None
    evaluated = loaded.evaluate(GAMES[name])
    alone = {"python": (evaluated.black, evaluated.score), "curve": page.pop("curve")}
    analysed = kibitz.analyse(path, network, nodes=0)
    told = analysed.positions[-1].prediction
    alone["analyze"] = (alone["python"][0] if told is None else told.black_wins, analysed.positions[-1].score.lead)
    searched = {"python": (value.chance, value.lead), **page, **of_gtp(network, path)}
    if network == "gohuman":
        last = kibitz.analyse(path, network, nodes=VISITS).positions[-1]
        searched["analyze"] = (last.prediction.black_wins, last.score.lead)
    for found in (alone, searched):
        assert all(close(one, found["python"]) for one in found.values()), found
    assert value.source == ("rules" if name == "two passes" else "search" if network == "gohuman" else "network")
    if value.source != "search":
        assert close(searched["python"], alone["python"])
    if name == "two passes":
        assert value.chance == 0.0, "White has 18 points more and the komi"


@pytest.mark.process
def test_a_move_loses_the_same_on_the_page_and_in_analyze(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A good move, a blunder that is searched longer, and passes that end the game. The searches are short, because it
    matters only that they are the same.
    """
    monkeypatch.setattr(go_value, "VISITS", 16)
    monkeypatch.setattr(better, "LONG_VISITS", 24)
    sgf = "(;GM[1]SZ[9]KM[7]RU[Chinese];B[ee];W[aa];B[];W[])"
    path = tmp_path / "game.sgf"
    path.write_text(sgf)
    found, line = kibitz.analyse(path, "gohuman", nodes=16).moves, line_of(client, sgf)
    for number in (1, 2, 4):  # when the page checks the first pass, the game is not over
        request = {"network": "gohuman", "line": {**line, "moves": line["moves"][:number]}, "seq": 1}
        told, move = client.stream("/api/check", request)[-1], found[number - 1]
        assert isinstance(told["lead"], float)
        if number == 2:  # the analysis counts the final position, which here follows the move
            assert move.better is not None
            assert told["points"] == round(move.better.points, 1)
            assert told["line"] == [to_gtp(point, 9) for point in move.better.line][:6]
            assert told["mark"] == move.mark != ""
        else:
            assert (told["points"], told["mark"]) == (pytest.approx(-move.change, abs=0.051), move.mark)


@pytest.mark.process
def test_a_stream_of_analysis_passes_through_the_value(tmp_path: Path) -> None:
    """`kata-analyze` goes on from the search that values a position: it shows that value when it is as far."""
    path = tmp_path / "game.sgf"
    path.write_text(GAMES["no rules"])
    value = kibitz.load_network("gohuman").value_position(GAMES["no rules"])
    session = Session("gohuman")
    from kibitz.games.go.io.sgf import parse_record
    from kibitz.play.go.puct import GoPuctPlayer
    from kibitz.play.go.thought import Terms

    board = parse_record(GAMES["no rules"]).board()
    player = GoPuctPlayer(session, visits=VISITS)
    leads = []
    for look in player.looks(board, board.to_move, Terms(5.5).for_board()):
        leads.append(-look(1).moves[0].lead)  # White is to move
        if look(1).visits > 2 * VISITS:
            break
    assert min(abs(lead - value.lead) for lead in leads) < 1e-6
    assert json.dumps(leads[-1]) != json.dumps(value.lead)
