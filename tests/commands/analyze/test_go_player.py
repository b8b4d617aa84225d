"""kibitz analyze about one Go player's own games."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kibitz.cli import run
from support import go_person
from support.causes import Ended, assert_refused
from support.go_fakes import FakeGo

PLAYED = 10


pytestmark = pytest.mark.usefixtures("few_visits")


@pytest.fixture
def games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("kibitz.play.session.Session", lambda run: FakeGo())
    monkeypatch.setattr(go_person, "PLIES", 12)
    path = go_person.write(tmp_path / "my-games.sgf", PLAYED)
    other = go_person.games(1, seed=5).replace(go_person.PERSON, "Somebody Else")
    path.write_text(path.read_text(encoding="utf-8") + other, encoding="utf-8")
    return path


def test_the_report_as_json_and_as_a_page(games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, sgf = tmp_path / "report.html", tmp_path / "out.sgf"
    options = ["--player", "kim TENGEN", "--json", "--page", str(page), "--sgf", str(sgf), "--swing", "0.5"]
    assert run(["analyze", "gohuman", str(games), *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["games"]) == PLAYED
    player = found["player"]
    assert (player["name"], player["games"], player["rank"]) == (go_person.PERSON, PLAYED, "3d")
    own = [
        -move["change"]
        for game in found["games"]
        for move in game["moves"]
        if move["side"] == ("black" if game["headers"]["PB"] == go_person.PERSON else "white")
    ]
    assert player["moves"] == len(own)
    assert player["loss"]["value"] == pytest.approx(sum(own) / len(own), abs=0.01)
    assert player["loss"]["low"] is not None
    assert sum(part["moves"] for part in player["by_kind"].values()) == len(own)
    assert player["worst"]
    html = page.read_text(encoding="utf-8")
    assert go_person.PERSON in html
    assert html.count('<svg class="board"') == min(10, len(player["worst"]))
    assert "Kind of move" in html
    assert sgf.read_text(encoding="utf-8").count("(;") == PLAYED


def test_the_player_in_nearly_all_games_needs_no_name(
    games: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["analyze", "gohuman", str(games), "--mine"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{go_person.PERSON} (3d): {PLAYED} games"
    assert max(map(len, lines)) <= 80
    for words in ("all moves", "by phase", "by area", "by kind of move", "by color", "by result"):
        assert any(line.startswith(words) for line in lines), words


def test_what_it_cannot_do(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(*arguments: str) -> str:
        ended = Ended(run(["analyze", "gohuman", *arguments]), *capsys.readouterr())
        assert_refused(ended, code=2, names=())
        return ended.err

    before = games.read_bytes()
    assert "file name" in refused("-", "--mine")
    assert "Leave --raw out" in refused(str(games), "--mine", "--raw")
    assert "also read" in refused(str(games), "--mine", "--page", str(games))
    assert go_person.PERSON in refused(str(games), "--player", "Kim Tengan")
    assert games.read_bytes() == before
