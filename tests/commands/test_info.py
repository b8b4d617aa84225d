"""kibitz info: against counts made another way."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from kibitz import cli
from kibitz.commands.info import describe
from kibitz.runs import packaged
from kibitz.store.store import Store
from support.causes import mentions


def run(*arguments: object) -> int:
    return cli.run([str(argument) for argument in arguments])


def test_the_bundled_games(bundled_store: Store) -> None:
    found = describe(bundled_store)
    rows = bundled_store.table().to_pylist()
    assert found["games"] == found["read"] == len(rows)
    assert found["positions"] == sum(row["plies"] + 1 for row in rows) == found["moves"] + found["games"]
    ratings = [row[side] for row in rows for side in ("white_rating", "black_rating")]
    assert found["ratings"] == {
        "min": min(ratings), "median": float(np.median(ratings)), "max": max(ratings), "unknown": 0,
    }  # fmt: skip
    for name, value in (("white_won", 1), ("drawn", 0), ("black_won", -1)):
        assert found["results"][name]["games"] == sum(row["result"] == value for row in rows)
    assert found["endings"]["checkmate"]["games"] == sum(row["ending"] == "checkmate" for row in rows)
    assert all(sum(one["games"] for one in found[told].values()) == len(rows) for told in ("endings", "speeds"))
    assert sum(found["split"][side] for side in ("training", "validation", "test")) == len(rows)
    assert found["dates"]["first"] == str(min(row["date"] for row in rows))
    assert 2 < found["figures"]["bytes_per_position"]["value"] < 3
    for figure in found["figures"].values():
        assert set(figure) == {"value", "low", "high", "n"}


def test_json_and_table(bundled_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.pgn").write_text(
        '[White "A [b]"]\n[Result "1-0"]\n\n1. e4 1-0\n\n[White "B"]\n[Result "*"]\n\n1. d4 *\n'
    )
    assert run("import", tmp_path / "a.pgn", "--into", tmp_path / "a.store", "--min-plies", 1) == 0
    capsys.readouterr()
    assert run("info", tmp_path / "a.store", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["left_out"]["no_result"]["games"] == 1
    assert found["ratings"] == {"min": None, "median": None, "max": None, "unknown": 2}
    assert found["dates"]["first"] is None
    assert found["history"][0]["kept"] == 1
    assert run("info", tmp_path / "a.store") == 0
    out = capsys.readouterr().out
    assert mentions(out, "skipped & 1 & 2 & games")
    assert "a.pgn game 2, B – ?" in out
    assert "import 1: 1 of 2 games" in out
    assert run("info", bundled_store.path) == 0
    assert "skipped: no games" in capsys.readouterr().out


def test_no_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("info", tmp_path / "nothing") == 1
    assert mentions(capsys.readouterr().err, "nothing & store")
    assert run("info", tmp_path) == 1
    assert "not a game store" in capsys.readouterr().err


def test_no_games_at_all(tmp_path: Path, bundled_store: Store) -> None:
    """A store that a program made without games is told all the same."""
    import pyarrow as pa

    from kibitz.games.chess.io.ingest import COLUMNS, PER_MOVE
    from kibitz.games.chess.replay import STANDARD_START
    from kibitz.store.writer import StoreWriter

    with StoreWriter(tmp_path / "a.store", "chess", COLUMNS, STANDARD_START, PER_MOVE) as writer:
        found = describe(writer.commit({}))
    assert found["figures"]["bytes_per_position"]["value"] is None
    assert isinstance(bundled_store.table(), pa.Table)


def test_a_network(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("info", "winner") == 0
    assert "seen.npy" in capsys.readouterr().out
    assert run("info", packaged()["human"], "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["system"], found["game"]) == ("human", "chess")
    assert found["card"].startswith("# Model card: human")
    assert "filters" in found["settings"]


def test_a_run(small_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("info", small_run) == 0
    out = capsys.readouterr().out
    assert f"{small_run}: a run of winner" in out
    assert "last validation, at iteration" in out
    assert f"kibitz test {small_run}" in out


def test_a_personal_run_says_what_it_learned_and_whether_its_training_ended(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    person = Path(shutil.copytree(small_run, tmp_path / "personal"))
    info = json.loads((person / "run.json").read_text())
    info |= {
        "person": {"name": "Ana", "first": "2026-01-01", "last": "2026-02-01"}, "base": "human",
        "kept": "adapters at 0.003", "command": "kibitz personal ana.pgn",
    }  # fmt: skip
    info["data"] |= {"games": {"training": 20, "validation": 2, "test": 0}}
    outs = []
    for finished in (True, False):
        (person / "run.json").write_text(json.dumps(info | {"finished": finished}))
        assert run("info", person) == 0
        outs.append(capsys.readouterr().out)
        assert "adapters at 0.003" in outs[-1]
        assert "settings" not in outs[-1]  # a personal network takes them from its base
    assert ["kibitz personal ana.pgn" in out for out in outs] == [False, True]


def test_komi_of_black_and_of_white_are_counted_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = [
        f"(;GM[1]SZ[9]KM[{komi}]PB[A{i}]PW[B]RE[B+R];B[ee];W[ec];B[c{'abcdefgh'[i]}];W[gg])"
        for i, komi in enumerate(("6.5", "-6.5", "6.5", "0"))
    ]
    (tmp_path / "games.sgf").write_text("\n".join(games))
    assert run("import", tmp_path / "games.sgf", "--into", tmp_path / "go.store") == 0
    capsys.readouterr()
    assert run("info", tmp_path / "go.store", "--json") == 0
    assert json.loads(capsys.readouterr().out)["komi"] == {
        "komi_6_5": {"label": "6.5", "games": 2}, "komi_minus_6_5": {"label": "-6.5", "games": 1},
        "komi_0": {"label": "0", "games": 1},
    }  # fmt: skip
