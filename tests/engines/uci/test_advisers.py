"""What answers before the player does."""

from __future__ import annotations

import shutil
from pathlib import Path

import chess

from engines.uci.test_engine import Bench, Fake
from support.causes import each_mentions
from support.polyglot import write_book

SYZYGY = Path(__file__).parents[2] / "syzygy"
QUEEN = "position fen 8/8/8/4k3/8/8/8/KQ6 w - - 0 1"
DRAWN = "position fen 8/8/8/8/4k3/8/4P3/4K3 w - - 0 1"


def test_tables_answer_without_the_player() -> None:
    bench = Bench()
    lines = bench.say(f"setoption name SyzygyPath value {SYZYGY}", "isready", QUEEN, "go movetime 50")
    assert lines[0] == "readyok"
    assert "score cp 9" in lines[1]
    assert len(lines) == 3
    assert not bench.players[0].asked
    assert bench.say("position startpos", "go depth 1")[-1] == "bestmove g1h3"


def test_between_moves_that_draw_the_player_chooses() -> None:
    class Hopeful(Fake):
        def mind(self, board, limits, stop, tell):  # type: ignore[no-untyped-def]
            from kibitz.play.result import PvLine, SearchResult

            return SearchResult(1, 1, 0.0, (PvLine(limits.moves[0], 300, None, 1.0, (), (900, 50, 50)),))

    bench = Bench(Hopeful)
    bench.say(f"setoption name SyzygyPath value {SYZYGY}", "setoption name UCI_ShowWDL value true")
    lines = bench.say(DRAWN, "go movetime 50")
    assert "score cp 0 wdl 0 1000 0" in lines[0]
    moves = bench.players[0].asked[0].moves
    assert moves
    assert set(moves) <= set(chess.Board(DRAWN.removeprefix("position fen ")).legal_moves)


def test_tables_that_cannot_be_used_are_told_once(tmp_path: Path) -> None:
    for folder, told in ((tmp_path / "nowhere", "no such file"), (tmp_path, "has no tables")):
        bench = Bench()
        lines = bench.say(
            f"setoption name SyzygyPath value {folder}", "isready", QUEEN, "go depth 1", "(wait)", "go depth 1"
        )
        assert [told in line for line in lines if "SyzygyPath" in line] == [True]
        assert lines[0].startswith("info string SyzygyPath: ")
        assert lines[0].endswith("plays without tablebases.")
        assert len(bench.players[0].asked) == 2


def test_a_table_that_breaks_while_it_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    shutil.copytree(SYZYGY, folder)
    broken = folder / "KQvK.rtbw"
    data = broken.read_bytes()
    broken.write_bytes(data[:4] + b"\xff" * (len(data) - 4))
    bench = Bench()
    lines = bench.say(f"setoption name SyzygyPath value {folder}", QUEEN, "go depth 1", "(wait)", "go depth 1")
    assert sum("a table is damaged" in line for line in lines) == 1
    assert len(bench.players[0].asked) == 2


def test_a_book_answers_in_the_first_plies(tmp_path: Path) -> None:
    book = write_book(tmp_path / "book.bin", {"": {"c2c4": 7}, "c2c4": {"e7e5": 1}})
    bench = Bench()
    lines = bench.say(f"setoption name BookFile value {book}", "setoption name BookDepth value 1", "go depth 1")
    assert each_mentions(lines, "info string & book & c2c4 & 7", "bestmove c2c4")
    assert not bench.players[0].asked
    assert bench.say("position startpos moves c2c4", "go depth 1")[-1] == "bestmove g8h6"
    bench.say("setoption name BookDepth value 2")
    assert bench.say("go depth 1")[-1] == "bestmove e7e5"
    assert bench.say("position startpos", "go depth 1 searchmoves e2e4")[-1] != "bestmove c2c4"
    assert bench.say("setoption name BookFile value", "go depth 1")[-1] == "bestmove g1h3"


def test_an_analysis_asks_no_book(tmp_path: Path) -> None:
    book = write_book(tmp_path / "book.bin", {"": {"c2c4": 7}})
    lines = Bench().say(f"setoption name BookFile value {book}", "go infinite", "stop")
    assert lines[-1] == "bestmove g1h3"


def test_a_book_that_cannot_be_used_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "damaged.bin").write_bytes(b"abc")
    for path, told in ((tmp_path / "nowhere.bin", "no such file"), (tmp_path / "damaged.bin", "Polyglot opening book")):
        lines = Bench().say(f"setoption name BookFile value {path}", "isready", "go depth 1", "(wait)", "go depth 1")
        assert [told in line for line in lines if "BookFile" in line] == [True]
        assert lines[0].endswith("plays without a book.")
        assert lines[-1] == "bestmove g1h3"


def test_names_that_cannot_be() -> None:
    for option in ("SyzygyPath", "BookFile"):
        lines = Bench().say(f"setoption name {option} value a\0b", "isready", "go depth 1")
        assert lines[0].startswith(f"info string {option}: ")
        assert "readyok" in lines
        assert lines[-1].startswith("bestmove")
