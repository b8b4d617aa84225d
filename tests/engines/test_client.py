"""The real program with a real network: golden transcripts, python-chess as its GUI, clocks, whole games, noise."""

from __future__ import annotations

import contextlib
import math
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import chess
import chess.engine
import pytest

from support.patience import PATIENCE
from support.polyglot import write_book

SYZYGY = Path(__file__).parents[1] / "syzygy"
TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))


def command(run: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "kibitz", "uci", str(run), *options]


@pytest.fixture(scope="module")
def engine(mover_run: Path) -> Iterator[chess.engine.SimpleEngine]:
    with chess.engine.SimpleEngine.popen_uci(command(mover_run), timeout=PATIENCE) as engine:
        engine.ping()
        yield engine


class Stopwatch:
    """Seconds that an engine works: by the clock, or those of its processor if they are fewer."""

    def __init__(self, engine: chess.engine.SimpleEngine):
        self._file = Path(f"/proc/{engine.transport.get_pid()}/stat")

    def _now(self) -> tuple[float, float]:
        if not self._file.exists():
            return time.perf_counter(), math.inf
        user, system = map(int, self._file.read_text().rpartition(")")[2].split()[11:13])
        return time.perf_counter(), (user + system) / os.sysconf("SC_CLK_TCK")

    def __enter__(self) -> Stopwatch:
        self._begun = self._now()
        return self

    def __exit__(self, *error: object) -> None:
        wall, work = (end - begun for begun, end in zip(self._begun, self._now(), strict=True))
        self.seconds = wall if math.isnan(work) else min(wall, work)


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(path: Path, mover_run: Path) -> None:
    """`>` is said, `<` must be answered (* stands for anything), `...` for any answers up to the next `<`."""
    process = subprocess.Popen(
        command(mover_run), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin
    assert process.stdout
    patience = threading.Timer(PATIENCE, process.kill)  # what is waited for may never come
    patience.start()
    with process, contextlib.ExitStack() as stack:
        stack.callback(patience.cancel)
        stack.callback(process.kill)
        skipping = False
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("> "):
                process.stdin.write(line[2:] + "\n")
                process.stdin.flush()
            elif line == "...":
                skipping = True
            elif line.startswith("< "):
                expected = re.compile(re.escape(line[2:]).replace(r"\*", ".*"))
                said = process.stdout.readline()
                while skipping and said and not expected.fullmatch(said.rstrip("\n")):
                    said = process.stdout.readline()
                assert expected.fullmatch(said.rstrip("\n")), f"{path.name}, line {number}: {said}"
                skipping = False
        process.stdin.close()
        assert process.stdout.read() == ""
        assert process.wait(PATIENCE) == 0
        assert process.stderr
        assert process.stderr.read() == ""


@pytest.mark.parametrize(
    "limit",
    [
        chess.engine.Limit(white_clock=0.1, black_clock=0.1),
        chess.engine.Limit(white_clock=0.1, black_clock=0.1, white_inc=0.1, black_inc=0.1),
        chess.engine.Limit(white_clock=0.5, black_clock=0.5),
        chess.engine.Limit(white_clock=0.5, black_clock=0.5, remaining_moves=1),
        chess.engine.Limit(white_clock=0.01, black_clock=0.01),
        chess.engine.Limit(time=0.05),
        chess.engine.Limit(depth=1),
        chess.engine.Limit(depth=3),
        chess.engine.Limit(nodes=1),
        chess.engine.Limit(nodes=100),
        chess.engine.Limit(mate=1),
    ],
    ids=str,
)
def test_limits(engine: chess.engine.SimpleEngine, limit: chess.engine.Limit) -> None:
    """A legal move with an exact score, in time. On a busy machine an answer takes longer than the engine works, so its
    processor time counts where that is less, and the fastest of a few answers.
    """
    board = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3")
    fastest = PATIENCE
    most = 2 * max(limit.white_clock or limit.time or PATIENCE, 0.05)
    for _ in range(60):
        with Stopwatch(engine) as watch:
            result = engine.play(board, limit, info=chess.engine.INFO_ALL)
        fastest = min(fastest, watch.seconds)
        assert result.move in board.legal_moves
        assert "lowerbound" not in result.info
        assert isinstance(result.info["score"], chess.engine.PovScore)
        assert result.info["pv"][0] == result.move
        if fastest < most:
            break
    assert fastest < most


def test_methods_and_choices(engine: chess.engine.SimpleEngine) -> None:
    board = chess.Board()
    for method in ("top-move", "top-prob", "topprob-negamax", "value-negamax", "thesis-negamax"):
        for options in ({"method": method, "temperature": 0}, {"method": method, "temperature": 100}):
            infos = engine.analyse(board, chess.engine.Limit(depth=2), multipv=3, options=options)
            assert len(infos) == 3, (method, infos)
            assert len({info["pv"][0] for info in infos}) == 3
    engine.configure({"method": "auto", "temperature": 0})


def test_infinite_until_stop(engine: chess.engine.SimpleEngine) -> None:
    for fen in (chess.STARTING_FEN, "k7/P7/8/K7/8/8/8/8 w - - 0 1", "7k/5KQ1/8/8/8/8/8/8 b - - 0 1"):
        with engine.analysis(chess.Board(fen)) as analysis:
            time.sleep(0.1)
            analysis.stop()
            best = analysis.wait()
        assert (best.move is None) == chess.Board(fen).is_game_over()


def test_searchmoves(engine: chess.engine.SimpleEngine) -> None:
    moves = [chess.Move.from_uci("a2a3"), chess.Move.from_uci("h2h4")]
    for limit in (chess.engine.Limit(depth=2), chess.engine.Limit(time=0.05)):
        assert engine.play(chess.Board(), limit, root_moves=moves).move in moves


@pytest.mark.parametrize("seed", range(2))
def test_a_game_against_itself(engine: chess.engine.SimpleEngine, seed: int) -> None:
    """From a random opening, with a clock that runs down; python-chess refuses illegal moves."""
    rng = random.Random(seed)
    board = chess.Board()
    for _ in range(12):
        board.push(rng.choice(list(board.legal_moves) or [chess.Move.null()]))
    clock = 10.0
    while not board.is_game_over(claim_draw=True) and clock > 0 and board.ply() < 60:
        with Stopwatch(engine) as watch:
            result = engine.play(board, chess.engine.Limit(white_clock=clock, black_clock=clock), game=seed)
        clock -= watch.seconds / 2
        assert result.move is not None
        board.push(result.move)
    assert clock > 0


def test_noise(mover_run: Path) -> None:
    """Bytes of every kind, lines of every length, and a game of thousands of moves; then it plays on."""
    rng = random.Random(1)
    noise = [bytes(rng.randrange(256) for _ in range(rng.randrange(200))) for _ in range(200)]
    noise = [line for line in noise if not line.strip().lower().startswith(b"quit")]
    noise += [b"\0" * 100, b"position " + b"\xff" * 1000, b"x" * 3_000_000, b"go \0", b"position startpos moves\0"]
    shuffle = b" ".join([b"g1f3 g8f6 f3g1 f6g8"] * 1000)
    noise += [b"setoption name Hash value \xff", b"position startpos moves " + shuffle, b"go depth 2", b"isready"]
    done = subprocess.run(
        command(mover_run),
        input=b"uci\n" + b"\n".join(noise) + b"\n",
        capture_output=True,
        timeout=PATIENCE,
        check=True,
    )
    lines = done.stdout.decode().splitlines()
    assert all(line.isprintable() for line in lines)
    assert "readyok" in lines
    assert sum(line.startswith("bestmove ") for line in lines) == 2
    assert done.stderr == b""


def test_a_book_and_tables(mover_run: Path, tmp_path: Path) -> None:
    """A game is opened by the book, with the same draws for the same seed, and ended by the tables."""
    book = write_book(tmp_path / "a book.bin", {"": {"c2c4": 1, "b2b3": 1, "g2g3": 1}})
    first = []
    for seed in (3, 3):
        with chess.engine.SimpleEngine.popen_uci(command(mover_run), timeout=PATIENCE) as engine:
            engine.configure({"BookFile": str(book), "SyzygyPath": str(SYZYGY), "Seed": seed})
            first.append([engine.play(chess.Board(), chess.engine.Limit(nodes=1)).move for _ in range(12)])
            board = chess.Board("8/8/8/4k3/8/8/8/KQ6 w - - 0 1")
            while not board.is_game_over():
                board.push(engine.play(board, chess.engine.Limit(nodes=1)).move)
    assert first[0] == first[1]
    assert len(set(first[0])) > 1
    assert board.is_checkmate()
    assert len(board.move_stack) < 20


@pytest.mark.parametrize("method", ["puct", "topprob-negamax", "value-negamax", "top-prob"])
def test_pondering_in_a_game(engine: chess.engine.SimpleEngine, method: str) -> None:
    """The expected reply is played (a ponderhit), then another one (a stop): each answer is a legal move."""
    engine.configure({"method": method})
    board, hits, game = chess.Board(), 0, object()
    for number in range(6):
        limit = chess.engine.Limit(white_clock=20, black_clock=20)
        result = engine.play(board, limit, game=game, ponder=True)
        assert result.move in board.legal_moves
        board.push(result.move)
        assert result.ponder is None or result.ponder in board.legal_moves
        expected = result.ponder if number % 2 == 0 else None
        hits += expected is not None
        board.push(expected or next(move for move in board.legal_moves if move != result.ponder))
    engine.configure({"method": "auto"})
    assert hits or method == "top-prob"  # which looks at one position, and expects no reply


def test_pondering_by_lines(mover_run: Path) -> None:
    """Nothing is answered while it ponders; what was seen then is of use after the ponderhit: the tree is kept."""
    with subprocess.Popen(
        command(mover_run, "--method", "puct"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        patience = threading.Timer(PATIENCE, process.kill)
        patience.start()

        def ask(*lines: str, until: str) -> list[str]:
            assert process.stdin
            assert process.stdout
            process.stdin.write("".join(line + "\n" for line in lines))
            process.stdin.flush()
            heard = []
            while not heard or not heard[-1].startswith(until):
                heard.append(process.stdout.readline())
                assert heard[-1], heard
            return heard

        ask("setoption name Ponder value true", "isready", until="readyok")
        position = "position startpos moves e2e4 e7e5"
        heard = ask(position, "go ponder nodes 40", until="info depth")
        assert not any(line.startswith("bestmove") for line in heard)
        heard = ask("ponderhit", until="bestmove")
        after = next(line for line in reversed(heard) if line.startswith("info depth"))
        assert 0 <= int(after.split(" nodes ")[1].split()[0]) <= 40
        assert re.fullmatch(r"bestmove \w+ ponder \w+\n", heard[-1])
        ask(position, "go ponder wtime 1000 btime 1000", until="info depth")
        heard = ask("stop", "isready", until="readyok")
        heard += [] if any(line.startswith("bestmove") for line in heard) else ask(until="bestmove")
        assert sum(line.startswith("bestmove") for line in heard) == 1
        ask("ponderhit", "isready", until="readyok")
        patience.cancel()
        process.communicate("quit\n", PATIENCE)
        assert process.returncode == 0


def test_people_with_a_short_look_ahead() -> None:
    """human-search keeps its method where a rating is set, draws its moves, and tells what it saw of each."""
    options = ("--method", "human-search", "--elo", "1500")
    with chess.engine.SimpleEngine.popen_uci(command(Path("human"), *options), timeout=PATIENCE) as engine:
        engine.configure({"Seed": 1})
        drawn = {engine.play(chess.Board(), chess.engine.Limit(nodes=20)).move for _ in range(12)}
        assert len(drawn) > 1
        mate = chess.Board("r6k/7p/5R1P/4pP2/8/2nB4/5PP1/5K2 b - - 0 31")
        engine.configure({"UCI_Elo": 1800, "temperature": 0})
        # The positions after the three moves are searched too, with at most 400 visits.
        for limit, most in ((chess.engine.Limit(depth=1), 501), (chess.engine.Limit(nodes=150), 150)):
            lines = engine.analyse(mate, limit, multipv=3, info=chess.engine.INFO_ALL)
            assert [line["multipv"] for line in lines] == [1, 2, 3]
            assert lines[0]["score"].relative == chess.engine.Mate(2)
            assert lines[0]["pv"][0] == chess.Move.from_uci("a8a1")
            assert lines[0]["nodes"] <= most
