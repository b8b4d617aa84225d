"""The library for researchers: moves and labels of positions, batches, rows of a test, and paired comparisons."""

from __future__ import annotations

import functools
import itertools
import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

import kibitz
from kibitz import datasets
from kibitz.cli import run
from kibitz.evaluation import check_result
from kibitz.evaluation.policy import evaluator
from kibitz.evaluation.positions import tsne
from kibitz.evaluation.positions.tsne import landscape
from kibitz.evaluation.rows import move_loss
from kibitz.games.chess.replay import decode_board
from kibitz.stats import ClusterBootstrap, log_loss
from kibitz.store.store import Store
from support.causes import mentions, naming


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory, small_store: Store) -> str:
    folder = tmp_path_factory.mktemp("research")
    shutil.copytree(small_store.path, folder / "my.store")
    return str(folder / "my.store")


@pytest.fixture(scope="module")
def tested(path: str) -> Callable[[str], kibitz.TestResult]:
    """The test of a network with 200 positions and the seed 1."""
    return functools.cache(lambda name: kibitz.test(name, path, positions=200, seed=1))


@pytest.fixture(scope="module")
def store(path: str) -> kibitz.GameStore:
    return kibitz.open_store(path)


def test_moves_are_those_that_python_chess_plays(store: kibitz.GameStore) -> None:
    games, plies = store.sample(300, played=True, seed=3)
    moves = store.moves_at(games, plies)
    by_mover = store.moves_at(games, plies, view="mover")
    boards = store.boards(games, plies)
    after = store.boards(games, plies + 1)
    for i, (board, then) in enumerate(zip(boards, after, strict=True)):
        promotion = int(moves.promotion[i]) or None
        move = chess.Move(int(moves.origin[i]), int(moves.target[i]), promotion)
        assert then.peek() == move
        flip = 0 if board.turn else 56
        assert (by_mover.origin[i], by_mover.target[i]) == (move.from_square ^ flip, move.to_square ^ flip)
    assert moves.origin.dtype == moves.target.dtype == np.int16


def test_the_movers_view_is_the_mirrored_board(store: kibitz.GameStore) -> None:
    games, plies = store.sample(200, seed=4)
    codes, state = store.positions(games, plies, view="mover")
    for board, row, numbers in zip(store.boards(games, plies), codes, state, strict=True):
        wanted = board if board.turn else board.mirror()
        assert decode_board(row, numbers).board_fen() == wanted.board_fen()
        assert numbers[0] == 0


def test_labels_are_those_of_the_table(store: kibitz.GameStore) -> None:
    games, plies = store.sample(200, seed=5)
    labels = store.labels_at(games, plies)
    table = store.table(["result", "white_rating", "black_rating"]).to_pylist()
    for i, (game, ply) in enumerate(zip(games.tolist(), plies.tolist(), strict=True)):
        row, black = table[game], store.boards([game], [ply])[0].turn == chess.BLACK
        assert labels.side[i] == black
        assert labels.result[i] == (-row["result"] if black else row["result"])
        own, other = ("black", "white") if black else ("white", "black")
        for array, side in ((labels.rating, own), (labels.opponent_rating, other)):
            known = row[f"{side}_rating"]
            assert array[i] == known if known else np.isnan(array[i])


def test_clocks_are_after_the_move(tmp_path: Path) -> None:
    moves = "1. e4 {[%clk 0:01:40]} e5 {[%clk 0:01:41]} 2. Qh5 Ke7 3. Qxe5# 1-0"
    text = f'[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n{moves}\n'
    (tmp_path / "games.pgn").write_text(text)
    assert run(["import", str(tmp_path / "games.pgn"), "--into", str(tmp_path / "clocks.store")]) == 0
    labels = kibitz.open_store(tmp_path / "clocks.store").labels_at(0, range(6))
    assert labels.clock[:2].tolist() == [100, 101]
    assert np.isnan(labels.clock[2:]).all()
    assert labels.result.tolist() == [1, -1, 1, -1, 1, -1]


def test_wrong_calls(store: kibitz.GameStore) -> None:
    last = int(store.plies[0])
    assert store.moves_at(0, last - 1).origin.shape == (1,)
    with pytest.raises(kibitz.UsageError, match=naming(f"{last} & position")):
        store.moves_at(0, last)
    with pytest.raises(kibitz.UsageError, match=naming("view & black & board")):
        store.positions(0, 0, view="black")
    with pytest.raises(kibitz.UsageError, match=naming("played & network")):
        store.sample(3, network="winner", played=True)
    with pytest.raises(kibitz.UsageError, match="at least one network"):
        store.unseen_games()


def test_go_moves_and_view(tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_text("(;GM[1]SZ[9]KM[5.5]BR[1d]WR[2k]RE[B+3.5];B[ee];W[cc];B[];W[gg];B[];W[])")
    assert run(["import", str(tmp_path / "a.sgf"), "--into", str(tmp_path / "go.store"), "--unconfirmed"]) == 0
    store = kibitz.open_store(tmp_path / "go.store")
    moves = store.moves_at(0, range(6))
    assert moves.target.tolist() == [4 * 19 + 4, 2 * 19 + 2, 361, 6 * 19 + 6, 361, 361]
    assert moves.origin.tolist() == [-1] * 6
    labels = store.labels_at(0, range(2))
    assert (labels.rating.tolist(), labels.opponent_rating.tolist()) == ([1, -1], [-1, 1])
    seen, _ = store.positions(0, 3, view="mover")
    board, _ = store.positions(0, 3)
    assert (seen[0, 4 * 19 + 4] & 15, board[0, 4 * 19 + 4] & 15) == (10, 4)  # four liberties: theirs, and Black's
    planes = datasets.make_planes(seen)[0]
    assert planes[7].sum() == 81
    assert planes[5, 4, 4] == planes[2, 2, 2] == 1


def test_batches_hold_each_position_once(path: str) -> None:
    batches = datasets.PositionBatches(path, part="test", batch=50, played=True)
    places = [(g, p) for batch in batches for g, p in zip(batch["game"].tolist(), batch["ply"].tolist(), strict=True)]
    assert len(places) == len(set(places)) == 50 * len(batches)
    store = kibitz.open_store(path)
    assert {game for game, _ in places} <= set(store.games("test").tolist())
    other = batches.with_epoch(1)[0]
    assert not np.array_equal(other["ply"], batches[0]["ply"])
    again = pickle.loads(pickle.dumps(batches))[0]
    assert all(np.array_equal(again[name], values, equal_nan=True) for name, values in batches[0].items())
    with pytest.raises(IndexError):
        batches[len(batches)]
    with pytest.raises(kibitz.UsageError, match=naming("batch & positions")):
        datasets.PositionBatches(path, part="test", batch=10**6)


def test_torch_loads_batches(path: str) -> None:
    from torch.utils.data import DataLoader

    batches = datasets.PositionBatches(path, batch=32, played=True, arrays="torch")
    loaded = next(iter(DataLoader(batches, batch_size=None)))  # type: ignore[arg-type]
    assert loaded["codes"].shape == (32, 64)
    assert np.array_equal(loaded["origin"].numpy(), batches[0]["origin"].numpy())


@pytest.mark.parametrize("ending", ["npz", "h5"])
def test_export_positions(path: str, tmp_path: Path, ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / f"positions.{ending}"
    if ending == "h5":
        h5py = pytest.importorskip("h5py")
    command = ["export-positions", path, "--to", str(file), "--positions", "200", "--played", "--json"]
    if ending == "npz":  # a call that was killed left this folder
        left = tmp_path / "positions.npz.part.arrays"
        left.mkdir()
        (left / "codes.npy").touch()
    assert run(command) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["positions"] == 200
    store = kibitz.open_store(path)
    wanted = datasets.collect(store, *store.sample(200, played=True), True, "mover")
    found = np.load(file) if ending == "npz" else h5py.File(file)
    assert set(told["arrays"]) == set(wanted)
    assert all(np.array_equal(found[name][...], values, equal_nan=True) for name, values in wanted.items())
    assert run(command) == 2, "it exists already"
    assert list(tmp_path.iterdir()) == [file]
    assert run([*command[:3], str(tmp_path / "positions.csv")]) == 2


def test_rows_have_the_figures_of_the_test(tested: Callable[[str], kibitz.TestResult]) -> None:
    for name in ("winner", "chessnet", "deepchess", "human"):
        result = tested(name)
        rows, headline = result.rows, result.figures[result.headline]
        assert rows.right.mean() == pytest.approx(headline.value)
        assert len(rows) == headline.n
        if "log_loss" in result.figures:
            assert rows.loss.mean() == pytest.approx(result.figures["log_loss"].value, rel=1e-4)
    assert "rows" not in result.json


def test_a_picture_is_made_when_somebody_looks_at_it(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def counted(*arguments: Any) -> Any:
        made.append(1)
        return landscape(*arguments)

    monkeypatch.setattr(evaluator, "landscape", counted)
    monkeypatch.setattr(tsne, "POINTS", 60)
    result = kibitz.test("convchess", path, positions=100)
    assert result.figures["accuracy"].n == 100
    assert not made
    assert len(result.json["landscape"]["points"]) == 60
    assert pickle.loads(pickle.dumps(result)).json == result.json
    assert made == [1]


def test_a_sample_can_be_that_of_a_test(tested: Callable[[str], kibitz.TestResult], store: kibitz.GameStore) -> None:
    for name in ("winner", "chessnet", "human"):
        rows = tested(name).rows
        games, plies = store.sample(200, network=name, seed=1)
        assert np.array_equal(rows.game, games)
        assert np.array_equal(rows.ply, plies)
    with pytest.raises(kibitz.UsageError, match="pairs"):
        store.sample(10, network="deepchess")


def test_a_sample_has_the_drawn_games_of_a_test(path: str, store: kibitz.GameStore) -> None:
    result = kibitz.test("chessnet-value", path, positions=200, seed=1)
    games, plies = store.sample(200, network="chessnet-value", seed=1)
    decisive = store.labels_at(games, plies).result != 0
    assert 0 < decisive.sum() < result.figures["value_squared_error"].n == 200
    assert np.array_equal(result.rows.game, games[decisive])
    assert np.array_equal(result.rows.ply, plies[decisive])


def test_the_rows_have_the_log_losses_of_the_test() -> None:
    """Also of moves that the network holds for impossible."""
    chance = np.array([0, 1e-8, 1e-3, 0.5, 1], np.float32)
    assert np.array_equal(move_loss(chance), log_loss(chance, 1))


def test_a_comparison_is_paired(path: str) -> None:
    found = kibitz.compare("chessnet", "convchess", path, positions=300)
    assert np.array_equal(found.rows_a.game, found.rows_b.game)
    assert np.array_equal(found.rows_a.ply, found.rows_b.ply)
    alone = kibitz.test("convchess", path, positions=0).rows
    known = {(g, p): r for g, p, r in zip(alone.game.tolist(), alone.ply.tolist(), alone.right.tolist(), strict=True)}
    for game, ply, right in zip(
        *(part.tolist() for part in (found.rows_b.game, found.rows_b.ply, found.rows_b.right)), strict=True
    ):
        assert known[game, ply] == right
    wanted = ClusterBootstrap(found.rows_a.game).difference(found.rows_a.right, found.rows_b.right)
    assert found.difference == wanted
    same = kibitz.compare("deepchess", "deepchess", path, positions=100)
    assert (same.question, same.difference.value) == ("pair", 0)
    assert kibitz.compare("winner", "human", path, positions=100).question == "winner"
    with pytest.raises(kibitz.UsageError, match="predict different things"):
        kibitz.compare("winner", "convchess", path)
    with pytest.raises(kibitz.UsageError, match=naming("question & winner & networks")):
        kibitz.compare("winner", "human", path, question="move")


def test_the_command_against(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["test", "chessnet", path, "--against", "convchess", "--positions", "200", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    found = kibitz.compare("chessnet", "convchess", path, positions=200)
    assert result["figures"]["difference"] == found.difference.as_json()
    assert run(["test", "chessnet", path, "--against", "convchess", "--positions", "200"]) == 0
    assert mentions(capsys.readouterr().out, "games")
    assert run(["test", "chessnet", path, "--against", "convchess", "--split", "all"]) == 2


def _good() -> dict[str, object]:
    from kibitz.evaluation.tables import Metric

    data = dict.fromkeys(
        ("store", "fingerprint", "games", "positions", "positions_tested", "seen_games", "seen_games_left_out", "split")
    )
    return {
        "data": data,
        "headline": "accuracy",
        "figures": {"accuracy": Metric(ClusterBootstrap([0, 1]).mean([1, 0]))},
    }


def test_a_wrong_type_from_an_evaluation_is_one_line() -> None:
    check_result(_good(), "mine")
    wrong = [
        ({"figures": {"accuracy": 0.5}}, 'the metric "accuracy" must be a kibitz.evaluation.tables.Metric'),
        ({"figures": [0.5]}, '"figures" must be a dict of Metric .got list.'),
        ({"headline": "loss"}, '"loss" is not one of its "figures" .accuracy.'),
        ({"data": {}}, '"data" → "store" must be a value from kibitz.evaluation.games.describe .got NoneType.'),
        ({"tables": [{"rows": []}]}, 'each of "tables" must be a kibitz.evaluation.tables.Table .got dict.'),
        ({"baselines": {"material": 0.6}}, 'the baseline "material" must be'),
        ({"by": {"ply": {"rows": []}}}, '"by" → "ply" must be a list'),
        ({"rows": [1, 2]}, '"rows" must be kibitz.evaluation.rows.Rows .got list.'),
        ({"pictures": {}}, '"pictures" must be a function .got dict.'),
    ]
    for change, message in wrong:
        with pytest.raises(kibitz.KibitzError, match=f"^mine.evaluate: {message}"):
            check_result(_good() | change, "mine")
    with pytest.raises(kibitz.KibitzError, match=naming("NoneType")):
        check_result(None, "mine")


def test_a_part_of_the_split_is_drawn_from(store: kibitz.GameStore) -> None:
    for part, played in itertools.product(("training", "test"), (True, False)):
        games, plies = store.sample(10**9, part=part, played=played)
        own = store.games(part)
        assert set(games.tolist()) == set(own.tolist())
        assert len(games) == int(store.plies[own].sum()) + (0 if played else len(own))
        assert not (played and (plies == store.plies[games]).any())


def test_arrays_of_a_part_are_those_of_its_games(path: str, store: kibitz.GameStore) -> None:
    every = datasets.read_arrays(path, part="test", played=True)
    own = store.games("test")
    assert len(every["codes"]) == int(store.plies[own].sum())
    assert set(every["game"].tolist()) == set(own.tolist())
    some = datasets.read_arrays(store, part="test", positions=50, played=True, seed=2)
    again = datasets.read_arrays(store, part="test", positions=50, played=True, seed=2)
    other = datasets.read_arrays(store, part="test", positions=50, played=True, seed=3)
    np.testing.assert_equal(again, some)  # unknown clocks are NaN
    assert not (some["ply"] == other["ply"]).all()
    np.testing.assert_equal(datasets.collect(store, some["game"], some["ply"], True, "mover"), some)
    with pytest.raises(kibitz.UsageError, match=naming("positions & got 1,000,000")):
        datasets.read_arrays(store, part="test", positions=10**6)


def test_the_split_of_a_store_has_no_leakage(store: kibitz.GameStore) -> None:
    report = datasets.check_leakage(store)
    assert report.is_clean
    assert report.games == {part: len(store.games(part)) for part in ("training", "validation", "test")}


def test_leakage_is_found(store: kibitz.GameStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three games of the test begin as training games do, and one is a copy."""
    hashes, openings = store.game_hashes().copy(), np.arange(len(store), dtype=np.uint64)
    parts = {"training": np.arange(0, 50), "test": np.arange(50, 90)}
    monkeypatch.setattr(kibitz.GameStore, "game_hashes", lambda _: hashes)
    monkeypatch.setattr(kibitz.GameStore, "opening_hashes", lambda _: openings)
    assert datasets.check_leakage(store, parts).is_clean
    openings[[60, 61, 70]] = openings[[3, 3, 49]]
    openings[95] = openings[4]  # in no part
    hashes[61] = hashes[3]
    report = datasets.check_leakage(store, parts)
    assert (report.shared_games, report.near_duplicates, report.is_clean) == (1, 3, False)
    monkeypatch.setattr(kibitz.GameStore, "opening_hashes", lambda _: None)
    assert datasets.check_leakage(store, parts).near_duplicates is None


@pytest.mark.parametrize(
    ("parts", "names"),
    [
        ({"test": [1]}, "training & test"),
        ({"training": [0, 1], "test": [1]}, "several parts"),
        ({"training": [0], "test": [10**6]}, "indexes of games"),
        ({"training": [0.2], "test": [1]}, "integers & float64 & training"),
        ({"training": [0], "test": [True]}, "integers & bool & test"),
    ],
)
def test_parts_that_are_no_split(parts: dict[str, list[float]], names: str, store: kibitz.GameStore) -> None:
    with pytest.raises(kibitz.UsageError, match=naming(names)):
        datasets.check_leakage(store, {name: np.array(games) for name, games in parts.items()})
    assert datasets.check_leakage(store, {"training": np.array([0]), "test": np.array([1])}).games["test"] == 1
