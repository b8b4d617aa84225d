"""Stockfish: the real one agrees with python-chess's reading of it; broken ones end in a clear error and are gone."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import chess
import chess.engine
import pytest

from kibitz.errors import UsageError
from kibitz.evaluation import stockfish
from kibitz.evaluation.stockfish import MATE, Answer, EngineFailed, Stockfish, evaluations, find
from support.helpers import program

MATED = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
FENS = (
    chess.STARTING_FEN,
    "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
    "8/8/4k3/8/8/4K3/4P3/8 b - - 0 1",
    "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1",  # mate in one
    "r5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1",  # the same for Black
)

SPEECH = """import sys, time
say = lambda line: print(line, flush=True)
hear = sys.stdin.readline
"""

Fake = Callable[[str], str]


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    """A program that speaks as `body`, Python lines after `say` and `hear` are there, tells it to."""

    def make(body: str) -> str:
        if os.name == "nt":
            pytest.skip("scripts with a first line of #! are needed")
        path = tmp_path / "engine"
        path.write_text(f"#!{sys.executable}\n{SPEECH}{body}")
        path.chmod(0o755)
        return str(path)

    return make


POLITE = """
while line := hear():
    if line == "uci\\n": say("id name Fake 1\\nuciok")
    if line == "isready\\n": say("readyok")
    if line.startswith("go"):
        {answer}
"""


@pytest.mark.parametrize("depth", [1, 6])
def test_evaluations_are_those_that_python_chess_reads(depth: int) -> None:
    path = program("stockfish")
    with chess.engine.SimpleEngine.popen_uci(path) as engine:
        engine.configure({"Threads": 1, "Hash": 4})
        expected: list[Answer] = []
        for fen in FENS:
            info = engine.analyse(chess.Board(fen), chess.engine.Limit(depth=depth), game=object())
            score = info["score"].white().score(mate_score=MATE)
            assert score is not None
            expected.append(Answer(score, info["pv"][0].uci()))
        name = engine.id["name"]
    for workers in (1, 2):
        assert evaluations(path, FENS, depth, workers=workers) == (name, expected)


def test_mate_on_the_board_counts_for_who_gave_it() -> None:
    with Stockfish(program("stockfish")) as engine:
        assert engine.evaluate(MATED, 1) == (-MATE, "(none)")
        assert engine.evaluate(FENS[3], 6).centipawns == MATE - 1
        assert engine.evaluate(FENS[4], 6).centipawns == -MATE + 1


def test_scores_are_turned_to_whites_view(fake: Fake) -> None:
    path = fake(POLITE.format(answer="say('info depth 1 score cp 31 nodes 5\\nbestmove e2e4')"))
    heard: list[tuple[int, int]] = []
    name, scores = evaluations(path, FENS, 1, workers=2, tell=lambda done, total: heard.append((done, total)))
    assert name == "Fake 1"
    assert scores == [(31, "e2e4"), (-31, "e2e4"), (-31, "e2e4"), (31, "e2e4"), (-31, "e2e4")]
    assert heard == [(i + 1, 5) for i in range(5)]


def test_bounds_are_no_scores(fake: Fake) -> None:
    answer = "say('info score cp 7\\ninfo score cp 900 lowerbound\\nbestmove e2e4')"
    assert evaluations(fake(POLITE.format(answer=answer)), FENS[:1], 1, workers=1)[1] == [(7, "e2e4")]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("time.sleep(60)", "did not answer"),
        ("import subprocess; subprocess.run(['sleep', '60'])", "did not answer"),  # its child holds the pipe
        ("sys.exit(3)", r"ended \(exit code 3\)"),
        (POLITE.format(answer="time.sleep(60)"), "Fake 1 did not answer"),
        (POLITE.format(answer="sys.exit(4)"), r"Fake 1 ended \(exit code 4\)"),
        (POLITE.format(answer="say('bestmove e2e4')"), "gave no score"),
        (POLITE.format(answer="say('info score cp many\\nbestmove e2e4')"), "a score that is none: cp many"),
        (POLITE.format(answer="say('info score')"), "a score that is none"),
    ],
)
def test_a_broken_engine_fails_soon_and_leaves_nothing(
    body: str, why: str, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stockfish, "PATIENCE", 1.0)
    started: list[Stockfish] = []
    close = Stockfish.close
    monkeypatch.setattr(Stockfish, "close", lambda self: (started.append(self), close(self))[1])
    begun = time.monotonic()
    with pytest.raises(EngineFailed, match=why):
        evaluations(fake(body), FENS, 1, workers=2)
    assert time.monotonic() - begun < 20
    assert started
    assert all(engine._process.poll() is not None and not engine._reader.is_alive() for engine in started)


def test_a_program_that_cannot_start(tmp_path: Path) -> None:
    with pytest.raises(EngineFailed, match="no such file"):
        evaluations(str(tmp_path / "none"), FENS, 1, workers=1)


def test_find(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such program"):
        find(str(tmp_path / "none"))
    assert find(sys.executable) == sys.executable
    assert find() == program("stockfish")
