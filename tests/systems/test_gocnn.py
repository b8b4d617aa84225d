"""`gocnn`: what it learns from, its network against a slow twin, its loss, and the network as ONNX."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pyarrow as pa
import pytest
import torch
import torch.nn.functional as F

from kibitz.errors import KibitzError, UsageError
from kibitz.games.batch import GameBatch, Rejections
from kibitz.games.go.encodings import roots
from kibitz.games.go.game import COLUMNS, PER_GAME, PER_MOVE
from kibitz.games.go.points import GRID, SIZES, on_board, symmetries
from kibitz.games.go.replay import SIDE, STANDARD_START, colours_of, start_row
from kibitz.store.store import Store
from kibitz.store.writer import StoreWriter
from kibitz.systems import load
from kibitz.systems.gocnn import PAPER_LAYERS, SYSTEM, GoNet, OwnerExamples, Settings, _pool_chains, loss
from kibitz.training.export import export_onnx
from support import go_oracle as oracle
from support.causes import naming

SMALL = {"layers": "8conv3x3p1.8conv3x3p1", "last": 3}
CHAINS = {
    "layers": "8conv5x5p2.chain4.8res3x3.chain", "liberties": 6, "recent": 8, "ages": True, "together": True,
}  # fmt: skip


def game(size: int, moves: int, handicap: int = 0, label: str | None = "playouts") -> dict[str, Any]:
    return {"size": size, "moves": moves, "handicap": handicap, "label": label}


def store_of(path: Path, games: list[dict[str, Any]]) -> Store:
    """Random games; each owner map is Black's in the upper rows and White's in the lower, one row between neutral."""
    moves = [oracle.random_game(one["size"], one["moves"], seed, passes=0.0) for seed, one in enumerate(games)]
    owner = np.zeros((len(games), GRID, GRID), np.uint8)
    for i, one in enumerate(games):
        owner[i, : one["size"] // 2, : one["size"]] = 1
        owner[i, one["size"] // 2 + 1 : one["size"], : one["size"]] = 2
    rows: dict[str, list[Any]] = {
        "size": [one["size"] for one in games], "handicap": [one["handicap"] for one in games],
        "labels": [one["label"] for one in games], "result": [1] * len(games), "number": list(range(1, len(games) + 1)),
    }  # fmt: skip
    table = pa.table(
        {name: pa.array(rows.get(name, [None] * len(games)), COLUMNS.field(name).type) for name in COLUMNS.names}
    )
    batch = GameBatch(
        np.concatenate([np.array(played, np.uint16) for played in moves]),
        np.array([len(played) for played in moves], np.int32),
        np.stack([start_row(one["size"]) for one in games]), table, Rejections(), len(games),
        per_game={"owner": owner.reshape(len(games), -1)},
    )  # fmt: skip
    with StoreWriter(path, "go", COLUMNS, STANDARD_START, PER_MOVE, per_game=PER_GAME) as writer:
        writer.add(batch)
        return writer.commit({})


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return store_of(
        tmp_path_factory.mktemp("go") / "go.store",
        [game(19, 160), game(19, 140), game(19, 160, handicap=2), game(19, 160, label=None), game(9, 40), game(13, 60)],
    )


def batch_of(store: Store, settings: Settings, symmetry: bool = False) -> dict[str, torch.Tensor]:
    examples = OwnerExamples(store, SYSTEM.games(store, settings), symmetry)
    numbers = np.arange(0, len(examples), 13)
    return {name: torch.from_numpy(values) for name, values in examples.batch(numbers, 1).items()}


def test_the_papers_network() -> None:
    network = load("gocnn").network(Settings())
    assert sum(weight.numel() for weight in network.parameters()) == 353_489  # "roughly 350,000"
    assert network.planes.channels == 8
    assert Settings().layers == PAPER_LAYERS


def test_which_games(store: Store) -> None:
    assert SYSTEM.games(store, Settings()).tolist() == [0]
    assert SYSTEM.games(store, Settings(min_moves=0)).tolist() == [0, 1]
    assert SYSTEM.games(store, Settings(handicap=2)).tolist() == [0, 2]
    assert SYSTEM.games(store, Settings(sizes="9,13,19")).tolist() == [0, 4]  # 60 moves are few on 13×13
    assert SYSTEM.games(store, Settings(sizes="9")).tolist() == [4]


def test_a_store_without_owners(tmp_path: Path) -> None:
    found = store_of(tmp_path / "s", [game(19, 160, label=None)])
    with pytest.raises(KibitzError, match=naming("territory")):
        SYSTEM.games(found, Settings())


def test_every_position_with_the_owners_of_its_game(store: Store) -> None:
    examples = OwnerExamples(store, np.array([0, 4]))
    assert len(examples) == 161 + 41
    batch = examples.batch(np.array([0, 160, 161]))
    assert batch["codes"].shape == (3, 361)
    assert (colours_of(batch["codes"][0]) == 0).all()
    assert [int(owner.sum()) for owner in batch["owner"]] == [9 * 19 * 3, 9 * 19 * 3, 4 * 9 * 3]


def test_symmetry_turns_position_and_owners_alike(store: Store) -> None:
    games = np.array([0, 4])
    plain, turned = (OwnerExamples(store, games, symmetry) for symmetry in (False, True))
    numbers = np.arange(len(plain))
    one, other = plain.batch(numbers), turned.batch(numbers, 3)
    seen = set()
    for i in numbers:
        size = int(one["state"][i, 1])
        ways = symmetries(size)
        fitting = [
            way for way in range(8)
            if np.array_equal(one["codes"][i][ways[way]], other["codes"][i])
            and np.array_equal(one["owner"][i][ways[way]], other["owner"][i])
        ]  # fmt: skip
        assert fitting
        if len(fitting) == 1:
            seen.add(fitting[0])
    assert seen == set(range(8))
    again = turned.batch(numbers, 3)
    assert all(np.array_equal(again[name], other[name]) for name in other)
    assert any(not np.array_equal(turned.batch(numbers, 4)[name], other[name]) for name in other)


def test_how_a_position_is_turned_tells_nothing_of_the_next_epoch(store: Store) -> None:
    games = np.array([0, 1, 2])
    plain, turned = (OwnerExamples(store, games, symmetry) for symmetry in (False, True))
    numbers = np.arange(len(plain))
    ways, one = symmetries(19), plain.batch(numbers)["codes"]
    followed = set()
    epochs = [turned.batch(numbers, epoch)["codes"] for epoch in (3, 4)]
    for i in numbers:
        fitting = [[way for way in range(8) if np.array_equal(one[i][ways[way]], codes[i])] for codes in epochs]
        if len(fitting[0]) == len(fitting[1]) == 1:
            followed.add((fitting[0][0], fitting[1][0]))
    assert len(followed) > 56  # of 64: any way may follow on any


def slow_answer(network: GoNet, codes: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
    """The paper's network on the bare board of one position, without grid and mask: Black's probability [size²]."""
    size = int(state[0, 1])
    values = network.planes(codes, state)[:, :, :size, :size]
    for step in network.steps:
        values = F.relu(step(values))
    mine = torch.sigmoid(network.last(values))
    return (mine if int(state[0, SIDE]) == 0 else 1 - mine).flatten()


def test_smaller_boards_are_seen_as_they_would_be_alone(store: Store) -> None:
    settings = Settings(sizes="9,13,19", min_moves=0, **SMALL)
    network = SYSTEM.network(settings).eval()
    batch = batch_of(store, settings)
    with torch.no_grad():
        (answer,) = network(batch["codes"], batch["state"])
        assert answer.shape == (len(batch["codes"]), 361)
        sizes = set()
        for i in range(len(answer)):
            size = int(batch["state"][i, 1])
            sizes.add(size)
            inside = np.array([on_board(point, size) for point in range(361)])
            assert (answer[i, ~inside] == 0.5).all()
            alone = slow_answer(network, batch["codes"][i : i + 1], batch["state"][i : i + 1])
            assert torch.allclose(answer[i, inside], alone, atol=1e-6)
    assert sizes == set(SIZES)


def test_the_loss_is_of_known_points_alone(store: Store) -> None:
    settings = Settings(**SMALL)
    network = SYSTEM.network(settings)
    batch = batch_of(store, settings)
    with torch.no_grad():
        (black,) = network(batch["codes"], batch["state"])
        for kind in ("squares", "entropy"):
            mean, measures = loss(network, batch, kind)
            each, right = [], []
            for i in range(len(black)):
                known = batch["owner"][i] > 0
                target = (batch["owner"][i] == 1).float()[known]
                chance = black[i][known]
                error = (chance - target) ** 2 if kind == "squares" else F.binary_cross_entropy(
                    chance, target, reduction="none"
                )  # fmt: skip
                each.append(error.mean())
                right.append(((chance > 0.5) == (target > 0.5)).float().mean())
            assert torch.allclose(measures["loss"], torch.stack(each), atol=1e-5)
            assert torch.allclose(measures["accuracy"], torch.stack(right), atol=1e-6)
            assert torch.allclose(mean, torch.stack(each).mean(), atol=1e-5)


@pytest.mark.parametrize("kind", ["squares", "entropy"])
def test_the_constant_loss_is_that_of_the_best_share(kind: str, store: Store) -> None:
    """Of all shares that could be given to the side to move at every point, over the known points of the batch."""
    settings = Settings(**SMALL, loss=kind)
    (stage,) = SYSTEM.stages(SYSTEM.network(settings), settings)
    batch = batch_of(store, settings)
    batch["owner"][batch["owner"] == 2] *= torch.arange(int((batch["owner"] == 2).sum())).remainder(3).gt(0)  # fewer
    mine = (batch["owner"] == batch["state"][:, SIDE, None] + 1)[batch["owner"] > 0].double()
    shares = torch.linspace(0.001, 0.999, 999, dtype=torch.float64)[:, None]
    if kind == "squares":
        losses = (shares - mine).square().mean(1)
    else:
        losses = -(mine * shares.log() + (1 - mine) * (1 - shares).log()).mean(1)
    assert stage.constant_loss
    assert stage.constant_loss(batch) == pytest.approx(float(losses.min()), abs=1e-4)


def test_neutral_points_do_not_matter(store: Store) -> None:
    settings = Settings(**SMALL)
    network = SYSTEM.network(settings)
    batch = batch_of(store, settings)
    batch["owner"][:] = 0
    mean, measures = loss(network, batch, "squares")
    assert mean == 0
    assert torch.isfinite(measures["accuracy"]).all()


@pytest.mark.parametrize("options", [SMALL, CHAINS, {**SMALL, "sizes": "9", "min_moves": 0}])
def test_the_exported_network_gives_the_same_answers(options: dict[str, Any], store: Store, tmp_path: Path) -> None:
    settings = Settings(**options)
    SYSTEM.check(settings)
    network = SYSTEM.network(settings)
    SYSTEM.prepare(network, store, np.array([0]), settings, 1)
    batch = batch_of(store, settings)
    export_onnx(network, batch["codes"][:2].numpy(), batch["state"][:2].numpy(), tmp_path / "m.onnx")
    options_ = onnxruntime.SessionOptions()
    options_.log_severity_level = 4
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", options_, providers=["CPUExecutionProvider"])
    (answer,) = session.run(None, {"codes": batch["codes"].numpy(), "state": batch["state"].numpy()})
    with torch.no_grad():
        (expected,) = network(batch["codes"], batch["state"])
    assert np.allclose(answer, expected.numpy(), atol=1e-5)


def test_stones_of_a_chain_get_one_answer(store: Store) -> None:
    settings = Settings(**CHAINS)
    network = SYSTEM.network(settings).eval()
    batch = batch_of(store, settings)
    with torch.no_grad():
        (black,) = network(batch["codes"], batch["state"])
    colours = colours_of(batch["codes"].numpy())
    checked = 0
    for answer, board in zip(black.numpy(), colours, strict=True):
        for point in range(360):
            if point % GRID < GRID - 1 and board[point] in (1, 2) and board[point + 1] == board[point]:
                assert answer[point] == pytest.approx(answer[point + 1], abs=1e-6)
                checked += 1
    assert checked > 50


@pytest.mark.parametrize(("channels", "pooled"), [(2, 2), (0, 5)])
def test_the_first_channels_are_pooled_over_chains(channels: int, pooled: int) -> None:
    """Each stone gets the largest value of its chain; the other channels stay as they are."""
    colours = torch.tensor([[[1, 1, 0], [2, 1, 0], [2, 2, 1]]])
    chains = [[0, 1, 4], [3, 6, 7], [8], [2], [5]]
    values = torch.randn((1, 5, 3, 3), generator=torch.Generator().manual_seed(1))
    found = _pool_chains(values, roots(colours), channels).flatten(2)[0]
    for chain in chains:
        largest = values.flatten(2)[0][:, chain].max(1).values
        for point in chain:
            assert torch.equal(found[:pooled, point], largest[:pooled])
            assert torch.equal(found[pooled:, point], values.flatten(2)[0][pooled:, point])


def test_it_learns(store: Store) -> None:
    settings = Settings(**SMALL, optimiser="muon", learning_rate=0.02, symmetry=False)
    network = SYSTEM.network(settings)
    SYSTEM.prepare(network, store, np.array([0]), settings, 0)
    (stage,) = SYSTEM.stages(network, settings)
    optimiser = stage.optimiser()
    batch = batch_of(store, settings)
    for iteration in range(60):
        for group in optimiser.param_groups:
            group["lr"] = stage.learning_rate(iteration, 60)
        mean, measures = stage.loss(batch)
        optimiser.zero_grad()
        mean.backward()
        optimiser.step()
    assert measures["accuracy"].mean() > 0.7  # owners of rows: half of them by chance


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"sizes": "20"}, "--sizes .*20"), ({"sizes": ""}, "--sizes"), ({"liberties": 4}, "--liberties .*4"),
        ({"recent": 9}, "--recent .*9"), ({"last": 4}, "--last .*4"), ({"layers": "8conv3x3"}, "layer 1"),
        ({"layers": "8conv3x3p1.pool2x2"}, "layer 2"), ({"layers": "8conv3x3p1.ip5"}, "layer 2"),
        ({"layers": "8conv3x3p1.chain9"}, "8 channels"), ({"loss": "no"}, "--loss .*no"),
        ({"optimiser": "no"}, "--optimiser .*no"), ({"learning_rate": -1.0}, "--learning-rate"),
        ({"momentum": 1.0}, "--momentum"), ({"batch": 0}, "--batch"), ({"min_moves": -1}, "--min-moves"),
    ],
)  # fmt: skip
def test_settings_that_make_no_network(options: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        SYSTEM.check(Settings(**options))


def test_pooling_may_take_all_planes_that_there_are() -> None:
    SYSTEM.check(Settings(layers="chain12.8conv3x3p1", liberties=6))  # 14 planes
    with pytest.raises(UsageError):
        SYSTEM.check(Settings(layers="chain12.8conv3x3p1"))


def test_chain_pooling_is_not_for_chess() -> None:
    from kibitz.nets.build import build
    from kibitz.nets.layers import read_layers

    with pytest.raises(UsageError, match="chain"):
        build(read_layers("8conv3x3p1.chain"), 6, torch.nn.ReLU, torch.nn.ReLU)


def test_a_stride_that_keeps_the_grid() -> None:
    settings = Settings(sizes="9", layers="4conv1x1s2p4.4conv3x3p1", last=3)
    SYSTEM.check(settings)
    codes, state = np.full((1, 361), 14, np.uint8), np.array([[0, 9, 0, 0]], np.uint8)
    codes.reshape(19, 19)[:9, :9] = 0
    (black,) = GoNet(settings)(torch.from_numpy(codes), torch.from_numpy(state))
    assert black.shape == (1, 361)
