"""kibitz analyze of Go games, from the command line; the network is a fake, what is around it is real."""

from __future__ import annotations

import gzip
import io
import json
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sgfmill.sgf
import zstandard

import kibitz
from kibitz.cli import run
from kibitz.errors import KibitzError
from kibitz.play.go.ownership import BothSides
from support.causes import Ended, assert_refused, each_mentions, mentions, must_succeed
from support.go_fakes import FakeGo, FakeOwners

GAME = "(;GM[1]FF[4]SZ[9]KM[6.5]PB[A]PW[B]RE[W+3.5];B[ee];W[ec];B[cc];W[gg])\n"
ILLEGAL = "(;GM[1]FF[4]SZ[9]KM[6.5]PB[C]PW[D];B[ee];W[ec];B[ee])\n"
BROKEN = "(;GM[1]FF[4]SZ[9]PB[E]PW[F];B[zz])\n"
LARGE = "(;GM[1]FF[4]SZ[19]KM[7.5]PB[G]PW[H];B[dd];W[pp])\n"


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> FakeOwners:
    """Every run is this one."""
    fake = FakeOwners()
    monkeypatch.setattr("kibitz.play.session.Session", lambda run: fake)
    return fake


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "games.sgfl"
    path.write_text(GAME + ILLEGAL + GAME, encoding="utf-8")
    return path


def analyzed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[str, str]:
    """What a call that succeeds prints on standard output and standard error."""
    code = run(["analyze", *map(str, arguments)])
    out, err = capsys.readouterr()
    assert code == 0, err
    return out, err


def refused(capsys: pytest.CaptureFixture[str], code: int, *arguments: str | Path) -> str:
    """The one line that a call ends with that cannot be done."""
    ended = Ended(run(["analyze", *map(str, arguments)]), *capsys.readouterr())
    assert_refused(ended, code=code, names=())
    return ended.err


def test_json_says_what_the_network_says(network: FakeOwners, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = analyzed(capsys, "gocnn", file, "--game", "1", "--json", "--owners", "--swing", "1")
    assert err == ""
    found = json.loads(out)
    assert (found["run"], found["system"], len(found["games"])) == ("gocnn", "gocnn", 1)
    (game,) = found["games"]
    asked, sides = max(network.asked, key=lambda pair: len(pair[0]))  # one position is a trial
    maps = BothSides(network).evaluate(asked, sides)["black_owns"].reshape(-1, 19, 19)[:, :9, :9]
    np.testing.assert_allclose(game["black_owns"], maps, atol=0.006)
    leads = (2 * maps - 1).sum((1, 2)) - 6.5
    np.testing.assert_allclose([m["before"] for m in game["moves"]], leads[:-1], atol=0.01)
    np.testing.assert_allclose([m["after"] for m in game["moves"]], leads[1:], atol=0.01)
    assert [m["vertex"] for m in game["moves"]] == ["E5", "E7", "C7", "G3"]
    assert {m["ply"] for m in game["swings"]} == {m["ply"] for m in game["moves"] if abs(m["change"]) >= 1}


def test_every_game_has_a_heading_and_what_is_left_out_a_line(
    network: FakeOwners, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = analyzed(capsys, "gocnn", file)
    assert [line for line in out.splitlines() if line.startswith("Game ")] == [
        "Game 1: A (Black) – B (White), W+3.5", "Game 2: C (Black) – D (White), ?",
        "Game 3: A (Black) – B (White), W+3.5",
    ]  # fmt: skip
    assert mentions(err, f"{file} & 2 & 3 & E5 & illegal")
    same, _ = analyzed(capsys, "gocnn", file, "--all")
    assert same == out


def test_the_board_that_is_wanted(network: FakeOwners, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = analyzed(capsys, "gocnn", file, "--game", "1", "--move", "2")
    assert err == ""
    assert "\nAfter move 2, White E7: " in out
    assert out.count("After move") == 1
    out, err = analyzed(capsys, "gocnn", file, "--game", "1", "--move", "0")
    assert "\nBefore the first move: " in out
    out, err = analyzed(capsys, "gocnn", file, "--game", "1", "--move", "5")
    assert mentions(err, f"{file} & 1 & --move & 5 & 4 & moves")
    assert mentions(out, "After & 4 & White & G3 & move")
    out, _ = analyzed(capsys, "gocnn", file, "--game", "1", "--move", "3", "--json")
    assert [board["ply"] for board in json.loads(out)["games"][0]["boards"]] == [3]


def test_sgf_is_read_back(network: FakeOwners, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out.sgf"
    out, _ = analyzed(capsys, "gocnn", file, "--sgf", target, "--json")
    written = target.read_bytes()
    games = json.loads(out)["games"]
    parts = [b"(;" + part for part in written.split(b"(;")[1:]]
    assert len(parts) == len(games) == 3
    for part, game in zip(parts, games, strict=True):
        nodes = sgfmill.sgf.Sgf_game.from_bytes(part).get_main_sequence()
        assert nodes[0].get("PB") == game["headers"]["PB"]
        leads = [float(node.get_raw("V")) for node in nodes]
        np.testing.assert_allclose(leads[1:], [move["after"] for move in game["moves"]], atol=0.06)
    printed, _ = analyzed(capsys, "gocnn", file, "--sgf", "-")
    assert printed == written.decode()
    again, _ = analyzed(capsys, "gocnn", target, "--json")  # kibitz reads what it wrote
    assert [g["moves"] for g in json.loads(again)["games"]] == [g["moves"] for g in games]


def test_a_board_that_is_too_large_and_one_that_was_not_learned(
    network: FakeOwners, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mixed.sgf"
    file.write_text(LARGE + GAME, encoding="utf-8")
    network.run = SimpleNamespace(info={"settings": {"sizes": "13"}})
    out, err = analyzed(capsys, "gocnn", file)
    assert "Game 2" in out
    large, small = f"{file} & game 1 & 19×19 & gocnn-1 & 13×13", f"{file} & game 2 & 9×9 & gocnn-1"
    assert each_mentions(err.splitlines(), large, small)
    line = refused(capsys, 1, "gocnn", file, "--game", "1")
    assert mentions(line, f"{file} & 1 & 19×19 & gocnn-1 & 13×13 & board")
    file.write_text(LARGE * 2, encoding="utf-8")
    assert run(["analyze", "gocnn", str(file), "--json"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert mentions(err.splitlines()[-1], f"{file} & 2 & 1 & 19×19 & board")


def test_broken_games_are_told_and_passed_over(
    network: FakeOwners, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, target = tmp_path / "games.sgf", tmp_path / "out.sgf"
    file.write_text(GAME + BROKEN + GAME, encoding="utf-8")
    out, err = analyzed(capsys, "gocnn", file, "--json")
    assert [game["number"] for game in json.loads(out)["games"]] == [1, 3]
    assert err.startswith(f"warning: {file} game 2: ")
    assert err.count("\n") == 1
    file.write_text(BROKEN, encoding="utf-8")
    assert f"{file} game 1: " in refused(capsys, 1, "gocnn", file, "--sgf", target)
    assert not target.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--game", "9"], 1, "9 & 3 & --game & 1 & file"),
        (["--game", "2", "--all"], 2, "--game & --all"),
        (["--swing", "0"], 2, "--swing & 0 & points"),
        (["--swing", "nan"], 2, "--swing & nan"),
        (["--move", "-1"], 2, "--move"),
        (["--owners"], 2, "--owners & --json"),
        (["--json", "--sgf", "-"], 2, "--json and --sgf -"),
        (["--sgf", "no/such/folder/out.sgf", "--game", "1"], 1, "no/such/folder/out.sgf & folder"),
        (["--pgn", "out.pgn"], 2, "--pgn & gocnn & Go & SGF & --sgf & chess"),
    ],
)
def test_calls_that_cannot_be_done(
    arguments: list[str], code: int, words: str, network: FakeOwners, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mentions(refused(capsys, code, "gocnn", file, *arguments), words)
    must_succeed(["analyze", "gocnn", file, "--game", "1", "--swing", "5"], once="analyze gocnn")


def test_its_own_source_is_not_replaced(network: FakeOwners, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (file.parent / "link.sgf").symlink_to(file)
    before = file.read_bytes()
    for name in (file, file.parent / "link.sgf"):
        assert mentions(refused(capsys, 2, "gocnn", file, "--sgf", name), "variations")
        assert mentions(refused(capsys, 2, "gocnn", file.parent, "--sgf", name), "variations")
    assert file.read_bytes() == before


def test_its_archive_is_not_replaced(network: FakeOwners, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = file.parent / "games.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.write(file, "a.sgf")
    before = archive.read_bytes()
    for source in (archive, f"{archive}:a.sgf"):
        assert mentions(refused(capsys, 2, "gocnn", source, "--sgf", archive), "variations")
    assert archive.read_bytes() == before


def test_files_of_the_other_game(network: FakeOwners, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "game.pgn.zst"
    file.write_bytes(zstandard.compress(b'[White "A"]\n\n1. e4 e5 *\n'))
    assert mentions(refused(capsys, 2, "gocnn", file), "gocnn & Go & chess")
    file = tmp_path / "game.txt"
    file.write_text('[White "A"]\n\n1. e4 e5 *\n', encoding="utf-8")
    assert mentions(refused(capsys, 1, "gocnn", file), f"{file} & SGF & game")
    assert "gone.sgf: no such file" in refused(capsys, 1, "gocnn", tmp_path / "gone.sgf")


@pytest.mark.parametrize("option", [["--sgf", "x.sgf"], ["--move", "3"], ["--owners", "--json"]])
def test_options_of_go_and_a_run_for_chess(
    option: list[str], small_run: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = refused(capsys, 2, small_run, "games.pgn", *option)
    assert mentions(line, f"{option[0]} & Go & {small_run} & chess")
    assert mentions(refused(capsys, 2, small_run, file), "Go & game")


def test_standard_input(
    network: FakeOwners, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = io.BytesIO(zstandard.compress(GAME.encode() + GAME.encode()))
    stdin: Any = SimpleNamespace(buffer=packed)
    monkeypatch.setattr(sys, "stdin", stdin)
    out, err = analyzed(capsys, "gocnn", "-", "--json")
    assert err == ""
    assert len(json.loads(out)["games"]) == 2


def test_a_damaged_archive_shows_what_came_before(
    network: FakeOwners, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cut.sgf.gz"
    long = "".join(GAME.replace("PB[A]", f"PB[{i}]") for i in range(20_000))
    file.write_bytes(gzip.compress(long.encode())[:-4])  # without its check sum
    assert run(["analyze", "gocnn", str(file), "--json", "--game", "99999"]) == 1
    assert "damaged" in capsys.readouterr().err
    out, _ = analyzed(capsys, "gocnn", file, "--game", "2")
    assert out.startswith("Game 2: 1 (Black)")


@pytest.mark.parametrize(
    ("before", "after"),
    [("", ""), ("From: someone\n\n", ""), ("", "</pre></html>\n"), ("<html><pre>", "the end\n")],
)
def test_text_that_belongs_to_no_game_is_a_warning(
    network: FakeOwners, tmp_path: Path, capsys: pytest.CaptureFixture[str], before: str, after: str
) -> None:
    file = tmp_path / "a.sgf"
    file.write_text(f"{before}{GAME}\n{GAME}\n{after}", encoding="utf-8")
    _, err = analyzed(capsys, "gocnn", file)
    assert len(err.splitlines()) == bool(before) + bool(after)
    assert all(line.startswith("warning: ") and "belongs to no game" in line for line in err.splitlines())
    target = tmp_path / "out.sgf"
    assert run(["annotate", str(file), "--network", "gocnn", "--out", str(target)]) == 0
    assert target.read_text(encoding="utf-8").count("(;") == 2
    file.write_text("Hello\n", encoding="utf-8")
    assert run(["analyze", "gocnn", str(file)]) == 1


@pytest.mark.parametrize("before", ["", "From: someone\n\n"])
def test_text_that_belongs_to_no_game_stops_no_analysis_in_python(tmp_path: Path, before: str) -> None:
    file = tmp_path / "a.sgf"
    file.write_text(f"{before}{GAME}\n{GAME}", encoding="utf-8")
    assert [game.number for game in kibitz.analyse_all(file, "gocnn")] == [1, 2]  # type: ignore[union-attr]
    file.write_text(before + "nothing\n", encoding="utf-8")
    with pytest.raises(KibitzError, match="no games"):
        list(kibitz.analyse_all(file, "gocnn"))


def test_a_folder(network: FakeOwners, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.sgf").write_text(GAME, encoding="utf-8")
    (tmp_path / "b.sgf").write_text("nothing", encoding="utf-8")
    (tmp_path / "c.sgf").write_text(BROKEN + GAME, encoding="utf-8")
    out, err = analyzed(capsys, "gocnn", tmp_path)
    assert [line for line in out.splitlines() if line.startswith("Game ")] == [
        "Game 1: A (Black) – B (White), W+3.5", "Game 3: A (Black) – B (White), W+3.5",
    ]  # fmt: skip
    assert [line.split(": ")[1] for line in err.splitlines()] == [
        str(tmp_path / "b.sgf"), f"{tmp_path / 'c.sgf'} game 1",
    ]  # fmt: skip


def test_a_search_unless_raw(file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("kibitz.play.session.Session", lambda run: FakeGo())

    def moves(*options: str) -> Any:
        return json.loads(analyzed(capsys, "gohuman", file, "--game", "1", "--json", *options)[0])["games"][0]["moves"]

    usual, raw = moves(), moves("--raw")
    assert all("line" in move for move in usual)
    assert not any("line" in move for move in raw)
    by_search = {"line", "before", "change", "mark", "words", "changes"}
    plain = [[{key: move[key] for key in move if key not in by_search} for move in some] for some in (usual, raw)]
    assert plain[0] == plain[1]
    assert all(move["change"] <= 0 for move in usual)
    assert any(move["change"] > 0 for move in raw)
    assert [move["line"] for move in moves("--nodes", "16")] == [move["line"] for move in usual]
    assert raw == moves("--nodes", "0")
    assert "--raw shows values" in refused(capsys, 2, "gohuman", file, "--raw", "--nodes", "5")


@pytest.mark.usefixtures("few_visits")
def test_a_marked_move_has_a_better_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "lost.sgf"
    file.write_text("(;GM[1]FF[4]SZ[9]KM[6.5];B[ee];W[ec];B[aa];W[gd])", encoding="utf-8")

    def game(*options: str) -> Any:
        return json.loads(analyzed(capsys, "gohuman", file, "--json", "--swing", "1", *options)[0])["games"][0]

    bad = game()["moves"][2]
    assert (bad["vertex"], bad["mark"]) == ("A9", "??")
    assert bad["better"]["points"] == pytest.approx(-bad["change"], abs=0.01)
    assert bad["better"]["line"][0] != "A9"
    assert bad["reason"]["code"] in ("elsewhere", "loses_area"), "nothing is captured"
    assert not any("better" in move for move in game("--raw")["moves"])
    text = analyzed(capsys, "gohuman", file, "--swing", "1")[0]
    assert bad["reason"]["text"] in " ".join(text.split())


def test_what_a_record_does_not_say_is_told(
    network: FakeOwners, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "games.sgf"
    file.write_text("(;GM[1]SZ[9]RU[Weird]HA[3];W[ee];B[ec])\n" + GAME, encoding="utf-8")
    out, err = analyzed(capsys, "gocnn", file, "--json")
    assert [game["komi"] for game in json.loads(out)["games"]] == [0, 6.5]
    assert mentions(err, f"{file} & 1 & 0 & Weird & 3 handicap stones & rules")


def test_a_game_that_is_cut_short_is_analysed_up_to_there(
    network: FakeOwners, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, target = tmp_path / "games.sgf", tmp_path / "out.sgf"
    file.write_text("(;GM[1]SZ[9]KM[0];B[ee];W[ec];B[\n" + GAME + "(;GM[1]SZ[9]KM[0];B[cc];W[g", encoding="utf-8")
    out, err = analyzed(capsys, "gocnn", file, "--json", "--sgf", target)
    games = json.loads(out)["games"]
    assert [[move["vertex"] for move in game["moves"]] for game in games] == [
        ["E5", "E7"], ["E5", "E7", "C7", "G3"], ["C7"],
    ]  # fmt: skip
    assert mentions(games[0]["problem"], "bracket")
    assert [game["problem"] for game in games] == [games[0]["problem"], None, games[0]["problem"]]
    assert each_mentions(err.splitlines(), *(f"{file} & game {number} & bracket" for number in (1, 3)))
    again, err = analyzed(capsys, "gocnn", target, "--json")
    assert err == ""
    assert [len(game["moves"]) for game in json.loads(again)["games"]] == [2, 4, 1]
