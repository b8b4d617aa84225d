"""The pages of docs/: the commands of the tutorials work, every page is in the site, the map of the code is true."""

from __future__ import annotations

import io
import itertools
import re
import shlex
from pathlib import Path

import chess.pgn
import pytest

from kibitz.cli import COMMANDS, run
from kibitz.runs import packaged
from support.times import seconds_of_files
from test_house import LAYERS, SOURCES
from test_readme import QUICKER, bundled_go

ROOT = Path(__file__).parents[1]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
ARCHITECTURE = ROOT / "docs" / "dev" / "architecture.md"


def commands(page: Path) -> list[list[str]]:
    """The commands in a page's blocks, as words."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    blocks = [text for language, text in fenced if not language]
    return [shlex.split(line)[1:] for block in blocks for line in block.splitlines() if line.startswith("kibitz ")]


def of_one_player(text: str) -> str:
    """The games with one player for White, and another opponent in each."""
    numbers = itertools.count(1)
    text = re.sub(r'^\[White ".*"\]$', '[White "Me"]', text, flags=re.MULTILINE)
    return re.sub(r'^\[Black ".*"\]$', lambda _: f'[Black "Opponent {next(numbers)}"]', text, flags=re.MULTILINE)


def shortened(text: str, plies: int = 20) -> str:
    """The games with these first moves alone, because each move of a game costs a search."""
    stream, games = io.StringIO(text), []
    while game := chess.pgn.read_game(stream):
        end = next((node for node in game.mainline() if node.ply() == plies), game.end())
        end.variations.clear()
        games.append(f"{game}\n\n")
    return "".join(games)


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=[page.stem for page in TUTORIALS])
def test_a_tutorial_runs(
    page: Path, bundled_text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    trains = any(command[0] == "train" for command in commands(page))
    games = bundled_text.split("[Event ")[1 : 601 if trains else 13]
    text = "".join(f"[Event {game}" for game in games)
    Path("my-games.pgn").write_text(of_one_player(text if trains else shortened(text)))
    go = re.match(r"\(;[^;]*(;[BW]\[\w*\]){6}", bundled_go())
    assert go
    Path("my-game.sgf").write_text(f"{go[0]})")
    assert run(["import", "my-games.pgn", "--into", "my.store"]) == 0
    steps = [command for command in commands(page) if command[0] != "import"]
    assert len(steps) >= 3
    for command in steps:
        assert run([*command, *QUICKER.get(command[0], [])]) == 0, (command, capsys.readouterr().err)


def test_every_page_is_in_the_site() -> None:
    listed = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    lab_notes = {page for page in pages if page.startswith("results/history/")}
    made = {"reference/commands.md", *(f"reference/models/{name}.md" for name in packaged())}
    assert len(lab_notes) == 9
    assert listed == (pages - lab_notes) | made


def test_the_lab_notes_are_linked_from_the_last_line_of_the_results_alone() -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        lines = page.read_text(encoding="utf-8").rstrip().splitlines()
        if "history" not in page.parts and page.name != "index.md":
            assert not [line for line in lines if re.search(r"\]\([^)]*history/", line)], page
    index = (ROOT / "docs" / "results" / "index.md").read_text(encoding="utf-8").rstrip().splitlines()
    linked = set(re.findall(r"\]\(history/(\w+\.md)\)", index[-1]))
    assert linked == {page.name for page in (ROOT / "docs" / "results" / "history").glob("*.md")}
    assert not [line for line in index[:-1] if "history/" in line]


def test_the_commands_that_are_named_exist() -> None:
    for page in [ROOT / "docs" / "index.md", *TUTORIALS]:
        named = set(re.findall(r"`kibitz ([a-z]+)", page.read_text(encoding="utf-8")))
        assert named <= COMMANDS.keys(), page


def sentences_of(text: str) -> list[int]:
    """Words of each sentence of a page's prose; code, tables and links' addresses do not count."""
    text = re.sub(r"^ *```.*?^ *```|<!--.*?-->", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "CODE", text))
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("|")]
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", "\n".join(lines))
    found = [sentence for block in blocks for sentence in re.split(r"(?<=[.!?])\s+", " ".join(block.split()))]
    return [len(sentence.split()) for sentence in found if len(sentence.split()) >= 3]


def test_sentences_are_short() -> None:
    """At most 2% have more than 30 words, and the mean is at most 18. The lab notes are as they were."""
    pages = [page for page in (ROOT / "docs").rglob("*.md") if "history" not in page.parts]
    words = [n for page in [ROOT / "README.md", *pages] for n in sentences_of(page.read_text(encoding="utf-8"))]
    assert len(words) > 1000
    assert sum(words) / len(words) <= 18
    assert sum(n > 30 for n in words) / len(words) <= 0.02


def test_a_long_sentence_is_counted() -> None:
    assert sentences_of("One two three. " + "word " * 31 + "ends.\n\n| a | table | of words |") == [3, 32]


def paths_in(text: str) -> set[str]:
    """The files and folders that a page names in backticks, also as a word of a command."""
    words = {word for code in re.findall(r"`([^`\n]+)`", text) for word in code.split()}
    return {word for word in words if "/" in word or re.search(r"\.(py|ts|md|json|ya?ml|toml|txt)$", word)}


def missing(text: str) -> list[str]:
    """Those that are neither in the repository nor in src/kibitz; of one with NAME in it, the folder must be there."""
    names = {name.rpartition("/")[0] if "NAME" in name else name for name in paths_in(text)}
    return sorted(name for name in names if not ((ROOT / name).exists() or (SOURCES / name).exists()))


def test_the_table_of_costs_is_current() -> None:
    """No file in it is gone, and at most a tenth of the files are missing."""
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    files = {file for file in files if not file.startswith("tests/support/")}
    known = seconds_of_files()
    assert len(files) > 300
    assert known.keys() <= files, "make test-times"
    assert len(files - known.keys()) <= len(files) / 10, "make test-times"
    assert min(known.values()) < 1 < 30 < max(known.values())


def test_every_path_of_the_map_of_the_code_exists() -> None:
    text = ARCHITECTURE.read_text(encoding="utf-8")
    assert len(paths_in(text)) > 150
    assert missing(text) == []


def test_a_path_that_is_not_there_is_found() -> None:
    text = "`systems/winner.py` `systems/NAME.py` `games/` `python tests/test_docs.py` `BadRequest` `cli.py`"
    assert missing(text) == []
    worse = "`systems/loser.py` `system/NAME.py` `game/` `python tests/test_doc.py` `cli.txt`"
    assert missing(worse) == ["cli.txt", "game/", "system", "systems/loser.py", "tests/test_doc.py"]


def layers_in(text: str) -> list[tuple[int, str, str]]:
    """The rows of the table of layers: number, package or module, and the layers that it may import."""
    rows = re.findall(r"^\| (\d+) \| `(\w+)(?:\.py|/)` \| [^|]+ \| ([^|]+) \|$", text, re.MULTILINE)
    return [(int(number), name, below) for number, name, below in rows]


def test_the_layers_of_the_map_are_those_that_the_imports_keep() -> None:
    """In the order of `LAYERS` in test_house.py, counted from the bottom."""
    expected = []
    for number, names in zip(range(len(LAYERS), 0, -1), LAYERS, strict=True):
        below = {1: "none", 2: "1"}.get(number, f"1–{number - 1}")
        expected += [(number, name, below) for name in names]
    text = ARCHITECTURE.read_text(encoding="utf-8")
    assert layers_in(text) == expected
    assert layers_in(text.replace("| 8 | `store/`", "| 6 | `store/`")) != expected
