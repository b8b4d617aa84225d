"""What is fuzzed: each target takes any bytes, and raises only where kibitz has a fault.

A `KibitzError`, or the error that a reader documents, is the right answer to bytes that are wrong.
"""

from __future__ import annotations

import asyncio
import bz2
import contextlib
import gzip
import importlib.resources
import io
import json
import os
import shutil
import struct
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess
import numpy as np
import onnx
import zstandard

from kibitz.engines.uci.engine import UciEngine, read_lines
from kibitz.engines.uci.options import Options
from kibitz.engines.uci.parser import PositionCommand
from kibitz.errors import KibitzError
from kibitz.games.chess.filters import Filter
from kibitz.games.chess.io import pgn
from kibitz.games.chess.io.reader import parse
from kibitz.games.chess.io.scan import scan
from kibitz.games.go.filters import Filter as GoFilter
from kibitz.games.go.io.blocks import Piece, doubles_in, gather
from kibitz.games.go.io.ingest import SgfReader
from kibitz.games.go.io.ingest import finish as finish_go
from kibitz.games.go.io.scan import find_games
from kibitz.games.go.io.sgf import parse_record, write_sgf
from kibitz.games.go.rules import Illegal
from kibitz.personal.book import Book
from kibitz.play.chess.book import OpeningBook
from kibitz.play.result import PvLine, SearchLimits, SearchResult
from kibitz.received import is_self_contained, read_array
from kibitz.records import Stream
from kibitz.runs import Run, packaged
from kibitz.store.store import Store
from kibitz.store.writer import StoreWriter
from kibitz.web.app import create
from support.go_fakes import FakeOwners
from support.gtp_bench import SETTINGS
from support.gtp_bench import Bench as GtpBench
from support.helpers import import_games

Target = Callable[[bytes], None]


@dataclass(frozen=True)
class Fuzzed:
    """A target, ready to run, and the inputs that it begins with."""

    run: Target
    seeds: list[bytes]


def data(name: str) -> bytes:
    packed = (importlib.resources.files("kibitz") / "data" / name).read_bytes()
    return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed)).read()


def chess_seeds() -> list[bytes]:
    games = [b"[Event " + game for game in data("games.pgn.zst").split(b"[Event ")[1:13]]
    return [
        *games,
        b'[FEN "8/8/8/8/8/8/4k3/6K1 w - - 0 1"]\n\n1. Kh1 Kf1 *\n',
        b"1. e4 {[%clk 0:03:00] [%eval 0.3]} e5 $1 (1... c5 2. Nf3 (2. c3 d5)) 2. Nf3 ; rest\n% escaped\n Nc6 1-0\n",
        '[White "Müller \\" \\\\"]\n[Variant "Chess960"]\n\n1. O-O-O 0-0 e8=Q+ 1/2-1/2\n'.encode("latin-1"),
        "1. ♘f3 Sf6 2. Cf3 e2e4 -- Z0 *".encode(),
    ]


def go_seeds() -> list[bytes]:
    games = [b"(;" + game for game in data("games.sgfl.zst").split(b"(;")[1:13]]
    return [
        *games,
        b"(;GM[1]FF[4]SZ[9]KM[6.5]HA[2]AB[cc][gg]PL[W]C[a \\] b];W[ee](;B[dd])(;B[ff];AE[ee]))",
        b"(;SZ[19]AB[aa:cc];B[tt];W[];B[zz])(;SZ[5:7];B[aa])",
        b"(;CA[Shift_JIS]SZ[13]PB[\x83\x5c]RE[B+R]RU[Japanese];B[aa];W[ba])",
    ]


# Records


def import_pgn() -> Fuzzed:
    keep = Filter()

    def run(text: bytes) -> None:
        begins, bodies = scan(text)
        block_text = pgn._Text("x", text, begins, bodies, True)
        batch = pgn._read(keep, block_text)
        assert batch.read == len(batch) + batch.rejections.counts.total()

    return Fuzzed(run, chess_seeds())


def analyze_pgn() -> Fuzzed:
    def run(text: bytes) -> None:
        record = parse(text[1:].decode("utf-8", "replace"), allow_null=bool(text[:1] > b"\x7f"))
        if record is not None and not record.refused:  # refused: from a position that there is not, or a variant
            board = record.game.board()
            for move in record.game.mainline_moves():
                assert not move or board.is_legal(move), move
                board.push(move)

    return Fuzzed(run, [mark + seed for seed in chess_seeds() for mark in (b"\0", b"\xff")])


def import_sgf() -> Fuzzed:
    keep = GoFilter()
    assert SgfReader

    def run(text: bytes) -> None:
        doubles = doubles_in(text)
        begins, ends, closed = find_games(text, doubles)
        if len(begins):
            for games in gather([Piece("x", text, begins, ends, closed, 0, doubles.of(begins))]):
                finish_go(games, keep)

    return Fuzzed(run, go_seeds())


def read_sgf() -> Fuzzed:
    def run(text: bytes) -> None:
        try:
            record = parse_record(text)
        except ValueError:
            return
        with contextlib.suppress(Illegal):
            record.board()
        again = parse_record(write_sgf(record))
        assert (again.moves, again.size) == (record.moves, record.size)

    return Fuzzed(run, go_seeds())


def packed_files() -> Fuzzed:
    text = b"".join(b"line %d\n" % number for number in range(40))
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.pgn", text)
    path = scratch() / "a.zip"

    def run(packed: bytes) -> None:
        path.write_bytes(packed)
        for name in (str(path), f"{path}:a.pgn"):
            with contextlib.suppress(KibitzError):
                stream = Stream(name)
                with contextlib.closing(stream):
                    assert sum(map(len, stream.blocks(1 << 16))) < 1 << 28

    packers = (gzip.compress, bz2.compress, zstandard.ZstdCompressor(write_checksum=True).compress)
    return Fuzzed(run, [text, zipped.getvalue(), *(pack(text) for pack in packers)])


# Positions and protocols


def fen() -> Fuzzed:
    def run(text: bytes) -> None:
        command = PositionCommand()
        command.set(["fen", *text.decode("utf-8", "replace").split()])
        board = command.board
        for move in list(board.legal_moves)[:2]:
            board.push(move)
            board.pop()

    lines = (
        chess.STARTING_FEN,
        "r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1",
        "8/8/8/8/8/8/8/8 w - - 0 1",
        "4k3/8/8/8/8/8/8/4K3 b - - 99 2147483647 moves e8e7 e1e2",
        "nbqrkbrn/pppppppp/8/8/8/8/PPPPPPPP/NBQRKBRN w GDgd - 0 1",
    )
    return Fuzzed(run, [line.encode() for line in lines])


class FirstMove:
    """A player that plays the first legal move."""

    def __init__(self, options: Options):
        pass

    def new_game(self) -> None:
        pass

    def think(self, board: chess.Board, limits: SearchLimits, stop: Any, tell: Any) -> SearchResult:
        move = (limits.moves or list(board.legal_moves))[0]
        return SearchResult(1, 1, 0.0, (PvLine(move, 0, None, 0.5, (move,), (0, 1000, 0)),))


def uci() -> Fuzzed:
    def run(text: bytes) -> None:
        output = io.BytesIO()
        engine = UciEngine("x", FirstMove, Options(threads=1), output)  # type: ignore[arg-type]
        # A search that waits for `stop` would wait for the end; files are named nowhere else.
        lines = [line for line in read_lines(io.BytesIO(text), str) if line.split()[:1] != ["quit"]][:40]
        lines = [line for line in lines if "file" not in line.lower() and "path" not in line.lower()]
        asked = sum(line.lower().split()[:1] == ["go"] for line in lines)
        engine.run(iter([*lines, "stop", "isready"]))
        said = output.getvalue().decode().splitlines()
        assert "readyok" in said
        assert sum(line.startswith("bestmove ") for line in said) == asked, said

    return Fuzzed(
        run,
        [
            b"uci\nisready\nucinewgame\nposition startpos moves e2e4 e7e5\ngo depth 1\nstop\n",
            b"setoption name Hash value 1\nsetoption name MultiPV value 3\nsetoption name Clear Hash\ngo nodes 5\n",
            b"position fen 4k3/8/8/8/8/8/8/4K3 w - - 0 1 moves e1e2\ngo wtime 1000 btime 1000 winc 10 movestogo 3\n",
            b"go infinite\nstop\ngo ponder wtime 1 btime 1\nponderhit\ngo searchmoves e2e4 d2d4 mate 3\ndebug on\n",
        ],
    )


def gtp() -> Fuzzed:
    def run(text: bytes) -> None:
        lines = [line for line in read_lines(io.BytesIO(text), str) if "quit" not in line.lower()][:30]
        lines = [line for line in lines if not any(word in line.lower() for word in ("sgf", "file", "playouts"))]
        bench = GtpBench(FakeOwners(), SETTINGS)
        bench.say("boardsize 9", *lines, "", "424242 name")
        assert bench.text.endswith("=424242 kibitz\n\n"), bench.text[-200:]
        assert "internal error" not in bench.text, bench.text

    return Fuzzed(
        run,
        [
            b"boardsize 9\nclear_board\nkomi 6.5\nplay b E5\ngenmove w\nundo\nfinal_score\nshowboard\n",
            b"1 list_commands\n2 known_command play\nfixed_handicap 2\nfinal_status_list dead\n# x\nreg_genmove b\n",
            b"kata-set-rules chinese\nkata-raw-nn all\nlz-analyze 1\n\ntime_settings 10 5 1\ntime_left b 3 0\n",
            b'kata-set-rules {"ko":"SIMPLE"}\nset_free_handicap A1 C3\nkata-get-rules\nkata-genmove_analyze b 1\n',
        ],
    )


def http() -> Fuzzed:
    app, _ = create([], 8765, [])
    loop = asyncio.new_event_loop()
    paths = [
        "load",
        "save",
        "line",
        "move",
        "planes",
        "targets",
        "occlusion",
        "analyse",
        "judge",
        "think",
        "networks",
        "opinion",
        "candidates",
    ]

    def run(body: bytes) -> None:
        path = "/api/" + paths[body[0] % len(paths)] if body else "/"
        status = loop.run_until_complete(asyncio.wait_for(ask(app, path, body[1:]), 600))  # the first ones compile
        assert status in (200, 400, 404, 405, 409, 413), (status, path, body)

    line = {"game": "chess", "moves": ["e2e4", "e7e5"]}
    go_line = {"game": "go", "size": 9, "moves": ["E5", "C3", "pass"], "komi": 6.5, "rules": "chinese"}
    asked = {"network": "winner", "seq": 1, "method": "best", "square": "e2"}
    bodies = [
        {"line": line, **asked}, {"line": go_line}, {"text": "1. e4 e5 (1... c5) 2. Nf3 *"},
        {"text": "(;SZ[9];B[ee];W[cc])"}, {"line": line, "move": "g1f3"}, {"line": line, **asked, "from": 0, "to": 1},
        {"line": go_line, "network": "gocnn"}, {"text": "4k3/8/8/8/8/8/8/4K3 w - - 0 1"},
        {"line": {"game": "chess", "fen": chess.STARTING_FEN, "moves": []}},
    ]  # fmt: skip
    seeds = [bytes([at]) + json.dumps(body).encode() for at in range(len(paths)) for body in bodies]
    return Fuzzed(run, [*seeds, b"\0" + b"[" * 2000, b"\1" + b'{"a":' * 500])


async def ask(app: Any, path: str, body: bytes) -> int:
    """The status of the application's answer to a POST; 0 where it gave none."""
    scope = {
        "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
        "headers": [(b"host", b"127.0.0.1:8765"), (b"content-type", b"application/json")], "http_version": "1.1",
        "scheme": "http", "server": ("127.0.0.1", 8765), "client": ("127.0.0.1", 1), "root_path": "",
    }  # fmt: skip
    status, sent = 0, False
    over = asyncio.Event()

    async def receive() -> dict[str, Any]:
        nonlocal sent
        if sent:
            await over.wait()
            return {"type": "http.disconnect"}
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
        elif not message.get("more_body"):
            over.set()

    await app(scope, receive, send)
    return status


# Files of kibitz


def scratch() -> Path:
    """A folder in memory, where there is one."""
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="kibitz-soak-", dir=base))


def patched(whole: bytes, edits: bytes) -> bytes:
    """Some bytes exchanged: (three bytes of place, one of value) each; the rest of a last one cuts the file."""
    found = bytearray(whole)
    for at in range(0, len(edits) - 3, 4):
        place, value = int.from_bytes(edits[at : at + 3], "little"), edits[at + 3]
        if found:
            found[place % len(found)] = value
    if len(edits) % 4 == 3 and found:
        del found[int.from_bytes(edits[-3:], "little") % len(found) :]
    return bytes(found)


def harmed(folder: Path, use: Callable[[], None], names: list[str]) -> Fuzzed:
    """One file of a folder is exchanged or patched, the folder used, and the file put back.

    The first byte says which file, its highest bit whether the rest patches it or is the file.
    """
    whole = {name: (folder / name).read_bytes() for name in names}

    def run(text: bytes) -> None:
        if not text:
            return
        name = names[(text[0] & 127) % len(names)]
        (folder / name).write_bytes(patched(whole[name], text[1:]) if text[0] & 128 else text[1:])
        try:
            with contextlib.suppress(KibitzError):
                use()
        finally:
            (folder / name).write_bytes(whole[name])

    seeds = [bytes([at]) + whole[name] for at, name in enumerate(names) if len(whole[name]) < 4000]
    seeds += [
        bytes([128 + at]) + os.urandom(4 * edits + cut) for at in range(len(names)) for edits, cut in ((1, 0), (4, 3))
    ]
    return Fuzzed(run, seeds)


def store() -> Fuzzed:
    folder = scratch()
    import_games(folder / "chess", limit=12)
    from kibitz.games.go import game as go

    (folder / "games.sgf").write_bytes(b"".join(go_seeds()[:12]))
    with StoreWriter(folder / "go", "go", go.COLUMNS, go.STANDARD_START, go.PER_MOVE, per_game=go.PER_GAME) as writer:
        for batch in SgfReader([str(folder / "games.sgf")], GoFilter()):
            writer.add(batch)
        writer.commit({})

    def use() -> None:
        for name in ("chess", "go"):
            with contextlib.suppress(KibitzError):
                found = Store(folder / name)
                games = np.arange(len(found))
                found.replay(games, found.plies)
                found.replay(games, found.plies // 2)
                found.table()
                found.sides()
                found.near_duplicates()
                if len(found):
                    found.row(0)
                for array in ("clock", "evaluation"):
                    found.per_move(array)
                found.per_game("owner")
                if name == "chess":
                    found.captures()

    names = [
        str(path.relative_to(folder)) for kind in ("chess", "go") for path in sorted((folder / kind).rglob("*"))
        if path.is_file()
    ]  # fmt: skip
    return harmed(folder, use, names)


def run_json() -> Fuzzed:
    folder = scratch() / "r"
    shutil.copytree(packaged()["winner"], folder)

    def use() -> None:
        found = Run(folder)
        assert found.system
        assert found.settings
        _ = found.side_inputs, found.person, found.takes_ratings, found.split
        found.trained()
        found.checkpoints()
        found.metrics()

    return harmed(folder, use, ["run.json"])


def weights() -> Fuzzed:
    folder = scratch() / "r"
    shutil.copytree(packaged()["winner"], folder)

    def use() -> None:
        Run(folder).load_weights()

    fuzzed = harmed(folder, use, ["best.safetensors"])
    body = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    return Fuzzed(fuzzed.run, [*fuzzed.seeds, b"\0" + struct.pack("<Q", len(body)) + body + bytes(8)])


def onnx_files() -> Fuzzed:
    path = scratch() / "m.onnx"
    from test_received import model

    def run(text: bytes) -> None:
        path.write_bytes(text)
        try:
            inside = is_self_contained(path)
        except ValueError:
            return
        try:
            read = onnx.ModelProto.FromString(text)
        except Exception:
            return
        assert not (inside and names_outside_data(read)), "weights elsewhere were not seen"

    places = ("initializer", "attribute", "branch", "sparse", "none")
    return Fuzzed(run, [model(place).SerializeToString() for place in places])


def names_outside_data(message: Any) -> bool:
    """Whether any tensor in a protobuf message has its data elsewhere; slow, and obviously right."""
    if isinstance(message, onnx.TensorProto) and (message.external_data or message.data_location):
        return True
    for _, value in message.ListFields():
        inner = value if hasattr(value, "__iter__") and not isinstance(value, (str, bytes)) else [value]
        if any(names_outside_data(part) for part in inner if hasattr(part, "ListFields")):
            return True
    return False


def npy() -> Fuzzed:
    path = scratch() / "a.npy"

    def run(text: bytes) -> None:
        path.write_bytes(text)
        with contextlib.suppress(ValueError):
            read_array(path, np.uint32).sum()
        with contextlib.suppress(KibitzError):
            _ = Book.open(path).positions

    def written(array: np.ndarray) -> bytes:
        file = io.BytesIO()
        np.save(file, array)
        return file.getvalue()

    rows = np.zeros(3, [("position", "<u8"), ("move", "<u2"), ("count", "<u4")])
    return Fuzzed(run, [written(np.arange(9, dtype=np.uint32)), written(rows), written(np.zeros((2, 2)))])


def polyglot() -> Fuzzed:
    import chess.polyglot

    path = scratch() / "a.bin"
    boards = [chess.Board(), chess.Board("r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1")]

    def run(text: bytes) -> None:
        path.write_bytes(text)
        with contextlib.suppress(KibitzError):
            book = OpeningBook(str(path), 1)
            with contextlib.closing(book):
                for board in boards:
                    found = book.draw(board)
                    assert found is None or board.is_legal(found[0])

    def entry(board: chess.Board, move: str, weight: int) -> bytes:
        found = chess.Move.from_uci(move)
        packed = found.to_square | found.from_square << 6
        return struct.pack(">QHHI", chess.polyglot.zobrist_hash(board), packed, weight, 0)

    first, second = entry(boards[0], "e2e4", 3), entry(boards[1], "e1h1", 0)
    return Fuzzed(run, [first, second, first * 2, b"".join(sorted([first, second])), bytes(16), b"\xff" * 32])


TARGETS: dict[str, Callable[[], Fuzzed]] = {
    "pgn-import": import_pgn,
    "pgn-analyze": analyze_pgn,
    "sgf-import": import_sgf,
    "sgf-read": read_sgf,
    "packed": packed_files,
    "fen": fen,
    "uci": uci,
    "gtp": gtp,
    "http": http,
    "store": store,
    "run-json": run_json,
    "safetensors": weights,
    "onnx": onnx_files,
    "npy": npy,
    "polyglot": polyglot,
}


def each() -> Iterator[tuple[str, Fuzzed]]:
    for name, make in TARGETS.items():
        yield name, make()
