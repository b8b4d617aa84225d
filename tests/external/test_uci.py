"""UCI engines: Stockfish agrees with python-chess's reading of it; broken ones end in a clear error and are gone."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import chess.engine
import pytest

from kibitz.errors import UsageError
from kibitz.evaluation.baselines import engine_evaluations
from kibitz.external import EngineDied, uci
from kibitz.external.programs import find_named, find_stockfish
from kibitz.external.uci import MATE, EngineEvaluation, ExternalEngine, OptionRefused
from kibitz.parallel import Backend, open_workers
from support.board_client import until
from support.helpers import program
from support.patience import PATIENCE
from support.processes import is_gone

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
        expected: list[EngineEvaluation] = []
        for fen in FENS:
            info = engine.analyse(chess.Board(fen), chess.engine.Limit(depth=depth), game=object())
            score = info["score"].white().score(mate_score=MATE)
            assert score is not None
            expected.append(EngineEvaluation(score, info["pv"][0].uci()))
        name = engine.id["name"]
    for workers in (1, 2):
        assert engine_evaluations(path, FENS, depth, workers=workers) == (name, expected)
    with open_workers(Backend("processes", 2)) as apart:
        heard: list[tuple[int, int]] = []
        assert engine_evaluations(
            path, FENS * 30, depth, workers=apart, on_progress=lambda done, total: heard.append((done, total))
        ) == (name, expected * 30)
        assert heard == [(50, 150), (100, 150), (150, 150)]
        with pytest.raises(EngineDied, match="none"):
            engine_evaluations(str(Path(path).parent / "none"), FENS, depth, workers=apart)


def test_mate_on_the_board_counts_for_who_gave_it() -> None:
    with ExternalEngine([program("stockfish")]) as engine:
        assert engine.evaluate(MATED, 1) == (-MATE, "(none)")
        assert engine.evaluate(FENS[3], 6).centipawns == MATE - 1
        assert engine.evaluate(FENS[4], 6).centipawns == -MATE + 1


def test_scores_are_turned_to_whites_view(fake: Fake) -> None:
    path = fake(POLITE.format(answer="say('info depth 1 score cp 31 nodes 5\\nbestmove (none)')"))
    heard: list[tuple[int, int]] = []
    name, scores = engine_evaluations(
        path, FENS, 1, workers=2, on_progress=lambda done, total: heard.append((done, total))
    )
    assert name == "Fake 1"
    assert scores == [(31, "(none)"), (-31, "(none)"), (-31, "(none)"), (31, "(none)"), (-31, "(none)")]
    assert heard == [(i + 1, 5) for i in range(5)]


@pytest.mark.parametrize("number", [" 5000", "  5000", "\\t5000", " +5000", " 5_000"])
def test_a_line_with_an_absurd_number_is_skipped(number: str, fake: Fake) -> None:
    answer = f"say('info score cp 7\\ninfo multipv{number} score cp 900\\nbestmove e2e4')"
    assert engine_evaluations(fake(POLITE.format(answer=answer)), FENS[:1], 1, workers=1)[1] == [(7, "e2e4")]


def test_the_score_and_the_line_are_those_of_the_best_line(fake: Fake) -> None:
    answer = "say('info multipv 1 score cp 7 pv e2e4 e7e5\\ninfo multipv 2 score cp 3 pv d2d4\\nbestmove e2e4')"
    several = POLITE.replace("uciok", "option name MultiPV type spin default 1 min 1 max 9\\nuciok")
    with ExternalEngine([fake(several.format(answer=answer))]) as engine:
        found = engine.search(chess.Board(), chess.engine.Limit(depth=1), 2, PATIENCE)
    e4, e5, d4 = (chess.Move.from_uci(move) for move in ("e2e4", "e7e5", "d2d4"))
    assert (found.moves, found.best, found.line) == ([e4, d4], e4, (e4, e5))
    assert found.score is not None
    assert found.score.white() == chess.engine.Cp(7)


def test_bounds_are_no_scores(fake: Fake) -> None:
    answer = "say('info score cp 7\\ninfo score cp 900 lowerbound\\nbestmove e2e4')"
    assert engine_evaluations(fake(POLITE.format(answer=answer)), FENS[:1], 1, workers=1)[1] == [(7, "e2e4")]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("time.sleep(3600)", "did not respond"),
        (
            "import subprocess; child = subprocess.Popen(['sleep', '3600']); note(child.pid); child.wait()",
            "did not respond",
        ),  # its child holds the pipe
        ("sys.exit(3)", r"ended \(exit code 3\)"),
        (POLITE.format(answer="time.sleep(3600)"), "Fake 1 did not respond"),
        (POLITE.format(answer="sys.exit(4)"), r"Fake 1 ended \(exit code 4\)"),
        (POLITE.format(answer="say('bestmove (none)')"), "gave no score"),
        (POLITE.format(answer="say('info score cp many\\nbestmove (none)')"), "gave no score"),
        (POLITE.format(answer="say('info score\\nbestmove (none)')"), "gave no score"),
        (POLITE.format(answer="say('info score cp 3\\nbestmove e1e8')"), "illegal uci"),
    ],
)
def test_a_broken_engine_fails_soon_and_leaves_nothing(
    body: str, why: str, fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One that does not answer is waited for in vain, but "Fake 1" must have said its name by then.
    monkeypatch.setattr(uci, "PATIENCE", {"did not respond": 1.0, "Fake 1 did not respond": 10.0}.get(why, 60.0))
    noted = tmp_path / "processes"
    note = f"def note(process):\n    with open({str(noted)!r}, 'a') as file: file.write(f'{{process}}\\n')\n"
    path = fake(f"import os\n{note}note(os.getpid())\n{body}")
    begun = time.monotonic()
    with pytest.raises(EngineDied, match=why):
        engine_evaluations(path, FENS, 1, workers=2)
    assert time.monotonic() - begun < PATIENCE
    processes = [int(line) for line in noted.read_text().splitlines()]
    assert processes
    assert all(is_gone(process) for process in processes)


@pytest.mark.parametrize("moves", ["bestmove e1e8", "bestmove e1e8\\nbestmove e2e5"])
def test_an_illegal_move_before_anybody_waits_for_it(moves: str, fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = chess.engine.UciProtocol.analysis

    async def late(*arguments: Any, **options: Any) -> chess.engine.AnalysisResult:
        analysis = await begin(*arguments, **options)
        await asyncio.sleep(0.3)
        return analysis

    monkeypatch.setattr(chess.engine.UciProtocol, "analysis", late)
    monkeypatch.setattr(uci, "PATIENCE", 60.0)
    path = fake(POLITE.format(answer=f"say('info score cp 3\\n{moves}')"))
    with ExternalEngine([path]) as engine:
        watched = engine.watch(chess.Board(), 1, chess.engine.Limit(time=0.01))
        with pytest.raises(EngineDied, match="illegal uci: 'e1e8'"):
            until(lambda: watched.over)
    with ExternalEngine([path]) as engine, pytest.raises(EngineDied, match="illegal uci: 'e1e8'"):
        engine.evaluate(chess.STARTING_FEN, 1)


def test_options_that_it_does_not_take() -> None:
    with ExternalEngine([program("stockfish")]) as engine:
        with pytest.raises(OptionRefused, match="Nonsense"):
            engine.set_options({"Nonsense": 1})
        engine.set_options({"Nonsense": 1, "Hash": 4}, known_only=True)
        engine.ping(10)


@pytest.mark.process
def test_a_program_that_cannot_start(tmp_path: Path) -> None:
    with pytest.raises(EngineDied, match="no such file"):
        engine_evaluations(str(tmp_path / "none"), FENS, 1, workers=1)


def test_find(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="must be a program"):
        find_named("--stockfish", str(tmp_path / "none"), find_stockfish)
    assert find_named("--stockfish", sys.executable, find_stockfish) == sys.executable
    assert find_named("--stockfish", None, find_stockfish) == program("stockfish")
