"""Sessions as match programs hold them: the steps of a compliance check, and a thousand random commands."""

from __future__ import annotations

import sys
from pathlib import Path

import chess
import pytest

from support.sessions import Process, gtp_session, uci_session

MIDDLE = "3r2k1/p5n1/1pq1p2p/2p3p1/2P1P1n1/1P1P2pP/PN1Q2K1/5R2 w - - 0 27"

STEPS: list[tuple[str, str, str]] = [
    ("uci", "uciok", "id name,id author,option"),
    ("isready", "readyok", ""),
    ("ucinewgame", "", ""),
    ("isready", "readyok", ""),
    ("position startpos", "", ""),
    ("isready", "readyok", ""),
    (f"position fen {MIDDLE}", "", ""),
    ("isready", "readyok", ""),
    ("go wtime 100", "bestmove", "score"),
    ("go btime 100", "bestmove", "score"),
    ("go wtime 100 winc 100 btime 100 binc 100", "bestmove", "score"),
    ("go btime 100 binc 100 wtime 100 winc 100", "bestmove", "score"),
    ("go wtime 1000 btime 1000 movestogo 1", "bestmove", "score"),
    ("go movetime 20", "bestmove", "score"),
    ("go nodes 20", "bestmove", "score"),
    ("go depth 2", "bestmove", "score"),
    ("go nodes 20 searchmoves g2h1 g2g1", "bestmove", "score"),
    ("isready", "readyok", ""),
    (f"position fen {MIDDLE.replace(' w ', ' b ')}", "", ""),
    ("go wtime 100 btime 100", "bestmove", "score"),
    ("go infinite", "", ""),
    ("isready", "readyok", ""),
    ("stop", "bestmove", "score"),
    ("setoption name MultiPV value 2", "", ""),
    ("go nodes 20", "bestmove", "multipv 2"),
    ("setoption name MultiPV value 1", "", ""),
    ("ucinewgame", "", ""),
    ("isready", "readyok", ""),
    ("position startpos", "", ""),
    ("go wtime 100 btime 100", "bestmove", "score"),
    ("position startpos moves e2e4 e7e5", "", ""),
    ("go wtime 100 btime 100", "bestmove", "score"),
    ("position startpos moves e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1", "", ""),
    ("go wtime 100 btime 100", "bestmove", "score"),
    ("position fen 8/P6k/8/8/8/8/7K/8 w - - 0 1 moves a7a8q", "", ""),
    ("go wtime 100 btime 100", "bestmove", "score"),
    ("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "", ""),
    ("go wtime 100 btime 100", "bestmove (none)", "score"),
    ("position startpos", "", ""),
    ("isready", "readyok", ""),
]  # fmt: skip
"""What a match program asks of an engine before it lets it in, after the list that fastchess documents: a line that is
said, the line that must come, and what must stand in the lines before it. More than fastchess asks: the last dozen."""


def test_the_steps_of_a_compliance_check(mover_run: Path) -> None:
    board = chess.Board()
    with Process([sys.executable, "-m", "kibitz", "uci", str(mover_run)]) as engine:
        for line, answer, before in STEPS:
            engine.say(line)
            if line.startswith("position"):
                board = board_of(line)
            if not answer:
                continue
            lines = [engine.hear()]
            while not lines[-1].startswith(answer):
                assert lines[-1].startswith(("id ", "option ", "info ")), lines
                lines.append(engine.hear())
            for part in filter(None, before.split(",")):
                assert any(part in said for said in lines[:-1]), (line, lines)
            if answer == "bestmove":
                move = chess.Move.from_uci(lines[-1].split()[1])
                assert move in board.legal_moves
                assert "searchmoves" not in line or move.uci() in line
                assert all(" pv " in said for said in lines[:-1] if " score " in said)
        engine.quit()


def board_of(line: str) -> chess.Board:
    start, _, moves = line.partition(" moves ")
    board = chess.Board() if "startpos" in start else chess.Board(start.removeprefix("position fen "))
    for move in moves.split():
        board.push_uci(move)
    return board


@pytest.mark.parametrize("seed", [1])
def test_a_thousand_random_lines_of_uci(mover_run: Path, seed: int) -> None:
    assert uci_session(str(mover_run), 1000, seed, ["--method", "top-prob"]) > 250


@pytest.mark.parametrize("seed", [1])
def test_a_thousand_random_lines_of_gtp(go_run: Path, seed: int) -> None:
    assert gtp_session(str(go_run), 1000, seed) > 80
