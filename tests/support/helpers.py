"""What several tests share and is no fixture."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import kibitz
from kibitz.games.chess.filters import Filter
from kibitz.games.chess.io.ingest import COLUMNS, PER_MOVE
from kibitz.games.chess.io.pgn import PgnReader
from kibitz.games.chess.replay import STANDARD_START
from kibitz.store.store import Store
from kibitz.store.writer import StoreWriter

GAMES = Path(kibitz.__file__).parent / "data" / "games.pgn.zst"
SHARED = Path(__file__).parents[2] / "shared" / "data"
"""Real records; tests may use them where they are and must not need them."""

SMALL = {"layers": "16conv4x4.pool2x2.ip8", "activation": "relu", "optimiser": "adamw", "learning_rate": 0.003}
"""Settings of `winner` that train in a second."""

SMALL_PAIRS = {
    "positions": 20, "colours": True, "pos2vec": "48.24", "compare": "24.8", "small_pos2vec": "32",
    "small_compare": "16", "pretrain_epochs": 2.0, "pretrain_rate": 0.003, "epochs": 2.0, "pairs": 20_000, "reuse": 4,
    "learning_rate": 0.003, "distil_epochs": 2.0, "distil_rate": 0.01, "optimiser": "adamw", "schedule": "cosine",
    "batch": 128,
}  # fmt: skip
"""Settings of `deepchess` that train in seconds."""


def program(name: str) -> str:
    """The path of an outside program. Its test is skipped where it is absent, but fails there under CI."""
    found = shutil.which(name) or shutil.which(f"/usr/games/{name}")
    if not found:
        if os.environ.get("CI"):
            pytest.fail(f"{name} is not installed")
        pytest.skip(f"{name} is not installed")
    return found


def import_games(path: Path, *, limit: int | None = None, keep: Filter | None = None) -> Store:
    """A store of bundled games, without the command line."""
    with StoreWriter(path, "chess", COLUMNS, STANDARD_START, PER_MOVE) as writer:
        for batch in PgnReader([str(GAMES)], keep or Filter()):
            writer.add(batch, None if limit is None else limit - writer.games)
            if limit is not None and writer.games >= limit:
                break
        return writer.commit({})


def bare(figure: dict[str, Any]) -> dict[str, Any]:
    """A figure of a result without its label and kind, as the cell of a table has it."""
    return {key: value for key, value in figure.items() if key not in ("label", "kind")}
