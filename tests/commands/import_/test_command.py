"""kibitz import as a user meets it: what is kept, what is said of bad input, and that nothing half is ever left."""

from __future__ import annotations

import array
import bz2
import fcntl
import gzip
import json
import os
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kibitz import cli
from kibitz.games.chess.io import pgn
from kibitz.store.store import INFO, Store
from support.board_client import until
from support.causes import assert_refused, in_process, mentions, must_succeed
from support.helpers import GAMES
from support.patience import PATIENCE

KIBITZ = [sys.executable, "-m", "kibitz.cli"]
HEADERS = '[Event "Rated Blitz game"]\n[Date "{year}.05.01"]\n[White "{white}"]\n[Black "B"]\n[Result "{result}"]\n'
RATINGS = '[WhiteElo "{elo}"]\n[BlackElo "2400"]\n'


def game(
    moves: str = "1. f3 e5 2. g4 Qh4#", result: str = "0-1", year: int = 2015, white: str = "A", elo: int | None = 2200
) -> str:
    headers = HEADERS.format(year=year, white=white, result=result) + (RATINGS.format(elo=elo) if elo else "")
    return f"{headers}\n{moves} {result}\n\n"


MIXED = "".join([
    game(),
    game("1. e4 e5 2. Nf3", "1-0", 2016, "Karpov"),
    game("1. d4 d5", "1/2-1/2", 2017),
    game("1. c4 c5", "1-0", 2018, elo=1500),
    game("1. g3 g6", "0-1", 2019, elo=None),
    game("1. e4 e5 2. Ke3", "1-0", 2020),
    game(white=" a "),
])  # fmt: skip


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """kibitz with some arguments: exit code, standard output, standard error (always at most a few clear lines)."""

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        code = cli.run([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        assert all(line.startswith(("error: ", "warning: ", "note: ", "kibitz: ")) for line in err.splitlines())
        return code, out, err

    return call


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    (tmp_path / "mixed.pgn").write_text(MIXED)
    return tmp_path / "mixed.pgn"


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_everything(run: Run, mixed: Path, tmp_path: Path) -> None:
    code, out, err = run("import", mixed, "--into", tmp_path / "a.store")
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert ["games", "read", "7"] in lines
    assert ["kept", "5"] in lines
    assert ["positions", "18"] in lines
    assert ["skipped:", "illegal", "move", "1"] in lines
    assert ["skipped:", "duplicate", "1"] in lines
    assert len(Store(tmp_path / "a.store")) == 5


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (["--min-rating", "2000"], [1, 2, 3]),
        (["--min-rating", "2000", "--unrated"], [1, 2, 3, 5]),
        (["--max-rating", "2300"], []),
        (["--ending", "checkmate"], [1]),
        (["--ending", "decisive"], [1, 2, 4, 5]),
        (["--result", "1-0"], [2, 4]),
        (["--result", "1-0", "--result", "1/2-1/2"], [2, 3, 4]),
        (["--since", "2016", "--until", "2018"], [2, 3, 4]),
        (["--until", "2016-04"], [1]),
        (["--speed", "blitz", "--speed", "rapid"], [1, 2, 3, 4, 5]),
        (["--speed", "rapid"], []),
        (["--min-plies", "3"], [1, 2]),
        (["--player", "karpov"], [2]),
        (["--limit", "2"], [1, 2]),
    ],
)
def test_filters(run: Run, mixed: Path, tmp_path: Path, options: list[str], kept: list[int]) -> None:
    code, out, err = run("import", mixed, "--into", tmp_path / "a.store", "--json", *options)
    if not kept:
        assert code == 1
        assert mentions(err, "7 & game")
        assert "filter" in err
        assert left_in(tmp_path) == ["mixed.pgn"]
        return
    told = json.loads(out)
    assert (code, told["kept"]) == (0, len(kept))
    assert told["read"] == told["kept"] + sum(entry["games"] for entry in told["left_out"].values())
    store = Store(tmp_path / "a.store")
    assert store.column("number").tolist() == kept
    assert told["positions"] == store.info["positions"]
    assert store.info["history"][0]["filter"] != {}


def test_json_is_one_object_with_figures(run: Run, mixed: Path, tmp_path: Path) -> None:
    _, out, _ = run("import", mixed, "--into", tmp_path / "a.store", "--json")
    told = json.loads(out)
    assert set(told["figures"]["games_per_second"]) == {"value", "low", "high", "n"}
    assert told["total"] == {"games": 5, "positions": 18}
    assert told["broken"] == []
    assert told["left_out"]["illegal_move"]["first"][0]["game"] == 6


def test_packed_files_folders_and_both_at_once(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "in" / "deep"
    folder.mkdir(parents=True)
    (tmp_path / "in" / "a.pgn.gz").write_bytes(gzip.compress(game(white="gz").encode()))
    (folder / "b.pgn.bz2").write_bytes(bz2.compress(game("1. e4 e5", "1-0").encode()))
    (folder / "notes.txt").write_text("no games here")
    (tmp_path / "c.txt").write_text(game("1. d4 d5", "1-0"))
    code, out, _ = run("import", tmp_path / "in", tmp_path / "c.txt", "--into", tmp_path / "a.store", "--json")
    assert (code, json.loads(out)["kept"]) == (0, 3)


def test_standard_input(run: Run, mixed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with mixed.open(encoding="utf-8") as file:
        monkeypatch.setattr(sys, "stdin", file)
        code, _, err = run("import", "-", "--into", tmp_path / "a.store")
    assert (code, err) == (0, "")
    assert set(Store(tmp_path / "a.store").column("source")) == {"standard input"}


def test_adding(run: Run, mixed: Path, tmp_path: Path) -> None:
    store, more = tmp_path / "a.store", tmp_path / "more.pgn"
    more.write_text(game() + game("1. h4 h5", "1-0"))
    assert run("import", mixed, "--into", store, "--append", "--validate-share", "20")[0] == 0
    before = Store(store).fingerprint
    code, _, err = run("import", mixed, "--into", store)
    assert code == 2
    assert "--append" in err
    code, out, _ = run("import", more, "--into", store, "--append", "--json")
    told = json.loads(out)
    assert (code, told["kept"], told["total"]["games"]) == (0, 1, 6)
    assert told["left_out"]["duplicate"]["games"] == 1
    assert Store(store).split.validate_share == 20
    code, out, _ = run("import", more, "--into", store, "--append")  # nothing new: no error, and nothing changed
    assert code == 0
    assert "unchanged" in out
    assert len(Store(store)) == 6
    code, out, _ = run("import", more, "--into", store, "--append", "--test-share", "50")
    assert code == 0
    assert mentions(out, "20% & 50% & validation")
    assert Store(store).fingerprint != before


def test_the_split(run: Run, tmp_path: Path) -> None:
    store = tmp_path / "a.store"
    (tmp_path / "a.pgn").write_text(
        "".join(game(f"1. {m}", "1-0", year) for m, year in (("e4", 2019), ("d4", 2020), ("c4", 2021)))
    )
    assert run("import", tmp_path / "a.pgn", "--into", store, "--validate-from", "2020", "--test-from", "2021")[0] == 0
    assert Store(store).sides().tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--since", "2016", "--until", "2015"], "--until & 2015-12-31 & --since & 2016-01-01"),
        (["--since", "soon"], "--since & soon & 2015 & date"),
        (["--ending", "mate"], "--ending & mate"),
        (["--speed", "fast"], "--speed & fast"),
        (["--result", "2-0"], "--result & 2-0"),
        (["--min-rating", "many"], "min-rating"),
        (["--min-rating", "2000", "--max-rating", "1000"], "Swap them"),
        (["--limit", "0"], "--limit & 0"),
        (["--min-plies", "0"], "min-plies"),
        (["--validate-share", "60", "--test-share", "40"], "--test-share & 60 & 40"),
        (["--validate-from", "2021", "--test-from", "2020"], "--test-from & 2020-01-01 & after"),
        (["--colour", "white"], "--colour"),
    ],
)
def test_wrong_calls(run: Run, mixed: Path, tmp_path: Path, options: list[str], words: str) -> None:
    """Seen before anything is read; exit code 2 and one line."""
    code, out, err = run("import", mixed, "--into", tmp_path / "a.store", *options)
    assert (code, out) == (2, "")
    assert mentions(err, words)
    assert len(err.splitlines()) == 1
    assert left_in(tmp_path) == ["mixed.pgn"]


CUT = game() + game("1. e4 e5", "1-0").partition("5 1-0")[0]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "file"),
        (b"\n\n \n", "file"),
        (bytes(range(256)) * 40, "PGN & UTF-8 & Latin-1 & binary"),
        (b"\x28\xb5\x2f\xfd garbage", "cannot be unpacked"),
        (gzip.compress(b"x" * 10_000, mtime=0)[:30], "cannot be unpacked"),
        (b"<html><body>Not found</body></html>", "no game"),
        (game("1. e4 e5 2. Ke3", "1-0").encode(), "1 game & illegal move"),
        (game("1. e4 e5", "1-0").partition("5 1-0")[0].encode(), "1 game & cut short"),
    ],
)
def test_bad_files(run: Run, tmp_path: Path, content: bytes, words: str) -> None:
    """Alone: exit code 1, one line with the file's name, no store. Beside a good file: that one is imported."""
    bad, good, store = tmp_path / "bad.pgn", tmp_path / "good.pgn", tmp_path / "a.store"
    bad.write_bytes(content)
    good.write_text(game())
    code, out, err = run("import", bad, "--into", store)
    assert (code, out) == (1, "")
    assert mentions(err, words)
    assert "bad.pgn" in err
    assert len(err.splitlines()) == 1
    assert left_in(tmp_path) == ["bad.pgn", "good.pgn"]
    code, _, err = run("import", bad, good, "--into", store)
    assert code == 0
    assert len(Store(store)) == 1
    assert "warning" in err or Store(store).info["left_out"]


def test_a_cut_archive_keeps_what_came_before(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cut.pgn.zst").write_bytes(GAMES.read_bytes()[:200_000])
    code, out, err = run("import", tmp_path / "cut.pgn.zst", "--into", tmp_path / "a.store")
    assert code == 0
    assert "warning" in err
    assert "cut.pgn.zst: damaged" in err
    assert "damaged files" in out
    assert len(Store(tmp_path / "a.store")) > 300


def test_a_missing_file(run: Run, mixed: Path, tmp_path: Path) -> None:
    code, _, err = run("import", mixed, tmp_path / "nothing.pgn", "--into", tmp_path / "a.store")
    assert code == 1
    assert mentions(err, "nothing.pgn & file")
    assert left_in(tmp_path) == ["mixed.pgn"]


@pytest.mark.parametrize(
    ("place", "code"),
    [("mixed.pgn/a.store", 1), ("/proc/a.store", 1), ("/dev/null/a.store", 1), ("mixed.pgn", 2), (".", 2)],
)
def test_places_that_cannot_be_written(mixed: Path, tmp_path: Path, place: str, code: int) -> None:
    ended = in_process(["import", mixed, "--into", tmp_path / place])
    assert_refused(ended, code=code, names=[str(tmp_path / place), "another"])
    assert left_in(tmp_path) == ["mixed.pgn"]
    must_succeed(["import", mixed, "--into", tmp_path / "a.store"], once="import")


@pytest.fixture
def small_disk(tmp_path: Path) -> Any:
    """A disk of 200 kB; skipped where none can be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(place)]
    if os.name != "posix" or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here (the writer's own tests fill one in pretence)")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk(run: Run, small_disk: Path) -> None:
    code, _, err = run("import", GAMES, "--into", small_disk / "a.store")
    assert code == 1
    assert mentions(err, "a.store & disk")
    assert left_in(small_disk) == []
    assert run("import", GAMES, "--into", small_disk / "b.store", "--limit", "100")[0] == 0
    code, _, err = run("import", GAMES, "--into", small_disk / "b.store", "--append")
    assert code == 1
    assert mentions(err, "b.store & disk")
    assert len(Store(small_disk / "b.store")) == 100


def test_a_store_of_another_version(run: Run, mixed: Path, tmp_path: Path) -> None:
    store = tmp_path / "a.store"
    run("import", mixed, "--into", store)
    info = json.loads((store / INFO).read_text())
    (store / INFO).write_text(json.dumps({**info, "kibitz_store": 99}))
    for command in (("import", mixed, "--into", store, "--append"), ("info", store)):
        code, _, err = run(*command)
        assert code == 1
        assert "a store of version 99" in err
        assert "Import the games again" in err


# ends that nobody planned


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory, bundled_games: list[str]) -> Path:
    """All bundled games thirty times over, no two of them equal: some seconds of work.

    Copy k begins with k moves of the knights there and back, so that none is left out as a duplicate.
    """
    path = tmp_path_factory.mktemp("large") / "large.pgn"
    with path.open("w") as file:
        for shuffles in range(30):
            there_and_back = "Nf3 Nf6 Ng1 Ng8 " * shuffles
            for game in bundled_games:
                headers, moves = game.split("\n\n", 1)
                file.write(f"{headers}\n\n{there_and_back}{moves.replace('1. ', '', 1)}")  # for the fast parser
    return path


@pytest.mark.parametrize(("sent", "code"), [("SIGKILL", -9), ("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.parametrize("append", [False, True])
def test_ended_from_outside(
    tmp_path: Path, large: Path, mixed: Path, sent: str, code: int, append: bool, run: Run
) -> None:
    store = tmp_path / "a.store"
    if append:
        run("import", mixed, "--into", store)
    folder = store / "0001" if append else tmp_path / ".a.store.unfinished" / "0001"
    command = [*KIBITZ, "import", str(large), "--into", str(store), *(["--append"] if append else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + PATIENCE
        moves = folder / "moves.u16"
        while not (moves.exists() and moves.stat().st_size > 100_000) and time.monotonic() < deadline:
            time.sleep(0.005)
            assert process.poll() is None, process.communicate()
        process.send_signal(getattr(signal, sent))
        out, err = process.communicate(timeout=600)
    assert (process.returncode, out) == (code, ""), err
    assert "Traceback" not in err
    if sent == "SIGINT":
        assert err.count("\n") == 1
        assert mentions(err, "a.store & unchanged" if append else "a.store & not written")
    assert store.exists() == append
    if sent != "SIGKILL":
        assert left_in(tmp_path) == (["a.store", "mixed.pgn"] if append else ["mixed.pgn"])
    if append:
        assert len(Store(store)) == 5
        assert sent == "SIGKILL" or left_in(store) == ["0001", "store.json"]
    # the next one clears away what there is and works
    assert run("import", mixed, "--into", store, "--append")[0] == 0
    assert left_in(tmp_path) == ["a.store", "mixed.pgn"]


def unread(pipe: Any) -> int:
    """Bytes in a pipe that nobody has read yet."""
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


def test_an_interrupt_while_waiting_for_input(tmp_path: Path) -> None:
    """Ctrl-C with a standard input that says nothing: no wait for it."""
    command = [*KIBITZ, "import", "-", "--into", str(tmp_path / "a.store")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not (tmp_path / ".a.store.unfinished" / "0001" / "games.parquet").exists():
            time.sleep(0.01)
            assert process.poll() is None
        assert process.stdin is not None
        process.stdin.write('[Event "a game that goes on"]\n')
        process.stdin.flush()
        until(lambda: unread(process.stdin) == 0)  # it has read that, and waits for more
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=600) == 130
        assert process.stderr is not None
        assert "interrupted" in process.stderr.read()
    assert left_in(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals here")
def test_progress_is_shown_on_a_terminal(tmp_path: Path, large: Path) -> None:
    """On standard error, with games a second and time left; standard output stays one object."""
    leader, follower = os.openpty()
    script = "import kibitz.commands.progress as p, kibitz.cli as c; p.PATIENCE = 0.1; c.main()"
    command = [sys.executable, "-c", script, "import", str(large), "--into", str(tmp_path / "a.store"), "--json"]
    wide = {**os.environ, "COLUMNS": "120", "TERM": "xterm"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=follower, env=wide) as process:
        os.close(follower)
        shown = b""
        while True:
            try:
                piece = os.read(leader, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
        assert process.stdout is not None
        told = json.loads(process.stdout.read())
    os.close(leader)
    assert told["kept"] == 30 * 3124
    assert b"games/s" in shown
    assert b"left:" in shown


def test_memory_does_not_grow_with_the_file(tmp_path: Path, large: Path, bundled_file: Path) -> None:
    """Twice as much text, hardly more memory: an import that kept the text would need 50 MB more, in addition
    to 5 to 35 MB for the keys of the games. (The first 50 MB fill the queue of blocks.)
    """
    script = (
        "import resource, sys; from kibitz import cli; code = cli.run(sys.argv[1:]);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr); sys.exit(code)"
    )
    pytest.importorskip("resource")
    with large.open("rb") as file:
        (tmp_path / "part.pgn").write_bytes(file.read(50 << 20))
    peaks = []
    for path in (tmp_path / "part.pgn", large):
        store = tmp_path / f"{path.stem}.store"
        command = [sys.executable, "-c", script, "import", str(path), "--into", str(store)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks.append(int(done.stderr) / 1024)
    assert peaks[1] - peaks[0] < 60, peaks


# fuzz: whatever is in the file, an import ends with a store or with one line


def check_any(folder: Path, data: bytes) -> None:
    store = folder / "a.store"
    subprocess.run(["rm", "-rf", str(store)], check=True)
    (folder / "a.pgn").write_bytes(data)
    assert cli.run(["import", str(folder / "a.pgn"), "--into", str(store), "--json"]) == (0 if store.exists() else 1)
    if store.exists():
        opened = Store(store)
        codes, _ = opened.replay(np.arange(len(opened)), opened.plies)
        assert codes.max(initial=0) <= 12
    assert left_in(folder) == (["a.pgn", "a.store"] if store.exists() else ["a.pgn"])


FUZZ = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.process
@FUZZ
@given(st.one_of(st.binary(max_size=300), st.text(max_size=300).map(str.encode)))
def test_fuzz_any_bytes(tmp_path: Path, data: bytes) -> None:
    check_any(tmp_path, data)


@pytest.mark.process
@FUZZ
@given(
    cut=st.integers(0, len(MIXED)),
    edits=st.lists(st.tuples(st.integers(0, len(MIXED)), st.integers(0, 9), st.binary(max_size=5)), max_size=10),
    pack=st.sampled_from([bytes, gzip.compress, bz2.compress]),
    damage=st.integers(0, 3),
)
def test_fuzz_damaged_games_in_damaged_archives(
    tmp_path: Path, cut: int, edits: list[tuple[int, int, bytes]], pack: Callable[[bytes], bytes], damage: int
) -> None:
    text = bytearray(MIXED.encode())
    for at, length, piece in edits:
        text[at : at + length] = piece
    data = pack(bytes(text[: len(text) - cut // 3]))
    check_any(tmp_path, data[: len(data) - damage * 7])


def test_blocks_and_files_give_the_same_store(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("import", GAMES, "--into", tmp_path / "a.store", "--limit", "300")
    monkeypatch.setattr(pgn, "BLOCK", 20_000)
    run("import", GAMES, "--into", tmp_path / "b.store", "--limit", "300")
    assert Store(tmp_path / "a.store").fingerprint == Store(tmp_path / "b.store").fingerprint


def test_a_share_that_a_day_leaves_without_effect_is_refused(run: Run, mixed: Path, tmp_path: Path) -> None:
    for options, why in (
        (("--validate-from", "2015", "--test-share", "20"), "--test-share & --validate-from"),
        (("--test-from", "2015", "--test-share", "20"), "--test-from & --test-share"),
        (
            ("--validate-from", "2015", "--validate-share", "2"),
            "--validate-from & --validate-share",
        ),
    ):
        code, _, err = run("import", mixed, "--into", tmp_path / "a.store", *options)
        assert code == 2
        assert mentions(err, why)
