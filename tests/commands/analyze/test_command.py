"""kibitz analyze, from the command line: a small trained run, real games, and what people get wrong."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess.pgn
import numpy as np
import pytest

import kibitz
from kibitz.analysis.chess.notes import centipawns
from kibitz.cli import run
from kibitz.commands.analyze.chess import PgnGames
from kibitz.commands.analyze.output import as_object
from kibitz.errors import KibitzError, UsageError
from kibitz.play.session import Session
from kibitz.store.store import Store
from support.causes import Ended, assert_refused, each_mentions, mentions, must_succeed
from support.helpers import GAMES, SMALL_PAIRS
from support.patience import PATIENCE
from support.trained import trained

SHORT = '[White "A"]\n[Black "B"]\n[Result "*"]\n\n1. e4 e5 2. Nf3 Nc6 *\n\n'
RATED = SHORT.replace("[Result", '[WhiteElo "2000"]\n[BlackElo "1500"]\n[Result')
ILLEGAL = '[White "C"]\n[Black "D"]\n\n1. d4 d5 2. Ke4 e6 *\n\n'
VARIANT = '[Variant "Atomic"]\n\n1. e4 *\n\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "games.pgn"
    path.write_text(SHORT + ILLEGAL + VARIANT + SHORT, encoding="utf-8")
    return path


def small_mover(path: Path, store: Store, system: str, **settings: Any) -> Path:
    """A run of a system that predicts moves, trained for a moment."""
    from kibitz.systems import load
    from kibitz.training.trainer import TrainConfig

    plan = TrainConfig(
        summary_every=20, validate_every=40, checkpoint_every=40, validate_positions=500, precision="32-true"
    )
    return trained(system, load(system).settings_type(**settings), store, path, plan)


SHARED_BODY = {
    "share": "body", "targets": "square", "layers": "16conv3x3p1", "optimiser": "adamw", "learning_rate": 0.003,
    "schedule": "constant", "batch": 128, "iterations": 30,
}  # fmt: skip


@pytest.fixture(scope="module")
def chessnet(tmp_path_factory: pytest.TempPathFactory, small_store: Store) -> Path:
    """Moves and value, told the rating of the mover."""
    path = tmp_path_factory.mktemp("runs") / "chessnet-1"
    return small_mover(path, small_store, "chessnet", **SHARED_BODY, rating_plane=True)


@pytest.fixture(scope="module")
def convchess(tmp_path_factory: pytest.TempPathFactory, small_store: Store) -> Path:
    """Moves alone."""
    path = tmp_path_factory.mktemp("runs") / "convchess-1"
    return small_mover(path, small_store, "convchess", layers="8conv3x3p1.pool2x2.ip16", iterations=5)


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


def test_json_says_what_the_session_says(
    small_run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    evaluate = Session.evaluate

    def recorded(self: Session, codes: Any, state: Any) -> Any:
        seen.append(evaluate(self, codes, state))
        return seen[-1]

    monkeypatch.setattr(Session, "evaluate", recorded)
    out, err = analyzed(capsys, small_run, GAMES, "--game", "3", "--json", "--raw", "--swing", "5")
    assert err == ""
    found = json.loads(out)
    assert (found["run"], found["system"], len(found["games"])) == (str(small_run), "winner", 1)
    (game,) = found["games"]
    assert found.keys() == {"run", "system", "games"}
    assert game["number"] == 3
    assert game["result"] == game["headers"]["Result"] == "0-1"
    white = max((answers["white_wins"] for answers in seen), key=len)  # one position is a trial
    assert len(white) == len(game["moves"]) + 1
    np.testing.assert_allclose([m["before"] for m in game["moves"]], white[:-1], atol=1e-4)
    np.testing.assert_allclose([m["after"] for m in game["moves"]], white[1:], atol=1e-4)
    assert set(game["moves"][0]) == {
        "ply", "move_number", "side", "san", "uci", "before", "after", "change", "mark",
    }  # fmt: skip
    assert game["moves"][-1]["mark"] == "#"
    assert game["moves"][-1]["change"] is None
    sizes = [abs(m["change"]) for m in game["swings"]]
    assert sizes == sorted(sizes, reverse=True)
    assert all(size >= 0.05 - 1e-4 for size in sizes)
    assert {m["ply"] for m in game["swings"]} == {
        m["ply"] for m in game["moves"] if m["change"] is not None and abs(m["change"]) >= 0.05
    }


def test_deepchess_says_what_its_figures_are(
    small_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {**SMALL_PAIRS, "networks": "full", "pretrain_epochs": 0.0, "epochs": 1.0, "pairs": 2000}
    path = small_mover(tmp_path / "run", small_store, "deepchess", **settings)
    found = json.loads(analyzed(capsys, path, GAMES, "--json", "--raw")[0])
    assert mentions(found["evaluation"], "White & balanced")
    assert len(found["games"]) == 1
    assert all(0 < move["after"] < 1 for move in found["games"][0]["moves"])
    out, _ = analyzed(capsys, path, GAMES, "--raw")
    assert mentions(out, "White's")
    assert found["evaluation"] in " ".join(out.split())
    game = chess.pgn.read_game(io.StringIO(analyzed(capsys, path, GAMES, "--raw", "--pgn", "-")[0]))
    assert game is not None
    assert found["evaluation"] in game.comment
    assert game.variations[0].eval() is not None


@pytest.mark.usefixtures("shallow")
def test_table(small_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = analyzed(capsys, small_run, GAMES)
    assert err == ""
    assert out.startswith("Game 1: Stockfish 15.1 (1520) – Stockfish 15.1 (2070), 0-1\n")
    assert "\n  35… Qxh4#" in out
    assert mentions(out, "White & Black & points")
    raw, _ = analyzed(capsys, small_run, GAMES, "--raw")
    assert "Average loss per move" in raw


def test_search_says_what_was_lost_and_what_was_better(
    chessnet: Path, small_run: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(SHORT.replace("2. Nf3 Nc6", "2. Qh5 Nc6 3. Qxf7+ Kxf7") * 2, encoding="utf-8")
    for path, options in ((small_run, ["--depth", "3"]), (chessnet, ["--depth", "2", "--nodes", "20"])):
        found = json.loads(analyzed(capsys, path, file, "--all", "--json", *options)[0])
        for game in found["games"]:
            queen = game["moves"][4]
            assert queen["mark"] in ("?", "??")
            assert queen["loss"] == pytest.approx(-queen["change"], abs=1e-4)
            assert queen["best"] != queen["uci"]
            assert game["report"]["white"]["by_piece"]["queen"]["moves"] == 2
        assert found["report"]["games"] == len(found["games"]) == 2
        assert found["report"]["white"]["moves"] == 6
        out, _ = analyzed(capsys, path, file, "--all", *options)
        assert "All 2 games" in out
        assert "better: " in out


def test_all_games_and_what_is_left_out(small_run: Path, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = analyzed(capsys, small_run, file, "--all", "--json")
    found = json.loads(out)
    assert [(g["number"], len(g["moves"]), g["problem"]) for g in found["games"]] == [
        (1, 4, None), (2, 2, "move 2. 'Ke4' is illegal"), (4, 4, None),
    ]  # fmt: skip
    assert each_mentions(err.splitlines(), f"{file} & game 2 & Ke4 & illegal", f"{file} & game 3 & Atomic")
    out, _ = analyzed(capsys, small_run, file, "--all")
    assert [line.split(",")[0] for line in out.splitlines() if line.startswith("Game")] == [
        "Game 1: A – B", "Game 2: C – D", "Game 4: A – B",
    ]  # fmt: skip


def test_pgn_is_read_back(small_run: Path, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out.pgn"
    out, _ = analyzed(capsys, small_run, file, "--all", "--pgn", target, "--json")
    written = io.StringIO(target.read_text(encoding="utf-8"))
    for game in json.loads(out)["games"]:
        again = chess.pgn.read_game(written)
        assert again is not None
        for node, move in zip(again.mainline(), game["moves"], strict=True):
            assert node.move.uci() == move["uci"]
            score = node.eval()
            assert score is not None
            assert score.white().score() == pytest.approx(centipawns(move["after"]), abs=1)
    assert chess.pgn.read_game(written) is None
    printed, _ = analyzed(capsys, small_run, file, "--all", "--pgn", "-")
    assert printed == target.read_text(encoding="utf-8")


def test_a_pgn_file_may_replace_its_own_source(small_run: Path, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(SHORT, encoding="utf-8")
    analyzed(capsys, small_run, file, "--all", "--pgn", file)
    assert "[%eval" in file.read_text(encoding="utf-8")


def test_nothing_is_written_where_nothing_can_be_analysed(
    small_run: Path, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.pgn"
    line = refused(capsys, 1, small_run, file, "--game", "3", "--pgn", target)
    assert mentions(line, f"{file} & 3 & Atomic & --game & variant")
    file.write_text(VARIANT * 2, encoding="utf-8")
    assert run(["analyze", str(small_run), str(file), "--all", "--json"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert mentions(err.splitlines()[-1], f"{file} & 2 & 1 & Atomic & variant")
    assert [path for path in tmp_path.iterdir() if path != file] == []


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--game", "9"], 1, "9 & 4 & --game & 1"),
        (["--game", "2", "--all"], 2, "--game & --all"),
        (["--game", "0"], 2, "--game"),
        (["--swing", "0"], 2, "--swing & 0 & percentage points"),
        (["--swing", "nan"], 2, "--swing & nan"),
        (["--raw", "--depth", "2"], 2, "--raw & search"),
        (["--depth", "0"], 2, "--depth"),
        (["--json", "--pgn", "-"], 2, "--json and --pgn -"),
        (["--pgn", "no/such/folder/out.pgn"], 1, "no/such/folder/out.pgn & folder"),
    ],
)
def test_calls_that_cannot_be_done(
    arguments: list[str], code: int, words: str, small_run: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mentions(refused(capsys, code, small_run, file, *arguments), words)
    must_succeed(["analyze", small_run, file, "--game", "1", "--swing", "5"], once="analyze winner")


def test_files_that_hold_no_game(small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file.pgn"
    for content in (b"", bytes(range(1, 256)) * 9):
        file.write_bytes(content)
        for option in ("--json", "--all"):
            assert mentions(refused(capsys, 1, small_run, file, option), f"{file} & no game headers")
    assert "gone.pgn: no such file" in refused(capsys, 1, small_run, tmp_path / "gone.pgn")
    assert f"{tmp_path}: " in refused(capsys, 1, small_run, tmp_path)
    assert "is not a run" in refused(capsys, 1, tmp_path / "gone", file)


def test_a_damaged_archive_shows_what_came_before(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut = tmp_path / "cut.pgn.zst"
    cut.write_bytes(GAMES.read_bytes()[:40_000])
    target = tmp_path / "out.pgn"
    assert run(["analyze", str(small_run), str(cut), "--all", "--raw", "--pgn", str(target)]) == 1
    out, err = capsys.readouterr()
    assert "Game 1: " in out
    assert mentions(err, f"{cut} & unpacked")
    assert not target.exists()


def test_a_run_without_its_onnx_file(
    small_run: Path, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, _ = analyzed(capsys, small_run, file, "--json")
    copy = tmp_path / "copy"
    shutil.copytree(small_run, copy)
    (copy / "model.onnx").unlink()
    out, err = analyzed(capsys, copy, file, "--json")
    assert "uses PyTorch" in err
    for one, other in zip(json.loads(whole)["games"][0]["moves"], json.loads(out)["games"][0]["moves"], strict=True):
        assert one["after"] == pytest.approx(other["after"], abs=2e-4)


@pytest.mark.parametrize("kind", ["small_run", "chessnet"])
def test_standard_input_in_a_real_process_without_torch(kind: str, request: pytest.FixtureRequest) -> None:
    """From a pipe to a pipe; torch would take longer to load than all the rest."""
    code = (
        "import sys; from kibitz.cli import run; code = run(sys.argv[1:]);"
        "print('torch' in sys.modules, file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "analyze", str(request.getfixturevalue(kind)), "-", "--json"],
        input=RATED.encode(), capture_output=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.decode()) == (0, "False\n")
    assert [m["san"] for m in json.loads(done.stdout)["games"][0]["moves"]] == ["e4", "e5", "Nf3", "Nc6"]


def test_its_own_source_is_not_replaced_where_something_would_be_lost(
    small_run: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file.parent / "link.pgn").symlink_to(file)
    for name in ("games.pgn", "link.pgn"):
        assert mentions(refused(capsys, 2, small_run, file, "--pgn", file.parent / name), "--all & games")
    archive = file.parent / "games.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.write(file, "a.pgn")
    assert mentions(refused(capsys, 2, small_run, f"{archive}:a.pgn", "--all", "--pgn", archive), "archive")
    for content, number in ((SHORT + ILLEGAL, 2), (VARIANT + SHORT, 1)):
        file.write_text(content, encoding="utf-8")
        assert run(["analyze", str(small_run), str(file), "--all", "--pgn", str(file)]) == 1
        assert mentions(capsys.readouterr().err, f"{number} & game")
        assert file.read_text(encoding="utf-8") == content
    assert {path.name for path in file.parent.iterdir()} == {"games.pgn", "link.pgn", "games.zip"}


def test_json_is_one_object_though_the_file_is_damaged_later(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = tmp_path / "damaged.pgn.gz"
    long = SHORT.replace("e5", "{" + "a word\n" * 50_000 + "} e5")  # so that it is read in several pieces
    damaged.write_bytes(gzip.compress((SHORT + long).encode())[:-4])  # without its check sum
    assert run(["analyze", str(small_run), str(damaged), "--all", "--json"]) == 1
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert len(found["games"]) >= 1
    assert found["problem"] in err
    assert "cannot be unpacked" in err


def test_moves_and_value(
    chessnet: Path, file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    evaluate = Session.evaluate

    def recorded(self: Session, codes: Any, state: Any) -> Any:
        seen.append((state, evaluate(self, codes, state)))
        return seen[-1][-1]

    monkeypatch.setattr(Session, "evaluate", recorded)
    file.write_text(RATED, encoding="utf-8")
    out, err = analyzed(capsys, chessnet, file, "--json", "--raw")
    assert err == ""
    (game,) = json.loads(out)["games"]
    assert {"moves", "swings", "average_loss", "predictable"} <= set(game)
    state, answers = max(seen, key=lambda pair: len(pair[0]))  # one position is a trial
    assert state[:, 4].tolist() == [125, 93, 125, 93, 125]
    worth = answers["value"] * [1, -1, 1, -1, 1]
    np.testing.assert_allclose([m["before"] for m in game["moves"]], (1 + worth[:-1]) / 2, atol=1e-4)
    board = chess.Board()
    for i, move in enumerate(game["moves"]):
        shares = {
            legal: float(answers["origin"][i, legal.from_square])
            * float(answers["target"][i, legal.from_square, legal.to_square])
            for legal in board.legal_moves
        }
        order = sorted(shares, key=lambda legal: -shares[legal])
        assert [one["uci"] for one in move["choices"]] == [legal.uci() for legal in order[:3]]
        assert [one["san"] for one in move["choices"]] == [board.san(legal) for legal in order[:3]]
        for one, legal in zip(move["choices"], order, strict=False):
            assert one["probability"] == pytest.approx(shares[legal] / sum(shares.values()), abs=1e-4)
        played = chess.Move.from_uci(move["uci"])
        assert move["rank"] == order.index(played) + 1
        assert move["probability"] == pytest.approx(shares[played] / sum(shares.values()), abs=1e-4)
        assert move["legal_moves"] == len(shares)
        board.push(played)


def test_games_without_ratings_for_a_network_that_is_told_them(
    chessnet: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, err = analyzed(capsys, chessnet, file)
    assert mentions(err, f"{file} & 1 & 100 & 4000 & 2400")
    _, err = analyzed(capsys, chessnet, file, "--all", "--json")
    assert mentions(err.splitlines()[-1], f"{file} & 3 & 1 & 100 & 4000 & 2400")


def test_moves_alone(convchess: Path, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out.pgn"
    out, err = analyzed(capsys, convchess, file, "--pgn", target)
    assert err == ""
    assert mentions(out, "network")
    assert "Predicted moves" in out
    assert "White's win" not in out
    assert max(map(len, out.splitlines())) <= 80
    written = target.read_text(encoding="utf-8")
    assert "%eval" not in written
    game = chess.pgn.read_game(io.StringIO(written))
    assert game is not None
    assert all(node.comment.startswith("net: ") and "; played " in node.comment for node in game.mainline())
    found = json.loads(analyzed(capsys, convchess, file, "--json")[0])
    assert found["system"] == "convchess"
    assert not {"swings", "average_loss"} & set(found["games"][0])


@pytest.mark.parametrize("played", ["bxa8=N", "bxa8=Q"])
def test_underpromotions_are_ranked(
    played: str, convchess: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(f"1. e4 d5 2. exd5 c6 3. dxc6 Nf6 4. cxb7 e6 5. {played} *\n", encoding="utf-8")
    (game,) = json.loads(analyzed(capsys, convchess, file, "--json")[0])["games"]
    last = game["moves"][-1]
    if played == "bxa8=N":
        assert (last["rank"], last["probability"], last["surprising"]) == (last["legal_moves"], 0.0, True)
    else:
        assert last["rank"] < last["legal_moves"] - 5  # six underpromotions come after it
        assert last["probability"] > 0


def test_a_real_game_by_both(
    chessnet: Path, convchess: Path, bundled_games: list[str], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("".join(bundled_games[:5]), encoding="utf-8")
    for path in (chessnet, convchess):
        for game in json.loads(analyzed(capsys, path, file, "--raw", "--all", "--json")[0])["games"]:
            for move in game["moves"]:
                assert 1 <= move["rank"] <= move["legal_moves"]
                assert len(move["choices"]) == min(3, move["legal_moves"])
                assert (move["uci"] in {one["uci"] for one in move["choices"]}) == (move["rank"] <= 3)
            figures = game["predictable"]["white"]
            assert 0 <= figures["first_choice"]["value"] <= figures["first_three"]["value"] <= 1


def test_a_file_alone(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze", str(file)]) == 2
    assert f"kibitz analyze winner {file}" in capsys.readouterr().err
    assert run(["analyze", "winner"]) == 2
    assert "kibitz analyze winner FILE" in capsys.readouterr().err


def test_a_file_with_blank_lines_and_headers_close_to_moves_is_kept_whole(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(
        '1. e4 e5 2. Nf3 Nc6\n\n3. Bc4 Bc5 0-1\n[Event "two"]\n[White "Cid"]\n\n1. d4 *\n', encoding="utf-8"
    )
    analyzed(capsys, "winner", file, "--all", "--raw", "--pgn", file)
    with file.open(encoding="utf-8") as text:
        first, second = chess.pgn.read_game(text), chess.pgn.read_game(text)
    assert first is not None
    assert second is not None
    assert len(list(first.mainline_moves())) == 6
    assert (second.headers["White"], len(list(second.mainline_moves()))) == ("Cid", 1)


@pytest.mark.parametrize(
    ("text", "where"),
    [(SHORT + "words\n\n" + SHORT, "after game 1"), ("words\n\n" + SHORT, "at its beginning")],
)
def test_a_file_with_text_between_games_is_not_replaced(
    text: str, where: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(text, encoding="utf-8")
    assert run(["analyze", "winner", str(file), "--all", "--raw", "--pgn", str(file)]) == 1
    assert mentions(capsys.readouterr().err, f"{where} & text")
    assert file.read_text(encoding="utf-8") == text


def test_after_ctrl_c_the_games_so_far_are_in_the_files(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, games = PgnGames.analysed, 2

    def some(self: PgnGames, *arguments: Any) -> Iterator[Any]:
        found = whole(self, *arguments)
        for _ in range(games):
            yield next(found)
        raise KeyboardInterrupt

    monkeypatch.setattr(PgnGames, "analysed", some)
    file.write_text(SHORT * 3, encoding="utf-8")
    source = file.read_text(encoding="utf-8")
    out, table = tmp_path / "out.pgn", tmp_path / "moves.csv"
    call = ["analyze", "winner", str(file), "--all", "--raw"]
    assert run([*call, "--pgn", str(out), "--csv", str(table)]) == 130
    assert out.read_text(encoding="utf-8").count("[White ") == 2
    assert {line.split(",")[1] for line in table.read_text(encoding="utf-8").splitlines()[1:]} == {"1", "2"}
    assert run([*call, "--pgn", str(file)]) == 130
    assert file.read_text(encoding="utf-8") == source
    assert file.with_stem(f"{file.stem}-part").read_text(encoding="utf-8").count("[White ") == 2
    assert mentions(capsys.readouterr().err, "out.pgn & moves.csv & -part.pgn")
    games, other = 0, tmp_path / "other.pgn"
    assert run([*call, "--pgn", str(other)]) == 130
    assert not other.exists()


def test_a_swing_without_win_probabilities_is_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["analyze", "convchess", str(file), "--raw"]
    assert run([*call, "--swing", "5"]) == 2
    assert mentions(capsys.readouterr().err, "--swing & convchess & 5")
    assert run(call) == 0
    with pytest.raises(UsageError, match=r"swing .*convchess"):
        kibitz.analyse(file, "convchess", swing=0.05)
    assert kibitz.analyse(file, "convchess").moves


@pytest.mark.parametrize(
    ("stop", "problem"),
    [(KeyboardInterrupt(), "interrupted"), (KeyboardInterrupt("at game 2"), "at game 2"), (KibitzError("bad"), "bad")],
)
def test_the_json_of_a_stopped_analysis_is_whole(
    stop: BaseException, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:

    def analyze(games: int) -> None:
        with as_object("run", "system") as put:
            for number in range(1, games + 1):
                put({"number": number})
            raise stop

    with pytest.raises(type(stop)):
        analyze(1)
    assert json.loads(capsys.readouterr().out) == {
        "run": "run", "system": "system", "games": [{"number": 1}], "problem": problem,
    }  # fmt: skip
    with pytest.raises(type(stop)):
        analyze(0)
    assert capsys.readouterr().out == "", "there is no game"
