"""Written Go games: sgfmill reads them back, and the marks are as FF[4] wants them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sgfmill.sgf
from sgfmill import sgf_moves

from kibitz.analysis.go import answers
from kibitz.analysis.go.games import AnalysedGame, analyse
from kibitz.analysis.go.sgf import annotated, position_notes
from kibitz.games.go.io.sgf import parse_record
from kibitz.games.go.points import GRID
from support.causes import mentions
from support.go_fakes import FakeOwners, owners

GAME = (
    "(;GM[1]FF[4]CA[UTF-8]SZ[9]KM[6.5]PB[Sh\u016b \\] \\\\]BR[3k]PW[B]EV[Cup]DT[2020-01-02]RU[Chinese]RE[W+3.5]"
    ";B[ee];W[ec];B[cc];W[gg];B[ge];W[])"
)
LEFT = ["999555111"] * 9
AHEAD = ["999999555"] * 9
LOST = ["000555111"] * 3 + ["999555111"] * 6


def one_game(text: str = GAME, maps: Any = None) -> AnalysedGame:
    fake: Any = FakeOwners([owners(*rows) for rows in maps] if maps else None)
    return analyse(1, parse_record(text), fake, answers)


def read(text: str) -> list[dict[str, list[str]]]:
    """The nodes of the main line, with the raw values of their properties."""
    game = sgfmill.sgf.Sgf_game.from_string(text)
    return [
        {name: [value.decode() for value in node.get_raw_list(name)] for name in node.properties()}
        for node in game.get_main_sequence()
    ]


def test_the_game_stays_as_it_was() -> None:
    before, after = (sgfmill.sgf.Sgf_game.from_string(text) for text in (GAME, annotated(one_game())))
    assert sgf_moves.get_setup_and_moves(after)[1] == sgf_moves.get_setup_and_moves(before)[1]
    assert (after.get_size(), after.get_komi(), after.get_winner()) == (9, 6.5, "w")
    for name in ("PB", "BR", "PW", "EV", "DT", "RU", "RE"):
        assert after.get_root().get(name) == before.get_root().get(name)
    assert after.get_root().get_raw("AP").startswith(b"kibitz:")


def test_handicap_stones_stay() -> None:
    text = "(;GM[1]FF[4]SZ[9]HA[2]KM[0.5]AB[gc][cg];W[ee];B[ec])"
    before, after = (sgfmill.sgf.Sgf_game.from_string(one) for one in (text, annotated(one_game(text))))
    board, moves = sgf_moves.get_setup_and_moves(after)
    expected, played = sgf_moves.get_setup_and_moves(before)
    assert moves == played
    assert board.list_occupied_points() == expected.list_occupied_points()


def test_the_summary_is_in_the_last_comment() -> None:
    nodes = read(annotated(one_game(maps=[AHEAD, AHEAD, AHEAD, LOST, LOST, LOST, LOST])))
    text = nodes[-1]["C"][0]
    assert "Accuracy: Black " in text
    assert mentions(text, "White & ahead & move 3, & C7")
    assert not any("Accuracy" in node["C"][0] for node in nodes[:-1])


def test_what_is_written_of_a_swing() -> None:
    judged = one_game(maps=[LEFT, LEFT, LEFT, LOST, LOST, LEFT, LEFT])
    nodes = read(annotated(judged))
    assert len(nodes) == 7
    for node, position in zip(nodes, judged.positions, strict=True):
        assert float(node["V"][0]) == round(position.score.lead, 1)
        assert node["C"][0].startswith("Lead ")
    assert [sorted({"BM", "DO", "TE", "HO"} & set(node)) for node in nodes] == [
        [], [], [], ["BM", "HO"], [], ["HO", "TE"], [],
    ]  # fmt: skip
    assert nodes[3]["BM"] == ["2"]
    assert "Big mistake: -" in nodes[3]["C"][0]
    assert mentions(nodes[3]["C"][0], "9 & B8 & White's & points")
    assert set(nodes[3]["TR"]) == {"aa", "ba", "ca", "ab", "bb", "cb", "ac", "bc"}  # the move has a mark of its own
    assert "Good move: +" in nodes[5]["C"][0]
    assert nodes[5]["SQ"] == ["cc"]


def test_territory_is_where_the_network_is_sure() -> None:
    judged = one_game(maps=[LEFT, LEFT, LEFT, LOST, LOST, LEFT, LEFT])
    nodes = read(annotated(judged))
    column = {name: {chr(97 + c) + chr(97 + r) for c in cs for r in range(9)} for name, cs in (("left", (0, 1, 2)),)}
    assert set(nodes[1]["TB"]) == column["left"]
    assert set(nodes[6]["TB"]) == column["left"] - {"cc"}  # a black stone
    assert "cc" in nodes[3]["TW"]  # a black stone that White takes
    for node, position in zip(nodes, judged.positions, strict=True):
        black, white = set(node.get("TB", [])), set(node.get("TW", []))
        assert len(black) == len(node.get("TB", []))
        assert not black & white
        for points, own in ((black, 1), (white, 2)):
            for point in points:
                assert position.colours[(ord(point[1]) - 97) * GRID + ord(point[0]) - 97] not in (own, 3)
        marked = [*node.get("SQ", []), *node.get("TR", [])]
        assert len(set(marked)) == len(marked)


def test_komi_is_written_where_it_was() -> None:
    assert "KM[0]" in annotated(one_game("(;GM[1]FF[4]SZ[9]KM[0];B[ee])"))
    assert "KM[" not in annotated(one_game("(;GM[1]FF[4]SZ[9];B[ee])"))


def test_a_doubtful_move_has_an_empty_value_and_zero_no_sign() -> None:
    flat = ["555555555"] * 9
    doubtful = ["555555555"] * 8 + ["555552222"]  # Black loses 2.4 points of the usual 3, and then with komi 0 none
    text = "(;GM[1]FF[4]SZ[9]KM[0];B[ee])"
    assert "DO" not in read(annotated(one_game(text, [flat, doubtful])))[1]
    doubtful = ["555555555"] * 8 + ["555522222"]
    nodes = read(annotated(one_game(text, [flat, doubtful])))
    assert nodes[0]["V"] == ["0.0"]
    assert nodes[1]["DO"] == [""]
    assert nodes[1]["V"] == ["-3.0"]


def test_a_game_that_stops_early_is_written_as_far_as_it_goes() -> None:
    nodes = read(annotated(one_game("(;GM[1]SZ[9]KM[0];B[ee];W[ec];B[ee];W[gg])")))
    assert len(nodes) == 3


def test_owners_that_moved_the_other_way_are_no_explanation() -> None:
    judged = one_game(maps=[LEFT, LEFT, LEFT, LOST, LOST, LEFT, LEFT])
    move, position = judged.moves[2], judged.positions[3]
    assert move.shift is not None
    assert position_notes(position, move)["C"][0].count("\n") == 2
    against = replace(move, shift=replace(move.shift, gain=-move.shift.gain))
    assert position_notes(position, against)["C"][0].count("\n") == 1
