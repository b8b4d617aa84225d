"""kibitz import with Go records: what is kept, whose owners are told, what is said of bad input, and going on."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sgfmill import sgf

from kibitz import cli
from kibitz.commands.import_ import command
from kibitz.games.go.points import GRID
from kibitz.store.store import Store
from support.board_client import until
from support.causes import mentions, must_succeed
from support.helpers import program
from support.patience import PATIENCE

KIBITZ = [sys.executable, "-m", "kibitz.cli"]
Run = Callable[..., tuple[int, str, str]]

WALLS = [point for column in range(9) for point in ((5, column), (3, column))]
"""A whole game on 9×9: Black's wall on the fourth line from above, White's on the sixth; 27 points each, 9 neutral."""


def game(
    result: str = "B+4.5", komi: float = -4.5, moves: list[tuple[int, int]] | None = None, size: int = 9, **headers: str
) -> str:
    """One game in a line; walls by default. Rows count from below, as sgfmill's do."""
    record = sgf.Sgf_game(size)
    root = record.get_root()
    said = {"PB": "Kuro", "PW": "Shiro", "RE": result, "RU": "Chinese", "DT": "2019-05-01", "BR": "2d", "WR": "3d"}
    for name, value in {**said, **headers}.items():
        if value:
            root.set(name, value)
    root.set("KM", komi)
    for i, move in enumerate(WALLS if moves is None else moves):
        record.extend_main_sequence().set_move("bw"[i % 2], move)
    return record.serialise().decode().replace("\n", "") + "\n"


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str | Path) -> tuple[int, str, str]:
        code = cli.run([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return call


def put(path: Path, *games: str) -> Path:
    path.write_text("".join(games), encoding="utf-8")
    return path


def left_out(out: str) -> dict[str, int]:
    return {entry["label"]: entry["games"] for entry in json.loads(out)["left_out"].values()}


def test_a_counted_game_gets_its_owners(run: Run, tmp_path: Path) -> None:
    file = put(tmp_path / "a.sgf", game())
    code, out, _ = run("import", file, "--into", tmp_path / "s", "--referee", "playouts")
    assert code == 0
    assert "kept         1" in out
    store = Store(tmp_path / "s")
    assert store.game == "go"
    row = store.row(0)
    assert (row["black"], row["white_rank"], row["ending"], row["margin"], row["labels"]) == (
        "Kuro", "3d", "counted", 4.5, "playouts",
    )  # fmt: skip
    owners = store.per_game("owner")
    assert owners is not None
    owner = owners[0].reshape(GRID, GRID)
    assert (owner[:4, :9] == 1).all()
    assert not owner[4].any()
    assert (owner[5:9, :9] == 2).all()
    assert not owner[9:].any()
    assert not owner[:, 9:].any()
    code, out, _ = run("info", tmp_path / "s")
    assert code == 0
    assert "ownership from" in out


def test_a_result_that_contradicts_the_board(run: Run, tmp_path: Path) -> None:
    file = put(tmp_path / "a.sgf", game("W+30.5"), game())
    code, out, _ = run("import", file, "--into", tmp_path / "s", "--json", "--referee", "playouts")
    assert code == 0
    assert left_out(out) == {"score not confirmed": 1}
    code, out, _ = run("import", file, "--into", tmp_path / "t", "--json", "--referee", "none")
    assert code == 0
    assert json.loads(out)["kept"] == 2


def test_every_bad_game_has_its_reason(run: Run, tmp_path: Path) -> None:
    ko = [(1, 1), (1, 4), (0, 2), (0, 3), (2, 2), (2, 3), (8, 8), (1, 2), (1, 3), (1, 2)]
    file = put(
        tmp_path / "a.sgf",
        game(),
        game(size=21),
        game(moves=[(0, 0), (0, 0)]),
        game(moves=ko),
        game(RE="Void"),
        game(RE="?"),
        game("B+R", moves=WALLS[2:]),
        game()[:60],
    )
    code, out, err = run("import", file, "--into", tmp_path / "s", "--json", "--referee", "playouts")
    assert code == 0, err
    found = left_out(out)
    assert json.loads(out)["kept"] == 2  # the resigned game, without owners
    assert found["illegal move"] == 2
    assert any("21" in reason for reason in found)
    assert sum(found.values()) == 6
    details = [example["detail"] for example in json.loads(out)["left_out"]["illegal_move"]["first"]]
    assert ["on a stone" in details[0], "ko" in details[1]] == [True, True]


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (["--ending", "counted"], 3), (["--ending", "resignation"], 1), (["--rank", "2d"], 3), (["--rank", "3d"], 1),
        (["--rules", "japanese"], 1), (["--since", "2020"], 1), (["--until", "2019"], 3), (["--min-moves", "5"], 4),
        (["--player", "kitani"], 1), (["--result", "white"], 1), (["--size", "9"], 4), (["--handicap", "0"], 4),
        (["--limit", "2"], 2),
    ],
)  # fmt: skip
def test_filters(options: list[str], kept: int, run: Run, tmp_path: Path) -> None:
    file = put(
        tmp_path / "a.sgf",
        game(),
        game(moves=WALLS[2:], RU="Japanese", PB="Kitani", BR="9d", WR="3d"),
        game(moves=WALLS[4:], DT="2021-01-01", BR="5k"),
        game("W+R", moves=WALLS[6:]),
    )
    code, out, err = run("import", file, "--into", tmp_path / "s", "--json", "--referee", "none", *options)
    assert code == 0, err
    assert json.loads(out)["kept"] == kept


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--speed", "blitz"], "--speed & Go"),
        (["--min-rating", "2000"], "--min-rating & Go"),
        (["--rank", "x"], "--rank & x"), (["--ending", "checkmate"], "--ending & checkmate"),
        (["--size", "7"], "--size & 7"),
        (["--rules", "own"], "--rules & own"),
        (["--gnugo-limit", "inf"], "--gnugo-limit"), (["--referee", "me"], "--referee & me"),
        (["--game", "shogi"], "--game"),
    ],
)  # fmt: skip
def test_wrong_calls(options: list[str], said: str, run: Run, tmp_path: Path) -> None:
    code, _, err = run("import", put(tmp_path / "a.sgf", game()), "--into", tmp_path / "s", *options)
    assert code == 2
    assert mentions(err, said)
    assert err.count("\n") == 1
    assert not (tmp_path / "s").exists()
    must_succeed(["import", tmp_path / "a.sgf", "--into", tmp_path / "s", "--referee", "none"], once="import Go")


def test_options_of_go_are_not_for_chess(run: Run, tmp_path: Path) -> None:
    file = put(tmp_path / "a.pgn", '[Result "1-0"]\n\n1. e4 1-0\n')
    for options in (
        ["--rank", "5d"],
        ["--rules", "aga"],
        ["--referee", "playouts"],
        ["--play-out"],
        ["--handicap", "0"],
    ):
        code, _, err = run("import", file, "--into", tmp_path / "s", *options)
        assert code == 2
        assert "chess" in err


def test_two_games_do_not_mix(run: Run, tmp_path: Path) -> None:
    go, chess = put(tmp_path / "a.sgf", game()), put(tmp_path / "a.pgn", '[Result "1-0"]\n\n1. e4 1-0\n')
    code, _, err = run("import", go, chess, "--into", tmp_path / "s")
    assert code == 2
    assert "for chess" in err
    assert run("import", go, "--into", tmp_path / "s", "--referee", "none")[0] == 0
    code, _, err = run("import", chess, "--into", tmp_path / "s", "--append")
    assert code == 2
    assert mentions(err, "chess & go & store")


def test_gnugo_that_is_not_there(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = put(tmp_path / "a.sgf", game())
    code, _, err = run("import", file, "--into", tmp_path / "s", "--gnugo", tmp_path / "no")
    assert code == 1
    assert "gnugo" in err
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("kibitz.games.go.endings.scoring.find_gnugo", lambda path=None: None)
    code, _, err = run("import", file, "--into", tmp_path / "t")
    assert code == 0
    assert "GNU Go is not installed" in err


def test_resigned_games_get_owners(run: Run, tmp_path: Path) -> None:
    program("gnugo")
    file = put(
        tmp_path / "a.sgf", *(game(result, -40.5, WALLS[k:]) for k, result in ((0, "B+R"), (2, "W+R"), (4, "B+T")))
    )
    code, out, err = run("import", file, "--into", tmp_path / "s", "--play-out", "--referee", "none", "--json")
    assert code == 0, err
    assert not left_out(out)
    store = Store(tmp_path / "s")
    labels, owner = store.column("labels").tolist(), store.per_game("owner")
    assert owner is not None
    assert sorted(map(str, labels)) == ["None", "None", "played out"]
    assert [label is not None for label in labels] == owner.any(1).tolist()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a script that runs")
def test_a_program_beside_the_store_that_is_no_gnugo(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path is taken from where the user stands; and a program that never answers is named."""
    script = put(tmp_path / "no.sh", "#!/bin/sh\nexit 0\n")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    games = [game(moves=[*WALLS, (8, column)]) for column in range(9)] + [game("B+R", moves=WALLS[2:])]
    put(tmp_path / "a.sgf", *games)
    code, out, err = run("import", "a.sgf", "--into", "s", "--referee", "gnugo", "--gnugo", "./no.sh", "--json")
    assert code == 0
    assert left_out(out)["referee died"] >= 3
    assert sum(left_out(out).values()) == 9
    assert "GNU Go" in err


def test_added_games_are_judged_once(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kibitz.games.go.endings.scoring import Referee

    judged: list[int] = []
    label = Referee.label

    def counting(self: Referee, batch: Any, tell: Any = None) -> Any:
        judged.append(len(batch))
        return label(self, batch, tell)

    monkeypatch.setattr(Referee, "label", counting)
    file = put(tmp_path / "a.sgf", game())
    assert run("import", file, "--into", tmp_path / "s")[0] == 0
    more = put(tmp_path / "b.sgf", game(), game(moves=[*WALLS, (0, 0)]))
    code, out, _ = run("import", file, more, "--into", tmp_path / "s", "--append")
    assert code == 0
    assert judged == [1, 1]
    assert "duplicate" in out
    assert not list(tmp_path.glob(".s*"))


@pytest.mark.skipif(sys.platform == "win32", reason="needs kill")
def test_a_killed_import_goes_on_with_what_was_judged(tmp_path: Path) -> None:
    games = [game(moves=[*WALLS, (8, column)]) for column in range(9)]
    file, log, free = put(tmp_path / "a.sgfl", *games), tmp_path / "log", tmp_path / "free"
    slow = put(  # after two games it answers no more until `free` is there
        tmp_path / "slow.py",
        f"#!{sys.executable}\nimport os, sys, time\ncount = 0\nfor line in sys.stdin:\n"
        f"    open({str(log)!r}, 'a').write(line)\n    count += 'final_status_list dead' in line\n"
        f"    while count > 2 and not os.path.exists({str(free)!r}):\n        time.sleep(0.01)\n"
        "    print('= \\n')\n    sys.stdout.flush()\n",
    )
    slow.chmod(0o755)
    call = [*KIBITZ, "import", str(file), "--into", str(tmp_path / "s"), "--referee", "gnugo", "--gnugo", str(slow)]
    process = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journal = tmp_path / ".s.owners"
    until(lambda: journal.exists() and journal.stat().st_size > 200)  # two games or more
    process.kill()
    process.wait()
    free.touch()
    assert not (tmp_path / "s").exists()
    done = subprocess.run([*call, "--json"], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kept"] == len(games)
    assert not journal.exists()
    asked = sum(line.startswith("final_status_list dead") for line in log.read_text().splitlines())
    assert asked <= len(games) + 4  # those under way when it was killed are asked again


def test_owners_are_whole_numbers_of_colours(run: Run, tmp_path: Path) -> None:
    file = put(tmp_path / "a.sgf", game(), game(moves=[*WALLS, (8, 8), (0, 0)]))
    assert run("import", file, "--into", tmp_path / "s", "--referee", "playouts")[0] == 0
    owners = Store(tmp_path / "s").per_game("owner")
    assert owners is not None
    assert set(np.unique(owners)) <= {0, 1, 2}


def test_progress_goes_on_while_games_are_labelled(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of a small file is read at once: what is told is how many of its games have their owners."""
    told: list[float] = []
    monkeypatch.setattr(
        "kibitz.commands.progress.Progress.update", lambda self, done, line="", **fields: told.append(done)
    )
    games = [game(moves=[*WALLS, (8, column)]) for column in range(9)]
    assert run("import", put(tmp_path / "a.sgf", *games), "--into", tmp_path / "s", "--referee", "playouts")[0] == 0
    assert told == sorted(told)
    assert {round(100 * part / 9) for part in range(10)} <= {round(done) for done in told}


def test_the_progress_counts_each_game_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The writer has already counted the games of a batch when their labels are found."""
    updates: list[tuple[float, str]] = []
    monkeypatch.setattr(command.Progress, "update", lambda self, done, line, **fields: updates.append((done, line)))
    (tmp_path / "a.sgf").write_bytes(b" " * 100)
    reader = SimpleNamespace(paths=[str(tmp_path / "a.sgf")], consumed=100, keep=SimpleNamespace(limit=None))
    writer: Any = SimpleNamespace(read=40, games=0)
    with command._progress(reader, writer, 0) as show:
        show(5, 20)
        show(20, 20)
    assert [round(done) for done, _ in updates] == [25, 100]
    assert all("40 games read" in line for _, line in updates)
