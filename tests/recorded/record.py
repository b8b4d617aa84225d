"""Records what kibitz answers, and compares: the safety net of changes that must not change anything.

    python tests/recorded/record.py                        write the records beside this file
    python tests/recorded/record.py --compare              compare with them, with a tolerance for other machines
    python tests/recorded/record.py --exact DIR            write everything at full precision into DIR
    python tests/recorded/record.py --compare --exact DIR  compare with DIR, bit for bit
    python tests/recorded/record.py --texts                write the approved texts of all commands (recorded/texts.py)

Before a change write exact records, after it compare with them, on the same machine. kibitz is reached through its
command line, its engines and its files; `positions` alone imports something of it.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import itertools
import json
import lzma
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from kibitz import __version__

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # a program sees its own folder only
from support.patience import PATIENCE

HERE = Path(__file__).resolve().parent
OLD = HERE / "old"
"""Files that an earlier kibitz wrote, see README.md there: they must open as they did."""
PACKAGE = Path(str(find_spec("kibitz").origin)).parent  # type: ignore[union-attr]
CHESS_GAMES, GO_GAMES = PACKAGE / "data" / "games.pgn.zst", PACKAGE / "data" / "games.sgfl.zst"
NETWORKS = sorted(path.parent.name for path in PACKAGE.glob("networks/*/model.onnx"))
POSITIONS, WHOLE, BATCH, COLUMNS = 2000, 20, 100, 4
"""Positions of each network; the first of which every number is recorded; positions at once; numbers of the others."""
STEP = 1e-5
"""Precision of committed outputs, in parts of an output's scale (its largest number)."""
TOLERANCE = 1e-4
"""By how much an output may differ on another machine, in parts of its scale."""
CENTIPAWNS = 3
"""By how much a score or a chance in thousandths may differ on another machine."""
CHANCE, POINTS = 1.5e-4, 1.5e-2
"""By how much other numbers may: they are rounded to four decimals, those of Go to two."""
DIGITS = 2e-5
"""By how much numbers in texts may, or by one and a half of their last digit."""
ONE_MACHINE = {"bytes", "bytes_per_position"}
"""Keys that are compared with exact records only: they depend on libraries."""
TIMES = {"seconds", "games_per_second", "speed", "page"}
"""Keys that no two runs share."""
EXACT_ONLY = ("texts", "pages")
"""Parts that are not committed: their layout depends on the versions of libraries."""

GAMES = {"chess": (7, 412), "go": (3, 20)}
"""Games of the bundled files that are analyzed, by their number."""
RAW = ("--raw",)
FENS = (
    "startpos",
    "startpos moves e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6",
    "fen r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4",
    "fen 8/5pk1/6p1/7p/1P2r2P/6P1/R4PK1/8 b - - 0 40",
    "fen 8/1P4k1/8/8/8/8/6K1/3n4 w - - 0 60",
)
LIMITS = ("depth 2", "nodes 150")
GTP = (
    "protocol_version", "name", "list_commands", "boardsize 9", "komi 5.5", "play b E5", "play w C3", "genmove b",
    "genmove w", "genmove b", "genmove w", "gomill-explain_last_move", "showboard", "final_score",
    "final_status_list dead", "kibitz-score", "kibitz-owners", "kibitz-moves b", "kata-raw-nn 0", "kata-get-rules",
    "kata-set-rules japanese", "final_score", "kata-analyze b 10", "undo", "boardsize 13", "clear_board",
    "fixed_handicap 2", "play w C7", "genmove b", "kibitz-owners_gfx", "boardsize 19", "clear_board",
    "gogui-play_sequence b Q16 w D4 b Q3 w D16 b C6", "genmove w", "kibitz-score", "play b T20",
    "nonsense",
)  # fmt: skip


# What is measured


def positions(store: Path, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes and state of the first `count` of the fixed positions. The only place that imports internals of kibitz."""
    from kibitz.store.store import Store

    info = json.loads((store / "store.json").read_text(encoding="utf-8"))
    plies = np.diff(np.fromfile(store / info["folder"] / "offsets.i64", "<i8"))
    numbers = np.arange(count, dtype=np.int64)
    games = numbers * 617 % len(plies)
    codes, state = Store(store).replay(games, numbers * 7919 % (plies[games] + 1))
    return codes, state


def told(names: list[str], count: int) -> np.ndarray:
    """What a network hears beside the position, by name: nothing at every fourth one, else something that may be."""
    numbers = np.arange(count)[:, None]
    most = np.array([65 if name.endswith(("from", "to")) else 160 if name.endswith("rating") else 5 for name in names])
    least = np.array([75 if name.endswith("rating") else 0 for name in names])
    values = least + numbers * np.arange(31, 31 + len(names)) % (most - least)
    return np.where(numbers % 4 == 0, 0, values).astype(np.uint8)


def network(name: str, work: Path, count: int) -> dict[str, Any]:
    """A packaged network's outputs: the first positions' whole, a projection of the others'; what went in by hash."""
    import onnxruntime

    folder = PACKAGE / "networks" / name
    info = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    codes, state = positions(work / f"{info['game']}.store", count)
    if beyond := list(info.get("beyond", {})):
        state = np.concatenate([state, told(beyond, count)], axis=1)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
    outputs = [item.name for item in session.get_outputs()]
    whole: dict[str, np.ndarray] = {}
    short: dict[str, list[np.ndarray]] = {output: [] for output in outputs}
    for at in range(0, count, BATCH):
        answers = session.run(None, {"codes": codes[at : at + BATCH], "state": state[at : at + BATCH]})
        for output, answer in zip(outputs, answers, strict=True):
            if at == 0:
                whole[output] = answer[:WHOLE]
            short[output].append(projected(answer))
    found: dict[str, Any] = {}
    for output in outputs:
        found[f"{output}.whole"] = whole[output]
        found[f"{output}.short"] = np.concatenate(short[output])
    inputs = [hashlib.sha256(codes[at : at + BATCH].tobytes() + state[at : at + BATCH].tobytes()).hexdigest()[:16]
              for at in range(0, count, BATCH)]  # fmt: skip
    return {"inputs": inputs, "outputs": found}


def projected(answer: np.ndarray) -> np.ndarray:
    """An output by position as a few numbers: itself where it is one, else sums with fixed signs. float32 [n, few]."""
    flat = answer.reshape(len(answer), -1)
    if flat.shape[1] == 1:
        return flat.astype(np.float32)
    bits = np.random.PCG64(flat.shape[1]).random_raw(flat.shape[1] * COLUMNS) >> np.uint64(40) & np.uint64(1)
    signs = bits.astype(np.float64).reshape(-1, COLUMNS) * 2 - 1
    return (flat.astype(np.float64)[:, :, None] * signs).sum(axis=1).astype(np.float32)


class Refused(Exception):
    """A command that did not end well."""


def kibitz(*arguments: object, columns: int = 120) -> str:
    """What a command prints, in this process, so that libraries are loaded once."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    kept = sys.argv, os.environ.get("COLUMNS")
    sys.argv = ["kibitz", *map(str, arguments)]
    os.environ["COLUMNS"] = str(columns)
    code: object = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            runpy.run_module("kibitz", run_name="__main__")
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = kept[0]
        os.environ.pop("COLUMNS")
        if kept[1] is not None:
            os.environ["COLUMNS"] = kept[1]
        for stream in (out, err):
            stream.flush()
    texts = [stream.buffer.getvalue().decode() for stream in (out, err)]  # type: ignore[attr-defined]
    if code:
        raise Refused(f"kibitz {' '.join(map(str, arguments))}: ended with {code}: {texts[1]}")
    return texts[0]


def answered(*arguments: object) -> Any:
    """The JSON that a command prints."""
    return json.loads(kibitz(*arguments, "--json"))


def games_of(name: str) -> tuple[str, Path]:
    """The game of a packaged network, and its bundled games."""
    game = json.loads((PACKAGE / "networks" / name / "run.json").read_text(encoding="utf-8"))["game"]
    return game, CHESS_GAMES if game == "chess" else GO_GAMES


def make_stores(work: Path) -> None:
    kibitz("import", CHESS_GAMES, "--into", work / "chess.store", "--limit", 1000)
    kibitz("import", GO_GAMES, "--into", work / "go.store", "--limit", 60, "--referee", "playouts")


def option_names() -> dict[str, list[str]]:
    """The options of each command, and of each system where it has its own."""
    commands = re.findall(r"^  ([\w-]+) {2,}\S", kibitz("--help", columns=1000).split("Start here:")[1], re.MULTILINE)
    calls = [(), *((command,) for command in commands)]
    systems = [system["name"] for system in answered("systems")["systems"]]
    calls += [(command, system) for command in ("train", "tune") for system in systems]
    found = {}
    for call in calls:
        rows = re.findall(r"^  (--\S+)", kibitz(*call, "--help", columns=1000), re.MULTILINE)
        found[" ".join(("kibitz", *call))] = sorted(word for names in rows for word in names.split("/"))
    return found


def systems() -> dict[str, Any]:
    found = {"all": answered("systems")}
    for system in found["all"]["systems"]:
        found[system["name"]] = answered("systems", system["name"])
    return found


def stores(work: Path) -> dict[str, Any]:
    return {game: answered("info", work / f"{game}.store") for game in ("chess", "go")}


def analysis(name: str) -> dict[str, Any]:
    """`kibitz analyze` of a packaged network, on two bundled games: its own opinions, since a search may differ from
    machine to machine."""
    game, file = games_of(name)
    return {f"game {number}": answered("analyze", name, file, "--game", number, *RAW) for number in GAMES[game]}


def table(name: str, work: Path) -> Any:
    """`kibitz test` of a packaged network, without the outside programs; its page goes into the folder."""
    game, _ = games_of(name)
    without = ["--stockfish-positions", 0] if game == "chess" else ["--gnugo-positions", 0, "--playout-positions", 0]
    return answered(
        "test", name, work / f"{game}.store", "--split", "all", "--positions", 200, *without,
        "--out", work / f"{name}.html",
    )  # fmt: skip


def pages(work: Path) -> dict[str, list[str]]:
    """The pages that `table` wrote, as lines."""
    return {path.stem: path.read_text(encoding="utf-8").splitlines() for path in sorted(work.glob("*.html"))}


def texts(work: Path) -> dict[str, list[str]]:
    """What people read, as lines."""
    calls: list[tuple[object, ...]] = [("--help",), ("systems",)]
    calls += [("info", work / f"{game}.store") for game in ("chess", "go")]
    calls += [("systems", system["name"]) for system in answered("systems")["systems"]]
    for name in NETWORKS:
        game, file = games_of(name)
        call = ("analyze", name, file, "--game", GAMES[game][0], *RAW)
        calls += [call, (*call, "--pgn" if game == "chess" else "--sgf", "-")]
    commands = [call.removeprefix("kibitz ").split() for call in option_names() if call != "kibitz"]
    calls += [(*command, "--help") for command in commands]
    return {" ".join(map(str, call)): kibitz(*call).splitlines() for call in calls}


# Files of an earlier kibitz


def old_stores() -> dict[str, Any]:
    return {game: answered("info", OLD / f"{game}-store") for game in ("chess", "go")}


def old_run(name: str, work: Path) -> dict[str, Any]:
    """What a run says of a game; of `winner` also how it does on an old store."""
    game, file = ("go", GO_GAMES) if name == "gocnn" else ("chess", CHESS_GAMES)
    found = {"analyze": answered("analyze", OLD / name, file, "--game", GAMES[game][0], *RAW)}
    if name == "winner":
        out = ["--split", "all", "--stockfish-positions", 0, "--positions", 200, "--out", work / "old.html"]
        found["test"] = answered("test", OLD / name, OLD / "chess-store", *out)
    return found


def old_match(work: Path) -> dict[str, Any]:
    """A finished match is counted again; asked for two games more, it goes on."""
    games = work / "match.pgn"
    shutil.copy(OLD / "match.pgn", games)
    call = ("match", "chessnet", "convchess", "--nodes", 2, "--max-plies", 60, "--pgn", games, "--games")
    return {"again": answered(*call, 4), "on": answered(*call, 6)}


# Engines


@contextlib.contextmanager
def engine(*arguments: str) -> Iterator[tuple[Callable[[str], None], Callable[[], str]]]:
    """An engine as a program: a function that says a line to it, and one that reads a line."""
    command = [sys.executable, "-m", "kibitz", *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    patience = threading.Timer(PATIENCE, process.kill)
    patience.start()
    try:
        with process:
            assert process.stdin
            assert process.stdout
            into, out = process.stdin, process.stdout

            def say(line: str) -> None:
                into.write(line + "\n")
                into.flush()

            def hear() -> str:
                line = out.readline()
                if not line:
                    raise Refused(f"{' '.join(arguments)}: ended, or did not answer in {PATIENCE:.0f} seconds")
                return line.rstrip("\n")

            yield say, hear
            say("quit")
    finally:
        patience.cancel()


def uci(name: str) -> dict[str, Any]:
    """A packaged network as a UCI engine: its options, and what it plays by each method at fixed nodes and depth."""
    found: dict[str, Any] = {}
    with engine("uci", name) as (say, hear):

        def until(word: str) -> list[str]:
            lines = []
            while not (lines or [""])[-1].startswith(word):
                lines.append(hear())
            return lines

        say("uci")
        found["uci"] = [re.sub(r"(name Threads .* default) \d+", r"\1 *", line) for line in until("uciok")]
        methods = re.findall(r"var (\S+)", next(line for line in found["uci"] if "option name Method" in line))
        for option in ("Threads value 1", "Hash value 16", "MultiPV value 2", "UCI_ShowWDL value true"):
            say(f"setoption name {option}")
        settings = [[f"method value {method}"] for method in methods]
        if name == "convchess":
            settings.append(["method value topprob-negamax", "Value value chessnet-value"])
        if name == "human":
            settings.append(["temperature value 0", "UCI_LimitStrength value true", "UCI_Elo value 1300"])
        for options in settings:
            for option in options:
                say(f"setoption name {option}")
            say("isready")
            found[", ".join(options)] = answers = {"isready": until("readyok")}
            if len(answers["isready"]) > 1:  # it refuses the method, and says why
                say("setoption name method value auto")
                continue
            for fen, limit in zip(FENS, itertools.cycle(LIMITS), strict=False):
                for line in ("ucinewgame", "isready", f"position {fen}", f"go {limit}"):
                    say(line)
                until("readyok")
                answers[f"{fen}: {limit}"] = last_thought(until("bestmove"))
    return found


def last_thought(lines: list[str]) -> dict[str, Any]:
    """The last lines of a search, without times: what came before them depends on when it was told."""
    last: dict[str, Any] = {}
    for line in lines[:-1]:
        words = line.split()
        if "pv" not in words:
            last.setdefault("said", []).append(line)
            continue
        after = {name: words[words.index(name) + 1] for name in ("depth", "multipv", "nodes") if name in words}
        kind, score = words[words.index("score") + 1 :][:2]
        wdl = words[words.index("wdl") + 1 :][:3] if "wdl" in words else []
        last[f"line {after.pop('multipv', 1)}"] = {
            **{key: int(value) for key, value in after.items()}, kind: int(score), "wdl": [int(word) for word in wdl],
            "pv": words[words.index("pv") + 1 :],
        }  # fmt: skip
    last["end"] = lines[-1]
    return last


def gtp(name: str) -> list[list[str]]:
    """Commands with their answers."""
    found = []
    with engine("gtp", name, "--threads", "1", "--seed", "1") as (say, hear):
        for command in GTP:
            say(command)
            lines = [hear()]
            if command.startswith("kata-analyze"):  # until the next command
                lines.append(hear())
                say("name")
            while (line := hear()) or not lines:
                if not command.startswith("kata-analyze"):
                    lines.append(line)
            if command.startswith("kata-analyze"):
                while hear():
                    pass
            found.append([command, *lines])
    return found


def engines() -> dict[str, Callable[[], Any]]:
    """A function for each transcript."""
    found: dict[str, Callable[[], Any]] = {}
    for name in NETWORKS:
        if games_of(name)[0] == "go":
            found[f"gtp {name}"] = lambda name=name: gtp(name)
        elif name != "winner":  # it says who wins, and neither moves nor values for the mover
            found[f"uci {name}"] = lambda name=name: uci(name)
    return found


def measure(count: int, parts: set[str] | None = None) -> dict[str, Any]:
    """Everything, or some of it, by part. Network parts hold arrays, the others what JSON can say."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as pool:
        work = Path(folder).resolve()
        waiting = {
            part: pool.submit(run) for part, run in engines().items() if parts is None or part in parts
        }  # fmt: skip
        make_stores(work)
        makers: dict[str, Callable[[], Any]] = {
            "options": option_names,
            "systems": systems,
            "info": lambda: stores(work),
            **{f"analyze {name}": lambda name=name: analysis(name) for name in NETWORKS},
            **{f"test {name}": lambda name=name: table(name, work) for name in NETWORKS},
            "old stores": old_stores,
            **{
                f"old {path.parent.name}": lambda path=path: old_run(path.parent.name, work)
                for path in sorted(OLD.glob("*/run.json"))
            },
            "old match": lambda: old_match(work),
            "pages": lambda: pages(work),
            "texts": lambda: texts(work),
            **{f"network {name}": lambda name=name: network(name, work, count) for name in NETWORKS},
        }
        for part, make in makers.items():
            if parts is None or part in parts:
                found[part] = make() if part.startswith("network ") else tidied(make(), work)
        for part, future in waiting.items():
            found[part] = tidied(future.result(), work)
    return found


def tidied(value: Any, work: Path) -> Any:
    """Without times, and with placeholders for the folders and the version."""
    if isinstance(value, dict):
        return {tidied(key, work): "*" if key in TIMES else tidied(item, work) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [tidied(item, work) for item in value]
    if isinstance(value, str):
        names = {
            str(work): "WORK",
            str(HERE): "RECORDED",
            sys.executable: "PYTHON",
            str(PACKAGE): "KIBITZ",
            f"kibitz {__version__}": "kibitz VERSION",
        }
        for text, name in names.items():
            value = value.replace(text, name)
    return value


# Files


def file_of(part: str, folder: Path) -> Path:
    return folder / (part.replace(" ", "-") + (".npz" if part.startswith("network ") else ".json.xz"))


def write(found: dict[str, Any], folder: Path, exact: bool) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for part, value in found.items():
        if part in EXACT_ONLY and not exact:
            continue
        path = file_of(part, folder)
        if part.startswith("network "):
            arrays = dict(value["outputs"]) if exact else {}
            for name, array in () if exact else value["outputs"].items():
                scale = float(np.abs(array).max())
                arrays[name] = np.rint(array.astype(np.float64) / (scale * STEP)).astype(np.int32)
                arrays[f"{name}.scale"] = np.array(scale)
            (np.savez if exact else np.savez_compressed)(path, inputs=np.array(value["inputs"]), **arrays)
        else:
            text = json.dumps(value if exact else rounded(value), indent=1, ensure_ascii=False)
            path.write_bytes(lzma.compress(text.encode()))


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return round(value, 7) if isinstance(value, float) else value


def read(part: str, folder: Path) -> Any:
    """A part as it was recorded. Raises FileNotFoundError where there is no record of it."""
    path = file_of(part, folder)
    if not part.startswith("network "):
        return json.loads(lzma.decompress(path.read_bytes()))
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    inputs = arrays.pop("inputs").tolist()
    scales = {name.removesuffix(".scale"): float(arrays.pop(name)) for name in list(arrays) if name.endswith(".scale")}
    outputs = {name: array * (scales[name] * STEP) if name in scales else array for name, array in arrays.items()}
    return {"inputs": inputs, "outputs": outputs, "scales": scales}


# Comparison


def compare(part: str, new: Any, folder: Path, exact: bool = False) -> list[str]:
    """What differs from the record, a line each; nothing where nothing does. A measurement of fewer positions is
    compared with the first of them."""
    try:
        old = read(part, folder)
    except FileNotFoundError:
        return [f"{part}: no record of it in {folder}"]
    if part.startswith("network "):
        return [f"{part}: {line}" for line in _arrays(old, new, exact)]
    return list(_values(old, new, exact, f"{part}:"))


def _arrays(old: Any, new: Any, exact: bool) -> Iterator[str]:
    if old["inputs"][: len(new["inputs"])] != new["inputs"]:
        yield "the positions are not the same"
    if set(old["outputs"]) != set(new["outputs"]):
        yield f"outputs were {sorted(old['outputs'])}, are {sorted(new['outputs'])}"
        return
    for name, now in new["outputs"].items():
        was = old["outputs"][name][: len(now)]
        if was.shape[1:] != now.shape[1:] or len(was) < len(now) or (exact and was.dtype != now.dtype):
            yield f"{name}: was {was.dtype} {was.shape}, is {now.dtype} {now.shape}"
        elif exact and was.tobytes() != now.tobytes():
            wrong = np.flatnonzero((was != now).reshape(len(now), -1).any(axis=1))
            yield f"{name}: {len(wrong)} of {len(now)} positions differ, by {np.abs(was - now).max():.3g} at most"
        elif not exact:
            apart = np.abs(was - now).reshape(len(now), -1).max(axis=1) / old["scales"][name]
            if not (apart.max() <= TOLERANCE):
                count = int((~(apart <= TOLERANCE)).sum())
                yield f"{name}: {count} of {len(now)} positions differ, by {apart.max():.3g} of the scale at most"


def _values(old: Any, new: Any, exact: bool, where: str) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            here = f"{where} / {key}"
            if key not in new or key not in old:
                yield f"{here}: {'is gone' if key in old else 'is new'}"
            elif exact or key not in ONE_MACHINE:
                yield from _values(old[key], new[key], exact, here)
        if exact and list(old) != list(new) and set(old) == set(new):
            yield f"{where}: the keys have another order"
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{where}: had {len(old)} entries, has {len(new)}"
        for number, (was, now) in enumerate(zip(old, new, strict=False)):
            yield from _values(was, now, exact, f"{where} [{number}]")
    elif not (_same(old, new) if exact else _alike(old, new, where)):
        yield f"{where}: was {old!r}, is {new!r}"


def _same(old: Any, new: Any) -> bool:
    return type(old) is type(new) and (old == new or repr(old) == repr(new))


def _alike(old: Any, new: Any, where: str) -> bool:
    """Whether two values are the same but for what another machine's arithmetic may change."""
    if isinstance(old, str) and isinstance(new, str):
        number = r"-?\d+\.\d+"
        if re.sub(number, "", old) != re.sub(number, "", new):
            return False
        pairs = zip(re.findall(number, old), re.findall(number, new), strict=True)
        return all(abs(float(a) - float(b)) <= max(DIGITS, 1.5 * 10.0 ** -len(a.split(".")[1])) for a, b in pairs)
    if type(old) is int and type(new) is int and (where.endswith(" / cp") or " / wdl [" in where):
        return abs(old - new) <= CENTIPAWNS
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in (old, new))
    if numbers and isinstance(old, float) | isinstance(new, float):
        return abs(old - new) <= (POINTS if "gocnn" in where else CHANCE * max(1.0, abs(old)))
    return _same(old, new)


def write_texts(commands: list[str] | None) -> None:
    sys.path.insert(0, str(HERE.parent))
    from recorded import texts

    with tempfile.TemporaryDirectory() as folder:
        texts.prepare(Path(folder))
        texts.write(Path(folder), commands or list(texts.CALLS))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compare", action="store_true", help="compare with the records instead of writing them")
    parser.add_argument("--exact", type=Path, metavar="DIR", help="records at full precision, in this folder")
    parser.add_argument("--positions", type=int, default=POSITIONS, help="positions of each network")
    parser.add_argument("--parts", help="some parts only, with commas between them: 'info,uci human,network winner'")
    parser.add_argument("--texts", action="store_true", help="write the approved texts of --parts, or of all commands")
    given = parser.parse_args()
    if given.texts:
        write_texts(given.parts.split(",") if given.parts else None)
        return 0
    found = measure(given.positions, set(given.parts.split(",")) if given.parts else None)
    folder, exact = given.exact or HERE, given.exact is not None
    if not given.compare:
        write(found, folder, exact)
        return 0
    parts = [part for part in found if exact or part not in EXACT_ONLY]
    wrong = [line for part in parts for line in compare(part, found[part], folder, exact)]
    print("\n".join(wrong) if wrong else f"{len(parts)} parts are as they were recorded")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
