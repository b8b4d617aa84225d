"""External engines as predictors of moves: ranks and probabilities against a plain loop, faults, pairs and messages."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import chess
import chess.engine
import numpy as np
import pytest

from kibitz.cli import run as cli
from kibitz.commands.test import rated_engine
from kibitz.errors import KibitzError, UsageError
from kibitz.evaluation.games import choose_without_run
from kibitz.evaluation.predictors import EngineTest, RatedEngine, evaluate_engines
from kibitz.evaluation.predictors.chess import read_report
from kibitz.evaluation.predictors.evaluator import nearest
from kibitz.evaluation.predictors.go import read_network
from kibitz.evaluation.predictors.predictions import UNRANKED
from kibitz.external import EngineDied
from kibitz.external.uci import SearchReport
from kibitz.games.chess.moves import from_move, to_move
from kibitz.games.chess.replay import decode_board
from kibitz.games.go.points import GRID, PASS
from kibitz.runs import Run, packaged
from kibitz.store.positions import Positions
from kibitz.store.store import Store
from support.causes import each_mentions, naming
from support.engine_fakes import fake_engine, percents, preferred

POSITIONS = 40


def test_of(*engines: RatedEngine, **values: Any) -> EngineTest:
    return EngineTest(engines, **{"positions": POSITIONS, "workers": 1, **values})


test_of.__test__ = False  # type: ignore[attr-defined]


def engine(kind: str, *more: object, protocol: str = "uci", rating: int | None = None) -> RatedEngine:
    game = "chess" if protocol == "uci" else "go"
    found = rated_engine(fake_engine(protocol, kind, *more), game)
    return RatedEngine(found.command, found.label, rating)


def evaluated(test: EngineTest, store: Store, run: Run | None = None, log: list[str] | None = None) -> dict[str, Any]:
    lines = [] if log is None else log
    return evaluate_engines(test, store, choose_without_run(store), run, lambda *_: None, lines.append)


def by_loop(store: Store, limit: int = POSITIONS) -> list[tuple[int, float]]:
    """Rank and probability of the played move that the fake engine gives, for the positions of the test."""
    from kibitz.evaluation.batches import sample_indices

    positions = Positions(store, np.arange(len(store)), last=-2)
    games, plies = positions.locate(sample_indices(positions, limit, 0))
    rows = []
    for game, ply in zip(games.tolist(), plies.tolist(), strict=True):
        board = decode_board(*(part[0] for part in store.replay(np.array([game]), np.array([ply]))))
        played = to_move(int(store.moves[store.offsets[game] + ply]))
        ranked = preferred(board)
        shares = [max(percent, 0.005) for percent in percents(len(ranked))]
        rank = ranked.index(played)
        rows.append((rank + 1, shares[rank] / sum(shares)))
    return rows


def test_printed_probabilities_rank_the_played_moves(small_store: Store) -> None:
    result = evaluated(test_of(engine("statistics")), small_store)
    rows = by_loop(small_store)
    figures = result["figures"]
    assert figures["accuracy"]["value"] == pytest.approx(np.mean([rank == 1 for rank, _ in rows]))
    assert figures["accuracy_at_3"]["value"] == pytest.approx(np.mean([rank <= 3 for rank, _ in rows]))
    assert figures["log_loss"]["value"] == pytest.approx(np.mean([-math.log(chance) for _, chance in rows]), rel=1e-6)
    assert result["engines"] == [
        {"rating": None, "command": engine("statistics").label, "name": "Fake", "positions": POSITIONS}
    ]
    assert sum(row["figure"]["n"] for row in result["by"]["ply"]["rows"]) == POSITIONS


def test_ranked_lines_give_three_ranks_and_no_log_loss(small_store: Store) -> None:
    figures = evaluated(test_of(engine("lines")), small_store)["figures"]
    rows = by_loop(small_store)
    assert figures["accuracy_at_3"]["value"] == pytest.approx(np.mean([rank <= 3 for rank, _ in rows]))
    assert "log_loss" not in figures
    best = evaluated(test_of(engine("best")), small_store)["figures"]
    assert best["accuracy"]["value"] == figures["accuracy"]["value"]
    assert "accuracy_at_3" not in best, "the engine names one move"


def test_castling_is_read_in_both_spellings() -> None:
    board = chess.Board("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    castles = from_move(chess.Move.from_uci("e1g1"))
    for name in ("e1h1", "e1g1"):
        report = SearchReport([], None, [f"{name}  (103 ) N: 0 (+ 0) (P: 60.00%) (U: 0.3)", "a1a8 (1 ) (P:  0.00%)"])
        prediction = read_report(board, report)
        assert prediction.rank(castles) == 1
        assert prediction.chance(castles) == pytest.approx(0.6 / (0.6 + 0.00005))
        assert prediction.chance(from_move(chess.Move.from_uci("a1a8"))) == pytest.approx(0.00005 / 0.60005)
        assert prediction.rank(from_move(chess.Move.from_uci("e1e2"))) == UNRANKED
    plain = read_report(board, SearchReport([chess.Move.from_uci("a1a8")], None, []))
    assert plain.rank(from_move(chess.Move.from_uci("a1a8"))) == 1
    assert math.isnan(plain.chance(castles))


def test_a_position_that_ends_the_engine_is_skipped_and_counted(
    small_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_SEARCHES", str(tmp_path / "searches"))
    log: list[str] = []
    result = evaluated(test_of(engine("statistics", 7)), small_store, log=log)
    assert result["figures"]["accuracy"]["n"] == POSITIONS - 1
    assert result["data"]["positions_without_answer"] == 1
    assert each_mentions(log, f"engine & 1 & {POSITIONS} positions")
    with pytest.raises(EngineDied, match="ended"):
        evaluated(test_of(engine("statistics", -1)), small_store)


def test_engines_share_the_positions_by_rating(small_store: Store) -> None:
    assert nearest([1900, 1100, 1500], np.array([300, 1299, 1300, 1301, 1700, 3000])).tolist() == [1, 1, 1, 2, 2, 0]
    result = evaluated(test_of(engine("statistics", rating=1400), engine("best", rating=2000)), small_store)
    counts = [each["positions"] for each in result["engines"]]
    assert sum(counts) == result["figures"]["accuracy"]["n"]
    assert min(counts) > 0
    assert "log_loss" not in result["figures"], "only one of the engines prints probabilities"
    with pytest.raises(UsageError, match="needs a rating"):
        evaluated(test_of(engine("best", rating=1400), engine("best")), small_store)
    with pytest.raises(UsageError, match=naming("engine & rating & 1400")):
        evaluated(test_of(engine("best", rating=1400), engine("lines", rating=1400)), small_store)


@pytest.mark.skipif("human" not in packaged(), reason="the packaged network is not here")
def test_a_network_is_compared_on_the_same_positions(small_store: Store) -> None:
    result = evaluated(test_of(engine("statistics")), small_store, Run("human"))
    figures = result["figures"]
    for name in ("accuracy", "accuracy_at_3", "log_loss"):
        gap = figures[f"network_{name}"]["value"] - figures[name]["value"]
        assert figures[f"difference_{name}"]["value"] == pytest.approx(gap)
        assert figures[f"difference_{name}"]["low"] <= gap <= figures[f"difference_{name}"]["high"]
    table = next(table for table in result["tables"] if table["name"] == "network_and_engine_by_ply")
    assert sum(row[-1] for row in table["rows"]) == POSITIONS
    with pytest.raises(UsageError, match="does not predict moves"):
        evaluated(test_of(engine("best")), small_store, Run("winner"))


def test_go_engines_predict_points(small_go_store: Store) -> None:
    result = evaluated(test_of(engine("network", protocol="gtp")), small_go_store)
    assert result["figures"]["accuracy"]["n"] == POSITIONS
    assert "log_loss" in result["figures"]
    chosen = evaluated(test_of(engine("genmove", protocol="gtp")), small_go_store)["figures"]
    assert chosen["accuracy"]["n"] == POSITIONS
    assert "log_loss" not in chosen


def test_a_refused_move_ends_its_game_and_no_other(small_go_store: Store) -> None:
    log: list[str] = []
    result = evaluated(test_of(engine("strict", protocol="gtp"), positions=0), small_go_store, log=log)
    games = len(small_go_store)
    assert result["figures"]["accuracy"]["n"] == 9 * games, "the positions before the refused move"
    assert result["figures"]["accuracy"]["games"] == games
    assert each_mentions(log, f"engine & {int(small_go_store.plies.sum()) - 9 * games:,} & positions")


def test_a_table_of_points_is_read() -> None:
    rows = ["0.1 0.2 NAN", "0.3 0.05 0.05", "0.0 0.1 0.1"]
    prediction = read_network("\n".join(["policy", *rows, "policyPass 0.1", "whiteOwnership 1 1 1"]), 3)
    assert prediction.ranked[0] == GRID
    assert prediction.rank(1) == 2
    assert prediction.rank(2) == UNRANKED
    assert prediction.chance(PASS) == pytest.approx(0.1, abs=0.01)
    with pytest.raises(EngineDied, match="no table"):
        read_network("whiteWin 0.5", 3)


def test_the_command(small_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def call(*arguments: object) -> tuple[int, str, str]:
        code = cli(["test", str(small_store.path), *map(str, arguments)])
        return code, *capsys.readouterr()

    page = tmp_path / "page.html"
    command = fake_engine("uci", "statistics")
    code, out, err = call("--engine", command, "--nodes", 1, "--positions", 10, "--out", page, "--json")
    assert code == 0, err
    assert json.loads(out)["figures"]["accuracy"]["n"] == 10
    assert "predictor of moves" in page.read_text(encoding="utf-8")
    code, out, err = call("--engine", command, "--positions", 10, "--out", page)
    assert code == 0, err
    assert "accuracy by ply" in out
    information = small_store.path / "store.json"
    before = information.read_bytes()
    for wrong, words in (
        (["--nodes", 1], "Add --engine"),
        (["--engine", command, "--positions", 1, "--out", information], "--out"),
        (["--engine", "no-such-program"], "is not a run"),
        (["--engine", command, "--split", "half"], "half"),
        (["--engine", command, "--engine-option", "Nothing=1", "--positions", 1, "--out", page], "Nothing"),
    ):
        code, out, err = call(*wrong)
        assert code != 0
        assert words in err
        assert len(err.splitlines()) == 1 or "positions" in err
    assert information.read_bytes() == before


def test_an_engine_with_a_rating_is_read() -> None:
    command = fake_engine("uci", "best")
    assert rated_engine(f"1100={command}", "chess").rating == 1100
    assert rated_engine(command, "chess").rating is None
    with pytest.raises(KibitzError, match="is not a run"):
        rated_engine("1100=no-such-program", "chess")
