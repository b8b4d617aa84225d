"""A network that compares positions on the board: what it claims, and that it plays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import chess
import pytest

from kibitz.store.store import Store
from support.board_client import Client, served
from support.causes import mentions
from support.helpers import SMALL_PAIRS
from support.trained import trained

LINE = {"game": "chess", "moves": ["e2e4", "e7e5"]}


@pytest.fixture(scope="module")
def run(small_store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from kibitz.systems.deepchess import Settings
    from kibitz.training.trainer import TrainConfig

    path = tmp_path_factory.mktemp("pairs") / "deepchess-1"
    quick = {**SMALL_PAIRS, "positions": 6, "pretrain_epochs": 1.0, "epochs": 2.0, "pairs": 10_000}
    plan = TrainConfig(1000, 1000, 1000, validate_positions=500, precision="32-true")
    return trained("deepchess", Settings(**quick), small_store, path, plan)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def pairs(run: Path) -> Iterator[Client]:
    with served([str(run)]) as (client, _):
        yield client


def test_it_is_listed_with_its_claim(pairs: Client, run: Path) -> None:
    found = pairs.get("/api/networks").json["networks"][0]
    assert found["name"] == str(run)
    assert found["answers"] == ["white"]
    assert mentions(found["claim"]["name"], "White's")
    assert "comparison" in found["methods"]
    assert found["plays"]


def test_it_answers(pairs: Client, run: Path) -> None:
    asked = {"network": str(run), "line": LINE}
    lines = pairs.stream("/api/analyse", asked)
    assert all(0 < line["white"] < 1 for line in lines[1:-1])
    assert len(pairs.good("/api/planes", asked)["planes"]) == 17
    assert mentions(pairs.good("/api/occlusion", asked)["what"], "White's & better")


def test_it_plays(pairs: Client, run: Path) -> None:
    for method in pairs.get("/api/networks").json["networks"][0]["methods"]:
        lines = pairs.stream("/api/think", {"network": str(run), "line": LINE, "method": method, "seconds": 0.3})
        board = chess.Board()
        board.push_uci("e2e4")
        board.push_uci("e7e5")
        assert board.is_legal(chess.Move.from_uci(lines[-1]["move"])), lines
