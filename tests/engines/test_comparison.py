"""A run of deepchess as a UCI engine: the real program, with networks that are drawn."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import chess
import chess.engine
import pytest

from support.causes import in_process, mentions, must_succeed, reading, refused
from support.comparison_fakes import write_run
from support.patience import PATIENCE


@pytest.fixture(scope="module")
def compared_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("runs") / "deepchess-1")


def command(run: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "kibitz", "uci", str(run), *options]


def test_python_chess_is_its_gui(compared_run: Path) -> None:
    with chess.engine.SimpleEngine.popen_uci(command(compared_run), timeout=PATIENCE) as engine:
        engine.ping()
        board = chess.Board()
        for _ in range(12):
            played = engine.play(board, chess.engine.Limit(time=0.05), info=chess.engine.INFO_ALL)
            assert played.move in board.legal_moves
            assert played.info["pv"][0] == played.move
            assert played.info["nodes"] > 0
            board.push(played.move)
        lines = engine.analyse(board, chess.engine.Limit(depth=2), multipv=3)
        assert len({line["pv"][0] for line in lines}) == 3
        for name in ("comparison-full", "comparison"):
            engine.configure({"method": name, "Hash": 2, "temperature": 30})
            assert engine.play(board, chess.engine.Limit(nodes=500)).move in board.legal_moves
        mate = chess.Board("6k1/5ppp/8/8/8/8/5PPP/1R4K1 w - - 0 1")
        found = engine.play(mate, chess.engine.Limit(depth=2), info=chess.engine.INFO_SCORE)
        assert (found.move, found.info["score"].white()) == (chess.Move.from_uci("b1b8"), chess.engine.Mate(1))
        with engine.analysis(board) as analysis:
            time.sleep(0.3)
            begun = time.perf_counter()
            analysis.stop()
            assert analysis.wait().move in board.legal_moves
            assert time.perf_counter() - begun < PATIENCE


def test_pondering(compared_run: Path) -> None:
    """The expected reply is played (a ponderhit), then another one (a stop)."""
    with chess.engine.SimpleEngine.popen_uci(command(compared_run), timeout=PATIENCE) as engine:
        board = chess.Board()
        for hit in (True, False, True):
            result = engine.play(board, chess.engine.Limit(nodes=300), game="one", ponder=True)
            assert result.move in board.legal_moves
            board.push(result.move)
            assert result.ponder in board.legal_moves
            board.push(result.ponder if hit else next(move for move in board.legal_moves if move != result.ponder))


@pytest.mark.parametrize("method", ["comparison", "comparison-full"])
def test_methods_from_the_command_line(compared_run: Path, method: str) -> None:
    done = in_process(["uci", compared_run, "--method", method], "isready\nposition startpos\ngo depth 2\n")
    assert (done.code, done.err) == (0, "")
    assert "readyok" in done.out
    assert "bestmove" in done.out


@pytest.mark.parametrize(
    ("network", "options", "told"),
    [
        ("", ["--method", "top-prob"], "moves"),
        ("", ["--value", "chessnet"], "chessnet & positions"),
        ("chessnet", ["--method", "comparison"], "comparison & positions"),
    ],
)
def test_methods_of_other_networks(compared_run: Path, network: str, options: list[str], told: str) -> None:
    call = ["uci", network or compared_run]
    done = in_process([*call, *options], "isready\n")
    assert (done.code, done.err.count("\n")) == (2, 1), done
    assert mentions(done.err, told)
    must_succeed(call, reading("isready\n"))


def test_no_full_network(tmp_path: Path) -> None:
    run = write_run(tmp_path / "small", "distilled")
    good, bad = (["uci", run, "--method", method] for method in ("comparison", "comparison-full"))
    refused(good, bad, code=2, names="full", call=reading("isready\n"))
