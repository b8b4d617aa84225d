"""What the move-predicting systems share: settings, what they learn from, solver, stages."""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from kibitz.errors import KibitzError, UsageError
from kibitz.games.chess.moves import to_move
from kibitz.games.chess.replay import decode_board
from kibitz.games.chess.sides import RATING_UNIT
from kibitz.nets import optim
from kibitz.store.store import Store
from kibitz.systems import SYSTEMS, chessnet, convchess, load
from kibitz.systems.base import settings_from
from kibitz.systems.movers import system
from kibitz.systems.movers.nets import PIECES, VALUE_ACTIVATIONS

SQUARE_MOVED = np.array([s ^ 56 for s in range(64)])


def given(**settings: Any) -> chessnet.Settings:
    return chessnet.Settings(**{"layers": "8conv3x3p1.ip8", "min_rating": 0, **settings})


def every(examples: Any, count: int = 4000) -> dict[str, Any]:
    return examples.batch(np.arange(min(count, len(examples))), 0)  # type: ignore[no-any-return]


def test_a_batch_tells_the_move_as_its_mover_sees_it(small_store: Store) -> None:
    games = np.arange(60)
    examples = system.MoveExamples(small_store, games, given())
    assert len(examples) == int(small_store.plies[games].sum())
    batch = every(examples)
    played = small_store.moves[: len(batch["origin"])]  # the first games', in order
    for i in range(0, len(played), 7):
        move = to_move(int(played[i]))
        board = decode_board(batch["codes"][i], batch["state"][i])
        assert move in board.legal_moves
        turned = 0 if board.turn else 56
        assert batch["origin"][i] == move.from_square ^ turned
        assert batch["target"][i] == move.to_square ^ turned
        piece = board.piece_at(move.from_square)
        assert piece is not None
        assert batch["piece"][i] == piece.piece_type - 1


@pytest.mark.parametrize("piece", range(6))
def test_a_selector_sees_its_own_pieces_moves_and_all_of_them(piece: int, small_store: Store) -> None:
    games = np.arange(50)
    whole = system.MoveExamples(small_store, games, given())
    own = system.MoveExamples(small_store, games, given(), piece)
    counts = every(whole, len(whole))["piece"]
    assert len(own) == int((counts == piece).sum()) > 0
    assert set(every(own)["piece"]) == {piece}


def test_values_are_discounted_from_the_end_and_change_sign_with_the_mover(small_store: Store) -> None:
    decided = np.flatnonzero(small_store.column("result") != 0)[:1]
    examples = system.ValueExamples(small_store, decided, given(gamma=0.5))
    values = every(examples)["value"]
    plies = int(small_store.plies[decided[0]])
    assert len(values) == plies + 1
    assert abs(values[-1]) == 1
    np.testing.assert_allclose(values[:-1], -0.5 * values[1:])
    mated = small_store.column("result")[decided[0]] == 1  # White won: Black, or White, is to move at the end
    side = every(examples)["state"][-1, 0]
    assert (values[-1] == 1) == (mated == (side == 0))


def test_games_and_moves_at_most(small_store: Store) -> None:
    games = np.arange(len(small_store))
    assert len(system.MoveExamples(small_store, games, given(games=7, moves=100_000)).positions.games) == 7
    some = system.MoveExamples(small_store, games, given(moves=500))
    assert len(some) == 500
    assert some.chosen is not None
    assert len(set(some.chosen.tolist())) == 500
    assert len(system.ValueExamples(small_store, games, given(games=7)).positions.games) == 7


def test_moves_of_low_rated_players_are_left_out_and_of_unrated_kept(make_store: Any, tmp_path: Path) -> None:
    pgn = tmp_path / "two.pgn"
    game = '[White "A"]\n[Black "B"]\n{}[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0\n\n'
    other = game.replace("a6", "Nf6")
    pgn.write_text(game.format('[WhiteElo "2100"]\n[BlackElo "1900"]\n') + other.format(""))
    store = make_store(tmp_path / "two.store", pgn)
    assert len(system.MoveExamples(store, np.arange(2), given(min_rating=2000))) == 3 + 6
    assert len(system.MoveExamples(store, np.arange(2), given(min_rating=0))) == 12
    assert len(system.MoveExamples(store, np.arange(2), given(min_rating=2000, moves=5))) == 5  # of the nine that stay
    assert len(system.ValueExamples(store, np.arange(2), given(min_rating=2000))) == 14
    both = given(min_rating=0, rating_plane=True, outcome_plane=True)
    states = every(system.MoveExamples(store, np.arange(2), both))["state"]
    assert states.shape[1] == 6
    assert set(states[:6, 4]) == {2100 // RATING_UNIT, 1900 // RATING_UNIT}
    assert set(states[6:, 4]) == {2400 // RATING_UNIT}  # the usual one
    assert [int(v) for v in states[:4, 5]] == [3, 1, 3, 1]  # White won


def test_games_without_a_usable_move_do_not_take_the_place_of_others(make_store: Any, tmp_path: Path) -> None:
    pgn = tmp_path / "six.pgn"
    game = '[White "A"]\n[Black "B"]\n[WhiteElo "{}"]\n[BlackElo "1900"]\n[Result "1-0"]\n\n1. {} e5 2. Nf3 1-0\n\n'
    ratings = {"e4": 1800, "d4": 2100, "c4": 1800, "a3": 2200, "b3": 1800, "h3": 1800}
    pgn.write_text("".join(game.format(rating, first) for first, rating in ratings.items()))
    store, every_game = make_store(tmp_path / "six.store", pgn), np.arange(6)
    strong = np.flatnonzero(store.column("white_rating") >= 2000)
    assert len(strong) == 2
    examples = system.MoveExamples(store, every_game, given(min_rating=2000, games=2))
    assert sorted(set(examples.positions.games.tolist())) == strong.tolist()
    assert len(examples) == 4  # both moves of White in both games
    without = system.MoveExamples(store, every_game, given(min_rating=0, games=2))
    assert sorted(set(without.positions.games.tolist())) != strong.tolist()


def test_a_rating_plane_needs_ratings(small_store: Store) -> None:
    unrated = (small_store.column("white_rating") == 0).mean()
    if unrated > 0.5:
        with pytest.raises(KibitzError, match="--rating-plane"):
            system.playable(small_store, given(rating_plane=True))
    assert len(system.playable(small_store, given())) == int((small_store.plies > 0).sum())


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"networks": "knigth"}, "--networks .*knigth"),
        ({"networks": ""}, "--networks .*nothing"),
        ({"planes": "7"}, "--planes .*7"),
        ({"gamma": 0.0}, "--gamma .*0"),
        ({"initial": "some"}, "--initial .*some"),
        ({"initial": "-1"}, "--initial .*-1"),
        ({"epochs": 0.0, "iterations": 0}, "--epochs"),
        ({"share": "body"}, "8×8 grid"),
        ({"share": "body", "layers": "8conv3x3p1.8conv3x3"}, "8×8 grid"),
        ({"share": "body", "layers": "8conv3x3p1", "piece_plane": True}, "--piece-plane"),
        ({"share": "body", "layers": "8conv3x3p1", "networks": "piece,pawn"}, "--networks"),
        ({"targets": "square"}, "--share .*body"),
        ({"share": "body", "layers": "8conv3x3p1", "activation": "leaky"}, "--activation must be relu"),
        ({"share": "body", "layers": "8conv3x3p1", "dropout": 0.5}, "--dropout"),
        ({"share": "body", "layers": "8conv3x3p1", "value_layers": "ip8"}, "--value-layers"),
        ({"decay": -1.0}, "--decay"),
        ({"layers": "8conv9x9"}, "layer 1"),
        ({"value_layers": "0ip"}, "layer 1"),
        ({"optimiser": "magic"}, "--optimiser .*magic"),
        ({"dropout": 1.0}, "--dropout"),
        ({"outcome_plane": True}, "--outcome-plane"),
        ({"learning_rate": float("nan")}, "--learning-rate"),
        ({"moves": -1}, "--moves"),
    ],
)
def test_settings_that_make_no_network_are_told(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told.replace("^", r"\^")):
        chessnet.SYSTEM.check(given(**settings))


def test_the_length_may_be_less_than_an_epoch() -> None:
    for settings in ({"epochs": 0.25}, {"epochs": 0.0, "iterations": 1}, {"epochs": 1e6}, {"most_epochs": 0.25}):
        chessnet.SYSTEM.check(given(**settings))
    for settings in ({"epochs": -0.25, "iterations": 1}, {"epochs": 1e6 + 1}, {"most_epochs": -0.25}):
        with pytest.raises(UsageError, match="epochs"):
            chessnet.SYSTEM.check(given(**settings))


def test_the_defaults_are_the_papers() -> None:
    s = convchess.Settings()
    assert (s.min_rating, s.games, s.moves, s.batch, s.epochs) == (2000, 20_000, 245_000, 250, 15)
    assert (s.optimiser, s.learning_rate, s.schedule, s.decay, s.weight_decay) == (
        "rmsprop", 0.0015, "epoch", 0.999, 0.0001,
    )  # fmt: skip
    t = chessnet.Settings()
    assert (t.min_rating, t.games, t.moves, t.batch, t.iterations) == (2000, 0, 0, 1000, 300_000)
    assert (t.optimiser, t.learning_rate, t.schedule, t.decay, t.step) == ("adagrad", 0.1, "step", 0.1, 50_000)
    assert (t.value_optimiser, t.value_learning_rate, t.value_smoothing, t.value_batch, t.gamma) == (
        "rmsprop", 0.001, 0.9, 1024, 0.7,
    )  # fmt: skip
    for settings in (s, t):
        assert (settings.planes, settings.share, settings.targets) == ("6", "none", "piece")
        assert not any((settings.rating_plane, settings.piece_plane, settings.outcome_plane, settings.rights_planes))


def test_planes_that_only_the_thesis_names_are_no_additions_of_kibitz() -> None:
    for name in ("rating_plane", "piece_plane", "outcome_plane"):
        assert chessnet.RECIPES["paper"].sources[name].kind == "reading"
        assert convchess.RECIPES["paper"].sources[name].kind == "off"


@pytest.mark.parametrize("activation", VALUE_ACTIVATIONS)
def test_the_value_is_a_tanh_whatever_the_hidden_layers_use(activation: str, small_store: Store) -> None:
    network = chessnet.SYSTEM.network(given(networks="value", value_activation=activation))
    torch.nn.init.constant_(network.nets["value"].last.bias, 30.0)
    batch = small_store.replay(np.zeros(2, np.int64), np.arange(2))
    assert network(*map(torch.from_numpy, batch))[0].tolist() == [1.0, 1.0]


def test_convchess_has_no_value_network() -> None:
    with pytest.raises(UsageError, match="value"):
        convchess.SYSTEM.check(convchess.Settings(networks="value"))


def test_the_networks_of_a_list_come_in_the_papers_order() -> None:
    assert system.selected_networks(given(networks="king, piece"), chessnet.SYSTEM.networks) == ("piece", "king")
    names = [stage.name for stage in chessnet.SYSTEM.stages(chessnet.SYSTEM.network(given()), given())]
    assert names == ["piece", *PIECES, "value"]


@pytest.mark.parametrize("planes", [6, 12])
def test_runs_of_earlier_versions_have_planes_as_numbers(planes: int) -> None:
    old = settings_from(chessnet.Settings, {"planes": planes})
    assert old == chessnet.Settings(planes=str(planes))
    assert chessnet.SYSTEM.network(old).seen.channels == planes


def test_an_unknown_optimiser_or_schedule_raises() -> None:
    with pytest.raises(ValueError, match="magic"):
        optim.make_optimiser("magic", nn.Linear(2, 2))
    with pytest.raises(ValueError, match="magic"):
        optim.learning_rate_at("magic", 0.1, 0, 10)


@pytest.mark.parametrize("name", optim.OPTIMISERS)
def test_every_optimiser_can_be_made(name: str) -> None:
    module = nn.Linear(2, 2)
    groups = optim.make_optimiser(name, module).param_groups
    assert {id(p) for group in groups for p in group["params"]} == {id(p) for p in module.parameters()}


@pytest.mark.parametrize("name", list(SYSTEMS))
def test_systems_offer_known_optimisers_and_schedules(name: str) -> None:
    for field in fields(load(name).settings_type):
        choices = set(field.metadata.get("choices", ()))
        known = {"optimiser": optim.OPTIMISERS, "schedule": optim.SCHEDULES}.get(field.name.removeprefix("value_"))
        assert known is None or choices <= set(known), field.name


def test_schedules() -> None:
    step = partial(optim.learning_rate_at, "step", 0.1, iterations=20, step=10, decay=0.1)
    assert [step(iteration=i) for i in (0, 9)] == [0.1, 0.1]
    assert step(iteration=10) == pytest.approx(0.01)
    by_epoch = partial(optim.learning_rate_at, "epoch", 1.0, iterations=8, decay=0.5, epochs=4)
    assert [by_epoch(iteration=i) for i in range(8)] == [1, 1, 0.5, 0.5, 0.25, 0.25, 0.125, 0.125]
    assert optim.learning_rate_at("constant", 0.3, 5, 8) == 0.3
    rates = [optim.learning_rate_at("cosine", 1.0, i, 1000) for i in range(1000)]
    assert rates[0] == pytest.approx(0.1)
    assert max(rates) == pytest.approx(1)
    assert rates[-1] < 1e-4


@pytest.mark.parametrize("length", [{"epochs": 15.0, "most_epochs": 3.0, "iterations": 0}, {"iterations": 300}])
def test_the_rate_falls_after_each_pass(length: dict[str, Any]) -> None:
    """Also where --iterations sets the length, and --epochs does not count."""
    settings = given(schedule="epoch", decay=0.5, learning_rate=1.0, batch=4, **length)
    stage = chessnet.SYSTEM.stages(chessnet.SYSTEM.network(settings), settings)[0]
    examples = 401  # a pass has 100 full batches
    assert stage.iterations_over(examples) == 300
    assert [stage.rate(i, 300, examples) for i in (0, 99, 100, 299)] == [1.0, 1.0, 0.5, 0.25]


@pytest.mark.parametrize(("initial", "spread"), [("he", (2 / 54) ** 0.5), ("0.01", 0.01)])
def test_initial_weights(initial: str, spread: float) -> None:
    network = chessnet.SYSTEM.network(given(layers="256conv3x3p1.ip8", networks="piece"))
    optim.draw_weights(network, initial, torch.Generator().manual_seed(1))
    weights = network.nets["piece"].steps[0].weight  # type: ignore[index,union-attr]
    assert float(weights.detach().std()) == pytest.approx(spread, rel=0.05)
    again = chessnet.SYSTEM.network(given(layers="256conv3x3p1.ip8", networks="piece"))
    optim.draw_weights(again, initial, torch.Generator().manual_seed(1))
    assert torch.equal(weights, again.nets["piece"].steps[0].weight)  # type: ignore[index,union-attr]


def test_the_constant_loss_is_that_of_the_best_constant_answers() -> None:
    """Of moves the entropy of their frequencies, of values half of the least mean square, times the weight."""
    values = torch.tensor([1.0, -1.0, 0.5, 0.25])
    constants = torch.linspace(-1, 1, 2001)[:, None]
    value = float((0.5 * (constants - values) ** 2).mean(1).min())
    batch = {"origin": torch.tensor([1, 1, 2, 2]), "target": torch.tensor([5, 5, 5, 5]), "value": values}
    moves = float(np.log(2))
    for settings, wanted in (
        (given(), {"value": value, "pawn": 0.0, "piece": moves}),
        (given(layers="8conv3x3p1.8res3x3", share="body", value_weight=0.3), {"moves": moves + 0.3 * value}),
    ):
        stages = {stage.name: stage for stage in chessnet.SYSTEM.stages(chessnet.SYSTEM.network(settings), settings)}
        for name, loss in wanted.items():
            constant_loss = stages[name].constant_loss
            assert constant_loss
            assert constant_loss(batch) == pytest.approx(loss, abs=1e-5), name
