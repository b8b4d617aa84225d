"""Which games a run is tested on: never one that it has seen, unless asked for."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kibitz.cli import run as run_command
from kibitz.errors import KibitzError, UsageError
from kibitz.evaluation import compare
from kibitz.evaluation.games import bundled_note, choose, describe
from kibitz.evaluation.rows import make_rows
from kibitz.runs import Run, short_hashes, write_seen
from kibitz.store.split import TEST, TRAIN, VALIDATE
from kibitz.store.store import Store
from support.causes import mentions, naming
from support.helpers import import_games

DRAWN = '[White "A"]\n[Black "B"]\n[Date "2020.01.01"]\n[Result "1/2-1/2"]\n\n1. e4 e5 1/2-1/2\n\n'
WON = '[White "A"]\n[Black "B"]\n[Date "2020.01.01"]\n[Result "1-0"]\n\n1. e4 f6 2. d4 g5 3. Qh5# 1-0\n\n'


def decisive(store: Store) -> NDArray[np.bool_]:
    return np.asarray(store.column("result") != 0)


def test_own_store_gives_the_test_side(opened: Run, small_store: Store) -> None:
    chosen = choose(opened, small_store)
    won = decisive(small_store)
    assert np.array_equal(chosen.games, np.flatnonzero((small_store.sides() == TEST) & won))
    assert chosen.excluded == won.sum() - len(chosen.games)
    assert chosen.taken == won.sum()
    assert chosen.seen == 0
    assert mentions(chosen.words, f"{small_store.split.describe()} & split")


def test_another_store_keeps_only_unseen_games(opened: Run, small_store: Store, bundled_store: Store) -> None:
    chosen = choose(opened, bundled_store)
    seen = set(small_store.column("hash")[(small_store.sides() != TEST) & decisive(small_store)].tolist())
    hashes = bundled_store.column("hash").tolist()
    expected = [game for game in np.flatnonzero(decisive(bundled_store)).tolist() if hashes[game] not in seen]
    assert chosen.games.tolist() == expected
    assert chosen.excluded == len(seen)
    assert mentions(chosen.words, "network")


def test_validation_and_all(opened: Run, small_store: Store) -> None:
    validation = choose(opened, small_store, "validation")
    won = decisive(small_store)
    assert np.array_equal(validation.games, np.flatnonzero((small_store.sides() == VALIDATE) & won))
    assert validation.seen == len(validation.games)
    training = choose(opened, small_store, "training")
    assert np.array_equal(training.games, np.flatnonzero((small_store.sides() == TRAIN) & won))
    assert training.seen == len(training.games)
    assert mentions(training.words, "split")
    every = choose(opened, small_store, "all")
    assert np.array_equal(every.games, np.flatnonzero(won))
    assert every.seen == choose(opened, small_store).excluded
    assert mentions(every.words, f"{every.seen:,} & network")
    assert np.array_equal(choose(opened, small_store, "test").games, choose(opened, small_store).games)
    with pytest.raises(UsageError, match=r"--split .*got train"):
        choose(opened, small_store, "train")


def test_nothing_left_is_said(
    opened: Run, make_store: Callable[..., Store], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = import_games(tmp_path / "seen.store", limit=1)
    with pytest.raises(KibitzError, match=naming("1 & winner & --split & split")) as alone:
        choose(opened, seen)
    assert "human" not in str(alone.value)
    with monkeypatch.context() as patch:
        patch.setitem(opened.info, "base", "human")
        with pytest.raises(KibitzError, match=naming("1 & winner & human & --split")):
            choose(opened, seen)
    with pytest.raises(KibitzError, match=naming("1 & validation")):
        choose(opened, seen, "validation")
    (tmp_path / "won.pgn").write_text(WON)
    with pytest.raises(KibitzError, match=naming("1 & run")):
        choose(opened, make_store(tmp_path / "won.store", tmp_path / "won.pgn"), "training")
    (tmp_path / "drawn.pgn").write_text(DRAWN)
    with pytest.raises(KibitzError, match=naming("winner & 1 game")):
        choose(opened, make_store(tmp_path / "drawn.store", tmp_path / "drawn.pgn"))


def test_only_the_runs_own_validation_games_selected_its_weights(
    opened: Run, small_store: Store, bundled_store: Store
) -> None:
    assert "selected" in choose(opened, small_store, "validation").words
    assert "selected" not in choose(opened, bundled_store, "validation").words


def test_a_sure_difference_has_an_interval_in_both_directions() -> None:
    games, plies = np.arange(4), np.zeros(4, np.int64)
    right, wrong = (make_rows("move", games, plies, np.full(4, value)) for value in (1.0, 0.0))
    better, worse = (compare._paired("move", *pair, 4, 0).difference for pair in ((right, wrong), (wrong, right)))
    assert better.value == -worse.value == 1
    assert (better.low, better.high) == (-worse.high, -worse.low)
    assert better.low < 1


def test_a_store_of_another_game_is_refused(opened: Run, small_go_store: Store) -> None:
    with pytest.raises(UsageError, match=naming("store & winner")):
        choose(opened, small_go_store)


def test_bundled_games_are_said_to_be_engine_games(
    small_store: Store, make_store: Callable[..., Store], tmp_path: Path
) -> None:
    note = bundled_note(small_store, np.arange(10))
    assert note is not None
    assert note.startswith("All of these games")
    assert "the paper's" in note
    (tmp_path / "won.pgn").write_text(WON)
    assert bundled_note(make_store(tmp_path / "won.store", tmp_path / "won.pgn"), np.arange(1)) is None


def test_a_sample_is_said_to_be_one(opened: Run, small_store: Store) -> None:
    chosen = dataclasses.replace(choose(opened, small_store), words="these games")
    assert describe(small_store, chosen, 700, 700)["split"] == "these games"
    sampled = describe(small_store, chosen, 70, 7000)
    assert mentions(sampled["split"], "70 & 7,000 & positions")
    assert (sampled["positions"], sampled["positions_tested"], sampled["games"]) == (7000, 70, len(chosen.games))


def test_a_short_game_is_known_by_its_moves_too(tmp_path: Path, small_run: Path) -> None:
    """Hashes of short games contain players and date today; runs of earlier versions have those of the moves alone."""
    games = [WON, WON.replace('"A"', '"C"'), DRAWN, DRAWN.replace("e5", "c5")]
    (tmp_path / "a.pgn").write_text("".join(games))
    assert run_command(["import", str(tmp_path / "a.pgn"), "--into", str(tmp_path / "a.store")]) == 0
    store = Store(tmp_path / "a.store")
    every = np.arange(len(store))
    assert len(store) == 4
    now, before = store.column("hash"), store.move_hashes(every)
    assert not np.isin(now, before).any()
    assert (before[0] == before[1], before[2] == before[3]) == (True, False)
    shutil.copytree(small_run, tmp_path / "run")
    for seen, expected in (
        (now[[1]], [True, False, True, True]),
        (before[[1]], [False, False, True, True]),  # the same moves of others count as seen: no figure is flattered
        (now[[2]], [True, True, False, True]),
    ):
        write_seen(tmp_path / "run", [short_hashes(seen)])
        assert Run(tmp_path / "run").unseen_games(store, every).tolist() == expected


@pytest.mark.parametrize("order", [[3, 9, 9, 20], [20, 3, 9], [7], []])
def test_seen_games_are_found_in_any_order(tmp_path: Path, small_run: Path, order: list[int]) -> None:
    """Before the first, after the last and between them; an old run may list its games in another order."""
    shutil.copytree(small_run, tmp_path / "run")
    np.save(tmp_path / "run" / "seen.npy", np.array(order, np.uint32))
    hashes = np.random.default_rng(0).permutation(np.arange(25, dtype=np.uint64))
    unseen = Run(tmp_path / "run").unseen(hashes << np.uint64(32))
    assert unseen.tolist() == [short not in order for short in hashes.tolist()]
    assert Run(tmp_path / "run").unseen(hashes[:0]).tolist() == []


def test_move_hashes_are_those_of_a_whole_game(bundled_store: Store) -> None:
    """Of long games they are the hashes of the store; in any order."""
    games = np.random.default_rng(0).permutation(np.flatnonzero(bundled_store.plies >= 60))[:200]
    assert np.array_equal(bundled_store.move_hashes(games), bundled_store.column("hash")[games])
    assert len(bundled_store.move_hashes(games[:0])) == 0


def test_games_that_either_of_two_networks_has_seen_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has seen three of ten games, which are not the same."""
    unseen = {"a": np.arange(3, 10), "b": np.arange(7)}
    monkeypatch.setattr(compare, "choose", lambda run, store: SimpleNamespace(games=unseen[run.name]))
    system = SimpleNamespace(games=lambda store, settings: np.arange(10))
    runs: Any = [SimpleNamespace(name=name, system=system, settings=None) for name in unseen]
    store: Any = None
    left = compare.unseen_by_all(runs, store)
    assert left.tolist() == [3, 4, 5, 6]
    assert compare.seen_by_any(runs, store, left) == 6
