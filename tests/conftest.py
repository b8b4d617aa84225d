"""What tests of several rooms need: the bundled games, as text and as a store."""

from __future__ import annotations

import importlib.resources
import math
import os
import random
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from kibitz.commands import progress
from kibitz.games.chess.filters import Filter
from kibitz.games.chess.io.ingest import COLUMNS, PER_MOVE
from kibitz.games.chess.io.pgn import PgnReader
from kibitz.games.chess.replay import STANDARD_START
from kibitz.store.split import Split
from kibitz.store.store import Store
from kibitz.store.writer import StoreWriter
from support.examples import choose_profile
from support.helpers import GAMES, SMALL, import_games
from support.opened import open_once
from support.times import seconds_of_files
from support.trained import trained

pytest_plugins = ("support.costs",)
choose_profile()
open_once()

# A shell that starts the tests in the background has told them to ignore Ctrl-C, and the programs that they start too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Boards that tests start would each prepare both games, and the page would show it.
os.environ["KIBITZ_BOARD_PREPARE"] = "0"

# On a busy machine, a call takes long, and a line of progress is no warning.
progress.MINUTE = math.inf

TESTS = Path(__file__).parent
SHARED_CHESS = TESTS.parents[1] / "shared" / "data" / "chess"


QUICK_FIRST = (
    "nets", "games", "store", "report", "play", "analysis", "external", "engines", "arena", "web", "evaluation",
    "systems", "training", "commands", "recorded", "browser", "install",
)  # fmt: skip
LAST = ("test_light", "test_readme", "test_bundled_go")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shuffle", type=int, metavar="SEED", help="run the files, and the tests of each, in random order"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes long comes last, so that `pytest -x` finds the usual mistakes in its first minute. Where processes
    share the tests it comes first: else one process has a long file left when the others have nothing more to do.
    """
    if (seed := config.getoption("--shuffle")) is not None:
        draw = random.Random(seed)
        files = {path: draw.random() for path in sorted({item.path for item in items})}
        draw.shuffle(items)
        items.sort(key=lambda item: files[item.path])
    elif hasattr(config, "workerinput") or config.getoption("numprocesses", None):
        seconds = seconds_of_files()

        def longest_first(item: pytest.Item) -> tuple[bool, float]:
            """Browser tests stay together, as they share a browser and a server. New files come first."""
            file = item.path.relative_to(TESTS.parent).as_posix()
            return not file.startswith("tests/browser/"), -seconds.get(file, math.inf)

        items.sort(key=longest_first)
    else:
        items.sort(key=_quick_first)


def _quick_first(item: pytest.Item) -> int:
    folder, *rest = item.path.relative_to(TESTS).parts
    if rest:
        return 1 + QUICK_FIRST.index(folder) if folder in QUICK_FIRST else 1
    return 1 + len(QUICK_FIRST) if item.path.stem in LAST else 0


def import_files(into: Path, *files: str | Path, keep: Filter | None = None, split: Split | None = None) -> Store:
    """A store of some PGN files, made as the command makes it."""
    with StoreWriter(into, "chess", COLUMNS, STANDARD_START, PER_MOVE, split) as writer:
        for batch in PgnReader([str(file) for file in files], keep or Filter()):
            writer.add(batch)
        return writer.commit({"files": [str(file) for file in files]})


@pytest.fixture(scope="session")
def make_store() -> Callable[..., Store]:
    return import_files


@pytest.fixture(scope="session")
def bundled_file() -> Path:
    return Path(str(importlib.resources.files("kibitz") / "data" / "games.pgn.zst"))


@pytest.fixture(scope="session")
def bundled_text(bundled_file: Path) -> str:
    with bundled_file.open("rb") as file:
        return zstandard.ZstdDecompressor().stream_reader(file).read().decode()


@pytest.fixture(scope="session")
def bundled_games(bundled_text: str) -> list[str]:
    """Each bundled game's text."""
    return ["[Event " + game.rstrip() + "\n\n" for game in bundled_text.split("[Event ")[1:]]


@pytest.fixture(scope="session")
def bundled_store(bundled_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return import_files(tmp_path_factory.mktemp("bundled") / "games.store", bundled_file)


@pytest.fixture(scope="session")
def shared_chess() -> Path:
    """The folder of real games beside the checkout; a test that asks for it is skipped where there is none."""
    if not SHARED_CHESS.is_dir():
        pytest.skip("no ../shared/data/chess here")
    return SHARED_CHESS


@pytest.fixture
def shallow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The searches that judge moves of chess are shallow, for tests that don't ask how good these searches are."""
    monkeypatch.setattr("kibitz.analysis.chess.judging.DEPTH", 3)
    monkeypatch.setattr("kibitz.analysis.chess.judging.NODES", 16)


@pytest.fixture
def few_visits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The searches that judge moves of Go are short, for tests that don't ask how good these searches are."""
    monkeypatch.setattr("kibitz.analysis.go.better.LONG_VISITS", 24)
    monkeypatch.setattr("kibitz.play.go.value.VISITS", 12)


@pytest.fixture(scope="session")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """400 bundled games. Read only."""
    return import_games(tmp_path_factory.mktemp("stores") / "small.store", limit=400)


@pytest.fixture(scope="session")
def small_go_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """8 bundled games of Go. Read only."""
    from kibitz.cli import run

    path = tmp_path_factory.mktemp("stores") / "go.store"
    games = GAMES.with_name("games.sgfl.zst")
    assert run(["import", str(games), "--into", str(path), "--limit", "8", "--referee", "playouts"]) == 0
    return Store(path)


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory, small_store: Store) -> Path:
    """A `winner` trained on the small store for a moment. Read only."""
    from kibitz.systems.winner import Settings
    from kibitz.training.trainer import TrainConfig

    path = tmp_path_factory.mktemp("runs") / "winner-1"
    plan = TrainConfig(
        summary_every=20, validate_every=40, checkpoint_every=40, validate_positions=2000, precision="32-true"
    )
    settings = Settings(**SMALL, batch=256, iterations=120)
    return trained("winner", settings, small_store, path, plan, also=("last.pt", "snapshots"))


@pytest.fixture(scope="session")
def human_run(small_store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small network of `human`, trained for a moment. Read only."""
    from kibitz.systems.human import Settings
    from kibitz.training.trainer import TrainConfig

    path = tmp_path_factory.mktemp("human") / "human-1"
    plan = TrainConfig(20, 1000, 1000, validate_positions=500, precision="32-true")
    settings = Settings(blocks=1, filters=16, batch=128, warmup=5, iterations=60)
    return trained("human", settings, small_store, path, plan, also=("snapshots",))
