"""Muon: orthogonal steps, weights that are no matrices, and a state that can be saved."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from kibitz.nets import muon as module
from kibitz.nets.muon import Muon, muon, orthogonal, together


def test_singular_values_come_near_to_one() -> None:
    generator = torch.Generator().manual_seed(2)
    for shape in ((8, 50), (50, 8), (20, 20)):
        matrix = torch.randn(shape, generator=generator)
        values = torch.linalg.svdvals(orthogonal(matrix))
        assert values.max() < 1.3
        assert values.median() > 0.6
        left, _, right = torch.linalg.svd(matrix, full_matrices=False)
        assert (orthogonal(matrix) * (left @ right)).sum() > 0.6 * min(shape)  # the same directions, and not turned


def test_matrices_of_one_shape_go_together_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each comes to what it would alone."""
    shapes = [torch.Size(shape) for shape in ((4, 9), (6, 9), (4, 9), (9, 4))]
    assert together(shapes, on_gpu=False) == [[0], [1], [2], [3]]
    assert together(shapes, on_gpu=True) == [[0, 2], [1], [3]]
    generator = torch.Generator().manual_seed(8)
    gradients = [[torch.randn(shape, generator=generator) for shape in shapes] for _ in range(3)]
    found = []
    for on_gpu in (False, True):
        monkeypatch.setattr(module, "together", lambda shapes, _, on_gpu=on_gpu: together(shapes, on_gpu))
        weights = [nn.Parameter(torch.ones(shape)) for shape in shapes]
        step([{"params": weights, "matrices": True}], gradients)
        found.append(weights)
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours.detach(), theirs.detach())


def step(groups: list[dict[str, object]], gradients: list[list[Tensor]], lr: float = 0.1) -> None:
    """Steps with given gradients: one list of them, in the order of the parameters, a step."""
    optimiser = Muon(groups)
    for group in optimiser.param_groups:
        group["lr"] = lr
    for given in gradients:
        for p, gradient in zip((p for group in optimiser.param_groups for p in group["params"]), given, strict=True):
            p.grad = gradient.clone()
        optimiser.step()


@pytest.mark.parametrize("shape", [(8, 8), (8, 50), (50, 8)])
def test_the_mean_square_of_a_step_is_adamw_s(shape: tuple[int, int]) -> None:
    """0.2 an element (Liu and others, 2025), whatever the matrix's shape and the gradient's size."""
    gradient = torch.randn(shape, generator=torch.Generator().manual_seed(3))
    for size in (1.0, 1e-3):
        weight = nn.Parameter(torch.zeros(shape))
        step([{"params": [weight], "matrices": True}], [[gradient * size]], lr=1.0)
        assert weight.detach().square().mean().sqrt() == pytest.approx(0.2, rel=0.2)
        assert (weight.detach() * gradient).sum() < 0  # down the slope


def test_a_step_of_a_convolution_is_its_matrix_s() -> None:
    gradients = torch.randn((2, 6, 3, 3, 3), generator=torch.Generator().manual_seed(3))
    filters, matrix = nn.Parameter(torch.zeros(6, 3, 3, 3)), nn.Parameter(torch.zeros(6, 27))
    step([{"params": [filters], "matrices": True}], [[gradient] for gradient in gradients])
    step([{"params": [matrix], "matrices": True}], [[gradient.reshape(6, 27)] for gradient in gradients])
    torch.testing.assert_close(filters.detach().reshape(6, 27), matrix.detach())


def test_a_step_looks_ahead_along_its_momentum() -> None:
    """Nesterov's momentum of the optimiser's publication: g2 + m (g2 + m g1) after two gradients."""
    first, second = torch.randn((2, 5, 7), generator=torch.Generator().manual_seed(5))
    weight = nn.Parameter(torch.zeros(5, 7))
    step([{"params": [weight], "matrices": True, "momentum": 0.5}], [[first], [second]], lr=1.0)
    scale = 0.2 * 7**0.5
    wanted = -scale * (orthogonal(1.5 * first) + orthogonal(second + 0.5 * (second + 0.5 * first)))
    torch.testing.assert_close(weight.detach(), wanted)


def test_weights_decay_towards_zero() -> None:
    for matrices in (True, False):
        weight = nn.Parameter(torch.full((4, 4), -3.0))
        step([{"params": [weight], "matrices": matrices, "weight_decay": 0.5}], [[torch.zeros(4, 4)]], lr=0.1)
        torch.testing.assert_close(weight.detach(), torch.full((4, 4), -3.0 * (1 - 0.1 * 0.5)))


def test_the_others_take_adamw_s_steps() -> None:
    """Those of torch's AdamW, the first of them too, which the corrected bias makes as long as the rest."""
    start = torch.randn(9, generator=torch.Generator().manual_seed(6))
    gradients = torch.randn((12, 9), generator=torch.Generator().manual_seed(7)) * 1e-7  # near to epsilon
    ours, peers = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    step([{"params": [ours], "weight_decay": 0.3}], [[gradient] for gradient in gradients])
    adamw = torch.optim.AdamW([peers], lr=0.1, betas=(0.9, 0.99), eps=1e-8, weight_decay=0.3)
    for gradient in gradients:
        peers.grad = gradient.clone()
        adamw.step()
    torch.testing.assert_close(ours.detach(), peers.detach())


def test_which_weights_of_a_network_are_matrices() -> None:
    """The filters of convolutions; those with one filter, dense weights and biases are not, and biases do not decay."""
    network = nn.Sequential(nn.Conv2d(3, 6, 3), nn.Conv2d(6, 1, 1), nn.Flatten(), nn.Linear(36, 2))
    first, _, one, _, dense, _ = network.parameters()
    filters, others, rest = muon(network, weight_decay=0.25).param_groups
    assert [p is first for p in filters["params"]] == [True]
    assert [p is q for p, q in zip(others["params"], (one, dense), strict=True)] == [True, True]
    assert [p.shape for p in rest["params"]] == [(6,), (1,), (2,)]
    assert [group["matrices"] for group in (filters, others, rest)] == [True, False, False]
    assert [group["weight_decay"] for group in (filters, others, rest)] == [0.25, 0.25, 0]
    assert [group.get("rate", 1.0) for group in (filters, others, rest)] == [1, 0.5, 0.5]


def test_weights_without_a_gradient_stay() -> None:
    weight = nn.Parameter(torch.ones(2, 2))
    optimiser = Muon([{"params": [weight], "weight_decay": 0.5}])
    optimiser.step()
    assert torch.equal(weight.detach(), torch.ones(2, 2))


def train(optimiser_steps: int, reload_at: int | None = None) -> torch.Tensor:
    torch.manual_seed(4)
    convolution, dense = torch.nn.Conv2d(3, 6, 3), torch.nn.Linear(6 * 36, 1)
    given = [
        {"params": [convolution.weight], "matrices": True},
        {"params": [dense.weight], "weight_decay": 0.1},
        {"params": [convolution.bias, dense.bias]},
    ]
    optimiser = Muon(given)
    planes = torch.randn(64, 3, 8, 8)
    wanted = planes[:, 0, 2:5, 2:5].sum((1, 2))
    losses = []
    for i in range(optimiser_steps):
        if i == reload_at:
            saved = optimiser.state_dict()
            optimiser = Muon(given)
            optimiser.load_state_dict(saved)
        for group in optimiser.param_groups:
            group["lr"] = 0.01
        loss = (dense(convolution(planes).relu().flatten(1))[:, 0] - wanted).square().mean()
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        losses.append(float(loss.detach()))
    if optimiser_steps > 50:
        assert losses[-1] < 0.2 * losses[0]
    return torch.cat([p.detach().flatten() for p in (*convolution.parameters(), *dense.parameters())])


def test_it_learns() -> None:
    train(80)


def test_it_goes_on_from_its_state() -> None:
    assert torch.equal(train(20), train(20, reload_at=9))
