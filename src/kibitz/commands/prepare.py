"""The command `kibitz prepare`: compile functions in advance, so that the first analysis, game and page don't have to
wait.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from typing import Annotated

import typer

from kibitz import preparation
from kibitz.errors import KibitzError, UsageError

GAMES = ("chess", "go")
_EXAMPLES = {"chess": ("human", "games.pgn.zst", b"[Event "), "go": ("gohuman", "games.sgfl.zst", b"(;")}
"""For each game: the network, and the file of bundled games with the bytes with which each game begins."""


def prepare(
    game: Annotated[str | None, typer.Option(help="", show_default=False, metavar="GAME")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the lines.")] = False,
    progress: Annotated[bool, typer.Option("--progress", hidden=True)] = False,
) -> None:
    """Compile the functions that analysis, play and the page of `kibitz board` need, so that their first use is fast.

    The server of the page calls this command with the hidden option --progress. After each function, the command then
    prints a line with integers: the number of compiled functions, the expected total, and the estimated seconds left if
    they are known. If standard input closes, the command stops at once.
    """
    if game is not None and game not in GAMES:
        raise UsageError(f"--game must be chess or go (got {game})")
    if progress:
        _report_to_the_board()
    games = GAMES if game is None else (game,)
    begun = time.monotonic()
    from kibitz.cores import cores

    is_shared = len(games) > 1 and cores() > 1 and not progress
    for each in ("chess",) if is_shared else games:
        preparation.expect(f"prepare {each}")
    if is_shared:  # one process compiles only one function at a time, so Go is compiled in a second process
        with _other_process("go") as other:
            _exercise("chess")
        if other.returncode:
            raise KibitzError("the functions for Go could not be compiled. To see why, run: kibitz prepare --game go")
    else:
        for each in games:
            _exercise(each)
    preparation.remember(games)
    seconds = time.monotonic() - begun
    if as_json:
        print(json.dumps({"games": list(games), "seconds": round(seconds, 2)}))
    elif not progress:
        print(f"Ready for {' and '.join('Go' if each == 'go' else each for each in games)} ({seconds:.0f} s).")


def _other_process(game: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "kibitz", "prepare", "--game", game, "--json"], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def _exercise(game: str) -> None:
    """Do once what users do: analyze a bundled game, search a move, and evaluate moves without the network's search."""
    import chess

    import kibitz

    name, _, _ = _EXAMPLES[game]
    network, record = kibitz.load_network(name), _record(game)
    if game == "chess":
        kibitz.analyse("1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0", network, nodes=16)
        network.choose_move(chess.Board(), nodes=64)
        kibitz.analyse(record, "winner", depth=2)
    else:
        kibitz.analyse(record, network, nodes=2)
        network.choose_move("(;GM[1]SZ[9]KM[5.5];B[ee])", nodes=16)


def _record(game: str) -> str:
    """Return a short bundled game."""
    import importlib.resources
    import io

    import zstandard

    _, file, begin = _EXAMPLES[game]
    packed = (importlib.resources.files("kibitz") / "data" / file).read_bytes()
    with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed)) as stream:
        text = stream.read(1 << 16)
    games = [begin + rest for rest in text.split(begin)[1:-1]]
    return min((one for one in games if game == "chess" or b"SZ[9]" in one), key=len).decode()


def _report_to_the_board() -> None:
    """Print the progress for the board, run with low priority, and end together with the board."""
    import os

    if hasattr(os, "nice"):
        os.nice(5)
    preparation.listeners[:] = [lambda now: print(now.done, max(now.done, now.total), now.left or "", flush=True)]

    def watch() -> None:
        sys.stdin.buffer.read()
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
