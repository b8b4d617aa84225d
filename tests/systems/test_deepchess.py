"""The system against its paper: sizes, schedules, pairs, layer-wise training, distillation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import chess
import numpy as np
import onnxruntime
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from kibitz.errors import KibitzError, UsageError
from kibitz.games.chess.replay import decode_board, encode_board
from kibitz.nets.sparse import BitsLinear
from kibitz.runs import Run
from kibitz.store.split import TRAIN
from kibitz.store.store import Store
from kibitz.systems.deepchess import (
    N_REFERENCES,
    SYSTEM,
    DeepChess,
    PairExamples,
    PositionExamples,
    Settings,
    comparison_loss,
    distillation_loss,
    positions,
    reconstruction_loss,
    reference_positions,
)
from kibitz.training.dataloader import make_batch
from kibitz.training.export import export_onnx
from kibitz.training.fit import train
from kibitz.training.trainer import TrainConfig
from support.causes import mentions, naming
from support.helpers import SMALL_PAIRS

TINY = Settings(**{**SMALL_PAIRS, "pairs": 4000, "colours": False, "reuse": 1})  # type: ignore[arg-type]


class Watched:
    """A store that remembers the positions asked of it, as they were before anybody wrote into them."""

    def __init__(self, store: Store):
        self.store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def replay(self, games: NDArray[np.int64], plies: NDArray[np.int64]) -> Any:
        self.asked_games, self.asked_plies = games, plies
        self.asked_codes, self.asked_state = self.store.replay(games, plies)
        return self.asked_codes.copy(), self.asked_state.copy()


@pytest.fixture(scope="module")
def games(small_store: Store) -> NDArray[np.int64]:
    """The games that a training takes."""
    found = SYSTEM.games(small_store, Settings())
    mine: NDArray[np.int64] = found[small_store.sides()[found] == TRAIN]
    return mine


def watched(store: Store) -> Any:
    return Watched(store)


def tensors(batch: dict[str, NDArray[Any]]) -> dict[str, Tensor]:
    return {name: torch.from_numpy(values) for name, values in batch.items()}


def prepared(store: Store, games: NDArray[np.int64], settings: Settings, seed: int = 0) -> DeepChess:
    SYSTEM.check(settings)
    network: DeepChess = SYSTEM.network(settings)
    SYSTEM.prepare(network, store, games, settings, seed)
    return network


# The paper's numbers


def dense(*sizes: int) -> int:
    return sum(a * b + b for a, b in pairwise(sizes))


def test_the_defaults_are_the_papers() -> None:
    s = Settings()
    assert (s.positions, s.opening, s.captures, s.held_out) == (10, 5, False, 10)
    assert (s.pretrain_epochs, s.pretrain_rate, s.pretrain_decay) == (200, 0.005, 0.98)
    assert (s.epochs, s.pairs, s.learning_rate, s.decay) == (100, 1_000_000, 0.01, 0.99)
    assert (s.networks, s.schedule, s.keep, s.optimiser) == ("both", "epoch", "last", "sgd")
    assert (s.colours, s.mirror, s.antisymmetric, s.reuse, s.dropout, s.weight_decay) == (False, False, False, 1, 0, 0)


def test_the_networks_have_the_papers_weights() -> None:
    network = SYSTEM.network(Settings())
    weights = {name: sum(p.numel() for p in part.parameters()) for name, part in network.parts().items()}
    assert weights == {
        "full": dense(773, 600, 400, 200, 100) + dense(200, 400, 200, 100, 2),
        "distilled": dense(773, 100, 100, 100) + dense(200, 100, 100, 2),
    }
    assert [(d.in_features, d.out_features) for d in network.decoders] == [
        (600, 773), (400, 600), (200, 400), (100, 200),
    ]  # fmt: skip
    assert list(SYSTEM.network(Settings(networks="full")).parts()) == ["full"]
    assert list(DeepChess(Settings(networks="distilled")).parts()) == ["distilled"]


def test_stages_epochs_and_rates_are_the_papers() -> None:
    stages = SYSTEM.stages(SYSTEM.network(Settings()), Settings())
    assert [(stage.name, stage.epochs) for stage in stages] == [
        ("pos2vec-1", 200), ("pos2vec-2", 200), ("pos2vec-3", 200), ("pos2vec-4", 200), ("deepchess", 100),
        ("distilled", 100),
    ]  # fmt: skip
    for stage in stages:
        base, decay = (0.005, 0.98) if stage.name.startswith("pos2vec") else (0.01, 0.99)
        per_pass = 37
        last = int(stage.epochs) * per_pass
        assert stage.iterations is None
        assert stage.keep_last
        for done in range(int(stage.epochs)):
            rates = [stage.learning_rate(done * per_pass + i, last) for i in (0, per_pass - 1)]
            assert rates == [pytest.approx(base * decay**done)] * 2


def test_parts_that_are_left_out() -> None:
    def names(**options: Any) -> list[str]:
        settings = replace(TINY, **options)
        return [stage.name for stage in SYSTEM.stages(SYSTEM.network(settings), settings)]

    assert names() == ["pos2vec-1", "pos2vec-2", "deepchess", "distilled"]
    assert names(pretrain_epochs=0.0) == ["deepchess", "distilled"]
    assert names(networks="full") == ["pos2vec-1", "pos2vec-2", "deepchess"]
    assert names(distil_epochs=0.0, epochs=0.0) == ["pos2vec-1", "pos2vec-2"]


# Pairs


def test_a_pair_has_a_position_of_either_kind(small_store: Store, games: NDArray[np.int64]) -> None:
    store = watched(small_store)
    batch = PairExamples(store, games, TINY).batch(np.arange(1000), 0)
    assert len(batch["codes"]) == len(batch["state"]) == 2000
    won = small_store.column("result")[store.asked_games] > 0
    np.testing.assert_array_equal(won[batch["first"]], batch["target"] == 1)
    np.testing.assert_array_equal(won[batch["second"]], batch["target"] == 0)
    assert 0.45 < batch["target"].mean() < 0.55  # random order
    assert len(np.unique(np.concatenate([batch["first"], batch["second"]]))) == 2000
    np.testing.assert_array_equal(batch["codes"], store.asked_codes)
    assert set(store.asked_games) <= set(games)
    assert store.asked_plies.min() >= 10
    assert not small_store.captures()[small_store.offsets[store.asked_games] + store.asked_plies - 1].any()
    spread = np.unique(store.asked_games, return_counts=True)[1]
    assert len(spread) > 0.9 * len(games)


def test_pairs_are_fresh_each_pass_and_follow_from_their_numbers(small_store: Store, games: NDArray[np.int64]) -> None:
    pairs = PairExamples(small_store, games, TINY)
    assert len(pairs) == TINY.pairs
    numbers = np.array([5, 3999, 17, 0])
    one, again, whole = pairs.batch(numbers, 3), pairs.batch(numbers, 3), pairs.batch(np.arange(4000), 3)
    for name in one:
        np.testing.assert_array_equal(one[name], again[name])
    np.testing.assert_array_equal(one["target"], whole["target"][numbers])
    np.testing.assert_array_equal(one["codes"][one["first"]], whole["codes"][whole["first"][numbers]])
    np.testing.assert_array_equal(one["codes"][one["second"]], whole["codes"][whole["second"][numbers]])
    other = pairs.batch(np.arange(4000), 4)
    same = (whole["codes"][whole["first"]] == other["codes"][other["first"]]).all(1)
    assert same.mean() < 0.02
    assert 0.4 < (whole["target"] == other["target"]).mean() < 0.6


def test_few_games_make_short_passes(small_store: Store, games: NDArray[np.int64]) -> None:
    few = PairExamples(small_store, games, Settings(pairs_a_position=0.5))
    assert len(few) == round(0.5 * len(few.sample)) < Settings().pairs
    assert len(PairExamples(small_store, games, Settings(pairs_a_position=0.5, pairs=7))) == 7
    assert len(PairExamples(small_store, games, Settings())) == Settings().pairs


@pytest.mark.parametrize("drawn", [2, 3, 10, 0])
def test_nearer_pairs_are_two_positions_of_one_game(small_store: Store, games: NDArray[np.int64], drawn: int) -> None:
    """Never one against itself, and the later is the better for the winner, however few are drawn of a game."""
    store = watched(small_store)
    pairs = PairExamples(store, games, replace(TINY, nearer=True, positions=drawn))
    batch = pairs.batch(np.arange(400), 0)
    assert set(batch["more_target"].tolist()) == {0.0, 1.0}
    later, earlier = store.asked_plies[:400], store.asked_plies[400:]  # as they were asked for
    np.testing.assert_array_equal(store.asked_games[:400], store.asked_games[400:])
    assert (later > earlier).all()
    white_won = small_store.column("result")[store.asked_games[:400]] > 0
    first_is_later = batch["more_first"] < batch["more_second"]
    np.testing.assert_array_equal(batch["more_target"] == 1, first_is_later == white_won)
    if drawn in (0, 10):  # and they are spread over the game
        assert len({*(later - earlier).tolist()}) > 10


def test_nearer_pairs_are_of_every_game(small_store: Store, games: NDArray[np.int64]) -> None:
    """The last one too, whatever its number."""
    plain = replace(TINY, nearer=True, positions=10)
    for last in range(3):
        some = np.array([*games[3:9], last])
        store = watched(small_store)
        PairExamples(store, some, plain).batch(np.arange(400), 0)
        assert set(store.asked_games.tolist()) == set(some.tolist())


def test_nearer_needs_two_positions() -> None:
    with pytest.raises(UsageError, match=r"--positions .*got 1"):
        SYSTEM.check(replace(TINY, nearer=True, positions=1))


def test_every_stage_and_seed_has_pairs_of_its_own(small_store: Store, games: NDArray[np.int64]) -> None:
    """The distilled network does not see the very pairs of its teacher, nor a second seed those of the first."""
    batches = {}
    for seed in (0, 1):
        network = DeepChess(TINY)
        SYSTEM.prepare(network, small_store, games, TINY, seed)
        for stage in SYSTEM.stages(network, TINY):
            if stage.name in ("deepchess", "distilled"):
                examples = stage.examples(small_store, games)
                batch = examples.batch(np.arange(2000), 0)
                batches[stage.name, seed] = batch["codes"][batch["first"]]
                again = stage.examples(small_store, games).batch(np.arange(2000), 0)
                np.testing.assert_array_equal(batch["codes"], again["codes"])
    assert len(batches) == 4
    for one, other in combinations(batches.values(), 2):
        assert (one == other).all(1).mean() < 0.02


@pytest.mark.parametrize("reuse", [2, 8])
def test_reused_positions_are_in_pairs_of_either_kind(small_store: Store, games: NDArray[np.int64], reuse: int) -> None:
    store = watched(small_store)
    batch = PairExamples(store, games, replace(TINY, reuse=reuse)).batch(np.arange(64), 1)
    assert len(batch["codes"]) == 2 * 64 // reuse
    assert len(batch["first"]) == len(batch["second"]) == len(batch["target"]) == 64
    won = small_store.column("result")[store.asked_games] > 0
    np.testing.assert_array_equal(won[batch["first"]], batch["target"] == 1)
    np.testing.assert_array_equal(won[batch["second"]], batch["target"] == 0)
    both = np.stack([batch["first"], batch["second"]])
    assert np.bincount(both.ravel()).tolist() == [reuse] * (2 * 64 // reuse)
    assert len(np.unique(np.sort(both, 0), axis=1)[0]) == 64  # no pair twice
    assert 0 < batch["target"].mean() < 1


def test_colours_are_exchanged_and_so_is_the_target(small_store: Store, games: NDArray[np.int64]) -> None:
    store = watched(small_store)
    batch = PairExamples(store, games, replace(TINY, colours=True)).batch(np.arange(300), 0)
    won = small_store.column("result")[store.asked_games] > 0
    better = np.zeros(600, np.bool_)
    better[np.where(batch["target"] == 1, batch["first"], batch["second"])] = True
    exchanged = (batch["codes"] != store.asked_codes).any(1)
    assert 0.4 < exchanged.mean() < 0.6
    np.testing.assert_array_equal(won ^ exchanged, better)
    for i in np.flatnonzero(exchanged)[:60]:
        mirrored = encode_board(decode_board(store.asked_codes[i], store.asked_state[i]).mirror())
        np.testing.assert_array_equal(np.concatenate([batch["codes"][i], batch["state"][i]]), mirrored)


def test_files_are_mirrored_where_nobody_may_castle(small_store: Store, games: NDArray[np.int64]) -> None:
    settings = replace(TINY, mirror=True)
    for examples in (PairExamples, PositionExamples):
        store = watched(small_store)
        batch = examples(store, games, settings).batch(np.arange(400), 0)
        changed = (batch["codes"] != store.asked_codes).any(1)
        free = store.asked_state[:, 1] == 0
        assert not changed[~free].any()
        assert 0.4 < changed[free].mean() < 0.6
        for i in np.flatnonzero(changed)[:40]:
            board = decode_board(store.asked_codes[i], store.asked_state[i])
            assert decode_board(batch["codes"][i], batch["state"][i]) == board.transform(chess.flip_horizontal)


def test_files_of_nearer_pairs_are_mirrored_together(small_store: Store, games: NDArray[np.int64]) -> None:
    plain, mirrored = (
        PairExamples(small_store, games, replace(TINY, nearer=True, mirror=mirror)).batch(np.arange(400), 0)
        for mirror in (False, True)
    )
    count = len(plain["more_target"])
    free = (plain["state"][-2 * count :, 1] == 0).reshape(2, count).all(0)
    changed = (plain["codes"] != mirrored["codes"]).any(1)[-2 * count :].reshape(2, count)
    assert (changed[0] == changed[1])[free].all()
    assert 0.3 < changed[0][free].mean() < 0.7


def test_pos2vec_sees_every_position_once_in_a_pass(small_store: Store, games: NDArray[np.int64]) -> None:
    store = watched(small_store)
    examples = PositionExamples(store, games, TINY)
    shown = examples.batch(np.arange(len(examples)), 0)
    assert len(shown["codes"]) == len(examples) == len(positions(small_store, games, TINY))
    np.testing.assert_array_equal(shown["codes"], store.asked_codes)
    turned = PositionExamples(store, games, replace(TINY, colours=True)).batch(np.arange(1000), 0)["codes"]
    again = PositionExamples(store, games, replace(TINY, colours=True)).batch(np.arange(1000), 1)["codes"]
    plain = shown["codes"][:1000]
    for some in (turned, again):
        assert 0.4 < (some != plain).any(1).mean() < 0.6
    assert (turned != again).any()


def test_no_training_sees_a_position_held_out(small_store: Store, games: NDArray[np.int64]) -> None:
    kept = positions(small_store, games, TINY, held_out=True, each=0)
    hidden = set(zip(kept.games.tolist(), kept.plies.tolist(), strict=True))
    assert 0.08 < len(hidden) / (len(hidden) + len(positions(small_store, games, TINY, each=0))) < 0.12
    store = watched(small_store)
    pairs, all_ = PairExamples(store, games, TINY), PositionExamples(store, games, TINY)
    for epoch in range(5):
        for examples in (pairs, all_):
            examples.batch(np.arange(len(examples)), epoch)
            assert not hidden & set(zip(store.asked_games.tolist(), store.asked_plies.tolist(), strict=True))
    references = reference_positions(small_store, games, TINY, 0)
    assert not hidden & set(zip(references.games.tolist(), references.plies.tolist(), strict=True))


# Networks


def test_pos2vec_is_shared_and_the_comparison_is_the_papers(small_store: Store, games: NDArray[np.int64]) -> None:
    """As the paper draws it: 2 × features side by side into one dense layer, two values and a softmax at the end."""
    network = prepared(small_store, games, replace(TINY, compare="24.8"))
    part = network.full
    assert sum(isinstance(module, BitsLinear) for module in part.modules()) == 1
    batch = tensors(PairExamples(small_store, games, TINY).batch(np.arange(50), 0))
    with torch.no_grad():
        features = part.pos2vec(batch["codes"], batch["state"])
        side_by_side = torch.cat([features[batch["first"]], features[batch["second"]]], 1)
        compare = part.compare
        weight = torch.cat([compare.as_first.weight, compare.as_second.weight], 1)
        values = torch.relu(side_by_side @ weight.T + compare.as_first.bias)
        for layer in compare.rest:
            values = torch.relu(layer(values))
        softmax = torch.softmax(compare.answer(values), 1)
        logit = part.logit(features, batch["first"], batch["second"])
    torch.testing.assert_close(torch.sigmoid(logit), softmax[:, 0], rtol=1e-4, atol=1e-5)


def test_antisymmetry_is_exact_where_it_is_asked_for(small_store: Store, games: NDArray[np.int64]) -> None:
    batch = tensors(PairExamples(small_store, games, TINY).batch(np.arange(300), 0))
    for asked in (False, True):
        part = prepared(small_store, games, replace(TINY, antisymmetric=asked)).full
        with torch.no_grad():
            features = part.pos2vec(batch["codes"], batch["state"])
            there = part.logit(features, batch["first"], batch["second"])
            back = part.logit(features, batch["second"], batch["first"])
            assert torch.equal(there, -back) is asked
            against = part.against(features[:5], features)
            torch.testing.assert_close(against, -part.against(features, features[:5]).T)
            torch.testing.assert_close(against.diagonal(), torch.zeros(5))


def test_weights_follow_the_seed(small_store: Store, games: NDArray[np.int64]) -> None:
    one, again, other = (prepared(small_store, games, TINY, seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(one[name], again[name]) for name in one)
    changed = [name for name in one if not torch.equal(one[name], other[name])]
    assert {name for name in one if name.endswith("weight")} <= set(changed)
    assert "reference_codes" in changed


def test_reference_positions_are_balanced(small_store: Store, games: NDArray[np.int64]) -> None:
    sample = reference_positions(small_store, games, TINY, 3)
    assert len(set(zip(sample.games.tolist(), sample.plies.tolist(), strict=True))) == N_REFERENCES == 64
    assert set(sample.games) <= set(games)
    assert sample.plies.min() >= 10
    won = small_store.column("result")[sample.games] > 0
    codes, state = small_store.replay(sample.games, sample.plies)
    for board in (decode_board(c, s) for c, s in zip(codes, state, strict=True)):
        for kind in range(1, 7):
            assert len(board.pieces(kind, True)) == len(board.pieces(kind, False))
    for side in (0, 1):
        for result in (False, True):
            assert ((state[:, 0] == side) & (won == result)).sum() == 16
    network = prepared(small_store, games, TINY, 3)
    assert np.array_equal(network.get_buffer("reference_codes").numpy(), codes)
    assert np.array_equal(network.get_buffer("reference_state").numpy(), state)
    with torch.no_grad():  # among themselves they are as often better as worse
        (white,) = network(torch.from_numpy(codes), torch.from_numpy(state))
    assert float(white.mean()) == pytest.approx(0.5, abs=1e-5)


def test_few_games_give_as_many_references(small_store: Store, games: NDArray[np.int64]) -> None:
    result = small_store.column("result")[games]
    two = np.array([games[result > 0][0], games[result < 0][0]])
    settings = replace(TINY, positions=3)
    assert len(reference_positions(small_store, two, settings, 0)) == N_REFERENCES
    with pytest.raises(KibitzError, match=naming("White & 3 & Black & 0 & training")):
        reference_positions(small_store, two[:1], settings, 0)


@pytest.mark.parametrize("options", [{}, {"networks": "full", "antisymmetric": True}, {"networks": "distilled"}])
def test_the_exported_network_gives_the_same_answers(
    options: dict[str, Any], small_store: Store, games: NDArray[np.int64], tmp_path: Path
) -> None:
    settings = replace(TINY, **options)
    network = DeepChess(settings)
    SYSTEM.prepare(network, small_store, games, settings, 0)
    codes, state = small_store.replay(games[:90], np.minimum(small_store.plies[games[:90]], 30))
    export_onnx(network, codes[:4], state[:4], tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    with torch.no_grad():
        (expected,) = network(torch.from_numpy(codes), torch.from_numpy(state))
    (found,) = session.run(None, {"codes": codes, "state": state})
    assert [item.name for item in session.get_outputs()] == ["white_better"]
    np.testing.assert_allclose(found, expected.numpy(), atol=1e-5)
    assert ((found > 0) & (found < 1)).all()
    (one,) = session.run(None, {"codes": codes[7:8], "state": state[7:8]})
    np.testing.assert_allclose(one, found[7:8], atol=1e-5)


# Learning


def test_a_stage_changes_its_own_layer_alone(small_store: Store, games: NDArray[np.int64]) -> None:
    network = prepared(small_store, games, TINY)
    own = {
        "pos2vec-1": {"full.pos2vec.first.", "decoders.0."}, "pos2vec-2": {"full.pos2vec.rest.0.", "decoders.1."},
        "deepchess": {"full."}, "distilled": {"distilled."},
    }  # fmt: skip
    for stage in SYSTEM.stages(network, TINY):
        before = {name: value.clone() for name, value in network.state_dict().items()}
        optimiser = stage.optimiser()
        for group in optimiser.param_groups:
            group["lr"] = 0.003
        loss, measures = stage.loss(make_batch(stage.examples(small_store, games), stage.batch, 0, 0))
        loss.backward()
        optimiser.step()
        assert all(len(values) == stage.batch for values in measures.values())
        changed = {name for name, value in network.state_dict().items() if not torch.equal(value, before[name])}
        assert changed == {name for name in before if name.startswith(tuple(own[stage.name]))}
        network.zero_grad()


def test_losses_are_what_they_say(small_store: Store, games: NDArray[np.int64]) -> None:
    network = prepared(small_store, games, TINY)
    batch = tensors(PairExamples(small_store, games, TINY).batch(np.arange(64), 0))
    with torch.no_grad():
        loss, measures = comparison_loss(network.full, batch)
        features = network.full.pos2vec(batch["codes"], batch["state"])
        chance = torch.sigmoid(network.full.logit(features, batch["first"], batch["second"]))
        right = torch.where(batch["target"] == 1, chance, 1 - chance)
        torch.testing.assert_close(loss, -right.log().mean(), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(measures["accuracy"], (right > 0.5).float())
        assert distillation_loss(network.full, network.full, batch)[1]["agreement"].all()
        bits = network.bits(batch["codes"], batch["state"])
        found = torch.sigmoid(network.decoders[0](network.full.pos2vec(batch["codes"], batch["state"], 1)))
        loss, measures = reconstruction_loss(network, 0, batch)
        each = -(bits * found.log() + (1 - bits) * (1 - found).log()).sum(1)
        torch.testing.assert_close(loss, each.mean(), rtol=1e-4, atol=1e-3)
        torch.testing.assert_close(measures["wrong"], ((found > 0.5) != (bits > 0.5)).float().sum(1))


def test_units_are_left_out_while_deepchess_learns_alone(small_store: Store, games: NDArray[np.int64]) -> None:
    network = prepared(small_store, games, replace(TINY, dropout=0.5, pos2vec="32.24.16"))
    batch = tensors(PairExamples(small_store, games, TINY).batch(np.arange(64), 0))

    def varies(loss: Callable[[], tuple[Tensor, dict[str, Tensor]]]) -> bool:
        network.train()
        with torch.no_grad():
            return float(loss()[0]) != float(loss()[0])

    assert varies(lambda: comparison_loss(network.full, batch))
    assert not varies(lambda: distillation_loss(network.full, network.distilled, batch))
    assert not any(varies(lambda number=number: reconstruction_loss(network, number, batch)) for number in range(3))
    network.eval()
    with torch.no_grad():
        assert comparison_loss(network.full, batch)[0] == comparison_loss(network.full, batch)[0]


def test_weights_decay_in_deepchess_alone_and_biases_never() -> None:
    for name in ("sgd", "adamw", "muon"):
        settings = replace(TINY, optimiser=name, weight_decay=0.1)
        for stage in SYSTEM.stages(SYSTEM.network(settings), settings):
            for group in stage.optimiser().param_groups:
                matrices = {p.dim() == 2 for p in group["params"]}
                assert len(matrices) <= 1
                assert group["weight_decay"] == (0.1 if stage.name == "deepchess" and matrices == {True} else 0)


@pytest.fixture(scope="module")
def trained(small_store: Store, tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("deepchess") / "run"
    plan = TrainConfig(
        summary_every=20, validate_every=1000, checkpoint_every=1000, validate_positions=4000, precision="32-true"
    )
    train("deepchess", Settings(**SMALL_PAIRS), str(small_store.path), run=path, plan=plan)  # type: ignore[arg-type]
    return Run(path)


def test_it_learns(trained: Run) -> None:
    rows = trained.metrics()

    def values(stage: str, measure: str, kind: str = "summary") -> list[float]:
        return [row[measure] for row in rows if (row["stage"], row["kind"]) == (stage, kind)]

    for stage, factor in (("pos2vec-1", 0.5), ("pos2vec-2", 0.5)):  # what it rebuilds gets nearer
        assert values(stage, "loss")[-1] < factor * values(stage, "loss")[0]
        assert values(stage, "wrong")[-1] < values(stage, "wrong")[0]
    assert values("deepchess", "accuracy")[-1] > 0.7
    assert values("deepchess", "accuracy", "validation")[-1] > 0.6  # on games that it never saw
    assert values("distilled", "agreement", "validation")[-1] > 0.7
    assert values("distilled", "accuracy", "validation")[-1] > 0.6


def test_the_trained_network_prefers_more_material(trained: Run) -> None:
    """The start position without a queen: a queen's odds are what every such network learns first."""
    rows = []
    for square in (chess.D8, chess.D1):
        board = chess.Board()
        board.remove_piece_at(square)
        rows.append(encode_board(board))
    codes, state = np.stack(rows)[:, :64], np.stack(rows)[:, 64:]
    with torch.no_grad():
        (white,) = trained.load_network()(torch.from_numpy(codes), torch.from_numpy(state))
    assert white[0] > white[1]


# Settings


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"networks": "distilled"}, "--networks & distilled & networks"),
        ({"networks": "half"}, "both & full & half"), ({"pos2vec": ""}, "--pos2vec & sizes"),
        ({"compare": "40.0"}, "--compare & 40.0"), ({"small_pos2vec": "10,10"}, "--small-pos2vec & 10,10"),
        ({"small_compare": "-3"}, "--small-compare & -3"), ({"reuse": 3}, "--reuse & 3 & --batch & 128"),
        ({"reuse": 0}, "at least 1"), ({"batch": 0}, "at least 1"), ({"pairs": 0}, "at least 1"),
        ({"epochs": -1.0}, "--epochs"), ({"epochs": float("nan")}, "--epochs"), ({"positions": -1}, "--positions & -1"),
        ({"opening": -1}, "--opening & -1"), ({"decay": 0.0}, "--decay & 0"),
        ({"pretrain_rate": -1.0}, "--pretrain-rate"),
        ({"held_out": 100.0}, "--held-out & 100"), ({"dropout": 1.0}, "--dropout & 1"),
        ({"weight_decay": -1.0}, "--weight-decay & -1"),
        ({"momentum": 1.0}, "--momentum & 1"),
        ({"optimiser": "rmsprop"}, "sgd & adamw & muon"), ({"schedule": "step"}, "epoch & cosine"),
        ({"keep": "all"}, "last & best"),
        ({"pretrain_epochs": 0.0, "epochs": 0.0, "distil_epochs": 0.0}, "--epochs & not all be 0"),
        ({"networks": "full", "pretrain_epochs": 0.0, "epochs": 0.0}, "--epochs & not all be 0"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as raised:
        SYSTEM.check(replace(TINY, **wrong))
    assert mentions(str(raised.value), said)


@pytest.mark.parametrize("name", ["sgd", "adamw", "muon"])
def test_each_optimiser_has_every_weight_once(name: str) -> None:
    settings = replace(TINY, optimiser=name)
    network = SYSTEM.network(settings)
    for stage, part in zip(SYSTEM.stages(network, settings)[-2:], network.parts().values(), strict=True):
        found = [p for group in stage.optimiser().param_groups for p in group["params"]]
        assert len(found) == len({id(p) for p in found})
        assert {id(p) for p in found} == {id(p) for p in part.parameters()}
