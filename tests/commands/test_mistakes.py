"""Typical mistakes of people who call kibitz: each gets one line that says what is wrong and what to do.

The lines have no text of another library. Each mistake stands beside the same call without it, which must succeed.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest

from support.causes import Ended, in_process, mentions, must_succeed

GAME = (
    '[White "Ann"]\n[Black "Bob"]\n[Date "2015.06.30"]\n[Result "1-0"]\n\n'
    + "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n\n"
)
ILLEGAL = '[White "Cid"]\n[Black "Dan"]\n[Result "0-1"]\n\n1. e4 e5 2. Ke3 0-1\n\n'
RECORD = "(;GM[1]SZ[9]KM[5.5]PB[Ann]PW[Bob]RE[W+3.5];B[ee];W[ec];B[cc];W[gg])\n"
PROSE = "# A program\n\nIt reads games. See the manual for more.\n"
MAX_LENGTH = 200
FOREIGN = re.compile(
    r"traceback|errno|exception|valueerror|typeerror|keyerror|nonetype|object at|pydantic|input should be|invalid value"
    r"|no such option|numba|\btorch\b|\bclick\b|typer|argparse|pyarrow|parquet|\bonnx\b|json\b.*line \d|utf-8' codec",
    re.IGNORECASE,
)
"""What only a library says."""
PLAIN = ("analyze", "winner", "good.pgn", "--raw")
IMPORT = ("import", "good.pgn", "--into")
TEST = ("test", "winner", "games.store", "--split", "all", "--stockfish-positions", "0", "--out", "page.html")

MISTAKES = [
    (("systems",), ("sytems",), 2, "sytems & systems?"),
    (("systems", "winner"), ("systems", "winer"), 2, "winer & winner?"),
    (("info", "winner"), ("info", "winer"), 1, "winer & winner?"),
    (("info", "games.store"), ("info", "games.stor"), 1, "games.stor"),
    (("info", "games.store"), ("info", "damaged.store"), 1, "damaged & Import"),
    (("info", "winner"), ("info", "winner", "human"), 2, "human"),
    (("systems",), ("systems", "--jsn"), 2, "--jsn & --json?"),  # no such option
    (("systems", "--json"), ("systems", "--json=3"), 2, "--json & 3"),
    ((*IMPORT, "1.store"), ("import", "none.pgn", "--into", "x.store"), 1, "none.pgn & path"),
    ((*IMPORT, "1.store"), ("import", "good.pgn"), 2, "--into & missing"),
    ((*IMPORT, "1.store"), ("import", "good.pgn", "--into"), 2, "--into & value"),
    ((*IMPORT, "1.store"), ("import", "good.pgn", "--intoo", "x.store"), 2, "--intoo & --into?"),  # no such option
    ((*IMPORT, "1.store"), ("import", "illegal.pgn", "--into", "x.store"), 1, "illegal.pgn & 1 game & Ke3"),
    ((*IMPORT, "1.store"), ("import", "README.md", "--into", "x.store"), 1, "README.md & PGN"),
    ((*IMPORT, "1.store"), ("import", "empty.pgn", "--into", "x.store"), 1, "empty.pgn & PGN"),
    ((*IMPORT, "1.store"), ("import", "damaged.pgn.gz", "--into", "x.store"), 1, "damaged.pgn.gz & damaged"),
    ((*IMPORT, "1.store"), ("import", "binary.pgn", "--into", "x.store"), 1, "binary.pgn & binary"),
    ((*IMPORT, "1.store"), ("import", "good.pgn", "game.sgf", "--into", "x.store"), 2, "chess & Go"),
    ((*IMPORT, "1.store"), (*IMPORT, "games.store"), 2, "games.store & --append"),
    ((*IMPORT, "2.store", "--unrated", "--min-rating", "5"), (*IMPORT, "x.store", "--min-rating", "strong"), 2,
     "--min-rating & strong & whole number & 2000"),
    ((*IMPORT, "3.store", "--until", "2030"), (*IMPORT, "x.store", "--until", "soon"), 2, "--until & soon & 2015-06"),
    ((*IMPORT, "4.store", "--ending", "checkmate"), (*IMPORT, "x.store", "--ending", "chekmate"), 2,
     "chekmate & checkmate?"),
    ((*IMPORT, "5.store", "--limit", "1"), (*IMPORT, "x.store", "--limit", "0"), 2, "--limit & 0 & at least 1"),
    ((*IMPORT, "8.store", "--since", "2015-06"), (*IMPORT, "x.store", "--since", "2015-00-15"), 2,
     "--since & 2015-00-15"),
    ((*IMPORT, "9.store", "--min-moves", "1"), (*IMPORT, "x.store", "--min-moves", "abc"), 2, "--min-moves & abc"),
    ((*IMPORT, "10.store"), (*IMPORT, "x.store", "--gnugo-limit", "5"), 2, "--gnugo-limit & Go"),
    ((*IMPORT, "6.store", "--game", "chess"), (*IMPORT, "x.store", "--game", "ches"), 2, "ches & chess?"),
    (("explore", "games.store", "e4"), ("explore", "games.store", "Ke2"), 2, "Ke2 & illegal & start position"),
    (("explore", "games.store"), ("explore", "games.store", "--fen", "8/8"), 2, "FEN & 8/8"),
    (("explore", "games.store", "--rating", "1000-"), ("explore", "games.store", "--rating", "abc"), 2,
     "abc & 1600-2000"),
    (("explore", "games.store"), ("explore", "games.store", "--rating", ""), 2, "range & 1600-2000"),
    (("explore", "games.store"), ("explore", "none.store"), 1, "none.store & import"),
    (PLAIN, (*PLAIN, "--game", "7"), 1, "good.pgn & 7 & 1"),
    (PLAIN, (*PLAIN, "--game", "first"), 2, "--game & first & whole number"),
    (PLAIN, ("analyze", "winner", "game.sgf"), 2, "game.sgf & Go & winner & gohuman"),
    (PLAIN, ("analyze", "winner", "empty.pgn"), 1, "empty.pgn & PGN"),
    (PLAIN, ("analyze", "good.pgn"), 2, "network & good.pgn & kibitz analyze"),
    (PLAIN, (*PLAIN, "--limit", "0"), 2, "--limit & account & good.pgn"),
    (PLAIN, ("analyze", "winner", "good.pgn", "--nodes", "2000000000"), 2, "--nodes & 1,000,000,000 & 2000000000"),
    (PLAIN, ("analyze", "convchess", "good.pgn", "--nodes", "3"), 2, "--nodes & convchess & Leave & 3"),
    (("analyze", "human", "good.pgn", "--by-rating", "1.svg"),
     ("analyze", "human", "good.pgn", "--by-rating", "1.svg", "--workers", "2"), 2, "--workers & --by-rating"),
    (PLAIN, (*PLAIN, "--depht", "3"), 2, "--depht & --depth?"),
    (PLAIN, (*PLAIN, "--rating", "1500"), 2, "--rating & winner & human"),
    (PLAIN, (*PLAIN, "--pgn", "good.pgn"), 2, "--pgn & good.pgn & --all"),
    (("analyze", "human", "good.pgn", "--raw", "--rating", "1500"),
     ("analyze", "human", "good.pgn", "--raw", "--rating", "abc"), 2, "--rating & abc & 1500"),
    (("analyze", "human", "good.pgn", "--raw", "--rating", "1500"),
     ("analyze", "human", "good.pgn", "--raw", "--rating", "99"), 2, "--rating & 99 & 100 & 4000"),
    (("uci", "chessnet"), ("uci", "gohuman"), 2, "gohuman & kibitz gtp gohuman"),
    (("uci", "chessnet"), ("uci", "winner"), 2, "winner & chessnet"),
    (("uci", "human", "--elo", "1500"), ("uci", "human", "--elo", "99"), 2, "--elo & 99 & 800"),
    (("uci", "human", "--elo", "1500"), ("uci", "human", "--elo", "abc"), 2, "--elo & abc & 1500"),
    (("uci", "human", "--method", "puct"), ("uci", "human", "--method", "pcut"), 2, "pcut & puct?"),
    (("uci", "human", "--elo", "1500", "--method", "human-search"),
     ("uci", "human", "--elo", "1500", "--method", "puct"), 2, "--elo & --method & puct & top-prob"),
    (("gtp", "gohuman", "--visits", "50"), ("gtp", "gohuman", "--visits", "50", "--method", "best-score"), 2,
     "--visits & best-score & 50"),
    (("gtp", "gocnn"), ("gtp", "gocnn", "--visits", "50"), 2, "--visits & gocnn & 50"),
    (("gtp", "gohuman"), ("gtp", "human"), 2, "human & kibitz uci human"),
    (("gtp", "gohuman", "--rules", "chinese"), ("gtp", "gohuman", "--rules", "chines"), 2, "chines & chinese?"),
    (("bench", "winner", "--seconds", "0.1"), ("bench", "winner", "--seconds", "0"), 2, "--seconds & 0.1"),
    (("export", "winner", "--to", "1"), ("export", "winner", "--to", "full"), 2, "--to & full"),
    (("merge", "games.store", "--into", "7.store"), ("merge", "games.store", "--into", "games.store"), 2,
     "games.store & name"),
    (("export-positions", "games.store", "--to", "1.npz"), ("export-positions", "games.store", "--to", "1.txt"), 2,
     "1.txt & .npz"),
    (("export-positions", "games.store", "--to", "3.npz", "--played"),
     ("export-positions", "games.store", "--to", "4.npz", "--played", "--network", "winner"), 2,
     "--played & --network"),
    (("test", "winner", "games.store", "--split", "all", "--stockfish-positions", "0", "--out", "page.html"),
     ("test", "winner", "games.store", "--split", "al", "--stockfish-positions", "0", "--out", "page.html"), 2,
     "--split & al & all?"),
    (TEST, (*TEST, "--gnugo", "gnugo"), 2, "--gnugo & chess"),
    (TEST, (*TEST, "--against", "winner", "--workers", "2"), 2, "--workers & --against"),
    (TEST, (*TEST, "--engine", "stockfish", "--stockfish", "stockfish"), 2, "--stockfish & --engine"),
    (TEST, (*TEST, "--engine", "stockfish", "--workers", "2"), 2, "--workers & --engine"),
]  # fmt: skip
"""A call that is right, the same with a mistake, its exit code, and what the line names."""

MATCH = ("match", "chessnet", "chessnet", "--games", "2", "--max-plies", "20", "--nodes", "1", "--pgn", "m.pgn")
MISTAKES_OF_A_MATCH = [
    (("match", "chessnet", "chessnet", "--nodes", "0"), 2, "--nodes & 0 & 800"),
    (("match", "chesnet", "chessnet", "--nodes", "1"), 1, "chesnet & chessnet?"),
    (("match", "chessnet", "gohuman", "--nodes", "1"), 2, "chessnet & gohuman & same game"),
    (("match", "chessnet", "chessnet", "--komi", "6.5"), 2, "--komi & Go"),
    (("match", "chessnet", "chessnet", "--sprt", "10"), 2, "--sprt & 0,10 & 10"),
]
TRAINING = (
    "train", "winner", "games.store", "--run", "run", "--layers", "8conv4x4.ip8", "--iterations", "2",
    "--validate-every", "2", "--validate-share", "20", "--batch", "4",
)  # fmt: skip
MISTAKES_OF_A_TRAINING = [
    (("train", "winer", "games.store"), 2, "winer & winner?"),
    (("train", "winner", "none.store"), 1, "none.store & import"),
    (("train", "winner", "games.store", "--recipe", "papr"), 2, "papr & paper?"),
    (("train", "winner", "games.store", "--layer", "8conv4x4.ip8"), 2, "--layer & --layers?"),  # no such option
    (("train", "winner", "games.store", "--iterations", "2.5"), 2, "--iterations & 2.5 & whole number"),
    (("train", "winner", "games.store", "--optimiser", "adma"), 2, "adma & adamw?"),
    (("train", "winner", "games.store", "--batch", "many"), 2, "--batch & many & auto"),
    (("train", "winner", "games.store", "--time-limit", "0"), 2, "--time-limit & 0"),
    (("train", "winner", "games.store", "--start-from", "humn"), 1, "humn & human?"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the calls name."""
    folder = tmp_path_factory.mktemp("mistakes")
    moves = ("e4 e5", "d4 d5", "c4 e5", "Nf3 d5", "f4 e5", "b3 e5")
    games = "".join(f"{GAME.partition('1. ')[0]}1. {pair} 2. Nc3 Nc6 1-0\n\n" for pair in moves)
    texts = {
        "good.pgn": GAME, "illegal.pgn": ILLEGAL, "game.sgf": RECORD, "README.md": PROSE, "empty.pgn": "",
        "many.pgn": games + GAME,
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "damaged.pgn.gz").write_bytes(b"\x1f\x8b\x08\x00" + b"x" * 40)
    (folder / "binary.pgn").write_bytes(b"\0\1\2\3" * 100)
    (folder / "full").mkdir()
    (folder / "full" / "file").touch()
    done = in_process(["import", folder / "many.pgn", "--into", folder / "games.store"])
    assert done.code == 0, done
    (folder / "damaged.store").mkdir()
    (folder / "damaged.store" / "store.json").write_text("{", encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def inside(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls name files in the folder, and engines read that they are to quit."""
    monkeypatch.chdir(made)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"quit\n"), encoding="utf-8"))


def assert_one_clear_line(ended: Ended, code: int, names: str) -> None:
    lines = ended.err.splitlines()
    assert (ended.code, ended.out, len(lines)) == (code, "", 1), ended
    assert lines[0].startswith("error: "), lines
    assert len(lines[0]) <= MAX_LENGTH, lines
    assert mentions(lines[0], names), (lines, names)
    assert not FOREIGN.search(lines[0]), lines


@pytest.mark.parametrize(("good", "bad", "code", "names"), MISTAKES, ids=[" ".join(bad) for _, bad, _, _ in MISTAKES])
def test_a_mistake_gets_one_clear_line(
    good: tuple[str, ...], bad: tuple[str, ...], code: int, names: str, made: Path
) -> None:
    assert_one_clear_line(in_process(bad), code, names)
    must_succeed(good, once=f"{made} {' '.join(good)}")


@pytest.mark.process
@pytest.mark.parametrize(("bad", "code", "names"), MISTAKES_OF_A_MATCH)
def test_a_mistake_in_a_match(bad: tuple[str, ...], code: int, names: str, made: Path) -> None:
    assert_one_clear_line(in_process(bad), code, names)
    must_succeed(MATCH, once=f"{made} match")


@pytest.mark.slow
@pytest.mark.parametrize(("bad", "code", "names"), MISTAKES_OF_A_TRAINING)
def test_a_mistake_in_a_training(bad: tuple[str, ...], code: int, names: str, made: Path) -> None:
    assert_one_clear_line(in_process(bad), code, names)
    must_succeed(TRAINING, once=f"{made} training")


def test_there_are_forty_of_them() -> None:
    assert len(MISTAKES) >= 40


@pytest.mark.parametrize(
    "line",
    [
        "error: [Errno 2] No such file",  # exact: of Python
        "error: ValueError: 3",
        "error: Input should be a valid integer",  # exact: of pydantic
        "error: torch",
    ],
)
def test_the_text_of_a_library_is_found(line: str) -> None:
    assert FOREIGN.search(line)
