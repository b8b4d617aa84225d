"""The GTP loop with a network that answers moves: what clients send, and a game with GNU Go.

The lines are those that the clients' sources send: Lizzie's Leelaz.java, Sabaki's enginesyncer.js with the state
tracker of @sabaki/gtp. KaTrain speaks no GTP to its engine but JSON to `katago analysis`; what it asks for (ownership,
policy, score lead, prior, pv, visits) is what `kata-analyze` and `kata-raw-nn` answer here.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from itertools import pairwise

import pytest

from kibitz.engines.gtp.kata import read_analysis
from kibitz.engines.gtp.session import GtpSettings
from kibitz.external.gtp import GtpProgram
from kibitz.external.programs import find_gnugo
from kibitz.games.go.points import PASS, from_gtp
from kibitz.games.go.rules import Board
from kibitz.play.puct import search
from kibitz.play.puct.tree import cut_out
from support.board_client import until
from support.go_fakes import FakeGo
from support.gtp_bench import Bench

SETTINGS = GtpSettings("kibitz", "1.0", seed=1, visits=30)
INFO = (
    r"info move (?P<move>\w+) visits (?P<visits>\d+) edgeVisits (?P=visits) utility -?\d\.\d+"
    r" winrate (?P<winrate>[01]\.\d+) scoreMean -?\d+\.\d+ scoreStdev \d+\.\d+"
    r" scoreLead (?P<lead>-?\d+\.\d+) scoreSelfplay (?P=lead)"
    r" prior (?P<prior>[01]\.\d+) lcb [01]\.\d+ utilityLcb -?\d\.\d+ weight \d+\.\d order (?P<order>\d+)"
    r" pv (?P<pv>(?:[A-T]\d+|pass)(?: (?:[A-T]\d+|pass))*)"
)


def bench() -> Bench:
    return Bench(FakeGo(), SETTINGS)


GROWN = -1
"""A step that waits until its analysis has a line with more visits than its first one."""


def talk(under_test: Bench, steps: list[tuple[str, int]]) -> str:
    """Send each line of `steps` to the engine, wait for its output, and return the whole output.

    The number of a step is how many further `info` groups to wait for, or GROWN.
    """

    def lines() -> Iterator[str]:
        for line, groups in steps:
            before = under_test.text  # the answer may come before the next step
            yield line
            if groups == GROWN:
                wait_until_grown(under_test, len(before))
            elif groups:
                under_test.wait_for("info move", before.count("info move") + groups)

    under_test.engine.run(lines())
    return under_test.text


def infos(line: str) -> list[re.Match[str]]:
    return list(re.finditer(INFO, line))


def visits_of(line: str) -> int:
    return sum(int(info["visits"]) for info in infos(line))


def has_grown(text: str) -> bool:
    visits = [visits_of(line) for line in text.split("\n") if infos(line)]
    return bool(visits) and visits[-1] > visits[0]


def wait_until_grown(under_test: Bench, start: int) -> None:
    until(lambda: has_grown(under_test.text[start:]))


def test_what_lizzie_sends() -> None:
    """Numbered commands; an analysis ends with what comes next, an undo or a handicap too; `name` ends pondering."""
    said = [
        ("1 name", 0), ("2 version", 0), ("3 boardsize 9", 0), ("4 komi 6.5", 0), ("5 time_settings 0 2 1", 0),
        ("6 kata-analyze 1 ownership true", GROWN), ("7 play B E5", 0), ("8 kata-analyze 1 ownership true", 20),
        ("9 undo", 0), ("10 lz-analyze 1", 20), ("11 lz-analyze 1 avoid b E5 1 avoid w E5 1", 20), ("12 name", 0),
        ("13 clear_board", 0), ("14 fixed_handicap 2", 0), ("15 lz-genmove_analyze W 1", 0), ("16 undo", 0),
        ("17 genmove W", 0), ("18 quit", 0),
    ]  # fmt: skip
    answers = talk(bench(), said).split("\n\n")
    assert [int(re.match(r"=(\d+)", answer)[1]) for answer in answers[:-1]] == list(range(1, 19))  # type: ignore[index]
    first = answers[5].split("\n")[1:]
    assert all(infos(line) and len(line.split("ownership ")[1].split()) == 81 for line in first)
    visits = [visits_of(line) for line in first]
    assert visits == sorted(visits), "the tree grows"
    assert visits[-1] > visits[0]
    lz = r"info move \w+ visits \d+ winrate \d+ prior \d+ lcb \d+ order \d+ pv \w+( \w+)*?"
    assert all(re.fullmatch(f"{lz}( {lz})*", line) for line in answers[9].split("\n")[1:])
    assert "info move E5" not in answers[10]
    assert answers[13] == "=14 C3 G7"
    assert re.match(r"play ([A-J]\d|pass)$", answers[14].split("\n")[-1])
    assert re.fullmatch(r"=17 ([A-J]\d|pass)", answers[16])


def test_what_sabaki_sends() -> None:
    """The position is sent with `boardsize`, `komi`, `clear_board`, `set_free_handicap` and `play` or `loadsgf`; an
    analysis is aborted by `protocol_version`; ownership comes last in its line, and pvs are read up to a pass."""
    said = [
        ("0 name", 0), ("1 version", 0), ("2 protocol_version", 0), ("3 list_commands", 0), ("4 boardsize 9", 0),
        ("5 komi 7.5", 0), ("6 clear_board", 0), ("7 set_free_handicap C3 G7", 0), ("8 play W E5", 0),
        ("9 kata-analyze B interval 1 ownership true", 30), ("10 protocol_version", 0), ("11 undo", 0),
        ("12 genmove_analyze W interval 1", 0), ("13 kata-analyze B interval 1 ownership true", 10),
        ("14 protocol_version", 0), ("15 quit", 0),
    ]  # fmt: skip
    answers = talk(bench(), said).split("\n\n")
    commands = answers[3].split()
    assert {"kata-analyze", "lz-analyze", "genmove_analyze", "kata-genmove_analyze", "set_free_handicap"} <= set(
        commands
    )
    line = answers[9].split("\n")[-1]
    ownership = re.search(r"ownership\s+(.+)", line)
    assert ownership
    assert len(ownership[1].split()) == 81
    for variation in re.split(r"\s*info\s+", line[: ownership.start()])[1:]:
        pv = re.search(r"(pass|[A-Za-z]\d+)(\s+(pass|[A-Za-z]\d+))*$", variation.strip())
        assert pv, "as Sabaki looks for it"
        tokens = variation[: pv.start()].split()[:-1]
        assert dict(zip(tokens[::2], tokens[1::2], strict=True)).keys() >= {"move", "visits", "winrate", "scoreLead"}
    assert answers[12].split("\n")[-1].startswith("play ")


def test_lines_of_the_search() -> None:
    line = talk(
        bench(), [("boardsize 9", 0), ("kata-analyze b 1 maxmoves 4 rootInfo true pvVisits true", 200), ("", 0)]
    )
    last = line.rstrip("\n").split("\n")[-1]
    found = infos(last)
    assert [int(info["order"]) for info in found] == [0, 1, 2, 3]
    visits = [int(info["visits"]) for info in found]
    assert visits == sorted(visits, reverse=True)
    assert any(" " in info["pv"] for info in found)
    root = re.search(r"rootInfo visits (\d+)", last)
    assert root
    assert int(root[1]) > sum(visits)
    pvs = [info["pv"].split() for info in found]
    counts = [[int(word) for word in text.split()] for text in re.findall(r"pvVisits ([\d ]+) pvEdgeVisits", last)]
    assert [len(pv) for pv in pvs] == [len(count) for count in counts]
    assert all(all(a >= b for a, b in pairwise(count)) for count in counts)


def test_owners_after_moves_and_raw_answers() -> None:
    text = talk(
        bench(),
        [("boardsize 9", 0), ("play b E5", 0), ("kata-analyze w 1 maxmoves 2 movesOwnership true", 10), ("", 0)],
    )
    assert all(
        line.count("movesOwnership ") == min(2, line.count("info move")) for line in text.split("\n") if "info" in line
    )
    (raw,) = bench().say("boardsize 9", "play b C3", "kata-raw-nn 5")[2:]
    policy = raw.split("policy\n")[1].split("policyPass")[0].split()
    assert policy[6 * 9 + 2] == "NAN"
    passed = float(raw.split("policyPass")[1].split()[0])
    assert sum(float(word) for word in policy if word != "NAN") + passed == pytest.approx(1, abs=1e-3)
    assert float(raw.split("whiteWin ")[1].split()[0]) > 0.5
    assert float(raw.split("whiteLead ")[1].split()[0]) > 0


def test_a_stop_comes_within_50_ms() -> None:
    under_test, waits = bench(), []

    def lines() -> Iterator[str]:
        yield "boardsize 19"
        for i in range(60):
            yield "kata-analyze 1 ownership true"
            under_test.wait_for("info move", 40 * (i + 1))
            begun = time.perf_counter()
            yield "name"
            waits.append(time.perf_counter() - begun)
            if waits[-1] < 0.05:  # the others were on a busy machine
                break

    under_test.engine.run(lines())
    assert min(waits) < 0.05


def test_it_resigns_where_it_may() -> None:
    hopeless = ["boardsize 9", "komi -100", *["genmove w"] * 3, "kata-genmove_analyze w 1"]
    under_test = Bench(FakeGo(), GtpSettings("kibitz", "1.0", visits=8, resign=0.1))
    answers = under_test.say(*hopeless)
    assert [answer == "= resign" for answer in answers[2:5]] == [False, False, True]
    assert answers[5].endswith("play resign")
    assert under_test.say("clear_board", "genmove w") != ["= ", "= resign"], "a new game begins anew"
    assert "resign" not in " ".join(bench().say(*hopeless))


def test_only_moves_that_are_played_in_a_row_count_towards_resigning() -> None:
    under_test = Bench(FakeGo(), GtpSettings("kibitz", "1.0", visits=8, resign=0.1))
    answers = under_test.say(
        "boardsize 9", "komi -100", *["reg_genmove w"] * 4, *["genmove w"] * 2, "undo", "genmove w"
    )
    assert "= resign" not in answers


def test_points_that_are_avoided_are_not_played() -> None:
    answers = bench().say(
        "boardsize 9", "kata-genmove_analyze b 100 allow b a1 1", "kata-genmove_analyze w 100 avoid w a2 1"
    )
    assert answers[1].endswith("play A1")
    assert not answers[2].endswith("play A2")
    request = read_analysis(("b", "20", "avoid", "b", "a1", "1"), bench().engine.session)
    assert request.only is not None
    assert PASS in request.only


def test_a_line_comes_at_once_however_long_the_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine began a minute ago, and lines are asked for every 25 minutes."""
    begun = time.monotonic() - 60
    real = time.monotonic
    monkeypatch.setattr("kibitz.engines.gtp.kata.time.monotonic", lambda: real() - begun)
    assert "info move" in talk(bench(), [("boardsize 9", 0), ("kata-analyze b 150000", 1), ("name", 0)])


def test_time_and_methods() -> None:
    under_test = Bench(FakeGo(), GtpSettings("kibitz", "1.0", method="top-prob"))
    answers = under_test.say("boardsize 9", "time_settings 60 0 0", "time_left b 0 0", "genmove b", "reg_genmove w")
    assert all(answer.startswith("= ") for answer in answers)
    assert "visits" in under_test.say("gomill-explain_last_move")[0]
    labels = Bench(FakeGo(), SETTINGS).say("boardsize 9", "kibitz-moves b")[1]
    assert re.search(r"LABEL [A-J]\d \d+% ", labels)


def test_a_search_is_compiled_before_a_clock_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the second move of a game needs too: it goes on with the tree of the first."""
    cut = list[int]()
    monkeypatch.setattr(search, "cut_out", lambda tree, root, into: [cut.append(root), cut_out(tree, root, into)])
    under_test = bench()
    under_test.say("boardsize 9", "play b E5", "time_settings 60 0 0")
    assert cut
    before = len(cut)
    under_test.say("time_settings 60 0 0", "play w E3", "kata-time_settings fischer-capped 60 3 120 -1")
    assert len(cut) == before, "the clock may run already: gtp2ogs sends these before every move"
    under_test.say("boardsize 13", "time_settings 60 0 0")
    assert len(cut) > before
    passed = bench()
    assert passed.say("boardsize 9", "play b pass", "play w pass", "time_settings 60 0 0")[-1] == "= "


GNUGO = find_gnugo()


@pytest.mark.skipif(not GNUGO, reason="GNU Go is not installed")
def test_a_game_with_gnu_go() -> None:
    """9 × 9: every move is legal for both, the game ends, and both count it."""
    under_test, board = bench(), Board(9, superko=True)
    under_test.say("boardsize 9", "kata-set-rules chinese-ogs", "komi 7")
    with GtpProgram([str(GNUGO), "--mode", "gtp", "--chinese-rules", "--positional-superko", "--level", "1"]) as gnugo:
        for command in ("boardsize 9", "komi 7", "clear_board"):
            gnugo.request(command, 20)
        while board.passes < 2 and board.ply < 250:
            if board.to_move == 1:
                vertex = under_test.say("genmove b")[0].removeprefix("= ")
                gnugo.request(f"play b {vertex}", 20)
            else:
                vertex = gnugo.request("genmove w", 20)
                if vertex.lower() == "resign":
                    break
                assert under_test.say(f"play w {vertex}") == ["= "]
            board.play(board.to_move, from_gtp(vertex, 9))
        counted = under_test.say("final_score")[0]
    assert re.fullmatch(r"= ([BW]\+\d+(\.\d)?|0)", counted)
    assert board.ply > 20
