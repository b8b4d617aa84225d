"""Small engines that misbehave, each a script of its own."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ENGINE = """
import os, sys, time
import chess
fault, at = {fault!r}, {at}
board, moves = chess.Board(), 0
if fault == "mute":
    time.sleep(3600)
if fault == "exit":
    sys.exit(3)
for line in sys.stdin:
    words = line.split()
    if words[:1] == ["uci"]:
        if fault == "garbage":
            print("Hello! \\x07 uciok? info depth x score cp y")
        print("id name {fault}\\nuciok", flush=True)
    elif words[:1] == ["isready"]:
        print("readyok", flush=True)
    elif words[:1] == ["ucinewgame"]:
        moves = 0
        if fault == "clears":
            time.sleep(2.0)
    elif words[:1] == ["position"]:
        board = chess.Board()
        for word in words[3:]:
            board.push_uci(word)
    elif words[:1] == ["go"]:
        moves += 1
        if moves == at and fault == "crash":
            os._exit(7)
        if moves == at and fault in ("hang", "slow"):
            time.sleep(3600 if fault == "hang" else 0.4)
        if moves == at and fault == "flood":
            print("info string " + "x" * 100_000_000, flush=True)
        if moves == at and fault == "lie":
            print("info depth 9999999999999999999999 score mate 0 nodes -5 pv e9e0 a1a1", flush=True)
            print("bestmove e2e4 ponder z9z9\\nbestmove d2d4", flush=True)
            continue
        if moves == at and fault == "illegal":
            print("bestmove e1e8", flush=True)
            continue
        if moves == at and fault == "none":
            print("bestmove (none)", flush=True)
            continue
        if moves == at and fault == "pass":
            print("bestmove 0000", flush=True)
            continue
        if fault == "garbage":
            print("???\\ninfo depth score cp\\ninfo string {{}} \\x00 nothing\\n\\nbestmoves are hard", flush=True)
        score = {score!r}
        if score is not None:
            print("info depth 1 score cp", score, "nodes 7 pv", flush=True)
        print("bestmove", min(board.legal_moves, key=str), flush=True)
    elif words[:1] == ["quit"]:
        break
"""


@pytest.fixture
def engine(tmp_path: Path) -> Callable[..., str]:
    """Makes the command line of an engine that plays its alphabetically first move, up to its fault at a move."""

    def make(fault: str = "sound", at: int = 3, score: int | None = None) -> str:
        path = tmp_path / f"{fault}{'' if score is None else score}.py"
        path.write_text(ENGINE.format(fault=fault, at=at, score=score), encoding="utf-8")
        return shlex.join([sys.executable, str(path)])

    return make
