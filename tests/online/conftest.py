"""The three sites on this computer, with one account of forty games, and an empty cache folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kibitz.online import client, periods
from support.game_server import MINUTE, Game, GameServer

NAME = "Tester-1"


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the client would have waited."""
    seconds: list[float] = []
    monkeypatch.setattr(client, "pause", seconds.append)
    return seconds


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, waits: list[float]) -> Iterator[GameServer]:
    speeds = ["blitz", "bullet", "rapid", "blitz"]
    games = [Game(number, speeds[number % 4], rated=number % 5 != 0) for number in range(24)]
    one = GameServer(NAME, games)
    for variable in ("KIBITZ_LICHESS", "KIBITZ_CHESSCOM", "KIBITZ_OGS"):
        monkeypatch.setenv(variable, one.address)
    for variable in (client.TOKEN, client.CONTACT):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(periods, "now", lambda: max(game.moment for game in one.games) + 60 * MINUTE)
    yield one
    one.close()
