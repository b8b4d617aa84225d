"""The GTP loop with owners that follow from the stones: golden transcripts, streams, noise."""

from __future__ import annotations

import io
import math
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kibitz.engines.gtp.session import GtpSettings
from kibitz.engines.uci import engine as uci
from kibitz.errors import KibitzError
from kibitz.games.go.points import BLACK
from support.causes import each_mentions, mentions
from support.go_fakes import FakeOwners
from support.gtp_bench import Bench

TRANSCRIPTS = sorted((Path(__file__).parents[1] / "transcripts").glob("*.gtp"))


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(path: Path) -> None:
    """`>` is said; the lines that follow must be the whole answer."""
    bench = Bench()
    lines = path.read_text(encoding="utf-8").splitlines()
    said = "\n".join(line[1:].removeprefix(" ") for line in lines if line.startswith(">"))
    expected = "\n".join(line for line in lines if not line.startswith((">", "# ")))
    bench.say(*said.split("\n"))
    assert bench.text.split() == expected.split()
    assert [answer.split("\n")[0].rstrip() for answer in bench.text.split("\n\n")[:-1]] == [
        line.rstrip() for line in lines if line.startswith(("=", "?"))
    ]


def test_the_network_is_loaded_when_it_is_needed() -> None:
    bench = Bench()
    bench.say("name", "list_commands", "boardsize 9", "play b E5", "showboard", "kata-set-rules aga")
    assert bench.loads == 0
    bench.say("final_score", "genmove w", "final_score")
    assert bench.loads == 1
    bench = Bench()
    bench.say("boardsize 9", "time_settings 60 0 0")
    assert bench.loads == 1  # before the clock runs
    assert Bench(KibitzError("gone")).say("time_settings 60 0 0", "genmove b") == ["= ", "? gone"]


def test_a_clock_with_caps_and_a_byte_order_mark() -> None:
    bench = Bench()
    assert bench.say("\ufeff1 name") == ["=1 kibitz"]
    assert bench.say("kata-time_settings fischer-capped 600 10 -1 15") == ["= "]
    clock = bench.engine.session.game.clocks[BLACK]
    assert (clock.main, clock.increment, clock.limit, clock.longest) == (600, 10, math.inf, 15)
    assert bench.say("kata-time_settings fischer-capped 600 10") == ["= "]
    assert bench.engine.session.game.clocks[BLACK].longest == math.inf


def test_nothing_is_executed_after_quit() -> None:
    assert Bench().say("name", "quit", "name") == ["= kibitz", "= "]


@pytest.mark.parametrize(("kind", "stones", "periods"), [("byoyomi", 1, True), ("canadian", 5, False)])
def test_kata_time_settings_with_overtime(kind: str, stones: int, periods: bool) -> None:
    bench = Bench()
    assert bench.say(f"kata-time_settings {kind} 600 30 5") == ["= "]
    clock = bench.engine.session.game.clocks[BLACK]
    assert (clock.main, clock.period, clock.stones, clock.periods) == (600, 30, stones, periods)


def test_dead_stones_are_captured_only_when_the_command_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()
    bench.say("boardsize 9", "genmove b")
    asked = []
    chosen = bench.engine.session.player.choose

    def choose(*given: Any, clean_up: bool, **named: Any) -> Any:
        asked.append(clean_up)
        return chosen(*given, clean_up=clean_up, **named)

    monkeypatch.setattr(bench.engine.session.player, "choose", choose)
    bench.say("genmove w", "kata-genmove_analyze b", "kgs-genmove_cleanup w")
    assert asked == [False, False, True]


def test_a_number_at_the_end_belongs_to_the_file_name_of_printsgf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert Bench().say("printsgf game 3", 'printsgf "game 4"', "printsgf 5") == ["= "] * 3
    assert sorted(file.name for file in tmp_path.iterdir()) == ["5", "game 3", "game 4"]


def test_a_board_that_is_not_square_is_refused() -> None:
    """KataGo has a second number for the height."""
    bench = Bench()
    lines = ["= ", "? unacceptable size", "= 9", "= ", "= 13"]
    assert bench.say("boardsize 9", "boardsize 9 13", "query_boardsize", "boardsize 13 13", "query_boardsize") == lines


def test_a_network_that_cannot_be_loaded_is_told_each_time() -> None:
    bench = Bench(KibitzError("runs/1: its weights\ncannot be read"))
    lines = bench.say("genmove b", "2 kata-analyze", "name", "kata-genmove_analyze b")
    assert each_mentions(lines, "? runs/1 & weights", "?2 runs/1 & weights", "= kibitz", "? runs/1 & weights")


def test_every_command_of_the_list_is_known() -> None:
    bench = Bench()
    (names,) = bench.say("list_commands")
    commands = names.removeprefix("= ").split("\n")
    assert len(commands) == len(set(commands)) > 50
    assert bench.say(*(f"known_command {name}" for name in commands)) == ["= true"] * len(commands)


def test_parameters_of_katago_that_controllers_ask_for() -> None:
    bench = Bench()
    lines = bench.say(
        "kata-get-param playoutDoublingAdvantage", "kata-get-param analysisWideRootNoise",
        "1 kata-set-param analysisWideRootNoise 0.0", "2 kata-set-param analysisWideRootNoise 0.04",
        "kata-set-param playoutDoublingAdvantage nonsense", "kata-set-param playoutDoublingAdvantage",
        "3 kata-get-param maxVisits", "kata-set-param maxVisits 5", "kata-get-param",
        "known_command kata-get-param", "known_command kata-set-param",
    )  # fmt: skip
    known = "playoutDoublingAdvantage & analysisWideRootNoise"
    assert each_mentions(
        lines, "= 0", "= 0", "=1 ", "?2 & analysisWideRootNoise & 0.04", "? & nonsense", "? & argument",
        f"?3 & maxVisits & {known}", f"? & maxVisits & {known}", "? & argument", "= true", "= true",
    )  # fmt: skip
    assert bench.loads == 0


def test_largest_board() -> None:
    bench = Bench(settings=GtpSettings("x", "1", largest=13))
    assert bench.say("query_boardsize", "boardsize 19", "boardsize 13", "boardsize 11") == [
        "= 13",
        "? unacceptable size",
        "= ",
        "? unacceptable size",
    ]


class Broken(FakeOwners):
    def evaluate(self, codes: np.ndarray, state: np.ndarray) -> dict[str, np.ndarray]:
        raise ZeroDivisionError("a\nbug")


def test_a_bug_is_told_and_survived(capsys: pytest.CaptureFixture[str]) -> None:
    bench = Bench(Broken())
    assert bench.say("1 genmove b", "name") == ["?1 internal error: a bug", "= kibitz"]
    assert "Traceback" in capsys.readouterr().err

    def lines() -> Iterator[str]:
        yield "kata-analyze 1"
        bench.wait_for("=\n\n")
        yield "name"

    bench.engine.run(lines())
    assert bench.text.endswith("=\n\n= kibitz\n\n")
    assert "Traceback" in capsys.readouterr().err


def test_a_line_that_is_too_long_gets_its_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uci, "LONGEST_LINE", 64)
    bench = Bench()
    lines = io.BytesIO(b"7 play b " + b"x" * 500 + b"\n" + b"#" * 500 + b"\n8 name\n")
    bench.engine.run(uci.read_lines(lines, bench.engine.reject_long))
    assert each_mentions(bench.text.split("\n\n")[:-1], "?7 & longer than 1 MiB", "=8 kibitz")


INFO = (
    r"info move (?P<move>\w+) visits (\d+) edgeVisits \2 utility -?\d\.\d+ winrate (?P<winrate>[01]\.\d+)"
    r" scoreMean -?\d+\.\d+ scoreStdev \d+\.\d+ scoreLead (?P<lead>-?\d+\.\d+) scoreSelfplay (?P=lead)"
    r" prior [01]\.\d+ lcb (?P=winrate) utilityLcb -?\d\.\d+ weight \d+\.\d order (?P<order>\d+) pv (?P=move)"
)


def analysis(
    command: str, enough: int = 3, first: tuple[str, ...] = ("boardsize 9", "play b E5"), until: str = "info move"
) -> list[str]:
    """The lines of an analysis that ends when the text `until` was there so often."""
    bench = Bench()
    bench.say(*first)

    def lines() -> Iterator[str]:
        yield f"77 {command}"
        bench.wait_for(until, enough)
        yield ""

    bench.engine.run(lines())
    text = bench.text.split("=77\n")[1]
    assert text.endswith("\n\n")
    return text[:-2].split("\n")


def test_kata_analyze() -> None:
    lines = analysis("kata-analyze w 1 maxmoves 3 ownership true rootInfo true", 1, until="order 2 ")
    last = lines[-1]
    infos = list(re.finditer(INFO, last))
    assert [int(info["order"]) for info in infos] == [0, 1, 2]
    leads = [float(info["lead"]) for info in infos]
    assert leads[0] >= leads[1] >= leads[2]
    assert all((float(info["winrate"]) > 0.5) == (float(info["lead"]) > 0) for info in infos)
    assert re.search(r" rootInfo visits \d+ utility \S+ winrate \S+ scoreMean \S+ scoreStdev \S+ scoreLead ", last)
    owners = [float(word) for word in last.split("ownership ")[1].split()]
    assert len(owners) == 81
    assert owners[40] < -0.5  # the stone is the other side's
    assert all(line.startswith("info move ") for line in lines)


def test_analysis_that_leaves_moves_out() -> None:
    lines = analysis("kata-analyze interval 1 maxmoves 100 avoid w A1,B1 1 avoid b C1 3", 1, until="order 78 ")
    moves = re.findall(r"info move (\w+)", lines[-1])
    assert "A1" not in moves
    assert {"C1", "pass"} <= set(moves)
    assert len(moves) == 81 - 1 - 2 + 1
    only = analysis("kata-analyze w 1 allow w A1,pass,E5 1 pvVisits true", 1, until="order 1 ")
    assert set(re.findall(r"info move (\w+)", only[-1])) == {"A1", "pass"}
    assert analysis("kata-analyze w 1 allow w A1 1 pvVisits true", 1, until="pvVisits 8 pvEdgeVisits 8")


def test_lz_analyze() -> None:
    last = analysis("lz-analyze 1", 50)[-1]
    one = r"info move \w+ visits \d+ winrate \d+ prior \d+ lcb \d+ order \d+ pv \w+"
    assert re.fullmatch(f"{one}( {one})*", last)


def test_owners_of_moves() -> None:
    last = analysis(
        "analyze w 1 maxmoves 2 movesOwnership true movesOwnershipStdev true ownershipStdev true", 1, until="order 1 "
    )[-1]
    assert len(last.split("movesOwnership ")) == 3
    numbers = re.findall(r"[oO]wnership(?:Stdev)?((?: -?\d\.\d+)+)", last)
    assert [len(found.split()) for found in numbers] == [81] * 5


@pytest.mark.parametrize("end", ["", "# a comment", "1 name", "quit"])
def test_any_line_ends_an_analysis(end: str) -> None:
    bench = Bench()
    threads = set(threading.enumerate())

    def lines() -> Iterator[str]:
        yield "kata-analyze 1"
        bench.wait_for("info", 3)
        assert not set(threading.enumerate()) <= threads
        yield end
        assert set(threading.enumerate()) <= threads, "nothing is left that could say more"

    bench.engine.run(lines())
    assert bench.text.startswith("=\ninfo move ")
    assert bench.text.count("\n\n") == 1 + bool(end and end[0] != "#")


def test_the_last_line_is_said_again() -> None:
    lines = analysis("kata-analyze 1 maxmoves 1", 60)
    assert lines[-1] == lines[-2]


@pytest.mark.parametrize("command", ["kata-genmove_analyze", "lz-genmove_analyze", "genmove_analyze"])
def test_genmove_analyze(command: str) -> None:
    bench = Bench()
    answers = bench.say("boardsize 9", f"{command} b interval 1 maxmoves 2", "list_stones b")
    *infos, played = answers[1].split("\n")[1:]
    assert infos
    assert all(line.startswith("info move ") for line in infos)
    assert played == f"play {answers[2].removeprefix('= ')}"


RAW = (
    "whiteWin whiteLoss noResult whiteLead whiteScoreSelfplay whiteScoreSelfplaySq varTimeLeft shorttermWinlossError"
    " shorttermScoreError policy policyPass whiteOwnership"
)


def test_raw_answers_from_all_sides() -> None:
    (text,) = Bench().say("boardsize 9", "play b C3", "kata-raw-nn w all")[2:]
    assert text.count("symmetry ") == 8
    for part in text.split("symmetry ")[1:]:
        assert re.findall("[a-zA-Z]{4,}", part) == RAW.split()
        policy = part.split("policy\n")[1].split("policyPass")[0].split()
        assert len(policy) == 81
        assert policy.count("NAN") == 1
        passed = float(part.split("policyPass")[1].split()[0])
        assert sum(float(word) for word in policy if word != "NAN") + passed == pytest.approx(1, abs=1e-3)
        owners = part.split("whiteOwnership\n")[1].split()
        assert len(owners) == 81
        assert float(owners[6 * 9 + 2]) < -0.5  # turned back: the stone lies where it was played


def test_a_temperature_varies_the_opening_by_its_seed() -> None:
    def opening(seed: int | None, temperature: float) -> list[str]:
        bench = Bench(settings=GtpSettings("x", "1", temperature=temperature, seed=seed))
        return bench.say("boardsize 9", *(["genmove b", "genmove w"] * 3))

    assert opening(1, 3.0) == opening(1, 3.0) != opening(2, 3.0)
    assert opening(1, 0.0) == opening(2, 0.0)


def test_rules_decide_what_may_be_played() -> None:
    bench = Bench()
    corner = "gogui-play_sequence b A2 b B2 w A1 b C1"
    # Two stones take themselves off the board; one would bring a position back.
    answers = bench.say("boardsize 9", corner, "kata-set-rules tromp-taylor", "play w B1", "list_stones w", "play w A1")
    assert answers[3:] == ["= ", "= ", "? illegal move"]
    assert bench.say("undo", "kata-set-rules chinese", "play w B1", "list_stones w") == [
        "= ",
        "= ",
        "? illegal move",
        "= A1",
    ]


def test_handicap_is_paid_by_rules() -> None:
    bench = Bench()
    scores = {}
    for rules in ("chinese", "aga", "japanese"):
        answers = bench.say("boardsize 9", f"kata-set-rules {rules}", "komi 0", "fixed_handicap 3", "final_score")
        scores[rules] = float(answers[-1].removeprefix("= B+"))
    assert scores["chinese"] == scores["aga"] - 1 == scores["japanese"]  # three stones are no territory


WORDS = (
    "boardsize 9 13 19 clear_board komi play genmove reg_genmove undo b w black white pass A1 E5 T19 J9 showboard "
    "final_score final_status_list alive dead fixed_handicap set_free_handicap 2 5 kata-analyze lz-analyze interval 1 "
    'ownership true avoid allow maxmoves kata-raw-nn all kata-set-rules chinese japanese {"ko":1} time_left '
    "time_settings 0 -1 1e9 gogui-play_sequence loadsgf list_commands known_command kibitz-owners # 7 set_random_seed"
)
words = st.sampled_from(WORDS.split()) | st.text(max_size=8)
sentences = st.lists(words, max_size=6).map(" ".join)


@given(st.lists(sentences, max_size=10))
@example(["kata-analyze 1", "kata-analyze 1", "", "kata-analyze allow b A1"])
@example(["play b A1", "kata-genmove_analyze w", "undo", "undo", "undo"])
@example(["1 2 3", "99999999999999999999999 name", "set_random_seed 5", "{}"])
def test_no_sentence_kills_it(lines: list[str]) -> None:
    lines = [" ".join(line.split()) for line in lines if "quit" not in line.lower()]
    bench = Bench()
    bench.say("boardsize 9", *lines, "", "424242 name")
    assert bench.text.endswith("=424242 kibitz\n\n")
    assert "internal error" not in bench.text
    answers = bench.text.split("\n\n")
    assert answers.pop() == ""
    assert all(answer.startswith(("=", "?")) for answer in answers)


WALLS = [f"play {colour} {column}{row}" for row in range(1, 10) for colour, column in (("b", "D"), ("w", "E"))]


def test_a_game_that_two_passes_ended_has_one_result() -> None:
    """A dead stone of each side behind two walls: by area Black has 36 points, White 45."""
    bench = Bench()
    bench.say("boardsize 9", "komi 0.5", *WALLS, "play b H5", "play w B5", "play b pass", "play w pass")
    bench.say("final_score", "kibitz-score", "final_status_list dead", "final_status_list seki")
    answers = bench.text.split("\n\n")[-5:-1]
    assert [answers[0], *answers[2:]] == ["= W+9.5", "= B5\nH5", "= "]
    assert mentions(answers[1], "= Counted & W+9.5 & 0%")
    bench.say("undo", "kibitz-score")
    assert bench.text.split("\n\n")[-2].startswith("= Expected ")


def test_the_analysis_of_a_finished_game_is_its_count() -> None:
    first = ("boardsize 9", "komi 0.5", *WALLS, "play b pass", "play w pass")
    line = analysis("kata-analyze b 1 rootInfo true", 1, first)[0]
    assert line.startswith("info move pass ")
    assert line.count("info move ") == 1
    assert "scoreLead -9.5000" in line.split("rootInfo")[1]
    assert "winrate 0.000000" in line.split("rootInfo")[1]


def test_the_last_moves_of_a_game() -> None:
    bench = Bench()
    begin, *played, last, every, no_black, no_white = bench.say(
        "last_move", "play b E5", "play w pass", "last_move", "move_history", "captures b", "captures w"
    )
    assert begin.startswith("? ")
    assert played == ["= ", "= "]
    assert (last, every, no_black, no_white) == ("= white pass", "= white pass\nblack E5", "= 0", "= 0")
    bench = Bench()
    bench.say("boardsize 9", "play b A1", "play w A2", "play b E5", "play w B1")
    assert bench.say("last_move", "captures w", "captures b") == ["= white B1", "= 1", "= 0"]
