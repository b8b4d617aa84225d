"""One weight for each piece: logistic regression on the difference in material."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from kibitz.games.chess.encodings import SignedPlanes
from kibitz.games.chess.replay import SIDE
from kibitz.nets.optim import OPTIMISERS, learning_rate_at, make_optimiser
from kibitz.systems.base import Recipe, Stage, System, setting
from kibitz.systems.winner import OutcomeExamples


@dataclass(frozen=True)
class Settings:
    optimiser: str = setting("adamw", "how it learns", choices=OPTIMISERS)
    learning_rate: float = setting(0.05, "learning rate", over=0)
    batch: int = setting(256, "positions in a batch", at_least=1)
    iterations: int = setting(60, "batches", at_least=1)


class Counting(nn.Module):
    outputs = ("white_wins", "value")
    side_inputs: ClassVar[dict[str, int]] = {}

    def __init__(self) -> None:
        super().__init__()
        self.planes = SignedPlanes(side=False)
        self.weights = nn.Linear(6, 1)

    def logit(self, codes: Tensor) -> Tensor:
        return self.weights(self.planes(codes, codes).sum((2, 3)))[:, 0]

    def forward(self, codes: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        white = torch.sigmoid(self.logit(codes).float())
        return white, (2 * white - 1) * (1 - 2 * state[:, SIDE].float())


def loss(network: Counting, batch: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
    each = F.binary_cross_entropy_with_logits(network.logit(batch["codes"]), batch["target"], reduction="none")
    return each.mean(), {"loss": each.detach()}


class ToySystem(System):
    name = "toy"
    settings_type = Settings
    recipes: ClassVar[dict[str, Recipe]] = {"default": Recipe("sixty batches")}

    def network(self, settings: Settings) -> Counting:
        return Counting()

    def stages(self, network: nn.Module, settings: Settings) -> Sequence[Stage]:
        return [
            Stage(
                name="toy",
                module=network,
                examples=lambda store, games: OutcomeExamples(store, games),
                loss=lambda batch: loss(network, batch),
                optimiser=lambda: make_optimiser(settings.optimiser, network),
                learning_rate=lambda i, n: learning_rate_at("constant", settings.learning_rate, i, n),
                batch=settings.batch,
                iterations=settings.iterations,
            )
        ]


SYSTEM = ToySystem()
