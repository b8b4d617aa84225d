"""Progress of commands: lines where there is no terminal, a bar where there is one."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kibitz import ongoing
from kibitz.cli import run
from kibitz.commands import progress
from kibitz.commands import test as test_command
from kibitz.commands.analyze import output
from kibitz.commands.analyze.output import GameBar
from kibitz.commands.analyze.player import player_progress
from kibitz.commands.personal import PersonalBar
from kibitz.commands.progress import BAR, ELAPSED, LEFT, Progress
from kibitz.commands.test import LINE_EVERY, EvaluationBar
from kibitz.commands.train import TrainingBar
from kibitz.commands.tune import TuningProgress
from kibitz.training.trainer import TrainProgress
from kibitz.training.tune.search import Step
from support.board_client import until
from support.causes import each_mentions, mentions


class Clock:
    """Takes the place of the module `time`."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    monkeypatch.setattr(progress, "MINUTE", 60.0)
    return clock


class Terminal(io.StringIO):
    """What standard error is on a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def as_terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Terminal]:
    """Makes standard error a terminal of 120 columns. To be called in a test: pytest sets up standard error after
    fixtures."""

    def make() -> Terminal:
        stream = Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("COLUMNS", "120")
        monkeypatch.setenv("TERM", "xterm")
        return stream

    return make


def test_without_a_terminal_a_line_comes_once_a_minute(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(BAR) as shown:
        shown.begin("", 600)
        for done in range(1, 601):  # one a second
            clock.now += 1
            shown.update(done, f"{done} of 600")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "60 of 600, 9 min left", "120 of 600, 8 min left", "180 of 600, 7 min left", "240 of 600, 6 min left",
        "300 of 600, 5 min left", "360 of 600, 4 min left", "420 of 600, 3 min left", "480 of 600, 2 min left",
        "540 of 600, 60 s left",
    ]  # fmt: skip


def test_a_line_that_was_said_counts_as_a_sign_of_life(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(BAR, every=10) as shown:
        shown.begin("", None)
        clock.now += 9
        shown.log("a word")
        clock.now += 9
        shown.update(1, "too early")
        clock.now += 1
        shown.update(2, "in time")
        clock.now += 20
        shown.update(3)
    assert capsys.readouterr().err == "a word\nin time\n"


def test_what_an_earlier_call_did_does_not_count_in_the_time_left(clock: Clock) -> None:
    shown = Progress(BAR)
    shown.begin("", 1000, 900)
    assert shown.time_left() == ""
    clock.now += 10
    shown.update(910)
    assert shown.rate() == 1
    assert shown.rate(920) == 2
    assert shown.time_left() == "90 s left"
    assert shown.seconds == 10


@pytest.mark.parametrize(("total", "left"), [(120, "119 s left"), (121, "2 min left"), (7201, "2.0 h left")])
def test_the_time_left_in_words(clock: Clock, total: int, left: str) -> None:
    shown = Progress(BAR)
    shown.begin("", total)
    clock.now += 1
    shown.update(1)
    assert shown.time_left() == left


def test_a_passing_bar_disappears_when_the_next_part_begins(as_terminal: Callable[[], Terminal]) -> None:
    as_terminal()
    with Progress("{task.description}", stays=True) as shown:
        shown.begin("evaluating", 10, passing=True)
        shown.begin("training 1", 10)
        shown.begin("training 2", 10)
        assert shown._bar is not None
        assert [task.description for task in shown._bar.tasks] == ["training 1", "training 2"]


def test_a_persons_network_shows_its_evaluations(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    """Batches of positions are counted before the training, with speed and time left."""
    with PersonalBar() as bar, ongoing.listening(bar.on_evaluated):
        for _ in ongoing.batches(5000, 1000):
            clock.now += 10
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(": ", 1)[1] for line in lines] == [
        "2,000 of 5,000: 100 positions/s, 30 s left", "4,000 of 5,000: 100 positions/s, 10 s left",
    ]  # fmt: skip


def test_evaluations_that_have_just_begun_have_no_speed(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with PersonalBar() as bar:
        clock.now += 100
        bar.on_evaluated(0, 384)
    assert capsys.readouterr().err.rstrip("\n").endswith("0 of 384")


def test_on_a_terminal_columns_are_drawn_and_words_stand_above(as_terminal: Callable[[], Terminal]) -> None:
    terminal = as_terminal()
    with Progress("{task.description}", BAR, "{task.fields[unit]}", ELAPSED, LEFT, stays=True) as shown:
        shown.begin("games", 10, unit="moves")
        shown.update(5, "no line")
        shown.update(10, unit="plies")
        shown.log("[a] word")
        shown.begin("more", 2, unit="")
    text = terminal.getvalue()
    for part in ("games", "plies", "left:", "[a] word", "more"):
        assert part in text
    assert "no line" not in text


def test_a_patient_bar_waits(clock: Clock, as_terminal: Callable[[], Terminal]) -> None:
    terminal = as_terminal()
    with Progress("{task.description}", patient=True) as shown:
        shown.begin("quick", 10)
        shown.update(10)
        assert terminal.getvalue() == ""
        shown.begin("slow", 10)
        clock.now += progress.PATIENCE
        shown.update(1)
    text = terminal.getvalue()
    assert "slow" in text
    assert "quick" not in text


def test_a_part_may_be_shown_at_once(clock: Clock, as_terminal: Callable[[], Terminal]) -> None:
    terminal = as_terminal()
    with Progress("{task.description}", patient=True) as shown:
        shown.begin("of one step", 1, at_once=True)
    assert "of one step" in terminal.getvalue()


def test_a_terminal_that_cannot_move_its_cursor_gets_lines(
    clock: Clock, as_terminal: Callable[[], Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = as_terminal()
    monkeypatch.setenv("TERM", "dumb")
    with Progress(BAR) as shown:
        shown.begin("", None)
        clock.now += 60
        shown.update(1, "a line")
    assert terminal.getvalue() == "a line\n"


def test_a_training_tells_of_each_validation_and_once_a_minute(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    """The losses come in summaries, rarer than iterations; the line has the last."""
    with TrainingBar() as shown:
        for iteration in range(1, 131):
            clock.now += 1
            summary = iteration % 10 == 0
            note = "validation loss 0.5" if iteration == 30 else ""
            shown.on_progress(
                TrainProgress("main", iteration, 150, 0.25 if summary else None, 64.0 if summary else None, note=note)
            )
    shown_lines = capsys.readouterr().err.splitlines()
    assert each_mentions(shown_lines, "main 30 & loss 0.5", "main 90 & 150 & loss 0.2500 & 64 & 59 s")


def test_a_search_for_settings_tells_once_a_minute(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    class Request:
        total, iterations = 3, 100

    with TuningProgress(Request()) as shown:  # type: ignore[arg-type]
        for iteration in range(1, 71):
            clock.now += 1
            shown.on_step(Step(2, 1, TrainProgress("main", iteration, 100, 0.5 if iteration == 50 else None)))
    assert mentions(capsys.readouterr().err, "trial & 2 & 60 & 100 & 0.5000 & loss")


def test_a_part_of_a_test_began_when_the_one_before_ended(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its first news may be that some of it is done."""
    monkeypatch.setattr(test_command, "time", clock)
    with EvaluationBar() as shown:
        clock.now += 1
        shown.on_progress("figures", 1, 1)
        clock.now += LINE_EVERY
        shown.on_progress("positions", 4096, 8192)
        clock.now += LINE_EVERY
        shown.on_progress("positions", 6144, 8192)
    rates = [round(done / seconds) for done, seconds in ((4096, LINE_EVERY), (6144, 2 * LINE_EVERY))]
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(", ")[1] for line in lines[-2:]] == [f"{rate:,}/s" for rate in rates]


@pytest.mark.parametrize(("seconds_per_game", "stated"), [(6.0, ["10 min"]), (0.5, [])])
def test_a_long_report_states_its_time_after_the_first_games(
    clock: Clock, capsys: pytest.CaptureFixture[str], seconds_per_game: float, stated: list[str]
) -> None:
    games = 0
    with player_progress(100, lambda: games) as shown, shown("games.pgn") as show:
        for _ in range(20):
            games += 1
            clock.now += seconds_per_game
            show(games, 0)
    lines = [line for line in capsys.readouterr().err.splitlines() if "Ctrl-C" in line]
    assert each_mentions(lines, *stated)


def test_a_long_game_shows_its_searched_positions(
    as_terminal: Callable[[], Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "FIRST_SECONDS", 0.0)
    terminal = as_terminal()
    with GameBar() as bar, ongoing.listening(bar.on_positions):
        ongoing.report(0, 10)
        until(lambda: "0 of 10 positions" in terminal.getvalue())
        ongoing.report(7, 10)
        until(lambda: "7 of 10 positions" in terminal.getvalue())
        ongoing.report(10, 10)
        ended = terminal.getvalue()
        ongoing.report(5, 10)  # late, from another thread
    assert terminal.getvalue() == ended


def test_a_short_game_shows_no_bar(as_terminal: Callable[[], Terminal], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "FIRST_SECONDS", 1000.0)
    terminal = as_terminal()
    with GameBar() as bar, ongoing.listening(bar.on_positions):
        assert list(ongoing.counted(range(50), 50)) == list(range(50))
        ongoing.report(0, 50)
    assert terminal.getvalue() == ""


def test_the_bar_of_a_failed_game_disappears(
    as_terminal: Callable[[], Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "FIRST_SECONDS", 0.0)
    terminal = as_terminal()

    def fail() -> None:
        with GameBar() as bar, ongoing.listening(bar.on_positions):
            ongoing.report(0, 10)
            until(lambda: "0 of 10 positions" in terminal.getvalue())
            raise ValueError("failed")

    with pytest.raises(ValueError, match="failed"):
        fail()
    ended = terminal.getvalue()
    assert ended.endswith("\x1b[2K")
    assert not ongoing.listeners


@pytest.mark.parametrize(("network", "file"), [("human", "game.pgn"), ("winner", "game.pgn"), ("gohuman", "game.sgf")])
def test_an_analysis_reports_each_searched_position(
    network: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "game.pgn").write_text("1. e4 e5 2. Nf3 Nc6 *\n")
    (tmp_path / "game.sgf").write_text("(;SZ[9];B[ee];W[cc];B[gc])")
    heard: list[tuple[int, int]] = []
    monkeypatch.setattr(ongoing, "listeners", [lambda done, total: heard.append((done, total))])
    assert run(["analyze", network, str(tmp_path / file), "--json"]) == 0
    positions = 5 if file.endswith("pgn") else 4
    first = heard[: heard.index((positions, positions)) + 1]
    assert first[0] == (0, positions)
    assert sorted({done for done, total in first if total == positions} - {0, 1}) == list(range(2, positions + 1))
    assert capsys.readouterr().out


def test_the_time_left_is_unknown_at_the_beginning(clock: Clock) -> None:
    """The first of many steps is too short to measure the speed."""
    bar = Progress(every=15.0)
    bar.begin("training 2", 55, 0)
    clock.now += 0.01
    bar.update(1)
    assert bar.time_left() == ""
    clock.now += 1.99
    assert bar.time_left() == "108 s left"


def test_the_progress_inside_a_game_names_this_game(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a terminal, no line counts zero games, neither inside the game nor at its end."""
    lines: list[str] = []

    class Bar(Progress):
        def update(self, done: float, line: str = "", **fields: Any) -> None:
            lines.append(line)

    monkeypatch.setattr(output, "Progress", Bar)
    (tmp_path / "a.pgn").write_text("1. e4 *\n")
    with output.progress(str(tmp_path / "a.pgn")) as on_games:
        on_games(0, 0)
        for done in (32, 56):
            ongoing.report(done, 56)
    assert mentions(lines, "game 1 & 32 of 56")
    assert not any("0 games" in line for line in lines)
