"""The layer over set bits against the product with all of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from kibitz.games.chess.encodings import PieceBits
from kibitz.nets.sparse import MAX_BITS, BitsLinear, indices
from kibitz.store.store import Store
from kibitz.training.export import export_onnx


@pytest.fixture(params=[1, 2], ids=["1 thread", "2 threads"])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def positions(store: Store, count: int) -> tuple[Tensor, Tensor]:
    """Positions from all over the games; the last has a piece on every square, and every right."""
    rng = np.random.default_rng(count)
    games = rng.integers(0, len(store), count)
    codes, state = store.replay(games, (rng.random(count) * (store.plies[games] + 1)).astype(np.int64))
    if count > 1:
        codes[-1], state[-1] = rng.integers(1, 13, 64), (0, 15, 0, 0)
    return torch.from_numpy(codes), torch.from_numpy(state)


def test_indices_are_the_set_bits(small_store: Store) -> None:
    codes, state = positions(small_store, 200)
    bits, counts = indices(codes.numpy(), state.numpy())
    assert bits.shape == (200, MAX_BITS)
    assert counts.max() == MAX_BITS
    for row, found, count in zip(PieceBits()(codes, state), bits, counts, strict=True):
        assert sorted(found[:count].tolist()) == row.nonzero().flatten().tolist()


@pytest.mark.parametrize("size", [1, 7, 64, 130])
@pytest.mark.parametrize("count", [0, 1, 5, 63, 64, 201])
def test_it_is_the_product_with_the_bits(small_store: Store, threads: int, count: int, size: int) -> None:
    codes, state = positions(small_store, count)
    layer = BitsLinear(size)
    with torch.no_grad():
        layer.bias.normal_()
    wanted = torch.randn(count, size)
    answers, gradients = [], []
    for out in (layer(codes, state), layer.bits(codes, state) @ layer.weight + layer.bias):
        layer.zero_grad()
        (out * wanted).sum().backward()
        answers.append(out.detach())
        gradients.append([p.grad.clone() for p in layer.parameters() if p.grad is not None])
    assert answers[0].shape == (count, size)
    torch.testing.assert_close(*answers, rtol=1e-4, atol=1e-4)
    assert len(gradients[0]) == len(gradients[1]) == 2
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_threads_change_nothing(small_store: Store) -> None:
    codes, state = positions(small_store, 300)
    layer = BitsLinear(100)
    found = []
    before = torch.get_num_threads()
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        layer.zero_grad()
        out = layer(codes, state)
        out.sum().backward()
        assert layer.weight.grad is not None
        found.append(torch.cat([out.detach().flatten(), layer.weight.grad.flatten()]))
    torch.set_num_threads(before)
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])


def test_autocast_leaves_it_in_float32(small_store: Store) -> None:
    """The layers above compute in bf16; the sums stay exact, and gradients come back through both."""
    codes, state = positions(small_store, 100)
    first, second = BitsLinear(40), nn.Linear(40, 3)
    with torch.autocast("cpu", torch.bfloat16):
        values = first(codes, state)
        answer = second(F.relu(values))
    assert values.dtype == torch.float32
    assert answer.dtype == torch.bfloat16
    torch.testing.assert_close(values, first(codes, state))
    answer.float().square().mean().backward()
    rough = first.weight.grad
    assert rough is not None
    assert rough.dtype == torch.float32
    first.weight.grad = None
    second(F.relu(first(codes, state))).square().mean().backward()
    assert first.weight.grad is not None
    assert float((rough - first.weight.grad).norm() / first.weight.grad.norm()) < 0.05


def test_initial_outputs_have_variance_two(small_store: Store) -> None:
    layer = BitsLinear(400)
    layer.draw(torch.Generator().manual_seed(1))
    codes, state = positions(small_store, 100)
    assert 1.2 < float(layer(codes[:-1], state[:-1]).detach().var()) < 2.8
    assert not layer.bias.any()


class Alone(nn.Module):
    outputs = ("values",)
    side_inputs: dict[str, int] = {}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.layer = BitsLinear(10)

    def forward(self, codes: Tensor, state: Tensor) -> tuple[Tensor]:
        return (self.layer(codes, state),)


def test_the_exported_layer_gives_the_same_answers(small_store: Store, tmp_path: Path) -> None:
    codes, state = positions(small_store, 70)
    network = Alone()
    export_onnx(network, codes[:3].numpy(), state[:3].numpy(), tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"codes": codes.numpy(), "state": state.numpy()})
    np.testing.assert_allclose(found, network(codes, state)[0].detach().numpy(), atol=1e-5)
