"""kibitz analyze --csv and --parquet: a row for each move, with the values of the JSON."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from pyarrow import parquet

from kibitz.cli import run
from support import person
from support.causes import refused

CHESS = """[White "Ann"]
[Black "Bob"]
[WhiteElo "1500"]
[BlackElo "1600"]
[Result "0-1"]

1. f3 {[%clk 0:05:00]} e5 {[%clk 0:05:00]} 2. g4 {[%clk 0:04:00]} Qh4# 0-1

[White "Cid"]
[Black "Dora"]
[Result "*"]

1. e4 e5 *
"""
GO = "(;GM[1]FF[4]SZ[9]KM[6.5]PB[A]PW[B]RE[W+3.5];B[ee];W[ec];B[cc];W[gg])"
QUICK = ["--depth", "2", "--nodes", "0"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "games.pgn"
    path.write_text(CHESS, encoding="utf-8")
    return path


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def test_the_rows_of_chess_games(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    as_csv, as_parquet = tmp_path / "moves.csv", tmp_path / "moves.parquet"
    options = ["--all", *QUICK, "--json", "--csv", str(as_csv), "--parquet", str(as_parquet)]
    assert run(["analyze", "human", str(file), *options]) == 0
    games = json.loads(capsys.readouterr().out)["games"]
    moves = [move for game in games for move in game["moves"]]
    rows = read(as_csv)
    assert [row["san"] for row in rows] == ["f3", "e5", "g4", "Qh4#", "e4", "e5"]
    assert [row["game"] for row in rows] == ["1"] * 4 + ["2"] * 2
    for row, move in zip(rows, moves, strict=True):
        assert float(row["after"]) == move["after"]
        assert float(row["loss"]) == move["loss"]
        assert int(row["rank"]) == move["rank"]
        assert (row["mark"], row["best"], row["phase"]) == (move["mark"], move["best"], move["phase"])
        assert row["line"].split() == move["line"]
        assert row["first_choice"] == move["choices"][0]["uci"]
    assert [row["rating"] for row in rows] == ["1500", "1600", "1500", "1600", "", ""]
    assert [row["seconds_left"] for row in rows[:3]] == ["300.0", "300.0", "300.0"]
    assert rows[3]["fen"].startswith("rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b")
    assert rows[2]["reason"] == moves[2]["reason"]["code"] == "allows_mate"
    assert (rows[0]["risk"] != "", rows[4]["risk"]) == (True, "")
    table = parquet.read_table(as_parquet).to_pylist()
    assert [row["uci"] for row in table] == [move["uci"] for move in moves]
    assert [row["loss"] for row in table] == [move["loss"] for move in moves]
    assert table[4]["rating"] is None


def test_the_rows_of_go_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game, target = tmp_path / "game.sgf", tmp_path / "moves.parquet"
    game.write_text(GO, encoding="utf-8")
    assert run(["analyze", "gocnn", str(game), "--json", "--parquet", str(target)]) == 0
    moves = json.loads(capsys.readouterr().out)["games"][0]["moves"]
    rows = parquet.read_table(target).to_pylist()
    assert [row["vertex"] for row in rows] == [move["vertex"] for move in moves] == ["E5", "E7", "C7", "G3"]
    assert [row["after"] for row in rows] == [move["after"] for move in moves]
    assert {(row["black"], row["white"], row["size"], row["komi"]) for row in rows} == {("A", "B", 9, 6.5)}


def test_rows_on_standard_output(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze", "human", str(file), *QUICK, "--csv", "-"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["san"] for row in rows] == ["f3", "e5", "g4", "Qh4#"]


def test_the_rows_of_a_players_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games, target = tmp_path / "mine.pgn", tmp_path / "mine.csv"
    person.write(games, 5)
    assert run(["analyze", "human", str(games), "--mine", *QUICK, "--csv", str(target)]) == 0
    assert person.PERSON in capsys.readouterr().out
    assert {row["game"] for row in read(target)} == {"1", "2", "3", "4", "5"}


def test_only_one_output_is_printed(file: Path, tmp_path: Path) -> None:
    good = ["analyze", "human", str(file), *QUICK, "--csv", str(tmp_path / "moves.csv")]
    printed = ["analyze", "human", str(file), *QUICK, "--csv", "-"]
    refused([*good, "--json"], [*printed, "--json"], code=2, names="--csv")
    refused(good, [*printed, "--pgn", "-"], code=2, names=["--pgn", "--csv"])
    refused(good, [*good, "--parquet", "-"], code=2, names="--parquet")


@pytest.mark.parametrize("table", ["--csv", "--parquet"])
def test_a_table_never_replaces_the_games(table: str, file: Path, tmp_path: Path) -> None:
    before, call = file.read_bytes(), ["analyze", "human", str(file), *QUICK]
    link = tmp_path / "link"
    link.symlink_to(file)
    for target in (file, link):
        refused([*call, table, str(tmp_path / "moves")], [*call, table, str(target)], code=2, names=table)
    folder = [*call[:2], str(tmp_path), "--player", "Ann", *QUICK]
    refused([*folder, table, str(tmp_path / "more")], [*folder, table, str(file)], code=2, names=table)
    assert file.read_bytes() == before


def test_two_outputs_need_two_files(file: Path, tmp_path: Path) -> None:
    call = ["analyze", "human", str(file), *QUICK, "--pgn", str(tmp_path / "a.pgn"), "--csv"]
    refused([*call, str(tmp_path / "a.csv")], [*call, str(tmp_path / "." / "a.pgn")], code=2, names=["--csv", "--pgn"])
