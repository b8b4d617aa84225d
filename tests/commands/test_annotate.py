"""kibitz annotate: real games of chess and Go become files that other programs can read."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import chess.pgn
import pytest

import kibitz
from kibitz import records
from kibitz.commands import annotate
from kibitz.commands.progress import ticking
from kibitz.games.go.io.sgf import read_records
from support.causes import Ended, in_process, must_succeed, refused
from support.patience import PATIENCE

CHESS = '[White "Ann"]\n[Black "Bob"]\n[Result "1-0"]\n\n1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n\n'
ILLEGAL = '[White "Cid"]\n[Black "Dan"]\n[Result "0-1"]\n\n1. e4 e5 2. Ke4 0-1\n\n'
GO = "(;GM[1]SZ[9]KM[5.5]PB[Ann]PW[Bob]RE[W+3.5];B[ee];W[ec];B[cc];W[gg])\n"

pytestmark = pytest.mark.usefixtures("shallow", "few_visits")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of games, with one folder in it."""
    games = tmp_path / "games"
    (games / "inner").mkdir(parents=True)
    (games / "a.pgn").write_text(CHESS, encoding="utf-8")
    (games / "b.sgf").write_text(GO, encoding="utf-8")
    (games / "inner" / "c.pgn.gz").write_bytes(gzip.compress((CHESS + ILLEGAL).encode()))
    return games


def run(*arguments: object) -> Ended:
    return in_process(["annotate", *arguments])


def blocks(path: Path) -> Iterator[str]:
    """The text of a compressed record, in pieces that have several games."""
    return (block.decode() for block in records.Stream(str(path)).blocks(100_000))


def chess_games(path: Path) -> list[chess.pgn.Game]:
    text, games = io.StringIO(path.read_text(encoding="utf-8")), []
    while game := chess.pgn.read_game(text):
        games.append(game)
    return games


def test_a_chess_file_gets_marks_evaluations_and_reasons(folder: Path) -> None:
    source = folder / "a.pgn"
    ended = run(source)
    out = folder / "a-annotated.pgn"
    assert (ended.code, ended.out) == (0, f"{out}: 1 game annotated with human\n")
    assert source.read_text(encoding="utf-8") == CHESS
    (game,) = chess_games(out)
    nodes = list(game.mainline())
    assert [node.san() for node in nodes] == ["e4", "e5", "Qh5", "Nc6", "Bc4", "Nf6", "Qxf7#"]
    assert all(node.eval() is not None for node in nodes[:-1])
    assert chess.pgn.NAG_BLUNDER in nodes[5].nags
    assert "Qxf7#" in nodes[5].comment
    assert "reason:" in nodes[5].comment


def test_a_go_file_gets_scores_and_marks(folder: Path) -> None:
    ended = run(folder / "b.sgf")
    out = folder / "b-annotated.sgf"
    assert (ended.code, ended.out) == (0, f"{out}: 1 game annotated with gohuman\n")
    text = out.read_text(encoding="utf-8")
    assert text.count("]V[") == 5  # the start and four moves
    (record,) = read_records([str(out)])
    (before,) = read_records([str(folder / "b.sgf")])
    assert list(record.moves) == list(before.moves)  # type: ignore[union-attr]


def test_whole_games_of_the_bundled_records(tmp_path: Path) -> None:
    data = Path(kibitz.__file__).parent / "data"
    (pgn,) = itertools.islice(blocks(data / "games.pgn.zst"), 1)
    (sgf,) = itertools.islice(blocks(data / "games.sgfl.zst"), 1)
    (tmp_path / "real.pgn").write_text("\n\n".join(pgn.split("\n\n")[:2]) + "\n", encoding="utf-8")
    (tmp_path / "real.sgf").write_text(sgf.split("\n")[0] + "\n", encoding="utf-8")
    assert run(tmp_path / "real.pgn", "--network", "winner").code == 0
    assert run(tmp_path / "real.sgf", "--network", "gocnn").code == 0
    (before,), (after,) = (chess_games(tmp_path / name) for name in ("real.pgn", "real-annotated.pgn"))
    assert list(after.mainline_moves()) == list(before.mainline_moves())
    assert dict(after.headers).items() >= dict(before.headers).items()
    nodes = list(after.mainline())
    assert len(nodes) > 40
    assert all(node.eval() is not None for node in nodes[:-1])
    assert any(node.nags for node in nodes)
    (first,), (second,) = (read_records([str(tmp_path / name)]) for name in ("real.sgf", "real-annotated.sgf"))
    assert list(first.moves) == list(second.moves)  # type: ignore[union-attr]
    assert (tmp_path / "real-annotated.sgf").read_text(encoding="utf-8").count("C[Lead") == len(first.moves) + 1  # type: ignore[union-attr]


def test_the_content_is_that_of_analyze(folder: Path, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.pgn", tmp_path / "theirs.pgn"
    assert run(folder / "a.pgn", "--network", "winner", "--out", ours).code == 0
    must_succeed(["analyze", "winner", folder / "a.pgn", "--all", "--pgn", theirs])
    assert ours.read_bytes() == theirs.read_bytes()
    ours, theirs = tmp_path / "ours.sgf", tmp_path / "theirs.sgf"
    assert run(folder / "b.sgf", "--network", "gocnn", "--out", ours).code == 0
    must_succeed(["analyze", "gocnn", folder / "b.sgf", "--sgf", theirs])
    assert ours.read_bytes() == theirs.read_bytes()


def test_each_file_of_a_folder_gets_an_output(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = run(folder, "--out", out, "--json")
    assert ended.code == 0
    found = json.loads(ended.out)
    written = [out / "a-annotated.pgn", out / "b-annotated.sgf", out / "inner" / "c-annotated.pgn"]
    assert [one["written"] for one in found["files"]] == list(map(str, written))
    assert [(one["game"], one["network"], one["games"]) for one in found["files"]] == [
        ("chess", "human", 1), ("go", "gohuman", 1), ("chess", "human", 2),
    ]  # fmt: skip
    assert (found["games"], found["skipped"]) == (4, {})
    assert sorted(path for path in out.rglob("*") if path.is_file()) == sorted(written)


def test_outputs_next_to_the_files_are_not_annotated_again(folder: Path) -> None:
    assert run(folder, "--network", "winner").code == 1  # of the Go file
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert folder / "inner" / "c-annotated.pgn" in before
    ended = run(folder, "--network", "winner", "--overwrite", "--json")
    assert [Path(one["file"]).name for one in json.loads(ended.out)["files"]] == ["a.pgn", "c.pgn.gz"]
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_an_output_is_overwritten_on_request_only(folder: Path, tmp_path: Path) -> None:
    source, out = folder / "a.pgn", tmp_path / "out.pgn"
    out.write_text("mine", encoding="utf-8")
    call = ["annotate", source, "--network", "winner", "--out", out]
    refused([*call, "--overwrite"], call, code=2, names=["out.pgn", "--overwrite"])
    assert len(chess_games(out)) == 1
    refused(call[:-2], [*call[:-1], source, "--overwrite"], code=2, names="a.pgn")
    assert source.read_text(encoding="utf-8") == CHESS


def test_bad_files_are_counted_and_the_others_are_done(folder: Path, tmp_path: Path) -> None:
    (folder / "empty.pgn").touch()
    (folder / "damaged.pgn.gz").write_bytes(gzip.compress(CHESS.encode())[:20] + b"x" * 20)
    out = tmp_path / "out"
    out.mkdir()
    (out / "c-annotated.pgn").write_text("mine", encoding="utf-8")
    names = ["empty.pgn", "none.pgn", "damaged.pgn.gz", "inner/c.pgn.gz", "b.sgf", "a.pgn"]
    call = ["--network", "winner", "--out", out, "--json"]
    ended = run(*(folder / name for name in names), *call)
    assert ended.code == 1
    lines = ended.err.splitlines()
    assert len(lines) == 6
    assert all(line.startswith("error: ") for line in lines)
    for name in ("empty.pgn", "none.pgn", "damaged.pgn.gz", "c-annotated.pgn", "b.sgf"):
        assert sum(name in line for line in lines) == 1, name
    assert "1 of 6" in lines[-1]
    found = json.loads(ended.out)
    assert [one["written"] for one in found["files"]] == [str(out / "a-annotated.pgn")]
    assert {key: one["files"] for key, one in found["skipped"].items()} == {
        "no_such_file": 1, "no_usable_game": 2, "output_exists": 1, "network_for_another_game": 1,
    }  # fmt: skip
    assert found["skipped"]["no_such_file"]["first"] == [str(folder / "none.pgn")]
    assert sorted(path.name for path in out.iterdir()) == ["a-annotated.pgn", "c-annotated.pgn"]
    assert (out / "c-annotated.pgn").read_text(encoding="utf-8") == "mine"
    assert run(folder / "a.pgn", *call, "--overwrite").code == 0


@pytest.mark.parametrize(
    ("cause", "code", "names"),
    [
        (["none.pgn"], 1, "none.pgn"),
        (["empty.pgn"], 1, "empty.pgn"),
        (["a.pgn", "--network", "gohuman"], 2, ["a.pgn", "gohuman"]),
        (["a.pgn", "--network", "nowhere"], 1, "nowhere"),
        (["a.pgn", "b.sgf", "--out", "one.pgn"], 2, ["one.pgn", "folder"]),
        (["-"], 2, "-"),
        (["a.pgn", "--out", "-"], 2, "-"),
        (["s3://games/a.pgn"], 2, ["s3://games/a.pgn", "--out"]),
        (["a.pgn", "--out", "none/a.pgn/"], 0, ""),
    ],
)
def test_what_is_refused(
    cause: list[str], code: int, names: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    Path("empty.pgn").touch()
    if not code:
        assert run(*cause).code == 0
        assert Path("none/a.pgn/a-annotated.pgn").is_file()
        return
    without = ["annotate", "a.pgn", "--out", tmp_path / "fine.pgn"]
    refused(without, ["annotate", *cause], code=code, names=names, once="annotate")


def test_two_files_never_share_an_output(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "a.pgn", folder / "inner" / "a.pgn")
    out = tmp_path / "out"
    ended = run(folder / "a.pgn", folder / "inner" / "a.pgn", "--network", "winner", "--out", out, "--overwrite")
    assert ended.code == 1
    assert ended.out.startswith(str(out / "a-annotated.pgn"))
    assert len(ended.out.splitlines()) == 1
    assert run(folder, "--network", "human", "--out", tmp_path / "other").out.count("a-annotated.pgn") == 2


def test_ctrl_c_keeps_the_finished_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write: Callable[..., tuple[int, int]] = annotate.Annotation._write
    started: list[Path] = []

    def interrupted(work: Any, session: Any, job: annotate.AnnotationJob, shown: Any) -> tuple[int, int]:
        started.append(job.target)
        if len(started) == 1:
            return write(work, session, job, shown)

        def text(game: Any) -> str:
            raise KeyboardInterrupt

        monkeypatch.setattr("kibitz.analysis.go.sgf.annotated", text)
        return write(work, session, job, shown)

    monkeypatch.setattr(annotate.Annotation, "_write", interrupted)
    ended = run(folder)
    assert ended.code == 130
    first = folder / "a-annotated.pgn"
    assert ended.out.startswith(str(first))
    assert len(started) == 2
    assert len(chess_games(first)) == 1
    assert sorted(path.name for path in folder.iterdir()) == ["a-annotated.pgn", "a.pgn", "b.sgf", "inner"]
    assert "1 of 3" in ended.err.splitlines()[-1]


def test_progress_moves_during_work_without_news() -> None:
    ticked = threading.Event()
    with ticking(ticked.set, every=0.01):
        assert ticked.wait(PATIENCE)
    ticked.clear()
    assert not ticked.wait(0.1)


def test_a_long_file_shows_its_progress(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a terminal a line comes once a minute; here at once."""
    updated = threading.Event()
    with annotate._progress(2, lambda: 7) as shown, shown(str(folder / "a.pgn")) as show:
        show(0, 0)
        original = annotate.Progress.update

        def update(self: Any, done: float, line: str = "", **fields: Any) -> None:
            self._every = 0.0
            original(self, done, line, **fields)
            updated.set()

        monkeypatch.setattr(annotate.Progress, "update", update)
        assert updated.wait(PATIENCE)
    line = capsys.readouterr().err.splitlines()[0]
    assert "7 games" in line
    assert "1 of 2" in line
