"""The first minute of a newcomer: what the first and the second call of each command cost, and the first page.

Each command runs twice in a home that is empty before the first run, so that nothing is compiled or cached. The page is
`kibitz board` with another empty home: the first evaluation and the first checked game of chess and of Go.

Processor seconds (user and system, of the process and those that it starts) are compared, since other work changes the
wall time. Their parts are imports, compiling, loading the network and the rest; --kernels lists each kernel.

python bench/bench_first_minute.py                       # all, about five minutes
python bench/bench_first_minute.py --only "analyze human" --kernels 10
python bench/bench_first_minute.py --json figures.json
"""

from __future__ import annotations

import argparse
import importlib.resources
import io
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import zstandard

ROOT = Path(__file__).parents[1]
COMMANDS = {
    "help": ["--help"],
    "info human": ["info", "human"],
    "uci human": ["uci", "human"],
    "analyze human": ["analyze", "human", "game.pgn"],
    "analyze winner": ["analyze", "winner", "game.pgn"],
    "analyze gohuman": ["analyze", "gohuman", "game.sgf"],
    "prepare": ["prepare"],
}
SAYS = {"uci human": "uci\nisready\nquit\n"}
PLIES = 80
MEASURE = """
import json, os, sys, time
begun = time.process_time()
from kibitz import cli, interrupts
imported = time.process_time() - begun
kernels, stack, loading = [], [], [0.0]
def watch():
    from numba.core import event
    class Watch(event.Listener):
        def on_start(self, now):
            stack.append([time.thread_time(), 0.0])
        def on_end(self, now):
            begun, inside = stack.pop()
            took = time.thread_time() - begun
            function = now.data["dispatcher"].py_func
            kernels.append([f"{function.__module__}.{function.__qualname__}", took - inside])
            if stack:
                stack[-1][1] += took
    event.register("numba:compile", Watch())
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "kibitz.kernels":
            sys.meta_path.remove(self)
            watch()
sys.meta_path.insert(0, Finder())
def timed(function):
    def call(*arguments, **options):
        begun = time.process_time()
        try:
            return function(*arguments, **options)
        finally:
            loading[0] += time.process_time() - begun
    return call
import builtins
plain_import, depth, spent = builtins.__import__, [0], [0.0]
def importing(*arguments, **options):
    depth[0] += 1
    begun = time.process_time()
    try:
        return plain_import(*arguments, **options)
    finally:
        depth[0] -= 1
        if not depth[0]:
            spent[0] += time.process_time() - begun
builtins.__import__ = importing
if "analyze" in sys.argv:
    import onnxruntime
    onnxruntime.InferenceSession.__init__ = timed(onnxruntime.InferenceSession.__init__)
code = cli.run(sys.argv[1:])
sys.stdout.flush()
with open(os.environ["PARTS"], "w") as file:
    json.dump({"imports": imported + spent[0], "network": loading[0], "kernels": kernels, "code": code}, file)
"""


def write_games(folder: Path) -> None:
    """Two of the bundled games: game.pgn of about PLIES plies, and game.sgf on 9 × 9."""
    data = importlib.resources.files("kibitz") / "data"

    def unpacked(name: str) -> str:
        stream = zstandard.ZstdDecompressor().stream_reader(io.BytesIO((data / name).read_bytes()))
        return stream.read().decode()

    def plies(game: str) -> int:
        return len(re.findall(r"(?<![\w.])(?:[KQRBN]?[a-h1-8]?[a-h1-8]?x?[a-h][1-8]|O-O)", game.split("\n\n", 1)[1]))

    games = ["[Event " + rest for rest in unpacked("games.pgn.zst").split("[Event ")[1:]]
    (folder / "game.pgn").write_text(min(games, key=lambda game: abs(plies(game) - PLIES)))
    (folder / "game.sgf").write_text(next(game for game in unpacked("games.sgfl.zst").splitlines() if "SZ[9]" in game))


def environment(home: Path, sources: Path) -> dict[str, str]:
    left_out = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    kept = {key: value for key, value in os.environ.items() if key not in left_out}
    return {**kept, "HOME": str(home), "PYTHONPATH": str(sources), "OMP_NUM_THREADS": "1"}


def spent() -> float:
    """Processor seconds of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def call(name: str, folder: Path, home: Path, sources: Path) -> dict[str, Any]:
    """One run of a command: its figures. Raises CalledProcessError if it fails."""
    parts_file = folder / "parts.json"
    begun, before, first = time.monotonic(), spent(), None
    with subprocess.Popen(
        [sys.executable, "-c", MEASURE, *COMMANDS[name]], cwd=folder, text=True, stdin=subprocess.PIPE,
        env={**environment(home, sources), "PARTS": str(parts_file)}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdin
        assert process.stdout
        process.stdin.write(SAYS.get(name, ""))
        process.stdin.close()
        for line in process.stdout:
            if first is None and line.strip():
                first = time.monotonic() - begun
    parts = json.loads(parts_file.read_text())
    if parts["code"] or process.returncode:
        raise subprocess.CalledProcessError(parts["code"], name)
    total, compiling = spent() - before, sum(took for _, took in parts["kernels"])
    return {
        "seconds": total, "wall": time.monotonic() - begun, "first_line": first, "imports": parts["imports"],
        "compiling": compiling, "network": parts["network"],
        "computing": max(0.0, total - parts["imports"] - compiling - parts["network"]),
        "functions": len(parts["kernels"]), "kernels": sorted(parts["kernels"], key=lambda one: -one[1]),
    }  # fmt: skip


def page(folder: Path, home: Path, sources: Path) -> dict[str, float]:
    """Wall seconds until the page of an empty home has answered: a chess evaluation, a checked chess move, and Go."""
    sys.path.insert(0, str(ROOT / "tests"))
    from support.board_client import Client

    board = subprocess.Popen(
        [sys.executable, "-m", "kibitz", "board", "--no-browser"], cwd=folder, env=environment(home, sources),
        text=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert board.stdout
        begun = time.monotonic()
        found = re.search(r":(\d+)", board.stdout.readline())
        assert found
        took = {"board ready": time.monotonic() - begun}
        client = Client(int(found[1]))
        chess = {"game": "chess", "moves": ["e2e4", "e7e5"]}
        for name, path, asked in (
            ("page", "", {}),
            ("chess evaluation", "analyse", {"network": "human", "line": chess}),
            ("chess game checked", "judge", {"network": "human", "line": chess, "from": 1}),
            ("Go evaluation", "analyse", {"network": "gohuman", "line": {"game": "go", "size": 9, "moves": ["E5"]}}),
        ):
            begun = time.monotonic()
            if path:
                client.stream(f"/api/{path}", {**asked, "seq": 1})
            else:
                client.get("/")
            took[name] = time.monotonic() - begun
        return took
    finally:
        board.terminate()
        board.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=[*COMMANDS, "page"], default=[*COMMANDS, "page"])
    parser.add_argument("--kernels", type=int, default=0, metavar="N", help="List the N slowest kernels of each call.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="Write all figures there, too.")
    # resolved, because the commands run in another folder
    parser.add_argument(
        "--sources", type=lambda path: Path(path).resolve(), default=ROOT / "src",
        help="Measure this tree, to compare two.",
    )  # fmt: skip
    given = parser.parse_args()
    print(
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; processor seconds, and wall seconds to the first line"
    )
    head = f"{'command':<16} {'call':<6} {'all':>6} {'imports':>8} {'compile':>8} {'network':>8} {'compute':>8}"
    print(f"{head} {'kernels':>8} {'1st line':>9}")
    figures: dict[str, Any] = {"load": os.getloadavg()[0], "cores": os.cpu_count()}
    for name in given.only:
        with tempfile.TemporaryDirectory(prefix="kibitz-first-") as temporary:
            folder = Path(temporary)
            home = folder / "home"
            home.mkdir()
            write_games(folder)
            if name == "page":
                figures[name] = page(folder, home, given.sources)
                print("page, wall seconds: " + ", ".join(f"{key} {took:.1f}" for key, took in figures[name].items()))
                continue
            for which in ("first", "second"):
                done = call(name, folder, home, given.sources)
                figures.setdefault(name, {})[which] = done
                first = "" if done["first_line"] is None else f"{done['first_line']:.1f}"
                print(
                    f"{name:<16} {which:<6} {done['seconds']:6.2f} {done['imports']:8.2f} {done['compiling']:8.2f}"
                    f" {done['network']:8.2f} {done['computing']:8.2f} {done['functions']:8} {first:>9}",
                    flush=True,
                )
                for kernel, took in done["kernels"][: given.kernels]:
                    print(f"    {took:6.2f} {kernel}")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
