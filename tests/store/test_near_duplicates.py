"""The same game from two sources, a few moves or the result apart, never stands on two sides of a split."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from kibitz import cli
from kibitz.commands.info import describe
from kibitz.games.chess.filters import Filter
from kibitz.games.hashing import SHARED
from kibitz.store.split import Split
from kibitz.store.store import Store
from support.causes import mentions


def shortened(game: str, moves: int) -> str:
    """The same game without its last moves, its players written in another way."""
    headers, text = game.strip().split("\n\n", 1)
    words = text.split()
    kept = " ".join(words[: len(words) - 1 - moves])
    result = words[-1]
    return headers.replace('[White "', '[White "GM ').replace('[Black "', '[Black "GM ') + f"\n\n{kept} {result}\n\n"


def by_opening(store: Store) -> dict[tuple[int, ...], list[int]]:
    """Games by their first moves, slowly."""
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for game in range(len(store)):
        first, end = store.offsets[game], store.offsets[game + 1]
        groups[tuple(store.moves[first : min(end, first + SHARED)].tolist())].append(game)
    return groups


def test_shortened_games_stand_beside_the_whole_ones(
    tmp_path: Path, bundled_games: list[str], make_store: Callable[..., Store]
) -> None:
    games = [game for game in bundled_games[:600] if game.count(".") > 40]
    (tmp_path / "a.pgn").write_text("".join(games) + "".join(shortened(game, 6) for game in games))
    store = make_store(tmp_path / "a.store", tmp_path / "a.pgn", keep=Filter(), split=Split(20, 30))
    assert len(store) > 1.9 * len(games), "they are not exact duplicates"
    sides, groups = store.sides(), by_opening(store)
    assert all(len(set(sides[members])) == 1 for members in groups.values())
    assert {0, 1, 2} == set(sides.tolist())
    assert store.near_duplicates() == sum(len(members) - 1 for members in groups.values()) >= 0.9 * len(games)
    assert describe(store)["near_duplicates"] == store.near_duplicates()
    # the earlier rule parts many of them
    earlier = Split.from_json({key: value for key, value in store.split.as_json().items() if key != "together"})
    apart = [members for members in groups.values() if len(set(store.sides(earlier)[members])) > 1]
    assert len(apart) > len(groups) // 4


def as_before(store: Store, path: Path) -> Store:
    """The store as an earlier version wrote it."""
    shutil.copytree(store.path, path)
    info = json.loads((path / "store.json").read_text())
    del info["split"]["together"]
    (path / "store.json").write_text(json.dumps(info))
    file = path / info["folder"] / "games.parquet"
    pq.write_table(pq.read_table(file).drop_columns(["opening"]), file)
    return Store(path)


def test_old_stores_open_and_grow(tmp_path: Path, small_store: Store, bundled_file: Path, capsys: object) -> None:
    old = as_before(small_store, tmp_path / "old.store")
    assert old.openings() is None
    assert old.near_duplicates() is None
    hashes = small_store.column("hash")
    sides = Split.from_json({}).assign(hashes, small_store.column("date").astype("datetime64[D]"))
    np.testing.assert_array_equal(old.sides(), sides)
    assert describe(old)["split"]["near_duplicates_together"] is False
    assert cli.run(["info", str(old.path)]) == 0
    code = cli.run(["import", str(bundled_file), "--into", str(old.path), "--append", "--limit", "600"])
    assert code == 0
    grown = Store(old.path)
    assert len(grown) > len(old)
    names, expected = grown.openings(), by_opening(grown)
    assert names is not None
    assert len(np.unique(names)) == len(expected)
    np.testing.assert_array_equal(names[: len(old)], small_store.openings())
    np.testing.assert_array_equal(grown.sides()[: len(old)], sides)  # a store's split stays its own


def test_a_new_store_says_how_many(tmp_path: Path, bundled_games: list[str], capsys) -> None:  # type: ignore[no-untyped-def]
    game = next(game for game in bundled_games if game.count(".") > 40)
    (tmp_path / "a.pgn").write_text(game + shortened(game, 4))
    assert cli.run(["import", str(tmp_path / "a.pgn"), "--into", str(tmp_path / "a.store")]) == 0
    capsys.readouterr()
    assert cli.run(["info", str(tmp_path / "a.store")]) == 0
    assert mentions(capsys.readouterr().out, "1 & 40 & split")
