"""The evaluation of systems that predict moves: figures from marks, tables, partial runs, and the page."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import chess
import numpy as np
import pytest

from kibitz.errors import KibitzError
from kibitz.evaluation import EvalConfig, evaluate, load
from kibitz.evaluation.games import Chosen
from kibitz.evaluation.policy import evaluator, heatmaps
from kibitz.evaluation.policy.metrics import with_side_inputs
from kibitz.evaluation.positions import tsne
from kibitz.games.chess.moves import to_move
from kibitz.play.session import Session
from kibitz.report.page import render_test_page
from kibitz.runs import Run
from kibitz.store.positions import Positions
from kibitz.store.store import Store
from kibitz.systems.movers.nets import PIECES
from support.causes import each_mentions, mentions
from support.helpers import bare, program


def quiet(*_: object) -> None:
    """Progress that nobody hears."""


def examined(run: Run, store: Store, games: Chosen, config: EvalConfig) -> dict[str, Any]:
    return evaluate(run, store, games, config, on_progress=quiet, log=pytest.fail)


def answers_of(run: Run, store: Store, games: Chosen) -> tuple[Any, dict[str, np.ndarray]]:
    positions = Positions(store, games.games, last=-2)
    batch = positions.batch(np.arange(len(positions)))
    session = Session(run)
    return batch, session.evaluate(batch.codes, with_side_inputs(session, run.settings, store, batch))


def table(result: dict[str, Any], title: str) -> dict[str, list[Any]]:
    (found,) = (part for part in result["tables"] if part["title"] == title)
    assert all(len(row) == 1 + len(found["columns"]) == 1 + len(found["kinds"]) for row in found["rows"])
    return {row[0]: row[1:] for row in found["rows"]}


def test_figures_of_a_whole_run(shared_result: dict[str, Any], small_store: Store, few: Chosen) -> None:
    figures = shared_result["figures"]
    count = int(small_store.plies[few.games].sum())
    assert shared_result["headline"] == shared_result["main"][0] == "accuracy"
    assert set(shared_result["main"]) <= figures.keys()
    whole = {
        "accuracy",
        "accuracy_at_3",
        "accuracy_at_5",
        "accuracy_at_10",
        "log_loss",
        "top_move_accuracy",
        "move_rank",
    }
    single = {"accuracy", "accuracy_at_10", "legal_accuracy", "legal_accuracy_at_3", "illegal", "squared_gap"}
    keys = ("origin", *PIECES, *(f"{piece}_from_square" for piece in PIECES))
    expected = whole | {f"{key}_{name}" for key in keys for name in single}
    assert expected | {"sign_accuracy", "value_squared_error", "material_correlation"} <= figures.keys()
    for name in whole:
        assert figures[name]["n"] == count
        assert figures[name]["games"] == len(few.games)
    assert sum(figures[f"{piece}_accuracy"]["n"] for piece in PIECES) == count
    for figure in figures.values():
        assert figure["low"] is None or figure["low"] <= figure["value"] <= figure["high"]
    for key in keys:
        at = [
            [figures[f"{key}{kind}_accuracy{k}"]["value"] for k in ("", "_at_3", "_at_5", "_at_10")]
            for kind in ("", "_legal")
        ]
        assert all(row == sorted(row) for row in at)
        assert all(free <= legal for free, legal in zip(*at, strict=True))
        assert figures[f"{key}_illegal"]["value"] <= 1 - at[0][0]
    assert json.loads(json.dumps(shared_result, allow_nan=False)) == shared_result


def test_origin_and_value_figures_from_the_networks_answers(
    shared: Run, shared_result: dict[str, Any], small_store: Store, few: Chosen
) -> None:
    batch, answers = answers_of(shared, small_store, few)
    moves = small_store.moves[small_store.offsets[batch.games] + batch.plies]
    figures = shared_result["figures"]
    assert figures["origin_accuracy"]["value"] == pytest.approx(np.mean(answers["origin"].argmax(1) == moves & 63))
    result = small_store.column("result")[batch.games].astype(float) * np.where(batch.state[:, 0] == 1, -1, 1)
    value, left = answers["value"].astype(float), small_store.plies[batch.games] - batch.plies
    truth = result * shared.settings.gamma**left
    assert figures["value_squared_error"]["value"] == pytest.approx(np.mean((value - truth) ** 2), rel=1e-5)
    decided = result != 0
    assert figures["sign_accuracy"]["value"] == pytest.approx(np.mean((value > 0)[decided] == (result > 0)[decided]))
    assert figures["sign_accuracy"]["n"] == decided.sum()
    worth = np.array([0, 1, 3, 3, 5, 9, 0, -1, -3, -3, -5, -9, 0])[batch.codes].sum(1)
    material = worth * np.where(batch.state[:, 0] == 1, -1, 1)
    expected = np.corrcoef(value, material)[0, 1]
    assert figures["material_correlation"]["value"] == pytest.approx(expected, rel=1e-4)
    rows = table(shared_result, "Value by plies to the end")
    assert sum(row[-1] for row in rows.values()) == len(left)
    near = (left >= 5) & (left < 10)
    assert rows["5 to 9"][-1] == near.sum()
    for cell, kind in zip(rows["5 to 9"][:3], (1, 0, -1), strict=True):
        some = near & (result == kind)
        assert cell["n"] == some.sum()
        assert cell["value"] is None if not some.any() else cell["value"] == pytest.approx(value[some].mean(), rel=1e-5)


def test_tables_hold_the_figures(shared_result: dict[str, Any]) -> None:
    figures = shared_result["figures"]
    at, rules = table(shared_result, "Top-k accuracy"), table(shared_result, "Legality of the predictions")
    assert list(at) == list(rules) == ["origin", *PIECES, *(f"{piece} on its square" for piece in PIECES)]
    assert at["knight"][0] == bare(figures["knight_accuracy"])
    assert at["knight on its square"][7] == bare(figures["knight_from_square_legal_accuracy_at_10"])
    assert rules["origin"][0] == bare(figures["origin_illegal"])
    assert rules["rook"][3] == bare(figures["rook_rank"])
    assert table(shared_result, "Special moves").keys() == {"castling", "en passant", "promotion", "underpromotion"}


def test_first_moves(shared: Run, shared_result: dict[str, Any], small_store: Store, few: Chosen) -> None:
    rows = table(shared_result, "First moves")
    assert len(rows) == 8
    mine = [row[0] for row in rows.values()]
    assert mine == sorted(mine, reverse=True)
    assert sum(mine) < 1
    board = chess.Board()
    firsts = Counter(board.san(to_move(int(small_store.moves[small_store.offsets[game]]))) for game in few.games)
    for move, row in rows.items():
        assert row[1]["value"] == pytest.approx(firsts[move] / len(few.games))


def test_move_numbers_are_those_of_the_game() -> None:
    """The numbers of python-chess, also if Black began."""
    for board in (chess.Board(), chess.Board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1")):
        numbers, sides = [], []
        for _ in range(7):
            numbers.append(board.fullmove_number)
            sides.append(int(board.turn == chess.BLACK))
            board.push(next(iter(board.legal_moves)))
        assert evaluator.move_numbers(np.arange(7), np.array(sides, np.uint8)).tolist() == numbers


def test_slices_and_baselines(shared_result: dict[str, Any], small_store: Store, few: Chosen) -> None:
    count = int(small_store.plies[few.games].sum())
    tables = shared_result["by"]
    assert {"move_number", "phase", "piece", "side_to_move", "rating"} == tables.keys()
    for rows in (part["rows"] for part in tables.values()):
        assert sum(row["figure"]["n"] for row in rows) == count
        right = sum(row["figure"]["n"] * row["figure"]["value"] for row in rows)
        assert right == pytest.approx(count * shared_result["figures"]["accuracy"]["value"])
        assert "unknown" not in [row["slice"] for row in rows]
    assert tables["move_number"]["rows"][0]["figure"]["n"] == 10 * len(few.games)
    chance = 0.0
    for game in few.games.tolist():
        board = chess.Board()
        for code in small_store.moves[small_store.offsets[game] : small_store.offsets[game + 1]].tolist():
            chance += 1 / board.legal_moves.count()
            board.push(to_move(code))
    assert shared_result["baselines"].keys() == {"random_move"}
    assert shared_result["baselines"]["random_move"]["value"] == pytest.approx(chance / count)


def test_heat_maps(shared: Run, shared_result: dict[str, Any], small_store: Store, few: Chosen) -> None:
    maps = shared_result["heat_maps"]
    assert len({row["game"] for row in maps}) == len(maps) == min(heatmaps.POSITIONS, len(few.games))
    for row in maps:
        board = chess.Board(row["fen"])
        assert sum(row["origin"]) == pytest.approx(1, abs=0.05)
        assert sum(row["target"]) == pytest.approx(1, abs=0.05)
        choices = [board.parse_san(choice["move"]) for choice in row["choices"]]
        piece, _, square = row["target_of"].partition(" on ")
        assert board.piece_type_at(chess.parse_square(square)) == chess.PIECE_NAMES.index(piece)
        assert choices[0].from_square == chess.parse_square(square)
        played = board.parse_san(row["played"])
        assert (played == choices[0]) == (row["rank"] == 1)
        code = small_store.moves[small_store.offsets[int(row["game"])] + row["ply"]]
        assert to_move(int(code)) == played


def test_landscape(shared: Run, shared_result: dict[str, Any], small_store: Store, few: Chosen) -> None:
    found = shared_result["landscape"]
    assert len(found["points"]) == 60
    assert {point[2] for point in found["points"]} <= {0, 1, 2}
    lengths = small_store.plies[few.games]
    nearest = lengths[np.abs(lengths - tsne.LENGTH).argmin()]
    assert abs(len(found["course"]) - 1 - tsne.LENGTH) == abs(nearest - tsne.LENGTH)


def test_the_page_shows_it_all(shared_result: dict[str, Any]) -> None:
    page = render_test_page(shared_result)
    for part in shared_result["tables"]:
        assert f">{part['title']}</h2>" in page
    assert page.count('class="heatmap"') == len(shared_result["heat_maps"])
    assert page.count('class="board"') == 2 * len(shared_result["heat_maps"])
    assert 'id="landscape"' in page
    assert "Origin accuracy at 3" not in page, "it stands in a table of its own"
    assert "origin accuracy" in page, "of the learning curve"


@pytest.mark.usefixtures("small_landscape")
def test_seven_networks_by_type(separate: Run, small_store: Store, few: Chosen) -> None:
    result = examined(separate, small_store, few, EvalConfig())
    assert result["headline"] == "accuracy"
    assert list(table(result, "Top-k accuracy")) == ["origin", *PIECES]
    assert not any("from_square" in name or "value" in name for name in result["figures"])
    batch, answers = answers_of(separate, small_store, few)
    moves = small_store.moves[small_store.offsets[batch.games] + batch.plies].astype(int)
    rows = np.arange(len(moves))
    piece = (batch.codes[rows, moves & 63].astype(int) - 1) % 6
    right = answers["target"][rows, piece].argmax(1) == moves >> 6 & 63
    for kind, name in enumerate(PIECES):
        assert result["figures"][f"{name}_accuracy"]["value"] == pytest.approx(right[piece == kind].mean())
    assert "where the " in render_test_page(result)
    again = examined(separate, small_store, few, EvalConfig(positions=100))
    assert again["data"]["positions_tested"] == again["figures"]["accuracy"]["n"] == 100


@pytest.mark.usefixtures("small_landscape")
@pytest.mark.parametrize(
    ("networks", "headline", "piece_plane"),
    [("knight", "knight_accuracy", False), ("piece,rook", "origin_accuracy", False), ("value", "sign_accuracy", False),
     ("knight", "knight_from_square_accuracy", True)],
)  # fmt: skip
def test_runs_of_some_networks(
    networks: str, headline: str, piece_plane: bool, mover: Any, small_store: Store, few: Chosen
) -> None:
    settings = {"layers": "4conv3x3p1.ip8", "iterations": 3, "value_iterations": 3, "value_batch": 64}
    run = mover("chessnet", networks=networks, piece_plane=piece_plane, **settings)
    said: list[str] = []
    result = evaluate(run, small_store, few, EvalConfig(stockfish="/no/such"), on_progress=quiet, log=said.append)
    assert result["headline"] == headline
    assert "accuracy" not in result["figures"]
    assert ("landscape" in result) == (not piece_plane) == (not said)
    figure = result["figures"][headline]
    assert len(result["baselines"]) == 1
    (beside,) = result["baselines"].values()
    assert beside["n"] == figure["n"]
    for rows in (part["rows"] for part in result["by"].values()):
        assert sum(row["figure"]["n"] for row in rows) == figure["n"]
        right = sum(row["figure"]["n"] * row["figure"]["value"] for row in rows)
        assert right == pytest.approx(figure["n"] * figure["value"])
    if networks != "value":
        assert mentions(result["data"]["note"], "cannot & networks")
    assert "heat_maps" not in result
    render_test_page(result)


@pytest.mark.usefixtures("small_landscape")
def test_moves_of_weaker_players_are_left_out(mover: Any, small_store: Store, few: Chosen) -> None:
    ratings = np.stack([small_store.column("white_rating"), small_store.column("black_rating")])[:, few.games]
    bound = int(np.median(ratings))
    settings = {"layers": "4conv3x3p1.ip8", "iterations": 3}
    run = mover("convchess", min_rating=bound, **settings)
    result = examined(run, small_store, few, EvalConfig())
    kept = 0
    for game, both in zip(few.games, ratings.T, strict=True):
        plies = int(small_store.plies[game])
        kept += sum(((plies + 1) // 2, plies // 2)[side] for side in (0, 1) if both[side] >= bound)
    assert result["data"]["positions"] == result["figures"]["accuracy"]["n"] == kept
    assert mentions(result["data"]["split"], f"{bound} & players")
    run = Run(run.path)
    run.info["settings"]["min_rating"] = 4000
    with pytest.raises(KibitzError, match="rated under 4000"):
        examined(run, small_store, few, EvalConfig())


@pytest.mark.usefixtures("small_landscape")
def test_only_the_paper_with_a_file_of_games_has_a_note_on_ratings(
    shared: Run, separate: Run, small_store: Store, few: Chosen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluator, "bundled_note", lambda *_: None)
    config = EvalConfig(positions=60)
    assert mentions(examined(separate, small_store, few, config)["data"]["note"], "FICS_2000.pgn & % & 2000")
    assert "2000" not in examined(shared, small_store, few, config)["data"].get("note", "")


@pytest.mark.usefixtures("small_landscape")
def test_the_network_is_told_the_movers_rating_and_nothing_of_the_result(
    mover: Any, small_store: Store, few: Chosen
) -> None:
    settings = {"layers": "4conv3x3p1.ip8", "iterations": 3}
    run = mover("chessnet", networks="piece", rating_plane=True, outcome_plane=True, **settings)
    positions = Positions(small_store, few.games, last=-2)
    batch = positions.batch(np.arange(len(positions)))
    state = with_side_inputs(Session(run), run.settings, small_store, batch)
    assert state.shape == (len(batch), 6)
    ratings = np.stack([small_store.column("white_rating"), small_store.column("black_rating")])
    assert (state[:, 4] == ratings[batch.state[:, 0].astype(int), batch.games] // 16).all()
    assert (state[:, 5] == 3).all()
    result = examined(run, small_store, few, EvalConfig())
    assert mentions(result["data"]["note"], "position")


@pytest.mark.usefixtures("small_landscape")
def test_stockfish_beside_the_network(separate: Run, small_store: Store, few: Chosen) -> None:
    config = EvalConfig(stockfish=program("stockfish"), stockfish_positions=60)
    result = examined(separate, small_store, few, config)
    assert list(result["baselines"]) == [
        "random_move", "stockfish_depth_1", "network_beside_stockfish_depth_1", "stockfish_depth_10",
        "network_beside_stockfish_depth_10",
    ]  # fmt: skip
    rows = [(row["label"], row) for row in result["baselines"].values()]
    (_, random), (one, shallow), same, (ten, deep), again = rows
    assert one.endswith(", depth 1, 60 positions")
    assert ten.endswith(", depth 10, 12 positions")
    assert each_mentions([same[0], again[0]], "network & 60 positions", "network & 12 positions")
    assert [figure["n"] for figure in (shallow, deep)] == [60, 12]
    assert shallow["value"] > random["value"], "the games are Stockfish's own"


@pytest.mark.usefixtures("small_landscape")
def test_what_the_picture_needs(shared: Run, small_store: Store, few: Chosen) -> None:
    said: list[str] = []
    result = evaluate(shared, small_store, few, EvalConfig(positions=5), on_progress=quiet, log=said.append)
    assert "landscape" not in result
    assert each_mentions(said, "t-SNE & 5 positions")
    render_test_page(result)
    one = replace(few, games=few.games[:1])
    render_test_page(examined(shared, small_store, one, EvalConfig()))


def test_both_systems_have_it() -> None:
    assert load("convchess").evaluate is load("chessnet").evaluate
