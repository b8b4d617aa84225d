"""Networks that predict moves: probabilities on real squares, the mover's view, every variant, ONNX beside torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
from torch import Tensor

from kibitz.games.chess.replay import SIDE
from kibitz.nets import optim
from kibitz.runs import with_default_side_inputs
from kibitz.store.positions import Positions
from kibitz.store.store import Store
from kibitz.systems import chessnet, convchess
from kibitz.systems.movers.nets import ConstantPlanes, MoveNets, real, real_pairs
from kibitz.training.export import export_onnx

BODY = {"share": "body", "layers": "8conv3x3p1.2*8res3x3"}
VARIANTS: list[dict[str, Any]] = [
    {},
    {"planes": "12", "attacks": "pieces", "rights_planes": True},
    {"piece_plane": True},
    {"rating_plane": True, "outcome_plane": True, "networks": "piece,pawn,knight,bishop,rook,queen,king"},
    {"networks": "knight,king", "piece_plane": True},
    BODY,
    {**BODY, "targets": "square", "rating_plane": True},
    {"networks": "piece,pawn,knight,bishop,rook,queen,king"},
    {"value_layers": "4conv3x3p1.ip4", "value_activation": "relu"},
    {"value_layers": "4conv3x3p1.ip4", "value_activation": "leaky"},
    {"value_layers": "4conv3x3p1.ip4", "value_activation": "sigmoid"},
    {"activation": "leaky"},
    {"activation": "sigmoid", "networks": "piece,pawn,knight,bishop,rook,queen,king"},
]


def names(settings: dict[str, Any]) -> str:
    return " ".join(f"{k}={v}" for k, v in settings.items()) or "default"


def network_of(**settings: Any) -> MoveNets:
    given = chessnet.Settings(**{"layers": "8conv3x3p1.ip8", **settings})
    chessnet.SYSTEM.check(given)
    network = chessnet.SYSTEM.network(given)
    optim.draw_weights(network, "he", torch.Generator().manual_seed(3))
    return network.eval()  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def some(small_store: Store) -> tuple[Tensor, Tensor]:
    positions = Positions(small_store, np.arange(40), last=-2)
    batch = positions.batch(np.sort(np.random.default_rng(5).permutation(len(positions))[:90]))
    return torch.from_numpy(batch.codes), torch.from_numpy(batch.state)


def turned_round(codes: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """The same positions with colours exchanged."""
    other = torch.where(codes == 0, codes, torch.where(codes > 6, codes - 6, codes + 6))
    state = state.clone()
    state[:, SIDE] ^= 1
    state[:, 1] = (state[:, 1] >> 2 & 3) | (state[:, 1] & 3) << 2
    return other.view(-1, 8, 8).flip(1).flatten(1), state


@pytest.mark.parametrize("settings", VARIANTS, ids=names)
@torch.no_grad()
def test_answers_are_probabilities_and_do_not_know_colours(
    settings: dict[str, Any], some: tuple[Tensor, Tensor]
) -> None:
    network = network_of(**settings)
    codes, state = some
    wide = torch.from_numpy(with_default_side_inputs(state.numpy(), network.side_inputs))
    assert network.features(codes, wide).shape[0] == len(codes)
    answers = dict(zip(network.outputs, network(codes, wide), strict=True))
    origin, target = answers["origin"], answers["target"]
    assert torch.allclose(origin.sum(1), torch.ones(len(codes)), atol=1e-5)
    by_square = settings.get("piece_plane") or settings.get("targets") == "square"
    assert target.shape == (len(codes), 64 if by_square else 6, 64)
    sums = target.sum(2)
    if settings.get("piece_plane"):  # only pieces of the mover are asked
        own = (codes > 0) & ((codes > 6) == (state[:, SIDE : SIDE + 1] == 1))
        if "networks" in settings:  # knights and kings
            own &= (codes % 6 == 2) | ((codes > 0) & (codes % 6 == 0))
        assert torch.equal(sums > 0.5, own)
        sums = sums[own]
    assert torch.allclose(sums, torch.ones_like(sums), atol=1e-5)
    if "value" in answers:
        assert float(answers["value"].abs().max()) <= 1
    other_codes, other_state = turned_round(codes, state)
    wide = torch.from_numpy(with_default_side_inputs(other_state.numpy(), network.side_inputs))
    others = dict(zip(network.outputs, network(other_codes, wide), strict=True))
    mirrored = torch.arange(64) ^ 56
    assert torch.allclose(others["origin"][:, mirrored], origin, atol=1e-5)
    rows = mirrored if by_square else torch.arange(6)
    assert torch.allclose(others["target"][:, rows][:, :, mirrored], target, atol=1e-5)
    if "value" in answers:
        assert torch.allclose(others["value"], answers["value"], atol=1e-5)


@pytest.mark.parametrize("settings", VARIANTS, ids=names)
def test_onnx_gives_the_same(settings: dict[str, Any], some: tuple[Tensor, Tensor], tmp_path: Path) -> None:
    network = network_of(**settings)
    codes, state = some[0].numpy(), some[1].numpy()
    export_onnx(network, codes[:3], state[:3], tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    wide = with_default_side_inputs(state, network.side_inputs)
    with torch.no_grad():
        expected = network(some[0], torch.from_numpy(wide))
    for part in (slice(0, 1), slice(0, 90)):
        found = session.run(None, {"codes": codes[part], "state": wide[part]})
        for mine, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine, theirs[part].numpy(), atol=2e-5)


def test_squares_come_back_to_the_board() -> None:
    squares = torch.eye(64)[[12, 12]]
    black = torch.tensor([False, True])
    assert real(squares, black).argmax(1).tolist() == [12, 12 ^ 56]
    pairs = torch.zeros(2, 64, 64)
    pairs[:, 12, 28] = 1
    found = real_pairs(pairs, black).flatten(1).argmax(1)
    assert [divmod(int(f), 64) for f in found] == [(12, 28), (52, 36)]
    by_piece = torch.zeros(2, 6, 64)
    by_piece[:, 2, 28] = 1
    assert real_pairs(by_piece, black).flatten(1).argmax(1).tolist() == [2 * 64 + 28, 2 * 64 + 36]


def test_what_is_told_beside_the_position() -> None:
    state = torch.zeros(3, 6, dtype=torch.uint8)
    state[:, 4] = torch.tensor([600 // 16, 1800 // 16, 250])
    state[:, 5] = torch.tensor([1, 2, 3])
    planes = ConstantPlanes(rating=True, outcome=True)(torch.zeros(3, 64, dtype=torch.uint8), state)
    assert planes.shape == (3, 2, 8, 8)
    assert planes[:, 0, 0, 0].tolist() == pytest.approx([0, 0.5, 1], abs=0.01)
    assert planes[:, 1, 3, 3].tolist() == [0, 0.5, 1]


@pytest.mark.parametrize("system", [convchess, chessnet])
def test_the_papers_shapes(system: Any) -> None:
    network = system.SYSTEM.network(system.Settings())
    shapes = [tuple(p.shape) for p in network.nets["piece"].parameters() if p.dim() > 1]
    if system is convchess:
        assert shapes == [(32, 6, 3, 3), (32, 32, 3, 3), (32, 32, 3, 3), (128, 512), (64, 128)]
        assert list(network.nets) == ["piece", "pawn", "knight", "bishop", "rook", "queen", "king"]
    else:
        assert shapes == [(64, 6, 3, 3), (96, 64, 3, 3), (256, 96, 3, 3), (1024, 16384), (64, 1024)]
        assert tuple(network.nets["value"].last.weight.shape) == (1, 1024)
        assert not any(isinstance(m, torch.nn.ReLU) for m in network.nets["value"].modules())


@pytest.mark.parametrize("settings", [{}, {**BODY, "targets": "square", "value_weight": 2.0}], ids=names)
def test_constant_losses_are_those_of_the_best_constant_answers(settings: dict[str, Any], small_store: Store) -> None:
    given = chessnet.Settings(**{"layers": "8conv3x3p1.ip8", "min_rating": 0, **settings})

    def entropy(labels: Tensor) -> float:
        share = torch.bincount(labels).double() / len(labels)
        return float(-(share[share > 0] * share[share > 0].log()).sum())

    for stage in chessnet.SYSTEM.stages(chessnet.SYSTEM.network(given), given):
        arrays = stage.examples(small_store, np.arange(30)).batch(np.arange(100), 0)
        batch = {name: torch.from_numpy(values) for name, values in arrays.items()}
        expected = {
            "piece": lambda batch: entropy(batch["origin"]),
            "value": lambda batch: 0.5 * float(batch["value"].double().var(correction=0)),
            "moves": lambda batch: entropy(batch["origin"]) + entropy(batch["target"])
            + 2.0 * 0.5 * float(batch["value"].double().var(correction=0)),
        }.get(stage.name, lambda batch: entropy(batch["target"]))  # fmt: skip
        assert stage.constant_loss
        assert stage.constant_loss(batch) == pytest.approx(expected(batch), rel=1e-4), stage.name


@pytest.mark.parametrize("settings", [{}, BODY, {**BODY, "targets": "square"}, {"piece_plane": True}], ids=names)
def test_losses_fall(settings: dict[str, Any], small_store: Store) -> None:
    given = chessnet.Settings(
        **{
            "layers": "8conv3x3p1.ip8",
            "optimiser": "adamw",
            "schedule": "constant",
            "learning_rate": 0.01,
            "min_rating": 0,
            **settings,
        }
    )
    network = chessnet.SYSTEM.network(given)
    optim.draw_weights(network, "he", torch.Generator().manual_seed(1))
    for stage in chessnet.SYSTEM.stages(network, given):
        examples = stage.examples(small_store, np.arange(30))
        arrays = examples.batch(np.arange(min(200, len(examples))), 0)
        batch = {name: torch.from_numpy(values) for name, values in arrays.items()}
        optimiser = stage.optimiser()
        losses = []
        for i in range(25):
            for group in optimiser.param_groups:
                group["lr"] = stage.learning_rate(i, 25)
            loss, measures = stage.loss(batch)
            loss.backward()
            optimiser.step()
            optimiser.zero_grad()
            losses.append(float(loss.detach()))
            assert all(values.shape == (len(arrays["codes"]),) for values in measures.values())
        assert losses[-1] < 0.9 * losses[0], (stage.name, losses)
