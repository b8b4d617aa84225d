"""kibitz analyze --page without a player: one file with the games, for somebody who has no kibitz."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path

import chess.pgn
import pytest

from kibitz.analysis.chess.shown import position_cells
from kibitz.analysis.chess.terminal import AnalysedGame
from kibitz.cli import run
from kibitz.report.game import LANGUAGES, render_game_page
from support.causes import Ended, assert_refused, mentions
from support.game_pages import CHESS, GO, HOSTILE, PLAIN, Parts, played, write_chess, write_go


@pytest.fixture(scope="module")
def chess_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_chess(tmp_path_factory.mktemp("chess")).read_text(encoding="utf-8")


def test_the_page_of_a_game_of_chess_has_what_analyze_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = write_chess(tmp_path, "--json")
    out, err = capsys.readouterr()
    assert mentions(err, f"page & {page.name}")
    (analyzed,) = json.loads(out)["games"]
    (shown,) = Parts(page.read_text(encoding="utf-8")).data["games"]
    game = chess.pgn.read_game(io.StringIO(CHESS))
    assert game is not None
    boards = [game.board(), *(node.board() for node in game.mainline())]
    assert played(shown) == [position_cells(board) for board in boards]
    assert shown["players"] == [f"Ann {PLAIN} (1520)", "Bo (1670)"]
    assert (shown["result"], shown["value"]) == ("0-1", "White's expected score")
    assert shown["facts"] == [f"Club {PLAIN}", "2026.11.21"]
    assert [move["mark"] for move in shown["moves"]] == [
        move["mark"] if move["mark"] != "#" else "" for move in analyzed["moves"]
    ]
    assert shown["values"][1:] == pytest.approx([move["after"] for move in analyzed["moves"]], abs=1e-3)
    assert shown["summary"] == analyzed["summary"]
    marked = [pair for pair in zip(shown["moves"], analyzed["moves"], strict=True) if pair[0]["mark"]]
    assert marked
    for move, told in marked:
        assert move["change"] == round(100 * told["change"])
        assert [step["text"] for step in move["line"]] == told["line"]
        assert bool(move["notes"]) == bool(told["reason"])
    assert shown["moves"][0]["number"] == "1."
    assert shown["moves"][1]["number"] == "1…"


def test_the_page_of_a_game_of_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = write_go(tmp_path, monkeypatch, "--json")
    (analyzed,) = json.loads(capsys.readouterr().out)["games"]
    (shown,) = Parts(page.read_text(encoding="utf-8")).data["games"]
    assert shown["players"] == [f"Ann {HOSTILE} (3k)", "Bo"]
    assert {"9×9", "komi 6.5"} <= set(shown["facts"])
    assert [move["text"] for move in shown["moves"]] == [move["vertex"] for move in analyzed["moves"]]
    last = played(shown)[-1]
    assert (last.count("X"), last.count("O")) == (4, 3)
    assert shown["leads"][1:] == pytest.approx([move["after"] for move in analyzed["moves"]], abs=0.06)
    assert len(shown["values"]) == len(shown["moves"]) + 1
    assert shown["summary"] == analyzed["summary"]
    marked = [move for move in shown["moves"] if move["mark"] in ("?!", "?", "??")]
    assert marked
    assert any(move["line"] and move["notes"] for move in marked)


def test_a_game_with_an_illegal_move_is_shown_as_incomplete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for game, whole in ((CHESS, True), (CHESS.replace("Nf3#", "Nf4"), False)):
        (shown,) = Parts(write_chess(tmp_path, games=game).read_text(encoding="utf-8")).data["games"]
        assert any(fact.startswith("Incomplete") for fact in shown["facts"]) is not whole
        assert len(shown["moves"]) == 14 - (not whole)
    monkeypatch.setattr("support.game_pages.GO", GO.replace(";B[aa]", ";B[ee]"))
    (shown,) = Parts(write_go(tmp_path, monkeypatch).read_text(encoding="utf-8")).data["games"]
    assert any(fact.startswith("Incomplete") for fact in shown["facts"])
    assert len(shown["moves"]) == 4


def test_an_archive_that_is_read_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = tmp_path / "games.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a.pgn", CHESS)
    before = archive.read_bytes()
    call = ["analyze", "human", f"{archive}:a.pgn", "--depth", "1", "--nodes", "0", "--page"]
    code = run([*call, str(archive)])
    assert_refused(Ended(code, *capsys.readouterr()), code=2, names=())
    assert archive.read_bytes() == before
    assert run([*call, str(tmp_path / "game.html")]) == 0


def test_names_cannot_become_elements_or_scripts(chess_page: str) -> None:
    parts = Parts(chess_page)
    assert parts.scripts == 1
    assert "img" not in parts.elements
    assert parts.title == f"Ann {PLAIN} (1520) – Bo (1670)"
    assert not any(name.startswith("on") for name, _ in parts.attributes)
    assert chess_page.count("</script>") == 2


def test_the_page_needs_nothing_else(chess_page: str) -> None:
    parts = Parts(chess_page)
    policy = dict(parts.attributes)["content"] or ""
    assert [value for name, value in parts.attributes if name in ("src", "href") and (value or "#")[0] != "#"] == [
        "data:,"
    ]
    assert not re.search(r"@import|@font-face|url\(", chess_page)
    assert "connect-src" not in policy
    assert len(chess_page) < 60_000


def test_several_games_are_one_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = write_chess(tmp_path, "--all", games=f"{CHESS}\n{CHESS.replace('Bo', 'Cy')}")
    names = [game["players"][1] for game in Parts(page.read_text(encoding="utf-8")).data["games"]]
    assert names == ["Bo (1670)", "Cy (1670)"]
    page = write_chess(tmp_path, "--game", "2", games=f"{CHESS}\n{CHESS.replace('Bo', 'Cy')}")
    names = [game["players"][1] for game in Parts(page.read_text(encoding="utf-8")).data["games"]]
    assert names == ["Cy (1670)"]


def test_after_an_interruption_the_page_has_the_games_so_far(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def add(report: object, game: AnalysedGame) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kibitz.analysis.chess.moves.Report.add", add)
    (tmp_path / "game.pgn").write_text(CHESS * 2, encoding="utf-8")
    page = tmp_path / "chess.html"
    call = ["analyze", "human", str(tmp_path / "game.pgn"), "--page", str(page), "--raw", "--all"]
    assert run(call) == 130
    assert len(Parts(page.read_text(encoding="utf-8")).data["games"]) == 1


@pytest.mark.parametrize(
    ("page", "says"),
    [
        ("nowhere/game.html", "no folder nowhere"),
        (".", "the folder"),
        ("-", "--page"),
        ("game.pgn", "also read"),
    ],
)
def test_a_page_that_cannot_be_written_is_one_line(
    page: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("game.pgn").write_text(CHESS, encoding="utf-8")
    code = run(["analyze", "human", "game.pgn", "--page", page, "--raw"])
    ended = Ended(code, *capsys.readouterr())
    assert_refused(ended, code=2 if page in ("-", "game.pgn") else 1, names=())
    assert says in ended.err
    assert ended.out == ""


def test_a_file_without_games_leaves_no_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.pgn").write_text("nothing\n", encoding="utf-8")
    page = tmp_path / "game.html"
    assert run(["analyze", "human", str(tmp_path / "empty.pgn"), "--page", str(page), "--raw"]) == 1
    assert list(tmp_path.iterdir()) == [tmp_path / "empty.pgn"]


def test_the_page_has_the_same_texts_in_every_language(chess_page: str) -> None:
    games = Parts(chess_page).data["games"]
    texts = {language: Parts(render_game_page(games, language)).data["texts"] for language in LANGUAGES}
    for language in LANGUAGES:
        assert texts[language].keys() == texts["en"].keys()
        assert "White's expected score" in texts[language]["values"] or language == "en"
