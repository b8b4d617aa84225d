"""`gohuman`: its examples, its network on boards of all sizes, turned and as ONNX, its losses, and that it learns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pyarrow as pa
import pytest
import torch

from kibitz.errors import UsageError
from kibitz.games.batch import GameBatch, Rejections
from kibitz.games.go.game import COLUMNS, PER_GAME, PER_MOVE
from kibitz.games.go.points import GRID, PASS, POINTS, on_board, symmetries
from kibitz.games.go.replay import AGE, PASSES, SIDE, SIZE, STANDARD_START, colours_of, start_row
from kibitz.games.go.sides import (
    BEYOND,
    GAME_RULES,
    HANDICAP,
    KOMI_BYTE,
    OPPONENT,
    RANK,
    SERVER,
    SERVERS,
    GameSides,
    komi_byte,
    rank_byte,
    server_byte,
    side_inputs,
)
from kibitz.nets.muon import muon
from kibitz.runs import with_default_side_inputs
from kibitz.store.store import Store
from kibitz.store.writer import StoreWriter
from kibitz.systems.base import settings_from
from kibitz.systems.gohuman import (
    SYSTEM,
    GameConditions,
    GoHuman,
    GoMoves,
    Settings,
    constant_loss,
    draw_weights,
    loss,
    score_loss,
)
from kibitz.training.export import export_onnx
from support import go_oracle as oracle

SMALL = Settings(blocks=3, filters=16, min_moves=1, withhold=0.0, withhold_players=0.0)
GAMES = (
    {"size": 19, "moves": 120, "labels": "playouts", "result": 1, "margin": 4.5, "ending": "counted"},
    {"size": 19, "moves": 90, "labels": None, "result": -1, "margin": None, "ending": "resignation"},
    {"size": 13, "moves": 60, "labels": None, "result": -1, "margin": None, "ending": "time"},
    {"size": 9, "moves": 40, "labels": "gnugo", "result": 0, "margin": 0.0, "ending": "counted"},
    {"size": 19, "moves": 30, "labels": None, "result": 1, "margin": None, "ending": "forfeit"},
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Random games, some with a last move of each kind; owners: Black's above, White's below, a row between neutral."""
    moves = [oracle.random_game(one["size"], one["moves"], seed) for seed, one in enumerate(GAMES)]
    owner = np.zeros((len(GAMES), GRID, GRID), np.uint8)
    for i, one in enumerate(GAMES):
        if one["labels"]:
            owner[i, : one["size"] // 2, : one["size"]] = 1
            owner[i, one["size"] // 2 + 1 : one["size"], : one["size"]] = 2
    rows = [
        {**{name: one[name] for name in ("size", "labels", "result", "margin", "ending")}, "komi": 6.5, "handicap": 0,
         "rules": "chinese", "black_rank": "9d", "white_rank": "1k", "place": "TYGEM", "number": i}
        for i, one in enumerate(GAMES)
    ]  # fmt: skip
    batch = GameBatch(
        np.concatenate([np.array(played, np.uint16) for played in moves]),
        np.array([len(played) for played in moves], np.int32), np.stack([start_row(one["size"]) for one in GAMES]),
        pa.Table.from_pylist(rows, COLUMNS), Rejections(), len(GAMES),
        per_game={"owner": owner.reshape(len(GAMES), -1)},
    )  # fmt: skip
    with StoreWriter(
        tmp_path_factory.mktemp("go") / "s", "go", COLUMNS, STANDARD_START, PER_MOVE, per_game=PER_GAME
    ) as writer:
        writer.add(batch)
        return writer.commit({})


def examples_of(store: Store, settings: Settings = SMALL, even: bool = True) -> GoMoves:
    given = replace(settings, known=0.0, small=0.0) if even else settings
    return GoMoves(store, SYSTEM.games(store, given), given)


def network_of(settings: Settings = SMALL) -> GoHuman:
    """With weights that are nowhere zero, so that every path counts."""
    network = GoHuman(settings)
    draw_weights(network, torch.Generator().manual_seed(1))
    with torch.no_grad():
        for p in network.parameters():
            p.add_(0.02 * torch.randn(p.shape, generator=torch.Generator().manual_seed(p.numel())))
    return network.eval()


def tensors(batch: dict[str, Any]) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(values) for name, values in batch.items()}


def test_the_packaged_networks_size() -> None:
    weights = sum(p.numel() for p in GoHuman(Settings()).parameters())
    assert 500_000 < weights < 600_000
    assert 4 * weights < 5e6  # bytes


def test_every_move_with_what_came_of_it(store: Store) -> None:
    examples = examples_of(store)
    assert len(examples) == sum(one["moves"] for one in GAMES)
    ids = np.arange(len(examples))
    batch = examples.batch(ids, 0)
    games, plies = examples.positions.locate(ids)
    for i in range(0, len(ids), 7):
        game, ply = int(games[i]), int(plies[i])
        one, side = GAMES[game], ply % 2
        codes, _ = store.replay(games[i : i + 1], plies[i : i + 1])
        played = int(store.moves[store.offsets[game] + ply])
        ways = symmetries(one["size"])
        # Some way of turning the board gives the codes, the move and the owners of the example.
        assert any(
            np.array_equal(codes[0][way], batch["codes"][i])
            and (batch["move"][i] == PASS if played == PASS else way[batch["move"][i]] == played)
            and np.array_equal(store.per_game("owner")[game][way], batch["owner"][i])  # type: ignore[index]
            for way in ways
        )
        sign = 1 - 2 * side
        won = (1 + sign * one["result"]) / 2 if one["ending"] != "forfeit" else -1
        assert batch["won"][i] == won
        lead = sign * one["result"] * one["margin"] if one["labels"] else np.nan
        assert np.array_equal(batch["lead"][i], np.float32(lead), equal_nan=True)
        assert batch["known"][i] == (one["labels"] is not None)
        assert batch["state"][i, KOMI_BYTE] == 128 + 13
        assert batch["state"][i, RANK : OPPONENT + 1].tolist() == [[49, 40], [40, 49]][side]


def test_examples_are_a_function_of_ids_and_epoch(store: Store) -> None:
    examples, ids = examples_of(store), np.array([3, 100, 250, 300])
    one, again, later = examples.batch(ids, 2), examples.batch(ids, 2), examples.batch(ids, 3)
    assert all(np.array_equal(one[name], again[name], equal_nan=one[name].dtype.kind == "f") for name in one)
    assert not np.array_equal(one["codes"], later["codes"])


def test_what_is_withheld(store: Store) -> None:
    ids = np.arange(340)
    plain = examples_of(store).batch(ids, 0)
    batch = examples_of(store, replace(SMALL, withhold=0.5)).batch(ids, 0)
    hidden = (batch["codes"] < AGE).all(1) & (plain["codes"] >= AGE).any(1)
    assert 0.3 < hidden.mean() < 0.7
    assert (batch["state"][hidden, PASSES] == 0).all()
    assert np.array_equal(colours_of(batch["codes"]), colours_of(plain["codes"]))  # no stone is hidden
    unknown = batch["state"][:, 4:] == 0
    assert (plain["state"][:, 4:] > 0).all()
    assert (unknown.mean(0) > 0.05).all()
    assert np.isnan(batch["lead"][unknown[:, 0]]).all()  # what a lead is worth is not known without komi


def test_each_input_is_withheld_by_a_draw_of_its_own(store: Store) -> None:
    """At the shares of their inputs, and independently; the opponent's rank also together with the mover's."""
    settings, ids = replace(SMALL, withhold=0.5), np.arange(340)
    examples = examples_of(store, settings)
    state = np.concatenate([examples.batch(ids, epoch)["state"] for epoch in range(40)])
    shares = {RANK: 0.5, OPPONENT: 1 - 0.5 * 0.75, SERVER: 0.5, GAME_RULES: 0.5, HANDICAP: 0.25, KOMI_BYTE: 0.15}
    hidden = {column: state[:, column] == 0 for column in shares}
    for column, share in shares.items():
        assert hidden[column].mean() == pytest.approx(share, abs=0.02)
        for other in shares:
            if other != column and {other, column} != {RANK, OPPONENT}:
                both = (hidden[column] & hidden[other]).mean()
                assert both == pytest.approx(share * shares[other], abs=0.02)
    assert not (hidden[RANK] & ~hidden[OPPONENT]).any()


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_the_inputs_of_the_players_are_hidden_together(share: float, store: Store) -> None:
    examples, ids = examples_of(store, replace(SMALL, withhold_players=share)), np.arange(340)
    batches = [examples.batch(ids, epoch) for epoch in range(40)]
    state = np.concatenate([batch["state"] for batch in batches])
    unknown = state[:, [HANDICAP, RANK, OPPONENT, SERVER]] == 0
    assert (unknown.any(1) == unknown.all(1)).all()
    assert unknown.all(1).mean() == pytest.approx(share, abs=0.02)
    rules = state[:, GAME_RULES] == 0
    assert not rules[~unknown.all(1)].any()
    assert rules.mean() == pytest.approx(share / 2, abs=0.02)
    assert (state[:, KOMI_BYTE] > 0).all()  # the komi is known in an analysis
    assert all((batch["codes"] >= AGE).any() for batch in batches)  # the last moves are a draw of their own


def test_both_kinds_of_withholding_add_up(store: Store) -> None:
    """An independent draw at 0.1 alone hardly ever hides all inputs of the players."""
    ids = np.arange(340)

    def all_hidden(settings: Settings) -> float:
        examples = examples_of(store, settings)
        state = np.concatenate([examples.batch(ids, epoch)["state"] for epoch in range(40)])
        return float((state[:, [HANDICAP, RANK, OPPONENT, SERVER]] == 0).all(1).mean())

    assert all_hidden(replace(SMALL, withhold=0.1)) < 0.005
    assert all_hidden(replace(SMALL, withhold=0.1, withhold_players=0.25)) == pytest.approx(0.25, abs=0.02)


def test_a_run_without_the_setting_hid_no_inputs_together() -> None:
    assert settings_from(Settings, {"blocks": 6}).withhold_players == 0
    assert settings_from(Settings, {"withhold_players": 0.4}).withhold_players == 0.4
    assert Settings().withhold_players > 0


def test_games_whose_end_is_known_and_small_boards_get_their_share(store: Store) -> None:
    settings = replace(SMALL, known=0.5, small=0.3)
    examples = examples_of(store, settings, even=False)
    games, _ = examples.positions.locate(np.arange(len(examples)))
    size = np.array([one["size"] for one in GAMES])[games]
    known = np.array([one["labels"] is not None for one in GAMES])[games] & (size == 19)
    assert (size < 19).mean() == pytest.approx(0.3, abs=0.15)  # whole games of a tiny store
    assert known.mean() == pytest.approx(0.5, abs=0.25)
    assert set(games.tolist()) >= {0, 2, 3}


@pytest.mark.parametrize("size", [9, 13, 19])
def test_a_small_board_is_alone_on_its_grid(size: int, store: Store) -> None:
    """What the codes outside a board are, and what else is in the batch, changes nothing."""
    network = network_of()
    game = next(i for i, one in enumerate(GAMES) if one["size"] == size)
    games, plies = np.array([game, 0, 3]), np.array([25, 50, 10])
    codes, state = store.replay(games, plies)
    state = np.concatenate([state, GameSides(store).of(games, state[:, 0])], 1)
    with torch.no_grad():
        together = network(torch.from_numpy(codes), torch.from_numpy(state))
        alone = network(torch.from_numpy(codes[:1]), torch.from_numpy(state[:1]))
        grid, board, _ = network.trunk(torch.from_numpy(codes[:1]), torch.from_numpy(state[:1]))
    for one, other in zip(together, alone, strict=True):
        torch.testing.assert_close(one[:1], other, rtol=1e-4, atol=1e-5)
    assert board.mask.sum() == size * size
    assert (grid[:, :, size:] == 0).all()
    assert (grid[:, :, :, size:] == 0).all()
    policy, value, owners, _, spread = alone
    outside = [point for point in range(POINTS) if not on_board(point, size)]
    assert policy.sum() == pytest.approx(1, abs=1e-5)
    assert policy[0, outside].sum() == 0
    assert (owners[0, outside] == 0.5).all()
    stones = np.isin(colours_of(codes[0]), (1, 2))
    assert policy[0, :POINTS][torch.from_numpy(stones)].sum() == 0
    assert -1 <= float(value) <= 1
    assert float(spread) > 1


def test_colours_are_told_from_the_movers_side(store: Store) -> None:
    """With colours, side and komi swapped, the mover sees the same."""
    network = network_of()
    codes, state = store.replay(np.array([0]), np.array([60]))
    state = np.concatenate([state, GameSides(store).of(np.array([0]), state[:, 0])], 1)
    kind, age = codes % AGE, codes // AGE
    kind = np.where((kind >= 1) & (kind < 7), kind + 6, np.where((kind >= 7) & (kind < 13), kind - 6, kind))
    other = state.copy()
    other[:, 0], other[:, KOMI_BYTE] = 1 - state[:, 0], 256 - state[:, KOMI_BYTE].astype(int)
    with torch.no_grad():
        one = network(torch.from_numpy(codes), torch.from_numpy(state))
        two = network(torch.from_numpy((kind + AGE * age).astype(np.uint8)), torch.from_numpy(other))
    for i in (0, 1, 3, 4):
        torch.testing.assert_close(one[i], two[i], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(one[2], 1 - two[2], rtol=1e-4, atol=1e-5)


def test_the_lead_is_that_of_the_owners_and_komi_counts() -> None:
    network = GoHuman(SMALL)
    draw_weights(network, torch.Generator().manual_seed(0))
    codes, state = np.zeros((2, POINTS), np.uint8), np.array([[0, 19, 0, 0], [1, 19, 0, 0]], np.uint8)
    state = with_default_side_inputs(state, BEYOND)
    with torch.no_grad():
        _, value, owners, lead, _ = network(torch.from_numpy(codes), torch.from_numpy(state))
    assert value.tolist() == [0, 0]  # before it has learned anything
    black = (2 * owners - 1).sum(1).numpy() - 7.5
    np.testing.assert_allclose(lead.numpy(), [black[0], -black[1]], atol=1e-3)


@pytest.mark.parametrize(("before", "unit"), [(1.0, 1.0), (-1.0, -0.1)])
def test_results_are_those_of_the_formula(before: float, unit: float, store: Store) -> None:
    """If each unit of the value gets the same number, from nothing that is on the board."""
    batch = tensors(examples_of(store).batch(np.arange(0, 340, 40), 0))
    network = network_of()
    with torch.no_grad():
        network.weigh.weight.zero_()
        network.weigh.bias.fill_(before)
        grid, board, conditions = network.trunk(batch["codes"], batch["state"])
        owners = network.owner_logits(grid)
        win, lead, spread = network.results(grid, board, conditions, batch["state"], owners)
        told = network.CALM * (unit * network.result.weight.sum(1) + network.result.bias)
        mask = board.mask.flatten(1) > 0
        owned = torch.where(mask, 2 * torch.sigmoid(owners) - 1, 0).sum(1)
        komi = torch.where(batch["state"][:, SIDE] == 0, 6.5, -6.5)
        expected_lead = owned - komi + network.POINTS_A_UNIT * told[1]
        expected_spread = 1 + 2 * network.POINTS_A_UNIT * torch.log1p(torch.exp(told[2]))
        scale = network.trust * np.pi / np.sqrt(3)
    torch.testing.assert_close(lead, expected_lead, rtol=1e-4, atol=1e-3)
    torch.testing.assert_close(spread, expected_spread.expand(len(spread)), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(win, told[0] + scale * expected_lead / expected_spread, rtol=1e-4, atol=1e-3)


def test_the_exported_network_answers_alike(store: Store, tmp_path: Path) -> None:
    network, games, plies = network_of(), np.array([0, 1, 2, 3]), np.array([70, 10, 30, 39])
    codes, state = store.replay(games, plies)
    export_onnx(network, codes[:1], state[:1], tmp_path / "m.onnx")
    full = np.concatenate([state, GameSides(store).of(games, state[:, 0])], 1)
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    answers = session.run(None, {"codes": codes, "state": full})
    with torch.no_grad():
        expected = network(torch.from_numpy(codes), torch.from_numpy(full))
    assert [output.name for output in session.get_outputs()] == list(GoHuman.outputs)
    for one, other in zip(answers, expected, strict=True):
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, other.numpy(), rtol=1e-3, atol=1e-4)


def test_what_the_conditions_are_told_in_numbers() -> None:
    rows = []
    for side, komi, stones, passes in ((0, 0, 0, 1), (1, 128 + 13, 3, 0), (0, 128 + 13, 3, 0), (0, 128, 1, 2)):
        row = np.zeros(10, np.uint8)
        row[[SIDE, SIZE, PASSES, KOMI_BYTE, HANDICAP]] = side, 19, passes, komi, stones
        rows.append(row)
    numbers = GameConditions().numbers(torch.from_numpy(np.stack(rows)))
    expected = [
        [-0.75, 0, 0, 0, 0, 0, 1],  # nothing is known, and a komi of 7.5 is usual
        [0.65, 1, 0, 0, 0.4, 1, 0],  # White moves: komi is his, the two stones are the other's
        [-0.65, 1, 0, 0.4, 0, 1, 0],
        [0, 1, 1, 0, 0, 1, 2],  # a whole komi of 0, and no stones
    ]
    torch.testing.assert_close(numbers, torch.tensor(expected), atol=1e-6, rtol=0)


def test_the_loss_is_that_of_the_answers(store: Store) -> None:
    network, examples = network_of(), examples_of(store)
    batch = tensors(examples.batch(np.arange(0, len(examples), 3), 0))
    settings = replace(SMALL, win_weight=0.7, owners_weight=1.4, score_weight=0.3)
    with torch.no_grad():
        whole, measures = loss(network, batch, settings)
        policy, value, black, lead, spread = network(batch["codes"], batch["state"])
    rows = torch.arange(len(policy))
    move = -policy[rows, batch["move"]].log()
    chance = (1 + value) / 2
    won = -(batch["won"] * chance.log() + (1 - batch["won"]) * (1 - chance).log()) * (batch["won"] >= 0)
    assert set(batch["won"].tolist()) == {-1, 0, 0.5, 1}
    owned, right = torch.zeros(len(policy)), torch.zeros(len(policy))
    for i in rows.tolist():
        there = batch["owner"][i] > 0
        if there.any():
            of_black = (batch["owner"][i][there] == 1).float()
            owned[i] = torch.nn.functional.binary_cross_entropy(black[i][there], of_black)
            right[i] = ((black[i][there] > 0.5) == (of_black > 0.5)).float().mean()
    score = score_loss(lead, spread, batch["lead"])
    torch.testing.assert_close(measures["move_loss"], move, rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(measures["win_loss"], won, rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(measures["loss"], move + 0.7 * won + 1.4 * owned + 0.3 * score, rtol=1e-3, atol=1e-3)
    assert float(whole) == pytest.approx(float(measures["loss"].mean()))
    assert torch.equal(measures["accuracy"], (policy.argmax(1) == batch["move"]).float())
    known = batch["known"]  # of the owners, a mean over the batch is one over the games with known ends
    assert 0 < known.float().mean() < 1
    assert float(measures["owner_loss"].mean()) == pytest.approx(float(owned[known].mean()), rel=1e-3)
    assert float(measures["owner_accuracy"].mean()) == pytest.approx(float(right[known].mean()), rel=1e-3)


def test_the_constant_loss_is_that_of_the_best_constant_answers(store: Store) -> None:
    examples = examples_of(store)
    batch = tensors(examples.batch(np.arange(0, len(examples), 3), 0))
    known = batch["won"][batch["won"] >= 0].double().mean()
    moves = torch.bincount(batch["move"]).double() / len(batch["move"])
    winner = -(known * known.log() + (1 - known) * (1 - known).log())
    move = -(moves[moves > 0] * moves[moves > 0].log()).sum()
    owners = np.log(2) * float((batch["owner"] > 0).any(1).double().mean())
    settings = replace(SMALL, win_weight=0.7, owners_weight=1.4)
    assert constant_loss(batch, settings) == pytest.approx(float(move + 0.7 * winner) + 1.4 * owners, rel=1e-4)


def test_it_begins_knowing_nothing_and_with_units_that_see(store: Store) -> None:
    """All biases are 0, norms change nothing, results are even, blocks nearly nothing, and no other weight is 0."""
    network = GoHuman(Settings(blocks=3, filters=16))
    draw_weights(network, torch.Generator().manual_seed(2))
    for name, p in network.named_parameters():
        if name.endswith("norm.weight"):
            assert (p == 1).all(), name
        elif p.dim() < 2 or name == "result.weight":
            assert (p == 0).all(), name
        else:
            assert (p != 0).any(), name
    wide, small = network.stem.weight, network.blocks[0].second.weight  # type: ignore[union-attr]
    assert float(wide.detach().std()) == pytest.approx((2 / wide[0].numel()) ** 0.5, rel=0.1)  # type: ignore[index]
    assert float(small.detach().std()) == pytest.approx(0.1 * (2 / small[0].numel()) ** 0.5, rel=0.1)  # type: ignore


def test_score_loss_against_scipy_like_formula() -> None:
    lead, spread, target = torch.tensor([3.0, 0.0]), torch.tensor([5.0, 2.0]), torch.tensor([7.0, float("nan")])
    scale = 5.0 * 3**0.5 / np.pi
    z = np.exp(-(7.0 - 3.0) / scale)
    density = z / (scale * (1 + z) ** 2)  # of the logistic distribution
    assert score_loss(lead, spread, target).tolist() == pytest.approx([-np.log(density), 0.0], abs=1e-5)


def test_unknown_ends_teach_no_owners(store: Store) -> None:
    network, examples = network_of(), examples_of(store)
    ids = np.arange(120, 210)  # of the game that was resigned
    batch = tensors(examples.batch(ids, 0))
    batch["won"] = torch.full_like(batch["won"], -1)
    value, measures = loss(network, batch, SMALL)
    assert float(value.detach()) == pytest.approx(float(measures["move_loss"].mean()), rel=1e-5)
    value.backward()
    assert network.owner.weight.grad is None or float(network.owner.weight.grad.abs().sum()) == 0


def test_it_learns(store: Store) -> None:
    """A few positions by heart: moves, owners and score."""
    network = GoHuman(SMALL)
    draw_weights(network, torch.Generator().manual_seed(0))
    optimiser = muon(network, 0.0)
    batch = tensors(examples_of(store).batch(np.arange(30, 120, 8), 0))
    kind = batch["codes"] % AGE
    batch["owner"] = torch.where(kind < 7, 1, 2).to(torch.uint8) * ((kind > 0) & (kind < 13))  # who stands there
    for group in optimiser.param_groups:
        group["lr"] = 0.006 * group.get("rate", 1.0)
    for _ in range(120):
        value, measures = loss(network, batch, SMALL)
        value.backward()
        optimiser.step()
        optimiser.zero_grad()
    assert float(measures["accuracy"].mean()) > 0.9
    assert float(measures["owner_accuracy"].mean()) > 0.8
    assert float(measures["win_loss"].mean()) < 0.6


def test_it_goes_on_from_a_smaller_network(store: Store) -> None:
    small, large = network_of(), GoHuman(replace(SMALL, blocks=5))
    adopted = SYSTEM.adopt(large, "gohuman", small.state_dict())
    assert all(torch.equal(adopted[name], value) for name, value in small.state_dict().items())
    large.load_state_dict(adopted)
    codes, state = store.replay(np.array([0]), np.array([60]))
    full = torch.from_numpy(with_default_side_inputs(state, BEYOND))
    with torch.no_grad():
        for one, other in zip(
            small(torch.from_numpy(codes), full), large.eval()(torch.from_numpy(codes), full), strict=True
        ):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
    with pytest.raises(UsageError, match="different"):
        SYSTEM.adopt(GoHuman(replace(SMALL, filters=32)), "gohuman", small.state_dict())
    with pytest.raises(UsageError, match="--blocks"):
        SYSTEM.adopt(GoHuman(replace(SMALL, blocks=2)), "gohuman", small.state_dict())


def test_side_inputs_as_bytes() -> None:
    assert [komi_byte(points) for points in (None, 0.0, 7.5, -3.0, 500.0, -500.0)] == [0, 128, 143, 122, 255, 1]
    assert [rank_byte(rank) for rank in (None, "?", "1k", "9d", "30k", "9p")] == [0, 0, 40, 49, 11, 59]
    assert SERVERS[server_byte("The KGS Go Server at http://www.gokgs.com/")] == "kgs"  # exact: of records
    assert (server_byte(None), SERVERS[server_byte("Nihon Ki-in, Tokyo")]) == (0, "board")
    for place, server in (
        ("Tom", "tom"), ("weiqi.tom.com", "tom"), ("TOM围棋", "tom"), ("Tomsk", "board"), ("Customs Club", "board"),
        ("foxwq", "fox"), ("野狐围棋", "fox"), ("Foxborough", "board"), ("OGS", "ogs"), ("Dogstar", "board"),
        ("www.gokgs.com", "kgs"), ("Tygem Baduk", "tygem"),
    ):  # fmt: skip
        assert SERVERS[server_byte(place)] == server, place
    assert list(side_inputs()) == list(BEYOND)
    assert list(side_inputs().values()) == list(BEYOND.values())


def test_komi_that_was_not_written_down_is_unknown(tmp_path: Path) -> None:
    rows = [
        {"komi": komi, "handicap": stones, "rules": rules, "labels": label, "margin": margin, "size": 9, "result": 1,
         "number": i}
        for i, (komi, stones, rules, label, margin) in enumerate([
            (0.0, 0, None, None, None), (0.0, 0, None, "playouts", 3.0), (0.0, 2, "chinese", None, None),
            (0.5, 4, "aga", None, None), (None, 0, None, None, None), (0.0, 0, None, "played out", None),
        ])
    ]  # fmt: skip
    table = pa.Table.from_pylist(rows, COLUMNS)

    class Table:
        def table(self, columns: list[str]) -> pa.Table:
            return table.select(columns)

    sides = GameSides(Table()).of(np.arange(6), np.zeros(6, np.uint8))
    assert sides[:, 0].tolist() == [0, 128, 128 + 4, 128 + 1 + 6, 0, 0]
    assert sides[:, HANDICAP - 4].tolist() == [1, 1, 3, 5, 1, 1]
