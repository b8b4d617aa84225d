"""GTP programs that answer, talk beside the point, refuse, hang and die."""

from __future__ import annotations

import sys
import tracemalloc
from pathlib import Path

import pytest

from kibitz.external import EngineDied
from kibitz.external.gtp import CommandRefused, GtpProgram
from kibitz.external.programs import find_gnugo
from support.causes import naming
from support.helpers import program
from support.processes import FAKE, is_gone

STATUS = "final_status_list dead"


def started(how: str, folder: Path) -> GtpProgram:
    return GtpProgram([sys.executable, FAKE, how, str(folder)], "fake")


def test_an_answer_comes_without_its_number(tmp_path: Path) -> None:
    with started("good", tmp_path) as fake:
        assert fake.request("boardsize 9", 10) == ""
        assert fake.running
    assert not fake.running


def test_what_is_no_answer_is_passed_over(tmp_path: Path) -> None:
    with started("noise", tmp_path) as fake:
        assert fake.request(STATUS, 10) == "B5"
        assert fake.request(STATUS, 10) == "B5"


def test_a_refusal_is_told_and_the_program_lives_on(tmp_path: Path) -> None:
    with started("refuse", tmp_path) as fake:
        with pytest.raises(CommandRefused, match=r"^cannot score$"):
            fake.request(STATUS, 10)
        assert fake.request("name", 10) == ""


def test_one_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    fake = started("hang", tmp_path)
    fake.request("name", 10)
    with pytest.raises(EngineDied, match=naming("fake & final_status_list & 0.3 & dead")) as lost:
        fake.request(STATUS, 0.3)
    assert lost.value.how == "hung"
    assert not fake.running
    assert all(is_gone(int(number)) for number in (tmp_path / "hung").read_text().split())
    with pytest.raises(EngineDied, match="ended before"):
        fake.request("name", 10)
    fake.close()


def test_an_answer_without_end_is_a_hang(tmp_path: Path) -> None:
    fake = started("endless", tmp_path)
    fake.request("name", 10)
    with pytest.raises(EngineDied, match=naming("reply")):
        fake.request(STATUS, 0.3)
    assert not fake.running


def test_an_answer_of_a_hundred_megabytes_is_not_taken(tmp_path: Path) -> None:
    fake = started("flood", tmp_path)
    fake.request("name", 10)
    tracemalloc.start()
    with pytest.raises(EngineDied, match=naming("final_status_list & 16 & MB & dead")):
        fake.request(STATUS, 60)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 150e6
    assert not fake.running


def test_one_that_dies_is_told_with_its_exit_code(tmp_path: Path) -> None:
    fake = started("die", tmp_path)
    with pytest.raises(EngineDied, match="command 'final_status_list dead'") as lost:
        fake.request(STATUS, 10)
    assert lost.value.how == "died"
    fake.close()


def test_one_that_does_not_quit_is_ended(tmp_path: Path) -> None:
    fake = started("stubborn", tmp_path)
    fake.request("name", 10)
    fake.close()
    assert not fake.running


def test_no_program_at_all() -> None:
    with pytest.raises(EngineDied, match=naming("nowhere & file")):
        GtpProgram(["/nowhere/gnugo"], "nowhere")
    assert find_gnugo("/nowhere/gnugo") is None


def test_gnugo_speaks() -> None:
    with GtpProgram([program("gnugo"), "--mode", "gtp", "--level", "0", "--quiet"]) as gnugo:
        assert gnugo.request("name", 20) == "GNU Go"
        with pytest.raises(CommandRefused, match="unknown command"):
            gnugo.request("sing", 20)
