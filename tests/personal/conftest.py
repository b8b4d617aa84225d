"""A person's games, and a run made of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kibitz.personal.fitting import PersonalRequest, make
from support import person
from support.trained import point_to, recorded, weights_hash


@pytest.fixture(scope="session")
def my_games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return person.write(tmp_path_factory.mktemp("person") / "my.pgn")


@pytest.fixture(scope="session")
def personal_run(my_games: Path, human_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the person, from a small network. Read only."""
    path = tmp_path_factory.mktemp("personal") / "run"
    key = {"games": my_games.read_text(), "base": weights_hash(human_run)}
    request = PersonalRequest([str(my_games)], base=str(human_run), run=path, precision="32-true")
    recorded("personal", key, path, lambda _: make(request))
    point_to(path, human_run, my_games)
    return path
