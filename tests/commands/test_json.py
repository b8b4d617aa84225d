"""Keys of `--json` are stable names in snake_case, at every depth of every command's object."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kibitz import cli
from kibitz.keys import counted, key_of
from kibitz.store.store import Store
from support.helpers import program

KEY = re.compile(r"[a-z][a-z0-9_]*")
OF_DATA = {"headers", "options", "games"}
"""Objects whose keys are data: headers of records, options of engines, games by their numbers in the store."""


def wrong(value: Any, path: str = "") -> Iterator[str]:
    """Paths of keys that are no names."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if path.rpartition(".")[2] not in OF_DATA and not KEY.fullmatch(key):
                yield f"{path}.{key}"
            yield from wrong(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from wrong(inner, path)


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    capsys.readouterr()
    assert cli.run([str(argument) for argument in arguments]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert list(wrong(found)) == []
    return found


def test_what_is_wrong_is_found() -> None:
    assert list(wrong({"a": [{"side to move": 1}], "B": 2, "headers": {"White": 1}})) == [".a.side to move", ".B"]


def test_words_as_keys() -> None:
    assert key_of("side to move") == "side_to_move"
    assert key_of("Accuracy @3 (legal)") == "accuracy_3_legal"
    assert counted({"6.5": 2, "unknown": 1}, "komi") == {
        "komi_6_5": {"label": "6.5", "games": 2}, "unknown": {"label": "unknown", "games": 1},
    }  # fmt: skip


def test_systems(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(told(capsys, "systems", "--json")["systems"]) >= 5


GAMES = (
    '[White "A"]\n[Black "B"]\n[Result "1-0"]\n[WhiteElo "2100"]\n[BlackElo "2000"]\n\n'
    "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n\n"
    '[White "C"]\n[Black "D"]\n[Result "*"]\n\n1. d4 *\n'
)


def test_import_and_info(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text(GAMES)
    done = told(capsys, "import", tmp_path / "a.pgn", "--into", tmp_path / "a.store", "--min-plies", 1, "--json")
    assert done["left_out"]["no_result"]["label"] == "no result"
    found = told(capsys, "info", tmp_path / "a.store", "--json")
    assert found["results"]["white_won"] == {"label": "1-0", "games": 1}
    assert found["endings"]["checkmate"]["games"] == 1
    assert found["left_out"]["no_result"]["games"] == 1


def test_info_of_go(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_text("(;GM[1]SZ[9]KM[6.5]RE[B+R]PB[A]PW[B];B[ee];W[cc];B[gg])")
    told(capsys, "import", tmp_path / "a.sgf", "--into", tmp_path / "a.store", "--json")
    found = told(capsys, "info", tmp_path / "a.store", "--json")
    assert found["komi"] == {"komi_6_5": {"label": "6.5", "games": 1}}
    assert found["results"]["black_won"]["games"] == 1
    assert "ownership_from" in found


@pytest.mark.parametrize("network", ["winner", "chessnet"])
def test_analyze(capsys: pytest.CaptureFixture[str], tmp_path: Path, network: str) -> None:
    (tmp_path / "a.pgn").write_text(GAMES)
    found = told(capsys, "analyze", network, tmp_path / "a.pgn", "--json")
    assert found["games"][0]["headers"]["White"] == "A"


def test_analyze_go(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_text("(;GM[1]SZ[9]KM[6.5]RE[B+R]PB[A]PW[B];B[ee];W[cc];B[gg])")
    told(capsys, "analyze", "gocnn", tmp_path / "a.sgf", "--json")


def test_annotate(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text(GAMES)
    found = told(capsys, "annotate", tmp_path / "a.pgn", "--network", "winner", "--json")
    assert found["files"][0].keys() == {
        "file", "written", "game", "network", "checked_by", "games", "skipped_games",
    }  # fmt: skip
    assert (found["games"], found["skipped"]) == (2, {})


@pytest.mark.parametrize("network", ["winner", "chessnet", "deepchess"])
def test_test(capsys: pytest.CaptureFixture[str], small_store: Store, tmp_path: Path, network: str) -> None:
    found = told(
        capsys, "test", network, small_store.path, "--split", "all", "--positions", 200, "--stockfish-positions", 10,
        "--stockfish", program("stockfish"), "--out", tmp_path / "page.html", "--json",
    )  # fmt: skip
    assert {"stockfish_depth_1", "network_beside_stockfish_depth_1"} <= found["baselines"].keys()
    for part in ("figures", "baselines", "by"):
        assert found[part]
        assert all(one["label"] for one in found[part].values())


def test_match(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program("stockfish")
    monkeypatch.chdir(tmp_path)
    found = told(capsys, "match", "stockfish", "stockfish", "--games", 2, "--nodes", 20, "--json")
    assert sum(ending["games"] for ending in found["endings"].values()) == 2


@pytest.mark.slow
def test_search(capsys: pytest.CaptureFixture[str], small_store: Store, tmp_path: Path) -> None:
    found = told(
        capsys, "tune", "winner", small_store.path, "--layers", "16conv4x4.pool2x2.ip8", "--batch", "32",
        "--learning-rates", "0.01", "--iterations-per-trial", 2, "--out", tmp_path / "study.journal", "--json",
    )  # fmt: skip
    assert found["trials"]
