"""The options --workers and --ray."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from kibitz.cli import run
from kibitz.commands.workers import with_ray_local
from support.causes import mentions, must_succeed

GAME = '[Event "E"]\n[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n'


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        (["import", "--ray", "a.pgn"], ["import", "--ray=local", "a.pgn"]),
        (["import", "a.pgn", "--ray"], ["import", "a.pgn", "--ray=local"]),
        (["import", "--ray", "--into", "s"], ["import", "--ray=local", "--into", "s"]),
        (["import", "--ray", "10.0.0.1:6379", "a.pgn"], ["import", "--ray", "10.0.0.1:6379", "a.pgn"]),
        (["import", "--ray", "local", "a.pgn"], ["import", "--ray", "local", "a.pgn"]),
        (["import", "--ray=head:6379"], ["import", "--ray=head:6379"]),
        (["import", "--ray", "head:1x", "a.pgn"], ["import", "--ray", "head:1x", "a.pgn"]),
        (["import", "--ray", "a.zip:b.pgn"], ["import", "--ray=local", "a.zip:b.pgn"]),
        (["import", "--ray", f"{__file__}:b"], ["import", "--ray=local", f"{__file__}:b"]),
    ],
)
def test_the_address_may_be_left_out(typed: list[str], read: list[str]) -> None:
    assert with_ray_local(typed) == read


def test_processes_make_the_same_store(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.pgn").write_text(GAME.replace("E", f"E{number}", 1).replace("f3", "f4 e6 2. f3", number))
    files = [str(tmp_path / f"{number}.pgn") for number in range(3)]
    assert run(["import", *files, "--into", str(tmp_path / "plain")]) == 0
    assert run(["import", *files, "--into", str(tmp_path / "shared"), "--workers", "2"]) == 0
    names = {file.relative_to(tmp_path / "plain") for file in (tmp_path / "plain").rglob("*") if file.is_file()}
    assert len(names) > 3
    for name in names:
        assert (tmp_path / "plain" / name).read_bytes() == (tmp_path / "shared" / name).read_bytes(), name


def test_without_ray_one_line_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.pgn").write_text(GAME)
    known = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "ray" else known(name, *more))
    assert run(["import", str(tmp_path / "a.pgn"), "--into", str(tmp_path / "s"), "--ray"]) == 2
    assert mentions(capsys.readouterr().err, "--ray & Ray & 'kibitz[ray]' & installed")
    assert not (tmp_path / "s").exists()
    must_succeed(["import", tmp_path / "a.pgn", "--into", tmp_path / "s"], once="import a game")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--ray=somewhere"], "--ray & somewhere & HOST:PORT"),
        (["--ray", "nowhere:1x"], "--ray & nowhere:1x & HOST:PORT"),
        (["--ray", "10.0.0.1:6379", "--workers", "3"], "--workers & cluster"),
    ],
)
def test_wrong_calls(words: list[str], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.pgn").write_text(GAME)
    assert run(["import", str(tmp_path / "a.pgn"), "--into", str(tmp_path / "s"), *words]) == 2
    assert mentions(capsys.readouterr().err, line)
    must_succeed(["import", tmp_path / "a.pgn", "--into", tmp_path / "s"], once="import a game")
