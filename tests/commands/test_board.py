"""kibitz board, as a program: its address, its end, and what it refuses."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kibitz.cli import run
from kibitz.errors import KibitzError
from kibitz.web.server import bind
from support.board_client import Client, until
from support.causes import PREFIX, assert_refused, in_process
from support.opinion_fakes import fake
from support.patience import PATIENCE
from support.processes import is_gone

HEAVY = ("torch", "numba", "numpy", "onnxruntime", "chess", "pyarrow", "onnx", "matplotlib")


@contextlib.contextmanager
def board(*arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The program, and the port that it says."""
    process = subprocess.Popen(
        [sys.executable, "-m", "kibitz", "board", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment},
    )  # fmt: skip
    with process:
        try:
            assert process.stdout
            line = process.stdout.readline()
            found = re.fullmatch(r"kibitz board: http://127\.0\.0\.1:(\d+) \(Ctrl-C ends it\)\n", line)
            assert found, line
            yield process, int(found[1])
        finally:
            process.kill()


def test_a_phone_opens_the_printed_address() -> None:
    with board("--no-browser", "--lan") as (process, port):
        assert process.stdout
        line = process.stdout.readline()
        found = re.fullmatch(r".*http://([\d.]+):(\d+)(/\?key=[\w-]+)\n", line)
        assert found, line
        assert int(found[2]) == port
        host, path = found[1], found[3]
        with contextlib.closing(http.client.HTTPConnection(host, port, timeout=PATIENCE)) as connection:
            connection.request("GET", "/")
            refused = connection.getresponse()
            assert (refused.status, refused.read()[:8]) == (401, b'{"error"')
        with contextlib.closing(http.client.HTTPConnection(host, port, timeout=PATIENCE)) as connection:
            connection.request("GET", path)
            answer = connection.getresponse()
            cookie = (answer.getheader("set-cookie") or "").split(";")[0]
            answer.read()
            connection.request("GET", "/api/networks", headers={"Cookie": cookie})
            assert connection.getresponse().status == 200


def test_a_board_in_a_container_needs_a_key() -> None:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port = probe.getsockname()[1]
    environment = {**os.environ, "KIBITZ_BOARD_ADDRESS": f"0.0.0.0:{port}"}
    process = subprocess.Popen(
        [sys.executable, "-m", "kibitz", "board", "--no-browser"], stdout=subprocess.PIPE, text=True, env=environment
    )
    with process:
        try:
            assert process.stdout
            found = re.search(rf"http://127\.0\.0\.1:{port}/\?key=(\S+)", process.stdout.readline())
            assert found
            client = Client(port)
            assert client.get("/").status == 401
            assert client.get(f"/?key={found[1]}").status == 303
        finally:
            process.kill()


def end(process: subprocess.Popen[str], number: int) -> None:
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_and_ends(number: int) -> None:
    with board("--no-browser") as (process, port):
        client = Client(port)
        assert client.get("/").status == 200
        assert any(network["name"] == "winner" for network in client.get("/api/networks").json["networks"])
        end(process, number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_engine_ends_with_the_board(tmp_path: Path, number: int) -> None:
    with board("--no-browser", "--engine", fake("uci", "stubborn", tmp_path)) as (process, port):
        client = Client(port)
        (name,) = {each["name"] for each in client.get("/api/programs").json["programs"]} & {Path(sys.executable).stem}
        with client.lines("/api/opinion", {"program": name, "line": {"game": "chess"}}) as lines:
            assert next(each for each in lines if "lines" in each)
            end(process, number)
    assert all(is_gone(int(started)) for started in (tmp_path / "started").read_text().split())


def test_an_engine_that_is_only_starting_ends_with_the_board(tmp_path: Path) -> None:
    with board("--no-browser", "--engine", fake("uci", "mute", tmp_path)) as (process, port):
        started = tmp_path / "started"
        body = {"program": Path(sys.executable).stem, "line": {"game": "chess"}}
        with contextlib.suppress(http.client.HTTPException, ConnectionError), Client(port).lines("/api/opinion", body):
            until(lambda: started.exists() and started.read_text().endswith("\n"))
            end(process, signal.SIGINT)
    assert all(is_gone(int(each)) for each in started.read_text().split())


def test_ctrl_c_in_the_middle_of_everything() -> None:
    with board("--no-browser") as (process, port):
        client = Client(port)
        client.get("/")
        line = {"game": "chess", "moves": ["g1f3", "g8f6", "f3g1", "f6g8"] * 1000}
        with (
            client.lines("/api/analyse", {"network": "chessnet", "line": line}) as lines,
            client.lines("/api/think", {"network": "chessnet", "line": {"game": "chess"}, "seconds": 600}) as thoughts,
        ):
            for _ in range(3):
                next(lines)
            next(thoughts)
            end(process, signal.SIGINT)
            with contextlib.suppress(http.client.HTTPException, ConnectionError, ValueError):
                list(lines)


def test_a_connection_that_says_nothing_does_not_keep_it() -> None:
    with board("--no-browser") as (process, port), socket.create_connection(("127.0.0.1", port)) as silent:
        silent.sendall(b"GET / HTTP/1.1\r\n")
        end(process, signal.SIGINT)


def test_the_next_free_port() -> None:
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(KibitzError):  # another board runs here: as good
            stack.enter_context(contextlib.closing(bind(8642)))
        with board("--no-browser") as (process, port):
            assert port > 8642
            end(process, signal.SIGINT)


def test_a_port_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        assert run(["board", "--no-browser", "--port", str(port)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(PREFIX)
    assert f"--port {port}" in err
    assert err.count("\n") == 1
    with board("--no-browser", "--port", str(port)) as (process, _):  # it is free again
        end(process, signal.SIGINT)


@pytest.mark.parametrize(
    ("arguments", "code", "names"),
    [
        (["nowhere"], 1, ["nowhere", "run"]),
        (["winner", "nowhere"], 1, ["nowhere", "run"]),
        (["--port", "0"], 2, ["--port"]),
        (["--engine", "nowhere"], 2, ["--engine", "nowhere", "program"]),
        (["--engine", "'nowhere"], 2, ["--engine", "'nowhere", "quotation mark"]),
        (["--port", "x"], 2, ["--port"]),
    ],
)
def test_what_is_refused(arguments: list[str], code: int, names: list[str]) -> None:
    """Without the cause the board starts, with the same options: the other tests here do it."""
    assert_refused(in_process(["board", "--no-browser", *arguments]), code=code, names=names)


def test_the_options_that_were_refused_work_with_other_values() -> None:
    with board("winner", "--no-browser", "--engine", f"{sys.executable} -c pass") as (process, _):
        end(process, signal.SIGINT)


def test_it_opens_a_browser(tmp_path: Path) -> None:
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/seen\n')
    script.chmod(0o755)
    with board(BROWSER=f"{script} %s") as (process, port):
        seen = tmp_path / "seen"
        until(lambda: seen.exists() and seen.read_text())
        assert seen.read_text() == f"http://127.0.0.1:{port}\n"
        end(process, signal.SIGINT)


def test_nothing_heavy_before_the_first_page() -> None:
    script = (
        "import sys; from kibitz.commands import board; from kibitz.web import server, app, page;"
        f"sys.exit(', '.join(name for name in {HEAVY!r} if name in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
