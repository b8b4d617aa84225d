"""Labels: confirmed by the written result, or left out with the reason; referees that misbehave; going on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from kibitz.errors import KibitzError, UsageError
from kibitz.games.batch import GameBatch
from kibitz.games.go.endings import scoring
from kibitz.games.go.endings.counting import settle
from kibitz.games.go.endings.dead import GNUGO_ARGUMENTS, GnuGo, by_playouts
from kibitz.games.go.endings.scoring import Referee, finals
from kibitz.games.go.points import GRID
from kibitz.games.go.replay import start_row
from support import go_diagrams as diagrams
from support.board_client import until
from support.go_diagrams import DAME, DEAD, PLAIN, SEKI, batch, points
from support.helpers import program
from support.patience import PATIENCE
from support.processes import FAKE, is_gone

WHITE_BY_9 = {"result": -1, "margin": 9.0}


def fake(how: str, notes: Path, limit_s: float = 20.0, journal: Path | None = None) -> Referee:
    return Referee(
        "gnugo", command=[sys.executable, FAKE, how, str(notes)], limit_s=limit_s, workers=1, journal=journal
    )


def test_playouts_confirm_what_is_written() -> None:
    games = batch(
        (PLAIN, WHITE_BY_9),
        (DEAD, {"result": -1, "margin": 14.5, "komi": 6.5}),
        (DEAD, {"result": -1, "margin": 16.5, "komi": 7.5, "rules": "chinese"}),
        (DAME, {"result": -1, "margin": 24.5, "komi": 6.5}),
    )
    with Referee("playouts") as referee:
        labelled = referee.label(games)
        assert referee.note is None
    assert labelled.table["labels"].to_pylist() == ["playouts"] * 4
    owner = labelled.per_game["owner"]
    assert owner.shape == (4, 361)
    assert owner.dtype == np.uint8
    assert np.array_equal(owner[1], settle(diagrams.colours(DEAD), points((4, 1))))
    assert (owner[3].reshape(GRID, GRID)[:9, 3] == 0).all()


def test_a_result_that_contradicts_the_board_is_left_out() -> None:
    games = batch(
        (PLAIN, {"result": 1, "margin": 9.0}),
        (PLAIN, {"result": -1, "margin": 10.0}),
        (PLAIN, WHITE_BY_9),
        (PLAIN, {"result": -1, "margin": 9.0, "komi": None}),
    )
    with Referee("playouts") as referee:
        labelled = referee.label(games)
    assert labelled.table["number"].to_pylist() == [3]
    assert labelled.rejections.counts == {"score not confirmed": 3}
    example = labelled.rejections.examples["score not confirmed"][0]
    assert example["game"] == 1
    assert example["detail"] == "B+9, komi 0, rules japanese"


def test_a_result_that_nobody_confirms_may_be_kept_for_its_moves() -> None:
    games = batch((PLAIN, {"result": 1, "margin": 9.0}), (PLAIN, WHITE_BY_9))
    with Referee("playouts", keep_unconfirmed=True) as referee:
        labelled = referee.label(games)
    assert labelled.table["labels"].to_pylist() == [None, "playouts"]
    assert [bool(owner.any()) for owner in labelled.per_game["owner"]] == [False, True]
    assert not labelled.rejections.counts


def test_gnugo_is_not_asked_what_it_cannot_mend(tmp_path: Path) -> None:
    """Every chain is sure and the score a point off: the record lacks a move. Far off, a referee may know better."""
    sure = ".X.XO.O..\nXXXXOOOOO\n" + "XXXXO....\n" * 7
    command = [sys.executable, FAKE, "good", str(tmp_path)]
    with Referee("auto", command=command, workers=1) as referee:
        for margin, asked in ((9.0, ""), (10.0, ""), (60.0, "x")):
            referee.label(batch((sure, {"result": -1, "margin": margin, "rules": "chinese"})))
            assert "".join(file.read_text() for file in tmp_path.glob("asked")) == asked


def test_where_no_rules_are_named_either_count_will_do() -> None:
    by_area, by_territory = ({"result": -1, "margin": margin, "rules": None} for margin in (9.0, 8.0))
    with Referee("playouts") as referee:
        labelled = referee.label(batch((DEAD, by_area), (DEAD, by_territory), (DEAD, {**by_area, "margin": 7.0})))
    assert labelled.table["number"].to_pylist() == [1, 2]


def test_games_that_were_not_counted_stay_without_labels() -> None:
    games = batch((PLAIN, {"result": 1, "ending": "resignation"}), (PLAIN, WHITE_BY_9))
    with Referee("playouts") as referee:
        labelled = referee.label(games)
    assert labelled.table["labels"].to_pylist() == [None, "playouts"]
    assert not labelled.per_game["owner"][0].any()
    assert labelled.per_game["owner"][1].any()


def test_no_referee_labels_nothing_and_leaves_nothing_out() -> None:
    with Referee("none") as referee:
        labelled = referee.label(batch((PLAIN, {"result": 1, "margin": 50.0})))
    assert labelled.table["labels"].to_pylist() == [None]
    assert not labelled.rejections.counts


def test_prisoners_are_counted_as_they_are_taken() -> None:
    moves = [1, 0, GRID]  # Black takes the corner stone
    games = batch((PLAIN, WHITE_BY_9))
    games.moves, games.plies = np.array(moves, np.uint16), np.array([3], np.int32)
    games.starts = start_row(9)[None]
    (final,) = finals(games, np.array([0]))
    assert final.captured == (0, 1)
    assert final.colours[0] == 0
    assert final.colours[1] == 1


def test_equal_seeds_give_equal_labels_on_any_number_of_threads() -> None:
    games = [batch(*[(DEAD, {"result": -1, "margin": 8.0})] * 20) for _ in range(2)]
    with Referee("playouts", workers=1) as one, Referee("playouts", workers=4) as four:
        first, second = one.label(games[0]), four.label(games[1])
    assert np.array_equal(first.per_game["owner"], second.per_game["owner"])


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    with Referee("playouts") as referee:
        games = [(PLAIN, WHITE_BY_9)] * 3 + [(PLAIN, {**WHITE_BY_9, "ending": "resignation"})]
        referee.label(batch(*games), lambda *done: told.append(done))
    assert told[-1] == (3, 3), "the resigned game needs no label"
    assert told == sorted(told)


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("hang", "referee hung"), ("endless", "referee hung"), ("die", "referee died"),
        ("rubbish", "referee made no sense"), ("refuse", "referee made no sense"),
    ],
)  # fmt: skip
def test_a_referee_that_fails_costs_its_game_and_is_counted(tmp_path: Path, how: str, reason: str) -> None:
    limit = 1.0 if reason == "referee hung" else 60.0  # on a busy machine an answer takes long
    with fake(how, tmp_path, limit_s=limit) as referee:
        labelled = referee.label(batch((PLAIN, WHITE_BY_9)))
    assert len(labelled) == 0
    assert labelled.rejections.counts == {reason: 1}
    if how == "hang":
        assert all(is_gone(int(number)) for number in (tmp_path / "hung").read_text().split())


def test_a_referee_that_hung_is_brought_back(tmp_path: Path) -> None:
    with fake("hang once", tmp_path, limit_s=5.0) as referee:
        labelled = referee.label(batch(*[(PLAIN, WHITE_BY_9)] * 3))
    assert labelled.table["labels"].to_pylist() == ["gnugo", "gnugo"]
    assert labelled.rejections.counts == {"referee hung": 1}


def test_a_referee_that_never_answers_is_given_up(tmp_path: Path) -> None:
    with fake("die", tmp_path) as referee:
        different = [(PLAIN, {"result": -1, "margin": margin}) for margin in (9.0, 1.0, 2.0, 3.0, 4.0)]
        labelled = referee.label(batch(*different))
        assert referee.note is not None
        assert "does not answer" in referee.note
    assert labelled.rejections.counts == {"referee died": 3, "score not confirmed": 2}


def test_without_gnugo_playouts_judge_alone_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "find_gnugo", lambda path=None: None)
    with Referee("auto") as referee:
        assert referee.note is not None
        assert "GNU Go is not installed" in referee.note
        assert len(referee.label(batch((PLAIN, WHITE_BY_9)))) == 1
    with pytest.raises(KibitzError, match="is not installed"):
        Referee("gnugo")
    with pytest.raises(KibitzError, match="/nowhere/gnugo is not installed"):
        Referee("auto", gnugo="/nowhere/gnugo")
    with pytest.raises(UsageError, match="must be auto"):
        Referee("katago")


def test_what_is_in_the_journal_is_not_judged_again(tmp_path: Path) -> None:
    games = [(PLAIN, WHITE_BY_9), (DAME, WHITE_BY_9), (DEAD, WHITE_BY_9)]
    results = []
    for _ in range(2):
        with fake("good", tmp_path, journal=tmp_path / "journal") as referee:
            results.append(referee.label(batch(*games)))
        assert (tmp_path / "asked").read_text() == "xxx"
    first, second = results
    assert np.array_equal(first.per_game["owner"], second.per_game["owner"])
    assert first.table.equals(second.table)
    assert first.rejections.counts == second.rejections.counts == {"score not confirmed": 2}
    other = [(PLAIN, {**WHITE_BY_9, "komi": 1.0})]  # the same moves, another count
    with fake("good", tmp_path, journal=tmp_path / "journal") as referee:
        referee.label(batch(*other))
    assert (tmp_path / "asked").read_text() == "xxxx"


@pytest.mark.parametrize("how", ["die", "hang"])
def test_what_the_referee_did_not_say_is_asked_again(tmp_path: Path, how: str) -> None:
    games = [(PLAIN, {"result": -1, "margin": float(margin)}) for margin in (8, 9)]
    with fake(how, tmp_path, 1.0, journal=tmp_path / "journal") as referee:
        assert not set(referee.label(batch(*games)).rejections.counts) & {"score not confirmed"}
    with fake("good", tmp_path, journal=tmp_path / "journal") as referee:
        assert referee.label(batch(*games)).rejections.counts == {"score not confirmed": 1}


LABELLING = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import importlib.util
spec = importlib.util.spec_from_file_location("scoring", sys.argv[4])
tests = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tests)
fake, many = tests.fake, tests.many
notes = Path(sys.argv[2])
with fake(sys.argv[3], notes, journal=notes / "journal") as referee:
    referee.label(many())
"""


def many() -> GameBatch:
    return batch(*[(PLAIN, {"result": -1, "margin": float(margin)}) for margin in range(5, 15)])


def labelling(notes: Path, how: str) -> subprocess.Popen[bytes]:
    """A process that labels, with a referee that has been asked at least twice when this returns."""
    tests = str(Path(__file__).parents[3])
    process = subprocess.Popen(
        [sys.executable, "-c", LABELLING, tests, str(notes), how, __file__],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    note = notes / ("hung" if how == "hang" else "asked")
    until(lambda: process.poll() is not None or (note.exists() and len(note.read_text()) >= 2))
    return process


def test_a_killed_labelling_goes_on_where_it_was(tmp_path: Path) -> None:
    process = labelling(tmp_path, "slow")
    process.kill()
    process.wait()
    before = len((tmp_path / "asked").read_text())
    assert 2 <= before < 10
    with fake("slow", tmp_path, journal=tmp_path / "journal") as referee:
        labelled = referee.label(many())
    assert labelled.table["margin"].to_pylist() == [9.0]
    assert len((tmp_path / "asked").read_text()) <= 10 + 1 + 1  # the one that was asked at the time, twice


def test_an_interrupt_ends_it_and_the_referee_at_once(tmp_path: Path) -> None:
    process = labelling(tmp_path, "hang")
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    assert process.wait(600) != 0
    assert time.monotonic() - begun < PATIENCE
    assert all(is_gone(int(number)) for number in (tmp_path / "hung").read_text().split())


@pytest.mark.parametrize("drawn", [PLAIN, DEAD, DAME, SEKI])
def test_gnugo_agrees_with_the_hand(drawn: str) -> None:
    judge = GnuGo((program("gnugo"), *GNUGO_ARGUMENTS), 60)
    try:
        dead, seki = judge.dead(diagrams.colours(drawn), 9)
    finally:
        judge.close()
    assert np.array_equal(dead, points((4, 1)) if drawn == DEAD else points())
    if drawn == SEKI:
        assert seki.sum() == 7
    else:
        assert np.array_equal(by_playouts(diagrams.colours(drawn), 1), dead)


def test_gnugo_confirms_a_seki_that_playouts_do_not_see() -> None:
    referee_of = program("gnugo")
    with Referee("auto", gnugo=referee_of, limit_s=60) as referee:
        labelled = referee.label(batch((SEKI, {"result": -1, "margin": 5.0}), (SEKI, {"result": -1, "margin": 6.0})))
    assert labelled.table["number"].to_pylist() == [1]
    owner = labelled.per_game["owner"][0].reshape(GRID, GRID)
    assert owner[0, 4] == owner[1, 4] == 0
    assert labelled.rejections.counts == {"score not confirmed": 1}


RESIGNED = {"ending": "resignation", "komi": 0.0}


def test_resigned_games_are_played_to_their_end() -> None:
    """White is 9 points ahead: that Black resigned is confirmed, that White did is not."""
    games = batch((PLAIN, RESIGNED | {"result": -1}), (PLAIN, RESIGNED | {"result": 1}), (PLAIN, WHITE_BY_9))
    with Referee("none", gnugo=program("gnugo"), limit_s=60, play_out=True) as referee:
        labelled = referee.label(games)
    assert labelled.table["labels"].to_pylist() == ["played out", None, None]
    assert labelled.table["margin"].to_pylist() == [None, None, 9.0]
    assert not labelled.rejections.counts
    owner = labelled.per_game["owner"]
    assert np.array_equal(owner[0], settle(diagrams.colours(PLAIN), points()))
    assert not owner[1:].any()


def test_komi_and_handicap_decide_who_won() -> None:
    more = ({"result": 1, "komi": -9.5}, {"result": 1, "komi": -8.5}, {"result": -1, "komi": None})
    with Referee("none", gnugo=program("gnugo"), limit_s=60, play_out=True) as referee:
        labelled = referee.label(batch(*[(PLAIN, RESIGNED | one) for one in more]))
    assert labelled.table["labels"].to_pylist() == ["played out", None, None]


def test_a_game_whose_end_gnugo_does_not_find_is_kept_without_owners(tmp_path: Path) -> None:
    command = [sys.executable, FAKE, "good", str(tmp_path)]  # it never passes
    with Referee("none", command=command, workers=1, play_out=True) as referee:
        labelled = referee.label(batch((PLAIN, RESIGNED | {"result": -1})))
    assert labelled.table["labels"].to_pylist() == [None]
    assert not labelled.rejections.counts


def test_resigned_games_need_gnugo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "find_gnugo", lambda path=None: None)
    with pytest.raises(KibitzError, match="is not installed"):
        Referee("playouts", play_out=True)


def test_a_position_far_from_its_end_is_not_sent_to_gnugo() -> None:
    from kibitz.games.go.endings.scoring import _is_far_from_end
    from kibitz.games.go.points import GRID, POINTS

    opening = np.zeros(POINTS, np.uint8)
    opening[[3 * GRID + 3, 15 * GRID + 15]], opening[[3 * GRID + 15, 15 * GRID + 3]] = 1, 2
    assert _is_far_from_end(opening)
    ended = np.zeros((GRID, GRID), np.uint8)
    ended[:, 7:9], ended[:, 9:11] = 1, 2
    ended[::2, :7], ended[1::2, 11:] = 1, 2
    assert not _is_far_from_end(ended.ravel())
