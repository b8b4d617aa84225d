"""Programs that give opinions and play, each with a fault: python opinion_fakes.py uci|gtp FAULT FOLDER.

What they are asked stands in FOLDER/asked, their numbers and those of their children in FOLDER/started. As a module:
`fake` makes the command line.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import chess

INFOS = {
    "sound": (
        "depth 3 multipv 1 score cp 30 nodes 1000 nps 50000 pv e2e4 e7e5",
        "depth 3 multipv 2 score cp 10 lowerbound nodes 1000 pv a2a3",
        "depth 3 multipv 2 score cp -20 nodes 1200 pv d2d4 d7d5 c2c4",
    ),
    "liar": (
        "depth 9 multipv 1 score cp 30 pv e2e5",
        "depth 9 multipv 999999999 score cp 30 pv e2e4",
        "depth nine multipv 1 score cp much pv e2e4",
        "depth 2 multipv 3 score cp -15 nodes 7 pv g1f3",
        "string " + "x" * 1000,
    ),
    "silent": (),
}
ESTIMATES = {"D4": "B+2.5 (upper bound: 4.0)", "G5": "0 (upper bound: 1.0)"}
"""Replies to estimate_score by the last move; GNU Go writes an even score as 0."""
GROUPS = {
    "sound": "info move D4 visits 30 winrate 0.7 scoreLead 3.25 prior 0.5 order 0 pv D4 F6 pvVisits 30 2 "
    "info move C3 visits 10 winrate 0.6 scoreLead 1 order 1 pv C3",
    "lz": "info move D4 visits 30 winrate 7000 prior 5000 order 0 pv D4 F6",
    "liar": "info move Z99 visits 9 winrate 0.5 order 0 pv Z99 info move D4 visits 5 winrate 7.5 order 1 pv D4 "
    "info move C3 visits many winrate 0.5 order 2 pv C3 info move E5 visits 4 winrate 0.25 order 3 pv E5",
    "silent": "",
}


MOVES = {"liar": "e2e5", "mindless": "(none)"}
"""Moves of those that answer none of their own."""
VERTICES = {"liar": "E5", "babbler": "the middle", "resigner": "resign"}


def fake(protocol: str, fault: str, folder: Path) -> str:
    return shlex.join([sys.executable, __file__, protocol, fault, str(folder)])


def say(line: str) -> None:
    print(line, flush=True)


def note(folder: Path, name: str, line: str) -> None:
    with open(folder / name, "a", encoding="utf-8") as file:
        file.write(line + "\n")


def board_of(position: list[str]) -> chess.Board:
    """The board of a position in the form of a UCI command."""
    start, _, moves = " ".join(position).partition(" moves ")
    board = chess.Board() if start == "startpos" else chess.Board(start.removeprefix("fen "))
    for move in moves.split():
        board.push_uci(move)
    return board


def first_move(position: list[str]) -> str:
    """The first legal move in alphabetical order."""
    return min(move.uci() for move in board_of(position).legal_moves)


VALUES = {chess.PAWN: 100, chess.KNIGHT: 300, chess.BISHOP: 300, chess.ROOK: 500, chess.QUEEN: 900}


def balance(board: chess.Board) -> int:
    """The material of the side to move less that of the other side, in hundredths of a pawn."""
    sides = [sum(value * len(board.pieces(piece, side)) for piece, value in VALUES.items()) for side in (True, False)]
    return (sides[0] - sides[1]) * (1 if board.turn else -1)


def greedy(board: chess.Board, only: Sequence[str] = ()) -> tuple[int, chess.Move]:
    """The most material that one move leaves, and this move; of several the last of the alphabet. only: the moves that
    may be chosen; () for all."""
    found = []
    for move in [move for move in board.legal_moves if not only or move.uci() in only]:
        after = board.copy(stack=False)
        after.push(move)
        found.append((-balance(after), move.uci()))
    score, name = max(found)
    return score, chess.Move.from_uci(name)


def uci(fault: str, folder: Path) -> None:
    position = ["startpos"]
    for line in sys.stdin:
        words = line.split()
        note(folder, "asked", line.strip())
        if words[:1] == ["uci"]:
            say("id name Fake Fish")
            say("option name MultiPV type spin default 1 min 1 max 5")
            say("option name UCI_LimitStrength type check default false")
            say("option name UCI_Elo type spin default 1350 min 1300 max 2000")
            say("uciok")
        elif words[:1] == ["isready"]:
            say("readyok")
        elif words[:1] == ["position"]:
            position = words[1:]
        elif words[:1] == ["go"]:
            first = not (folder / "crashed").exists()
            (folder / "crashed").touch()
            searches = sum(asked.startswith("go") for asked in (folder / "asked").read_text().splitlines())
            from_search = int(fault.removeprefix("crash from ")) if fault.startswith("crash from ") else searches + 1
            if fault == "crash" or (fault == "crash once" and first) or searches >= from_search:
                sys.exit(3)
            if fault in ("greedy", "stubbornly greedy"):
                only = words[words.index("searchmoves") + 1 :] if "searchmoves" in words else []
                score, move = greedy(board_of(position), only if fault == "greedy" else ())
                say(f"info depth 1 score cp {score} nodes 9 pv {move.uci()}")
                say(f"bestmove {move.uci()}")
                continue
            for info in INFOS.get(fault, INFOS["sound"]):
                say(f"info {info}")
            if "infinite" not in words and fault not in ("silent", "stubborn"):
                say(f"bestmove {MOVES.get(fault) or first_move(position)}")
        elif words[:1] == ["stop"] and fault != "stubborn":
            say("bestmove e2e5" if fault == "liar" else "bestmove (none)")
        elif words[:1] == ["quit"]:
            return


def gtp(fault: str, folder: Path) -> None:
    analyses = False
    known = {"lz": "lz-analyze", "dumb": "genmove", "estimates": "top_moves_black"}.get(fault, "kata-analyze")
    played = ""
    for line in sys.stdin:
        number, command, *words = line.split()
        note(folder, "asked", " ".join([command, *words]))
        if analyses:
            say("")
            analyses = False
        if command == known:
            if fault == "crash":
                sys.exit(3)
            if fault == "refuse":
                say(f"?{number} not today\n")
                continue
            say(f"={number}")
            say(GROUPS.get(fault, GROUPS["sound"]))
            analyses = True
            continue
        played = words[-1] if command == "play" else played
        if command == "genmove" and fault == "crash":
            sys.exit(3)
        if command == "genmove" and fault == "silent":
            continue
        said = {
            "genmove": VERTICES.get(fault, "D4"),
            "name": "Fake Go",
            "version": "1",
            "list_commands": f"name\nplay\n{known}",
            "top_moves_white": "D4 9.50 E5 7.00 C3 5.25 G5 2.00",
            "estimate_score": ESTIMATES.get(played, "W+5.5 (upper bound: -4.0)"),
        }.get(command, "")
        good = not (
            (fault == "picky" and command == "boardsize")
            or (fault == "choosy" and command == "play" and words[-1] == "A1")
        )
        say(f"{'=' if good else '?'}{number} {said if good else 'no such board'}\n")
        if command == "quit":
            return


def main(protocol: str, fault: str, folder: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    note(folder, "started", f"{os.getpid()} {child.pid}")
    if fault == "mute":
        time.sleep(3600)
    (uci if protocol == "uci" else gtp)(fault, folder)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
