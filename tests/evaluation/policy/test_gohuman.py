"""The table of `gohuman` against a slow loop that plays every game on a board and asks the torch network."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch

from kibitz.cli import run as cli
from kibitz.evaluation import EvalConfig, evaluate, load
from kibitz.evaluation.games import Chosen
from kibitz.evaluation.policy.gohuman.evaluator import winner_figures, winners
from kibitz.evaluation.policy.gohuman.results import move_marks
from kibitz.games.batch import GameBatch, Rejections
from kibitz.games.go.game import COLUMNS, PER_GAME, PER_MOVE
from kibitz.games.go.points import PASS, POINTS, on_board
from kibitz.games.go.replay import STANDARD_START, encode_board, start_row
from kibitz.games.go.rules import Board
from kibitz.games.go.sides import side_inputs
from kibitz.play.go.ownership import SWINGS, ResultsOfBothSides
from kibitz.report.page import render_test_page
from kibitz.runs import Run
from kibitz.stats import ClusterBootstrap
from kibitz.store.store import Store
from kibitz.store.writer import StoreWriter
from support import go_oracle as oracle
from support.trained import trained

SIZES = (9, 13, 9, 9, 13, 9)
KOMI = 5.5


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Random games; the owners of every second one are known, and drawn by chance; one was forfeited."""
    rng = np.random.default_rng(3)
    moves = [oracle.random_game(size, 24 + i, i) for i, size in enumerate(SIZES)]
    owner = np.zeros((len(SIZES), POINTS), np.uint8)
    rows = []
    for i, size in enumerate(SIZES):
        known = i % 2 == 0
        if known:
            owner[i] = [rng.integers(3) if on_board(point, size) else 0 for point in range(POINTS)]
        rows.append({
            "black": f"B{i}", "white": f"W{i}", "black_rank": ("9d", "2k")[i % 2], "white_rank": None,
            "result": 1 - 2 * (i % 3 == 1), "margin": 3.5 if known else None,
            "ending": "counted" if known else ("resignation", "forfeit")[i == 3], "komi": KOMI, "rules": "chinese",
            "handicap": 0, "size": size, "labels": "playouts" if known else None, "source": "a.sgf", "number": i + 1,
        })  # fmt: skip
    batch = GameBatch(
        np.concatenate(moves).astype(np.uint16), np.array([len(game) for game in moves], np.int32),
        np.stack([start_row(size) for size in SIZES]), pa.Table.from_pylist(rows, COLUMNS), Rejections(), len(SIZES),
        per_game={"owner": owner},
    )  # fmt: skip
    path = tmp_path_factory.mktemp("go") / "random.store"
    with StoreWriter(path, "go", COLUMNS, STANDARD_START, PER_MOVE, per_game=PER_GAME) as writer:
        writer.add(batch)
        return writer.commit({})


@pytest.fixture(scope="module")
def run(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Run:
    from kibitz.systems.gohuman import Settings
    from kibitz.training.trainer import TrainConfig

    path = tmp_path_factory.mktemp("runs") / "gohuman-1"
    settings = Settings(blocks=3, filters=16, iterations=8, batch=32, warmup=2, min_moves=1)
    plan = TrainConfig(10, 1000, 1000, 500, precision="32-true")
    return Run(trained("gohuman", settings, store, path, plan))


@pytest.fixture(scope="module", autouse=True)
def cheap_moves() -> Iterator[None]:
    """A network that has learned nothing does not see that a move gains what it is worth: little enough here that not
    every move is a mistake."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ResultsOfBothSides, "POINTS", np.array([0.9, 0.2, 0.6]))
        yield


@pytest.fixture(scope="module")
def result(run: Run, store: Store) -> dict[str, Any]:
    chosen = Chosen(np.arange(len(store)), len(store), 0, 0, "all")
    return evaluate(run, store, chosen, EvalConfig(), on_progress=lambda *_: None, log=pytest.fail)


Position = dict[str, Any]


@pytest.fixture(scope="module")
def loop(run: Run, store: Store) -> list[list[Position]]:
    """Each game as its positions, the last one too, with what the torch network says."""
    network, games = run.load_network(), []
    for game, size in enumerate(SIZES):
        board, positions, row = Board(size), [], store.row(game)
        moves = store.moves[store.offsets[game] : store.offsets[game + 1]].tolist()
        for ply in range(len(moves) + 1):
            codes, state = encode_board(board)
            ranks = (row["black_rank"], row["white_rank"])
            told = side_inputs(KOMI, 0, "chinese", ranks[ply % 2], ranks[1 - ply % 2])
            full = np.concatenate([state, np.array(list(told.values()), np.uint8)])
            mine = full
            with torch.no_grad():
                answers = network(torch.from_numpy(codes)[None], torch.from_numpy(full)[None])
            named = {name: value[0].numpy() for name, value in zip(network.outputs, answers, strict=True)}
            told = side_inputs(KOMI, 0, "chinese", ranks[1 - ply % 2], ranks[ply % 2])
            full = np.concatenate([state, np.array(list(told.values()), np.uint8)])
            full[0], full[2] = 1 - full[0], 0  # the other side's turn, and no passes before
            black = 1 - 2 * (ply % 2)
            positions.append({
                **named, "black_wins": (1 + black * float(named["value"])) / 2, "black": black, "size": size,
                "black_lead": black * float(named["lead"]), "row": row,
                "said": in_two_ways(network, codes, mine, size), "other": in_two_ways(network, codes, full, size),
                "move": moves[ply] if ply < len(moves) else None,
            })  # fmt: skip
            if ply < len(moves):
                board.play(board.to_move, moves[ply])
        games.append(positions)
    return games


def in_two_ways(network: Any, codes: np.ndarray, state: np.ndarray, size: int) -> dict[str, np.ndarray]:
    """The mean of what is said of a board as it is, and mirrored, point by point."""
    mirrored = np.arange(361).reshape(19, 19)
    mirrored[:, :size] = mirrored[:, :size][:, ::-1]
    there = mirrored.ravel()
    with torch.no_grad():
        plain, turned = (
            {name: value[0].numpy() for name, value in zip(network.outputs, answers, strict=True)}
            for answers in (network(torch.from_numpy(each)[None], torch.from_numpy(state)[None])
                            for each in (codes, codes[there]))
        )  # fmt: skip
    turned["black_owns"] = turned["black_owns"][there]
    turned["policy"] = turned["policy"][[*there, 361]]
    return {name: (plain[name] + turned[name]) / 2 for name in plain}


def near(value: float) -> Any:
    return pytest.approx(value, abs=2e-3)  # ONNX and torch differ in the last bits, which may turn a rank


def test_moves(result: dict[str, Any], loop: list[list[Position]]) -> None:
    played = [position for game in loop for position in game if position["move"] is not None]
    ranks = [1 + int((one["policy"] > one["policy"][one["move"]]).sum()) for one in played]
    figures = result["figures"]
    for name, most in (("accuracy", 1), ("accuracy_at_3", 3), ("accuracy_at_5", 5)):
        assert figures[name]["value"] == near(float(np.mean([rank <= most for rank in ranks])))
        assert (figures[name]["n"], figures[name]["games"]) == (len(played), len(SIZES))
    losses = [-np.log(one["policy"][one["move"]]) for one in played]
    assert figures["log_loss"]["value"] == near(float(np.mean(losses)))
    parts = {name: [row["slice"] for row in part["rows"]] for name, part in result["by"].items()}
    assert parts["board"] == ["9", "13"]
    assert {"move_number", "rank", "board", "side_to_move"} <= parts.keys()


def test_winners_and_forfeits(result: dict[str, Any], loop: list[list[Position]]) -> None:
    decided = [
        (one["black_wins"] if one["black"] > 0 else 1 - one["black_wins"], one["row"]["result"] * one["black"] > 0)
        for game in loop for one in game if one["move"] is not None and one["row"]["ending"] != "forfeit"
    ]  # fmt: skip
    figures = result["figures"]
    right = np.mean([(chance > 0.5) == won for chance, won in decided])
    assert figures["winner_accuracy"]["value"] == near(float(right))
    assert figures["winner_accuracy"]["n"] == len(decided)
    loss = np.mean([-np.log(chance if won else 1 - chance) for chance, won in decided])
    assert figures["winner_log_loss"]["value"] == near(float(loss))


def test_winners_that_are_all_wrong_have_an_interval_beside_an_even_position() -> None:
    """A win probability of exactly 0.5 anywhere must not take the interval from another part of the game."""
    games = np.arange(12)
    some: Any = SimpleNamespace(
        games=games, groups=ClusterBootstrap(games), plies=np.repeat([5, 30], 6), result=np.full(12, -1),
        marks={"win": np.repeat([0.5, 0.9], 6)},
    )  # fmt: skip
    accuracies: list[Any] = [row[1] for row in winners(some).rows]
    assert [one.value for one in accuracies] == [0.5, 0]
    assert accuracies[1].high == near(1 - 0.025 ** (1 / 6))
    some.result[:6] = 0
    assert winner_figures(some)["winner_accuracy"].estimate.high > 0.3


def test_the_rows_are_those_of_the_positions_that_can_be_tested(run: Run, store: Store) -> None:
    module: Any = load("gohuman")
    for question in module.row_questions(run):
        eligible = module.eligible(run, store, np.arange(len(store)), question)
        games, plies = eligible.locate(np.arange(len(eligible)))
        rows = module.measure_rows(run, store, games, plies, question, lambda *_: None)
        assert np.array_equal(rows.games, games)
        assert np.array_equal(rows.plies, plies)
        assert (3 in games) == (question == "move"), "game 3 was forfeited"


def test_owners_and_score_of_games_whose_end_is_known(
    result: dict[str, Any], loop: list[list[Position]], store: Store
) -> None:
    owner = store.per_game("owner")
    assert owner is not None
    right = known = 0
    off = []
    for number, game in enumerate(loop):
        if store.column("labels")[number] is None:
            continue
        for one in game:
            for point in np.flatnonzero(owner[number]):
                known += 1
                right += (one["black_owns"][point] > 0.5) == (owner[number, point] == 1)
            off.append(abs(one["black_lead"] - one["row"]["result"] * one["row"]["margin"]))
    figures = result["figures"]
    assert figures["owners_accuracy"]["value"] == near(right / known)
    assert figures["owners_accuracy"]["n"] == len(off)
    assert figures["score_lead_error"]["value"] == pytest.approx(float(np.mean(off)), rel=1e-3)


def judged(one: Position) -> tuple[float, float]:
    """Black's chance and lead with either side to move: the mean, and by many signs what the move is worth."""
    black, said, other = one["black"], one["said"], one["other"]
    own, turned = (float(np.log((1 + each["value"]) / (1 - each["value"]))) for each in (said, other))
    board = [row * 19 + column for row in range(one["size"]) for column in range(one["size"])]
    owners = ((said["black_owns"] + other["black_owns"]) / 2)[board]
    is_open = float(np.mean(4 * owners * (1 - owners)))
    odds, half = (own - turned) / 2, (own + turned) / 2
    chance = 1 / (1 + np.exp(-odds))
    signs = [
        1, half, is_open, is_open**2, np.log((said["spread"] + other["spread"]) / 2),
        sum(-p * np.log(p) for p in said["policy"] if p > 0), abs(odds), 4 * chance * (1 - chance),
    ]  # fmt: skip
    odds += np.dot(signs, ResultsOfBothSides.ODDS)
    points = [1, (said["lead"] + other["lead"]) / 2, is_open]
    lead = (said["lead"] - other["lead"]) / 2 + np.dot(points, ResultsOfBothSides.POINTS)
    return float(1 / (1 + np.exp(-black * odds))), float(black * lead)


def test_evaluation_volatility_leaves_mistakes_out(result: dict[str, Any], loop: list[list[Position]]) -> None:
    changes, all_of_them = [], []
    for size, game in zip(SIZES, loop, strict=True):
        for one, after in itertools.pairwise(game):
            (before, before_lead), (then, then_lead) = judged(one), judged(after)
            change = abs(then - before)
            all_of_them.append(change)
            if one["black"] * (then_lead - before_lead) > -SWINGS[size]:
                changes.append(change)
    figure = result["figures"]["evaluation_volatility"]
    assert figure["value"] == near(float(np.mean(changes)))
    assert figure["n"] == len(changes) <= len(all_of_them)
    assert result["figures"]["evaluation_volatility_of_all_moves"]["value"] == near(float(np.mean(all_of_them)))


def test_equal_probabilities_stand_in_the_order_of_points() -> None:
    policy = np.full((2, POINTS + 1), 0.1, np.float32)
    policy[1, 7] = 0.5
    marks = move_marks(policy, np.array([2, PASS]))
    assert marks["rank"].tolist() == [3, PASS + 1]
    assert marks["best"].tolist() == [0, 7]
    assert marks["passed"].tolist() == [False, True]


def test_the_page_and_the_command(
    result: dict[str, Any], run: Run, store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "Winner prediction" in render_test_page(result)
    page = tmp_path / "page.html"
    assert cli(["test", str(run.path), str(store.path), "--split", "all", "--out", str(page), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["figures"]["accuracy"] == result["figures"]["accuracy"]
    assert page.is_file()
    command = [
        "test",
        str(run.path),
        str(store.path),
        "--split",
        "all",
        "--out",
        str(page),
        "--all-symmetries",
        "--json",
    ]
    assert cli([*command, "--positions", "40"]) == 0
    turned = json.loads(capsys.readouterr().out)["figures"]
    assert turned["accuracy"]["n"] == 40


@pytest.mark.usefixtures("few_visits")
def test_analyze(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    moves = "".join(f";{'BW'[i % 2]}[{chr(97 + i // 9)}{chr(97 + i % 9)}]" for i in range(18))
    file = tmp_path / "game.sgf"
    file.write_text(f"(;GM[1]SZ[9]KM[6.5]RU[Chinese]BR[9d]WR[3k]PC[KGS]RE[B+R]{moves})")
    assert cli(["analyze", str(run.path), str(file), "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""  # boards of 9 lines are no surprise to it
    game = json.loads(captured.out)["games"][0]
    assert [(row["phase"], row["side"], row["moves"]) for row in game["phases"]] == [
        ("opening", "black", 7), ("opening", "white", 7), ("middlegame", "black", 2), ("middlegame", "white", 2),
    ]  # fmt: skip
    losses = [max(0.0, -move["change"]) for move in game["moves"][:14:2]]
    assert game["phases"][0]["average_loss"] == pytest.approx(np.mean(losses), abs=0.01)
    first = game["moves"][0]
    assert len(first["expected"]) == 3
    assert first["expected"][0]["probability"] >= first["probability"] > 0
    assert first["change"] == pytest.approx(first["after"] - first["before"], abs=0.011)
    assert max(move["change"] for move in game["moves"]) <= 0  # searches judge: `before` is the lead with the best move
    assert cli(["analyze", str(run.path), str(file)]) == 0
    assert "opening, Black" in capsys.readouterr().out
