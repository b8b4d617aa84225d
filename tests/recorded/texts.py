"""The whole texts of each command, as people read them: help, usual output, and what it refuses.

    python tests/recorded/record.py --texts     write tests/commands/approved/COMMAND.txt again, then look at the diff

`tests/commands/test_approved.py` compares with these files. A change of words shows there and in no other test. Numbers
are written as #, paths as FOLDER, and spaces and lines of boxes are left out, because other tests check the numbers and
because a layout depends on the terminal and on the versions of libraries.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kibitz import __version__
from kibitz.cli import COMMANDS
from support import person
from support.causes import Ended, in_process

APPROVED = Path(__file__).parents[1] / "commands" / "approved"
GAME = '[White "Ann"]\n[Black "Bob"]\n[Result "1-0"]\n\n1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n\n'
ILLEGAL = '[White "Cid"]\n[Black "Dan"]\n[Result "0-1"]\n\n1. e4 e5 2. Ke4 0-1\n\n'
RECORD = "(;GM[1]SZ[9]KM[5.5]PB[Ann]PW[Bob]RE[W+3.5];B[ee];W[ec];B[cc];W[gg])\n"
WIDE = "1000"
"""Columns of the terminal: each option of the help is one line."""
TINY = ["--layers", "8conv4x4.ip8", "--precision", "float32", "--validate-positions", "50", "--batch", "16"]
QUIET = ["--stockfish-positions", "0", "--positions", "100"]

TRAIN, TUNE = ["winner", "games.store", "--run", "x"], ["winner", "games.store"]
CALLS: dict[str, list[list[str]]] = {
    "import": [
        ["two.pgn", "--into", "new.store"], ["two.pgn", "--into", "games.store"], ["none.pgn", "--into", "x.store"],
        ["two.pgn", "--into", "x.store", "--min-rating", "9000"], ["two.pgn", "--into", "x.store", "--since", "soon"],
        ["empty.pgn", "--into", "x.store"], ["two.pgn"], ["two.pgn", "game.sgf", "--into", "x.store"],
        ["two.pgn", "--into", "x.store", "--rank", "5d"], ["game.sgf", "--into", "go.store", "--referee", "none"],
    ],
    "merge": [
        ["games.store", "--into", "merged.store"], ["games.store", "none.store", "--into", "x.store"],
        ["games.store", "--into", "games.store"],
    ],
    "info": [["games.store"], ["none.store"], ["empty.pgn"]],
    "explore": [
        ["games.store", "e4"], ["games.store", "e5"], ["games.store", "--fen", "8/8"], ["none.store"],
        ["games.store", "--rating", "20"],
    ],
    "systems": [[], ["winner"], ["checkers"]],
    "train": [
        ["winner", "games.store", "--run", "run", *TINY, "--iterations", "4", "--validate-every", "2"],
        ["loser", "games.store"], ["winner", "none.store"], [*TRAIN, "--layers", "9conv99x99"],
        [*TRAIN, "--validate-from", "soon"], [*TRAIN, "--device", "tpu"],
        [*TRAIN, "--time-limit", "0"], ["deepchess", "games.store", "--run", "x", "--reuse", "3"],
        [*TRAIN, "--start-from", "human"],
    ],
    "personal": [
        ["two.pgn", "--player", "nobody"], ["mine.pgn", "--from", "winner"], ["mine.pgn", "--from", "nowhere"],
        ["mine.pgn", "--update"], ["mine.pgn", "--time-limit", "0"],
    ],
    "tune": [
        [*TUNE, *TINY, "--learning-rates", "0.01", "--initials", "unit", "--iterations-per-trial", "2",
         "--out", "study.journal"],
        [*TUNE, "--learning-rates", "0.1,fast"], [*TUNE, "--weight-decays", "0,-1"],
        ["loser", "games.store"], ["winner", "none.store"], ["deepchess", "games.store"], [*TUNE, "--out", "."],
    ],
    "test": [
        ["winner", "games.store", "--split", "all", *QUIET, "--out", "page.html"], ["nowhere"],
        ["winner", "none.store"],
        ["winner", "games.store", "--split", "train"], ["winner", "games.store", "--out", "none/page.html"],
        ["winner", "games.store", "--stockfish", "none"],
    ],
    "analyze": [
        ["winner", "two.pgn", "--raw"], ["winner", "two.pgn", "--all", "--raw"], ["chessnet", "two.pgn", "--raw"],
        ["human", "two.pgn", "--raw"], ["winner", "two.pgn", "--game", "9"], ["winner", "none.pgn"],
        ["nowhere", "two.pgn"],
        ["winner", "empty.pgn"], ["winner", "two.pgn", "--swing", "0"], ["winner", "two.pgn", "--pgn", "two.pgn"],
        ["chessnet", "two.pgn", "--rating", "1500"], ["winner", "game.sgf"], ["two.pgn"],
        ["winner", "two.pgn", "--mine"],
    ],
    "export": [
        ["winner", "--to", "exported"], ["nowhere", "--to", "x"], ["winner", "--to", "full"], ["gocnn", "--to", "x"],
        ["winner", "--to", "x", "--int8", "--half"],
    ],
    "export-positions": [
        ["games.store", "--to", "positions.npz", "--positions", "20"], ["none.store", "--to", "x.npz"],
        ["games.store", "--to", "full"], ["games.store", "--to", "x.npz", "--view", "side"], ["games.store"],
    ],
    "uci": [["chessnet"], ["winner"], ["nowhere"], ["human", "--method", "luck"], ["chessnet", "--elo", "1500"]],
    "gtp": [["gocnn"], ["chessnet"], ["nowhere"], ["gocnn", "--rules", "chess"], ["gocnn", "--komi", "nan"],
            ["gohuman", "--rank", "31k"], ["gocnn", "--rank", "5k"]],
    "match": [
        ["chessnet", "chessnet", "--nodes", "2", "--max-plies", "20", "--games", "2", "--pgn", "match.pgn"],
        ["none", "winner"], ["chessnet", "chessnet", "--nodes", "x"], ["chessnet", "chessnet", "--sprt", "10"],
        ["chessnet", "gocnn"], ["chessnet", "chessnet", "--komi", "6.5"],
    ],
    "bench": [["winner", "--seconds", "0.1"], ["gocnn"], ["none"], ["--seconds", "0"]],
    "prepare": [["--game", "chess"], ["--game", "shogi"]],
    "doctor": [["human"]],
    "annotate": [
        ["two.pgn"], ["two.pgn"], ["two.pgn", "--network", "chessnet", "--overwrite"],
        ["two.pgn", "game.sgf", "none.pgn", "--out", "annotated"],
        ["none.pgn"], ["empty.pgn"], ["two.pgn", "--network", "gohuman", "--overwrite"],
        ["two.pgn", "--network", "nowhere"],
        ["two.pgn", "game.sgf", "--out", "one.pgn"], ["-"],
    ],
    "rate": [["two.pgn"], ["none.pgn"], ["mine.pgn", "--player", "Nobody"], ["mine.pgn", "--speed", "blitz"], ["-"]],
    "setup": [["nothing"], ["katrain"], ["scid", "--rating", "99"], ["sabaki", "--network", "human"]],
    "board": [
        ["none"], ["--port", "0"], ["--engine", "none"], ["--engine", "'none"], ["--checked-by", "none"],
        ["--checked-by", "true", "--checked-by", "true"],
    ],
}  # fmt: skip
"""What is called of each command after its help; paths are in a folder of `prepare`."""
LINES = {"uci": "uci\nsetoption name Hash value lots\nxyzzy\nquit\n", "gtp": "name\nboardsize 5\nnonsense\nquit\n"}
"""What the engines read."""


def prepare(folder: Path) -> None:
    """The files that the calls name."""
    (folder / "two.pgn").write_text(GAME + ILLEGAL, encoding="utf-8")
    (folder / "mine.pgn").write_text(person.games(21), encoding="utf-8")
    (folder / "many.pgn").write_text(person.games(60), encoding="utf-8")
    (folder / "game.sgf").write_text(RECORD, encoding="utf-8")
    (folder / "empty.pgn").touch()
    (folder / "full").mkdir()
    (folder / "full" / "file").touch()
    done = in_process(["import", folder / "many.pgn", "--into", folder / "games.store"])
    assert done.code == 0, done


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in a folder, on a wide terminal."""
    before, columns = Path.cwd(), os.environ.get("COLUMNS")
    os.chdir(folder)
    os.environ["COLUMNS"] = WIDE
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.pop("COLUMNS")
        if columns is not None:
            os.environ["COLUMNS"] = columns


def plain(text: str, folder: Path) -> list[str]:
    """The lines of a text without what differs from machine to machine."""
    text = text.replace(str(folder.resolve()), "FOLDER").replace(str(folder), "FOLDER")
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    text = re.sub(r"[─-▟]+", " ", text)  # boxes and bars
    text = re.sub(r"\S*/(site-packages|src)/kibitz/", "KIBITZ/", text)
    text = text.replace(__version__, "#")
    text = re.sub(r"(?<![\w.])[+−-]?\d+(?:[.,:]\d+)*", "#", text)
    text = re.sub(r"# (?:min|h)(?! # max)(?: # (?:s|min)\b)?|# m?s\b", "# s", text)
    text = re.sub(r"·{3,}", "", text)  # a graph of numbers
    text = re.sub(r"sha256 \S+", "sha256 #", text)
    text = re.sub(r"(?<=winner, ).*(?=, # cores)", "MACHINE", text)
    return [line for line in (" ".join(line.split()) for line in text.splitlines()) if line]


def ended(command: str, arguments: Sequence[str]) -> Ended:
    if command in LINES and arguments != ["--help"]:
        return in_process([command, *arguments], LINES[command])
    return in_process([command, *arguments])


def text_of(command: str, folder: Path) -> str:
    """Everything that the calls of one command print. folder: see `prepare`."""
    lines = []
    with inside(folder):
        for arguments in (["--help"], *CALLS[command]):
            done = ended(command, arguments)
            lines += [f"$ kibitz {' '.join([command, *arguments])}", *plain(done.out, folder)]
            # Progress depends on how long the work takes, and what a training warns of on its numbers.
            warns = command in ("import", "analyze", "test")
            said = [line for line in plain(done.err, folder) if done.code or (warns and "warning" in line)]
            lines += [*(f"stderr: {line}" for line in said), f"exit code {done.code}", ""]
    return "\n".join(lines)


def write(folder: Path, commands: Sequence[str] = tuple(COMMANDS)) -> None:
    """Write the approved texts again."""
    APPROVED.mkdir(exist_ok=True)
    for command in commands:
        (APPROVED / f"{command}.txt").write_text(text_of(command, folder), encoding="utf-8")
