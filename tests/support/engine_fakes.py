"""Engines that predict moves as a test writes down: UCI and GTP programs of a few lines.

    python engine_fakes.py uci KIND [FAULT_AT]     KIND: statistics, lines, best
    python engine_fakes.py gtp KIND                KIND: network, genmove

A UCI fake prefers moves by their name in UCI, the last of the alphabet first. statistics: it prints probabilities as
lc0 does, castling as king takes rook; lines: it ranks several lines; best: it names one move.
It exits in its search number FAULT_AT (from 1). The file of the environment variable FAKE_SEARCHES counts the searches.
A GTP fake prefers the highest point.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import chess


def fake_engine(protocol: str, kind: str, *more: object) -> str:
    """The command line of a fake."""
    return shlex.join([sys.executable, __file__, protocol, kind, *map(str, more)])


def preferred(board: chess.Board) -> list[chess.Move]:
    """The legal moves as a UCI fake ranks them."""
    return sorted(board.legal_moves, key=lambda move: move.uci(), reverse=True)


def percents(moves: int) -> list[float]:
    """The probabilities that the fake prints for so many moves, in percent: halves, rounded to two digits."""
    return [round(100 * 0.5 ** (i + 1), 2) for i in range(moves)]


def _name(board: chess.Board, move: chess.Move) -> str:
    if board.is_castling(move):
        rook = chess.square(7 if chess.square_file(move.to_square) == 6 else 0, chess.square_rank(move.from_square))
        return chess.square_name(move.from_square) + chess.square_name(rook)
    return move.uci()


def _uci(kind: str, fault_at: int) -> None:
    board = chess.Board()
    lines = 1
    for text in sys.stdin:
        words = text.split()
        if words == ["uci"]:
            print("id name Fake")
            if kind == "statistics":
                print("option name VerboseMoveStats type check default false")
            if kind == "lines":
                print("option name MultiPV type spin default 1 min 1 max 5")
            print("uciok", flush=True)
        elif words == ["isready"]:
            print("readyok", flush=True)
        elif words[:3] == ["setoption", "name", "MultiPV"]:
            lines = int(words[-1])
        elif words[:1] == ["position"]:
            moves = words[words.index("moves") + 1 :] if "moves" in words else []
            board = chess.Board() if words[1] == "startpos" else chess.Board(" ".join(words[2:8]))
            for move in moves:
                board.push_uci(move)
        elif words[:1] == ["go"]:
            _fail(fault_at)
            ranked = preferred(board)
            for i, move in enumerate(ranked[:lines]):
                print(f"info depth 1 multipv {i + 1} score cp {-i} pv {move.uci()}")
            if kind == "statistics":
                for move, percent in zip(ranked, percents(len(ranked)), strict=True):
                    print(f"info string {_name(board, move)}  (12  ) N:       0 (+ 0) (P: {percent:5.2f}%) (Q:  0.1)")
                print("info string node  (  20) N:       1 (+ 0) (P:  0.00%) (WL:  0.04159)")
            print(f"bestmove {ranked[0].uci()}", flush=True)
        elif words == ["quit"]:
            return


def _fail(fault_at: int) -> None:
    if not fault_at:
        return
    path = Path(os.environ["FAKE_SEARCHES"])
    with path.open("a") as file:
        file.write("search\n")
    if fault_at < 0 or len(path.read_text().split()) == fault_at:
        sys.exit(3)


def _gtp(kind: str) -> None:
    known = ("kata-raw-nn",) if kind == "network" else ("genmove", "undo")
    size, asked = 19, 0
    stones: list[str] = []
    for text in sys.stdin:
        command, *words = text.split()[1:]
        answer = ""
        if kind == "strict" and command == "play" and asked == 9:
            print(f"?{text.split()[0]} illegal move\n", flush=True)
            continue
        if command == "known_command":
            answer = "true" if words[0] in known else "false"
        elif command == "name":
            answer = "Fake"
        elif command == "boardsize":
            size = int(words[0])
        elif command == "clear_board":
            stones, asked = [], 0
        elif command == "play":
            stones.append(words[1].lower())
        elif command == "genmove":
            asked += 1
            answer = next(name for name in _names(size) if name.lower() not in stones)
            stones.append(answer.lower())
        elif command == "undo":
            stones.pop()
        elif command == "kata-raw-nn":
            table = [0.5 ** (i % 7 + 1) for i in range(size * size)]
            rows = [" ".join(f"{value:8.6f}" for value in table[row * size : (row + 1) * size]) for row in range(size)]
            answer = "\n".join(["symmetry 0", "whiteWin 0.5", "policy", *rows, "policyPass 0.000100", "whiteOwnership"])
        print(f"={text.split()[0]} {answer}\n", flush=True)


def _names(size: int) -> list[str]:
    """Vertices from the lowest row to the highest, from the right."""
    return [f"{'ABCDEFGHJKLMNOPQRST'[column]}{row + 1}" for row in range(size) for column in reversed(range(size))]


if __name__ == "__main__":
    if sys.argv[1] == "uci":
        _uci(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 0)
    else:
        _gtp(sys.argv[2])
