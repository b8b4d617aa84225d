"""`kibitz board`, its server side: resident memory after each kind of request of the page, with one network, and
whether torch is there. Linux only.

python bench/bench_board_memory.py human
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

CHESS = {"game": "chess", "moves": ["e2e4", "e7e5", "g1f3", "d7d6", "d2d4", "c8g4", "d4e5", "g4f3", "d1f3", "d6e5"]}
GO = {"game": "go", "size": 19, "moves": ["Q16", "D4", "Q4", "D16"]}
LIMIT = 400
"""Megabytes."""


def ask(port: int, path: str, body: object) -> None:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=600)) as connection:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = response.read()
        assert response.status == 200, answer


def resident(process: int) -> int:
    """Megabytes."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    assert found
    return round(int(found[1]) / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("network", nargs="?", default="human", help="one that searches, of either game")
    network = parser.parse_args().network
    line = GO if network.startswith("go") else CHESS
    asked: list[tuple[str, dict[str, Any]]] = [(path, {}) for path in ("analyse", "planes", "occlusion", "candidates")]
    asked += [] if line is GO else [("judge", {})]
    asked += [("check", {}), ("think", {"nodes": 400})]
    command = [sys.executable, "-m", "kibitz", "board", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as board:
        try:
            assert board.stdout
            found = re.search(r":(\d+) ", board.stdout.readline())
            assert found
            figures = [f"at the start {resident(board.pid)}"]
            for name, more in asked:
                ask(int(found[1]), f"/api/{name}", {"network": network, "line": line, **more})
                figures.append(f"{name} {resident(board.pid)}")
            torch = "libtorch" in Path(f"/proc/{board.pid}/maps").read_text()
        finally:
            board.terminate()
    print(f"{network}, MB after: {', '.join(figures)}; at most {LIMIT} wanted; torch is {'' if torch else 'not '}there")


if __name__ == "__main__":
    main()
