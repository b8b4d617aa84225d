"""The process with which My games downloads an account."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from kibitz.web.mygames import downloading
from kibitz.web.mygames.sources import PgnSource
from support.game_server import Game, GameServer


def test_the_downloading_process(server: GameServer, tmp_path: Path) -> None:
    """Its messages, from a loopback server; a second download has only what is new."""
    told: list[dict[str, Any]] = []
    downloading.work({"account": f"lichess:{server.name}", "limit": 20}, told.append, threading.Event())
    assert told[0] == {"kept": 0}
    assert {"expected": 20} in told
    assert told[-2] == {"new": 20}
    assert len(PgnSource(Path(told[-1]["path"]), tmp_path / "copy.pgn", "x")._parts) == 20
    told.clear()
    server.games.append(Game(24))
    downloading.work({"account": f"lichess:{server.name}", "limit": 20}, told.append, threading.Event())
    assert told[0] == {"kept": 20}
    assert told[-2] == {"new": 1}
