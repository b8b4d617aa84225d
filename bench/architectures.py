"""Six architectures of the move network at equal processor time.

    python bench/architectures.py STORE --minutes 30 --only trunk --seeds 2

Each architecture predicts the move of `human` from the same samples, with the same losses, batch, rate and schedule
over the processor time that it gets. Only the trunk between the planes and the heads differs. The store's own split
gives the validation games. Run it on an idle core: time is that of the process, not of the clock.

    trunk      today's: 6 residual blocks of 64 filters
    narrow     12 blocks of 40 filters
    mixing     static mixing of squares: per head one learned 64 × 64 matrix, 6 layers of width 96
    attention  full attention with a learned bias for each pair of squares, 4 layers of width 112
    planes     the trunk on fewer planes: pieces, rights and last moves, no attacks
    normuon    the trunk, learned with NorMuon: each row of a step has the same size
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from kibitz.nets.muon import Muon, muon
from kibitz.nets.optim import plateau
from kibitz.store.split import TRAIN, VALIDATE
from kibitz.store.store import Store
from kibitz.systems.human import SYSTEM, Human, PlayedMoves, Settings, loss
from kibitz.training.dataloader import make_batch
from kibitz.training.trainer import best_precision

COOL = 0.4
"""The last share of the time, in which the rate falls."""
VALIDATION_POSITIONS = 8_192
ATTACK_PLANES = slice(12, 24)
"""The attack planes in the input of `human`."""
HEADS = 8


class StaticMixing(nn.Module):
    """A layer in which each head mixes the squares by one learned matrix, then a layer of each square by itself.
    [n, width, 8, 8] to the same; conditions [n, 64] scale and shift the channels."""

    def __init__(self, width: int, conditions: int):
        super().__init__()
        self.norm, self.second_norm = nn.GroupNorm(1, width), nn.GroupNorm(1, width)
        self.mix = nn.Parameter(torch.randn(HEADS, 64, 64) * 0.02)
        self.first, self.out = nn.Conv2d(width, width, 1), nn.Conv2d(width, width, 1)
        self.wide, self.narrow = nn.Conv2d(width, 2 * width, 1), nn.Conv2d(2 * width, width, 1)
        self.condition = nn.Linear(conditions, 2 * width)
        for layer in (self.out, self.narrow):
            nn.init.zeros_(layer.weight)

    def forward(self, x: Tensor, conditions: Tensor) -> Tensor:
        scale, shift = self.condition(conditions)[:, :, None, None].chunk(2, 1)
        h = self.first(self.norm(x) * (1 + scale) + shift)
        heads = h.reshape(len(h), HEADS, -1, 64)
        x = x + self.out((heads @ self.mix.to(h.dtype)).reshape(h.shape))
        return cast(Tensor, x + self.narrow(F.relu(self.wide(self.second_norm(x)))))


class PairAttention(nn.Module):
    """Full attention over the squares, with a learned bias for each head and pair of squares. Shapes as above."""

    def __init__(self, width: int, conditions: int):
        super().__init__()
        self.norm, self.second_norm = nn.GroupNorm(1, width), nn.GroupNorm(1, width)
        self.parts, self.out = nn.Conv2d(width, 3 * width, 1), nn.Conv2d(width, width, 1)
        self.bias = nn.Parameter(torch.zeros(HEADS, 64, 64))
        self.wide, self.narrow = nn.Conv2d(width, 2 * width, 1), nn.Conv2d(2 * width, width, 1)
        self.condition = nn.Linear(conditions, 2 * width)
        for layer in (self.out, self.narrow):
            nn.init.zeros_(layer.weight)

    def forward(self, x: Tensor, conditions: Tensor) -> Tensor:
        scale, shift = self.condition(conditions)[:, :, None, None].chunk(2, 1)
        parts = self.parts(self.norm(x) * (1 + scale) + shift).reshape(len(x), 3, HEADS, -1, 64).transpose(3, 4)
        query, key, value = (part.contiguous() for part in parts.unbind(1))
        h = F.scaled_dot_product_attention(query, key, value, attn_mask=self.bias.to(query.dtype))
        x = x + self.out(h.transpose(2, 3).reshape(x.shape))
        return cast(Tensor, x + self.narrow(F.relu(self.wide(self.second_norm(x)))))


class SlimHuman(Human):
    """`human` without the attack planes."""

    def __init__(self, settings: Settings):
        super().__init__(settings)
        self.stem = nn.Conv2d(self.stem.in_channels - 12, settings.filters, 3, padding=1)

    def planes(self, codes: Tensor, state: Tensor) -> Tensor:
        planes = Human.planes(self, codes, state)
        return torch.cat([planes[:, : ATTACK_PLANES.start], planes[:, ATTACK_PLANES.stop :]], 1)


class NorMuon(Muon):
    """Muon whose steps have the same mean square in each row (one filter), by a running mean of it."""

    SMOOTHING = 0.95

    def _matrices(self, weights: list[Tensor], momentum: float) -> list[Tensor]:
        changes = super()._matrices(weights, momentum)
        squares = self._row_states(weights)
        found = []
        for change, mean in zip(changes, squares, strict=True):
            rows = change.flatten(1)
            mean.lerp_(rows.square().mean(1, keepdim=True), 1 - self.SMOOTHING)
            normal = rows / (mean.sqrt() + 1e-8)
            found.append((normal * (rows.norm() / (normal.norm() + 1e-8))).reshape(change.shape))
        return found

    def _row_states(self, weights: list[Tensor]) -> list[Tensor]:
        for p in weights:
            if "rows" not in self.state[p]:
                self.state[p]["rows"] = torch.zeros(len(p), 1)
        return [self.state[p]["rows"] for p in weights]


def normuon(network: nn.Module, weight_decay: float) -> torch.optim.Optimizer:
    """NorMuon for the filters, and AdamW for the rest, as `muon` divides them."""
    groups = muon(network, weight_decay).param_groups
    keys = ("params", "weight_decay", "matrices", "rate")
    return NorMuon([{key: group[key] for key in keys if key in group} for group in groups])


@dataclass(frozen=True)
class Architecture:
    """One row of the table. settings: of `human`; layer: what takes the place of a block, None for the block itself."""

    settings: Settings
    layer: Callable[[int, int], nn.Module] | None = None
    kind: type[Human] = Human
    optimizer: Callable[[nn.Module, float], torch.optim.Optimizer] = muon

    def network(self, seed: int) -> Human:
        torch.manual_seed(seed)
        network = self.kind(self.settings)
        SYSTEM.prepare(network, cast(Any, None), np.empty(0, np.int64), self.settings, seed)
        if self.layer is not None:
            layers = (self.layer(self.settings.filters, 64) for _ in range(self.settings.blocks))
            network.blocks = nn.ModuleList(layers)
        return network


BASE = Settings(blocks=6, filters=64)
ARCHITECTURES = {
    "trunk": Architecture(BASE),
    "narrow": Architecture(replace(BASE, blocks=12, filters=40)),
    "mixing": Architecture(replace(BASE, blocks=6, filters=96), StaticMixing),
    "attention": Architecture(replace(BASE, blocks=4, filters=112), PairAttention),
    "planes": Architecture(BASE, kind=SlimHuman),
    "normuon": Architecture(BASE, optimizer=normuon),
}


@torch.no_grad()
def validated(network: Human, examples: PlayedMoves, autocast: torch.autocast) -> float:
    """The mean move loss over the validation positions, in nats."""
    network.eval()
    size = min(1024, len(examples))
    total, count = 0.0, 0
    for i in range(max(1, min(VALIDATION_POSITIONS, len(examples)) // size)):
        with autocast:
            _, measures = loss(network, make_batch(examples, size, 1, i), 0.5)
        total, count = total + float(measures["move_loss"].sum()), count + size
    network.train()
    return total / count


def train(name: str, store: Store, minutes: float, seed: int, batch: int, rate: float) -> dict[str, Any]:
    """Train one architecture for some minutes of processor time; the row of the table."""
    architecture = ARCHITECTURES[name]
    sides = store.sides(store.split)
    games = SYSTEM.games(store, architecture.settings)
    examples, validation = (
        PlayedMoves(store, games[sides[games] == side], architecture.settings) for side in (TRAIN, VALIDATE)
    )
    network = architecture.network(seed).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimizer = architecture.optimizer(network, architecture.settings.weight_decay)
    factors = [group.get("rate", 1.0) for group in optimizer.param_groups]
    bf16 = best_precision("cpu") == "bf16-mixed"
    autocast = torch.autocast("cpu", torch.bfloat16, enabled=bf16)
    began, iteration, curve = time.process_time(), 0, []
    while (spent := time.process_time() - began) < minutes * 60:
        share = spent / (minutes * 60)
        for group, factor in zip(optimizer.param_groups, factors, strict=True):
            warm = min(1.0, (iteration + 1) / 100)
            group["lr"] = factor * warm * plateau(rate, int(share * 10_000), 10_000, warmup=0, cooldown=COOL)
        with autocast:
            value, _ = loss(network, make_batch(examples, batch, seed, iteration), 0.5)
        value.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.zero_grad()
        iteration += 1
        if len(curve) < int(share * 10):
            curve.append((round(spent / 60, 2), iteration * batch, round(float(value.detach()), 4)))
    weights = sum(p.numel() for p in network.parameters())
    return {
        "architecture": name, "seed": seed, "minutes": minutes, "weights": weights, "positions": iteration * batch,
        "move_loss": validated(network, validation, autocast), "curve": curve,
    }  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", help="a store of chess games")
    parser.add_argument("--minutes", type=float, default=30.0, help="processor time of each training (default: 30)")
    parser.add_argument("--only", choices=ARCHITECTURES, action="append", help="one architecture; may be repeated")
    parser.add_argument("--seeds", type=int, default=2, help="trainings of each, with other seeds (default: 2)")
    parser.add_argument("--batch", type=int, default=256, help="positions in a batch (default: 256)")
    parser.add_argument("--learning-rate", type=float, default=0.005, help="highest rate (default: 0.005)")
    parser.add_argument("--json", action="store_true", help="print a JSON object for each training")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    store = Store(options.store)
    if not options.json:
        print("| architecture | seed | weights | positions | minutes | move loss |\n|---|---|---|---|---|---|")
    for name in options.only or ARCHITECTURES:
        for seed in range(options.seeds):
            row = train(name, store, options.minutes, seed, options.batch, options.learning_rate)
            if options.json:
                print(json.dumps(row), flush=True)
                continue
            print(
                f"| {name} | {seed} | {row['weights']:,} | {row['positions']:,} | {options.minutes:g} |"
                f" {row['move_loss']:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
