"""bench/bench_go_reasons.py: games with illegal moves, and the check of an area by GNU Go's territory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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
