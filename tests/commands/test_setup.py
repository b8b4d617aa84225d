"""kibitz setup: what it prints for a program starts an engine that plays."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kibitz.errors import KibitzError
from kibitz.runs import packaged
from kibitz.setups.programs import FILL_IN, PROGRAMS, kibitz_command
from kibitz.setups.writing import merged, write_files
from support.causes import in_process, refused
from support.patience import PATIENCE

CHESS = [name for name, program in PROGRAMS.items() if program.game == "chess"]
GO = [name for name, program in PROGRAMS.items() if program.game == "go"]


def setup(*arguments: object) -> dict[str, Any]:
    ended = in_process(["setup", *arguments, "--json"])
    assert ended.code == 0, ended.err
    return dict(json.loads(ended.out))


def words_of(program: str, data: dict[str, Any]) -> list[str]:
    """The command as the program itself reads it from its configuration."""
    files = {file["name"]: file["text"] for file in data["files"]}
    steps = "\n".join(data["steps"])
    match program:
        case "cutechess":
            return shlex.split(json.loads(files["engines.json"])[0]["command"])
        case "sabaki":
            [engine] = json.loads(files["settings.json"])["engines.list"]
            return [engine["path"], *shlex.split(engine["args"])]
        case "lizzie":
            return shlex.split(json.loads(files["config.txt"])["leelaz"]["engine-command"])
        case "gtp2ogs":
            return list(json.loads(files["gtp2ogs.json5"])["bot"]["command"])
        case "gnome-chess":
            return re.findall(r"^binary=(.*)$", files["engines.conf"], re.MULTILINE)
        case "polyglot":
            return shlex.split(re.findall(r"^EngineCommand = (.*)$", files["kibitz.ini"], re.MULTILINE)[0])
        case "lichess-bot":
            section = files["engine-section.yml"]
            folder, name = (
                json.loads(re.findall(rf"^  {key}: (.*)$", section, re.MULTILINE)[0]) for key in ("dir", "name")
            )
            return [str(Path(folder) / name)]
        case "xboard":
            typed = shlex.split(steps.partition("Type: ")[2])
            return shlex.split(typed[typed.index("-fcp") + 1])
        case "gogui" | "quarry":
            return shlex.split(steps.partition(": ")[2])
    if data["written"]:
        return [path for path in data["written"] if data["files"][0]["script"]]
    path, parameters = re.findall(r"^Enter as .*?: (.*)$", steps, re.MULTILINE)
    return [path, *shlex.split(parameters)]


def spoken(command: Sequence[str], lines: str) -> str:
    """What an engine prints, from a folder that is not that of kibitz."""
    done = subprocess.run(
        list(command), input=lines, capture_output=True, text=True, timeout=PATIENCE, cwd="/", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.process
@pytest.mark.parametrize("program", list(PROGRAMS))
def test_the_configuration_starts_an_engine(program: str, tmp_path: Path) -> None:
    """The engine of the smallest network of each game, because the largest ones take seconds to load."""
    game = PROGRAMS[program].game
    plain = setup(program)
    options = ["--write", tmp_path / "a folder"] if plain["files"] else []
    data = setup(program, "--network", "chessnet" if game == "chess" else "gocnn", *options)
    command = words_of(program, data)
    assert Path(command[0]).is_absolute()
    if game == "chess":
        printed = spoken(command, "uci\nisready\nquit\n")
        assert "uciok" in printed
        assert "readyok" in printed
    else:
        printed = spoken(command, "protocol_version\nboardsize 9\nname\nquit\n")
        assert printed.startswith("= 2")
        assert "?" not in printed
        assert ("KataGo" in printed) == (program == "lizzie")


def test_rating_and_network_become_parts_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own"
    shutil.copytree(packaged()["chessnet"], own)
    assert setup("scid", "--rating", "1500")["command"][-4:] == ["uci", "human", "--elo", "1500"]
    assert setup("scid", "--network", own)["command"][-2:] == ["uci", str(own)]
    assert setup("sabaki")["command"][-2:] == ["gtp", "gohuman"]
    assert setup("sabaki", "--rank", "5 kyu")["command"][-4:] == ["gtp", "gohuman", "--rank", "5k"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "human").mkdir()  # a folder that is no run
    assert setup("scid", "--network", "human")["command"][-2:] == ["uci", "human"]
    assert setup("sabaki")["command"][: len(kibitz_command())] == kibitz_command()
    assert Path(kibitz_command()[0]).is_absolute()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["setup", "shogigui"], "shogigui"),
        (["setup", "pychess", "--rating", "99"], "99"),
        (["setup", "sabaki", "--rating", "1500"], "1500"),
        (["setup", "sabaki", "--rank", "40k"], "40k"),
        (["setup", "sabaki", "--network", "gocnn", "--rank", "5k"], "gocnn"),
        (["setup", "scid", "--rank", "5k"], "5k"),
        (["setup", "pychess", "--network", "winner", "--rating", "1500"], "winner"),
        (["setup", "cutechess", "--network", "winner"], "winner"),
        (["setup", "sabaki", "--network", "human"], "human"),
        (["setup", "scid", "--write", "x"], "Scid"),
    ],
)
def test_a_wrong_call(arguments: list[str], words: str) -> None:
    refused(["setup", "pychess"], arguments, code=2, names=words)


def test_katrain_is_explained() -> None:
    refused(["setup", "sabaki"], ["setup", "katrain"], code=1, names="KaTrain")


def test_other_settings_stay_and_the_old_file_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    old = {"sound": True, "engines.list": [{"name": "GNU Go", "path": "gnugo"}, {"name": "kibitz", "path": "old"}]}
    file.write_text(json.dumps(old))
    data = setup("sabaki", "--write", tmp_path)
    new = json.loads(file.read_text())
    assert new["sound"] is True
    assert [engine["name"] for engine in new["engines.list"]] == ["GNU Go", "kibitz"]
    assert new["engines.list"][1]["path"] == kibitz_command()[0]
    [backup] = data["backups"]
    assert json.loads(Path(backup).read_text()) == old
    again = setup("sabaki", "--write", tmp_path)
    assert again["backups"] == [], "nothing changed"
    file.write_text("not JSON")
    refused(["setup", "sabaki"], ["setup", "sabaki", "--write", tmp_path], code=1, names="settings.json")
    assert file.read_text() == "not JSON"


@pytest.mark.parametrize("program", PROGRAMS)
def test_files_can_be_written_again(program: str, tmp_path: Path) -> None:
    for network in ("human", "winner"):
        files = PROGRAMS[program].make(["/bin/kibitz", "uci", network], tmp_path).files
        write_files(files, tmp_path)
    for file in files:
        text = (tmp_path / file.name).read_text()
        assert text.count("kibitz uci") == file.text.count("kibitz uci")
        assert "human" not in text


def test_other_sections_of_an_ini_file_stay(tmp_path: Path) -> None:
    path = tmp_path / "engines.conf"
    others = "# mine\n[Crafty]\nbinary=crafty\n", "[kibitz2]\nbinary=other"
    path.write_text(f"{others[0]}[kibitz]\nbinary=old\n{others[1]}")
    files = PROGRAMS["gnome-chess"].make(["/bin/kibitz", "uci"], tmp_path).files
    write_files(files, tmp_path)
    entry = next(file.text for file in files if file.name == path.name)
    assert path.read_text() == "".join(others) + "\n" + entry
    path.write_bytes(b"[Crafty]\nbinary=\xff\n")
    with pytest.raises(KibitzError, match="not UTF-8"):
        write_files(files, tmp_path)


def test_a_value_that_the_user_filled_in_stays(tmp_path: Path) -> None:
    file = tmp_path / "gtp2ogs.json5"
    setup("gtp2ogs", "--write", tmp_path)
    empty = json.loads(file.read_text())
    assert empty["apikey"] == FILL_IN
    file.write_text(json.dumps(empty | {"apikey": "secret", "bot": {"command": ["old"]}}))
    setup("gtp2ogs", "--write", tmp_path)
    assert json.loads(file.read_text()) == empty | {"apikey": "secret"}


def test_a_script_can_be_run_and_keeps_its_predecessor(tmp_path: Path) -> None:
    script = tmp_path / "kibitz-engine"
    script.write_text("mine")
    data = setup("pychess", "--write", tmp_path)
    assert script.stat().st_mode & 0o111
    assert [Path(backup).read_text() for backup in data["backups"]] == ["mine"]


def test_what_is_printed_names_the_files(capsys: pytest.CaptureFixture[str]) -> None:
    ended = in_process(["setup", "cutechess"])
    assert "# engines.json" in ended.out
    begin = ended.out.index("[")
    assert json.loads(ended.out[begin:])[0]["protocol"] == "uci"


def test_without_a_script_of_its_own_python_starts_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert kibitz_command() == [str(tmp_path / "python"), "-m", "kibitz"]
    (tmp_path / "kibitz").touch()
    assert kibitz_command() == [str(tmp_path / "kibitz")]


def test_merging() -> None:
    assert merged({"a": {"b": 1}}, {"a": {"c": 2}}) == {"a": {"b": 1, "c": 2}}
    assert merged([{"name": "x"}], [{"name": "y"}]) == [{"name": "x"}, {"name": "y"}]
    assert merged(None, [{"name": "y"}]) == [{"name": "y"}]
