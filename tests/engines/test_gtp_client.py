"""The real program with a real network: a GTP client as its controller, games against GNU Go, noise, ends."""

from __future__ import annotations

import contextlib
import random
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kibitz.external.gtp import CommandRefused, GtpProgram
from kibitz.games.go.points import BLACK, PASS, from_gtp
from kibitz.games.go.rules import Board
from support.causes import reading, refused
from support.helpers import program
from support.patience import PATIENCE


def command(run: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "kibitz", "gtp", str(run), *options]


@pytest.fixture(scope="module")
def engine(go_run: Path) -> Iterator[GtpProgram]:
    with GtpProgram(command(go_run, "--name", "KataGo kibitz", "--threads", "1")) as engine:
        yield engine


def test_who_it_is(engine: GtpProgram) -> None:
    assert engine.request("name", PATIENCE) == "KataGo kibitz"
    assert re.fullmatch(r"\d+\.\d+.*", engine.request("version", PATIENCE))
    with pytest.raises(CommandRefused, match="unacceptable size"):
        engine.request("boardsize 19", PATIENCE)


@pytest.mark.parametrize("size", [9, 13])
def test_a_game_against_gnugo(engine: GtpProgram, size: int) -> None:
    """To the end, with both accepting all moves; an untaught network plays nonsense, by the rules."""
    gnugo = [program("gnugo"), "--mode", "gtp", "--level", "0", "--chinese-rules", "--seed", "1"]
    board = Board(size, superko=True)
    with GtpProgram(gnugo) as opponent:
        for player in (engine, opponent):
            player.request(f"boardsize {size}", PATIENCE)
            player.request("clear_board", PATIENCE)
            player.request("komi 7.5", PATIENCE)
        passes = 0
        while passes < 2:
            colour = board.to_move
            mine, other = (engine, opponent) if colour == BLACK else (opponent, engine)
            word = "bw"[colour - 1]
            said = mine.request(f"genmove {word}", PATIENCE).lower()
            if said == "resign":
                break
            other.request(f"play {word} {said}", PATIENCE)
            move = from_gtp(said, size)
            board.play(colour, move)
            passes = passes + 1 if move == PASS else 0
            assert board.ply < 4 * size**2
        assert engine.request("list_stones b", PATIENCE).split() != []
        for colour in ("b", "w"):
            ours, theirs = (
                set(player.request(f"list_stones {colour}", PATIENCE).split()) for player in (engine, opponent)
            )
            assert ours == theirs
        assert re.fullmatch(r"0|[BW]\+\d+(\.5)?", engine.request("final_score", PATIENCE))
        alive = engine.request("final_status_list alive", PATIENCE).split()
        dead = engine.request("final_status_list dead", PATIENCE).split()
        stones = engine.request("list_stones b", PATIENCE).split() + engine.request("list_stones w", PATIENCE).split()
        assert sorted(alive + dead) == sorted(stones)


@pytest.mark.parametrize("count", range(2, 10))
def test_fixed_handicap_is_where_gnugo_has_it(engine: GtpProgram, count: int) -> None:
    with GtpProgram([program("gnugo"), "--mode", "gtp"]) as gnugo:
        for size in (9, 13):
            places = []
            for player in (engine, gnugo):
                player.request(f"boardsize {size}", PATIENCE)
                player.request("clear_board", PATIENCE)
                try:
                    places.append(set(player.request(f"fixed_handicap {count}", PATIENCE).split()))
                except CommandRefused:
                    assert player is gnugo
                    return
            assert places[0] == places[1]


def test_a_game_file(engine: GtpProgram, tmp_path: Path) -> None:
    pytest.importorskip("kibitz.games.go.io.sgf")
    path = tmp_path / "a game.sgf"
    path.write_text("(;GM[1]FF[4]SZ[9]KM[5.5]HA[2]AB[cg][gc]RU[Japanese];W[ee];B[ed];W[fd](;B[dd])(;B[aa]))")
    engine.request(f"loadsgf {path}", PATIENCE)
    assert engine.request("get_komi", PATIENCE) == "5.5"
    assert engine.request("list_stones b", PATIENCE).split() == ["G7", "D6", "E6", "C3"]
    assert '"scoring":"TERRITORY"' in engine.request("kata-get-rules", PATIENCE)
    engine.request(f'loadsgf "{path}" 3', PATIENCE)  # the position before the third move
    assert engine.request("list_stones w", PATIENCE) == "E5"
    engine.request("undo", PATIENCE)
    assert engine.request("list_stones b", PATIENCE).split() == ["G7", "C3"]
    engine.request("undo", PATIENCE)
    with pytest.raises(CommandRefused, match="cannot undo"):
        engine.request("undo", PATIENCE)
    for text, reason in (("(;SZ[19])", "unacceptable size"), ("", "cannot load"), ("(;SZ[9];B[aa];W[aa])", "illegal")):
        path.write_text(text)
        with pytest.raises(CommandRefused, match=reason):
            engine.request(f"loadsgf {path}", PATIENCE)
    with pytest.raises(CommandRefused, match="no such file"):
        engine.request(f"loadsgf {tmp_path}", PATIENCE)
    assert engine.request("query_boardsize", PATIENCE) == "9"


def test_a_clock(engine: GtpProgram) -> None:
    """Whatever the clock says, even that no time is left, the answer is a move, which is then on the board."""
    engine.request("boardsize 13", PATIENCE)
    moves = []
    for clock, colour in (
        ("time_settings 0 0 0", "b"),
        ("time_left w 0 0", "w"),
        ("kata-time_settings fischer 10 1", "b"),
    ):
        assert engine.request(clock, PATIENCE) == ""
        moves.append((colour, engine.request(f"genmove {colour}", PATIENCE)))
    for colour in ("b", "w"):
        stones = engine.request(f"list_stones {colour}", PATIENCE).split()
        assert sorted(stones) == sorted(move for side, move in moves if side == colour and move != "pass")
    assert engine.request("kgs-time_settings none", PATIENCE) == ""


def test_analysis_until_the_next_command(go_run: Path) -> None:
    process = subprocess.Popen(command(go_run), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process, contextlib.ExitStack() as stack:
        stack.callback(process.kill)
        assert process.stdin
        assert process.stdout
        process.stdin.write("5 kata-analyze b 2 ownership true\n")
        process.stdin.flush()
        assert process.stdout.readline() == "=5\n"
        for _ in range(10):
            line = process.stdout.readline()
            assert line.startswith("info move ")
            assert len(line.split("ownership ")[1].split()) == 13 * 13
        process.stdin.write("6 name\n")
        process.stdin.flush()
        while (line := process.stdout.readline()) != "\n":
            assert line.startswith("info move ")
        assert process.stdout.readline() == "=6 kibitz\n"
        process.stdin.close()
        assert process.stdout.read() == "\n"
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("busy", ["", "kata-analyze 1\n"])
def test_a_request_to_end(go_run: Path, busy: str) -> None:
    process = subprocess.Popen(
        command(go_run), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process, contextlib.ExitStack() as stack:
        stack.callback(process.kill)
        assert process.stdin
        assert process.stdout
        process.stdin.write("name\n" + busy)
        process.stdin.flush()
        assert process.stdout.readline() == "= kibitz\n"
        if busy:
            assert [process.stdout.readline()[:4] for _ in range(3)] == ["\n", "=\n", "info"]
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=PATIENCE)[1] == ""
        assert process.returncode == 128 + signal.SIGTERM


def test_noise(go_run: Path) -> None:
    """Bytes of every kind and lines of every length; then it plays on."""
    rng = random.Random(1)
    noise = [bytes(rng.randrange(256) for _ in range(rng.randrange(200))) for _ in range(200)]
    noise = [line.replace(b"quit", b"") for line in noise]
    noise += [b"\0" * 100, b"play " + b"\xff" * 1000, b"x" * 3_000_000, b"genmove \0", b"gogui-play_sequence \0" * 50]
    noise += [b"gogui-play_sequence" + b" b pass" * 5000, b"showboard", b"undo 5000", b"boardsize 9", b"genmove b"]
    done = subprocess.run(
        command(go_run), input=b"\n".join(noise) + b"\n99 name\n", capture_output=True, timeout=PATIENCE, check=True
    )
    text = done.stdout.decode()
    assert text.endswith("\n\n=99 kibitz\n\n")
    assert all(answer.startswith(("=", "?")) for answer in text.split("\n\n")[:-1])
    assert done.stderr == b""


def test_it_answers_before_anything_is_loaded(go_run: Path) -> None:
    code = (
        "import sys; from kibitz.cli import run; code = run(sys.argv[1:]);"
        "sys.exit(code or sum(name in sys.modules for name in ('numba', 'torch', 'onnxruntime')))"
    )
    subprocess.run(
        [sys.executable, "-c", code, "gtp", str(go_run)],
        input=b"name\nversion\nlist_commands\ngogui-analyze_commands\nquit\n",
        capture_output=True,
        timeout=PATIENCE,
        check=True,
    )


@pytest.mark.parametrize(
    ("without", "cause", "code", "names"),
    [
        (["RUN"], ["nowhere"], 1, ["nowhere", "run"]),
        (["RUN"], ["chessnet"], 2, ["Go", "GTP"]),
        (["RUN", "--rules", "chinese"], ["RUN", "--rules", "chess"], 2, ["rules", "chess"]),
        (["RUN", "--komi", "6.5"], ["RUN", "--komi", "nan"], 2, ["komi", "-1000", "1000"]),
        (["RUN", "--method", "auto"], ["RUN", "--method", "puct"], 2, ["puct"]),
        (["RUN", "--method", "auto"], ["RUN", "--method", "luck"], 2, ["--method", "luck", "best-score"]),
        (["RUN", "--resign", "5"], ["RUN", "--resign", "51"], 2, ["--resign"]),
    ],
)
def test_a_wrong_call(go_run: Path, without: list[str], cause: list[str], code: int, names: list[str]) -> None:
    good, bad = (["gtp", *(str(go_run) if word == "RUN" else word for word in words)] for words in (without, cause))
    refused(good, bad, code=code, names=names, call=reading("name\nquit\n"))
