"""--checked-by: an outside engine as the judge of analyze, annotate and the player report, and in Python."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import kibitz
from kibitz.errors import KibitzError
from support.causes import Ended, each_mentions, in_process, mentions, must_succeed, naming, refused
from support.helpers import program
from support.opinion_fakes import fake
from support.patience import PATIENCE
from support.processes import is_gone

GAMES = "".join(
    f'[White "Ann"]\n[Black "Bob"]\n[WhiteElo "1500"]\n[BlackElo "1500"]\n[Date "2026.01.0{day}"]\n[Result "1-0"]\n\n'
    f"{moves}\n\n"
    for day, moves in enumerate(("1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0", "1. e4 e5 1-0", "1. d4 d5 1-0"), 1)
)
GO = "(;GM[1]SZ[9]KM[5.5]PB[Ann]PW[Bob];B[ee];W[ec])\n"


@pytest.fixture
def games(tmp_path: Path) -> Path:
    file = tmp_path / "games.pgn"
    file.write_text(GAMES, encoding="utf-8")
    return file


@pytest.fixture
def go_game(tmp_path: Path) -> Path:
    file = tmp_path / "game.sgf"
    file.write_text(GO, encoding="utf-8")
    return file


def analyzed(*arguments: object) -> Ended:
    ended = in_process(["analyze", *arguments])
    assert ended.code == 0, ended.err
    return ended


def skipped(ended: Ended) -> list[str]:
    """The warnings about single games, in the order of the games."""
    return sorted(line for line in ended.err.splitlines() if re.match(r"warning: .*\d: ", line))


def engines_in(table: Path) -> set[str]:
    with table.open(encoding="utf-8") as file:
        return {row["checked_by"] for row in csv.DictReader(file)}


def test_every_output_names_the_engine(games: Path, tmp_path: Path) -> None:
    program("stockfish")
    pgn, table = tmp_path / "out.pgn", tmp_path / "out.csv"
    call = ["human", games, "--all", "--pgn", pgn, "--csv", table]
    shown = analyzed(*call, "--checked-by", "stockfish", "--nodes", 2000)
    (words,) = set(re.findall(r"Checked by (Stockfish .*, 2,000 nodes per position)", shown.out))
    assert pgn.read_text().count("checked by: Stockfish") == 3
    assert engines_in(table) == {words}
    plain = analyzed(*call)
    assert "Checked by" not in plain.out
    assert "checked by" not in pgn.read_text()
    assert engines_in(table) == {""}


def test_json_and_python_have_the_same_game(games: Path) -> None:
    program("stockfish")
    found = json.loads(
        analyzed("human", games, "--json", "--checked-by", "stockfish", "--depth", 6, "--engine-option", "Hash=32").out
    )
    (game,) = found["games"]
    assert game["checked_by"]["engine"].startswith("Stockfish")
    assert (game["checked_by"]["nodes"], game["checked_by"]["depth"]) == (None, 6)
    assert game["moves"][3]["mate"] == 1
    same = kibitz.analyse(games, "human", checked_by="stockfish", depth=6, engine_options={"Hash": 32})
    assert json.loads(json.dumps(same.as_json())) == game
    every = list(kibitz.analyse_all(games, "human", checked_by="stockfish", depth=6))
    assert len(every) == 3
    assert every[0].as_json()["moves"] == same.as_json()["moves"]


def test_the_player_report_and_its_page_name_the_engine(games: Path, tmp_path: Path) -> None:
    program("stockfish")
    page = tmp_path / "page.html"
    call = ["human", games, "--player", "Bob", "--page", page]
    shown = analyzed(*call, "--checked-by", "stockfish", "--nodes", 2000)
    assert "Checked by Stockfish" in shown.out
    assert "<dt>checked by</dt><dd>Stockfish" in page.read_text()
    found = json.loads(analyzed(*call, "--checked-by", "stockfish", "--nodes", 2000, "--json").out)["player"]
    assert found["checked_by"]["nodes"] == 2000
    assert found["marks"]["blunders"] == 1
    analyzed(*call)
    assert "checked by" not in page.read_text()


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--checked-by", "no-such-engine"], ["--checked-by", "no-such-engine"]),
        (["--checked-by", "stockfish", "--raw"], "--raw"),
        (["--engine-option", "Hash=1"], "--engine-option"),
        (["--checked-by", "stockfish", "--engine-option", "Hash"], "NAME=VALUE"),
        (["--checked-by", "stockfish", "--engine-option", "Hush=1"], "Hush"),
        (["--checked-by", "gnugo"], "engine for chess"),
        (["--checked-by", "stockfish", "--nodes", 0], "--nodes"),
        (["--nodes", 2_000_000], "--checked-by"),
        (["--depth", 13], "--checked-by"),
    ],
)
def test_what_makes_no_sense_is_refused(games: Path, options: list[object], names: str | list[str]) -> None:
    for engine in ("stockfish", "gnugo"):
        program(engine)
    call = ["analyze", "human", games, "--json"]
    refused(call, [*call, *options], code=2, names=names)


def test_go_names_the_engine(go_game: Path, tmp_path: Path) -> None:
    command = fake("gtp", "sound", tmp_path)
    call = ["gohuman", go_game]
    shown = analyzed(*call, "--checked-by", command, "--nodes", 40, "--sgf", tmp_path / "out.sgf")
    assert "Fake Go 1, 40 visits" in shown.out
    assert "Checked by Fake Go 1" in (tmp_path / "out.sgf").read_text()
    found = json.loads(analyzed(*call, "--checked-by", command, "--nodes", 40, "--json").out)
    assert found["games"][0]["checked_by"] == {"engine": "Fake Go 1", "nodes": 40, "depth": None}
    same = kibitz.analyse(go_game, "gohuman", checked_by=command, nodes=40)
    assert json.loads(json.dumps(same.as_json())) == found["games"][0]
    assert "Checked by" not in analyzed(*call).out


# Engines that fail


def test_games_before_a_failure_are_kept(games: Path, tmp_path: Path) -> None:
    """The fake ends in its 9th search: the first game has six positions, of which five are searched."""
    pgn, folder = tmp_path / "out.pgn", tmp_path / "fake"
    folder.mkdir()
    call = ["analyze", "human", games, "--all", "--json", "--pgn", pgn, "--checked-by"]
    ended = in_process([*call, fake("uci", "crash from 7", folder)])
    assert ended.code == 1
    assert ended.err.count("\n") == 1
    assert "exit code 3" in ended.err
    assert "after 1 game" in ended.err
    found = json.loads(ended.out)
    assert [game["number"] for game in found["games"]] == [1]
    assert "exit code 3" in found["problem"]
    assert pgn.read_text().count("[White ") == 1
    sound = in_process([*call, fake("uci", "sound", folder)])
    assert sound.code == 0
    assert len(json.loads(sound.out)["games"]) == 3


def test_a_game_that_an_engine_rejects_is_skipped(tmp_path: Path) -> None:
    """Also by workers, which use engines of their own."""
    program("stockfish")
    file = tmp_path / "games.pgn"
    crowds = ("k7/8/8/8/8/P7/PPPPPPPP/K7 w - - 0 1", "k7/8/8/8/8/QQQQQQQQ/PPPPPPPP/K7 w - - 0 1")
    ratings = '[WhiteElo "1500"]\n[BlackElo "1500"]\n'
    first, second = (f'[FEN "{fen}"]\n{ratings}\n1. Kb1 Kb8 *\n\n' for fen in crowds)
    good = f"{ratings}\n1. e4 e5 *\n\n"
    file.write_text(first + good + second + good, encoding="utf-8")
    call = ["human", file, "--checked-by", "stockfish", "--nodes", 1000]
    alone, shared = (analyzed(*call, "--all", "--json", *workers) for workers in ([], ["--workers", 2]))
    assert shared.out == alone.out
    for ended in (alone, shared):
        assert [game["number"] for game in json.loads(ended.out)["games"]] == [2, 4]
        assert each_mentions(skipped(ended), "game 1 & too many pieces", "game 3 & 16 pieces")
    refused(["analyze", *call, "--game", 2], ["analyze", *call, "--game", 1], code=1, names="game 1 & too many pieces")
    found = kibitz.analyse_all(file, "human", checked_by="stockfish", nodes=1000)
    assert [game.record.number for game in found] == [2, 4]  # type: ignore[union-attr]
    with pytest.raises(KibitzError, match=naming("game 1 & too many pieces")):
        kibitz.analyse(file, "human", number=1, checked_by="stockfish", nodes=1000)
    whole = file.read_text()
    ended = in_process(["analyze", *call, "--all", "--pgn", file])
    assert ended.code == 1
    assert mentions(ended.err, "unchanged & game 1")
    assert file.read_text() == whole


def test_a_game_of_go_that_an_engine_rejects_is_skipped(tmp_path: Path) -> None:
    file = tmp_path / "games.sgf"
    other = GO.replace("ec", "ai")  # A1, which the fake rejects
    file.write_text(other + GO + other + GO, encoding="utf-8")
    call = ["gohuman", file, "--json", "--nodes", 40, "--checked-by", fake("gtp", "choosy", tmp_path)]
    alone, shared = (analyzed(*call, *workers) for workers in ([], ["--workers", 2]))
    assert shared.out == alone.out
    for ended in (alone, shared):
        assert [game["number"] for game in json.loads(ended.out)["games"]] == [2, 4]
        assert each_mentions(skipped(ended), "game 1 & rejects", "game 3 & rejects")
    ended = in_process(["analyze", *call, "--game", 3])
    assert ended.code == 1
    assert mentions(ended.err, "game 3 & rejects")
    found = kibitz.analyse_all(file, "gohuman", checked_by=call[-1], nodes=40)
    assert [game.number for game in found] == [2, 4]  # type: ignore[union-attr]
    with pytest.raises(KibitzError, match=naming("game 1 & rejects")):
        kibitz.analyse(file, "gohuman", number=1, checked_by=call[-1], nodes=40)


def test_annotate_counts_files_by_reason(games: Path, go_game: Path, tmp_path: Path) -> None:
    program("stockfish")
    out = tmp_path / "out"
    call = ["annotate", games, go_game, "--out", out, "--json", "--overwrite", "--checked-by"]
    ended = in_process([*call, "stockfish", "--nodes", 1000])
    assert ended.code == 1
    found = json.loads(ended.out)
    assert found["skipped"]["engine_for_another_game"]["files"] == 1
    (done,) = found["files"]
    assert done["checked_by"].startswith("Stockfish")
    assert "checked by: Stockfish" in (out / "games-annotated.pgn").read_text()
    other = tmp_path / "other.pgn"
    other.write_text(GAMES, encoding="utf-8")
    failed = in_process(["annotate", games, other, *call[3:], fake("uci", "crash", tmp_path)])
    assert json.loads(failed.out)["skipped"]["engine_failed"]["files"] == 2
    assert "checked by: Stockfish" in (out / "games-annotated.pgn").read_text()  # the file of before is whole
    must_succeed(["annotate", games, "--out", out / "x.pgn", "--checked-by", "stockfish", "--nodes", 1000])


def test_annotate_refuses_nodes_without_an_engine(games: Path, tmp_path: Path) -> None:
    call = ["annotate", games, "--overwrite", "--out", tmp_path / "out.pgn"]
    refused(call, [*call, "--nodes", 1000], code=2, names="--checked-by")


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="signals of a terminal")
@pytest.mark.parametrize("protocol", ["uci", "gtp"])
def test_ctrl_c_ends_the_engine(games: Path, go_game: Path, tmp_path: Path, protocol: str) -> None:
    call = ["human", games] if protocol == "uci" else ["gohuman", go_game]
    command = [sys.executable, "-m", "kibitz", "analyze", *map(str, call), "--checked-by"]
    with subprocess.Popen([*command, fake(protocol, "silent", tmp_path)], stderr=subprocess.PIPE, text=True) as process:
        end = time.monotonic() + PATIENCE
        asked = tmp_path / "asked"
        while time.monotonic() < end and not (
            asked.exists() and ("go " if protocol == "uci" else "kata") in asked.read_text()
        ):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
    numbers = (tmp_path / "started").read_text().split()
    assert len(numbers) == 2
    assert all(is_gone(int(number)) for number in numbers)
