"""Leads, swings and shown positions of Go games, by networks whose answers are written down."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz.analysis import load_owners
from kibitz.analysis.glyphs import GAINED
from kibitz.analysis.go import answers
from kibitz.analysis.go.games import SWINGS, AnalysedGame, Score, analyse, score
from kibitz.analysis.go.notes import lead_words
from kibitz.analysis.summary import TurningPoint
from kibitz.engines.gtp.game import fixed_handicap
from kibitz.games.go.io.sgf import Record, parse_record, read_records
from kibitz.games.go.points import BLACK, GRID, POINTS, WHITE, from_gtp
from kibitz.games.go.replay import start_row
from kibitz.play.session import Session
from support.causes import mentions
from support.go_fakes import FakeGo, FakeOwners, influence, owners

GAME = "(;GM[1]FF[4]SZ[9]KM[6.5]PB[Shū]PW[B]BR[3k]RE[W+3.5];B[ee];W[ec];B[cc];W[gg])"
EVEN = ["5" * 9] * 9


def leading(points: float) -> np.ndarray:
    """A board of 9 × 9 on which Black leads by so many points before komi, the same on all."""
    found = owners(*EVEN)
    found[start_row(9)[:POINTS] == 0] = (points / 81 + 1) / 2
    return found


@pytest.fixture
def judged() -> Callable[..., AnalysedGame]:
    def one(text: str, leads: list[float] | None = None, swing: float | None = None) -> AnalysedGame:
        fake: Any = FakeOwners(None if leads is None else [leading(lead) for lead in leads])
        return analyse(1, parse_record(text), fake, answers, swing)

    return one


def test_a_network_of_a_person_predicts_only_this_person() -> None:
    fake: Any = FakeGo()
    fake.of_person, fake.run.person = True, {"name": "Shū", "names": ["Shū"]}
    found = analyse(1, parse_record(GAME), fake, answers, nodes=0).as_json()
    assert [("expected" in move, "probability" in move) for move in found["moves"]] == [
        (True, True),
        (False, False),
    ] * 2
    assert mentions(found["note"], "Shū & trained")
    fake.of_person = False
    found = analyse(1, parse_record(GAME), fake, answers, nodes=0).as_json()
    assert all("expected" in move for move in found["moves"])
    assert "note" not in found


def test_leads_and_changes(judged: Callable[..., AnalysedGame]) -> None:
    game = judged(GAME, [6.5, 8.5, 16.5, 10.5, 10.5])
    assert [move.vertex for move in game.moves] == ["E5", "E7", "C7", "G3"]
    assert [move.side for move in game.moves] == ["black", "white", "black", "white"]
    assert [move.before.lead for move in game.moves] == pytest.approx([0, 2, 10, 4], abs=1e-4)
    assert [move.after.lead for move in game.moves] == pytest.approx([2, 10, 4, 4], abs=1e-4)
    assert [move.change for move in game.moves] == pytest.approx([2, -8, -6, 0], abs=1e-4)
    assert [move.mark for move in game.moves] == ["", "?", "?", ""]  # 3 points on 9 × 9, twice
    assert [move.ply for move in game.swings] == [2, 3]
    assert game.average_loss(BLACK) == (pytest.approx(3.0, abs=1e-4), 2)
    assert game.average_loss(WHITE) == (pytest.approx(4.0, abs=1e-4), 2)
    summary = game.summary
    assert summary.sides["black"].accuracy == pytest.approx(0.75**3, abs=1e-4)
    assert summary.sides["white"].loss == pytest.approx(4.0, abs=1e-4)
    assert summary.sides["white"].marks == {"?!": 0, "?": 1, "??": 0}
    assert [one.ply for one in game.boards(None)] == [2, 4]
    assert [one.ply for one in game.boards(1)] == [1]
    assert [one.ply for one in game.boards(99)] == [4]


def test_the_turning_point_agrees_with_the_leads(judged: Callable[..., AnalysedGame]) -> None:
    game = judged(GAME, [6.5, 8.5, 4.5, 10.5, 10.5])  # White leads by 2 after the second move
    likely = [0.5, 0.8, 0.59, 0.8, 0.8]
    predicted: list[Any] = [SimpleNamespace(black_wins=chance) for chance in likely]
    positions = tuple(
        replace(one, prediction=each) for one, each in zip(game.positions, predicted, strict=True)
    )  # fmt: skip
    assert replace(game, positions=positions).summary.turning_point == TurningPoint(3, "black")


def test_marks_follow_the_swing(judged: Callable[..., AnalysedGame]) -> None:
    leads = [6.5, 5.4, 7.6, 10.7, 10.7]
    assert [move.mark for move in judged(GAME, leads, 1.0).moves] == ["?!", "?", GAINED, ""]
    assert [move.mark for move in judged(GAME, leads, 5).moves] == [""] * 4
    assert set(SWINGS) == {9, 13, 19}


def test_count_gives_points_to_the_likelier_owner() -> None:
    colours = start_row(9)[:POINTS]
    rows = ["999999999"] * 5 + ["666666666"] + ["000000000"] + ["333333333"] + ["555555555"]
    found = score(colours, owners(*rows), 6.5)
    assert found.count == 54 - 18 - 6.5
    assert found.lead == pytest.approx(45 * 0.8 + 9 * 0.2 - 9 - 9 * 0.4 - 6.5)
    assert score(colours, np.ones(POINTS), 0).lead == 81
    assert score(colours, np.zeros(POINTS), 0.5).count == -81.5
    open_rows = ["999999999"] * 4 + rows[5:6] * 2 + rows[6:]
    assert score(colours, owners(*open_rows), 6.5).count is None  # a guess for each point is no count


@given(st.integers(0, 2**32), st.sampled_from([9, 13, 19]), st.floats(-20, 20))
def test_a_lead_is_antisymmetric_and_bounded(seed: int, size: int, komi: float) -> None:
    colours = start_row(size)[:POINTS]
    black_owns = np.random.default_rng(seed).choice([0.1, 0.6, 0.9], POINTS, p=[0.45, 0.1, 0.45])
    one, other = score(colours, black_owns, komi), score(colours, 1 - black_owns, -komi)
    assert one.lead == pytest.approx(-other.lead)
    assert one.count is not None
    assert other.count is not None
    assert one.count == pytest.approx(-other.count)
    assert abs(one.lead) <= size * size + abs(komi)


def test_the_network_is_asked_about_every_position_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    record = parse_record(GAME)
    whole: Any = FakeOwners()
    once = analyse(1, record, whole, answers)
    assert [len(codes) for codes, _ in whole.asked] == [5]
    codes, state = whole.asked[0]
    assert state[:, 0].tolist() == [0, 1, 0, 1, 0]
    np.testing.assert_allclose([one.black_owns for one in once.positions], influence(codes), atol=1e-6)
    monkeypatch.setattr("kibitz.analysis.go.games.BATCH_SIZE", 2)
    pieces: Any = FakeOwners()
    again = analyse(1, record, pieces, answers)
    assert [len(codes) for codes, _ in pieces.asked] == [2, 2, 1]
    assert again.as_json(owners=True) == once.as_json(owners=True)


def test_handicap_stones_and_white_first(judged: Callable[..., AnalysedGame]) -> None:
    game = judged("(;GM[1]SZ[9]HA[2]KM[0.5]AB[gc][cg];W[ee];B[ec])", [0.5, -8.5, 0.5])
    assert [move.side for move in game.moves] == ["white", "black"]
    assert [move.change for move in game.moves] == pytest.approx([9, 9], abs=1e-4)
    assert game.positions[0].colours[from_gtp("G7", 9)] == BLACK
    assert game.positions[1].colours[from_gtp("E5", 9)] == WHITE


def test_an_illegal_move_ends_the_game(judged: Callable[..., AnalysedGame]) -> None:
    game = judged("(;GM[1]SZ[9]KM[0];B[ee];W[ec];B[ee];W[gg])")
    assert mentions(game.problem, "3 & E5 & illegal")
    assert len(game.moves) == 2
    assert len(game.record.moves) == 2
    assert game.as_json()["problem"] == game.problem


def test_passes_and_captures(judged: Callable[..., AnalysedGame]) -> None:
    game = judged("(;GM[1]SZ[9]KM[0];B[ba];W[aa];B[ab];W[];B[])", [0, 0, 0, 40, 40, 40])
    assert [move.vertex for move in game.moves] == ["B9", "A9", "A8", "pass", "pass"]
    assert game.positions[3].colours[0] == 0
    assert game.moves[2].mark == GAINED


def test_signs() -> None:
    record = parse_record("(;GM[1]SZ[9]KM[0];B[aa];W[ba];B[ca];W[da])")
    rows = ["909198672", *["5" * 9] * 7, "012345678"]
    fake: Any = FakeOwners([owners(*rows)])
    last = analyse(1, record, fake, answers).positions[-1]
    assert last.signs()[0] == "XOXO++..-"
    assert last.signs()[8] == "---.....+"
    lost = analyse(1, record, FakeOwners([owners("180855555", *EVEN[1:])]), answers).positions[-1]  # type: ignore[arg-type]
    assert lost.signs()[0] == "xoxo....."


def test_the_stones_of_a_chain_have_one_status() -> None:
    game = ";B[aa];W[ah];B[ab];W[bh];B[ba];W[ch]"
    fake: Any = FakeOwners([owners(*EVEN)])
    last = analyse(1, parse_record(f"(;GM[1]SZ[9]KM[0]{game})"), fake, answers).positions[-1]
    owns = np.full(POINTS, 0.1)
    owns[[0, 1, GRID, 7 * GRID, 7 * GRID + 1, 7 * GRID + 2]] = [0.9, 0.45, 0.9, 0.1, 0.6, 0.6]
    one = replace(last, black_owns=owns)
    assert one.signs()[0][:2] == "XX"  # by itself, B9 would be White's
    assert one.signs()[7][:3] == "OOO"  # by themselves, B2 and C2 would be Black's
    # Black has three stones, White all other points.
    assert score(one.colours, owns, 0.0).count == 3 - 78


def test_json_is_whole(judged: Callable[..., AnalysedGame]) -> None:
    game = judged(GAME, [6.5, 8.5, 16.5, 10.5, 10.5])
    found = game.as_json(owners=True)
    assert found["headers"]["PB"] == "Shū"
    assert (found["result"], found["size"], found["komi"], found["swing"]) == ("W+3.5", 9, 6.5, 3.0)
    assert found["start"] == {"lead": pytest.approx(0, abs=1e-3), "count": None}
    assert set(found["moves"][0]) == {"ply", "side", "vertex", "before", "after", "count", "change", "mark"}
    assert set(found["swings"][0]) == set(found["moves"][0]) | {"words", "changes"}
    assert found["average_loss"]["black"] == {"value": pytest.approx(3, abs=1e-3), "low": None, "high": None, "n": 2}
    assert np.shape(found["black_owns"]) == (5, 9, 9)
    assert [one["ply"] for one in found["boards"]] == [2, 4]
    assert "black_owns" not in game.as_json()


def test_no_number_of_the_json_is_minus_zero(judged: Callable[..., AnalysedGame]) -> None:
    move = judged("(;GM[1]SZ[9]KM[5.5];B[ee];W[ec])").moves[0]
    level = replace(move.before, lead=-0.001)
    assert "-0.0" not in str(replace(move, before=level, after=level, change=-0.001).as_json().values())


def test_lead_words() -> None:
    assert [lead_words(lead) for lead in (7.54, -0.5, 0.04, -0.01, 100)] == ["B+7.5", "W+0.5", "0", "0", "B+100.0"]


def test_a_search_says_more_of_each_position() -> None:
    """White answers far from the stone that Black can take."""
    record = parse_record("(;GM[1]SZ[9]KM[0.5];B[de];W[ee];B[fe];W[aa];B[ed];W[ia];B[ef];W[])")
    fake: Any = FakeGo()
    raw, seen = (analyse(1, record, fake, answers, nodes=nodes) for nodes in (0, 80))
    assert len(raw.positions) == len(seen.positions) == 9
    for one, other in zip(raw.positions, seen.positions, strict=True):
        assert one.prediction
        assert other.prediction
        assert one.prediction.line == ()
        np.testing.assert_array_equal(one.prediction.policy, other.prediction.policy)
        assert other.score.lead == other.prediction.lead
        assert 0 <= other.prediction.black_wins <= 1
    assert any(a.score.lead != b.score.lead for a, b in zip(raw.positions, seen.positions, strict=True))
    told = seen.moves[5].as_json()
    assert told["line"][0] in {f"{letter}{number}" for letter in "ABCDEFGHJ" for number in range(1, 10)}
    assert "line" not in raw.moves[5].as_json()
    assert seen.positions[8].prediction.line, "after the last move, too"  # type: ignore[union-attr]


@pytest.mark.usefixtures("few_visits")
def test_judging_for_both_sides_takes_the_movers_optimism_away() -> None:
    """Of a good game's opening on 19×19, where one look of the network says that a move loses over a point."""
    import kibitz

    games = read_records([str(Path(kibitz.__file__).parent / "data" / "games.sgfl.zst")])
    record = next(game for game in itertools.islice(games, 60, None) if isinstance(game, Record) and game.size == 19)
    opening, session = replace(record, moves=record.moves[:12]), Session("gohuman")
    usual = analyse(1, opening, session, answers, nodes=0, steadied=True)
    raw = analyse(1, opening, session, answers, nodes=0)
    lost, said = (np.mean([max(0.0, -move.change) for move in game.moves]) for game in (usual, raw))
    assert said > 1
    assert lost < said / 2
    searched = analyse(1, opening, session, answers, steadied=True)
    assert all(move.as_json()["line"] for move in searched.moves)
    assert np.mean([-move.change for move in searched.moves]) < said, "a search does, too"


def test_a_network_of_owners_alone_does_not_search_by_default() -> None:
    record, fake = parse_record(GAME), FakeOwners()
    usual, raw = (analyse(1, record, fake, answers, nodes=nodes) for nodes in (None, 0))  # type: ignore[arg-type]
    assert usual.as_json(owners=True) == raw.as_json(owners=True)
    assert len(fake.asked) == 2


@pytest.mark.parametrize(("rules", "bonus"), [("Chinese", 2), ("AGA", 1), ("Japanese", 2), ("NZ", 0)])
def test_points_for_handicap_stones_are_taken_off(rules: str, bonus: int, judged: Callable[..., AnalysedGame]) -> None:
    (only,) = judged(f"(;GM[1]SZ[9]RU[{rules}]HA[2]KM[0.5]AB[gc][cg])", [10]).positions
    assert only.score.lead == pytest.approx(10 - 0.5 - bonus, abs=1e-4)
    assert only.score.count is None


def test_owners_that_move_the_other_way_explain_nothing() -> None:
    move = analyse(1, parse_record(GAME), FakeOwners([leading(0), leading(20)]), answers).moves[0]  # type: ignore[arg-type]
    assert move.shift is not None
    assert move.shift.words().startswith("most of it in")
    against = replace(move.shift, gain=-9.9)
    assert against.words() == ""
    assert replace(move, shift=against).as_json()["words"] == ""


def test_a_game_that_two_passes_ended_is_counted() -> None:
    """Black's only stone owns the board, whatever might be played later, and the passes that end the game are free."""
    for passes in ("", ";W[]", ";W[];B[]"):
        record = parse_record(f"(;GM[1]SZ[9]KM[5.5];B[ee];W[];B[]{passes})")
        game = analyse(1, record, Session("gohuman"), answers, None, nodes=30)
        assert [move.change for move in game.moves[1:]] == [0] * (len(game.moves) - 1)
        for position in game.positions[1:]:
            assert position.score == Score(75.5, 75.5)
            assert position.prediction
            assert position.prediction.black_wins == 1


def test_who_leads_does_not_depend_on_handicap_and_ranks_of_the_header() -> None:
    """Four stones before the first move, which GNU Go counts as 39 points."""
    session = Session("gohuman")
    stones = "SZ[19]KM[0.5]RU[Japanese]AB[dp][pd][dd][pp]PL[W]"
    plain, ranked = (
        analyse(1, parse_record(f"(;{stones}{more};W[fc])"), session, answers, nodes=0, steadied=True)
        for more in ("", "HA[4]BR[9k]WR[1d]")
    )
    assert [one.score for one in plain.positions] == [one.score for one in ranked.positions]
    assert abs(plain.positions[0].score.lead - 39) < 10
    weaker = parse_record(f"(;{stones}BR[20k]WR[9d];W[fc])")
    other = analyse(1, weaker, session, answers, nodes=0, steadied=True)
    assert other.positions[0].score == plain.positions[0].score
    chances = [game.positions[0].prediction.between_ranks for game in (ranked, other) if game.positions[0].prediction]
    assert chances[0] != chances[1]


@pytest.mark.parametrize(
    ("stones", "komi", "rules", "worth"),
    [(4, 0.5, "japanese", 39.2), (5, 7.5, "chinese", 38.5), (9, 0.5, "japanese", 103.6), (9, 7.5, "japanese", 96.6)],
)
def test_handicap_stones_are_worth_what_gnu_go_estimates(stones: int, komi: float, rules: str, worth: float) -> None:
    """worth: GNU Go 3.8's estimate less komi, and in Chinese rules less a point for each handicap stone."""
    placed = tuple(fixed_handicap(stones, 19))
    record = Record(19, placed, side=WHITE, komi=komi, rules=rules, handicap=stones)
    session = Session("gohuman")
    found = analyse(1, record, session, load_owners(session.system), nodes=0, steadied=True)
    assert found.positions[0].score.lead == pytest.approx(worth, abs=10)
    even = analyse(1, Record(19, komi=7.5), session, load_owners(session.system), nodes=0, steadied=True)
    assert abs(even.positions[0].score.lead) < 5


def test_stones_that_black_plays_first_are_handicap_stones() -> None:
    """As Fox writes a game of four stones; the right lead is about 40 points."""
    moves = ";B[pd];B[pq];B[dd];B[dp];W[qo]"
    record = parse_record(f"(;GM[1]SZ[19]KM[375]HA[0]RU[Chinese]AP[foxwq]{moves})")
    assert (record.handicap, record.komi, len(record.moves)) == (4, 7.5, 1)
    session = Session("gohuman")
    found = analyse(1, record, session, load_owners(session.system), nodes=0, steadied=True)
    assert found.positions[0].score.lead > 25
