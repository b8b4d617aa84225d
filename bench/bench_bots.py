"""Ten games of lichess-bot or of gtp2ogs with kibitz, against stand-ins of the servers on this computer.

The bot gets the configuration that `kibitz setup` writes. One table line for each game, then the counts of crashes,
losses on time, illegal moves and chat lines. In one game, the engine is killed: the bot has to start it again.

    python bench/bench_bots.py lichess-bot CHECKOUT --python VENV/bin/python
    python bench/bench_bots.py gtp2ogs CHECKOUT/build/src/main.js
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import chess

from bot_servers import BYOYOMI, FISCHER, SIMPLE, ChessGame, Ending, GoGame, Lichess, Ogs
from kibitz.external.gtp import GtpProgram
from kibitz.external.programs import find_gnugo

LOST = "4k3/8/8/8/8/8/1q6/6K1 w - - 0 1"
DEAD_DRAW = "8/5k2/8/3r4/8/4R3/2K5/8 w - - 0 1"
CHESS_GAMES = [
    ChessGame("60+0, White"),
    ChessGame("60+0, Black", bot=chess.BLACK),
    ChessGame("20+0, no increment", seconds=20),
    ChessGame("15+1, Black", bot=chess.BLACK, seconds=15, increment=1),
    ChessGame("opponent resigns", resigns_after=30),
]
"""With the configuration as it is written."""
MORE_CHESS_GAMES = [
    ChessGame("pondering, 60+1", increment=1, opponent="stockfish"),
    ChessGame("engine killed, Black", bot=chess.BLACK, seconds=120, kill_at=13, resigns_after=40),
    ChessGame("draw offered by opponent", seconds=120, opponent="stockfish", fen=DEAD_DRAW, offers=True),
    ChessGame("draw offered by bot", seconds=120, opponent="stockfish", fen=DEAD_DRAW, takes=True),
    ChessGame("lost position", seconds=60, fen=LOST, opponent="stockfish"),
]
"""With pondering, and the options of lichess-bot that resign and offer draws."""
GO_GAMES = [
    GoGame("9x9 byo-yomi, Black", BYOYOMI, most=24),
    GoGame("9x9 byo-yomi, White", BYOYOMI, bot="white", most=24),
    GoGame("9x9 Fischer, GNU Go", FISCHER, opponent="gnugo"),
    GoGame("9x9 simple", SIMPLE, most=24),
    GoGame("13x13 Fischer", FISCHER, size=13, bot="white"),
    GoGame("9x9, 2 stones, bot places", FISCHER, handicap=2, komi=0.5, opponent="gnugo"),
    GoGame("9x9, 2 stones for opponent", FISCHER, handicap=2, komi=0.5, bot="white"),
    GoGame("opponent resigns", BYOYOMI, resigns_after=30),
    GoGame("engine killed", FISCHER | {"initial_time": 120}, bot="white", kill_at=13),
    GoGame("19x19 byo-yomi", BYOYOMI, size=19, most=24),
]


def written(program: str, folder: Path, network: str, *options: str) -> dict[str, Any]:
    """What `kibitz setup` writes."""
    words = ["setup", program, "--network", network, *options, "--write", str(folder), "--json"]
    done = subprocess.run([sys.executable, "-m", "kibitz", *words], check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def kill_engine(bot: int, words: tuple[str, ...]) -> None:
    """Kill the engine below a bot's process, as a crash does."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                parents.setdefault(int((entry / "stat").read_text().rpartition(")")[2].split()[1]), []).append(
                    int(entry.name)
                )
    waiting = [bot]
    while waiting:
        process = waiting.pop()
        waiting += parents.get(process, [])
        with contextlib.suppress(OSError):
            line = Path(f"/proc/{process}/cmdline").read_bytes().decode().split("\0")
            if process != bot and all(word in line for word in words):
                os.kill(process, signal.SIGKILL)


@contextlib.contextmanager
def running(command: list[str], folder: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A bot with its own process group, whose output goes to a file."""
    with log.open("ab") as output:
        bot = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        yield bot
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(bot.pid, signal.SIGTERM)
        try:
            bot.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(bot.pid, signal.SIGKILL)
            bot.wait()


def _lichess_config(folder: Path, url: str, setup: dict[str, Any], tournament: bool) -> Path:
    """config.yml of lichess-bot: our section, and as little as it needs besides."""
    section = next(file["text"] for file in setup["files"] if file["name"] == "engine-section.yml")
    if tournament:
        section = section.replace("ponder: false", "ponder: true") + (
            "  draw_or_resign:\n    resign_enabled: true\n    resign_score: -600\n    resign_moves: 2\n"
            "    offer_draw_enabled: true\n    offer_draw_score: 60\n    offer_draw_moves: 3\n"
            "    offer_draw_pieces: 10\n"
        )
    path = folder / ("tournament.yml" if tournament else "config.yml")
    path.write_text(
        f'token: "secret"\nurl: "{url}/"\n{section}abort_time: 30\nmove_overhead: 1000\n'
        "challenge:\n  concurrency: 1\n  min_base: 0\n  variants: [standard, fromPosition]\n"
        "  time_controls: [bullet, blitz]\n  modes: [casual]\n"
        'greeting:\n  hello: ""\n  goodbye: ""\n  hello_spectators: ""\n  goodbye_spectators: ""\n'
    )
    return path


def lichess_bot(checkout: Path, python: str, folder: Path, stockfish: str | None) -> tuple[list[Ending], int, Path]:
    """Play with lichess-bot. Returns the endings, the lines of chat, and the bot's log."""
    log = folder / "bot.log"
    endings: list[Ending] = []
    chats = 0
    for tournament, games in ((False, CHESS_GAMES), (True, MORE_CHESS_GAMES)):
        pid = [0]
        server = Lichess(stockfish, lambda: kill_engine(pid[0], ("uci", "human")))  # noqa: B023
        setup = written("lichess-bot", folder / "lichess", "human", *(() if tournament else ("--rating", "1500")))
        config = _lichess_config(folder, server.url, setup, tournament)
        command = [python, str(checkout / "lichess-bot.py"), "--config", str(config), "--disable_auto_logging", "-v"]
        with running(command, checkout, log) as bot:
            pid[0] = bot.pid
            if not server.connected.wait(120):
                raise SystemExit(f"lichess-bot did not connect: {log}")
            for number, game in enumerate(games):
                endings.append(show(server.play(f"game{tournament:d}{number:03d}", game)))
                if bot.poll() is not None:
                    raise SystemExit(f"lichess-bot ended: {log}")
        chats += len(server.chats)
        server.close()
    return endings, chats, log


def gtp2ogs(main: Path, folder: Path) -> tuple[list[Ending], int, Path]:
    """Play with gtp2ogs. Returns the endings, the lines of chat, and the bot's log."""
    log = folder / "bot.log"
    gnugo = find_gnugo()
    pid = [0]

    def program() -> GtpProgram:
        return GtpProgram([gnugo or "gnugo", "--mode", "gtp", "--chinese-rules", "--level", "1"])

    server = Ogs(program, lambda: kill_engine(pid[0], ("gtp", "gohuman")))
    setup = written("gtp2ogs", folder / "ogs", "gohuman")
    ranges = [0, 99999]
    config = json.loads(setup["files"][0]["text"]) | {
        "apikey": "secret",
        "allowed_blitz_settings": {
            "simple": {"per_move_time_range": ranges}, "concurrent_games": 1,
            "byoyomi": {"main_time_range": ranges, "period_time_range": ranges, "periods_range": ranges},
            "fischer": {"initial_time_range": ranges, "max_time_range": ranges, "time_increment_range": ranges},
        },
    }  # fmt: skip
    path = folder / "ogs.json5"
    path.write_text(json.dumps(config))
    endings = []
    with running(["node", str(main), "-c", str(path), "--server", server.url, "-v", "-v"], folder, log) as bot:
        pid[0] = bot.pid
        if not server.connected.wait(60):
            raise SystemExit(f"gtp2ogs did not connect: {log}")
        for number, game in enumerate(GO_GAMES, 1):
            endings.append(show(server.play(number, game)))
            if bot.poll() is not None:
                raise SystemExit(f"gtp2ogs ended: {log}")
    server.close()
    return endings, len(server.chats), log


def show(ending: Ending) -> Ending:
    """Print a line for a game."""
    print(
        f"{ending.name:28} winner {ending.winner:9} {ending.why:14} {ending.moves:4} plies {ending.seconds:6.1f} s,"
        f" slowest move {ending.slowest:5.2f} s {' '.join(ending.faults)}",
        flush=True,
    )
    return ending


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bot", choices=["lichess-bot", "gtp2ogs"])
    parser.add_argument("path", type=Path, help="checkout of lichess-bot, or the built main.js of gtp2ogs")
    parser.add_argument("--python", default=sys.executable, help="Python with the packages of lichess-bot")
    parser.add_argument("--stockfish", help="opponent of some games [default: random moves]")
    parser.add_argument("--folder", type=Path, help="for configuration and log [default: a temporary folder]")
    arguments = parser.parse_args()
    folder = (arguments.folder or Path(tempfile.mkdtemp())).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    play: Callable[[], tuple[list[Ending], int, Path]]
    if arguments.bot == "lichess-bot":
        play = lambda: lichess_bot(arguments.path.absolute(), arguments.python, folder, arguments.stockfish)  # noqa: E731
    else:
        play = lambda: gtp2ogs(arguments.path.absolute(), folder)  # noqa: E731
    endings, chats, log = play()
    counts = {
        "games": len(endings),
        "crashes or not played": sum(e.why.startswith(("bot never", "declined", "abort")) for e in endings),
        "losses on time": sum(e.winner == "opponent" and e.why in ("outoftime", "Timeout") for e in endings),
        "illegal moves": sum(len(e.faults) for e in endings),
        "lines of chat": chats,
        "minutes": round((time.monotonic() - begun) / 60, 1),
    }
    print("\n".join(f"{name}: {value}" for name, value in counts.items()))
    print(f"log: {log}")


if __name__ == "__main__":
    main()
