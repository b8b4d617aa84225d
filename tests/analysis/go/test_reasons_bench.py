"""bench/bench_go_reasons.py: games with illegal moves, and the checks by GNU Go's territory and by longer searches."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[3]
ATARI = "B[dd];W[dc];B[qq];W[cd];B[qp];W[ed];B[qo];W[pd];B[qn];W[de]"
"""White surrounds the stone at D16 and captures it with the last move."""


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    for folder in ("bench", "tools"):
        monkeypatch.syspath_prepend(str(ROOT / folder))
    import bench_go_reasons

    return bench_go_reasons


@pytest.mark.parametrize("more", ["", ";B[dc];W[jj]"], ids=["legal", "then on a stone"])
def test_the_proofs_end_before_an_illegal_move(bench: Any, tmp_path: Path, more: str) -> None:
    game, target = tmp_path / "game.sgf", tmp_path / "cases.jsonl"
    game.write_text(f"(;GM[1]SZ[19];{ATARI}{more})")
    bench.collect_by_rules(target, [str(game)], range(1))
    first, *cases = [json.loads(line) for line in target.read_text().splitlines()]
    assert first["game"] == 0
    assert {case["ply"] for case in cases} <= set(range(1, 11))


def test_longer_searches_of_proofs_have_the_terms_of_the_game(
    bench: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    game, target, seen = tmp_path / "game.sgf", tmp_path / "cases.jsonl", list[Any]()
    stones = "AW[dd][de][df]AB[cd][ce][cf][dc][ed][ee][ef]"  # Black may capture three stones, and plays elsewhere
    game.write_text(f"(;GM[1]SZ[9]KM[5.5]RU[Japanese]{stones};B[aa])")
    bench.collect_by_rules(target, [str(game)], range(1))

    def searching(_network: Any, terms: Any, _visits: int) -> Any:
        seen.append((terms.komi, terms.territory))
        return lambda board: SimpleNamespace(moves=[SimpleNamespace(lead=1.0)], owners=np.full(361, 0.5))

    monkeypatch.setattr(bench, "opened", lambda network: network)
    monkeypatch.setattr(bench, "searching", searching)
    bench.search_longer(target, "gohuman", 30)
    assert set(seen) == {(5.5, True)}


class Program:
    """A GNU Go whose territory depends on the last move: the stone at Q16 makes the upper right Black's."""

    def __init__(self, _words: list[str], _name: str, _folder: Path) -> None:
        self.played: list[str] = []

    def request(self, command: str, _limit: float) -> str:
        if command == "clear_board":
            self.played.clear()
        if command.startswith("play"):
            self.played.append(command)
        if not command.startswith("initial_influence"):
            return ""
        black = "play black Q16" in self.played
        rows = [["-3.00" if black and row < 3 and column > 15 else "0.00" for column in range(19)] for row in range(19)]
        return "\n".join(" ".join(row) for row in rows)


@pytest.mark.parametrize(("colour", "gained"), [("black", 2.0), ("white", -2.0)])
def test_the_territory_in_the_area_of_a_reason(
    bench: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, colour: str, gained: float
) -> None:
    monkeypatch.setattr(bench, "GtpProgram", Program)
    case = {
        "size": 19, "stones": [[], []], "side": 0, "moves": [], "lines": [["Q16", "D4"], ["D16", "D4"]],
        "reason": {"code": "loses_area", "parameters": {"colour": colour, "area": ["T19", "S18", "P10"]}},
    }  # fmt: skip
    checker = bench.Checker(str(tmp_path), 0)
    assert checker.by_territory(case, case["reason"]["parameters"]) == (gained, 0.0)
    assert checker.confirms(case) == ((gained > 0,) * 2)


def case(code: str, owners: list[Any], lost: float = 10.0, **parameters: Any) -> dict[str, Any]:
    """A case of White's on 9×9: Black has stones at D4 and D5. The longer searches found these owners and this loss."""
    said = {"colour": "black", "at": "D4", "stones": 2, "points": 10, "area": ["D4", "D5", "E4", "E5", "F4"]}
    return {
        "size": 9, "stones": [["D4"], []], "side": 0, "terms": [7.5, False, 0], "moves": ["D5"], "best": "G5",
        "played": "G6", "reason": {"code": code, "parameters": {**said, **parameters}},
        "longer": {"visits": 9, "lost": lost, "owners": owners},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("code", "better", "after", "lost", "confirmed"),
    [
        ("elsewhere", 0.5, 0.5, 5.0, True), ("elsewhere", 0.5, 0.5, 4.9, False), ("passes", 0.5, 0.5, 5.0, True),
        ("loses_area", 0.2, 0.71, 0.0, True), ("loses_area", 0.2, 0.69, 9.0, False),
        ("loses_area", 0.71, 0.2, 9.0, False), ("misses_kill", 0.4, 0.6, 0.0, True),
        ("misses_kill", 0.45, 0.55, 9.0, False), ("misses_attack", 0.6, 0.9, 9.0, False),
        ("misses_kill", 0.9, 0.1, 9.0, False),
    ],
)  # fmt: skip
def test_longer_searches_confirm_a_reason(
    bench: Any, code: str, better: float, after: float, lost: float, confirmed: bool
) -> None:
    """White is to move, so an area is White's if Black's probabilities are small."""
    assert bench.by_longer_search(case(code, [[better] * 361, [after] * 361], lost)) == confirmed


def test_the_longer_searches_are_kept(bench: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    target, seen = tmp_path / "cases.jsonl", list[Any]()

    def searching(_network: Any, terms: Any, visits: int) -> Any:
        def search(board: Any) -> Any:
            seen.append((terms.komi, visits, board.to_move, board[bench.from_gtp("D5", 9)]))
            lead = 3.0 if board[bench.from_gtp("G6", 9)] else 1.0
            return SimpleNamespace(moves=[SimpleNamespace(lead=lead)], owners=np.full(361, lead / 10))

        return search

    monkeypatch.setattr(bench, "opened", lambda network: network)
    monkeypatch.setattr(bench, "searching", searching)
    one = case("elsewhere", [], points=4)
    target.write_text(json.dumps({"game": 0, "moves": 9}) + "\n" + json.dumps(one) + "\n")
    for visits in (30, 30, 40):
        bench.search_longer(target, "gohuman", visits)
    assert seen == [(7.5, 30, 1, 1)] * 2 + [(7.5, 40, 1, 1)] * 2
    longer = json.loads(target.read_text().splitlines()[1])["longer"]
    assert (longer["visits"], longer["lost"]) == (40, 2.0)
    assert [owners[0] for owners in longer["owners"]] == [0.1, 0.3]
