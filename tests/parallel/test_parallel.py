"""One contract for all backends: the same results, each once, also when a worker dies."""

from __future__ import annotations

import functools
import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import zstandard

import kibitz
from kibitz.errors import KibitzError, UsageError
from kibitz.games import game_of
from kibitz.games.batch import GameBatch
from kibitz.games.chess import filters as chess_filters
from kibitz.games.chess.io import pgn
from kibitz.games.go import filters as go_filters
from kibitz.games.go.endings.scoring import Referee
from kibitz.parallel import AHEAD, DEATHS, Backend, Workers, map_ordered, map_unordered, open_workers
from kibitz.store.writer import StoreWriter
from support.causes import naming
from support.patience import PATIENCE
from support.pieces import NotInWorkers, die_at_five, product, refuse_seven, square

TESTS = Path(__file__).parents[1]
HAS_RAY = importlib.util.find_spec("ray") is not None
needs_ray = pytest.mark.skipif(not HAS_RAY and not os.environ.get("CI"), reason="Ray is not installed")
APART = ["processes", pytest.param("ray", marks=needs_ray)]
"""Backends with workers that can die."""


@pytest.fixture(scope="module", autouse=True)
def workers_find_the_tests() -> Iterator[None]:
    paths = [str(TESTS), str(Path(kibitz.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        yield


@pytest.fixture(scope="module", params=["serial", *APART])
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
    """Two workers for all tests of the contract, which also shows that they serve one map after the other."""
    with open_workers(Backend(request.param, 2)) as opened:
        yield opened


def test_each_result_comes_once(workers: Workers) -> None:
    assert sorted(map_unordered(square, range(20), workers)) == [(i, i * i) for i in range(20)]
    assert list(map_ordered(square, range(20), workers)) == [i * i for i in range(20)]
    assert list(map_unordered(square, [], workers)) == []


def test_an_error_of_the_function_is_raised_here(workers: Workers) -> None:
    with pytest.raises(KibitzError, match="seven is not"):
        list(map_unordered(refuse_seven, range(20), workers))
    assert list(map_ordered(square, range(3), workers)) == [0, 1, 4]


def test_a_function_that_cannot_be_loaded_spoils_no_later_map() -> None:
    with open_workers(Backend("processes", 2)) as opened:
        with pytest.raises(ValueError, match="not in a worker"):
            list(map_ordered(functools.partial(product, NotInWorkers()), range(5), opened))
        assert list(map_ordered(functools.partial(product, 1), range(5), opened)) == list(range(5))


def test_a_dead_worker_is_replaced_and_nothing_counts_twice(workers: Workers, tmp_path: Path) -> None:
    deaths = 0 if workers.count == 1 else 1  # the serial backend has no worker to die
    work = functools.partial(die_at_five, tmp_path, deaths)
    assert sorted(map_unordered(work, range(12), workers)) == [(i, i * i) for i in range(12)]
    assert len(list(tmp_path.glob("5-*"))) == 1 + deaths


def test_workers_that_always_die_end_the_work(workers: Workers, tmp_path: Path) -> None:
    if workers.count == 1:
        pytest.skip("the serial backend has no worker to die")
    work = functools.partial(die_at_five, tmp_path, 1000)
    with pytest.raises(KibitzError, match=naming(f"{DEATHS + 1}")):
        list(map_unordered(work, range(12), workers))
    assert len(list(tmp_path.glob("5-*"))) == DEATHS + 1


def test_a_store_is_the_same_whoever_reads_it(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pgn, "BLOCK", 1 << 17)
    text = "".join(game_text(number) for number in range(5_000))
    files = [tmp_path / "one.pgn", tmp_path / "other.pgn"]
    files[0].write_text(text)  # of several blocks
    files[1].write_text(game_text(100_000) + game_text(3) + text[:1000])
    keep = chess_filters.Filter()
    assert len(text) > 4 * pgn.BLOCK
    plain = write_store(tmp_path / "plain", game_of("chess").Reader([str(file) for file in files], keep))
    shared = write_store(
        tmp_path / "shared", game_of("chess").Reader([str(file) for file in files], keep).batches(workers)
    )
    assert plain == shared


def test_owners_are_the_same_whoever_finds_them(workers: Workers, tmp_path: Path) -> None:
    bundled = zstandard.decompress((Path(kibitz.__file__).parent / "data" / "games.sgfl.zst").read_bytes())
    (tmp_path / "some.sgfl").write_bytes(b"\n".join(bundled.splitlines()[:15]))
    labelled = []
    for number, labellers in enumerate((1, workers)):
        reader = game_of("go").Reader([str(tmp_path / "some.sgfl")], go_filters.Filter())
        with Referee("playouts", workers=labellers, journal=tmp_path / f"journal-{number}") as referee:
            batches = [referee.label(batch) for batch in reader]
        labelled.append([(b.table.to_pylist(), b.per_game["owner"].tolist(), b.rejections.as_json()) for b in batches])
    assert labelled[0] == labelled[1]
    assert any(row["labels"] for rows, _, _ in labelled[0] for row in rows)


PAWNS = [file + rank for file in "abcdefgh" for rank in "34"]
RESULTS = ("1-0", "0-1", "1/2-1/2", "?")


def game_text(number: int) -> str:
    """The game of a number: some are alike, some illegal (a pawn in the knight's way), some without a result."""
    white, black = PAWNS[number % 16], PAWNS[number // 16 % 16].translate(str.maketrans("34", "65"))
    knights = ("Nf3 Nf6", "Nc3 Nf6", "Nf3 Nc6", "Nc3 Nc6")[number // 256 % 4]
    result = RESULTS[number // 1024 % 4]
    headers = f'[White "W{number}"]\n[Black "B{number % 977}"]\n[Result "{result}"]\n'
    return f'[Event "E"]\n{headers}\n1. {white} {black} 2. {knights} {{{"x" * (number % 50)}}} *\n\n'


def write_store(path: Path, batches: Iterable[GameBatch]) -> dict[str, bytes]:
    """The files of a store made of the batches."""
    rules = game_of("chess")
    with StoreWriter(path, "chess", rules.COLUMNS, rules.STANDARD_START, rules.PER_MOVE) as writer:
        for batch in batches:
            writer.add(batch)
        assert writer.games
        writer.commit({})
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_items_are_taken_as_workers_become_free() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for i in range(100):
            taken.append(i)
            yield i

    backend = Backend("processes", 2)
    results = map_ordered(square, items(), backend)
    assert next(results) == 0
    assert len(taken) <= AHEAD * backend.workers
    results.close()
    assert len(taken) <= AHEAD * backend.workers


@pytest.mark.parametrize("name", APART)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_workers(name: str, number: signal.Signals, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    program = (
        "import functools, sys; from pathlib import Path\n"
        "from kibitz import interrupts; from kibitz.parallel import *\n"
        "from support.pieces import wait_for_file\n"
        "if __name__ == '__main__':\n"
        "    interrupts.unwind()\n"
        f"    work = functools.partial(wait_for_file, Path({str(tmp_path / 'fifo')!r}))\n"
        "    try:\n"
        f"        list(map_unordered(work, range(8), Backend({name!r}, 2)))\n"
        "    except KeyboardInterrupt:\n"
        "        sys.exit(130)\n"
    )
    (tmp_path / "main.py").write_text(program)
    child = subprocess.Popen([sys.executable, tmp_path / "main.py"], stderr=subprocess.PIPE, text=True)
    try:
        pids = _started(tmp_path, child)
        child.send_signal(number)
        _, errors = child.communicate(timeout=PATIENCE)
    finally:
        child.kill()
    assert child.returncode == 128 + number
    assert errors == ""
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists() and "Z" not in _state(pid)]


def _started(folder: Path, child: subprocess.Popen[str]) -> list[int]:
    """The two workers, once both wait. A FIFO opened for reading blocks, so they stay."""
    while len(found := [int(path.name[4:]) for path in folder.glob("pid-*")]) < 2:
        assert child.poll() is None, child.stderr and child.stderr.read()
        time.sleep(0.02)
    return found


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


@needs_ray
def test_ray_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(
        "import signal; from kibitz.parallel import *; from support.pieces import square\n"
        "before = signal.getsignal(signal.SIGTERM)\n"
        "assert list(map_ordered(square, range(4), Backend('ray', 1))) == [0, 1, 4, 9]\n"
        "assert signal.getsignal(signal.SIGTERM) is before\n"
    )
    folders = set(Path("/tmp").glob("kibitz-ray-*"))
    done = subprocess.run(
        [sys.executable, tmp_path / "main.py"], env=os.environ | {"HOME": str(tmp_path / "home")},
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert set(Path("/tmp").glob("kibitz-ray-*")) <= folders
    assert not (tmp_path / "home").exists()


def test_without_ray_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'kibitz\[ray\]'"):
        list(map_unordered(square, range(4), Backend("ray")))


def test_a_broken_ray_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "__init__.py").write_text("raise ImportError('libray.so: no such file')")
    for name in [name for name in sys.modules if name.split(".")[0] == "ray"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match=naming("--ray & Ray")):
        list(map_unordered(square, range(4), Backend("ray")))


def test_a_cluster_that_does_not_answer_is_one_line() -> None:
    if not HAS_RAY:
        pytest.skip("Ray is not installed")
    with pytest.raises(KibitzError, match=naming("127.0.0.1:1 & Ray")) as caught:
        list(map_unordered(square, range(4), Backend("ray", address="127.0.0.1:1")))
    assert "\n" not in str(caught.value)
