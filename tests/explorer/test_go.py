"""What was played on boards of Go, beside a loop over the games of the package."""

from __future__ import annotations

import importlib.resources
from pathlib import Path

import numpy as np
import pytest

from kibitz.errors import KibitzError, UsageError
from kibitz.explorer.answers import Explorer
from kibitz.explorer.index import FOLDER
from kibitz.explorer.records import record
from kibitz.explorer.report import explore, read_go
from kibitz.games.go.filters import Filter
from kibitz.games.go.io.ingest import COLUMNS, PER_GAME, PER_MOVE, SgfReader
from kibitz.games.go.points import GRID, symmetries
from kibitz.games.go.replay import STANDARD_START
from kibitz.store.store import Store
from kibitz.store.writer import StoreWriter
from support.causes import naming


def store_of(path: Path, file: Path | str, most: int | None = None) -> Store:
    with StoreWriter(path, "go", COLUMNS, STANDARD_START, PER_MOVE, per_game=PER_GAME) as writer:
        for batch in SgfReader([str(file)], Filter()):
            writer.add(batch, most)
            break
        return writer.commit({})


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    file = importlib.resources.files("kibitz") / "data" / "games.sgfl.zst"
    return store_of(tmp_path_factory.mktemp("go") / "a.store", str(file), 200)


def test_the_first_moves(store: Store) -> None:
    """By hand: of games from an empty board on 19 × 19, first moves that turn into each other are one."""
    ways = symmetries(GRID)
    counts: dict[int, list[int]] = {}
    for game in range(len(store)):
        start = store.starts[store.start_of[game]]
        if (start == STANDARD_START).all() and store.plies[game]:
            move = int(store.moves[store.offsets[game]])
            name = min(int(way[move]) for way in ways) if move < GRID * GRID else move
            counts.setdefault(name, []).append(int(store.column("result")[game]))
    assert counts, "the package has games on 19 × 19"
    found = explore(Explorer(store))
    assert found["games"] == sum(map(len, counts.values()))
    assert sorted(each["games"] for each in found["moves"]) == sorted(map(len, counts.values()))
    most = max(counts.values(), key=len)
    assert (found["moves"][0]["black"], found["moves"][0]["white"]) == (most.count(1), most.count(-1))
    assert found["fen"] is found["opening"] is None


def test_a_damaged_game_is_named_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_text("(;GM[1]SZ[19]RE[B+R];B[pd];W[dd];B[pp])(;GM[1]SZ[19]RE[W+R];B[qd];W[dd])")
    whole = store_of(tmp_path / "a.store", tmp_path / "a.sgf")
    assert "B[pd]" in record(whole, 0)
    assert explore(Explorer(whole))["games"] == 2
    moves = np.fromfile(whole.path / "0001" / "moves.u16", "<u2")
    moves[0] = 5000
    moves.tofile(whole.path / "0001" / "moves.u16")
    (whole.path / FOLDER / "index.json").unlink()
    damaged = Store(whole.path)
    with pytest.raises(KibitzError, match=naming("game 1 & illegal")):
        record(damaged, 0)
    with pytest.raises(KibitzError, match="illegal"):
        explore(Explorer(damaged))
    assert "B[qd]" in record(damaged, 1)


def test_a_turned_board_knows_the_same(store: Store) -> None:
    explorer = Explorer(store)
    one, other = (explore(explorer, [moves]) for moves in ("Q16", "D4"))
    assert one["games"] == other["games"] > 0
    assert [each["games"] for each in one["moves"]] == [each["games"] for each in other["moves"]]
    for found, first in ((one, "Q16"), (other, "D4")):
        for each in found["moves"][:3]:
            assert explore(explorer, [first, each["move"]])["games"] == each["games"]


def test_a_record_is_the_game_again(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_text(record(store, 2), encoding="utf-8")
    again = store_of(tmp_path / "b.store", tmp_path / "a.sgf")
    assert again.moves.tolist() == store.moves[store.offsets[2] : store.offsets[3]].tolist()
    for column in ("white", "black", "black_rank", "result", "komi", "size", "handicap"):
        assert again.row(0)[column] == store.row(2)[column]


def test_what_is_refused(store: Store) -> None:
    explorer = Explorer(store)
    for moves, fen in ((["Z99"], None), (["Q16", "Q16"], None), ([], "8/8")):
        with pytest.raises(UsageError):
            explore(explorer, moves, fen)
    assert read_go(["Q16", "pass"]).to_move == 1
