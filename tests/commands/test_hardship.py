"""Commands where something is missing: handles, memory, room, rights, a reader, a terminal, the right time. Each does
its work or says why not in one line, and leaves nothing half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

import kibitz
from kibitz.errors import KibitzError
from kibitz.store.store import Store
from support.causes import PREFIX, Ended, with_and_without
from support.forks import Forks
from support.helpers import GAMES
from support.patience import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux has them")

SGF = Path(kibitz.__file__).parent / "data" / "games.sgfl.zst"
WITHOUT_RIGHTS = (
    "import ctypes; ctypes.CDLL(None).capset("
    "ctypes.byref((ctypes.c_uint32 * 2)(0x20080522, 0)), ctypes.byref((ctypes.c_uint32 * 6)()))"
)
"""Even root then obeys the modes of files: it has no capabilities any more."""
HARDSHIPS = {
    "8 handles": "resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))",
    "2 GB of memory": "resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))",
    "600 MB of memory": "resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))",
    "files of 10 kB": "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))",
    "a read-only folder": f"os.chmod('.', 0o555); {WITHOUT_RIGHTS}",
    "no permission": f"os.chmod('old.store', 0); os.chmod('game.pgn', 0); {WITHOUT_RIGHTS}",
    "a clock set back": "import time; time.time = lambda: 1.0; time.time_ns = lambda: 10**9",
    "standard output closed": "os.close(1)",
    "standard error closed": "os.close(2)",
    "nobody reads": "import signal; r, w = os.pipe(); os.dup2(w, 1); os.close(r); os.close(w)",
    "output on a full disk": "os.dup2(os.open('/dev/full', os.O_WRONLY), 1)",
}
BEFORE_LOADING = ("8 handles", "2 GB of memory", "600 MB of memory")
"""Hardships for which it matters that libraries are still to be loaded: each has a process of its own."""
LOADED = (
    "numba", "onnxruntime", "pyarrow.parquet", "lightning_fabric", "sklearn", "rich.progress", "chess.pgn",
    "kibitz.training.fit", "kibitz.systems.winner", "kibitz.games.chess.io.pgn", "kibitz.games.go.endings.scoring",
    "kibitz.play.session", "kibitz.store.writer",
)  # fmt: skip
"""What the commands import."""
START = "import os, resource, sys; {}; sys.argv = ['kibitz', *sys.argv[1:]]; from kibitz.cli import main; main()"
# The fewest games of Go of which one file is longer than the 10 kB of the hardship.
COMMANDS = {
    "import": ["import", str(GAMES), "--into", "new.store", "--limit", "300"],
    "import Go": ["import", str(SGF), "--into", "new.store", "--limit", "28"],
    "append": ["import", str(GAMES), "--into", "old.store", "--append", "--limit", "600"],
    "merge": ["merge", "old.store", "other.store", "--into", "new.store"],
    "info": ["info", "old.store"],
    "analyze": ["analyze", "winner", "game.pgn"],
    "train": ["train", "winner", "old.store", "--run", "new.run", "--iterations", "3", "--layers", "8conv4x4.ip8",
              "--validate-positions", "100"],
    "systems": ["systems"],
}  # fmt: skip
QUICK = [("info", "8 handles"), ("import", "files of 10 kB"), ("systems", "output on a full disk"),
         ("info", "nobody reads"), ("import", "a clock set back"), ("import", "a read-only folder"),
         ("info", "no permission"), ("analyze", "nobody reads")]  # fmt: skip
ALL = [(command, hardship) for command in COMMANDS for hardship in HARDSHIPS]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stores and a game, to be copied."""
    from support.helpers import import_games

    folder = tmp_path_factory.mktemp("made")
    import_games(folder / "old.store", limit=200)
    import_games(folder / "other.store", limit=50)
    (folder / "game.pgn").write_text("1. e4 e5 2. Nf3 Nc6 *\n")
    return folder


Untroubled = Callable[[str], Ended]
NEVER_WRONG = (0, 1, 141)
"""Exit codes under a hardship: it is no wrong call (2). 141: nobody reads what is written."""


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks(f"import {', '.join(LOADED)}\nfrom kibitz import cli") as started:
        yield started


def attempt(command: str, hardship: str | None, made: Path, folder: Path, forks: Forks) -> Ended:
    """Make the call in a copy of what was made, with or without the hardship."""
    subprocess.run(["cp", "-r", f"{made}/.", str(folder)], check=True)
    folder.chmod(0o755)
    program = START.format(HARDSHIPS[hardship] if hardship else "pass")
    if hardship in BEFORE_LOADING:
        done = subprocess.run(
            [sys.executable, "-c", program, *COMMANDS[command]], cwd=folder, capture_output=True, text=True,
            timeout=900, check=False, env={**os.environ, "MPLCONFIGDIR": str(folder)},
        )  # fmt: skip
        ended = Ended(done.returncode, done.stdout, done.stderr)
    else:
        own = f"import os; os.environ['MPLCONFIGDIR'] = {str(folder)!r}\n"
        ended = forks.run(own + program, *COMMANDS[command], folder=folder)
    folder.chmod(0o755)
    (folder / "old.store").chmod(0o755)
    return ended


@pytest.fixture(scope="module")
def untroubled(made: Path, tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Untroubled:
    """How each command ends without a hardship; made once for each command."""
    return cache(lambda command: attempt(command, None, made, tmp_path_factory.mktemp("untroubled"), forks))


def suffer(command: str, hardship: str, made: Path, folder: Path, untroubled: Untroubled, forks: Forks) -> None:
    before = Store(made / "old.store").fingerprint
    _, ended = with_and_without(
        lambda cause: attempt(command, hardship, made, folder, forks) if cause else untroubled(command),
        codes=NEVER_WRONG,
    )
    if ended.code == 1 and hardship != "standard error closed":
        assert [line.startswith(PREFIX) for line in ended.err.splitlines()[-1:]] == [True], ended
    new = folder / "new.store"
    if new.exists():
        assert len(Store(new)) > 0
        assert len(Store(new).table()) == len(Store(new))
    else:
        assert ended.code != 0 or "--into" not in COMMANDS[command] or command == "append"
    assert Store(folder / "old.store").fingerprint == before or (command == "append" and ended.code in NEVER_WRONG)
    assert len(Store(folder / "old.store").table()) in (200, 800)
    half = [path.name for path in folder.rglob("*") if path.name.startswith(".new") or path.name.endswith(".new")]
    assert set(half) <= {".new.store.owners"}  # what was judged of Go: the next import goes on with it


@pytest.mark.parametrize("command", COMMANDS)
def test_without_a_hardship_each_command_succeeds(command: str, untroubled: Untroubled) -> None:
    assert (untroubled(command).code, "Traceback" in untroubled(command).err) == (0, False), untroubled(command)


@pytest.mark.parametrize(("command", "hardship"), QUICK)
def test_hardship(
    command: str, hardship: str, made: Path, tmp_path: Path, untroubled: Untroubled, forks: Forks
) -> None:
    suffer(command, hardship, made, tmp_path, untroubled, forks)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "hardship"), [pair for pair in ALL if pair not in QUICK])
def test_every_hardship_of_every_command(
    command: str, hardship: str, made: Path, tmp_path: Path, untroubled: Untroubled, forks: Forks
) -> None:
    suffer(command, hardship, made, tmp_path, untroubled, forks)


def test_a_terminal_that_is_closed(made: Path, tmp_path: Path) -> None:
    """Its end is SIGHUP: nothing half is left, and nothing said."""
    subprocess.run(["cp", "-r", f"{made}/.", str(tmp_path)], check=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "kibitz", "import", "-", "--into", "new.store"],
        cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # nohup would have it ignored
    )  # fmt: skip
    assert process.stdin
    assert process.stderr
    process.stdin.write(b'[Event "x"]\n\n1. e4 e5 1-0\n\n' * 30_000)
    process.stdin.flush()  # it reads, and waits for more
    process.send_signal(signal.SIGHUP)
    assert process.wait(PATIENCE) in (128 + signal.SIGHUP, -signal.SIGHUP)
    process.stdin.close()
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    with pytest.raises(KibitzError, match="no such store"):
        Store(tmp_path / "new.store")
