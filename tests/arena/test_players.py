from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import chess
import chess.engine
import pytest

from kibitz.arena.chess import engine as chess_engine
from kibitz.arena.chess.engine import ChessEngine
from kibitz.arena.chess.find_sunfish import SUNFISH_FOLDER, _python_of, sunfish_command
from kibitz.arena.contest import MatchEngine, StartFailed
from kibitz.arena.go import engine as go_engine
from kibitz.arena.go.engine import GoEngine
from kibitz.arena.players import GNUGO, Participant, game_of, player
from kibitz.errors import KibitzError, UsageError
from support.causes import naming
from support.helpers import program


def test_a_packaged_network_and_a_run_are_played_by_kibitz_itself(human_run: Path) -> None:
    for name, text in (("chessnet", "chessnet"), (human_run.name, str(human_run))):
        found = player(text, ["Hash=32"])
        assert found.name == name
        assert found.command == (sys.executable, "-m", "kibitz", "uci", text)
        assert found.options == (("Hash", "32"),)
        assert len(found.weights) == 64


def test_a_command_with_arguments() -> None:
    path = program("stockfish")
    found = player(f"{path} bench --x 'y z'", name="fish")
    assert found.command == (path, "bench", "--x", "y z")
    assert found.name == "fish"
    assert player(path).name == "stockfish"


def test_a_long_command_is_not_taken_for_a_folder() -> None:
    """Its length exceeds that of a file name."""
    path, words = program("stockfish"), ["--word=" + "x" * 30] * 20
    assert player(f"{path} {' '.join(words)}").command == (path, *words)
    assert game_of("gnugo " + " ".join(words), "gnugo") == "go"


def test_a_path_with_spaces_needs_no_quotation_marks(tmp_path: Path) -> None:
    own = tmp_path / "my engine"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    assert player(str(own)).command == (str(own),)
    assert player(f"'{own}' --x").command == (str(own), "--x")


@pytest.fixture
def go_run(tmp_path: Path) -> Path:
    """A run of Go, as far as finding players goes."""
    info = {"kibitz_run": 1, "system": "gocnn", "game": "go", "settings": {}}
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "run.json").write_text(json.dumps(info))
    (tmp_path / "own" / "best.safetensors").write_bytes(b"weights")
    return tmp_path / "own"


def test_a_run_of_go_speaks_gtp(go_run: Path) -> None:
    found = player(str(go_run), ["temperature=20"], game="go")
    assert found.command == (sys.executable, "-m", "kibitz", "gtp", str(go_run))
    assert (found.name, found.options) == ("own", (("temperature", "20"),))
    with pytest.raises(KibitzError, match=naming(f"{go_run} & match")):
        player(str(go_run))
    with pytest.raises(KibitzError, match=naming("winner & match")):
        player("winner", game="go")


def test_a_player_that_imitates_a_rank_has_it_in_its_name() -> None:
    found = player("gohuman", ["rank=5 Kyu", "seed=1"], game="go")
    assert (found.name, found.options) == ("gohuman (like 5k)", (("rank", "5k"), ("seed", "1")))
    assert GoEngine(found, 1, 9).command == (
        sys.executable,
        "-m",
        "kibitz",
        "gtp",
        "gohuman",
        "--rank",
        "5k",
        "--seed",
        "1",
    )
    assert player("gohuman", ["rank=5k"], name="own", game="go").name == "own"
    assert player("gohuman", ["seed=1"], game="go").name == "gohuman"
    for rank in ("31k", "strong"):
        with pytest.raises(UsageError, match=naming(f"rank & 15k & 9d & {rank}")):
            player("gohuman", [f"rank={rank}"], game="go")
    with pytest.raises(UsageError, match=naming("rank & puct")):
        player("gohuman", ["rank=5k", "method=puct"], game="go")


def test_a_network_without_rank_inputs_imitates_no_rank(go_run: Path) -> None:
    with pytest.raises(UsageError, match=naming(f"rank & {go_run}")):
        player(str(go_run), ["rank=5k"], game="go")


def test_gnugo_plays_chinese_rules_in_gtp() -> None:
    path = program("gnugo")
    found = player("gnugo", ["level=3"], game="go")
    assert found.command == (path, *GNUGO)
    assert found.options == (("level", "3"),)
    assert player(f"{path} --japanese-rules", game="go").command == (path, *GNUGO, "--japanese-rules")


def test_other_programs_have_their_options_on_their_command_line() -> None:
    with pytest.raises(UsageError, match="in its command line"):
        player(sys.executable, ["level=3"], game="go")


def test_the_game_is_told_by_the_players(go_run: Path) -> None:
    run = str(go_run)
    for a, b, wanted, game in (
        ("winner", "chessnet", None, "chess"), ("stockfish", "sunfish", None, "chess"), ("x", "y", None, "chess"),
        (run, "x", None, "go"), ("x", "gnugo --level 3", None, "go"), ("x", "/usr/games/gnugo", None, "go"),
        ("x", "y --gtp", "go", "go"), (run, "gnugo", "go", "go"), ("winner", "x", "chess", "chess"),
    ):  # fmt: skip
        assert game_of(a, b, wanted) == game


@pytest.mark.parametrize(
    ("a", "b", "wanted", "said"),
    [
        ("winner", "gnugo", None, "winner & gnugo & chess"),
        ("gnugo", "x", "chess", "gnugo & --game & chess"),
        ("sunfish", "x", "go", "sunfish & --game & chess"),
        ("x", "y", "hex", "--game & hex & chess"),
    ],
)
def test_games_that_do_not_go_together(a: str, b: str, wanted: str | None, said: str) -> None:
    with pytest.raises(UsageError, match=naming(said)):
        game_of(a, b, wanted)


@pytest.mark.parametrize(
    ("text", "options", "kind", "said"),
    [
        ("no-such-engine --uci", [], KibitzError, "no-such-engine & engine"),
        ("stockfish 'x", [], UsageError, "quotation mark"),
        ("", [], UsageError, "player & nothing"),
        ("winner", ["Hash"], UsageError, "NAME=VALUE"),
        ("winner", ["=3"], UsageError, "NAME=VALUE"),
        ("winner", [], UsageError, "winner & chessnet"),
    ],
)
def test_what_is_no_player(text: str, options: list[str], kind: type[KibitzError], said: str) -> None:
    with pytest.raises(kind, match=naming(said)):
        player(text, options)


@pytest.mark.parametrize(("game", "example"), [("chess", "Hash=64"), ("go", "level=5")])
def test_the_example_of_an_option_fits_the_game(game: str, example: str) -> None:
    with pytest.raises(UsageError, match=example):
        player("gohuman" if game == "go" else "winner", ["Hash"], game=game)


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(KibitzError, match="not a run"):
        player(str(tmp_path))


def test_sunfish_that_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(KibitzError, match=r"install_sunfish\.sh"):
        sunfish_command(tmp_path)


def test_sunfish_heeds_nodes() -> None:
    """Beside what it reports itself. Its own interface searches 80 to 2,000 nodes for `go nodes 10`."""
    folder = Path(__file__).parents[2] / SUNFISH_FOLDER
    if not folder.is_dir():
        pytest.skip("Sunfish is not installed (tools/install_sunfish.sh)")
    with chess.engine.SimpleEngine.popen_uci(list(sunfish_command(folder))) as engine:
        board = chess.Board()
        for nodes in (1, 2, 10, 300, 1000, 1):
            played = engine.play(board, chess.engine.Limit(nodes=nodes), info=chess.engine.INFO_ALL)
            assert played.move in board.legal_moves
            assert played.info.get("nodes", 0) <= nodes
            board.push(played.move)
        free = engine.play(board, chess.engine.Limit(depth=3), info=chess.engine.INFO_ALL)
        assert free.info["nodes"] > 300  # the cap of an earlier search is gone


def test_an_option_that_the_engine_does_not_have() -> None:
    engine = ChessEngine(player(program("stockfish"), ["Nonsense=1"]), 10)
    with pytest.raises(StartFailed, match="Nonsense"):
        engine.start()


@pytest.mark.parametrize(
    ("replies", "made", "module"),
    [
        ("read a; echo uciok; sleep 60", lambda one: ChessEngine(one, 0.5), chess_engine),
        ("read a; echo '= x'; echo; read b; echo '= 1'; echo; sleep 60", lambda one: GoEngine(one, 1, 9), go_engine),
    ],
    ids=["chess", "go"],
)
@pytest.mark.process
def test_an_engine_that_replies_and_does_not_get_ready(
    replies: str, made: Callable[[Participant], MatchEngine], module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It uses the right protocol, so the message must not call the protocol wrong."""
    monkeypatch.setattr(module, "ATTEMPTS", 1)
    monkeypatch.setattr(module, "START_PATIENCE", 5.0)
    engine = made(Participant("slow", ("/bin/sh", "-c", replies)))
    with pytest.raises(StartFailed, match=r"within [05]\S* s\)") as failed:
        engine.start()
    assert "protocol" not in str(failed.value)


def test_sunfish_in_a_folder_with_a_space(tmp_path: Path) -> None:
    """pip has a shell start its Python there."""
    script = tmp_path / "s f" / "bin" / "sunfish-uci"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\n'''exec' \"python\" \"$0\" \"$@\"\n' '''\n")
    script.with_name("python").symlink_to(sys.executable)
    assert _python_of(script) == str(script.with_name("python"))
