from __future__ import annotations

import sys
from pathlib import Path

import chess
import chess.engine
import pytest

from helpers import program
from kibitz.arena.engine import Engine, StartFailed
from kibitz.arena.players import SUNFISH_FOLDER, player, sunfish_command
from kibitz.errors import KibitzError, UsageError


def test_a_packaged_network_and_a_run_are_played_by_kibitz_itself(small_run: Path) -> None:
    for name, text in (("winner", "winner"), (small_run.name, str(small_run))):
        found = player(text, ["Hash=32"])
        assert found.name == name
        assert found.command == (sys.executable, "-m", "kibitz", "uci", text)
        assert found.options == (("Hash", "32"),)
        assert len(found.weights) == 64


def test_a_command_with_arguments() -> None:
    path = program("stockfish")
    found = player(f"{path} bench --x 'y z'", name="fish")
    assert found.command == (path, "bench", "--x", "y z")
    assert found.name == "fish"
    assert player(path).name == "stockfish"


@pytest.mark.parametrize(
    ("text", "options", "kind", "said"),
    [
        ("no-such-engine --uci", [], KibitzError, "no-such-engine: no such run, packaged network"),
        ("stockfish 'x", [], UsageError, "quotation mark"),
        ("", [], UsageError, "no name"),
        ("winner", ["Hash"], UsageError, "Name=Value"),
        ("winner", ["=3"], UsageError, "Name=Value"),
    ],
)
def test_what_is_no_player(text: str, options: list[str], kind: type[KibitzError], said: str) -> None:
    with pytest.raises(kind, match=said):
        player(text, options)


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(KibitzError, match="not a run"):
        player(str(tmp_path))


def test_sunfish_that_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(KibitzError, match=r"install_sunfish\.sh"):
        sunfish_command(tmp_path)


def test_sunfish_heeds_nodes() -> None:
    """Beside what it reports itself. Its own interface searches 80 to 2,000 nodes for `go nodes 10`."""
    folder = Path(__file__).parents[2] / SUNFISH_FOLDER
    if not folder.is_dir():
        pytest.skip("Sunfish is not installed (tools/install_sunfish.sh)")
    with chess.engine.SimpleEngine.popen_uci(list(sunfish_command(folder))) as engine:
        board = chess.Board()
        for nodes in (1, 2, 10, 300, 1000, 1):
            played = engine.play(board, chess.engine.Limit(nodes=nodes), info=chess.engine.INFO_ALL)
            assert played.move in board.legal_moves
            assert played.info.get("nodes", 0) <= nodes
            board.push(played.move)
        free = engine.play(board, chess.engine.Limit(depth=3), info=chess.engine.INFO_ALL)
        assert free.info["nodes"] > 300  # the cap of an earlier search is gone


def test_an_option_that_the_engine_does_not_have() -> None:
    engine = Engine(player(program("stockfish"), ["Nonsense=1"]), 10)
    with pytest.raises(StartFailed, match="Nonsense"):
        engine.start()
