"""What kibitz does without the extra `train`, command by command, and how a test drives it."""

from __future__ import annotations

import importlib.resources
import json
import re
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import zstandard

from kibitz.errors import TRAINING
from support.board_client import Client
from support.patience import PATIENCE
from support.warm import Warm

FORBIDDEN = (*TRAINING, "scipy", "lightning_utilities")
"""What is not there in the small size, by the names that are imported."""


@dataclass
class Program:
    """kibitz as a program. words: how it is called; folder: where; environment: all of it; warm: the process in which
    commands run that end by themselves, instead of one for each."""

    words: Sequence[str]
    folder: Path
    environment: Mapping[str, str]
    warm: Warm | None = None

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self.words, *arguments], cwd=self.folder, env=dict(self.environment), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, *arguments: str, says: str = "") -> tuple[int, str, str]:
        """Exit code, standard output and standard error. says: on standard input."""
        if self.warm:
            ended = self.warm.run(*arguments, lines=says)
            return ended.code, ended.out, ended.err
        done = subprocess.run(
            [*self.words, *arguments], cwd=self.folder, env=dict(self.environment), input=says, capture_output=True,
            text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    def good(self, *arguments: str, says: str = "") -> str:
        """Standard output of what must succeed."""
        code, out, err = self.run(*arguments, says=says)
        assert code == 0, (arguments, code, out, err)
        assert "Traceback" not in err, err
        return out


def write_games(folder: Path) -> None:
    """A few of the bundled games, as a user has them: games.pgn and game.sgf (9×9)."""
    data = importlib.resources.files("kibitz") / "data"
    unpack = zstandard.ZstdDecompressor()
    chess = unpack.stream_reader((data / "games.pgn.zst").read_bytes()).read().decode()
    (folder / "games.pgn").write_text("[Event " + "[Event ".join(chess.split("[Event ")[1:5]))
    go = unpack.stream_reader((data / "games.sgfl.zst").read_bytes()).read().decode().splitlines()
    (folder / "game.sgf").write_text(next(line for line in go if "SZ[9]" in line))


def says_help(kibitz: Program) -> None:
    assert "analyze" in kibitz.good("--help")
    assert "--seed" in kibitz.good("train", "--help")
    assert re.fullmatch(r"kibitz \d+\.\d+\.\d+\S*\n", kibitz.good("--version"))


def lists_systems(kibitz: Program) -> None:
    out = kibitz.good("systems")
    for name in ("winner", "convchess", "chessnet", "deepchess", "gocnn"):
        assert name in out


def imports_and_inspects(kibitz: Program) -> None:
    kibitz.good("import", "games.pgn", "--into", "chess.store")
    assert re.search(r"games +4 \(chess\)", kibitz.good("info", "chess.store"))
    assert json.loads(kibitz.good("explore", "chess.store", "--json"))["games"] == 4
    kibitz.good("import", "game.sgf", "--into", "go.store")
    assert re.search(r"games +1 \(Go\)", kibitz.good("info", "go.store"))


def analyses_chess(kibitz: Program) -> None:
    for network, said in (
        ("winner", "loss per move"), ("chessnet", "first choice"), ("convchess", "first choice"),
        ("deepchess", "loss per move"),
    ):  # fmt: skip
        quick = () if network == "convchess" else ("--depth", "2")
        assert said in kibitz.good("analyze", network, "games.pgn", *quick), network


def analyses_go(kibitz: Program) -> None:
    assert "stones that will be lost" in kibitz.good("analyze", "gocnn", "game.sgf")


def plays_uci(kibitz: Program) -> None:
    for network in ("chessnet", "deepchess"):
        with kibitz.start("uci", network) as engine:
            assert engine.stdin
            assert engine.stdout
            watch = threading.Timer(PATIENCE, engine.kill)
            watch.start()
            try:
                for line, answer in (
                    ("uci", "uciok"), ("isready", "readyok"),
                    ("position startpos moves e2e4\ngo nodes 100", r"bestmove [a-h][1-8][a-h][1-8].*"),
                ):  # fmt: skip
                    engine.stdin.write(line + "\n")
                    engine.stdin.flush()
                    heard = next((line for line in engine.stdout if re.fullmatch(answer, line.strip())), None)
                    assert heard, (network, answer)
                out, err = engine.communicate("quit\n", timeout=PATIENCE)
                assert (engine.returncode, err) == (0, ""), out
            finally:
                watch.cancel()
                engine.kill()


def plays_gtp(kibitz: Program) -> None:
    out = kibitz.good("gtp", "gocnn", says="boardsize 9\nclear_board\ngenmove black\nfinal_score\nquit\n")
    answers = [line for line in out.splitlines() if line]
    assert len(answers) == 5
    assert re.fullmatch(r"= [A-HJ][1-9]", answers[2]), answers


def plays_a_match(kibitz: Program) -> None:
    kibitz.good("match", "chessnet", "deepchess", "--games", "2", "--nodes", "10", "--max-plies", "40")
    assert len(list((kibitz.folder / "matches").glob("*.pgn"))) == 1


def opens_the_board(kibitz: Program) -> None:
    with kibitz.start("board", "--no-browser") as board:
        try:
            assert board.stdout
            line = board.stdout.readline()
            found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            assert found, line
            client = Client(int(found[1]))
            page = client.get("/")
            assert page.status == 200
            assert b"<html" in page.body
            game = {"game": "chess", "moves": ["e2e4", "e7e5"]}
            for network in ("winner", "chessnet", "deepchess"):
                answers = client.stream("/api/analyse", {"network": network, "line": game, "seq": 1})
                assert len(answers) == 5, answers
            for network in ("winner", "chessnet", "deepchess"):
                judged = client.stream("/api/judge", {"network": network, "line": game, "from": 2, "seq": 1})
                # a move that an earlier board judged comes from the cache folder, without a first estimate
                assert [line.get("exact") for line in judged] in ([None, False, True, None], [None, True, None]), judged
            assert client.good("/api/occlusion", {"network": "winner", "line": game})["what"].startswith("White's")
            owners = client.stream("/api/analyse", {"network": "gocnn", "line": {"game": "go", "size": 9}, "seq": 2})
            assert len(owners[1]["owners"]) == 81
            assert len(client.good("/api/planes", {"network": "winner", "line": game})["planes"]) == 19
        finally:
            board.terminate()
            board.communicate(timeout=PATIENCE)


def says_what_is_missing(kibitz: Program) -> None:
    for call in (
        ["train", "winner", "chess.store"], ["tune", "winner", "chess.store"], ["test", "winner", "chess.store"],
    ):  # fmt: skip
        line = f"error: {call[0]} needs PyTorch and related packages. Install them: pip install 'kibitz[train]'\n"
        assert kibitz.run(*call) == (1, "", line)
    code, out, err = kibitz.run("systems", "winner")  # its recipes, which are for those who train
    assert (code, out) == (1, "")
    assert (
        err
        == "error: the system winner needs PyTorch and related packages. Install them: pip install 'kibitz[train]'\n"
    )


STEPS: tuple[Callable[[Program], None], ...] = (
    says_help, lists_systems, imports_and_inspects, analyses_chess, analyses_go, plays_uci, plays_gtp, plays_a_match,
    opens_the_board, says_what_is_missing,
)  # fmt: skip
"""Each on its own; the folder holds what `write_games` writes."""
