"""Long sessions with an engine: random commands, right and wrong, and what must hold after each of them."""

from __future__ import annotations

import queue
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import chess

from kibitz.games.go.points import COLUMNS, GRID, PASS
from kibitz.games.go.rules import Board

PATIENCE = 600.0
"""Seconds after which an answer is no longer waited for. Kernels are compiled meanwhile, at the same time as other
work."""


class Process:
    """A program that is spoken to in lines. `quit`: what it does when its input ends is checked."""

    def __init__(self, command: Sequence[str]):
        self.process = subprocess.Popen(
            list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def say(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hear(self) -> str:
        line = self._lines.get(timeout=PATIENCE)
        assert line is not None, f"it has ended: {self.process.wait()}"
        return line

    def megabytes(self) -> float:
        """What it holds in memory."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * 4096 / 1e6

    def quit(self) -> None:
        """Raises AssertionError unless it ends well, and has said nothing on standard error."""
        self.say("quit")
        assert self.process.wait(PATIENCE) == 0
        assert self.process.stderr
        assert self.process.stderr.read() == ""

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()


NOISE = (
    "", "   ", "xyzzy", "go_now", "position", "position fen", "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
    "setoption", "setoption name",
    "setoption name Nonsense value 7", "setoption name Hash value many", "setoption name MultiPV value -3",
    "setoption name method value none", "register later", "debug", "stop", "ponderhit", "é\x7f\x01", "x" * 5000,
)  # fmt: skip
"""Lines that change nothing while nobody searches. What they would change is refused; after a refused position there
is no move until another is set."""


Each = Callable[[int, Process], bool]
"""Called after each command with its number, from 0, and the engine; whether the session ends here."""


def uci_session(run: str, commands: int, seed: int, options: Sequence[str] = (), each: Each | None = None) -> int:
    """Say so many random lines to `kibitz uci`, or fewer where `each` ends it; how many answers to `go` there were.

    Raises AssertionError unless each `go` has exactly one legal `bestmove`, each `isready` its `readyok`, and nothing
    else is said but `info`.
    """
    draw, board, searches = random.Random(seed), chess.Board(), 0
    refused = False
    with Process([sys.executable, "-m", "kibitz", "uci", run, *options]) as engine:

        def until(word: str) -> str:
            while True:
                line = engine.hear()
                if line.split()[0] == word:
                    return line
                assert line.startswith(("info ", "id ", "option ")) or line == "uciok", line

        for number in range(commands):
            kind = draw.random()
            if kind < 0.35:
                board, refused = chess.Board(), False
                for _ in range(draw.randrange(0, 80)):
                    if board.is_game_over():
                        break
                    board.push(draw.choice(list(board.legal_moves)))
                if draw.random() < 0.3:
                    fen = board.fen()
                    board = chess.Board(fen)
                    engine.say(f"position fen {fen}")
                else:
                    moves = [move.uci() for move in board.move_stack]
                    moves += draw.choice(([], [], ["a1a1", "e2e4"], ["e9e0"]))  # what stands before them is set
                    engine.say(" ".join(["position startpos moves", *moves]))
            elif kind < 0.7:
                searches += 1
                _search(engine, None if refused else board, draw, until)
            elif kind < 0.8:
                engine.say("isready")
                until("readyok")
            elif kind < 0.84:
                engine.say(
                    draw.choice(
                        ("ucinewgame", "uci", "debug on", "debug off", "setoption name Clear Hash",
                         "setoption name MultiPV value 3", "setoption name MultiPV value 1",
                         "setoption name UCI_ShowWDL value true", "setoption name Move Overhead value 20")
                    )
                )  # fmt: skip
            else:
                line = draw.choice(NOISE)
                refused |= line.startswith("position")
                engine.say(line)
            if each and each(number, engine):
                break
        engine.say("isready")
        until("readyok")
        engine.quit()
    return searches


def _search(engine: Process, board: chess.Board | None, draw: random.Random, until: Callable[[str], str]) -> None:
    """One search, some of them with questions while it runs. board: None after a refused position."""
    ended = draw.choice(("", "", "", "stop", "ponderhit"))
    if ended:
        engine.say("go infinite" if ended == "stop" else "go ponder nodes 3")
        for _ in range(draw.randrange(3)):
            engine.say("isready")
            until("readyok")
        engine.say(ended)
    else:
        engine.say("go " + draw.choice(("nodes 2", "nodes 9", "depth 1", "movetime 2", "wtime 20 btime 20", "mate 1")))
    answer = until("bestmove").split()
    if board and any(board.legal_moves):
        assert chess.Move.from_uci(answer[1]) in board.legal_moves, (answer, board.fen())
    else:
        assert answer[1] == "(none)", answer


GTP_NOISE = (
    "", "# a comment", "xyzzy", "play", "play b", "play x A1", "play b Z99", "play b I5", "boardsize", "boardsize -1",
    "boardsize many", "komi", "komi high", "genmove", "genmove red", "fixed_handicap 99", "time_settings 1 2",
    "kata-set-rules none", "x" * 5000, "\x01\x02\x7f", "loadsgf /nowhere.sgf", "final_status_list odd",
)  # fmt: skip


def gtp_session(run: str, commands: int, seed: int, each: Each | None = None) -> int:
    """Say so many random lines to `kibitz gtp`; how many moves it made.

    Raises AssertionError unless each command has exactly one answer with its number, and moves are legal.
    """
    draw, size, moves, generated = random.Random(seed), 9, list[tuple[int, int]](), 0
    with Process([sys.executable, "-m", "kibitz", "gtp", run, "--seed", "1"]) as engine:
        asked = 0

        def ask(line: str) -> tuple[bool, str]:
            nonlocal asked
            asked += 1
            engine.say(f"{asked} {line}")
            first = engine.hear()
            text = [first]
            while text[-1] != "":
                text.append(engine.hear())
            assert first[:1] in "=?", first
            assert first[1:].split(" ")[0] == str(asked), (first, line)
            return first[0] == "=", first.partition(" ")[2]

        def board() -> Board:
            found = Board(size, superko=False)
            for colour, point in moves:
                found.play(colour, point)
            return found

        assert ask(f"boardsize {size}")[0]
        assert ask("kata-set-rule ko SIMPLE")[0] in (True, False)
        for number in range(commands):
            kind = draw.random()
            colour = draw.choice((1, 2))
            if kind < 0.1 or len(moves) > 120:
                size = draw.choice((9, 9, 13))
                moves = []
                assert ask(f"boardsize {size}")[0]
                assert ask("clear_board")[0]
            elif kind < 0.45:
                point = draw.choice([*board().legal(colour), PASS])
                if ask(f"play {'bw'[colour - 1]} {vertex(point, size)}")[0]:
                    moves.append((colour, point))
            elif kind < 0.6:
                good, answer = ask(f"genmove {'bw'[colour - 1]}")
                assert good, answer
                generated += 1
                if answer.lower() != "resign":
                    moves.append((colour, point_of(answer, size)))
                    board()  # raises where it is illegal
            elif kind < 0.65 and moves:
                assert ask("undo")[0]
                moves.pop()
            elif kind < 0.85:
                assert ask(
                    draw.choice(("name", "list_commands", "showboard", "final_score", "komi 6.5", "known_command play",
                                 "time_settings 0 0 0", "final_status_list dead"))
                )[0]  # fmt: skip
            else:
                line = draw.choice(GTP_NOISE)
                if line.strip() and not line.startswith("#") and line.isprintable():
                    assert not ask(line)[0], line
                else:
                    engine.say(line)
                    if line.strip("\x01\x02\x7f"):
                        ask("name")
            if each and each(number, engine):
                break
        engine.say("quit")
        assert engine.process.wait(PATIENCE) == 0
    return generated


def vertex(point: int, size: int) -> str:
    return "pass" if point == PASS else f"{COLUMNS[point % GRID]}{size - point // GRID}"


def point_of(text: str, size: int) -> int:
    if text.lower() == "pass":
        return PASS
    return (size - int(text[1:])) * GRID + COLUMNS.index(text[0].upper())


class Watch:
    """Prints what a session has reached, every `count` commands, and what the engine holds in memory; ends it when its
    minutes are over. commands: how many were said."""

    def __init__(self, count: int, minutes: float):
        self.commands, self._count = 0, count
        self._begun = time.monotonic()
        self._end = self._begun + 60 * minutes

    def __call__(self, number: int, process: Process) -> bool:
        self.commands, now = number + 1, time.monotonic()
        if self.commands % self._count == 0:
            print(
                f"{self.commands:,} commands, {now - self._begun:,.0f} s, {process.megabytes():,.0f} MB",
                flush=True,
            )
        return now >= self._end
