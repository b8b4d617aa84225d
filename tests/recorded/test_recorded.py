"""kibitz answers as it did when the records beside this file were written.

Here the quicker parts, with fewer positions; `record.py --compare` has all, and says how records are written.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from recorded import record

RECORD = Path(record.__file__)
POSITIONS = 100
pytestmark = pytest.mark.slow
SYSTEMS = ("winner", "convchess", "chessnet", "human", "gocnn", "deepchess")
COMMANDS = ("options", "systems", "info", "analyze human")
ENGINES = ("uci chessnet", "uci deepchess", "gtp gocnn")
NETWORKS = tuple(f"network {name}" for name in record.NETWORKS)
OLD_RUNS = tuple(f"old {name}" for name in SYSTEMS)
OLD = ("old stores", "old match", *OLD_RUNS)


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What kibitz answers now, measured once in a process of its own, as exact records in a folder."""
    folder = tmp_path_factory.mktemp("measured")
    parts = ",".join((*COMMANDS, *ENGINES, *NETWORKS, *OLD))
    command = [sys.executable, str(RECORD), "--exact", str(folder), "--positions", str(POSITIONS), "--parts", parts]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def check(part: str, measured: Path) -> None:
    wrong = record.compare(part, record.read(part, measured), record.HERE)
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.parametrize("part", COMMANDS)
def test_a_command_prints_what_it_printed(part: str, measured: Path) -> None:
    check(part, measured)


@pytest.mark.parametrize("part", NETWORKS)
def test_a_packaged_network_answers_as_it_did(part: str, measured: Path) -> None:
    check(part, measured)


@pytest.mark.parametrize("part", ENGINES)
def test_an_engine_plays_as_it_did(part: str, measured: Path) -> None:
    check(part, measured)


def test_old_stores_open(measured: Path) -> None:
    check("old stores", measured)


@pytest.mark.parametrize("part", OLD_RUNS)
def test_an_old_run_opens_and_answers_as_it_did(part: str, measured: Path) -> None:
    check(part, measured)


def test_an_old_match_goes_on(measured: Path) -> None:
    check("old match", measured)
    again, on = (record.read("old match", measured)[call] for call in ("again", "on"))
    assert (again["resumed"], again["games"], on["resumed"], on["games"]) == (4, 4, 4, 6)


def test_a_difference_is_told(measured: Path) -> None:
    """The comparison is no formality: one changed number, word or key of a record is found."""
    found = record.read("old winner", measured)
    moves = found["analyze"]["games"][0]["moves"]
    moves[0]["before"] += 0.001
    moves[1]["san"] += "!"
    del moves[2]["uci"]
    wrong = record.compare("old winner", found, record.HERE)
    assert len(wrong) == 3
    assert "moves [0] / before: was" in wrong[0]

    part = "network winner"
    found = record.read(part, measured)
    found["outputs"]["white_wins.short"][7] += 0.001
    assert "1 of 100 positions differ" in record.compare(part, found, record.HERE)[0]
