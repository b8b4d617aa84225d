"""Go boards: stones, squares, crosses and the ring stand where they belong, and a page of them is small."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz.games.go.points import GRID, POINTS, from_gtp
from kibitz.report.boards.go import EDGE, STEP, board_defs, board_svg
from kibitz.report.page import render_test_page
from support.causes import mentions
from support.examples import share


def board(size: int = 9, seed: int = 1) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "size": size,
        "stones": ["".join(row) for row in rng.choice(list(".XO"), (size, size))],
        "owners": ["".join(row) for row in rng.choice(list("-XO"), (size, size))],
        "black_owns": [" ".join(map(str, row)) for row in rng.integers(0, 101, (size, size))],
    }


def plain(size: int = 9) -> dict[str, Any]:
    return {
        "size": size,
        "stones": ["." * size] * size,
        "owners": ["-" * size] * size,
        "black_owns": [" ".join(["50"] * size)] * size,
    }


def put(position: dict[str, Any], row: int, column: int, **what: Any) -> None:
    """Change one point of a position."""
    for name, value in what.items():
        rows = list(position[name])
        cells = rows[row].split() if name == "black_owns" else list(rows[row])
        cells[column] = str(value)
        rows[row] = (" " if name == "black_owns" else "").join(cells)
        position[name] = rows


def squares(svg: str) -> list[dict[tuple[float, float], int]]:
    """What is drawn as owned, read back: for each path, the middle of each square and its side."""
    found = []
    for path in ElementTree.fromstring(svg).iter("path"):
        if path.get("class") == "owned":
            parts = re.findall(r"M(\S+) (\S+?)h(\d+)v\d+h-\d+z", path.get("d") or "")
            found.append({(float(x) + int(s) / 2, float(y) + int(s) / 2): int(s) for x, y, s in parts})
    return found


def at(row: int, column: int) -> tuple[int, int]:
    return EDGE + STEP * column, EDGE + STEP * row


def test_a_board_by_hand() -> None:
    position = plain()
    put(position, 0, 0, stones="X", black_owns=100, owners="X")  # A9: black, surely alive
    put(position, 0, 2, stones="O", black_owns=90, owners="O")  # C9: white, thought dead, and it lives
    put(position, 4, 4, black_owns=30, owners="O")  # E5: rather White's, rightly
    put(position, 8, 8, black_owns=52)  # J1: nobody knows
    put(position, 8, 0, black_owns=0, owners="-")  # A1: neutral in the end: no cross
    svg = board_svg(position, "C9")
    black, white = squares(svg)
    assert black == {at(0, 0): 13, at(0, 2): 10}
    assert white == {at(4, 4): 5, at(8, 0): 13}
    root = ElementTree.fromstring(svg)
    (cross,) = (path for path in root.iter("path") if path.get("class") == "wrong-points")
    x, y = at(0, 2)
    assert cross.get("d") == f"M{x - 4.5} {y - 4.5}l9 9m0-9l-9 9"
    stones = [[(c.get("cx"), c.get("cy")) for c in group] for group in root.iter("g")]
    assert stones == [[("26", "26")], [("66", "26")]]
    ring = root.findall("circle")
    assert [(c.get("cx"), c.get("cy"), c.get("fill")) for c in ring] == [("66", "26", "none")]
    assert mentions(root[0].text, "1 & black & white & C9 & Predicted & 3 & stones")


@given(st.integers(0, 10_000), st.sampled_from([9, 13, 19]))
@settings(max_examples=share(0.5))
def test_everything_stands_on_its_point(seed: int, size: int) -> None:
    position = board(size, seed)
    svg = board_svg(position)
    root = ElementTree.fromstring(svg)
    groups = [group for group in root.iter("g") if group.get("class") == "stones"]
    for letter, group in zip("XO", groups, strict=True):
        expected = {at(r, c) for r in range(size) for c in range(size) if position["stones"][r][c] == letter}
        assert {(int(stone.get("cx") or 0), int(stone.get("cy") or 0)) for stone in group} == expected
    percents = np.array([row.split() for row in position["black_owns"]], int)
    for mine, chance in zip(squares(svg), (percents, 100 - percents), strict=True):
        for (x, y), side in mine.items():
            row, column = int((y - EDGE) / STEP), int((x - EDGE) / STEP)
            assert (x, y) == at(row, column)
            assert side == pytest.approx(13 * (chance[row, column] - 50) / 50, abs=0.51)
    wrong = sum(
        (chance < 50 and owner == "X") or (chance > 50 and owner == "O")
        for row, owners in zip(percents, position["owners"], strict=True)
        for chance, owner in zip(row, owners, strict=True)
    )
    crosses = [path.get("d") or "" for path in root.iter("path") if path.get("class") == "wrong-points"]
    assert sum(path.count("M") for path in crosses) == wrong


def test_a_board_without_prediction_is_stones() -> None:
    svg = board_svg({"size": 9, "stones": ["X........", *["." * 9] * 8]}, "A9")
    assert 'class="owned"' not in svg
    assert "Predicted" not in svg
    assert "<circle" not in board_svg({"size": 9, "stones": ["." * 9] * 9}, "pass")


@pytest.mark.parametrize("size", [9, 13, 19])
def test_what_boards_refer_to_is_defined_once(size: int) -> None:
    defined = board_defs([19, size, 9, 9])
    ElementTree.fromstring(defined)
    ids = re.findall(r' id="([^"]+)"', defined)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', board_svg(board(size)))) <= set(ids)
    names = ElementTree.fromstring(board_defs([size])).iter("text")
    assert [name.text for name in names][:9] == list("ABCDEFGHJ")


@pytest.mark.parametrize(
    "broken",
    [
        {"size": 20}, {"stones": ["........"] * 9}, {"stones": ["........#"] * 9}, {"stones": ["."] * 9},
        {"black_owns": ["50"] * 9}, {"black_owns": ["50 " * 8 + "101"] * 9}, {"black_owns": ["a " * 9] * 9},
        {"owners": ["........<"] * 9},
    ],
)  # fmt: skip
def test_what_is_no_board_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        board_svg(plain() | broken)
    with pytest.raises(ValueError, match=r"."):
        board_svg(plain(), "<script>")


def test_a_page_of_many_boards_is_small_and_draws_no_chess() -> None:
    figure = {"value": 0.8, "low": 0.79, "high": 0.81, "n": 100, "games": 10, "kind": "share"}
    shown = [
        {
            "board": board(19, seed), "last_move": "Q16", "probability": 0.8, "probability_of": "right", "game": "1",
            "ply": 3, "white": "<b>", "black": "B", "white_rating": "9d", "black_rating": None, "date": None,
            "result": "B+R",
        }
        for seed in range(60)
    ]  # fmt: skip
    moves = [f"A{i}" for i in range(1, 13)]
    curve = {
        "title": "Through the moves", "text": "As it goes.", "heading": "moves played",
        "lines": [{"name": "the network", "points": [[4.5, figure], [14.5, figure | {"low": None, "high": None}]]},
                  {"name": "nothing", "points": []}],
    }  # fmt: skip
    result = {
        "figures": {"accuracy": figure}, "curves": [curve], "gallery": [{"title": "Half-way", "positions": shown[:20]}],
        "mistakes": shown[20:], "texts": {"counted": "points", "course": "The course"},
        "calibration": [{"low": 0.9, "high": 1.0, "predicted": 0.95, "observed": figure, "n": 100}],
        "games": {"1": {"white": "<b>", "black": "B", "moves": moves, "curve": [0.5] * 13, "numbered": 10}},
    }  # fmt: skip
    page = render_test_page(result)
    assert page.count('class="board"') == 61
    assert len(page.encode()) < 1_800_000
    assert page.count('id="go-19"') == 1
    assert "white-knight" not in page
    assert 'class="cards large"' in page
    assert "<b></span>" not in page
    assert re.findall(r'<h2 id="([^"]+)"', page) == [
        "figures",
        "calibration",
        "curve-0",
        "gallery",
        "mistakes",
        "games",
    ]
    assert re.findall(r"<i>([^<]+)</i>", page) == ["1.", "11."]
    assert "<title>The course</title>" in page
    assert '<th scope="col">points</th>' in page


def test_the_grid_of_a_position_is_the_grid_of_points() -> None:
    assert from_gtp("A19", 19) == 0
    assert from_gtp("T1", 19) == POINTS - 1
    assert divmod(from_gtp("C9", 9), GRID) == (0, 2)
