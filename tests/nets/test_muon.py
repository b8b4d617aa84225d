"""Muon: orthogonal steps, weights that are no matrices, and a state that can be saved."""

from __future__ import annotations

import torch

from kibitz.nets.muon import Muon, orthogonal


def test_singular_values_come_near_to_one() -> None:
    generator = torch.Generator().manual_seed(2)
    for shape in ((8, 50), (50, 8), (20, 20)):
        matrix = torch.randn(shape, generator=generator)
        values = torch.linalg.svdvals(orthogonal(matrix))
        assert values.max() < 1.3
        assert values.median() > 0.6


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
