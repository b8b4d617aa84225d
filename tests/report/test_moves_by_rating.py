"""The curves of moves by rating: every likely move, traps marked, well-formed whatever the words."""

from __future__ import annotations

from xml.etree import ElementTree

from kibitz.report.curves import moves_by_rating_png
from kibitz.report.moves_by_rating import CURVES, TRAP, curves_of, moves_by_rating_svg

SVG = "{http://www.w3.org/2000/svg}"
FOUND = {
    "ratings": [800, 1800, 2800],
    "moves": [
        {"move": "e2e4", "san": "e4", "p": [0.3, 0.4, 0.52]},
        {"move": "a2a3", "san": "<a3>&", "p": [0.01, 0.01, 0.02]},
        {"move": "g2g4", "san": "g4", "p": [0.03, 0.02, 0.01]},
    ],
    "traps": [{"move": "g2g4"}],
}


def test_likely_moves_and_traps_have_curves() -> None:
    assert [(move["san"], is_trap) for move, _, is_trap in curves_of(FOUND)] == [("e4", False), ("g4", True)]
    without = curves_of({**FOUND, "traps": []})
    assert [move["san"] for move, _, _ in without] == ["e4"]
    many = [{"move": f"m{i}", "san": f"m{i}", "p": [0.1, 0.1, 0.1]} for i in range(CURVES + 3)]
    assert len(curves_of({**FOUND, "moves": many, "traps": [{"move": "m10"}]})) == CURVES + 1


def test_the_svg_has_a_curve_for_each_move() -> None:
    moves = [{**move, "p": [0.2, 0.2, 0.2]} for move in FOUND["moves"]]  # type: ignore[attr-defined]
    root = ElementTree.fromstring(moves_by_rating_svg({**FOUND, "moves": moves}, "After <1>", ["Trap & more"]))
    lines = list(root.iter(f"{SVG}polyline"))
    assert [line.get("class") for line in lines] == ["move", "move", "trap"]
    assert lines[2].get("stroke") == TRAP
    heights = {point.split(",")[1] for point in lines[0].get("points", "").split()}
    assert len(heights) == 1
    words = ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]
    assert {"After <1>", "Trap & more", "<a3>&", "g4 (trap)", "25%", "800", "rating of both players"} <= set(words)


def test_a_higher_share_is_higher_in_the_picture() -> None:
    root = ElementTree.fromstring(moves_by_rating_svg(FOUND, "", []))
    points = next(root.iter(f"{SVG}polyline")).get("points", "").split()
    x, y = zip(*(map(float, point.split(",")) for point in points), strict=True)
    assert list(x) == sorted(x)
    assert list(y) == sorted(y, reverse=True)


def test_the_png_is_a_picture() -> None:
    picture = moves_by_rating_png(FOUND, "After 1. e4", ["A trap"])
    assert picture.startswith(b"\x89PNG\r\n")
    assert picture != moves_by_rating_png({**FOUND, "moves": FOUND["moves"][:1]}, "After 1. e4", ["A trap"])  # type: ignore[index]
